# Sourced by the other scripts: sets the checkout's root and the paths of the tools that setup.sh installed in it.
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$ROOT"
export PATH="$ROOT/node_modules/.bin:$PATH"
# Prefers an Emscripten on the PATH that is new enough to the project's own.
emcc_is_new_enough() {
  local version
  version=$("$1" --version 2>/dev/null | sed -nE '1s/.* ([0-9]+\.[0-9]+\.[0-9]+).*/\1/p')
  [ -n "$version" ] && [ "$(printf '%s\n3.1.69\n' "$version" | sort -V | head -n 1)" = 3.1.69 ]
}
if [ -x "$ROOT/.toolchain/bin/emcc" ] && ! { command -v emcc >/dev/null && emcc_is_new_enough emcc; }; then
  export PATH="$ROOT/.toolchain/bin:$PATH"
fi
JOBS=${JOBS:-$(nproc)}
# TypeScript 7. Its program has the name of TypeScript 6's, whose API typedoc and svelte-check use.
tsc() { node "$ROOT/node_modules/typescript-7/bin/tsc" "$@"; }
# changed STAMP PATH...: succeeds if a file below the paths is newer than the stamp, or the stamp is missing.
changed() {
  local stamp=$1
  shift
  [ ! -e "$stamp" ] || [ -n "$(find "$@" -newer "$stamp" -type f -print -quit 2>/dev/null)" ]
}
# The names of the package's engines.
engines() { sed -nE 's|.*"\./wasm/dist/engine/(.*)\.wasm".*|\1|p' package.json; }
# is_built ENGINE: its module is there, and is not the empty one of scripts/build-package.sh.
is_built() { [ -n "$(find "wasm/dist/engine/$1.wasm" -size +8c 2>/dev/null)" ]; }
# Removes what stands in for the glue of engines that are not built.
remove_stand_ins() {
  local name
  for name in $(engines); do is_built "$name" || rm -f "wasm/dist/engine/$name.js"; done
}
