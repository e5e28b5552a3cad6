#!/usr/bin/env bash
# Sets up, builds, and serves the viewer on a loopback port, with the built-in sample open.
set -euo pipefail
. "$(dirname "$0")/env.sh"
bash scripts/setup.sh
. scripts/env.sh
bash scripts/build.sh
exec node scripts/serve.ts "$@"
