// What the last lane to arrive in a collective does for all: hands out the results.
#pragma once
#include "machine.h"

namespace simt {
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
