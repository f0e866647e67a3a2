package bench

import (
	"context"
	"math"
	"time"

	"scanhost/host/internal/buffers"
	"scanhost/host/internal/judge"
)

// streamer is a stream of the keeper's as a racer.
type streamer struct {
	keeper  *buffers.Keeper
	now     func() time.Duration
	variant int
}

func (s *streamer) launch(ctx context.Context, b batch) (timing, *trouble) {
	began := s.now()
	ms, err := s.keeper.Stream(ctx, s.variant, b.first, b.launches)
	took := s.now() - began
	if err != nil {
		return timing{}, &trouble{verdict: judge.NotRun, detail: err.Error(), wedged: err}
	}
	return timing{took.Seconds(), ms / 1e3}, nil
}

// spinner is a kernel of known length as a racer: what the host's clock should say.
type spinner struct {
	keeper      *buffers.Keeper
	now         func() time.Duration
	nanoseconds uint64
}

func (s *spinner) launch(ctx context.Context, b batch) (timing, *trouble) {
	began := s.now()
	ms, err := s.keeper.Spin(ctx, s.nanoseconds, b.launches)
	took := s.now() - began
	if err != nil {
		return timing{}, &trouble{verdict: judge.NotRun, detail: err.Error(), wedged: err}
	}
	return timing{took.Seconds(), ms / 1e3}, nil
}

// frozen is the number of the plain stream, the denominator.
const frozen = 0

// mix is how many arrays the operation must read and write: what a stream of its ceiling does.
func (s shape) mix() (reads, writes int) {
	for _, a := range s.arrays {
		switch {
		case a.Bytes() < s.arrayBytes: // a state for each row
		case a.Output:
			writes++
		default:
			reads++
		}
	}
	return reads, writes
}

// bestVariant tries every stream of the keeper's once, by the time of a long batch.
func (m *meter) bestVariant(ctx context.Context, g ground, k *buffers.Keeper, variants int) (int, error) {
	best, least := frozen, math.Inf(1)
	for v := range variants {
		e := &entrant{racer: &streamer{k, m.now, v}, cell: &Cell{}, plan: plan{warm: 1}}
		if err := m.pilot(ctx, g, e, 0); err != nil {
			return best, err
		}
		if e.out != nil {
			return best, e.out.wedged
		}
		if e.plan.perLaunch < least {
			best, least = v, e.plan.perLaunch
		}
	}
	return best, nil
}

// bandwidth of a stream over arrays, by the time of a launch.
func bandwidth(reads, writes int, arrayBytes int64, seconds float64) float64 {
	if seconds <= 0 || math.IsNaN(seconds) {
		return 0
	}
	return float64(reads+writes) * float64(arrayBytes) / seconds
}
