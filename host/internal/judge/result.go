package judge

import (
	"time"

	"scanhost/shared/op"
)

// Verdict is the one-word outcome of a case, a kernel or a run.
type Verdict string

const (
	Pass             Verdict = "pass"
	Wrong            Verdict = "wrong"
	Nondeterministic Verdict = "nondeterministic"
	OutOfBounds      Verdict = "out-of-bounds"
	Unwritten        Verdict = "unwritten"
	InputChanged     Verdict = "input-changed"
	Unsupported      Verdict = "unsupported" // said beforehand; not a failure
	BuildFailed      Verdict = "build-failed"
	BadPlugin        Verdict = "bad-plugin"
	Crashed          Verdict = "crashed"
	Hung             Verdict = "hung"
	OutOfMemory      Verdict = "out-of-memory"
	DeviceError      Verdict = "device-error"
	Unkillable       Verdict = "unkillable"
	ClockMismatch    Verdict = "clock-mismatch"
	ImpossibleTime   Verdict = "impossible-time"
	NoValidSample    Verdict = "no-valid-sample"
	NotRun           Verdict = "not-run"
	Interrupted      Verdict = "interrupted"
)

// Failure says whether a verdict fails its kernel.
func (v Verdict) Failure() bool { return v != Pass && v != Unsupported }

// CaseResult is the outcome of one case on one kernel.
type CaseResult struct {
	Case       string            `json:"case"`
	Regime     string            `json:"regime"`
	Problem    op.Problem        `json:"problem"`
	Tuning     map[string]int64  `json:"tuning,omitempty"`
	Verdict    Verdict           `json:"verdict"`
	Detail     string            `json:"detail,omitempty"` // one line: what, where, after how long
	Comparison *op.Comparison    `json:"comparison,omitempty"`
	Output     string            `json:"output,omitempty"` // fingerprint of the first launch's outputs; equal bits, equal text
	Launches   int               `json:"launches"`         // that ran and were compared bit for bit
	Schedules  int               `json:"schedules"`        // explored on simt
	Seed       uint64            `json:"seed,omitempty"`   // schedule seed that shows the failure
	Time       time.Duration     `json:"time_ns"`          // wall time of the case
	Counters   map[string]uint64 `json:"counters,omitempty"`
	Replay     string            `json:"replay,omitempty"` // command that repeats it; for failures
}

// GPU is the one that a row was made on.
type GPU struct {
	Number int    `json:"number"` // among those that the run could see
	Name   string `json:"name"`
	UUID   string `json:"uuid"`
}

// KernelResult is the row of one kernel and op.
type KernelResult struct {
	Plugin      string        `json:"plugin"`
	Version     string        `json:"version"`
	Role        string        `json:"role"`
	Op          string        `json:"op"`
	Backend     string        `json:"backend"`
	GPU         *GPU          `json:"gpu,omitempty"` // that it ran on
	ImprovesOn  string        `json:"improves_on,omitempty"`
	Hash        string        `json:"hash,omitempty"` // of the sources that were built
	Passed      int           `json:"passed"`
	Run         int           `json:"run"`
	Unsupported int           `json:"unsupported"`
	Determinism string        `json:"determinism"`  // "run-to-run", "varies", "not declared", "-" when nothing ran
	Worst       op.Real       `json:"worst_bounds"` // largest error of any passing or failing case, in bounds
	Time        time.Duration `json:"time_ns"`
	Verdict     Verdict       `json:"verdict"` // Pass, or the verdict of the first failing case
	Detail      string        `json:"detail,omitempty"`
	Lost        []string      `json:"lost_checks,omitempty"` // what could not be checked where the arrays were
	Log         []string      `json:"log,omitempty"`         // last lines of a plugin that failed
	Cases       []CaseResult  `json:"cases,omitempty"`
}

// Run is one invocation of the host: what results/ and --json hold.
type Run struct {
	Schema      int               `json:"schema"` // 1
	Command     []string          `json:"command"`
	Started     time.Time         `json:"started"`
	Took        time.Duration     `json:"took_ns"`
	Seed        uint64            `json:"seed"`
	Environment map[string]string `json:"environment"` // machine, compilers, GPU, driver, git revision
	Kernels     []KernelResult    `json:"kernels"`
	Interrupted bool              `json:"interrupted,omitempty"`
}
