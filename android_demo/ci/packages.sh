#!/usr/bin/env bash
# The Debian packages that the Android demo is built and checked with.
#
#   packages.sh                 says which are missing, with exit status 1
#   packages.sh aapt2 zip ...   the same for these commands only
#   packages.sh --names         all of them, for apt-get install
set -euo pipefail

declare -A packages=(
  [mvn]=maven [java]=default-jdk [keytool]=default-jdk [aapt2]=aapt [aapt]=aapt [zipalign]=zipalign
  [apksigner]=apksigner [dexdump]=dexdump [enjarify]=enjarify [zip]=zip [unzip]=unzip [xvfb-run]=xvfb [xauth]=xauth
)

names() { printf '%s\n' "$@" | sort -u | paste -sd ' '; }

if [ "${1-}" = --names ]; then names "${packages[@]}"; exit; fi
if [ $# = 0 ]; then set -- "${!packages[@]}"; fi
missing=()
for command in "$@"; do
  command -v "$command" >/dev/null || missing+=("${packages[$command]}")
done
if [ ${#missing[@]} != 0 ]; then
  echo "expected the commands of these packages, received a machine without them: $(names "${missing[@]}")" >&2
  echo "on Debian: apt-get install --no-install-recommends $(names "${missing[@]}")" >&2
  exit 1
fi
