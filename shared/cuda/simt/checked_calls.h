// The calls that checked copies make into the runtime; checked.h wraps them.
#pragma once
#include "machine.h"

namespace simt {

// The same for a thread's whole life, so the compiler may keep them.
__attribute__((const)) uint3 checked_thread_index();
__attribute__((const)) uint3 checked_block_index();
__attribute__((const)) dim3 checked_block_dim();
__attribute__((const)) dim3 checked_grid_dim();
__attribute__((const)) uint32_t checked_lane();
__attribute__((const)) void* checked_dynamic_shared();

void checked_barrier(const char* file, int line);
uint64_t checked_meet(Collective kind, uint32_t mask, uint64_t bits, uint32_t source);
uint32_t checked_active_mask();
Wide checked_load(const void* p, uint32_t bytes, Order order);
void checked_store(void* p, Wide bits, uint32_t bytes, Order order);
uint64_t checked_modify(void* p, uint32_t bytes, uint64_t operand,
                        uint64_t (*function)(uint64_t old, uint64_t operand));
uint64_t checked_compare_and_swap(void* p, uint32_t bytes, uint64_t expected, uint64_t desired);
void checked_fence(Scope scope);
void checked_count_lookback_step();
}  // namespace simt
