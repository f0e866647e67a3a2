#!/usr/bin/env bash
# Regenerates src/scanhost/_generated from kernel.proto.
#
# The code is committed, so that a plugin needs no protoc, and it is made by an old protoc on purpose: from
# version 26 on, generated code refuses every protobuf runtime older than its own protoc, while this output
# runs on every runtime since 4.21. Needs grpcio-tools==1.62.3 (protoc 25) in $PYTHON.
set -euo pipefail
cd "$(dirname "$0")"
out=${OUT:-src/scanhost/_generated}
"${PYTHON:-python3}" -m grpc_tools.protoc -I../contract \
  --python_out="$out" --pyi_out="$out" kernel.proto
