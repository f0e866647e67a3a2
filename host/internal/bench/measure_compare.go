package bench

import (
	"math/rand/v2"
	"slices"

	"scanhost/host/internal/buffers"
	"scanhost/shared/op"
)

// compare reads parts of a slot back and compares them with the reference: the first, the last, and some between.
// Entries of the op's outermost dimension (rows, or batches) are independent of each other, so a few of them are a
// smaller problem of the same kind.
func (g *keeperGround) compare(slot int, elements int64) (op.Comparison, error) {
	rows := g.problem.Dims[g.op.Outermost()]
	if rows == 0 {
		return g.compareRows(slot, 0, 0)
	}
	each := g.arrayBytes / g.problem.DType.Size() / rows
	count := min(rows, max(1, elements/max(each, 1)))
	if count == rows {
		return g.compareRows(slot, 0, rows)
	}
	random := rand.New(rand.NewPCG(g.seed, uint64(slot)))
	var whole op.Comparison
	for _, block := range rowBlocks(rows, count, random) {
		c, err := g.compareRows(slot, block[0], block[1])
		if err != nil {
			return whole, err
		}
		whole = merge(whole, c)
	}
	return whole, nil
}

// rowBlocks picks count of rows in up to three blocks of (first, number), in order and apart.
func rowBlocks(rows, count int64, random *rand.Rand) [][2]int64 {
	third := count / 3
	if third == 0 || rows < 2*count {
		first := random.Int64N(rows - count + 1)
		return [][2]int64{{first, count}}
	}
	middle := count - 2*third
	first := third + random.Int64N(rows-2*third-middle+1)
	return [][2]int64{{0, third}, {first, middle}, {rows - third, third}}
}

func (g *keeperGround) compareRows(slot int, first, count int64) (op.Comparison, error) {
	part, shift := g.op.Part(g.problem, first, count)
	arrays := map[string][]byte{}
	input, output := 0, 0
	for _, a := range g.arrays {
		from, bytes := int64(0), a.Bytes()
		if slices.Contains(a.Axes, g.op.Outermost()) {
			each := bytes / max(g.problem.Dims[g.op.Outermost()], 1)
			from, bytes = first*each, count*each
		}
		if !a.Output {
			arrays[a.Role] = g.contents.sets[slot%g.inputs()][input][from : from+bytes]
			input++
			continue
		}
		at := g.part(output, 1).Offset + int64(slot)*g.slotStride() + from
		dst := make([]byte, bytes)
		if err := g.to.Read(at, dst); err != nil {
			return op.Comparison{}, err
		}
		arrays[a.Role] = dst
		output++
	}
	c, err := g.op.Check(part, arrays, buffers.Poison, false)
	if c.First != nil {
		c.First.Row += shift
	}
	return c, err
}

func merge(a, b op.Comparison) op.Comparison {
	a.Checked += b.Checked
	a.Wrong += b.Wrong
	a.Unwritten += b.Unwritten
	a.OutOfRange += b.OutOfRange
	a.Flushed += b.Flushed
	a.Worst = max(a.Worst, b.Worst)
	if a.First == nil {
		a.First = b.First
	}
	return a
}
