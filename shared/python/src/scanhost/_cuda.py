"""The few calls of the CUDA driver that map a keeper's buffer, through ctypes.

cuda-bindings has them too, but is one more package that must match the driver, and many machines with torch
do not have it; libcuda.so.1 is there wherever a GPU works. Everything here runs on the thread that works.
"""

from __future__ import annotations

import ctypes
from typing import Any, Final

from ._errors import DeviceError, OutOfMemory

_OUT_OF_MEMORY: Final = 2  # CUDA_ERROR_OUT_OF_MEMORY
_POSIX_FD: Final = 1  # CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
_ON_DEVICE: Final = 1  # CU_MEM_LOCATION_TYPE_DEVICE
_READ: Final = 1  # CU_MEM_ACCESS_FLAGS_PROT_READ
_READ_WRITE: Final = 3  # CU_MEM_ACCESS_FLAGS_PROT_READWRITE


class _Access(ctypes.Structure):
    """CUmemAccessDesc."""

    _fields_ = [("kind", ctypes.c_int), ("device", ctypes.c_int), ("flags", ctypes.c_int)]


_u64, _size, _pointer, _int = ctypes.c_uint64, ctypes.c_size_t, ctypes.c_void_p, ctypes.c_int

_SIGNATURES: Final[dict[str, list[Any]]] = {
    "cuInit": [ctypes.c_uint],
    "cuGetErrorString": [_int, ctypes.POINTER(ctypes.c_char_p)],
    "cuDeviceGet": [ctypes.POINTER(_int), _int],
    "cuDevicePrimaryCtxRetain": [ctypes.POINTER(_pointer), _int],
    "cuCtxSetCurrent": [_pointer],
    "cuCtxSynchronize": [],
    "cuMemImportFromShareableHandle": [ctypes.POINTER(_u64), _pointer, _int],
    "cuMemAddressReserve": [ctypes.POINTER(_u64), _size, _size, _u64, _u64],
    "cuMemMap": [_u64, _size, _size, _u64, _u64],
    "cuMemSetAccess": [_u64, _size, ctypes.POINTER(_Access), _size],
    "cuMemUnmap": [_u64, _size],
    "cuMemAddressFree": [_u64, _size],
    "cuMemRelease": [_u64],
    "cuMemAlloc_v2": [ctypes.POINTER(_u64), _size],
    "cuMemFree_v2": [_u64],
    "cuMemcpyHtoD_v2": [_u64, _pointer, _size],
    "cuMemcpyDtoH_v2": [_pointer, _u64, _size],
    "cuEventCreate": [ctypes.POINTER(_pointer), ctypes.c_uint],
    "cuEventRecord": [_pointer, _pointer],
    "cuEventElapsedTime": [ctypes.POINTER(ctypes.c_float), _pointer, _pointer],
}


class Driver:
    """libcuda with the primary context of the one visible GPU: the context that torch, CuPy, Triton and JAX use."""

    def __init__(self) -> None:
        try:
            self._library = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            raise DeviceError(f"the CUDA driver cannot be loaded: {error}") from None
        for name, arguments in _SIGNATURES.items():
            function = getattr(self._library, name)
            function.argtypes, function.restype = arguments, _int
        self._call("cuInit", 0)
        device = _int()
        self._call("cuDeviceGet", ctypes.byref(device), 0)
        self._context = _pointer()
        self._call("cuDevicePrimaryCtxRetain", ctypes.byref(self._context), device)
        self.enter()
        self._begin, self._end = self._event(), self._event()

    def enter(self) -> None:
        """Makes the context current, whatever the kernel's code left behind."""
        self._call("cuCtxSetCurrent", self._context)

    def map(self, fd: int, size: int, writable: bool) -> int:
        """Maps memory of the keeper's and returns its address. The caller keeps fd; the mapping outlives it."""
        self.enter()
        handle, address = _u64(), _u64()
        self._call("cuMemImportFromShareableHandle", ctypes.byref(handle), fd, _POSIX_FD)
        try:
            self._call("cuMemAddressReserve", ctypes.byref(address), size, 0, 0, 0)
            self._attach(address.value, size, handle, writable)
        finally:
            self._call("cuMemRelease", handle)  # the mapping has a hold of its own
        return address.value

    def _attach(self, address: int, size: int, handle: ctypes.c_uint64, writable: bool) -> None:
        mapped = False
        try:
            self._call("cuMemMap", address, size, 0, handle, 0)
            mapped = True
            access = _Access(_ON_DEVICE, 0, _READ_WRITE if writable else _READ)
            self._call("cuMemSetAccess", address, size, ctypes.byref(access), 1)
        except BaseException:
            if mapped:
                self._call("cuMemUnmap", address, size)
            self._call("cuMemAddressFree", address, size)
            raise

    def unmap(self, address: int, size: int) -> None:
        self._call("cuMemUnmap", address, size)
        self._call("cuMemAddressFree", address, size)

    def allocate(self, size: int) -> int:
        """Device memory of this process's own."""
        self.enter()
        address = _u64()
        self._call("cuMemAlloc_v2", ctypes.byref(address), size)
        return address.value

    def free(self, address: int) -> None:
        self.enter()
        self._call("cuMemFree_v2", address)

    def copy_to_device(self, device: int, host: int, size: int) -> None:
        """Waits: a copy from pageable memory may return before it has arrived, and streams do not wait for it."""
        self.enter()
        self._call("cuMemcpyHtoD_v2", device, host, size)
        self._call("cuCtxSynchronize")

    def copy_to_host(self, host: int, device: int, size: int) -> None:
        self.enter()
        self._call("cuMemcpyDtoH_v2", host, device, size)

    def synchronize(self) -> None:
        """Waits for everything this process has given the GPU, and raises what went wrong there."""
        self.enter()
        self._call("cuCtxSynchronize")

    def start_clock(self) -> None:
        self.enter()
        self._call("cuEventRecord", self._begin, None)

    def stop_clock(self) -> float:
        """Milliseconds since start_clock on the default stream. Waits for the GPU."""
        self._call("cuEventRecord", self._end, None)
        self.synchronize()
        elapsed = ctypes.c_float()
        self._call("cuEventElapsedTime", ctypes.byref(elapsed), self._begin, self._end)
        return elapsed.value

    def _event(self) -> ctypes.c_void_p:
        event = _pointer()
        self._call("cuEventCreate", ctypes.byref(event), 0)
        return event

    def _call(self, name: str, *arguments: object) -> None:
        result = getattr(self._library, name)(*arguments)
        if result:
            text = ctypes.c_char_p()
            self._library.cuGetErrorString(result, ctypes.byref(text))
            said = f"{name}: error {result} ({(text.value or b'unknown').decode()})"
            raise (OutOfMemory if result == _OUT_OF_MEMORY else DeviceError)(said)
