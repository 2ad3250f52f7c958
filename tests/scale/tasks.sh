#!/usr/bin/env bash
# One file is one task: xargs runs the program on each file of a store by itself, and all rows together are those of one
# run over all files. What is no session ends its own task alone, and says which file it is.
#
# usage: tasks.sh BIN STORE WORK
set -euo pipefail
export LC_ALL=C BIN=$1 OUT=$3/tasks
store=$2 work=$3 failed=0
mkdir -p -- "$OUT"
printf 'just text\n' >"$store/text.jsonl"
: >"$store/empty.jsonl"
find "$store" -name '*.jsonl' | sort >"$work/paths"

# tasks COMMAND: runs a line of shell for each file, as many at once as there are cores; prints how xargs ended.
tasks() {
  local code=0
  tr '\n' '\0' <"$work/paths" | xargs -0 -P "$(nproc)" -n 1 sh -c "$1" task || code=$?
  echo "$code"
}

# together ENDING: what all tasks have written, in the order of the files.
together() {
  (cd -- "$OUT" && sed "s|.*/||; s|\$|$1|" "$work/paths" | tr '\n' '\0' | xargs -0 cat --)
}

# is NAME FILE FILE: both are the same.
is() {
  if cmp -- "$2" "$3"; then
    echo "ok   xargs: $1"
  else
    echo "FAIL xargs: $1"
    failed=$((failed + 1))
  fi
}

# Every task has a file of its own: lines of several writers would be mixed up in one.
# shellcheck disable=SC2016 # it is for the shell of the task
tree='"$BIN" tree - --stdin-name "$1" --filter all --format jsonl <"$1" >"$OUT/${1##*/}" 2>"$OUT/${1##*/}.err"'
tasks "$tree" >"$work/code"
together "" >"$work/of-tasks"
"$BIN" tree --files-from "$work/paths" --filter all --format jsonl >"$work/of-all" 2>"$work/errors-of-all" || true
is "rows of trees are those of one run" "$work/of-tasks" "$work/of-all"

# A row is short enough to be written at once, so that all tasks may write into one pipe.
# What a fork shares is known only where its parent is listed, and a stream has no time.
alone() { sed -E 's/"written":[^,]*,//; s/"parentPath":"[^"]*",//; s/,"ownUsage":\{[^}]*\}//' | sort; }
# shellcheck disable=SC2016 # it is for the shell of the task
tasks '"$BIN" list - --stdin-name "$1" --long --format jsonl <"$1" 2>>"$OUT/list.err"' | grep '^{' | alone >"$work/of-tasks"
"$BIN" list --files-from "$work/paths" --long --format jsonl 2>/dev/null | alone >"$work/of-all" || true
is "rows of lists are those of one run" "$work/of-tasks" "$work/of-all"

# xargs says 123 where a task has failed, and each of them said why, with its path.
together .err >"$work/errors-of-tasks"
grep -c . "$work/errors-of-tasks" >>"$work/code"
is "errors are those of one run" "$work/errors-of-tasks" "$work/errors-of-all"
printf '123\n2\n' >"$work/expected"
is "two tasks have failed, and no other" "$work/code" "$work/expected"
rm -- "$store/text.jsonl" "$store/empty.jsonl"
exit $((failed > 0))
