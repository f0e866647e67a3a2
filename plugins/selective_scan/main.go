// The selective scan, one thread for each batch and channel.
package main

/*
#cgo !cuda CXXFLAGS: -std=c++17 -O3 -g -Wno-tsan -fsanitize=thread -I${SRCDIR}/../../shared/cuda
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
