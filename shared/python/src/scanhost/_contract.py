"""What docs/protocol.md fixes: numbers, names and their wire forms."""

from __future__ import annotations

from typing import Final

from ._generated import kernel_pb2 as pb

PROTOCOL: Final = 1
COOKIE_NAME: Final = "SCANHOST_PLUGIN"
COOKIE: Final = "affine-scan-h-t-equals-a-h-plus-b"
VERSIONS_NAME: Final = "PLUGIN_PROTOCOL_VERSIONS"
SOCKET_FOLDER_NAME: Final = "PLUGIN_UNIX_SOCKET_DIR"
SOCKET_FD: Final = 3
SOCKET_PATH_BYTES: Final = 107  # of sockaddr_un
MESSAGE_BYTES: Final = 4 << 20
DESCRIPTOR_WAIT: Final = 5.0  # seconds
BEAT_EVERY: Final = 0.25  # seconds

CAPABILITY_GRAPH: Final = "graph"  # LaunchRequest.graph is understood
CAPABILITY_COPIED: Final = "copied_memory"  # memfd buffers are taken on backend cuda

DTYPES: Final[dict[str, pb.DType]] = {"fp32": pb.DTYPE_FP32, "fp16": pb.DTYPE_FP16, "bf16": pb.DTYPE_BF16}
DTYPE_NAMES: Final[dict[int, str]] = {int(value): name for name, value in DTYPES.items()}
BACKENDS: Final[dict[str, pb.Backend]] = {"cuda": pb.BACKEND_CUDA, "cpu": pb.BACKEND_CPU}
BACKEND_NAMES: Final[dict[int, str]] = {int(value): name for name, value in BACKENDS.items()}


def item_bytes(dtype: str) -> int:
    """Bytes of one element."""
    return 4 if dtype == "fp32" else 2
