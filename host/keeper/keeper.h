// What the keeper's Go part calls of its CUDA part (keeper.cu). Plain C, so that cgo can read it.
//
// Every call returns a keeper_status and words a failure in text. The Go part makes one call at a time.
#pragma once
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KEEPER_TEXT 1024

enum keeper_status { KEEPER_OK = 0, KEEPER_ERROR = 1, KEEPER_OUT_OF_MEMORY = 2 };

// One allocation: [0, offset) guard, [offset, offset + bytes) array, [offset + bytes, map_bytes) guard.
typedef struct {
  uint64_t address, map_bytes;  // of the whole mapping
  uint64_t offset, bytes;       // of the array in it
  uint32_t pattern;             // what the guards were last filled with, from the mapping's first byte on
} keeper_buffer;

typedef struct {
  char name[256];
  uint8_t uuid[16];
  int32_t driver, runtime;  // CUDA versions, 1000 * major + 10 * minor
  int32_t major, minor, multiprocessors;
  uint64_t l2_bytes, memory_bytes, memory_free_bytes;
  double peak_bytes_per_second;
  int32_t memory_export;
} keeper_info;

typedef struct {
  int32_t guards_intact;
  int64_t first_bad;  // byte offset from the array's first byte; 0 when intact
  uint64_t hash;
} keeper_inspection;

// Arrays of equal size at equal distances in a buffer, with guard bytes on both sides of each. Address, stride and
// guard are multiples of 16.
typedef struct {
  uint64_t address;  // of slot 0's array
  uint64_t stride, bytes, guard;
  uint32_t count;
  uint32_t pattern;
} keeper_slots;

typedef struct {
  int32_t guards_intact;
  uint32_t bad_slot;
  int64_t first_bad;  // byte offset from that slot's first byte
} keeper_guards;

#define KEEPER_STREAM_READS 4
#define KEEPER_STREAM_WRITES 3
#define KEEPER_STREAM_VARIANTS 5

// Addresses of what one launch of a stream works on.
typedef struct {
  uint64_t reads[KEEPER_STREAM_READS], writes[KEEPER_STREAM_WRITES];
} keeper_stream_set;

typedef struct {
  const keeper_stream_set* sets;
  uint32_t count, reads, writes;
  uint64_t bytes;  // of each array
} keeper_stream;

// Creates the context. Must be called before the others.
int keeper_start(char text[KEEPER_TEXT]);
int keeper_read_info(keeper_info* info, char text[KEEPER_TEXT]);

// Allocates bytes between guards and fills all of it with pattern. *fd is the caller's to close; the memory
// lives on without it.
int keeper_allocate(uint64_t bytes, uint64_t guard, uint32_t pattern, keeper_buffer* buffer, int* fd,
                    char text[KEEPER_TEXT]);
int keeper_free(const keeper_buffer* buffer, char text[KEEPER_TEXT]);

// Copy between bytes of the array and bytes of a file.
int keeper_write(const keeper_buffer* buffer, uint64_t offset, uint64_t bytes, int fd, uint64_t fd_offset,
                 char text[KEEPER_TEXT]);
int keeper_read(const keeper_buffer* buffer, uint64_t offset, uint64_t bytes, int fd, uint64_t fd_offset,
                char text[KEEPER_TEXT]);

int keeper_poison(keeper_buffer* buffer, uint32_t pattern, char text[KEEPER_TEXT]);
int keeper_inspect(const keeper_buffer* buffer, keeper_inspection* result, char text[KEEPER_TEXT]);

// Fills slots and their guards up to the next multiple of 16, and gives persisting lines of L2 back.
int keeper_poison_slots(const keeper_slots* slots, char text[KEEPER_TEXT]);
// hashes has an entry for every slot.
int keeper_inspect_slots(const keeper_slots* slots, uint64_t* hashes, keeper_guards* guards, char text[KEEPER_TEXT]);

// Batches, with the time by device events around them.
int keeper_run_stream(const keeper_stream* stream, uint32_t variant, uint32_t first, uint32_t launches, double* ms,
                      char text[KEEPER_TEXT]);
int keeper_run_spin(uint64_t nanoseconds, uint32_t launches, double* ms, char text[KEEPER_TEXT]);

// Fills and hashes a scratch array and compares with the same sum made on the CPU.
int keeper_canary(char text[KEEPER_TEXT]);

#ifdef __cplusplus
}
#endif
