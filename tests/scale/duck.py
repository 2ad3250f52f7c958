#!/usr/bin/env python3
"""Lets DuckDB answer the five questions of `session-tree help many` about a store of sessions, and compares the answers
with the truth.

usage: duck.py BIN STORE TRUTH WORK
"""

import json
import os
import re
import subprocess
import sys

import duckdb

binary, store, truth, work = map(os.path.abspath, sys.argv[1:])
os.chdir(work)
with open(truth) as file:
    truth = json.load(file)


def program(*arguments, **options):
    return subprocess.run([binary, *arguments], check=True, **options).stdout


# What makes the rows, and the questions, are those of the page.
page = program("help", "many", stdout=subprocess.PIPE, text=True)
for arguments, name in re.findall(r"^session-tree (.* sessions .*) > (\w+\.jsonl)$", page, re.MULTILINE):
    with open(name, "wb") as file:
        program(*(store if word == "sessions" else word for word in arguments.split()), stdout=file)
statements = [text.strip() for text in re.search(r"```sql\n(.*?)```", page, re.DOTALL)[1].split(";") if text.strip()]

base = duckdb.connect()
rows = [base.execute(statement).fetchall() for statement in statements]
asked = [found for found, statement in zip(rows, statements) if not statement.startswith("CREATE")]
answers = [{row[0]: round(row[1], 3) for row in found} for found in asked]
answers.append({"entries": base.execute("SELECT count(*) FROM once").fetchone()[0]})


def dollars(name):
    return {key: thousandths / 1000 for key, thousandths in truth[name].items()}


expected = {
    "cost a day": dollars("byDay"),
    "cost by model": dollars("byModel"),
    "cost by folder": dollars("byFolder"),
    "most forked prompt": truth["mostForked"],
    "tool errors": truth["toolErrors"],
    "entries, each counted once": {"entries": truth["entries"]},
}
failed = 0
for (name, right), answer in zip(expected.items(), answers, strict=True):
    failed += answer != right
    print(f"ok   DuckDB: {name}" if answer == right else f"FAIL DuckDB: {name}: {answer}, not {right}")
sys.exit(1 if failed else 0)
