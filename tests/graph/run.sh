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
here=$(cd "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/others.sh
. "$here/../others.sh"

[ $# -le 2 ] || cannot "usage: run.sh [BIN|- [FOLDER]]"
folder=$(realpath -m -- "${2:-${XDG_CACHE_HOME:-/tmp}/session-tree-graph}")
work=

main() {
  local code=0
  find_binary "$1"
  install_from_npm Mermaid "$folder"
  work=$(mktemp -d -- "$folder/run.XXXXXX")
  # Modules are looked for from where the program stands.
  cp -- "$here"/*.mjs "$work"
  watched 300 env -i PATH="$PATH" HOME="$work" TMPDIR="$work" LC_ALL=C.UTF-8 TZ=UTC \
    node "$work/graph.mjs" "$bin" "$package/tests/data" "$work" || code=$?
  case $code in
    0) ;;
    3) exit 1 ;;
    124 | 137) cannot "stopped after 5 minutes" ;;
    *) cannot "the test broke down" ;;
  esac
}

# shellcheck disable=SC2317 # called by the trap
finish() {
  end_child
  [ -z "$work" ] || rm -rf -- "$work"
}

trap finish EXIT
trap 'exit 2' INT TERM HUP

needs "npm nodejs graphviz util-linux coreutils" npm node dot gc flock timeout
main "${1:--}"
