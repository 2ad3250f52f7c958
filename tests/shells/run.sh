#!/usr/bin/env bash
# Completion test: installs the completions with the README's lines and presses TAB in real shells.
#
# usage: run.sh [BIN]
#
#   BIN   the session-tree binary (default: build one)
#
# Prints a line a shell, and last `N passed, N failed`. Exit 0: all passed; 1: some failed; 2: could
# not run. Takes some seconds, and leaves nothing behind.
#
# Needs bash, zsh, fish, elvish and python3.
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/others.sh
. "$here/../others.sh"

[ $# -le 1 ] || cannot "usage: run.sh [BIN]"
needs "zsh fish elvish python3 coreutils" bash zsh fish elvish python3 timeout
find_binary "${1:--}"
work=$(mktemp -d)
# shellcheck disable=SC2317 # called by the trap
finish() {
  end_child
  rm -rf -- "$work"
}
trap finish EXIT
trap 'exit 2' INT TERM HUP

# The shells get a home of their own, and see nothing of this one.
code=0
watched 120 env -i PATH="$PATH" HOME="$work/home" TMPDIR="$work" LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1 \
  python3 "$here/press.py" "$bin" "$package" "$work" || code=$?
case $code in
  0 | 1) exit "$code" ;;
  124 | 137) cannot "stopped after 2 minutes" ;;
  *) cannot "the test broke down" ;;
esac
