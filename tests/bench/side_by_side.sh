#!/usr/bin/env bash
# Measures whole processes side by side, in one run on one machine, and prints Markdown tables:
# session-tree, `wc -l` (the floor: one pass over the bytes), jq (what a script uses, to print rows with
# the same members but without the tree), and the loaders of the agents pi and omp. All output goes to /dev/null, all files are in the page cache.
#
# usage: side_by_side.sh BIN [PEERDIR|- [WORKDIR]]
#
#   BIN      the session-tree binary
#   PEERDIR  a folder whose `run.sh time pi|omp FILE` opens FILE in the published agent and prints
#            {"open": ms, "tree": ms, ...}; without it these columns stay empty
#   WORKDIR  where the sessions are generated, 0.6 GB, and kept for the next run
#            (default: /tmp/session-tree-bench)
#
# Environment: GEN       command that generates (default: cargo bench --quiet --bench generate --)
#              STAGES    command that measures stages (default: cargo bench --quiet --bench stages --)
#              SESSIONS  which of "text160 real160 image77 small147 text1 deep1m bushy" (default: all)
#              REAL      a session file, whose entries are repeated to 190 MB as session `repeated` (default: none)
#              RUNS      of session-tree and wc (default 15); jq gets 5, the agents 3
#
# Needs hyperfine, jq and GNU time (Debian packages: hyperfine jq time). With the Python package pysimdjson the parser
# is also measured beside that of simdjson.
set -euo pipefail
export LC_ALL=C

usage() {
  sed -n '6s/^# //p' "$0" >&2
  exit 2
}

if [ $# -lt 1 ] || [ $# -gt 3 ]; then
  usage
fi
bin=$(realpath -- "$1")
peer=
case ${2:--} in
  -) ;;
  *) peer=$(realpath -- "$2")/run.sh ;;
esac
workdir=$(realpath -m -- "${3:-/tmp/session-tree-bench}")
package=$(realpath -- "$(dirname -- "$0")/../..")
load=$(cut -d ' ' -f 1 /proc/loadavg)
runs=${RUNS:-15}
read -ra sessions <<<"${SESSIONS:-text160 real160 image77 small147 text1 deep1m bushy}"
real=${REAL:+$(realpath -- "$REAL")}
sessions+=(${real:+repeated})
read -ra stages <<<"${STAGES:-cargo bench --quiet --bench stages --}"
read -ra generator <<<"${GEN:-cargo bench --quiet --bench generate --}"

for tool in hyperfine jq /usr/bin/time; do
  command -v "$tool" >/dev/null || {
    echo "error: \`$tool\` is missing: apt-get install hyperfine jq time" >&2
    exit 2
  }
done
[ -x "$bin" ] || {
  echo "error: \`$bin\` cannot be run" >&2
  exit 2
}
if [ -n "$peer" ] && [ ! -x "$peer" ]; then
  echo "no \`$peer\`: without the agents" >&2
  peer=
fi

# The agents work on a copy, which they leave in the temporary folder.
scratch=$workdir/scratch
results=$workdir/results
mkdir -p "$scratch" "$results"
trap 'rm -rf -- "$scratch"' EXIT
export TMPDIR=$scratch

# The members of a row that a script can give without the tree, the first words of the text among them.
jq_row='{id, parentId, type, role: .message.role?, timestamp, text: ((.message.content // "")
  | if type == "string" then . else map(.text? // "") | join(" ") end)[0:200]}'
declare -A generate=(
  [text160]="text --size 160M"
  [real160]="real --size 160M"
  [image77]="image --size 77M"
  [small147]="small --entries 200000"
  [text1]="text --size 1M"
  [deep1m]="deep --entries 1000000"
  [bushy]="bushy --entries 60000"
)
declare -A median range memory own_clock

main() {
  local session
  for session in "${sessions[@]}"; do
    [ -n "${generate[$session]:-}" ] || [ "$session" = repeated ] || {
      echo "error: no session is called \`$session\`" >&2
      exit 2
    }
    provide "$session"
  done
  for session in "${sessions[@]}"; do
    measure "$session"
  done
  hyperfine -N --style basic --warmup 10 --runs 100 --export-json "$results/version.json" \
    "$(quoted "$bin") --version" >&2
  print_machine
  print_times
  print_commands
  print_parsers
  print_memory
}

provide() {
  local file=$workdir/$1.jsonl profile
  [ -e "$file" ] && return
  if [ "$1" = repeated ]; then
    local at
    for ((at = 190000000 / $(stat -c %s -- "$real"); at > 0; at--)); do
      tail -n +2 -- "$real"
    done | cat <(head -n 1 -- "$real") - >"$file.part"
    mv -- "$file.part" "$file"
    return
  fi
  read -ra profile <<<"${generate[$1]}"
  (cd "$package" && "${generator[@]}" "${profile[@]}" "$file.part") >&2
  mv -- "$file.part" "$file"
}

# Fills the arrays, by "SESSION PROGRAM".
measure() {
  local session=$1 file=$workdir/$1.jsonl agent
  local ours jq_rows
  ours="$(quoted "$bin") tree --filter all --format jsonl $(quoted "$file")"
  jq_rows="jq -c '$jq_row' $(quoted "$file")"

  take_memory "$session ours" "$bin" tree --filter all --format jsonl "$file"
  take_memory "$session jq" jq -c "$jq_row" "$file"
  take_times "$session" "$runs" 3 ours "$ours" wc "wc -l $(quoted "$file")"
  take_times "$session" 5 1 jq "$jq_rows"
  case $session in
    text160 | real160 | small147 | repeated)
      take_times "$session" "$runs" 3 load "$(ours_for "$session" load)" label "$(ours_for "$session" label)" \
        check "$(ours_for "$session" check)" llm "$(ours_for "$session" llm)" \
        context "$(ours_for "$session" context)" stats "$(ours_for "$session" stats)"
      ;;
  esac
  [ -n "$peer" ] || return 0
  for agent in pi omp; do
    take_memory "$session $agent" timeout 600 "$peer" time "$agent" "$file"
    # An agent that fails says so on stdout and ends well all the same.
    if ! loading <"$scratch/stdout" >/dev/null 2>&1 || [ "${memory["$session $agent"]}" = fails ]; then
      memory["$session $agent"]=fails
      continue
    fi
    # The run for the memory was the warm-up.
    take_times "$session" 3 0 "$agent" "$(quoted "$peer") time $agent $(quoted "$file")"
    own_clock["$session $agent"]=$(loading <"$results/$session-$agent.stdout")
  done
}

# ours_for SESSION NAME: a command for hyperfine; `load` reads everything and prints nothing.
ours_for() {
  local words
  case $2 in
    load) words="tree --filter labeled-only" ;;
    label | check | context) words=$2 ;;
    llm) words="context --format llm" ;;
    stats) words="context --stats" ;;
  esac
  echo "$(quoted "$bin") $words $(quoted "$workdir/$1.jsonl")"
}

# The seconds that the agent itself counts for opening the file and building the tree.
loading() {
  jq -e '(.open + .tree) / 1000'
}

# take_times SESSION RUNS WARMUP (PROGRAM COMMAND)...
take_times() {
  local session=$1 count=$2 warmup=$3 json commands=() names=() extra=() index name
  shift 3
  json=$results/$session-$1.json
  case $1 in
    pi | omp)
      # hyperfine keeps what the last run printed.
      extra=(--output "$results/$session-$1.stdout" --prepare "find $(quoted "$scratch") -mindepth 1 -delete")
      ;;
  esac
  while [ $# -gt 0 ]; do
    names+=(--command-name "$1")
    commands+=("$2")
    shift 2
  done
  # A check that finds something says 1.
  hyperfine -N --style basic --ignore-failure --warmup "$warmup" --runs "$count" --export-json "$json" \
    "${extra[@]}" "${names[@]}" "${commands[@]}" >&2
  for index in "${!commands[@]}"; do
    name=${names[2 * index + 1]}
    median["$session $name"]=$(jq ".results[$index].median" "$json")
    range["$session $name"]=$(jq -r ".results[$index] | \"\(.min) \(.max)\"" "$json")
  done
}

# take_memory KEY COMMAND...: the peak of resident memory in kB; what it prints goes to a file.
take_memory() {
  local key=$1
  shift
  if /usr/bin/time -f %M -o "$scratch/peak" "$@" >"$scratch/stdout"; then
    memory[$key]=$(tail -n 1 "$scratch/peak")
  else
    memory[$key]=fails
  fi
}

print_machine() {
  local cpu total
  cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
  total=$(awk '/^MemTotal/ { printf "%.0f GB", $2 / 1e6 }' /proc/meminfo)
  echo "$(date -u +%Y-%m-%d), ${cpu:-unknown processor}, $(nproc) cores, $total, Linux $(uname -r)," \
    "load at the start $load."
  echo "$("$bin" --version), $(wc --version | head -n 1), $(jq --version), $(hyperfine --version)$(agent_versions)."
  echo
}

agent_versions() {
  local name manifest
  [ -n "$peer" ] || return 0
  for name in earendil-works oh-my-pi; do
    manifest=$(dirname -- "$peer")/node_modules/@$name/pi-coding-agent/package.json
    [ -r "$manifest" ] && jq -j '", \(.name) \(.version)"' "$manifest"
  done
}

print_times() {
  local session ours agent
  echo "Medians of whole processes (shortest–longest run); ratios in brackets: the program's time ÷ session-tree's."
  echo
  echo "| session | size | entries | session-tree | ÷ \`wc -l\` | \`wc -l\` | jq | pi | omp |"
  echo "|---|--:|--:|--:|--:|--:|--:|--:|--:|"
  for session in "${sessions[@]}"; do
    ours=${median["$session ours"]}
    printf '| %s | %s | %s | %s | %s |' "$session" "$(size "$session")" "$(entries "$session")" \
      "$(seconds "$ours") ($(span "$session ours"))" "$(ratio "$ours" "${median["$session wc"]}")"
    for agent in wc jq pi omp; do
      printf ' %s |' "$(compared "$session $agent" "$ours")"
    done
    echo
  done
  echo
  echo "\`session-tree --version\`: $(seconds "$(jq '.results[0].median' "$results/version.json")")." \
    "The agents' times hold the start of their runtime and a copy of the file; their loading alone, by their own clock, is below."
  echo
}

print_commands() {
  local session name printed
  echo "| session | \`wc -l\` | \`tree --filter labeled-only\` | \`label\` | \`check\` | \`context --format llm\` | \`context\` | \`context --stats\` |"
  echo "|---|--:|--:|--:|--:|--:|--:|--:|"
  for session in "${sessions[@]}"; do
    [ -n "${median["$session load"]:-}" ] || continue
    printf '| %s | %s |' "$session" "$(seconds "${median["$session wc"]}")"
    for name in load label check llm context stats; do
      printf ' %s (%s wc' "$(seconds "${median["$session $name"]}")" "$(ratio "${median["$session $name"]}" "${median["$session wc"]}")"
      case $name in
        llm | context)
          printed=$(eval "$(ours_for "$session" "$name")" | wc -c)
          awk -v n="$printed" -v t="${median["$session $name"]}" 'BEGIN { printf ", %.0f MB/s of %.0f MB printed", n / t / 1e6, n / 1e6 }'
          ;;
        stats) printf ', %s the load' "$(ratio "${median["$session stats"]}" "${median["$session load"]}")" ;;
      esac
      printf ') |'
    done
    echo
  done
  echo
}

# The parser alone, on one core and in memory that is warm, beside the DOM of simdjson, a line at a time.
print_parsers() {
  local session ours theirs
  echo "| session | parser | simdjson |"
  echo "|---|--:|--:|"
  for session in text160 real160 small147 repeated; do
    [ -n "${median["$session ours"]:-}" ] || continue
    ours=$(cd "$package" && "${stages[@]}" "$workdir/$session.jsonl" --runs 5 | awk -F'|' '$2 ~ /envelope/ { print $4 }')
    theirs=$(python3 - "$workdir/$session.jsonl" 2>/dev/null <<'END' || echo –
import sys, time, simdjson

lines = open(sys.argv[1], "rb").read().splitlines()
parser = simdjson.Parser()

def once():
    start = time.perf_counter()
    for line in lines:
        parser.parse(line)
    return time.perf_counter() - start

print(f"{sum(map(len, lines)) / min(once() for _ in range(5)) / 1e6:.0f}")
END
    )
    echo "| $session | $((ours)) MB/s | $theirs MB/s |"
  done
  echo
}

print_memory() {
  local session program
  echo "| session | 32 MB + 400 bytes an entry | peak: session-tree | jq | pi | omp | pi, loading alone | omp, loading alone |"
  echo "|---|--:|--:|--:|--:|--:|--:|--:|"
  for session in "${sessions[@]}"; do
    printf '| %s | %s MB |' "$session" "$(awk -v n="$(entries "$session")" 'BEGIN { printf "%.0f", 32 + n * 400 / 1e6 }')"
    for program in ours jq pi omp; do
      printf ' %s |' "$(megabytes "${memory["$session $program"]:-–}")"
    done
    for program in pi omp; do
      printf ' %s |' "$(compared_clock "$session $program" "${median["$session ours"]}")"
    done
    echo
  done
}

compared() {
  local time=${median[$1]:-}
  if [ -n "$time" ]; then
    echo "$(seconds "$time") ($(ratio "$time" "$2"))"
  else
    not_measured "$1"
  fi
}

compared_clock() {
  local time=${own_clock[$1]:-null}
  if [ "$time" != null ]; then
    echo "$(seconds "$time") ($(ratio "$time" "$2"))"
  else
    not_measured "$1"
  fi
}

not_measured() {
  if [ "${memory[$1]:-}" = fails ]; then echo fails; else echo –; fi
}

seconds() {
  awk -v t="$1" 'BEGIN {
    if (t < 0.01) printf "%.1f ms", t * 1000
    else if (t < 1) printf "%.0f ms", t * 1000
    else printf "%.2f s", t
  }'
}

# The shortest and the longest run, in milliseconds.
span() {
  awk -v r="${range[$1]}" 'BEGIN { split(r, t, " "); d = t[2] < 0.01 ? 1 : 0; printf "%.*f–%.*f", d, t[1] * 1000, d, t[2] * 1000 }'
}

ratio() {
  awk -v a="$1" -v b="$2" 'BEGIN { r = a / b; printf (r < 1 ? "%.2f ×" : r < 20 ? "%.1f ×" : "%.0f ×"), r }'
}

megabytes() {
  case $1 in
    *[!0-9]*) echo "$1" ;;
    *) awk -v k="$1" 'BEGIN { printf (k < 10000 ? "%.1f MB\n" : "%.0f MB\n"), k * 1024 / 1e6 }' ;;
  esac
}

size() {
  stat -c %s -- "$workdir/$1.jsonl" | awk '{ printf ($1 < 1e7 ? "%.1f MB" : "%.0f MB"), $1 / 1e6 }'
}

# Lines without the header.
entries() {
  echo $(($(wc -l <"$workdir/$1.jsonl") - 1))
}

# A word for hyperfine, which splits like a shell.
quoted() {
  printf %q "$1"
}

main
