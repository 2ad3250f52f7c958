#!/usr/bin/env bash
# Test of `tree --format dot` and `--format mermaid` with the programs that draw them: does Graphviz
# make a picture, does Mermaid's own parser take the text, are there as many nodes and arrows as the
# rows say, and does every node say what it should, whatever stands in the session? Installs Mermaid
# from npm (versions: package.json beside this script), which takes half a minute and 150 MB once.
#
# usage: run.sh [BIN|- [FOLDER]]
#
#   BIN     the session-tree binary (default: build one)
#   FOLDER  where Mermaid is installed, kept for the next run
#           (default: ${XDG_CACHE_HOME:-/tmp}/session-tree-graph)
#
# Prints a line a group of checks, and last `N passed, N failed`. Exit 0: all passed; 1: some failed;
# 2: could not run.
#
# Needs npm, Node.js 20 and Graphviz (Debian packages: npm nodejs graphviz).
set -euo pipefail
export LC_ALL=C.UTF-8

cannot() {
  echo "error: $*" >&2
  exit 2
}

[ $# -le 2 ] || cannot "usage: run.sh [BIN|- [FOLDER]]"
here=$(cd "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
package=$(cd "$here/../.." && pwd)
folder=$(realpath -m -- "${2:-${XDG_CACHE_HOME:-/tmp}/session-tree-graph}")
work=

main() {
  local code=0
  if [ "$1" = - ]; then
    (cd "$package" && cargo build --release --locked) || cannot "the build failed"
    set -- "${CARGO_TARGET_DIR:-$package/target}/release/session-tree"
  fi
  [ -x "$1" ] || cannot "\`$1\` cannot be run"
  bin=$(realpath -- "$1")

  # Programs are run from this folder, so it had better be ours alone.
  (umask 077 && mkdir -p -- "$folder") || cannot "cannot make \`$folder\`"
  [ -O "$folder" ] || cannot "\`$folder\` belongs to somebody else"
  exec 9>"$folder/.lock"
  flock -w 300 9 || cannot "another run has been installing in \`$folder\` for 5 minutes"
  cmp -s -- "$here/package.json" "$folder/installed.json" || install_mermaid
  exec 9>&-

  work=$(mktemp -d -- "$folder/run.XXXXXX")
  # Modules are looked for from where the program stands.
  cp -- "$here"/*.mjs "$work"
  env -i PATH="$PATH" HOME="$work" TMPDIR="$work" LC_ALL=C.UTF-8 TZ=UTC \
    timeout --kill-after=5 300 node "$work/graph.mjs" "$bin" "$package/tests/data" "$work" || code=$?
  case $code in
    0) ;;
    3) exit 1 ;;
    124 | 137) cannot "stopped after 5 minutes" ;;
    *) cannot "the test broke down" ;;
  esac
}

# Asks for nothing that is there already.
install_mermaid() {
  echo "installing Mermaid in $folder" >&2
  rm -f -- "$folder/installed.json"
  cp -- "$here/package.json" "$folder/package.json"
  (cd -- "$folder" && timeout 300 npm install --no-audit --no-fund --ignore-scripts --omit=dev \
    --fetch-retries=1 >npm.log 2>&1) || not_installed
  cp -- "$here/package.json" "$folder/installed.json"
}

not_installed() {
  sed -n '1,6s/^npm error/npm:/p' "$folder/npm.log" >&2
  cannot "npm could not install Mermaid; the first time this needs the network (log: $folder/npm.log)"
}

# shellcheck disable=SC2317 # called by the trap
finish() {
  [ -z "$work" ] || rm -rf -- "$work"
}

trap finish EXIT
trap 'exit 2' INT TERM HUP

for tool in npm node dot gc flock timeout; do
  command -v "$tool" >/dev/null || cannot "\`$tool\` is missing (Debian packages: npm nodejs graphviz util-linux coreutils)"
done
main "${1:--}"
