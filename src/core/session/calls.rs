//! The calls of all tool results of a session, found in one pass. [`super::body`] looks up a few calls one by
//! one; where that has read more than the whole file, as it does if many results answer the calls of one long
//! message, it goes on with these.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;

use super::body::Bodies;
use super::{NodeId, Session};
use crate::core::entry::{Role, preview};
use crate::core::error::Result;

/// The row texts of the calls that results answer.
#[derive(Debug, Default)]
pub(super) struct AnsweredCalls {
    texts: Vec<String>,
    /// By result: its text.
    text_of: HashMap<NodeId, usize>,
}

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
    /// Finds the calls of all results, each in the nearest message above that has it.
    ///
    /// # Errors
    /// As [`Bodies::entry`].
    pub(super) fn read(session: &Session) -> Result<Self> {
        let mut bodies = Bodies::new(session);
        let mut candidates = Vec::new();
        for result in session.nodes().filter(|&node| session.traits(node).role == Role::ToolResult) {
            let Some(call) = bodies.entry(result)?.tool_call_id().map(|id| session.hasher.hash_one(&*id)) else {
                continue;
            };
            let callers = session.callers(result).zip(0_u8..);
            candidates.extend(callers.map(|(caller, rank)| Candidate { caller, call, result, rank }));
        }
        candidates.sort_unstable();
        let mut found = Self::default();
        let mut ranks: HashMap<NodeId, u8> = HashMap::new();
        for own in candidates.chunk_by(|a, b| a.caller == b.caller) {
            let mut seen = HashSet::new();
            for call in bodies.entry(own[0].caller)?.calls() {
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
                        found.text_of.insert(answer.result, found.texts.len());
                    }
                }
                found.texts.push(text);
            }
        }
        Ok(found)
    }

    /// Returns the text of the call that a result answers.
    pub(super) fn of(&self, result: NodeId) -> Option<&str> {
        self.text_of.get(&result).map(|&at| self.texts[at].as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::AnsweredCalls;
    use crate::core::session::body::Bodies;
    use crate::core::session::sample::{calls, node, result, session};

    #[test]
    fn the_calls_of_all_results_are_those_that_are_looked_up_one_by_one() {
        let lines = [
            calls("a1", "", &[("read", "one"), ("read", "two"), ("read", "three")]),
            result("r1", "a1", "call-1"),
            result("r2", "a1", "call-2"),
            calls("a2", "r1", &[("edit", "four"), ("edit", "five")]),
            // The nearest message that has the call counts, and nothing below or beside.
            result("r3", "a2", "call-0"),
            result("r4", "a2", "call-2"),
            result("r5", "r2", "call-0"),
            result("r6", "a2", "call-7"),
            calls("a1", "r6", &[]).replace("\"a1\"", "\"a3\""),
            // Of two calls with one id the first counts.
            calls("a4", "a3", &[("read", "six"), ("read", "seven")]).replace("call-1", "call-0"),
            result("r7", "a4", "call-0"),
            result("r8", "", "call-0"),
        ];
        let session = session(&lines);
        let found = AnsweredCalls::read(&session).unwrap();
        for (id, expected) in [
            ("r1", "[read: two]"),
            ("r2", "[read: three]"),
            ("r3", "[edit: four]"),
            ("r4", "[read: three]"),
            ("r5", "[read: one]"),
            ("r6", ""),
            ("r7", "[read: six]"),
            ("r8", ""),
            ("a1", ""),
        ] {
            let node = node(&session, id).unwrap();
            assert_eq!(found.of(node).unwrap_or_default(), expected, "{id}");
            let looked_up = Bodies::new(&session).find_call(node).unwrap();
            assert_eq!(looked_up.as_deref().unwrap_or_default(), expected, "{id}");
        }
    }
}
