//! The words of findings: message, effect and fix. What is not in a [`RawFinding`] is read from the file
//! again. Every word from a file may hold anything; `ui` makes it safe.

mod entry;
mod line;
mod wording;

use self::wording::Wording;
use super::codes::Code;
use super::finding::{Detail, Finding, RawFinding};
use crate::core::error::Result;
use crate::core::error::foreign::ForeignFormat;
use crate::core::read::inspect::{LineNotes, Oddity};
use crate::core::read::load;
use crate::core::session::body::Bodies;
use crate::core::words::counted;

/// Returns one finding in words; `bodies` is `None` for a file that is not a session.
pub(super) fn finding(finding: &RawFinding, notes: &LineNotes, bodies: Option<&mut Bodies<'_>>) -> Result<Finding> {
    let entry_id = bodies.as_ref().and_then(|bodies| Some(bodies.session().id(finding.node?).to_owned()));
    let (message, fix) = match (bodies, finding.detail) {
        (None, _) => not_a_session(finding),
        (Some(bodies), Detail::Odd(odd)) => Wording { finding, notes, session: bodies.session() }.of_line(odd),
        (Some(bodies), _) => Wording { finding, notes, session: bodies.session() }.of_entry(bodies)?,
    };
    let RawFinding { code, line, unreachable, .. } = *finding;
    Ok(Finding { code, line, entry_id, message, effect: effect(finding), fix, unreachable })
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
        (Code::MalformedLine, Detail::Odd(Oddity::Cut { wants_value: true })) => {
            "pi skips it; omp takes the next line for the value, so that the entry there is lost, too; omp 18 rewrites the file without both when it next saves"
        }
        (Code::UnfinishedLine, Detail::Odd(Oddity::Unfinished { wants_value: true })) => {
            "pi skips it and adds a line end; omp takes what is appended next for its value, which is lost too; `session-tree` writes a line `}` between"
        }
        (Code::MalformedLine, Detail::Odd(Oddity::NotAnObject { is_null: true })) => {
            "pi skips it; omp cannot open the file"
        }
        (Code::MalformedLine, Detail::Odd(Oddity::NotAnObject { .. })) => Code::ForeignLine.agents(),
        (Code::ForeignLine, Detail::Odd(Oddity::Patch)) => {
            "pi, omp and `session-tree` do not apply them; where one is the last line, pi and omp resume with an empty conversation"
        }
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
