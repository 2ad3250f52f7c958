"""A shell in a pseudo-terminal: keys go in, what it shows comes out. Nothing waits for a time to
pass, only for output."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

TAB, ENTER, ERASE = "\t", "\r", "\x15"
# How long a shell may take to answer, in seconds: only ever reached where something is wrong.
PATIENCE = 10
ESCAPES = re.compile(r"\x1b\[[0-9;:<=>?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][A-Z0-9]|\x1b[=>78cM]")


class Silent(Exception):
    """The shell did not show what was waited for."""


class Terminal:
    def __init__(self, argv, env, folder):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(argv[0], argv, env)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", 150, 200, 0, 0))
        self.shown = ""
        self.answered = 0

    def press(self, keys):
        """Types, and forgets what was shown before."""
        self.shown, self.answered = "", 0
        os.write(self.fd, keys.encode())

    def wait(self, *texts):
        """Reads until one of the texts is shown, and gives all that was, without escape sequences."""
        end = time.monotonic() + PATIENCE
        while True:
            plain = ESCAPES.sub("", self.shown)
            if any(text in plain for text in texts):
                return plain
            ready, _, _ = select.select([self.fd], [], [], max(0, end - time.monotonic()))
            try:
                read = os.read(self.fd, 65536) if ready else b""
            except OSError:
                read = b""
            if not read:
                raise Silent(f"no {' nor '.join(map(repr, texts))} in {plain!r}")
            self.shown += read.decode(errors="replace")
            self.answer()

    def answer(self):
        """Says what a terminal is asked for: what it is, and where its cursor stands."""
        for found in re.finditer(r"\x1b\[0?c|\x1b\[6n", self.shown[self.answered:]):
            os.write(self.fd, b"\x1b[1;1R" if found[0].endswith("n") else b"\x1b[?6c")
        self.answered = len(self.shown)

    def close(self):
        """Ends the shell and what it started."""
        os.close(self.fd)
        for signals in (signal.SIGHUP, signal.SIGKILL):
            try:
                os.killpg(self.pid, signals)
            except ProcessLookupError:
                break
            end = time.monotonic() + 1
            while time.monotonic() < end:
                if os.waitpid(self.pid, os.WNOHANG)[0]:
                    return
                select.select([], [], [], 0.01)
        try:
            os.waitpid(self.pid, 0)
        except ChildProcessError:
            pass
