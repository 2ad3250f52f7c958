//! Findings in the conversation as a model would get it at the leaf: failed turns, tool calls without
//! results and results without calls, and what compactions keep. All else is up to [`super::tree`].

use std::collections::HashMap;
use std::ops::Range;

use super::codes::Code;
use super::finding::{Detail, RawFinding};
use crate::core::context::{self, ContextMessage};
use crate::core::entry::{Kind, Role, StopReason};
use crate::core::error::Result;
use crate::core::json::Raw;
use crate::core::read::inspect::LineNotes;
use crate::core::session::body::Bodies;
use crate::core::session::{NodeId, Session};
use crate::core::tree::walk::Subtrees;

pub(super) fn check(session: &Session, notes: &LineNotes, found: &mut Vec<RawFinding>) -> Result<()> {
    let mut bodies = Bodies::new(session);
    let context = context::build(&mut bodies, session.leaf())?;
    let mut told = Vec::new();
    for item in &context.messages {
        let what = match item.role(session) {
            "toolResult" => Told::Result,
            "assistant" => Told::Turn { has_failed: false },
            // Agents move system messages out of the way, and do not send what they do not know.
            "user" | "custom" | "branchSummary" | "compactionSummary" | "bashExecution" => Told::Other,
            _ => continue,
        };
        let (ContextMessage::Stored(node) | ContextMessage::Edited { target: node, .. }) = *item else {
            told.push((what, None));
            continue;
        };
        let what = match what {
            Told::Turn { .. } => Told::Turn { has_failed: is_failed(&mut bodies, node)? },
            Told::Other if is_left_out(&mut bodies, node)? => continue,
            what => what,
        };
        told.push((what, Some(node)));
    }
    failed_turns(session, &told, found);
    calls(session, notes, &told, found);
    compactions(session, &mut bodies, context.compaction(), found)
}

/// What a message is for the calls before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Turn { has_failed: bool },
    Result,
    Other,
}

/// Reports failed turns whose text a model does not get. Nothing is lost with one that was tried again.
fn failed_turns(session: &Session, told: &[(Told, Option<NodeId>)], found: &mut Vec<RawFinding>) {
    for (at, &(what, node)) in told.iter().enumerate() {
        let is_tried_again = || matches!(told.get(at + 1), Some((Told::Turn { .. }, _)));
        if let Some(node) = node.filter(|&node| session.traits(node).has_text)
            && what == (Told::Turn { has_failed: true })
            && !is_tried_again()
        {
            found.push(RawFinding::of(session, Code::LeftOut, node, Detail::Nothing));
        }
    }
}

/// Returns whether a message is the output of a command that was kept from the model.
fn is_left_out(bodies: &mut Bodies<'_>, node: NodeId) -> Result<bool> {
    if bodies.session().traits(node).role != Role::BashExecution {
        return Ok(false);
    }
    let message = bodies.entry(node)?.message();
    Ok(message.and_then(|message| message.get("excludeFromContext")).is_some_and(Raw::is_true))
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

/// Pairs tool calls with their results as agents do: turn by turn, since an id may be that of several calls.
/// Calls of the last turn may still be running.
fn calls(session: &Session, notes: &LineNotes, told: &[(Told, Option<NodeId>)], found: &mut Vec<RawFinding>) {
    let mut pairs =
        Pairs { session, notes, open: HashMap::new(), turn: None, fates: HashMap::new(), last: HashMap::new() };
    for (at, node) in told.iter().enumerate().filter_map(|(at, (_, node))| Some((at, (*node)?))) {
        pairs.last.extend(pairs.calls_of(node).map(|call| (call, at)));
    }
    for (at, &(what, node)) in told.iter().enumerate() {
        match (what, node) {
            (Told::Result, Some(node)) => pairs.result(at, node, found),
            (Told::Turn { has_failed }, Some(node)) => {
                pairs.close(found);
                pairs.open(node, has_failed);
            }
            _ => pairs.close(found),
        }
    }
}

/// What became of the last call with an id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// It has a result.
    Answered,
    /// Something else was said before there was a result; agents put one in its place.
    Unanswered,
    /// Its turn failed.
    Failed,
}

/// The calls so far, all by the hashes of their ids.
struct Pairs<'p> {
    session: &'p Session,
    notes: &'p LineNotes,
    /// How many calls of the turn have no result yet.
    open: HashMap<u64, usize>,
    turn: Option<NodeId>,
    /// Of the calls of closed turns, and of those with a result.
    fates: HashMap<u64, Fate>,
    /// Where the last call is.
    last: HashMap<u64, usize>,
}

impl<'p> Pairs<'p> {
    fn calls_of(&self, node: NodeId) -> impl Iterator<Item = u64> + use<'p> {
        let notes = self.notes;
        of_line(&notes.calls, self.session.line(node)).map(|place| notes.calls[place].1)
    }

    fn open(&mut self, node: NodeId, has_failed: bool) {
        if has_failed {
            self.fates.extend(self.calls_of(node).map(|call| (call, Fate::Failed)));
            return;
        }
        self.turn = Some(node);
        for call in self.calls_of(node) {
            *self.open.entry(call).or_default() += 1;
        }
    }

    /// Closes the turn. omp 13 puts a result in the place of a missing one, unless the id has one already.
    fn close(&mut self, found: &mut Vec<RawFinding>) {
        let Some(turn) = self.turn.take() else { return };
        for call in self.calls_of(turn) {
            if let Some(open) = self.open.get_mut(&call).filter(|open| **open > 0) {
                *open -= 1;
                if self.fates.insert(call, Fate::Unanswered).is_some() {
                    found.push(RawFinding::of(self.session, Code::CallWithoutResult, turn, Detail::Call(call)));
                }
            }
        }
        self.open.clear();
    }

    /// Finds the call of a result.
    fn result(&mut self, at: usize, node: NodeId, found: &mut Vec<RawFinding>) {
        for place in of_line(&self.notes.results, self.session.line(node)) {
            let call = self.notes.results[place].1;
            let fate = self.fates.insert(call, Fate::Answered);
            let code = match self.open.get_mut(&call) {
                Some(open) if *open > 0 => {
                    *open -= 1;
                    continue;
                }
                Some(_) => Code::SecondResult,
                None => match fate {
                    Some(Fate::Failed) => Code::ResultOfFailedTurn,
                    Some(Fate::Unanswered) => Code::ResultElsewhere,
                    Some(Fate::Answered) if self.is_before_call(at, call) => Code::ResultElsewhere,
                    Some(Fate::Answered) => Code::SecondResult,
                    None if self.is_before_call(at, call) => Code::ResultElsewhere,
                    None => Code::ResultWithoutCall,
                },
            };
            found.push(RawFinding::of(self.session, code, node, Detail::Call(call)));
        }
    }

    fn is_before_call(&self, at: usize, call: u64) -> bool {
        self.last.get(&call).is_some_and(|&last| last > at)
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
        let kept = entry.get_id("firstKeptEntryId").unwrap_or_default();
        if kept.is_empty() || kept == session.id(node) {
            let tail = entry.get("retainedTail").map_or(0, |tail| tail.elements().count());
            if tail > 0 && last == Some(node) {
                let count = u32::try_from(tail).unwrap_or(u32::MAX);
                found.push(RawFinding::of(session, Code::RetainedTail, node, Detail::Count(count)));
            }
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
