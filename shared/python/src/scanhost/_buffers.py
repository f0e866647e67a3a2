"""The host's buffers in this process."""

from __future__ import annotations

import math
import mmap
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _dlpack
from ._contract import DTYPE_NAMES, item_bytes
from ._cuda import Driver
from ._descriptors import Descriptors
from ._errors import RequestError
from ._generated import kernel_pb2 as pb

# NumPy has no bfloat16; such an array shows its 16-bit words.
_NUMPY_TYPES = {"fp32": "<f4", "fp16": "<f2", "bf16": "<u2"}


class Array:
    """One array of a problem, in the host's memory or the GPU's, always row-major.

    A kernel sees no copies: numpy() is the memory itself, and torch.from_dlpack(array), cupy.from_dlpack(array)
    and jax.dlpack.from_dlpack(array) are views of it. An array is gone when its problem is released, so a kernel
    keeps none. Writing to one that is not writable ends the plugin.
    """

    def __init__(self, shape: Sequence[int], dtype: str, writable: bool, device: str, pointer: int, memory: object) -> None:
        self.shape = tuple(shape)
        self.dtype = dtype  # fp32, fp16, bf16
        self.writable = writable
        self.device = device  # cpu, cuda
        self.pointer = pointer  # address of the first element
        self._memory = memory  # keeps host memory mapped

    def numpy(self) -> npt.NDArray[Any]:
        """The array on the CPU; bf16 shows as 16-bit words."""
        if not isinstance(self._memory, np.ndarray):
            raise TypeError("this array is in GPU memory; use DLPack, such as torch.from_dlpack(array)")
        return self._memory

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self.numpy(), dtype=dtype, copy=copy)

    @property
    def __cuda_array_interface__(self) -> dict[str, object]:
        if self.device != "cuda" or self.dtype == "bf16":
            raise AttributeError(f"{self.dtype} on {self.device} has no __cuda_array_interface__; use DLPack")
        kind = _NUMPY_TYPES[self.dtype]
        return {"shape": self.shape, "typestr": kind, "data": (self.pointer, not self.writable), "version": 3}

    def __dlpack_device__(self) -> tuple[int, int]:
        return (_dlpack.CUDA if self.device == "cuda" else _dlpack.CPU, 0)

    def __dlpack__(
        self,
        *,
        stream: object = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A capsule of version 0.x, which consumers that ask for 1.x must take as well. No stream has to wait:
        buffers are complete before the host calls."""
        if copy or dl_device not in (None, self.__dlpack_device__()):
            raise BufferError("this array is shared as it is; copy it on the consumer's side")
        return _dlpack.capsule(self.pointer, self.shape, self.dtype, self.__dlpack_device__()[0], self)


@dataclass(frozen=True)
class _Copy:
    """A mapping of host memory and what stands for it on the GPU."""

    memory: mmap.mmap
    device: int
    writable: bool

    @property
    def address(self) -> int:
        """Of the host memory. No view outlives the call, so that close() can unmap."""
        address: int = np.frombuffer(self.memory, np.uint8).__array_interface__["data"][0]
        return address


class Mappings:
    """What one Prepare maps, by buffer id; a buffer that several sets name is mapped once."""

    def __init__(self, descriptors: Descriptors) -> None:
        self._descriptors = descriptors
        self.driver: Driver | None = None  # backend cuda
        self._host: dict[int, mmap.mmap] = {}
        self._device: dict[int, tuple[int, int]] = {}
        self._copies: dict[int, _Copy] = {}

    def array(self, buffer: pb.Buffer) -> Array:
        """The array that a buffer describes, mapped."""
        dtype = DTYPE_NAMES.get(buffer.dtype)
        if dtype is None:
            raise RequestError(f"buffer {buffer.id} ({buffer.role}) has dtype {buffer.dtype}; 1, 2 and 3 are known")
        shape = tuple(buffer.shape)
        size = math.prod(shape) * item_bytes(dtype)
        if min(shape, default=0) < 0 or buffer.offset + size > buffer.map_bytes:
            raise RequestError(
                f"buffer {buffer.id} ({buffer.role}): {size} bytes at {buffer.offset} are outside its mapping of {buffer.map_bytes}"
            )
        if buffer.kind == pb.BUFFER_KIND_MEMFD and self.driver:
            address = self._copied(buffer, self.driver) + buffer.offset
            return Array(shape, dtype, buffer.writable, "cuda", address, None)
        if buffer.kind == pb.BUFFER_KIND_MEMFD:
            return self._on_host(buffer, shape, dtype)
        if buffer.kind == pb.BUFFER_KIND_CUDA_VMM and self.driver:
            address = self._on_device(buffer, self.driver) + buffer.offset
            return Array(shape, dtype, buffer.writable, "cuda", address, None)
        known = "memfd and cuda_vmm are" if self.driver else "memfd is"
        raise RequestError(f"buffer {buffer.id} ({buffer.role}) is of kind {buffer.kind}; {known} known on this backend")

    def _on_host(self, buffer: pb.Buffer, shape: tuple[int, ...], dtype: str) -> Array:
        memory = self._host.get(buffer.id)
        if memory is None:
            memory = self._host[buffer.id] = self._map_host(buffer)
        # NumPy sees that a mapping without PROT_WRITE is not writable.
        view: npt.NDArray[Any] = np.ndarray(shape, _NUMPY_TYPES[dtype], memory, buffer.offset)
        return Array(shape, dtype, buffer.writable, "cpu", view.__array_interface__["data"][0], view)

    def _map_host(self, buffer: pb.Buffer) -> mmap.mmap:
        protection = mmap.PROT_READ | (mmap.PROT_WRITE if buffer.writable else 0)
        fd = self._descriptors.claim(buffer.id)
        try:
            return mmap.mmap(fd, buffer.map_bytes, mmap.MAP_SHARED, protection)
        except (OSError, ValueError) as error:
            raise RequestError(f"mapping buffer {buffer.id} ({buffer.role}, {buffer.map_bytes} bytes): {error}") from None
        finally:
            os.close(fd)

    def _copied(self, buffer: pb.Buffer, driver: Driver) -> int:
        """Where the driver cannot export the keeper's memory: the whole mapping, guard bands too, copied to the GPU."""
        if buffer.id not in self._copies:
            memory = self._map_host(buffer)
            try:
                copy = _Copy(memory, driver.allocate(len(memory)), buffer.writable)
            except BaseException:
                memory.close()  # now, not when the error is forgotten
                raise
            self._copies[buffer.id] = copy
            driver.copy_to_device(copy.device, copy.address, len(memory))
        return self._copies[buffer.id].device

    def to_device(self) -> None:
        """Brings what the host last put into the outputs, its poison, to their copies on the GPU."""
        for copy in self._outputs():
            assert self.driver
            self.driver.copy_to_device(copy.device, copy.address, len(copy.memory))

    def to_host(self) -> None:
        """Brings results back. Like to_device it does nothing where kernels work on the host's buffers themselves."""
        for copy in self._outputs():
            assert self.driver
            self.driver.copy_to_host(copy.address, copy.device, len(copy.memory))

    def _outputs(self) -> list[_Copy]:
        return [copy for copy in self._copies.values() if copy.writable]

    def _on_device(self, buffer: pb.Buffer, driver: Driver) -> int:
        if buffer.id not in self._device:
            fd = self._descriptors.claim(buffer.id)
            try:
                address = driver.map(fd, buffer.map_bytes, buffer.writable)
            finally:
                os.close(fd)
            self._device[buffer.id] = (address, buffer.map_bytes)
        return self._device[buffer.id][0]

    def missing(self, buffers: Sequence[int]) -> list[int]:
        """Those of the ids whose descriptors were not claimed."""
        return [b for b in buffers if b not in self._host and b not in self._device and b not in self._copies]

    def close(self) -> None:
        """Unmaps. Host memory of which the kernel still holds a view stays until it lets go."""
        while self._copies and self.driver:
            copy = self._copies.popitem()[1]
            copy.memory.close()
            self.driver.free(copy.device)
        self._host.clear()
        while self._device and self.driver:
            _, (address, size) = self._device.popitem()
            self.driver.unmap(address, size)
