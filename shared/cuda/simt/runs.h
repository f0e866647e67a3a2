// Runs of FAST mode, see Current: who goes on when the next thread cannot.
#pragma once
#include "machine.h"

namespace simt {

void all_runnable(Block* block);
// Makes the threads from first up to end, all runnable, the run to be resumed; returns the first of them.
Context* start_run(Block* block, uint32_t first, uint32_t end);
// The bits of FastWarp::runnable become true of every thread.
void end_run(Block* block);
// Starts the run from the lowest runnable thread of the warp, else of the lowest warp that has one. Leaves the launch,
// with a finding, if none can run. After end_run.
Context* choose_run(Block* block, uint32_t warp);
Context* release_barrier(Block* block);
// All of the group, of the warp, have arrived in their collective: they are runnable. After end_run.
void serve(Block* block, uint32_t warp, uint32_t group);
void serve_warp(Block* block, uint32_t warp);

// Leaves the launch for good, from within a thread.
[[noreturn]] void leave(Block* block);
}  // namespace simt
