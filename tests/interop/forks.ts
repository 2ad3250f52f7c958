// Sessions that the agents fork themselves: our list draws a fork below its parent, and what both have counts once.
import fs from "node:fs";
import path from "node:path";
import type { Agent, Entry, Json, Session } from "./agents.ts";
import { assistant } from "./theirs.ts";
import { checks, tool } from "./world.ts";

const group = "forks";
const project = "/home/u/project";

/** The ways in which an agent makes a new session out of one that is open; what is returned is the fork. */
const ways: Record<string, (agent: Agent, session: Session, tip: string) => Promise<Session>> = {
  "the path to an entry": async (_, session, tip) => {
    await session.fork(tip);
    return session;
  },
  "the whole session": async (agent, session) => {
    await session.close();
    return await agent.copy(session.file, project);
  },
  "the open session": async (agent, session) => {
    // Only omp has this.
    if (agent.name === "omp") await session.own("fork");
    else await session.fork(session.view().leaf!);
    return session;
  },
};

export async function forks(agent: Agent) {
  const parent = agent.create(project);
  const tips = ["first", "second"].map((question, at) => turn(parent, question, at + 1));
  parent.label(tips[0], "here");
  parent.move(tips[0]);
  turn(parent, "another way", 4);
  await parent.close();
  for (const [what, make] of Object.entries(ways)) {
    await checks.within(group, `${agent.name}, ${what}`, async () => {
      const opened = await agent.open(parent.file);
      const source = opened.file;
      const fork = await make(agent, opened, tips[1]);
      turn(fork, "in the fork", 8);
      await fork.close();
      listed(`${agent.name}, ${what}`, source, fork.file);
    });
  }
}

/** Asks and answers, for so many dollars; returns the answer's id. */
function turn(session: Session, question: string, cost: number): string {
  session.user(question);
  const answer = assistant([{ type: "text", text: `about ${question}` }]);
  return session.message({ ...answer, usage: { ...answer.usage, cost: { ...answer.usage.cost, total: cost } } });
}

/** Checks what is said of a session and its fork, in either order and by the folders they are in. */
function listed(what: string, parent: string, fork: string) {
  const same = (part: string, ours: Json, expected: Json) => checks.same(group, `${what}, ${part}`, ours, expected);
  checks.holds(group, `${what}, another file`, fork !== parent);
  const [above, below] = [parent, fork].map(entriesOf);
  const known = new Set(above.map(key));
  const own = below.filter(entry => !known.has(key(entry)));
  checks.holds(group, `${what}, something is shared`, own.length < below.length && own.length > 0);
  const folders = [...new Set([parent, fork].map(file => path.dirname(file)))];
  const found = folders.flatMap(folder => fs.readdirSync(folder).filter(name => name.endsWith(".jsonl")));
  // omp 18 makes some forks in the home, where others are too.
  const alone = found.length === 2 ? [folders] : [];
  for (const files of [[parent, fork], [fork, parent], ...alone]) {
    for (const family of [parent, fork]) {
      const args = ["list", ...files, "--long", "--family", family];
      const rows: Json[] = tool.json(args);
      same("rows", rows.map(row => row.path), [parent, fork]);
      same("parents", rows.map(row => row.parentPath ?? null), [null, parent]);
      same("entries", rows.map(row => row.entries), [above.length, below.length]);
      same("usage", rows.map(row => row.usage.cost), [cost(above), cost(below)]);
      same("usage of its own", rows.map(row => row.ownUsage.cost), [cost(above), cost(own)]);
      const [, first, second, sum] = tool.run(args).stdout.toString().trimEnd().split("\n");
      checks.holds(group, `${what}, drawn below`, !first.includes("└─ ") && second.includes("└─ "));
      const entries = above.length + own.length;
      const expected = [`2 sessions: ${entries} entries`, `$${(cost(above) + cost(own)).toFixed(4)}`];
      checks.holds(group, `${what}, sum: ${sum}`, expected.every(words => sum.includes(words)));
    }
  }
}

/** What makes an entry the same as one of another file (help naming, "Families"). */
function key({ id, type, timestamp }: Entry): string {
  return JSON.stringify([id, type, timestamp]);
}

function entriesOf(file: string): Entry[] {
  const lines = fs.readFileSync(file, "utf8").trimEnd().split("\n");
  const all = lines.map(line => JSON.parse(line));
  return all.slice(1 + all.findIndex(line => line.type === "session"));
}

function cost(entries: Entry[]): number {
  return entries.reduce((sum, { message }) => sum + (message?.usage?.cost?.total ?? 0), 0);
}
