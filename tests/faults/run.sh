#!/usr/bin/env bash
# Fault injection: fails every system call of the commands that write, once, for good, and by a kill,
# with strace; replays what they write up to every point; and kills them at random moments. After each
# of these the session must be what it was or what it should be, what was reported must be true, and
# the next run must work. tests/README.md says more.
#
# usage: run.sh [BIN|-] [--all] [--kills N] [--only TEXT]
#
#   BIN        the session-tree binary (default: build one)
#   --all      every injection, not one in twenty
#   --kills N  kill N runs at random moments as well
#   --only T   only scenarios with T in their names
#
# Prints a table of scenarios, and last `N passed, N failed`. Exit 0: all passed; 1: some failed; 2:
# could not run. Leaves nothing behind.
#
# Needs strace, python3 and util-linux (unshare, prlimit).
set -euo pipefail
export LC_ALL=C
here=$(cd "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/others.sh
. "$here/../others.sh"

given=-
case ${1:-} in
  '' | --*) ;;
  *) given=$1 && shift ;;
esac
needs "strace python3 util-linux coreutils" strace python3 unshare prlimit timeout
strace -o /dev/null true 2>/dev/null || cannot "strace may not trace here"
find_binary "$given"
work=$(mktemp -d)
# shellcheck disable=SC2317 # called by the trap
finish() {
  end_child
  rm -rf -- "$work"
}
trap finish EXIT
trap 'exit 2' INT TERM HUP

# Two hours are for the whole sweep with thousands of kills.
code=0
watched 7200 env PYTHONDONTWRITEBYTECODE=1 python3 "$here/faults.py" "$bin" "$work" "$@" || code=$?
case $code in
  0 | 1) exit "$code" ;;
  124 | 137) cannot "stopped after 2 hours" ;;
  *) cannot "the test broke down" ;;
esac
