"""The commands whose system calls are failed, each with the small session that it works on."""

import json
import os

SESSION = "s.jsonl"
MARK = "mark"
# When the session was last written, in seconds since 1970.
TIME = 1767400000
# A hook keeps what it is told beside the folder.
HOOKED = ".hooked"
HOOK = f"sh -c 'cat >>\"$PWD{HOOKED}\"'"
# Words enough that a whole-file change is some blocks of 512 bytes long.
FILL = "the quick brown fox jumps over the lazy dog and back again "


def entry(number, parent, **rest):
    """Gives an entry of version 2 or 3."""
    ids = {"id": f"e{number:07x}", "parentId": parent and f"e{parent:07x}"}
    return {"type": "message", **ids, "timestamp": stamp(number), **rest}


def stamp(number):
    return f"2026-01-02T03:{number // 60:02}:{number % 60:02}.000Z"


def said(role, text):
    content = [{"type": "text", "text": text}]
    return {"message": {"role": role, "content": content, "timestamp": 1767323000000}}


def header(**rest):
    return {"type": "session", **rest, "id": "0a1b2c3d-0000-7000-8000-000000000001", "timestamp": stamp(0), "cwd": "/w"}


def current():
    """A session of version 3: a fork, and labels on both of its branches."""
    lines = [header(version=3)]
    lines += [entry(at, at - 1, **said("user" if at % 2 else "assistant", f"{at} {FILL}")) for at in range(1, 9)]
    lines.append(entry(9, 4, **said("user", "another way")))
    lines.append(entry(10, 9, **said("assistant", "found")))
    lines.append(entry(11, 10, type="label", targetId=f"e{4:07x}", label="fork"))
    lines.append(entry(12, 11, type="label", targetId=f"e{8:07x}", label="left"))
    lines.append(entry(13, 12, **said("user", "on it goes")))
    return text(lines)


def second():
    """A session of version 2: a tree in which one role must be renamed."""
    lines = [header(version=2)]
    lines += [entry(at, at - 1, **said("user" if at % 2 else "hookMessage", f"{at} {FILL}")) for at in range(1, 20)]
    lines.append(entry(20, 5, **said("user", "a fork")))
    return text(lines)


def first():
    """A session of version 1: a plain list."""
    lines = [header()]
    for at in range(1, 24):
        role = "user" if at % 2 else "assistant"
        lines.append({"type": "message", "timestamp": stamp(at), **said(role, f"{at} {FILL}")})
    return text(lines)


def damaged():
    """A session with NUL bytes, two records on one line, a copy of a line, and no line end."""
    lines = current().splitlines()
    lines[3] = b"\0" * 600 + lines[3]
    lines[6:8] = [lines[6] + lines[7]]
    lines.insert(9, lines[4])
    return b"\n".join(lines)


def text(lines):
    return "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines).encode()


class Scenario:
    """A command and what it should do. `change` is append (lines to the session), replace (the
    session as version 3, and lines after it), or create (a new file; the session stays)."""

    def __init__(self, name, change, old, *args, output=None, backup=False, before=(), room=None):
        self.name, self.change, self.old, self.args = name, change, old, args
        self.output, self.backup = output, backup
        # Injected into every run: what the file system cannot do.
        self.before = before
        # How far the file may grow, in bytes.
        self.room = room

    @property
    def command(self):
        return self.args[0]

    @property
    def adds_lines(self):
        return self.command in ("label", "navigate")

    @property
    def form(self):
        """Gives the option for one object a line."""
        return ["--format=jsonl"] if self.command in ("migrate", "check") else ["--json"]

    def argv(self, binary):
        limit = [] if self.room is None else ["prlimit", f"--fsize={len(self.old) + self.room}", "--"]
        return [*limit, binary, *self.args, *self.form, "--jobs", "1", *self.waiting(1)]

    def again(self, binary):
        """Gives the command of the next run, which nothing disturbs. A move that is saved already, or a label that
        is set, would write nothing, so the one goes elsewhere, and the other is another name."""
        elsewhere = {f"e{3:07x}": f"e{5:07x}"} if "--save" in self.args else {}
        if self.command == "label":
            elsewhere[MARK] = "another"
        args = [elsewhere.get(arg, arg) for arg in self.args]
        return [binary, *args, *self.form, "--jobs", "1", *self.waiting(5)]

    def waiting(self, seconds):
        return [] if self.command == "branch" else ["--lock-timeout", str(seconds)]

    def make(self, folder):
        """Makes the folder that the command finds."""
        os.makedirs(folder)
        path = os.path.join(folder, SESSION)
        with open(path, "xb") as file:
            file.write(self.old)
        os.chmod(path, 0o640)
        os.utime(path, (TIME, TIME))


def all_scenarios():
    on, old, older = current(), second(), first()
    there, user = f"e{3:07x}", f"e{5:07x}"
    no_rename = ("renameat2:error=EINVAL",)
    # The answers of these sessions say nothing of their cost.
    sound = ("--allow", "no-usage")
    return [
        Scenario("label", "append", on, "label", SESSION, there, MARK),
        Scenario("label, no room", "append", on, "label", SESSION, there, MARK, room=40),
        Scenario("navigate --save", "append", on, "navigate", SESSION, there, "--save"),
        Scenario("navigate --summary", "append", on, "navigate", SESSION, there, "--summary", "Was tried."),
        Scenario("navigate --summarize", "append", on, "navigate", SESSION, there, "--summarize",
                 "--summarizer", "cat"),
        Scenario("navigate --hook", "append", on, "navigate", SESSION, there, "--save", "--hook", HOOK),
        Scenario("branch", "create", on, "branch", SESSION, user),
        Scenario("branch, by a link", "create", on, "branch", SESSION, user, before=no_rename),
        Scenario("branch --at --output", "create", on, "branch", SESSION, "--at", "@", "--output", "fork.jsonl",
                 output="fork.jsonl"),
        Scenario("migrate, version 1", "replace", older, "migrate", SESSION),
        Scenario("migrate, version 2", "replace", old, "migrate", SESSION),
        Scenario("migrate --backup", "replace", older, "migrate", SESSION, "--backup", backup=True),
        Scenario("migrate --backup, by a link", "replace", older, "migrate", SESSION, "--backup", backup=True,
                 before=no_rename),
        Scenario("migrate --backup, no room", "replace", older, "migrate", SESSION, "--backup", backup=True, room=99),
        Scenario("migrate --output", "create", old, "migrate", SESSION, "--output", "new.jsonl", output="new.jsonl"),
        Scenario("check --fix", "replace", damaged(), "check", SESSION, "--fix", *sound, backup=True),
        Scenario("check --fix, by a link", "replace", damaged(), "check", SESSION, "--fix", *sound, backup=True,
                 before=no_rename),
        Scenario("check --fix, no room", "replace", damaged(), "check", SESSION, "--fix", *sound, backup=True, room=-500),
        Scenario("label into version 1", "replace", older, "label", SESSION, "@", MARK),
        Scenario("label into version 2", "replace", old, "label", SESSION, user, MARK),
    ]
