#!/usr/bin/env bash
# Checks the direction of includes, types, formatting, size budgets and the list of packed files.
set -euo pipefail
. "$(dirname "$0")/env.sh"
status=0
run() { "$@" || { echo "check failed: $*" >&2; status=1; }; }
run node scripts/check-layers.ts
run node scripts/check-imports.ts
run node scripts/check-package.ts
run node scripts/check-publish.ts
run tsc --noEmit -p tests/tsconfig.json
run eslint --config scripts/eslint.config.js wasm/src scripts tests
run svelte-check --workspace web --tsconfig ./tsconfig.json --output human --fail-on-warnings
run prettier --log-level warn --check package.json 'scripts/**/*.ts' 'wasm/src/**/*.ts' 'tests/**/*.ts' 'web/*.ts' 'web/docs/.vitepress/**/*.{ts,css}' 'web/src/**/*.{ts,css}'
git ls-files '*.cpp' '*.hpp' | xargs clang-format --dry-run -Werror || { echo "check failed: clang-format -i them" >&2; status=1; }
exit $status
