"""What the plugin is doing, as the heartbeat tells it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from ._generated import kernel_pb2 as pb


class Progress:
    """Written by the thread that works, read by those of the heartbeats."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._phase: pb.Beat.Phase = pb.Beat.IDLE
        self._handle = 0
        self._calls = 0
        self._entered = time.monotonic()

    @contextmanager
    def during(self, phase: pb.Beat.Phase, handle: int) -> Iterator[None]:
        """Marks a call; it counts as finished at the end, however it ends."""
        self._set(phase, handle, 0)
        try:
            yield
        finally:
            self._set(pb.Beat.IDLE, 0, 1)

    def _set(self, phase: pb.Beat.Phase, handle: int, finished: int) -> None:
        with self._lock:
            self._phase, self._handle, self._entered = phase, handle, time.monotonic()
            self._calls += finished

    def beat(self) -> pb.Beat:
        with self._lock:
            spent = int((time.monotonic() - self._entered) * 1000)
            return pb.Beat(phase=self._phase, handle=self._handle, calls=self._calls, phase_ms=spent)
