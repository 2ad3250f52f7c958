#!/usr/bin/env python3
"""Runs the program as a filter inside of Spark, and compares what DataFrames sum up with the truth.

usage: spark.py BIN STORE TRUTH    (needs pyspark, pandas, pyarrow and Java 17)

Spark hands each session, its path and its bytes, to the program on whichever machine the task runs: the program has no
state and needs no file, only itself at the same path everywhere. STORE may be any folder that Spark can read.
"""

import json
import subprocess
import sys
import time

import pandas
from pyspark.sql import SparkSession, Window, functions as f

binary, store, truth = sys.argv[1:]
with open(truth) as file:
    truth = json.load(file)


def rows(path, content, *arguments):
    """Runs the program on one session; what is no session has said so on stderr, and has no rows."""
    command = [binary, arguments[0], "-", "--stdin-name", path, *arguments[1:], "--format", "jsonl"]
    done = subprocess.run(command, input=content, stdout=subprocess.PIPE)
    return [json.loads(line) for line in done.stdout.splitlines()] if done.returncode == 0 else []


def entries(batches):
    for batch in batches:
        made = []
        for path, content in zip(batch.path, batch.content):
            for session in rows(path, content, "list", "--long"):
                created, cwd = session["created"], session["cwd"]
                for row in rows(path, content, "tree", "--filter", "all", "--full"):
                    message = row["entry"].get("message", {})
                    cost = message.get("usage", {}).get("cost", {}).get("total", 0.0)
                    key = [row["id"], row["type"], str(row["timestamp"])]
                    made.append([created, cwd, *key, message.get("model"), float(cost)])
        yield pandas.DataFrame(made, columns=["created", "cwd", "id", "type", "timestamp", "model", "cost"])


start = time.monotonic()
spark = SparkSession.builder.master("local[*]").config("spark.ui.enabled", "false").getOrCreate()
spark.conf.set("spark.sql.shuffle.partitions", 8)
files = spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(store)
schema = "created string, cwd string, id string, type string, timestamp string, model string, cost double"
made = files.select("path", "content").mapInPandas(entries, schema)
# An entry that forks share counts once, as it stands in the oldest session.
oldest = Window.partitionBy("id", "type", "timestamp").orderBy("created")
once = made.withColumn("copy", f.row_number().over(oldest)).where("copy = 1").cache()
failed = int(once.count() != truth["entries"])
for name, column in {"byDay": "substring(timestamp, 1, 10)", "byModel": "model", "byFolder": "cwd"}.items():
    sums = once.where("cost > 0").groupBy(f.expr(column)).agg(f.round(f.sum("cost") * 1000))
    answer = {of: int(cost) for of, cost in sums.collect()}
    failed += answer != truth[name]
    print(f"{'ok  ' if answer == truth[name] else 'FAIL'} Spark: {name}")
print(f"{failed} failed; {truth['sessions']} sessions in {time.monotonic() - start:.0f} s")
sys.exit(1 if failed else 0)
