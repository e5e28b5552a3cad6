#!/usr/bin/env bash
# A modern Emscripten for Debian 12 (amd64) in .toolchain, without root and without touching the system:
# Debian 13's emscripten 3.1.69 and binaryen, run with their own libc, on Debian 12's clang 19.
# Packages come from the mirror that this machine's apt uses, resolved and checked by a private apt.
set -euo pipefail
cd "$(dirname "$0")/.."
DIR=$PWD/.toolchain
DONE=$DIR/.complete-3  # raise the number when this script changes what it makes
[ -e "$DONE" ] && exit 0
LLVM=19
echo "setting up Emscripten in .toolchain (about 300 MB, once)"
rm -rf "$DIR" build/wasm  # was configured with it
mkdir -p "$DIR"/{bin,binaryen/bin}

. scripts/private-apt.sh
private_apt_begin "$DIR/apt" amd64 bookworm trixie
unpack "$DIR/libc" {libc6,libstdc++6,libgcc-s1}/trixie
unpack "$DIR/debian" {emscripten,binaryen,node-acorn,node-xtend}/trixie \
  {clang-$LLVM,lld-$LLVM,llvm-$LLVM,llvm-$LLVM-linker-tools,libllvm$LLVM,libclang-cpp$LLVM,libclang-common-$LLVM-dev}/bookworm
rm -rf "$DIR/apt"

EM=$DIR/debian/usr/share/emscripten
BIN=$DIR/debian/usr/lib/llvm-$LLVM
ln -sf "../../x86_64-linux-gnu/libLLVM.so.$LLVM.1" "$BIN/lib/"  # clang looks for it in its own lib folder
# binaryen is built for Debian 13: start it with that release's loader and libraries.
lib=$DIR/libc/usr/lib/x86_64-linux-gnu
for tool in "$DIR"/debian/usr/bin/wasm-*; do
  name=$(basename "$tool")
  case $name in wasm-ld*) continue ;; esac
  printf '#!/bin/sh\nexec "%s/ld-linux-x86-64.so.2" --library-path "%s:%s/debian/usr/lib/x86_64-linux-gnu" "%s" "$@"\n' \
    "$lib" "$lib" "$DIR" "$tool" > "$DIR/binaryen/bin/$name"
  chmod +x "$DIR/binaryen/bin/$name"
done
# Debian keeps acorn where only its own node looks.
mkdir -p "$DIR/debian/usr/share/node_modules"
for module in "$DIR"/debian/usr/share/nodejs/{acorn*,xtend}; do ln -s "../nodejs/$(basename "$module")" "$DIR/debian/usr/share/node_modules/"; done
echo '{ "type": "commonjs" }' > "$DIR/package.json"  # the project's own says "module", which Emscripten's scripts are not
sed -i -E "s/^EXPECTED_LLVM_VERSION = .*/EXPECTED_LLVM_VERSION = $LLVM/" "$EM/tools/shared.py"
mv "$EM/cache" "$DIR/cache"
cat > "$EM/.emscripten" <<CONFIG
LLVM_ROOT = '$BIN/bin'
BINARYEN_ROOT = '$DIR/binaryen'
NODE_JS = '$(command -v node)'
CACHE = '$DIR/cache'
LLVM_ADD_VERSION = ''
CLANG_ADD_VERSION = ''
CONFIG
for tool in emcc em++ emar emranlib emnm emcmake; do
  printf '#!/bin/sh\nunset EM_CONFIG EM_CACHE\nexec "%s" "$@"\n' "$EM/$tool" > "$DIR/bin/$tool"
  chmod +x "$DIR/bin/$tool"
done
"$DIR/bin/emcc" --version | head -n 1
touch "$DONE"
