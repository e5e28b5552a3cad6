#!/usr/bin/env bash
# Packs what a bare machine with a card needs to run the benchmark in Node: Node, Dawn, the package and the benchmark.
#   bash tests/bench/gpu/pack.sh FOLDER
# The machine needs x86-64 Linux with glibc 2.34, a Vulkan loader and the card's driver; run.sh unpacks and starts it there.
set -euo pipefail
. "$(dirname "$0")/../../../scripts/env.sh"
to=$(mkdir -p "$1" && cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/tree/node_modules/{ggufscope/wasm,webgpu/dist} "$work"/tree/core/gpu
cp package.json "$work/tree/node_modules/ggufscope/"
cp -r wasm/dist "$work/tree/node_modules/ggufscope/wasm/"
find "$work/tree" -name '*.map' -delete
cp node_modules/webgpu/{package.json,index.js} "$work/tree/node_modules/webgpu/"
cp -r node_modules/webgpu/dist/linux-x64 "$work/tree/node_modules/webgpu/dist/"
cp core/gpu/streams.inc "$work/tree/core/gpu/"
esbuild tests/bench/gpu/node.ts --bundle --platform=node --format=esm --target=node24 --external:ggufscope --external:ggufscope/engine \
  --external:webgpu --outfile="$work/tree/gpu.mjs" --log-level=error
tar -C "$work/tree" -cf - . | xz -T2 -6 >"$to/tree.tar.xz"
node=$(readlink -f "$(command -v node)")
cp "$node" "$work/node" && strip "$work/node"
xz -T2 --x86 --lzma2=preset=6 -c "$work/node" >"$to/node.xz"
cp tests/bench/gpu/run.sh "$to/"
du -h --apparent-size "$to"/*
