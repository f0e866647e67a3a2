package bench

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

// Counted finds the traffic that the simulated GPU counted for a contender on a row length; ok is false where it
// has not counted.
type Counted func(c Contender, length int64) (t Traffic, ok bool)

const dimLength = "length"

// predict makes a cell with everything that is known beforehand.
func (x *running) predict(c *contestant, s shape, ceiling *Ceiling) *Cell {
	cell := &Cell{Contender: c.Name, Problem: s.problem, ArrayBytes: s.arrayBytes,
		Predicted: Predict(c.Contender, s.arrayBytes, ceiling.Stream)}
	if x.Counted != nil {
		if t, ok := x.Counted(c.Contender, s.problem.Dims[dimLength]); ok {
			cell.CountedRead, cell.CountedWrote = t.Read, t.Written
		}
	}
	return cell
}
