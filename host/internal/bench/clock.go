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
	interceptPart  = 0.02   // of the median batch, which is what the noise of a slope makes of an intercept
)

// clockVerdict compares the clocks of a cell that has samples. The first answer is "" where they agree. reference and
// drift are the keeper's own kernel's in the same rounds: its intercept, and by how much the host's clock runs ahead of
// its device events. On an H200 that is 1 to 2 %, for kernels whose length is known as well, so it is the clocks'
// and no plugin's doing.
func clockVerdict(samples []Sample, reference, drift float64) (judge.Verdict, string) {
	line, ok := TheilSen(samples)
	if !ok || line.Slope <= 0 {
		return judge.NoValidSample, fmt.Sprintf("%d samples make no line of rising time", len(samples))
	}
	if device, ok := deviceLine(samples); ok {
		apart := math.Abs(line.Slope - device.Slope*(1+drift))
		if apart > eventTolerance*line.Slope+eventFloor {
			return judge.ClockMismatch, fmt.Sprintf("by the host's clock a launch takes %s, by the plugin's events %s; %.0f %% beside the clocks' own %+.1f %% is accepted",
				micro(line.Slope), micro(device.Slope), 100*eventTolerance, 100*drift)
		}
	}
	batch := make([]float64, len(samples))
	for i, s := range samples {
		batch[i] = s.Seconds
	}
	// One launch's time is accepted in any case: a plugin that issues a launch in many steps cannot overlap the first.
	accepted := max(interceptFloor+interceptPart*Median(batch), line.Slope)
	if apart := math.Abs(line.Intercept - reference); apart > accepted {
		return judge.ClockMismatch, fmt.Sprintf("a batch of no launches would take %s, and %s with the keeper's own kernel in the same rounds: work is hidden from the slope",
			micro(line.Intercept), micro(reference))
	}
	return "", ""
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
