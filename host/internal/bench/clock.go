package bench

import (
	"fmt"
	"math"

	"scanhost/host/internal/judge"
)

// How far the clocks may be apart. A plugin's own clock, its device events, is believed only while the host's
// agrees with it; the host's line is believed only while what it says of an empty batch is what the keeper's own
// kernel shows in the same rounds.
const (
	eventTolerance = 0.02   // of the time of a launch
	eventFloor     = 4e-7   // seconds of a launch, below which launching itself is most of what is timed
	interceptFloor = 0.6e-3 // seconds
	interceptPart  = 0.02   // of the median batch
	mostNoise      = 0.25   // of a slope; what is noisier is held to no more than that
)

// reference is the keeper's own kernel in the rounds of a cell.
type reference struct {
	intercept float64 // of its line
	noise     float64 // of its slope: half the interval, as a part of it
	drift     float64 // host's clock over device events, less 1
}

func newReference(samples []Sample, seed uint64) reference {
	line, _ := TheilSen(samples)
	return reference{line.Intercept, slopeNoise(samples, seed), drift(samples)}
}

// slopeNoise is how far a slope may be off by the scatter of its samples. Where launching is all that is timed, it is
// tenths: launches of 4 us take 3.6 or 5.3, batch by batch, as the CPU at the other end of the queue has it.
func slopeNoise(samples []Sample, seed uint64) float64 {
	return min(uncertainty(samples, seed), mostNoise)
}

// clockVerdict compares the clocks of a cell that has samples. The first answer is "" where they agree. The drift of the
// reference is 1 to 2 % on an H200, for kernels whose length is known as well, so it is the clocks' and no plugin's
// doing. What the scatter of the samples makes of a slope or an intercept is no disagreement either; whoever
// scatters them on purpose gets an interval as wide beside the time.
func clockVerdict(samples []Sample, r reference, seed uint64) (judge.Verdict, string) {
	noise := slopeNoise(samples, seed)
	line, ok := TheilSen(samples)
	if !ok || line.Slope <= 0 {
		return judge.NoValidSample, fmt.Sprintf("%d samples make no line of rising time", len(samples))
	}
	if device, ok := deviceLine(samples); ok {
		apart, accepted := math.Abs(line.Slope-device.Slope*(1+r.drift)), eventTolerance+slopeNoise(between(samples, line.Slope), seed)
		if apart > accepted*line.Slope+eventFloor {
			return judge.ClockMismatch, fmt.Sprintf("by the host's clock a launch takes %s, by the plugin's events %s; %.1f %% beside the clocks' own %+.1f %% is accepted",
				micro(line.Slope), micro(device.Slope), 100*accepted, 100*r.drift)
		}
	}
	batch := make([]float64, len(samples))
	for i, s := range samples {
		batch[i] = s.Seconds
	}
	// One launch's time is accepted in any case: a plugin that issues a launch in many steps cannot overlap the first.
	accepted := max(interceptFloor+(interceptPart+math.Hypot(noise, r.noise))*Median(batch), line.Slope)
	if apart := math.Abs(line.Intercept - r.intercept); apart > accepted {
		return judge.ClockMismatch, fmt.Sprintf("a batch of no launches would take %s, and %s with the keeper's own kernel in the same rounds; %s between them is accepted: work is hidden from the slope",
			micro(line.Intercept), micro(r.intercept), micro(accepted))
	}
	return "", ""
}

// between puts what the host's clock saw beside device events on a line of the given slope, so that its noise is that
// of the disagreement: what both clocks saw alike is none.
func between(samples []Sample, slope float64) []Sample {
	apart := make([]Sample, len(samples))
	for i, s := range samples {
		s.Seconds = slope*float64(s.Launches) + s.Seconds - s.Device
		apart[i] = s
	}
	return apart
}

// drift is how far the host's clock runs ahead of the device events of a kernel that is trusted; 0 where there are none.
func drift(samples []Sample) float64 {
	host, ok := TheilSen(samples)
	device, events := deviceLine(samples)
	if !ok || !events || host.Slope <= 0 || device.Slope <= 0 {
		return 0
	}
	return host.Slope/device.Slope - 1
}

// deviceLine fits device events; there is none where a plugin has no events.
func deviceLine(samples []Sample) (Line, bool) {
	events := make([]Sample, 0, len(samples))
	for _, s := range samples {
		if s.Device <= 0 {
			return Line{}, false
		}
		s.Seconds = s.Device
		events = append(events, s)
	}
	return TheilSen(events)
}

func micro(seconds float64) string { return fmt.Sprintf("%.4g us", seconds*1e6) }

// impossible says that a time is below what the memory could do if all of L2 were free: with a rotating set of
// many times L2, at most one L2 of its bytes need not be moved for each launch.
func impossible(c Cell, least int64, gpu GPU) string {
	floor := float64(least-gpu.L2Bytes) / gpu.Peak
	if gpu.Peak <= 0 || floor <= 0 || c.Time.Seconds >= floor {
		return ""
	}
	return fmt.Sprintf("%s a launch; moving %d bytes less the L2's %d at %.4g GB/s takes %s", micro(c.Time.Seconds),
		least, gpu.L2Bytes, gpu.Peak/1e9, micro(floor))
}
