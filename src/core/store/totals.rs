//! What a whole session has, and what of it no earlier session of its family has: forks copy entries, and
//! each counts once.
//!
//! An entry is the same as another one if both have one id, type and time: forks write lines anew and hang
//! them elsewhere, and those of omp set costs to 0.

use std::collections::HashSet;
use std::hash::{BuildHasher, RandomState};

use crate::core::entry::Kind;
use crate::core::entry::usage::{Amounts, RecordedUsage};
use crate::core::session::{NodeId, Session};
use crate::core::tree::walk;

/// Numbers of entries, and the usage that these record.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct EntryCounts {
    pub entries: usize,
    pub messages: usize,
    /// User messages.
    pub turns: usize,
    pub usage: Amounts,
    /// How many impossible amounts are left out of the usage.
    pub odd: usize,
}

/// What a whole session has.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Totals {
    /// All of its entries.
    pub all: EntryCounts,
    /// Those that no earlier session of its family has.
    pub own: EntryCounts,
    /// Tips whose branch has a message of its own.
    pub branches: usize,
    /// Labels in force.
    pub labels: usize,
    /// The models that wrote messages, as PROVIDER/ID.
    pub models: Vec<String>,
}

impl EntryCounts {
    /// Adds other counts.
    pub(crate) fn add(&mut self, more: &Self) {
        self.entries += more.entries;
        self.messages += more.messages;
        self.turns += more.turns;
        self.usage.add(more.usage);
        self.odd += more.odd;
    }

    fn record(&mut self, recorded: RecordedUsage) {
        self.odd += recorded.odd;
        self.usage.add(recorded.amounts.unwrap_or_default());
    }
}

impl Totals {
    /// Counts what is in a session that was read with its usage; all of it is its own.
    pub(crate) fn of(session: &Session) -> Self {
        let mut all = EntryCounts::default();
        for node in entries(session) {
            all.entries += 1;
            all.messages += usize::from(session.traits(node).kind == Kind::Message);
            all.turns += usize::from(session.is_user(node));
        }
        session.usages().iter().for_each(|(_, recorded)| all.record(*recorded));
        let (branches, labels) = (walk::tips(session).len(), session.labels().len());
        Self { all, own: all, branches, labels, models: session.models().to_vec() }
    }
}

/// Iterates over what counts as an entry: marks of the leaf do not.
fn entries(session: &Session) -> impl Iterator<Item = NodeId> {
    session.nodes().filter(|&node| !session.is_mark(node))
}

/// What is kept of the entries of a session until its family is summed up: eight bytes each, and usage.
#[derive(Debug)]
pub(crate) struct EntryKeys {
    /// By entry: the hash of what makes it the same as others; its lowest bits are [`MESSAGE`] and [`TURN`].
    keys: Vec<u64>,
    /// The usage that entries record, by their index in `keys`.
    usages: Vec<(u32, RecordedUsage)>,
}

const MESSAGE: u64 = 1;
const TURN: u64 = 2;

/// Makes keys that can be compared with each other.
#[derive(Debug, Default)]
pub(crate) struct KeyMaker(RandomState);

impl KeyMaker {
    /// Returns the keys of the entries of a session.
    pub(crate) fn keys(&self, session: &Session) -> EntryKeys {
        self.keys_of(session, |_| true)
    }

    /// Returns the keys of some of its entries.
    pub(crate) fn keys_of(&self, session: &Session, is_wanted: impl Fn(NodeId) -> bool) -> EntryKeys {
        let mut recorded = session.usages().iter().copied().peekable();
        let (mut keys, mut usages) = (Vec::with_capacity(session.len()), Vec::new());
        for node in entries(session).filter(|&node| is_wanted(node)) {
            let traits = session.traits(node);
            while recorded.next_if(|(of, _)| *of < node).is_some() {}
            let hash = self.0.hash_one((session.id(node), traits.kind.name(), session.stamp(node).ms()));
            let is_message = if traits.kind == Kind::Message { MESSAGE } else { 0 };
            let is_turn = if session.is_user(node) { TURN } else { 0 };
            if let Some((_, usage)) = recorded.next_if(|(of, _)| *of == node) {
                usages.push((u32::try_from(keys.len()).unwrap_or(u32::MAX), usage));
            }
            keys.push(hash & !(MESSAGE | TURN) | is_message | is_turn);
        }
        EntryKeys { keys, usages }
    }
}

/// The entries of a family that were seen so far.
#[derive(Debug, Default)]
pub(crate) struct SeenEntries(HashSet<u64>);

impl SeenEntries {
    /// Counts the entries of a session that were not seen before, and sees them from now on. The sessions of
    /// a family come oldest first.
    pub(crate) fn count_new(&mut self, session: &EntryKeys) -> EntryCounts {
        let mut own = EntryCounts::default();
        let mut usages = session.usages.iter().peekable();
        for (at, &key) in (0..).zip(&session.keys) {
            let usage = usages.next_if(|(of, _)| *of == at);
            if !self.0.insert(key) {
                continue;
            }
            own.entries += 1;
            own.messages += usize::from(key & MESSAGE != 0);
            own.turns += usize::from(key & TURN != 0);
            usage.iter().for_each(|(_, recorded)| own.record(*recorded));
        }
        own
    }
}

#[cfg(test)]
mod tests {
    use super::{EntryCounts, KeyMaker, SeenEntries, Totals};
    use crate::core::read::load::LoadOptions;
    use crate::core::read::source::Source;
    use crate::core::session::Session;

    fn read(text: &[u8]) -> Session {
        let options = LoadOptions { usage: true, ..LoadOptions::INDEX_ONLY };
        Session::load(Source::spool(text).unwrap(), options, 1).unwrap()
    }

    fn short(counts: &EntryCounts) -> String {
        let EntryCounts { entries, messages, turns, usage, odd } = counts;
        format!("{entries} {messages} {turns} {} {:.3} {odd}", usage.total_tokens, usage.cost)
    }

    #[test]
    fn a_session_counts_with_all_of_its_branches_and_subagents() {
        let case = |name: &str| {
            let root = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/cases/");
            Totals::of(&read(&std::fs::read(format!("{root}{name}.jsonl")).unwrap()))
        };
        let branches = case("d16-cost-of-all-branches");
        assert_eq!((short(&branches.all), branches.branches), ("6 6 3 1665 2.202 0".to_owned(), 2));
        assert_eq!(branches.models, ["grain/mill-2"]);
        let subagents = case("d17-cost-of-subagents");
        assert_eq!(short(&subagents.all), "4 4 1 550 0.754 0");
        assert_eq!(subagents.own, subagents.all);
    }

    /// Returns a line: an assistant message that costs so many dollars, in the second given.
    fn answer(id: &str, parent: &str, second: u32, cost: u32) -> String {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"2026-01-01T00:00:{second:02}.000Z","message":{{"role":"assistant","content":[],"usage":{{"input":10,"cost":{{"total":{cost}}}}}}}}}"#
        )
    }

    #[test]
    fn an_entry_counts_once_in_the_first_session_that_has_it() {
        let head = r#"{"type":"session","version":3,"id":"s"}"#.to_owned();
        let lines = |more: &[String]| [std::slice::from_ref(&head), more].concat().join("\n");
        let sessions = [
            lines(&[answer("a", "", 1, 4), answer("b", "a", 2, 5)]),
            // Hung elsewhere and without its cost, as forks of omp have it; and one of its own.
            lines(&[answer("b", "", 2, 0), answer("c", "b", 3, 7)]),
            // The same ids at other times, or of other types, are other entries.
            lines(&[answer("a", "", 9, 1), answer("b", "a", 2, 5).replace("message\",\"id", "usage\",\"id")]),
            lines(&[answer("b", "", 2, 5).replace("message\",\"id", "model_usage\",\"id")]),
            // All is known.
            lines(&[answer("c", "", 3, 7), answer("a", "c", 1, 4)]),
        ];
        let (keys, mut seen) = (KeyMaker::default(), SeenEntries::default());
        let own = sessions.map(|text| short(&seen.count_new(&keys.keys(&read(text.as_bytes())))));
        assert_eq!(
            own,
            ["2 2 0 20 9.000 0", "1 1 0 10 7.000 0", "2 1 0 10 1.000 0", "1 0 0 0 0.000 0", "0 0 0 0 0.000 0"]
        );
    }
}
