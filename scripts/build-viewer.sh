#!/usr/bin/env bash
# build-viewer.sh [first]: builds the package (wasm/dist) and the viewer (web/dist). Only what changed is rebuilt.
# first: for npm start, without engines that were never built; scripts/build-rest.sh builds them.
set -euo pipefail
. "$(dirname "$0")/env.sh"
bash scripts/build-package.sh "$@"
if changed web/dist/index.html web/index.html web/src web/public web/*.ts wasm/THIRD_PARTY_NOTICES.txt tests/fixtures/{stories,commands}.* wasm/dist package-lock.json; then
  level=warn
  is_built engine-memory64 || level=error  # it warns of missing engines
  vite build --config web/vite.config.ts --logLevel $level
fi
