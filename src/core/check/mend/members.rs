//! Fixes of members of one entry: what agents cannot do without is set, and all other bytes stay.

use super::repair::Repair;
use super::state::FileView;
use super::tasks::{Action, LineTask, Tasks};
use crate::core::check::codes::Code;
use crate::core::check::finding::Detail;
use crate::core::check::fixes::FixKind;
use crate::core::check::lines::time_before;
use crate::core::json::splice::string_or_null;
use crate::core::read::inspect::Oddity;

/// Mends what stands in single entries.
pub(super) fn find(view: &FileView<'_>, tasks: &mut Tasks) {
    const CODES: &[Code] = &[
        Code::MalformedMessage,
        Code::MissingContent,
        Code::NoUsage,
        Code::NoCost,
        Code::UnreadableTime,
        Code::UntypedEntry,
    ];
    for finding in view.found(CODES) {
        let (kind, action) = match finding.code {
            Code::MissingContent => (FixKind::Safe, Action::Message(Repair::Content)),
            _ if !view.options.guesses => continue,
            Code::UnreadableTime => {
                let time = time_before(view.session, finding.line);
                let what = format!("`timestamp` set to \"{time}\"");
                (FixKind::Guess, Action::Set(vec![("timestamp", string_or_null(Some(&time)))], what))
            }
            Code::MalformedMessage if matches!(finding.detail, Detail::Odd(Oddity::NoMessage | Oddity::NoRole)) => {
                (FixKind::Guess, Action::Message(Repair::Custom))
            }
            Code::NoUsage => (FixKind::Guess, Action::Message(Repair::Usage)),
            Code::NoCost => (FixKind::Guess, Action::Message(Repair::Cost)),
            Code::UntypedEntry => (FixKind::Guess, Action::Message(Repair::Type)),
            _ => continue,
        };
        let entry_id = finding.node.map(|node| view.session.id(node).to_owned());
        tasks.push(finding.line, LineTask { code: finding.code, kind, entry_id, action });
    }
}
