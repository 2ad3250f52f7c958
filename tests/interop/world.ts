// What all parts of the test work with: our tool, their agents, the checks, and folders for files.
import fs from "node:fs";
import path from "node:path";
import { Agent } from "./agents.ts";
import { Checks } from "./checks.ts";
import { Random } from "./random.ts";
import { Sender } from "./sent.ts";
import { Tool } from "./tool.ts";

const [bin, installed, work, damaged] = process.argv.slice(2);
export { damaged, installed, work };

export const tool = new Tool(bin, path.join(work, "home"));
export const omp = await Agent.load("omp", installed, work);
export const pi = await Agent.load("pi", installed, work);
export const agents = [omp, pi];
export const sender = new Sender(pi, installed);
export const checks = new Checks([
  ...["read version 1", "read version 2", "read version 3", "migrate", "label", "navigate", "branch"],
  ...["written by omp", "written by pi", "forks", "in use", "sent by pi", "effects of findings", "mended files"],
]);

/** A session to try the commands on. */
export interface Source {
  what: string;
  file: string;
  version: number;
  /** The same as version 3; this is what our writing begins with. */
  current: string;
  random: Random;
}

export function source(what: string, file: string, version: number, seed: number): Source {
  const current = path.join(emptyFolder(), "current.jsonl");
  if (version === 3) fs.copyFileSync(file, current);
  else fs.writeFileSync(current, tool.run(["migrate", file, "--output", "-"]).stdout);
  return { what, file, version, current, random: new Random(seed) };
}

export function emptyFolder(): string {
  return fs.mkdtempSync(path.join(work, "ours-"));
}

/** A copy that may be written to. */
export function fresh(file: string): string {
  const copy = path.join(emptyFolder(), path.basename(file));
  fs.copyFileSync(file, copy);
  return copy;
}

/** Where a failure is to be looked at: failed runs keep their files. */
export function shortPath(file: string): string {
  return path.relative(work, file);
}
