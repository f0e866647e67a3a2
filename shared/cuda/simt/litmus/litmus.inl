// The table of litmus tests, compiled into both copies.
#pragma once
#include "litmus.h"

namespace {

constexpr size_t kWorkspace = 1 << 20;

// Launches one litmus; the workspace is as the launch before left it.
using Body = void (*)(const Arrays&, char* workspace, Stream);

unsigned tiles(const Arrays& x) { return static_cast<unsigned>((x.n + TILE - 1) / TILE); }

template <Bug BUG>
void run_look_back(const Arrays& x, char* workspace, Stream stream) {
  fill_bytes(workspace, 0, 4096 + tiles(x) * 4, stream);
  const Chain chain = {reinterpret_cast<unsigned*>(workspace), reinterpret_cast<unsigned*>(workspace + 4096),
                       reinterpret_cast<float2*>(workspace + (256 << 10)),
                       reinterpret_cast<float2*>(workspace + (512 << 10))};
  launch(look_back<BUG>, dim3(tiles(x)), dim3(TILE), 0, stream, x, chain);
}
template <Bug BUG>
void run_relay(const Arrays& x, char* workspace, Stream stream) {
  fill_bytes(workspace, 0, 4096 + 16 * static_cast<size_t>(x.n), stream);
  launch(relay<BUG>, dim3(static_cast<unsigned>(x.n)), dim3(32), 0, stream, x, reinterpret_cast<unsigned*>(workspace),
         reinterpret_cast<uint4*>(workspace + 4096));
}
template <Bug BUG>
void run_reverse(const Arrays& x, char*, Stream stream) {
  launch(reverse<BUG>, dim3(static_cast<unsigned>(x.n + 63) / 64), dim3(64), 0, stream, x);
}
template <Bug BUG>
void run_reverse_warp(const Arrays& x, char*, Stream stream) {
  launch(reverse_warp<BUG>, dim3(1), dim3(32), 0, stream, x);
}
template <int BEYOND>
void run_rounded_up(const Arrays& x, char*, Stream stream) {
  launch(rounded_up, dim3(tiles(x)), dim3(32), 0, stream, x, x.n + BEYOND);
}
template <int BEYOND>
void run_fill_shared(const Arrays& x, char*, Stream stream) {
  launch(fill_shared, dim3(1), dim3(32), 24 * sizeof(float), stream, x, 24 + BEYOND);
}
template <int DEPTH>
void run_recurse(const Arrays& x, char*, Stream stream) {
  launch(recurse, dim3(1), dim3(64), 0, stream, x, DEPTH);
}
template <unsigned LOW>
void run_masks(const Arrays& x, char*, Stream stream) {
  launch(masks, dim3(1), dim3(32), 0, stream, x, LOW);
}
template <unsigned BLOCKS>
void run_grid_barrier(const Arrays& x, char* workspace, Stream stream) {
  fill_bytes(workspace, 0, 4, stream);
  launch_cooperative(grid_barrier, dim3(BLOCKS), dim3(32), 0, stream, x, reinterpret_cast<unsigned*>(workspace));
}
template <unsigned GRID, unsigned BLOCK, size_t SHARED>
void run_shape(const Arrays& x, char*, Stream stream) {
  launch(rounded_up, dim3(GRID), dim3(BLOCK), SHARED, stream, x, 1);
}
template <int OFFSET>
void run_load_vectors(const Arrays& x, char*, Stream stream) {
  launch(load_vectors, dim3(1), dim3(32), 0, stream, x, OFFSET);
}
template <int DIFFER>
void run_all_write(const Arrays& x, char*, Stream stream) {
  launch(all_write, dim3(8), dim3(1), 0, stream, x, DIFFER);
}
void run_write_input(const Arrays& x, char*, Stream stream) { launch(write_input, dim3(2), dim3(32), 0, stream, x); }
void run_wait_for_ever(const Arrays&, char* workspace, Stream stream) {
  fill_bytes(workspace, 0, 4, stream);
  launch(wait_for_ever, dim3(8), dim3(32), 0, stream, reinterpret_cast<unsigned*>(workspace));
}
template <Bug BUG>
void run_neighbours(const Arrays& x, char* workspace, Stream stream) {
  fill_bytes(workspace, 0, 16, stream);
  launch(neighbours<BUG>, dim3(64), dim3(1), 0, stream, x, reinterpret_cast<unsigned*>(workspace));
}
template <Bug BUG>
void run_count_in_shared(const Arrays& x, char*, Stream stream) {
  launch(count_in_shared<BUG>, dim3(1), dim3(64), 0, stream, x);
}
void run_semantics(const Arrays& x, char* workspace, Stream stream) {
  fill_bytes(workspace, 0, 64, stream);
  launch(semantics, dim3(1), dim3(64), 0, stream, x, reinterpret_cast<int*>(workspace));
}
void run_storage_types(const Arrays& x, char*, Stream stream) {
  launch(storage_types, dim3(unsigned(x.n + 255) / 256), dim3(256), 0, stream, x);
}
void run_mixed(const Arrays& x, char*, Stream stream) { launch(mixed, dim3(5), dim3(100), 0, stream, x); }

const struct {
  const char* name;
  Body body;
} table[] = {
    {"look_back", run_look_back<CORRECT>},
    {"look_back/block_index", run_look_back<BLOCK_INDEX_FOR_TICKET>},
    {"look_back/no_writer_fence", run_look_back<NO_WRITER_FENCE>},
    {"look_back/no_reader_fence", run_look_back<NO_READER_FENCE>},
    {"look_back/swapped", run_look_back<SWAPPED_OPERANDS>},
    {"relay", run_relay<CORRECT>},
    {"relay/torn", run_relay<TORN_STORE>},
    {"reverse", run_reverse<CORRECT>},
    {"reverse/missing_barrier", run_reverse<MISSING_BARRIER>},
    {"reverse/divergent_barrier", run_reverse<DIVERGENT_BARRIER>},
    {"reverse/uninitialised", run_reverse<UNINITIALISED>},
    {"reverse_warp", run_reverse_warp<CORRECT>},
    {"reverse_warp/missing_barrier", run_reverse_warp<MISSING_BARRIER>},
    {"rounded_up", run_rounded_up<0>},
    {"rounded_up/beyond", run_rounded_up<2>},
    {"fill_shared", run_fill_shared<0>},
    {"fill_shared/beyond", run_fill_shared<1>},
    {"recurse", run_recurse<4>},
    {"recurse/deep", run_recurse<100000>},
    {"masks", run_masks<0x0000ffffu>},
    {"masks/mismatch", run_masks<0x0001ffffu>},
    {"grid_barrier", run_grid_barrier<16>},
    {"grid_barrier/too_large", run_grid_barrier<64>},
    {"shape", run_shape<1, 1024, 1024>},
    {"shape/block", run_shape<1, 1025, 0>},
    {"shape/grid", run_shape<0, 32, 0>},
    {"shape/shared", run_shape<1, 32, (228 << 10)>},
    {"load_vectors", run_load_vectors<4>},
    {"load_vectors/misaligned", run_load_vectors<1>},
    {"all_write", run_all_write<0>},
    {"all_write/differ", run_all_write<1>},
    {"write_input", run_write_input},
    {"wait_for_ever", run_wait_for_ever},
    {"neighbours", run_neighbours<CORRECT>},
    {"neighbours/unordered", run_neighbours<UNORDERED_NEIGHBOUR>},
    {"count_in_shared", run_count_in_shared<CORRECT>},
    {"count_in_shared/uninitialised", run_count_in_shared<UNINITIALISED>},
    {"mixed", run_mixed},
    {"semantics", run_semantics},
    {"storage_types", run_storage_types},
};

int run_litmus(const litmus_run* run, scanhost_report* report) {
  Body body = nullptr;
  for (const auto& entry : table)
    if (strcmp(entry.name, run->name) == 0) body = entry.body;
  if (!body) return -1;
  const uint64_t bytes = static_cast<uint64_t>(run->n) * sizeof(float);
  scanhost_set set = {};
  set.arrays[0] = {const_cast<float*>(run->a), bytes, 0};
  set.arrays[1] = {const_cast<float*>(run->b), bytes, 0};
  set.arrays[2] = {run->h, run->h_bytes, 1};
  void* workspace = calloc(1, kWorkspace);
  const scanhost_problem problem = {};
  const int status =
      scanhost::run_batch(&problem, &set, 1, 0, run->launches, workspace, kWorkspace, &run->simt, report,
                          [&](const scanhost_problem&, const scanhost_set& s, void* w, Stream stream) {
                            const Arrays x = {static_cast<const float*>(s.arrays[0].pointer),
                                              static_cast<const float*>(s.arrays[1].pointer),
                                              static_cast<float*>(s.arrays[2].pointer), static_cast<int>(run->n)};
                            body(x, static_cast<char*>(w), stream);
                          });
  free(workspace);
  return status;
}
}  // namespace
