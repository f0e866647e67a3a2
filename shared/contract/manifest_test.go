package contract

import (
	"strings"
	"testing"
)

const wholeManifest = `schema = 1
name = "tested"
version = "0.1.0"
protocol = [1]
backends = ["cuda"]
[[op]]
name = "affine_scan"
dtypes = ["fp32"]
`

func TestKeysOfOneLanguageAreRefusedInOthers(t *testing.T) {
	for _, c := range []struct{ keys, want string }{
		{`language = "python"` + "\nimports = [\"torch\"]\nprograms = [\"nvcc\"]\nrequirements = \"r.txt\"", ""},
		{`cccl = "cccl.txt"`, ""},
		{`programs = ["nvcc"]`, `programs and requirements are for language "python"`},
		{`requirements = "r.txt"`, `programs and requirements are for language "python"`},
		{"language = \"python\"\ncccl = \"cccl.txt\"", `cccl is for language "go"`},
		{"entry = [\"peer\"]\ncccl = \"cccl.txt\"", `cccl is for language "go"`},
		{`cccl = "../cccl.txt"`, "a path inside the plugin's folder"},
		{`ccl = "cccl.txt"`, `key "ccl" is not one of plugin.toml's`},
	} {
		_, err := ParseManifest(c.keys + "\n" + wholeManifest)
		if c.want == "" && err != nil {
			t.Errorf("%s: %v", c.keys, err)
		}
		if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: error is %v, want %q", c.keys, err, c.want)
		}
	}
	_, err := ParseManifest("cccl = \"cccl.txt\"\n" + strings.Replace(wholeManifest, `"cuda"`, `"simt"`, 1))
	if err == nil || !strings.Contains(err.Error(), "backend cuda") {
		t.Errorf("cccl without backend cuda: error is %v", err)
	}
}
