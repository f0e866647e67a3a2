// Collectives of the lanes of a mask: where they meet, and how the last to arrive hands out the results to all.
#pragma once
#include "machine.h"

namespace simt {
// Where the lanes of a mask meet: two masks may be in use at a time that begin with the same lane, as some lanes are in
// a collective of half the warp while the others wait for them in one of all. A lane waits in one group at most, so
// there is always a place for the caller's.
__attribute__((always_inline, no_sanitize_thread)) inline uint32_t group_of(const Warp& warp, uint32_t mask) {
  uint32_t unused = 0;
  for (uint32_t group = kLanes; group-- > 0;) {
    if (!warp.arrived[group])
      unused = group;
    else if (warp.mask[group] == mask)
      return group;
  }
  return unused;
}

__attribute__((always_inline, no_sanitize_thread)) inline void serve_exchange(Warp& warp, uint32_t members) {
  for (uint32_t lane = 0; lane < kLanes; lane++)
    if (members == ~0u || members >> lane & 1) warp.result[lane] = warp.value[warp.source[lane] % kLanes];
}

__attribute__((always_inline, no_sanitize_thread)) inline void serve_ballot(Warp& warp, uint32_t members) {
  uint32_t votes = 0;
  for (uint32_t lane = 0; lane < kLanes; lane++) votes |= static_cast<uint32_t>(warp.value[lane] & 1) << lane;
  for (uint32_t lane = 0; lane < kLanes; lane++)
    if (members >> lane & 1) warp.result[lane] = votes & members;
}
}  // namespace simt
