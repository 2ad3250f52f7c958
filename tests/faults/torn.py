"""Torn writes: the calls of a run that change the folder, replayed up to each of them, and each
write cut short. What is left is what a run leaves that ends there: killed, or with the power gone
after what was written came to the disk in order."""

import os
import re
import subprocess
import time

import verdict
from scenarios import SESSION

# The calls that change a folder or what is in it.
CHANGES = ("openat", "write", "pwrite64", "rename", "renameat", "renameat2", "link", "linkat", "unlink", "unlinkat",
           "ftruncate", "fchmod")
LINE = re.compile(r"(\w+)\((.*)\) += (\d+)(?:<.*)?$")
TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
BLOCK = 512


class Change:
    """A call that changed something, with all its bytes."""

    def __init__(self, name, args, result):
        self.name, self.args, self.result = name, args, int(result)
        self.texts = [bytes.fromhex(text.replace("\\x", "")) for text in TEXT.findall(args)]
        found = re.match(r"\d+", args)
        self.fd = int(found[0]) if found else None

    @property
    def number(self):
        """Gives the last number: a length, a mode, or an offset."""
        return re.findall(r"\b(0?\d+)\b", self.args)[-1]

    @property
    def is_write(self):
        return self.name in ("write", "pwrite64")


class State:
    """What is there after some calls; of the last one, a write, only so many bytes."""

    def __init__(self, scenario, changes, count, length=None):
        self.scenario, self.changes, self.count, self.length = scenario, changes, count, length

    def __str__(self):
        cut = "" if self.length is None else f", of the last one {self.length} bytes"
        last = self.changes[self.count - 1].name if self.count else "nothing"
        return f"{self.scenario.name}: after {self.count} changes ({last}){cut}"


def record(scenario, tracer, binary, folder):
    """Gives the changes of a run that nothing disturbs."""
    file = folder + ".changes"
    names = ",".join(f"?{name}" for name in CHANGES)
    inject = [word for what in scenario.before for word in ("-e", f"inject={what}")]
    run = tracer.run(["strace", "-xx", "-s", "1000000", "-o", file, "-e", f"trace={names}", *inject,
                      *scenario.argv(binary)], folder)
    assert run.code == 0, f"{scenario.name}: {run.stderr}"
    with open(file, encoding="ascii") as trace:
        found = [LINE.match(line) for line in trace.read().splitlines()]
    os.remove(file)
    return within([Change(*one.groups()) for one in found if one], folder)


def within(changes, folder):
    """Drops what is not about the folder, such as output."""
    opened, kept = {}, []
    for change in changes:
        path = change.texts[0].decode() if change.texts and not change.is_write else None
        is_inside = path is not None and (not path.startswith("/") or path.startswith(folder))
        if change.name == "openat":
            opened[change.result] = is_inside
            is_change = is_inside and re.search("O_WRONLY|O_RDWR", change.args)
        else:
            is_change = is_inside if path is not None else opened.get(change.fd, False)
        if is_change:
            kept.append(change)
    return kept


def states(scenario, tracer, binary, fresh):
    folder = fresh()
    changes = record(scenario, tracer, binary, folder)
    # Replayed elsewhere, by a process of another id.
    for change in changes:
        change.texts = [text.removeprefix(folder.encode() + b"/") for text in change.texts]
    for count in range(len(changes) + 1):
        yield State(scenario, changes, count)
        if count and changes[count - 1].is_write:
            whole = len(changes[count - 1].texts[0])
            cuts = {1, whole - 1, *range(BLOCK, whole, BLOCK)}
            for length in sorted(cut for cut in cuts if 0 < cut < whole):
                yield State(scenario, changes, count, length)


def dead():
    """Gives the id of a process that has ended."""
    process = subprocess.Popen(["true"])
    process.wait()
    return str(process.pid).encode()


def replay(state, folder):
    """Does in a folder what was recorded. Names and the lock's record get the id of a process that
    is dead here too."""
    pid, files = dead(), {}
    path = lambda text: os.path.join(folder, re.sub(rb"\.\d+\.tmp$", b"." + pid + b".tmp", text).decode())
    try:
        for at, change in enumerate(state.changes[:state.count]):
            is_cut = at == state.count - 1 and state.length is not None
            again(change, files, path, pid, state.length if is_cut else None)
    finally:
        for fd in files.values():
            os.close(fd)


def again(change, files, path, pid, length):
    texts, name = change.texts, change.name
    if name == "openat":
        flags = 0
        for flag in re.findall(r"O_\w+", change.args):
            flags |= getattr(os, flag)
        if change.result in files:
            os.close(files[change.result])
        files[change.result] = os.open(path(texts[0]), flags, int(change.number, 8) if flags & os.O_CREAT else 0)
    elif change.is_write:
        data = re.sub(rb"^\d+(?=:\d+\n$)", pid, texts[0])[:length]
        if name == "write":
            os.write(files[change.fd], data)
        else:
            os.pwrite(files[change.fd], data, int(change.number))
    elif name.startswith("rename"):
        os.rename(path(texts[0]), path(texts[1]))
    elif name.startswith("link"):
        os.link(path(texts[0]), path(texts[1]))
    elif name.startswith("unlink"):
        os.unlink(path(texts[0]))
    elif name == "ftruncate":
        os.ftruncate(files[change.fd], int(change.number))
    else:
        os.fchmod(files[change.fd], int(change.number, 8))


def check(expected, state, tracer, binary, folder):
    """Finds what is wrong with a state and with the next run in it."""
    replay(state, folder)
    lock = os.path.join(folder, f".{SESSION}.lock")
    if os.path.exists(lock):
        # A record that is not whole is given its time; that has passed here.
        old = time.time() - 10
        os.utime(lock, (old, old))
    found = expected.state(folder)
    is_ours = state.length is not None and expected.scenario.change == "append"
    problems = list(verdict.check_files(expected, folder, found, is_ours))
    if state.count == len(state.changes) and state.length is None and found != verdict.NEW:
        problems.append("replay: what was recorded is not all that the run did")
    if found == verdict.FRAGMENT:
        now = verdict.read(folder, SESSION)[len(expected.scenario.old):]
        written = state.changes[state.count - 1].texts[0]
        if not written.startswith(now):
            problems.append("bytes: the unfinished line is not the start of ours")
    if found in (verdict.OLD, verdict.NEW, verdict.FRAGMENT):
        problems += verdict.check_next(expected, tracer, binary, folder, found)
        problems += check_label(tracer, binary, folder)
    return problems


def check_label(tracer, binary, folder):
    """Sets a label and reads it back."""
    tracer.run([binary, "label", SESSION, "@", "read-back", "--json"], folder)
    listed = tracer.run([binary, "label", SESSION, "label:read-back"], folder)
    if listed.code != 0 or b"read-back" not in listed.stdout:
        yield f"next: a label is not read back: {listed.stderr.decode(errors='replace').strip()}"
