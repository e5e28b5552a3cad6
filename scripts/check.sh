#!/usr/bin/env bash
# Checks the direction of includes, types, lint, formatting, size budgets, the list of packed files, and that browsers have what is
# called. Needs a build. clang-tidy checks only the changed files, because all take minutes: npm run tidy.
set -euo pipefail
. "$(dirname "$0")/env.sh"
status=0
fail() { echo "check failed: $*" >&2; status=1; }
run() { "$@" || fail "$*"; }
mkdir -p build
# These two take as long as all others together, so they run next to them. Prettier and tsc keep what they found in build/, so
# that the next run is short.
(
  run eslint --config scripts/eslint.config.js wasm/src web/src scripts tests
  run prettier --cache --cache-location build/prettier-cache --cache-strategy content --log-level warn --check package.json 'scripts/**/*.ts' 'wasm/src/**/*.ts' 'tests/**/*.ts' 'web/*.ts' 'web/docs/.vitepress/**/*.{ts,css}' 'web/src/**/*.{ts,css}'
  exit $status
) > build/style.log 2>&1 &
style=$!
run node scripts/check-layers.ts
run node scripts/check-imports.ts
run node scripts/check-package.ts
run node scripts/check-publish.ts
run node scripts/check-browsers.ts
run tsc --noEmit --incremental --tsBuildInfoFile build/tests.tsbuildinfo -p tests/tsconfig.json
run svelte-check --workspace web --tsconfig ./tsconfig.json --output human --fail-on-warnings
git ls-files '*.cpp' '*.hpp' | xargs clang-format --dry-run -Werror || fail "clang-format -i them"
run bash scripts/tidy.sh --changed
wait $style || { cat build/style.log >&2; status=1; }
exit $status
