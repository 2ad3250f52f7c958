"""System calls: which are failed and how, and how strace is told so.

strace counts the calls of a thread from its start. What the program looks up about other processes
makes that count differ from run to run, so a call is known by what it is about (`Call.about`) and
its place among its like, and a run that failed another one is made again."""

import os
import re
import shlex
import signal
import subprocess
from collections import Counter

# What a call may fail with. EINTR only ever once: who is told of it tries again.
ERRORS = {
    "write": ["ENOSPC", "EIO", "EINTR"], "pwrite64": ["ENOSPC", "EIO", "EINTR"],
    "fsync": ["EIO", "ENOSPC", "EINTR"], "fdatasync": ["EIO", "ENOSPC", "EINTR"],
    "rename": ["EIO", "ENOSPC", "EACCES"], "renameat": ["EIO", "ENOSPC", "EACCES"],
    "renameat2": ["EIO", "ENOSPC", "EACCES", "EINVAL"],
    "open": ["EMFILE", "EACCES", "EIO", "EINTR"], "openat": ["EMFILE", "EACCES", "EIO", "EINTR"],
    "link": ["EIO", "ENOSPC", "EPERM"], "linkat": ["EIO", "ENOSPC", "EPERM"],
    "unlink": ["EIO", "EACCES"], "unlinkat": ["EIO", "EACCES"],
    "flock": ["ENOLCK", "EIO", "EINTR", "EAGAIN"], "fcntl": ["EMFILE"],
    "fchmod": ["EPERM", "EIO"], "fchown": ["EPERM"], "ftruncate": ["EIO", "EINTR"], "utimensat": ["EPERM", "EIO"],
    "newfstatat": ["EIO", "EACCES"], "statx": ["EIO", "EACCES"], "fstat": ["EIO"],
    "getdents64": ["EIO"], "readlink": ["EIO"], "read": ["EIO", "EINTR"], "pread64": ["EIO", "EINTR"],
    "clone": ["EAGAIN"], "clone3": ["EAGAIN"],
}
# A call that makes a file needs room; one into a pipe that is closed is told so.
MAKES, CLOSED = "ENOSPC", "EPIPE"
# It may also end right before the call, or be asked to.
KILL, TERM = "KILL", "TERM"
ONCE, FOR_GOOD = "once", "for good"

# How long a run may take, in seconds.
PATIENCE = 20
TRIES = 8
# How many runs that take longer are a hang.
SLOW = 3
LINE = re.compile(r"(\w+)\((.*?)(?:\) += (-?\d+|\?).*|<unfinished \.\.\.>|)$")
WORDS = re.compile(r'"((?:[^"\\]|\\.)*)"|(\d+)<((?:[^<>\\]|\\.|<[^>]*>)*)>')
SET = ",".join(f"?{name}" for name in ERRORS)


class Call:
    """A system call: its name, what it is about, and its number among all of that name."""

    def __init__(self, name, about, number, like):
        self.name, self.about, self.number, self.like = name, about, number, like

    def __str__(self):
        return f"{self.name} {self.about} #{self.like}"

    @property
    def is_stdout(self):
        return self.name == "write" and self.about == "stdout"

    def number_in(self, calls):
        """Gives the number of the same call in another run, if it is made there."""
        key = (self.name, self.about, self.like)
        return next((call.number for call in calls if (call.name, call.about, call.like) == key), None)

    def errors(self):
        """Gives what it may fail with."""
        yield from ERRORS[self.name]
        if self.name in ("open", "openat") and "CREAT" in self.about:
            yield MAKES
        if self.is_stdout:
            yield CLOSED


class Injection:
    """A call that fails, once or from there on, or at which the program is killed."""

    def __init__(self, scenario, call, error, mode):
        self.scenario, self.call, self.error, self.mode = scenario, call, error, mode

    def __str__(self):
        how = f"signal {self.error}" if self.is_signal else f"{self.error}, {self.mode}"
        return f"{self.scenario.name}: {self.call}: {how}"

    @property
    def is_kill(self):
        return self.error == KILL

    @property
    def is_signal(self):
        return self.error in (KILL, TERM)

    @property
    def is_tried_again(self):
        """Tells whether no program fails because of it: a signal came, or another had the lock."""
        return self.error == "EINTR" or (self.call.name, self.error, self.mode) == ("flock", "EAGAIN", ONCE)

    def option(self, number):
        what = f"{'signal' if self.is_signal else 'error'}={self.error}"
        return f"{self.call.name}:{what}:when={number}{'+' if self.mode == FOR_GOOD else ''}"


class Run:
    """How a run ended, the calls it made, and what is to be typed to see the same."""

    def __init__(self, code, stdout, stderr, is_over_time):
        self.code, self.stdout, self.stderr, self.is_over_time = code, stdout, stderr, is_over_time
        self.calls, self.typed = [], ""


def about(name, args, folder):
    """Says what a call is about, by words that are the same in every run."""
    words = []
    for text, number, path in WORDS.findall(args):
        if number:
            words.append({"1": "stdout", "2": "stderr"}.get(number) or path)
            if name in ("write", "pwrite64", "read", "pread64", "getdents64"):
                break
        elif text:
            words.append(text)
    flags = re.findall(r"\bO_CREAT\b|\bF_\w+", args) if name in ("open", "openat", "fcntl") else []
    said = " ".join(words[:2] + flags).replace("O_", "")
    said = said.replace(folder + "/", "").replace(folder, "FOLDER")
    said = re.sub(r"pipe:\[\d+\]", "pipe", said)
    said = re.sub(r"#\d+$", "#TEMPORARY", said)
    said = re.sub(r"\.\d+\.tmp", ".PID.tmp", said)
    said = re.sub(r"\d{4}-\d\d-\d\dT[\d-]+Z_[0-9a-f-]+", "NEW", said)
    # Those of other processes come and go.
    return re.sub(r"(?<=/)\d+\b", "N", said) if "/proc/" in said else said


def parse(trace, folder):
    """Gives the calls in a trace, in their order."""
    numbers, likes, calls = Counter(), Counter(), []
    for line in trace.splitlines():
        found = LINE.match(line)
        if not found or found[1] not in ERRORS:
            continue
        name = found[1]
        what = about(name, found[2], folder)
        numbers[name] += 1
        likes[name, what] += 1
        calls.append(Call(name, what, numbers[name], likes[name, what]))
    return calls


def worth_failing(calls, session):
    """Gives the calls from the first opening of the session on; of those that look at other
    processes the first of each kind."""
    start = next(at for at, call in enumerate(calls) if call.name.startswith("open") and call.about == session)
    for call in calls[start:]:
        if "/proc/" in call.about and call.like > 1:
            continue
        if call.name == "fcntl" and "DUPFD" not in call.about:
            continue
        yield call


def injections(scenario, calls, session):
    for call in worth_failing(calls, session):
        for error in call.errors():
            yield Injection(scenario, call, error, ONCE)
            if error not in ("EINTR", CLOSED):
                yield Injection(scenario, call, error, FOR_GOOD)
        yield Injection(scenario, call, KILL, ONCE)
        yield Injection(scenario, call, TERM, ONCE)


class Tracer:
    """Runs the program, with strace or without, in namespaces of its own where the system allows
    it: there are few other processes then, and the id of one that died is not given again."""

    def __init__(self, work):
        home = os.path.join(work, "home")
        os.makedirs(home, exist_ok=True)
        self.env = {"PATH": os.environ["PATH"], "HOME": home, "TMPDIR": work, "LC_ALL": "C.UTF-8", "TZ": "UTC",
                    "SESSION_TREE_DIR": home}
        self.alone = next(filter(self.is_possible, (["unshare"], ["unshare", "-r"])), [])
        if self.alone:
            self.alone += ["--fork", "--pid", "--mount-proc", "--kill-child", "--"]

    def is_possible(self, how):
        command = [*how, "--fork", "--pid", "--mount-proc", "--kill-child", "--", "true"]
        return subprocess.run(command, env=self.env, stderr=subprocess.DEVNULL).returncode == 0

    def run(self, argv, folder):
        command = [*self.alone, *argv]
        process = subprocess.Popen(command, cwd=folder, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, start_new_session=True)
        is_over_time = False
        try:
            stdout, stderr = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            is_over_time = True
            os.killpg(process.pid, signal.SIGKILL)
            stdout, stderr = process.communicate()
        # strace has something to say of children that it does not trace.
        stderr = b"".join(line for line in stderr.splitlines(True) if not line.startswith(b"strace: "))
        return Run(process.returncode, stdout, stderr, is_over_time)

    def traced(self, scenario, binary, folder, inject=()):
        """Runs a scenario under strace. Only the main thread is traced: a summarizer is not ours."""
        file = folder + ".trace"
        options = [word for what in (*scenario.before, *inject) for word in ("-e", f"inject={what}")]
        argv = scenario.argv(binary)
        run = self.run(["strace", "-y", "-s", "16", "-o", file, "-e", f"trace={SET}", *options, *argv], folder)
        run.typed = shlex.join([*self.alone, "strace", "-o", "/dev/null", *options, *argv])
        with open(file, encoding="utf-8", errors="replace") as trace:
            run.calls = parse(trace.read(), folder)
        os.remove(file)
        return run

    def injected(self, injection, binary, fresh):
        """Runs a scenario with a fault. `fresh` gives a new folder each time it is called. Gives
        the folder with what was found, or nothing if the call was not made."""
        call, number, slow = injection.call, injection.call.number, 0
        for _ in range(TRIES):
            folder = fresh()
            run = self.traced(injection.scenario, binary, folder, [injection.option(number)])
            slow += run.is_over_time
            # On a busy machine a run may be slow, and a hang hangs again.
            if run.is_over_time and slow < SLOW:
                continue
            if call.number_in(run.calls) == number:
                return folder, run
            # Other processes came or went: it stands elsewhere in the count.
            number = call.number_in(self.traced(injection.scenario, binary, fresh()).calls) or number
        return None
