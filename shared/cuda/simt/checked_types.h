// What the engine keeps for each resident block on behalf of the checks.
#pragma once
#include "machine.h"
#include <memory>
#include <stdint.h>
#include <vector>

namespace simt {

// Blocks that wrote something are told apart by a place in a ring; a place is reused when its block and many
// later ones have finished, by when its stores count as visible to all.
constexpr uint32_t kRing = 160;
static_assert(kRing > 2 * 64, "a block's place must outlive it");

// For each place of the ring, how many of its stores are covered.
struct View {
  uint32_t stores[kRing];
  void join(const View& other) {
    for (uint32_t i = 0; i < kRing; i++)
      if (other.stores[i] > stores[i]) stores[i] = other.stores[i];
  }
};
using SharedView = std::shared_ptr<const View>;

// What a block knows of others' stores. Coarser than hardware: one view for the block, not one for each thread.
struct BlockOrder {
  uint32_t place;       // in the ring
  View known;           // ordered before whatever it does next
  View offered;         // would be known after a fence: covered by the statuses it has read
  View glimpsed;        // of each block, the latest store it has read at all
  SharedView released;  // known at its last fence; goes with its later stores
};

// One 4-byte word of shared memory.
struct SharedWord {
  uint32_t write_epoch, write_clock;
  uint32_t read_epoch[2], read_clock[2];
  uint16_t writer, reader[2];
  uint8_t written;     // bytes initialised by the block
  uint8_t write_mask;  // bytes of the last write
  uint8_t read_mask[2];
  const void* write_pc;
};

// What is known of a resident block's shared memory. A barrier opens a new epoch; within one, lanes of a warp are
// ordered by the collectives they took part in, which known_clock follows.
struct SharedMemory {
  std::vector<SharedWord> statics, dynamics;
  uint32_t epoch, first_epoch;  // first_epoch: the block's own first; never reused, so that nothing needs clearing
  uint32_t clock[kMaxThreads];
  uint32_t known_clock[kMaxThreads][kLanes];

  void start_block(uint32_t threads);
  void meet(uint32_t warp, uint32_t members);
  void access(uint32_t bytes, bool write, const void* pc, bool dynamic, size_t offset);
  // By an atomic operation or an access to a status, which race with nothing.
  void check_written(uint32_t bytes, const void* pc, bool dynamic, size_t offset);
  void mark_written(uint32_t bytes, const void* pc, bool dynamic, size_t offset);
};
}  // namespace simt
