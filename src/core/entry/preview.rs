//! Words an entry for a row (help rules, "Rows"): one short line of text. Must not be printed as it is:
//! `ui` escapes it for terminals and fits it into the row.

use unicode_segmentation::GraphemeCursor;

use crate::core::entry::elsewhere::{TextElsewhere, tool_name};
use crate::core::entry::{BlockKind, Entry, Kind, Role, StopReason, prompt};
use crate::core::json::text::{self, WordWriter};
use crate::core::json::{self, Raw};

/// The most characters of an entry's text.
pub const LIMIT: usize = 200;
/// How many characters after the limit are read, to see whether a character of several code points goes
/// on there.
const CLUSTER: usize = 16;
/// The most characters of an error message that is shown in place of an answer.
const ERROR: usize = 80;
/// The most characters of a shell command in a tool call.
const COMMAND: usize = 50;
/// The most characters of another tool's arguments.
const ARGUMENTS: usize = 40;
/// What stands for the name of a call that has none.
pub(crate) const NAMELESS: &str = "(no name)";

/// Writes the text of an entry. Of a tool result it is the name of its tool: its call is in another
/// entry, see [`call`].
pub fn write(out: &mut String, entry: Entry<'_>) {
    let start = out.len();
    write_parts(out, entry);
    // Each part keeps the limit, but not all of them together.
    cut_at_limit(out, start);
}

fn write_parts(out: &mut String, entry: Entry<'_>) {
    match entry.kind() {
        Kind::Message => message(out, entry),
        Kind::CustomMessage if let Some(typed) = prompt::typed(entry) => {
            let start = out.len();
            WordWriter::new(out, LIMIT + CLUSTER).push_str(&typed);
            cut_at_limit(out, start);
        }
        Kind::CustomMessage => labelled(out, entry.get("customType"), "custom", |out| content(out, entry)),
        Kind::BranchSummary => tagged(out, "[branch summary]: ", entry.get("summary")),
        Kind::Compaction => {
            let tokens = entry.get("tokensBefore").and_then(Raw::number).unwrap_or(0.0);
            bracket(out, "compaction: ", &format!("{}k tokens", (tokens / 1000.0).round()));
        }
        Kind::ModelChange => bracket(out, "model: ", model_name(entry).as_deref().unwrap_or("unknown")),
        Kind::ThinkingLevelChange => {
            let level = entry.get_str("thinkingLevel");
            bracket(out, "thinking: ", level.as_deref().unwrap_or("off"));
        }
        Kind::Label => {
            let label = entry.get_str("label").filter(|label| !label.is_empty());
            bracket(out, "label: ", label.as_deref().unwrap_or("(cleared)"));
        }
        Kind::Leaf => bracket(out, "leaf: ", entry.get_str("targetId").as_deref().unwrap_or("none")),
        Kind::ModeChange => bracket(out, "mode: ", entry.get_str("mode").as_deref().unwrap_or("none")),
        Kind::SessionInit => {
            out.push_str("[session_init");
            out.push_str(if entry.traits().has_text { "]: " } else { "]" });
            task(out, entry);
        }
        Kind::Custom => bracket(out, "custom: ", entry.get_str("customType").as_deref().unwrap_or("")),
        Kind::Untyped => out.push_str("[unknown type]"),
        _ => bracket(out, "", entry.type_name().as_deref().unwrap_or("")),
    }
}

/// Writes what a session was started for, of a `session_init`.
pub(crate) fn task(out: &mut String, entry: Entry<'_>) {
    WordWriter::new(out, LIMIT).push_json(entry.get("task").and_then(Raw::string_body).unwrap_or_default());
}

/// Writes a tool call, as the row of its result shows it.
pub fn call(out: &mut String, name: &str, arguments: Option<Raw<'_>>) {
    let name = if name.trim().is_empty() { NAMELESS } else { name };
    let start = out.len();
    let known = CallArguments::read(arguments);
    let path = known.path.or(known.file_path).unwrap_or_default();
    let here = known.path.unwrap_or(b".");
    let pattern = known.pattern.unwrap_or_default();
    out.push('[');
    if matches!(name, "read" | "write" | "edit" | "bash" | "grep" | "find" | "ls") {
        out.push_str(name);
        out.push_str(": ");
    }
    let mut words = WordWriter::new(out, LIMIT);
    match name {
        "read" => {
            words.push_json(path);
            words.push_str(&known.range());
        }
        "edit" if path.is_empty() => words.push_str(&patched_path(known.input.unwrap_or_default())),
        "write" | "edit" => words.push_json(path),
        "bash" => words.push_str(&cut(COMMAND, |command| command.push_json(known.command.unwrap_or_default()))),
        "grep" => {
            words.push_str("/");
            words.push_json(pattern);
            words.push_str("/ in ");
            words.push_json(here);
        }
        "find" => {
            words.push_json(pattern);
            words.push_str(" in ");
            words.push_json(here);
        }
        "ls" => words.push_json(here),
        _ => {
            words.push_str(name);
            words.push_str(": ");
            if !known.write_main(&mut words) {
                let arguments = arguments.map(compact).unwrap_or_default();
                words.push_str(&cut(ARGUMENTS, |words| words.push_str(&arguments)));
            }
        }
    }
    out.push(']');
    cut_at_limit(out, start);
}

/// Returns the path that the head of a patch names: `[path#tag]` or `*** Update File: path` on its first line,
/// after one that opens it.
fn patched_path(input: &[u8]) -> String {
    let input = text::decode(input);
    let mut lines = input.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("*** Begin"));
    let head = lines.next().unwrap_or_default();
    let named = ["Add", "Update", "Delete"]
        .iter()
        .find_map(|what| head.strip_prefix("*** ").and_then(|head| head.strip_prefix(what))?.strip_prefix(" File: "));
    if let Some(path) = named {
        return path.to_owned();
    }
    let path = head.strip_prefix('[').and_then(|head| head.strip_suffix(']')).unwrap_or(head);
    path.rsplit_once('#').map_or(path, |(path, _)| path).to_owned()
}

/// The arguments of a tool call that rows show. They are found in one pass, since the others may hold
/// the content of a whole file. Strings are undecoded.
#[derive(Default)]
struct CallArguments<'a> {
    path: Option<&'a [u8]>,
    file_path: Option<&'a [u8]>,
    command: Option<&'a [u8]>,
    pattern: Option<&'a [u8]>,
    paths: Option<Raw<'a>>,
    query: Option<&'a [u8]>,
    url: Option<&'a [u8]>,
    task: Option<&'a [u8]>,
    tasks: Option<Raw<'a>>,
    input: Option<&'a [u8]>,
    offset: Option<f64>,
    limit: Option<f64>,
}

impl<'a> CallArguments<'a> {
    fn read(arguments: Option<Raw<'a>>) -> Self {
        let mut known = Self::default();
        for (key, value) in arguments.iter().flat_map(|arguments| arguments.members()) {
            match key.name() {
                b"path" => known.path = value.string_body(),
                b"file_path" => known.file_path = value.string_body(),
                b"command" => known.command = value.string_body(),
                b"pattern" => known.pattern = value.string_body(),
                b"paths" => known.paths = Some(value),
                b"query" => known.query = value.string_body(),
                b"url" => known.url = value.string_body(),
                b"task" => known.task = value.string_body(),
                b"tasks" => known.tasks = Some(value),
                b"input" => known.input = value.string_body(),
                b"offset" => known.offset = value.number(),
                b"limit" => known.limit = value.number(),
                _ => {}
            }
        }
        known
    }

    /// Writes what a tool that is not known is about: a command, a pattern and where it is looked for, paths,
    /// a query, an address or a task. Returns whether there is one of them.
    fn write_main(&self, words: &mut WordWriter<'_>) -> bool {
        if let Some(command) = self.command {
            words.push_str(&cut(COMMAND, |words| words.push_json(command)));
            return true;
        }
        if let Some(pattern) = self.pattern {
            words.push_json(pattern);
        }
        let listed = || self.paths.into_iter().flat_map(|paths| paths.elements().filter_map(Raw::string_body));
        let named = self.path.or(self.file_path).or(self.paths.and_then(Raw::string_body));
        for (at, path) in named.into_iter().chain(listed()).enumerate() {
            words.push_str(if at > 0 {
                ", "
            } else if self.pattern.is_some() {
                " in "
            } else {
                ""
            });
            words.push_json(path);
            if words.is_full() {
                break;
            }
        }
        if self.pattern.is_some() || named.is_some() || listed().next().is_some() {
            return true;
        }
        let several = || self.tasks.into_iter().flat_map(|tasks| tasks.elements());
        let first = || several().find_map(|task| task.get("task")?.string_body());
        let other = self.query.or(self.url).or(self.task).or_else(first);
        other.inspect(|other| words.push_str(&cut(LIMIT, |words| words.push_json(other)))).is_some()
    }

    /// Returns the range of lines of a `read` call, as `:first-last`; empty for the whole file.
    fn range(&self) -> String {
        match (self.offset, self.limit) {
            (None, None) => String::new(),
            (Some(first), None) => format!(":{first}"),
            (first, Some(limit)) => {
                let first = first.unwrap_or(1.0);
                format!(":{first}-{}", first + limit - 1.0)
            }
        }
    }
}

fn message(out: &mut String, entry: Entry<'_>) {
    let inner = |name: &str| entry.message().and_then(|message| message.get(name));
    match entry.role() {
        Role::System if !entry.traits().has_text && instructions(out, entry) => {}
        Role::User | Role::Developer | Role::System => content(out, entry),
        Role::Assistant => assistant(out, entry),
        Role::ToolResult => {
            let name = entry.tool_name().filter(|name| !name.trim().is_empty());
            bracket(out, "", name.as_deref().unwrap_or("tool"));
        }
        Role::BashExecution => tagged(out, "[bash]: ", inner("command")),
        Role::PythonExecution => tagged(out, "[python]: ", inner("code")),
        Role::Custom | Role::HookMessage => {
            labelled(out, inner("customType"), "custom", |out| content(out, entry));
        }
        Role::FileMention => {
            let files = inner("files");
            let paths: Vec<_> =
                files.iter().flat_map(|files| files.elements()).filter_map(|file| file.get_str("path")).collect();
            bracket(out, "files: ", &paths.join(", "));
        }
        Role::BranchSummary => tagged(out, "[branch summary]: ", inner("summary")),
        Role::CompactionSummary => tagged(out, "[compaction summary]: ", inner("summary")),
        Role::Unknown => {
            let role = entry.role_name().unwrap_or_default();
            bracket(out, "malformed message: role ", &role);
        }
        Role::None => out.push_str("[malformed message]"),
    }
}

/// Writes the sections of a system message, or the tools that it names, and returns whether it has any.
fn instructions(out: &mut String, entry: Entry<'_>) -> bool {
    let (mut words, mut added, mut removed) = (WordWriter::new(out, LIMIT), Vec::new(), Vec::new());
    for text in TextElsewhere::of(entry) {
        match text {
            TextElsewhere::Section { text, .. } => {
                words.push_str(if words.is_empty() { "" } else { " " });
                words.push_json(text.string_body().unwrap_or_default());
            }
            TextElsewhere::ToolAdded(tool) => added.push(tool_name(tool)),
            TextElsewhere::ToolRemoved(tool) => removed.push(tool_name(tool)),
            _ => {}
        }
    }
    if !words.is_empty() {
        return true;
    }
    if !added.is_empty() {
        bracket(out, "tools: ", &added.join(", "));
    }
    if !removed.is_empty() {
        out.push_str(if added.is_empty() { "" } else { " " });
        bracket(out, "tools removed: ", &removed.join(", "));
    }
    !added.is_empty() || !removed.is_empty()
}

fn assistant(out: &mut String, entry: Entry<'_>) {
    if words(out, entry) {
        return;
    }
    let error = entry.message().and_then(|message| message.get_str("errorMessage"));
    match (entry.traits().stop, error) {
        (StopReason::Aborted, _) => out.push_str("(aborted)"),
        (_, Some(error)) if !error.trim().is_empty() => WordWriter::new(out, ERROR).push_str(&error),
        _ => out.push_str("(no content)"),
    }
}

/// Writes the text of the content, or a note in brackets if it has none.
fn content(out: &mut String, entry: Entry<'_>) {
    if words(out, entry) {
        return;
    }
    if let Some(image) = entry.blocks().find(|block| block.kind() == BlockKind::Image) {
        return bracket(out, "", image.mime().as_deref().unwrap_or("image"));
    }
    match entry.content().map(Raw::kind) {
        None | Some(json::ValueKind::Null) => out.push_str("(no content)"),
        Some(_) => out.push_str("(empty)"),
    }
}

/// Writes the text of the content and returns whether it has any.
fn words(out: &mut String, entry: Entry<'_>) -> bool {
    let start = out.len();
    let mut words = WordWriter::new(out, LIMIT + CLUSTER);
    for text in entry.texts() {
        if words.is_full() {
            break;
        }
        words.push_json(text);
    }
    let has_words = !words.is_empty();
    cut_at_limit(out, start);
    has_words
}

/// Cuts the text from `start` on to the limit, but not within a character of several code points.
fn cut_at_limit(out: &mut String, start: usize) {
    let words = &out[start..];
    if words.len() <= LIMIT {
        return;
    }
    if let Some(front) = words.as_bytes().get(..=LIMIT)
        && front.is_ascii()
    {
        return out.truncate(start + words[..LIMIT].trim_end().len());
    }
    let Some((limit, _)) = words.char_indices().nth(LIMIT) else { return };
    let mut cursor = GraphemeCursor::new(limit, words.len(), true);
    // The cursor has all the text, so it never asks for more of it.
    let is_end = cursor.is_boundary(words, 0).unwrap_or(true);
    let end = if is_end { limit } else { cursor.prev_boundary(words, 0).ok().flatten().unwrap_or(limit) };
    let end = words[..end].trim_end().len();
    out.truncate(start + end);
}

/// Returns the model of a `model_change`, as `provider/id`; `None` if it has none.
pub(crate) fn model_name(entry: Entry<'_>) -> Option<String> {
    if let Some(model) = entry.get_str("model") {
        return (!model.is_empty()).then(|| model.into_owned());
    }
    let (provider, id) = (entry.get_str("provider")?, entry.get_str("modelId")?);
    (!id.is_empty()).then(|| format!("{provider}/{id}"))
}

/// Writes `[name]: ` and then `rest`.
fn labelled(out: &mut String, name: Option<Raw<'_>>, default: &str, rest: impl FnOnce(&mut String)) {
    let name = name.and_then(Raw::str).filter(|name| !name.trim().is_empty());
    bracket(out, "", name.as_deref().unwrap_or(default));
    out.push_str(": ");
    rest(out);
}

fn tagged(out: &mut String, tag: &str, text: Option<Raw<'_>>) {
    out.push_str(tag);
    let mut words = WordWriter::new(out, LIMIT);
    match text.and_then(Raw::string_body) {
        Some(body) => words.push_json(body),
        None => words.push_str("(no content)"),
    }
    if words.is_empty() {
        words.push_str("(empty)");
    }
}

fn bracket(out: &mut String, tag: &str, text: &str) {
    out.push('[');
    out.push_str(tag);
    WordWriter::new(out, LIMIT).push_str(text);
    out.push(']');
}

/// Returns what `write` writes, cut to `limit` characters; `...` shows the cut.
fn cut(limit: usize, write: impl FnOnce(&mut WordWriter<'_>)) -> String {
    let mut out = String::new();
    write(&mut WordWriter::new(&mut out, limit + 1));
    if let Some((at, _)) = out.char_indices().nth(limit) {
        out.truncate(at);
        out.push_str("...");
    }
    out
}

/// Returns the front of a JSON text, as much as is shown, without white space between its tokens.
fn compact(raw: Raw<'_>) -> String {
    let mut out = Vec::new();
    let (mut in_string, mut escaped) = (false, false);
    for &byte in raw.bytes() {
        if !in_string && byte.is_ascii_whitespace() {
            continue;
        }
        in_string ^= byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        out.push(byte);
        if out.len() > 4 * (ARGUMENTS + 2) {
            break;
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use crate::core::entry::Scan;

    fn check(line: &str, expected: &str) {
        let mut scan = Scan::default();
        let entry = scan.read(line.as_bytes()).unwrap();
        let mut out = String::new();
        super::write(&mut out, entry);
        assert_eq!(out, expected, "{line}");
    }

    #[test]
    fn messages_show_their_content_or_a_note() {
        let of =
            |message: &str, expected: &str| check(&format!(r#"{{"type":"message","message":{message}}}"#), expected);
        of(r#"{"role":"user","content":"  fix\n\tit "}"#, "fix it");
        of(r#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"role":"user"}"#, "ab");
        of(r#"{"role":"user","content":[{"type":"image","mimeType":"image/png","data":""}]}"#, "[image/png]");
        of(r#"{"role":"user","content":""}"#, "(empty)");
        of(r#"{"role":"user","content":null}"#, "(no content)");
        of(r#"{"role":"assistant","content":[],"stopReason":"aborted","errorMessage":"x"}"#, "(aborted)");
        of(r#"{"role":"assistant","content":[],"stopReason":"error","errorMessage":"over\nloaded"}"#, "over loaded");
        of(r#"{"role":"assistant","content":null}"#, "(no content)");
        of(r#"{"role":"toolResult","toolName":"read"}"#, "[read]");
        of(r#"{"role":"toolResult","toolName":""}"#, "[tool]");
        of(r#"{"role":"bashExecution","command":"ls -l"}"#, "[bash]: ls -l");
        of(r#"{"role":"custom","customType":"note","content":"x"}"#, "[note]: x");
        of(r#"{"role":"fileMention","files":[{"path":"a"},{"path":"b"}]}"#, "[files: a, b]");
        of(
            r#"{"role":"system","content":"","sections":{"a":"Be kind.","b":null,"c":"Be brief."}}"#,
            "Be kind. Be brief.",
        );
        of(r#"{"role":"system","content":"So","sections":{"a":"x"}}"#, "So");
        of(r#"{"role":"system","content":"","sections":{"a":null}}"#, "(empty)");
        let tools = |list: &str| format!(r#"{{"role":"system","content":"",{list}}}"#);
        of(&tools(r#""toolsAdded":[{"name":"hose"},{"name":"rake"}]"#), "[tools: hose, rake]");
        of(&tools(r#""toolsAdded":[{"name":"hose"}],"toolsRemoved":["rake"]"#), "[tools: hose] [tools removed: rake]");
        of(&tools(r#""toolsAdded":[]"#), "(empty)");
        of(r#"{"role":"alien"}"#, "[malformed message: role alien]");
        of("null", "[malformed message]");
    }

    #[test]
    fn other_entries_show_what_they_set() {
        check(r#"{"type":"compaction","tokensBefore":12345}"#, "[compaction: 12k tokens]");
        check(r#"{"type":"branch_summary","summary":"tried"}"#, "[branch summary]: tried");
        check(r#"{"type":"branch_summary","summary":""}"#, "[branch summary]: (empty)");
        check(r#"{"type":"model_change","model":"openai/gpt"}"#, "[model: openai/gpt]");
        check(r#"{"type":"model_change","provider":"openai","modelId":"gpt"}"#, "[model: openai/gpt]");
        check(r#"{"type":"thinking_level_change","thinkingLevel":null}"#, "[thinking: off]");
        check(r#"{"type":"label","targetId":"x","label":"wip"}"#, "[label: wip]");
        check(r#"{"type":"label","targetId":"x"}"#, "[label: (cleared)]");
        check(r#"{"type":"mode_change","mode":"plan"}"#, "[mode: plan]");
        check(r#"{"type":"custom","customType":"state"}"#, "[custom: state]");
        check(r#"{"type":"session_init","task":"Find\nit","systemPrompt":"x"}"#, "[session_init]: Find it");
        check(r#"{"type":"session_init","task":" ","systemPrompt":"x"}"#, "[session_init]");
        check(r#"{"type":"from_the_future"}"#, "[from_the_future]");
        check(r#"{"id":"x"}"#, "[unknown type]");
    }

    #[test]
    fn no_entry_has_more_characters_than_the_limit() {
        let long = "é".repeat(400);
        for line in [
            r#"{"type":"custom_message","customType":"LONG","content":"LONG"}"#,
            r#"{"type":"message","message":{"role":"LONG"}}"#,
            r#"{"type":"message","message":{"role":"custom","customType":"LONG","content":"LONG"}}"#,
            r#"{"type":"message","message":{"role":"toolResult","toolName":"LONG"}}"#,
            r#"{"type":"message","message":{"role":"system","toolsAdded":["LONG"],"toolsRemoved":["LONG"]}}"#,
            r#"{"type":"model_change","provider":"LONG","modelId":"LONG"}"#,
            r#"{"type":"session_init","task":"LONG"}"#,
            r#"{"type":"branch_summary","summary":"LONG"}"#,
            r#"{"type":"LONG"}"#,
        ] {
            let line = line.replace("LONG", &long);
            let mut scan = Scan::default();
            let mut out = String::from("before");
            super::write(&mut out, scan.read(line.as_bytes()).unwrap());
            assert_eq!(out.chars().count(), "before".len() + super::LIMIT, "{out}");
        }
        let mut out = String::new();
        super::call(&mut out, "read", Some(super::Raw::new(format!(r#"{{"path":"{long}"}}"#).as_bytes())));
        assert_eq!(out.chars().count(), super::LIMIT);
    }

    #[test]
    fn calls_show_the_tool_and_its_main_arguments() {
        let of = |name: &str, arguments: &str, expected: &str| {
            let mut out = String::new();
            super::call(&mut out, name, Some(super::Raw::new(arguments.as_bytes())));
            assert_eq!(out, expected);
        };
        of("read", r#"{"path":"a.rs","offset":14,"limit":10}"#, "[read: a.rs:14-23]");
        of("read", r#"{"path":"a.rs","limit":44}"#, "[read: a.rs:1-44]");
        of("read", r#"{"path":"a.rs","offset":5}"#, "[read: a.rs:5]");
        of("bash", "null", "[bash: ]");
        of("bash", &format!(r#"{{"command":"{}"}}"#, "x".repeat(51)), &format!("[bash: {}...]", "x".repeat(50)));
        of("grep", r#"{"pattern":"a|b"}"#, "[grep: /a|b/ in .]");
        of("find", r#"{"pattern":"*.rs","path":"src"}"#, "[find: *.rs in src]");
        of("ls", "{}", "[ls: .]");
        of("exec", r#"{"command":"make all"}"#, "[exec: make all]");
        of("glob", r#"{"pattern":"*.md","path":"doc"}"#, "[glob: *.md in doc]");
        of("search", r#"{"paths":["a","b"],"pattern":"x y"}"#, "[search: x y in a, b]");
        of("search", r#"{"query":"how to"}"#, "[search: how to]");
        of("open", r#"{"paths":"a;b"}"#, "[open: a;b]");
        of("fetch", r#"{"url":"https://x.example/a"}"#, "[fetch: https://x.example/a]");
        of("task", r#"{"agent":"x","task":"dig\n deep"}"#, "[task: dig deep]");
        of("edit", r#"{"input":"[src/a#b.rs#a1b2]\nPUT 3.=3:\n+x"}"#, "[edit: src/a#b.rs]");
        of("edit", r#"{"input":"*** Begin Patch\n[a.rs#a1b2]\n"}"#, "[edit: a.rs]");
        of("edit", r#"{"input":"*** Begin Patch\n*** Update File: src/a.rs\n@@"}"#, "[edit: src/a.rs]");
        of("task", r#"{"context":"x","tasks":[{"agent":"y"},{"task":"dig"}]}"#, "[task: dig]");
        of("", r#"{"path":"a.rs"}"#, "[(no name): a.rs]");
        of(" ", "{}", "[(no name): {}]");
        of("mine", r#"{"path":7,"paths":[]}"#, r#"[mine: {"path":7,"paths":[]}]"#);
        of("mine", r#"{ "a": 1, "b": "x y" }"#, r#"[mine: {"a":1,"b":"x y"}]"#);
    }
}
