package bench

import (
	"time"

	"scanhost/shared/op"
)

// Sweep is one invocation of host bench: what results/<gpu>/bench.json and --json hold. Every raw sample is
// kept, so that other statistics can be made of it later.
type Sweep struct {
	Schema      int               `json:"schema"` // 1
	Command     []string          `json:"command"`
	Started     time.Time         `json:"started"`
	Took        time.Duration     `json:"took_ns"`
	Seed        uint64            `json:"seed"`
	Environment map[string]string `json:"environment"`
	GPU         GPU               `json:"gpu"`
	Predicted   bool              `json:"predicted,omitempty"` // nothing was measured: times are the model's for GPU
	Contenders  []Contender       `json:"contenders"`
	Ceilings    []Ceiling         `json:"ceilings"`
	Cells       []Cell            `json:"cells"`
	Interrupted bool              `json:"interrupted,omitempty"`
}

// GPU is what the traffic model needs of a device.
type GPU struct {
	Name            string  `json:"name"`
	UUID            string  `json:"uuid,omitempty"`
	Driver          string  `json:"driver,omitempty"`
	Multiprocessors int     `json:"multiprocessors,omitempty"`
	L2Bytes         int64   `json:"l2_bytes"`
	MemoryBytes     int64   `json:"memory_bytes,omitempty"`
	Peak            float64 `json:"peak_bytes_per_second"` // memory clock * bus width, both edges
}

// Contender is one kernel with one tuning.
type Contender struct {
	Name       string           `json:"name"` // plugin, and tuning where it is not the default: lookback_items[items=4]
	Plugin     string           `json:"plugin"`
	Version    string           `json:"version"`
	Role       string           `json:"role"`
	Backend    string           `json:"backend"`
	Hash       string           `json:"hash"`
	ImprovesOn string           `json:"improves_on,omitempty"`
	Tuning     map[string]int64 `json:"tuning,omitempty"`
	Read       float64          `json:"arrays_read"` // declared, per element
	Written    float64          `json:"arrays_written"`
}

// Ceiling is the bandwidth of a plain float4 stream with the op's own mix of reads and writes.
type Ceiling struct {
	ArrayBytes int64   `json:"array_bytes"`
	Stream     float64 `json:"stream_bytes_per_second"` // the frozen plain stream: the denominator
	Best       float64 `json:"best_bytes_per_second"`   // the best stream found, for information
	Variant    int     `json:"best_variant,omitempty"`  // the keeper's number of it
	// Of the frozen stream, beside the contenders on the shapes of this size. Read and Written are its mix.
	Read    int      `json:"arrays_read,omitempty"`
	Written int      `json:"arrays_written,omitempty"`
	Samples []Sample `json:"samples,omitempty"`
}

// Cell is one contender on one shape.
type Cell struct {
	Contender  string     `json:"contender"`
	Problem    op.Problem `json:"problem"`
	ArrayBytes int64      `json:"array_bytes"` // of one main array
	// The model, written down before measuring: declared arrays * ArrayBytes / ceiling.
	Predicted    float64 `json:"predicted_seconds"`
	CountedRead  float64 `json:"counted_arrays_read,omitempty"` // by the simulated GPU, per element
	CountedWrote float64 `json:"counted_arrays_written,omitempty"`

	Samples   []Sample `json:"samples,omitempty"`
	Time      Estimate `json:"time"`                // seconds per launch, by the host's clock: slope of the line fit
	Graph     Estimate `json:"graph,omitempty"`     // the same by graph replay, where launching dominates
	Intercept float64  `json:"intercept_seconds"`   // of the fit
	Reference float64  `json:"reference_intercept"` // of the keeper's own kernel in the same rounds
	// Of that kernel's slope: half the interval, as a part of it.
	ReferenceNoise float64 `json:"reference_noise,omitempty"`
	Drift          float64 `json:"reference_drift"`     // host\'s clock over device events for that kernel, less 1
	Upper          float64 `json:"upper_seconds"`       // median of total / launches: a sound upper bound
	Device         float64 `json:"device_seconds"`      // by the plugin's device events, never trusted alone
	Discarded      int     `json:"discarded,omitempty"` // samples left out, because clocks moved

	Launches int      `json:"launches"`         // timed
	Checked  int      `json:"checked"`          // of those, with an output of their own that was compared
	Compared int64    `json:"compared"`         // elements of the first outputs that were compared with the reference
	Labels   []string `json:"labels,omitempty"` // such as "fits in L2"
	Verdict  string   `json:"verdict"`          // pass, or a verdict of the judge's
	Detail   string   `json:"detail,omitempty"`
}

// Estimate is a time with its spread and its uncertainty. Zero means not measured.
type Estimate struct {
	Seconds float64 `json:"seconds"`
	Q1      float64 `json:"q1"` // quartiles of the samples
	Q3      float64 `json:"q3"`
	Low     float64 `json:"low"` // bootstrap interval of Seconds, 95 %
	High    float64 `json:"high"`
}

// Sample is one timed batch.
type Sample struct {
	Round    int     `json:"round"`
	Process  int     `json:"process"` // which incarnation of the plugin: restarts change placement
	Launches int     `json:"launches"`
	Seconds  float64 `json:"seconds"` // host's clock around the call
	Device   float64 `json:"device_seconds"`
	At       float64 `json:"at_seconds"` // since the sweep began
	Graph    bool    `json:"graph,omitempty"`
	SMClock  int     `json:"sm_mhz,omitempty"` // of the lease
	Memory   int     `json:"memory_mhz,omitempty"`
	Watts    float64 `json:"watts,omitempty"`
	Celsius  int     `json:"celsius,omitempty"`
	Dropped  string  `json:"dropped,omitempty"` // why it does not count
}
