// Sessions that are the same on every run: hostile ones, and large ones.

/** Gives whole numbers below a bound, the same ones for the same seed (mulberry32). */
export function numbers(seed) {
  let state = seed >>> 0;
  return (bound) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % bound;
  };
}

/** What means something to Graphviz, to Mermaid, to Markdown, to HTML, to XML, or to a terminal. */
const PIECES = [
  '"', "\\", "\\\\", '\\"', "\\n", "\\N", "\\G", "\n", "\r\n", "\t", "\0", "\u001b[31m", "\u0085", "\u2028", "\u202e",
  "\u200d", "\ufeff", "\ufffe", "\uffff", "\ufdd0", "\ud800", "\udc00", "\u{1fffe}", "\u{e0041}", "é", "日本語", "👩‍👩‍👧‍👦", "ﬂ°°34¶ß",
  "ﬂ°quot¶ß", "ß", "#", "##", "#quot;", "#35;", "#x22;", "&", "&lt;", "&quot;", "&#34;", "&amp;amp;", "<", ">", "<b>",
  "</b>", "<br/>", "<!--", "-->", "<script>x</script>", "<img src=x onerror=y>", "<![CDATA[", "]]>", "`", "```", "%%",
  "%%{init: {}}%%", "\n%% x\n", "%", "$$x$$", "$", "*a*", "**", "_b_", "~~", "~", "1. x", "- x", "|", "||", "{", "}", "{{",
  "}}", "[", "]", "([", "])", "[[", "]]", "(", ")", ">", ";", ":", "::", ":::", "@{ shape: x }", "@", "--", "---", "-.->", "==>",
  "->", "n0 -> n1", "n0 --> n1", "\n---\ntitle: x\n---\n", "end", "graph", "digraph", "subgraph", "flowchart TD", "click n0 href",
  "style n0 fill:#f00;", "style:#x;", "classDef a fill:#f00;", "classDef:#x;", "class n0 a", "linkStyle 0", "direction LR",
  "accTitle: x", "fa:fa-car", "fas:fa-car", "javascript:alert(1)", "http://x.y/z?a=b&c", "/*", "*/", "//", "# include", "user", "default", "1.5", " ",
];

const header = (more) => ({ type: "session", version: 3, id: "s", timestamp: "2026-01-01T00:00:00.000Z", cwd: "/x", ...more });

const lines = (entries) => entries.map((entry) => JSON.stringify(entry) + "\n").join("");

/** A tree of some thirty entries; every word in it is hostile. */
export function hostile(seed) {
  const below = numbers(seed);
  const pick = (from) => from[below(from.length)];
  const text = () => Array.from({ length: 1 + below(6) }, () => pick(PIECES) + pick(["", " ", "x"])).join("");
  const entries = [header({ title: text() })];
  const ids = [];
  for (let at = 0; at < 30; at++) {
    const parentId = at === 0 || below(20) === 0 ? pick([null, text()]) : below(100) < 70 ? ids.at(-1) : pick(ids);
    const id = `${at}${below(2) ? text() : "-0198c0de-1111"}`;
    const common = { id, parentId, timestamp: "2026-01-01T00:00:00.000Z" };
    const role = pick(["user", "assistant", "assistant", "bashExecution", "custom", "alien"]);
    const message = { role, content: text(), command: text(), customType: text() };
    entries.push(pick([
      { type: "message", ...common, message },
      { type: "message", ...common, message },
      { type: "message", ...common, message },
      { type: "branch_summary", ...common, summary: text() },
      { type: "compaction", ...common, tokensBefore: 1000 },
      { type: "custom_message", ...common, customType: text(), content: text() },
      { type: text(), ...common },
      { type: "label", ...common, targetId: ids.length ? pick(ids) : "none", label: text().replace(/\p{Cc}/gu, "") || "x" },
    ]));
    ids.push(id);
  }
  return lines(entries);
}

/** A tree of so many messages; `parent` gives the place of the parent of a place. */
export function large(count, parent) {
  const entries = [header({})];
  const id = (at) => String(at).padStart(8, "0");
  for (let at = 0; at < count; at++) {
    const role = at % 2 ? "assistant" : "user";
    const message = { role, content: `what is said in place ${at}, and some more words` };
    const parentId = at ? id(parent(at)) : null;
    entries.push({ type: "message", id: id(at), parentId, timestamp: "2026-01-01T00:00:00.000Z", message });
  }
  return lines(entries);
}
