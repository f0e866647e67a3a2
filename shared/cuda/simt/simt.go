// Package simt is the simulated GPU: it runs a kernel.cu compiled by g++, and tells what no GPU would.
//
// A plugin compiles its kernel.cu twice. The fast copy runs in mode FAST: one worker per core, each with one
// resident block whose threads are fibers. It gives results. The checked copy has every load and store hooked by
// the compiler (-fsanitize=thread, with callbacks of ours) and runs on one core in two modes. COUNT runs one block
// after another in plain order, checks every access, and counts traffic. EXPLORE runs a few resident blocks under a
// seeded scheduler and a seeded order of dispatch, and delays stores to device memory unless something orders them.
// The same seed gives the same schedule and the same report.
//
// # What it finds
//
//   - DEADLOCK: nobody can make progress; names the words polled and by which block and thread.
//   - DIVERGENCE: threads of a block at different barriers, lanes with masks that do not match, a barrier or collective
//     that some never reach.
//   - RACE: accesses to shared memory that neither a barrier nor, within a warp, a collective orders.
//   - UNINITIALISED: shared memory that the block has not written.
//   - UNORDERED (EXPLORE): device memory stored by another block with nothing ordering the store before the load, and
//     which of the two fences is missing; stores by two blocks that differ; a record of 16 bytes loaded at once but
//     stored in parts.
//   - OUT_OF_BOUNDS, INPUT_WRITE: accesses outside the arrays, the workspace, shared memory and the thread's own stack.
//     Constants of the program may be read.
//   - FAULT: a signal, a stack overflow, a misaligned access; names block and thread. The process survives.
//   - REFUSED: launches that a device would refuse. A cooperative launch may have 32 blocks, in every mode.
//
// FAST finds faults, refusals, blocks that cannot go on, and words that everyone polls for ever. A finding ends its
// launch; the next one starts afresh.
//
// Dynamic shared memory holds NaNs when a launch begins. Static shared memory holds what was there: it lies among the
// program's other thread-local variables, which a poison would hit too. Results of FAST may therefore hide a read of
// what was never written; COUNT and EXPLORE report the read itself, of either kind, whatever it finds.
//
// # Speed
//
// In FAST a barrier or a shuffle costs every thread one switch: some 6 ns on a core of 2.5 GHz with nothing else to
// do, in blocks of 1,024 threads, the work between two barriers of plugins/blelloch included. Threads that wait resume
// their neighbours one after another, each from a cache line of its own beside the neighbour's; so a kernel is fast
// here that keeps little in local arrays across barriers. Blocks go to workers one by one, and two workers are twice
// as fast as one. The benchmarks of the plugins print elements per second.
//
// # What it cannot see
//
//   - Order among the threads of one block as other blocks see it: what a block has stored, fenced or read is taken
//     together. A fence by a thread that is not ordered after the store by another passes.
//   - Loads that return a value from the future (load buffering), and staleness beyond a few thousand scheduling steps
//     or the last seven stores to 16 bytes.
//   - Blocks far apart: when 96 or more have been dispatched since a block finished, its stores count as visible.
//   - Races through status accesses and atomics on shared memory: those are taken as intended, and order nothing else
//     there. A kernel whose warps synchronise through them is called racy.
//   - Spins through plain or volatile loads of device memory: they are UNORDERED if another block stores the word, and
//     hang otherwise.
//   - Vector accesses (float4, int2) that the compiler takes apart into accesses to the members, as it may when each
//     member is used by itself: traffic, bounds and races are those of the parts, but that the whole is misaligned, or
//     loaded at once while another block stores it in parts, is seen only where it stays whole. load_relaxed and its
//     kin are never taken apart.
//   - memcpy and memset of the C library inside a kernel; more than two readers of a word of shared memory between
//     two barriers.
//   - Static shared memory beyond a device's limit, registers, occupancy, bank conflicts, time.
//   - Asynchronous copies, tensor cores, clusters, textures, dynamic parallelism: they do not compile.
package simt

/*
#cgo CXXFLAGS: -std=c++17 -O3 -g
#include "../abi.h"
*/
import "C"
