#!/usr/bin/env bash
# Sets up, builds what the viewer's first page needs, and serves it on a loopback port, with the built-in sample open.
# The rest is built while it is served: the documentation and, in a new checkout, the engines.
set -euo pipefail
. "$(dirname "$0")/env.sh"
bash scripts/setup.sh
. scripts/env.sh
bash scripts/build-viewer.sh first
exec node scripts/serve.ts --meanwhile 'nice bash scripts/build-rest.sh' "$@"
