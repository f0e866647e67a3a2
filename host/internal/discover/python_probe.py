"""Says whether this Python can run a plugin: python_probe.py SDK_FOLDER MODULE... Run by the host.

The SDK is imported, since that also finds packages that are there and too old; the plugin's own modules are only
looked for, since the import of a framework takes seconds.
"""

import json
import sys

found = {"executable": sys.executable, "version": ".".join(map(str, sys.version_info[:3])), "missing": "", "packages": {}}


def look(folder, modules):
    if sys.version_info < (3, 11):
        return "Python 3.11 or newer"
    import importlib.metadata
    import importlib.util

    missing = [m for m in [*modules, "grpc", "numpy"] if importlib.util.find_spec(m) is None]
    if folder:
        sys.path.insert(0, folder)
    try:
        import scanhost
    except ImportError as error:
        missing.append(error.name or str(error))
    except Exception as error:  # protobuf refuses what it does not suit with errors of its own
        missing.append("what scanhost needs (%s)" % str(error).split("\n")[0])
    for name in ["grpcio", "numpy", "protobuf", *modules]:
        try:
            found["packages"][name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return ", ".join(dict.fromkeys(missing))


found["missing"] = look(sys.argv[1], sys.argv[2:])
print(json.dumps(found))
