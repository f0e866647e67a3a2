package op

import (
	"math"
	"slices"
)

// s6 is one way to compute a selective scan in fp32: the operations that right kernels choose differently, and the
// faults that wrong ones have. The zero value of a fault is none.
type s6 struct {
	exp      func(v float32) float32 // of -|v| mostly
	softplus func(s float32) float32
	scan     scanner
	backward bool // sum over states from the last
	fault    string
}

func expExact(v float32) float32 { return float32(math.Exp(float64(v))) }

// expBase2 is the instruction's way: the argument's product with log2(e) rounded, the result off by up to 2^-22.
func expBase2(v float32) float32 {
	if !finite(v) {
		return expExact(v)
	}
	off := 1 + math.Sin(1e6*float64(v))*0x1p-22
	return flushed(float32(math.Exp2(float64(v*float32(math.Log2E))) * off))
}

func flushed(v float32) float32 {
	if math.Abs(float64(v)) < smallestNormal {
		return 0
	}
	return v
}

func softplusExact(s float32) float32 {
	return max(s, 0) + float32(math.Log1p(float64(expExact(-float32(math.Abs(float64(s)))))))
}

func softplusThreshold(s float32) float32 {
	if s > 20 {
		return s
	}
	return flushed(float32(math.Log1p(float64(expBase2(s)))))
}

func siluOf(z float32, exp func(float32) float32) float32 { return z / (1 + exp(-z)) }

// rows runs a scanner over every channel and state of a problem. arrays holds the outputs, too.
func (m s6) run(c Case, arrays map[string][]byte) {
	p := c.Problem
	batch, length, channels, states := p.Dims[dimBatch], p.Dims[dimLength], p.Dims[dimChannels], p.Dims[dimState]
	in := map[string][]float32{}
	for _, a := range (selective{}).Arrays(p) {
		if a.Shape != nil && !a.Output {
			in[a.Role] = make([]float32, a.Elements())
			Decode(in[a.Role], arrays[a.Role], a.DType)
		}
	}
	y := make([]float32, batch*length*channels)
	last := make([]float32, batch*channels*states)
	for row := range batch * channels {
		m.row(in, y, last, row/channels, row%channels, length, channels, states)
	}
	Encode(arrays[roleY], y, p.DType)
	if p.Has(optLast) {
		Encode(arrays[roleLast], last, FP32)
	}
}

func (m s6) row(in map[string][]float32, y, last []float32, batch, channel, length, channels, states int64) {
	at := func(t int64) int64 { return (batch*length+t)*channels + channel }
	step := make([]float32, length)
	for t := range length {
		s := in[roleDelta][at(t)]
		if bias := in[roleBias]; bias != nil && m.fault != "no bias" {
			s += bias[channel]
		}
		step[t] = m.softplus(s)
		if m.fault == "no softplus" {
			step[t] = s
		}
	}
	order := make([]int64, states)
	for n := range order {
		order[n] = int64(n)
	}
	if m.backward {
		slices.Reverse(order)
	}
	sums := make([]float32, length)
	for _, n := range order {
		h := m.state(in, step, at, batch, channel, n, length, states)
		for t, v := range h {
			sums[t] = fused(in[roleLeave][(batch*length+int64(t))*states+n], v, sums[t])
		}
		row := batch*channels + channel
		switch {
		case length > 0:
			last[row*states+n] = h[length-1]
		case in[roleStart] != nil:
			last[row*states+n] = in[roleStart][row*states+n]
		}
	}
	for t := range length {
		v := sums[t]
		if d := in[roleSkip]; d != nil && !(m.fault == "one D missing" && channel == channels-1) {
			v = fused(d[channel], in[roleX][at(t)], v)
		}
		if z := in[roleGate]; z != nil && m.fault != "no gate" {
			g := siluOf(z[at(t)], m.exp)
			if m.fault == "logistic gate" {
				g = 1 / (1 + m.exp(-z[at(t)]))
			}
			v *= g
		}
		y[at(t)] = v
	}
}

// state is the states of one n, by step.
func (m s6) state(in map[string][]float32, step []float32, at func(int64) int64, batch, channel, n, length, states int64) []float32 {
	rate := -min(expExact(in[roleDecay][channel*states+n]), math.MaxFloat32)
	a, b := make([]float32, length), make([]float32, length)
	for t := range length {
		a[t] = m.exp(step[t] * rate)
		from := t
		if m.fault == "B one step late" && t > 0 {
			from--
		}
		b[t] = step[t] * in[roleX][at(t)] * in[roleEnter][(batch*length+from)*states+n]
		switch {
		case m.fault == "state dropped in the middle" && t == length/2:
			a[t] = 0
		case m.fault == "delta missing in b":
			b[t] /= step[t]
		}
	}
	start := float32(0)
	channels := int64(len(in[roleDecay])) / states
	if h0 := in[roleStart]; h0 != nil && m.fault != "h0 ignored" {
		start = h0[(batch*channels+channel)*states+n]
	}
	if m.fault == "time swapped" {
		slices.Reverse(a)
	}
	return m.scan(a, b, start)
}

var rightS6 = map[string]s6{
	"serial":              {exp: expExact, softplus: softplusExact, scan: serial},
	"serial, unfused":     {exp: expExact, softplus: softplusThreshold, scan: serialUnfused, backward: true},
	"hardware functions":  {exp: expBase2, softplus: softplusThreshold, scan: serial},
	"tree":                {exp: expBase2, softplus: softplusThreshold, scan: tree, backward: true},
	"tiles joined by 64s": {exp: expBase2, softplus: softplusExact, scan: tiled(64, folded)},
}

// wrongS6 are faults, and a case that must show each.
var wrongS6 = map[string]string{
	"state dropped in the middle": "selective_scan:near1:batch=1:length=257:channels=3:state=4:none:fp32:seed=7",
	"time swapped":                "selective_scan:resets:batch=1:length=65:channels=3:state=4:none:fp32:seed=7",
	"no softplus":                 "selective_scan:decay:batch=1:length=9:channels=3:state=4:none:fp32:seed=7",
	"no bias":                     "selective_scan:decay:batch=1:length=9:channels=3:state=4:delta_bias:fp32:seed=7",
	"no gate":                     "selective_scan:gates:batch=1:length=9:channels=3:state=4:z:fp32:seed=7",
	"logistic gate":               "selective_scan:decay:batch=1:length=9:channels=3:state=4:z:fp32:seed=7",
	"one D missing":               "selective_scan:decay:batch=1:length=9:channels=3:state=4:D:fp32:seed=7",
	"h0 ignored":                  "selective_scan:near1:batch=1:length=2049:channels=3:state=4:h0:fp32:seed=7",
	"B one step late":             "selective_scan:position:batch=1:length=9:channels=3:state=4:none:fp32:seed=7",
	"delta missing in b":          "selective_scan:decay:batch=1:length=9:channels=3:state=4:none:fp32:seed=7",
}
