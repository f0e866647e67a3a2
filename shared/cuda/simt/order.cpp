// Order between blocks. A fence makes what a block has read of others' releases known to it, and what it knows
// part of what its later stores release; nothing else does, but acquire and release, which are both in one access.
#include "order.h"
#include "model.h"
#include <string.h>

namespace simt {
namespace {

struct RingPlace {
  uint64_t owner;  // linear number of the last block that had the place
  uint32_t stores;
  bool live;
};
RingPlace ring[kRing];
uint32_t next_place;
}  // namespace

void forget_order() {
  for (RingPlace& p : ring) p = {kNobody, 0, false};
  next_place = 0;
}

// In rotation, so that a place is not taken again soon after its block has finished.
void model_start_block(Resident* b) {
  while (ring[next_place].live) next_place = (next_place + 1) % kRing;
  b->order.place = next_place;
  b->order.known = b->order.offered = b->order.glimpsed = {};
  b->order.released = nullptr;
  ring[next_place].owner = b->linear;
  ring[next_place].live = true;
  next_place = (next_place + 1) % kRing;
}

void model_finish_block(Resident* b) { ring[b->order.place].live = false; }

Stamp next_stamp() {
  BlockOrder& order = engine.block->order;
  const uint32_t number = ++ring[order.place].stores;
  order.known.stores[order.place] = number;
  return {engine.block->linear, order.place, number};
}

bool known(const Stamp& s) {
  return s.block == kNobody || s.block == engine.block->linear || ring[s.place].owner != s.block ||
         engine.block->order.known.stores[s.place] >= s.number;
}

void learn(const Stamp& s, const SharedView& released, Order load) {
  BlockOrder& order = engine.block->order;
  if (s.block == kNobody) return;
  uint32_t& glimpsed = order.glimpsed.stores[s.place];
  if (s.number > glimpsed) glimpsed = s.number;
  if (!released) return;
  order.offered.join(*released);
  if (load == Order::acquire) order.known.join(*released);
}

const char* missing(const Stamp& s) {
  const BlockOrder& order = engine.block->order;
  if (order.offered.stores[s.place] >= s.number)
    return "the reader's fence is missing: this block has read a status stored after the writer's fence, but has not "
           "fenced since";
  if (order.glimpsed.stores[s.place] > s.number)
    return "the writer's fence is missing: this block has read a status that was stored after the data with no fence "
           "between";
  return "nothing orders the two: no fence and status lead from the store to here";
}

SharedView released_by(Order store) {
  const BlockOrder& order = engine.block->order;
  return store == Order::release ? std::make_shared<View>(order.known) : order.released;
}

SharedView carried_on(const SharedView& read) {
  const SharedView& own = engine.block->order.released;
  if (!read || !own) return read ? read : own;
  View both = *own;
  both.join(*read);
  return std::make_shared<View>(both);
}

void model_fence() {
  if (engine.scheduling != Scheduling::seeded) return;
  BlockOrder& order = engine.block->order;
  order.known.join(order.offered);
  order.released = std::make_shared<View>(order.known);
}
}  // namespace simt
