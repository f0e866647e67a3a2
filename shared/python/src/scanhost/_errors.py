"""The errors that a kernel may raise, and those that end a call with a gRPC status."""

from __future__ import annotations

import grpc


class Unsupported(Exception):
    """Raised by a prepare function: this problem is beyond the kernel.

    The text is one sentence that names the limit. It may depend on shape, dtype and options, never on data,
    which is why a kernel cannot raise it any more once it runs.
    """


class OutOfMemory(Exception):
    """There is not enough memory for this problem. MemoryError and the OutOfMemoryError of torch and CuPy mean the same."""


class RequestError(Exception):
    """Ends the call with a status code: the request makes no sense, or the plugin is broken."""

    def __init__(self, text: str, code: grpc.StatusCode = grpc.StatusCode.INVALID_ARGUMENT) -> None:
        super().__init__(text)
        self.code = code


class DeviceError(Exception):
    """An error code of the CUDA driver."""


def is_out_of_memory(error: BaseException) -> bool:
    """Recognises the frameworks' errors by name, since the SDK imports none of them."""
    named = any(kind.__name__ == "OutOfMemoryError" for kind in type(error).__mro__)
    return named or isinstance(error, (MemoryError, OutOfMemory))


def one_line(error: BaseException) -> str:
    """What a report shows of an error: its kind and its first line."""
    text = str(error).strip().split("\n", 1)[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
