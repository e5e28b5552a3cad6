#!/usr/bin/env bash
# tidy.sh [--changed | FILE...]: clang-tidy with the checks of .clang-tidy, some 5 s of processor time for each file.
# Without arguments it checks all of core/ and wasm/ (some 15 minutes). --changed checks the files that differ from main, or on
# main those of the last commit, and skips them if clang-tidy is missing.
set -euo pipefail
. "$(dirname "$0")/env.sh"
files=("$@")
if [ "${1:-}" = --changed ]; then
  base=$(git merge-base HEAD main 2>/dev/null || true)
  if [ "$base" = "$(git rev-parse HEAD)" ] && git diff --quiet HEAD; then base=$(git rev-parse -q --verify HEAD~1 || true); fi
  [ -n "$base" ] || exit 0
  mapfile -t files < <(git diff --name-only --diff-filter=d "$base" -- 'core/*.cpp' 'wasm/*.cpp')
  [ ${#files[@]} -gt 0 ] || exit 0
elif [ $# = 0 ]; then
  mapfile -t files < <(git ls-files 'core/*.cpp' 'wasm/*.cpp')
fi
tidy=$(command -v clang-tidy-19 clang-tidy | head -n 1) || true
if [ -z "$tidy" ]; then
  echo "clang-tidy is missing (on Debian: sudo apt-get install clang-tidy-19)" >&2
  [ "${1:-}" = --changed ] && exit 0 || exit 1
fi
# clang 19 needs __cpp_concepts for <expected> of libstdc++ 12. The bindings need Emscripten's headers.
core_flags="-Icore -D__cpp_concepts=202002L -Wno-builtin-macro-redefined"
wasm_flags="-Icore -Iwasm $(em++ --cflags) -msimd128"
printf '%s\0' "${files[@]}" | CORE_FLAGS=$core_flags WASM_FLAGS=$wasm_flags xargs -0 -P "$JOBS" -n 1 sh -c '
  case $1 in wasm/*) flags=$WASM_FLAGS ;; *) flags=$CORE_FLAGS ;; esac
  "$0" --quiet "$1" -- -std=c++23 $flags 2>/dev/null' "$tidy"
