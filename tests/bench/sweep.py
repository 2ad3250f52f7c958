"""Measures how the time of every command grows on every hostile session of `shapes.py`: processor time of one thread,
which does not depend much on what else runs. What takes more than 2.6 times as long on twice as much is reported.

usage: sweep.py BIN [WORKDIR]      WORKDIR: for the sessions, 30 MB (default: /tmp/session-tree-sweep)

Environment: SHAPES    only those whose name holds one of these words
             COMMANDS  only those whose words hold one of these, separated by `|`
             ENTRIES   of the smallest session (default 3000)

Each is measured at 4 n entries and, where that takes long enough to tell, at n. What looks suspicious is measured
again at 4 n, 8 n and 16 n, where the smallest of three times counts. Exit 0: nothing is above 2.6 per doubling; 1: something is; 2: could not run.
"""

import os
import resource
import shutil
import signal
import sys
import tempfile

sys.dont_write_bytecode = True
import shapes  # noqa: E402

# Twice as much may take this many times as long: more than 2 since more of it misses the caches.
MOST = 2.6
# Seconds; less at the larger size is noise and the start of the process.
TOO_SHORT = 0.02
# Seconds; a session that takes longer shows well enough how time grows.
LONG_ENOUGH = 3
# Seconds of processor time after which a run is ended and counts as too slow.
TOO_LONG = 20

# FILE is the session, COPY a copy of it that may be changed, OUT a file that does not exist, FIRST and SECOND are ids,
# the capitals after `--from` lists of names in the forms that name an entry, with a label for each, and EACH is
# `--entry` with the start of an id for every eighth entry.
COMMANDS = """
tree FILE --filter all
tree FILE --filter all --width 60 --ascii
tree FILE --filter all --format table
tree FILE --filter all --format json
tree FILE --filter all --format jsonl
tree FILE --filter all --format jsonl --full
tree FILE --filter all --format dot
tree FILE --filter all --format mermaid
tree FILE
tree FILE --filter no-tools --format json
tree FILE --filter user-only --format dot
tree FILE --filter labeled-only
tree FILE --branches
tree FILE --branches --format json
tree FILE --branches --format mermaid
tree FILE --tips
tree FILE --tips --format table
tree FILE --tips --format jsonl
tree FILE --path --filter all
tree FILE --path --format jsonl
tree FILE --depth 2
tree FILE --depth 1000 --filter all --format jsonl
tree FILE --search question
tree FILE --search answer --format table --filter all
tree FILE --search nowhere --filter all --format jsonl
tree FILE --since 2026-01-02T00:30 --filter all
tree FILE --leaf FIRST --filter all
tree FILE --root --filter all
tree FILE --json EACH
context FILE
context FILE --json
context FILE --as pi
context FILE --as omp
context FILE --as pi --json
context FILE --as omp --json
context FILE --format llm
context FILE --as pi --format llm
context FILE --as omp --format llm
context FILE --format anthropic
context FILE --format openai
context FILE --format responses
context FILE --stats
context FILE --stats --json
context FILE --diff FIRST
context FILE --diff FIRST --json
context FILE --leaf SECOND --diff @ --json
label FILE
label FILE --json
label FILE --format jsonl
label COPY FIRST bench --json
label COPY --from IDS --json
label COPY --from STARTS
label COPY --from STEPS --json
label COPY --from PROMPTS --json
label COPY --from LABELS
label COPY --from NAMESAKES
branch FILE --dry-run
branch FILE --dry-run --json
branch FILE --format table
branch FILE --at --output -
branch FILE --at SECOND --output OUT
branch FILE user:1 --dry-run --json
branch FILE --all --output -
branch FILE --all --without SECOND --leaf FIRST --output -
branch FILE --all --anonymize --output -
navigate FILE FIRST --dry-run
navigate FILE FIRST --dry-run --json
navigate FILE --root --dry-run --json
navigate COPY FIRST --save --summary gone --json
navigate COPY SECOND --save --label there
navigate FILE FIRST --summarizer true --summarize --dry-run
migrate FILE --dry-run
migrate FILE --output -
migrate COPY --json
check FILE
check FILE --format json
check FILE --format jsonl
check FILE --format github
check FILE --format sarif
check FILE --why-leaf
check FILE --why-leaf --json
check FILE --baseline OUT --update-baseline
check FILE --baseline KNOWN
completions bash -- LINE
"""


class Sessions:
    """The sessions of one shape, and what is made of them."""

    def __init__(self, folder, binary, shape):
        self.folder, self.binary, self.shape = folder, binary, shape

    def path(self, count):
        path = os.path.join(self.folder, f"{count}.jsonl")
        if not os.path.exists(path):
            with open(path, "w", encoding="utf-8", errors="surrogatepass") as out:
                out.writelines(line + "\n" for line in shapes.lines(self.shape, count))
        return path

    def names(self, count, form):
        """A file of names of entries, one form for all: the first thousands must be there for it to matter."""
        path = os.path.join(self.folder, f"{count}.{form}")
        if not os.path.exists(path):
            wanted = {
                "IDS": shapes.name,
                "STARTS": lambda at: shapes.name(at)[:7],
                "STEPS": lambda at: f"@~{at}",
                "PROMPTS": lambda at: f"user:{at + 1}",
                "LABELS": lambda at: f"label:name {at * 2 + 1}",
                "NAMESAKES": shapes.name,
            }[form]
            # Half of them, since half of the entries of many shapes are of the one kind.
            with open(path, "w", encoding="utf-8") as out:
                label = "same" if form == "NAMESAKES" else "new {}"
                out.writelines(f"{wanted(at)}\t{label.format(at)}\n" for at in range(count // 2 - 1))
        return path

    def known(self, count):
        path = os.path.join(self.folder, f"{count}.known")
        if not os.path.exists(path):
            run([self.binary, "check", self.path(count), "--baseline", path, "--update-baseline", "--quiet"])
        return path

    def words(self, command, count):
        file = self.path(count)
        fresh = os.path.join(self.folder, "fresh.jsonl")
        if os.path.exists(fresh):
            os.remove(fresh)
        for word in command.split():
            if word in ("IDS", "STARTS", "STEPS", "PROMPTS", "LABELS", "NAMESAKES"):
                yield self.names(count, word)
            elif word == "EACH":
                for at in range(count // 8):
                    yield from ("--entry", shapes.name(at)[:7])
            elif word == "FILE":
                yield file
            elif word == "COPY":
                shutil.copyfile(file, fresh)
                yield fresh
            elif word == "LINE":
                yield f"session-tree label {file} "
            else:
                known = self.known(count) if word == "KNOWN" else None
                yield {"KNOWN": known, "OUT": fresh, "FIRST": shapes.name(0), "SECOND": shapes.name(1)}.get(word, word)


def run(words):
    """Returns the seconds of processor time that a process takes, and whether it ended by itself."""
    child = os.fork()
    if child == 0:
        null = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(null, stream)
        environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
        resource.setrlimit(resource.RLIMIT_CPU, (TOO_LONG, TOO_LONG))
        try:
            os.execve(words[0], words, environment)
        finally:
            os._exit(127)
    _, status, used = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code in (101, 127, -signal.SIGSEGV, -signal.SIGABRT):
        print(f"error: `{' '.join(words)}` ended with {code}", file=sys.stderr)
        sys.exit(2)
    return used.ru_utime + used.ru_stime, code != -signal.SIGKILL


def seconds(sessions, command, count, runs):
    least = None
    for _ in range(runs):
        took, ended = run([sessions.binary, "--jobs", "1", *sessions.words(command, count)])
        if not ended:
            return float("inf")
        least = took if least is None else min(least, took)
    return least


def growth(sessions, command, entries, start):
    """Returns how many times as long twice as much takes, with the times; `None` if it is in proportion."""
    large = seconds(sessions, command, entries * 4, 1)
    if large < TOO_SHORT:
        return None
    # One run is noisy: what is within the limit by far is not looked at again.
    small = seconds(sessions, command, entries, 1)
    ratio = ((large - start) / max(small - start, 1e-4)) ** 0.5
    if ratio < MOST * 0.9:
        return None
    times = [seconds(sessions, command, entries * 4, 3)]
    for factor in (8, 16):
        if times[-1] > LONG_ENOUGH:
            break
        times.append(seconds(sessions, command, entries * factor, 3 if times[-1] < 0.5 else 1))
        ratio = (times[-1] - start) / max(times[-2] - start, 1e-4)
        if ratio < MOST:
            return None
    return ratio, times


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    binary = os.path.abspath(sys.argv[1])
    work = sys.argv[2] if len(sys.argv) == 3 else "/tmp/session-tree-sweep"
    entries = int(os.environ.get("ENTRIES", "3000"))
    wanted = os.environ.get("SHAPES", "").split()
    parts = [part for part in os.environ.get("COMMANDS", "").split("|") if part]
    commands = [line for line in COMMANDS.split("\n") if line and (not parts or any(part in line for part in parts))]
    chosen = [name for name in shapes.SHAPES if not wanted or any(word in name for word in wanted)]
    os.makedirs(work, exist_ok=True)
    start = min(run([binary, "--version"])[0] for _ in range(9))
    found = measured = 0
    print("| session | command | × on twice as much | seconds at 4 n, 8 n, 16 n |\n|---|---|--:|---|")
    for at, shape in enumerate(chosen):
        print(f"{at + 1} of {len(chosen)}: {shape}", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory(dir=work) as folder:
            sessions = Sessions(folder, binary, shape)
            for command in commands:
                measured += 1
                slow = growth(sessions, command, entries, start)
                if slow:
                    found += 1
                    times = ", ".join(f"{time:.2f}" for time in slow[1])
                    print(f"| {shape} | `{command}` | {slow[0]:.1f} | {times} |", flush=True)
    print(f"\n{measured} measured with n = {entries}; {found} above {MOST} per doubling.")
    sys.exit(found > 0)


if __name__ == "__main__":
    main()
