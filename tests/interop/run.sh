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
# the files in question are kept; 2: could not run.
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

for tool in npm node flock timeout; do
  command -v "$tool" >/dev/null || cannot "\`$tool\` is missing (Debian packages: npm nodejs util-linux coreutils)"
done

if [ "${1:--}" = - ]; then
  (cd "$package" && cargo build --release --locked) || cannot "the build failed"
  bin=${CARGO_TARGET_DIR:-$package/target}/release/session-tree
else
  bin=$1
fi
[ -x "$bin" ] || cannot "\`$bin\` cannot be run"
bin=$(realpath -- "$bin")

# Programs are run from this folder, so it had better be ours alone.
(umask 077 && mkdir -p -- "$folder") || cannot "cannot make \`$folder\`"
[ -O "$folder" ] || cannot "\`$folder\` belongs to somebody else"

# Asks for every package that is to be there, and for nothing that is there already.
install_agents() {
  cmp -s -- "$here/package.json" "$folder/installed.json" && return
  echo "installing the agents in $folder" >&2
  rm -f -- "$folder/installed.json"
  cp -- "$here/package.json" "$folder/package.json"
  (cd "$folder" && timeout --kill-after=5 600 npm install --no-audit --no-fund --ignore-scripts --omit=dev \
    --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=5000 --fetch-timeout=60000 >npm.log 2>&1) || {
    sed -n '1,4s/^npm error/npm:/p' "$folder/npm.log" >&2
    sed -n 's/^ *"\(@[^"]*\)": "\(.*\)".*/missing: \1 \2/p' "$here/package.json" >&2
    cannot "npm could not install the agents; the first time this needs the network (log: $folder/npm.log)"
  }
  cp -- "$here/package.json" "$folder/installed.json"
}

exec 9>"$folder/.lock"
flock -w 900 9 || cannot "another run has been installing in \`$folder\` for 15 minutes"
install_agents
exec 9>&-

bun=$folder/node_modules/@oven/bun-linux-x64/bin/bun
[ -x "$bun" ] || cannot "\`$bun\` is missing; delete \`$folder\` and run this again"

# Files of failed runs are kept for a day.
find "$folder" -maxdepth 1 -name 'run.*' -mmin +1440 -exec rm -rf -- {} +
work=$(mktemp -d -- "$folder/run.XXXXXX")
status=2
child=
finish() {
  if [ "$status" = 1 ]; then
    echo "the files are kept in $work" >&2
  else
    rm -rf -- "$work"
  fi
}
interrupted() {
  if [ -n "$child" ]; then
    kill "$child" 2>/dev/null || true
    wait "$child" || true
  fi
  exit 2
}
trap finish EXIT
trap interrupted INT TERM
mkdir -- "$work/home" "$work/tmp"

# The agents get a home of their own: they keep logs and traces of sessions there.
env -i PATH="$PATH" HOME="$work/home" TMPDIR="$work/tmp" LC_ALL=C.UTF-8 TZ=UTC NO_COLOR=1 \
  timeout --kill-after=5 600 "$bun" --no-install "$here/interop.ts" "$bin" "$folder" "$work" &
child=$!
code=0
wait "$child" || code=$?
case $code in
  0) status=0 ;;
  3) status=1 ;;
  124 | 137) cannot "stopped after 10 minutes" ;;
  *) cannot "the test broke down" ;;
esac
exit "$status"
