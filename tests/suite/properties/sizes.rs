//! Large and lopsided files take time in proportion: nothing recurses, nothing is quadratic. There
//! is no clock here. What is quadratic takes minutes on these, and what recurses ends the process.

use std::fmt::Write;

use session_tree::core::check;
use session_tree::core::context;
use session_tree::core::context::compare;
use session_tree::core::context::stats;
use session_tree::core::error::problem::WarningKind;
use session_tree::core::naming;
use session_tree::core::read::load::LoadOptions;
use session_tree::core::read::source::Source;
use session_tree::core::session::body::Bodies;
use session_tree::core::session::{NodeId, Session};
use session_tree::core::tree::rows::Rows;
use session_tree::core::tree::shape::Shape;
use session_tree::core::tree::{tips, walk};
use session_tree::ui::screen::Screen;
use session_tree::ui::tree::TreeText;

const HEADER: &str = "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n";

/// Makes a session with one line for each number.
fn session(count: usize, line: impl Fn(usize) -> String) -> Session {
    let mut file = HEADER.to_owned();
    for at in 0..count {
        file.push_str(&line(at));
        file.push('\n');
    }
    Session::load(
        Source::spool(file.as_bytes()).unwrap(),
        LoadOptions { words: &|_| true, calls: true, usage: true },
        2,
    )
    .unwrap()
}

/// Makes a line with a number as its id, another as its parent, and more members.
fn line(at: usize, parent: Option<usize>, members: &str) -> String {
    let mut line = format!(r#"{{"id":"{at:07}","parentId":"#);
    match parent {
        Some(parent) => write!(line, "\"{parent:07}\"").unwrap(),
        None => line.push_str("null"),
    }
    line + "," + members + "}"
}

fn lay_out(session: &Session) -> (Vec<NodeId>, Rows) {
    let order = walk::display_order(session, session.leaf());
    let rows = crate::support::lay_out(session, session.leaf(), &order, |_| true);
    assert_eq!((order.len(), rows.rows.len()), (session.len(), session.len()));
    let shape = Shape::new(session, &order, |_| true);
    let kept = shape.landmarks(session, session.leaf());
    let runs = shape.runs(&kept);
    assert_eq!(runs.iter().map(|knot| knot.rows.len()).sum::<usize>(), session.len());
    assert_eq!(shape.folded(&kept).nodes.len(), kept.iter().filter(|kept| **kept).count());
    let tips = tips::of(session, session.leaf());
    assert!(tips.iter().filter(|tip| tip.has_leaf).count() == 1 && tips.len() <= walk::tips(session).len() + 1);
    (order, rows)
}

fn draw(session: &Session, rows: &Rows) {
    let screen = Screen { width: Some(80), ..Screen::default() };
    let text = TreeText::new(session, rows, &screen);
    let mut bodies = Bodies::new(session);
    for (at, row) in rows.rows.iter().enumerate() {
        assert!(text.row(at, &bodies.words(row.node).unwrap()).len() > 8);
    }
}

const USER: &str = r#""type":"message","message":{"role":"user","content":"q"}"#;

#[test]
fn chain_of_200_000_is_handled() {
    let count = 200_000;
    let session = session(count, |at| line(at, at.checked_sub(1), r#""type":"custom""#));
    assert_eq!(walk::path(&session, session.leaf()).len(), count);
    let (order, rows) = lay_out(&session);
    assert_eq!(walk::depths(&session, &order).last(), Some(&199_999));
    assert!(rows.branches.is_empty());
    let root = naming::entry::find(&session, session.leaf(), "@~199999").unwrap();
    assert_eq!(session.id(root), "0000000");
}

#[test]
fn loop_of_100_000_is_handled() {
    let count = 100_000;
    let session = session(count, |at| line(at, Some((at + 1) % count), r#""type":"custom""#));
    assert_eq!(session.problems.count(WarningKind::Cycle), 1);
    assert_eq!(session.roots().len(), 1);
    // The last entry of the file is the child of its first, and at the top of all others.
    assert_eq!(walk::path(&session, session.leaf()).len(), 2);
    lay_out(&session);
}

#[test]
fn parent_of_20_000_is_handled() {
    let count = 20_000;
    // The youngest stands first in the file.
    let time = |at: usize| format!(r#""timestamp":{},{USER}"#, 2_000_000_000_000 - at);
    let session = session(count, |at| line(at, (at > 0).then_some(0), &time(at)));
    let first = session.roots()[0];
    assert_eq!(session.children(first).len(), count - 1);
    assert_eq!(session.id(session.children(first)[0]), "0019999");
    let (_, rows) = lay_out(&session);
    assert_eq!((rows.branches.len(), walk::tips(&session).len()), (count - 1, count - 1));
    draw(&session, &rows);
}

/// A stem with a twig at each entry: as many levels of branching as there are tips.
#[test]
fn stem_with_10_000_tips_is_handled() {
    let tips = 10_000;
    let parent = |at: usize| at.checked_sub(if at % 2 == 1 { 1 } else { 2 });
    let session = session(2 * tips, |at| line(at, parent(at), USER));
    // The leaf's own branch is the shortest; seen from the first tip it is the deepest.
    assert_eq!(walk::tips(&session).len(), tips);
    let (_, rows) = lay_out(&session);
    assert_eq!(rows.branches.len(), 2 * (tips - 1));
    draw(&session, &rows);
}

#[test]
fn label_set_100_000_times_is_handled() {
    let count = 100_000;
    let label = |at: usize| format!(r#""type":"label","targetId":"0000000","label":"name {at}""#);
    let session = session(count, |at| line(at, at.checked_sub(1), &label(at)));
    let labels = session.labels();
    assert_eq!((labels.len(), labels[0].name.as_str()), (1, "name 99999"));
    assert_eq!(naming::entry::find(&session, None, "label:name 99999").unwrap(), session.roots()[0]);
}

#[test]
fn id_used_100_000_times_is_handled() {
    let session = session(100_000, |_| line(0, None, USER));
    assert_eq!((session.len(), session.problems.count(WarningKind::DuplicateId)), (1, 99_999));
    assert_eq!(session.problems.list().len(), 21);
}

#[test]
fn malformed_lines_100_000_times_are_handled() {
    let session = session(100_000, |at| if at % 2 == 0 { "{\"a\":[1".to_owned() } else { "{}".to_owned() });
    assert!(session.is_empty());
    assert_eq!(session.problems.count(WarningKind::MalformedLine), 50_000);
    assert_eq!(session.problems.count(WarningKind::ForeignLine), 50_000);
}

/// A tool result looks for its call above itself; here none has one.
#[test]
fn results_without_calls_20_000_times_are_handled() {
    let result = r#""type":"message","message":{"role":"toolResult","toolCallId":"c","toolName":"read"}"#;
    let session = session(20_000, |at| line(at, at.checked_sub(1), result));
    let (_, rows) = lay_out(&session);
    draw(&session, &rows);
}

/// What a context keeps a list of, many times on one path.
#[test]
fn context_with_30_000_edits_and_compactions_is_handled() {
    let members = |at: usize| match at % 3 {
        0 => USER.to_owned(),
        1 => format!(r#""type":"context_edit","targetId":"{:07}","replacement":{{"content":"a"}}"#, at - 1),
        _ => format!(r#""type":"compaction","summary":"s","firstKeptEntryId":"{:07}""#, at - 2),
    };
    let session = session(90_000, |at| line(at, at.checked_sub(1), &members(at)));
    let context = context::build(&mut Bodies::new(&session), session.leaf()).unwrap();
    assert_eq!(context.messages.len(), 2);
    let hidden = context::hidden(&mut Bodies::new(&session), &context).unwrap().unwrap();
    assert_eq!(hidden.messages.len(), 29_999);
}

/// What a context has much of, and has another origin each time.
#[test]
fn context_of_100_000_origins_is_measured_and_compared() {
    let members = |at: usize| format!(r#""type":"custom_message","customType":"c{at}","content":"abcd""#);
    let session = session(100_000, |at| line(at, at.checked_sub(1), &members(at)));
    let mut bodies = Bodies::new(&session);
    let [all, half] =
        [session.leaf(), session.nodes().nth(49_999)].map(|leaf| context::build(&mut bodies, leaf).unwrap());
    let stats = stats::measure(&mut bodies, &all).unwrap();
    assert_eq!((stats.parts.len(), stats.all.tokens), (100_000, 100_000));
    let difference = compare::messages(&mut bodies, &all, &half).unwrap();
    assert_eq!((difference.common.messages, difference.dropped.len()), (50_000, 50_000));
}

#[test]
fn context_with_30_000_rules_is_handled() {
    let rule = |at: usize| format!(r#""type":"ttsr_injection","injectedRules":["rule {at}","all"]"#);
    let session = session(30_000, |at| line(at, at.checked_sub(1), &rule(at)));
    let rules = context::build(&mut Bodies::new(&session), session.leaf()).unwrap().settings.ttsr_rules;
    assert_eq!((rules.len(), rules[1].as_str(), rules[30_000].as_str()), (30_001, "all", "rule 29999"));
}

/// Marks that name marks, marks that name nothing, marks at one entry, and resets that everything leads out of.
#[test]
fn marks_and_resets_100_000_times_are_handled() {
    let count = 100_000;
    let mark = |target: usize| format!(r#""type":"leaf","targetId":"{target:07}""#);
    let before = |at: usize| at.saturating_sub(1);
    let member = |at: usize, kind: usize| match (at, kind) {
        (0, _) => USER.to_owned(),
        (_, 0) => mark(before(at)),
        (_, 1) => mark(9_999_999),
        (_, 2) => mark(0),
        (_, 3) => format!(r#""type":"reset","firstKeptEntryId":"{:07}""#, before(at)),
        (_, _) => format!(r#""appendMode":"side",{USER}"#),
    };
    // How the odd lines hang, and how many of the lines they are; the others name what is before them.
    for (kind, parent, every) in [(0, 1, 2), (1, 1, 2), (2, 1, 1), (3, 0, 1), (3, 1, 2), (4, 2, 1)] {
        let parent = |at: usize| match parent {
            1 => at.checked_sub(1),
            2 => Some((at + 1) % count),
            _ => (at > 0).then_some(0),
        };
        let lines = |at: usize| match at % every {
            0 => line(at, parent(at), &member(at, kind)),
            _ => line(at, at.checked_sub(1), USER),
        };
        let session = session(count, lines);
        assert_eq!(session.len(), count);
        lay_out(&session);
        context::build(&mut Bodies::new(&session), session.leaf()).unwrap();
        let file: String = std::iter::once(HEADER.to_owned()).chain((0..count).map(|at| lines(at) + "\n")).collect();
        check::check(Source::spool(file.as_bytes()).unwrap(), None, 2).unwrap();
    }
}
