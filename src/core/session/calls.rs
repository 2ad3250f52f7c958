//! The calls of all tool results of a session, found in one pass. [`super::body`] looks up a few calls one by
//! one; where that has read more than the whole file, as it does if many results answer the calls of one long
//! message, it goes on with these.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;

use super::{NodeId, Session};
use crate::core::entry::{Entry, Role, preview};
use crate::core::error::Result;

/// The row texts of the calls that results answer.
#[derive(Debug, Default)]
pub(super) struct AnsweredCalls {
    texts: Vec<String>,
    /// By result: its text.
    text_of: HashMap<NodeId, usize>,
}

/// Reads an entry, and hands it to a function.
pub(super) type EntryReader<'r> = dyn FnMut(NodeId, &mut dyn FnMut(Entry<'_>)) -> Result<()> + 'r;

/// A message that may hold the call of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    caller: NodeId,
    /// The hash of the call's id.
    call: u64,
    result: NodeId,
    /// How many candidates of the result are nearer.
    rank: u8,
}

impl AnsweredCalls {
    /// Finds the calls of all results, each in the nearest message above that has it. `read` hands entries
    /// over.
    ///
    /// # Errors
    /// Those of `read`.
    pub(super) fn find(session: &Session, read: &mut EntryReader<'_>) -> Result<Self> {
        let mut candidates = Vec::new();
        for result in session.nodes().filter(|&node| session.traits(node).role == Role::ToolResult) {
            let mut call = None;
            read(result, &mut |entry| call = entry.tool_call_id().map(|id| session.hasher.hash_one(&*id)))?;
            let Some(call) = call else { continue };
            let callers = session.callers(result).zip(0_u8..);
            candidates.extend(callers.map(|(caller, rank)| Candidate { caller, call, result, rank }));
        }
        candidates.sort_unstable();
        let mut found = Self::default();
        let mut ranks: HashMap<NodeId, u8> = HashMap::new();
        for own in candidates.chunk_by(|a, b| a.caller == b.caller) {
            read(own[0].caller, &mut |entry| found.add(session, entry, own, &mut ranks))?;
        }
        Ok(found)
    }

    /// Adds the calls of a message that are the nearest so far of its candidates.
    fn add(&mut self, session: &Session, entry: Entry<'_>, own: &[Candidate], ranks: &mut HashMap<NodeId, u8>) {
        let mut seen = HashSet::new();
        for call in entry.calls() {
            let Some(id) = call.id().map(|id| session.hasher.hash_one(&*id)) else { continue };
            let from = own.partition_point(|candidate| candidate.call < id);
            let answers = own[from..].iter().take_while(|candidate| candidate.call == id);
            // Of several calls with one id the first counts.
            if answers.clone().next().is_none() || !seen.insert(id) {
                continue;
            }
            let mut text = String::new();
            preview::call(&mut text, &call.name().unwrap_or_default(), call.arguments());
            for answer in answers {
                let rank = ranks.entry(answer.result).or_insert(u8::MAX);
                if answer.rank < *rank {
                    *rank = answer.rank;
                    self.text_of.insert(answer.result, self.texts.len());
                }
            }
            self.texts.push(text);
        }
    }

    /// Returns the text of the call that a result answers.
    pub(super) fn of(&self, result: NodeId) -> Option<&str> {
        self.text_of.get(&result).map(|&at| self.texts[at].as_str())
    }
}
