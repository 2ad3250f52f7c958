#!/usr/bin/env bash
# Test of the parser against a JavaScript engine: random texts, and lines of sessions that were damaged,
# are given to both. Do they accept the same texts, and read the same values out of them?
#
# usage: run.sh [COUNT [SEED]]
#
#   COUNT   how many texts (default: 1000000, which takes half a minute)
#   SEED    another seed makes other texts (default: 1)
#
# Environment: PROFILE  profile of cargo that it is built with (default: bench). With `dev` what the tests
#                       built is used again, and an overflow of a number is noticed; the texts take twice as long.
#
# Prints the texts on which they differ, and last `N passed, N failed`. Exit 0: all passed; 1: some failed;
# 2: could not run.
#
# Needs Node.js 20.
set -euo pipefail
export LC_ALL=C.UTF-8
here=$(cd "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/others.sh
. "$here/../others.sh"

[ $# -le 2 ] || cannot "usage: run.sh [COUNT [SEED]]"
needs "nodejs coreutils" node timeout
bench=(cargo bench --locked --profile "${PROFILE:-bench}" --bench parser)
(cd "$package" && "${bench[@]}" --no-run) || cannot "the build failed"
trap end_child EXIT
trap 'exit 2' INT TERM HUP

code=0
cd -- "$package"
watched 14400 node "$here/parser.mjs" "${1:-1000000}" "${2:-1}" "$package/tests/data" \
  "${bench[@]}" --quiet || code=$?
case $code in
  0) ;;
  3) exit 1 ;;
  124 | 137) cannot "stopped after four hours" ;;
  *) cannot "the test broke down" ;;
esac
