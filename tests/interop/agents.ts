// The published agents behind one small interface: what they see in a session file, and what they
// append to one. They only ever get copies, for opening a file of an old version rewrites it.
import fs from "node:fs";
import path from "node:path";

export type Json = any;
export type Name = "omp" | "pi";

/** A line of a session file. */
export interface Entry {
  type: string;
  id: string;
  parentId: string | null;
  timestamp: string;
  [field: string]: Json;
}

export interface Node {
  id: string;
  parentId: string | null;
  children: string[];
  label?: string;
}

/** What somebody makes of a session. */
export interface View {
  /** In the order of the file. */
  ids: string[];
  leaf: string | null;
  labels: Record<string, string>;
  roots: string[];
  nodes: Record<string, Node>;
}

/** Modules of the agents; the paths below `dist` and `session` are not for the public, but stable. */
const modules = {
  omp: ["@oh-my-pi/pi-coding-agent", ["session/session-manager", "session/messages"]],
  pi: ["@earendil-works/pi-coding-agent", ["."]],
} as const;

export class Agent {
  private constructor(
    readonly name: Name,
    readonly version: string,
    private readonly api: Json,
    private readonly scratch: string,
  ) {}

  /** Loads an agent that is installed in `folder`; its copies of files go to `scratch`. */
  static async load(name: Name, folder: string, scratch: string): Promise<Agent> {
    const [pack, parts] = modules[name];
    const load = async (part: string) => import(Bun.resolveSync(path.posix.join(pack, part), folder));
    const loaded = parts.map(load);
    // Since omp 18 the context is a module of its own.
    if (name === "omp") loaded.push(load("session/session-context").catch(() => ({})));
    const manifest = path.join(folder, "node_modules", pack, "package.json");
    const { version } = JSON.parse(fs.readFileSync(manifest, "utf8"));
    return new Agent(name, version, Object.assign({}, ...(await Promise.all(loaded))), scratch);
  }

  /** Opens a copy of `file` that bears the same name. */
  async open(file: string): Promise<Session> {
    const copy = path.join(this.emptyFolder(), path.basename(file));
    fs.copyFileSync(file, copy);
    return new Session(this, this.api, await this.api.SessionManager.open(copy));
  }

  /** Starts a session in an empty folder. */
  create(cwd: string): Session {
    return new Session(this, this.api, this.api.SessionManager.create(cwd, this.emptyFolder()));
  }

  /** Copies a whole session into a new one, as `--fork` does. */
  async copy(file: string, cwd: string): Promise<Session> {
    return new Session(this, this.api, await this.api.SessionManager.forkFrom(file, cwd, this.emptyFolder()));
  }

  /** The agent's list of the sessions in a folder. */
  async list(cwd: string, folder: string): Promise<Json[]> {
    return await this.api.SessionManager.list(cwd, folder);
  }

  private emptyFolder(): string {
    return fs.mkdtempSync(path.join(this.scratch, `${this.name}-`));
  }
}

/** A session that an agent has open. Appending returns the new entry's id. */
export class Session {
  constructor(
    private readonly agent: Agent,
    private readonly api: Json,
    private readonly manager: Json,
  ) {}

  get file(): string {
    return this.manager.getSessionFile();
  }

  get header(): Json {
    return this.manager.getHeader();
  }

  /** As they would be written. */
  entries(): Entry[] {
    return JSON.parse(JSON.stringify(this.manager.getEntries()));
  }

  view(): View {
    const ids = this.entries().map(entry => entry.id);
    const nodes: Record<string, Node> = {};
    const tree = this.manager.getTree();
    const open = tree.map((node: Json) => [node, null]);
    for (let next = open.pop(); next; next = open.pop()) {
      const [{ entry, children, label }, parentId] = next;
      nodes[entry.id] = { id: entry.id, parentId, children: children.map((child: Json) => child.entry.id), label };
      for (const child of children) open.push([child, entry.id]);
    }
    const labelled = ids.filter(id => this.manager.getLabel(id) !== undefined);
    return {
      ids,
      leaf: this.manager.getLeafId() ?? null,
      labels: Object.fromEntries(labelled.map(id => [id, this.manager.getLabel(id)])),
      roots: tree.map((node: Json) => node.entry.id),
      nodes,
    };
  }

  /** How many rows the agent's tree has. */
  rows(): number {
    const open = [...this.manager.getTree()];
    let rows = 0;
    for (let next = open.pop(); next; next = open.pop(), rows++) open.push(...next.children);
    return rows;
  }

  /** State and messages at `leaf`, and the messages as the model would get them. */
  context(leaf: string | null): Json {
    const entries = this.manager.getEntries();
    const byId = new Map(entries.map((entry: Entry) => [entry.id, entry]));
    const context = this.api.buildSessionContext(entries, leaf, byId);
    return JSON.parse(JSON.stringify({ ...context, llm: this.api.convertToLlm(context.messages) }));
  }

  user(text: Json): string {
    return this.message({ role: "user", content: text, timestamp: Date.now() });
  }

  message(message: Json): string {
    return this.manager.appendMessage(message);
  }

  /** Without `name` the label is cleared. */
  label(target: string, name?: string): string {
    return this.manager.appendLabelChange(target, name);
  }

  /** Moves to `position`, and attaches a summary of what is left there. */
  summary(position: string | null, text: string, details?: Json): string {
    return this.manager.branchWithSummary(position, text, details);
  }

  /** Moves the leaf, which writes nothing. */
  move(position: string | null): void {
    if (position === null) this.manager.resetLeaf();
    else this.manager.branch(position);
  }

  compact(summary: string, firstKept: string, tokens: number, short?: string): string {
    return this.agent.name === "omp"
      ? this.manager.appendCompaction(summary, short, firstKept, tokens)
      : this.manager.appendCompaction(summary, firstKept, tokens);
  }

  model(provider: string, id: string, role?: string): string {
    return this.agent.name === "omp"
      ? this.manager.appendModelChange(`${provider}/${id}`, role)
      : this.manager.appendModelChange(provider, id);
  }

  thinking(level: string): string {
    return this.manager.appendThinkingLevelChange(level);
  }

  custom(type: string, data: Json): string {
    return this.manager.appendCustomEntry(type, data);
  }

  customMessage(type: string, content: Json, details?: Json): string {
    return this.manager.appendCustomMessageEntry(type, content, true, details);
  }

  /** Any other method of the agent's own, such as `appendModeChange`. */
  own(method: string, ...args: Json[]): Json {
    return this.manager[method](...args);
  }

  /** Forks the path from the root to `id` into a new file, which is then the one that is open. */
  async fork(id: string): Promise<void> {
    await this.close();
    this.manager.createBranchedSession(id);
  }

  /** Waits until all is on disk; the agent keeps the file open. */
  async flush(): Promise<void> {
    await this.manager.flush?.();
  }

  /** Waits until all is on disk, and lets go of the file. */
  async close(): Promise<void> {
    await this.flush();
    await this.manager.close?.();
  }
}
