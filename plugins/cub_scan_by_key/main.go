// CUB's scan of pairs by key, as a baseline.
package main

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
