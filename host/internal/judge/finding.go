package judge

import (
	"context"
	"fmt"
	"maps"

	"scanhost/shared/contract/kernelv1"
)

// finding turns what the device or the simulator objected to into a verdict. After an error of a real
// device the process is of no more use.
func (t *trial) finding(ctx context.Context, f *kernelv1.Finding) *failure {
	detail := fmt.Sprintf("%s: %s", findingName(f.Kind), f.Text)
	verdict := DeviceError
	switch f.Kind {
	case kernelv1.Finding_DEADLOCK:
		verdict = Hung
	case kernelv1.Finding_OUT_OF_BOUNDS:
		verdict = OutOfBounds
	case kernelv1.Finding_INPUT_WRITE:
		verdict = InputChanged
	case kernelv1.Finding_OUT_OF_MEMORY:
		verdict = OutOfMemory
	}
	if t.target.Backend == "cuda" {
		return t.end(ctx, &failure{verdict: verdict, detail: detail, log: t.process.Evidence().Log})
	}
	t.res.Verdict, t.res.Detail = verdict, detail
	return nil
}

var findingNames = map[kernelv1.Finding_Kind]string{
	kernelv1.Finding_DEADLOCK: "deadlock", kernelv1.Finding_DIVERGENCE: "divergence", kernelv1.Finding_RACE: "race",
	kernelv1.Finding_UNINITIALISED: "uninitialised read", kernelv1.Finding_UNORDERED: "unordered read",
	kernelv1.Finding_OUT_OF_BOUNDS: "out of bounds", kernelv1.Finding_INPUT_WRITE: "write to an input",
	kernelv1.Finding_FAULT: "fault", kernelv1.Finding_DEVICE_ERROR: "device error", kernelv1.Finding_REFUSED: "launch refused",
	kernelv1.Finding_OUT_OF_MEMORY: "out of memory",
}

func findingName(k kernelv1.Finding_Kind) string {
	if n, ok := findingNames[k]; ok {
		return n
	}
	return k.String()
}

// flatten names the counters as results hold them.
func flatten(c *kernelv1.Counters) map[string]uint64 {
	out := map[string]uint64{"barriers": c.GetBarriers(), "shuffles": c.GetShuffles(), "atomics": c.GetAtomics(),
		"lookback_steps": c.GetLookbackSteps(), "steps": c.GetSteps()}
	for role := range maps.Keys(c.GetBytesRead()) {
		out["bytes_read."+role] = c.BytesRead[role]
	}
	for role := range maps.Keys(c.GetBytesWritten()) {
		out["bytes_written."+role] = c.BytesWritten[role]
	}
	return out
}
