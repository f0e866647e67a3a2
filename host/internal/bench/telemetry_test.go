package bench

import (
	"strings"
	"testing"
	"time"
)

func TestTelemetryIsRead(t *testing.T) {
	const text = `2026/11/29 22:31:11.123, 1980, 3201, 431.52, 41, 0x0000000000000000
2026/11/29 22:31:11.173, 1755, 3201, 699.01, 63, 0x0000000000000004
garbage
2026/11/29 22:31:11.223, [N/A], 3201, 1, 1, 0x0
2026/11/29 22:31:11.273, 1410, [N/A], [N/A], [N/A], [N/A]
`
	telemetry := &Telemetry{}
	got, last := telemetry.read(strings.NewReader(text), func() time.Duration { return time.Hour })
	rows := telemetry.Readings()
	if got != 3 || len(rows) != 3 || !strings.Contains(last, "1410") {
		t.Fatalf("%d readings and last line %q", got, last)
	}
	if r := rows[1]; r.SM != 1755 || r.Memory != 3201 || r.Watts != 699.01 || r.Celsius != 63 || r.Reasons != 4 {
		t.Errorf("second reading is %+v", r)
	}
	if r := rows[2]; r.SM != 1410 || r.Temperature || r.Memory != 0 {
		t.Errorf("what a GPU does not tell is %+v", r)
	}
	if telemetry.Trouble() != "" {
		t.Errorf("trouble with readings: %s", telemetry.Trouble())
	}
}

func TestTelemetryGoesByTheTimeALineWasMade(t *testing.T) {
	stamp := time.Now().Add(-200 * time.Millisecond).Format("2006/01/02 15:04:05.000")
	telemetry := &Telemetry{}
	telemetry.read(strings.NewReader(stamp+", 1980, 3201, 431.52, 41, 0x0\n"), func() time.Duration { return time.Minute })
	if at := telemetry.Readings()[0].At; at > time.Minute-150*time.Millisecond || at < time.Minute-900*time.Millisecond {
		t.Errorf("a line made 200 ms before it was read is of %v; it was read at 1m", at)
	}
}

// lease i is from 100 i ms to 100 i + 90 ms.
func leasesAt(n int) (samples []Sample, leases []interval) {
	for i := range n {
		from := time.Duration(i) * 100 * time.Millisecond
		samples = append(samples, Sample{Round: i})
		leases = append(leases, interval{from, from + 90*time.Millisecond})
	}
	return samples, leases
}

// steady has a reading every 40 ms.
func steady(until time.Duration) (rows []Reading) {
	for at := 10 * time.Millisecond; at < until; at += 40 * time.Millisecond {
		rows = append(rows, Reading{At: at, SM: 1980, Memory: 3201, Watts: 400, Celsius: 40})
	}
	return rows
}

func dropped(samples []Sample) (n int) {
	for _, s := range samples {
		if s.Dropped != "" {
			n++
		}
	}
	return n
}

func TestTelemetryIsJoinedToLeases(t *testing.T) {
	samples, leases := leasesAt(9)
	if label := joinTelemetry(samples, leases, steady(time.Second)); label != "" || dropped(samples) != 0 {
		t.Errorf("steady clocks: label %q, %d dropped", label, dropped(samples))
	}
	for i, s := range samples {
		if s.SMClock != 1980 || s.Memory != 3201 || s.Watts != 400 || s.Celsius != 40 {
			t.Errorf("sample %d has %+v", i, s)
		}
	}
	samples, leases = leasesAt(9)
	if label := joinTelemetry(samples, leases, nil); label != "" || dropped(samples) != 0 {
		t.Errorf("no telemetry: label %q, %d dropped", label, dropped(samples))
	}
}

func TestLeasesInWhichClocksMovedAreDropped(t *testing.T) {
	change := func(from, to time.Duration, f func(*Reading)) []Reading {
		rows := steady(time.Second)
		for i := range rows {
			if rows[i].At >= from && rows[i].At < to {
				f(&rows[i])
			}
		}
		return rows
	}
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		rows []Reading
		drop int
		text string
	}{
		"clock falls within a lease":     {change(250*ms, 290*ms, func(r *Reading) { r.SM = 1755 }), 1, "between 1755 and 1980"},
		"clock is lower for a lease":     {change(300*ms, 400*ms, func(r *Reading) { r.SM = 1755 }), 1, "1980 in most"},
		"throttling begins in a lease":   {change(250*ms, 290*ms, func(r *Reading) { r.Reasons = 4 }), 1, "throttle reasons"},
		"idle between batches is no sin": {change(250*ms, 290*ms, func(r *Reading) { r.Reasons = 1 }), 0, ""},
		"a clock step of 15 MHz":         {change(250*ms, 290*ms, func(r *Reading) { r.SM = 1965 }), 0, ""},
	} {
		samples, leases := leasesAt(9)
		label := joinTelemetry(samples, leases, c.rows)
		if dropped(samples) != c.drop || label != "" {
			t.Errorf("%s: %d dropped, label %q; want %d", name, dropped(samples), label, c.drop)
		}
		for _, s := range samples {
			if s.Dropped != "" && !strings.Contains(s.Dropped, c.text) {
				t.Errorf("%s: dropped because %q, want %q", name, s.Dropped, c.text)
			}
		}
	}
}

func TestDiscardsAreCapped(t *testing.T) {
	rows := steady(time.Second)
	for i := range rows {
		if i%2 == 0 {
			rows[i].SM = 1500
		}
	}
	samples, leases := leasesAt(9)
	label := joinTelemetry(samples, leases, rows)
	if dropped(samples) != 0 || label != "clocks moved in 9 of 9 samples" {
		t.Errorf("%d dropped, label %q", dropped(samples), label)
	}
}

func TestTelemetryThatIsMissingIsNamed(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	telemetry := StartTelemetry("GPU-0", func() time.Duration { return 0 })
	<-telemetry.done
	if text := telemetry.Trouble(); !strings.Contains(text, "nvidia-smi") {
		t.Errorf("trouble is %q", text)
	}
	telemetry.Stop()
}
