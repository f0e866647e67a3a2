// What the Go SDK (shared/plugin) and a compiled kernel.cu share: plain C, so that cgo can read it.
// A copy of the kernel (cuda, simt fast, simt checked) registers one scanhost_kernel at load time.
#pragma once
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SCANHOST_ABI 2
#define SCANHOST_ARRAYS 16
#define SCANHOST_DIMS 8
#define SCANHOST_TUNABLES 8
#define SCANHOST_TEXT 2048

// Which machine a copy was compiled for.
enum scanhost_copy { SCANHOST_CUDA = 1, SCANHOST_SIMT_FAST = 2, SCANHOST_SIMT_CHECK = 3 };

// Result of every call. The values are Finding.Kind of kernel.proto; SCANHOST_UNSUPPORTED is prepare's alone.
enum scanhost_status {
  SCANHOST_OK = 0,
  SCANHOST_DEADLOCK = 1,
  SCANHOST_DIVERGENCE = 2,
  SCANHOST_RACE = 3,
  SCANHOST_UNINITIALISED = 4,
  SCANHOST_UNORDERED = 5,
  SCANHOST_OUT_OF_BOUNDS = 6,
  SCANHOST_INPUT_WRITE = 7,
  SCANHOST_FAULT = 8,
  SCANHOST_DEVICE_ERROR = 9,
  SCANHOST_REFUSED = 10,
  SCANHOST_OUT_OF_MEMORY = 11,
  SCANHOST_UNSUPPORTED = 100
};

// One problem. dims in the op's order, and options as bits in the op's order, as docs/protocol.md has them; tuning in
// plugin.toml's order, every entry filled in.
typedef struct {
  int32_t dtype;  // kernel.proto DType
  uint32_t options;
  int64_t dims[SCANHOST_DIMS];
  int64_t tuning[SCANHOST_TUNABLES];
} scanhost_problem;

// One array as the kernel sees it. In the op's order of roles, as docs/protocol.md has it;
// pointer NULL where the problem has no such array.
typedef struct {
  void* pointer;
  uint64_t bytes;
  int32_t writable;
} scanhost_array;

typedef struct {
  scanhost_array arrays[SCANHOST_ARRAYS];
} scanhost_set;

// How to run a batch: kernel.proto SimtOptions, and for the GPU whether to replay a graph.
typedef struct {
  int32_t mode;  // 0 fast, 1 count, 2 explore
  uint32_t resident_blocks, workers;
  uint64_t seed;
  uint64_t graph;  // cuda: not 0 replays the batch as a graph; names the prepared problem, and is never used again
} scanhost_simt;

typedef struct {
  uint64_t bytes_read[SCANHOST_ARRAYS], bytes_written[SCANHOST_ARRAYS];  // by array
  uint64_t workspace_read, workspace_written;
  uint64_t barriers, shuffles, atomics, lookback_steps, steps;
} scanhost_counters;

typedef struct {
  uint32_t completed;   // launches that ended
  uint32_t bad_launch;  // index in the batch of the launch that the status is about
  uint64_t bad_seed;
  double device_ms;
  scanhost_counters counters;
  char text[SCANHOST_TEXT];  // what went wrong, where
} scanhost_report;

typedef struct {
  uint32_t abi;   // SCANHOST_ABI
  uint32_t copy;  // enum scanhost_copy
  // The op this kernel computes.
  const char* op;

  // SCANHOST_OK with the workspace bytes, or SCANHOST_UNSUPPORTED with a sentence in text.
  // The workspace is zeroed when allocated and then kept from launch to launch, also across problems:
  // resetting it is the launch's job and counts in its time.
  int (*prepare)(const scanhost_problem* problem, uint64_t* workspace_bytes, char text[SCANHOST_TEXT]);

  // Runs `launches` launches, launch i on sets[(first + i) % n_sets], and waits for them.
  int (*launch)(const scanhost_problem* problem, const scanhost_set* sets, uint32_t n_sets, uint32_t first,
                uint32_t launches, void* workspace, uint64_t workspace_bytes, const scanhost_simt* simt,
                scanhost_report* report);

  // Device memory. On simt these are NULL: the SDK maps memfds and allocates host memory itself.
  int (*map)(int fd, uint64_t bytes, int writable, void** pointer, char text[SCANHOST_TEXT]);
  int (*unmap)(void* pointer, uint64_t bytes, char text[SCANHOST_TEXT]);
  int (*allocate)(uint64_t bytes, void** pointer, char text[SCANHOST_TEXT]);  // zeroed
  int (*release)(void* pointer, char text[SCANHOST_TEXT]);
  int (*copy_memory)(void* to, const void* from, uint64_t bytes, char text[SCANHOST_TEXT]);  // between host and device
} scanhost_kernel;

// Defined by the SDK; called from a static constructor of each copy.
void scanhost_register(const scanhost_kernel* kernel);

#ifdef __cplusplus
}
#endif
