package bench

import (
	"math"
	"testing"

	"scanhost/shared/op"
)

func TestPredictionIsArraysTimesBytesOverCeiling(t *testing.T) {
	level1, level2 := Contender{Read: 2, Written: 1}, Contender{Read: 4, Written: 3}
	const bytes, ceiling = 96 << 20, 4.2e12
	first, second := Predict(level1, bytes, ceiling), Predict(level2, bytes, ceiling)
	if math.Abs(first-3*96*1048576/4.2e12) > 1e-12 || math.Abs(second/first-7.0/3) > 1e-9 {
		t.Errorf("predicted %g and %g s; 71.9 us and 7/3 of it are right", first, second)
	}
	if Predict(level1, bytes, 0) != 0 {
		t.Error("there is a prediction without a ceiling")
	}
}

func affine(t *testing.T, rows, length int64) op.Problem {
	t.Helper()
	p, err := op.NewAffineProblem(rows, length, op.FP32)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPredictedSweepHasNoMeasuredTime(t *testing.T) {
	gpu, err := KnownGPU("rtx4050")
	if err != nil {
		t.Fatal(err)
	}
	sweep := &Sweep{}
	refused := func(c Contender, p op.Problem) string {
		if c.Name == "block" && p.Dims["length"] > 2048 {
			return "length is over 2048"
		}
		return ""
	}
	counted := func(c Contender, _ op.Problem) (Traffic, bool) { return Traffic{2, 1.01}, c.Name == "block" }
	contenders := []Contender{{Name: "block", Read: 2, Written: 1}, {Name: "grid", Read: 4, Written: 3}}
	problems := []op.Problem{affine(t, 12288, 2048), affine(t, 6144, 4096)}
	if err := PredictSweep(sweep, gpu, contenders, problems, counted, refused); err != nil {
		t.Fatal(err)
	}
	if !sweep.Predicted || len(sweep.Cells) != 4 || len(sweep.Ceilings) != 1 {
		t.Fatalf("%+v", sweep)
	}
	for _, c := range sweep.Cells {
		refuses := c.Contender == "block" && c.Length() > 2048
		if (c.Predicted > 0) == refuses || (c.Verdict == "unsupported") != refuses || c.Time.Seconds != 0 || len(c.Samples) != 0 {
			t.Errorf("%s: predicted %g, %s, measured %g", c.Name(), c.Predicted, c.Verdict, c.Time.Seconds)
		}
		if (c.CountedWrote == 1.01) != (c.Contender == "block") {
			t.Errorf("%s: counted %g", c.Name(), c.CountedWrote)
		}
	}
}

func TestRotatingSetsAreBeyondL2(t *testing.T) {
	h200 := GPU{L2Bytes: 60 << 20, Peak: 4.8e12}
	for _, length := range []int64{256, 2048, 1 << 16, 1 << 22} {
		for _, mb := range []int64{1, 4, 96, 768} {
			s, err := newShape(affine(t, max(1, mb<<18/length), length))
			if err != nil {
				t.Fatal(err)
			}
			sets, slots := s.inputSets(h200.L2Bytes), s.slotsWanted(h200)
			if sets < leastInputs || slots%int64(sets) != 0 || slots < int64(sets) || slots > mostSlots {
				t.Errorf("%s: %d sets of inputs, %d outputs", s, sets, slots)
			}
			if rotating := int64(sets)*s.bytes(false) + slots*s.bytes(true); rotating < l2Multiples*h200.L2Bytes {
				t.Errorf("%s: rotates through %d bytes, which are under 4 times L2", s, rotating)
			}
		}
	}
}

func TestRowsToCompareAreWholeAndApart(t *testing.T) {
	for seed := range uint64(50) {
		random := newStand(1, 1).random
		for range seed {
			random.Uint64()
		}
		for _, c := range [][2]int64{{100, 9}, {100, 1}, {100, 2}, {7, 6}, {48, 8}, {1 << 20, 3}} {
			rows, count := c[0], c[1]
			total, end := int64(0), int64(0)
			for _, b := range rowBlocks(rows, count, random) {
				if b[0] < end || b[1] < 1 || b[0]+b[1] > rows {
					t.Fatalf("%d of %d rows: block %v after %d (seed %d, draw %d)", count, rows, b, end, standSeed, seed)
				}
				end, total = b[0]+b[1], total+b[1]
			}
			if total != count {
				t.Errorf("%d of %d rows: %d were picked", count, rows, total)
			}
		}
	}
}

func TestMixOfTheCeilingIsTheOps(t *testing.T) {
	p, err := op.NewAffineProblem(100, 4096, op.FP32, "h0", "last_state")
	if err != nil {
		t.Fatal(err)
	}
	s, err := newShape(p)
	if err != nil {
		t.Fatal(err)
	}
	if reads, writes := s.mix(); reads != 2 || writes != 1 {
		t.Errorf("ceiling reads %d arrays and writes %d; a, b and h are 2 and 1", reads, writes)
	}
}
