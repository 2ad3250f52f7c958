//! Fixes of damaged lines: what is whole on them gets lines of its own (`super::split`), and the rest goes.

use super::plan::{NewLine, Segment};
use super::repair::Repair;
use super::state::FileView;
use super::tasks::{Action, LineTask, Tasks};
use crate::core::check::codes::Code;
use crate::core::check::finding::Detail;
use crate::core::check::fixes::FixKind;
use crate::core::entry::Role;
use crate::core::entry::header::DeclaredVersion;
use crate::core::error::Result;
use crate::core::read::inspect::Oddity;
use crate::core::read::line;

/// Mends what loses nothing: byte order marks, line ends, records among other bytes, NUL bytes, lines before the
/// header; and as a guess the header's version.
pub(super) fn repair(view: &FileView<'_>, tasks: &mut Tasks) -> Result<()> {
    let task = |code, kind, action| LineTask { code, kind, entry_id: None, action };
    for finding in view.found(&[Code::Bom, Code::NoLineEnd, Code::UnknownVersion, Code::ShortSlot, Code::LongSlot]) {
        let (kind, action) = match finding.code {
            Code::ShortSlot | Code::LongSlot => (FixKind::Safe, Action::Message(Repair::Slot)),
            Code::Bom => (FixKind::Safe, Action::DropBom),
            Code::NoLineEnd => (FixKind::Safe, Action::AddLineEnd),
            _ if view.options.guesses => (FixKind::Guess, version(view)),
            _ => continue,
        };
        tasks.push(finding.line, task(finding.code, kind, action));
    }
    for finding in view.found(&[Code::MalformedLine, Code::UnfinishedLine, Code::GluedObjects, Code::NulRun]) {
        let Detail::Odd(odd) = finding.detail else { continue };
        let action = match odd {
            Oddity::Nul { .. } => Action::Remove("NUL bytes alone"),
            _ if view.counts_lines() => continue,
            Oddity::NotAnObject { .. } | Oddity::TooLong | Oddity::LoneBrace => continue,
            _ => Action::Split { objects: matches!(finding.code, Code::GluedObjects | Code::NulRun) },
        };
        tasks.push(finding.line, task(finding.code, FixKind::Safe, action));
    }
    before_header(view, tasks)
}

/// Moves foreign lines before the header to after it.
fn before_header(view: &FileView<'_>, tasks: &mut Tasks) -> Result<()> {
    let header = view.session.header.line;
    let moved: Vec<_> = view.found(&[Code::HeaderNotFirst]).map(|finding| finding.line).collect();
    // In version 1 a line after the header is an entry. What else is done to these lines comes first.
    if moved.is_empty() || view.counts_lines() {
        return Ok(());
    }
    let others = tasks.lines();
    if others.contains(&header) || moved.iter().any(|line| others.contains(line)) {
        return Ok(());
    }
    let mut lines = Vec::new();
    line::each(view.source, |number, line| {
        if moved.binary_search(&number).is_ok() {
            let segment = Segment::Copied { offset: line.offset, len: line.bytes.len() as u64 };
            lines.push(NewLine { segments: vec![segment], terminated: true });
        }
        number < header
    })?;
    let task = |action| LineTask { code: Code::HeaderNotFirst, kind: FixKind::Safe, entry_id: None, action };
    for &line in &moved {
        tasks.push(line, task(Action::Move("moved to after the header".to_owned())));
    }
    tasks.push(header, task(Action::Append(lines, String::new())));
    Ok(())
}

fn version(view: &FileView<'_>) -> Action {
    let session = view.session;
    // Only version 2 has this role.
    let is_old = session.nodes().any(|node| session.traits(node).role == Role::HookMessage);
    let version: &[u8] = if is_old { b"2" } else { b"3" };
    let was = if session.header.version == DeclaredVersion::Absent { "was missing" } else { "was no version" };
    let what = format!("`version` set to {}, which {was}", String::from_utf8_lossy(version));
    Action::Set(vec![("version", version.to_vec())], what)
}

/// Removes lines on which nothing is whole: a guess, since a person might still read something from them.
pub(super) fn remove(view: &FileView<'_>, tasks: &mut Tasks) -> Result<()> {
    if !view.options.guesses {
        return Ok(());
    }
    for finding in view.found(&[Code::MalformedLine, Code::UnfinishedLine, Code::GluedObjects, Code::NulRun]) {
        let Detail::Odd(odd) = finding.detail else { continue };
        let what = match odd {
            Oddity::TooLong => continue,
            // Agents count it in version 1.
            Oddity::NotAnObject { .. }
            | Oddity::Glued { .. }
            | Oddity::FragmentBefore { .. }
            | Oddity::FragmentAfter { .. }
            | Oddity::NulBefore { .. }
            | Oddity::NulAfter { .. }
                if view.counts_lines() =>
            {
                continue;
            }
            Oddity::NotAnObject { .. } => "not an object",
            Oddity::LoneBrace => "a lone brace",
            Oddity::Unfinished { .. } => "unfinished",
            _ => "no whole record on it",
        };
        let action = Action::RemoveDamaged { what, is_list: view.counts_lines() };
        let task = LineTask { code: finding.code, kind: FixKind::Guess, entry_id: None, action };
        tasks.push(finding.line, task);
    }
    Ok(())
}
