// The CUDA part of the keeper: device memory that plugins map but do not own, filled, poisoned and checked
// here, where no plugin's code runs.
//
// Memory comes from the driver's virtual memory calls, since only those export an allocation as a descriptor
// and let another process map it read-only.
#include <cerrno>
#include <climits>
#include <unistd.h>

#include "context.cuh"
#include "kernels.cuh"
#include "slots.cuh"
#include "stream.cuh"

using keeper::block_threads;
using keeper::chunk_bytes;
using keeper::context;
using keeper::Found;

static CUmemAllocationProp exported_memory() {
  CUmemAllocationProp p = {};
  p.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  p.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  return p;
}

static uint64_t round_up(uint64_t value, uint64_t multiple) { return (value + multiple - 1) / multiple * multiple; }

static uint8_t* device_pointer(uint64_t address) { return reinterpret_cast<uint8_t*>(address); }

int keeper_start(char text[KEEPER_TEXT]) {
  if (int status = keeper::enter(text)) return status;
  KEEPER_TRY(cudaFree(nullptr));  // creates the context, which cudaSetDevice alone did not before CUDA 12
  if (scanhost::driver().missing)
    return keeper::fail(text, "the NVIDIA driver lacks %s; it must be of CUDA 12.0 or newer",
                        scanhost::driver().missing);
  auto& c = context();
  int multiprocessors = 0;
  KEEPER_TRY(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  c.blocks = 8 * multiprocessors;
  int persisting_bytes = 0;
  KEEPER_TRY(cudaDeviceGetAttribute(&persisting_bytes, cudaDevAttrMaxPersistingL2CacheSize, 0));
  c.persists = persisting_bytes > 0;
  KEEPER_TRY(cudaStreamCreateWithFlags(&c.stream, cudaStreamNonBlocking));
  for (int i = 0; i < 2; i++) {
    KEEPER_TRY(cudaMallocHost(&c.staging[i], chunk_bytes));
    KEEPER_TRY(cudaEventCreateWithFlags(&c.staged[i], cudaEventDisableTiming));
  }
  KEEPER_TRY(cudaMalloc(&c.found, sizeof *c.found));
  KEEPER_TRY(cudaMalloc(&c.canary, keeper::canary_bytes));
  KEEPER_TRY(cudaMalloc(&c.slot_sums, keeper::slot_sums_bytes));
  KEEPER_TRY(cudaEventCreate(&c.begin));
  KEEPER_TRY(cudaEventCreate(&c.end));
  return KEEPER_OK;
}

// Tries an export instead of asking whether the driver has it: some sandboxes have the attribute and refuse the call.
static bool can_export() {
  const auto& d = scanhost::driver();
  const CUmemAllocationProp memory = exported_memory();
  size_t granularity = 0;
  CUmemGenericAllocationHandle handle;
  int fd = -1;
  if (d.granularity(&granularity, &memory, CU_MEM_ALLOC_GRANULARITY_MINIMUM) != CUDA_SUCCESS) return false;
  if (d.create(&handle, granularity, &memory, 0) != CUDA_SUCCESS) return false;
  const CUresult result = d.export_handle(&fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
  d.release(handle);
  if (fd >= 0) close(fd);
  return result == CUDA_SUCCESS;
}

int keeper_read_info(keeper_info* info, char text[KEEPER_TEXT]) {
  if (int status = keeper::enter(text)) return status;
  cudaDeviceProp p;
  KEEPER_TRY(cudaGetDeviceProperties(&p, 0));
  snprintf(info->name, sizeof info->name, "%s", p.name);
  memcpy(info->uuid, &p.uuid, sizeof info->uuid);
  info->major = p.major;
  info->minor = p.minor;
  info->multiprocessors = p.multiProcessorCount;
  info->l2_bytes = p.l2CacheSize;
  KEEPER_TRY(cudaDriverGetVersion(&info->driver));
  KEEPER_TRY(cudaRuntimeGetVersion(&info->runtime));
  size_t available = 0, total = 0;
  KEEPER_TRY(cudaMemGetInfo(&available, &total));
  info->memory_bytes = total;
  info->memory_free_bytes = available;
  int clock_khz = 0, bus_bits = 0;  // as attributes: CUDA 13 took the clock out of cudaDeviceProp
  KEEPER_TRY(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrMemoryClockRate, 0));
  KEEPER_TRY(cudaDeviceGetAttribute(&bus_bits, cudaDevAttrGlobalMemoryBusWidth, 0));
  info->peak_bytes_per_second = 2.0 * clock_khz * 1000.0 * (bus_bits / 8.0);
  info->memory_export = can_export();
  return KEEPER_OK;
}

static int fill(const keeper_buffer* b, char text[KEEPER_TEXT]) {
  auto& c = context();
  keeper::fill<<<c.blocks, block_threads, 0, c.stream>>>(reinterpret_cast<uint4*>(b->address), b->map_bytes,
                                                         b->pattern);
  KEEPER_TRY(cudaGetLastError());
  KEEPER_TRY(cudaStreamSynchronize(c.stream));
  return KEEPER_OK;
}

int keeper_allocate(uint64_t bytes, uint64_t guard, uint32_t pattern, keeper_buffer* b, int* fd,
                    char text[KEEPER_TEXT]) {
  if (int status = keeper::enter(text)) return status;
  const auto& d = scanhost::driver();
  const CUmemAllocationProp memory = exported_memory();
  size_t granularity = 0;
  KEEPER_TRY(d.granularity(&granularity, &memory, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  b->offset = round_up(guard, 256);
  b->bytes = bytes;
  b->map_bytes = round_up(b->offset + bytes + guard, granularity);
  b->pattern = pattern;
  CUmemGenericAllocationHandle handle;
  KEEPER_TRY(d.create(&handle, b->map_bytes, &memory, 0));
  const char* at = "cuMemExportToShareableHandle";
  CUdeviceptr address = 0;
  *fd = -1;
  CUresult result = d.export_handle(fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
  if (result == CUDA_SUCCESS)
    result = scanhost::map_allocation(handle, b->map_bytes, CU_MEM_ACCESS_FLAGS_PROT_READWRITE, &address, &at);
  d.release(handle);
  int status = keeper::check(result, at, text);
  b->address = address;
  if (status == KEEPER_OK) {
    status = fill(b, text);
    if (status != KEEPER_OK) scanhost::unmap_allocation(address, b->map_bytes, &at);
  }
  if (status != KEEPER_OK && *fd >= 0) close(*fd);
  return status;
}

int keeper_free(const keeper_buffer* b, char text[KEEPER_TEXT]) {
  if (int status = keeper::enter(text)) return status;
  const char* at = "";
  return keeper::check(scanhost::unmap_allocation(b->address, b->map_bytes, &at), at, text);
}

// Moves exactly bytes between memory and a file; move is pread or pwrite.
template <class Move>
static int move_all(Move move, uint8_t* memory, uint64_t bytes, int fd, uint64_t at, char text[KEEPER_TEXT]) {
  while (bytes > 0) {
    const ssize_t n = move(fd, memory, bytes, static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      return keeper::fail(text, "%llu bytes at %llu of the memfd: %s", static_cast<unsigned long long>(bytes),
                          static_cast<unsigned long long>(at), strerror(errno));
    if (n == 0)
      return keeper::fail(text, "the memfd ends at %llu, %llu bytes short", static_cast<unsigned long long>(at),
                          static_cast<unsigned long long>(bytes));
    memory += n;
    at += n;
    bytes -= n;
  }
  return KEEPER_OK;
}

// Goes through pinned chunks with pread. Registering the memfd's pages instead would copy faster, but costs a
// fixed time for every call and is refused for sealed files on some drivers.
int keeper_write(const keeper_buffer* b, uint64_t offset, uint64_t bytes, int fd, uint64_t fd_offset,
                 char text[KEEPER_TEXT]) {
  if (int status = keeper::enter(text)) return status;
  auto& c = context();
  uint8_t* to = device_pointer(b->address + b->offset + offset);
  for (uint64_t done = 0, i = 0; done < bytes; i ^= 1) {
    const uint64_t n = bytes - done < chunk_bytes ? bytes - done : chunk_bytes;
    KEEPER_TRY(cudaEventSynchronize(c.staged[i]));
    if (int status = move_all(pread, c.staging[i], n, fd, fd_offset + done, text)) return status;
    KEEPER_TRY(cudaMemcpyAsync(to + done, c.staging[i], n, cudaMemcpyHostToDevice, c.stream));
    KEEPER_TRY(cudaEventRecord(c.staged[i], c.stream));
    done += n;
  }
  KEEPER_TRY(cudaStreamSynchronize(c.stream));
  return KEEPER_OK;
}

int keeper_read(const keeper_buffer* b, uint64_t offset, uint64_t bytes, int fd, uint64_t fd_offset,
                char text[KEEPER_TEXT]) {
  if (int status = keeper::enter(text)) return status;
  auto& c = context();
  const uint8_t* from = device_pointer(b->address + b->offset + offset);
  const uint64_t chunks = (bytes + chunk_bytes - 1) / chunk_bytes;
  auto length = [&](uint64_t chunk) { return chunk + 1 < chunks ? chunk_bytes : bytes - chunk * chunk_bytes; };
  // One chunk ahead: while chunk k goes to the file, chunk k + 1 comes from the device.
  for (uint64_t k = 0; k <= chunks; k++) {
    if (k < chunks) {
      KEEPER_TRY(
          cudaMemcpyAsync(c.staging[k % 2], from + k * chunk_bytes, length(k), cudaMemcpyDeviceToHost, c.stream));
      KEEPER_TRY(cudaEventRecord(c.staged[k % 2], c.stream));
    }
    if (k == 0) continue;
    KEEPER_TRY(cudaEventSynchronize(c.staged[(k - 1) % 2]));
    const uint64_t at = fd_offset + (k - 1) * chunk_bytes;
    if (int status = move_all(pwrite, c.staging[(k - 1) % 2], length(k - 1), fd, at, text)) return status;
  }
  return KEEPER_OK;
}

int keeper_poison(keeper_buffer* b, uint32_t pattern, char text[KEEPER_TEXT]) {
  if (int status = keeper::enter(text)) return status;
  b->pattern = pattern;
  return fill(b, text);
}

static int collect(Found* found, char text[KEEPER_TEXT]) {
  auto& c = context();
  KEEPER_TRY(cudaGetLastError());
  KEEPER_TRY(cudaMemcpyAsync(found, c.found, sizeof *found, cudaMemcpyDeviceToHost, c.stream));
  KEEPER_TRY(cudaStreamSynchronize(c.stream));
  return KEEPER_OK;
}

int keeper_inspect(const keeper_buffer* b, keeper_inspection* result, char text[KEEPER_TEXT]) {
  if (int status = keeper::enter(text)) return status;
  auto& c = context();
  Found found = {LLONG_MAX, 0};
  KEEPER_TRY(cudaMemcpyAsync(c.found, &found, sizeof found, cudaMemcpyHostToDevice, c.stream));
  const uint8_t* mapping = device_pointer(b->address);
  keeper::check_guards<<<c.blocks, block_threads, 0, c.stream>>>(mapping, b->offset, b->offset + b->bytes, b->map_bytes,
                                                                 b->pattern, &c.found->first_bad);
  keeper::hash<<<c.blocks, block_threads, 0, c.stream>>>(mapping + b->offset, b->bytes, &c.found->hash);
  if (int status = collect(&found, text)) return status;
  result->guards_intact = found.first_bad == LLONG_MAX;
  result->first_bad = result->guards_intact ? 0 : found.first_bad - static_cast<int64_t>(b->offset);
  result->hash = found.hash;
  return KEEPER_OK;
}

int keeper_canary(char text[KEEPER_TEXT]) {
  if (int status = keeper::enter(text)) return status;
  auto& c = context();
  constexpr uint32_t words = keeper::canary_bytes / 4;
  uint64_t expected = 0;
  for (uint32_t i = 0; i < words; i += 4)
    expected += keeper::share(i / 4, make_uint4(keeper::canary_word(i), keeper::canary_word(i + 1),
                                                keeper::canary_word(i + 2), keeper::canary_word(i + 3)));
  Found found = {};
  KEEPER_TRY(cudaMemsetAsync(c.canary, 0, keeper::canary_bytes, c.stream));
  KEEPER_TRY(cudaMemsetAsync(c.found, 0, sizeof found, c.stream));
  keeper::fill_canary<<<c.blocks, block_threads, 0, c.stream>>>(c.canary, words);
  keeper::hash<<<c.blocks, block_threads, 0, c.stream>>>(reinterpret_cast<uint8_t*>(c.canary), keeper::canary_bytes,
                                                         &c.found->hash);
  if (int status = collect(&found, text)) return status;
  if (found.hash == expected) return KEEPER_OK;
  return keeper::fail(text, "a kernel that fills and hashes %u words gave %016llx; %016llx is right", words, found.hash,
                      static_cast<unsigned long long>(expected));
}
