#!/usr/bin/env bash
# coverage.sh [core] [package]: which lines the tests run, in core/ (GCC's gcov through gcovr) and in wasm/src (V8's own
# counts through c8). Both without an argument. Reports: build/coverage/*.html and a summary on standard output.
set -euo pipefail
. "$(dirname "$0")/env.sh"
bash scripts/setup.sh test
. scripts/env.sh
parts=${*:-core package}
mkdir -p build/coverage

if [[ $parts == *core* ]]; then
  command -v gcovr >/dev/null || { echo "coverage of the core needs gcovr (on Debian: sudo apt-get install gcovr)" >&2; exit 1; }
  cmake -S . -B build/coverage/native -G Ninja -DGGUFSCOPE_COVERAGE=ON > build/coverage/cmake.log
  ninja -j "$JOBS" -C build/coverage/native core_tests > build/coverage/ninja.log || { tail -n 40 build/coverage/ninja.log; exit 1; }
  find build/coverage/native -name '*.gcda' -delete
  build/coverage/native/core_tests --report_level=short --color_output=no
  gcovr --root . --filter core/ --exclude-throw-branches --exclude-unreachable-branches -j "$JOBS" \
    --html-details build/coverage/core.html --json-summary build/coverage/core.json --print-summary build/coverage/native > build/coverage/core.txt
  tail -n 3 build/coverage/core.txt
fi

if [[ $parts == *package* ]]; then
  bash scripts/build.sh
  rm -rf build/coverage/v8
  status=0
  GGUFSCOPE_ALL=1 NODE_V8_COVERAGE=build/coverage/v8 node --test --test-concurrency=2 'tests/package/**/*.test.ts' > build/coverage/package.log || status=$?
  # What ran is the packed package, below build/packed; its source maps lead to wasm/src.
  c8 report --temp-directory build/coverage/v8 --exclude-after-remap --exclude-node-modules=false --include '**/node_modules/ggufscope/wasm/src/**' \
    --reporter html --reporter text --reports-dir build/coverage/package > build/coverage/package.txt
  grep -E '^(File|All files)|wasm/src' build/coverage/package.txt
  [ $status = 0 ] || { echo "some tests failed: build/coverage/package.log" >&2; exit $status; }
fi
