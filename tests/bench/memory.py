"""Prints the peak of memory on sessions that have too much of something, as a Markdown table, in MB.

usage: memory.py BIN [WORKDIR]      WORKDIR: for the sessions, 1 GB (default: a folder that is removed again)
"""

import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from shapes import HEADER, answer, call, entry, label, message, name, user  # noqa: E402

ENTRIES = 20_000
LONG = "x" * 4000
IMAGE = {"type": "image", "mimeType": "image/png"}
COMMANDS = [
    "tree FILE --filter labeled-only",
    "tree FILE --filter all --format jsonl",
    "label FILE",
    "context FILE --json",
    "check FILE",
]


def ids(at):
    return entry(at, at - 1, "custom").replace(name(at), name(at) + LONG).replace(f'"{name(at - 1)}"', f'"{name(at - 1)}{LONG}"')


SESSIONS = {
    "small entries": (ENTRIES, lambda at: user(at, at - 1)),
    "ids of 4 kB": (ENTRIES, ids),
    "missing parents of 4 kB": (ENTRIES, lambda at: user(at, f"gone{at}{LONG}")),
    "labels of 4 kB": (ENTRIES, lambda at: label(at, at - 1, max(at - 1, 0), f"n{at}{LONG}")),
    "targets of 4 kB": (ENTRIES, lambda at: label(at, at - 1, f"gone{at}{LONG}", "n")),
    "50 images an entry": (
        ENTRIES,
        lambda at: message(at, at - 1, "user", [{**IMAGE, "data": f"blob:sha256:{at * 50 + k:064x}"} for k in range(50)]),
    ),
    "50 calls an entry": (ENTRIES, lambda at: answer(at, at - 1, *(call(at * 50 + k) for k in range(50)))),
    "200 000 orphans": (200_000, lambda at: user(at, f"gone{at}")),
    "a line of 500 MB": (1, lambda at: user(at, -1, "word " * 100_000_000)),
}


def peak(words):
    """Returns the most memory that a process had, in MB."""
    timed = ["/usr/bin/time", "-f", "%M", *words]
    done = subprocess.run(timed, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    return f"{int(done.stderr.split()[-1]) / 1024:.0f}"


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    with tempfile.TemporaryDirectory(dir=sys.argv[2] if len(sys.argv) == 3 else None) as folder:
        file, known = os.path.join(folder, "session.jsonl"), os.path.join(folder, "known")
        shown = [command.replace(" FILE", "") for command in COMMANDS]
        print("| session | size | " + " | ".join(f"`{command}`" for command in shown) + " | `check --baseline` |")
        print("|---|--:|" + "--:|" * (len(shown) + 1))
        for kind, (count, line) in SESSIONS.items():
            with open(file, "w", encoding="utf-8") as out:
                out.write(HEADER + "\n")
                out.writelines(line(at) + "\n" for at in range(count))
            peaks = [peak([sys.argv[1], *command.replace("FILE", file).split(), "--quiet"]) for command in COMMANDS]
            baseline = [sys.argv[1], "check", file, "--quiet", "--baseline", known]
            peak([*baseline, "--update-baseline"])
            size = f"{os.path.getsize(file) / 1e6:.0f} MB"
            print(f"| {kind} | {size} | " + " | ".join([*peaks, peak(baseline)]) + " |", flush=True)


if __name__ == "__main__":
    main()
