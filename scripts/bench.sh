#!/usr/bin/env bash
# Every benchmark, or those named: npm run bench -- preview dequantize
set -euo pipefail
. "$(dirname "$0")/env.sh"
bash scripts/setup.sh test
. scripts/env.sh
bash scripts/build.sh
[ $# -gt 0 ] || set -- $(basename -s .ts -a tests/bench/*.ts)
for name in "$@"; do
  node "tests/bench/$name.ts"
done
