// Our own side: the binary, asked through its JSON interface only.
import fs from "node:fs";
import type { Entry, Json, Node, View } from "./agents.ts";

export interface Output {
  code: number;
  stdout: Buffer;
  stderr: string;
}

export class Tool {
  /** Answers about bytes that were asked about before. */
  private readonly known = new Map<string, Json>();

  constructor(
    private readonly bin: string,
    private readonly home: string,
  ) {}

  try(args: string[], stdin = ""): Output {
    const { exitCode, stdout, stderr } = Bun.spawnSync([this.bin, ...args], {
      env: { HOME: this.home, PATH: "/usr/bin:/bin" },
      stdin: Buffer.from(stdin),
      timeout: 60_000,
    });
    return { code: exitCode ?? -1, stdout, stderr: stderr.toString() };
  }

  run(args: string[], stdin = ""): Output {
    const output = this.try(args, stdin);
    if (output.code !== 0)
      throw new Error(`session-tree ${args.join(" ")}: exit ${output.code}: ${output.stderr.trim()}`);
    return output;
  }

  json(args: string[], stdin = ""): Json {
    return JSON.parse(this.run([...args, "--json"], stdin).stdout.toString());
  }

  version(): string {
    return this.run(["--version"]).stdout.toString().trim();
  }

  view(file: string): View {
    return this.remember(file, "view", () => this.readView(file));
  }

  /** State and messages at `leaf`, and the messages as the model would get them. */
  context(file: string, leaf: string | null): Json {
    return this.remember(file, `context ${leaf}`, () => {
      const at = leaf === null ? ["--root"] : ["--leaf", leaf];
      const llm = this.run(["context", file, ...at, "--format", "llm"]).stdout.toString();
      return { ...this.json(["context", file, ...at]), llm: JSON.parse(llm) };
    });
  }

  rows(file: string): Json[] {
    return lines(this.run(["tree", file, "--filter", "all", "--format", "jsonl"]).stdout).map(line => JSON.parse(line));
  }

  /** What `check` says of a file. */
  findings(file: string): Json[] {
    return lines(this.try(["check", file, "--format", "jsonl"]).stdout).map(line => JSON.parse(line));
  }

  private readView(file: string): View {
    const rows = this.rows(file);
    const nodes: Record<string, Node> = Object.fromEntries(
      rows.map(({ id, parentId, label }) => [id, { id, parentId, label, children: [] }]),
    );
    // The rows tell everything but the order of children; seen from before the first entry none is active.
    const tree = this.json(["tree", file, "--filter", "all", "--root"]);
    const open = [...tree];
    for (let next = open.pop(); next; next = open.pop()) {
      nodes[next.entry.id].children = next.children.map((child: Json) => child.entry.id);
      open.push(...next.children);
    }
    const labels = this.json(["label", file]).filter((label: Json) => label.exists);
    return {
      ids: rows.toSorted((a, b) => a.line - b.line).map(row => row.id),
      leaf: rows.find(row => row.leaf)?.id ?? null,
      labels: Object.fromEntries(labels.map((label: Json) => [label.id, label.label])),
      roots: tree.map((root: Json) => root.entry.id),
      nodes,
    };
  }

  private remember<T>(file: string, question: string, answer: () => T): T {
    const key = `${Bun.hash(read(file))} ${question}`;
    if (!this.known.has(key)) this.known.set(key, answer());
    return this.known.get(key);
  }
}

/** The lines with something on them, or, if wanted, all. */
export function lines(bytes: Buffer, all = false): string[] {
  const found = bytes.toString().split("\n");
  if (found.at(-1) === "") found.pop();
  return all ? found : found.filter(line => line.trim() !== "");
}

export function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

export function idOf(line: string): string | undefined {
  return isJson(line) ? JSON.parse(line).id : undefined;
}

/** The header and the entries; lines that are none are left out, as everybody does. */
export function parse(bytes: Buffer): [Json, Entry[]] {
  const [header, ...entries] = lines(bytes)
    .filter(isJson)
    .map(line => JSON.parse(line));
  return [header, entries];
}

export function read(file: string): Buffer {
  return fs.readFileSync(file);
}
