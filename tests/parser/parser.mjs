// Compares the parser of session-tree with the JSON.parse of the engine that runs this.
//
// usage: node parser.mjs COUNT SEED DATA COMMAND...
//
// COMMAND answers what parser.rs says. DATA is a folder whose *.jsonl have the lines that are damaged.

import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Texts } from "./texts.mjs";

// Most texts are refused, and to note where in this program that was takes longer than all the rest.
Error.stackTraceLimit = 0;

const BATCH = 20_000;
const LONGEST = 4_000;
const SHOWN = 5;

const [count, seed, data, ...command] = process.argv.slice(2);
const bits = new DataView(new ArrayBuffer(8));

/** Two names of an object became one when what is not a character was replaced: which counts is not defined. */
class Collision extends Error {}

/** The value in the form in which both sides print it: see parser.rs. */
function printed(value) {
  switch (typeof value) {
    case "string":
      return JSON.stringify(value.toWellFormed());
    case "number":
      bits.setFloat64(0, value);
      return bits.getUint32(0).toString(16).padStart(8, "0") + bits.getUint32(4).toString(16).padStart(8, "0");
    case "object":
      break;
    default:
      return String(value);
  }
  if (value === null) return "null";
  if (Array.isArray(value)) return `[${value.map((element) => `${printed(element)},`).join("")}]`;
  const names = Object.keys(value).map((name) => ({ name, well: name.toWellFormed() }));
  // By their bytes; that of UTF-16 units differs where there are surrogates.
  names.sort((a, b) => Buffer.compare(Buffer.from(a.well), Buffer.from(b.well)));
  if (names.some(({ well }, i) => i > 0 && names[i - 1].well === well)) throw new Collision();
  return `{${names.map(({ name, well }) => `${JSON.stringify(well)}:${printed(value[name])},`).join("")}}`;
}

/** What the engine makes of a text; null where only the acceptance can be compared. */
function expected(bytes) {
  let value;
  try {
    value = JSON.parse(bytes.toString("utf8"));
  } catch {
    return ".-";
  }
  const entry = typeof value === "object" && value !== null && !Array.isArray(value) ? "E" : ".";
  try {
    return `${entry}+${printed(value)}`;
  } catch (error) {
    if (error instanceof Collision) return null;
    throw error;
  }
}

const lines = readdirSync(data, { recursive: true })
  .filter((name) => name.endsWith(".jsonl"))
  .flatMap((name) => readFileSync(join(data, name), "latin1").split("\n"))
  .filter((line) => line.length > 0 && line.length <= LONGEST);

const child = spawn(command[0], command.slice(1), { stdio: ["pipe", "pipe", "inherit"] });
const answers = child.stdout[Symbol.asyncIterator]();
let rest = Buffer.alloc(0);

/** The answers to so many texts. */
async function answered(many) {
  const parts = [rest];
  let found = 0;
  for (const byte of rest) if (byte === 10) found++;
  while (found < many) {
    const { value, done } = await answers.next();
    if (done) throw new Error("the parser ended early");
    for (let at = value.indexOf(10); at >= 0; at = value.indexOf(10, at + 1)) found++;
    parts.push(value);
  }
  const all = Buffer.concat(parts);
  const out = [];
  let start = 0;
  while (out.length < many) {
    const end = all.indexOf(10, start);
    out.push(all.toString("utf8", start, end));
    start = end + 1;
  }
  rest = all.subarray(start);
  return out;
}

/** Sends texts, the last of them empty, for which the other side flushes its answers. */
function send(texts) {
  const length = Buffer.alloc(4);
  const parts = [];
  for (const text of texts) {
    length.writeUInt32LE(text.length);
    parts.push(Buffer.from(length), text);
  }
  child.stdin.write(Buffer.concat(parts));
}

const texts = new Texts(Number(seed), lines);
let passed = 0;
let failed = 0;
let accepted = 0;

async function check(batch) {
  const found = answered(batch.length);
  for (const [i, answer] of (await found).entries()) {
    const wanted = expected(batch[i]);
    if (answer[1] === "+") accepted++;
    if (wanted === null ? answer[1] === "+" : answer === wanted) {
      passed++;
      continue;
    }
    failed++;
    if (failed <= SHOWN) {
      console.log(`text      ${JSON.stringify(batch[i].toString("latin1"))}`);
      console.log(`engine    ${wanted ?? "+ (two names became one)"}`);
      console.log(`parser    ${answer}`);
    }
  }
}

// The parser works on one batch while the engine works on the one before.
let before;
for (let made = 0; made < Number(count); ) {
  const batch = [];
  for (; batch.length < BATCH && made < Number(count); made++) batch.push(Buffer.from(texts.text(), "latin1"));
  batch.push(Buffer.alloc(0));
  send(batch);
  if (before) await check(before);
  before = batch;
}
await check(before);
child.stdin.end();
console.log(`${accepted} of the texts are JSON`);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 3 : 0;
