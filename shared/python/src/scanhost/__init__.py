"""SDK for scanhost plugins in Python.

A plugin is a folder with plugin.toml and main.py. main.py decorates a function for each operation and serves:

    import scanhost

    @scanhost.kernel("affine_scan")
    def scan(problem: scanhost.AffineProblem, arrays: scanhost.AffineArrays) -> None:
        ...

    scanhost.serve(__file__)

Arrays are the host's own memory, or the GPU's, and are not copied: Array.numpy() on the CPU, and DLPack
(torch.from_dlpack(arrays.a), and the same of CuPy and JAX) on both.
"""

from ._affine import AffineArrays, AffineProblem
from ._buffers import Array
from ._errors import OutOfMemory, Unsupported
from ._kernels import kernel
from ._serve import serve

__all__ = ["AffineArrays", "AffineProblem", "Array", "OutOfMemory", "Unsupported", "kernel", "serve"]
