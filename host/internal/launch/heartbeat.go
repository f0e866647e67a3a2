package launch

import (
	"context"
	"fmt"
	"time"

	"scanhost/shared/contract/kernelv1"
)

// Beat is the last message of the heartbeat stream.
type Beat struct {
	*kernelv1.Beat
	At time.Time
}

// LastBeat is nil before the first.
func (p *Process) LastBeat() *Beat { return p.beat.Load() }

// Heartbeat starts the watchdog: a child whose stream is silent for Limits.Silence is stopped or wedged and
// is killed. A kernel that hangs does not silence it; calls have their own deadlines for that. A keeper has
// no heartbeat.
func (p *Process) Heartbeat() {
	if p.Kernel() == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	beats := make(chan *Beat, 16)
	go p.listen(ctx, beats)
	go func() {
		defer cancel()
		p.watch(beats)
	}()
}

func (p *Process) listen(ctx context.Context, beats chan<- *Beat) {
	stream, err := p.Kernel().Heartbeat(ctx, &kernelv1.HeartbeatRequest{})
	for err == nil {
		var beat *kernelv1.Beat
		if beat, err = stream.Recv(); err == nil {
			last := &Beat{beat, time.Now()}
			p.beat.Store(last)
			select {
			case beats <- last:
			default: // the watchdog has enough to see life
			}
		}
	}
	// A child that dies breaks the stream as well; one that lives without a stream goes silent in time.
}

// watchTicks divides the silence. The watchdog counts ticks, not time: when the host itself was stopped, its
// clock has run on, but its missed ticks arrive as one.
const watchTicks = 20

func (p *Process) watch(beats <-chan *Beat) {
	silence := p.limits.scaled(p.limits.Silence)
	tick := time.NewTicker(silence / watchTicks)
	defer tick.Stop()
	for missed := 0; missed < watchTicks; {
		select {
		case <-p.reaped:
			return
		case <-beats:
			missed = 0
		case <-tick.C:
			missed++
		}
	}
	cause := fmt.Sprintf("no heartbeat for %v: the process is stopped or wedged", silence)
	if last := p.beat.Load(); last != nil {
		cause += fmt.Sprintf(", and last said %s", last.Phase)
	}
	p.condemn(cause)
}
