"""File descriptor 3: where buffers arrive, and how a plugin learns that the host is gone."""

from __future__ import annotations

import os
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable

from ._contract import DESCRIPTOR_WAIT
from ._errors import RequestError

_MESSAGE = struct.Struct("<8sQ")
_MAGIC = b"SCANFD\x00\x01"


class Descriptors:
    """What arrived and was not claimed yet. The host sends before it calls, but the two travel on different
    sockets, so a claim may have to wait."""

    def __init__(self, wait: float = DESCRIPTOR_WAIT) -> None:
        self._wait = wait
        self._fds: dict[int, int] = {}
        self._arrived = threading.Condition()

    def receive(self, source: socket.socket, gone: Callable[[], None]) -> None:
        """Reads the socket until the host is gone or breaks the protocol, and then calls gone."""
        while (message := _receive(source)) is not None:
            self.put(*message)
        gone()

    def put(self, buffer: int, fd: int) -> None:
        with self._arrived:
            old = self._fds.pop(buffer, None)
            if old is not None:
                os.close(old)
            self._fds[buffer] = fd
            self._arrived.notify_all()

    def claim(self, buffer: int) -> int:
        """Takes the descriptor of a buffer; the caller closes it."""
        deadline = time.monotonic() + self._wait
        with self._arrived:
            while buffer not in self._fds:
                left = deadline - time.monotonic()
                if left <= 0 or not self._arrived.wait(left):
                    raise RequestError(
                        f"no descriptor for buffer {buffer} arrived on file descriptor 3 within {self._wait:g} s"
                    )
            return self._fds.pop(buffer)

    def discard(self, buffers: Iterable[int]) -> None:
        """Closes the descriptors of a request that is not going to use them."""
        for buffer in buffers:
            try:
                os.close(self.claim(buffer))
            except RequestError:
                continue  # it never came, so there is nothing to close


def _receive(source: socket.socket) -> tuple[int, int] | None:
    """The next buffer id with its descriptor; None at the end of file and after anything that is no such message."""
    try:
        data, fds, flags, _ = socket.recv_fds(source, 64, 4)
    except OSError:
        return None
    for fd in fds:
        os.set_inheritable(fd, False)  # recv_fds drops the flag that would have done it
    whole = len(data) == _MESSAGE.size and len(fds) == 1 and not flags & socket.MSG_CTRUNC
    if whole and data.startswith(_MAGIC):
        return int(_MESSAGE.unpack(data)[1]), fds[0]
    for fd in fds:
        os.close(fd)
    return None
