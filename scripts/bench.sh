#!/usr/bin/env bash
# Runs all benchmarks except the engine's, which takes an hour, or those named: npm run bench -- preview dequantize
# Arguments after -- are passed to each: npm run bench:engine -- --types Q4_0
set -euo pipefail
. "$(dirname "$0")/env.sh"
bash scripts/setup.sh test
. scripts/env.sh
bash scripts/build.sh
names=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
  names+=("$1")
  shift
done
[ $# = 0 ] || shift
[ ${#names[@]} -gt 0 ] || names=($(basename -s .ts -a tests/bench/*.ts | grep -vx engine))
for name in "${names[@]}"; do
  node "tests/bench/$name.ts" "$@"
done
