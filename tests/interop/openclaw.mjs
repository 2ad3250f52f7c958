// Makes tests/data/openclaw.jsonl: random sessions as openclaw writes them, and what its own modules make
// of each. Not run with the other tests, since the package is 200 MB unpacked for two modules.
//
// usage: cd FOLDER && npm pack openclaw@2026.9.6 && tar xzf openclaw-*.tgz
//        node tests/interop/openclaw.mjs FOLDER/package > tests/data/openclaw.jsonl
//
// A line holds `lines`, the session; `leaf`; `parents`, by entry; and `messages`, the role and words of
// the context at the leaf.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";

const FILES = 80;
const dist = path.join(path.resolve(process.argv[2]), "dist");

// What providers keep of compactions is of another package, and none of these sessions has any.
const missing = path.join(dist, "../node_modules/@openclaw/ai");
if (!fs.existsSync(missing)) {
  fs.mkdirSync(missing, { recursive: true });
  const manifest = { name: "@openclaw/ai", type: "module", exports: { "./transports": "./transports.mjs" } };
  fs.writeFileSync(path.join(missing, "package.json"), JSON.stringify(manifest));
  const names = ["stripCompactionReplayCheckpoint", "stripCompactionReplayCheckpointInPlace"];
  fs.writeFileSync(path.join(missing, "transports.mjs"), names.map(name => `export const ${name} = x => x;`).join("\n"));
}

/** Returns a function by its own name, from the module that defines it: exported names are cut short. */
async function named(name) {
  for (const file of fs.readdirSync(dist).filter(file => file.endsWith(".mjs"))) {
    const text = fs.readFileSync(path.join(dist, file), "utf8");
    if (!text.includes(`function ${name}(`)) continue;
    const found = Object.values(await import(pathToFileURL(path.join(dist, file)))).find(value => value?.name === name);
    if (found) return found;
  }
  throw new Error(`openclaw has no ${name}`);
}

const scan = await named("scanSessionTranscriptTree");
const pathTo = await named("selectSessionTranscriptTreePathNodes");
const context = await named("buildSessionContext");

/** Returns numbers below a bound, the same for each seed (mulberry32). */
function random(seed) {
  return bound => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}

function session(seed) {
  const below = random(seed);
  const pick = list => list[below(list.length)];
  const lines = [];
  const ids = [];
  const count = 6 + below(14);
  for (let at = 0; at < count; at++) {
    const last = ids.at(-1) ?? null;
    const any = () => (below(12) ? pick([...ids, ...ids.slice(-3), last]) : pick([null, "gone"])) ?? null;
    const line = { id: `e${at}`, parentId: below(5) ? last : any(), timestamp: `2026-01-05T10:${10 + at}:00.000Z` };
    const user = { role: "user", content: `words ${at}`, timestamp: at };
    const kind = below(at ? 24 : 1);
    if (kind < 8) Object.assign(line, { type: "message", message: user });
    else if (kind < 11) Object.assign(line, { type: "message", message: user, appendMode: "side" });
    else if (kind < 14) Object.assign(line, { type: "leaf", targetId: any() });
    else if (kind < 17) Object.assign(line, { type: "leaf", targetId: any(), appendParentId: any() });
    else if (kind < 18) Object.assign(line, { type: "reset" }, below(2) ? { firstKeptEntryId: pick(ids) } : {});
    else if (kind < 19) Object.assign(line, { type: "compaction", summary: `summary ${at}`, firstKeptEntryId: pick(ids), tokensBefore: 9 });
    else if (kind < 20) Object.assign(line, { type: "branch_summary", summary: `left ${at}`, fromId: last });
    else if (kind < 21) Object.assign(line, { type: "custom_message", customType: "note", content: `note ${at}`, display: true });
    else if (kind < 22) Object.assign(line, { type: "label", targetId: pick(ids), label: "here" });
    else if (kind < 23) Object.assign(line, { type: "other" });
    else Object.assign(line, { type: "session_info", name: "name" });
    lines.push(line);
    ids.push(line.id);
  }
  // Before the first line that only openclaw writes, other rules hold; so it is there soon.
  if (below(2)) lines.splice(1, 0, { type: "leaf", id: "x", parentId: "e0", timestamp: "2026-01-05T10:10:30.000Z", targetId: "e0" });
  return lines;
}

const start = lines => lines.findIndex(line => line.type === "leaf" || line.type === "reset" || line.appendMode);
/** Returns whether the lines before the first of openclaw's own hang as every agent would hang them. */
const isPlain = lines => lines.slice(0, start(lines)).every((line, at) => line.type !== "other" && (line.parentId ?? undefined) === lines[at - 1]?.id);

let made = 0;
for (let seed = 1; made < FILES; seed++) {
  const lines = session(seed);
  if (start(lines) < 0 || !isPlain(lines)) continue;
  made++;
  const tree = scan([{ type: "session", version: 3, id: "s", timestamp: "2026-01-05T10:00:00.000Z", cwd: "/x" }, ...lines]);
  const marks = new Set(lines.filter(line => line.type === "leaf").map(line => line.id));
  const entries = tree.nodes.filter(node => !marks.has(node.id));
  const parents = Object.fromEntries(entries.map(node => [node.id, pathTo(tree, node.id).at(-2)?.id ?? null]));
  const toLeaf = pathTo(tree, tree.leafId);
  const { messages } = context(toLeaf.map(node => node.entry));
  const says = messages.map(message => [message.role, message.summary ?? message.content]);
  console.log(JSON.stringify({ lines, leaf: toLeaf.at(-1)?.id ?? null, parents, messages: says }));
}
process.exit(0);
