#!/usr/bin/env bash
# Mutants of the core: changes one expression or function body at a time, and looks whether a unit test fails then.
# A mutant that nobody notices is a rule without a test. There are some 2300.
#
# usage: mutants.sh [SHARD [OUTPUT]]
#
#   SHARD   which part, counted from 0: `3/10` is the fourth of ten (default: 0/10)
#   OUTPUT  a folder for the results, `mutants.out` in it (default: the temporary folder)
#
# Exit 0: all are caught; 1 to 4: as `cargo mutants` says; 2 also: could not run. Works on a copy of the package.
#
# Needs cargo-mutants (`cargo install cargo-mutants --locked`).
set -euo pipefail
cd "$(dirname -- "${BASH_SOURCE[0]}")/.."

command -v cargo-mutants >/dev/null || { echo "cargo-mutants is missing: \`cargo install cargo-mutants --locked\`" >&2; exit 2; }
files=()
for room in json read edit disk; do files+=(--file "src/core/$room/**"); done
# Each part has mutants of all files. Only the unit tests are built, which a mutant has to fail.
exec cargo mutants "${files[@]}" --shard "${1:-0/10}" --sharding round-robin --timeout 120 --output "${2:-${TMPDIR:-/tmp}}" \
  --cargo-arg=--lib --cargo-arg=--locked
