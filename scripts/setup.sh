#!/usr/bin/env bash
# Installs what a build needs; with "test" also what the tests need, with "test packages" only the system's packages.
# A second run does nothing.
set -euo pipefail
. "$(dirname "$0")/env.sh"

# apt-get, which waits up to 5 minutes for the locks of another one: a fresh machine upgrades itself.
apt() {
  local log try
  log=$(mktemp)
  for try in {1..60}; do
    LC_ALL=C DEBIAN_FRONTEND=noninteractive apt-get -qq "$@" > /dev/null 2> "$log" && rm "$log" && return
    grep -q 'Could not get lock' "$log" || break
    [ "$try" != 1 ] || echo "waiting for another apt"
    sleep 5
  done
  cat "$log" >&2
  return 1
}
apt_install() {
  echo "installing $*"
  apt update && apt install -y --no-install-recommends "$@"
}
can_install() { [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; }

# program or file that shows that it is installed : Debian package
needs=(cmake:cmake ninja:ninja-build python3:python3)
if [ "${1:-}" = test ]; then
  needs+=(g++:g++ chromium-headless-shell:chromium-headless-shell clang-format:clang-format
    /usr/include/boost/test/included/unit_test.hpp:libboost-test-dev /usr/include/simde/wasm/simd128.h:libsimde-dev)
fi
missing=()
for need in "${needs[@]}"; do
  what=${need%%:*}
  [ -e "$what" ] || command -v "$what" >/dev/null || missing+=("${need#*:}")
done

own_toolchain=no
if ! emcc_is_new_enough emcc; then
  if grep -qs '^VERSION_CODENAME=bookworm' /etc/os-release && [ "$(dpkg --print-architecture)" = amd64 ]; then
    own_toolchain=yes
    libraries=$(/sbin/ldconfig -p)
    for lib in libedit2:libedit.so.2 libxml2:libxml2.so.2 libz3-4:libz3.so.4 libzstd1:libzstd.so.1; do
      [[ $libraries == *"${lib#*:}"* ]] || missing+=("${lib%%:*}")
    done
  else
    echo "ggufscope needs Emscripten 3.1.69 or newer: put its emcc on the PATH (https://emscripten.org/docs/getting_started)" >&2
    exit 1
  fi
fi
if [ ${#missing[@]} -gt 0 ]; then
  if can_install; then
    apt_install "${missing[@]}"
  else
    echo "missing: ${missing[*]} (on Debian: sudo apt-get install ${missing[*]})" >&2
    exit 1
  fi
fi
# Other browsers. If they cannot be installed, their tests are skipped with a message.
if [ "${1:-}" = test ]; then
  others=()
  for need in /usr/bin/firefox-esr:firefox-esr /usr/bin/WebKitWebDriver:webkit2gtk-driver /usr/bin/xvfb-run:xvfb /usr/bin/xauth:xauth; do
    [ -e "${need%%:*}" ] || others+=("${need#*:}")
  done
  if [ ${#others[@]} -gt 0 ] && can_install; then apt_install "${others[@]}" || true; fi
  [ ${#others[@]} = 0 ] || [ -e /usr/bin/xvfb-run ] || echo "not installed, so tests in other browsers are skipped: ${others[*]}"
fi

[ "${2:-}" != packages ] || exit 0
[ $own_toolchain = no ] || bash scripts/toolchain.sh
if changed node_modules/.complete package.json package-lock.json; then
  npm ci --no-audit --no-fund --loglevel=error
  touch node_modules/.complete
fi
