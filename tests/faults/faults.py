"""Fails the system calls of every scenario in turn, and looks at what is left and what was said.
Started by run.sh: faults.py BIN WORK [--all] [--kills N] [--only TEXT]."""

import argparse
import itertools
import os
import shutil
import sys
import threading
import traceback
import zlib
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import calls
import kills
import torn
import verdict
from scenarios import SESSION, all_scenarios

WORKERS = 2
# In CI one in so many.
PART = 20


class Folders:
    """Gives folders that nobody has used, and removes those that were looked at."""

    def __init__(self, work):
        self.work, self.count, self.lock = work, itertools.count(), threading.Lock()

    def fresh(self, scenario):
        with self.lock:
            folder = os.path.join(self.work, f"run-{next(self.count)}")
        scenario.make(folder)
        return folder


def is_chosen(name, part):
    """Chooses by the name, so that the same ones are chosen in every run."""
    return zlib.crc32(str(name).encode()) % part == 0


class Sweep:
    """Counts and reports."""

    def __init__(self, options):
        self.options = options
        self.tracer = calls.Tracer(options.work)
        self.folders = Folders(options.work)
        self.jobs, self.counts, self.kinds, self.lock = [], Counter(), Counter(), threading.Lock()

    def verdict(self, group, what, name, problems, reproduce, count=1):
        with self.lock:
            self.counts[group, what] += count
            if reproduce:
                self.counts[group, "failed" if problems else "passed"] += count
            if problems:
                print(f"{name}\n    {reproduce}", file=sys.stderr)
            for problem in problems:
                print(f"    {problem}", file=sys.stderr)
                self.kinds[problem] += 1

    def inject(self, expected, injection):
        scenario, folder = injection.scenario, None
        fresh = lambda: self.folders.fresh(scenario)
        found = self.tracer.injected(injection, self.options.binary, fresh)
        if found is None:
            self.verdict(scenario.name, "not reached", injection, [], "")
            return
        folder, run = found
        state = expected.state(folder)
        problems = list(verdict.check_calm(run))
        may_be_torn = scenario.room is not None and injection.call.name in ("ftruncate", "statx", "fstat", "write")
        problems += verdict.check_files(expected, folder, state, may_be_torn)
        if not injection.is_kill:
            problems += verdict.check_report(expected, injection, run, state)
            problems += verdict.check_around(expected, injection, folder, state)
        if state in (verdict.OLD, verdict.NEW, verdict.FRAGMENT):
            problems += verdict.check_next(expected, self.tracer, self.options.binary, folder, state)
        what = {calls.KILL: "kills", calls.TERM: "terminated"}.get(injection.error, "errors")
        self.verdict(scenario.name, what, injection, problems, run.typed)
        shutil.rmtree(folder)

    def run(self):
        for scenario in all_scenarios():
            if self.options.only in scenario.name:
                self.prepare(scenario)
        self.prepare_writers()
        with ThreadPoolExecutor(WORKERS) as pool:
            for done in [pool.submit(*job) for job in self.jobs]:
                done.result()

    def prepare(self, scenario):
        """Adds what is to be done to a scenario to the jobs."""
        fresh = lambda: self.folders.fresh(scenario)
        tracer, binary = self.tracer, self.options.binary
        expected = verdict.Expected(scenario, tracer, binary, fresh)
        for injection in calls.injections(scenario, expected.calls, SESSION):
            if is_chosen(injection, self.options.part):
                self.jobs.append((self.inject, expected, injection))
        if scenario.room is None:
            self.jobs += ((self.replay, expected, state) for state in torn.states(scenario, tracer, binary, fresh))
        if scenario.name in kills.SCENARIOS:
            clock = kills.Clock()
            count = self.options.kills // (len(kills.SCENARIOS) + 1)
            self.jobs += ((self.kill, expected, clock, number) for number in range(count))

    def prepare_writers(self):
        count = self.options.kills // (len(kills.SCENARIOS) + 1) // kills.ROUND
        if kills.WRITERS.find(self.options.only) >= 0:
            clock = kills.Clock()
            self.jobs += ((self.write, clock, number) for number in range(count))

    def replay(self, expected, state):
        folder = self.folders.fresh(expected.scenario)
        problems = torn.check(expected, state, self.tracer, self.options.binary, folder)
        self.verdict(expected.scenario.name, "torn", state, problems, "replayed")
        shutil.rmtree(folder)

    def kill(self, expected, clock, number):
        name, folder = expected.scenario.name, self.folders.fresh(expected.scenario)
        problems = kills.once(expected, self.tracer, self.options.binary, folder, clock, number)
        self.verdict(name, "random kills", f"{name}: random kill {number}", problems, "at a random moment")
        shutil.rmtree(folder)

    def write(self, clock, number):
        scenario = all_scenarios()[0]
        folder = self.folders.fresh(scenario)
        problems = list(kills.writers(scenario, self.tracer, self.options.binary, folder, clock, number))
        self.verdict(kills.WRITERS, "random kills", f"{kills.WRITERS}: round {number}", problems,
                     "two loops, killed at random moments", kills.ROUND)
        shutil.rmtree(folder)

    def table(self):
        columns = ("errors", "kills", "terminated", "torn", "random kills", "not reached", "passed", "failed")
        groups = list(dict.fromkeys(group for group, _ in self.counts))
        order = [one.name for one in all_scenarios()]
        groups.sort(key=lambda group: order.index(group) if group in order else len(order))
        print(f"| scenario | {' | '.join(columns)} |\n|---|{'--:|' * len(columns)}")
        for group in groups:
            print(f"| `{group}` | {' | '.join(str(self.counts[group, column]) for column in columns)} |")
        for kind, count in self.kinds.most_common():
            print(f"{count:5} × {kind}", file=sys.stderr)
        passed, failed = (sum(self.counts[group, what] for group in groups) for what in ("passed", "failed"))
        print(f"{passed} passed, {failed} failed")
        return 1 if failed or not passed else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("work")
    parser.add_argument("--all", dest="part", action="store_const", const=1, default=PART)
    parser.add_argument("--kills", type=int, default=0)
    parser.add_argument("--only", default="")
    sweep = Sweep(parser.parse_args())
    sweep.run()
    return sweep.table()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Exception:
        traceback.print_exc()
        sys.exit(3)
