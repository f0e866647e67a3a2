//go:build !cuda

package plugin

import "scanhost/shared/cuda/simt"

// sourceLines replaces program counters in a finding by lines of the kernel.
func sourceLines(text string) string { return simt.Annotate(text) }
