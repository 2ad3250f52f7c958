//! The shape of the shown tree: landmarks, folded rows, tips and runs, on the smallest trees that show
//! the rule (help rules, "Views").

use session_tree::core::session::{NodeId, Session};
use session_tree::core::tree::shape::{Omitted, Shape};
use session_tree::core::tree::{tips, walk};

use crate::cli::{HEADER, entry, label, message};
use crate::support;

/// Makes a session of messages, each written as its id, its parent and, if it is not the
/// assistant's, its role: `b<a/user`. A capital is hidden, and the last one is the leaf.
fn session(tree: &str, more: &[String]) -> Session {
    let mut lines = vec![HEADER.to_owned()];
    lines.extend(more.iter().cloned());
    for (at, word) in tree.split_whitespace().enumerate() {
        let (id, parent) = word.split_once('<').unwrap();
        let (parent, role) = parent.split_once('/').unwrap_or((parent, "assistant"));
        let line = match role {
            "compaction" => entry("compaction", id, parent, r#""tokensBefore":1000"#),
            "leaf" => entry("leaf", id, parent, &format!(r#""targetId":"{parent}""#)),
            "model_change" => entry("model_change", id, parent, r#""model":"a/b""#),
            role => message(id, parent, role, id),
        };
        lines.push(line.replace("00:00:01.000Z", &format!("00:{at:02}:00.000Z")));
    }
    support::session(lines.join("\n").as_bytes())
}

fn is_shown(session: &Session, node: NodeId) -> bool {
    session.id(node).starts_with(|char: char| char.is_ascii_lowercase())
}

fn shape(session: &Session) -> Shape {
    Shape::new(session, &walk::display_order(session, session.leaf()), |node| is_shown(session, node))
}

fn ids(session: &Session, shape: &Shape, kept: &[bool]) -> String {
    let kept = shape.nodes.iter().zip(kept).filter(|(_, kept)| **kept);
    kept.map(|(&node, _)| session.id(node)).collect::<Vec<_>>().join(" ")
}

#[test]
fn tips_are_one_per_branch_with_messages() {
    let check = |tree: &str, more: &[String], expected: &str| {
        let session = session(tree, more);
        let ids: Vec<_> = walk::tips(&session).iter().map(|&node| session.id(node)).collect();
        assert_eq!(ids.join(" "), expected, "{tree}");
    };
    check("a< b<a c<a d<c", &[], "b d");
    check("a< b<a m<b/compaction c<a", &[], "m c");
    // Where only bookkeeping forks, there is one branch still: it ends at the leaf, else at the last.
    check("a< b<a m<b/compaction n<b/compaction", &[], "n");
    check("a< b<a m<b/compaction n<b/compaction c<a", &[], "n c");
    check("a< b<a n<b/compaction m<b/compaction o<n/compaction", &[], "o");
    check("a< b<a m<b/compaction n<b/compaction x<m/leaf", &[], "m");
    check("a< b<a c<b", &[label("l", "", "b", "x"), label("k", "", "b", "y")], "c");
    check("m< n<m", &[], "n");
    check("m</compaction n<m/compaction", &[], "");
}

#[test]
fn landmarks_are_forks_tips_labels_and_the_leaf() {
    let check = |tree: &str, more: &[String], expected: &str| {
        let session = session(tree, more);
        let shape = shape(&session);
        assert_eq!(ids(&session, &shape, &shape.landmarks(&session, session.leaf())), expected, "{tree}");
    };
    check("a< b<a c<b", &[], "c");
    check("a< b<a c<b d<b e<d", &[], "b e c");
    // A hidden branch is none, and what hangs below a hidden entry is a child of the one above.
    check("a< b<a C<b d<b", &[], "d");
    check("a< B<a c<B d<B e<a", &[], "a e c d");
    check("a< b<a c<b", &[label("L", "", "a", "here")], "a c");
    // The leaf, or the row below which it is hidden.
    check("a< b<a c<b d<c B<b", &[], "b d");
    check("A< B<A", &[], "");
    // The root above the leaf comes first.
    check("a< b< c<b", &[], "c a");
}

#[test]
fn folded_rows_are_counted_above_the_next_row() {
    let session = session("a< b<a c<b d<c e<d f<c g<f H<g i<H", &[]);
    let shape = shape(&session);
    let folded = shape.folded(&shape.landmarks(&session, session.leaf()));
    let above: Vec<_> = (0..folded.nodes.len()).map(|row| folded.omitted(row).above).collect();
    assert_eq!(ids(&session, &folded, &[true; 3]), "c i e");
    assert_eq!(above, [2, 2, 1]);
    assert_eq!([0, 1, 2].map(|row| folded.above(row)), [None, Some(0), Some(0)]);
    // Every entry still finds its row.
    let row = |id: &str| folded.row(session.find(id).unwrap());
    assert_eq!(["a", "c", "d", "g", "H", "i"].map(row), [None, Some(0), Some(0), Some(0), Some(0), Some(1)]);
}

#[test]
fn rows_too_deep_are_counted_below_their_ancestor() {
    let session = session("a< b<a c<b d<c e<b F<e", &[]);
    let order = walk::display_order(&session, session.leaf());
    let deep = |node: NodeId| walk::path(&session, Some(node)).len() > 2;
    let shows = |node: NodeId| is_shown(&session, node);
    let mut shape = Shape::new(&session, &order, |node| shows(node) && !deep(node));
    shape.omit_below(session.nodes().filter(|&node| shows(node) && deep(node)));
    assert_eq!([0, 1].map(|row| shape.omitted(row).below), [0, 3]);
    let folded = shape.folded(&shape.landmarks(&session, session.leaf()));
    assert_eq!(folded.omitted(0), Omitted { above: 1, below: 3 });
}

#[test]
fn tips_are_those_of_the_whole_tree_and_count_from_the_fork() {
    let check = |tree: &str, expected: &[&str]| {
        let session = session(tree, &[]);
        let tips = tips::of(&session, session.leaf());
        let tips = tips.iter().map(|tip| {
            let fork = tip.fork.map_or("-", |fork| session.id(fork));
            let leaf = if tip.has_leaf { " leaf" } else { "" };
            format!("{} from {fork}: {} {}{leaf}", session.id(tip.node), tip.own.messages, session.id(tip.first))
        });
        assert_eq!(tips.collect::<Vec<_>>(), expected, "{tree}");
    };
    check("a</user b<a c<b/user", &["c from -: 3 a leaf"]);
    check("a< b<a/compaction c<b", &["c from -: 2 c leaf"]);
    check(
        "a</user b<a c<b d<c/user e<d/user f<b g<b/user h<g",
        &["h from b: 2 g leaf", "f from b: 1 f", "e from b: 3 d"],
    );
    check("a< b<a c<b/user d<b e<c f<e g<c", &["g from c: 1 g leaf", "f from c: 2 f", "d from b: 1 d"]);
    // Where only bookkeeping forks, there is one branch still, which no fork is above.
    check("a< b<a m<b/compaction n<b/compaction", &["n from -: 2 n leaf"]);
    // Settings at its end are part of a branch, not its tip; by themselves they are one if the leaf is there.
    check("a</user b<a s<b/model_change", &["b from -: 2 a leaf"]);
    check("a< b<a s<a/model_change", &["s from a: 0 s leaf", "b from a: 1 b"]);
    check("a< b<a s<a/model_change c<b", &["c from -: 3 c leaf"]);
}

#[test]
fn tips_of_equal_time_are_in_reverse_file_order_and_unknown_times_last() {
    let lines = [
        HEADER.to_owned(),
        message("a", "", "user", "a"),
        message("b", "a", "user", "b"),
        message("c", "a", "user", "c").replace("2026-01-01T00:00:01.000Z", "no time"),
        message("d", "a", "user", "d"),
        message("e", "a", "user", "e").replace("00:00:01", "00:00:02"),
        message("f", "a", "user", "f"),
    ];
    let session = support::session(lines.join("\n").as_bytes());
    let tips = tips::of(&session, session.leaf());
    assert_eq!(tips.iter().map(|tip| session.id(tip.node)).collect::<String>(), "efdbc");
}

#[test]
fn straight_runs_are_one_knot() {
    let check = |tree: &str, expected: &str| {
        let session = session(tree, &[]);
        let shape = shape(&session);
        let runs = shape.runs(&shape.graph_landmarks(&session, session.leaf()));
        let runs = runs.iter().map(|knot| {
            let ids: String = shape.nodes[knot.rows.clone()].iter().map(|&node| session.id(node)).collect();
            knot.above.map_or(ids.clone(), |above| format!("{above}>{ids}"))
        });
        assert_eq!(runs.collect::<Vec<_>>().join(" "), expected, "{tree}");
    };
    check("a<", "a");
    check("a< b<a", "a 0>b");
    check("a< b<a c<b d<c", "a 0>bc 1>d");
    check("a< b<a c<b/compaction d<c e<d f<e", "a 0>b 1>c 2>de 3>f");
    // The branch with the leaf comes first.
    check("a< b<a c<a d<b e<d f<e g<c h<g", "a 0>cg 1>h 0>bde 3>f");
    check("a< B<a c<B d<c e<d", "a 0>cd 1>e");
    check("a< b<", "b a");
    // A run that follows a fork does not join the one before it.
    check("a< b<a c<b d<b e<c f<e g<d h<g", "a 0>b 1>dg 2>h 1>ce 4>f");
}
