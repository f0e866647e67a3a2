// The GPU's side of scanhost_kernel (abi.h): runs batches on one stream and maps the keeper's memory. Its
// counterpart for the simulated GPU is simt/plugin_simt.inl.
//
// A batch is enqueued launch by launch, or replayed as one graph that an equal batch before it captured.
//
// Every process sees one device, number 0: the host sets CUDA_VISIBLE_DEVICES. The SDK makes one call at a
// time. Nothing here has a deadline of its own: a batch that never ends is the host's to kill.
#pragma once
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "abi.h"
#include "driver.cuh"

namespace scanhost {

constexpr uint32_t copy_kind = SCANHOST_CUDA;

namespace detail {

__attribute__((format(printf, 2, 3))) inline void say(char text[SCANHOST_TEXT], const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, SCANHOST_TEXT, format, arguments);
  va_end(arguments);
}

// The stream and events of this process, and whether its context still lives.
struct Session {
  cudaStream_t stream;
  cudaEvent_t begin, end;
  bool ready;
  char dead[SCANHOST_TEXT];  // the error that ended the context; empty while it lives
};

inline Session& session() {
  static Session only;
  return only;
}

// What the error's own text leaves out.
inline const char* hint(cudaError_t error) {
  switch (error) {
    case cudaErrorIllegalAddress:
      return "; a kernel reached outside its arrays and workspace, or wrote to an input, which is read-only where the "
             "host owns it";
    case cudaErrorMisalignedAddress:
      return "; a vector access needs an address that is a multiple of its size";
    case cudaErrorLaunchOutOfResources:
      return "; the block needs more registers or shared memory than the GPU has";
    default:
      return "";
  }
}

// A program without code for this GPU fails only here, so the message names both sides.
inline int no_code(const char* during, char text[SCANHOST_TEXT]) {
  constexpr int built[] = {__CUDA_ARCH_LIST__};
  int major = 0, minor = 0;
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
  cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0);
  say(text, "%s: the GPU is sm_%d%d and the kernel was compiled for", during, major, minor);
  for (int arch : built) {
    size_t used = strlen(text);
    snprintf(text + used, SCANHOST_TEXT - used, " sm_%d", arch / 10);
  }
  return SCANHOST_DEVICE_ERROR;
}

// Words an error of the runtime. One that comes back from the next call as well has ended the context; it is
// kept, because every later call fails with the same code and no longer says what caused it.
inline int failed(cudaError_t error, const char* during, char text[SCANHOST_TEXT]) {
  if (error == cudaErrorNoKernelImageForDevice) return no_code(during, text);
  say(text, "%s: %s (%s)%s", during, cudaGetErrorName(error), cudaGetErrorString(error), hint(error));
  cudaGetLastError();
  if (cudaDeviceSynchronize() != cudaSuccess) memcpy(session().dead, text, SCANHOST_TEXT);
  switch (error) {
    case cudaErrorMemoryAllocation:
      return SCANHOST_OUT_OF_MEMORY;
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidValue:
    case cudaErrorLaunchOutOfResources:
    case cudaErrorCooperativeLaunchTooLarge:
      return SCANHOST_REFUSED;
    default:
      return SCANHOST_DEVICE_ERROR;
  }
}

inline int failed(CUresult result, const char* during, char text[SCANHOST_TEXT]) {
  say(text, "%s: %s (%s)", during, name_of(result), meaning_of(result));
  return result == CUDA_ERROR_OUT_OF_MEMORY ? SCANHOST_OUT_OF_MEMORY : SCANHOST_DEVICE_ERROR;
}

// Makes the context current on this thread, which Go may have changed since the last call, and creates what
// a batch needs the first time.
inline int enter(char text[SCANHOST_TEXT]) {
  Session& s = session();
  if (s.dead[0]) {
    say(text, "the CUDA context of this process ended earlier: %.1900s", s.dead);
    return SCANHOST_DEVICE_ERROR;
  }
  cudaError_t error = cudaSetDevice(0);
  if (error != cudaSuccess) return failed(error, "cudaSetDevice", text);
  if (s.ready) return SCANHOST_OK;
  // Before CUDA 12 cudaSetDevice alone creates no context, and the driver's calls need one.
  error = cudaFree(nullptr);
  if (error == cudaSuccess) error = cudaStreamCreateWithFlags(&s.stream, cudaStreamNonBlocking);
  if (error == cudaSuccess) error = cudaEventCreate(&s.begin);
  if (error == cudaSuccess) error = cudaEventCreate(&s.end);
  if (error != cudaSuccess) return failed(error, "starting CUDA", text);
  if (driver().missing) {
    say(text, "the NVIDIA driver lacks %s; it must be of CUDA 12.0 or newer", driver().missing);
    return SCANHOST_DEVICE_ERROR;
  }
  s.ready = true;
  return SCANHOST_OK;
}

// Faults show after the launch that caused them, so the message gives the range that is left. A mark after
// each launch would narrow it, and would also slow the batches that are timed.
inline int blame(cudaError_t error, uint32_t last, scanhost_report* report) {
  char during[64];
  if (last == 0)
    snprintf(during, sizeof during, "launch 0");
  else
    snprintf(during, sizeof during, "one of launches 0 to %u", last);
  return failed(error, during, report->text);
}

// The graph of the last replayed batch, and what it was captured from.
struct Replay {
  uint64_t problem;
  uint32_t first, launches;
  void* workspace;
  cudaGraphExec_t exec;
};

inline Replay& replay() {
  static Replay only;
  return only;
}

// Captures what enqueue_all puts on the session's stream. EndCapture is called in any case, since the stream
// takes no other work before it.
template <class EnqueueAll>
cudaError_t capture(EnqueueAll enqueue_all, cudaGraphExec_t* exec) {
  Session& s = session();
  cudaError_t error = cudaStreamBeginCapture(s.stream, cudaStreamCaptureModeThreadLocal);
  if (error != cudaSuccess) return error;
  const cudaError_t enqueued = enqueue_all();
  cudaGraph_t graph = nullptr;
  error = cudaStreamEndCapture(s.stream, &graph);
  if (enqueued != cudaSuccess) error = enqueued;
  if (error == cudaSuccess) error = cudaGraphInstantiate(exec, graph, 0);
  if (graph) cudaGraphDestroy(graph);
  if (error == cudaSuccess) error = cudaGraphUpload(*exec, s.stream);
  return error == cudaSuccess ? cudaStreamSynchronize(s.stream) : error;
}

// Makes replay() the graph of a batch, unless it is that already.
template <class EnqueueAll>
int ensure_replay(const Replay& wanted, EnqueueAll enqueue_all, char text[SCANHOST_TEXT]) {
  Replay& r = replay();
  if (r.exec && r.problem == wanted.problem && r.first == wanted.first && r.launches == wanted.launches &&
      r.workspace == wanted.workspace)
    return SCANHOST_OK;
  if (r.exec) cudaGraphExecDestroy(r.exec);
  r = wanted;
  r.exec = nullptr;
  const cudaError_t error = capture(enqueue_all, &r.exec);
  if (error == cudaSuccess) return SCANHOST_OK;
  r.exec = nullptr;
  const int status = failed(error, "capturing the batch as a graph", text);
  return status == SCANHOST_OUT_OF_MEMORY || session().dead[0] ? status : SCANHOST_REFUSED;
}

// Words why launch i could not be enqueued, unless one before it failed on the device.
inline int stopped_at(uint32_t i, cudaError_t error, scanhost_report* report) {
  const cudaError_t earlier = cudaStreamSynchronize(session().stream);
  if (earlier != cudaSuccess) return blame(earlier, i, report);
  report->bad_launch = report->completed = i;
  char during[32];
  snprintf(during, sizeof during, "launch %u", i);
  return failed(error, during, report->text);
}

// Waits for the batch between the events.
inline int finish_batch(uint32_t launches, scanhost_report* report) {
  Session& s = session();
  cudaError_t error = cudaEventRecord(s.end, s.stream);
  if (error == cudaSuccess) error = cudaStreamSynchronize(s.stream);
  if (error != cudaSuccess) return blame(error, launches - 1, report);
  float ms = 0;
  error = cudaEventElapsedTime(&ms, s.begin, s.end);
  if (error != cudaSuccess) return failed(error, "cudaEventElapsedTime", report->text);
  report->device_ms = ms;
  report->completed = launches;
  return SCANHOST_OK;
}

template <class EnqueueAll>
int replay_batch(const Replay& wanted, EnqueueAll enqueue_all, scanhost_report* report) {
  if (int status = ensure_replay(wanted, enqueue_all, report->text)) return status;
  Session& s = session();
  cudaError_t error = cudaEventRecord(s.begin, s.stream);
  if (error == cudaSuccess) error = cudaGraphLaunch(replay().exec, s.stream);
  if (error != cudaSuccess) return failed(error, "cudaGraphLaunch", report->text);
  return finish_batch(wanted.launches, report);
}

}  // namespace detail

// Runs `launches` launches and waits for them. enqueue_one(problem, set, workspace, stream) puts one on the
// stream without waiting.
template <class Enqueue>
int run_batch(const scanhost_problem* problem, const scanhost_set* sets, uint32_t n_sets, uint32_t first,
              uint32_t launches, void* workspace, uint64_t, const scanhost_simt* how, scanhost_report* report,
              Enqueue enqueue_one) {
  memset(report, 0, sizeof *report);
  int status = detail::enter(report->text);
  if (status != SCANHOST_OK) return status;
  detail::Session& s = detail::session();
  cudaGetLastError();  // an old error is not this batch's
  const auto enqueue = [&](uint32_t i) {
    enqueue_one(*problem, sets[(uint64_t{first} + i) % n_sets], workspace, s.stream);
    return cudaGetLastError();
  };
  if (how && how->graph) {
    const auto enqueue_all = [&] {
      cudaError_t error = cudaSuccess;
      for (uint32_t i = 0; i < launches && error == cudaSuccess; i++) error = enqueue(i);
      return error;
    };
    return detail::replay_batch({how->graph, first, launches, workspace, nullptr}, enqueue_all, report);
  }
  cudaError_t error = cudaEventRecord(s.begin, s.stream);
  if (error != cudaSuccess) return detail::failed(error, "cudaEventRecord", report->text);
  for (uint32_t i = 0; i < launches; i++) {
    error = enqueue(i);
    if (error != cudaSuccess) return detail::stopped_at(i, error, report);
  }
  return detail::finish_batch(launches, report);
}

// Maps memory of the keeper's. The caller keeps fd; the mapping outlives it.
inline int map(int fd, uint64_t bytes, int writable, void** pointer, char text[SCANHOST_TEXT]) {
  int status = detail::enter(text);
  if (status != SCANHOST_OK) return status;
  CUmemGenericAllocationHandle handle;
  CUresult result = driver().import_handle(&handle, reinterpret_cast<void*>(static_cast<intptr_t>(fd)),
                                           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  if (result != CUDA_SUCCESS) return detail::failed(result, "cuMemImportFromShareableHandle", text);
  CUdeviceptr address = 0;
  const char* at = "";
  result = map_allocation(handle, bytes, writable ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_READ,
                          &address, &at);
  driver().release(handle);
  if (result != CUDA_SUCCESS) return detail::failed(result, at, text);
  *pointer = reinterpret_cast<void*>(address);
  return SCANHOST_OK;
}

inline int unmap(void* pointer, uint64_t bytes, char text[SCANHOST_TEXT]) {
  int status = detail::enter(text);
  if (status != SCANHOST_OK) return status;
  const char* at = "";
  CUresult result = unmap_allocation(reinterpret_cast<CUdeviceptr>(pointer), bytes, &at);
  return result == CUDA_SUCCESS ? SCANHOST_OK : detail::failed(result, at, text);
}

// Zeroed device memory of this process, for workspace.
inline int allocate(uint64_t bytes, void** pointer, char text[SCANHOST_TEXT]) {
  int status = detail::enter(text);
  if (status != SCANHOST_OK) return status;
  char during[64];
  snprintf(during, sizeof during, "cudaMalloc of %llu bytes", static_cast<unsigned long long>(bytes));
  *pointer = nullptr;
  cudaError_t error = cudaMalloc(pointer, bytes);
  if (error != cudaSuccess) return detail::failed(error, during, text);
  error = cudaMemset(*pointer, 0, bytes);
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  return error == cudaSuccess ? SCANHOST_OK : detail::failed(error, "zeroing the workspace", text);
}

inline int release(void* pointer, char text[SCANHOST_TEXT]) {
  int status = detail::enter(text);
  if (status != SCANHOST_OK) return status;
  cudaError_t error = cudaFree(pointer);
  return error == cudaSuccess ? SCANHOST_OK : detail::failed(error, "cudaFree", text);
}

// For buffers that are host memory, where the keeper cannot export its own. The copy goes through the stream of the
// batches: plain cudaMemcpy from pageable memory may return while the last piece is still on its way, and that stream
// does not wait for the default one, so poison could land on results.
inline int copy_memory(void* to, const void* from, uint64_t bytes, char text[SCANHOST_TEXT]) {
  int status = detail::enter(text);
  if (status != SCANHOST_OK) return status;
  const cudaStream_t stream = detail::session().stream;
  cudaError_t error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream);
  if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
  return error == cudaSuccess ? SCANHOST_OK : detail::failed(error, "cudaMemcpyAsync", text);
}

}  // namespace scanhost
