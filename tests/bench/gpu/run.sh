#!/usr/bin/env bash
# Unpacks what pack.sh made beside this script, and runs the benchmark in Node. Arguments go to it (see node.ts):
#   VK_DRIVER_FILES=ICD.json bash run.sh --out results.jsonl
set -euo pipefail
from=$(cd "$(dirname "$0")" && pwd)
work=${GPU_BENCH_FOLDER:-$(mktemp -d)}
if [ ! -e "$work/node" ]; then
  if command -v xz >/dev/null; then
    xz -dc "$from/node.xz" >"$work/node"
    tar -C "$work" -xJf "$from/tree.tar.xz"
  else
    python3 - "$from" "$work" <<'PYTHON'
import lzma, shutil, sys, tarfile
source, target = sys.argv[1:]
with lzma.open(f"{source}/node.xz") as packed, open(f"{target}/node", "wb") as out:
    shutil.copyfileobj(packed, out)
tarfile.open(f"{source}/tree.tar.xz").extractall(target)
PYTHON
  fi
  chmod +x "$work/node"
fi
exec "$work/node" "$work/gpu.mjs" --root "$work" "$@"
