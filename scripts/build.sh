#!/usr/bin/env bash
# Builds the package (wasm/dist), the viewer (web/dist) and the documentation (web/dist/docs). Only what changed is rebuilt.
set -euo pipefail
. "$(dirname "$0")/env.sh"
bash scripts/build-package.sh
# The built-in samples: the models that scripts/sample trains, and a recording.
for pair in stories.gguf:sample.gguf commands.gguf:speech.gguf commands.wav:speech.wav; do
  cmp -s "tests/fixtures/${pair%:*}" "web/public/${pair#*:}" || cp "tests/fixtures/${pair%:*}" "web/public/${pair#*:}"
done
if changed web/dist/index.html web/index.html web/src web/public web/vite.config.ts wasm/dist package-lock.json; then
  vite build --config web/vite.config.ts --logLevel warn
fi
bash scripts/build-docs.sh
if [ build/docs/index.html -nt web/dist/docs/index.html ]; then
  rm -rf web/dist/docs
  cp -r build/docs web/dist/docs
fi
