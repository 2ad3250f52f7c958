//! The words of findings: message, effect and fix. What is not in a [`RawFinding`] is read from the file
//! again. Every word from a file may hold anything; `ui` makes it safe.

use std::borrow::Cow;

use super::path::Continuation;
use super::{Code, Detail, Finding, RawFinding, lines};
use crate::core::entry::{BlockKind, Entry, Role};
use crate::core::error::Result;
use crate::core::error::foreign::ForeignFormat;
use crate::core::read::inspect::{self, LineNotes, Oddity};
use crate::core::read::load;
use crate::core::session::body::Bodies;
use crate::core::session::{NodeId, Session};
use crate::core::time;
use crate::core::words::counted;

/// Returns one finding in words; `bodies` is `None` for a file that is not a session.
pub(super) fn finding(finding: &RawFinding, notes: &LineNotes, bodies: Option<&mut Bodies<'_>>) -> Result<Finding> {
    let entry_id = bodies.as_ref().and_then(|bodies| Some(bodies.session().id(finding.node?).to_owned()));
    let (message, fix) = match bodies {
        Some(bodies) => Wording { finding, notes, session: bodies.session() }.of(bodies)?,
        None => not_a_session(finding),
    };
    let effect = effect(finding);
    Ok(Finding {
        code: finding.code,
        line: finding.line,
        entry_id,
        message,
        effect,
        fix,
        unreachable: finding.unreachable,
    })
}

fn not_a_session(finding: &RawFinding) -> (String, String) {
    let why = match finding.detail {
        Detail::Reason(why) => why,
        Detail::Foreign(format) => {
            return (format!("not a session of pi or omp: {}", format.meaning()), format.remedy().to_owned());
        }
        _ => "",
    };
    match finding.code {
        Code::Empty => {
            ("the file is empty".to_owned(), "delete it; there is nothing in it to lose".to_owned())
        }
        Code::UnreadableHeader => {
            let version = r#"{"type":"session","version":3,"id":"ID","timestamp":"TIME","cwd":"FOLDER"}"#;
            let id = "the id is in the file's name, after the `_`";
            let what = if why == load::NO_ID { "give it" } else { "repair it so that it has" };
            (
                format!("the session cannot be read: {why}"),
                format!("{what} the form {version}; {id}. Keep a copy first"),
            )
        }
        _ => (
            format!("not a session: {why}"),
            "if it was one, insert a header such as {\"type\":\"session\",\"version\":3,\"id\":\"ID\",...} as the first \
             line; else do not open it with agents"
                .to_owned(),
        ),
    }
}

/// Returns what is lost, then what agents do.
fn effect(finding: &RawFinding) -> String {
    let agents = match (finding.code, finding.detail) {
        (Code::MalformedLine, Detail::Odd(Oddity::NotAnObject, 1)) => "pi skips it; omp cannot open the file",
        (Code::MalformedLine, Detail::Odd(Oddity::NotAnObject, _)) => Code::ForeignLine.agents(),
        (Code::ForeignLine, Detail::Odd(Oddity::Patch, _)) => {
            "pi, omp and `session-tree` do not apply them; where one is the last line, pi and omp resume with an empty conversation"
        }
        // It starts with the header of its session.
        (Code::NotASession, Detail::Foreign(ForeignFormat::EventStream)) => Code::ForeignLeaf.agents(),
        (code, _) => code.agents(),
    };
    let plural = |count: u32| counted(count, "entry", "entries");
    if let Detail::Kept(_, Some(count)) = finding.detail {
        let none = if count == 1 {
            "the message before it is left".to_owned()
        } else {
            format!("all {count} messages before it are left")
        };
        return format!("{none} out of the context: {agents}");
    }
    match (finding.code, finding.unreachable) {
        (_, None | Some(0)) => agents.to_owned(),
        (Code::Cycle | Code::SelfParent, Some(count)) => {
            let fatal = matches!(finding.detail, Detail::Count(1));
            let what = if fatal { "the whole session" } else { "off the path" };
            format!("{} cannot be reached ({what}): {agents}", plural(count))
        }
        (Code::LeafOnOlderBranch, Some(count)) => {
            format!("{} of the newest conversation not resumed: {agents}", plural(count))
        }
        (Code::DuplicateId, Some(count)) => format!("{} replaced: {agents}", plural(count)),
        (_, Some(count)) => format!("{} can no longer be reached from the leaf: {agents}", plural(count)),
    }
}

struct Wording<'w> {
    finding: &'w RawFinding,
    notes: &'w LineNotes,
    session: &'w Session,
}

impl Wording<'_> {
    /// Returns the message and the fix.
    fn of(&self, bodies: &mut Bodies<'_>) -> Result<(String, String)> {
        let line = self.finding.line;
        Ok(match (self.finding.code, self.finding.detail) {
            (_, Detail::Odd(odd, detail)) => self.odd(odd, detail),
            (_, Detail::Above(above)) => self.cut(above),
            (Code::Cycle, _) => (
                format!("`{}` is its own ancestor", self.own()),
                format!("{}; until then `session-tree` cuts the loop there", self.to_parent_before(line)),
            ),
            (Code::SelfParent, _) => {
                (format!("`{}` is its own parent", self.own()), self.to_parent_before(line))
            }
            (Code::DuplicateId, Detail::Line(first)) => (
                format!("id `{}` is also that of another entry, on line {first}", self.own()),
                format!("give the entry on line {first} or {line} a new id, and set `parentId` of its children to that"),
            ),
            (Code::DuplicateLine, Detail::Line(first)) => {
                (format!("the same entry as on line {first}"), format!("delete line {line}"))
            }
            (Code::LabelWithoutTarget, Detail::Index(index)) => self.label(index),
            (Code::KeptEntryMissing | Code::KeptEntryOffPath, detail) => self.kept(bodies, detail)?,
            (Code::CallWithoutResult, Detail::Call(call)) => (
                format!("tool call `{}` has no result in the conversation", self.call(bodies, call)?),
                self.go_on_above("or add a `toolResult` for it after this line"),
            ),
            (Code::ResultWithoutCall, Detail::Call(call)) => (
                format!("result of the tool call `{}`, which is not in the conversation", self.call(bodies, call)?),
                self.go_on_above("agents since 2026 correct this when they send it"),
            ),
            (Code::LeftOut, Detail::Call(call)) => (
                format!("tool call `{}` has no result: omp 18 leaves it out", self.call(bodies, call)?),
                "none needed; `session-tree context` shows what is stored".to_owned(),
            ),
            (Code::LeftOut, _) => (
                format!("the assistant's turn `{}` failed: omp 18 leaves it out", self.own()),
                "none needed; `session-tree context` shows what is stored".to_owned(),
            ),
            (Code::LeafOnOlderBranch, Detail::Node(newest)) => (
                format!(
                    "the leaf `{}` ({}) is on an older branch; the newest conversation ends at `{}`, line {}",
                    self.own(),
                    self.session.traits(self.session.leaf().unwrap_or(newest)).kind.name().unwrap_or("unknown type"),
                    self.session.id(newest),
                    self.session.line(newest)
                ),
                format!("`session-tree navigate FILE {} --save`, unless it was left there on purpose", self.session.id(newest)),
            ),
            (Code::TimeBackwards, Detail::Gap(ms)) => (
                format!("`{}` is {} older than its parent", self.own(), span(ms)),
                "none needed if a clock was wrong; else check that `parentId` is right".to_owned(),
            ),
            (Code::InterleavedWriters, Detail::Count(count)) => (
                format!(
                    "`{}` does not directly follow its parent, with entries of another conversation in between: two agents wrote at the same time ({})",
                    self.own(),
                    counted(count, "such place", "such places")
                ),
                "open a session in one agent only; `session-tree branch FILE --at TIP` copies a branch into a file of its own".to_owned(),
            ),
            (Code::MissingBlob, Detail::Index(index)) => {
                let name = self.notes.blobs.get(index as usize).map(|(_, hash)| lines::hex(hash)).unwrap_or_default();
                (
                    format!("the image {name} is not in omp's `blobs` folder"),
                    format!("restore `blobs/{name}` next to omp's `sessions` folder, or replace the block with text"),
                )
            }
            (Code::UnreadableTime, _) => (
                format!("`{}` has no timestamp, or one that is not a time", self.own()),
                format!("set `timestamp` of line {line} to a time such as \"{}\"", self.time_before()),
            ),
            (Code::UnknownVersion, _) => (
                "the header has no version that fits the entries".to_owned(),
                format!("set `version` of line {line} to {}", if self.has_hooks() { 2 } else { 3 }),
            ),
            (Code::OldVersion, Detail::Count(version)) => {
                (format!("version {version}"), "`session-tree migrate FILE`".to_owned())
            }
            (Code::NewerVersion, Detail::Count(version)) => (
                format!("version {version} is newer than 3, the newest known one"),
                "open it only with the agent that wrote it".to_owned(),
            ),
            (Code::OddHeader, Detail::Reason(why)) => {
                (format!("odd header: {why}"), format!("correct it on line {line}, if an agent needs it"))
            }
            (code, _) => (code.title().to_owned(), format!("look at line {line}")),
        })
    }

    /// Returns the id of the finding's entry.
    fn own(&self) -> &str {
        self.finding.node.map_or("", |node| self.session.id(node))
    }

    /// Returns the message and the fix for what is odd about a line by itself.
    fn odd(&self, odd: Oddity, detail: u32) -> (String, String) {
        let line = self.finding.line;
        let delete = || format!("delete line {line}; nothing on it can be read");
        let lost = self.lost();
        let (message, fix) = match odd {
            Oddity::Unfinished => (
                format!("unfinished last line: cut off, or a writer is still at work{lost}"),
                format!("close the agent that has it open, then check again; if it stays, delete line {line}"),
            ),
            Oddity::NoLineEnd => ("no line end after the last line".to_owned(), "add one: `echo >> FILE`".to_owned()),
            Oddity::Cut => (format!("cut short{lost}"), self.restore()),
            Oddity::NotJson => (format!("not JSON, from byte {detail} on{lost}"), self.restore()),
            Oddity::NotAnObject if self.finding.code == Code::ForeignLeaf => {
                ("the last line is not an object: agents take it as the leaf".to_owned(), format!("delete line {line}"))
            }
            Oddity::NotAnObject if detail == 1 => {
                ("`null` is not an object: omp cannot open a file with it".to_owned(), format!("delete line {line}"))
            }
            Oddity::NotAnObject => ("not a JSON object".to_owned(), format!("delete line {line}")),
            Oddity::TooLong => ("longer than 4 GiB".to_owned(), format!("remove the images from line {line}")),
            Oddity::Nul => (format!("{detail} NUL bytes"), delete()),
            Oddity::NulBefore => (
                format!("{} NUL bytes before a whole record{lost}", detail - 1),
                format!("delete the first {} bytes of line {line}: `sed -i '{line}s/^\\x00*//' FILE`", detail - 1),
            ),
            Oddity::FragmentBefore => (
                format!("a fragment, then a whole record from byte {detail} on{lost}"),
                format!("delete the first {} bytes of line {line}; the record after them is whole", detail - 1),
            ),
            Oddity::Glued => (
                format!("several records on one line, the second from byte {detail} on{lost}"),
                format!("insert a line end before byte {detail} of line {line}"),
            ),
            Oddity::Bom => (
                "a UTF-8 byte order mark before the header".to_owned(),
                "delete the first 3 bytes: `sed -i '1s/^\\xEF\\xBB\\xBF//' FILE`".to_owned(),
            ),
            Oddity::BadUtf8 => (
                format!("bytes that are not UTF-8, from byte {detail} on"),
                "none needed; agents read U+FFFD there".to_owned(),
            ),
            Oddity::LoneSurrogate => (
                format!("half of a surrogate pair at byte {detail}"),
                format!(
                    "replace the six characters at byte {detail} of line {line} with `\\ufffd` if a provider refuses them"
                ),
            ),
            Oddity::Escape => (
                format!("an escape sequence for terminals at byte {detail}"),
                "none needed: `session-tree` shows it escaped; do not print the file unescaped".to_owned(),
            ),
            Oddity::Big => (
                format!("{} MB on one line", detail / 1_000_000),
                format!("remove images from line {line}, or go on after a compaction"),
            ),
            Oddity::Foreign => self.foreign(),
            Oddity::Patch => (
                "another program changes entries or the header by lines (`entry_patch`, `header_patch`)".to_owned(),
                "none needed; the program that wrote it, a fork of omp, shows the changes".to_owned(),
            ),
            Oddity::SecondHeader => {
                ("a second session header; the first one counts".to_owned(), format!("delete line {line}"))
            }
            Oddity::Untyped => (
                format!("`{}` has no type", self.own()),
                format!("give line {line} a `type`, such as \"custom\"; do not delete it if it has children"),
            ),
            Oddity::NoMessage => (
                format!("message entry `{}` without a message", self.own()),
                format!("change `type` of line {line} to \"custom\"; its children keep their parent"),
            ),
            Oddity::NoRole => (
                format!("message `{}` has no known role", self.own()),
                format!("set `role` in line {line}, or change its `type` to \"custom\""),
            ),
            Oddity::NoContent => {
                (format!("`{}` has no content", self.own()), format!("set `content` in line {line} to []"))
            }
            Oddity::BadContent => (
                format!("the content of `{}` is neither a list of blocks nor a text where one is allowed", self.own()),
                format!("make `content` in line {line} a list: [{{\"type\":\"text\",\"text\":\"...\"}}]"),
            ),
            Oddity::BadBlock => (
                format!("content block {detail} of `{}` does not have the form of its type", self.own()),
                format!("correct or remove block {detail} of `content` in line {line}"),
            ),
            Oddity::NoUsage => (
                format!("assistant message `{}` without `usage`", self.own()),
                "none needed; its cost is not known".to_owned(),
            ),
            Oddity::NoParent => (format!("`{}` has no `parentId`", self.own()), self.to_parent_before(line)),
        };
        (message, fix)
    }

    fn foreign(&self) -> (String, String) {
        let line = self.finding.line;
        match self.finding.code {
            Code::HeaderNotFirst => (
                "a foreign line before the header".to_owned(),
                format!("delete line {line}, or move it after the header, but not to the end"),
            ),
            Code::ForeignLeaf => {
                let leaf = self.session.leaf().map_or_else(String::new, |leaf| {
                    format!("; without it they would resume at `{}`", self.session.id(leaf))
                });
                (
                    format!("the last line has no `id`: agents take it as the leaf{leaf}"),
                    format!("delete line {line}, or append an entry: `session-tree label FILE @ NAME`"),
                )
            }
            _ => (
                "a line without an `id`, of another program".to_owned(),
                format!("delete line {line}, if nobody needs it"),
            ),
        }
    }

    /// Returns words for the entries that a damaged line held.
    fn lost(&self) -> String {
        let from = self.notes.lost.partition_point(|lost| lost.line < self.finding.line);
        let here = self.notes.lost[from..].iter().take_while(|lost| lost.line == self.finding.line);
        let ids: Vec<_> = here.filter_map(|lost| Some(format!("`{}`", lost.id.as_deref()?))).take(4).collect();
        if ids.is_empty() { String::new() } else { format!("; it held {}", ids.join(", ")) }
    }

    /// Returns the fix for a line whose end is lost.
    fn restore(&self) -> String {
        let line = self.finding.line;
        let without_id =
            || format!("take the line from a backup; else delete line {line} and give its children a new parent");
        let from = self.notes.lost.partition_point(|lost| lost.line < line);
        let here = self.notes.lost[from..].first().filter(|lost| lost.line == line);
        let parent = match here.map(|lost| &lost.parent) {
            Some(inspect::LostParent::Entry(parent)) if self.session.find(parent).is_some() => format!("\"{parent}\""),
            Some(inspect::LostParent::Root) => "null".to_owned(),
            _ => return without_id(),
        };
        match here.and_then(|lost| lost.id.as_deref()) {
            Some(id) => format!(
                "take the line from a backup, or replace it with {{\"type\":\"custom\",\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\"{}\",\"customType\":\"lost\"}}",
                self.time_before()
            ),
            None => without_id(),
        }
    }

    /// Returns the message and the fix for an entry whose parent is missing.
    fn cut(&self, above: Continuation) -> (String, String) {
        let (line, own) = (self.finding.line, self.own());
        let missing = self.finding.node.and_then(|node| self.session.missing_parent(node));
        let what = match missing {
            Some(missing) => format!("parent `{missing}` of `{own}` is not in the file"),
            None => format!("`{own}` is a root, but no agent made it by going back to the start"),
        };
        let on_line = |lost: u32| self.notes.lost.get(lost as usize).map_or(0, |lost| lost.line);
        let (more, fix) = match above {
            Continuation::Certain { node, lost } => (
                format!("; it was on line {}, which is damaged", on_line(lost)),
                format!(
                    "repair line {} first; else set `parentId` of line {line} to \"{}\"",
                    on_line(lost),
                    self.session.id(node)
                ),
            ),
            Continuation::Root { lost } => (
                format!("; it was on line {}, which is damaged", on_line(lost)),
                format!("repair line {} first; else set `parentId` of line {line} to null", on_line(lost)),
            ),
            Continuation::Likely(node) => (String::new(), self.set_likely(line, node)),
            Continuation::Unknown => {
                (String::new(), format!("set `parentId` of line {line} to null: no entry is before it"))
            }
        };
        (what + &more, fix)
    }

    fn set_likely(&self, line: u32, node: NodeId) -> String {
        format!(
            "if the conversation went on directly from line {}, set `parentId` of line {line} to \"{}\"",
            self.session.line(node),
            self.session.id(node)
        )
    }

    fn to_parent_before(&self, line: u32) -> String {
        match self.finding.node.and_then(|node| node.0.checked_sub(1)) {
            Some(before) => self.set_likely(line, NodeId(before)),
            None => format!("set `parentId` of line {line} to null"),
        }
    }

    /// Returns the fix for a conversation that a provider refuses: go on above it.
    fn go_on_above(&self, more: &str) -> String {
        match self.finding.node.and_then(|node| self.session.parent(node)) {
            Some(parent) => {
                // `navigate` to a prompt moves to its parent.
                let without = if self.session.is_user(parent) { ", without that prompt" } else { "" };
                let id = self.session.id(parent);
                format!("go on above it: `session-tree navigate FILE {id} --save`{without}; {more}")
            }
            None => more.to_owned(),
        }
    }

    fn label(&self, index: u32) -> (String, String) {
        let Some(label) = self.session.labels().get(index as usize) else { return Default::default() };
        (
            format!("label `{}` is for `{}`, which is not in the file", label.name, label.target_id),
            format!(
                "set `targetId` of line {} to the entry that is meant; do not delete the line if it has children",
                self.finding.line
            ),
        )
    }

    fn kept(&self, bodies: &mut Bodies<'_>, detail: Detail) -> Result<(String, String)> {
        let Some(node) = self.finding.node else { return Ok(Default::default()) };
        let kept = bodies.entry(node)?.get_str("firstKeptEntryId").map(Cow::into_owned).unwrap_or_default();
        let why = match detail {
            Detail::Kept(Some(kept), _) => format!("which is on line {}, not above it", self.session.line(kept)),
            _ => "which is not in the file".to_owned(),
        };
        let parent = self.session.parent(node).map_or("", |parent| self.session.id(parent));
        Ok((
            format!("compaction `{}` keeps `{kept}` and what follows, {why}", self.own()),
            format!(
                "set `firstKeptEntryId` of line {} to the first entry to keep, such as its parent \"{parent}\"",
                self.finding.line
            ),
        ))
    }

    /// Returns the id of a tool call, found by its hash.
    fn call(&self, bodies: &mut Bodies<'_>, hash: u64) -> Result<String> {
        let Some(node) = self.finding.node else { return Ok(String::new()) };
        let entry = bodies.entry(node)?;
        let is_it = |id: &Cow<'_, str>| inspect::hash(id.as_bytes()) == hash;
        let of_result = entry.tool_call_id().filter(is_it);
        Ok(of_result.or_else(|| call_in(entry, &is_it)).map(Cow::into_owned).unwrap_or_default())
    }

    /// Returns the time of the nearest entry before the line that has one.
    fn time_before(&self) -> String {
        let from = self.session.nodes.partition_point(|node| node.line < self.finding.line);
        let before = (0..from).rev().take(64).filter_map(|at| self.session.stamp(NodeId(u32::try_from(at).ok()?)).ms());
        time::iso(before.into_iter().next().or(self.session.header.stamp.ms()).unwrap_or(0))
    }

    /// Returns whether any message has the role that only version 2 has.
    fn has_hooks(&self) -> bool {
        self.session.nodes().any(|node| self.session.traits(node).role == Role::HookMessage)
    }
}

fn call_in<'e>(entry: Entry<'e>, is_it: &dyn Fn(&Cow<'_, str>) -> bool) -> Option<Cow<'e, str>> {
    let calls = entry.blocks().filter(|block| block.kind() == BlockKind::ToolCall);
    calls.filter_map(|call| call.id()).find(|id| is_it(id))
}

/// Returns a time span in whole minutes, hours or days.
fn span(ms: i64) -> String {
    let minutes = ms / 60_000;
    match minutes {
        0..120 => format!("{minutes} minutes"),
        120..2880 => format!("{} hours", minutes / 60),
        _ => format!("{} days", minutes / 1440),
    }
}
