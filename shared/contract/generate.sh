#!/usr/bin/env bash
# Regenerates the Go code of both contracts. Needs protoc (or python3 -m grpc_tools.protoc as $PROTOC),
# protoc-gen-go and protoc-gen-go-grpc on the PATH.
set -euo pipefail
cd "$(dirname "$0")"
${PROTOC:-protoc} -I. --go_out=. --go_opt=module=scanhost/shared/contract \
  --go-grpc_out=. --go-grpc_opt=module=scanhost/shared/contract kernel.proto keeper.proto
