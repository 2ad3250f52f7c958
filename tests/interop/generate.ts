// Small sessions with a bit of everything that files of both agents hold, the same in every run.
import type { Json, Name } from "./agents.ts";
import { Random } from "./random.ts";

export interface Profile {
  seed: number;
  version: 1 | 2 | 3;
  /** Whose own kinds of entries are in it. */
  family: Name;
}

/** The bytes of a session. */
export function generate(profile: Profile): string {
  const random = new Random(profile.seed * 1000 + profile.version);
  const session = new Generator(profile, random);
  const deck = random.shuffle([...everywhere, ...own[profile.family], ...(profile.version > 1 ? treeOnly : [])]);
  for (const kind of ["user", "assistant", "label", ...deck]) {
    if (kind === "label" && profile.version === 1) continue;
    session.wander();
    session.add(kind);
  }
  return session.text();
}

const everywhere = kinds(
  "user user user image assistant assistant failed tool tool bash bash custom note hook model thinking",
  "compaction compaction unknown",
);
const treeOnly = kinds("label label label unlabel summary summary user user tool");
const own: Record<Name, string[]> = {
  omp: kinds("mode rules tier tools role python mention developer"),
  pi: kinds("info usage"),
};

function kinds(...lists: string[]): string[] {
  return lists.join(" ").split(" ");
}

class Generator {
  private readonly lines: string[];
  private readonly entries: Json[] = [];
  private leaf: string | null = null;
  private clock = Date.UTC(2026, 2, 1, 12);
  private calls = 0;

  constructor(
    private readonly profile: Profile,
    private readonly random: Random,
  ) {
    const { version, seed, family } = profile;
    const header = {
      type: "session",
      ...(version > 1 && { version }),
      id: `00000000-0000-7000-8000-${String(seed).padStart(12, "0")}`,
      timestamp: this.time(),
      cwd: "/home/u/project",
      ...(family === "omp" ? { title: "A title" } : { parentSession: "/home/u/old.jsonl" }),
    };
    this.lines = [JSON.stringify(header)];
  }

  text(): string {
    const { seed } = this.profile;
    // Some files hold what a crash leaves, which nobody counts as an entry, and some end without LF.
    if (seed % 3 === 0) this.lines.splice(5, 0, "", '{"type":"message","id":"torn');
    return this.lines.join("\n") + (seed % 2 === 0 ? "" : "\n");
  }

  /** Now and then the leaf moves, as it does when somebody goes back. */
  wander(): void {
    if (this.profile.version === 1 || this.entries.length < 3) return;
    if (this.random.chance(0.25)) this.leaf = this.random.pick(this.entries).id;
    else if (this.random.chance(0.04)) this.leaf = null;
  }

  add(kind: string): void {
    const { random } = this;
    const stamp = this.clock;
    const text = () => [{ type: "text", text: random.words(1, 25) }];
    const say = (message: Json) => this.write("message", { message: { ...message, timestamp: stamp } });
    const assistant = (content: Json, more = {}) =>
      say({
        role: "assistant",
        content,
        api: "x",
        provider: random.pick(["anthropic", "openai"]),
        model: "m-1",
        usage,
        stopReason: "stop",
        ...more,
      });
    switch (kind) {
      case "user":
        return say({ role: "user", content: random.chance(0.5) ? random.words(1, 60) : text() });
      case "image":
        return say({
          role: "user",
          content: [...text(), { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" }, ...text()],
        });
      case "developer":
        return say({ role: "developer", content: text() });
      case "assistant":
        return assistant([{ type: "thinking", thinking: random.words(1, 9), thinkingSignature: "s" }, ...text()]);
      case "failed":
        return assistant(random.chance(0.5) ? [] : text(), { stopReason: "error", errorMessage: random.words(1, 20) });
      case "tool": {
        const call = {
          type: "toolCall",
          id: `call_${++this.calls}`,
          name: random.pick(["read", "bash", "my_tool"]),
          arguments: { path: "src/a b.rs", command: random.words(1, 5), n: [1.5, null] },
        };
        assistant([...text(), call], { stopReason: "toolUse" });
        return say({
          role: "toolResult",
          toolCallId: call.id,
          toolName: call.name,
          content: text(),
          isError: random.chance(0.2),
        });
      }
      case "bash":
        return say({
          role: "bashExecution",
          command: random.words(1, 4),
          output: random.pick(["", random.words(1, 9)]),
          exitCode: random.pick([0, 1]),
          cancelled: random.chance(0.2),
          ...random.pick([{ truncated: false }, { truncated: true, fullOutputPath: "/tmp/output.log" }]),
          ...(random.chance(0.3) && { excludeFromContext: true }),
        });
      case "python":
        return say({
          role: "pythonExecution",
          code: random.words(1, 4),
          output: random.words(0, 9),
          exitCode: random.pick([0, 2]),
          cancelled: false,
          truncated: false,
        });
      case "mention":
        return say({
          role: "fileMention",
          files: [
            { path: "a.txt", content: random.words(1, 9) },
            { path: "b.txt", content: "" },
          ],
        });
      case "hook":
        return say({
          role: this.profile.version < 3 ? "hookMessage" : "custom",
          customType: "hook",
          content: random.chance(0.5) ? random.words(1, 5) : text(),
          display: true,
        });
      case "note":
        return this.write("custom_message", {
          customType: "note",
          content: text(),
          display: random.chance(0.5),
          details: { n: [1, 2] },
        });
      case "custom":
        return this.write("custom", { customType: "state", data: { n: random.below(10) } });
      case "unknown":
        return this.write("of_the_future", { payload: [1, { a: null }] });
      case "thinking":
        return this.write("thinking_level_change", { thinkingLevel: random.pick(["off", "low", "high"]) });
      case "model":
        return this.write(
          "model_change",
          this.profile.family === "omp" ? { model: "openai/gpt" } : { provider: "openai", modelId: "gpt" },
        );
      case "role":
        return this.write("model_change", { model: "openai/mini", role: "smol" });
      case "mode":
        return this.write("mode_change", { mode: "plan", data: { file: "plan.md" } });
      case "rules":
        return this.write("ttsr_injection", { injectedRules: random.shuffle(["r1", "r2", "r3"]).slice(1) });
      case "tier":
        return this.write("service_tier_change", { serviceTier: random.pick(["flex", null]) });
      case "tools":
        return this.write("mcp_tool_selection", { selectedToolNames: ["a", "b"] });
      case "info":
        return this.write("session_info", { name: random.words(1, 3) });
      case "usage":
        return this.write("usage", { kind: "cache_warm", provider: "openai", model: "gpt", usage });
      case "compaction": {
        const kept =
          this.profile.version === 1
            ? { firstKeptEntryIndex: 1 + random.below(this.entries.length) }
            : { firstKeptEntryId: random.pick(this.path()) ?? "" };
        return this.write("compaction", {
          summary: random.words(3, 12),
          ...kept,
          tokensBefore: 1000 + random.below(100_000),
        });
      }
      case "summary":
        return this.write("branch_summary", {
          fromId: this.leaf ?? "root",
          summary: random.words(3, 12),
          details: { readFiles: ["r.txt"], modifiedFiles: [] },
        });
      case "label":
        return this.write("label", {
          targetId: random.pick(this.entries).id,
          label: random.pick(["plan b", "wip", "目録", "good"]),
        });
      case "unlabel": {
        const labelled = this.entries.filter(entry => entry.type === "label" && entry.label);
        return this.write("label", { targetId: random.pick(labelled).targetId });
      }
      default:
        throw new Error(`no kind is called ${kind}`);
    }
  }

  private path(): string[] {
    const byId = new Map(this.entries.map(entry => [entry.id, entry]));
    const path = [];
    for (let id = this.leaf; id; id = byId.get(id).parentId) path.push(id);
    return path;
  }

  private write(type: string, fields: Json): void {
    const linked = this.profile.version > 1 && { id: this.random.id(), parentId: this.leaf };
    const entry = { type, ...linked, timestamp: this.time(), ...fields };
    this.leaf = entry.id;
    this.entries.push(entry);
    this.lines.push(this.spell(entry));
  }

  /** Not every line is spelled as JavaScript would: what need not change must come through as it is. */
  private spell(entry: Json): string {
    const usual = JSON.stringify(entry);
    switch (this.random.below(8)) {
      case 0:
        return JSON.stringify(entry, null, 1).replace(/\n */g, " ");
      case 1:
        return usual.replace(/[^\0-\x7f]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
      case 2:
        return `${usual.slice(0, -1)},"extra":{"price":1.50,"big":1E3}}`;
      default:
        return usual;
    }
  }

  /** Goes on, but sometimes stands still or goes back a little: clocks do. */
  private time(): string {
    this.clock += this.random.chance(0.2) ? 0 : this.random.below(30_000);
    const back = this.random.chance(0.15) ? this.random.below(100_000) : 0;
    return new Date(this.clock - back).toISOString();
  }
}

const usage = {
  input: 3,
  output: 86,
  cacheRead: 0,
  cacheWrite: 19837,
  totalTokens: 19926,
  cost: { input: 9e-6, output: 0.00129, cacheRead: 0, cacheWrite: 0.0743, total: 0.0756 },
};
