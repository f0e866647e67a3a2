// Package cuda holds what a kernel.cu may include: device.cuh, the scan headers beside it, and the simulated GPU
// (simt) that stands behind device.cuh when g++ compiles.
//
// Every plugin's main imports this package directly. cgo does not notice a change in a header outside the
// package that includes it, and would go on running the old kernel; the embedded headers make the change
// part of the plugin's build key. An import through the SDK is not enough: it leaves the plugin stale.
package cuda

import "embed"

// Sources are the headers, under the names by which kernels include them.
//
//go:embed *.cuh *.h *.inl simt/*.h simt/*.inl
var Sources embed.FS
