package bench

import (
	"context"
	"fmt"
	"time"

	"scanhost/host/internal/judge"
)

// shape measures all contenders on one shape. What it returns beside an error counts.
func (x *running) shape(ctx context.Context, s shape) ([]Cell, error) {
	x.recall(s)
	g, err := x.ground(s)
	if err != nil {
		return nil, err
	}
	streams, ceiling, err := x.ceiling(ctx, g)
	if err != nil {
		return nil, err
	}
	if x.spins != nil && x.shapes == 0 {
		if err := x.spins(x, g); err != nil {
			return nil, err
		}
	}
	entrants := make([]*entrant, len(x.contestants))
	for i, c := range x.contestants {
		entrants[i] = &entrant{racer: c, cell: x.predict(c, s, ceiling), runToRun: c.target.Manifest.RunToRun}
	}
	err = x.prepare(ctx, g, entrants)
	if err == nil && ctx.Err() == nil {
		err = x.time(ctx, g, entrants, streams)
	}
	for i, c := range x.contestants {
		if t := c.release(ctx); t != nil && entrants[i].out == nil {
			entrants[i].out = t
		}
	}
	if err == nil && ctx.Err() == nil {
		x.settle(ceiling, streams)
	}
	return x.conclude(g, entrants, streams), err
}

// ceiling gets both streams ready on a ground, and finds the bandwidth that predictions are made of: the one
// known for this array size, or that of a short run.
func (x *running) ceiling(ctx context.Context, g *keeperGround) ([]*entrant, *Ceiling, error) {
	reads, writes := g.mix()
	variants, err := x.Keeper.PrepareStream(ctx, g.from, g.to, g.streamSets(reads, writes), g.arrayBytes/16*16)
	if err != nil {
		return nil, nil, err
	}
	stream := func(variant int) *entrant {
		return &entrant{racer: &streamer{x.Keeper, x.now, variant}, cell: &Cell{}}
	}
	known := x.sweep.ceiling(g.arrayBytes)
	if known == nil {
		best, err := x.bestVariant(ctx, g, x.Keeper, variants)
		if err != nil {
			return nil, nil, err
		}
		x.sweep.Ceilings = append(x.sweep.Ceilings, Ceiling{ArrayBytes: g.arrayBytes, Variant: best, Read: reads, Written: writes})
		known = x.sweep.ceiling(g.arrayBytes)
	}
	streams := []*entrant{stream(frozen)}
	if known.Variant != frozen {
		streams = append(streams, stream(known.Variant))
	}
	for _, e := range streams {
		if err := x.pilot(ctx, g, e, 0); err != nil {
			return nil, nil, err
		}
		if e.out != nil {
			return nil, nil, e.out.wedged
		}
	}
	if known.Stream == 0 {
		if err := x.race(ctx, g, streams, nil, func(int, int) error { return nil }); err != nil {
			return nil, nil, err
		}
		x.settle(known, streams)
		for _, e := range streams { // the contenders' rounds are yet to come
			e.samples, e.leases = nil, nil
		}
		known.Samples = nil
		x.announce(known)
	}
	return streams, known, nil
}

// settle writes what the streams' samples say into the ceiling: of all shapes of its size so far.
func (x *running) settle(c *Ceiling, streams []*entrant) {
	c.Samples = append(c.Samples, streams[0].samples...)
	c.Stream = bandwidth(c.Read, c.Written, c.ArrayBytes, streamSeconds(c.Samples))
	best := c.Stream
	if len(streams) > 1 {
		best = max(best, bandwidth(c.Read, c.Written, c.ArrayBytes, streamSeconds(streams[1].samples)))
	}
	c.Best = max(c.Best, best)
}

// streamSeconds is the slope, or on a machine that is too noisy for one the median of total over launches.
func streamSeconds(samples []Sample) float64 {
	if line, ok := TheilSen(samples); ok && line.Slope > 0 {
		return line.Slope
	}
	var upper []float64
	for _, s := range samples {
		upper = append(upper, s.Seconds/float64(s.Launches))
	}
	return Median(upper)
}

func (s *Sweep) ceiling(arrayBytes int64) *Ceiling {
	for i := range s.Ceilings {
		if s.Ceilings[i].ArrayBytes == arrayBytes {
			return &s.Ceilings[i]
		}
	}
	return nil
}

// announce says the model's times for an array size.
func (x *running) announce(ceiling *Ceiling) {
	p := *x.sweep
	p.Predicted, p.Ceilings, p.Cells = true, []Ceiling{*ceiling}, nil
	for _, s := range x.all {
		if s.arrayBytes != ceiling.ArrayBytes {
			continue
		}
		for _, c := range x.contestants {
			p.Cells = append(p.Cells, *x.predict(c, s, ceiling))
		}
	}
	x.event(Event{Prediction: &p})
}

// prepare gets every contender ready, and verifies and pilots it.
func (x *running) prepare(ctx context.Context, g *keeperGround, entrants []*entrant) error {
	for i, c := range x.contestants {
		e := entrants[i]
		if e.out = c.gone; e.out != nil {
			continue
		}
		if e.out = c.start(ctx); e.out == nil {
			e.out = c.prepare(ctx, g)
		}
		e.process = c.incarnation
		if e.out == nil {
			if err := x.firstLook(ctx, g, e, c.kernel()); err != nil {
				return err
			}
		}
		if e.out != nil && e.out.wedged != nil {
			return e.out.wedged
		}
		if ctx.Err() != nil {
			return nil
		}
	}
	return nil
}

func (x *running) firstLook(ctx context.Context, g *keeperGround, e *entrant, kernel string) error {
	guess, err := x.verify(ctx, g, e)
	if err != nil || e.out != nil {
		return err
	}
	if known, ok := x.plans[kernel]; ok {
		e.plan = known
		return nil
	}
	if err := x.pilot(ctx, g, e, guess); err != nil {
		return err
	}
	x.plans[kernel] = e.plan
	return nil
}

// recall brings back what is known of a shape.
func (x *running) recall(s shape) {
	known, ok := x.memory[s.String()]
	if !ok {
		known = remembered{map[proof]int64{}, map[string]plan{}}
	}
	if x.memory != nil {
		x.memory[s.String()] = known
	}
	x.proven, x.plans = known.proven, known.plans
}

// kernel is the same for all processes of one kernel.
func (c *contestant) kernel() string { return fmt.Sprint(c.Plugin, c.Hash, c.Tuning) }

// time races the contenders that are ready and the streams.
func (x *running) time(ctx context.Context, g *keeperGround, entrants, streams []*entrant) error {
	field := append([]*entrant{}, streams...)
	graphs := map[*entrant]bool{}
	for i, e := range entrants {
		if e.out != nil {
			continue
		}
		field = append(field, e)
		graphs[e] = x.contestants[i].graphs && e.plan.perLaunch < x.options().GraphTime
	}
	return x.race(ctx, g, field, graphs, func(round, rounds int) error {
		n := x.options().Restarts
		if round == 0 || n < 2 || round*n/rounds == (round-1)*n/rounds {
			return nil
		}
		return x.restart(ctx, g, entrants)
	})
}

// restart gives every contender a new process, whose memory comes to lie elsewhere.
func (x *running) restart(ctx context.Context, g *keeperGround, entrants []*entrant) error {
	for i, c := range x.contestants {
		if err := c.stop(); err != nil {
			return err
		}
		if entrants[i].out == nil {
			entrants[i].out = c.start(ctx)
		}
	}
	for i, c := range x.contestants {
		e := entrants[i]
		if e.out == nil {
			e.out = c.prepare(ctx, g)
			e.process = c.incarnation
		}
		if e.out != nil && e.out.wedged != nil {
			return e.out.wedged
		}
	}
	return nil
}

// conclude turns samples into cells.
func (x *running) conclude(g *keeperGround, entrants, streams []*entrant) []Cell {
	var readings []Reading
	if x.telemetry != nil {
		time.Sleep(telemetryPeriod) // the last lease's readings
		readings = x.telemetry.Readings()
	}
	keeper := newReference(streams[0].samples, x.options().Seed)
	least, written := g.op.MinimumTraffic(g.problem)
	var cells []Cell
	for _, e := range entrants {
		c := e.cell
		c.Samples = e.samples
		c.Reference, c.ReferenceNoise, c.Drift = keeper.intercept, keeper.noise, keeper.drift
		if label := joinTelemetry(c.Samples, e.leases, readings); label != "" {
			c.Labels = append(c.Labels, label)
		}
		if label := g.label(x.sweep.GPU.L2Bytes); label != "" {
			c.Labels = append(c.Labels, label)
		}
		if e.noGraph != "" {
			c.Labels = append(c.Labels, e.noGraph)
		}
		c.Summarize(x.options().Seed)
		x.verdict(e, least+written)
		cells = append(cells, *c)
	}
	return cells
}

// verdict says what a cell comes to, with the first thing that speaks against it.
func (x *running) verdict(e *entrant, least int64) {
	c := e.cell
	c.Verdict = string(judge.Pass)
	if e.out != nil {
		c.Verdict, c.Detail = string(e.out.verdict), e.out.detail
		return
	}
	v, detail := clockVerdict(valid(c.Samples), reference{c.Reference, c.ReferenceNoise, c.Drift}, x.options().Seed)
	if text := impossible(*c, least, x.sweep.GPU); v == "" && text != "" {
		v, detail = judge.ImpossibleTime, text
	}
	if v != "" {
		c.Verdict, c.Detail = string(v), detail
	}
	if c.Checked < c.Launches && c.Detail == "" {
		c.Detail = fmt.Sprintf("%d of %d timed launches had an output of their own to compare", c.Checked, c.Launches)
	}
}
