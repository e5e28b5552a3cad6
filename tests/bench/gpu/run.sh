#!/usr/bin/env bash
# Unpacks what pack.sh made, and runs a benchmark: in Node (see node.ts), or with --browser first in Chromium (browser.ts).
# The folders 2 and 3, which only the browser needs, lie beside this script's folder, or in PARTS. Other arguments go to the
# benchmark:
#   VK_DRIVER_FILES=ICD.json bash run.sh --out results.jsonl
#   VK_DRIVER_FILES=ICD.json bash run.sh --browser --out results.jsonl
set -euo pipefail
from=$(cd "$(dirname "$0")" && pwd)
parts=${PARTS:-$(dirname "$from")}
work=${GPU_BENCH_FOLDER:-$(mktemp -d)}
# unpack FILE FOLDER: an xz file, or with the suffix .tar.xz an archive. Machines without xz have Python.
unpack() {
  if command -v xz >/dev/null; then
    case $1 in *.tar.xz) tar -C "$2" -xJf "$1" ;; *) xz -dc "$1" >"$2/$(basename "$1" .xz)" ;; esac
  else
    python3 - "$@" <<'PYTHON'
import lzma, os, shutil, sys, tarfile
source, target = sys.argv[1:]
if source.endswith(".tar.xz"):
    tarfile.open(source).extractall(target)
else:
    with lzma.open(source) as packed, open(os.path.join(target, os.path.basename(source)[:-3]), "wb") as out:
        shutil.copyfileobj(packed, out)
PYTHON
  fi
}
if [ ! -e "$work/gpu.mjs" ]; then
  unpack "$from/node.xz" "$work"
  unpack "$from/tree.tar.xz" "$work"
  chmod +x "$work/node"
fi
script=gpu.mjs
if [ "${1:-}" = --browser ]; then
  shift
  script=browser.mjs
  if [ ! -e "$work/chromium/chromium-headless-shell" ]; then
    cat "$parts"/2/browser.tar.xz.aa "$parts"/3/browser.tar.xz.ab >"$work/browser.tar.xz"
    unpack "$work/browser.tar.xz" "$work"
    rm "$work/browser.tar.xz"
  fi
fi
# Software compiles a kernel ten times as fast with them.
toggles=()
case " $* " in *" --software "*) toggles=(--import "$work/toggles.mjs") ;; esac
export LD_LIBRARY_PATH="$work/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
exec "$work/node" "${toggles[@]}" "$work/$script" --root "$work" "$@"
