// Everything in which the agents differ from us, or from each other, and may. Each has its reason;
// whatever is not named here must be equal.
import type { Entry, Json, Name, View } from "./agents.ts";

/** They leave a member out where our JSON says null, and the other way round. */
export function plain(value: Json): Json {
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object") return value;
  const members = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  return Object.fromEntries(members.map(([key, member]) => [key, plain(member)]));
}

/** What `agent` and we both say of a context; `ours` and `theirs` come out equal if we agree. */
export function contexts(agent: Name, entries: Entry[], ours: Json, theirs: Json): { ours: Json; theirs: Json } {
  // pi shows a stored null where omp and we say `off`.
  const result = {
    ours: { messages: ours.messages, thinkingLevel: ours.thinkingLevel ?? "off" } as Json,
    theirs: { messages: theirs.messages, thinkingLevel: theirs.thinkingLevel ?? "off" } as Json,
  };
  if (agent === "pi") {
    // pi has neither of the two, and takes no notice of those of omp.
    result.ours.messages = ours.messages.map((message: Json) =>
      message.role === "custom"
        ? without(message, "attribution")
        : message.role === "compactionSummary"
          ? without(message, "shortSummary")
          : message,
    );
    result.theirs.messages = theirs.messages.map((message: Json) =>
      message.role === "custom" ? without(message, "attribution") : message,
    );
  } else {
    // Only omp knows of these.
    for (const key of ["mode", "modeData", "serviceTier", "injectedTtsrRules"]) {
      result.ours[key] = ours[key];
      result.theirs[key] = theirs[key];
    }
    result.ours.tools = ours.selectedMCPToolNames ?? [];
    result.theirs.tools = theirs.selectedMCPToolNames;
  }
  // Each agent writes model changes in a form of its own and does not read the other's; we read both.
  if (entries.every(entry => entry.type !== "model_change" || (agent === "omp" ? "model" : "modelId") in entry)) {
    const { model } = theirs;
    result.ours.model = agent === "omp" ? ours.models : ours.models.default;
    result.theirs.model = agent === "omp" ? theirs.models : model && `${model.provider}/${model.modelId}`;
  }
  // pi drops messages of roles that only omp has; we pass them on.
  if (agent === "omp" || !entries.some(entry => onlyOmp.has(entry.message?.role))) {
    result.ours.llm = ours.llm.map((message: Json) => forModel(agent, message));
    result.theirs.llm = theirs.llm.map((message: Json) => forModel(agent, message));
  }
  return { ours: plain(result.ours), theirs: plain(result.theirs) };
}

const onlyOmp = new Set(["developer", "pythonExecution", "fileMention"]);

/** Entry types and roles of pi ≥ 1 that omp 13 does not know: there it sees another context than pi and we. */
export function understands(agent: Name, entries: Entry[]): boolean {
  return agent === "pi" || !entries.some(entry => entry.type === "context_edit" || entry.message?.role === "system");
}

/** A message for the model without what is everybody's own in it. */
function forModel(agent: Name, message: Json): Json {
  // omp says here who a message comes from.
  const result = without(message, "attribution");
  const text = message.content?.[0]?.text;
  if (message.role !== "user" || typeof text !== "string") return result;
  const summary = /<summary>([^]*)<\/summary>/.exec(text)?.[1];
  if (summary !== undefined) {
    // The sentence before a summary differs; omp also takes blank lines out of the summary and tightens its tables.
    return {
      ...result,
      content: agent === "omp" ? summary.replace(/\s+/g, "").replace(/-{2,}/g, "--") : summary.trim(),
    };
  }
  // Where the whole output of a command is, pi and we say; omp 13 looks for it in a member of its own.
  const shortened = agent === "omp" && text.startsWith("Ran `") && text.replace(/\n\n\[Output truncated\. .*\]$/, "");
  return shortened ? { ...result, content: [{ type: "text", text: shortened }] } : result;
}

/** Ids that an entry of version 1 gets are random in the agents: the place in the file stands for them. */
export function byPosition(view: View): View {
  const place = placesOf(view.ids);
  const nodes = Object.values(view.nodes).map(node => ({
    ...node,
    id: place(node.id),
    parentId: node.parentId && place(node.parentId),
    children: node.children.map(place),
  }));
  return {
    ids: view.ids.map(place),
    leaf: view.leaf && place(view.leaf),
    labels: Object.fromEntries(Object.entries(view.labels).map(([id, label]) => [place(id), label])),
    roots: view.roots.map(place),
    nodes: Object.fromEntries(nodes.map(node => [node.id, node])),
  };
}

/** The same for entries. Labels that a fork writes anew have random ids, too. */
export function entriesByPosition(entries: Entry[]): Json[] {
  const place = placesOf(entries.map(entry => entry.id));
  return entries.map(entry => {
    const result: Json = { ...entry };
    for (const key of ["id", "parentId", "targetId", "firstKeptEntryId"]) {
      if (typeof entry[key] === "string") result[key] = place(entry[key]);
    }
    return plain(result);
  });
}

function placesOf(ids: string[]): (id: string) => string {
  const places = new Map(ids.map((id, place) => [id, `#${place}`]));
  return id => places.get(id) ?? id;
}

/** An entry that two programs wrote on their own: id and time are theirs. */
export function written(agent: Name, entry: Entry): Json {
  const result: Json = plain(without(entry, "id", "timestamp"));
  // pi ≥ 0.84 names the leaf that was left, omp and we name the entry that the summary hangs at.
  if (agent === "pi" && entry.type === "branch_summary") delete result.fromId;
  return result;
}

/** The header of a fork: id and time are new each time, and the agents had a copy of the source. */
export function forkHeader(header: Json): Json {
  return plain(without(header, "id", "timestamp", "parentSession"));
}

/**
 * omp 13 leaves out the labels on the path but not the mention of them: their children lose their parent. So our
 * forks are compared with pi's, and here we warn.
 */
export function forkOrphans(agent: Name, path: Entry[]): boolean {
  return agent === "omp" && path.some((entry, index) => entry.type !== "label" && path[index - 1]?.type === "label");
}

function without(value: Json, ...keys: string[]): Json {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)));
}
