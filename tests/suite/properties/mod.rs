//! What must hold for every file, shown on random ones: what reading finds is what a naive model
//! of the rules finds, however the file is read, cut or damaged.

use std::collections::BTreeMap;
use std::panic::{self, AssertUnwindSafe};

use serde_json::Value;
use session_tree::core::context::{self, ContextMessage};
use session_tree::core::error::problem::Problem;
use session_tree::core::session::body::Bodies;
use session_tree::core::session::{NodeId, Session};
use session_tree::core::tree::filter::Filter;
use session_tree::core::tree::rows::{self, Rows};
use session_tree::core::tree::walk;

use crate::support;
use model::{Model, Row, Settings};

mod bytes;
mod contexts;
mod copies;
mod model;
mod random;
mod searches;
mod shapes;
mod sizes;
mod stored;

/// How many random sessions each comparison runs on.
const SESSIONS: u64 = 600;

const FILTERS: [(&str, Filter); 5] = [
    ("default", Filter::Default),
    ("no-tools", Filter::NoTools),
    ("user-only", Filter::UserOnly),
    ("labeled-only", Filter::LabeledOnly),
    ("all", Filter::All),
];

/// Runs a check on random sessions.
fn for_each_session(check: impl Fn(&Session, &Model)) {
    for seed in 1..=SESSIONS {
        check_session(&random::session(seed), &check);
    }
}

/// Runs a check on a session; a failure is followed by the session.
fn check_session(bytes: &[u8], check: impl Fn(&Session, &Model)) {
    let checked = panic::catch_unwind(AssertUnwindSafe(|| check(&support::session(bytes), &Model::read(bytes))));
    let text = String::from_utf8_lossy(bytes).replace('\0', "\\0");
    assert!(checked.is_ok(), "that was on this session:\n{text}");
}

/// Returns some leaves to look from: none, the file's, and two others.
fn leaves(session: &Session) -> Vec<Option<NodeId>> {
    let nodes: Vec<_> = session.nodes().collect();
    let mut leaves = vec![None, session.leaf()];
    leaves.extend([nodes.len() / 3, nodes.len() / 2].map(|at| nodes.get(at).copied()));
    leaves
}

fn ids(session: &Session, nodes: impl IntoIterator<Item = NodeId>) -> Vec<&str> {
    nodes.into_iter().map(|node| session.id(node)).collect()
}

fn id(session: &Session, node: Option<NodeId>) -> Option<&str> {
    node.map(|node| session.id(node))
}

/// Returns the lines with each kind of problem, and checks the counts.
fn lines(session: &Session) -> BTreeMap<&'static str, Vec<usize>> {
    let mut lines = BTreeMap::<_, Vec<usize>>::new();
    for Problem { kind, line, .. } in session.problems.list() {
        if let Some(line) = line {
            lines.entry(kind.name()).or_default().push(usize::try_from(line).unwrap());
        }
        if session.problems.count(kind) <= 20 {
            assert!(line.is_some(), "{kind:?} names a line");
        }
    }
    lines
}

#[test]
fn entries_and_their_lines_are_those_of_the_model() {
    for_each_session(|session, model| {
        assert_eq!(session.version, model.version);
        assert_eq!(ids(session, session.nodes()), model.ids());
        assert_eq!(id(session, session.leaf()), model.leaf());
        assert_eq!(session.name(), model.name.as_deref());
        for (node, expected) in session.nodes().zip(&model.nodes) {
            assert_eq!(usize::try_from(session.line(node)).unwrap(), expected.line, "{}", expected.id);
            assert_eq!(session.find(&expected.id), Some(node));
        }
    });
}

#[test]
fn problems_are_those_of_the_model() {
    for_each_session(|session, model| {
        let mut expected = model.problems.clone();
        for lines in expected.values_mut() {
            lines.sort_unstable();
        }
        assert_eq!(lines(session), expected);
    });
}

#[test]
fn parents_and_children_are_those_of_the_model() {
    for_each_session(|session, model| {
        assert_eq!(ids(session, session.roots().iter().copied()), model.roots());
        for (node, expected) in session.nodes().zip(&model.nodes) {
            assert_eq!(id(session, session.parent(node)), expected.parent.as_deref(), "parent of {}", expected.id);
            assert_eq!(session.missing_parent(node), expected.missing.as_deref(), "missing parent of {}", expected.id);
            let children = ids(session, session.children(node).iter().copied());
            assert_eq!(children, model.children(&expected.id), "children of {}", expected.id);
        }
    });
}

#[test]
fn labels_are_those_of_the_model() {
    for_each_session(|session, model| {
        let labels = session.labels().iter().map(|label| (label.target_id.clone(), label.name.clone()));
        let expected = model.labels();
        assert_eq!(labels.collect::<Vec<_>>(), expected);
        for node in session.nodes() {
            let label = expected.iter().find(|(target, _)| target == session.id(node)).map(|(_, name)| name);
            assert_eq!(session.label(node).map(|label| &label.name), label, "{}", session.id(node));
        }
    });
}

#[test]
fn paths_and_the_order_of_display_are_those_of_the_model() {
    for_each_session(|session, model| {
        for leaf in leaves(session) {
            let from = id(session, leaf);
            assert_eq!(ids(session, walk::path(session, leaf)), model.path(from), "at {from:?}");
            let order = walk::display_order(session, leaf);
            let depths = walk::depths(session, &order);
            let depth = |node: NodeId| usize::try_from(depths[node.index()]).unwrap();
            let found: Vec<_> = order.iter().map(|&node| (session.id(node), depth(node))).collect();
            assert_eq!(found, model.display_order(from), "at {from:?}");
        }
    });
}

/// Returns the rows in the words of the model.
fn found_rows(session: &Session, rows: &Rows) -> Vec<Row> {
    let row = |row: &rows::Row| {
        let mut lasts = Vec::new();
        let mut branch = row.branch;
        while let Some(at) = branch {
            lasts.insert(0, rows.branches[at].is_last());
            branch = rows.branches[at].from;
        }
        Row { id: session.id(row.node).to_owned(), is_active: row.is_active, is_head: row.is_head, lasts }
    };
    rows.rows.iter().map(row).collect()
}

#[test]
fn rows_of_every_view_are_those_of_the_model() {
    for_each_session(|session, model| {
        for leaf in leaves(session) {
            let order = walk::display_order(session, leaf);
            for (name, filter) in FILTERS {
                let shows = |node: NodeId| {
                    filter.shows(session.traits(node), session.label(node).is_some(), Some(node) == leaf)
                };
                let rows = support::lay_out(session, leaf, &order, shows);
                let from = id(session, leaf);
                assert_eq!(found_rows(session, &rows), model.rows(name, from), "{name} at {from:?}");
                let leaf_row = rows.leaf.map(|(row, steps)| (session.id(rows.rows[row].node).to_owned(), steps));
                assert_eq!(leaf_row, model.leaf_row(name, from), "{name} at {from:?}");
            }
        }
    });
}

#[test]
fn contexts_are_those_of_the_model() {
    for_each_session(|session, model| {
        let id = |node: NodeId| session.id(node);
        for leaf in leaves(session) {
            let context = context::build(&mut Bodies::new(session), leaf).unwrap();
            let item = |item: &ContextMessage| match *item {
                ContextMessage::Stored(node) => format!("stored {}", id(node)),
                ContextMessage::Edited { target, edit } => format!("edited {} by {}", id(target), id(edit)),
                ContextMessage::Custom(node) => format!("custom {}", id(node)),
                ContextMessage::Branch(node) => format!("branch {}", id(node)),
                ContextMessage::System(node) => format!("system {}", id(node)),
                ContextMessage::Compaction(node) => format!("compaction {}", id(node)),
                ref other => panic!("the shared rules have no {other:?}"),
            };
            let from = leaf.map(id);
            assert_eq!(context.messages.iter().map(item).collect::<Vec<_>>(), model.context(from), "at {from:?}");
            let value =
                |stored: Option<String>| stored.map_or(Value::Null, |text| serde_json::from_str(&text).unwrap());
            let state = context.settings;
            let settings = Settings {
                thinking: state.thinking_level,
                models: state.models,
                mode: state.mode,
                mode_data: value(state.mode_data),
                service_tier: value(state.service_tier),
                rules: state.ttsr_rules,
            };
            assert_eq!(settings, model.settings(from), "at {from:?}");
        }
    });
}

/// Checks every entry as version 3 shows it.
fn check_migrated(session: &Session, model: &Model) {
    let mut bodies = Bodies::new(session);
    for (node, expected) in session.nodes().zip(&model.nodes) {
        let text = String::from_utf8(bodies.entry(node).unwrap().object().bytes().to_vec()).unwrap();
        let found: Value = serde_json::from_str(&text.replace("1e400", "\"1e400\"")).unwrap();
        assert_eq!(found, model.migrated(expected), "{}: {text}", expected.id);
    }
}

#[test]
fn old_versions_show_as_the_model_migrates_them() {
    for_each_session(check_migrated);
}

/// Of members with one name the last one counts, wherever the others stand.
#[test]
fn old_versions_with_members_twice_show_as_the_model_migrates_them() {
    for line in [
        r#"{"firstKeptEntryIndex":98,"type":"compaction"}"#,
        r#"{"firstKeptEntryIndex":99,"firstKeptEntryIndex":98,"type":"compaction"}"#,
        r#"{"firstKeptEntryIndex":98,"firstKeptEntryIndex":1,"type":"compaction"}"#,
        r#"{"firstKeptEntryIndex":1,"firstKeptEntryIndex":98,"type":"compaction"}"#,
        r#"{"type":"compaction","firstKeptEntryIndex":99 , "firstKeptEntryIndex":98}"#,
        r#"{"type":"custom","type":"compaction","firstKeptEntryIndex":1}"#,
        r#"{"type":"compaction","type":"custom","firstKeptEntryIndex":1}"#,
        r#"{"id":"a","type":"custom","id":"b","parentId":1,"parentId":2}"#,
        r#"{"type":"message","message":{"role":"hookMessage"},"message":{"role":"user"}}"#,
        r#"{"type":"message","message":{"role":"user","role":"hookMessage"}}"#,
    ] {
        let file = format!("{{\"type\":\"session\",\"id\":\"s\",\"version\":1}}\n{{\"type\":\"custom\"}}\n{line}\n");
        check_session(file.as_bytes(), check_migrated);
    }
}

/// A `message` in an entry of another type is just a member that nobody knows.
#[test]
fn only_messages_have_roles() {
    let file = r#"{"type":"session","version":3,"id":"s"}
{"type":"message","id":"a","parentId":null,"message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"ls"}]}}
{"type":"from_the_future","id":"b","parentId":"a","message":{"role":"toolResult","toolCallId":"c","toolName":"ls"}}
{"type":"custom","id":"c","parentId":"b","customType":"state","message":{"role":"user","content":"not said"}}
"#;
    check_session(file.as_bytes(), |session, model| {
        let mut bodies = Bodies::new(session);
        let words: Vec<_> = session.nodes().map(|node| bodies.words(node).unwrap()).collect();
        assert_eq!(words, ["(no content)", "[from_the_future]", "[custom: state]"]);
        let roles: Vec<_> = session.nodes().map(|node| session.role_name(node)).collect();
        assert_eq!(roles, [Some("assistant"), None, None]);
        let order = walk::display_order(session, session.leaf());
        for (name, filter) in FILTERS {
            let shows = |node: NodeId| filter.shows(session.traits(node), false, Some(node) == session.leaf());
            let rows = support::lay_out(session, session.leaf(), &order, shows);
            assert_eq!(found_rows(session, &rows), model.rows(name, model.leaf()), "{name}");
        }
    });
}

/// Everything that the generator is for must come up, or the comparisons above show less than
/// they say.
#[test]
fn random_sessions_have_everything_odd() {
    let mut seen = BTreeMap::<String, usize>::new();
    for seed in 1..=SESSIONS {
        let model = Model::read(&random::session(seed));
        let mut see = |what: String| *seen.entry(what).or_default() += 1;
        see(format!("version {}", model.version));
        model.problems.keys().for_each(|kind| see((*kind).to_owned()));
        let context = model.context(model.leaf());
        context.iter().for_each(|item| see(item.split(' ').next().unwrap().to_owned()));
        let has_fork = model.ids().iter().any(|id| model.children(id).len() > 1);
        let facts = [("labels", !model.labels().is_empty()), ("roots", model.roots().len() > 1), ("forks", has_fork)];
        facts.iter().filter(|(_, is_so)| *is_so).for_each(|(what, _)| see((*what).to_owned()));
    }
    let expected = "version 1, version 2, version 3, version 4, malformed-line, unfinished-line, foreign-line, second-header, \
                    odd-version, newer-version, duplicate-id, orphan, cycle, labels, roots, forks, stored, edited, \
                    custom, branch, system, compaction";
    for what in expected.split(", ") {
        assert!(seen.get(what).is_some_and(|&count| count >= 20), "{what}: {seen:?}");
    }
}
