"""Kills at random moments: of the commands that write, and of two that write into one file."""

import json
import random
import signal
import subprocess
import threading
import time

import verdict
from scenarios import SESSION

SCENARIOS = ("label", "migrate --backup", "branch", "check --fix", "label into version 1")
WRITERS = "two writers"
# A round of two writers, in runs.
ROUND = 50
# How much longer than a run takes a kill may wait.
BEYOND = 1.2


class Clock:
    """How long the runs of a command take, in seconds, as far as is known."""

    def __init__(self):
        self.longest, self.lock = 0.01, threading.Lock()

    def learn(self, is_done):
        """A run that was killed took longer than was waited, one that was not, less."""
        with self.lock:
            self.longest = max(0.001, self.longest * (0.97 if is_done else 1.01))


def killed(argv, folder, env, clock, chance):
    """Starts a command, kills it at a random moment, and gives its exit code; negative if it was."""
    process = subprocess.Popen(argv, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)
    time.sleep(chance.uniform(0, clock.longest * BEYOND))
    process.kill()
    code = process.wait()
    clock.learn(code != -signal.SIGKILL)
    return code


def once(expected, tracer, binary, folder, clock, number):
    """Kills a run of a scenario; gives what is wrong then."""
    code = killed(expected.scenario.again(binary), folder, tracer.env, clock, random.Random(number))
    state = expected.state(folder)
    problems = list(verdict.check_files(expected, folder, state, code < 0 and expected.scenario.change == "append"))
    if code == 0 and state != verdict.NEW:
        problems.append("report: told as done, and nothing changed")
    if code > 0:
        problems.append(f"report: exit code {code}")
    if state in (verdict.OLD, verdict.NEW, verdict.FRAGMENT):
        problems += verdict.check_next(expected, tracer, binary, folder, state)
    return problems


def writers(scenario, tracer, binary, folder, clock, number):
    """Lets two writers label one file, half of whose runs are killed; gives what is wrong then."""
    codes = {}

    def write(who):
        chance = random.Random(number * 2 + who)
        for turn in range(ROUND // 2):
            name = f"w{who}-{turn}"
            argv = [binary, "label", SESSION, "@", name, "--json", "--lock-timeout", "10"]
            if chance.random() < 0.5:
                codes[name] = killed(argv, folder, tracer.env, clock, chance)
            else:
                codes[name] = subprocess.run(argv, cwd=folder, env=tracer.env, stdin=subprocess.DEVNULL,
                                             capture_output=True, timeout=60).returncode

    threads = [threading.Thread(target=write, args=(who,)) for who in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    last = subprocess.run([binary, "label", SESSION, "@", "last"], cwd=folder, env=tracer.env, capture_output=True)
    yield from check_writers(scenario, verdict.read(folder, SESSION), {**codes, "last": last.returncode})


def check_writers(scenario, now, codes):
    if not now.startswith(scenario.old) or not now.endswith(b"\n"):
        yield "bytes: what was there changed"
        return
    found, ids = [], {json.loads(line).get("id") for line in scenario.old.splitlines()}
    for line in now[len(scenario.old):].splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            yield "bytes: a line is not whole"
            continue
        found.append(entry.get("label"))
        if entry["parentId"] not in ids or entry["id"] in ids:
            yield "bytes: an entry hangs at nothing, or its id is not new"
        ids.add(entry["id"])
    if len(codes) <= ROUND:
        yield "report: a writer broke down"
    for name, code in codes.items():
        count = found.count(name)
        if count > 1 or code == 0 and count == 0 or code > 0 and count:
            yield f"report: exit code {code}, and its label is there {count} times"
