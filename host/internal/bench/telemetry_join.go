package bench

import (
	"fmt"
	"sort"
	"time"
)

const (
	leaseLeast   = 100 * time.Millisecond // to be sure of readings in it
	clockMoves   = 0.015                  // of the SM clock, from which a lease does not count
	mostDiscards = 1.0 / 3                // of a cell's samples; where more would go, all stay and a label says so
)

// Reasons that say nothing against a sample: idle between two batches, and what an administrator has set.
const harmlessReasons = 0x1 | 0x2 | 0x100

// during picks the readings of an interval; they are in order of time.
func during(readings []Reading, i interval) []Reading {
	first := sort.Search(len(readings), func(k int) bool { return readings[k].At >= i.from })
	last := sort.Search(len(readings), func(k int) bool { return readings[k].At > i.to })
	return readings[first:max(first, last)]
}

// joinTelemetry writes into every sample what the GPU was like during its lease, and drops those during which the
// clocks moved, or differed from most of the cell's. It gives a label where too many would have to go.
func joinTelemetry(samples []Sample, leases []interval, readings []Reading) (label string) {
	moved := make([]string, len(samples))
	for i := range samples {
		rows := during(readings, leases[i])
		if len(rows) == 0 {
			continue
		}
		s := &samples[i]
		var clock, memory, watts, celsius []float64
		for _, r := range rows {
			clock, memory = append(clock, float64(r.SM)), append(memory, float64(r.Memory))
			watts, celsius = append(watts, r.Watts), append(celsius, float64(r.Celsius))
		}
		s.SMClock, s.Memory = int(Median(clock)), int(Median(memory))
		s.Watts, s.Celsius = Median(watts), int(Median(celsius))
		moved[i] = movement(rows)
	}
	usual := usualClock(samples)
	count := 0
	for i, s := range samples {
		if moved[i] == "" && s.SMClock > 0 && apart(s.SMClock, usual) {
			moved[i] = fmt.Sprintf("SM clock %d MHz, %d in most leases", s.SMClock, usual)
		}
		if moved[i] != "" {
			count++
		}
	}
	if float64(count) > mostDiscards*float64(len(samples)) {
		return fmt.Sprintf("clocks moved in %d of %d samples", count, len(samples))
	}
	for i := range samples {
		if samples[i].Dropped == "" {
			samples[i].Dropped = moved[i]
		}
	}
	return ""
}

// movement says what changed within a lease, or "".
func movement(rows []Reading) string {
	low, high := rows[0].SM, rows[0].SM
	for _, r := range rows {
		low, high = min(low, r.SM), max(high, r.SM)
		if r.Reasons&^harmlessReasons != rows[0].Reasons&^harmlessReasons {
			return fmt.Sprintf("throttle reasons went from %#x to %#x", rows[0].Reasons, r.Reasons)
		}
	}
	if apart(low, high) {
		return fmt.Sprintf("SM clock between %d and %d MHz", low, high)
	}
	return ""
}

func apart(a, b int) bool { return float64(max(a, b)-min(a, b)) > clockMoves*float64(max(a, b)) }

func usualClock(samples []Sample) int {
	var clocks []float64
	for _, s := range samples {
		if s.SMClock > 0 {
			clocks = append(clocks, float64(s.SMClock))
		}
	}
	if len(clocks) == 0 {
		return 0
	}
	return int(Median(clocks))
}
