"""The four calls of the kernel service that work. They come one at a time, all on the main thread."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import grpc

from ._affine import AffineArrays, AffineProblem, arrays_of, options_of, problem_of
from ._buffers import Mappings
from ._contract import BACKEND_NAMES, CAPABILITY_COPIED, CAPABILITY_GRAPH
from ._cuda import Driver
from ._descriptors import Descriptors
from ._errors import DeviceError, RequestError, Unsupported, is_out_of_memory, one_line
from ._generated import kernel_pb2 as pb
from ._kernels import Kernel
from ._manifest import Manifest
from ._progress import Progress


@dataclass(frozen=True)
class _Prepared:
    """One problem, ready to launch."""

    kernel: Kernel
    problem: AffineProblem
    sets: list[AffineArrays]
    mappings: Mappings


@dataclass(frozen=True)
class _Replay:
    """The graph of the last replayed batch, and what it was captured from."""

    batch: tuple[int, int, int]  # handle, launches, first set
    run: Callable[[], None]


class Service:
    """Answers for one plugin, until the process ends. Errors leave it as RequestError."""

    def __init__(
        self,
        manifest: Manifest,
        source_hash: str,
        kernels: Mapping[str, Kernel],
        descriptors: Descriptors,
        progress: Progress,
    ) -> None:
        self._manifest = manifest
        self._source_hash = source_hash
        self._kernels = kernels
        self._descriptors = descriptors
        self._progress = progress
        self._prepared: dict[int, _Prepared] = {}
        self._last = 0
        self._driver: Driver | None = None
        self._replay: _Replay | None = None

    def describe(self, _: pb.DescribeRequest) -> pb.DescribeResponse:
        capabilities = []
        if "cuda" in self._manifest.backends:
            capabilities.append(CAPABILITY_COPIED)
            if all(k.capture for k in self._kernels.values()):
                capabilities.append(CAPABILITY_GRAPH)
        return self._manifest.describe(self._source_hash, capabilities)

    def prepare(self, request: pb.PrepareRequest) -> pb.PrepareResponse:
        with self._progress.during(pb.Beat.PREPARE, 0):
            mappings = Mappings(self._descriptors)
            try:
                prepared, workspace = self._ready(request, mappings)
            except Exception as error:
                # Every descriptor that a request names is used up by it, whatever came of it.
                self._descriptors.discard(mappings.missing(_buffer_ids(request)))
                mappings.close()
                if isinstance(error, Unsupported):
                    return pb.PrepareResponse(unsupported=pb.Unsupported(reason=str(error)))
                raise _status(error) from error
            self._last += 1
            self._prepared[self._last] = prepared
            return pb.PrepareResponse(prepared=pb.Prepared(handle=self._last, workspace_bytes=workspace))

    def _ready(self, request: pb.PrepareRequest, mappings: Mappings) -> tuple[_Prepared, int]:
        mappings.driver = self._driver_for(request.backend)
        problem = problem_of(request.problem, self._manifest.tuning(dict(request.tuning)), request.backend)
        op = request.problem.op
        self._manifest.refuse(op, problem.dtype, problem.length, options_of(problem))
        if not request.sets:
            raise RequestError("the request has no buffer set; at least one is needed")
        kernel = self._kernels[op]
        workspace = (kernel.prepare(problem) if kernel.prepare else None) or 0
        sets = [arrays_of(problem, {b.role: mappings.array(b) for b in s.buffers}) for s in request.sets]
        return _Prepared(kernel, problem, sets, mappings), workspace

    def _driver_for(self, backend: int) -> Driver | None:
        """The CUDA driver where the problem is for a GPU. It is loaded by the first such problem."""
        name = BACKEND_NAMES.get(backend)
        if name not in self._manifest.backends:
            raise RequestError(f"backend {backend} was asked for; this plugin has {', '.join(self._manifest.backends)}")
        if name != "cuda":
            return None
        if self._driver is None:
            self._driver = Driver()
        self._driver.enter()
        return self._driver

    def launch(self, request: pb.LaunchRequest) -> pb.LaunchResponse:
        with self._progress.during(pb.Beat.LAUNCH, request.handle):
            prepared = self._find(request.handle)
            if request.launches == 0:
                raise RequestError("launches is 0; at least 1 is needed")
            response = pb.LaunchResponse()
            try:
                prepared.mappings.to_device()
                if not request.graph:
                    _run(prepared, request, response)
                elif (refusal := self._capture(prepared, request)) is None:
                    self._run_replay(prepared, request, response)
                else:
                    response.finding.CopyFrom(pb.Finding(kind=pb.Finding.REFUSED, text=refusal))
                prepared.mappings.to_host()
            except Exception as error:
                response.finding.CopyFrom(_finding(prepared, error, response.completed))
            return response

    def _capture(self, prepared: _Prepared, request: pb.LaunchRequest) -> str | None:
        """Makes the replay that of this batch, unless it is that already. Returns why it cannot."""
        batch = (request.handle, request.launches, request.first_set)
        if self._replay and self._replay.batch == batch:
            return None
        capture, driver = prepared.kernel.capture, prepared.mappings.driver
        if not capture or not driver:
            raise RequestError("graph is set; this kernel has no graphs to replay on this backend")
        self._replay = None
        try:
            self._replay = _Replay(batch, capture(lambda: _launch_all(prepared, request)))
        except Exception as error:
            driver.synchronize()  # a capture that failed is a refusal, unless it broke the context
            return f"capturing the batch as a graph: {one_line(error)}"
        return None

    def _run_replay(self, prepared: _Prepared, request: pb.LaunchRequest, response: pb.LaunchResponse) -> None:
        driver = prepared.mappings.driver
        assert self._replay and driver
        driver.start_clock()
        self._replay.run()
        response.device_ms = driver.stop_clock()
        response.completed = request.launches

    def release(self, request: pb.ReleaseRequest) -> pb.ReleaseResponse:
        with self._progress.during(pb.Beat.RELEASE, request.handle):
            prepared = self._find(request.handle)
            del self._prepared[request.handle]
            if self._replay and self._replay.batch[0] == request.handle:
                self._replay = None
            try:
                prepared.mappings.close()
            except DeviceError as error:
                raise _status(error) from error
            return pb.ReleaseResponse()

    def _find(self, handle: int) -> _Prepared:
        if handle not in self._prepared:
            raise RequestError(f"handle {handle} is not prepared", grpc.StatusCode.NOT_FOUND)
        return self._prepared[handle]


def _run(prepared: _Prepared, request: pb.LaunchRequest, response: pb.LaunchResponse) -> None:
    """Runs the batch and counts what has ended: on a GPU that is known only when all of it has."""
    driver = prepared.mappings.driver
    if driver:
        driver.start_clock()
    for i in range(request.launches):
        prepared.kernel.launch(prepared.problem, prepared.sets[(request.first_set + i) % len(prepared.sets)])
        if not driver:
            response.completed += 1
    if driver:
        response.device_ms = driver.stop_clock()
        response.completed = request.launches


def _launch_all(prepared: _Prepared, request: pb.LaunchRequest) -> None:
    for i in range(request.launches):
        prepared.kernel.launch(prepared.problem, prepared.sets[(request.first_set + i) % len(prepared.sets)])


def _finding(prepared: _Prepared, error: Exception, completed: int) -> pb.Finding:
    """What went wrong on the device while a launch ran; raises what went wrong in the kernel's own code."""
    if is_out_of_memory(error):
        return pb.Finding(kind=pb.Finding.OUT_OF_MEMORY, text=one_line(error), launch=completed)
    text = one_line(error)
    broken = isinstance(error, DeviceError)
    if prepared.mappings.driver and not broken:
        try:  # frameworks raise errors of the device as errors of their own
            prepared.mappings.driver.synchronize()
        except DeviceError as device:
            broken, text = True, f"{text} ({device})"
    if not broken:
        raise _status(error) from error
    return pb.Finding(kind=pb.Finding.DEVICE_ERROR, text=text, launch=completed)


def _status(error: Exception) -> RequestError:
    """The status an exception ends a call with. The log gets the traceback of what nobody foresaw."""
    if isinstance(error, RequestError):
        return error
    if is_out_of_memory(error):
        return RequestError(one_line(error), grpc.StatusCode.RESOURCE_EXHAUSTED)
    traceback.print_exception(error)
    return RequestError(one_line(error), grpc.StatusCode.INTERNAL)


def _buffer_ids(request: pb.PrepareRequest) -> list[int]:
    return list({b.id: None for s in request.sets for b in s.buffers})
