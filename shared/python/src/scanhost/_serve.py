"""The start: from a process that the host made to a server that it talks to."""

from __future__ import annotations

import hashlib
import os
import socket
import sys
import threading
from pathlib import Path
from typing import NoReturn

from ._contract import (
    COOKIE,
    COOKIE_NAME,
    PROTOCOL,
    SOCKET_FD,
    SOCKET_FOLDER_NAME,
    SOCKET_PATH_BYTES,
    VERSIONS_NAME,
)
from ._descriptors import Descriptors
from ._kernels import registered
from ._manifest import Manifest
from ._progress import Progress
from ._server import MainThread, server
from ._service import Service


def serve(file: str) -> NoReturn:
    """Answers the host until the host ends the process. file is the plugin's __file__; plugin.toml is beside it.

    What the plugin prints goes to standard error, since standard output belongs to the handshake.
    """
    folder = _socket_folder()
    handshake = _take_standard_output()
    plugin = Path(file).resolve().parent
    manifest = Manifest.read(plugin / "plugin.toml")
    declared = {o["name"] for o in manifest.ops}
    if declared != set(registered):
        _refuse(f"plugin.toml declares {sorted(declared)} and the code has kernels of {sorted(registered)}")
    descriptors, progress, main = Descriptors(), Progress(), MainThread()
    _watch(descriptors)
    service = Service(manifest, _source_hash(plugin), registered, descriptors, progress)
    path = os.path.join(folder, f"plugin{os.getpid()}")
    if len(os.fsencode(path)) > SOCKET_PATH_BYTES:
        _refuse(f"the socket's path {path} is over {SOCKET_PATH_BYTES} bytes; set TMPDIR to a shorter folder")
    grpc_server = server(service, progress, main)
    grpc_server.add_insecure_port(f"unix:{path}")
    grpc_server.start()
    with os.fdopen(handshake, "w") as out:
        out.write(f"1|{PROTOCOL}|unix|{path}|grpc\n")
    try:
        main.run()
    except SystemExit as end:  # of the kernel's own; the interpreter's way out would wait for the threads
        print(f"the kernel ended the process: exit({end.code})", file=sys.stderr, flush=True)
        os._exit(end.code if isinstance(end.code, int) else 1)


def _socket_folder() -> str:
    if os.environ.get(COOKIE_NAME) != COOKIE:
        _refuse("this is a scanhost plugin; the host starts it: go tool host run-all")
    versions = os.environ.get(VERSIONS_NAME, "").split(",")
    if str(PROTOCOL) not in versions:
        _refuse(f"the host speaks versions {versions} of the protocol; this SDK speaks {PROTOCOL}")
    folder = os.environ.get(SOCKET_FOLDER_NAME)
    if not folder:
        _refuse(f"{SOCKET_FOLDER_NAME} is not set")
    return folder


def _take_standard_output() -> int:
    """Keeps standard output for the handshake and gives everybody else standard error in its place."""
    kept = os.dup(1)
    os.dup2(2, 1)
    sys.stdout.flush()  # what the plugin printed so far
    sys.stdout = sys.stderr
    return kept


def _watch(descriptors: Descriptors) -> None:
    try:
        os.set_inheritable(SOCKET_FD, False)
        source = socket.socket(fileno=SOCKET_FD)
    except OSError as error:
        _refuse(f"file descriptor {SOCKET_FD} is not the host's socket ({error}); a host starts this process")
    threading.Thread(target=descriptors.receive, args=(source, lambda: os._exit(0)), daemon=True).start()


def _source_hash(plugin: Path) -> str:
    """Over the plugin's Python files and the SDK's."""
    total = hashlib.sha256()
    for folder in (plugin, Path(__file__).resolve().parent):
        for path in sorted(folder.rglob("*.py")):
            text = path.read_bytes()
            total.update(f"{path.relative_to(folder)} {len(text)}\n".encode())
            total.update(text)
    return total.hexdigest()


def _refuse(why: str) -> NoReturn:
    print(why, file=sys.stderr, flush=True)
    sys.exit(2)
