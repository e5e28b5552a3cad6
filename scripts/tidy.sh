#!/usr/bin/env bash
# tidy.sh [FILE...]: clang-tidy with the checks of .clang-tidy, over the named files of core/ or all of them (some 20
# minutes). Without `npm run check`, which has a minute.
set -euo pipefail
. "$(dirname "$0")/env.sh"
tidy=$(command -v clang-tidy-19 clang-tidy | head -n 1) || true
[ -n "$tidy" ] || { echo "clang-tidy is missing (on Debian: sudo apt-get install clang-tidy-19)" >&2; exit 1; }
files=("$@")
[ $# -gt 0 ] || mapfile -t files < <(git ls-files 'core/*.cpp')
# clang 19 needs __cpp_concepts for <expected> of libstdc++ 12.
printf '%s\0' "${files[@]}" | xargs -0 -P "$JOBS" -n 1 sh -c \
  '"$0" --quiet "$1" -- -std=c++23 -Icore -D__cpp_concepts=202002L -Wno-builtin-macro-redefined 2>/dev/null' "$tidy"
