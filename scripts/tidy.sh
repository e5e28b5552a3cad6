#!/usr/bin/env bash
# tidy.sh [--changed | FILE...]: clang-tidy with the checks of .clang-tidy. Without arguments it checks all of core/ and wasm/.
# --changed checks the files that differ from main. In a clean checkout of main, such as CI's, it checks those of the last 20
# commits. It does nothing if clang-tidy 19 is missing.
set -euo pipefail
. "$(dirname "$0")/env.sh"
files=("$@")
if [ "${1:-}" = --changed ]; then
  base=$(git merge-base HEAD main 2>/dev/null || git rev-parse HEAD)
  if [ "$base" = "$(git rev-parse HEAD)" ] && git diff --quiet HEAD; then base=$(git rev-list --max-count=21 HEAD | tail -n 1); fi
  mapfile -t files < <(git diff --name-only --diff-filter=d "$base" -- 'core/*.cpp' 'wasm/*.cpp')
  [ ${#files[@]} -gt 0 ] || exit 0
elif [ $# = 0 ]; then
  mapfile -t files < <(git ls-files 'core/*.cpp' 'wasm/*.cpp')
fi
# Older versions do not know C++23.
tidy=
for name in clang-tidy-19 clang-tidy; do
  version=$("$name" --version 2>/dev/null | sed -nE 's/.*version ([0-9]+).*/\1/p' | head -n 1) || true
  if [ "${version:-0}" -ge 19 ]; then tidy=$name && break; fi
done
if [ -z "$tidy" ]; then
  echo "clang-tidy 19 or newer is missing (on Debian: sudo apt-get install clang-tidy-19)" >&2
  [ "${1:-}" = --changed ] && exit 0 || exit 1
fi
# clang 19 needs __cpp_concepts for <expected> of libstdc++ 12. The bindings need Emscripten's headers.
core_flags="-Icore -D__cpp_concepts=202002L -Wno-builtin-macro-redefined"
wasm_flags="-Icore -Iwasm $(em++ --cflags) -msimd128"
# Nearly all of the time goes into the standard headers. So files of a folder are checked together, joined to one file. If
# clang-tidy finds something there, or two of them define the same name, each is checked alone.
check() {
  local flags=$core_flags status=0 batch file
  [[ $1 != wasm/* ]] || flags=$wasm_flags
  batch=$(mktemp --tmpdir=build/tidy --suffix=.cpp)
  for file; do
    echo "#line 1 \"$file\""
    cat "$file"
  done > "$batch"
  # shellcheck disable=SC2086 # several flags
  if ! "$tidy" --quiet --config-file=.clang-tidy "$batch" -- -std=c++23 $flags > /dev/null 2>&1; then
    for file; do "$tidy" --quiet "$file" -- -std=c++23 $flags 2> /dev/null || status=1; done
  fi
  rm "$batch"
  return $status
}
export -f check
export tidy core_flags wasm_flags
mkdir -p build/tidy
# Prints up to eight files of a folder in each line. Bindings define the same names as each other, so each is checked alone.
printf '%s\n' "${files[@]}" | awk '
  { folder = $0; sub("/[^/]*$", "", folder) }
  folder != last || n == 8 || folder == "wasm" { separator = NR > 1 ? "\n" : ""; n = 0 }
  { printf "%s%s", separator, $0; separator = " "; last = folder; ++n }
  END { print "" }' | xargs -r -P "$JOBS" -L 1 bash -c 'check "$@"' bash
