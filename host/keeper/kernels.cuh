// The keeper's kernels: fill, look for changed guard bytes, hash. All are memory-bound loops over a grid that
// need not match the array's size.
#pragma once
#include <cstdint>

namespace keeper {

constexpr int block_threads = 256;

__device__ inline uint64_t first_index() { return blockIdx.x * uint64_t{blockDim.x} + threadIdx.x; }
__device__ inline uint64_t stride() { return uint64_t{gridDim.x} * blockDim.x; }

// Four words' share of the hash. The hash is the sum of the shares modulo 2^64, so it does not depend on the
// order in which threads get to them, and the index is in each share, so that exchanged words change the sum.
// One mixing for 16 bytes keeps a GPU's multipliers ahead of its memory. The mixing steps are those of splitmix64
// (Steele, Lea, Flood, OOPSLA 2014).
__host__ __device__ inline uint64_t share(uint64_t index, uint4 q) {
  const uint64_t low = q.x | uint64_t{q.y} << 32, high = q.z | uint64_t{q.w} << 32;
  uint64_t x = (index + 1) * 0x9E3779B97F4A7C15ull + low + high * 0xD1342543DE82EF95ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

// Fills bytes, a multiple of 16, at an address that is one too.
__global__ void fill(uint4* to, uint64_t bytes, uint32_t pattern) {
  const uint4 value = make_uint4(pattern, pattern, pattern, pattern);
  for (uint64_t i = first_index(); i < bytes / 16; i += stride()) to[i] = value;
}

// Word i becomes canary_word(i).
__host__ __device__ inline uint32_t canary_word(uint32_t i) { return i * 2654435761u; }

__global__ void fill_canary(uint32_t* to, uint32_t words) {
  for (uint64_t i = first_index(); i < words; i += stride()) to[i] = canary_word(static_cast<uint32_t>(i));
}

// Lowers *first_bad to the offset of the first byte outside [begin, end) that is not the pattern's. Byte by
// byte, because the upper band begins wherever the array ends.
__global__ void check_guards(const uint8_t* mapping, uint64_t begin, uint64_t end, uint64_t map_bytes, uint32_t pattern,
                             long long* first_bad) {
  const uint64_t array = end - begin;
  for (uint64_t i = first_index(); i < map_bytes - array; i += stride()) {
    const uint64_t at = i < begin ? i : i + array;
    const uint8_t expected = static_cast<uint8_t>(pattern >> (8 * (at % 4)));
    if (mapping[at] != expected) atomicMin(first_bad, static_cast<long long>(at));
  }
}

// Adds the array's hash to *sum. The array begins at a multiple of 16; a last part of four words counts as four
// with zeros above. The threads of all blocks along x work together.
__device__ inline void add_hash(const uint8_t* array, uint64_t bytes, unsigned long long* sum) {
  const uint4* quads = reinterpret_cast<const uint4*>(array);
  uint64_t mine = 0;
#pragma unroll 4
  for (uint64_t i = first_index(); i < bytes / 16; i += stride()) mine += share(i, quads[i]);
  if (first_index() == 0 && bytes % 16 != 0) {
    uint32_t words[4] = {};
    for (uint64_t at = bytes / 16 * 16; at < bytes; at++) words[at % 16 / 4] |= uint32_t{array[at]} << (8 * (at % 4));
    mine += share(bytes / 16, make_uint4(words[0], words[1], words[2], words[3]));
  }
  for (int step = 16; step > 0; step /= 2) mine += __shfl_down_sync(0xFFFFFFFFu, mine, step);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, static_cast<unsigned long long>(mine));
}

__global__ void hash(const uint8_t* array, uint64_t bytes, unsigned long long* sum) { add_hash(array, bytes, sum); }

}  // namespace keeper
