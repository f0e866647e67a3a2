// Telling a deadlock from waiting.
//
// A block whose threads all wait at a barrier or in a collective can never go on: nobody outside it could release
// them. A poller is harder. It is declared hopeless only when every runnable thread of every resident block has, since
// the last store, barrier or exit anywhere, loaded what it had already loaded, many times over, with late stores
// no longer withheld. Then none of them can ever see anything new.
#include "engine.h"
#include "model.h"
#include <stdarg.h>
#include <stdio.h>

namespace simt {
namespace {

constexpr uint32_t kSuspicious = 8, kHopeless = 64;  // repeated loads of each thread

// Scheduling steps without progress after which the launch is given up even if a thread never polls twice alike.
constexpr uint64_t kStepLimit = 50'000'000;

bool everyone_repeats(uint32_t times) {
  for (uint32_t i = 0; i < engine.resident; i++) {
    const Resident* b = engine.residents[i];
    for (uint32_t warps = b->active ? b->runnable_warps : 0; warps; warps &= warps - 1) {
      const uint32_t w = __builtin_ctz(warps);
      for (uint32_t lanes = b->runnable[w]; lanes; lanes &= lanes - 1) {
        const Polling& p = b->polling[w * kLanes + __builtin_ctz(lanes)];
        if (p.progress != engine.progress || p.repeats < times) return false;
      }
    }
  }
  return true;
}

void start_again() {
  for (uint32_t i = 0; i < engine.resident; i++)
    for (uint32_t t = 0; t < engine.residents[i]->threads; t++) engine.residents[i]->polling[t].repeats = 0;
}

class Text {
 public:
  __attribute__((format(printf, 2, 3))) void add(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(text_ + used_, sizeof text_ - used_, format, arguments);
    va_end(arguments);
    used_ += n < 0 ? 0 : static_cast<size_t>(n);
    if (used_ >= sizeof text_) used_ = sizeof text_ - 1;
  }
  const char* get() const { return text_; }

 private:
  char text_[1600] = "";
  size_t used_ = 0;
};

// One poller of each resident block is enough to see who waits for what.
void describe_pollers(Text* text) {
  for (uint32_t i = 0; i < engine.resident; i++) {
    const Resident* b = engine.residents[i];
    if (!b->active || !b->runnable_warps) continue;
    const uint32_t w = __builtin_ctz(b->runnable_warps), t = w * kLanes + __builtin_ctz(b->runnable[w]);
    const Polling& p = b->polling[t];
    const uint32_t last = (p.next + Polling::kWords - 1) % Polling::kWords;
    if (!p.address[last]) continue;
    text->add("; %s polls %s, which %s and holds 0x%llx", name_of(b, t).text, place_of(p.address[last]).text,
              writer_of(p.address[last]).text, static_cast<unsigned long long>(p.value[last]));
  }
}

void report_deadlock(const char* what) {
  Text text;
  describe_pollers(&text);
  const uint64_t waiting = engine.total_blocks - engine.dispatched;
  if (waiting)
    text.add(
        "; %llu of %llu blocks have not started, and start only when one of these finishes: a block may wait only "
        "for blocks that have started before it, in whatever order they start",
        static_cast<unsigned long long>(waiting), static_cast<unsigned long long>(engine.total_blocks));
  record(SCANHOST_DEADLOCK, "%s%s", what, text.get());
}

void describe_warp(const Resident* b, uint32_t w, Text* text) {
  for (uint32_t group = 0; group < kLanes; group++) {
    const Warp& warp = b->warp[w];
    if (warp.arrived[group])
      text->add("; lanes 0x%08x of warp %u wait in a collective for mask 0x%08x, pc 0x%zx", warp.arrived[group], w,
                warp.mask[group], at(b->meeting_pc[w][group]));
  }
}
}  // namespace

void report_nothing_runnable() {
  for (uint32_t i = 0; i < engine.resident; i++) {
    const Resident* b = engine.residents[i];
    if (!b->active || b->runnable_warps || !b->live_threads) continue;
    Text text;
    if (b->waiting)
      text.add("; %u of %u threads wait at the barrier %s:%d", b->waiting, b->live_threads, base_name(b->barrier_file),
               b->barrier_line);
    for (uint32_t w = 0; w < b->warps; w++) describe_warp(b, w, &text);
    record(SCANHOST_DIVERGENCE, "%s: no thread can go on%s", name_of_block(b->linear).text, text.get());
    return;
  }
}

void note_poll(const void* address, uint64_t value) {
  Polling& p = engine.block->polling[engine.thread];
  if (p.progress != engine.progress) p = {};
  p.progress = engine.progress;
  bool seen = false;
  for (int i = 0; i < Polling::kWords; i++) seen |= p.address[i] == address && p.value[i] == value;
  if (!seen) {
    p.address[p.next] = address;
    p.value[p.next] = value;
    p.next = (p.next + 1) % Polling::kWords;
    p.repeats = 0;
  } else {
    p.repeats++;
  }
  if (engine.newest_only && engine.newest_only_since != engine.progress) engine.newest_only = false;
  if (p.repeats % kSuspicious != 0 || p.repeats == 0) {
    if (engine.steps - engine.progress_step < kStepLimit) return;
    report_deadlock("no store, barrier or exit in 50 million scheduling steps");
    abandon();
  }
  if (!engine.newest_only && everyone_repeats(kSuspicious)) {
    engine.newest_only = true;
    engine.newest_only_since = engine.progress;
    start_again();
  } else if (engine.newest_only && everyone_repeats(kHopeless)) {
    report_deadlock("every thread that can run polls a word that nobody will change");
    abandon();
  }
}
}  // namespace simt
