// The driver's virtual memory calls, for nvcc's side only (plugin_cuda.inl and the keeper).
//
// They are looked up at run time through the statically linked runtime. Linking -lcuda instead would need a
// driver, or its stub, on the machine that compiles, and the pip toolkits have neither.
#pragma once
#include <cuda.h>
#include <cuda_runtime.h>

namespace scanhost {

struct Driver {
  decltype(&cuGetErrorName) error_name;
  decltype(&cuGetErrorString) error_string;
  decltype(&cuDeviceGetAttribute) device_attribute;
  decltype(&cuMemGetAllocationGranularity) granularity;
  decltype(&cuMemCreate) create;
  decltype(&cuMemRelease) release;
  decltype(&cuMemExportToShareableHandle) export_handle;
  decltype(&cuMemImportFromShareableHandle) import_handle;
  decltype(&cuMemAddressReserve) reserve;
  decltype(&cuMemAddressFree) unreserve;
  decltype(&cuMemMap) map;
  decltype(&cuMemUnmap) unmap;
  decltype(&cuMemSetAccess) set_access;
  const char* missing;  // the first call this driver lacks; nullptr when it has them all
};

namespace detail {

inline void* entry_point(const char* symbol) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result;
  // CUDA 13 dropped the call that 12.0 to 12.4 have alone. 12.0 is the interface cuda.h declares here: none
  // of the calls changed since.
#if CUDART_VERSION >= 12050
  cudaError_t error = cudaGetDriverEntryPointByVersion(symbol, &found, 12000, cudaEnableDefault, &result);
#else
  cudaError_t error = cudaGetDriverEntryPoint(symbol, &found, cudaEnableDefault, &result);
#endif
  return error == cudaSuccess && result == cudaDriverEntryPointSuccess ? found : nullptr;
}

template <class Call>
void find(Driver& d, Call& call, const char* symbol) {
  call = reinterpret_cast<Call>(entry_point(symbol));
  if (!call && !d.missing) d.missing = symbol;
}

inline Driver find_driver() {
  Driver d = {};
  find(d, d.error_name, "cuGetErrorName");
  find(d, d.error_string, "cuGetErrorString");
  find(d, d.device_attribute, "cuDeviceGetAttribute");
  find(d, d.granularity, "cuMemGetAllocationGranularity");
  find(d, d.create, "cuMemCreate");
  find(d, d.release, "cuMemRelease");
  find(d, d.export_handle, "cuMemExportToShareableHandle");
  find(d, d.import_handle, "cuMemImportFromShareableHandle");
  find(d, d.reserve, "cuMemAddressReserve");
  find(d, d.unreserve, "cuMemAddressFree");
  find(d, d.map, "cuMemMap");
  find(d, d.unmap, "cuMemUnmap");
  find(d, d.set_access, "cuMemSetAccess");
  return d;
}

}  // namespace detail

// Call it once the runtime is initialised; without a driver every entry is nullptr and missing says so.
inline const Driver& driver() {
  static const Driver found = detail::find_driver();
  return found;
}

// Never nullptr, whatever the driver answers.
inline const char* name_of(CUresult result) {
  const char* name = nullptr;
  if (driver().error_name) driver().error_name(result, &name);
  return name ? name : "unknown CUDA driver error";
}

inline const char* meaning_of(CUresult result) {
  const char* text = nullptr;
  if (driver().error_string) driver().error_string(result, &text);
  return text ? text : "no description";
}

// Maps the allocation at an address of its own; the physical memory then lives as long as the mapping, also
// when the handle is released. On failure nothing is left mapped and *at says at which call.
inline CUresult map_allocation(CUmemGenericAllocationHandle handle, size_t bytes, CUmemAccess_flags access,
                               CUdeviceptr* address, const char** at) {
  const Driver& d = driver();
  *at = "cuMemAddressReserve";
  CUresult result = d.reserve(address, bytes, 0, 0, 0);
  if (result != CUDA_SUCCESS) return result;
  *at = "cuMemMap";
  result = d.map(*address, bytes, 0, handle, 0);
  if (result == CUDA_SUCCESS) {
    CUmemAccessDesc who = {};
    who.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    who.flags = access;
    *at = "cuMemSetAccess";
    result = d.set_access(*address, bytes, &who, 1);
    if (result == CUDA_SUCCESS) return result;
    d.unmap(*address, bytes);
  }
  d.unreserve(*address, bytes);
  return result;
}

inline CUresult unmap_allocation(CUdeviceptr address, size_t bytes, const char** at) {
  *at = "cuMemUnmap";
  CUresult result = driver().unmap(address, bytes);
  if (result != CUDA_SUCCESS) return result;
  *at = "cuMemAddressFree";
  return driver().unreserve(address, bytes);
}

}  // namespace scanhost
