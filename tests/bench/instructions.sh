#!/usr/bin/env bash
# Counts the instructions of some fixed runs with callgrind, and fails if one takes over 10 % more
# than is stored in instructions.tsv beside this script.
#
# usage: instructions.sh BIN [WORKDIR]
#
#   BIN      the session-tree binary, built with `cargo build --release --locked`
#   WORKDIR  where the sessions are generated and kept for the next run
#            (default: /tmp/session-tree-instructions)
#
# Environment: GEN                  command that generates (default: cargo bench --quiet --bench generate --)
#              UPDATE_INSTRUCTIONS  not empty: stores what is counted instead of comparing
#
# Exit code: 0 no run is over its ceiling, 1 one is, 2 could not be told (no valgrind, a run failed).
#
# The counts do not depend on the load or the clock of the machine: one thread, the same input, an
# empty environment. The seeds of hash tables differ from run to run: under 0.01 %. They depend on
# the compiler (after a new one they are stored anew), and on AVX2, which memchr and the C library
# ask the processor for. Valgrind hides later extensions, but not the lack of this one: without it
# `check` would count about a tenth more, so there nothing is told.
set -euo pipefail
export LC_ALL=C

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
  sed -n '5s/^# //p' "$0" >&2
  exit 2
fi
command -v valgrind >/dev/null || {
  echo "error: \`valgrind\` is missing: apt-get install valgrind" >&2
  exit 2
}
grep -qw avx2 /proc/cpuinfo || {
  echo "error: the stored counts are those of a processor with AVX2" >&2
  exit 2
}
bin=$(realpath -- "$1")
[ -x "$bin" ] || {
  echo "error: \`$bin\` cannot be run" >&2
  exit 2
}
workdir=$(realpath -m -- "${2:-/tmp/session-tree-instructions}")
here=$(realpath -- "$(dirname -- "$0")")
stored=$here/instructions.tsv
read -ra generator <<<"${GEN:-cargo bench --quiet --bench generate --}"

# NAME, PROFILE, and the arguments before the session.
runs=(
  "tree-jsonl text tree --filter all --format jsonl"
  "tree-text small tree --filter all"
  "check text check"
  "tree-jsonl-real real tree --filter all --format jsonl"
  "tree-jsonl-small small tree --filter all --format jsonl"
  "check-real real check"
  "check-small small check"
  "context-real real context"
  "llm-real real context --format llm"
  "stats-real real context --stats"
)

mkdir -p -- "$workdir"
cd -- "$workdir"
for profile in text small real; do
  [ -e "$profile.jsonl" ] && continue
  (cd -- "$here" && "${generator[@]}" "$profile" --size 4M "$workdir/$profile.part") >&2 || exit 2
  mv -- "$profile.part" "$profile.jsonl"
done

# count PROFILE ARGUMENT...
count() {
  local profile=$1 code=0
  shift
  env -i HOME=/nowhere valgrind --tool=callgrind --callgrind-out-file=/dev/null --log-file=callgrind.log \
    "$bin" "$@" --jobs 1 "$profile.jsonl" >/dev/null 2>errors.log || code=$?
  # `check` says 1 of what it finds.
  [ "$code" -le 1 ] || return 2
  sed -n 's/^.*Collected : \([0-9]*\).*$/\1/p' callgrind.log
}

counted=
worst=0
for run in "${runs[@]}"; do
  read -r name profile arguments <<<"$run"
  read -ra arguments <<<"$arguments"
  now=$(count "$profile" "${arguments[@]}") || now=
  [ -n "$now" ] || {
    echo "error: \`$bin ${arguments[*]}\` cannot be counted" >&2
    cat callgrind.log errors.log >&2
    exit 2
  }
  counted+="$name"$'\t'"$now"$'\n'
  [ -z "${UPDATE_INSTRUCTIONS:-}" ] || continue
  before=$(sed -n "s/^$name\t//p" "$stored")
  [ -n "$before" ] || {
    echo "error: no count of \`$name\` is stored: UPDATE_INSTRUCTIONS=1 stores one" >&2
    exit 2
  }
  awk -v name="$name" -v now="$now" -v before="$before" 'BEGIN {
    over = now > before * 1.1
    printf "%-16s %12d instructions, %12d stored, %+.2f %%%s\n", name, now, before, (now / before - 1) * 100, over ? ": too many" : ""
    exit over
  }' || worst=1
done
if [ -n "${UPDATE_INSTRUCTIONS:-}" ]; then
  printf %s "$counted" | tee -- "$stored"
fi
exit "$worst"
