#!/usr/bin/env bash
# Builds the package (wasm/dist), the viewer (web/dist) and the documentation (web/dist/docs). Only what changed is rebuilt.
set -euo pipefail
. "$(dirname "$0")/env.sh"
bash scripts/build-package.sh
if changed web/dist/index.html web/index.html web/src web/public web/*.ts wasm/THIRD_PARTY_NOTICES.txt tests/fixtures/{stories,commands}.* wasm/dist package-lock.json; then
  vite build --config web/vite.config.ts --logLevel warn
fi
bash scripts/build-docs.sh
if [ build/docs/index.html -nt web/dist/docs/index.html ]; then
  rm -rf web/dist/docs
  cp -r build/docs web/dist/docs
fi
