#!/usr/bin/env bash
# Set-up, build, and the viewer on a loopback port, open on the built-in sample.
set -euo pipefail
. "$(dirname "$0")/env.sh"
bash scripts/setup.sh
. scripts/env.sh
bash scripts/build.sh
exec node scripts/serve.ts "$@"
