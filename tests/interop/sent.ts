// What an agent sends of a session: its messages after its last step before a provider's own form, and
// the body of a request, caught before anything leaves the process.
import fs from "node:fs";
import path from "node:path";
import type { Agent, Json } from "./agents.ts";

/** The formats of `context` that are requests, and the APIs that they are for. */
export const apis = { anthropic: "anthropic-messages", openai: "openai-completions", responses: "openai-responses" };

const packages = { pi: "@earendil-works/pi-ai/dist/api", omp: "@oh-my-pi/pi-ai/src/providers" } as const;
/** What omp calls the modules and their functions. */
const streams: Record<string, [string, string]> = {
  "anthropic-messages": ["anthropic", "streamAnthropic"],
  "openai-completions": ["openai-completions", "streamOpenAICompletions"],
  "openai-responses": ["openai-responses", "streamOpenAIResponses"],
};

export class Sender {
  /** The agent and its parts are installed in `folder`. */
  constructor(
    private readonly agent: Agent,
    private readonly folder: string,
  ) {}

  /** What the agent holds, and what it sends before a provider's own form. */
  async messages(file: string): Promise<Json> {
    const { context, model } = await this.context(file);
    const extension = this.agent.name === "pi" ? "js" : "ts";
    const { transformMessages } = await this.load(`transform-messages.${extension}`);
    const { llm, ...held } = context;
    return copy({ json: held, llm: transformMessages(llm, model) });
  }

  /** The body of a request. Nothing is sent: the agent is stopped when it has made it. */
  async request(file: string, api: string): Promise<Json> {
    const { context, model } = await this.context(file, api);
    const module = await this.load(this.agent.name === "pi" ? `${api}.js` : `${streams[api][0]}.ts`);
    const stream = module.stream ?? module[streams[api][1]];
    return await new Promise((resolve, reject) => {
      const onPayload = (body: Json) => {
        resolve(copy(body));
        throw new Error("seen");
      };
      const events = stream(model, { messages: context.llm, tools: [] }, { apiKey: "none", onPayload });
      const watch = async () => {
        for await (const event of events) if (event.type === "error") reject(new Error("the agent cannot"));
        reject(new Error("no request was made"));
      };
      watch().catch(reject);
    });
  }

  /** The context at the leaf, and the model in force. It takes all that there is, and is nowhere. */
  private async context(file: string, named?: string): Promise<{ context: Json; model: Json }> {
    const session = await this.agent.open(file);
    const context = session.context(session.view().leaf);
    const { model: chosen, models } = context;
    const name = models?.default ?? (chosen?.provider && chosen?.modelId ? `${chosen.provider}/${chosen.modelId}` : "none/none");
    const [provider, ...id] = name.split("/");
    const api = named ?? context.messages.findLast((message: Json) => message.api)?.api ?? apis.anthropic;
    const model = {
      id: id.join("/"),
      name: id.join("/"),
      provider,
      api,
      baseUrl: "http://127.0.0.1:9",
      input: ["text", "image"],
      reasoning: true,
      compat: {},
      identity: { class: "unknown" },
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
      contextWindow: 200_000,
      maxTokens: 8192,
      headers: {},
    };
    return { context, model };
  }

  private load(module: string): Promise<Json> {
    const below = path.join(this.folder, "node_modules", packages[this.agent.name], module);
    return import(fs.realpathSync(below));
  }
}

/** The texts that everybody words in his own way: what stands for a result that is missing. */
const missing = new Set(["No result provided", "There is no result of this call."]);

/** Whether a text stands for a result that is missing. */
export function isStandIn(text: string): boolean {
  return missing.has(text);
}

/**
 * What was sent, without what is everybody's own in it: marks for caches, ids drawn by chance, and own words; nor
 * what an answer cost.
 */
export function plain(value: Json): Json {
  if (typeof value === "string") return ownWords(value);
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object") return value;
  const own = ["message", "function_call", "reasoning"].includes(value.type) ? ["id"] : [];
  const left = new Set(["cache_control", "attribution", "usage", ...own]);
  const members = Object.entries(value).filter(([key, member]) => member != null && !left.has(key));
  const result = Object.fromEntries(members.map(([key, member]) => [key, plain(member)]));
  if (result.role === "toolResult" && JSON.stringify(result.content)?.includes("(missing)")) delete result.timestamp;
  return result;
}

function ownWords(text: string): string {
  if (missing.has(text)) return "(missing)";
  const summary = /<summary>([^]*)<\/summary>/.exec(text)?.[1];
  if (summary !== undefined) return `(summary) ${summary.trim()}`;
  const notes = /^<experimental-context-notes>[^]*\n(.*)\n<\/experimental-context-notes>$/.exec(text)?.[1];
  return notes === undefined ? text : `(notes) ${notes}`;
}

function copy(value: Json): Json {
  return JSON.parse(JSON.stringify(value));
}
