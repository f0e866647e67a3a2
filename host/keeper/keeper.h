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

// Fills and hashes a scratch array and compares with the same sum made on the CPU.
int keeper_canary(char text[KEEPER_TEXT]);

#ifdef __cplusplus
}
#endif
