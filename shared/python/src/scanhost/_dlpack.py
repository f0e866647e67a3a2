"""DLPack: how an array reaches torch, CuPy, JAX or NumPy without a copy, whatever memory it is in.

The structures are those of dlpack.h, version 0.x ("dltensor"), which every consumer still takes. This version
has no flag for read-only memory; what protects an input is its mapping.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, Final

CPU: Final = 1  # kDLCPU
CUDA: Final = 2  # kDLCUDA

_TYPES: Final = {"fp32": (2, 32), "fp16": (2, 16), "bf16": (4, 16)}  # kDLFloat is 2, kDLBfloat 4
_NAME: Final = b"dltensor"


class _Device(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("index", ctypes.c_int32)]


class _DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _DataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", _Deleter)]


# What consumers hold, by the address of their structure; a consumer's call of the deleter ends it. A capsule
# that nobody consumes stays here, some 300 bytes.
_held: dict[int, tuple[_Managed, object, object]] = {}


def _forget(address: int) -> None:
    _held.pop(address, None)


_DELETER: Final = _Deleter(_forget)

_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype = ctypes.py_object
_new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


def capsule(pointer: int, shape: Sequence[int], dtype: str, device: int, owner: object) -> Any:
    """A capsule named dltensor for a row-major array; owner is kept alive as long as the consumer's tensor."""
    managed = _Managed()
    extents = (ctypes.c_int64 * len(shape))(*shape)
    code, bits = _TYPES[dtype]
    managed.tensor.data = pointer
    managed.tensor.device = _Device(device, 0)
    managed.tensor.ndim = len(shape)
    managed.tensor.dtype = _DataType(code, bits, 1)
    managed.tensor.shape = ctypes.cast(extents, ctypes.POINTER(ctypes.c_int64))
    managed.deleter = _DELETER
    address = ctypes.addressof(managed)
    _held[address] = (managed, extents, owner)
    return _new_capsule(address, _NAME, None)
