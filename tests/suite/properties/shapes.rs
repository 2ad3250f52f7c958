//! The shape of the shown tree on random sessions: what is found in one pass is what looking at
//! every entry by itself finds.

use session_tree::core::session::{NodeId, Session};
use session_tree::core::tree::shape::Shape;
use session_tree::core::tree::{tips, walk};

use super::{FILTERS, for_each_session, leaves};

/// A shape, and what each row's neighbours are when they are looked for one by one.
struct Seen {
    shape: Shape,
    above: Vec<Option<usize>>,
}

impl Seen {
    fn children(&self, row: usize) -> Vec<usize> {
        (0..self.above.len()).filter(|&other| self.above[other] == Some(row)).collect()
    }

    fn is_fork(&self, row: usize) -> bool {
        self.children(row).len() > 1
    }

    /// Returns the rows from one up to the first of its tree.
    fn line(&self, row: usize) -> Vec<usize> {
        std::iter::successors(Some(row), |&row| self.above[row]).collect()
    }
}

fn for_each_shape(check: impl Fn(&Session, Option<NodeId>, &Seen)) {
    for_each_session(|session, _| {
        for leaf in leaves(session) {
            let order = walk::display_order(session, leaf);
            for (_, filter) in FILTERS {
                let shows = |node: NodeId| {
                    filter.shows(session.traits(node), session.label(node).is_some(), Some(node) == leaf)
                };
                let shape = Shape::new(session, &order, shows);
                let place = |node: NodeId| shape.nodes.iter().position(|&shown| shown == node);
                let up = |node: &NodeId| walk::path(session, Some(*node)).into_iter().rev().skip(1).find_map(place);
                let above = shape.nodes.iter().map(up).collect();
                check(session, leaf, &Seen { shape, above });
            }
        }
    });
}

#[test]
fn rows_hang_below_their_nearest_shown_ancestors() {
    for_each_shape(|_, _, seen| {
        for row in 0..seen.above.len() {
            assert_eq!(seen.shape.above(row), seen.above[row]);
            assert_eq!(seen.shape.is_fork(row), seen.is_fork(row));
            assert_eq!(seen.shape.is_tip(row), seen.children(row).is_empty());
        }
    });
}

/// Folding takes no fork, tip or label away, and loses no row without counting it.
#[test]
fn folding_keeps_the_branches_and_counts_the_rest() {
    for_each_shape(|session, leaf, seen| {
        let kept = seen.shape.landmarks(session, leaf);
        let folded = seen.shape.folded(&kept);
        let above = (0..folded.nodes.len()).map(|row| folded.omitted(row).above as usize).sum::<usize>();
        assert_eq!(folded.nodes.len() + above, seen.shape.nodes.len());
        let branches = |shape: &Shape| {
            let rows = (0..shape.nodes.len()).filter(|&row| shape.is_fork(row) || shape.is_tip(row));
            rows.map(|row| shape.nodes[row]).collect::<Vec<_>>()
        };
        assert_eq!(branches(&folded), branches(&seen.shape));
        for (row, &node) in seen.shape.nodes.iter().enumerate() {
            let leaf_row = leaf.and_then(|leaf| seen.shape.row(leaf));
            let is_landmark = seen.children(row).len() != 1 || session.label(node).is_some() || leaf_row == Some(row);
            assert_eq!(kept[row], is_landmark);
            // The row at or above each one, and as many rows between as are counted.
            let nearest = seen.line(row).into_iter().find(|&row| kept[row]);
            assert_eq!(folded.row(node).map(|row| folded.nodes[row]), nearest.map(|row| seen.shape.nodes[row]));
        }
    });
}

#[test]
fn tips_are_the_ends_of_all_branches() {
    for_each_session(|session, _| {
        for leaf in leaves(session) {
            let tips = tips::of(session, leaf);
            let mut ends = walk::tips(session);
            ends.extend(session.leaf().filter(|leaf| !ends.contains(leaf)));
            let mut found: Vec<_> = tips.iter().map(|tip| tip.end).collect();
            found.sort_unstable();
            ends.sort_unstable();
            assert_eq!(found, ends);
            let times: Vec<_> = tips.iter().map(|tip| session.stamp(tip.node).ms()).collect();
            assert!(times.is_sorted_by(|a, b| a >= b), "{times:?}");
            assert!(tips.iter().filter(|tip| tip.has_leaf).count() <= 1);
            let up = |node: NodeId| session.ancestors(Some(node)).collect::<Vec<_>>();
            let paths: Vec<_> = ends.iter().map(|&end| up(end)).collect();
            for tip in tips {
                let path = up(tip.end);
                // The nearest entry above that the path of another tip goes through, unless it comes from below.
                let others = || paths.iter().filter(|other| !other.contains(&tip.end));
                let fork = path.iter().skip(1).position(|node| others().any(|other| other.contains(node)));
                assert_eq!(tip.fork, fork.map(|at| path[at + 1]));
                let own = &path[..fork.map_or(path.len(), |at| at + 1)];
                let is_message = |node: &&NodeId| session.traits(**node).kind.name() == Some("message");
                let is_turn = |node: &&NodeId| session.is_user(**node);
                for (totals, part) in [(tip.own, own), (tip.whole, &path[..])] {
                    assert_eq!(totals.messages, part.iter().filter(is_message).count());
                    assert_eq!(totals.turns, part.iter().filter(is_turn).count());
                }
                let talk = own.iter().position(|&node| session.traits(node).kind.is_conversation());
                assert_eq!(tip.node, talk.map_or(tip.end, |at| own[at]));
                let first = own.iter().rev().copied().find(|&node| session.is_user(node));
                assert_eq!(tip.first, first.unwrap_or(tip.node));
                assert_eq!(tip.has_leaf, leaf.is_some_and(|leaf| own[..=talk.unwrap_or(0)].contains(&leaf)));
            }
        }
    });
}

/// All rows are in one knot each, in order; those of a knot follow each other, and nothing else
/// hangs between them.
#[test]
fn runs_are_straight_and_of_maximal_length() {
    for_each_shape(|session, leaf, seen| {
        let kept = seen.shape.graph_landmarks(session, leaf);
        let runs = seen.shape.runs(&kept);
        let rows: Vec<_> = runs.iter().flat_map(|knot| knot.rows.clone()).collect();
        assert_eq!(rows, (0..seen.above.len()).collect::<Vec<_>>());
        for (at, knot) in runs.iter().enumerate() {
            let rows = knot.rows.clone();
            assert!(rows.len() == 1 || rows.clone().all(|row| !kept[row]));
            for row in rows.clone().skip(1) {
                assert_eq!(seen.above[row], Some(row - 1));
                assert_eq!(seen.children(row - 1), [row]);
            }
            let above = seen.above[rows.start].map(|above| runs.iter().position(|knot| knot.rows.contains(&above)));
            assert_eq!(knot.above, above.flatten());
            assert!(knot.above.is_none_or(|above| above < at));
            if let Some(above) = knot.above {
                let could_join = !kept[rows.start] && !kept[runs[above].rows.start];
                assert!(!could_join || seen.is_fork(runs[above].rows.end - 1));
            }
        }
    });
}
