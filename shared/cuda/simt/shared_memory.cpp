// Shared memory of a resident block: words read before anyone wrote them, and conflicting accesses with no
// barrier (or, within a warp, no collective) between.
#include "engine.h"
#include <stdio.h>
#include <string.h>

namespace simt {
namespace {

struct Access {
  uint32_t bytes;
  bool write, dynamic;
  const void* pc;
  size_t offset;
};

Name place(const Access& a, size_t word) {
  Name name;
  snprintf(name.text, sizeof name.text, "%s shared memory at byte %zu", a.dynamic ? "dynamic" : "static", word * 4);
  return name;
}

[[noreturn]] void report_race(const Access& a, size_t word, uint32_t other, const char* did, const void* pc) {
  char where[40] = "";
  if (pc) snprintf(where, sizeof where, ", pc 0x%zx", at(pc));
  record(SCANHOST_RACE, "%s %s %s, pc 0x%zx, which thread %u %s%s; no %s orders the two", me().text,
         a.write ? "writes" : "reads", place(a, word).text, at(a.pc), other, did, where,
         other / kLanes == engine.thread / kLanes ? "barrier, __syncwarp or other collective" : "barrier");
  abandon();
}

// Whether an earlier access of this epoch by the other thread is ordered before what this thread does now.
bool ordered(const SharedMemory& m, uint32_t other, uint32_t clock) {
  const uint32_t self = engine.thread;
  if (other == self) return true;
  return other / kLanes == self / kLanes && m.known_clock[self][other % kLanes] > clock;
}

void check_written_word(const SharedWord& s, const Access& a, size_t word, uint8_t mask) {
  if ((s.written & mask) == mask) return;
  record(SCANHOST_UNINITIALISED, "%s reads %s, which its block has not written, pc 0x%zx", me().text,
         place(a, word).text, at(a.pc));
  abandon();
}

void check(const SharedMemory& m, const SharedWord& s, const Access& a, size_t word, uint8_t mask) {
  if (!a.write) check_written_word(s, a, word, mask);
  if (s.write_epoch == m.epoch && (s.write_mask & mask) && !ordered(m, s.writer, s.write_clock))
    report_race(a, word, s.writer, "wrote", s.write_pc);
  for (int i = 0; a.write && i < 2; i++)
    if (s.read_epoch[i] == m.epoch && (s.read_mask[i] & mask) && !ordered(m, s.reader[i], s.read_clock[i]))
      report_race(a, word, s.reader[i], "read", nullptr);
}

// Two readers are remembered, in different warps if possible: a later writer can be ordered after one of them.
void note_read(const SharedMemory& m, SharedWord* s, uint8_t mask) {
  const uint32_t self = engine.thread;
  const bool first_is_other = s->read_epoch[0] == m.epoch && s->reader[0] / kLanes != self / kLanes;
  const int i = first_is_other ? 1 : 0;
  const bool same = s->read_epoch[i] == m.epoch && s->reader[i] == self && s->read_clock[i] == m.clock[self];
  s->read_mask[i] = same ? s->read_mask[i] | mask : mask;
  s->read_epoch[i] = m.epoch;
  s->read_clock[i] = m.clock[self];
  s->reader[i] = static_cast<uint16_t>(self);
}

void note_write(const SharedMemory& m, SharedWord* s, uint8_t mask, const void* pc) {
  const uint32_t self = engine.thread;
  const bool same = s->write_epoch == m.epoch && s->writer == self && s->write_clock == m.clock[self];
  s->write_mask = same ? s->write_mask | mask : mask;
  s->write_epoch = m.epoch;
  s->write_clock = m.clock[self];
  s->writer = static_cast<uint16_t>(self);
  s->write_pc = pc;
  s->written |= mask;
}

uint8_t mask_of(size_t offset, uint32_t bytes, size_t word) {
  uint8_t mask = 0;
  for (size_t byte = 0; byte < 4; byte++)
    if (word * 4 + byte >= offset && word * 4 + byte < offset + bytes) mask |= static_cast<uint8_t>(1 << byte);
  return mask;
}
}  // namespace

void SharedMemory::start_block(uint32_t threads) {
  first_epoch = ++epoch;
  for (uint32_t t = 0; t < threads; t++) clock[t] = 1;
  memset(known_clock, 0, sizeof known_clock[0] * threads);
}

void SharedMemory::meet(uint32_t warp, uint32_t members) {
  const uint32_t base = warp * kLanes;
  uint32_t together[kLanes] = {};
  for (uint32_t lanes = members; lanes; lanes &= lanes - 1) {
    const uint32_t lane = __builtin_ctz(lanes);
    for (uint32_t l = 0; l < kLanes; l++)
      if (known_clock[base + lane][l] > together[l]) together[l] = known_clock[base + lane][l];
  }
  for (uint32_t lanes = members; lanes; lanes &= lanes - 1) {
    const uint32_t lane = __builtin_ctz(lanes);
    together[lane] = ++clock[base + lane];
  }
  for (uint32_t lanes = members; lanes; lanes &= lanes - 1)
    memcpy(known_clock[base + __builtin_ctz(lanes)], together, sizeof together);
}

void SharedMemory::access(uint32_t bytes, bool write, const void* pc, bool dynamic, size_t offset) {
  std::vector<SharedWord>& words = dynamic ? dynamics : statics;
  const Access a = {bytes, write, dynamic, pc, offset};
  for (size_t word = offset / 4; word <= (offset + bytes - 1) / 4; word++) {
    SharedWord& s = words[word];
    const uint8_t mask = mask_of(offset, bytes, word);
    if (s.write_epoch < first_epoch) s.written = 0;
    check(*this, s, a, word, mask);
    if (write)
      note_write(*this, &s, mask, pc);
    else
      note_read(*this, &s, mask);
  }
}

void SharedMemory::check_written(uint32_t bytes, const void* pc, bool dynamic, size_t offset) {
  std::vector<SharedWord>& words = dynamic ? dynamics : statics;
  const Access a = {bytes, false, dynamic, pc, offset};
  for (size_t word = offset / 4; word <= (offset + bytes - 1) / 4; word++) {
    SharedWord& s = words[word];
    if (s.write_epoch < first_epoch) s.written = 0;
    check_written_word(s, a, word, mask_of(offset, bytes, word));
  }
}

void SharedMemory::mark_written(uint32_t bytes, const void* pc, bool dynamic, size_t offset) {
  std::vector<SharedWord>& words = dynamic ? dynamics : statics;
  for (size_t word = offset / 4; word <= (offset + bytes - 1) / 4; word++) {
    SharedWord& s = words[word];
    if (s.write_epoch < first_epoch) s.written = 0;
    s.written |= mask_of(offset, bytes, word);
    s.write_epoch = first_epoch;
    s.write_mask = 0;
    s.write_pc = pc;
  }
}
}  // namespace simt
