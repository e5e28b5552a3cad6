#!/usr/bin/env bash
# Packs what a bare machine with a card needs to run the benchmarks, in three folders, each small enough for one transfer:
# 1: Node, Dawn, the package and the benchmarks; 2 and 3: Chromium and wllama.
#   bash tests/bench/gpu/pack.sh FOLDER     (CHROMIUM_FOLDER: where chromium-headless-shell is)
# The machine needs x86-64 Linux with glibc 2.34 and the card's Vulkan driver; run.sh unpacks and starts it there.
set -euo pipefail
. "$(dirname "$0")/../../../scripts/env.sh"
to=$(mkdir -p "$1"/{1,2,3} && cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
chromium=${CHROMIUM_FOLDER:-/usr/lib/chromium}
mkdir -p "$tree"/node_modules/{ggufscope/wasm,webgpu/dist} "$tree"/{core/gpu,lib}
# A Vulkan loader, which such a machine may lack.
cp -L "$chromium/libvulkan.so.1" "$tree/lib/"
cp package.json "$tree/node_modules/ggufscope/"
cp -r wasm/dist "$tree/node_modules/ggufscope/wasm/"
find "$tree" -name '*.map' -delete
cp node_modules/webgpu/{package.json,index.js} "$tree/node_modules/webgpu/"
cp -r node_modules/webgpu/dist/linux-x64 "$tree/node_modules/webgpu/dist/"
cp core/gpu/streams.inc "$tree/core/gpu/"
bundle() { esbuild "$1" --bundle --format=esm --outfile="$tree/$2" --log-level=error "${@:3}"; }
in_node=(--platform=node --target=node24 --external:ggufscope --external:ggufscope/node --external:webgpu)
bundle tests/bench/gpu/node.ts gpu.mjs "${in_node[@]}"
bundle tests/bench/gpu/browser.ts browser.mjs "${in_node[@]}"
bundle tests/bench/gpu/page.ts page.mjs
bundle tests/package/gpu-toggles.ts toggles.mjs "${in_node[@]}"
tar -C "$tree" -cf - . | xz -T2 -6 >"$to/1/tree.tar.xz"
node=$(readlink -f "$(command -v node)")
cp "$node" "$work/node" && strip "$work/node"
xz -T2 --x86 --lzma2=preset=6 -c "$work/node" >"$to/1/node.xz"
cp tests/bench/gpu/run.sh "$to/1/"

mkdir -p "$work"/browser/{chromium/lib,wllama}
for file in chromium-headless-shell icudtl.dat v8_context_snapshot.bin headless_command_resources.pak libvulkan.so.1 libEGL.so \
  libGLESv2.so headless_lib_data.pak headless_lib_strings.pak; do
  cp -L "$chromium/$file" "$work/browser/chromium/"
done
# Its libraries without those of the C library and the compiler, and what NSS loads by name.
ldd "$chromium/chromium-headless-shell" | awk '$3 ~ /^\// { print $3 }' |
  grep -vE '/(libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s)\.so' >"$work/libraries"
while read -r library; do cp -L "$library" "$work/browser/chromium/lib/"; done <"$work/libraries"
nss=$(dirname "$(grep /libnss3.so "$work/libraries")")
for name in softokn3 freebl3 freeblpriv3; do
  for library in "$nss/lib$name".* "$nss/nss/lib$name".*; do [ ! -e "$library" ] || cp -L "$library" "$work/browser/chromium/lib/"; done
done
cp node_modules/wllama-3/esm/index.js "$work/browser/wllama/"
cp -r node_modules/wllama-3/esm/wasm "$work/browser/wllama/"
tar -C "$work/browser" -cf - . | xz -T2 --x86 --lzma2=preset=6 >"$work/browser.tar.xz"
split -n 2 "$work/browser.tar.xz" "$work/browser.tar.xz."
mv "$work/browser.tar.xz.aa" "$to/2/"
mv "$work/browser.tar.xz.ab" "$to/3/"
du -h --apparent-size "$to"/*/*
