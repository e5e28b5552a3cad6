#!/usr/bin/env bash
# The package (wasm/dist) and the viewer (web/dist). Only what changed is built again.
set -euo pipefail
. "$(dirname "$0")/env.sh"
bash scripts/build-package.sh
if changed web/public/sample.gguf scripts/make-sample.ts tests/fixtures tests/server/faults.ts; then
  node scripts/make-sample.ts web/public/sample.gguf
fi
if changed web/dist/index.html web/index.html web/src web/public web/vite.config.ts wasm/dist package-lock.json; then
  vite build --config web/vite.config.ts --logLevel warn
fi
