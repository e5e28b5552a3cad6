#!/usr/bin/env bash
# Sets up, builds, and runs the tests. Ends with where the time went, each runner's summary line and one line for all.
# With "all" also what takes long: the optimized native core, every suite of the core in every tree, and
# the whole of what tests shorten (tests/fixtures/short.ts).
set -euo pipefail
[ "${1:-}" != all ] || export GGUFSCOPE_ALL=1
export GGUFSCOPE_64=${GGUFSCOPE_64:-${GGUFSCOPE_ALL:-0}}  # 0: the package lacks the 64-bit engine (scripts/build-package.sh)
. "$(dirname "$0")/env.sh"
bash scripts/setup.sh test packages

[ -d ../shared ] || echo "There is no ../shared, so tests of its models, vocabularies, templates and media are skipped; tests/fixtures/golden remains."
logs=build/logs
mkdir -p $logs
rm -f $logs/*  # of an earlier run, whose counts would be added
failed=()
# Runs a command, and writes to a file the time that its processes computed, all cores together. In a shell of its own,
# because a shell's times include those of lanes that ended meanwhile.
timed() {
  local file=$1 status=0
  shift
  "$@" || status=$?
  times > "$file"
  return $status
}
# step NAME COMMAND...: continues after a failure, so that one run shows all failures. Output goes to a file
# that is shown meanwhile, because a pipe would wait for processes that a test left running.
step() {
  local name=$1 start=$SECONDS cpu
  shift
  echo "== $name"
  : > "$logs/$name.log"  # before tail opens it: the command may start later
  (timed "$logs/$name.cpu" "$@") >> "$logs/$name.log" 2>&1 < /dev/null &
  local run=$!
  tail -n +1 -f --pid=$run "$logs/$name.log" || true
  wait $run || failed+=("$name")
  cpu=$(awk -F '[ms ]+' '{ n += $1 * 60 + $2 + $3 * 60 + $4 } END { printf "%d", n }' "$logs/$name.cpu")
  echo "   $name: $((SECONDS - start)) s, computed $cpu s"
  echo "$name $((SECONDS - start)) $cpu" >> $logs/steps
}
# lane NAME COMMAND...: runs steps in parallel to the following ones. show_lane NAME shows its output and failures.
declare -A lanes
lane() {
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
quiet() {
  local log=$logs/last-$BASHPID.log  # once: a program's redirection is expanded in its own process
  "$@" > "$log" 2>&1 || { tail -n 60 "$log"; return 1; }
}
whole=-DGGUFSCOPE_ALL=${GGUFSCOPE_ALL:-0}
# build_native FOLDER "TARGETS" OPTIONS...
build_native() {
  # shellcheck disable=SC2086 # several targets
  quiet cmake -S . -B "$1" -G Ninja "${@:3}" && quiet ninja -j "$JOBS" -C "$1" $2
}
build_wasm() {
  quiet emcmake cmake -S . -B build/wasm -G Ninja -DGGUFSCOPE_TESTS=ON "$whole" &&
    quiet ninja -j "$JOBS" -C build/wasm core_tests relaxed_tests ${GGUFSCOPE_ALL:+emulated_tests}
}
# core_tests NAME COMMAND...: runs a test runner of the core. The time of each case goes to NAME.cases.
core_tests() {
  "${@:2}" --report_level=short --color_output=no --log_level=unit_scope |
    awk -v cases="$logs/$1.cases" '/(Entering|Leaving) test (module|suite|case) "/ { print > cases; next } { print; fflush() }'
}
fuzz() {
  local seeds=() n=${GGUFSCOPE_ALL:+20000}
  [ ! -d ../shared/data/hostile ] || seeds=(../shared/data/hostile)
  local target rounds
  for target in build/sanitized/fuzz_*; do
    rounds=${n:-2500}
    case $target in *_media | *_speech | *_plans | *_trace) rounds=$((rounds / 20)) ;; *_speak) rounds=$((rounds / 80)) ;; esac # each runs a model
    "$target" "$rounds" "${seeds[@]}" || return 1
  done
}
core_lane() {
  # Some tests allocate more memory than there is, and expect an error.
  export ASAN_OPTIONS=allocator_may_return_null=1
  [ -z "${GGUFSCOPE_ALL:-}" ] || step core-native core_tests core-native build/native/core_tests
  step core-sanitized core_tests core-sanitized build/sanitized/core_tests
  step fuzz fuzz
}
wasm_lane() {
  step core-wasm core_tests core-wasm node build/wasm/core_tests.js
  step core-relaxed core_tests core-relaxed node build/wasm/relaxed_tests.js
  # This CPU's kernels of relaxed SIMD are tested above, those of others here.
  local cpu
  for cpu in ${GGUFSCOPE_ALL:+arm arm-dot x86 x86-vnni}; do
    step "core-$cpu" core_tests "core-$cpu" env RELAXED_CPU="$cpu" node build/wasm/emulated_tests.js
  done
}
# A whole run has tests of half an hour on a busy machine: all models with all their alterations, all models on a software GPU.
package_s=2700 test_ms=600000
[ -z "${GGUFSCOPE_ALL:-}" ] || package_s=14400 test_ms=3600000
# package_files SECONDS NAME FILES AT ONCE, FILES...: the second reporter reports how a file's process ended.
package_files() {
  timeout -k 10 "$1" node --test --test-concurrency="$3" --test-timeout="$test_ms" --test-reporter=spec --test-reporter-destination=stdout \
    --test-reporter=tap --test-reporter-destination="$logs/$2.tap" "${@:4}"
}
# Four files at once keep two cores busy: most of them wait for servers and browsers most of the time. Files that failed run
# once more, alone: browsers and sound systems crash, and a busy machine stops a page for seconds. The last lines count what
# passed only then, and more than three fail the run. Playwright does the same with the viewer's tests.
package_tests() {
  local files
  package_files $package_s package 4 'tests/package/**/*.test.ts' && return
  # Where each failed outer test is: a file that node runs, else there is no second try.
  mapfile -t files < <(awk '/^not ok/ { sought = 1 } sought && /^  location:/ { print; sought = 0 }' $logs/package.tap |
    sed -E "s/.*(tests\/package\/[^:]*).*/\1/" | sort -u)
  [ ${#files[@]} -ge 1 ] && [ ${#files[@]} -le 3 ] && [[ " ${files[*]/%.test.ts/} " != *.ts* ]] || return 1
  echo "== again, alone: ${files[*]}"
  package_files $((package_s / 3)) package-again 1 "${files[@]}" > $logs/package-again.log 2>&1 || { cat $logs/package-again.log; return 1; }
  echo "They passed."
}

# A runner has one thread, a link leaves a CPU core idle, and pages mostly wait: so other steps run beside them.
lane setup step setup bash scripts/setup.sh test
[ -z "${GGUFSCOPE_ALL:-}" ] || step build-native build_native build/native core_tests
step build-sanitized build_native build/sanitized "core_tests fuzz" -DGGUFSCOPE_SANITIZE=ON "$whole"
show_lane setup
[ ${#failed[@]} = 0 ] || [[ " ${failed[*]} " != *" setup "* ]] || exit 1
. scripts/env.sh
lane core core_lane
step build-wasm build_wasm
lane wasm wasm_lane
step build-package bash scripts/build.sh
lane check step check bash scripts/check.sh
# Node keeps what it compiled: hundreds of processes run the same files.
export NODE_COMPILE_CACHE=$PWD/build/node-cache
lane web step web playwright test --config tests/web/playwright.config.ts --reporter=list
step package package_tests
for name in core wasm check web; do show_lane $name; done

# Boost: "12 test cases out of 14 passed"; Node: "pass 12"; Playwright: "12 passed".
runs=()
for name in core-{native,sanitized,wasm,relaxed,arm,arm-dot,x86,x86-vnni} package web; do
  [ ! -e "$logs/$name.log" ] || runs+=("$logs/$name.log")
done
sum() { sed -nE "$1" "${runs[@]}" | awk '{ n += $1 } END { print n + 0 }'; }
passed=$(sum 's/^ +([0-9]+) test cases? out of [0-9]+ passed.*/\1/p; s/^[^ ]+ pass ([0-9]+)$/\1/p; s/^ +([0-9]+) passed.*/\1/p')
fails=$(sum 's/^ +([0-9]+) test cases? out of [0-9]+ (failed|aborted).*/\1/p; s/^[^ ]+ fail ([0-9]+)$/\1/p; s/^ +([0-9]+) failed.*/\1/p')
skipped=$(sum 's/^ +([0-9]+) test cases? out of [0-9]+ skipped.*/\1/p; s/^[^ ]+ skipped ([0-9]+)$/\1/p; s/^ +([0-9]+) skipped.*/\1/p')
# What passed only at the second try: Playwright's "1 flaky", and the failures of package files that passed then.
again=$(sed -nE 's/^ +([0-9]+) flaky$/\1/p' $logs/web.log)
if grep -q '^They passed\.$' $logs/package.log; then
  once=$(sed -nE 's/^[^ ]+ fail ([0-9]+)$/\1/p' $logs/package.log)
  again=$((${again:-0} + once)) fails=$((fails - once))
fi
passed=$((passed + ${again:-0}))
[ "${again:-0}" -le 3 ] || failed+=("more than 3 only at the second try")
# What each failed package test reported, after the other steps' output, which would hide it.
[ ! -e $logs/package.tap ] || awk '/^ *not ok/ { left = 25 } /^ *(ok|\.\.\.)/ { left = 0 } left-- > 0' $logs/package.tap
echo
node scripts/where-time-went.ts $logs || true
echo
echo "all levels in $SECONDS s${failed:+; failed: ${failed[*]}}"
[ ${#failed[@]} = 0 ] || [ "$fails" != 0 ] || fails=${#failed[@]}
[ "${again:-0}" = 0 ] || echo "$again of the passed tests failed once, and passed at the second try"
echo "$passed passed, $fails failed, $skipped skipped"
[ ${#failed[@]} = 0 ] && [ "$passed" != 0 ]
