// Our own side: the binary, asked through its JSON interface only.
import fs from "node:fs";
import type { Entry, Json, Node, View } from "./agents.ts";

export interface Output {
  code: number;
  stdout: Buffer;
  stderr: string;
}

export class Tool {
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
    if (output.code !== 0) throw new Error(`session-tree ${args.join(" ")}: exit ${output.code}: ${output.stderr.trim()}`);
    return output;
  }

  json(args: string[], stdin = ""): Json {
    return JSON.parse(this.run([...args, "--json"], stdin).stdout.toString());
  }

  version(): string {
    return this.run(["--version"]).stdout.toString().trim();
  }

  view(file: string): View {
    const rows = this.rows(file);
    const nodes: Record<string, Node> = Object.fromEntries(
      rows.map(({ id, parentId, label }) => [id, { id, parentId, label, children: [] }]),
    );
    // The rows tell everything but the order of children: the active one comes first there.
    const tree = this.json(["tree", file]);
    const open = [...tree];
    for (let next = open.pop(); next; next = open.pop()) {
      nodes[next.entry.id].children = next.children.map((child: Json) => child.entry.id);
      open.push(...next.children);
    }
    const labels = this.json(["label", file]).filter((label: Json) => label.exists);
    return {
      ids: rows.toSorted((a, b) => a.line - b.line).map(row => row.id),
      leaf: rows.find(row => row.leaf)?.id ?? null,
      labels: Object.fromEntries(labels.map((label: Json) => [label.targetId, label.label])),
      roots: tree.map((root: Json) => root.entry.id),
      nodes,
    };
  }

  rows(file: string): Json[] {
    return lines(this.run(["tree", file, "--filter", "all", "--format", "jsonl"]).stdout).map(line => JSON.parse(line));
  }

  context(file: string, leaf: string | null): Json {
    const at = leaf === null ? ["--root"] : ["--leaf", leaf];
    const llm = this.run(["context", file, ...at, "--format", "llm"]).stdout.toString();
    return { ...this.json(["context", file, ...at]), llm: JSON.parse(llm) };
  }
}

export function lines(bytes: Buffer): string[] {
  return bytes.toString().split("\n").filter(line => line.trim() !== "");
}

/** The header and the entries; lines that are none are left out, as everybody does. */
export function parse(bytes: Buffer): [Json, Entry[]] {
  const objects = lines(bytes).flatMap(line => {
    try {
      return [JSON.parse(line)];
    } catch {
      return [];
    }
  });
  return [objects[0], objects.slice(1)];
}

export function read(file: string): Buffer {
  return fs.readFileSync(file);
}
