package op

import (
	"encoding/binary"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/sbinet/npyio/npz"
)

var allTypes = []DType{FP32, FP16, BF16}

func selectiveCase(t testing.TB, name string) Case {
	t.Helper()
	c, err := selective{}.ParseCase(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// judgedS6 computes a case and judges it.
func judgedS6(t testing.TB, c Case, m s6) Comparison {
	t.Helper()
	arrays := map[string][]byte{}
	for _, a := range (selective{}).Arrays(c.Problem) {
		if a.Shape == nil {
			continue
		}
		arrays[a.Role] = make([]byte, a.Bytes())
		if a.Output {
			poisonBytes(arrays[a.Role])
		} else if err := (selective{}).Fill(c, a.Role, arrays[a.Role]); err != nil {
			t.Fatal(err)
		}
	}
	if m.scan != nil {
		m.run(c, arrays)
	}
	got, err := selective{}.Check(c.Problem, arrays, testPoison, c.Exact())
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func poisonBytes(raw []byte) {
	var word [4]byte
	binary.LittleEndian.PutUint32(word[:], testPoison)
	for i := range raw {
		raw[i] = word[i%4]
	}
}

func selectiveCases(limits Limits) []Case {
	limits.Options = selective{}.Options()
	return selective{}.Suite(limits, 1)
}

func TestRightSelectiveScansAreInside(t *testing.T) {
	for name, m := range rightS6 {
		worst := map[DType]float64{}
		for _, c := range selectiveCases(Limits{DTypes: allTypes, Elements: 1 << 16}) {
			got := judgedS6(t, c, m)
			if got.Wrong > 0 {
				t.Errorf("%s: %s: %d of %d, first %v", name, c.Name, got.Wrong, got.Checked, got.First)
			}
			worst[c.Problem.DType] = max(worst[c.Problem.DType], got.Worst)
		}
		t.Logf("%s: at most %.3f bounds", name, worst[FP32])
		if worst[FP32] > 0.9 {
			t.Errorf("%s: the bound has no room left in fp32", name)
		}
	}
}

func TestWrongSelectiveScansAreOutside(t *testing.T) {
	for fault, name := range wrongS6 {
		c := selectiveCase(t, name)
		m := rightS6["serial"]
		if got := judgedS6(t, c, m); got.Wrong > 0 {
			t.Errorf("%s is wrong without a fault: %v", name, got.First)
		}
		m.fault = fault
		got := judgedS6(t, c, m)
		t.Logf("%s: %.3g bounds, %d of %d outside", fault, got.Worst, got.Wrong, got.Checked)
		if got.Wrong == 0 {
			t.Errorf("%s passes %s", fault, name)
		}
	}
}

// A softplus that is 0 where log(1 + e^s) is, an exponential whose argument overflows, a factor of 0 times infinity.
func TestFaultyFunctionsAreOutside(t *testing.T) {
	naive := rightS6["serial"]
	naive.softplus = func(s float32) float32 { return float32(math.Log(float64(1 + expExact(s)))) }
	limit := rightS6["serial"]
	limit.exp = func(v float32) float32 { // what 0 * Inf gives where the rate is not kept finite
		if v == 0 {
			return float32(math.NaN())
		}
		return expExact(v)
	}
	for name, m := range map[string]s6{
		"selective_scan:lower_tail:batch=1:length=9:channels=3:state=4:none:fp32:seed=7": naive,
		"selective_scan:upper_tail:batch=1:length=9:channels=3:state=4:none:fp32:seed=7": naive,
		"selective_scan:extreme:batch=1:length=9:channels=3:state=4:h0:fp32:seed=7":      limit,
	} {
		if got := judgedS6(t, selectiveCase(t, name), m); got.Wrong == 0 {
			t.Errorf("%s passes", name)
		}
	}
}

func TestUnwrittenSelectiveOutputsAreSeen(t *testing.T) {
	c := selectiveCase(t, "selective_scan:nonfinite:batch=2:length=5:channels=7:state=3:last_state:fp32:seed=7")
	if got := judgedS6(t, c, s6{}); got.Unwritten != 2*5*7+2*7*3 || got.Wrong != got.Unwritten {
		t.Errorf("%+v", got)
	}
}

// What is not finite stays in its own channel and after its own step, and does not vanish there.
func TestSelectiveNonfiniteMustNotLeakNorVanish(t *testing.T) {
	c := selectiveCase(t, "selective_scan:nonfinite:batch=2:length=30:channels=40:state=3:D+z+h0+last_state:fp32:seed=7")
	if got := judgedS6(t, c, rightS6["serial"]); got.Wrong > 0 || got.Checked < 1200 {
		t.Errorf("%+v, first %v", got, got.First)
	}
	hides := rightS6["serial"]
	hides.scan = func(a, b []float32, h0 float32) []float32 {
		h := serial(a, b, h0)
		for i, v := range h {
			if !finite(v) {
				h[i] = 0
			}
		}
		return h
	}
	if got := judgedS6(t, c, hides); got.Wrong == 0 {
		t.Error("zeros for NaN pass")
	}
	leaks := rightS6["serial"]
	leaks.scan = func(a, b []float32, h0 float32) []float32 {
		h := serial(a, b, h0)
		if n := len(h); n > 0 && !finite(h[n-1]) {
			h[0] = h[n-1]
		}
		return h
	}
	if got := judgedS6(t, c, leaks); got.Wrong == 0 {
		t.Error("a NaN before its step passes")
	}
}

func TestSelectiveSuite(t *testing.T) {
	suite := selectiveCases(Limits{DTypes: allTypes, MaxLength: 5000})
	plain, seen, met := regexp.MustCompile(`^[A-Za-z0-9_:=+]+$`), map[string]bool{}, map[string]bool{}
	work, refused := int64(0), 0
	for i, c := range suite {
		again, err := selective{}.ParseCase(c.Name)
		if diff := cmp.Diff(c, again); err != nil || diff != "" || !plain.MatchString(c.Name) || seen[c.Name] {
			t.Errorf("%s: %v %s", c.Name, err, diff)
		}
		seen[c.Name] = true
		switch over := c.Problem.Dims[dimLength] > 5000; {
		case over:
			refused++
		case refused > 0:
			t.Errorf("case %d: %s after one over the ceiling", i, c.Name)
		}
		for _, o := range (selective{}).Options() {
			met[c.Regime+" "+o+" "+map[bool]string{true: "on", false: "off"}[c.Problem.Has(o)]] = true
		}
		work += span([]int64{c.Problem.Dims[dimBatch], c.Problem.Dims[dimLength], c.Problem.Dims[dimChannels], c.Problem.Dims[dimState]})
	}
	t.Logf("%d cases, work %d", len(suite), work)
	if want := 2 * len(selectiveRegimes) * len(selective{}.Options()); len(met) != want || refused != 2 || work > 12e6 {
		t.Errorf("%d of %d regimes with and without options, %d to be refused, work %d", len(met), want, refused, work)
	}
	for _, n := range []int64{1, 16, 256} {
		if !slices.ContainsFunc(suite, func(c Case) bool { return c.Problem.Dims[dimState] == n }) {
			t.Errorf("no case of %d states", n)
		}
	}
}

func TestSelectiveValidateRefuses(t *testing.T) {
	for name, want := range map[string]string{
		"selective_scan:decay:batch=1:length=1:channels=1:state=0:none:fp32:seed=1":                   "state is 0; accepted are 1 to 256",
		"selective_scan:decay:batch=1:length=1:channels=1:state=257:none:fp32:seed=1":                 "state is 257; accepted are 1 to 256",
		"selective_scan:decay:batch=1:length=1:channels=-1:state=4:none:fp32:seed=1":                  "channels is -1",
		"selective_scan:decay:batch=1:length=1:channels=1:state=4:z+D:fp32:seed=1":                    "out of order",
		"selective_scan:decay:batch=1:length=1:channels=1:state=4:reverse:fp32:seed=1":                `option "reverse" is not known; accepted are D, z, delta_bias, h0, last_state`,
		"selective_scan:decay:batch=4294967296:length=4294967296:channels=1:state=4:none:fp32:seed=1": "too large",
		"selective_scan:odd:batch=1:length=1:channels=1:state=4:none:fp32:seed=1":                     `regime "odd" is not known; known are decay, near1`,
		"selective_scan:decay:rows=1:length=1:none:fp32:seed=1":                                       "not of the form selective_scan:REGIME:batch=NUMBER:length=NUMBER:channels=NUMBER:state=NUMBER",
	} {
		if _, err := (selective{}).ParseCase(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

// The golden data are an independent answer in float64, for inputs that fp32 holds.
func TestSelectiveGoldenData(t *testing.T) {
	archive, err := npz.Open("testdata/selective_mamba.npz")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = archive.Close() }()
	names := 0
	for _, key := range archive.Keys() {
		if name, found := strings.CutSuffix(key, ".y.npy"); found {
			names++
			t.Run(name, func(t *testing.T) { checkSelectiveGolden(t, archive, name) })
		}
	}
	if names != 2 {
		t.Errorf("found %d cases", names)
	}
}

func checkSelectiveGolden(t *testing.T, archive *npz.Reader, name string) {
	arrays := map[string][]byte{}
	for file, role := range map[string]string{"x": roleX, "delta_raw": roleDelta, "delta_bias": roleBias, "A_log": roleDecay, "B": roleEnter, "C": roleLeave, "D": roleSkip} {
		var values []float32
		if err := archive.Read(name+"."+file+".npy", &values); err != nil {
			t.Fatal(err)
		}
		arrays[role] = bytesOf(values)
	}
	var want []float64
	if err := archive.Read(name+".y.npy", &want); err != nil {
		t.Fatal(err)
	}
	x, a := archive.Header(name+".x.npy").Descr.Shape, archive.Header(name+".A_log.npy").Descr.Shape
	p := Problem{Op: selectiveName, DType: FP32, Options: []string{optSkip, optBias},
		Dims: map[string]int64{dimBatch: int64(x[0]), dimLength: int64(x[1]), dimChannels: int64(x[2]), dimState: int64(a[1])}}
	rounded := make([]float32, len(want))
	for i, v := range want {
		rounded[i] = float32(v)
	}
	arrays[roleY] = bytesOf(rounded)
	got, err := selective{}.Check(p, arrays, testPoison, false)
	if err != nil || got.Wrong > 0 || got.Worst > 0.25 || got.Checked != int64(len(want)) {
		t.Errorf("%+v, first %v, %v", got, got.First, err)
	}
	compareReference(t, p, arrays, want)
}

// compareReference holds the reference itself, before any rounding, to golden values.
func compareReference(t *testing.T, p Problem, arrays map[string][]byte, want []float64) {
	w := newSelectiveWalk(p, arrays, testPoison)
	for row := range p.Dims[dimBatch] * w.channels {
		batch, d := row/w.channels, row%w.channels
		for n, log := range w.span(roleDecay, d*w.states, (d+1)*w.states) {
			w.decays[0][n] = newDecay(log)
		}
		c := w.channel[0]
		c.start(w.decays[0], nil)
		bias, skip := w.span(roleBias, d, d+1)[0], w.span(roleSkip, d, d+1)[0]
		for step := batch * w.length; step < (batch+1)*w.length; step++ {
			i := step*w.channels + d
			x, delta := w.span(roleX, i, i+1)[0], w.span(roleDelta, i, i+1)[0]
			c.step(&w.bound, w.decays[0], x, float64(delta)+float64(bias), true, w.span(roleEnter, step*w.states, (step+1)*w.states))
			o := c.leave(&w.bound, w.span(roleLeave, step*w.states, (step+1)*w.states))
			o.skip(&w.bound, skip, x)
			if math.Abs(o.value-want[i]) > 1e-6*o.bound {
				t.Fatalf("element %d: %.17g, golden %.17g, bound %g", i, o.value, want[i], o.bound)
			}
		}
	}
}
