// Many arrays in one buffer, poisoned and looked at together.
#pragma once
#include "context.cuh"
#include "kernels.cuh"

namespace keeper {

// What a look at slots leaves in device memory, before the hashes.
constexpr unsigned long long no_bad_byte = ~0ull;

// Slot blockIdx.y. The first bad byte of all is kept as its slot and its distance from the lower band's begin.
__global__ void check_slot_guards(keeper_slots slots, unsigned long long* first_bad) {
  const uint64_t begin = blockIdx.y * slots.stride;  // of the slot, from slot 0
  const uint8_t* band = reinterpret_cast<const uint8_t*>(slots.address + begin - slots.guard);
  for (uint64_t i = first_index(); i < 2 * slots.guard; i += stride()) {
    const uint64_t at = i < slots.guard ? i : i + slots.bytes;
    if (band[at] == static_cast<uint8_t>(slots.pattern >> (8 * (at % 4)))) continue;
    atomicMin(first_bad, uint64_t{blockIdx.y} << 44 | at);
  }
}

__global__ void hash_slots(keeper_slots slots, unsigned long long* hashes) {
  const uint64_t address = slots.address + blockIdx.y * slots.stride;
  add_hash(reinterpret_cast<const uint8_t*>(address), slots.bytes, &hashes[blockIdx.y]);
}

// Blocks for each of count arrays, so that all together fill the GPU some times over.
inline unsigned blocks_each(uint64_t bytes, uint32_t count) {
  const uint64_t useful = bytes / (16 * block_threads) + 1, fair = 16 * uint64_t(context().blocks) / count + 1;
  return static_cast<unsigned>(useful < fair ? useful : fair);
}

}  // namespace keeper

int keeper_poison_slots(const keeper_slots* s, char text[KEEPER_TEXT]) {
  if (int status = keeper::enter(text)) return status;
  auto& c = keeper::context();
  const uint64_t bytes = s->guard + (s->count - 1) * s->stride + s->bytes + s->guard;
  const uint64_t begin = s->address - s->guard;
  keeper::fill<<<c.blocks, keeper::block_threads, 0, c.stream>>>(reinterpret_cast<uint4*>(begin),
                                                                 (bytes + 15) / 16 * 16, s->pattern);
  KEEPER_TRY(cudaGetLastError());
  KEEPER_TRY(cudaStreamSynchronize(c.stream));
  if (c.persists) KEEPER_TRY(cudaCtxResetPersistingL2Cache());
  return KEEPER_OK;
}

int keeper_inspect_slots(const keeper_slots* s, uint64_t* hashes, keeper_guards* guards, char text[KEEPER_TEXT]) {
  if (int status = keeper::enter(text)) return status;
  auto& c = keeper::context();
  const uint64_t bytes = (uint64_t{s->count} + 1) * sizeof(unsigned long long);
  if (bytes > keeper::slot_sums_bytes)
    return keeper::fail(text, "%u slots are over %llu, the most at a time", s->count,
                        static_cast<unsigned long long>(keeper::slot_sums_bytes / sizeof(unsigned long long) - 1));
  KEEPER_TRY(cudaMemsetAsync(c.slot_sums, 0, bytes, c.stream));
  KEEPER_TRY(cudaMemsetAsync(c.slot_sums, 0xFF, sizeof keeper::no_bad_byte, c.stream));
  const dim3 bands(keeper::blocks_each(2 * s->guard * 16, s->count), s->count);
  keeper::check_slot_guards<<<bands, keeper::block_threads, 0, c.stream>>>(*s, c.slot_sums);
  const dim3 arrays(keeper::blocks_each(s->bytes, s->count), s->count);
  keeper::hash_slots<<<arrays, keeper::block_threads, 0, c.stream>>>(*s, c.slot_sums + 1);
  KEEPER_TRY(cudaGetLastError());
  unsigned long long bad = 0;
  KEEPER_TRY(cudaMemcpyAsync(&bad, c.slot_sums, sizeof bad, cudaMemcpyDeviceToHost, c.stream));
  KEEPER_TRY(cudaMemcpyAsync(hashes, c.slot_sums + 1, bytes - sizeof bad, cudaMemcpyDeviceToHost, c.stream));
  KEEPER_TRY(cudaStreamSynchronize(c.stream));
  guards->guards_intact = bad == keeper::no_bad_byte;
  guards->bad_slot = guards->guards_intact ? 0 : static_cast<uint32_t>(bad >> 44);
  guards->first_bad =
      guards->guards_intact ? 0 : static_cast<int64_t>(bad & ((1ull << 44) - 1)) - static_cast<int64_t>(s->guard);
  return KEEPER_OK;
}
