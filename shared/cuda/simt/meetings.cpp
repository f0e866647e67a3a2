// Barriers and warp collectives of COUNT and EXPLORE mode, and the ways to get them wrong.
#include "engine.h"
#include "checked_calls.h"
#include "model.h"
#include "serve.h"
#include <string.h>

namespace simt {
namespace {

const char* kind_name(Collective kind) {
  return kind == Collective::sync ? "__syncwarp" : kind == Collective::exchange ? "a shuffle" : "a ballot";
}

// Whether a group that waits and a lane's call of another mask can both come to their end. Masks apart have nothing to
// do with each other. One within the other is in order while the smaller's lanes can all get there before they join
// the larger; masks that overlap otherwise are taken for a mistake.
bool compatible(uint32_t group_mask, uint32_t arrived, uint32_t mask, uint32_t lane) {
  if (!(group_mask & mask)) return true;
  if (!(mask & ~group_mask)) return !(arrived & mask);
  if (!(group_mask & ~mask)) return !(group_mask >> lane & 1);
  return false;
}

// Lanes meet by mask: all lanes of a mask must name the same one, and call the same kind of collective.
void check_mask(const Resident* b, uint32_t w, uint32_t lane, uint32_t mask, Collective kind, const void* pc) {
  if (!(mask >> lane & 1)) {
    record(SCANHOST_DIVERGENCE, "%s: lane %u calls %s with mask 0x%08x, which does not name it, pc 0x%zx", me().text,
           lane, kind_name(kind), mask, at(pc));
    abandon();
  }
  const Warp& warp = b->warp[w];
  for (uint32_t group = 0; group < kLanes; group++) {
    if (!warp.arrived[group]) continue;
    if (warp.mask[group] == mask ? warp.kind[group] == kind
                                 : compatible(warp.mask[group], warp.arrived[group], mask, lane))
      continue;
    record(
        SCANHOST_DIVERGENCE,
        "%s: lane %u calls %s with mask 0x%08x, pc 0x%zx, while lanes 0x%08x of its warp wait in %s with mask 0x%08x, "
        "pc 0x%zx",
        me().text, lane, kind_name(kind), mask, at(pc), warp.arrived[group], kind_name(warp.kind[group]),
        warp.mask[group], at(b->meeting_pc[w][group]));
    abandon();
  }
}

void serve(Resident* b, uint32_t w, uint32_t group) {
  Warp& warp = b->warp[w];
  const uint32_t members = warp.mask[group] & b->live[w];
  warp.arrived[group] = 0;
  if (warp.kind[group] == Collective::exchange) serve_exchange(warp, members);
  if (warp.kind[group] == Collective::ballot) serve_ballot(warp, members);
  b->shared.meet(w, members);
  session.counters.shuffles += warp.kind[group] != Collective::sync;
  set_runnable(b, w, members);
}
}  // namespace

void release_barrier(Resident* b) {
  b->waiting = 0;
  b->shared.epoch++;
  session.counters.barriers++;
  for (uint32_t w = 0; w < b->warps; w++) set_runnable(b, w, b->live[w]);
  note_progress();
}

void complete_meetings(Resident* b, uint32_t w) {
  const Warp& warp = b->warp[w];
  for (uint32_t group = 0; group < kLanes; group++)
    if (warp.arrived[group] && warp.arrived[group] == (warp.mask[group] & b->live[w])) serve(b, w, group);
}

void checked_barrier(const char* file, int line) {
  settle();
  Resident* b = engine.block;
  if (b->waiting == 0) {
    b->barrier_file = file;
    b->barrier_line = line;
  } else if (b->barrier_line != line || strcmp(b->barrier_file, file) != 0) {
    record(SCANHOST_DIVERGENCE, "%s is at the barrier %s:%d while %u threads of its block wait at the barrier %s:%d",
           me().text, base_name(file), line, b->waiting, base_name(b->barrier_file), b->barrier_line);
    abandon();
  }
  if (++b->waiting == b->live_threads) {
    release_barrier(b);
    run_another();
  } else {
    wait_here();
  }
}

uint64_t checked_meet(Collective kind, uint32_t mask, uint64_t bits, uint32_t source) {
  settle();
  Resident* b = engine.block;
  const uint32_t w = engine.thread / kLanes, lane = engine.thread % kLanes;
  const void* pc = __builtin_return_address(0);
  check_mask(b, w, lane, mask, kind, pc);
  Warp& warp = b->warp[w];
  warp.value[lane] = bits;
  warp.source[lane] = static_cast<uint8_t>(source);
  const uint32_t group = group_of(warp, mask);
  warp.mask[group] = mask;
  warp.kind[group] = kind;
  warp.arrived[group] |= 1u << lane;
  b->meeting_pc[w][group] = pc;
  if (warp.arrived[group] != (mask & b->live[w])) {
    wait_here();
  } else {
    serve(b, w, group);
    if (engine.scheduling == Scheduling::seeded) run_another();
  }
  return warp.result[lane];
}

// Lanes advance one at a time, so any lane that has not left is as active as another.
uint32_t checked_active_mask() { return engine.block->live[engine.thread / kLanes]; }
}  // namespace simt
