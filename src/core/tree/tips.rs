//! The ends of the branches of a session (`tree --tips`, `check --why-leaf`): they are those of the whole
//! tree, whatever a view shows of it. Which of them a view lists is up to [`super::view`].

use super::walk;
use crate::core::entry::Kind;
use crate::core::entry::usage::Amounts;
use crate::core::session::{NodeId, Session};

/// The end of a branch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tip {
    /// The last entry of its conversation; what follows it are only settings and marks.
    pub node: NodeId,
    /// The last entry of all, where agents would resume.
    pub end: NodeId,
    /// The nearest entry above at which other branches go off; `None` if there is none.
    pub fork: Option<NodeId>,
    /// What the branch has of its own, below the fork.
    pub own: BranchTotals,
    /// What is on the whole path from the root.
    pub whole: BranchTotals,
    /// Its first user message of its own; else [`Self::node`].
    pub first: NodeId,
    /// Whether the leaf is at the tip, or among what follows it.
    pub has_leaf: bool,
}

/// What the entries of a path come to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BranchTotals {
    /// How many messages there are.
    pub messages: usize,
    /// How many of them are the user's.
    pub turns: usize,
    /// The usage that they record, if the session was read with it.
    pub usage: Amounts,
}

impl BranchTotals {
    fn add(&mut self, more: &Self) {
        self.messages += more.messages;
        self.turns += more.turns;
        self.usage.add(more.usage);
    }
}

/// The entries between two forks, or between a fork and a tip.
#[derive(Clone, Copy, Default)]
struct Stretch {
    /// The entry above it, and the number of its stretch.
    above: Option<(NodeId, usize)>,
    own: BranchTotals,
    whole: BranchTotals,
    first: Option<NodeId>,
    last: Option<NodeId>,
}

/// Returns the tips of all branches and the file's leaf, the newest first, as seen from `leaf`.
pub fn of(session: &Session, leaf: Option<NodeId>) -> Vec<Tip> {
    let mut ends = walk::tips(session);
    ends.extend(session.leaf().filter(|leaf| ends.binary_search(leaf).is_err()));
    let order = walk::display_order(session, None);
    // By entry: in how many directions from it there are ends; itself is one.
    let mut ways = vec![0_u32; session.len()];
    ends.iter().for_each(|end| ways[end.index()] = 1);
    for &node in order.iter().rev().filter(|node| session.parent(**node).is_some()) {
        if ways[node.index()] > 0 {
            session.parent(node).iter().for_each(|parent| ways[parent.index()] += 1);
        }
    }
    let (stretches, places) = stretches(session, &order, &ways);
    let tip = |end: NodeId| {
        let Stretch { above, own, whole, first, last } = stretches[places[end.index()] as usize];
        let node = last.unwrap_or(end);
        let mut rest = session.ancestors(Some(end)).take_while(|&above| above != node);
        let has_leaf = leaf == Some(node) || rest.any(|node| leaf == Some(node));
        Tip { node, end, fork: above.map(|(fork, _)| fork), own, whole, first: first.unwrap_or(node), has_leaf }
    };
    let mut tips: Vec<_> = ends.into_iter().map(tip).collect();
    tips.sort_by_key(|tip| walk::newest_first(session, tip.node, tip.end));
    tips
}

/// Returns the stretches of the paths to all ends, those above first, and by entry the number of its own.
fn stretches(session: &Session, order: &[NodeId], ways: &[u32]) -> (Vec<Stretch>, Vec<u32>) {
    let (mut stretches, mut places) = (Vec::<Stretch>::new(), vec![0_u32; session.len()]);
    for &node in order.iter().filter(|node| ways[node.index()] > 0) {
        let parent = session.parent(node);
        let above = parent.map(|parent| (parent, places[parent.index()] as usize));
        let at = match above.filter(|(parent, _)| ways[parent.index()] == 1) {
            Some((_, stretch)) => stretch,
            None => {
                stretches.push(Stretch { above, ..Stretch::default() });
                stretches.len() - 1
            }
        };
        places[node.index()] = u32::try_from(at).unwrap_or(u32::MAX);
        let (stretch, kind) = (&mut stretches[at], session.traits(node).kind);
        stretch.own.messages += usize::from(kind == Kind::Message);
        if session.is_user(node) {
            stretch.own.turns += 1;
            stretch.first.get_or_insert(node);
        }
        if kind.is_conversation() {
            stretch.last = Some(node);
        }
    }
    for (node, recorded) in session.usages().iter().filter(|(node, _)| ways[node.index()] > 0) {
        stretches[places[node.index()] as usize].own.usage.add(recorded.amounts.unwrap_or_default());
    }
    for at in 0..stretches.len() {
        stretches[at].whole = stretches[at].above.map_or(BranchTotals::default(), |(_, above)| stretches[above].whole);
        let own = stretches[at].own;
        stretches[at].whole.add(&own);
    }
    (stretches, places)
}

#[cfg(test)]
mod tests {
    use super::{BranchTotals, of};
    use crate::core::entry::usage::Amounts;
    use crate::core::read::load::LoadOptions;
    use crate::core::read::source::Source;
    use crate::core::session::Session;
    use crate::core::session::sample::{entry, message};

    fn short(BranchTotals { messages, turns, usage }: &BranchTotals) -> String {
        let Amounts { total_tokens, cost, .. } = usage;
        format!("{messages} {turns} {total_tokens} {cost:.3}")
    }

    fn check(bytes: &[u8], expected: &[&str]) {
        let keep = LoadOptions { usage: true, ..LoadOptions::INDEX_ONLY };
        let session = Session::load(Source::spool(bytes).unwrap(), keep, 1).unwrap();
        let tips = of(&session, session.leaf());
        let tips = tips.iter().map(|tip| {
            let (own, whole) = (short(&tip.own), short(&tip.whole));
            format!("{}: {own}, whole {whole}", session.id(tip.node))
        });
        assert_eq!(tips.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn totals_of_tips_are_their_own_and_those_of_the_whole_path() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/cases/d16-cost-of-all-branches.jsonl");
        let expected =
            ["a0000006: 2 1 150 0.200, whole 3 2 150 0.200", "a0000004: 3 1 1515 2.002, whole 4 2 1515 2.002"];
        check(&std::fs::read(path).unwrap(), &expected);
    }

    #[test]
    fn totals_between_two_forks_are_in_no_tip_s_own() {
        let answer = |id: &str, parent: &str, cost: u32| {
            let usage = format!(r#""usage":{{"input":{cost},"cost":{{"total":{cost}}}}}"#);
            entry("message", id, parent, &format!(r#""message":{{"role":"assistant","content":"x",{usage}}}"#))
        };
        let head = r#"{"type":"session","version":3,"id":"s"}"#.to_owned();
        let lines = [
            head,
            message("u", "", "user", "begin"),
            answer("a", "u", 1),
            // Two branches at a; one of them forks again at c.
            answer("b", "a", 2),
            message("v", "a", "user", "other"),
            answer("c", "v", 4),
            answer("d", "c", 8),
            answer("e", "c", 16),
            // A branch without messages is none, and what it records counts nowhere.
            entry("usage", "f", "a", r#""usage":{"input":32,"cost":{"total":32}}"#),
            message("z", "e", "user", "last"),
        ];
        let expected = ["z: 2 1 16 16.000, whole 6 3 21 21.000", "d: 1 0 8 8.000, whole 5 2 13 13.000"];
        let expected = [&expected[..], &["b: 1 0 2 2.000, whole 3 1 3 3.000"]].concat();
        check(lines.join("\n").as_bytes(), &expected);
    }
}
