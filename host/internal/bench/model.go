package bench

import (
	"scanhost/host/internal/judge"
	"scanhost/shared/op"
)

// The traffic model. A scan does so little arithmetic for a byte that its time is that of its traffic:
//
//	seconds = arrays read and written * bytes of an array / bandwidth of a plain stream
//
// The arrays are what a plugin's manifest declares. They are written into every cell before anything of it is
// measured, and stand beside what the simulated GPU counted and what was measured.

// Predict is the model's time of a launch.
func Predict(c Contender, arrayBytes int64, bandwidth float64) float64 {
	if bandwidth <= 0 {
		return 0
	}
	return (c.Read + c.Written) * float64(arrayBytes) / bandwidth
}

// Traffic is what a kernel moves for each element, in arrays.
type Traffic struct{ Read, Written float64 }

// Counted finds the traffic that the simulated GPU counted for a contender on a problem; ok is false where it has not
// counted.
type Counted func(c Contender, p op.Problem) (t Traffic, ok bool)

// streamOfPeak is the part of the theoretical bandwidth that the plain stream reached on the GPUs where it was
// measured, for a prediction without one: 0.88 and 0.91 of an H200's, with arrays of 96 and 768 MB.
const streamOfPeak = 0.9

// PredictSweep fills a sweep with the model's cells for a GPU that is not here.
func PredictSweep(sweep *Sweep, gpu GPU, contenders []Contender, problems []op.Problem, counted Counted, refused func(Contender, op.Problem) string) error {
	sweep.Predicted, sweep.GPU, sweep.Contenders = true, gpu, contenders
	for _, p := range problems {
		s, err := newShape(p)
		if err != nil {
			return err
		}
		if sweep.ceiling(s.arrayBytes) == nil {
			reads, writes := s.mix()
			sweep.Ceilings = append(sweep.Ceilings, Ceiling{ArrayBytes: s.arrayBytes, Stream: streamOfPeak * gpu.Peak, Read: reads, Written: writes})
		}
		for _, c := range contenders {
			cell := predictCell(c, s, sweep.ceiling(s.arrayBytes), counted)
			cell.Verdict = string(judge.NotRun)
			if reason := refused(c, p); reason != "" {
				cell.Verdict, cell.Detail, cell.Predicted = string(judge.Unsupported), reason, 0
			}
			sweep.Cells = append(sweep.Cells, *cell)
		}
	}
	return nil
}

// predict makes a cell with everything that is known beforehand.
func (x *running) predict(c *contestant, s shape, ceiling *Ceiling) *Cell {
	return predictCell(c.Contender, s, ceiling, x.Counted)
}

func predictCell(c Contender, s shape, ceiling *Ceiling, counted Counted) *Cell {
	cell := &Cell{Contender: c.Name, Problem: s.problem, ArrayBytes: s.arrayBytes, Predicted: Predict(c, s.arrayBytes, ceiling.Stream)}
	if counted != nil {
		if t, ok := counted(c, s.problem); ok {
			cell.CountedRead, cell.CountedWrote = t.Read, t.Written
		}
	}
	return cell
}
