// The interface between the compiler's hooks and the checks.
#pragma once
#include "checked_calls.h"

namespace simt {
extern __thread bool kernel_thread __attribute__((tls_model("local-exec")));
// unaligned: the source promises no more than the alignment of its parts.
enum class Access { read, write, unaligned_read, unaligned_write };

// A plain load or store that the kernel makes next.
void plain_access(char* p, uint32_t bytes, Access access, const void* pc);
}  // namespace simt
