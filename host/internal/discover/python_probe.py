"""Says whether this Python can run a plugin: python_probe.py SDK_FOLDER MODULE... Run by the host.

What is there is imported as well: that finds a package that is too old or half there, and it reads a framework from
the disk now, and not while the plugin's handshake is waited for.
"""

import importlib
import json
import os
import sys

# What is imported may run programs of its own environment, which is not activated.
os.environ["PATH"] = os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", "")


def look(folder, modules):
    """What is missing, as one text; empty if nothing is."""
    if sys.version_info < (3, 11):
        return "Python 3.11 or newer"
    missing = [m for m in [*modules, "grpc", "numpy"] if not there(m)]
    if missing:
        return ", ".join(dict.fromkeys(missing))
    if folder:
        sys.path.insert(0, folder)
    for module in ["scanhost", *modules]:
        try:
            importlib.import_module(module)
        except Exception as error:  # protobuf refuses what does not suit it with errors of its own
            text = str(error).split("\n")[0]
            missing.append(error.name if isinstance(error, ModuleNotFoundError) else "a working %s (%s)" % (module, text))
    return ", ".join(dict.fromkeys(missing))


def there(module):
    import importlib.util

    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # the package that it should be part of
        return False


def versions(names):
    import importlib.metadata

    found = {}
    for name in names:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue  # a module of another name than its package's
    return found


lacks = look(sys.argv[1], sys.argv[2:])
packages = {} if lacks else versions(["grpcio", "numpy", "protobuf", *sys.argv[2:]])
version = ".".join(map(str, sys.version_info[:3]))
print("\n" + json.dumps({"executable": sys.executable, "version": version, "missing": lacks, "packages": packages}))
