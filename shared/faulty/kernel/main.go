// A kernel that misbehaves on the device on request: the tunable fault says how. README.md lists the faults.
package main

/*
#cgo !cuda CXXFLAGS: -std=c++17 -O3 -g -Wno-tsan -fsanitize=thread -I${SRCDIR}/../../cuda
*/
import "C"

import (
	_ "embed"

	"scanhost/shared/cuda"
	"scanhost/shared/plugin"
)

//go:embed plugin.toml
var manifest string

//go:embed kernel.cu
var kernel string

func main() {
	plugin.Serve(plugin.Source{Manifest: manifest, Kernel: kernel, Headers: cuda.Sources})
}
