#!/usr/bin/env bash
# Sets up, builds, and runs all tests. Ends with each runner's summary line and one line for all.
# With "all" also what takes long: the optimized native core, and the tests that read GGUFSCOPE_ALL.
set -euo pipefail
[ "${1:-}" != all ] || export GGUFSCOPE_ALL=1
. "$(dirname "$0")/env.sh"
bash scripts/setup.sh test
. scripts/env.sh

[ -d ../shared ] || echo "There is no ../shared, so tests of its models, vocabularies, templates and media are skipped; tests/fixtures/golden remains."
logs=build/logs
mkdir -p $logs
rm -f $logs/*.log  # of an earlier run, whose counts would be added
failed=()
# Sets cpu to the seconds that this shell's ended children computed, all cores together.
cpu_seconds() {
  local file=$logs/times-$BASHPID
  times > "$file"
  cpu=$(awk -F '[ms ]+' 'NR == 2 { printf "%d", $1 * 60 + $2 + $3 * 60 + $4 }' "$file")
  rm "$file"
}
# step NAME COMMAND...: continues after a failure, so that one run shows all failures. Output goes to a file
# that is shown meanwhile, because a pipe would wait for processes that a test left running.
step() {
  local name=$1 start=$SECONDS cpu before
  shift
  cpu_seconds
  before=$cpu
  echo "== $name"
  : > "$logs/$name.log"  # before tail opens it: the command may start later
  "$@" >> "$logs/$name.log" 2>&1 < /dev/null &
  local run=$!
  tail -n +1 -f --pid=$run "$logs/$name.log" || true
  wait $run || failed+=("$name")
  cpu_seconds
  echo "   $name: $((SECONDS - start)) s, computed $((cpu - before)) s"
}
quiet() { "$@" > "$logs/last.log" 2>&1 || { tail -n 60 "$logs/last.log"; return 1; }; }
# targets: more than core_tests
build_native() { quiet cmake -S . -B "$1" -G Ninja "${@:2}" && quiet ninja -j "$JOBS" -C "$1" core_tests $targets; }
build_wasm() { quiet emcmake cmake -S . -B build/wasm -G Ninja -DGGUFSCOPE_TESTS=ON && quiet ninja -j "$JOBS" -C build/wasm core_tests relaxed_tests; }

[ -z "${GGUFSCOPE_ALL:-}" ] || targets= step build-native build_native build/native
targets=fuzz step build-sanitized build_native build/sanitized -DGGUFSCOPE_SANITIZE=ON
fuzz() {
  local seeds=()
  [ ! -d ../shared/data/hostile ] || seeds=(../shared/data/hostile)
  local target
  for target in build/sanitized/fuzz_*; do "$target" 20000 "${seeds[@]}" || return 1; done
}
# lane NAME COMMAND...: runs steps in parallel to the following ones. show_lane NAME shows its output and failures.
declare -A lanes
lane() {
  rm -f "$logs/$1.failed"
  (
    failed=()
    "${@:2}"
    [ ${#failed[@]} = 0 ] || printf '%s\n' "${failed[@]}" > "$logs/$1.failed"
  ) > "$logs/$1-lane.log" 2>&1 &
  lanes[$1]=$!
}
show_lane() {
  wait "${lanes[$1]}" || failed+=("$1")
  cat "$logs/$1-lane.log"
  [ ! -e "$logs/$1.failed" ] || mapfile -t -O ${#failed[@]} failed < "$logs/$1.failed"
}
# The core's test runners have one thread, and linking wasm leaves a CPU core idle.
core_lane() {
  # Some tests allocate more memory than there is, and expect an error.
  export ASAN_OPTIONS=allocator_may_return_null=1
  [ -z "${GGUFSCOPE_ALL:-}" ] || step core-native build/native/core_tests --report_level=short --color_output=no
  step core-sanitized build/sanitized/core_tests --report_level=short --color_output=no
  step fuzz fuzz
}
lane core core_lane
step build-wasm build_wasm
step build-package bash scripts/build.sh
show_lane core
wasm_lane() {
  step core-wasm node build/wasm/core_tests.js --report_level=short --color_output=no
  step core-relaxed node build/wasm/relaxed_tests.js --report_level=short --color_output=no
}
lane wasm wasm_lane
step check bash scripts/check.sh
# Test files mostly wait for simulated server faults, so more of them run at once.
package_tests() {
  # The second reporter reports how a file's process ended: its exit code or signal.
  timeout -k 10 1500 node --test --test-concurrency=2 --test-timeout=600000 --test-reporter=spec --test-reporter-destination=stdout \
    --test-reporter=tap --test-reporter-destination=$logs/package.tap 'tests/package/**/*.test.ts'
}
step package package_tests
show_lane wasm
# Runs alone, because its pages depend on rendering time.
step web playwright test --config tests/web/playwright.config.ts --reporter=list

# Boost: "12 test cases out of 14 passed"; Node: "pass 12"; Playwright: "12 passed".
runs=()
for name in core-native core-sanitized core-wasm core-relaxed package web; do
  [ ! -e "$logs/$name.log" ] || runs+=("$logs/$name.log")
done
sum() { sed -nE "$1" "${runs[@]}" | awk '{ n += $1 } END { print n + 0 }'; }
passed=$(sum 's/^ +([0-9]+) test cases? out of [0-9]+ passed.*/\1/p; s/^[^ ]+ pass ([0-9]+)$/\1/p; s/^ +([0-9]+) passed.*/\1/p')
fails=$(sum 's/^ +([0-9]+) test cases? out of [0-9]+ (failed|aborted).*/\1/p; s/^[^ ]+ fail ([0-9]+)$/\1/p; s/^ +([0-9]+) failed.*/\1/p')
skipped=$(sum 's/^ +([0-9]+) test cases? out of [0-9]+ skipped.*/\1/p; s/^[^ ]+ skipped ([0-9]+)$/\1/p; s/^ +([0-9]+) skipped.*/\1/p')
# What each failed package test reported, after the other steps' output, which would hide it.
[ ! -e $logs/package.tap ] || awk '/^ *not ok/ { left = 25 } /^ *(ok|\.\.\.)/ { left = 0 } left-- > 0' $logs/package.tap
echo
echo "all levels in $SECONDS s${failed:+; failed: ${failed[*]}}"
[ ${#failed[@]} = 0 ] || [ "$fails" != 0 ] || fails=${#failed[@]}
echo "$passed passed, $fails failed, $skipped skipped"
[ ${#failed[@]} = 0 ] && [ "$passed" != 0 ]
