// The test: what we write, the agents open; what they write, we open. Run by run.sh.
//
// usage: interop.ts BIN AGENTS WORK
//   AGENTS  the folder in which the agents are installed
//   WORK    an empty folder for all files
import fs from "node:fs";
import path from "node:path";
import { Agent, type Entry, type Json, type Session } from "./agents.ts";
import { Checks } from "./checks.ts";
import * as differences from "./differences.ts";
import { generate, type Profile } from "./generate.ts";
import { Random } from "./random.ts";
import { play } from "./theirs.ts";
import { lines, parse, read, Tool } from "./tool.ts";

const [bin, installed, work] = process.argv.slice(2);
const tool = new Tool(bin, path.join(work, "home"));
const checks = new Checks();
const agents = [await Agent.load("omp", installed, work), await Agent.load("pi", installed, work)];
const [omp, pi] = agents;

/** A session to try the commands on. */
interface Source {
  what: string;
  file: string;
  version: number;
  /** The same as version 3; this is what our writing begins with. */
  current: string;
  random: Random;
}

async function main(): Promise<boolean> {
  console.log([tool.version(), ...agents.map(agent => `${agent.name} ${agent.version}`), `bun ${Bun.version}`].join(", "));
  const sources = generated();
  for (const agent of agents) sources.push(...(await writtenBy(agent)));
  for (const source of sources) {
    for (const [group, test] of Object.entries({ migrate: migrating, label: labelling, navigate: navigating, branch: branching })) {
      await checks.within(group, source.what, () => test(source));
    }
  }
  await checks.within("in use", "omp", inUse);
  return checks.report();
}

// ---- Where sessions come from

function generated(): Source[] {
  const demo = fresh(path.join(import.meta.dir, "../data/demo.jsonl"));
  const sources = [source("demo.jsonl", demo, 3, 0)];
  for (const version of [1, 2, 3] as const) {
    for (let seed = 1; seed <= 6; seed++) {
      const profile: Profile = { version, seed, family: seed % 4 < 2 ? "pi" : "omp" };
      const what = `version ${version} seed ${seed}`;
      const file = path.join(emptyFolder(), `v${version}-${seed}.jsonl`);
      fs.writeFileSync(file, generate(profile));
      sources.push(source(what, file, version, seed));
    }
  }
  return sources;
}

/** Lets `agent` write sessions, checks that we read them as it does, and hands out some of them. */
async function writtenBy(agent: Agent): Promise<Source[]> {
  const group = `written by ${agent.name}`;
  const sources: Source[] = [];
  for (let seed = 1; seed <= 8; seed++) {
    await checks.within(group, `seed ${seed}`, async () => {
      const newer = agent.name === "pi" && seed % 2 === 0;
      for (const { what, session, forkedPath } of await play(agent, seed, newer)) {
        const name = `${what}, seed ${seed}`;
        // What the agent has in its memory counts, and what both make of the file.
        compare(group, `${name}, as ${agent.name} holds it`, session.file, 3, session, agent, new Random(seed));
        await agree(group, name, session.file, 3, new Random(seed));
        await goesOn(group, name, session.file);
        const { stderr } = tool.run(["tree", session.file]);
        if (!forkedPath || !differences.forkOrphans(agent.name, forkedPath)) checks.same(group, `${name}, warnings`, stderr, "");
        if (seed <= 2 && !forkedPath) sources.push(source(`${agent.name}'s ${name}`, session.file, 3, seed));
      }
    });
  }
  return sources;
}

function source(what: string, file: string, version: number, seed: number): Source {
  const current = path.join(emptyFolder(), "current.jsonl");
  if (version === 3) fs.copyFileSync(file, current);
  else fs.writeFileSync(current, tool.run(["migrate", file, "--output", "-"]).stdout);
  return { what, file, version, current, random: new Random(seed) };
}

// ---- Our commands

async function migrating(source: Source): Promise<void> {
  const { what, file, version, random } = source;
  const same = (part: string, ours: Json, expected: Json) => checks.same("migrate", `${what}, ${part}`, ours, expected);
  await agree(`read version ${version}`, what, file, version, random);

  const copy = fresh(file);
  const { status, from, to } = tool.json(["migrate", copy]);
  same("in place", { status, from, to }, { status: version === 3 ? "current" : "migrated", from: version, to: 3 });
  const migrated = read(copy);
  same("in place and to standard output", migrated.equals(read(source.current)), true);
  same("again", tool.json(["migrate", copy]).status, "current");
  same("again, bytes", read(copy).equals(migrated), true);
  if (version === 3) return same("bytes", migrated.equals(read(file)), true) as never;

  const other = path.join(emptyFolder(), "other.jsonl");
  tool.run(["migrate", file, "--output", other]);
  same("in place and to a file", read(other).equals(migrated), true);
  same("lines", changedWrongly(read(file), migrated, version), []);
  for (const agent of agents) {
    const session = await agent.open(file);
    const [header, entries] = parse(migrated);
    same(`header and ${agent.name}'s`, differences.plain(header), differences.plain(session.header));
    same(`entries and ${agent.name}'s`, differences.entriesByPosition(entries), differences.entriesByPosition(session.entries()));
  }
  await agree("migrate", `${what}, migrated`, copy, 3, random);
  await goesOn("migrate", `${what}, migrated`, copy);
}

async function labelling(source: Source): Promise<void> {
  const { random } = source;
  const { ids, leaf, labels } = tool.view(source.file);
  const target = random.pick(ids);
  const labelled = Object.keys(labels)[0] ?? target;

  const set = fresh(source.file);
  const { entryId } = tool.json(["label", set, target, "ein Etikett 目"]);
  await afterwards("label", "set", source, set, [entryId], { ...labels, [target]: "ein Etikett 目" });
  await sameLine("label", "set", source, set, session => session.label(target, "ein Etikett 目"));

  const cleared = fresh(source.file);
  const clearing = tool.json(["label", cleared, labelled, "--clear"]);
  const { [labelled]: _, ...others } = labels;
  await afterwards("label", "--clear", source, cleared, [clearing.entryId], others);
  await sameLine("label", "--clear", source, cleared, session => session.label(labelled));

  const several = fresh(source.file);
  const wanted = Object.fromEntries(random.shuffle(ids).slice(0, 3).map((id, n) => [id, `label ${n}`]));
  const list = Object.entries(wanted).map(([id, name]) => `${id}\t${name}\n`);
  const results = tool.json(["label", several, "--from", "-"], list.join(""));
  await afterwards("label", "--from", source, several, results.map((result: Json) => result.entryId), { ...labels, ...wanted });

  const elsewhere = fresh(source.file);
  const from = random.pick(ids.filter(id => id !== leaf));
  const moved = tool.json(["label", elsewhere, target, "moved", "--leaf", from]);
  await afterwards("label", "--leaf", source, elsewhere, [moved.entryId], { ...labels, [target]: "moved" });
  await sameLine("label", "--leaf", source, elsewhere, session => (session.move(from), session.label(target, "moved")));
}

async function navigating(source: Source): Promise<void> {
  const { random } = source;
  const { leaf } = tool.view(source.file);
  const rows = tool.rows(source.file).filter(row => row.id !== leaf);
  const any = random.pick(rows).id;
  const user = random.pick(rows.filter(row => row.role === "user")).id;
  const first = rows.find(row => row.role === "user" && row.parentId === null)?.id ?? user;
  const details = (session: Session, entry: Entry) => session.summary(entry.parentId, entry.summary, entry.details);
  const saved = (session: Session, entry: Entry) => (session.move(entry.parentId), session.custom(entry.customType, entry.data));
  const labelled = (session: Session, entry: Entry) => (session.move(entry.parentId), session.label(entry.targetId, entry.label));
  const moves: [string[], ((session: Session, entry: Entry) => string)?][] = [
    [[any, "--save"], saved],
    [[user, "--save"], saved],
    [[first, "--save"], saved],
    [["--root", "--save"], saved],
    [[any, "--save", "--leaf", random.pick(rows).id]],
    [[any, "--summary", "Was probiert wurde: 目録"], details],
    [[user, "--summary", "two\nlines"], details],
    [["--root", "--summary", "all of it"], details],
    [[any, "--label", "back here"], labelled],
    [[user, "--label", "asked again"], labelled],
    [[any, "--summary", "with a label", "--label", "left"]],
    [[any, "--save", "--label", "both"]],
  ];
  for (const [args, theirs] of moves) {
    const what = args.join(" ");
    const copy = fresh(source.file);
    const result = tool.json(["navigate", copy, ...args]);
    if (result.noop) continue;
    await afterwards("navigate", what, source, copy, result.written);
    checks.same("navigate", `${source.what}, ${what}, leaf`, result.newLeafId, result.written.at(-1));
    for (const agent of agents) {
      const context = (await agent.open(copy)).context(result.newLeafId);
      const [, entries] = parse(read(copy));
      if (!differences.understands(agent.name, entries)) continue;
      checks.same("navigate", `${source.what}, ${what}, number of messages`, result.context.messages, context.messages.length);
    }
    if (theirs) await sameLine("navigate", what, source, copy, theirs);
  }
}

async function branching(source: Source): Promise<void> {
  const { random } = source;
  const before = read(source.file);
  const rows = tool.rows(source.file);
  const users = rows.filter(row => row.role === "user");
  const asked = random.pick(users.filter(row => row.parentId !== null));
  const root = users.find(row => row.parentId === null);
  const at = random.pick(rows).id;

  const folder = emptyFolder();
  await forked("ENTRY", source, tool.json(["branch", source.file, asked.id, "--session-dir", folder]), asked.parentId);
  const file = path.join(emptyFolder(), "fork.jsonl");
  await forked("--at", source, tool.json(["branch", source.file, "--at", at, "--output", file]), at);
  if (root) await forked("root", source, tool.json(["branch", source.file, root.id, "--session-dir", folder]), null);

  const piped = path.join(emptyFolder(), "piped.jsonl");
  fs.writeFileSync(piped, tool.run(["branch", source.file, "--at", at, "--output", "-"]).stdout);
  const [header, entries] = parse(read(piped));
  const [headerOfFile, entriesOfFile] = parse(read(file));
  const same = (part: string, ours: Json, expected: Json) => checks.same("branch", `${source.what}, --output -, ${part}`, ours, expected);
  same("header", differences.forkHeader(header), differences.forkHeader(headerOfFile));
  same("parentSession", header.parentSession, undefined);
  same("entries", differences.entriesByPosition(entries), differences.entriesByPosition(entriesOfFile));
  await agree("branch", `${source.what}, --output -`, piped, 3, random);
  await goesOn("branch", `${source.what}, --output -`, piped);
  checks.holds("branch", `${source.what}, source unchanged`, read(source.file).equals(before));
}

/** Checks the new file of a fork of the path to `tip`. */
async function forked(args: string, source: Source, result: Json, tip: string | null): Promise<void> {
  const what = `${source.what}, ${args} ${result.entryId}`;
  const same = (part: string, ours: Json, expected: Json) => checks.same("branch", `${what}, ${part}`, ours, expected);
  const [header, entries] = parse(read(result.sessionFile));
  same("parent session", header.parentSession, source.file);
  same("entries", result.entries, entries.length);
  same("leaf", result.leafId, entries.at(-1)?.id ?? null);
  await agree("branch", what, result.sessionFile, 3, source.random);
  await goesOn("branch", what, result.sessionFile);
  if (tip === null) return same("nothing copied", entries, []) as never;

  const theirs = await pi.open(source.current);
  await theirs.fork(tip);
  same(`header and ${differences.forksLikeUs}'s`, differences.forkHeader(header), differences.forkHeader(theirs.header));
  same(`entries and ${differences.forksLikeUs}'s`, differences.entriesByPosition(entries), differences.entriesByPosition(theirs.entries()));

  const originals = new Map(lines(read(source.current)).map(line => [idOf(line), line]));
  const respelled = lines(read(result.sessionFile)).slice(1).filter(line => {
    const original = originals.get(idOf(line));
    return original && original !== line && JSON.stringify(JSON.parse(original)) === JSON.stringify(JSON.parse(line));
  });
  same("lines that need not change", respelled, []);
}

/** While omp has a file open for writing we keep away from it. */
async function inUse(): Promise<void> {
  const session = omp.create("/home/u/project");
  session.user("Hello");
  session.message({ role: "assistant", content: [], provider: "p", model: "m", usage: { cost: {} }, stopReason: "stop", timestamp: 0 });
  await session.flush();
  session.user("and another, which leaves the file open");
  await session.flush();
  const before = read(session.file);
  const refused = tool.try(["label", session.file, "@", "here", "--json"]);
  checks.same("in use", "exit", refused.code, 2);
  checks.same("in use", "kind", JSON.parse(refused.stderr.trim().split("\n").at(-1)!).error.kind, "in-use");
  checks.holds("in use", "bytes", read(session.file).equals(before));
  await session.close();
  const { entryId } = tool.json(["label", session.file, "@", "here"]);
  await agree("in use", "closed", session.file, 3, new Random(1));
  checks.same("in use", "label", tool.view(session.file).leaf, entryId);
}

// ---- What holds after each of them

/** Our command appended the entries `written`, and that was all. */
async function afterwards(group: string, args: string, source: Source, file: string, written: string[], labels?: Json): Promise<void> {
  const what = `${source.what}, ${args}`;
  const kept = closed(read(source.current));
  const bytes = read(file);
  checks.holds(group, `${what}, earlier bytes`, bytes.subarray(0, kept.length).equals(kept));
  const appended = bytes.subarray(kept.length);
  checks.same(group, `${what}, appended`, lines(appended).map(idOf), written);
  checks.holds(group, `${what}, line end`, appended.at(-1) === 10);
  const { leaf, labels: found } = tool.view(file);
  checks.same(group, `${what}, leaf`, leaf, written.at(-1));
  if (labels) checks.same(group, `${what}, labels`, found, labels);
  await agree(group, what, file, 3, source.random);
  await goesOn(group, what, file);
}

/** The last line of `file` is what an agent would have written. */
async function sameLine(group: string, args: string, source: Source, file: string, write: (session: Session, entry: Entry) => string): Promise<void> {
  const ours = parse(read(file))[1].at(-1)!;
  for (const agent of agents) {
    const session = await agent.open(source.current);
    write(session, ours);
    const what = `${source.what}, ${args}, line and ${agent.name}'s`;
    checks.same(group, what, differences.written(agent.name, ours), differences.written(agent.name, session.last()));
    await session.close();
  }
}

/** Both agents see in `file` what we see. */
async function agree(group: string, what: string, file: string, version: number, random: Random): Promise<void> {
  for (const agent of agents) compare(group, `${what}, ${agent.name}`, file, version, await agent.open(file), agent, random);
}

function compare(group: string, what: string, file: string, version: number, session: Session, agent: Agent, random: Random): void {
  const comparable = version === 1 ? differences.byPosition : differences.plain;
  const view = tool.view(file);
  const theirView = session.view();
  const theirs = comparable(theirView);
  for (const [part, ours] of Object.entries(comparable(view))) {
    checks.same(group, `${what}, ${part}`, ours, theirs[part]);
  }
  const entries = session.entries();
  if (!differences.understands(agent.name, entries)) return;
  const places = new Set([view.ids.length - 1, random.below(view.ids.length), random.below(view.ids.length)]);
  for (const place of [-1, ...places]) {
    const [ourLeaf, theirLeaf] = place < 0 ? [null, null] : [view.ids[place], theirView.ids[place]];
    if (ourLeaf === undefined || theirLeaf === undefined) continue;
    const both = differences.contexts(agent.name, entries, tool.context(file, ourLeaf), session.context(theirLeaf));
    checks.same(group, `${what}, context at ${ourLeaf}`, both.ours, both.theirs);
  }
}

/** What an agent appends hangs at our leaf, and we read it back. */
async function goesOn(group: string, args: string, file: string): Promise<void> {
  const before = read(file);
  const { leaf, labels } = tool.view(file);
  for (const agent of agents) {
    const what = `${args}, ${agent.name} goes on`;
    const session = await agent.open(file);
    const said = session.user("going on");
    const label = session.label(said, "next");
    await session.close();
    const bytes = read(session.file);
    checks.holds(group, `${what}, earlier bytes`, bytes.subarray(0, before.length).equals(before));
    const appended = lines(bytes.subarray(before.length)).map(line => JSON.parse(line));
    checks.same(group, `${what}, parents`, appended.map(entry => [entry.id, entry.parentId]), [[said, leaf], [label, said]]);
    const view = tool.view(session.file);
    checks.same(group, `${what}, leaf`, view.leaf, label);
    checks.same(group, `${what}, labels`, view.labels, { ...labels, [said]: "next" });
    checks.same(group, `${what}, parent`, view.nodes[said]?.parentId, leaf);
    checks.same(group, `${what}, message`, tool.context(session.file, label).messages.at(-1)?.content, "going on");
  }
}

/** Lines that a migration changed and should not have, or not so. */
function changedWrongly(before: Buffer, after: Buffer, version: number): string[] {
  const old = before.toString().split("\n");
  const now = after.toString().split("\n");
  const wellFormed = now.filter(isObject).map(line => JSON.parse(line));
  let previous: string | null = null;
  const wrong = now.filter((line, index) => {
    const was = old[index] ?? "";
    if (!isObject(was)) return line !== was;
    const entry = JSON.parse(line);
    const expected = JSON.parse(was);
    if (entry.type === "session") {
      return !Bun.deepEquals(entry, { ...expected, version: 3 });
    }
    let same = line === was;
    if (version === 1) {
      if (entry.parentId !== previous) return true;
      previous = entry.id;
      same = line.replace(/,\s*"id":\s*"[^"]*",\s*"parentId":\s*(null|"[^"]*")/, "") === was;
      Object.assign(expected, { id: entry.id, parentId: entry.parentId });
    }
    if (expected.message?.role === "hookMessage") {
      expected.message.role = "custom";
      same = Bun.deepEquals(entry, expected);
    }
    if ("firstKeptEntryIndex" in expected) {
      const { firstKeptEntryIndex, ...rest } = expected;
      same = Bun.deepEquals(entry, { ...rest, firstKeptEntryId: wellFormed[firstKeptEntryIndex].id });
    }
    return !same;
  });
  return now.length === old.length ? wrong : [`${now.length} lines, before ${old.length}`, ...wrong];
}

// ---- Small things

function isObject(line: string): boolean {
  try {
    return typeof JSON.parse(line) === "object";
  } catch {
    return false;
  }
}

function idOf(line: string): string | undefined {
  return isObject(line) ? JSON.parse(line).id : undefined;
}

/** A last line without LF gets one before anything is appended. */
function closed(bytes: Buffer): Buffer {
  return bytes.at(-1) === 10 ? bytes : Buffer.concat([bytes, Buffer.from("\n")]);
}

function emptyFolder(): string {
  return fs.mkdtempSync(path.join(work, "ours-"));
}

function fresh(file: string): string {
  const copy = path.join(emptyFolder(), path.basename(file));
  fs.copyFileSync(file, copy);
  return copy;
}

// The agents leave timers behind.
process.exit((await main()) ? 0 : 1);
