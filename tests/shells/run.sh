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

cannot() {
  echo "error: $*" >&2
  exit 2
}

[ $# -le 1 ] || cannot "usage: run.sh [BIN]"
here=$(cd "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
package=$(cd "$here/../.." && pwd)
for tool in bash zsh fish elvish python3 timeout; do
  command -v "$tool" >/dev/null || cannot "\`$tool\` is missing (Debian packages: zsh fish elvish python3 coreutils)"
done
if [ $# -eq 0 ]; then
  (cd "$package" && cargo build --release --locked) || cannot "the build failed"
  set -- "${CARGO_TARGET_DIR:-$package/target}/release/session-tree"
fi
[ -x "$1" ] || cannot "\`$1\` cannot be run"
bin=$(realpath -- "$1")

work=$(mktemp -d)
child=
# shellcheck disable=SC2317 # called by the trap
finish() {
  if [ -n "$child" ]; then
    kill "$child" 2>/dev/null || true
    wait "$child" || true
  fi
  rm -rf -- "$work"
}
trap finish EXIT
trap 'exit 2' INT TERM HUP

# The shells get a home of their own, and see nothing of this one.
code=0
timeout --kill-after=5 120 env -i PATH="$PATH" HOME="$work/home" TMPDIR="$work" LC_ALL=C.UTF-8 PYTHONDONTWRITEBYTECODE=1 \
  python3 "$here/press.py" "$bin" "$package" "$work" &
child=$!
wait "$child" || code=$?
child=
case $code in
  0 | 1) exit "$code" ;;
  124 | 137) cannot "stopped after 2 minutes" ;;
  *) cannot "the test broke down" ;;
esac
