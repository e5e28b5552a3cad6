# Sourced: an apt with its own sources and state, so that packages can be unpacked into a folder without root. It uses the
# mirror that this machine's apt uses.

# private_apt_begin FOLDER ARCHITECTURE RELEASE...: reads the lists of packages.
private_apt_begin() {
  APT_FOLDER=$1 APT_ARCHITECTURE=$2
  local mirror release
  mkdir -p "$APT_FOLDER"/{etc/apt.conf.d,etc/preferences.d,state/lists/partial,cache/archives/partial}
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Codename: bookworm' | sort -u | head -n 1)
  [ -n "$mirror" ] || { echo "no Debian 12 mirror in apt's sources (run apt-get update once)" >&2; return 1; }
  for release in "${@:3}"; do
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $release main"
  done > "$APT_FOLDER/etc/sources.list"
  : > "$APT_FOLDER/status"
  private_apt update
}

private_apt() {
  apt-get -qq -o Dir::Etc="$APT_FOLDER/etc" -o Dir::Etc::sourcelist="$APT_FOLDER/etc/sources.list" -o Dir::Etc::sourceparts=/dev/null \
    -o Dir::State="$APT_FOLDER/state" -o Dir::State::status="$APT_FOLDER/status" -o Dir::Cache="$APT_FOLDER/cache" \
    -o APT::Architecture="$APT_ARCHITECTURE" -o APT::Architectures::="$APT_ARCHITECTURE" -o APT::Sandbox::User= \
    -o Acquire::Languages=none "$@"
}

# unpack FOLDER PACKAGE...: downloads packages and unpacks them into the folder.
unpack() {
  local debs=$APT_FOLDER/debs
  rm -rf "$debs"
  mkdir -p "$debs" "$1"
  (cd "$debs" && private_apt download "${@:2}")
  for deb in "$debs"/*.deb; do dpkg -x "$deb" "$1"; done
}
