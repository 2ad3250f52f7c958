"""What is true of a folder, and whether what a run reported says the same."""

import json
import os
import re
import stat

from scenarios import HOOKED, SESSION, TIME

BACKUPS = (".orig", ".bak")
STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
# What a hint must say of an output that could not be written.
SAYS_MADE = re.compile(r"\bis in the file\b|\b(?:is|was|were|are) (?:made|written|migrated|in)\b|\bnot? repeat")
# The exit code of a program that was asked to end.
TERMINATED = 143
OLD, NEW, FRAGMENT, BAD = "old", "new", "an unfinished line", "neither old nor new"


def read(*parts):
    try:
        with open(os.path.join(*parts), "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def objects(text):
    """Gives the JSON objects on the lines of a text, or nothing if it is anything else."""
    try:
        found = [json.loads(line) for line in text.splitlines()]
    except ValueError:
        return None
    return found if all(isinstance(one, dict) for one in found) else None


def shape(added, known):
    """Gives lines without what differs from run to run: new ids and times. `known` are the lines
    that were there. Nothing if they are not whole lines of JSON."""
    if not added.endswith(b"\n"):
        return None if added else []
    lines = objects(added)
    if lines is None:
        return None
    before = set(known.splitlines())
    there = {line.get("id") for line in objects(known) or []}
    names = {}
    for line in lines:
        if line.get("id") is not None and line["id"] not in there:
            names.setdefault(line["id"], f"new {len(names)}")
    made = []
    for raw, line in zip(added.splitlines(), lines):
        if raw not in before:
            line = {key: names.get(value, value) if isinstance(value, str) else value for key, value in line.items()}
            line = json.loads(STAMP.sub("TIME", json.dumps(line)))
            # A path of the folder that it was made in.
            line = {key: os.path.basename(value) if key == "parentSession" else value for key, value in line.items()}
        made.append(line)
    return made


class Expected:
    """What a scenario does when nothing fails, found by a clean run."""

    def __init__(self, scenario, tracer, binary, fresh):
        self.scenario = scenario
        self.migrated = scenario.old
        if scenario.command == "check":
            folder = fresh()
            tracer.run([binary, *scenario.args], folder)
            self.migrated = read(folder, SESSION)
        elif scenario.change == "replace":
            folder = fresh()
            tracer.run([binary, "migrate", SESSION, "--output", "form"], folder)
            self.migrated = read(folder, "form")
        folder = fresh()
        self.run = tracer.traced(scenario, binary, folder)
        self.calls = self.run.calls
        self.fails = scenario.room is not None
        assert self.run.code == (2 if self.fails else 0), f"{scenario.name}: {self.run.stderr}"
        if self.fails:
            folder = fresh()
            tracer.run(scenario.again(binary), folder)
        now = read(folder, SESSION)
        assert now.startswith(self.migrated), f"{scenario.name}: {self.run.stderr}"
        self.keys = None if self.fails else set(json.loads(self.run.stdout))
        self.lines = now[len(self.migrated):]
        self.shape = shape(self.lines, self.migrated)
        self.free = free(self.lines, self.migrated)
        self.made = [shape(read(folder, name), scenario.old) for name in made_files(folder)]
        assert self.shape is not None and None not in self.made
        assert bool(self.shape or self.made) != (scenario.command in ("migrate", "check") and not scenario.output)

    def state(self, folder):
        """Says what the command left: the old, the new, or worse."""
        now = read(folder, SESSION)
        if now is None:
            return "the session is gone"
        if self.scenario.change == "create":
            return self.created(folder) if now == self.scenario.old else "the source changed"
        if now == self.scenario.old:
            return OLD
        if not now.startswith(self.migrated):
            return BAD
        added = now[len(self.migrated):]
        if shape(added, self.migrated) == self.shape:
            return NEW
        is_append = self.scenario.change == "append"
        return FRAGMENT if is_append and self.is_fragment(added) else BAD

    def created(self, folder):
        files = made_files(folder)
        if not files:
            return OLD
        return NEW if [shape(read(folder, name), self.scenario.old) for name in files] == self.made else BAD

    def is_fragment(self, added):
        """Tells whether bytes are the start of our lines, perhaps closed by a LF."""
        start = added.removesuffix(b"\n")
        if b"\n" in start or len(start) > len(self.lines) - added.endswith(b"\n"):
            return False
        return all(ours == theirs or is_free for ours, theirs, is_free in zip(start, self.lines, self.free))


def free(lines, known):
    """Tells of each byte of lines whether it is of a new id or of a time, which differ."""
    marks = [False] * len(lines)
    for found in re.finditer(rb'"([0-9a-f]{8})"|' + STAMP.pattern.encode(), lines):
        if found[1] is None or found[1] not in known:
            marks[found.start():found.end()] = [True] * len(found[0])
    return marks


def made_files(folder):
    """Gives the names of new files, without backups and hidden ones."""
    names = (name for name in os.listdir(folder) if name != SESSION and not name.startswith("."))
    return sorted(name for name in names if not name.endswith(BACKUPS))


def backups(folder):
    return [name for name in os.listdir(folder) if name.endswith(BACKUPS) and not name.startswith(".")]


def check_files(expected, folder, state, may_be_torn):
    """Finds what is wrong with the files, whatever was reported."""
    scenario = expected.scenario
    if state not in (OLD, NEW) and not (state == FRAGMENT and may_be_torn):
        yield f"bytes: {state}"
    for name in backups(folder):
        if read(folder, name) != scenario.old:
            yield "backup: it is not what the file was"
    if scenario.backup and state == NEW and not backups(folder):
        yield "backup: the file was replaced and there is no copy of what it was"
    if scenario.change == "replace" and os.path.exists(os.path.join(folder, SESSION)):
        if stat.S_IMODE(os.stat(os.path.join(folder, SESSION)).st_mode) != 0o640:
            yield "bytes: the permissions changed"


class Report:
    """What a run reported: rows or a result on stdout, errors and warnings on stderr."""

    def __init__(self, run):
        self.code = run.code
        self.results = objects(run.stdout)
        lines = objects(run.stderr)
        self.is_readable = self.results is not None and lines is not None
        self.errors = [line["error"] for line in lines or [] if "error" in line]
        self.warnings = [line["warning"] for line in lines or [] if "warning" in line]
        self.kinds = {error["kind"] for error in self.errors}
        self.row = (self.results or [None])[0]

    def says_output(self):
        return any("cannot write the output" in error["message"] for error in self.errors)


def check_report(expected, injection, run, state):
    """Finds what a run that was not killed should not have said."""
    report, call = Report(run), injection.call
    # What stands on a stderr that takes nothing is not there to be checked.
    is_muted = call.name == "write" and (injection.mode == "for good" or call.about == "stderr")
    if run.code == TERMINATED and injection.error == "TERM":
        is_told = bool(report.row) and report.row.get("status") != "failed"
        if is_told != (state == NEW):
            yield f"report: terminated, and the file is {state}"
        return
    if run.code not in (0, 2):
        yield f"report: exit code {run.code}"
        return
    is_unprinted = call.is_stdout and not injection.is_signal and not injection.is_tried_again
    if is_unprinted or is_muted:
        yield from check_muted(injection, report, state, run)
        return
    if not report.is_readable:
        yield "report: not JSON"
        return
    is_file = state == NEW
    if run.code == 0:
        yield from check_success(expected, injection, report, is_file)
    elif "not-synced" in report.kinds:
        if not is_file:
            yield "report: `not-synced`, and the file is old"
        if not report.row or report.row.get("synced") is not False:
            yield "report: `not-synced` without a result that says `\"synced\": false`"
    elif report.says_output():
        yield from check_hint(report, is_file)
    else:
        if is_file:
            yield "report: told as failed, and the change is made"
        if not report.errors and not (report.row and report.row.get("status") == "failed"):
            yield "report: exit 2 without an error"
        is_row = expected.scenario.command == "migrate" and not expected.scenario.output
        if report.row and not (is_row and report.row.get("status") == "failed"):
            yield f"report: exit 2 with a result {report.row.get('status', '')}".rstrip()
    if injection.is_tried_again and run.code != 0 and not expected.fails:
        yield "EINTR: a call that was interrupted or had to wait is not made again"


def check_success(expected, injection, report, is_file):
    if not is_file:
        yield "report: told as done, and nothing changed"
    if not report.row or expected.keys and set(report.row) - {"synced"} != expected.keys:
        yield "report: exit 0 without the result"
    if report.row and report.row.get("synced", True) is not True:
        yield "report: exit 0 and not synced"
    if report.row and report.row.get("status", "migrated") != "migrated":
        yield f"report: exit 0 and {report.row['status']}"
    if report.errors:
        yield "report: exit 0 with an error"
    if injection.call.name in ("fsync", "fdatasync") and not injection.is_tried_again and not injection.is_signal:
        is_told = any(warning["kind"] == "folder-not-synced" for warning in report.warnings)
        if injection.call.about == "FOLDER":
            if not is_told:
                yield "report: the folder is not synced, and no warning says so"
        else:
            yield "report: told as done, and it is not synced"


def check_muted(injection, report, state, run):
    """Checks a run that could not print: it must not say that all is well."""
    if injection.error == "EPIPE":
        if run.code != 0 or report.errors:
            yield "report: a reader that went away is an error"
    elif run.code == 0 and injection.call.about != "stderr":
        yield "report: exit 0, and the output was not written"
    elif report.says_output():
        yield from check_hint(report, state == NEW)


def check_hint(report, is_file):
    hints = " ".join(error.get("hint") or "" for error in report.errors)
    if is_file and not SAYS_MADE.search(hints):
        yield "report: the output could not be written, and no hint says that the change is made"


def check_around(expected, injection, folder, state):
    """Finds what is wrong with what goes along with a change: a hook that is to hear of it, whatever
    its sync said, and a file's time."""
    scenario, is_sync = expected.scenario, injection.call.name in ("fsync", "fdatasync")
    if state == NEW and is_sync and not injection.is_signal and "--hook" in scenario.args:
        if b'"type":"session_tree"' not in (read(folder + HOOKED) or b""):
            yield "hook: it is not told of the change"
    if state == NEW and scenario.command in ("migrate", "check") and os.stat(os.path.join(folder, SESSION)).st_mtime != TIME:
        yield "bytes: the time of the file changed"


def check_calm(run):
    """Finds what no run may do."""
    if run.is_over_time:
        yield "hang"
    if b"panicked at" in run.stderr or run.code in (101, 134, -6):
        yield "panic"


def check_next(expected, tracer, binary, folder, state):
    """Runs the same command once more, with nothing in its way, and looks at what is there then."""
    scenario = expected.scenario
    before, files = read(folder, SESSION), made_files(folder)
    run = tracer.run(scenario.again(binary), folder)
    yield from check_calm(run)
    report = Report(run)
    now = read(folder, SESSION)
    is_there = scenario.output is not None and state == NEW
    if is_there and report.kinds == {"exists"}:
        pass
    elif run.code != 0 or report.errors:
        why = [error["message"] for error in report.errors] or [row.get("error", {}).get("message", "") for row in report.results or []]
        yield f"next: it fails: {' '.join(why).replace(folder, 'FOLDER')}"
        return
    if scenario.adds_lines:
        yield from check_added(expected, before, now, state)
    elif scenario.change == "create":
        more = 0 if is_there else 1
        if now != before or len(made_files(folder)) != len(files) + more:
            yield "next: not one new file"
    elif now != expected.migrated:
        yield "next: the file is not migrated"
    yield from (f"next: {what}" for what in check_files(expected, folder, NEW, False))
    if not scenario.adds_lines:
        # A run that had nothing to write clears nothing up: one that writes does.
        label = tracer.run([binary, "label", SESSION, "@", "afterwards", "--json"], folder)
        if label.code != 0:
            yield f"next: a label fails: {label.stderr.decode(errors='replace').strip()}"
    left = [re.sub(r"\d{3,}[\dTZ-]*_[0-9a-f-]+", "NEW", re.sub(r"\.\d+\.tmp", ".PID.tmp", name))
            for name in os.listdir(folder) if name.startswith(".")]
    if left:
        yield f"next: left behind: {' '.join(sorted(left))}"


def check_added(expected, before, now, state):
    """Checks that a run added its lines to what it found."""
    base = expected.migrated if expected.scenario.change == "replace" and state == OLD else before
    base = base if base.endswith(b"\n") else base + b"\n"
    if not now.startswith(base):
        yield "next: what was there changed"
    elif len(shape(now[len(base):], base) or []) != len(expected.shape):
        yield "next: its line is not there"
