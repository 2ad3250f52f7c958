//! Findings in the conversation as a model would get it at the leaf: failed turns, tool calls without
//! results and results without calls, and what compactions keep. All else is up to [`super::tree`].

use std::collections::HashMap;
use std::ops::Range;

use super::codes::Code;
use super::finding::{Detail, RawFinding};
use crate::core::context::{self, ContextMessage};
use crate::core::entry::{Kind, Role, StopReason};
use crate::core::error::Result;
use crate::core::read::inspect::LineNotes;
use crate::core::session::body::Bodies;
use crate::core::session::{NodeId, Session};
use crate::core::tree::walk::Subtrees;

pub(super) fn check(session: &Session, notes: &LineNotes, found: &mut Vec<RawFinding>) -> Result<()> {
    let mut bodies = Bodies::new(session);
    let context = context::build(&mut bodies, session.leaf())?;
    let messages = context.messages.iter().filter_map(|item| match *item {
        ContextMessage::Stored(node) | ContextMessage::Edited { target: node, .. } => Some(node),
        _ => None,
    });
    let messages: Vec<NodeId> = messages.filter(|&node| session.traits(node).kind == Kind::Message).collect();
    for &node in &messages {
        // Nothing is lost with a turn that failed before it said anything.
        let says = session.traits(node).has_text || !of_line(&notes.calls, session.line(node)).is_empty();
        if says && is_failed(&mut bodies, node)? {
            found.push(RawFinding::of(session, Code::LeftOut, node, Detail::Nothing));
        }
    }
    calls(session, notes, &messages, found);
    compactions(session, &mut bodies, context.compaction(), found)
}

/// Returns whether an assistant's turn failed.
fn is_failed(bodies: &mut Bodies<'_>, node: NodeId) -> Result<bool> {
    let traits = bodies.session().traits(node);
    if traits.role != Role::Assistant || traits.stop != StopReason::Other {
        return Ok(traits.role == Role::Assistant && traits.stop == StopReason::Aborted);
    }
    let message = bodies.entry(node)?.message();
    Ok(message.and_then(|message| message.get_str("stopReason")).as_deref() == Some("error"))
}

/// Returns the range of the notes on a line.
fn of_line(list: &[(u32, u64)], line: u32) -> Range<usize> {
    list.partition_point(|(other, _)| *other < line)..list.partition_point(|(other, _)| *other <= line)
}

/// Pairs tool calls with their results. Calls of the last turn may still be running.
fn calls(session: &Session, notes: &LineNotes, messages: &[NodeId], found: &mut Vec<RawFinding>) {
    // The call's entry and its place among the calls, by the hash of the call's id.
    let mut open: HashMap<u64, (NodeId, usize)> = HashMap::new();
    for &node in messages {
        let line = session.line(node);
        for place in of_line(&notes.calls, line) {
            open.insert(notes.calls[place].1, (node, place));
        }
        for place in of_line(&notes.results, line) {
            let call = notes.results[place].1;
            if open.remove(&call).is_none() {
                found.push(RawFinding::of(session, Code::ResultWithoutCall, node, Detail::Call(call)));
            }
        }
    }
    let pending = messages.iter().rfind(|&&node| session.traits(node).role != Role::ToolResult).copied();
    open.retain(|_, (node, _)| Some(*node) != pending);
    let mut open: Vec<_> = open.into_iter().map(|(call, (node, place))| (place, node, call)).collect();
    open.sort_unstable();
    for (_, node, call) in open {
        found.push(RawFinding::of(session, Code::CallWithoutResult, node, Detail::Call(call)));
        found.push(RawFinding::of(session, Code::LeftOut, node, Detail::Call(call)));
    }
}

/// Finds compactions whose first kept entry is missing or not above them. `last` is the one in force at
/// the leaf.
fn compactions(
    session: &Session,
    bodies: &mut Bodies<'_>,
    last: Option<NodeId>,
    found: &mut Vec<RawFinding>,
) -> Result<()> {
    let is_message = |&node: &NodeId| matches!(session.traits(node).kind, Kind::Message | Kind::CustomMessage);
    let before = |node: NodeId| {
        let above = session.ancestors(session.parent(node));
        let count = (last == Some(node)).then(|| above.filter(is_message).count())?;
        u32::try_from(count).ok()
    };
    let mut subtrees = None;
    for node in session.nodes().filter(|&node| session.traits(node).kind == Kind::Compaction) {
        let entry = bodies.entry(node)?;
        if context::remote_history(entry).is_some() {
            continue;
        }
        let kept = entry.get_str("firstKeptEntryId").unwrap_or_default();
        if kept.is_empty() || kept == session.id(node) {
            continue;
        }
        let Some(kept) = session.find(&kept) else {
            found.push(RawFinding::of(session, Code::KeptEntryMissing, node, Detail::Kept(None, before(node))));
            continue;
        };
        if !subtrees.get_or_insert_with(|| Subtrees::new(session)).is_above(kept, node) {
            let detail = Detail::Kept(Some(kept), before(node));
            found.push(RawFinding::of(session, Code::KeptEntryOffPath, node, detail));
        }
    }
    Ok(())
}
