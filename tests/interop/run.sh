#!/usr/bin/env bash
# Interoperability test: do the published agents omp and pi see in our files what we see, and we in
# theirs? Installs them from npm (versions: package.json beside this script), which takes about a
# minute and 1.2 GB once.
#
# usage: run.sh [BIN|- [FOLDER]]
#
#   BIN     the session-tree binary (default: build one)
#   FOLDER  where the agents are installed, kept for the next run
#           (default: ${XDG_CACHE_HOME:-/tmp}/session-tree-interop)
#
# Prints a line a group of checks, and last `N passed, N failed`. Exit 0: all passed; 1: some failed,
# the files in question are kept for a day; 2: could not run.
#
# Needs cargo, npm, Node.js and Linux on x86-64.
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/others.sh
. "$here/../others.sh"

[ $# -le 2 ] || cannot "usage: run.sh [BIN|- [FOLDER]]"
folder=$(realpath -m -- "${2:-${XDG_CACHE_HOME:-/tmp}/session-tree-interop}")
work=
failed=

main() {
  local code=0
  find_binary "$1"
  install_from_npm "the agents" "$folder"
  bun=$folder/node_modules/@oven/bun-linux-x64/bin/bun
  [ -x "$bun" ] || cannot "\`$bun\` is missing; delete \`$folder\` and run this again"

  find "$folder" -maxdepth 1 -name 'run.*' -mmin +1440 -exec rm -rf -- {} +
  work=$(mktemp -d -- "$folder/run.XXXXXX")
  mkdir -- "$work/home" "$work/tmp" "$work/damaged"
  damaged_files >"$work/damaged.log" 2>&1 || cannot "cannot make damaged files: $(tail -n 5 "$work/damaged.log")"
  # The agents get a home of their own: they keep logs and traces of sessions there.
  watched 600 env -i PATH="$PATH" HOME="$work/home" TMPDIR="$work/tmp" LC_ALL=C.UTF-8 TZ=UTC NO_COLOR=1 \
    "$bun" --no-install "$here/interop.ts" "$bin" "$folder" "$work" "$work/damaged" || code=$?
  case $code in
    0) ;;
    3) failed=yes && exit 1 ;;
    124 | 137) cannot "stopped after 10 minutes" ;;
    *) cannot "the test broke down" ;;
  esac
}

# The generator of damaged files is a part of the Rust tests.
damaged_files() {
  (cd "$package" && DAMAGED_FOLDER=$work/damaged cargo test --locked --test suite damaged_files_are_the_same_each_time)
}

# shellcheck disable=SC2317 # called by the trap
finish() {
  end_child
  if [ -n "$failed" ]; then
    echo "the files are kept in $work" >&2
  elif [ -n "$work" ]; then
    rm -rf -- "$work"
  fi
}

trap finish EXIT
trap 'exit 2' INT TERM HUP

needs "cargo npm nodejs util-linux coreutils" cargo npm node flock timeout
main "${1:--}"
