// Draws many sessions and looks at what came out. Exit 0: all passed; 3: some failed.
// usage: node graph.mjs BIN DATA WORK

import { execFile } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { JSDOM } from "jsdom";
import { nodes } from "./expect.mjs";
import { hostile, large, numbers } from "./random.mjs";

const [bin, data, work] = process.argv.slice(2);
const run = promisify(execFile);

// Mermaid needs a document, but nothing that is laid out.
const page = new JSDOM("<!doctype html>").window;
globalThis.window = page;
globalThis.document = page.document;
const { default: mermaid } = await import("mermaid");
mermaid.initialize({ startOnLoad: false, maxEdges: 1e6, maxTextSize: 1e9 });

const groups = new Map();
let files = 0;

async function check(group, what, body) {
  const counts = groups.get(group) ?? { passed: 0, failed: 0 };
  groups.set(group, counts);
  try {
    await body();
    counts.passed++;
  } catch (error) {
    counts.failed++;
    console.log(`failed: ${group}: ${what}: ${String(error.stderr || error.message || error).slice(0, 600)}`);
  }
}

function equal(found, expected, what) {
  const [left, right] = [found, expected].map((value) => JSON.stringify(value));
  if (left !== right) throw new Error(`${what}\n  found    ${left}\n  expected ${right}`);
}

async function tool(file, ...options) {
  const { stdout } = await run(bin, ["tree", file, "-q", ...options], { maxBuffer: 1 << 28 });
  return stdout;
}

const rows = async (file, ...options) =>
  (await tool(file, "--format", "jsonl", ...options)).split("\n").filter(Boolean).map((line) => JSON.parse(line));

/** Gives the texts and arrows that Graphviz has drawn. */
async function drawnByGraphviz(dot) {
  const file = join(work, `${++files}.dot`);
  writeFileSync(file, dot);
  const { stdout, stderr } = await run("dot", ["-Tsvg", file], { maxBuffer: 1 << 28 });
  // Where there are no fonts, Graphviz says so and goes on.
  equal(stderr.split("\n").filter((line) => line && !/font/i.test(line)), [], "Graphviz warns");
  const svg = new JSDOM(stdout, { contentType: "image/svg+xml" }).window.document;
  const groups = (kind) => [...svg.querySelectorAll(`g.${kind}`)];
  const title = (group) => group.querySelector("title").textContent;
  const texts = new Map(groups("node").map((group) => {
    const lines = [...group.querySelectorAll("text")].map((line) => line.textContent);
    return [title(group), lines];
  }));
  return { texts, arrows: groups("edge").map((group) => title(group).split("->")) };
}

/** Gives the texts and arrows that Mermaid has read. */
async function readByMermaid(text) {
  const { diagramType } = await mermaid.parse(text);
  equal(diagramType, "flowchart-v2", "Mermaid takes it for another kind of picture");
  const { db } = await mermaid.mermaidAPI.getDiagramFromText(text);
  const texts = new Map([...db.getVertices().values()].map((vertex) => {
    // As it puts them into the page.
    const html = vertex.text.replace(/ﬂ°°/g, "&#").replace(/ﬂ°/g, "&").replace(/¶ß/g, ";");
    const place = page.document.createElement("div");
    place.innerHTML = html;
    const inside = [...place.querySelectorAll("*")].map((element) => element.tagName).filter((tag) => tag !== "BR");
    equal(inside, [], `elements in ${html}`);
    equal(vertex.labelType, "string", `Markdown in ${html}`);
    return [vertex.id, place.innerHTML.split("<br>").map((line) => {
      place.innerHTML = line;
      return place.textContent;
    })];
  }));
  return { texts, arrows: db.getEdges().map((edge) => [edge.start, edge.end]) };
}

const clean = (lines) => lines.map((line) => line.replaceAll("\u00a0", " ").replace(/ +/g, " ").trim());

function compare(drawn, expected) {
  equal([...drawn.texts.keys()].sort(), expected.map((_, at) => `n${at}`).sort(), "nodes");
  const arrows = expected.flatMap(({ above }, at) => (above === undefined ? [] : [[`n${above}`, `n${at}`]]));
  equal(drawn.arrows.map(String).sort(), arrows.map(String).sort(), "arrows");
  for (const [at, { rows }] of expected.entries()) {
    const lines = drawn.texts.get(`n${at}`);
    if (rows.length > 1) equal(lines[0], `${rows.length} entries`, `n${at}`);
    else equal(lines.length, 2, `lines of n${at}`);
  }
}

/** Draws a session in a view both ways and checks that both say the same. */
async function both(group, file, name, view) {
  const options = view.split(" ").filter(Boolean);
  const filter = options.filter((option) => option !== "--branches");
  const expected = nodes(await rows(file, "--filter", "all"), await rows(file, ...filter), filter.length < options.length);
  let graphviz;
  await check(`${group}, dot`, `${name} ${view}`, async () => {
    graphviz = await drawnByGraphviz(await tool(file, "--format", "dot", ...options));
    compare(graphviz, expected);
  });
  await check(`${group}, mermaid`, `${name} ${view}`, async () => {
    const read = await readByMermaid(await tool(file, "--format", "mermaid", ...options));
    compare(read, expected);
    for (const [node, lines] of graphviz.texts) equal(clean(read.texts.get(node)), clean(lines), `text of ${node}`);
  });
}

/** Checks a picture that is too large to be laid out in a test, and a smaller one with Mermaid, whose time is quadratic. */
async function huge(name, parent) {
  const session = async (count) => {
    const file = made(`${name}${count}`, large(count, parent()));
    return { file, expected: nodes(await rows(file, "--filter", "all"), await rows(file), false) };
  };
  await check("huge, dot", name, async () => {
    const { file, expected } = await session(5000);
    const picture = join(work, `${name}.dot`);
    writeFileSync(picture, await tool(file, "--format", "dot"));
    const { stdout } = await run("gc", ["-n", "-e", picture]);
    const [found, arrows] = stdout.trim().split(/\s+/).map(Number);
    equal([found, arrows], [expected.length, expected.filter(({ above }) => above !== undefined).length], "counts");
  });
  await check("huge, mermaid", name, async () => {
    const { file, expected } = await session(800);
    compare(await readByMermaid(await tool(file, "--format", "mermaid")), expected);
  });
}

function stored(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.name.endsWith(".jsonl")).map((entry) => join(entry.parentPath ?? entry.path, entry.name)).sort();
}

function made(name, text) {
  const file = join(work, `${name}.jsonl`);
  writeFileSync(file, text);
  return file;
}

const jobs = [];
for (const file of stored(data)) {
  const name = file.slice(data.length + 1).replaceAll("/", "-");
  // What is no session has no picture.
  if (!(await tool(file).then(() => true, () => false))) continue;
  jobs.push(() => both("stored", file, name, jobs.length % 3 ? "--filter all" : "--branches"));
}
for (let seed = 1; seed <= 30; seed++) {
  const file = made(`hostile${seed}`, hostile(seed));
  const view = ["--filter all", "", "--branches --filter all"][seed % 3];
  jobs.push(() => both("hostile", file, `hostile${seed}`, view));
}
const branching = (percent, seed, below = numbers(seed)) => (at) => (below(100) < percent ? below(at) : at - 1);
const large5000 = { chain: (at) => at - 1, rare: branching(1, 1), some: branching(3, 2) };
for (const [name, parent] of Object.entries(large5000)) {
  const file = made(name, large(5000, parent));
  jobs.push(() => both("large", file, name, ""));
}
const huge5000 = {
  star: () => () => 0,
  comb: () => (at) => (at % 2 ? at - 1 : Math.max(0, at - 2)),
  bush: () => branching(60, 3),
};
for (const [name, parent] of Object.entries(huge5000)) jobs.push(() => huge(name, parent));

const total = jobs.length;
const worker = async () => {
  for (let job = jobs.pop(); job; job = jobs.pop()) await job();
};
await Promise.all([worker(), worker(), worker(), worker()]);

const sums = { passed: 0, failed: 0 };
for (const [group, { passed, failed }] of [...groups].sort()) {
  console.log(`${group}: ${passed} passed, ${failed} failed`);
  sums.passed += passed;
  sums.failed += failed;
}
if (sums.passed + sums.failed !== 2 * total) throw new Error("not all checks were made");
console.log(`${sums.passed} passed, ${sums.failed} failed`);
process.exit(sums.failed ? 3 : 0);
