package bench

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Reading is one line of telemetry.
type Reading struct {
	At          time.Duration // on the sweep's clock
	SM, Memory  int           // MHz
	Watts       float64
	Celsius     int
	Reasons     uint64 // why clocks are not at their highest: NVML's bits
	Temperature bool   // Celsius is known
}

// telemetryFields are what nvidia-smi is asked for, in the order of parseReading.
var telemetryFields = []string{"timestamp", "clocks.sm", "clocks.mem", "power.draw", "temperature.gpu"}

// reasonFields are the names of the same field before and since driver 535.
var reasonFields = []string{"clocks_event_reasons.active", "clocks_throttle_reasons.active"}

const telemetryPeriod = 50 * time.Millisecond

// Telemetry is a child that says how the GPU is. It may hang or be missing: nobody waits for it, and a sweep
// without it says so.
type Telemetry struct {
	mu       sync.Mutex
	readings []Reading
	cmd      *exec.Cmd
	done     chan struct{}
	trouble  string
}

// StartTelemetry starts nvidia-smi for one GPU. now is the sweep's clock.
func StartTelemetry(uuid string, now func() time.Duration) *Telemetry {
	t := &Telemetry{done: make(chan struct{})}
	go t.run(uuid, now)
	return t
}

// run stays on its thread until the child is reaped: a parent-death signal fires when the thread that forked
// dies.
func (t *Telemetry) run(uuid string, now func() time.Duration) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(t.done)
	for _, reasons := range reasonFields {
		got, err := t.stream(uuid, reasons, now)
		if got > 0 || err == nil {
			return
		}
		t.mu.Lock()
		t.trouble = err.Error()
		t.mu.Unlock()
	}
}

// stream reads until the child ends, and says how many readings it gave.
func (t *Telemetry) stream(uuid, reasons string, now func() time.Duration) (int, error) {
	cmd := exec.Command("nvidia-smi", "--id="+uuid, "--query-gpu="+strings.Join(append(telemetryFields[:len(telemetryFields):len(telemetryFields)], reasons), ","),
		"--format=csv,noheader,nounits", fmt.Sprintf("--loop-ms=%d", telemetryPeriod.Milliseconds()))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("nvidia-smi: %w", err)
	}
	t.mu.Lock()
	t.cmd = cmd
	t.mu.Unlock()
	got, last := t.read(out, now)
	err = cmd.Wait()
	if err != nil {
		err = fmt.Errorf("nvidia-smi ended: %w: %s", err, last)
	}
	return got, err
}

// read takes readings in until the stream ends.
func (t *Telemetry) read(out io.Reader, now func() time.Duration) (got int, last string) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		last = lines.Text()
		at, wall := now(), time.Now()
		r, stamped, err := parseReading(last)
		if err != nil {
			continue
		}
		r.At = at
		if lag := wall.Sub(stamped); lag > 0 && lag < time.Second { // the line was made before it was read
			r.At -= lag
		}
		t.mu.Lock()
		t.readings = append(t.readings, r)
		t.mu.Unlock()
		got++
	}
	return got, last
}

// parseReading reads a line of nvidia-smi; what the GPU does not tell is "[N/A]" there and 0 here.
func parseReading(line string) (Reading, time.Time, error) {
	f := strings.Split(line, ",")
	if len(f) != len(telemetryFields)+1 {
		return Reading{}, time.Time{}, fmt.Errorf("%d fields in %q; %d were asked for", len(f), line, len(telemetryFields)+1)
	}
	for i := range f {
		f[i] = strings.TrimSpace(f[i])
	}
	stamped, err := time.ParseInLocation("2006/01/02 15:04:05.000", f[0], time.Local)
	if err != nil {
		return Reading{}, stamped, fmt.Errorf("time in %q: %w", line, err)
	}
	var r Reading
	if r.SM, err = strconv.Atoi(f[1]); err != nil {
		return r, stamped, fmt.Errorf("SM clock in %q: %w", line, err)
	}
	r.Memory, _ = strconv.Atoi(f[2])
	r.Watts, _ = strconv.ParseFloat(f[3], 64)
	r.Celsius, err = strconv.Atoi(f[4])
	r.Temperature = err == nil
	r.Reasons, _ = strconv.ParseUint(strings.TrimPrefix(f[5], "0x"), 16, 64)
	return r, stamped, nil
}

// Readings are those so far.
func (t *Telemetry) Readings() []Reading {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.readings[:len(t.readings):len(t.readings)]
}

// Trouble says why there are no readings, if that is so.
func (t *Telemetry) Trouble() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.readings) > 0 {
		return ""
	}
	if t.trouble == "" {
		return "nvidia-smi said nothing"
	}
	return t.trouble
}

// stopWait is how long a killed child is waited for; a driver call may hold it longer, and nobody minds.
const stopWait = 2 * time.Second

// Stop kills the child.
func (t *Telemetry) Stop() {
	t.mu.Lock()
	cmd := t.cmd
	t.mu.Unlock()
	if cmd != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // it may be gone
	}
	select {
	case <-t.done:
	case <-time.After(stopWait):
	}
}
