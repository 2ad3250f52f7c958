// Sessions that the agents write themselves, from an empty folder, through their own methods. They
// are played as conversations go: questions are answered, calls get results, and nobody leaves in
// the middle of a turn. What is odd comes from generate.ts.
import type { Agent, Entry, Json, Session } from "./agents.ts";
import { Random } from "./random.ts";

const project = "/home/u/project";

/** How an agent wrote a file, and what it still holds of it in memory. */
export interface Written {
  what: string;
  session: Session;
  /** The path that was forked, if this file is a fork. */
  forkedPath?: Json[];
}

/** Plays a session with `agent`; `newer` takes the kinds that only pi ≥ 1 knows into it. */
export async function play(agent: Agent, seed: number, newer: boolean): Promise<Written[]> {
  const random = new Random(seed);
  const main = agent.create(project);
  ask(main, "Hello", "Hello");
  const acts = [...usual, ...usual, ...(agent.name === "omp" ? ofOmp : ofPi), ...(newer ? ofNewPi : [])];
  for (const act of random.shuffle(acts)) {
    if (random.chance(0.3)) {
      main.move(restingPlace(main, random));
    } else if (random.chance(0.05)) {
      main.move(null);
    }
    act(main, random);
  }
  main.user(random.words(1, 9));
  await main.close();
  const written: Written[] = [{ what: "a session", session: main }];

  const copy = await agent.copy(main.file, "/home/u/other");
  copy.user("in the copy");
  await copy.close();
  written.push({ what: "a copy", session: copy });

  const fork = await agent.open(main.file);
  const answers = fork.entries().filter(entry => entry.message?.role === "assistant");
  const tip = random.pick(answers.filter(isRest)).id;
  const forkedPath = fork.own("getBranch", tip);
  await fork.fork(tip);
  fork.label(fork.entries()[0].id, "root of the fork");
  fork.user("in the fork");
  await fork.close();
  written.push({ what: "a fork", session: fork, forkedPath });
  return written;
}

type Act = (session: Session, random: Random) => void;

const anyId: (session: Session, random: Random) => string = (session, random) => random.pick(session.entries()).id;

/** Where one can go back to: no call waits for its result there. */
function restingPlace(session: Session, random: Random): string {
  return random.pick(session.entries().filter(isRest)).id;
}

function isRest({ message }: Entry): boolean {
  return !(message?.role === "assistant" && message.content.some((block: Json) => block.type === "toolCall"));
}

function ask(session: Session, question: Json, answer: string) {
  session.user(question);
  session.message(assistant([{ type: "text", text: answer }]));
}

/** A compaction keeps whole turns of its own path. */
function compact(session: Session, random: Random, summary: string, tokens: number) {
  const questions = () => session.own("getBranch").filter((entry: Entry) => entry.message?.role === "user");
  if (questions().length === 0) ask(session, "Is there anything?", "Nothing");
  session.compact(summary, random.pick<Entry>(questions()).id, tokens, "short");
}

const usual: Act[] = [
  (s, r) => s.user(r.words(1, 20)),
  (s, r) => ask(s, r.words(1, 20), r.words(1, 20)),
  (s, r) =>
    s.user([
      { type: "text", text: r.words(1, 20) },
      { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" },
    ]),
  (s, r) => {
    s.user(r.words(1, 5));
    s.message(
      assistant([
        { type: "thinking", thinking: r.words(1, 5) },
        { type: "text", text: r.words(1, 20) },
      ]),
    );
  },
  (s, r) => {
    s.user(r.words(1, 5));
    const call = { type: "toolCall", id: `call_${r.id()}`, name: "read", arguments: { path: "src/main.rs" } };
    s.message(assistant([call], "toolUse"));
    s.message({
      role: "toolResult",
      toolCallId: call.id,
      toolName: "read",
      content: [{ type: "text", text: r.words(1, 20) }],
      isError: false,
      timestamp: Date.now(),
    });
  },
  (s, r) =>
    s.message({
      role: "bashExecution",
      command: r.words(1, 3),
      output: r.words(0, 3),
      exitCode: 1,
      cancelled: false,
      truncated: false,
      timestamp: Date.now(),
    }),
  (s, r) =>
    s.label(
      anyId(s, r),
      r
        .words(1, 2)
        .replace(/[^\p{L}]+/gu, " ")
        .trim() || "here",
    ),
  (s, r) => s.label(anyId(s, r), "here"),
  (s, r) => s.label(anyId(s, r)),
  (s, r) => s.summary(restingPlace(s, r), r.words(2, 9), { readFiles: ["a"], modifiedFiles: [] }),
  (s, r) => compact(s, r, r.words(2, 9), 1234),
  (s, r) => s.model("openai", r.pick(["gpt", "mini"])),
  (s, r) => s.thinking(r.pick(["off", "high"])),
  (s, r) => s.custom("state", { n: r.below(9) }),
  (s, r) => s.customMessage("note", r.words(1, 9), { n: 1 }),
  (s, r) => s.customMessage("note", [{ type: "text", text: r.words(1, 9) }]),
];

const ofOmp: Act[] = [
  s => s.summary(null, "from the start"),
  s => s.own("appendModeChange", "plan", { file: "plan.md" }),
  s => s.own("appendTtsrInjection", ["r1", "r2"]),
  s => s.own("appendServiceTierChange", "flex"),
  s => s.own("appendMCPToolSelection", ["a", "b"]),
  s => s.own("appendModelChange", "openai/mini", "smol"),
  s => s.own("appendSessionInit", { systemPrompt: "Be brief.", task: "a task", tools: ["read"] }),
  s =>
    s.message({
      role: "pythonExecution",
      code: "1 + 1",
      output: "2",
      exitCode: 0,
      cancelled: false,
      truncated: false,
      timestamp: Date.now(),
    }),
  s => s.message({ role: "fileMention", files: [{ path: "a.txt", content: "a" }], timestamp: Date.now() }),
];

const ofPi: Act[] = [
  s => s.summary(null, "from the start"),
  s => s.own("appendSessionInfo", "A name"),
  s => s.own("appendUsage", "cache_warm", "openai", "gpt", usage),
];

const ofNewPi: Act[] = [
  s => s.message({ role: "system", content: "Be brief.", timestamp: Date.now() }),
  (s, r) => compact(s, r, "with a system message", 99),
  ...[null, { content: "replaced" }, { content: [{ type: "text", text: "replaced, too" }] }].map(
    (replacement): Act =>
      s => {
        // A call or its result alone is not taken away.
        const roles = replacement === null ? ["user"] : ["user", "toolResult"];
        const target = s.own("getBranch").findLast((entry: Entry) => roles.includes(entry.message?.role));
        if (target) s.own("appendContextEdit", target.id, replacement);
      },
  ),
];

export function assistant(content: Json, stopReason = "stop"): Json {
  return {
    role: "assistant",
    content,
    api: "x",
    provider: "anthropic",
    model: "m-1",
    usage,
    stopReason,
    timestamp: Date.now(),
  };
}

const usage = {
  input: 1,
  output: 2,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 3,
  cost: { input: 0.1, output: 0.2, cacheRead: 0, cacheWrite: 0, total: 0.3 },
};
