#!/usr/bin/env bash
# Test of work over many sessions: on a made-up store of 2000, whose sums are known, DuckDB answers questions by the rows
# of `list` and `tree`, and xargs makes one task of each file. Installs DuckDB from PyPI (version: requirements.txt beside
# this script), 25 MB once. spark.py does the same with Spark, and is run by hand.
#
# usage: run.sh [BIN|- [FOLDER]]
#
#   BIN     the session-tree binary (default: build one)
#   FOLDER  where DuckDB is installed, kept for the next run
#           (default: ${XDG_CACHE_HOME:-/tmp}/session-tree-scale)
#
# Environment: GEN  command that generates (default: cargo bench --quiet --bench generate --)
#
# Prints a line a check, and last `N passed, N failed`. Exit 0: all passed; 1: some failed; 2: could not run.
#
# Needs python3 with pip (Debian packages: python3 python3-pip) and 1.2 GB in the temporary folder.
set -euo pipefail
export LC_ALL=C.UTF-8
here=$(cd "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/others.sh
. "$here/../others.sh"

[ $# -le 2 ] || cannot "usage: run.sh [BIN|- [FOLDER]]"
folder=$(realpath -m -- "${2:-${XDG_CACHE_HOME:-/tmp}/session-tree-scale}")
needs "python3 findutils coreutils util-linux" python3 xargs flock timeout
find_binary "${1:--}"
install_from_pypi DuckDB "$folder"
work=$(mktemp -d)
# shellcheck disable=SC2317 # called by the trap
finish() {
  end_child
  rm -rf -- "$work"
}
trap finish EXIT
trap 'exit 2' INT TERM HUP

read -ra generator <<<"${GEN:-cargo bench --quiet --bench generate --}"
(cd "$package" && "${generator[@]}" store --files 2000 --tools --truth "$work/truth.json" "$work/store") >&2 ||
  cannot "no sessions could be made"
run() { watched 180 env -i PATH="$PATH" HOME="$work" TMPDIR="$work" PYTHONPATH="$folder/python" "$@"; }
# A script that breaks down has failed, and has said why.
{ run python3 "$here/duck.py" "$bin" "$work/store" "$work/truth.json" "$work" >"$work/checks"; } || echo "     DuckDB: exit code $?"
{ run bash "$here/tasks.sh" "$bin" "$work/store" "$work" >>"$work/checks"; } || echo "     xargs: exit code $?"
cat -- "$work/checks"
passed=$(grep -c '^ok ' "$work/checks" || true)
# Each check has to have run.
checks=10
echo "$passed passed, $((checks - passed)) failed"
[ "$passed" -eq "$checks" ]
