#!/usr/bin/env bash
# build-package.sh [first]: builds wasm/dist, the npm package: the wasm modules and the TypeScript code. Only what changed is
# rebuilt. first: without the engines. GGUFSCOPE_64=0: without the one with 64-bit memory, which takes as long as the other four. An
# engine that was built once is built in any case.
set -euo pipefail
. "$(dirname "$0")/env.sh"
mkdir -p wasm/dist build
log=build/package.log
modules="inspect text quant edit jinja"
absent=()
for name in $(engines); do
  if is_built "$name" || ! { [ "${1:-}" = first ] || [ "$name ${GGUFSCOPE_64:-}" = "engine-memory64 0" ]; }; then
    modules+=" $name"
  else
    absent+=("$name")
  fi
done
stamp=build/package.stamp
built="$modules; ${1:-} without ${absent[*]}"
if changed $stamp core wasm/*.cpp wasm/*.hpp wasm/modules.cmake CMakeLists.txt || [ ! -e wasm/dist/inspect.wasm ] || [ "$(cat $stamp)" != "$built" ]; then
  echo "$built" > $stamp.new
  [ -e build/wasm/build.ninja ] ||
    env -u CMAKE_CXX_COMPILER_LAUNCHER emcmake cmake -S . -B build/wasm -G Ninja -DGGUFSCOPE_TESTS=OFF > $log 2>&1 || { cat $log; exit 1; }
  remove_stand_ins
  # shellcheck disable=SC2086 # several modules
  ninja -j "$JOBS" -C build/wasm $modules > $log 2>&1 || { tail -n 60 $log; exit 1; }
  mkdir -p wasm/dist/engine
  for name in "${absent[@]}"; do
    module=wasm/dist/engine/$name.wasm
    if [ "${1:-}" = first ]; then
      rm -f "$module"
      sed "s/NAME/$name/" scripts/engine-later.js > "${module%wasm}js"
    else
      printf '\0asm\1\0\0\0' > "$module"  # an empty module: bundlers follow its address
      cp scripts/engine-absent.js "${module%wasm}js"
    fi
  done
  mv $stamp{.new,}
fi
# generate FILE SCRIPT TABLE...: writes a file of TypeScript from tables of the core, if one of them or the script changed.
generate() {
  if changed "$1" "scripts/$2" scripts/core-tables.ts "${@:3}"; then node "scripts/$2"; fi
}
generate wasm/src/api/core-errors.ts make-error-codes.ts core/base/error_codes.inc
generate wasm/src/edit/standard-keys.ts make-standard-keys.ts core/gguf/keys.inc
generate wasm/src/engine/sampler-options.ts make-sampler-options.ts core/engine/sampler_options.inc scripts/sampler-options.ts
generate wasm/src/memory/rules.ts make-memory-rules.ts core/model/architectures core/model/state.hpp scripts/compare-architectures.ts
generate web/src/lib/lens/block-types.ts make-block-types.ts core/types/types.inc
generate wasm/src/engine/classes.d.ts make-engine-classes.ts wasm/bindings_{engine,speech,speaker,trace,gpu}.cpp wasm/plan_tables.hpp
generate wasm/src/gpu/layout.ts make-gpu-layout.ts core/gpu/{kernels.inc,kernels.hpp,streams.inc} core/types/types.inc core/nn/{activation,kv_cache,rope}.hpp core/model/hparams.hpp
# There while the scripts are made: if that failed or was interrupted, index.js may be new and its modules not joined.
unfinished=build/package.unfinished
if changed wasm/dist/index.js wasm/src wasm/tsconfig.json || [ $stamp -nt wasm/dist/index.js ] || [ -e $unfinished ]; then
  touch $unfinished
  rm -rf wasm/dist/element{,.js}
  tsc -p wasm/tsconfig.json
  # Includes the glue, except for files with comments for bundlers.
  grep -rLZ --include='*.js' '@vite-ignore' wasm/dist |
    xargs -0 esbuild --minify --sourcemap --format=esm --target=es2022 --outbase=wasm/dist --outdir=wasm/dist --allow-overwrite --log-level=error
  node scripts/join-modules.ts
  node scripts/shorten-errors.ts
  node scripts/collect-types.ts
  touch wasm/dist/index.js
  rm $unfinished
fi
# The custom element, of the viewer's sources.
if changed wasm/dist/element.js wasm/dist/index.js web/src web/element.config.ts web/docs/reference/lint-rules*.json package-lock.json; then
  rm -rf wasm/dist/element
  vite build --config web/element.config.ts --logLevel error
  touch wasm/dist/element.js
fi
if [ -e wasm/dist/cli.js ]; then chmod +x wasm/dist/cli.js; fi
