// What an agent makes of a session file, in a few short words a question: whether it opens it, what it shows,
// holds and sends, and what is left after it has appended to the file. Run by effects.ts, one process an agent,
// since some files make an agent hang.
//
// usage: bun effect.ts NAME FOLDER SCRATCH
//   NAME     omp or pi, installed in FOLDER
//   SCRATCH  a folder for copies
//
// Prints a line when it is ready, then reads lines {"file": PATH} and answers each with a line of JSON.
import fs from "node:fs";
import path from "node:path";
import readline from "node:readline";
import { Agent, type Json, type Name, type Session } from "./agents.ts";
import { apis, isStandIn, Sender } from "./sent.ts";

const [name, folder, scratch] = process.argv.slice(2);
const agent = await Agent.load(name as Name, folder, scratch);
const sender = new Sender(agent, folder);

console.log("ready");
for await (const line of readline.createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await effects(JSON.parse(line).file)));
}
process.exit(0);

async function effects(file: string): Promise<Record<string, string>> {
  const before = fs.readFileSync(file);
  const list = await listed(file);
  const session = await agent.open(file).catch(() => undefined);
  if (!session) return { open: "refuses", list };
  const open = changed(before, session.file);
  const shown = tried(() => show(session));
  const held = tried(() => session.context(session.view().leaf).messages.map((message: Json) => message.role).join(" "));
  const cost = tried(() => String(session.own("getUsageStatistics").cost));
  await session.close();
  const sent = await sender.messages(file).then(
    ({ llm }) => llm.map(message).join(" "),
    () => "fails",
  );
  const requests = [];
  for (const [format, api] of Object.entries(apis)) requests.push(`${format} ${await request(file, api)}`);
  const answers = { open, list, shown, held, cost, sent, requests: requests.join(", ") };
  return { ...answers, append: await appended(file), ...(await renamed(file)) };
}

function tried(what: () => string): string {
  try {
    return what();
  } catch {
    return "fails";
  }
}

/** What became of a file. */
function changed(before: Buffer, file: string): string {
  const after = fs.readFileSync(file);
  if (after.equals(before)) return "opens";
  if (after.subarray(0, before.length).equals(before)) {
    return `opens, and adds ${JSON.stringify(after.subarray(before.length).toString().replace(/\{.*\}/g, "a header"))}`;
  }
  return `opens, and ${lost(before, after)}`;
}

/** Which lines of a file are no longer there. */
function lost(before: Buffer, after: Buffer): string {
  const left = new Set(lines(after));
  const gone = lines(before).flatMap((line, at) => (line.trim() === "" || left.has(line) ? [] : [at + 1]));
  return gone.length === 0 ? "keeps all lines" : `changes or drops lines ${gone.join(" ")}`;
}

function lines(bytes: Buffer): string[] {
  // One character a byte: what is not UTF-8 has to differ, too.
  return bytes.toString("latin1").split("\n");
}

/** The entry in the agent's list of sessions: its folder and time. */
async function listed(file: string): Promise<string> {
  const copy = path.join(fs.mkdtempSync(path.join(scratch, "list-")), path.basename(file));
  fs.copyFileSync(file, copy);
  fs.utimesSync(copy, 1767700000, 1767700000);
  const found = await agent.list("/home/sam/demo", path.dirname(copy)).catch(() => undefined);
  if (!found) return "fails";
  if (found.length === 0) return "no";
  const time = (value: Json) => (value instanceof Date && !Number.isNaN(value.getTime()) ? value.toISOString() : "no time");
  return `${found[0].cwd || "no folder"}, ${time(found[0].created)}`;
}

/** Leaf, path and rows of the tree. */
function show(session: Session): string {
  const ids = session.entries().map(entry => known(entry.id));
  const path = session.own("getBranch").map((entry: Json) => known(entry.id));
  const rows = session.rows();
  return `${ids.length} entries in ${rows} rows; path ${path.join(" ") || "empty"}`;
}

/** Ids that an agent draws differ from run to run. */
function known(id: Json): string {
  return /^[a-z]\d$|^[a-z]0{6}\d$/.test(String(id)) ? id : "+";
}

function message({ role, content, toolCallId }: Json): string {
  const of = role === "toolResult" ? ` of ${toolCallId}` : "";
  if (!Array.isArray(content)) return `${role}${of}(${typeof content === "string" ? text(content) : JSON.stringify(content)})`;
  return `${role}${of}(${content.map(block).join(", ")})`;
}

function block(block: Json): string {
  if (block?.type === "text") return isStandIn(block.text) ? "stand-in" : text(block.text);
  if (block?.type === "toolCall") return `call ${block.id}`;
  if (block?.type === "image") return String(block.data).startsWith("blob:") ? "image without data" : "image";
  return block?.type ?? JSON.stringify(block);
}

function text(value: Json): string {
  if (typeof value !== "string") return JSON.stringify(value) ?? "nothing";
  const summary = /<summary>/.test(value) ? "summary" : undefined;
  const odd = [
    /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(value) && "half a pair",
    value.includes("\ufffd") && "U+FFFD",
    value.includes("\u001b") && "escape",
  ].filter(Boolean);
  const short = value.length > 20 ? `${value.slice(0, 12)}…` : value;
  return odd.length > 0 ? odd.join(" and ") : (summary ?? JSON.stringify(short));
}

/** Whether the body of a request can be made, and keeps the published rules on calls and results. */
async function request(file: string, api: string): Promise<string> {
  const body = await sender.request(file, api).catch(() => undefined);
  if (!body) return "fails";
  const turns = body.messages ?? body.input;
  return api === apis.anthropic ? paired(turns) : api === apis.openai ? following(turns) : anywhere(turns);
}

/** Anthropic: the results of a turn are in the next message, and nowhere else. */
function paired(messages: Json[]): string {
  const ids = (message: Json, type: string, member: string): string[] =>
    Array.isArray(message?.content)
      ? message.content.filter((block: Json) => block.type === type).map((block: Json) => block[member])
      : [];
  for (let at = 0; at <= messages.length; at++) {
    const calls = ids(messages[at - 1], "tool_use", "id").toSorted();
    const results = ids(messages[at], "tool_result", "tool_use_id").toSorted();
    const names = messages[at - 1]?.content;
    if (Array.isArray(names) && names.some(block => block.type === "tool_use" && !block.name)) return "without a name";
    if (JSON.stringify(calls) !== JSON.stringify(results)) return "unpaired";
  }
  return "ok";
}

/** Chat completions: the results of a turn follow it. */
function following(messages: Json[]): string {
  let open: string[] = [];
  for (const { role, tool_calls, tool_call_id } of messages) {
    if (role === "tool") {
      const at = open.indexOf(tool_call_id);
      if (at < 0) return "unpaired";
      open.splice(at, 1);
    } else if (open.length > 0) {
      return "unpaired";
    }
    if (tool_calls?.some((call: Json) => !call.function.name)) return "without a name";
    open.push(...(tool_calls ?? []).map((call: Json) => call.id));
  }
  return open.length === 0 ? "ok" : "unpaired";
}

/** Responses: each result has a call before it, and each call one result. */
function anywhere(input: Json[]): string {
  const open = new Set<string>();
  for (const { type, call_id, name } of input) {
    if (type === "function_call" && !name) return "without a name";
    if (type === "function_call") open.add(call_id);
    if (type === "function_call_output" && !open.delete(call_id)) return "unpaired";
  }
  return open.size === 0 ? "ok" : "unpaired";
}

/** What is there when something was appended and the file is opened again; + is what was appended. */
async function appended(file: string): Promise<string> {
  const before = fs.readFileSync(file);
  const session = await agent.open(file);
  try {
    session.user("appended");
    await session.close();
  } catch {
    return "fails";
  }
  return await again(before, session.file);
}

async function again(before: Buffer, file: string): Promise<string> {
  const what = lost(before, fs.readFileSync(file));
  const reopened = await agent.open(file).catch(() => undefined);
  if (!reopened) return `${what}; refuses the file then`;
  const shown = tried(() => show(reopened));
  await reopened.close();
  return `${what}; ${shown}`;
}

/** What is there after a rename, of a file that starts with a title. */
async function renamed(file: string): Promise<Record<string, string>> {
  const before = fs.readFileSync(file);
  if (!before.subarray(0, 20).toString().includes('{"type":"title"')) return {};
  const session = await agent.open(file);
  await session.own("setSessionName", "Another title", "user");
  await session.close();
  const rest = before.subarray(before.indexOf("\n") + 1);
  const left = lost(rest, fs.readFileSync(session.file));
  const reopened = await agent.open(session.file).catch(() => undefined);
  if (!reopened) return { rename: `${left}; refuses the file then` };
  reopened.user("appended");
  await reopened.close();
  return { rename: `${left}; ${await again(rest, session.file)}` };
}
