package op

import (
	"bytes"
	"math"
	"runtime"
	"strings"
	"testing"
)

// Values depend on their place alone, not on how the work is shared out.
func TestFillIsTheSameOnAnyNumberOfProcessors(t *testing.T) {
	c := caseNamed(t, "affine_scan:random:rows=7:length=9001:reverse+h0:fp32:seed=5")
	want := arraysOf(t, c)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	got := arraysOf(t, c)
	for _, role := range []string{"a", "b", "h0"} {
		if !bytes.Equal(got[role], want[role]) {
			t.Errorf("%s differs", role)
		}
	}
}

// A reversed case holds the same row the other way round, so that regimes mean the same in both directions.
func TestFillFollowsTheScanOrder(t *testing.T) {
	forward := arraysOf(t, caseNamed(t, "affine_scan:impulse:rows=2:length=5000:none:fp32:seed=5"))
	reverse := arraysOf(t, caseNamed(t, "affine_scan:impulse:rows=2:length=5000:reverse:fp32:seed=5"))
	for _, role := range []string{"a", "b"} {
		f, r := floats(forward[role]), floats(reverse[role])
		for i := range 5000 {
			if f[i] != r[4999-i] || f[5000+i] != r[9999-i] {
				t.Fatalf("%s[%d]", role, i)
			}
		}
	}
}

// Constant maps commute and would hide a swapped combine; an input that is not what its regime says hides more.
func TestRegimesAreWhatTheySay(t *testing.T) {
	for _, r := range affineRegimes {
		c := caseNamed(t, "affine_scan:"+r.name+":rows=4:length=3000:h0:fp32:seed=2")
		arrays := arraysOf(t, c)
		a, b := floats(arrays["a"]), floats(arrays["b"])
		maps := map[pair]bool{}
		sum := 0.0
		for i := range a {
			maps[pair{a[i], b[i]}] = true
			if i%3000 == 0 {
				sum = 0
			}
			sum += math.Abs(float64(b[i]))
			if r.exact && (a[i] != 0 && a[i] != 1 && a[i] != -1 || b[i] != float32(math.Trunc(float64(b[i])))) {
				t.Fatalf("%s: a = %g, b = %g at %d", r.name, a[i], b[i], i)
			}
		}
		if len(maps) < 3 {
			t.Errorf("%s: %d different maps", r.name, len(maps))
		}
		if r.exact && r.name != "position" && sum >= 1<<24 {
			t.Errorf("%s: sums reach %g", r.name, sum)
		}
		got := judged(t, c, serial)
		if labelled := got.OutOfRange > 0; labelled != (r.name == "growing") {
			t.Errorf("%s: %d positions out of range", r.name, got.OutOfRange)
		}
	}
}

func TestFillRefuses(t *testing.T) {
	c := caseNamed(t, "affine_scan:decay:rows=2:length=3:none:fp32:seed=1")
	for role, want := range map[string]string{"h": `no input "h"`, "h0": `no input "h0"`, "a": `"a" takes 24 bytes; the buffer has 1`} {
		if err := (affine{}).Fill(c, role, make([]byte, 1)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", role, err)
		}
	}
}

func BenchmarkFill(b *testing.B) {
	for _, regime := range []string{"near1", "decay", "exact", "nonfinite", "random"} {
		b.Run(regime, func(b *testing.B) {
			c := caseNamed(b, "affine_scan:"+regime+":rows=1:length=4194304:none:fp32:seed=1")
			dst := make([]byte, 4<<22)
			for b.Loop() {
				if err := (affine{}).Fill(c, "b", dst); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(1<<22), "ns/element")
		})
	}
}

func BenchmarkCheck(b *testing.B) {
	for _, regime := range []string{"near1", "decay", "exact", "signs", "resets", "growing"} {
		b.Run(regime, func(b *testing.B) {
			c := caseNamed(b, "affine_scan:"+regime+":rows=1:length=1048576:none:fp32:seed=1")
			arrays := arraysOf(b, c)
			run(c, arrays, serial)
			for b.Loop() {
				check(b, c, arrays)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(1<<20), "ns/element")
		})
	}
}
