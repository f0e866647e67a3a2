// Which stores a block is ordered after.
#pragma once
#include "engine.h"

namespace simt {

constexpr uint64_t kNobody = ~0ull;  // in place of a block: what the launch found in memory

// Which store this is: a block's n-th.
struct Stamp {
  uint64_t block;  // linear
  uint32_t place, number;
};

void forget_order();
// Counts a store of the running block.
Stamp next_stamp();
// Whether the running block's next step comes after the store, in every order hardware may choose.
bool known(const Stamp& store);
// The running block has read the store in a status; released went with it.
void learn(const Stamp& store, const SharedView& released, Order load);
// Why a store that is not known is not.
const char* missing(const Stamp& store);
// What goes with a status store of the running block.
SharedView released_by(Order store);
// What goes with an atomic operation: it carries on what the store it read had released, besides.
SharedView carried_on(const SharedView& read);
}  // namespace simt
