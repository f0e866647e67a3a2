package bench_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"scanhost/host/internal/bench"
	"scanhost/host/internal/bench/benchtest"
)

func load(t *testing.T, text string) (bench.Spec, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bars.toml")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return bench.LoadSpec(path)
}

const bars = `
schema = 1
[[bar]]
name = "ceiling"
plugin = "lookback_items"
min_length = 2048
array_mb = 96
percent_of_ceiling_at_least = LIMIT
[[bar]]
name = "traffic"
plugin = "multiblock"
against = "blelloch"
length = 2048
times_as_long_at_least = 1.5
times_as_long_at_most = 1.9
[[bar]]
name = "nowhere"
plugin = "lookback_items"
array_mb = 7
percent_of_ceiling_at_least = 1
`

func TestBarsPassFailOrStayOpen(t *testing.T) {
	sweep := benchtest.Small().Sweep() // lookback_items is at 88 % of the ceiling, multiblock at 1.68 times blelloch
	for limit, want := range map[string]bench.Standing{"80": bench.Holds, "88": bench.Undecided, "95": bench.Fails} {
		spec, err := load(t, strings.Replace(bars, "LIMIT", limit, 1))
		if err != nil {
			t.Fatal(err)
		}
		got := spec.Judge(sweep)
		if len(got) != 4 {
			t.Fatalf("%d judgements, want 4: L = 2048 and 65536, one ratio, one that covers nothing", len(got))
		}
		for _, j := range got[:2] {
			if j.Standing != want || !(j.Low < j.Value && j.Value < j.High) {
				t.Errorf("at least %s %%: %+v, want %s", limit, j, want)
			}
		}
		if got[2].Standing != bench.Holds || got[3].Standing != bench.NotMeasured || !got[3].Broken() {
			t.Errorf("%+v\n%+v", got[2], got[3])
		}
	}
}

func TestABarOnAKernelWithoutATimeIsBroken(t *testing.T) {
	spec, err := load(t, "schema = 1\n[[bar]]\nname = \"x\"\nplugin = \"blelloch\"\nlength = 65536\npercent_of_ceiling_at_least = 1\n")
	if err != nil {
		t.Fatal(err)
	}
	if j := spec.Judge(benchtest.Small().Sweep())[0]; !j.Broken() || j.Detail != "blelloch: unsupported" {
		t.Errorf("%+v", j)
	}
}

func TestTheModelPassesNoBar(t *testing.T) {
	spec, err := load(t, strings.Replace(bars, "LIMIT", "1", 1))
	if err != nil {
		t.Fatal(err)
	}
	sweep := benchtest.Small().Sweep()
	sweep.Predicted = true
	for _, j := range spec.Judge(sweep) {
		if !j.Broken() {
			t.Errorf("%+v", j)
		}
	}
}

func TestABadSpecIsOneSentence(t *testing.T) {
	bar := "schema = 1\n[[bar]]\nname = \"x\"\nplugin = \"p\"\n"
	for text, want := range map[string]string{
		"schema = ":                        "is not TOML",
		"schema = 2":                       "has schema 2; this host reads 1",
		"schema = 1":                       "has no [[bar]]",
		bar:                                "nothing must hold",
		bar + "percent = 3":                `has the key "bar.percent"`,
		bar + "times_as_long_at_least = 2": "belong together",
		bar + "against = \"p\"\ntimes_as_long_at_least = 2":                                  "against itself",
		bar + "percent_of_ceiling_at_least = nan":                                            "not a positive number",
		bar + "percent_of_ceiling_at_least = 3\nlength = 5\nmin_length = 4":                  "excludes",
		bar + "percent_of_ceiling_at_least = 3\nmax_length = 5\nmin_length = 6":              "nothing is covered",
		bar + "percent_of_ceiling_at_least = 3\nagainst = \"q\"":                             "belong together",
		bar + "against = \"q\"\ntimes_as_long_at_least = 3\ntimes_as_long_at_most = 2":       "is over",
		strings.Replace(bar, "name = \"x\"\n", "", 1):                                        "name is missing",
		strings.Replace(bar, "plugin = \"p\"\n", "", 1):                                      "plugin is missing",
		bar + "percent_of_ceiling_at_least = 3\nagainst = \"q\"\ntimes_as_long_at_least = 3": "two bars",
		bar + "percent_of_ceiling_at_least = 3\nlength = -5":                                 "positive",
	} {
		_, err := load(t, text)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := bench.LoadSpec("nowhere.toml"); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("missing file: %v", err)
	}
}

func TestKnownGPUs(t *testing.T) {
	for _, name := range []string{"h200", "H200", "RTX 4050", "rtx4050", "h100", "a100", "rtx4090", "l4"} {
		if g, err := bench.KnownGPU(name); err != nil || g.Peak < 1e11 || g.L2Bytes < 1<<20 {
			t.Errorf("%s: %+v, %v", name, g, err)
		}
	}
	if _, err := bench.KnownGPU("voodoo2"); err == nil || !strings.Contains(err.Error(), "known are a100, a100-40gb, h100") {
		t.Errorf("unknown: %v", err)
	}
}
