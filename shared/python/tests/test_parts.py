"""Parts of the SDK that need no process."""

from __future__ import annotations

import os
import re
import socket
import struct
import threading
from pathlib import Path

import numpy as np
import pytest
from fakehost import PACKAGE

import scanhost
from scanhost._descriptors import Descriptors
from scanhost._errors import RequestError, is_out_of_memory
from scanhost._manifest import Manifest

MAGIC = b"SCANFD\x00\x01"


def cpu_array(values: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> scanhost.Array:
    return scanhost.Array(values.shape, "fp32", True, "cpu", values.__array_interface__["data"][0], values)


def test_the_public_names_are_one_list() -> None:
    modules = [p.stem for p in (PACKAGE / "src/scanhost").glob("*.py")]
    assert all(m.startswith("_") for m in modules)
    assert set(scanhost.__all__) == {n for n in vars(scanhost) if not n.startswith("_")}


def test_dlpack_shares_memory_and_keeps_it() -> None:
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    view = np.from_dlpack(cpu_array(values))
    values[1, 2] = 42
    assert view.shape == (2, 3) and view[1, 2] == 42
    del values
    assert view[1, 2] == 42 and view[0, 1] == 1


def test_an_array_on_the_cpu_is_none_of_cuda() -> None:
    array = cpu_array(np.zeros((2, 2), np.float32))
    assert not hasattr(array, "__cuda_array_interface__") and array.__dlpack_device__() == (1, 0)
    device = scanhost.Array((2, 3), "fp16", False, "cuda", 4096, None)
    assert device.__dlpack_device__() == (2, 0)
    assert device.__cuda_array_interface__ == {"shape": (2, 3), "typestr": "<f2", "data": (4096, True), "version": 3}
    with pytest.raises(TypeError, match="GPU memory"):
        device.numpy()


def test_torch_takes_arrays_without_a_copy() -> None:
    torch = pytest.importorskip("torch")
    values = np.arange(6, dtype=np.float32).reshape(2, 3)
    tensor = torch.from_dlpack(cpu_array(values))
    tensor[0, 0] = 42
    assert values[0, 0] == 42 and tensor.data_ptr() == values.__array_interface__["data"][0]
    words = np.array([0x3F80, 0x4000], np.uint16)
    half = scanhost.Array((2,), "bf16", True, "cpu", words.__array_interface__["data"][0], words)
    assert torch.from_dlpack(half).tolist() == [1.0, 2.0]


def test_a_descriptor_is_waited_for_and_claimed_once() -> None:
    host, plugin = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    gone = threading.Event()
    descriptors = Descriptors(wait=0.2)
    thread = threading.Thread(target=descriptors.receive, args=(plugin, gone.set))
    thread.start()
    read, write = os.pipe()
    late = threading.Timer(0.05, lambda: socket.send_fds(host, [struct.pack("<8sQ", MAGIC, 9)], [write]))
    late.start()
    fd = descriptors.claim(9)
    late.join()
    os.write(fd, b"x")
    assert os.read(read, 1) == b"x" and not os.get_inheritable(fd)
    with pytest.raises(RequestError, match="buffer 9"):
        descriptors.claim(9)
    host.close()
    thread.join(5)
    assert gone.is_set()
    for end in (fd, read, write):
        os.close(end)
    plugin.close()


@pytest.mark.parametrize("message", [b"short", struct.pack("<8sQ", b"SCANFD\x00\x02", 1)])
def test_a_broken_message_ends_the_plugin(message: bytes) -> None:
    host, plugin = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    gone = threading.Event()
    read, write = os.pipe()
    socket.send_fds(host, [message], [write])
    Descriptors().receive(plugin, gone.set)
    assert gone.is_set()
    os.close(write)
    assert os.read(read, 1) == b"", "the descriptor that came along is closed"
    for open_socket in (host, plugin):
        open_socket.close()
    os.close(read)


def test_tunables_take_the_hosts_value_or_the_default(tmp_path: Path) -> None:
    path = tmp_path / "plugin.toml"
    path.write_text('[[tunable]]\nname = "items"\nvalues = [1, 2, 4]\ndefault = 2\n')
    manifest = Manifest.read(path)
    assert manifest.tuning({}) == {"items": 2} and manifest.tuning({"items": 4}) == {"items": 4}
    with pytest.raises(RequestError, match=re.escape("items is 3; accepted are [1, 2, 4]")):
        manifest.tuning({"items": 3})


def test_frameworks_out_of_memory_is_known_by_name() -> None:
    torch_like = type("OutOfMemoryError", (RuntimeError,), {})
    assert is_out_of_memory(torch_like("CUDA out of memory")) and not is_out_of_memory(RuntimeError("x"))


def test_an_operation_has_one_kernel() -> None:
    with pytest.raises(ValueError, match="not known"):
        scanhost.kernel("other_scan")  # type: ignore[arg-type]
