// What the processor can do.
#include "machine.h"

namespace simt {
#if defined(__x86_64__)
extern const bool has_fma = __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx");
#else
extern const bool has_fma = true;
#endif
}  // namespace simt
