"""A plugin as the host sees it: a process that answers as docs/protocol.md says."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import grpc
import numpy as np
import pytest
from fakehost import GUARD, PACKAGE, Numbers, environment, plugin, running

from scanhost._generated import kernel_pb2 as pb

EXAMPLE = PACKAGE / "example" / "main.py"

IDLE = '''
@scanhost.kernel("affine_scan")
def scan(problem, arrays):
    pass
'''

SLEEPS = '''
import time
@scanhost.kernel("affine_scan")
def scan(problem, arrays):
    time.sleep(1000)
'''


def values(rows: int, length: int, seed: int = 7) -> tuple[Numbers, Numbers, Numbers]:
    random = np.random.default_rng(seed)
    a = random.uniform(-1, 1, (rows, length)).astype(np.float32)
    b = random.standard_normal((rows, length)).astype(np.float32)
    return a, b, random.standard_normal(rows).astype(np.float32)


def reference(a: Numbers, b: Numbers, h0: Numbers, reverse: bool) -> tuple[Numbers, Numbers]:
    h, state = np.empty(a.shape), h0.astype(np.float64)
    steps = range(a.shape[1])
    for t in reversed(steps) if reverse else steps:
        state = a[:, t] * state + b[:, t]
        h[:, t] = state
    return h.astype(np.float32), state.astype(np.float32)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(("rows", "length"), [(3, 65), (1, 1), (2, 0), (0, 5)])
def test_the_example_computes_the_recurrence(rows: int, length: int, reverse: bool) -> None:
    a, b, h0 = values(rows, length)
    with running(EXAMPLE) as host:
        request, outputs = host.affine(a, b, reverse=reverse, h0=h0, last=True, sets=3)
        answer = host.prepare(request)
        reply = host.launch(answer.prepared.handle, launches=2, first=1)
        assert reply.completed == 2 and not reply.HasField("finding")
        h, last = reference(a, b, h0, reverse)
        for touched in outputs[1:]:
            np.testing.assert_array_equal(touched["h"], h)
            np.testing.assert_array_equal(touched["last_state"], last)
        if rows * length:
            assert not np.array_equal(outputs[0]["h"], h), "set 0 was not to be launched"
        host.release(answer.prepared.handle)
        with pytest.raises(grpc.RpcError, match="not prepared"):
            host.launch(answer.prepared.handle)


def test_the_readme_shows_the_example() -> None:
    text = (PACKAGE / "README.md").read_text()
    for name in ("main.py", "plugin.toml"):
        assert (PACKAGE / "example" / name).read_text() in text, f"README.md does not show example/{name} as it is"


def test_describe_agrees_with_the_manifest() -> None:
    with running(EXAMPLE) as host:
        d = host.describe()
    assert (d.name, d.version, d.protocol, d.backend) == ("numpy_scan", "0.1.0", 1, pb.BACKEND_CPU)
    assert d.run_to_run and len(d.source_hash) == 64
    assert [o.op for o in d.ops] == ["affine_scan"] and d.ops[0].max_length == 4096


def test_beyond_the_manifest_is_unsupported() -> None:
    a, b, _ = values(1, 4097)
    with running(EXAMPLE) as host:
        assert host.prepare(host.affine(a, b)[0]).unsupported.reason == "length 4097 is over 4096"


def test_prepare_refuses_by_raising_and_tells_its_workspace(tmp_path: Path) -> None:
    code = '''
def ready(problem):
    if problem.rows > 2:
        raise scanhost.Unsupported("rows are over 2")
    return 12345
@scanhost.kernel("affine_scan", prepare=ready)
def scan(problem, arrays):
    pass
'''
    with running(plugin(tmp_path, code)) as host:
        a, b, _ = values(3, 4)
        assert host.prepare(host.affine(a, b)[0]).unsupported.reason == "rows are over 2"
        assert host.prepare(host.affine(a[:2], b[:2])[0]).prepared.workspace_bytes == 12345
        assert descriptors_of(host.process.pid) < 40


def descriptors_of(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def test_refused_and_released_problems_leave_no_descriptor(tmp_path: Path) -> None:
    a, b, _ = values(2, 8)
    with running(plugin(tmp_path, IDLE, max_length=8)) as host:
        long = np.zeros((1, 9), np.float32)

        def once() -> None:
            handle = host.prepare(host.affine(a, b)[0]).prepared.handle
            host.launch(handle)
            host.release(handle)
            host.prepare(host.affine(long, long)[0])

        once()
        before = descriptors_of(host.process.pid)
        for _ in range(5):
            once()
        assert descriptors_of(host.process.pid) == before


@pytest.mark.parametrize(
    ("raised", "code"),
    [("MemoryError('big')", "finding"), ("scanhost.OutOfMemory('big')", "finding"), ("KeyError('x')", "INTERNAL")],
)
def test_what_a_kernel_raises(tmp_path: Path, raised: str, code: str) -> None:
    source = f'''
@scanhost.kernel("affine_scan")
def scan(problem, arrays):
    raise {raised}
'''
    a, b, _ = values(1, 4)
    with running(plugin(tmp_path, source)) as host:
        handle = host.prepare(host.affine(a, b)[0]).prepared.handle
        if code == "finding":
            assert host.launch(handle).finding.kind == pb.Finding.OUT_OF_MEMORY
        else:
            with pytest.raises(grpc.RpcError) as failure:
                host.launch(handle)
            assert failure.value.code().name == code and "KeyError" in str(failure.value.details())
            assert "Traceback" in host.stderr.read_text()
        assert host.describe().name == "tested", "the plugin goes on"


def test_memory_missing_in_prepare_is_a_status(tmp_path: Path) -> None:
    code = '''
def ready(problem):
    raise MemoryError("no room")
@scanhost.kernel("affine_scan", prepare=ready)
def scan(problem, arrays):
    pass
'''
    a, b, _ = values(1, 4)
    with running(plugin(tmp_path, code)) as host:
        with pytest.raises(grpc.RpcError) as failure:
            host.prepare(host.affine(a, b)[0])
        assert failure.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED


def test_requests_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    a, b, h0 = values(2, 4)
    with running(plugin(tmp_path, IDLE)) as host:

        def refused(change: str, request: pb.PrepareRequest) -> str:
            with pytest.raises(grpc.RpcError) as failure:
                host.prepare(request)
            assert failure.value.code() == grpc.StatusCode.INVALID_ARGUMENT, change
            return str(failure.value.details())

        request, _ = host.affine(a, b)
        request.backend = pb.BACKEND_CUDA
        assert "backend" in refused("backend", request)
        request, _ = host.affine(a, b)
        request.tuning["items"] = 4
        assert "tunable 'items'" in refused("tuning", request)
        request, _ = host.affine(a, b)
        request.sets[0].buffers[0].role = "h0"
        assert "roles" in refused("role", request)
        request, _ = host.affine(a, b)
        request.sets[0].buffers[0].offset = 3 * GUARD
        assert "outside its mapping" in refused("offset", request)
        request, _ = host.affine(a, b)
        request.problem.dims["rows"] = -1
        assert "dims" in refused("dims", request)


def test_inputs_cannot_be_written(tmp_path: Path) -> None:
    code = '''
import ctypes
@scanhost.kernel("affine_scan")
def scan(problem, arrays):
    assert not arrays.a.numpy().flags.writeable
    ctypes.memset(arrays.a.pointer, 0, 4)
'''
    a, b, _ = values(1, 4)
    with running(plugin(tmp_path, code)) as host:
        handle = host.prepare(host.affine(a, b)[0]).prepared.handle
        with pytest.raises(grpc.RpcError):
            host.launch(handle)
        assert host.process.wait(5) == -11, "a write to an input ends the plugin"


def test_the_heart_beats_while_a_kernel_hangs(tmp_path: Path) -> None:
    a, b, _ = values(1, 4)
    with running(plugin(tmp_path, SLEEPS)) as host:
        handle = host.prepare(host.affine(a, b)[0]).prepared.handle
        beats = host.beats()
        assert next(beats).phase == pb.Beat.IDLE
        with pytest.raises(grpc.RpcError):
            host.launch(handle, timeout=0.1)
        seen = [next(beats) for _ in range(4)]
        assert [b.phase for b in seen[1:]] == [pb.Beat.LAUNCH] * 3
        assert seen[3].handle == handle and seen[3].phase_ms > seen[1].phase_ms


def test_shutdown_ends_a_hung_kernel_at_once(tmp_path: Path) -> None:
    a, b, _ = values(1, 4)
    with running(plugin(tmp_path, SLEEPS)) as host:
        handle = host.prepare(host.affine(a, b)[0]).prepared.handle
        with pytest.raises(grpc.RpcError):
            host.launch(handle, timeout=0.1)
        with pytest.raises(grpc.RpcError):
            host.raw("/plugin.GRPCController/Shutdown", b"")
        assert host.process.wait(2) == 0


def test_the_hosts_end_ends_a_hung_kernel(tmp_path: Path) -> None:
    a, b, _ = values(1, 4)
    with running(plugin(tmp_path, SLEEPS)) as host:
        handle = host.prepare(host.affine(a, b)[0]).prepared.handle
        with pytest.raises(grpc.RpcError):
            host.launch(handle, timeout=0.1)
        began = time.monotonic()
        host.socket.close()
        assert host.process.wait(2) == 0 and time.monotonic() - began < 1


def test_health_and_prints(tmp_path: Path) -> None:
    code = '''
print("early", end="")
@scanhost.kernel("affine_scan")
def scan(problem, arrays):
    import os
    print("printed")
    os.write(1, b"written\\n")
'''
    a, b, _ = values(1, 4)
    with running(plugin(tmp_path, code)) as host:
        assert host.greeting.startswith("1|1|unix|/") and host.greeting.endswith("|grpc\n")
        assert host.raw("/grpc.health.v1.Health/Check", b"\n\x06plugin") == b"\x08\x01"
        host.launch(host.prepare(host.affine(a, b)[0]).prepared.handle)
        said = host.stderr.read_text()
        assert "early" in said and "printed\n" in said and "written\n" in said


def test_a_kernel_may_exit(tmp_path: Path) -> None:
    code = '''
@scanhost.kernel("affine_scan")
def scan(problem, arrays):
    raise SystemExit(7)
'''
    a, b, _ = values(1, 4)
    with running(plugin(tmp_path, code)) as host:
        handle = host.prepare(host.affine(a, b)[0]).prepared.handle
        with pytest.raises(grpc.RpcError):
            host.launch(handle)
        assert host.process.wait(5) == 7


def test_started_by_hand_it_says_so(tmp_path: Path) -> None:
    start = [sys.executable, "-B", str(PACKAGE / "src/scanhost/__main__.py"), str(EXAMPLE)]
    by_hand = subprocess.run(start, env={}, capture_output=True, text=True, timeout=20)
    assert by_hand.returncode == 2 and "the host starts it" in by_hand.stderr and by_hand.stdout == ""
    other = environment(str(tmp_path)) | {"PLUGIN_PROTOCOL_VERSIONS": "2,3"}
    newer = subprocess.run(start, env=other, capture_output=True, text=True, timeout=20)
    assert newer.returncode == 2 and "versions" in newer.stderr


def test_code_and_manifest_must_name_the_same_operations(tmp_path: Path) -> None:
    main = plugin(tmp_path, IDLE, name="selective_scan")
    start = [sys.executable, "-B", str(PACKAGE / "src/scanhost/__main__.py"), str(main)]
    ended = subprocess.run(start, env=environment(str(tmp_path)), capture_output=True, text=True, timeout=20)
    assert ended.returncode == 2 and "selective_scan" in ended.stderr


