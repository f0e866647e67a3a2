//go:build !race

package litmus

// #include "litmus.h"
import "C"

func call(mode Mode, run *C.litmus_run, report *C.scanhost_report) C.int {
	if mode == Fast {
		return C.litmus_fast(run, report)
	}
	return C.litmus_check(run, report)
}
