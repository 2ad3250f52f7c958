#!/usr/bin/env bash
# Measures lists of a store of 3000 sessions side by side and prints Markdown tables: session-tree, the agents' own
# lists, and the scripts that people write with grep, ripgrep and jq. All files are in the page cache.
#
# usage: lists.sh BIN [PEERS|- [WORKDIR]]
#
#   BIN      the session-tree binary
#   PEERS    a folder with node_modules of the published agents pi and omp, and of bun; without it their rows stay away
#   WORKDIR  where the store is generated, 0.3 GB, and kept for the next run (default: /tmp/session-tree-lists)
#
# Environment: GEN   command that generates (default: cargo bench --quiet --bench generate --)
#              RUNS  of each program (default 5)
#              FILES sessions in the store (default 3000)
#
# Needs bash, hyperfine, jq and ripgrep (Debian packages: hyperfine jq ripgrep).
set -euo pipefail
export LC_ALL=C

if [ $# -lt 1 ] || [ $# -gt 3 ]; then
  sed -n '5s/^# //p' "$0" >&2
  exit 2
fi
bin=$(realpath -- "$1")
peers=${2:--}
[ "$peers" = - ] || peers=$(realpath -- "$peers")
workdir=$(realpath -m -- "${3:-/tmp/session-tree-lists}")
package=$(realpath -- "$(dirname -- "$0")/../..")
read -ra generator <<<"${GEN:-cargo bench --quiet --bench generate --}"
for tool in hyperfine jq rg; do
  command -v "$tool" >/dev/null || {
    echo "error: \`$tool\` is missing: apt-get install hyperfine jq ripgrep" >&2
    exit 2
  }
done

# Both agents find the store where they keep sessions.
home=$HOME
export HOME=$workdir/home
store=$HOME/.pi/agent/sessions
project=$store/--home-mia-src-project0--
if [ ! -d "$store" ]; then
  mkdir -p "$HOME/.pi/agent" "$HOME/.omp/agent"
  (cd "$package" && HOME=$home "${generator[@]}" store --files "${FILES:-3000}" "$store.part") >&2
  # A word that one session in a hundred has.
  find "$store.part" -name '*.jsonl' | sort | awk 'NR % 100 == 1' | while read -r file; do
    printf '%s\n' '{"type":"message","id":"feed5eed","parentId":null,"timestamp":"2026-06-01T00:00:00.000Z","message":{"role":"user","content":"where is the marmalade"}}' >>"$file"
  done
  mv -- "$store.part" "$store"
  ln -s "$store" "$HOME/.omp/agent/sessions"
fi

# The same bytes as one session.
[ -e "$workdir/all.jsonl" ] || find "$store" -name '*.jsonl' -exec cat {} + >"$workdir/all.jsonl"

cat >"$workdir/theirs.mjs" <<'JS'
const [agent, peers, folder] = process.argv.slice(2);
const path = { pi: "@earendil-works/pi-coding-agent/dist/core/session-manager.js", omp: "@oh-my-pi/pi-coding-agent/src/session/session-manager.ts" };
const { SessionManager } = await import(`${peers}/node_modules/${path[agent]}`);
const found = folder ? await SessionManager.list("/home/mia/src/project0", folder) : await SessionManager.listAll();
console.log(found.length);
JS
cat >"$workdir/row.jq" <<'JQ'
[inputs | select(.type == "message") | .message] as $m
| { path: input_filename, messages: ($m | length), turns: ([$m[] | select(.role == "user")] | length),
    cost: ([$m[].usage.cost.total? // 0] | add) }
JQ

# Prints a table: session-tree first, then "NAME" "COMMAND"...
table() {
  local title=$1 json=$workdir/times.json names=() commands=() at
  shift
  while [ $# -gt 0 ]; do
    names+=("$1")
    commands+=("$2")
    shift 2
  done
  hyperfine --shell bash --style none --ignore-failure --warmup 1 --runs "${RUNS:-5}" --export-json "$json" "${commands[@]}" >&2 2>/dev/null
  echo "| $title | median | ÷ session-tree |"
  echo "|---|--:|--:|"
  for at in "${!names[@]}"; do
    jq -r --arg name "${names[at]}" --argjson at "$at" \
      '"| \($name) | \(.results[$at].median * 1000 | round) ms | \(.results[$at].median / .results[0].median * 10 | round / 10) |"' "$json"
  done
  echo
}

theirs() {
  [ "$peers" = - ] || printf '%q ' "$peers/node_modules/@oven/bun-linux-x64/bin/bun" "$workdir/theirs.mjs" "$1" "$peers" "${@:2}"
}

# What finds the files with a message that holds one or two words; people write it so.
script() {
  local jq='select(.type == "match") | .data | select(.lines.text | fromjson | .message.content | tostring | ascii_downcase
    | contains("'$1'") and contains("'${3:-$1}'")) | .path.text'
  printf "rg --json -i %q %q | jq -r %q | sort -u" "$1" "$2" "$jq"
}

# Leaves out what cannot be run here.
compare() {
  local given=("$@") kept=("$1") at
  for ((at = 1; at < ${#given[@]}; at += 2)); do
    [ -z "${given[at + 1]}" ] || kept+=("${given[at]}" "${given[at + 1]}")
  done
  table "${kept[@]}"
}

files=$(find "$store" -name '*.jsonl' | wc -l)
echo "$files sessions, $(du -sLb "$store" | awk '{ printf "%.0f MB", $1 / 1e6 }'), $(nproc) cores."
echo
compare "all sessions" "\`list --all\`" "$bin list --all" \
  "\`list --all --jobs 1\`" "$bin list --all --jobs 1" \
  "pi \`listAll\`" "$(theirs pi)" "omp \`listAll\`" "$(theirs omp)" \
  "\`head -n 1\` and jq" "find $store -name '*.jsonl' -exec head -qn 1 {} + | jq -r '[.id, .timestamp, .cwd] | @tsv'"
compare "the sessions of a folder" "\`list FOLDER\`" "$bin list $project" \
  "pi \`list\`" "$(theirs pi "$project")" "omp \`list\`" "$(theirs omp "$project")"
compare "with totals" "\`list --all --long\`" "$bin list --all --long" \
  "\`tree FILE\`, all files as one" "$bin tree $workdir/all.jsonl --filter labeled-only" \
  "jq on each file" "find $store -name '*.jsonl' | xargs -P 2 -n 1 jq -nc -f $workdir/row.jq"
compare "with a rare word" "\`list --all --search\`" "$bin list --all --search marmalade" \
  "\`grep -rl\`" "grep -rl marmalade $store" "\`rg -l\`" "rg -l marmalade $store" \
  "\`rg --json\` and jq" "$(script marmalade "$store")"
compare "a folder, with words that most hold" "\`list FOLDER --search\`" "$bin list $project --search 'handler cursor'" \
  "\`rg --json\` and jq" "$(script handler "$project" cursor)"
