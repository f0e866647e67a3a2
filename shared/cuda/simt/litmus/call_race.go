//go:build race

package litmus

// #include "litmus.h"
import "C"

// The race detector has no room for the checked copy.
func call(mode Mode, run *C.litmus_run, report *C.scanhost_report) C.int {
	if mode == Fast {
		return C.litmus_fast(run, report)
	}
	return -1
}
