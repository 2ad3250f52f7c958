// What must hold of every file, and after everything that is done to one.
import type { Agent, Entry, Json, Session } from "./agents.ts";
import * as differences from "./differences.ts";
import type { Random } from "./random.ts";
import { idOf, isJson, lines, parse, read } from "./tool.ts";
import { agents, checks, shortPath, type Source, tool } from "./world.ts";

/** Both agents see in `file` what we see. */
export async function agree(group: string, what: string, file: string, version: number, random: Random) {
  for (const agent of agents) compare(group, what, file, version, await agent.open(file), agent, random);
}

/** An agent sees in its `session` what we see in `file`: leaf, labels, tree, and the context at some entries. */
export function compare(
  ...[group, from, file, version, session, agent, random]: [string, string, string, number, Session, Agent, Random]
) {
  const what = `${from}, ${agent.name} and we in ${shortPath(file)}`;
  const comparable = version === 1 ? differences.byPosition : differences.plain;
  const ourView = tool.view(file);
  const theirView = session.view();
  const theirs = comparable(theirView);
  for (const [part, ours] of Object.entries(comparable(ourView))) {
    checks.same(group, `${what}, ${part}`, ours, theirs[part]);
  }
  const entries = session.entries();
  if (!differences.understands(agent.name, entries)) return;
  const count = Math.min(ourView.ids.length, theirView.ids.length);
  const places = count === 0 ? [] : [count - 1, random.below(count), random.below(count)];
  for (const place of new Set([null, ...places])) {
    const [ourLeaf, theirLeaf] = place === null ? [null, null] : [ourView.ids[place], theirView.ids[place]];
    const both = differences.contexts(agent.name, entries, tool.context(file, ourLeaf), session.context(theirLeaf));
    checks.same(group, `${what}, context at ${ourLeaf}`, both.ours, both.theirs);
  }
}

/** What an agent appends hangs at our leaf, and we read it back. */
export async function goesOn(group: string, from: string, file: string) {
  const before = read(file);
  const { leaf, labels } = tool.view(file);
  for (const agent of agents) {
    const session = await agent.open(file);
    const said = session.user("going on");
    const label = session.label(said, "next");
    await session.close();
    const what = `${from}, ${agent.name} goes on in ${shortPath(session.file)}`;
    const bytes = read(session.file);
    checks.holds(group, `${what}, earlier bytes`, bytes.subarray(0, before.length).equals(before));
    const parents = lines(bytes.subarray(before.length)).map(line => JSON.parse(line).parentId);
    checks.same(group, `${what}, parents`, parents, [leaf, said]);
    const view = tool.view(session.file);
    checks.same(group, `${what}, leaf`, view.leaf, label);
    checks.same(group, `${what}, labels`, view.labels, { ...labels, [said]: "next" });
    checks.same(group, `${what}, parent`, view.nodes[said]?.parentId, leaf);
    const last = tool.context(session.file, label).messages.at(-1);
    checks.same(group, `${what}, message`, last?.content, "going on");
  }
}

/** Our command appended the entries `written` to a copy of `source`, and that was all. */
export async function appended(...[group, args, source, file, written]: [string, string, Source, string, string[]]) {
  const what = `${source.what}, ${args}`;
  const where = `${what} in ${shortPath(file)}`;
  const kept = closed(read(source.current));
  const bytes = read(file);
  const rest = bytes.subarray(kept.length);
  checks.holds(group, `${where}, earlier bytes`, bytes.subarray(0, kept.length).equals(kept));
  checks.same(group, `${where}, appended`, lines(rest).map(idOf), written);
  checks.holds(group, `${where}, line end`, rest.at(-1) === 10);
  checks.same(group, `${where}, leaf`, tool.view(file).leaf, written.at(-1));
  await agree(group, what, file, 3, source.random);
  await goesOn(group, what, file);
}

/** The last line of `file` is what each agent writes when it does the same to `source`. */
export async function sameLine(
  ...[group, args, source, file, write]: [string, string, Source, string, (session: Session, ours: Entry) => string]
) {
  const ours = parse(read(file))[1].at(-1)!;
  for (const agent of agents) {
    const session = await agent.open(source.current);
    write(session, ours);
    const theirs = session.entries().at(-1)!;
    await session.close();
    const what = `${source.what}, ${args}, line and ${agent.name}'s`;
    checks.same(group, what, differences.written(agent.name, ours), differences.written(agent.name, theirs));
  }
}

/** Lines that a migration changed and should not have, or not so. */
export function changedWrongly(before: Buffer, after: Buffer, version: number): string[] {
  const old = lines(before, true);
  const now = lines(after, true);
  const wellFormed = now.filter(isJson).map(line => JSON.parse(line));
  let previous: string | null = null;
  const wrong = now.filter((line, index) => {
    const was = old[index];
    if (was === undefined || !isJson(was)) return line !== was;
    const entry = JSON.parse(line);
    const expected = JSON.parse(was);
    if (entry.type === "session") return !Bun.deepEquals(entry, { ...expected, version: 3 });
    let bytes = line;
    if (version === 1) {
      if (entry.parentId !== previous) return true;
      previous = entry.id;
      bytes = line.replace(/,\s*"id":\s*"[^"]*",\s*"parentId":\s*(null|"[^"]*")/, "");
      Object.assign(expected, { id: entry.id, parentId: entry.parentId });
    }
    if (expected.message?.role === "hookMessage") {
      expected.message.role = "custom";
    } else if ("firstKeptEntryIndex" in expected) {
      expected.firstKeptEntryId = wellFormed[expected.firstKeptEntryIndex].id;
      delete expected.firstKeptEntryIndex;
    } else {
      return bytes !== was;
    }
    return !Bun.deepEquals(entry, expected);
  });
  return now.length === old.length ? wrong : [`${now.length} lines, before ${old.length}`, ...wrong];
}

/** Lines of a fork that say the same as in its source, but not with the same bytes. */
export function respelled(before: Buffer, after: Buffer): string[] {
  const originals = new Map(lines(before).map(line => [idOf(line), line]));
  const value = (line: string): Json => JSON.stringify(JSON.parse(line));
  return lines(after).filter(line => {
    const original = originals.get(idOf(line));
    return original !== undefined && original !== line && value(original) === value(line);
  });
}

/** A last line without LF gets one before anything is appended. */
function closed(bytes: Buffer): Buffer {
  return bytes.at(-1) === 10 ? bytes : Buffer.concat([bytes, Buffer.from("\n")]);
}
