// FAST mode's accesses to memory that several workers share.
#pragma once

namespace simt {
namespace {

constexpr uint32_t kPollsBeforeYield = 64;

template <size_t bytes>
struct Word;
template <>
struct Word<4> {
  using type = uint32_t;
};
template <>
struct Word<8> {
  using type = uint64_t;
};

// One 16-byte access. x86 processors with AVX (all that have VEX FMA, and in fact all since 2011) keep aligned
// ones whole; on aarch64 an exclusive pair does, and needs the location to be writable.
SIMT_INLINE Wide load_wide(const void* p) {
  Wide v;
#if defined(__x86_64__)
  typedef long long Lanes __attribute__((vector_size(16)));
  Lanes x;
  asm volatile("movdqa %1, %0" : "=x"(x) : "m"(*static_cast<const Lanes*>(p)) : "memory");
  __builtin_memcpy(&v, &x, 16);
#else
  uint32_t failed;
  do {
    asm volatile("ldaxp %0, %1, [%3]\n\tstxp %w2, %0, %1, [%3]"
                 : "=&r"(v.low), "=&r"(v.high), "=&r"(failed)
                 : "r"(p)
                 : "memory");
  } while (failed);
#endif
  return v;
}
SIMT_INLINE void store_wide(void* p, Wide v) {
#if defined(__x86_64__)
  typedef long long Lanes __attribute__((vector_size(16)));
  Lanes x;
  __builtin_memcpy(&x, &v, 16);
  asm volatile("movdqa %1, %0" : "=m"(*static_cast<Lanes*>(p)) : "x"(x) : "memory");
#else
  uint64_t old_low, old_high;
  uint32_t failed;
  do {
    asm volatile("ldxp %0, %1, [%3]\n\tstlxp %w2, %4, %5, [%3]"
                 : "=&r"(old_low), "=&r"(old_high), "=&r"(failed)
                 : "r"(p), "r"(v.low), "r"(v.high)
                 : "memory");
  } while (failed);
#endif
}

// Acquire and release for every order: the compiler may move nothing across, and on x86 that costs nothing.
template <class T>
SIMT_INLINE T load(const T* p, Order) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "status words have 4, 8 or 16 bytes");
  if (__builtin_expect(++current.polls >= kPollsBeforeYield, 0)) fast_poll();
  T value;
  if constexpr (sizeof(T) == 16) {
    const Wide bits = load_wide(p);
    __builtin_memcpy(&value, &bits, 16);
  } else {
    using W = typename Word<sizeof(T)>::type;
    const W bits = __atomic_load_n(reinterpret_cast<const W*>(p), __ATOMIC_ACQUIRE);
    __builtin_memcpy(&value, &bits, sizeof(T));
  }
  return value;
}

template <class T>
SIMT_INLINE void store(T* p, T value, Order) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16, "status words have 4, 8 or 16 bytes");
  block_of(self())->stalled = 0;
  if constexpr (sizeof(T) == 16) {
    Wide bits;
    __builtin_memcpy(&bits, &value, 16);
    store_wide(p, bits);
  } else {
    using W = typename Word<sizeof(T)>::type;
    W bits;
    __builtin_memcpy(&bits, &value, sizeof(T));
    __atomic_store_n(reinterpret_cast<W*>(p), bits, __ATOMIC_RELEASE);
  }
}

template <class T>
SIMT_INLINE T compare_and_swap(T* p, T expected, T desired) {
  using W = typename Word<sizeof(T)>::type;
  W old, neu;
  __builtin_memcpy(&old, &expected, sizeof(T));
  __builtin_memcpy(&neu, &desired, sizeof(T));
  if (__builtin_expect(++current.polls >= kPollsBeforeYield, 0)) fast_poll();
  __atomic_compare_exchange_n(reinterpret_cast<W*>(p), &old, neu, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  __builtin_memcpy(&expected, &old, sizeof(T));
  return expected;
}

template <class T, class Function>
SIMT_INLINE T modify(T* p, T operand, Function function) {
  block_of(self())->stalled = 0;
  using W = typename Word<sizeof(T)>::type;
  W* word = reinterpret_cast<W*>(p);
  W old = __atomic_load_n(word, __ATOMIC_RELAXED), neu;
  T before, after;
  do {
    __builtin_memcpy(&before, &old, sizeof(T));
    after = function(before, operand);
    __builtin_memcpy(&neu, &after, sizeof(T));
  } while (!__atomic_compare_exchange_n(word, &old, neu, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
  return before;
}
}  // namespace
}  // namespace simt
