#!/usr/bin/env bash
# Checks the direction of includes, that texts about the code name what is there, that tests wait for a state instead of a time, types,
# lint, formatting, size budgets, the list of packed files, and that browsers have what is called. Needs a build. clang-tidy checks only
# the changed files, because all take minutes: npm run tidy.
set -euo pipefail
. "$(dirname "$0")/env.sh"
status=0
fail() { echo "check failed: $*" >&2; status=1; }
run() { "$@" || fail "$*"; }
run node scripts/check-layers.ts
run node scripts/check-imports.ts
run node scripts/check-first-lines.ts
run node scripts/check-maps.ts
run node scripts/check-tests.ts
run node scripts/check-package.ts
run node scripts/check-publish.ts
run node scripts/check-browsers.ts
run tsc --noEmit -p tests/tsconfig.json
run tsc --noEmit -p web/docs/tsconfig.json
run oxlint --format unix wasm/src web/src scripts tests
run oxfmt --check package.json .ox{lint,fmt}rc.json '{scripts,tests,wasm/src,web/src}/**/*.ts' 'web/*.ts' 'web/docs/.vitepress/**/*.{ts,css}' 'web/src/**/*.css'
run svelte-check --workspace web --tsconfig ./tsconfig.json --config ./vite.config.ts --output human --fail-on-warnings
git ls-files '*.cpp' '*.hpp' | xargs clang-format --dry-run -Werror || fail "clang-format -i them"
run bash scripts/tidy.sh --changed
exit $status
