//! What the reference agents (omp 13.19.0 and pi 1.6.0) made of random files, and what we make of
//! them.
//!
//! `tests/data/golden/NNN-*.jsonl` are the files. The `.json` beside each holds, for each agent,
//! `leafId`, `labels`, `tree` (`[id, depth, children, label]`, children oldest first), `rows` (for
//! every filter the ids in the order of display), `search` (words to ids), and `contexts` by leaf
//! (`null` = before the first entry, `@` = the leaf); old versions also have `entries`, as they are
//! after migration. Messages and entries are numbers of `values`, where each stands once. Agents
//! give entries of version 1 random ids: there `#N` names the N-th entry.

use std::collections::{BTreeMap, HashSet};
use std::fs;

use serde_json::{Value, json};
use session_tree::core::context::message;
use session_tree::core::context::stats;
use session_tree::core::context::{self, Context};
use session_tree::core::entry::Kind;
use session_tree::core::entry::message::Message;
use session_tree::core::json::Raw;
use session_tree::core::search::{Prefilter, Query};
use session_tree::core::session::body::Bodies;
use session_tree::core::session::{NodeId, Session};
use session_tree::core::tree::filter::Filter;
use session_tree::core::tree::walk;

use crate::support;

/// How many files there are; a test that runs on fewer has lost its data.
const FILES: usize = 30;

/// A file, and what the agents made of it.
struct Case {
    name: String,
    session: Session,
    expected: Value,
}

impl Case {
    fn all() -> Vec<Self> {
        let mut paths: Vec<_> =
            fs::read_dir(support::data("golden")).unwrap().map(|file| file.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
        paths.sort();
        let read = |path: std::path::PathBuf| Self {
            name: path.file_stem().unwrap().to_string_lossy().into_owned(),
            session: support::session(&fs::read(&path).unwrap()),
            expected: serde_json::from_slice(&fs::read(path.with_extension("json")).unwrap()).unwrap(),
        };
        let cases: Vec<_> = paths.into_iter().map(read).collect();
        assert_eq!(cases.len(), FILES);
        cases
    }

    /// Names an entry as the expectations do.
    fn name_of(&self, node: NodeId) -> String {
        match self.session.version {
            1 => format!("#{}", node.index()),
            _ => self.session.id(node).to_owned(),
        }
    }

    fn names(&self, nodes: impl IntoIterator<Item = NodeId>) -> Value {
        nodes.into_iter().map(|node| self.name_of(node)).collect()
    }

    fn leaf(&self, name: &str) -> Option<NodeId> {
        match name {
            "null" => None,
            "@" => self.session.leaf(),
            id => Some(self.session.find(id).expect("a recorded leaf is in the file")),
        }
    }

    /// Resolves numbers of `values`.
    fn values(&self, numbers: &Value) -> Vec<Value> {
        let number = |number: &Value| usize::try_from(number.as_u64().unwrap()).unwrap();
        numbers.as_array().unwrap().iter().map(|at| self.expected["values"][number(at)].clone()).collect()
    }

    /// Returns whether a `model_change` has a member: the agents know only their own form of it.
    fn changes_model_by(&self, member: &str) -> bool {
        let mut bodies = Bodies::new(&self.session);
        let mut changes = self.session.nodes().filter(|&node| self.session.traits(node).kind == Kind::ModelChange);
        changes.any(|node| bodies.entry(node).unwrap().get(member).is_some())
    }
}

/// Runs a check for every file and agent. The check gets the agent's name and its part of the
/// expectations.
fn for_each(check: impl Fn(&Case, &str, &Value)) {
    for case in Case::all() {
        for agent in ["omp", "pi"] {
            check(&case, agent, &case.expected[agent]);
        }
    }
}

/// Brings a value to what both sides can agree on: `null` means absent, and numbers are doubles.
fn normal(value: &Value) -> Value {
    match value {
        Value::Object(members) => members
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name.clone(), normal(value)))
            .collect(),
        Value::Array(elements) => elements.iter().map(normal).collect(),
        Value::Number(number) => json!(number.as_f64()),
        other => other.clone(),
    }
}

/// Brings messages for a model to what both sides can agree on: of a summary only what stands
/// between the tags counts, and `attribution` is omp's own.
fn normal_for_model(messages: &[Value]) -> Vec<Value> {
    let mut messages: Vec<_> = messages.iter().map(normal).collect();
    for message in &mut messages {
        message.as_object_mut().unwrap().remove("attribution");
        let is_alone = message["content"].as_array().is_some_and(|blocks| blocks.len() == 1);
        let text = message["content"][0]["text"].as_str().filter(|_| is_alone && message["role"] == "user");
        let summary = text.and_then(|text| text.split_once("<summary>")?.1.rsplit_once("</summary>"));
        if let Some((summary, _)) = summary {
            let summary = format!("summary: {}", summary.trim());
            message["content"] = summary.into();
        }
    }
    messages
}

/// Makes the messages of a context, as stored or as a model gets them.
fn messages(case: &Case, context: &Context, for_model: bool) -> Vec<Value> {
    let mut bodies = Bodies::new(&case.session);
    let mut out = Vec::new();
    for item in &context.messages {
        let (mut stored, mut sent) = (Vec::new(), Vec::new());
        message::write(&mut stored, &mut bodies, item).unwrap();
        if !for_model {
            out.push(serde_json::from_slice(&stored).unwrap());
        } else if message::write_for_model(&mut sent, Message::made(Raw::new(&stored))) {
            out.push(serde_json::from_slice(&sent).unwrap());
        }
    }
    out
}

/// Runs a check for every recorded context.
fn for_each_context(check: impl Fn(&Case, &str, &Context, &Value, &str)) {
    let mut count = 0;
    for case in Case::all() {
        for agent in ["omp", "pi"] {
            for (leaf, expected) in case.expected[agent]["contexts"].as_object().unwrap() {
                let context = context::build(&mut Bodies::new(&case.session), case.leaf(leaf)).unwrap();
                check(&case, agent, &context, expected, &format!("{} at {leaf} in {agent}", case.name));
                count += 1;
            }
        }
    }
    assert!(count >= FILES * 4, "at least two contexts for each of two agents: {count}");
}

#[test]
fn trees_are_those_of_the_agents() {
    for_each(|case, agent, expected| {
        let session = &case.session;
        let mut tree = Vec::new();
        let mut stack: Vec<_> = session.roots().iter().rev().map(|&root| (root, 0)).collect();
        while let Some((node, depth)) = stack.pop() {
            let label = session.label(node).map(|label| label.name.as_str());
            tree.push(json!([case.name_of(node), depth, session.children(node).len(), label]));
            stack.extend(session.children(node).iter().rev().map(|&child| (child, depth + 1)));
        }
        assert_eq!(Value::from(tree), expected["tree"], "{} in {agent}", case.name);
    });
}

#[test]
fn leaves_and_labels_are_those_of_the_agents() {
    for_each(|case, agent, expected| {
        let session = &case.session;
        let leaf = session.leaf().map(|leaf| case.name_of(leaf));
        assert_eq!(json!(leaf), expected["leafId"], "{} in {agent}", case.name);
        let set = session.labels().iter().filter_map(|label| Some((case.name_of(label.target?), label.name.as_str())));
        assert_eq!(json!(set.collect::<BTreeMap<_, _>>()), expected["labels"], "{} in {agent}", case.name);
    });
}

#[test]
fn rows_are_those_of_the_agents() {
    let filters = [
        ("default", Filter::Default),
        ("no-tools", Filter::NoTools),
        ("user-only", Filter::UserOnly),
        ("labeled-only", Filter::LabeledOnly),
        ("all", Filter::All),
    ];
    for_each(|case, agent, expected| {
        let session = &case.session;
        let order = walk::display_order(session, session.leaf());
        let traits: BTreeMap<_, _> = session.nodes().map(|node| (case.name_of(node), session.traits(node))).collect();
        for (name, filter) in filters {
            let is_leaf = |node| Some(node) == session.leaf();
            let is_shown =
                |node: &NodeId| filter.shows(session.traits(*node), session.label(*node).is_some(), is_leaf(*node));
            let mut ours = case.names(order.iter().copied().filter(is_shown));
            let mut theirs = expected["rows"][name].clone();
            let (our_rows, their_rows) = (ours.as_array_mut().unwrap(), theirs.as_array_mut().unwrap());
            match filter {
                // Theirs hide assistant messages without text here too.
                Filter::All | Filter::LabeledOnly => our_rows.retain(|row| their_rows.contains(row)),
                // Theirs show bookkeeping as empty rows.
                Filter::Default | Filter::NoTools => their_rows.retain(|row| {
                    let kind = traits[row.as_str().unwrap()].kind;
                    kind.is_conversation() || !kind.is_entry_type()
                }),
                Filter::UserOnly => {}
            }
            assert_eq!(ours, theirs, "{} with {name} in {agent}", case.name);
        }
    });
}

#[test]
fn a_search_finds_what_the_agents_find() {
    for_each(|case, agent, expected| {
        let session = &case.session;
        let mut bodies = Bodies::new(session);
        for (words, theirs) in expected["search"].as_object().unwrap() {
            let query = Query::new(words);
            for id in theirs.as_array().unwrap() {
                let node = session.find(id.as_str().unwrap()).unwrap();
                if !session.traits(node).kind.is_conversation() {
                    continue;
                }
                let row = bodies.words(node).unwrap();
                let label = session.label(node).map(|label| label.name.as_str());
                let found = query.matches(bodies.entry(node).unwrap(), label, &row);
                assert!(found, "{}: `{words}` in {id}, as in {agent}", case.name);
                let line = bodies.bytes(node).unwrap();
                assert!(Prefilter::new(&query).may_match(line, label, &row), "{}: `{words}` in {id}", case.name);
            }
        }
    });
}

#[test]
fn contexts_hold_the_messages_of_the_agents() {
    for_each_context(|case, _, context, expected, what| {
        let ours: Vec<_> = messages(case, context, false).iter().map(normal).collect();
        let theirs: Vec<_> = case.values(&expected["messages"]).iter().map(normal).collect();
        assert_eq!(ours, theirs, "{what}");
    });
}

#[test]
fn contexts_for_models_are_those_of_the_agents() {
    for_each_context(|case, _, context, expected, what| {
        let ours = normal_for_model(&messages(case, context, true));
        let theirs = normal_for_model(&case.values(&expected["llm"]));
        assert_eq!(ours, theirs, "{what}");
    });
}

#[test]
fn contexts_hold_the_settings_of_the_agents() {
    for_each_context(|case, agent, context, expected, what| {
        let state = &context.settings;
        assert_eq!(json!(state.thinking_level), expected["thinkingLevel"], "{what}");
        if agent == "pi" {
            if !case.changes_model_by("model") {
                let model = &expected["model"];
                let member = |name: &str| model[name].as_str().unwrap();
                let theirs = (!model.is_null()).then(|| format!("{}/{}", member("provider"), member("modelId")));
                assert_eq!(state.models.get("default"), theirs.as_ref(), "{what}");
            }
            return;
        }
        if !case.changes_model_by("modelId") {
            assert_eq!(json!(state.models), expected["models"], "{what}");
        }
        assert_eq!(json!(state.mode), expected["mode"], "{what}");
        let data = state.mode_data.as_deref().map(|data| serde_json::from_str::<Value>(data).unwrap());
        assert_eq!(normal(&json!(data)), normal(&expected["modeData"]), "{what}");
        assert_eq!(json!(state.ttsr_rules), expected["injectedTtsrRules"], "{what}");
    });
}

#[test]
fn stats_count_the_messages_of_the_agents_by_role() {
    for_each_context(|case, _, context, expected, what| {
        let stats = stats::measure(&mut Bodies::new(&case.session), context, 1).unwrap();
        let mut theirs = BTreeMap::<_, usize>::new();
        for message in case.values(&expected["messages"]) {
            let role = message["role"].as_str().unwrap().to_owned();
            let member = match role.as_str() {
                "toolResult" => "toolName",
                "custom" => "customType",
                _ => "",
            };
            let name = message[member].as_str().filter(|name| !name.is_empty()).map(str::to_owned);
            *theirs.entry((role, name)).or_default() += 1;
        }
        let part = |part: &stats::MessageGroup| ((part.role.to_owned(), part.name.clone()), part.size.messages);
        assert_eq!(stats.parts.iter().map(part).collect::<BTreeMap<_, _>>(), theirs, "{what}");
        assert_eq!(stats.all.messages, theirs.values().sum::<usize>(), "{what}");
    });
}

/// Sums up, on whole values, what the assistant messages on the path note.
#[test]
fn usage_is_the_sum_of_what_stands_in_the_files() {
    let mut summed = 0;
    for case in Case::all() {
        let mut bodies = Bodies::new(&case.session);
        let mut expected = (0, 0.0, 0.0);
        for node in walk::path(&case.session, case.session.leaf()) {
            let entry = bodies.entry(node).unwrap().object().bytes();
            let message = &serde_json::from_slice::<Value>(entry).unwrap()["message"];
            let usage = &message["usage"];
            if message["role"] == "assistant" && usage.is_object() {
                expected.0 += 1;
                expected.1 += usage["input"].as_f64().unwrap_or(0.0);
                expected.2 += usage["cost"]["total"].as_f64().unwrap_or(0.0);
            }
        }
        let context = context::build(&mut bodies, case.session.leaf()).unwrap();
        let usage = stats::measure(&mut bodies, &context, 1).unwrap().usage;
        let assistant = usage.sources.iter().find(|source| source.name == "assistant");
        let found = assistant.map(|source| (source.entries, source.amounts.input, source.amounts.cost));
        assert_eq!(found.unwrap_or_default(), expected, "{}", case.name);
        summed += expected.0;
    }
    assert!(summed > 50, "{summed}");
}

#[test]
fn old_versions_show_as_the_agents_migrate_them() {
    let mut count = 0;
    for case in Case::all().iter().filter(|case| case.session.version < 3) {
        for agent in ["omp", "pi"] {
            let mut bodies = Bodies::new(&case.session);
            for (node, theirs) in case.session.nodes().zip(case.values(&case.expected[agent]["entries"])) {
                let entry = bodies.entry(node).unwrap().object().bytes();
                let mut ours: Value = serde_json::from_slice(entry).unwrap();
                for name in ["id", "parentId", "firstKeptEntryId"] {
                    if let Some(id) = ours[name].as_str().filter(|_| case.session.version == 1) {
                        ours[name] = case.name_of(case.session.find(id).unwrap()).into();
                    }
                }
                assert_eq!(normal(&ours), normal(&theirs), "{} in {agent}", case.name);
                count += 1;
            }
            let theirs = case.expected[agent]["entries"].as_array().unwrap().len();
            assert_eq!(case.session.len(), theirs, "{} in {agent}", case.name);
        }
    }
    assert!(count > 500, "{count}");
}

#[test]
fn nested_json_holds_the_lines_as_they_are() {
    let mut count = 0;
    for case in Case::all().iter().filter(|case| case.session.version == 3) {
        let path = support::data(&format!("golden/{}.jsonl", case.name));
        let json = support::run(["tree", "--json", "--filter", "all", path.to_str().unwrap()]).ok();
        let text = fs::read_to_string(&path).unwrap();
        let is_entry = |line: &&str| serde_json::from_str::<Value>(line).is_ok_and(|line| line["type"] != "session");
        for line in text.lines().filter(is_entry) {
            let node = format!(r#"{{"entry":{line},"children":["#);
            assert_eq!(json.matches(&node).count(), 1, "{} in {json}", line);
            count += 1;
        }
    }
    assert!(count > 400, "{count}");
}

#[test]
fn ids_of_version_1_are_the_same_on_every_load() {
    let first: Vec<_> = Case::all().into_iter().filter(|case| case.session.version == 1).collect();
    let again: Vec<_> = Case::all().into_iter().filter(|case| case.session.version == 1).collect();
    assert_eq!(first.len(), 6);
    for (case, again) in first.iter().zip(&again) {
        let ids = |session: &Session| session.nodes().map(|node| session.id(node).to_owned()).collect::<Vec<_>>();
        let (ids, again) = (ids(&case.session), ids(&again.session));
        assert_eq!(ids, again, "{}", case.name);
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len(), "{}", case.name);
        let is_digit = |char: char| matches!(char, '0'..='9' | 'a'..='f');
        assert!(ids.iter().all(|id| id.len() == 8 && id.chars().all(is_digit)), "{}: {ids:?}", case.name);
    }
    let first_ids = first.iter().map(|case| case.session.id(case.session.nodes().next().unwrap()));
    assert_eq!(first_ids.collect::<HashSet<_>>().len(), first.len(), "another header, other ids");
}

#[test]
fn ids_of_version_1_are_the_same_everywhere() {
    // Made with another program from the rule (help rules, "Migration"): UUIDs (version 5) of header and place.
    let cases = Case::all();
    let case = cases.iter().find(|case| case.name == "009-v1-pi").unwrap();
    let ids: Vec<_> = case.session.nodes().take(3).map(|node| case.session.id(node)).collect();
    assert_eq!(ids, ["ccf46ab2", "a0838d3e", "78000ae2"]);
}

/// The 456th candidate of this header is the same as the 23rd: the first free one is taken.
#[test]
fn ids_of_version_1_that_collide_get_another_candidate() {
    let file = "{\"type\":\"session\",\"id\":\"s308\"}\n".to_owned() + &"{\"type\":\"custom\"}\n".repeat(457);
    let session = support::session(file.as_bytes());
    let ids: Vec<_> = session.nodes().map(|node| session.id(node)).collect();
    assert_eq!((ids[23], ids[455], ids[456]), ("b4e2aa37", "042eee2e", "b951a0d5"));
}
