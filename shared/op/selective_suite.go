package op

import (
	"math"
	"slices"
)

// The work of a selective scan is batch * length * channels * state: each has a factor, an exponential, of its own.
const (
	selectiveCap   = int64(1) << 21 // work of the largest case where the machine sets no limit
	selectiveCover = int64(1) << 14 // work of a case of the pairwise cover
)

var (
	selectiveLengths = [][]int64{{1}, {2, 3}, {7, 16, 31}, {32, 64, 128}, {33, 65, 129, 257}, {100, 509}, {1030, 2048}}
	// Batches and channels: one, a few, a block of 128 threads and its neighbours.
	selectiveChannels = [][][2]int64{{{1, 1}}, {{3, 5}, {2, 17}}, {{1, 31}, {2, 32}, {1, 33}}, {{1, 127}, {1, 128}, {1, 129}}, {{70, 1}, {2, 257}}}
	selectiveStates   = [][]int64{{1}, {2, 4}, {3, 5, 7}, {16}, {8, 17, 31}, {64, 100, 256}}
)

func (o selective) Suite(limits Limits, seed uint64) []Case {
	b := selectiveSuite{limits: limits, options: knownOptions(o, limits), seed: seed}
	if b.limits.Elements == 0 {
		b.limits.Elements = selectiveCap
	}
	if len(b.limits.DTypes) == 0 {
		b.limits.DTypes = []DType{FP32}
	}
	b.empty()
	b.cover()
	b.drawn()
	b.special()
	b.overCeiling()
	return b.cases
}

type selectiveSuite struct {
	limits  Limits
	options []string // that the kernel supports
	seed    uint64
	cases   []Case
}

// form is the dimensions of a case, in the op's order.
type form struct{ batch, length, channels, state int64 }

func (f form) work() int64 { return f.batch * f.length * f.channels * f.state }

func (b *selectiveSuite) add(regime string, f form, options []string, dtype DType) {
	if b.limits.MaxLength == 0 || f.length <= b.limits.MaxLength {
		b.append(regime, f, options, dtype)
	}
}

func (b *selectiveSuite) append(regime string, f form, options []string, dtype DType) {
	if f.work() > b.limits.Elements {
		return
	}
	p := Problem{Op: selectiveName, DType: dtype, Options: options,
		Dims: map[string]int64{dimBatch: f.batch, dimLength: f.length, dimChannels: f.channels, dimState: f.state}}
	b.cases = append(b.cases, newCase(selective{}, regime, p, b.seed+uint64(len(b.cases))))
}

func (b *selectiveSuite) empty() {
	for _, f := range []form{{0, 5, 3, 16}, {2, 0, 3, 16}, {2, 5, 0, 16}} {
		b.add("decay", f, b.options, b.limits.DTypes[0])
	}
	b.add("decay", form{2, 0, 3, 5}, b.with(optLast), b.limits.DTypes[0])
}

// with is those of the wanted options that the kernel supports.
func (b *selectiveSuite) with(wanted ...string) []string {
	return slices.DeleteFunc(slices.Clone(b.options), func(o string) bool { return !slices.Contains(wanted, o) })
}

// cover meets every pair of regime, length, batch and channels, number of states, each option on and off, and dtype.
func (b *selectiveSuite) cover() {
	sizes := []int{len(selectiveRegimes), len(selectiveLengths), len(selectiveChannels), len(selectiveStates), len(b.limits.DTypes)}
	for range b.options {
		sizes = append(sizes, 2)
	}
	for i, c := range pairwise(sizes) {
		var options []string
		for j, o := range b.options {
			if c[5+j] == 1 {
				options = append(options, o)
			}
		}
		lengths, channels, states := selectiveLengths[c[1]], selectiveChannels[c[2]], selectiveStates[c[3]]
		width := channels[i%len(channels)]
		f := form{width[0], lengths[i%len(lengths)], width[1], states[i%len(states)]}
		b.add(selectiveRegimes[c[0]].name, b.fitting(f), options, b.limits.DTypes[c[4]])
	}
}

// fitting halves the largest of a form's dimensions other than the number of states until its work is bearable.
func (b *selectiveSuite) fitting(f form) form {
	for f.work() > min(selectiveCover, b.limits.Elements) && max(f.batch, f.length, f.channels) > 1 {
		switch largest := max(f.batch, f.length, f.channels); {
		case f.length == largest:
			f.length = (f.length + 1) / 2
		case f.channels == largest:
			f.channels = (f.channels + 1) / 2
		default:
			f.batch = (f.batch + 1) / 2
		}
	}
	return f
}

// drawn adds what the seed decides.
func (b *selectiveSuite) drawn() {
	for i := range uint64(drawnCases) {
		draw := func(what uint64) uint64 { return hash(b.seed, i<<8|what) }
		upTo := func(what uint64, most float64) int64 {
			return int64(math.Exp(uniform(draw(what)) * math.Log(most+1)))
		}
		var options []string
		for j, o := range b.options {
			if draw(9)>>j&1 == 1 {
				options = append(options, o)
			}
		}
		f := b.fitting(form{upTo(0, 5), upTo(1, 3000), upTo(2, 300), upTo(3, mostStates)})
		b.add("random", f, options, b.limits.DTypes[draw(4)%uint64(len(b.limits.DTypes))])
	}
}

// special adds the longest row whose schedules are explored, long rows, and more channels and batches than a grid
// has blocks along y.
func (b *selectiveSuite) special() {
	for _, dtype := range b.limits.DTypes {
		b.add("near1", form{1, 511, 2, 16}, b.with(optSkip, optStart, optLast), dtype)
		b.add("near1", form{1, 20011, 3, 16}, b.with(optGate, optBias, optLast), dtype)
		b.add("impulse", form{1, 20011, 2, 4}, b.with(optGate), dtype)
		b.add("decay", form{2, 777, 65, 16}, b.options, dtype)
	}
	dtype := b.limits.DTypes[0]
	b.add("position", form{1, 3, gridLimit + 3, 1}, b.with(optSkip), dtype)
	b.add("position", form{gridLimit + 3, 2, 1, 2}, b.with(optSkip, optLast), dtype)
}

// overCeiling adds lengths that the kernel must refuse.
func (b *selectiveSuite) overCeiling() {
	if b.limits.MaxLength <= 0 {
		return
	}
	b.append("decay", form{1, b.limits.MaxLength + 1, 1, 1}, nil, b.limits.DTypes[0])
	b.append("decay", form{1, b.limits.MaxLength + 1, 3, 2}, b.options, b.limits.DTypes[0])
}
