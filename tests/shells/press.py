"""Presses TAB in real shells. Started by run.sh: press.py BIN PACKAGE WORK."""

import ctypes
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import time

from terminal import ENTER, ERASE, PATIENCE, TAB, Silent, Terminal

BIN, PACKAGE, WORK = sys.argv[1:]
HOME, FILES, PROGRAMS = (os.path.join(WORK, name) for name in ("home", "files", "bin"))
ENV = {
    "PATH": f"{PROGRAMS}:{os.environ['PATH']}",
    "HOME": HOME,
    "LC_ALL": "C.UTF-8",
    "TERM": "xterm",
    "NO_COLOR": "1",
    "INPUTRC": "/dev/null",
    "XDG_RUNTIME_DIR": WORK,
}
PROMPT = "READY> "

# Labels that a shell could take for something else. Their first letters tell them apart.
ODD = ["a b", "b'c", "c$HOME", 'd"e', "e;f", "f\\g", "g*h", "h:i", "i!j", "k(l)", "l~m", "m#n", "n|o&p", "o`id`",
       "p{q,r}", "q=r", "r@s", "s<t>u", "t  u", "u日本", "v\\ w", "w%s", "x^y", "y[z]", "A b ", "B\u00a0c", "C\\'d\"e"]
# Labels that no shell may be given.
HOSTILE = ["z\nid", "z\x1b[31m", "z\u202ey", "z\tq"]


class Shell:
    """A shell, and what is to be seen in it."""

    def __init__(self, name, options, settings_file, settings, checks):
        self.name, self.argv, self.settings_file, self.settings = name, [name, *options], settings_file, settings
        self.checks, self.passed, self.failed, self.count = checks, 0, 0, 0

    def start(self):
        self.terminal = Terminal(self.argv, ENV, FILES)
        self.terminal.wait(PROMPT)

    def restart(self):
        self.terminal.close()
        self.start()

    def verdict(self, keys, why):
        if why is None:
            self.passed += 1
            return
        self.failed += 1
        print(f"{self.name}: {keys!r}: {why}", file=sys.stderr)
        self.restart()

    def check(self, keys, *expected, absent=()):
        """Types a command with TABs in it, lets the shell run it, and looks at what it prints."""
        self.count += 1
        end = f"end{self.count}."
        # The mark is typed in two pieces, so that its echo is not taken for it.
        self.terminal.press(f"{keys}; echo {end[:2]}''{end[2:]}{ENTER}")
        try:
            shown = self.terminal.wait(end + "\r\n", end + "\n")
            why = None
            missing = [text for text in expected if text not in shown]
            found = [text for text in (*absent, "error:", "not found") if text in shown]
            if missing or found:
                why = f"missing {missing}, not wanted {found} in {shown!r}"
            self.terminal.wait(PROMPT)
        except Silent as silent:
            why = str(silent)
        self.verdict(keys, why)

    def check_list(self, keys, *expected, absent=(), leave=ERASE):
        """Types with TABs, waits for what the shell lists, and leaves that for an empty line."""
        self.terminal.press(keys)
        why = None
        try:
            shown = ""
            for text in expected:
                shown = self.terminal.wait(text)
            found = [text for text in absent if text in shown]
            if found:
                why = f"not wanted {found} in {shown!r}"
            self.terminal.press(f"{leave}echo le''ft{ENTER}")
            self.terminal.wait("left\r\n", "left\n")
            self.terminal.wait(PROMPT)
        except Silent as silent:
            why = str(silent)
        self.verdict(keys, why)


def checks(shell):
    """What every shell can do."""
    entry = "session-tree tree demo.jsonl --entry "
    shell.check(f"session-tree lab{TAB}demo.jsonl --js{TAB}", '[{"id"')
    shell.check(f"session-tree tree demo.jsonl --filter us{TAB}", "Would decimal.js", absent=["assistant: "])
    shell.check(f"session-tree tree demo.jsonl --format jsonl{TAB}", '"children":')
    shell.check(f"session-tree check --allow glu{TAB}demo.jsonl")
    shell.check(f"session-tree label de{TAB}", "bisected")
    shell.check(f"session-tree label my{TAB}", "bisected")
    shell.check(f"session-tree label 'my{TAB}", "bisected")
    shell.check(f'session-tree label "my{TAB}', "bisected")
    shell.check(f"session-tree label odd{TAB}", "bisected")
    shell.check(f"session-tree label 'odd $name{TAB}", "bisected")
    shell.check(f"session-tree label below/de{TAB}", "bisected")
    shell.check(f"session-tree label below/x=y{TAB}", "bisected")
    shell.check(f"session-tree check demo.jsonl --baseline=below/kn{TAB}")
    shell.check(f"session-tree check demo.jsonl --baseline below/kn{TAB}")
    shell.check(f"session-tree label ~/ho{TAB}", "bisected")
    shell.check(f"session-tree label fol{TAB}dee{TAB}", "bisected")
    shell.check(f"session-tree check de{TAB}")
    shell.check(f"{entry}label:gr{TAB}", "4c70fdbd  ")
    shell.check(f"{entry}label:plan{TAB}", "Stay in integer cents")
    shell.check(f"{entry}user:2{TAB}", "leave the fixtures alone")
    # Three characters of an id are too few for the program: it is TAB that makes it whole.
    shell.check(f"{entry}00c{TAB}", "Stay in integer cents")
    shell.check(f"{entry}7131{TAB}", "for one multiplication")
    shell.check(f"{entry}@{TAB}", "Pushed 9c41e2d")
    shell.check(f"session-tree context demo.jsonl --leaf=label:bi{TAB}", "f436a8df")
    shell.check(f"session-tree label my\\ session.jsonl label:gr{TAB}", "green")
    shell.check(f"session-tree label ~/home.jsonl label:gr{TAB}", "green")
    shell.check(f"session-tree branch demo.jsonl label:{TAB} --dry-run", "Stay in integer cents")
    shell.check(f"session-tree tree one.jsonl --entry label:{TAB}", "one0001")
    shell.check(f"session-tree tree one.jsonl --entry lab{TAB}", "one0001")
    for at, label in enumerate(ODD):
        # Between these quotes bash and zsh look into their history, and nothing keeps them from it.
        for quote in ("", "'") if "!" in label else ("", "'", '"'):
            shell.check(f"session-tree tree labels.jsonl --entry {quote}label:{label[0]}{TAB}", f"labels{at:05}")
    for path in ("missing.jsonl", "pipe.jsonl", "folder", "broken.jsonl", "/dev/zero", "-"):
        shell.check(f"session-tree tree {path} --entry label:{TAB}{ERASE}true")


def bash_checks(shell):
    entry = "session-tree tree demo.jsonl --entry "
    shell.check('echo "breaks: ${COMP_WORDBREAKS//[^:@=]/}"', "breaks: @=:")
    shell.check(f"{entry}lab{TAB}gr{TAB}", "4c70fdbd  ")
    shell.check(f"{entry}us{TAB}2{TAB}", "leave the fixtures alone")
    shell.check(f"{entry}label\\:gr{TAB}", "4c70fdbd  ")
    shell.check_list(f"{entry}{TAB}{TAB}", "user:1", "label:plan-b", "228498df", "99569a84")
    shell.check_list(f"{entry}label:{TAB}{TAB}", "bisected", "plan-b")
    shell.check_list(f"session-tree {TAB}{TAB}", "navigate")
    # The prompt comes again after the list.
    shell.check_list(f"session-tree label {TAB}{TAB}", "below/", "folder/", PROMPT, absent=["//"])
    # A person may have taken the colon out.
    shell.check(f"COMP_WORDBREAKS=${{COMP_WORDBREAKS//:}}")
    shell.check(f"{entry}label:gr{TAB}", "4c70fdbd  ")
    shell.check(f"{entry}lab{TAB}gr{TAB}", "4c70fdbd  ")


def zsh_checks(shell):
    entry = "session-tree tree demo.jsonl --entry "
    shell.check(f"{entry}lab{TAB}gr{TAB}", "4c70fdbd  ")
    shell.check(f"{entry}us{TAB}2{TAB}", "leave the fixtures alone")
    shell.check_list(f"{entry}{TAB}", "user:1", "Commit and push it.", "d ago", "tip, assistant")
    shell.check_list(f"session-tree tree demo.jsonl --{TAB}", "--search", "Show only the path from the root")
    shell.check_list(f"session-tree {TAB}", "Move the leaf to another entry")


def fish_checks(shell):
    entry = "session-tree tree demo.jsonl --entry "
    shell.check_list(f"{entry}{TAB}", "user:1", "Commit and push it.", "d ago", "tip, assistant")
    shell.check_list(f"session-tree {TAB}", "Move the leaf to another entry")


def elvish_checks(shell):
    """Elvish shows what has to be quoted in a menu, from which ENTER takes it."""
    entry = "session-tree tree demo.jsonl --entry "
    shell.check(f"session-tree lab{TAB}demo.jsonl --js{TAB}", '[{"id"')
    shell.check(f"session-tree tree demo.jsonl --filter us{TAB}", "Would decimal.js", absent=["assistant: "])
    shell.check(f"session-tree label de{TAB}", "bisected")
    shell.check(f"session-tree label my{TAB}{ENTER}", "bisected")
    shell.check(f"session-tree label fol{TAB}dee{TAB}", "bisected")
    shell.check(f"{entry}label:gr{TAB}", "4c70fdbd  ")
    shell.check(f"{entry}user:2{TAB}", "leave the fixtures alone")
    shell.check(f"{entry}00c{TAB}", "Stay in integer cents")
    shell.check(f"session-tree context demo.jsonl --leaf=label:bi{TAB}{ENTER}", "f436a8df")
    for at, label in enumerate(ODD):
        if any(char in " '\"$;\\*()#|&`{}<>[]" for char in label):
            shell.check(f"session-tree tree labels.jsonl --entry label:{label[0]}{TAB}{ENTER}", f"labels{at:05}")
    shell.check_list(f"{entry}{TAB}", "user:1", "Commit and push it.", "d ago", "tip, assistant",
                     leave=f"{ENTER};")


def write_session(name, labels):
    """Writes a session with a user message a label."""
    stem = os.path.splitext(name)[0]
    lines = [{"type": "session", "version": 3, "id": stem, "timestamp": "2026-01-01T00:00:00.000Z", "cwd": "/"}]
    parent = None

    def add(kind, id, **more):
        nonlocal parent
        entry = {"type": kind, "id": id, "parentId": parent, "timestamp": "2026-01-01T00:00:00.000Z"}
        lines.append(entry | more)
        parent = id

    for at, label in enumerate(labels):
        id = f"{stem}{at:05}" if stem == "labels" else f"{stem}{at + 1:04}"
        add("message", id, message={"role": "user", "content": f"message {at}"})
        add("label", f"set{at:05}", targetId=id, label=label)
    with open(os.path.join(FILES, name), "w", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


def prepare():
    for folder in (HOME, PROGRAMS, f"{FILES}/folder", f"{FILES}/below", f"{HOME}/.config/elvish"):
        os.makedirs(folder)
    os.symlink(BIN, f"{PROGRAMS}/session-tree")
    demo = f"{PACKAGE}/tests/data/demo.jsonl"
    for copy in ("demo.jsonl", "my session.jsonl", "odd $name; (x) & 'y'.jsonl", "below/demo.jsonl",
                 "below/x=y.jsonl", "folder/deep.jsonl", "../home/home.jsonl"):
        shutil.copy(demo, f"{FILES}/{copy}")
    # What does not end in .jsonl is not offered.
    for name in ("demo.txt", "my notes", "below/demo.md", "below/known"):
        open(f"{FILES}/{name}", "w").close()
    os.mkfifo(f"{FILES}/pipe.jsonl")
    with open(f"{FILES}/broken.jsonl", "w") as file:
        file.write('{"type":"session","id"')
    write_session("one.jsonl", ["plan b"])
    write_session("labels.jsonl", ODD + HOSTILE)


def install(shell):
    """Runs the README's line for a shell."""
    with open(f"{PACKAGE}/README.md", encoding="utf-8") as file:
        found = re.findall(rf"^.*session-tree completions {shell.name}\b.*$", file.read(), re.MULTILINE)
    if len(found) != 1:
        sys.exit(f"error: the README has {len(found)} lines that install the completions of {shell.name}")
    os.makedirs(os.path.dirname(f"{HOME}/{shell.settings_file}"), exist_ok=True)
    with open(f"{HOME}/{shell.settings_file}", "w", encoding="utf-8") as file:
        file.write(shell.settings)
    subprocess.run(["bash", "-c", found[0]], env=ENV, check=True)


def leave_nothing():
    """Waits for what a shell left running (elvish keeps a process of its own for a moment)."""
    end = time.monotonic() + PATIENCE
    try:
        while True:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                if time.monotonic() > end:
                    with open(f"/proc/self/task/{os.getpid()}/children") as children:
                        for child in children.read().split():
                            os.kill(int(child), signal.SIGKILL)
                select.select([], [], [], 0.01)
    except ChildProcessError:
        pass


def main():
    # Whatever loses its parent becomes a child of this process.
    pr_set_child_subreaper = 36
    ctypes.CDLL(None).prctl(pr_set_child_subreaper, 1, 0, 0, 0)
    prepare()
    shells = [
        Shell("bash", ["-i"], ".bashrc", f"PS1='{PROMPT}'\n", lambda shell: (checks(shell), bash_checks(shell))),
        Shell("zsh", ["-i"], ".zshrc", f"PROMPT='{PROMPT}'\n", lambda shell: (checks(shell), zsh_checks(shell))),
        Shell("fish", ["-i"], ".config/fish/config.fish", f"function fish_prompt; echo -n '{PROMPT}'; end\n",
              lambda shell: (checks(shell), fish_checks(shell))),
        Shell("elvish", [], ".config/elvish/rc.elv", f"set edit:prompt = {{ put '{PROMPT}' }}\n", elvish_checks),
    ]
    passed = failed = 0
    for shell in shells:
        install(shell)
        shell.start()
        shell.checks(shell)
        shell.terminal.close()
        leave_nothing()
        print(f"{shell.name}: {shell.passed} passed, {shell.failed} failed", flush=True)
        passed += shell.passed
        failed += shell.failed
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


main()
