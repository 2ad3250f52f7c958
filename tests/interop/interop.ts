// The test: what we write, the agents open; what they write, we open. Run by run.sh.
//
// usage: interop.ts BIN AGENTS WORK DAMAGED
//   AGENTS  the folder in which the agents are installed
//   WORK    an empty folder for all files
//   DAMAGED a folder of damaged files, as `mended.ts` takes them
//
// Exit 0: all passed; 3: some failed.
import fs from "node:fs";
import path from "node:path";
import type { Agent, Json } from "./agents.ts";
import { branching, inUse, labelling, migrating, navigating } from "./commands.ts";
import * as differences from "./differences.ts";
import { effects, inputs, recorded } from "./effects.ts";
import { forks } from "./forks.ts";
import { generate } from "./generate.ts";
import { agree, compare, goesOn } from "./laws.ts";
import { mendedFiles } from "./mended.ts";
import { Random } from "./random.ts";
import { apis, plain } from "./sent.ts";
import { play } from "./theirs.ts";
import { agents, checks, damaged, emptyFolder, fresh, installed, sender, shortPath, type Source, source, tool, work } from "./world.ts";

const commands = { migrate: migrating, label: labelling, navigate: navigating, branch: branching };

async function main(): Promise<boolean> {
  const versions = agents.map(agent => `${agent.name} ${agent.version}`);
  console.log([tool.version(), ...versions, `bun ${Bun.version}`].join(", "));
  const sources = await generated();
  for (const agent of agents) sources.push(...(await writtenBy(agent)));
  for (const source of sources) {
    for (const [group, test] of Object.entries(commands)) await checks.within(group, source.what, () => test(source));
  }
  for (const agent of agents) await checks.within("forks", agent.name, () => forks(agent));
  await checks.within("in use", "omp", inUse);
  await sent(sources);
  await effect();
  await mended();
  return checks.report();
}

async function generated(): Promise<Source[]> {
  const demo = fresh(path.join(import.meta.dir, "../data/demo.jsonl"));
  const sources = [source("demo.jsonl", demo, 3, 0)];
  for (const version of [1, 2, 3] as const) {
    for (let seed = 1; seed <= 6; seed++) {
      const what = `version ${version} seed ${seed}`;
      const file = path.join(emptyFolder(), `v${version}-${seed}.jsonl`);
      fs.writeFileSync(file, generate({ version, seed, family: seed % 4 < 2 ? "pi" : "omp" }));
      await checks.within("migrate", what, () => void sources.push(source(what, file, version, seed)));
    }
  }
  return sources;
}

/** Lets `agent` write sessions, checks that we read them as it does, and hands out some of them. */
async function writtenBy(agent: Agent): Promise<Source[]> {
  const group = `written by ${agent.name}`;
  const sources: Source[] = [];
  for (let seed = 1; seed <= 8; seed++) {
    await checks.within(group, `seed ${seed}`, async () => {
      const newer = agent.name === "pi" && seed % 2 === 0;
      for (const { what, session, forkedPath } of await play(agent, seed, newer)) {
        const name = `${what}, seed ${seed}`;
        // What the agent has in its memory counts, and what both make of the file.
        compare(group, `${name}, in memory`, session.file, 3, session, agent, new Random(seed));
        await agree(group, name, session.file, 3, new Random(seed));
        await goesOn(group, name, session.file);
        const codes = tool.findings(session.file).map(finding => finding.code);
        if (forkedPath && differences.forkOrphans(agent.name, forkedPath)) {
          // omp cut its own fork: that, and what follows from it, is said.
          const errors = new Set(codes.filter(code => code.startsWith("E")));
          checks.same(group, `${name}, findings`, [...errors], ["E011"]);
        } else {
          checks.same(group, `${name}, warnings`, tool.run(["tree", session.file]).stderr, "");
          checks.same(group, `${name}, findings`, codes, []);
        }
        if (seed <= 2 && !forkedPath) sources.push(source(`${agent.name}'s ${name}`, session.file, 3, seed));
      }
    });
  }
  return sources;
}

/** What pi would send of a session is what we say, to the body of a request for each API. */
async function sent(sources: Source[]) {
  const group = "sent by pi";
  const folder = path.join(import.meta.dir, "../data/sent");
  const small = fs.readdirSync(folder).filter(name => name.endsWith(".jsonl"));
  const files = [...small.map(name => [name, path.join(folder, name)]), ...sources.map(({ what, current }) => [what, current])];
  for (const [what, file] of files) {
    await checks.within(group, what, async () => {
      const ours = (...args: string[]) => plain(JSON.parse(tool.run(["context", file, ...args]).stdout.toString()));
      const { llm } = plain(await sender.messages(file));
      checks.same(group, `${what}, messages`, ours("--as", "pi", "--format", "llm"), llm);
      for (const [format, api] of Object.entries(apis)) {
        // Some requests pi itself cannot make.
        const body = await sender.request(file, api).catch(() => null);
        if (!body) continue;
        const part = ({ system, messages, input }: Json) => ({ system, messages, input });
        checks.same(group, `${what}, ${format}`, part(ours("--format", format)), part(plain(body)));
      }
    });
  }
}

/** What pi and omp do with a file for each finding of `check` is what was written down when its words were chosen. */
async function effect() {
  const group = "effects of findings";
  const table = recorded();
  checks.same(group, "files", Object.keys(table), inputs());
  for (const agent of agents) {
    const title = agent.name === "pi" ? "pi" : "omp 13";
    await checks.within(group, title, async () => {
      for await (const [input, answer] of effects(agent.name, installed, work)) {
        checks.same(group, `${input}, ${title}`, answer, table[input]?.[title]);
      }
    });
  }
}

/** Damaged files, mended: every entry that is left is there, and the context is what it was, less what is lost. */
async function mended() {
  const group = "mended files";
  const others: string[] = [];
  let count = 0;
  for (const file of mendedFiles(damaged, emptyFolder(), tool, 60)) {
    for (const agent of agents) {
      const what = `${file.name}, ${agent.name} in ${shortPath(file.mended)}`;
      await checks.within(group, what, async () => {
        const seen = await file.seenBy(agent);
        checks.same(group, `${what}, missing`, seen.missing, []);
        checks.holds(group, `${what}, bytes`, seen.isKept);
        if (!file.isBranched) checks.same(group, `${what}, context`, seen.context, "same");
        else if (seen.context !== "same") others.push(what);
        count += 1;
      });
    }
  }
  // Nothing says on which branch some lost lines were.
  checks.holds(group, `few contexts differ: ${others.join(", ")}`, count > 0 && others.length * 20 < count);
}

// The agents leave timers behind, so the end is said. (1 is what bun itself ends with when something breaks down.)
process.exit((await main()) ? 0 : 3);
