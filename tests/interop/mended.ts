// What an agent makes of damaged files that `check --fix --unsafe-fixes` has mended: whether it opens them, has every
// entry that the damage left, and holds what it would hold if the damaged lines had never been written.
//
// usage: bun mended.ts BIN PI OMP FOLDER
//   PI, OMP  the folders in which pi with omp 13, and omp 18 are installed
//   FOLDER   damaged files, as a test writes them: tests/README.md says how
//
// Prints for each agent how many contexts are the same, have more or fewer messages, or both, and then the files of
// which one is not the same. `interop.ts` looks at some files with pi and omp 13.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { Agent, type Entry, type Json } from "./agents.ts";
import { Tool } from "./tool.ts";

/** A file before and after the damage, and mended. */
export class Mended {
  readonly name: string;
  /** The file as it would be without the entries that are lost: their children hang at the nearest one above. */
  readonly expected: string;
  readonly mended: string;
  /** The ids of the entries that the damage left. */
  readonly left: string[];
  /** Whether the session has forks: on which branch a lost line was may not be known any more. */
  readonly isBranched: boolean;

  constructor(sound: string, scratch: string, tool: Tool) {
    this.name = path.basename(sound, ".sound.jsonl");
    const folder = fs.mkdtempSync(path.join(scratch, `${this.name}-`));
    const damaged = fs.readFileSync(sound.replace(".sound.", ".damaged."));
    this.mended = path.join(folder, "mended.jsonl");
    fs.writeFileSync(this.mended, damaged);
    // What is left to be said of a file is no failure.
    tool.try(["check", this.mended, "--fix", "--unsafe-fixes", "--no-backup"]);
    const [header, ...lines] = fs.readFileSync(sound, "utf8").trimEnd().split("\n");
    const entries: Entry[] = lines.map(line => JSON.parse(line));
    this.isBranched = entries.some((entry, at) => entry.parentId !== (entries[at - 1]?.id ?? null));
    const whole = entries.filter((_, at) => damaged.includes(lines[at]));
    this.left = whole.map(entry => entry.id);
    this.expected = path.join(folder, "expected.jsonl");
    const kept = without(entries, new Set(this.left)).map(entry => JSON.stringify(entry));
    fs.writeFileSync(this.expected, [header, ...kept, ""].join("\n"));
  }

  /** Returns what an agent makes of it. */
  async seenBy(agent: Agent): Promise<Seen> {
    const before = fs.readFileSync(this.mended);
    const [mended, expected] = [await agent.open(this.mended), await agent.open(this.expected)];
    const isKept = fs.readFileSync(mended.file).equals(before);
    const { nodes, leaf } = mended.view();
    const missing = this.left.filter(id => !(id in nodes));
    const [held, wanted] = [mended.context(leaf).messages, expected.context(expected.view().leaf).messages];
    await mended.close();
    await expected.close();
    return { isKept, missing, context: compared(held, wanted) };
  }
}

export interface Seen {
  /** The agent leaves the bytes of the file as they are when it opens it. */
  isKept: boolean;
  /** Entries that are not in its tree. */
  missing: string[];
  context: "same" | "more" | "fewer" | "both" | "order";
}

/** The pairs of a folder, in the order of their numbers. */
export function* mendedFiles(folder: string, scratch: string, tool: Tool, most = Number.POSITIVE_INFINITY) {
  const names = fs.readdirSync(folder).filter(name => name.endsWith(".sound.jsonl"));
  for (const name of names.toSorted().slice(0, most)) yield new Mended(path.join(folder, name), scratch, tool);
}

function without(entries: Entry[], left: Set<string>): Entry[] {
  const byId = new Map(entries.map(entry => [entry.id, entry]));
  const above = (id: string): string[] => {
    const path = [];
    for (let at: string | null = id; at; at = byId.get(at)!.parentId) path.push(at);
    return path;
  };
  const nearest = (id: string | null) => (id === null ? null : (above(id).find(id => left.has(id)) ?? null));
  const kept = entries.filter(entry => left.has(entry.id)).map(entry => ({ ...entry, parentId: nearest(entry.parentId) }));
  for (const entry of kept.filter(entry => entry.type === "compaction" && !left.has(entry.firstKeptEntryId))) {
    // What came after the first kept entry is kept.
    const path = above(entry.id);
    const from = path.indexOf(entry.firstKeptEntryId);
    entry.firstKeptEntryId = path.slice(0, from).findLast(id => left.has(id)) ?? entry.firstKeptEntryId;
  }
  return kept;
}

function compared(held: Json[], wanted: Json[]): Seen["context"] {
  const [ours, theirs] = [held, wanted].map(messages => messages.map(message => JSON.stringify(message)));
  const more = ours.some(message => !theirs.includes(message));
  const fewer = theirs.some(message => !ours.includes(message));
  if (more || fewer) return more && fewer ? "both" : more ? "more" : "fewer";
  return ours.join("\n") === theirs.join("\n") ? "same" : "order";
}

async function main(bin: string, pi: string, omp: string, folder: string): Promise<void> {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "mended-"));
  const agents: [string, Agent][] = [
    ["pi", await Agent.load("pi", pi, scratch)],
    ["omp 13", await Agent.load("omp", pi, scratch)],
    ["omp 18", await Agent.load("omp", omp, scratch)],
  ];
  const counts = agents.map(([title]) => ({ title, same: 0, more: 0, fewer: 0, both: 0, order: 0, missing: 0, changed: 0 }));
  for (const file of mendedFiles(folder, scratch, new Tool(bin, scratch))) {
    for (const [at, [title, agent]] of agents.entries()) {
      const seen = await file.seenBy(agent);
      counts[at][seen.context] += 1;
      counts[at].missing += seen.missing.length;
      counts[at].changed += seen.isKept ? 0 : 1;
      if (seen.context !== "same") console.log(`${file.name} ${title}: ${seen.context}`);
    }
  }
  console.table(counts);
  fs.rmSync(scratch, { recursive: true });
}

if (import.meta.main) {
  const [bin, pi, omp, folder] = process.argv.slice(2);
  await main(bin, pi, omp, folder);
  process.exit(0);
}
