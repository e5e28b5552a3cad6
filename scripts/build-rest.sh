#!/usr/bin/env bash
# Builds, while npm start serves the viewer, what that does not have yet: the documentation and, in a new checkout, the engines.
set -euo pipefail
. "$(dirname "$0")/env.sh"
bash scripts/build-docs.sh
! is_built engine-memory64 || exit 0
remove_stand_ins
mkdir -p build/ready
for target in engine engine-memory64; do
  ninja -j "$JOBS" -C build/wasm $target > build/engine.log 2>&1 || { tail -n 60 build/engine.log; exit 1; }
  # By these names the viewer requests what was missing. A moved file is never half there.
  for module in wasm/dist/engine/*.wasm; do cp "$module" "${module%wasm}js" build/ready; done
  mv build/ready/* web/dist/assets
done
bash scripts/build-package.sh
bash scripts/build-docs.sh
echo "The engines and the documentation are built."
