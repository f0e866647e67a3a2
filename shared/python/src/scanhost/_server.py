"""The gRPC server: the kernel service, health, and go-plugin's Shutdown."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NoReturn

import grpc

from ._contract import BEAT_EVERY, MESSAGE_BYTES
from ._errors import RequestError
from ._generated import kernel_pb2 as pb
from ._progress import Progress
from ._service import Service

# One for the call that works, and room for heartbeats, health and Shutdown beside it.
_THREADS = 8

# grpc.health.v1, by hand: two messages of one field each are not worth another package.
_HEALTH_PLUGIN = b"\n\x06plugin"  # HealthCheckRequest{service: "plugin"}
_HEALTH_SERVING = b"\x08\x01"  # HealthCheckResponse{status: SERVING}


class MainThread:
    """Runs calls one at a time on the thread that calls run, which is the main one: frameworks are at home
    there, and a CUDA context is current in one thread."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = queue.SimpleQueue()

    def call(self, work: Callable[[], Any]) -> Any:
        done: Future[Any] = Future()
        self._calls.put((work, done))
        return done.result()

    def run(self) -> NoReturn:
        while True:
            self.step()

    def step(self) -> None:
        """Waits for one call and runs it. What ends the process (SystemExit) passes through."""
        work, done = self._calls.get()
        try:
            result = work()
        except Exception as error:
            done.set_exception(error)
        else:
            done.set_result(result)


def server(service: Service, progress: Progress, main: MainThread) -> grpc.Server:
    """The server, not started yet and without a port."""
    made = grpc.server(
        ThreadPoolExecutor(_THREADS, "grpc"),
        options=[("grpc.max_receive_message_length", MESSAGE_BYTES), ("grpc.max_send_message_length", MESSAGE_BYTES)],
    )
    made.add_generic_rpc_handlers((_kernel(service, progress, main), _health(), _controller()))
    return made


def _kernel(service: Service, progress: Progress, main: MainThread) -> grpc.GenericRpcHandler[Any, Any]:
    def unary(method: Callable[[Any], Any], request: type[Any], response: type[Any]) -> grpc.RpcMethodHandler[Any, Any]:
        def answer(message: Any, context: grpc.ServicerContext) -> Any:
            try:
                return main.call(lambda: method(message))
            except RequestError as error:
                context.abort(error.code, str(error))

        return grpc.unary_unary_rpc_method_handler(answer, request.FromString, response.SerializeToString)

    def beats(_: Any, context: grpc.ServicerContext) -> Iterator[pb.Beat]:
        ended = threading.Event()
        context.add_callback(ended.set)
        while not ended.is_set():
            yield progress.beat()
            ended.wait(BEAT_EVERY)

    heartbeat = grpc.unary_stream_rpc_method_handler(beats, pb.HeartbeatRequest.FromString, pb.Beat.SerializeToString)
    return grpc.method_handlers_generic_handler(
        "scanhost.kernel.v1.Kernel",
        {
            "Describe": unary(service.describe, pb.DescribeRequest, pb.DescribeResponse),
            "Prepare": unary(service.prepare, pb.PrepareRequest, pb.PrepareResponse),
            "Launch": unary(service.launch, pb.LaunchRequest, pb.LaunchResponse),
            "Release": unary(service.release, pb.ReleaseRequest, pb.ReleaseResponse),
            "Heartbeat": heartbeat,
        },
    )


def _health() -> grpc.GenericRpcHandler[Any, Any]:
    def check(request: bytes, context: grpc.ServicerContext) -> bytes:
        if request not in (b"", _HEALTH_PLUGIN):
            context.abort(grpc.StatusCode.NOT_FOUND, "the only service here is plugin")
        return _HEALTH_SERVING

    return grpc.method_handlers_generic_handler(
        "grpc.health.v1.Health", {"Check": grpc.unary_unary_rpc_method_handler(check)}
    )


def _controller() -> grpc.GenericRpcHandler[Any, Any]:
    def shutdown(_: bytes, context: grpc.ServicerContext) -> bytes:
        os._exit(0)  # at once: a kernel that hangs would hold up any other way

    return grpc.method_handlers_generic_handler(
        "plugin.GRPCController", {"Shutdown": grpc.unary_unary_rpc_method_handler(shutdown)}
    )
