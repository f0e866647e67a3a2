package op

import (
	"math"
	"slices"
)

// A suite is made of four parts: shapes that are special, a pairwise cover of regimes, lengths, rows, options and
// dtypes on small arrays, shapes drawn from the seed, and a few large ones. Cases over the kernel's ceiling end it.
const (
	suiteCap     = int64(1) << 23 // elements of the largest case where the machine sets no limit
	coverCap     = int64(1) << 17 // elements of a case of the pairwise cover
	drawnCases   = 8
	gridLimit    = int64(65535)   // blocks along a grid's y and z: more rows than that must not be lost
	chainLength  = int64(1) << 23 // 32,768 tiles of 256
	longRow      = int64(1) << 22
	pastPowerRow = int64(1)<<20 + 1
	chainRow     = int64(8191) // two of them are 64 tiles of 256: the case whose schedules are explored
)

// lengthClasses are the lengths of the cover. A case of a class takes the class's next length, so all are used.
var lengthClasses = [][]int64{
	{1},
	{2, 3, 4},
	{31, 255, 1023, 2047, 4095},
	{32, 256, 1024, 2048, 4096},
	{33, 257, 1025, 2049, 4097},
	{5, 77, 999, 1185, 3001},
	{97, 509, 1999, 10007},
	{65537, 40961, 100003},
}

var rowClasses = []int64{1, 3, 70}

func (o affine) Suite(limits Limits, seed uint64) []Case {
	b := suiteBuilder{op: o, limits: limits, seed: seed}
	if b.limits.Elements == 0 {
		b.limits.Elements = suiteCap
	}
	if len(b.limits.DTypes) == 0 {
		b.limits.DTypes = []DType{FP32}
	}
	b.options = subsets(knownOptions(o, limits))
	b.empty()
	b.cover()
	b.drawn()
	b.chained()
	b.large()
	b.overCeiling()
	return b.cases
}

// knownOptions are the op's among those that a kernel supports, in order.
func knownOptions(o Op, limits Limits) []string {
	return inOrder(o, slices.DeleteFunc(slices.Clone(limits.Options), func(s string) bool { return !slices.Contains(o.Options(), s) }))
}

// subsets lists all subsets, the empty one first and the whole last.
func subsets(options []string) [][]string {
	var all [][]string
	for mask := range 1 << len(options) {
		var subset []string
		for i, o := range options {
			if mask>>i&1 == 1 {
				subset = append(subset, o)
			}
		}
		all = append(all, subset)
	}
	return all
}

type suiteBuilder struct {
	op      affine
	limits  Limits
	options [][]string // every set of options the kernel supports
	seed    uint64
	cases   []Case
}

// add appends a case that the kernel and the machine can take; others are left out.
func (b *suiteBuilder) add(regime string, rows, length int64, options []string, dtype DType) {
	if b.limits.MaxLength > 0 && length > b.limits.MaxLength {
		return
	}
	b.append(regime, rows, length, options, dtype)
}

func (b *suiteBuilder) append(regime string, rows, length int64, options []string, dtype DType) {
	if rows*length > b.limits.Elements {
		return
	}
	p := Problem{Op: affineName, DType: dtype, Dims: map[string]int64{dimRows: rows, dimLength: length}, Options: options}
	b.cases = append(b.cases, newCase(b.op, regime, p, b.seed+uint64(len(b.cases))))
}

// with is the largest supported set of options among the wanted ones.
func (b *suiteBuilder) with(wanted ...string) []string {
	all := b.options[len(b.options)-1]
	return slices.DeleteFunc(slices.Clone(all), func(o string) bool { return !slices.Contains(wanted, o) })
}

func (b *suiteBuilder) empty() {
	for _, dtype := range b.limits.DTypes {
		b.add("decay", 0, 5, b.with(optReverse, optStart, optLast), dtype)
		b.add("decay", 3, 0, b.with(optStart, optLast), dtype)
		b.add("decay", 3, 0, nil, dtype)
		b.add("decay", 0, 0, b.with(optLast), dtype)
	}
}

// cover meets every pair of regime, length class, rows, options and dtype.
func (b *suiteBuilder) cover() {
	var regimes []string
	for _, r := range affineRegimes {
		if !r.solo {
			regimes = append(regimes, r.name)
		}
	}
	classes := b.lengths()
	taken := make([]int, len(classes))
	for _, c := range pairwise([]int{len(regimes), len(classes), len(rowClasses), len(b.options), len(b.limits.DTypes)}) {
		class := classes[c[1]]
		length := class[taken[c[1]]%len(class)]
		taken[c[1]]++
		rows := rowClasses[c[2]]
		for rows > 1 && rows*length > min(coverCap, b.limits.Elements) {
			rows /= 2
		}
		b.add(regimes[c[0]], rows, length, b.options[c[3]], b.limits.DTypes[c[4]])
	}
}

// lengths drops what is over the kernel's ceiling, and what the machine cannot hold.
func (b *suiteBuilder) lengths() [][]int64 {
	most := b.limits.Elements
	if b.limits.MaxLength > 0 {
		most = min(most, b.limits.MaxLength)
	}
	var classes [][]int64
	for _, class := range lengthClasses {
		kept := slices.DeleteFunc(slices.Clone(class), func(n int64) bool { return n > most })
		if len(kept) > 0 {
			classes = append(classes, kept)
		}
	}
	return classes
}

// drawn adds shapes, options and a mixture of decays that the seed decides.
func (b *suiteBuilder) drawn() {
	longest := int64(20000)
	if b.limits.MaxLength > 0 {
		longest = min(longest, b.limits.MaxLength)
	}
	for i := range uint64(drawnCases) {
		draw := func(what uint64) uint64 { return hash(b.seed, i<<8|what) }
		length := int64(math.Exp(uniform(draw(0)) * math.Log(float64(longest+1))))
		rows := 1 + int64(draw(1)%uint64(max(1, min(300, coverCap/max(1, length)))))
		b.add("random", rows, length, b.options[draw(2)%uint64(len(b.options))], b.limits.DTypes[draw(3)%uint64(len(b.limits.DTypes))])
	}
}

// chained is the longest row of decay near 1, where a grouping that varies shows in the bits.
func (b *suiteBuilder) chained() {
	length := chainRow
	if b.limits.MaxLength > 0 {
		length = min(length, b.limits.MaxLength)
	}
	for _, dtype := range b.limits.DTypes {
		b.add("near1", 2, length, b.with(optStart, optLast), dtype)
	}
}

// large adds more rows than a grid has blocks along y, rows past powers of two, and chains of many tiles.
func (b *suiteBuilder) large() {
	for _, dtype := range b.limits.DTypes {
		b.add("exact", gridLimit+2, 5, b.with(optReverse, optStart), dtype)
		b.add("decay", gridLimit+2, 3, b.with(optLast), dtype)
		b.add("near1", 1, pastPowerRow, b.with(optReverse, optLast), dtype)
		b.add("near1", 1, longRow, b.with(optStart, optLast), dtype)
		b.add("impulse", 1, longRow, b.with(optReverse), dtype)
		b.add("chain", 1, chainLength, b.with(optStart, optLast), dtype)
	}
}

// overCeiling adds lengths that the kernel must refuse.
func (b *suiteBuilder) overCeiling() {
	if b.limits.MaxLength <= 0 {
		return
	}
	dtype := b.limits.DTypes[0]
	b.append("decay", 1, b.limits.MaxLength+1, nil, dtype)
	b.append("decay", 3, b.limits.MaxLength+1, b.options[len(b.options)-1], dtype)
	b.append("decay", 1, 2*b.limits.MaxLength-1, nil, dtype)
}
