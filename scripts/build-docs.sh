#!/usr/bin/env bash
# Builds the documentation site: generates pages next to the hand-written ones in web/docs, runs VitePress into build/docs, and
# copies the site to web/dist/docs. Needs the built package (wasm/dist) and viewer. Only what changed is rebuilt.
set -euo pipefail
. "$(dirname "$0")/env.sh"
mkdir -p build
node scripts/docs/generate.ts
if changed build/docs/index.html build/{architecture-names,gpu-reasons}.md web/docs web/notices.ts CHANGELOG.md package-lock.json; then
  vitepress build web/docs > build/docs.log 2>&1 || { tail -n 60 build/docs.log; exit 1; }
  touch build/docs/index.html
fi
if [ build/docs/index.html -nt web/dist/docs/index.html ]; then
  rm -rf web/dist/docs{,.new}
  cp -r build/docs web/dist/docs.new
  mv web/dist/docs{.new,}  # the server never sees half of it
  cp build/docs/404.html web/dist/404.html
fi
# The package itself, which the snippets run.
if changed web/dist/docs/package/index.js wasm/dist; then
  rm -rf web/dist/docs/package{,.new}
  cp -rL wasm/dist web/dist/docs/package.new
  find web/dist/docs/package.new \( -name '*.map' -o -name '*.d.ts' \) -delete
  mv web/dist/docs/package{.new,}
  touch web/dist/docs/package/index.js
fi
