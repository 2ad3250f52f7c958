// What each agent makes of a small file for each finding of `check`, and what `check` says of it: one table,
// `tests/data/effects.json`, from the files in `tests/data/effects`.
//
// usage: bun effects.ts BIN PI OMP [INPUT...]
//   PI, OMP  the folders in which pi with omp 13, and omp 18 are installed
//   INPUT    the names of files, without `.jsonl`
//
// Writes the table anew, or the rows of the inputs. `interop.ts` compares what pi and omp 13 do now with it.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import type { Json, Name } from "./agents.ts";
import { Tool } from "./tool.ts";

const folder = path.join(import.meta.dir, "../data/effects");
const table = `${folder}.json`;

/** How long an agent may take for one file; some it never finishes. */
const limit = 8000;

/** The names of the files, without `.jsonl`. */
export function inputs(): string[] {
  const names = fs.readdirSync(folder).filter(name => name.endsWith(".jsonl"));
  return names.map(name => name.slice(0, -".jsonl".length)).toSorted();
}

export function recorded(): Record<string, Json> {
  return JSON.parse(fs.readFileSync(table, "utf8"));
}

/** What an agent makes of files, in a process of its own. */
export async function* effects(
  name: Name,
  installed: string,
  scratch: string,
  files = inputs(),
): AsyncGenerator<[string, Json]> {
  let worker = new Worker(name, installed, scratch);
  for (const input of files) {
    const answer = await worker.ask(path.join(folder, `${input}.jsonl`));
    yield [input, answer ?? { open: "never finishes" }];
    if (answer === undefined) {
      worker.end();
      worker = new Worker(name, installed, scratch);
    }
  }
  worker.end();
}

class Worker {
  private readonly process;
  private readonly answers;
  private text = "";
  private isReady = false;

  constructor(name: Name, installed: string, scratch: string) {
    const script = path.join(import.meta.dir, "effect.ts");
    const command = [process.execPath, "--no-install", script, name, installed, scratch];
    this.process = Bun.spawn(command, { stdin: "pipe", stdout: "pipe", stderr: "ignore" });
    this.answers = this.process.stdout.getReader();
  }

  /** Returns nothing if it takes too long. */
  async ask(file: string): Promise<Json> {
    // It says when all modules are loaded, which takes longer than any file.
    if (!this.isReady) await this.line(60_000);
    this.isReady = true;
    this.process.stdin.write(`${JSON.stringify({ file })}\n`);
    this.process.stdin.flush();
    const line = await this.line(limit);
    return line === undefined ? undefined : JSON.parse(line);
  }

  end(): void {
    this.process.kill("SIGKILL");
  }

  private async line(milliseconds: number): Promise<string | undefined> {
    const late = Bun.sleep(milliseconds).then(() => undefined);
    while (!this.text.includes("\n")) {
      const read = await Promise.race([this.answers.read(), late]);
      if (read === undefined) return undefined;
      if (read.done) throw new Error("the agent's process ended");
      this.text += new TextDecoder().decode(read.value);
    }
    const end = this.text.indexOf("\n");
    const line = this.text.slice(0, end);
    this.text = this.text.slice(end + 1);
    return line;
  }
}

async function write(bin: string, pi: string, omp: string, wanted: string[]): Promise<void> {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "effects-"));
  const tool = new Tool(bin, scratch);
  const files = wanted.length > 0 ? wanted : inputs();
  const old = wanted.length > 0 ? recorded() : {};
  const rows: Record<string, Json> = Object.fromEntries(inputs().map(input => [input, old[input] ?? {}]));
  for (const input of inputs()) {
    const file = path.join(folder, `${input}.jsonl`);
    const found = JSON.parse(JSON.stringify(tool.findings(file)).replaceAll(file, "FILE"));
    rows[input] = { ...rows[input], check: found.map(({ code, effect, fix }: Json) => ({ code, effect, fix })) };
  }
  for (const [title, name, installed] of [["pi", "pi", pi], ["omp 13", "omp", pi], ["omp 18", "omp", omp]] as const) {
    for await (const [input, answer] of effects(name, installed, scratch, files)) rows[input][title] = answer;
  }
  // A line an agent, so that a difference can be read.
  const rowText = ([input, row]: [string, Json]) => {
    const members = Object.entries(row).map(([key, value]) => `  ${JSON.stringify(key)}: ${JSON.stringify(value)}`);
    return ` ${JSON.stringify(input)}: {\n${members.join(",\n")}\n }`;
  };
  fs.writeFileSync(table, `{\n${Object.entries(rows).map(rowText).join(",\n")}\n}\n`);
  fs.rmSync(scratch, { recursive: true });
}

if (import.meta.main) {
  const [bin, pi, omp, ...wanted] = process.argv.slice(2);
  await write(bin, pi, omp, wanted);
  process.exit(0);
}
