//! What fills the entries: source code, prose, output of programs and base64, made once and then cut
//! into runs, so that generating costs little more than copying.

use std::fmt::Write;

use super::random::Random;

pub struct Pool {
    pub code: Lines,
    pub prose: Lines,
    pub shell: Lines,
    pub base64: Base64,
    /// Files that tools work on.
    pub paths: Vec<String>,
}

/// Many lines, JSON-escaped, each with its `\n`.
pub struct Lines {
    escaped: String,
    /// Where each line starts, and last where the text ends.
    starts: Vec<usize>,
}

pub struct Base64(String);

/// In all templates `@w` is a word, `@W` the same with a capital, `@n` a number.
const CODE: &[&str] = &[
    "import { @W, type @W@W } from \"./@w-@w.js\";",
    "export async function @w@W(@w: @W, @w: string): Promise<@W | undefined> {",
    "const @w = await this.@w.@w(@w, { recursive: true, limit: @n });",
    "if (@w.@w === \"@w\" && !@w.has(@w)) {",
    "return @w.map((@w) => `${@w.@w}: ${@w.length}`).join(\"\\n\");",
    "throw new Error(`no @w for \"${@w}\" in ${this.@w}`);",
    "// Keeps the @w until the @w is flushed, see docs/@w.md.",
    "// naïve: the @w is small — measured, ≈ @n µs",
    "this.@w.set(@w.id, @w);",
    "}",
    "}",
    "} else {",
    "",
    "",
    "let Some(@w) = self.@w.get(&@w) else { return Err(Error::@W(@n)) };",
    "assert_eq!(@w.@w(), \"@w\\t@n\\n\", \"@w\");",
    "pub fn @w_@w(&self, @w: &str) -> Option<&@W> {",
    "for (index, @w) in self.@w.iter().enumerate() {",
    "@W::@W { @w, .. } => @w.push_str(\"@w 日本語 @w\"),",
    "def @w_@w(self, @w: str = \"@w\", *, @w: int = @n) -> dict[str, @W]:",
    "self.@w = {\"@w\": [@n, @n], \"@w\": r\"\\d+\\.@w\"}",
    "\"@w-@w\": \"^@n.@n.@n\",",
    "@w.@w = @w;",
    "@w += @n;",
];

const PROSE: &[&str] = &[
    "The @w is read before the @w is ready, so it keeps a stale @w.",
    "I'll look at `@w.ts` first, then at how the @w uses it.",
    "Now the tests: @n pass, @n fail, all of them in `@w_@w`.",
    "- **@W**: holds the @w and its @w; nothing else may write to it",
    "- `@w.@w()` is called @n times a @w, which is what makes it slow",
    "## @W and @w",
    "",
    "Could you also check that the @w does not break \"@w\" when the @w is empty?",
    "That fails because `@w` is \"@w\", not null. Let me change the @w → @w mapping.",
    "1. Move the @w out of the @w",
    "2. Add a test for a @w of @n bytes",
    "Das Größte zuerst: the @w — about @n kB. 日本語 names work too ✓",
    "please fix the @w, it still shows the old @w after a @w",
    "Done. The @w now goes through the @w, and the @w is gone 🎉",
];

const SHELL: &[&str] = &[
    "test @w::@w_@w ... ok",
    "test @w::@w_@w ... FAILED",
    "   Compiling @w-@w v0.@n.@n (/home/dev/workspaces/orchard/@w)",
    "-rw-r--r--  1 dev  dev  @n Jan  5 09:@n @w.ts",
    "src/@w/@w.ts:@n:@n - error TS@n: Property '@w' does not exist on type \"@W\".",
    "\u{1b}[32m✓\u{1b}[39m @w @w keeps the @w (@n ms)",
    "src/@w/@w.ts:@n:\tconst @w = this.@w.@w(\"@w\");",
    "+\tthis.@w.set(@w.id, @w);",
    "-\treturn @w.@w;",
    "[@n/@n] @w: @n kB → @n kB",
    "",
];

const WORDS: &[&str] = &[
    "session", "entry", "parser", "token", "leaf", "branch", "tree", "cache", "index", "buffer", "error", "stack",
    "queue", "reader", "writer", "label", "path", "model", "message", "render", "theme", "editor", "prompt", "result",
    "handler", "event", "state", "config", "option", "value", "node", "child", "parent", "offset", "length", "record",
    "stream", "worker", "schema", "client", "server", "request", "response", "row", "column", "width", "cursor", "key",
];

impl Pool {
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(seed, 2);
        Self {
            code: Lines::new(&mut random, CODE, 512 << 10, 6),
            prose: Lines::new(&mut random, PROSE, 128 << 10, 0),
            shell: Lines::new(&mut random, SHELL, 128 << 10, 0),
            base64: Base64::new(&mut random, 512 << 10),
            paths: (0..256).map(|_| fill(&mut random, "src/@w/@w-@w.ts")).collect(),
        }
    }
}

impl Lines {
    /// Makes at least `size` bytes of lines, indented by up to `deepest` tabs.
    fn new(random: &mut Random, templates: &[&str], size: usize, deepest: usize) -> Self {
        let mut lines = Self { escaped: String::with_capacity(size + 1024), starts: vec![0] };
        let mut indent = 0;
        while lines.escaped.len() < size {
            let template = random.pick(templates);
            if !template.is_empty() {
                // Goes in or out by one tab at most, as code does.
                indent = (indent + random.below(3)).saturating_sub(1).min(deepest);
                (0..indent).for_each(|_| lines.escaped.push_str("\\t"));
            }
            let line = fill(random, template);
            escape(&line, &mut lines.escaped);
            lines.escaped.push_str("\\n");
            lines.starts.push(lines.escaped.len());
        }
        lines
    }

    /// Returns a run of whole lines without the last `\n`. It is as long as wished but for a part of a
    /// line, or shorter: the pool ends.
    pub fn run(&self, random: &mut Random, length: usize) -> &str {
        let count = self.starts.len() - 1;
        let first = random.below(count);
        let start = self.starts[first];
        let behind = self.starts.partition_point(|&at| at < start + length).clamp(first + 1, count);
        &self.escaped[start..self.starts[behind] - "\\n".len()]
    }
}

impl Base64 {
    fn new(random: &mut Random, size: usize) -> Self {
        const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        Self((0..size).map(|_| char::from(DIGITS[random.below(64)])).collect())
    }

    /// Returns up to `length` digits, a multiple of four.
    pub fn run(&self, random: &mut Random, length: usize) -> &str {
        // Runs of different lengths start at different places: the same picture does not come twice.
        let start = random.below(self.0.len() / 8) * 4;
        let end = (start + length.next_multiple_of(4)).min(self.0.len());
        &self.0[start..end]
    }
}

/// Puts words and numbers into a template.
fn fill(random: &mut Random, template: &str) -> String {
    let mut pieces = template.split('@');
    let mut line = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let word = random.pick(WORDS);
        match piece.as_bytes().first() {
            Some(b'w') => line.push_str(word),
            Some(b'W') => {
                line.push_str(&word[..1].to_uppercase());
                line.push_str(&word[1..]);
            }
            Some(b'n') => {
                let number = random.length(1, 12);
                write!(line, "{number}").expect("writing into a string cannot fail");
            }
            _ => unreachable!("templates hold `@w`, `@W` and `@n`"),
        }
        line.push_str(&piece[1..]);
    }
    line
}

/// Escapes as `JSON.stringify` does.
fn escape(text: &str, out: &mut String) {
    for char in text.chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\t' => out.push_str("\\t"),
            '\u{1b}' => out.push_str("\\u001b"),
            _ => out.push(char),
        }
    }
}
