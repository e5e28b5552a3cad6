#!/usr/bin/env bash
# Builds the package (wasm/dist), the viewer (web/dist) and the documentation (web/dist/docs). Only what changed is rebuilt.
set -euo pipefail
. "$(dirname "$0")/env.sh"
bash scripts/build-viewer.sh
bash scripts/build-docs.sh
