"""A small host for tests: starts a plugin as docs/protocol.md says, and calls it."""

from __future__ import annotations

import fcntl
import mmap
import os
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import numpy.typing as npt

from scanhost._generated import kernel_pb2 as pb

PACKAGE = Path(__file__).resolve().parent.parent
GUARD = 4096
POISON = 0x7FE0DEAD

Numbers = npt.NDArray[np.float32]


def environment(folder: str) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "SCANHOST_PLUGIN": "affine-scan-h-t-equals-a-h-plus-b",
        "PLUGIN_PROTOCOL_VERSIONS": "1",
        "PLUGIN_UNIX_SOCKET_DIR": folder,
    }


class Host:
    """One running plugin."""

    def __init__(self, main: Path, folder: str, variables: Mapping[str, str]) -> None:
        self.socket, child = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.stderr = Path(folder, "stderr")
        with child, self.stderr.open("w") as errors:
            # Descriptor 3 is made in the child: the test's own 3 is pytest's.
            shell = f'exec 3<&{child.fileno()} {child.fileno()}<&-; exec "$@"'
            self.process = subprocess.Popen(
                ["bash", "-c", shell, "bash", sys.executable, "-B", str(PACKAGE / "src/scanhost/__main__.py"), str(main)],
                env=environment(folder) | dict(variables),
                pass_fds=[child.fileno()],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        assert self.process.stdout
        self.greeting = self.process.stdout.readline()
        self.channel = grpc.insecure_channel("unix:" + self.greeting.split("|")[3] if "|" in self.greeting else "unix:none")
        self._last = 0

    def call(self, name: str, request: Any, reply: Any, timeout: float = 20) -> Any:
        method = self.channel.unary_unary(
            f"/scanhost.kernel.v1.Kernel/{name}",
            request_serializer=type(request).SerializeToString,
            response_deserializer=reply.FromString,
        )
        return method(request, timeout=timeout)

    def describe(self) -> pb.DescribeResponse:
        return self.call("Describe", pb.DescribeRequest(), pb.DescribeResponse)  # type: ignore[no-any-return]

    def prepare(self, request: pb.PrepareRequest) -> pb.PrepareResponse:
        return self.call("Prepare", request, pb.PrepareResponse)  # type: ignore[no-any-return]

    def launch(self, handle: int, launches: int = 1, first: int = 0, timeout: float = 20) -> pb.LaunchResponse:
        request = pb.LaunchRequest(handle=handle, launches=launches, first_set=first)
        return self.call("Launch", request, pb.LaunchResponse, timeout)  # type: ignore[no-any-return]

    def replay(self, handle: int, launches: int = 1, first: int = 0) -> pb.LaunchResponse:
        request = pb.LaunchRequest(handle=handle, launches=launches, first_set=first, graph=True)
        return self.call("Launch", request, pb.LaunchResponse)  # type: ignore[no-any-return]

    def release(self, handle: int) -> None:
        self.call("Release", pb.ReleaseRequest(handle=handle), pb.ReleaseResponse)

    def raw(self, method: str, request: bytes) -> bytes:
        """A call of another service, its messages as bytes."""
        call = self.channel.unary_unary(method, request_serializer=bytes, response_deserializer=bytes)
        answer: bytes = call(request, timeout=5)
        return answer

    def beats(self) -> Any:
        method = self.channel.unary_stream(
            "/scanhost.kernel.v1.Kernel/Heartbeat",
            request_serializer=pb.HeartbeatRequest.SerializeToString,
            response_deserializer=pb.Beat.FromString,
        )
        return method(pb.HeartbeatRequest())

    def send(self, role: str, shape: tuple[int, ...], values: Numbers | None) -> tuple[pb.Buffer, Numbers]:
        """Makes a buffer between guard bands and sends it: sealed values for an input, poison for an output."""
        self._last += 1
        count = int(np.prod(shape, dtype=np.int64))
        size = 2 * GUARD + -(-4 * count // GUARD) * GUARD
        fd = os.memfd_create(role, os.MFD_ALLOW_SEALING)
        os.ftruncate(fd, size)
        whole = np.frombuffer(mmap.mmap(fd, size), np.uint32)
        whole[:] = POISON
        array = whole[GUARD // 4 : GUARD // 4 + count].view(np.float32).reshape(shape)
        seals = 0x2 | 0x4  # F_SEAL_SHRINK, F_SEAL_GROW
        if values is not None:
            array[:] = values
            seals |= 0x10  # F_SEAL_FUTURE_WRITE
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
        socket.send_fds(self.socket, [struct.pack("<8sQ", b"SCANFD\x00\x01", self._last)], [fd])
        os.close(fd)
        buffer = pb.Buffer(
            id=self._last,
            kind=pb.BUFFER_KIND_MEMFD,
            role=role,
            writable=values is None,
            dtype=pb.DTYPE_FP32,
            shape=shape,
            offset=GUARD,
            map_bytes=size,
        )
        return buffer, array

    def affine(
        self, a: Numbers, b: Numbers, *, reverse: bool = False, h0: Numbers | None = None, last: bool = False, sets: int = 1
    ) -> tuple[pb.PrepareRequest, list[dict[str, Numbers]]]:
        """A request for these values, with its buffers sent, and the outputs of each set by role."""
        options = [o for o, on in (("reverse", reverse), ("h0", h0 is not None), ("last_state", last)) if on]
        request = pb.PrepareRequest(backend=pb.BACKEND_CPU)
        request.problem.CopyFrom(
            pb.Problem(
                op="affine_scan", dtype=pb.DTYPE_FP32, dims={"rows": a.shape[0], "length": a.shape[1]}, options=options
            )
        )
        outputs = []
        for _ in range(sets):
            made = [self.send("a", a.shape, a), self.send("b", b.shape, b), self.send("h", a.shape, None)]
            if h0 is not None:
                made.append(self.send("h0", h0.shape, h0))
            if last:
                made.append(self.send("last_state", a.shape[:1], None))
            request.sets.append(pb.BufferSet(buffers=[m[0] for m in made]))
            outputs.append({buffer.role: array for buffer, array in made if buffer.writable})
        return request, outputs

    def end(self) -> None:
        self.channel.close()
        self.socket.close()
        try:
            self.process.wait(10)
        finally:
            self.process.kill()
            self.process.wait()
            assert self.process.stdout
            self.process.stdout.close()


@contextmanager
def running(main: Path, **variables: str) -> Iterator[Host]:
    """A plugin from its start to its end, with these environment variables."""
    with tempfile.TemporaryDirectory(prefix="sh") as folder:
        host = Host(main, folder, variables)
        try:
            yield host
        finally:
            host.end()


def plugin(folder: Path, code: str, **keys: object) -> Path:
    """Writes a plugin with this main.py; keys replace those of the operation in plugin.toml."""
    op: Mapping[str, object] = {"name": "affine_scan", "dtypes": ["fp32"], "options": ["reverse", "h0", "last_state"]} | keys
    lines = ['schema = 1\nname = "tested"\nversion = "0.1.0"\nprotocol = [1]\nlanguage = "python"\nbackends = ["cpu"]\n[[op]]']
    lines += [f"{name} = {value!r}" for name, value in op.items()]
    (folder / "plugin.toml").write_text("\n".join(lines) + "\n")
    main = folder / "main.py"
    main.write_text("import scanhost\n" + code + "\nscanhost.serve(__file__)\n")
    return main
