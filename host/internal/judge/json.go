package judge

import (
	"encoding/json"

	"scanhost/shared/op"
)

type plainKernelResult KernelResult

// jsonKernelResult hides the embedded Worst, which is infinite where a kernel gave NaN.
type jsonKernelResult struct {
	*plainKernelResult
	Worst op.Real `json:"worst_bounds"`
}

func (k KernelResult) MarshalJSON() ([]byte, error) {
	return json.Marshal(jsonKernelResult{(*plainKernelResult)(&k), op.Real(k.Worst)})
}

func (k *KernelResult) UnmarshalJSON(text []byte) error {
	j := jsonKernelResult{plainKernelResult: (*plainKernelResult)(k)}
	if err := json.Unmarshal(text, &j); err != nil {
		return err
	}
	k.Worst = float64(j.Worst)
	return nil
}
