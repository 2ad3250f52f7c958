//! The words of findings in how entries are connected, and in the header.

use std::borrow::Cow;

use super::Details;
use super::wording::Wording;
use crate::core::check::codes::Code;
use crate::core::check::finding::{Detail, OddHeader};
use crate::core::check::lines;
use crate::core::check::path::Continuation;
use crate::core::entry::Role;
use crate::core::error::Result;
use crate::core::session::NodeId;
use crate::core::session::body::Bodies;
use crate::core::words::counted;

impl Wording<'_> {
    /// Returns the message and the fix for what is odd about entries, or about the file.
    pub(super) fn of_entry(&self, details: &mut Details<'_>) -> Result<(String, String)> {
        let (line, own) = (self.finding.line, self.own);
        let call_id = |details: &mut Details<'_>, hash: u64| {
            self.finding.node.map_or_else(|| Ok(String::new()), |node| details.call(node, hash))
        };
        Ok(match (self.finding.code, self.finding.detail) {
            (_, Detail::Above(above)) => self.cut(above),
            (Code::Cycle, _) => (
                format!("`{own}` is its own ancestor"),
                format!("{}; until then `session-tree` cuts the loop there", self.to_parent_before()),
            ),
            (Code::SelfParent, _) => {
                (format!("`{own}` is its own parent"), self.to_parent_before())
            }
            (Code::DuplicateId, Detail::Line(first)) => (
                format!("id `{own}` is also that of another entry, on line {first}"),
                format!("give the entry on line {first} or {line} a new id, and set `parentId` of its children to that"),
            ),
            (Code::DuplicateLine, Detail::Line(first)) => {
                (format!("the same entry as on line {first}"), format!("delete line {line}"))
            }
            (Code::LabelWithoutTarget, Detail::Index(index)) => self.label(index),
            (Code::KeptEntryMissing | Code::KeptEntryOffPath, detail) => self.kept(&mut details.bodies, detail)?,
            (Code::CallWithoutResult, Detail::Call(call)) => (
                format!("tool call `{}` has no result, and another one has the same id", call_id(details, call)?),
                self.go_on_above(&format!("or give the call on line {line} an id of its own")),
            ),
            (Code::ResultWithoutCall, Detail::Call(call)) => (
                format!("result of the tool call `{}`, which is not in the conversation", call_id(details, call)?),
                self.go_on_above("or go on in omp 18, which sends it as text"),
            ),
            (Code::ResultElsewhere, Detail::Call(call)) => (
                format!("result of the tool call `{}`, which is not right before it", call_id(details, call)?),
                self.go_on_above("or go on in omp 18, which corrects it"),
            ),
            (Code::SecondResult, Detail::Call(call)) => (
                format!("one more result of the tool call `{}`", call_id(details, call)?),
                self.go_on_above("or go on in omp 18, which sends the first only"),
            ),
            (Code::ResultOfFailedTurn, Detail::Call(call)) => (
                format!("result of the tool call `{}`, whose turn failed", call_id(details, call)?),
                self.go_on_above("or go on in omp"),
            ),
            (Code::LeftOut, _) => (
                format!("the assistant's turn `{own}` failed: pi and omp 18 leave it out when they send"),
                "if the model has to know it, repeat it in the next prompt".to_owned(),
            ),
            (Code::LeafOnOlderBranch, Detail::Node(newest)) => {
                let leaf = self.session.traits(self.session.leaf().unwrap_or(newest)).kind.name().unwrap_or("unknown type");
                let (id, newest) = (self.session.id(newest), self.session.line(newest));
                (
                    format!("the leaf `{own}` ({leaf}) is on an older branch; the newest conversation ends at `{id}`, line {newest}"),
                    format!("`session-tree navigate FILE {id} --save`, unless it was left there on purpose"),
                )
            }
            (Code::LeafNotLast, Detail::Node(newest)) => {
                let (id, newest_line) = (self.session.id(newest), self.session.line(newest));
                (
                    format!("the last entry `{own}` has entries below it, the newest of them `{id}`, line {newest_line}"),
                    format!("`session-tree navigate FILE {id} --save`{}", self.without(newest)),
                )
            }
            (Code::RetainedTail, Detail::Count(count)) => (
                format!(
                    "the compaction `{own}` keeps {} in `retainedTail`, and no entries",
                    counted(count as usize, "message", "messages")
                ),
                "set `firstKeptEntryId` to the first entry to keep, or repeat what the model has to know".to_owned(),
            ),
            (Code::StoredLeaf, _) => self.stored_leaf(),
            (Code::MarkWithoutTarget, _) => (
                format!("mark `{own}` moves the leaf to no entry before it in the file"),
                format!("none needed; set `targetId` of line {line} if it is known where it went"),
            ),
            (Code::TimeBackwards, Detail::Gap(ms)) => (
                format!("`{own}` is {} older than its parent", span(ms)),
                "none needed if a clock was wrong; else check that `parentId` is right".to_owned(),
            ),
            (Code::InterleavedWriters, Detail::Count(count)) => (
                format!(
                    "`{own}` does not directly follow its parent, with entries of another conversation in between: two agents wrote at the same time ({})",
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
                format!("`{own}` has no timestamp, or one that is not a time"),
                format!("set `timestamp` of line {line} to a time such as \"{}\"", self.time_before()),
            ),
            (Code::UnknownVersion, _) => {
                // Only version 2 has this role.
                let is_old = |node| self.session.traits(node).role == Role::HookMessage;
                let version = if self.session.nodes().any(is_old) { 2 } else { 3 };
                let message = "the header has no version that fits the entries".to_owned();
                (message, format!("set `version` of line {line} to {version}"))
            }
            (Code::OldVersion, Detail::Count(version)) => {
                (format!("version {version}"), "`session-tree migrate FILE`".to_owned())
            }
            (Code::NewerVersion, Detail::Count(version)) => (
                format!("version {version} is newer than 3, the newest known one"),
                "open it only with the agent that wrote it".to_owned(),
            ),
            (Code::OddHeader, Detail::Header(what)) => {
                let why = match what {
                    OddHeader::Version => "its `version` is not a version",
                    OddHeader::Id => "its `id` cannot be part of a file name",
                    OddHeader::Cwd => "it has no `cwd`, the folder of the project",
                    OddHeader::Timestamp => "its `timestamp` is not an ISO 8601 time",
                };
                let fix = match what {
                    OddHeader::Version => format!("set `version` of line {line} to 3"),
                    _ => format!("correct it on line {line}, if an agent needs it"),
                };
                (format!("odd header: {why}"), fix)
            }
            (code, _) => (code.title().to_owned(), format!("look at line {line}")),
        })
    }

    /// Returns the message and the fix for a file that says where its leaf is.
    fn stored_leaf(&self) -> (String, String) {
        let leaf = self.session.leaf();
        let place = |node: NodeId| format!("at `{}`, line {}", self.session.id(node), self.session.line(node));
        let own = leaf.map_or_else(|| "before the first entry".to_owned(), place);
        let others = match self.finding.node.filter(|&node| Some(node) != leaf) {
            Some(node) => format!("pi and omp resume {}", place(node)),
            None => "pi and omp do too, but with another conversation above it".to_owned(),
        };
        let message = format!("marks or resets of openclaw: it resumes {own}; {others}");
        let copy = leaf.map(|leaf| {
            let id = self.session.id(leaf);
            format!("; `session-tree branch FILE --at {id}` copies its branch into a file of its own")
        });
        (message, format!("open it only with the agent that wrote it{}", copy.unwrap_or_default()))
    }

    /// Returns the message and the fix for an entry whose parent is missing.
    fn cut(&self, above: Continuation) -> (String, String) {
        let (line, own) = (self.finding.line, self.own);
        let missing = self.finding.node.and_then(|node| self.session.missing_parent(node));
        let what = match missing {
            Some(missing) => format!("parent `{missing}` of `{own}` is not in the file"),
            None => format!("`{own}` is a root, but no agent made it by going back to the start"),
        };
        let (lost, parent) = match above {
            Continuation::Certain { node, lost } => (lost, Some(format!("\"{}\"", self.session.id(node)))),
            Continuation::Root { lost } => (lost, Some("null".to_owned())),
            // Its remains do not say what it hung at.
            Continuation::Before { lost, .. } => (lost, None),
            Continuation::Likely(node) => return (what, self.set_likely(node)),
            Continuation::Unknown => {
                return (what, format!("set `parentId` of line {line} to null: no entry is before it"));
            }
        };
        let lost = self.notes.lost.get(lost as usize).map_or(0, |lost| lost.line);
        let fix = match parent {
            Some(parent) => format!("mend line {lost} first; else set `parentId` of line {line} to {parent}"),
            None => format!("mend line {lost} first; what it hung at cannot be read any more"),
        };
        (format!("{what}; it was on line {lost}, which is damaged"), fix)
    }

    /// Returns the fix for a conversation that a provider refuses: go on above it.
    fn go_on_above(&self, more: &str) -> String {
        match self.finding.node.and_then(|node| self.session.parent(node)) {
            Some(parent) => {
                let (id, without) = (self.session.id(parent), self.without(parent));
                format!("go on above it: `session-tree navigate FILE {id} --save`{without}; {more}")
            }
            None => more.to_owned(),
        }
    }

    /// Returns what to add to the advice to navigate: to a prompt, that moves to its parent.
    fn without(&self, node: NodeId) -> &'static str {
        if self.session.is_user(node) { ", without that prompt" } else { "" }
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
        let kept = bodies.entry(node)?.get_id("firstKeptEntryId").map(Cow::into_owned).unwrap_or_default();
        let why = match detail {
            Detail::Kept(Some(kept), _) => format!("which is on line {}, not above it", self.session.line(kept)),
            _ => "which is not in the file".to_owned(),
        };
        let parent = self.session.parent(node).map_or("", |parent| self.session.id(parent));
        Ok((
            format!("compaction `{}` keeps `{kept}` and what follows, {why}", self.own),
            format!(
                "set `firstKeptEntryId` of line {} to the first entry to keep, such as its parent \"{parent}\"",
                self.finding.line
            ),
        ))
    }
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
