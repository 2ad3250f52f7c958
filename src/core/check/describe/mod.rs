//! The words of findings: message, effect and fix. What is not in a [`RawFinding`] is read from the file
//! again. Every word from a file may hold anything; `ui` makes it safe.

mod entry;
mod line;
mod wording;

use std::collections::HashMap;

use self::wording::Wording;
use super::codes::Code;
use super::finding::{Detail, Finding, OddHeader, RawFinding};
use crate::core::error::Result;
use crate::core::error::foreign::ForeignFormat;
use crate::core::error::header::HeaderFault;
use crate::core::read::inspect::members::MEMBERS;
use crate::core::read::inspect::{self, LineNotes, Oddity};
use crate::core::session::body::Bodies;
use crate::core::session::{NodeId, Session};
use crate::core::words::counted;

/// What is read again for the words of findings.
pub(super) struct Details<'s> {
    bodies: Bodies<'s>,
    /// The entries that count, by the lines of those with the same ids that do not.
    counting: HashMap<u32, NodeId>,
    /// The entry whose calls were named last, and their ids by their hashes: there may be a finding for each.
    calls: Option<(NodeId, HashMap<u64, String>)>,
}

impl<'s> Details<'s> {
    pub(super) fn new(session: &'s Session, notes: &LineNotes) -> Self {
        let mut counting = HashMap::new();
        for duplicate in notes.duplicates.iter().rev() {
            let node = session.on_line(duplicate.line).or_else(|| counting.get(&duplicate.line).copied());
            counting.extend(node.map(|node| (duplicate.first_line, node)));
        }
        Self { bodies: Bodies::new(session), counting, calls: None }
    }

    /// Returns the id of the entry that a finding is about.
    fn id(&self, finding: &RawFinding) -> Option<&'s str> {
        let node = finding.node.or_else(|| self.counting.get(&finding.line).copied())?;
        Some(self.bodies.session().id(node))
    }

    /// Returns the id of a call of an entry, or of the call that the entry answers, by its hash.
    fn call(&mut self, node: NodeId, hash: u64) -> Result<String> {
        let calls = match self.calls.take().filter(|(last, _)| *last == node) {
            Some((_, calls)) => calls,
            None => {
                let entry = self.bodies.entry(node)?;
                let ids = entry.tool_call_id().into_iter().chain(entry.calls().filter_map(|call| call.id()));
                ids.map(|id| (inspect::hash(id.as_bytes()), id.into_owned())).collect()
            }
        };
        let id = calls.get(&hash).cloned().unwrap_or_default();
        self.calls = Some((node, calls));
        Ok(id)
    }
}

/// Returns one finding in words; `details` is `None` for a file that is not a session.
pub(super) fn finding(finding: &RawFinding, notes: &LineNotes, details: Option<&mut Details<'_>>) -> Result<Finding> {
    let session = details.as_ref().map(|details| details.bodies.session());
    let own = details.as_ref().and_then(|details| details.id(finding));
    let entry_id = own.map(str::to_owned);
    let own = own.unwrap_or_default();
    let (message, fix) = match (details.zip(session), finding.detail) {
        (None, _) => not_a_session(finding),
        (Some((_, session)), Detail::Odd(odd)) => Wording { finding, notes, session, own }.of_line(odd),
        (Some((details, session)), _) => Wording { finding, notes, session, own }.of_entry(details)?,
    };
    let RawFinding { code, line, unreachable, .. } = *finding;
    Ok(Finding { code, line, entry_id, message, effect: effect(finding), fix, unreachable })
}

fn not_a_session(finding: &RawFinding) -> (String, String) {
    let fault = match finding.detail {
        Detail::NoHeader(fault) => fault,
        Detail::Foreign(format) => {
            return (format!("not a session of pi or omp: {}", format.meaning()), format.remedy().to_owned());
        }
        _ => return ("the file is empty".to_owned(), "delete it; there is nothing in it to lose".to_owned()),
    };
    match finding.code {
        Code::UnreadableHeader => {
            let version = r#"{"type":"session","version":3,"id":"ID","timestamp":"TIME","cwd":"FOLDER"}"#;
            let id = "the id is in the file's name, after the `_`";
            let what = if fault == HeaderFault::NoId { "give it" } else { "repair it so that it has" };
            (
                format!("the session cannot be read: {fault}"),
                format!("{what} the form {version}; {id}. Keep a copy first"),
            )
        }
        _ => (
            format!("not a session: {fault}"),
            "if it was one, insert a header such as {\"type\":\"session\",\"version\":3,\"id\":\"ID\",...} as the first \
             line; else do not open it with agents"
                .to_owned(),
        ),
    }
}

/// Returns what is lost, then what agents do.
fn effect(finding: &RawFinding) -> String {
    let agents = match (finding.code, finding.detail) {
        (Code::MalformedLine, Detail::Odd(Oddity::Cut { wants_value: true })) => {
            "pi skips it; omp takes the next line, the last one, for the value, so that the entry there is lost, too; omp 18 rewrites the file without both when it next saves"
        }
        (Code::UnfinishedLine, Detail::Odd(Oddity::Unfinished { wants_value: true })) => {
            "pi skips it and adds a line end; omp 13 appends its next entry to it, which is lost too; omp takes what others append next for its value, until more follows; omp 18 rewrites the file without it when it next saves; `session-tree` writes a line `}` between"
        }
        (_, Detail::Odd(Oddity::NulAfter { .. } | Oddity::FragmentAfter { .. })) => {
            "pi skips the whole line; omp keeps the record at its start; omp 18 rewrites the file without the rest when it next saves"
        }
        (Code::MalformedLine, Detail::Odd(Oddity::NotAnObject { is_null: true })) => {
            "pi skips it; omp cannot open the file"
        }
        (Code::ForeignLine, Detail::Odd(Oddity::Patch)) => {
            "pi, omp and `session-tree` do not apply them; where one is the last line, pi and omp resume with an empty conversation"
        }
        (Code::OddMember, Detail::Odd(Oddity::BadMember { index })) => {
            MEMBERS.get(usize::from(index)).map_or(Code::OddMember.agents(), |member| member.agents)
        }
        (Code::NoCost, Detail::Odd(Oddity::NoCost { is_message: false })) => {
            "omp 18 cannot open the file; pi and omp 13 open it"
        }
        (Code::NoCost, _) => "omp cannot open the file; pi opens it",
        (Code::OddHeader, Detail::Header(OddHeader::Id)) => {
            "pi and omp open it; programs that name files after it can write to another folder"
        }
        (Code::OddHeader, Detail::Header(OddHeader::Version)) => "pi and omp take it for version 3, or an older one",
        // It starts with the header of its session.
        (Code::NotASession, Detail::Foreign(ForeignFormat::EventStream)) => Code::ForeignLeaf.agents(),
        (code, _) => code.agents(),
    };
    if let Detail::Kept(_, Some(count)) = finding.detail {
        let none = if count == 1 {
            "the message before it is left".to_owned()
        } else {
            format!("all {count} messages before it are left")
        };
        return format!("{none} out of the context: {agents}");
    }
    let Some(count) = finding.unreachable.filter(|&count| count > 0) else { return agents.to_owned() };
    let what = match finding.code {
        Code::Cycle | Code::SelfParent if matches!(finding.detail, Detail::Count(1)) => {
            "cannot be reached (the whole session)"
        }
        Code::Cycle | Code::SelfParent => "cannot be reached (off the path)",
        Code::LeafOnOlderBranch | Code::LeafNotLast => "of the newest conversation not resumed",
        Code::DuplicateId => "replaced",
        _ => "can no longer be reached from the leaf",
    };
    format!("{} {what}: {agents}", counted(count, "entry", "entries"))
}
