//! Large and lopsided files take time in proportion: nothing recurses, nothing is quadratic. There
//! is no clock here. What is quadratic takes minutes on these, and what recurses ends the process.

use std::fmt::Write;

use session_tree::core::check;
use session_tree::core::context::compare;
use session_tree::core::context::stats;
use session_tree::core::context::{self, held};
use session_tree::core::edit::branch::Fork;
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
    let hidden = held::hidden(&mut Bodies::new(&session), &context).unwrap().unwrap();
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
    let stats = stats::measure(&mut bodies, &all, 1).unwrap();
    assert_eq!((stats.parts.len(), stats.all.tokens), (100_000, 100_000));
    let difference = compare::messages(&mut bodies, &all, &half).unwrap();
    assert_eq!((difference.common.messages, difference.dropped.len()), (50_000, 50_000));
}

#[test]
fn stats_do_not_depend_on_the_number_of_threads() {
    // Sums of such fractions depend on their order.
    let usage = |at: usize| format!(r#"{{"input":{at},"cost":{{"total":0.{at}}}}}"#);
    let members = |at: usize| {
        let (text, usage) = ("x".repeat(at % 50), usage(at));
        format!(r#""type":"message","message":{{"role":"assistant","content":"{text}","usage":{usage}}}"#)
    };
    let session = session(2_000, |at| line(at, at.checked_sub(1), &members(at)));
    let mut bodies = Bodies::new(&session);
    let context = context::build(&mut bodies, session.leaf()).unwrap();
    let alone = stats::measure(&mut bodies, &context, 1).unwrap();
    assert_eq!((alone.usage.sources[0].entries, alone.usage.all.input), (2_000, 1_999_000.0));
    assert_eq!(stats::measure(&mut bodies, &context, 3).unwrap(), alone);
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

/// A call of an assistant message.
fn call(number: usize) -> String {
    format!(r#"{{"type":"toolCall","id":"c{number}","name":"read","arguments":{{"path":"f{number}"}}}}"#)
}

fn answer(calls: &[String]) -> String {
    format!(r#""type":"message","message":{{"role":"assistant","content":[{}]}}"#, calls.join(","))
}

fn result(number: usize) -> String {
    format!(r#""type":"message","message":{{"role":"toolResult","toolCallId":"c{number}","toolName":"read"}}"#)
}

/// Reads a session without its words, so that the row of each result looks its call up.
fn index_only(lines: impl Iterator<Item = String>) -> Session {
    let file: String = std::iter::once(HEADER.to_owned()).chain(lines.map(|line| line + "\n")).collect();
    Session::load(Source::spool(file.as_bytes()).unwrap(), LoadOptions::INDEX_ONLY, 2).unwrap()
}

/// All calls are in one message, or in the farthest of eight, or in one each of many branches in turn.
#[test]
fn rows_of_20_000_sibling_results_are_made() {
    let count = 20_000;
    let results = |callers: usize, call: fn(usize) -> usize| {
        (0..count).map(move |at| line(callers + at, Some((callers - 1) * usize::from(callers == 8)), &result(call(at))))
    };
    let in_one = answer(&(0..count).map(call).collect::<Vec<_>>());
    let eight = (0..8).map(|at| {
        let each = count / 8;
        line(at, at.checked_sub(1), &answer(&(at * each..(at + 1) * each).map(call).collect::<Vec<_>>()))
    });
    let large = answer(&[call(0).replace("\"f0\"", &format!("\"{}\"", "x".repeat(1_000_000)))]);
    for (session, known) in [
        (index_only(std::iter::once(line(0, None, &in_one)).chain(results(1, |at| at))), count),
        (index_only(std::iter::once(line(0, None, &in_one)).chain(results(1, |at| at + 20_000))), 0),
        (index_only(eight.chain(results(8, |at| at % 2500))), count),
        (index_only(std::iter::once(line(0, None, &large)).chain(results(1, |_| 0))), count),
    ] {
        let mut bodies = Bodies::new(&session);
        let rows = session.nodes().skip(session.len() - count).map(|node| bodies.words(node).unwrap());
        assert_eq!(rows.filter(|words| words.starts_with("[read: ")).count(), known);
    }
}

/// Every form of a name, many times. Each looks through all entries if it is found by itself.
#[test]
fn names_of_40_000_entries_are_found() {
    let count = 40_000;
    let label = |at: usize| format!(r#""type":"label","targetId":"{at:07}","label":"name {at}""#);
    let session = index_only(
        (0..count).map(|at| line(at, at.checked_sub(1), &if at % 2 == 0 { USER.to_owned() } else { label(at - 1) })),
    );
    let names = naming::entry::Names::new(&session, session.leaf());
    let find = |name: String| session.id(names.find(&name).unwrap()).parse::<usize>().unwrap();
    for at in (0..count).step_by(2) {
        assert_eq!(find(format!("label:name {at}")), at);
        assert_eq!(find(format!("user:{}", at / 2 + 1)), count - 2 - at);
        assert_eq!(find(format!("@~{at}")), count - 2 - at); // The leaf is a label.
        assert_eq!(find(format!("{at:07}~{}", at / 2)), at - at / 2);
    }
    // The starts of ids, each of which names one.
    let longer = |at: usize| line(at, None, USER).replacen(&format!("{at:07}"), &format!("{at:07}x"), 1);
    let session = index_only((0..count).map(longer));
    let names = naming::entry::Names::new(&session, session.leaf());
    for at in 0..count {
        assert_eq!(names.find(&format!("{at:07}")).unwrap().index(), at);
    }
}

/// Two messages with the same calls: each call of the second one is a finding.
#[test]
fn findings_in_20_000_calls_of_one_message_are_put_into_words() {
    let calls = answer(&(0..20_000).map(call).collect::<Vec<_>>());
    let file = [(0, None, &*calls), (1, Some(0), USER), (2, Some(1), &calls), (3, Some(2), USER)];
    let file: String = file.iter().map(|&(at, parent, members)| line(at, parent, members) + "\n").collect();
    let checked = check::check(Source::spool((HEADER.to_owned() + &file).as_bytes()).unwrap(), None, 2).unwrap();
    let mut named = 0;
    let mut count = |finding: check::Finding| -> Result<(), session_tree::core::error::Error> {
        named += usize::from(finding.message.contains("tool call `c"));
        Ok(())
    };
    checked.findings(&|_| true, &mut count).unwrap();
    assert_eq!(named, 20_000);
}

/// Every second entry is where a loop is cut.
#[test]
fn loops_of_two_100_000_times_are_handled() {
    let session = index_only((0..100_000).map(|at| line(at, Some(at ^ 1), USER)));
    assert_eq!(session.problems.count(WarningKind::Cycle), 50_000);
    let mut bodies = Bodies::new(&session);
    let mut is_cut = |node: NodeId| !Fork::at(&session, node).problems(&mut bodies).unwrap().list().is_empty();
    assert_eq!(session.nodes().filter(|&node| is_cut(node)).count(), 100_000);
}
