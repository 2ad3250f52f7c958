//! The words of findings in single lines.

use super::wording::Wording;
use crate::core::check::codes::Code;
use crate::core::entry::header::{SLOT_MEMBERS, SLOT_SIZE};
use crate::core::read::inspect::members::MEMBERS;
use crate::core::read::inspect::{self, Oddity};

impl Wording<'_> {
    /// Returns the message and the fix for what is odd about a line by itself.
    pub(super) fn of_line(&self, odd: Oddity) -> (String, String) {
        let (line, own) = (self.finding.line, self.own);
        let delete = || format!("delete line {line}; nothing on it can be read");
        let lost = self.lost();
        match odd {
            Oddity::Unfinished { .. } => (
                format!("unfinished last line: cut off, or a writer is still at work{lost}"),
                format!("close the agent that has it open, then check again; if it stays, delete line {line}"),
            ),
            Oddity::NoLineEnd => ("no line end after the last line".to_owned(), "add one: `echo >> FILE`".to_owned()),
            Oddity::Cut { wants_value: true } => (
                format!("cut short where a value has to come{lost}"),
                format!("insert a line `}}` after line {line}, so that omp sees the last one; then {}", self.restore()),
            ),
            Oddity::Cut { .. } => (format!("cut short{lost}"), self.restore()),
            Oddity::LoneBrace => ("a lone brace".to_owned(), format!("delete line {line}")),
            Oddity::NotJson { at } => (format!("not JSON, from byte {at} on{lost}"), self.restore()),
            Oddity::NotAnObject { .. } if self.finding.code == Code::ForeignLeaf => {
                ("the last line is not an object: agents take it as the leaf".to_owned(), format!("delete line {line}"))
            }
            Oddity::NotAnObject { is_null: true } => {
                ("`null` is not an object: omp cannot open a file with it".to_owned(), format!("delete line {line}"))
            }
            Oddity::NotAnObject { .. } => ("not a JSON object".to_owned(), format!("delete line {line}")),
            Oddity::TooLong => ("longer than 4 GiB".to_owned(), format!("remove the images from line {line}")),
            Oddity::Nul { count } => (format!("{count} NUL bytes"), delete()),
            Oddity::NulBefore { at } => (
                format!("{} NUL bytes before a whole record{lost}", at - 1),
                format!("delete the first {} bytes of line {line}: `sed -i '{line}s/^\\x00*//' FILE`", at - 1),
            ),
            Oddity::FragmentBefore { at } => (
                format!("a fragment, then a whole record from byte {at} on{lost}"),
                format!("delete the first {} bytes of line {line}; the record after them is whole", at - 1),
            ),
            Oddity::NulAfter { at } => (
                format!("a whole record, then NUL bytes from byte {at} on{lost}"),
                format!("delete line {line} from byte {at} on: `sed -i '{line}s/\\x00*\\r*$//' FILE`"),
            ),
            Oddity::FragmentAfter { at } => (
                format!("a whole record, then something else from byte {at} on{lost}"),
                format!("insert a line end before byte {at} of line {line}"),
            ),
            Oddity::Glued { at } => (
                format!("several records on one line, the second from byte {at} on{lost}"),
                format!("insert a line end before byte {at} of line {line}"),
            ),
            Oddity::Bom => (
                "a UTF-8 byte order mark before the header".to_owned(),
                "delete the first 3 bytes: `sed -i '1s/^\\xEF\\xBB\\xBF//' FILE`".to_owned(),
            ),
            Oddity::BadUtf8 { at } => (
                format!("bytes that are not UTF-8, from byte {at} on"),
                format!(
                    "put the text there that was meant, if it is known; agents read U+FFFD at byte {at} of line {line}"
                ),
            ),
            Oddity::LoneSurrogate { at } => (
                format!("half of a surrogate pair at byte {at}"),
                format!(
                    "replace the six characters at byte {at} of line {line} with `\\ufffd` if a provider refuses them"
                ),
            ),
            Oddity::Escape { at } => (
                format!("an escape sequence for terminals at byte {at}"),
                format!("remove it from line {line}, unless it is meant; `session-tree` shows it escaped"),
            ),
            Oddity::Big { bytes } => (
                format!("{} MB on one line", bytes / 1_000_000),
                format!("remove images from line {line}, or go on after a compaction"),
            ),
            Oddity::Foreign => self.foreign(),
            Oddity::NoSlot { fault } => {
                let member = SLOT_MEMBERS.get(usize::from(fault)).copied();
                (
                    format!(
                        "a title line that is not a title slot to omp: {}",
                        member.unwrap_or("it is not the first line")
                    ),
                    format!("delete line {line}; to keep the title, set `title` in the header"),
                )
            }
            Oddity::SlotSize { bytes } => {
                (format!("the title slot has {bytes} bytes instead of {SLOT_SIZE}"), self.fill_slot(bytes))
            }
            Oddity::Patch => (
                "another program changes entries or the header by lines (`entry_patch`, `header_patch`)".to_owned(),
                "open it with the program that wrote it, a fork of omp, which shows the changes".to_owned(),
            ),
            Oddity::SecondHeader => {
                ("a second session header; the first one counts".to_owned(), format!("delete line {line}"))
            }
            Oddity::Untyped => (
                format!("`{own}` has no type"),
                format!("give line {line} a `type`, such as \"custom\"; do not delete it if it has children"),
            ),
            Oddity::NoMessage => (
                format!("message entry `{own}` without a message"),
                format!("change `type` of line {line} to \"custom\"; its children keep their parent"),
            ),
            Oddity::NoRole => (
                format!("message `{own}` has no known role"),
                format!("set `role` in line {line}, or change its `type` to \"custom\""),
            ),
            Oddity::NoContent => (format!("`{own}` has no content"), format!("set `content` in line {line} to []")),
            Oddity::BadContent => (
                format!("the content of `{own}` is neither a list of blocks nor a text where one is allowed"),
                format!("make `content` in line {line} a list: [{{\"type\":\"text\",\"text\":\"...\"}}]"),
            ),
            Oddity::BadBlock { number } => (
                format!("content block {number} of `{own}` does not have the form of its type"),
                format!("correct or remove block {number} of `content` in line {line}"),
            ),
            Oddity::NoUsage => {
                let usage = "\"usage\":{\"input\":0,\"output\":0,\"cacheRead\":0,\"cacheWrite\":0,\"totalTokens\":0,\"cost\":{\"input\":0,\"output\":0,\"cacheRead\":0,\"cacheWrite\":0,\"total\":0}}";
                (
                    format!("assistant message `{own}` without `usage`"),
                    format!("if omp 13 has to open it, add {usage} to `message` in line {line}"),
                )
            }
            Oddity::NoCallId => (
                format!("tool result `{own}` without the id of its call (`toolCallId`)"),
                format!("set `toolCallId` in line {line} to the `id` of its call"),
            ),
            Oddity::BadMember { index } => {
                let (name, form) =
                    MEMBERS.get(usize::from(index)).map_or(("", ""), |member| (member.name, member.form));
                (
                    format!("`{name}` of `{own}` is missing, or not {form}"),
                    format!("make `{name}` in line {line} {form}"),
                )
            }
            Oddity::NoCost { is_message } => (
                format!(
                    "`usage` of {} `{own}` has no `cost`",
                    if is_message { "the assistant message" } else { "the entry" }
                ),
                format!(
                    "add \"cost\":{{\"input\":0,\"output\":0,\"cacheRead\":0,\"cacheWrite\":0,\"total\":0}} to `usage` in line {line}"
                ),
            ),
            Oddity::NoParent => (format!("`{own}` has no `parentId`"), self.to_parent_before()),
        }
    }

    fn fill_slot(&self, size: u32) -> String {
        let line = self.finding.line;
        match size.checked_sub(SLOT_SIZE) {
            None => format!("add {} spaces to `pad` in line {line}", SLOT_SIZE - size),
            Some(more) => format!("remove {more} spaces of `pad` in line {line}, or shorten its `title`"),
        }
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
}
