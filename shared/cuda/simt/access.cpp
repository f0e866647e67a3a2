// Every load and store of a kernel in COUNT and EXPLORE mode comes through here: the compiler's hooks (tsan.cpp)
// for plain ones, device.cuh for those of tile status and for atomics.
#include "model.h"
#include "access.h"
#include <link.h>
#include <stdio.h>
#include <string.h>

namespace simt {
namespace {

enum class Where { region, statics, dynamics, stack, constant, nowhere };

struct Segment {
  const char *low, *high;
};
std::vector<Segment> constants;  // parts of the executable that nobody can write

int find_constants(dl_phdr_info* info, size_t, void*) {
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) & h = info->dlpi_phdr[i];
    const char* low = reinterpret_cast<const char*>(info->dlpi_addr + h.p_vaddr);
    if ((h.p_type == PT_LOAD && !(h.p_flags & PF_W)) || h.p_type == PT_GNU_RELRO)
      constants.push_back({low, low + h.p_memsz});
  }
  return 1;  // the executable comes first
}

bool constant(const char* p, uint32_t bytes) {
  if (constants.empty()) dl_iterate_phdr(find_constants, nullptr);
  for (const Segment& s : constants)
    if (p >= s.low && p + bytes <= s.high) return true;
  return false;
}

struct Classified {
  Where where;
  const Region* region;
  size_t offset;  // in shared memory
};

Classified classify(const char* p, uint32_t bytes) {
  const Resident* b = engine.block;
  const size_t in_statics = static_cast<size_t>(p - b->static_shared);
  if (in_statics < b->shared.statics.size() * 4) return {Where::statics, nullptr, in_statics};
  if (const Region* r = region_of(p, bytes)) return {Where::region, r, 0};
  if (p >= b->stacks.low(engine.thread) && p + bytes <= b->stacks.high(engine.thread))
    return {Where::stack, nullptr, 0};
  const size_t in_dynamics = static_cast<size_t>(p - b->dynamic_shared);
  if (in_dynamics < engine.launch->shared_bytes && bytes <= engine.launch->shared_bytes - in_dynamics)
    return {Where::dynamics, nullptr, in_dynamics};
  return {constant(p, bytes) ? Where::constant : Where::nowhere, nullptr, 0};
}

[[noreturn]] void report_bounds(const char* p, uint32_t bytes, bool write, const void* pc) {
  Place place = place_of(p);
  const ptrdiff_t past = p + bytes - (engine.block->dynamic_shared + engine.launch->shared_bytes);
  if (p >= engine.block->dynamic_shared && past > 0 && past < static_cast<ptrdiff_t>(kMaxShared))
    snprintf(place.text, sizeof place.text, "%td bytes past the end of its %zu bytes of dynamic shared memory", past,
             engine.launch->shared_bytes);
  record(SCANHOST_OUT_OF_BOUNDS, "%s %s %u bytes at %s, pc 0x%zx", me().text, write ? "writes" : "reads", bytes,
         place.text, at(pc));
  abandon();
}

void check_writable(const Classified& c, const char* p, uint32_t bytes, const void* pc) {
  if (c.where == Where::constant) report_bounds(p, bytes, true, pc);
  if (c.where != Where::region || c.region->writable) return;
  record(SCANHOST_INPUT_WRITE, "%s writes %u bytes to an input, %s, pc 0x%zx", me().text, bytes, place_of(p).text,
         at(pc));
  abandon();
}

[[noreturn]] void report_misaligned(const char* p, uint32_t bytes, const void* pc) {
  record(SCANHOST_FAULT, "%s: misaligned access of %u bytes at %s, pc 0x%zx", me().text, bytes, place_of(p).text,
         at(pc));
  abandon();
}

// For accesses that are one instruction on the device, which demands their natural alignment.
Classified locate(const void* pointer, uint32_t bytes, bool write, const void* pc) {
  const char* p = static_cast<const char*>(pointer);
  const Classified c = classify(p, bytes);
  if (c.where == Where::nowhere) report_bounds(p, bytes, write, pc);
  if (write) check_writable(c, p, bytes, pc);
  if (reinterpret_cast<uintptr_t>(p) % bytes != 0) report_misaligned(p, bytes, pc);
  return c;
}

bool in_shared(const Classified& c) { return c.where == Where::statics || c.where == Where::dynamics; }

uint64_t digest(Wide v) { return v.low ^ v.high * 0x9E3779B97F4A7C15ull; }
}  // namespace

void plain_access(char* p, uint32_t bytes, Access access, const void* pc) {
  const bool write = access == Access::write || access == Access::unaligned_write;
  const bool natural = access == Access::read || access == Access::write;
  settle();
  const Classified c = classify(p, bytes);
  switch (c.where) {
    case Where::statics:
    case Where::dynamics:
      maybe_yield(engine.shared_yield_chance);
      engine.block->shared.access(bytes, write, pc, c.where == Where::dynamics, c.offset);
      return;
    case Where::region:
      if (write) check_writable(c, p, bytes, pc);
      if (natural && reinterpret_cast<uintptr_t>(p) % bytes != 0) report_misaligned(p, bytes, pc);
      *(write ? c.region->written : c.region->read) += bytes;
      if (!c.region->writable) return;
      maybe_yield(engine.yield_chance);
      if (write)
        model_plain_store(c.region, p, bytes, pc);
      else
        model_plain_load(c.region, p, bytes, pc);
      return;
    case Where::stack:
      return;
    case Where::constant:
      if (write) report_bounds(p, bytes, true, pc);
      return;
    case Where::nowhere:
      report_bounds(p, bytes, write, pc);
  }
}

Wide checked_load(const void* pointer, uint32_t bytes, Order order) {
  const void* pc = __builtin_return_address(0);
  yield_polling();
  char* p = const_cast<char*>(static_cast<const char*>(pointer));
  const Classified c = locate(p, bytes, false, pc);
  Wide value = {};
  if (in_shared(c)) engine.block->shared.check_written(bytes, pc, c.where == Where::dynamics, c.offset);
  if (c.where != Where::region) {
    memcpy(&value, p, bytes);
  } else {
    *c.region->read += bytes;
    value = model_status_load(c.region, p, bytes, order, pc);
  }
  note_poll(p, digest(value));
  return value;
}

void checked_store(void* pointer, Wide bits, uint32_t bytes, Order order) {
  const void* pc = __builtin_return_address(0);
  settle();
  maybe_yield(engine.yield_chance);
  char* p = static_cast<char*>(pointer);
  const Classified c = locate(p, bytes, true, pc);
  if (c.where != Where::region) {
    if (in_shared(c)) engine.block->shared.mark_written(bytes, pc, c.where == Where::dynamics, c.offset);
    memcpy(p, &bits, bytes);
    return note_progress();
  }
  *c.region->written += bytes;
  model_status_store(c.region, p, bits, bytes, order, pc);
}

// Reads and writes the newest value: atomic operations on one word happen in one order for all.
static uint64_t atomic(char* p, uint32_t bytes, const void* pc, uint64_t operand, uint64_t expected,
                       uint64_t (*function)(uint64_t old, uint64_t operand)) {
  settle();
  yield_polling();
  const Classified c = locate(p, bytes, true, pc);
  session.counters.atomics++;
  if (in_shared(c)) engine.block->shared.check_written(bytes, pc, c.where == Where::dynamics, c.offset);
  uint64_t old = 0;
  memcpy(&old, p, bytes);
  const uint64_t desired = function ? function(old, operand) : old == expected ? operand : old;
  const bool changes = old != desired;
  if (c.where == Where::region) {
    *c.region->read += bytes;
    *c.region->written += bytes;
    model_atomic(c.region, p, desired, bytes, pc);
  } else {
    memcpy(p, &desired, bytes);
    if (in_shared(c)) engine.block->shared.mark_written(bytes, pc, c.where == Where::dynamics, c.offset);
  }
  if (changes)
    note_progress();
  else
    note_poll(p, old);
  return old;
}

uint64_t checked_modify(void* p, uint32_t bytes, uint64_t operand, uint64_t (*function)(uint64_t, uint64_t)) {
  return atomic(static_cast<char*>(p), bytes, __builtin_return_address(0), operand, 0, function);
}

uint64_t checked_compare_and_swap(void* p, uint32_t bytes, uint64_t expected, uint64_t desired) {
  return atomic(static_cast<char*>(p), bytes, __builtin_return_address(0), desired, expected, nullptr);
}

void checked_fence(Scope scope) {
  settle();
  maybe_yield(engine.yield_chance);
  if (scope == Scope::device) model_fence();
}
}  // namespace simt
