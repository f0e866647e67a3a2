// The arrays of the set and the workspace: bounds, names and counters.
#include "model.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

namespace simt {
namespace {

constexpr int kRegions = SCANHOST_ARRAYS + 1;
constexpr ptrdiff_t kNear = 1 << 20;  // bytes within which a wild address is described by its distance from an array

struct Table {  // of cell numbers, kept from launch to launch and all 0 between
  uint32_t* entries;
  size_t bytes;
};

Region regions[kRegions];
Table tables[kRegions];
int count, last_hit;

uint32_t* cell_table(int index, size_t region_bytes) {
  Table& t = tables[index];
  const size_t bytes = (region_bytes / 16 + 2) * sizeof(uint32_t);
  if (t.bytes < bytes) {
    if (t.entries) munmap(t.entries, t.bytes);
    t.entries = static_cast<uint32_t*>(
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    t.bytes = bytes;
    if (t.entries == MAP_FAILED) __builtin_trap();
  }
  return t.entries;
}

void add(int array, void* pointer, uint64_t bytes, bool writable, uint64_t* read, uint64_t* written) {
  if (!pointer || bytes == 0) return;
  char* low = static_cast<char*>(pointer);
  const bool modelled = writable && engine.scheduling == Scheduling::seeded;
  regions[count] = {low, low + bytes, writable, array, read, written, modelled ? cell_table(count, bytes) : nullptr};
  count++;
}

void name(const Region& r, char* text, size_t size) {
  if (r.array < 0)
    snprintf(text, size, "workspace");
  else
    snprintf(text, size, "array %d", r.array);
}
}  // namespace

void start_regions() {
  count = last_hit = 0;
  scanhost_counters& c = session.counters;
  for (int i = 0; i < SCANHOST_ARRAYS; i++) {
    const scanhost_array& a = session.set->arrays[i];
    add(i, a.pointer, a.bytes, a.writable != 0, &c.bytes_read[i], &c.bytes_written[i]);
  }
  add(-1, session.batch->workspace, session.batch->workspace_bytes, true, &c.workspace_read, &c.workspace_written);
}

const Region* region_of(const char* p, uint32_t bytes) {
  for (int i = 0; i < count; i++) {
    const Region& r = regions[last_hit];
    if (p >= r.low && p < r.high) return bytes <= static_cast<size_t>(r.high - p) ? &r : nullptr;
    last_hit = last_hit + 1 < count ? last_hit + 1 : 0;
  }
  return nullptr;
}

Place place_of(const void* address) {
  Place place;
  const char* p = static_cast<const char*>(address);
  const Region* nearest = nullptr;
  ptrdiff_t distance = kNear;
  for (int i = 0; i < count; i++) {
    const Region& r = regions[i];
    const ptrdiff_t away = p < r.low ? r.low - p : p >= r.high ? p - r.high + 1 : 0;
    if (away < distance) {
      nearest = &r;
      distance = away;
    }
  }
  if (!nearest) {
    snprintf(place.text, sizeof place.text, "address %p", address);
    return place;
  }
  char of[32];
  name(*nearest, of, sizeof of);
  if (p < nearest->low)
    snprintf(place.text, sizeof place.text, "%td bytes before %s", distance, of);
  else if (p >= nearest->high)
    snprintf(place.text, sizeof place.text, "%td bytes past the end of %s (%td bytes)", distance - 1, of,
             nearest->high - nearest->low);
  else
    snprintf(place.text, sizeof place.text, "%s at byte %td", of, p - nearest->low);
  return place;
}
}  // namespace simt
