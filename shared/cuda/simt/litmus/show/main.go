// Show runs one litmus and prints its finding with source lines.
//
//	go run ./shared/cuda/simt/litmus/show look_back/no_reader_fence
//
// A test binary has no debug information, so this program is also how the tests see source lines.
package main

import (
	"flag"
	"fmt"
	"os"

	"scanhost/shared/cuda/simt"
	"scanhost/shared/cuda/simt/litmus"
)

func main() {
	seed := flag.Uint64("seed", 1, "of the schedule")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintf(os.Stderr, "%d arguments; the name of one litmus is needed\n", flag.NArg())
		os.Exit(2)
	}
	ones := make([]float32, 512)
	for i := range ones {
		ones[i] = 1
	}
	report, err := litmus.Run{Name: flag.Arg(0), Mode: litmus.Explore, Seed: *seed, A: ones, B: ones}.Do()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Printf("status %d: %s\n", report.Status, simt.Annotate(report.Text))
}
