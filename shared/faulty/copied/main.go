// A plugin that says it runs on a GPU, which is plain C: what the SDK does where the driver cannot export memory
// (buffers of host memory, copied to the device and back) is tested with it on machines without a GPU.
package main

// #cgo CFLAGS: -I${SRCDIR}/../../cuda
import "C"

import (
	_ "embed"

	"scanhost/shared/cuda"
	"scanhost/shared/plugin"
)

//go:embed plugin.toml
var manifest string

//go:embed gpu.c
var kernel string

func main() {
	plugin.Serve(plugin.Source{Manifest: manifest, Kernel: kernel, Headers: cuda.Sources})
}
