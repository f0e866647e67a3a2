// The memory model of EXPLORE mode. Each 16 bytes of an array that the launch has stored to are a cell: a list of
// the stores, oldest first. A status load may return any of them that the block is not bound to see past: by a
// fence, by having seen a later one, or by age. A plain load has no such freedom. If another block's store is not
// ordered before it, no value it could return would be right, and that is the finding.
#include "model.h"
#include "order.h"
#include <deque>
#include <stdio.h>
#include <string.h>

namespace simt {
namespace {

constexpr uint64_t kLate = 4096;   // scheduling steps after which a store is visible to all
constexpr size_t kRemembered = 8;  // stores of a cell; beyond it, the oldest that a later one covers is forgotten

enum class Kind : uint8_t { initial, plain, status };

struct Store {
  uint64_t block;         // linear; kNobody for what the launch found
  uint64_t step, serial;  // serial: counted within the cell
  Stamp stamp;
  uint16_t bytes;  // of the cell that it changed
  Kind kind;
  unsigned char contents[16];  // of the cell, after it
  SharedView released;
  const void* pc;
};

struct Seen {  // by a block, for each word: the latest store it has returned, by serial
  uint64_t block, latest[4];
};

struct Cell {
  std::vector<Store> stores;  // [0] is what the launch found
  std::vector<Seen> seen;     // by number of the resident block
  uint32_t* table_entry;
};

struct Pending {
  const Region* region;
  char* p;
  uint32_t bytes;
  const void* pc;
} pending;

std::deque<Cell> cells;  // [0] is none
size_t used_cells;

char* cell_address(const char* p) { return reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(p) & ~uintptr_t{15}); }

uint32_t* table_entry(const Region* r, const char* p) {
  return &r->cells[(reinterpret_cast<uintptr_t>(p) >> 4) - (reinterpret_cast<uintptr_t>(r->low) >> 4)];
}

Cell* find(const Region* r, const char* p) {
  const uint32_t number = *table_entry(r, p);
  return number ? &cells[number] : nullptr;
}

// The cell of p, with what memory holds now as its first store.
Cell* find_or_make(const Region* r, const char* p) {
  uint32_t* entry = table_entry(r, p);
  if (*entry) return &cells[*entry];
  if (used_cells == cells.size()) cells.emplace_back();
  Cell* cell = &cells[used_cells];
  *entry = static_cast<uint32_t>(used_cells++);
  cell->table_entry = entry;
  cell->stores.clear();
  cell->seen.assign(engine.resident, Seen{kNobody, {}});
  Store first = {};
  first.stamp.block = kNobody;
  first.bytes = 0xffff;
  memcpy(first.contents, cell_address(p), 16);
  cell->stores.push_back(first);
  return cell;
}

uint16_t bytes_of(const char* p, uint32_t bytes) {
  return static_cast<uint16_t>(((1u << bytes) - 1) << (reinterpret_cast<uintptr_t>(p) & 15));
}

Store* newest(Cell* cell, uint16_t bytes) {
  for (size_t i = cell->stores.size(); i-- > 0;)
    if (cell->stores[i].bytes & bytes) return &cell->stores[i];
  return &cell->stores[0];
}

// Stores of single bytes may all still be in force; then the list grows.
void forget_one(Cell* cell) {
  for (size_t i = 1; i < cell->stores.size(); i++) {
    uint16_t later = 0;
    for (size_t j = i + 1; j < cell->stores.size(); j++) later |= cell->stores[j].bytes;
    if (cell->stores[i].bytes & ~later) continue;
    cell->stores.erase(cell->stores.begin() + static_cast<ptrdiff_t>(i));
    return;
  }
}

void append(Cell* cell, const char* p, uint16_t bytes, Kind kind, SharedView released, const void* pc) {
  Store s = {};
  s.stamp = next_stamp();
  s.step = engine.steps;
  s.bytes = bytes;
  s.kind = kind;
  s.released = std::move(released);
  s.pc = pc;
  memcpy(s.contents, cell_address(p), 16);
  if (memcmp(s.contents, cell->stores.back().contents, 16) != 0) note_progress();
  s.serial = cell->stores.back().serial + 1;
  if (cell->stores.size() >= kRemembered) forget_one(cell);
  cell->stores.push_back(std::move(s));
}

[[noreturn]] void report_unordered(const char* p, const Store& s, const char* does, const void* pc) {
  record(SCANHOST_UNORDERED, "%s %s %s, pc 0x%zx, stored by %s, pc 0x%zx; %s", me().text, does, place_of(p).text,
         at(pc), name_of_block(s.stamp.block).text, at(s.pc), missing(s.stamp));
  abandon();
}

// One cell's part of a plain store. 16 bytes at once are two stores: hardware promises no more without asking.
void settle_cell(const Region* r, char* p, uint32_t bytes, const void* pc) {
  Cell* cell = find(r, p);
  const uint16_t all = bytes_of(p, bytes);
  const Store& before = *newest(cell, all);
  const uint32_t at = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(p) & 15);
  if (!known(before.stamp) && before.kind == Kind::plain && memcmp(before.contents + at, p, bytes) != 0)
    report_unordered(p, before, "overwrites", pc);
  const SharedView& released = engine.block->order.released;
  for (uint16_t half : {uint16_t{0x00ff}, uint16_t{0xff00}})
    if (all & half) append(cell, p, all & half, Kind::plain, released, pc);
}

// The older stores that a status load of these bytes may still return, newest first.
size_t candidates(const Cell* cell, uint16_t bytes, const Store* (&found)[kRemembered]) {
  const Seen& seen = cell->seen[engine.block->number];
  uint64_t floor = 0;
  if (seen.block == engine.block->linear)
    for (int word = 0; word < 4; word++)
      if ((bytes >> 4 * word & 15) && seen.latest[word] > floor) floor = seen.latest[word];
  size_t n = 0;
  for (size_t i = cell->stores.size(); i-- > 0;) {
    const Store& s = cell->stores[i];
    if (i > 0 && !(s.bytes & bytes)) continue;
    found[n++] = &s;
    if (known(s.stamp) || s.serial <= floor || engine.steps - s.step > kLate || n == kRemembered) break;
  }
  return n;
}

void mark_seen(Cell* cell, uint16_t bytes, const Store& s) {
  Seen& seen = cell->seen[engine.block->number];
  if (seen.block != engine.block->linear) seen = {engine.block->linear, {}};
  for (int word = 0; word < 4; word++)
    if (bytes >> 4 * word & 15) seen.latest[word] = s.serial;
}

}  // namespace

void settle() {
  if (!pending.region) return;
  const Pending store = pending;
  pending.region = nullptr;
  for (uint32_t done = 0; done < store.bytes;) {
    char* p = store.p + done;
    const uint32_t room = 16 - static_cast<uint32_t>(reinterpret_cast<uintptr_t>(p) & 15);
    const uint32_t bytes = store.bytes - done < room ? store.bytes - done : room;
    settle_cell(store.region, p, bytes, store.pc);
    done += bytes;
  }
}

void model_plain_load(const Region* r, char* p, uint32_t bytes, const void* pc) {
  if (!r->cells) return;
  for (uint32_t done = 0; done < bytes;) {
    char* q = p + done;
    const uint32_t room = 16 - static_cast<uint32_t>(reinterpret_cast<uintptr_t>(q) & 15);
    const uint32_t part = bytes - done < room ? bytes - done : room;
    if (Cell* cell = find(r, q)) {
      const Store& s = *newest(cell, bytes_of(q, part));
      if (!known(s.stamp)) report_unordered(q, s, "reads", pc);
    }
    done += part;
  }
}

void model_plain_store(const Region* r, char* p, uint32_t bytes, const void* pc) {
  if (!r->cells) return note_progress();
  for (char* q = cell_address(p); q < p + bytes; q += 16) find_or_make(r, q);
  pending = {r, p, bytes, pc};
}

Wide model_status_load(const Region* r, char* p, uint32_t bytes, Order order, const void* pc) {
  Wide value = {};
  Cell* cell = r->cells ? find(r, p) : nullptr;
  if (!cell) {
    memcpy(&value, p, bytes);
    return value;
  }
  const uint16_t mask = bytes_of(p, bytes);
  const Store& latest = *newest(cell, mask);
  if (latest.kind == Kind::plain && !known(latest.stamp) && (latest.bytes & mask) != mask) {
    record(
        SCANHOST_UNORDERED,
        "%s loads %u bytes at once from %s, pc 0x%zx, which %s stored in parts, pc 0x%zx: a plain store of more than "
        "8 bytes may be seen half done; store_relaxed stores them whole",
        me().text, bytes, place_of(p).text, at(pc), name_of_block(latest.stamp.block).text, at(latest.pc));
    abandon();
  }
  const Store* found[kRemembered] = {};
  size_t pick = 0;
  const size_t n = candidates(cell, mask, found);
  if (n > 1 && !engine.newest_only && chance(engine.stale_chance))
    pick = 1 + random_below(static_cast<uint32_t>(n - 1));
  const Store& s = *found[pick];
  mark_seen(cell, mask, s);
  learn(s.stamp, s.released, order);
  memcpy(&value, s.contents + (reinterpret_cast<uintptr_t>(p) & 15), bytes);
  return value;
}

void model_status_store(const Region* r, char* p, Wide bits, uint32_t bytes, Order order, const void* pc) {
  if (!r->cells) {
    if (memcmp(p, &bits, bytes) != 0) note_progress();
    memcpy(p, &bits, bytes);
    return;
  }
  Cell* cell = find_or_make(r, p);
  memcpy(p, &bits, bytes);
  append(cell, p, bytes_of(p, bytes), Kind::status, released_by(order), pc);
  mark_seen(cell, bytes_of(p, bytes), cell->stores.back());
}

// A read-modify-write carries on what the store it read had released, besides its own block's.
void model_atomic(const Region* r, char* p, uint64_t desired, uint32_t bytes, const void* pc) {
  Cell* cell = r->cells ? find_or_make(r, p) : nullptr;
  memcpy(p, &desired, bytes);
  if (!cell) return;
  const uint16_t mask = bytes_of(p, bytes);
  const Store read = *newest(cell, mask);
  learn(read.stamp, read.released, Order::relaxed);
  append(cell, p, mask, Kind::status, carried_on(read.released), pc);
  mark_seen(cell, mask, cell->stores.back());
}

void model_forget_stores() {
  for (size_t i = 1; i < used_cells; i++) *cells[i].table_entry = 0;
  if (cells.empty()) cells.emplace_back();
  used_cells = 1;
  pending.region = nullptr;
  forget_order();
}

Place writer_of(const void* address) {
  Place text;
  const char* p = static_cast<const char*>(address);
  const Region* r = region_of(p, 1);
  Cell* cell = r && r->cells ? find(r, p) : nullptr;
  const Store* s = cell ? newest(cell, bytes_of(p, 1)) : nullptr;
  if (!s || s->stamp.block == kNobody)
    snprintf(text.text, sizeof text.text, "nobody has stored to");
  else
    snprintf(text.text, sizeof text.text, "%s stored last, pc 0x%zx,", name_of_block(s->stamp.block).text, at(s->pc));
  return text;
}
}  // namespace simt
