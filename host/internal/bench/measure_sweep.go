package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"scanhost/host/internal/buffers"
	"scanhost/host/internal/judge"
	"scanhost/shared/contract/keeperv1"
	"scanhost/shared/op"
)

// Entry is one contender to be measured.
type Entry struct {
	Contender
	Target judge.Target
}

// Event is one step of a sweep.
type Event struct {
	Shape       string
	Done, Total int           // shapes
	Left        time.Duration // a guess; 0 while there is none
	Cells       []Cell        // of the shape, just finished
	Prediction  *Sweep        // the model's times for all shapes of an array size, before any of them is measured
}

// Runner measures contenders on the GPU of a keeper.
type Runner struct {
	Keeper      *buffers.Keeper
	Options     Options
	Environment []string
	Counted     Counted            // traffic by the simulated GPU, where it is known
	Progress    func(Event)        // may be nil
	Save        func(*Sweep) error // after every shape; may be nil
	Telemetry   bool

	spins  func(*running, ground) error // of Calibrate, before the first shape's contenders
	memory map[string]remembered        // by shape; of SelfTest, which measures each several times
	pass   uint64                       // of SelfTest: the same values in another order
}

// remembered is what one look at a shape saves the next.
type remembered struct {
	proven map[proof]int64
	plans  map[string]plan
}

// running is a sweep at work.
type running struct {
	Runner
	meter
	sweep       *Sweep
	contestants []*contestant
	all         []shape
	from, to    *buffers.Arena
	telemetry   *Telemetry
	room        int64               // bytes of the GPU's memory for the arenas
	contents    map[string]contents // by shape.inputKey; the last one only, since they are large
	began       time.Time
	shapes      int // measured now
}

// Run measures every entry on every problem and puts cells into the sweep, beside those that a sweep before it
// left there. With a cancelled context it returns what it has. The error is the host's own trouble.
func (r Runner) Run(ctx context.Context, sweep *Sweep, entries []Entry, problems []op.Problem) error {
	x := &running{Runner: r, sweep: sweep, contents: map[string]contents{}, began: time.Now()}
	x.meter = meter{now: func() time.Duration { return time.Since(x.began) }, options: r.Options,
		random: rand.New(rand.NewPCG(r.Options.Seed, 1+r.pass))}
	var shapes []shape
	for _, p := range problems {
		s, err := newShape(p)
		if err != nil {
			return err
		}
		shapes = append(shapes, s)
	}
	info, err := r.Keeper.Info(ctx)
	if err != nil {
		return err
	}
	if gpu := gpuOf(info); sweep.GPU.UUID != "" && sweep.GPU.UUID != gpu.UUID {
		return fmt.Errorf("the sweep to go on with was on another GPU: %s %s; this one is %s %s", sweep.GPU.Name, sweep.GPU.UUID, gpu.Name, gpu.UUID)
	} else {
		sweep.GPU = gpu
	}
	for _, e := range entries {
		x.contestants = append(x.contestants, &contestant{Contender: e.Contender, target: e.Target, environment: r.Environment,
			deadlines: r.Options.Deadlines, now: x.now, afterKill: r.Keeper.Canary})
		sweep.addContender(e.Contender)
	}
	if r.Telemetry {
		x.telemetry = StartTelemetry(sweep.GPU.UUID, x.now)
		defer x.stopTelemetry()
	}
	return errors.Join(x.run(ctx, shapes, int64(info.MemoryFreeBytes)), x.close())
}

// stopTelemetry writes down what it lacked, and what it saw as a whole.
func (x *running) stopTelemetry() {
	x.telemetry.Stop()
	if x.sweep.Environment == nil {
		x.sweep.Environment = map[string]string{}
	}
	text := fmt.Sprintf("%d readings", len(x.telemetry.Readings()))
	if trouble := x.telemetry.Trouble(); trouble != "" {
		text = "none: " + trouble
	}
	x.sweep.Environment["telemetry"] = text
}

func gpuOf(i *keeperv1.InfoResponse) GPU {
	return GPU{Name: i.Name, UUID: i.Uuid, Driver: i.Driver, Multiprocessors: int(i.Multiprocessors), L2Bytes: int64(i.L2Bytes),
		MemoryBytes: int64(i.MemoryBytes), Peak: i.PeakBytesPerSecond}
}

func (x *running) run(ctx context.Context, shapes []shape, free int64) error {
	x.all = shapes
	if err := x.allocate(shapes, free); err != nil {
		return err
	}
	x.start(ctx)
	for i, s := range shapes {
		if ctx.Err() != nil {
			return nil
		}
		if x.sweep.finished(s) {
			continue
		}
		cells, err := x.tooLarge(s), error(nil)
		if cells == nil {
			cells, err = x.shape(ctx, s)
		}
		if ctx.Err() != nil {
			return nil // a shape that was cut short does not count
		}
		x.shapes++
		x.sweep.forget(s)
		x.sweep.Cells = append(x.sweep.Cells, cells...)
		left := time.Duration(float64(time.Since(x.began)) / float64(x.shapes) * float64(x.unfinished(shapes[i+1:])))
		x.event(Event{Shape: s.String(), Done: i + 1, Total: len(shapes), Left: left, Cells: cells})
		if err == nil && x.Save != nil {
			err = x.Save(x.sweep)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (x *running) unfinished(shapes []shape) (n int) {
	for _, s := range shapes {
		if !x.sweep.finished(s) {
			n++
		}
	}
	return n
}

func (x *running) event(e Event) {
	if x.Progress != nil {
		x.Progress(e)
	}
}

const (
	contextBytes = 600 << 20 // about what a process's context takes of the GPU's memory
	usableMemory = 0.9       // of what is free
	outputMemory = 0.5       // of what is usable, for outputs: kernels have workspaces of their own
)

// allocate makes the two arenas, large enough for every shape if memory allows.
func (x *running) allocate(shapes []shape, free int64) error {
	x.room = int64(usableMemory*float64(free)) - contextBytes*int64(len(x.contestants))
	var inputs, outputs, least int64
	for _, s := range shapes {
		if x.needs(s) > x.room {
			continue
		}
		sets := s.inputSets(x.sweep.GPU.L2Bytes)
		inputs = max(inputs, int64(sets)*s.inputStride())
		outputs = max(outputs, s.outputBytes(s.slotsWanted(x.sweep.GPU)))
		least = max(least, s.outputBytes(int64(sets)))
	}
	if least == 0 {
		return nil
	}
	outputs = max(least, min(outputs, int64(outputMemory*float64(x.room-inputs))))
	var err error
	if x.from, err = x.Keeper.Arena("inputs", inputs+buffers.SlotAlignment, false); err != nil {
		return err
	}
	x.to, err = x.Keeper.Arena("outputs", outputs+buffers.SlotAlignment, true)
	return err
}

// needs is the least memory that a shape can be measured in.
func (x *running) needs(s shape) int64 {
	sets := s.inputSets(x.sweep.GPU.L2Bytes)
	return int64(sets)*s.inputStride() + s.outputBytes(int64(sets))
}

// tooLarge gives the cells of a shape that this GPU cannot hold; nil where it can.
func (x *running) tooLarge(s shape) []Cell {
	needs := x.needs(s)
	if needs <= x.room {
		return nil
	}
	var cells []Cell
	for _, c := range x.contestants {
		cells = append(cells, Cell{Contender: c.Name, Problem: s.problem, ArrayBytes: s.arrayBytes, Verdict: string(judge.OutOfMemory),
			Detail: fmt.Sprintf("%s of arrays are needed, and %s of the GPU's memory are free for them; a smaller --array-mb fits", size(needs), size(max(0, x.room)))})
	}
	return cells
}

// start starts all plugins at once: each takes the better part of a second to get its context.
func (x *running) start(ctx context.Context) {
	var wait sync.WaitGroup
	for _, c := range x.contestants {
		if c.target.Refused != "" {
			c.gone = &trouble{verdict: c.target.Refused, detail: c.target.Reason}
			continue
		}
		wait.Go(func() {
			if t := c.start(ctx); t != nil && c.gone == nil {
				c.gone = t
			}
		})
	}
	wait.Wait()
}

func (x *running) close() error {
	var errs []error
	for _, c := range x.contestants {
		errs = append(errs, c.stop())
	}
	for _, a := range []*buffers.Arena{x.from, x.to} {
		if a != nil {
			errs = append(errs, a.Close())
		}
	}
	return errors.Join(errs...)
}

// ground lays a shape out.
func (x *running) ground(s shape) (*keeperGround, error) {
	c, ok := x.contents[s.inputKey()]
	sets := s.inputSets(x.sweep.GPU.L2Bytes)
	fresh := !ok || len(c.sets) != sets
	if fresh {
		clear(x.contents)
		var err error
		if c, err = makeContents(s, sets, x.options().Seed); err != nil {
			return nil, err
		}
		x.contents[s.inputKey()] = c
	}
	fit := (x.to.Bytes() - 2*buffers.GuardBytes) / s.slotStride()
	slots := min(s.slotsWanted(x.sweep.GPU), fit/int64(sets)*int64(sets))
	if slots < int64(sets) {
		return nil, fmt.Errorf("%s: %d bytes for outputs hold %d; %d are needed", s, x.to.Bytes(), fit, sets)
	}
	g := &keeperGround{shape: s, from: x.from, to: x.to, contents: c, slotCount: int(slots), seed: x.options().Seed}
	if fresh {
		return g, g.write()
	}
	return g, nil
}

func (x *running) options() Options { return x.meter.options }

// addContender knows a contender of the same name from a sweep before this one; if that was built from other
// sources, its cells are void.
func (s *Sweep) addContender(c Contender) {
	i := slices.IndexFunc(s.Contenders, func(known Contender) bool { return known.Name == c.Name })
	if i < 0 {
		s.Contenders = append(s.Contenders, c)
		return
	}
	if s.Contenders[i].Hash != c.Hash {
		s.Cells = slices.DeleteFunc(s.Cells, func(cell Cell) bool { return cell.Contender == c.Name })
	}
	s.Contenders[i] = c
}

// forget takes a shape's cells out: contenders are measured beside each other or not at all.
func (s *Sweep) forget(what shape) {
	s.Cells = slices.DeleteFunc(s.Cells, func(c Cell) bool {
		return c.sameWork(Cell{Problem: what.problem, ArrayBytes: what.arrayBytes})
	})
}

// finished says whether all contenders have a cell of the shape.
func (s *Sweep) finished(what shape) bool {
	for _, c := range s.Contenders {
		if _, found := s.Find(c.Name, Cell{Problem: what.problem, ArrayBytes: what.arrayBytes}); !found {
			return false
		}
	}
	return len(s.Contenders) > 0
}
