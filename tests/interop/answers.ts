// Writes down what agents send of sessions, for `tests/suite/sent.rs`.
//
// usage: bun answers.ts PI OMP FILE...
//   PI, OMP  the folders in which pi and omp 18 are installed
//
// Beside each FILE.jsonl a FILE.json is written: `pi` with what it holds and sends and its requests, `omp` with
// what it holds and sends. What the agents word in their own way is left out of it.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { Agent, type Json } from "./agents.ts";
import { apis, plain, Sender } from "./sent.ts";

const [piFolder, ompFolder, ...files] = process.argv.slice(2);
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "answers-"));
const pi = new Sender(await Agent.load("pi", piFolder, scratch), piFolder);
const omp = new Sender(await Agent.load("omp", ompFolder, scratch), ompFolder);
for (const file of files) {
  const answers: Json = { pi: await pi.messages(file), omp: await omp.messages(file) };
  for (const [format, api] of Object.entries(apis)) {
    // An agent that cannot make a request says nothing of what is right.
    const body = await pi.request(file, api).catch(() => null);
    if (!body) continue;
    const { system, messages, input } = body;
    answers.pi[format] = { system, messages, input };
  }
  // A line an answer, so that a difference can be read.
  const lines = Object.entries(plain(answers)).map(([agent, sent]) => {
    const members = Object.entries(sent as Json).map(([format, body]) => `  "${format}": ${JSON.stringify(body)}`);
    return ` "${agent}": {\n${members.join(",\n")}\n }`;
  });
  fs.writeFileSync(file.replace(/\.jsonl$/, ".json"), `{\n${lines.join(",\n")}\n}\n`);
}
fs.rmSync(scratch, { recursive: true });
process.exit(0);
