# shellcheck shell=bash disable=SC2034
# What the tests with other programs have in common. Their scripts set `here`, their own folder, and
# read this; they have `set -e`.
set -euo pipefail

package=$(cd "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
child=

cannot() {
  echo "error: $*" >&2
  exit 2
}

# needs PACKAGES TOOL...: all tools must be there; PACKAGES are those of Debian that have them.
needs() {
  local packages=$1 tool
  shift
  for tool in "$@"; do
    command -v "$tool" >/dev/null || cannot "\`$tool\` is missing (Debian packages: $packages)"
  done
}

# find_binary BIN|-: sets `bin`; - builds one.
find_binary() {
  if [ "$1" = - ]; then
    (cd "$package" && cargo build --release --locked) || cannot "the build failed"
    set -- "${CARGO_TARGET_DIR:-$package/target}/release/session-tree"
  fi
  [ -x "$1" ] || cannot "\`$1\` cannot be run"
  bin=$(realpath -- "$1")
}

# watched SECONDS COMMAND...: ends with us, or when the time is over, with all that it started.
watched() {
  local code=0
  timeout --kill-after=5 "$@" &
  child=$!
  wait "$child" || code=$?
  child=
  return "$code"
}

end_child() {
  if [ -n "$child" ]; then
    kill "$child" 2>/dev/null || true
    wait "$child" || true
  fi
}

# lock_folder FOLDER: makes a folder to install in, and waits for others that do; the lock is file 9.
lock_folder() {
  # Programs are run from this folder, so it had better be ours alone.
  (umask 077 && mkdir -p -- "$1") || cannot "cannot make \`$1\`"
  [ -O "$1" ] || cannot "\`$1\` belongs to somebody else"
  exec 9>"$1/.lock"
  flock -w 900 9 || cannot "another run has been installing in \`$1\` for 15 minutes"
}

# install_from_npm WHAT FOLDER: what package.json beside the script names. Asks for nothing that is
# there already.
install_from_npm() {
  local what=$1 folder=$2
  lock_folder "$folder"
  if ! cmp -s -- "${here:?}/package.json" "$folder/installed.json"; then
    echo "installing $what in $folder" >&2
    rm -f -- "$folder/installed.json"
    cp -- "$here/package.json" "$folder/package.json"
    cd -- "$folder" || exit 2
    # Without network npm would try every package for minutes. (A mirror may not know what a ping is.)
    watched 60 npm ping --fetch-retries=1 --fetch-retry-mintimeout=1000 >npm.log 2>&1 ||
      grep -q 'E40[0-9]' npm.log || not_installed "$what" "$folder"
    watched 600 npm install --no-audit --no-fund --ignore-scripts --omit=dev >npm.log 2>&1 ||
      not_installed "$what" "$folder"
    cd -- "$package" || exit 2
    cp -- "$here/package.json" "$folder/installed.json"
  fi
  exec 9>&-
}

not_installed() {
  sed -n '1,6s/^npm error/npm:/p' "$2/npm.log" >&2
  sed -n 's/^ *"\(@[^"]*\)": "\(.*\)".*/missing: \1 \2/p' "$here/package.json" >&2
  cannot "npm could not install $1; the first time this needs the network (log: $2/npm.log)"
}

# install_from_pypi WHAT FOLDER: the wheels that requirements.txt beside the script names, in FOLDER/python.
install_from_pypi() {
  local what=$1 folder=$2
  lock_folder "$folder"
  if ! cmp -s -- "${here:?}/requirements.txt" "$folder/installed.txt"; then
    echo "installing $what in $folder" >&2
    rm -rf -- "$folder/installed.txt" "$folder/python"
    # Without network pip would try for minutes.
    watched 300 python3 -m pip install --quiet --disable-pip-version-check --no-input --retries 1 --only-binary :all: \
      --target "$folder/python" --requirement "$here/requirements.txt" >"$folder/pip.log" 2>&1 || {
      tail -n 3 "$folder/pip.log" >&2
      cannot "pip could not install $what; the first time this needs the network (log: $folder/pip.log)"
    }
    cp -- "$here/requirements.txt" "$folder/installed.txt"
  fi
  exec 9>&-
}
