"""Backend cuda on a driver that stands in for the real one, whose device memory is the host's."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import grpc
import numpy as np
import pytest
from fakehost import PACKAGE, Host, plugin, running

from scanhost._generated import kernel_pb2 as pb

ADDS = '''
import ctypes, os
@scanhost.kernel("affine_scan")
def scan(problem, arrays):
    assert problem.backend == "cuda" and arrays.a.device == "cuda"
    view = lambda x: (ctypes.c_float * (problem.rows * problem.length)).from_address(x.__cuda_array_interface__["data"][0])
    for i, (a, b) in enumerate(zip(view(arrays.a), view(arrays.b))):
        view(arrays.h)[i] = a + b
    BREAK
'''


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    compiler = shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        pytest.skip("there is no C compiler to make the stand-in of libcuda with")
    folder = tmp_path_factory.mktemp("driver")
    source = PACKAGE / "tests" / "fake_driver" / "libcuda.c"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", str(folder / "libcuda.so.1"), str(source)], check=True)
    yield folder


def cuda(folder: Path, code: str = "pass") -> Path:
    main = plugin(folder, ADDS.replace("BREAK", code))
    manifest = folder / "plugin.toml"
    manifest.write_text(manifest.read_text().replace('backends = ["cpu"]', 'backends = ["cuda", "cpu"]'))
    return main


def request_of(host: Host) -> tuple[pb.PrepareRequest, dict[str, np.ndarray[tuple[int, ...], np.dtype[np.float32]]]]:
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    request, outputs = host.affine(a, 10 * a)
    request.backend = pb.BACKEND_CUDA
    for buffer in request.sets[0].buffers:
        buffer.kind = pb.BUFFER_KIND_CUDA_VMM
    return request, outputs[0]


def test_a_gpus_buffers_are_mapped_used_and_unmapped(tmp_path: Path, driver: Path) -> None:
    with running(cuda(tmp_path), LD_LIBRARY_PATH=str(driver)) as host:
        assert host.describe().backend == pb.BACKEND_UNSPECIFIED, "it has two backends; Prepare names one"
        request, outputs = request_of(host)
        handle = host.prepare(request).prepared.handle
        reply = host.launch(handle, launches=2)
        assert reply.completed == 2 and reply.device_ms == 1.5 and not reply.HasField("finding")
        np.testing.assert_array_equal(outputs["h"], 11 * np.arange(6, dtype=np.float32).reshape(2, 3))
        host.release(handle)
        said = host.stderr.read_text()
    assert said.count("with access 1\n") == 2 and said.count("with access 3\n") == 1, "inputs are mapped read-only"
    assert said.count("freed") == 3 and said.count("0 handles held") == 3


@pytest.mark.parametrize(("code", "status"), [(2, "RESOURCE_EXHAUSTED"), (999, "INTERNAL")])
def test_a_mapping_that_fails_is_undone(tmp_path: Path, driver: Path, code: int, status: str) -> None:
    fails = {"FAKE_CUDA_FAIL": "cuMemSetAccess", "FAKE_CUDA_CODE": str(code)}
    with running(cuda(tmp_path), LD_LIBRARY_PATH=str(driver), **fails) as host:
        with pytest.raises(grpc.RpcError) as failure:
            host.prepare(request_of(host)[0])
        assert failure.value.code().name == status and "cuMemSetAccess" in str(failure.value.details())
        assert host.stderr.read_text().count("freed") == 1
        assert len([f for f in Path(f"/proc/{host.process.pid}/fd").iterdir() if "memfd" in str(f.readlink())]) == 0


@pytest.mark.parametrize("code", ["pass", "raise RuntimeError('CUDA error: an illegal memory access')"])
def test_a_broken_context_is_a_finding(tmp_path: Path, driver: Path, code: str) -> None:
    """However it shows: by the wait at the end of the batch, or by an error of a framework's own."""
    breaks = 'os.putenv("FAKE_CUDA_FAIL", "cuCtxSynchronize"); os.putenv("FAKE_CUDA_CODE", "700"); ' + code
    with running(cuda(tmp_path, breaks), LD_LIBRARY_PATH=str(driver)) as host:
        handle = host.prepare(request_of(host)[0]).prepared.handle
        finding = host.launch(handle).finding
    assert finding.kind == pb.Finding.DEVICE_ERROR and "error 700 (an illegal memory access)" in finding.text


def test_a_bug_of_the_kernel_is_none_of_the_device(tmp_path: Path, driver: Path) -> None:
    with running(cuda(tmp_path, "raise KeyError('x')"), LD_LIBRARY_PATH=str(driver)) as host:
        handle = host.prepare(request_of(host)[0]).prepared.handle
        with pytest.raises(grpc.RpcError) as failure:
            host.launch(handle)
        assert failure.value.code() == grpc.StatusCode.INTERNAL


def test_without_a_driver_the_error_names_it(tmp_path: Path) -> None:
    with running(cuda(tmp_path), LD_LIBRARY_PATH=str(tmp_path)) as host:
        if Path("/dev/nvidia0").exists():
            pytest.skip("this machine has a driver")
        with pytest.raises(grpc.RpcError, match="libcuda"):
            host.prepare(request_of(host)[0])


def copied_request(host: Host) -> tuple[pb.PrepareRequest, np.ndarray[tuple[int, ...], np.dtype[np.float32]]]:
    """As of a host whose driver exports nothing: host memory for a problem on the GPU."""
    request, outputs = request_of(host)
    for buffer in request.sets[0].buffers:
        buffer.kind = pb.BUFFER_KIND_MEMFD
    return request, outputs["h"]


def test_host_memory_is_copied_to_the_gpu_and_back(tmp_path: Path, driver: Path) -> None:
    with running(cuda(tmp_path), LD_LIBRARY_PATH=str(driver)) as host:
        request, h = copied_request(host)
        handle = host.prepare(request).prepared.handle
        for _ in range(2):
            h[:] = -1
            reply = host.launch(handle)
            assert reply.completed == 1 and not reply.HasField("finding")
            np.testing.assert_array_equal(h, 11 * np.arange(6, dtype=np.float32).reshape(2, 3))
        host.release(handle)
        said = host.stderr.read_text()
    assert said.count("allocated") == 3 and said.count("released") == 3 and "mapped" not in said


def test_outputs_on_the_gpu_hold_what_the_host_last_put_there(tmp_path: Path, driver: Path) -> None:
    code = "print('saw', view(arrays.h)[0], file=__import__('sys').stderr, flush=True)"
    main = cuda(tmp_path)
    main.write_text(main.read_text().replace("    for i, (a, b)", f"    {code}\n    for i, (a, b)"))
    with running(main, LD_LIBRARY_PATH=str(driver)) as host:
        request, h = copied_request(host)
        handle = host.prepare(request).prepared.handle
        for poison in (5.0, 6.0):
            h[:] = poison
            host.launch(handle)
        said = host.stderr.read_text()
    assert [line for line in said.splitlines() if line.startswith("saw")] == ["saw 5.0", "saw 6.0"]


def test_a_copy_back_that_fails_is_a_finding(tmp_path: Path, driver: Path) -> None:
    fails = {"FAKE_CUDA_FAIL": "cuMemcpyDtoH_v2", "FAKE_CUDA_CODE": "700"}
    with running(cuda(tmp_path), LD_LIBRARY_PATH=str(driver), **fails) as host:
        handle = host.prepare(copied_request(host)[0]).prepared.handle
        finding = host.launch(handle).finding
    assert finding.kind == pb.Finding.DEVICE_ERROR and "cuMemcpyDtoH_v2" in finding.text


@pytest.mark.parametrize("call", ["cuMemAlloc_v2", "cuMemcpyHtoD_v2"])
def test_a_copy_that_does_not_fit_is_undone(tmp_path: Path, driver: Path, call: str) -> None:
    with running(cuda(tmp_path), LD_LIBRARY_PATH=str(driver), FAKE_CUDA_FAIL=call, FAKE_CUDA_CODE="2") as host:
        with pytest.raises(grpc.RpcError) as failure:
            host.prepare(copied_request(host)[0])
        assert failure.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED and call in str(failure.value.details())
        said = host.stderr.read_text()
        assert said.count("allocated") == said.count("released")
        assert len([f for f in Path(f"/proc/{host.process.pid}/fd").iterdir() if "memfd" in str(f.readlink())]) == 0


CAPTURES = """
import sys
recorded = []
def capture(run):
    FAIL
    del recorded[:]
    run()
    calls = list(recorded)
    print("captured", len(calls), file=sys.stderr, flush=True)
    return lambda: print("replayed", calls, file=sys.stderr, flush=True)
@scanhost.kernel("affine_scan", capture=capture)
def scan(problem, arrays):
    recorded.append(arrays.a.pointer % 4096)
"""


def test_a_batch_is_captured_once_and_replayed(tmp_path: Path, driver: Path) -> None:
    main = cuda(tmp_path)
    main.write_text("import scanhost" + CAPTURES.replace("FAIL", "pass") + "scanhost.serve(__file__)\n")
    with running(main, LD_LIBRARY_PATH=str(driver)) as host:
        assert list(host.describe().capabilities) == ["copied_memory", "graph"]
        handle = host.prepare(request_of(host)[0]).prepared.handle
        for launches in (3, 3, 2, 3):
            reply = host.replay(handle, launches)
            assert (reply.completed, reply.device_ms) == (launches, 1.5)
        said = host.stderr.read_text().splitlines()
        host.release(handle)
    assert [line for line in said if line.startswith("captured")] == ["captured 3", "captured 2", "captured 3"]
    assert [line for line in said if line.startswith("replayed")][1] == "replayed [0, 0, 0]"


def test_a_capture_that_fails_is_refused_and_the_plugin_goes_on(tmp_path: Path, driver: Path) -> None:
    main = cuda(tmp_path)
    main.write_text("import scanhost" + CAPTURES.replace("FAIL", "raise RuntimeError('no')") + "scanhost.serve(__file__)\n")
    with running(main, LD_LIBRARY_PATH=str(driver)) as host:
        handle = host.prepare(request_of(host)[0]).prepared.handle
        finding = host.replay(handle).finding
        assert finding.kind == pb.Finding.REFUSED and "RuntimeError: no" in finding.text
        assert host.launch(handle).completed == 1


def test_a_kernel_without_graphs_says_so(tmp_path: Path, driver: Path) -> None:
    with running(cuda(tmp_path), LD_LIBRARY_PATH=str(driver)) as host:
        assert list(host.describe().capabilities) == ["copied_memory"]
        handle = host.prepare(request_of(host)[0]).prepared.handle
        with pytest.raises(grpc.RpcError) as failure:
            host.replay(handle)
        assert failure.value.code() == grpc.StatusCode.INVALID_ARGUMENT
