#!/usr/bin/env bash
# The documentation site: generated pages beside the written ones in web/docs, then VitePress into build/docs.
# Needs the built package (wasm/dist). Only what changed is built again.
set -euo pipefail
. "$(dirname "$0")/env.sh"
mkdir -p build
node scripts/docs/generate.ts
if changed build/docs/index.html web/docs package-lock.json; then
  vitepress build web/docs > build/docs.log 2>&1 || { tail -n 60 build/docs.log; exit 1; }
  touch build/docs/index.html
fi
