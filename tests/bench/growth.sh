#!/usr/bin/env bash
# Measures how time grows, in two parts. "profiles": every profile at two sizes, the second ten times the
# first, and every command that reads a session. Prints a Markdown table of the ratios of times; ten times
# the entries should take no more than 13 times as long. "hostile": every command on the sessions of
# shapes.py, by sweep.py; nothing should take more than 2.6 times as long on twice as much.
#
# usage: growth.sh BIN [WORKDIR]
#
#   BIN      the session-tree binary
#   WORKDIR  where the sessions are generated, 0.5 GB, and kept for the next run
#            (default: /tmp/session-tree-growth)
#
# Environment: PARTS     which of "profiles hostile" (default: both)
#              GEN       command that generates (default: cargo bench --quiet --bench generate --)
#              PROFILES  which of "text image small deep bushy" (default: all)
#              RUNS      of every command (default 7); the shortest counts, since noise only adds
#
# Exit 0: nothing grows faster than that; 1: something does; 2: could not run.
#
# Needs hyperfine and jq (Debian packages of these names), and Python for the hostile sessions.
set -euo pipefail
export LC_ALL=C

cannot() {
  echo "error: $*" >&2
  exit 2
}

[[ $# == [12] ]] || cannot "usage: growth.sh BIN [WORKDIR]"
bin=$(realpath -- "$1")
workdir=$(realpath -m -- "${2:-/tmp/session-tree-growth}")
package=$(realpath -- "$(dirname -- "$0")/../..")
runs=${RUNS:-7}
parts=${PARTS:-profiles hostile}
read -ra profiles <<<"${PROFILES:-text image small deep bushy}"
read -ra generator <<<"${GEN:-cargo bench --quiet --bench generate --}"
for tool in hyperfine jq python3; do
  command -v "$tool" >/dev/null || cannot "\`$tool\` is missing: apt-get install hyperfine jq python3"
done
[ -x "$bin" ] || cannot "\`$bin\` cannot be run"
mkdir -p -- "$workdir"
scratch=$(mktemp -d -- "$workdir/scratch.XXXXXX")
trap 'rm -rf -- "$scratch"' EXIT

# Entries of the smaller file: enough that the start of the process does not count.
declare -A entries=([text]=6000 [image]=80 [small]=20000 [deep]=100000 [bushy]=6000)
declare -A commands=(
  [tree]="tree FILE --filter all --format jsonl"
  [text]="tree FILE --width 80"
  [context]="context FILE --json"
  [check]="check FILE --quiet"
  [branch]="branch FILE --at @ --output -"
  [label]="label FILE @ bench --json"
  [navigate]="navigate FILE @~2 --save --json"
)
order=(tree text context check branch label navigate)

main() {
  local grows=0
  case $parts in *profiles*) by_profile || grows=1 ;; esac
  case $parts in *hostile*) on_hostile_sessions || grows=1 ;; esac
  exit "$grows"
}

on_hostile_sessions() {
  local code=0
  python3 "$(dirname -- "$0")/sweep.py" "$bin" "$scratch" || code=$?
  [ "$code" -le 1 ] || cannot "the sweep over hostile sessions could not run"
  return "$code"
}

by_profile() {
  local profile name ratio worst=0
  printf '| profile | entries |'
  printf ' %s |' "${order[@]}"
  printf '\n|---|--:|'
  printf -- '--:|%.0s' "${order[@]}"
  printf '\n'
  for profile in "${profiles[@]}"; do
    [ -n "${entries[$profile]:-}" ] || cannot "no profile is called \`$profile\`"
    provide "$profile" "${entries[$profile]}"
    provide "$profile" $((entries[$profile] * 10))
    printf '| %s | %d → %d |' "$profile" "${entries[$profile]}" $((entries[$profile] * 10))
    for name in "${order[@]}"; do
      ratio=$(growth "$profile" "$name") || exit
      printf ' %s |' "$ratio"
      worst=$(awk -v a="$worst" -v b="${ratio%% *}" 'BEGIN { print (a > b ? a : b) }')
    done
    printf '\n'
  done
  printf '\nTimes at the smaller and at the larger size in brackets; the largest ratio is %s.\n' "$worst"
  awk -v worst="$worst" 'BEGIN { exit !(worst <= 13) }'
}

provide() {
  local file=$workdir/$1-$2.jsonl
  [ -e "$file" ] && return
  (cd "$package" && "${generator[@]}" "$1" --entries "$2" "$file.part") >&2 || cannot "cannot make \`$file\`"
  mv -- "$file.part" "$file"
}

# growth PROFILE NAME: the ratio, and the times.
growth() {
  local small large
  small=$(shortest "$1-${entries[$1]}" "$2") || exit
  large=$(shortest "$1-$((entries[$1] * 10))" "$2") || exit
  awk -v a="$small" -v b="$large" 'BEGIN { printf "%.1f × (%.0f → %.0f ms)", b / a, a * 1000, b * 1000 }'
}

# shortest SESSION NAME: in seconds. What writes gets a copy, which is new for every run.
shortest() {
  local file=$workdir/$1.jsonl copy=$scratch/session.jsonl words prepare=true
  case $2 in label | navigate) prepare="cp -- $(printf %q "$file") $(printf %q "$copy")" file=$copy ;; esac
  read -ra words <<<"${commands[$2]}"
  words=("${words[@]/#FILE/$file}")
  hyperfine -N --style none --ignore-failure --warmup 1 --runs "$runs" --prepare "$prepare" \
    --export-json "$scratch/times.json" "$(printf '%q ' "$bin" "${words[@]}")" >/dev/null
  jq -e 'all(.results[0].exit_codes[]; . == 0 or . == 1)' "$scratch/times.json" >/dev/null ||
    cannot "\`session-tree ${words[*]}\` failed"
  jq '.results[0].min' "$scratch/times.json"
}

main
