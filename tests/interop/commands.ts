// Our commands that write, each on a copy of a session.
import fs from "node:fs";
import path from "node:path";
import type { Entry, Json, Session } from "./agents.ts";
import * as differences from "./differences.ts";
import { agree, appended, changedWrongly, goesOn, respelled, sameLine } from "./laws.ts";
import { Random } from "./random.ts";
import { parse, read } from "./tool.ts";
import { agents, checks, emptyFolder, fresh, omp, pi, type Source, tool } from "./world.ts";

export async function migrating(source: Source) {
  const { what, file, version, random } = source;
  const same = (part: string, ours: Json, expected: Json) => checks.same("migrate", `${what}, ${part}`, ours, expected);
  await agree(`read version ${version}`, what, file, version, random);

  const copy = fresh(file);
  const { status, from, to } = tool.json(["migrate", copy])[0];
  same("in place", { status, from, to }, { status: version === 3 ? "current" : "migrated", from: version, to: 3 });
  const migrated = read(copy);
  same("again", tool.json(["migrate", copy])[0].status, "current");
  same("again, bytes", read(copy).equals(migrated), true);
  same("in place and to standard output", migrated.equals(read(source.current)), true);
  same("lines", changedWrongly(read(file), migrated, version), []);
  if (version === 3) return;

  const other = path.join(emptyFolder(), "other.jsonl");
  tool.run(["migrate", file, "--output", other]);
  same("in place and to a file", read(other).equals(migrated), true);
  const [header, entries] = parse(migrated);
  const ours = differences.entriesByPosition(entries);
  for (const agent of agents) {
    const session = await agent.open(file);
    same(`header and ${agent.name}'s`, differences.plain(header), differences.plain(session.header));
    same(`entries and ${agent.name}'s`, ours, differences.entriesByPosition(session.entries()));
  }
  await agree("migrate", `${what}, migrated`, copy, 3, random);
  await goesOn("migrate", `${what}, migrated`, copy);
}

export async function labelling(source: Source) {
  const { random } = source;
  const { ids, leaf, labels } = tool.view(source.file);
  const target = random.pick(ids);
  const labelled = Object.keys(labels)[0] ?? target;
  const elsewhere = random.pick(ids.filter(id => id !== leaf));
  const several = Object.fromEntries(
    random
      .shuffle(ids)
      .slice(0, 3)
      .map((id, n) => [id, `label ${n}`]),
  );
  const list = Object.entries(several).map(([id, name]) => `${id}\t${name}\n`);
  const name = "ein Etikett 目";
  const { [labelled]: _, ...others } = labels;

  const runs: [string[], Json, ((session: Session) => string)?][] = [
    [[target, name], { ...labels, [target]: name }, session => session.label(target, name)],
    [[labelled, "--clear"], others, session => session.label(labelled)],
    [["--from", "-"], { ...labels, ...several }],
    [
      [target, name, "--leaf", elsewhere],
      { ...labels, [target]: name },
      session => {
        session.move(elsewhere);
        return session.label(target, name);
      },
    ],
  ];
  for (const [args, expected, write] of runs) {
    const what = args.join(" ");
    const copy = fresh(source.file);
    const results = [tool.json(["label", copy, ...args], list.join(""))].flat();
    if (args[1] === "--clear" && !(labelled in labels)) {
      checks.holds("label", `${source.what}, ${what}, nothing to clear`, read(copy).equals(read(source.file)));
      continue;
    }
    await appended(
      "label",
      what,
      source,
      copy,
      results.flatMap(result => result.written),
    );
    checks.same("label", `${source.what}, ${what}, labels`, tool.view(copy).labels, expected);
    if (write) await sameLine("label", what, source, copy, write);
  }
}

export async function navigating(source: Source) {
  const { random } = source;
  const { leaf } = tool.view(source.file);
  const rows = tool.rows(source.file).filter(row => row.id !== leaf);
  const any = random.pick(rows).id;
  const user = random.pick(rows.filter(row => row.role === "user")).id;
  const first = rows.find(row => row.role === "user" && row.parentId === null)?.id ?? user;

  const runs: [string[], ((session: Session, ours: Entry) => string)?][] = [
    [[any, "--save"], saves],
    [[user, "--save"], saves],
    [[first, "--save"], saves],
    [["--root", "--save"], saves],
    [[any, "--save", "--leaf", random.pick(rows).id]],
    [[any, "--summary", "Was probiert wurde: 目録"], summarizes],
    [[user, "--summary", "two\nlines"], summarizes],
    [["--root", "--summary", "all of it"], summarizes],
    [[any, "--label", "back here"], labels],
    [[user, "--label", "asked again"], labels],
    [[any, "--summary", "with a label", "--label", "left"]],
    [[any, "--save", "--label", "both"]],
  ];
  for (const [args, write] of runs) {
    const what = args.join(" ");
    const same = (part: string, ours: Json, expected: Json) =>
      checks.same("navigate", `${source.what}, ${what}, ${part}`, ours, expected);
    const copy = fresh(source.file);
    const result = tool.json(["navigate", copy, ...args]);
    await appended("navigate", what, source, copy, result.written);
    same("leaf", result.newLeafId, result.written.at(-1));
    for (const agent of agents) {
      const session = await agent.open(copy);
      if (!differences.understands(agent.name, session.entries())) continue;
      same("number of messages", result.context.messages, session.context(result.newLeafId).messages.length);
    }
    if (write) await sameLine("navigate", what, source, copy, write);
  }
}

function saves(session: Session, { parentId, customType, data }: Entry): string {
  session.move(parentId);
  return session.custom(customType, data);
}

function summarizes(session: Session, { parentId, summary, details }: Entry): string {
  return session.summary(parentId, summary, details);
}

function labels(session: Session, { parentId, targetId, label }: Entry): string {
  session.move(parentId);
  return session.label(targetId, label);
}

export async function branching(source: Source) {
  const { what, file, random } = source;
  const before = read(file);
  const rows = tool.rows(file);
  const users = rows.filter(row => row.role === "user");
  const asked = random.pick(users.filter(row => row.parentId !== null));
  const root = users.find(row => row.parentId === null);
  const at = random.pick(rows).id;

  const folder = emptyFolder();
  const stored = path.join(folder, "stored.jsonl");
  await forked("ENTRY", source, tool.json(["branch", file, asked.id, "--session-dir", folder]), asked.parentId);
  await forked("--at", source, tool.json(["branch", file, "--at", at, "--output", stored]), at);
  if (root) await forked("root", source, tool.json(["branch", file, root.id, "--session-dir", folder]), null);

  const piped = path.join(folder, "piped.jsonl");
  fs.writeFileSync(piped, tool.run(["branch", file, "--at", at, "--output", "-"]).stdout);
  sameFork(`${what}, --at ${at} to standard output and to a file`, parse(read(piped)), parse(read(stored)));
  checks.same("branch", `${what}, --output -, parent session`, parse(read(piped))[0].parentSession, undefined);
  await agree("branch", `${what}, --output -`, piped, 3, random);
  await goesOn("branch", `${what}, --output -`, piped);
  await pruned(source, rows.at(-1)!.id);
  checks.holds("branch", `${what}, bytes of the source`, read(file).equals(before));
}

/** A copy without some entries: agents have the same context at each entry that stays. */
async function pruned({ what, file, random, current }: Source, leaf: string) {
  const kept = new Set<string>();
  const rows = tool.rows(file);
  const parents = new Map(rows.map(row => [row.id, row.parentId]));
  const pathTo = (id: string | null): string[] => (id === null ? [] : [id, ...pathTo(parents.get(id) ?? null)]);
  const away = random.pick(rows).id;
  for (const row of rows) if (!pathTo(row.id).includes(away)) kept.add(row.id);
  const stands = [...kept].at(-1);
  if (stands === undefined) return;
  const copy = path.join(emptyFolder(), "pruned.jsonl");
  const args = ["branch", file, "--all", "--without", away, "--leaf", stands, "--output", copy];
  const label = `${what}, --all --without ${away}`;
  const told = tool.json(args);
  checks.same("branch", `${label}, where it stands`, told.targetId === leaf || kept.has(told.targetId), true);
  await agree("branch", label, copy, 3, random);
  await goesOn("branch", label, copy);
  // Labels of what is gone go, too.
  const there = new Set(tool.rows(copy).map(row => row.id));
  for (const row of rows) if (kept.has(row.id) && !there.has(row.id)) checks.same("branch", `${label}, ${row.id}`, row.type, "label");
  for (const agent of agents) {
    const [old, fresh] = [await agent.open(current), await agent.open(copy)];
    for (const id of kept) if (there.has(id)) checks.same("branch", `${label}, ${agent.name} at ${id}`, fresh.context(id), old.context(id));
  }
}

/** Checks the new file with the path to `tip`. */
async function forked(args: string, source: Source, result: Json, tip: string | null) {
  const what = `${source.what}, ${args} ${result.targetId}`;
  const same = (part: string, ours: Json, expected: Json) => checks.same("branch", `${what}, ${part}`, ours, expected);
  const [header, entries] = parse(read(result.sessionFile));
  same("parent session", header.parentSession, source.file);
  same("number of entries", result.entries, entries.length);
  same("leaf", result.leafId, entries.at(-1)?.id ?? null);
  await agree("branch", what, result.sessionFile, 3, source.random);
  await goesOn("branch", what, result.sessionFile);
  if (tip === null) {
    same("entries", entries, []);
  } else {
    const theirs = await pi.open(source.current);
    await theirs.fork(tip);
    sameFork(`${what}, pi's`, [header, entries], [theirs.header, theirs.entries()]);
    same("lines with other bytes", respelled(read(source.current), read(result.sessionFile)), []);
  }
}

function sameFork(what: string, ours: [Json, Entry[]], theirs: [Json, Entry[]]) {
  checks.same("branch", `${what}, header`, differences.forkHeader(ours[0]), differences.forkHeader(theirs[0]));
  const [here, there] = [ours, theirs].map(([, entries]) => differences.entriesByPosition(entries));
  checks.same("branch", `${what}, entries`, here, there);
}

/** While omp has a file open for writing we keep away from it. */
export async function inUse() {
  const session = omp.create("/home/u/project");
  session.user("Hello");
  session.message({ role: "assistant", content: [], provider: "p", model: "m", usage: { cost: {} }, timestamp: 0 });
  await session.flush();
  session.user("only now the file stays open");
  await session.flush();
  const before = read(session.file);
  const refused = tool.try(["label", session.file, "@", "here", "--json"]);
  checks.same("in use", "exit", refused.code, 2);
  checks.same("in use", "kind", JSON.parse(refused.stderr.trim().split("\n").at(-1)!).error.kind, "in-use");
  checks.holds("in use", "bytes", read(session.file).equals(before));
  await session.close();
  const { written } = tool.json(["label", session.file, "@", "here"]);
  checks.same("in use", "closed, leaf", tool.view(session.file).leaf, written[0]);
  await agree("in use", "closed", session.file, 3, new Random(1));
}
