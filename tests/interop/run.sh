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
# Needs npm, Node.js and Linux on x86-64.
set -euo pipefail
export LC_ALL=C

cannot() {
  echo "error: $*" >&2
  exit 2
}

[ $# -le 2 ] || cannot "usage: run.sh [BIN|- [FOLDER]]"
here=$(cd "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
package=$(cd "$here/../.." && pwd)
folder=$(realpath -m -- "${2:-${XDG_CACHE_HOME:-/tmp}/session-tree-interop}")
work=
child=
failed=

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
  flock -w 900 9 || cannot "another run has been installing in \`$folder\` for 15 minutes"
  cmp -s -- "$here/package.json" "$folder/installed.json" || install_agents
  exec 9>&-
  bun=$folder/node_modules/@oven/bun-linux-x64/bin/bun
  [ -x "$bun" ] || cannot "\`$bun\` is missing; delete \`$folder\` and run this again"

  find "$folder" -maxdepth 1 -name 'run.*' -mmin +1440 -exec rm -rf -- {} +
  work=$(mktemp -d -- "$folder/run.XXXXXX")
  mkdir -- "$work/home" "$work/tmp"
  # The agents get a home of their own: they keep logs and traces of sessions there.
  watched 600 env -i PATH="$PATH" HOME="$work/home" TMPDIR="$work/tmp" LC_ALL=C.UTF-8 TZ=UTC NO_COLOR=1 \
    "$bun" --no-install "$here/interop.ts" "$bin" "$folder" "$work" || code=$?
  case $code in
    0) ;;
    3) failed=yes && exit 1 ;;
    124 | 137) cannot "stopped after 10 minutes" ;;
    *) cannot "the test broke down" ;;
  esac
}

# Asks for nothing that is there already.
install_agents() {
  echo "installing the agents in $folder" >&2
  rm -f -- "$folder/installed.json"
  cp -- "$here/package.json" "$folder/package.json"
  cd -- "$folder"
  # Without network npm would try every package for minutes. (A mirror may not know what a ping is.)
  watched 60 npm ping --fetch-retries=1 --fetch-retry-mintimeout=1000 >npm.log 2>&1 ||
    grep -q 'E40[0-9]' npm.log || not_installed
  watched 600 npm install --no-audit --no-fund --ignore-scripts --omit=dev >npm.log 2>&1 || not_installed
  cd -- "$package"
  cp -- "$here/package.json" "$folder/installed.json"
}

not_installed() {
  sed -n '1,6s/^npm error/npm:/p' "$folder/npm.log" >&2
  sed -n 's/^ *"\(@[^"]*\)": "\(.*\)".*/missing: \1 \2/p' "$here/package.json" >&2
  cannot "npm could not install the agents; the first time this needs the network (log: $folder/npm.log)"
}

# watched SECONDS COMMAND...: ends with us, or when the time is over, with all that it started.
watched() {
  local code=0
  timeout --kill-after=5 "$@" &
  child=$!
  wait "$child" || code=$?
  child=
  return "$code"
}

# shellcheck disable=SC2317 # called by the trap
finish() {
  if [ -n "$child" ]; then
    kill "$child" 2>/dev/null || true
    wait "$child" || true
  fi
  if [ -n "$failed" ]; then
    echo "the files are kept in $work" >&2
  elif [ -n "$work" ]; then
    rm -rf -- "$work"
  fi
}

trap finish EXIT
trap 'exit 2' INT TERM HUP

for tool in npm node flock timeout; do
  command -v "$tool" >/dev/null || cannot "\`$tool\` is missing (Debian packages: npm nodejs util-linux coreutils)"
done
main "${1:--}"
