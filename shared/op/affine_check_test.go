package op

import (
	"testing"
)

var rightScans = map[string]scanner{
	"serial": serial, "serial, unfused": serialUnfused, "tree": tree, "tree, unfused": treeUnfused,
	"spine": tiled(256, spine), "look-back": tiled(256, folded), "short tiles": tiled(32, folded),
}

// No right grouping may be called wrong, whatever the regime, shape and options.
func TestRightGroupingsPassTheSuite(t *testing.T) {
	suite := affine{}.Suite(Limits{Options: affine{}.Options(), Elements: 1 << 17, DTypes: []DType{FP32, FP16, BF16}}, 1)
	for name, scan := range rightScans {
		t.Run(name, func(t *testing.T) {
			for _, c := range suite {
				if got := judged(t, c, scan); got.Wrong > 0 {
					t.Errorf("%s: %d wrong, first %v", c.Name, got.Wrong, got.First)
				}
			}
		})
	}
}

func BenchmarkCheck(b *testing.B) {
	for _, regime := range []string{"near1", "decay", "exact", "signs", "resets"} {
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

func BenchmarkFill(b *testing.B) {
	for _, regime := range []string{"near1", "decay", "exact", "nonfinite", "random"} {
		b.Run(regime, func(b *testing.B) {
			c := caseNamed(b, "affine_scan:"+regime+":rows=1:length=4194304:none:fp32:seed=1")
			dst := make([]byte, 4<<22)
			for b.Loop() {
				_ = affine{}.Fill(c, "b", dst)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(1<<22), "ns/element")
		})
	}
}
