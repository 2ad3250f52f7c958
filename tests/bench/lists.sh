#!/usr/bin/env bash
# Measures lists of a store of 3000 sessions side by side and prints Markdown tables: session-tree, the agents' own
# lists, and the scripts that people write with grep, ripgrep and jq. All files are in the page cache. A last table
# has the peaks of memory of lists of 1000 and 10 000 small sessions.
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
# Needs bash, hyperfine, jq, ripgrep and GNU time (Debian packages: hyperfine jq ripgrep time).
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
for tool in hyperfine jq rg /usr/bin/time; do
  command -v "$tool" >/dev/null || {
    echo "error: \`$tool\` is missing: apt-get install hyperfine jq ripgrep time" >&2
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

# Makes so many sessions of a prompt and an answer.
small() {
  local folder=$workdir/small$1 at id project started
  [ ! -d "$folder" ] || return 0
  mkdir -p "$folder.part"/--home-mia-src-project{0..19}--
  for ((at = 0; at < $1; at++)); do
    printf -v id '%08x-9c4a-77e3-8269-%012x' $((at * 40503 % 65536 * 65521)) "$at"
    printf -v started '2026-%02d-%02dT10:%02d:%02d.000Z' $((at % 12 + 1)) $((at % 28 + 1)) $((at % 60)) $((at * 7 % 60))
    project=project$((at % 20))
    printf '%s\n' \
      "{\"type\":\"session\",\"version\":3,\"id\":\"$id\",\"timestamp\":\"$started\",\"cwd\":\"/home/mia/src/$project\"}" \
      "{\"type\":\"message\",\"id\":\"aaaa0001\",\"parentId\":null,\"timestamp\":\"$started\",\"message\":{\"role\":\"user\",\"content\":\"Why does the login test fail one time in five? This is number $at\"}}" \
      "{\"type\":\"message\",\"id\":\"aaaa0002\",\"parentId\":\"aaaa0001\",\"timestamp\":\"$started\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"Let me look at it.\"}],\"provider\":\"anthropic\",\"model\":\"claude-sonnet-4-5\",\"usage\":{\"input\":5,\"output\":7,\"totalTokens\":12,\"cost\":{\"total\":0.01}}}}" \
      >"$folder.part/--home-mia-src-$project--/${started//[:.]/-}_$id.jsonl"
  done
  mv -- "$folder.part" "$folder"
}

# Prints the lowest peak of a few runs, in kB.
peak() {
  local run
  for ((run = 0; run < ${RUNS:-5}; run++)); do
    # A search that finds nothing says no.
    /usr/bin/time -f %M -o "$workdir/peak" "$@" >"$workdir/out" || [ $? -eq 1 ]
    tail -n 1 "$workdir/peak"
  done | sort -n | head -n 1
}

small 1000
small 10000
echo "| peak of memory | 1000 small sessions | 10 000 | bytes a session |"
echo "|---|--:|--:|--:|"
for options in "" "--long" "--format jsonl" "--long --json" "--search zzyzx"; do
  read -ra words <<<"$options"
  few=$(peak "$bin" list --quiet "$workdir/small1000" "${words[@]}")
  many=$(peak "$bin" list --quiet "$workdir/small10000" "${words[@]}")
  echo "| \`list${options:+ $options}\` | $few kB | $many kB | $(((many - few) * 1024 / 9000)) |"
done
