//! Random files in which openclaw stores where the leaf is, against a model that keeps nothing but names:
//! where entries hang, where the leaf is, what the context has; and what a saved move adds to them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use session_tree::core::check;
use session_tree::core::context::{self, ContextMessage};
use session_tree::core::edit::branch::{Fork, NewSession};
use session_tree::core::error::problem::WarningKind;
use session_tree::core::read::source::Source;
use session_tree::core::session::body::Bodies;
use session_tree::core::session::{NodeId, Session};
use session_tree::core::tree::walk;

use super::random::Random;
use crate::cli::Scratch;
use crate::support;
use crate::write::scene;

const FILES: u64 = 3000;

/// Makes the lines after the header: what openclaw writes, and one in ten of the names leads astray.
fn lines(seed: u64) -> Vec<Value> {
    let mut random = Random::new(seed);
    let count = 2 + random.below(14);
    let plain = random.below(4);
    let mut lines: Vec<Value> = Vec::new();
    for at in 0..count {
        let id = if random.percent(3) { format!("e{}", random.below(count)) } else { format!("e{at}") };
        let mut any = |nearest: usize| match random.below(40) {
            0 => json!("gone"),
            1 | 2 => Value::Null,
            3 => json!(format!("e{}", random.below(count))),
            4 => json!(7),
            5..17 if at > 0 => json!(format!("e{}", random.below(at))),
            _ => at.checked_sub(nearest).map_or(Value::Null, |before| json!(format!("e{before}"))),
        };
        let (parent, target, append, kept) = (any(1), any(3), any(2), any(4));
        let time = format!("2026-01-05T10:{:02}:00.000Z", at % 60);
        let mut line = json!({"id": id, "parentId": parent, "timestamp": time});
        let user = json!({"role": "user", "content": id});
        let kind = if at < plain { random.below(4) } else { random.below(20) };
        let (kind, members) = match kind {
            0..3 => ("message", json!({"message": user})),
            3 => (random.pick(&["label", "custom", "mode_change", "other"]), json!({})),
            4..9 => ("message", json!({"message": user})),
            9..11 => ("message", json!({"message": user, "appendMode": random.pick(&["side", "side", "main"])})),
            11..14 => ("leaf", json!({"targetId": target})),
            14..16 => ("leaf", json!({"targetId": target, "appendParentId": append})),
            16 => ("reset", json!({"firstKeptEntryId": kept})),
            17 => (random.pick(&["reset", "leaf", "mode_change"]), json!({})),
            18 => ("compaction", json!({"summary": "s", "firstKeptEntryId": kept})),
            _ => (random.pick(&["label", "custom_message", "session_info", "model_change", "other"]), json!({})),
        };
        line["type"] = kind.into();
        line.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        if random.percent(3) {
            line.as_object_mut().unwrap().remove("parentId");
        }
        lines.push(line);
    }
    lines
}

fn bytes(lines: &[Value]) -> Vec<u8> {
    let header = json!({"type": "session", "version": 3, "id": "s", "cwd": "/x"});
    std::iter::once(&header).chain(lines).map(|line| format!("{line}\n")).collect::<String>().into_bytes()
}

/// Makes a file.
pub fn session(seed: u64) -> Vec<u8> {
    bytes(&lines(seed))
}

/// What a name at a line leads to.
#[derive(Clone, Debug, PartialEq)]
enum Place {
    Start,
    At(String),
    Nowhere,
}

/// What the lines say, by names alone.
#[derive(Default)]
struct Model {
    /// The entries in the order of the file, and where they hang.
    entries: Vec<(String, Option<String>)>,
    leaf: Option<String>,
    marks: BTreeSet<String>,
    ignored: BTreeSet<String>,
    reset: Option<String>,
}

impl Model {
    fn new(lines: &[Value]) -> Self {
        let id = |line: &Value| line["id"].as_str().unwrap().to_owned();
        // Of several lines with one id the last one counts.
        let is_last = |(at, line): &(usize, &Value)| !lines[at + 1..].iter().any(|later| later["id"] == line["id"]);
        let lines: Vec<&Value> = lines.iter().enumerate().filter(is_last).map(|(_, line)| line).collect();
        let is_special =
            |line: &&Value| line["type"] == "leaf" || line["type"] == "reset" || line["appendMode"] == "side";
        let first = lines.iter().position(is_special).unwrap_or(lines.len());
        let leads = |line: &Value| {
            let kinds = "message custom_message branch_summary compaction custom label thinking_level_change \
                         model_change session_info reset";
            kinds.split_whitespace().any(|kind| line["type"] == kind) && line["appendMode"] != "side"
        };
        let has_name =
            |line: &Value| line["parentId"].is_null() && line.get("parentId").is_some() || line["parentId"].is_string();

        let mut model = Self::default();
        let mut up: BTreeMap<String, Option<String>> = BTreeMap::new();
        let mut unknown: BTreeSet<String> = BTreeSet::new();
        let mut append = None;
        for (at, line) in lines.iter().enumerate() {
            let known: Vec<String> = lines[..at].iter().map(|line| id(line)).collect();
            let place = |name: &Value| match name {
                Value::Null => Place::Start,
                Value::String(name) if known.contains(name) && !unknown.contains(name) => Place::At(name.clone()),
                _ => Place::Nowhere,
            };
            let is_below = |place: &Place| match (&model.reset, place) {
                (None, _) => true,
                (_, Place::Start | Place::Nowhere) => false,
                (Some(reset), Place::At(name)) => {
                    let above = std::iter::successors(Some(name), |name| up.get(*name)?.as_ref());
                    !model.ignored.contains(name) && above.take(known.len()).any(|name| name == reset)
                }
            };
            let meant = |place: &Place| match place {
                Place::At(name) if model.marks.contains(name) => up[name].clone(),
                Place::At(name) => Some(name.clone()),
                _ => None,
            };
            let own = if has_name(line) { place(&line["parentId"]) } else { Place::Nowhere };
            let own_name = if let Place::At(name) = &own { Some(name.clone()) } else { None };
            let id = id(line);
            if at < first {
                if own_name.is_some() {
                    up.insert(id.clone(), own_name);
                }
                model.leaf = if at + 1 == first && first < lines.len() {
                    lines[..first].iter().rfind(|line| leads(line)).map(|line| line["id"].as_str().unwrap().to_owned())
                } else {
                    Some(id.clone())
                };
                append = Some(id);
                continue;
            }
            if line["type"] == "leaf" {
                let valid = |name: &Value| match place(name) {
                    Place::At(name) if model.ignored.contains(&name) => Place::Nowhere,
                    place => place,
                };
                let is_whole = |name: Option<&Value>| name.is_some_and(|name| name.is_null() || name.is_string());
                let to = line.get("targetId").map_or(Place::Nowhere, valid);
                let append_to = line.get("appendParentId").map_or(to.clone(), valid);
                let names_all = has_name(line)
                    && is_whole(line.get("targetId"))
                    && is_whole(line.get("appendParentId").or(Some(&Value::Null)));
                let there = if !names_all {
                    unknown.insert(id.clone());
                    model.ignored.insert(id.clone());
                    meant(&own)
                } else if model.reset.is_some() && !is_below(&to) {
                    append = model.leaf.clone();
                    model.leaf.clone()
                } else if to == Place::Nowhere || append_to == Place::Nowhere {
                    model.ignored.insert(id.clone());
                    meant(&own)
                } else {
                    model.leaf = meant(&to);
                    append = if let Place::At(name) = append_to { Some(name) } else { None };
                    model.leaf.clone()
                };
                model.marks.insert(id.clone());
                up.insert(id, there);
            } else if leads(line) {
                let is_end = own != Place::Nowhere && own_name == append;
                let there =
                    if is_end || own == Place::Nowhere || !is_below(&own) { model.leaf.clone() } else { meant(&own) };
                up.insert(id.clone(), there);
                if line["type"] == "reset" {
                    model.reset = Some(id.clone());
                }
                (model.leaf, append) = (Some(id.clone()), Some(id));
            } else if has_name(line) {
                up.insert(id.clone(), meant(&own));
                append = Some(id);
            } else {
                up.insert(id.clone(), model.leaf.clone());
                if line["appendMode"] == "side" {
                    append = Some(id);
                }
            }
        }
        // What is not of the conversation hangs at what it names, also if that comes later.
        for (at, line) in lines.iter().enumerate() {
            let id = id(line);
            let placed = at >= first && (leads(line) || line["type"] == "leaf" || !has_name(line));
            let named = line["parentId"].as_str().filter(|name| lines.iter().any(|line| line["id"] == **name));
            let named = match named {
                Some(mark) if model.marks.contains(mark) => up[mark].clone(),
                Some(own) if own == id => None,
                named => named.map(str::to_owned),
            };
            model.entries.push((id.clone(), if placed { up[&id].clone() } else { named }));
        }
        model.cut_loops();
        model
    }

    fn parent(&self, id: &str) -> Option<&str> {
        self.entries.iter().find(|(other, _)| other == id)?.1.as_deref()
    }

    /// Makes the first entry of each loop a root.
    fn cut_loops(&mut self) {
        for at in 0..self.entries.len() {
            let own = self.entries[at].0.clone();
            let above = std::iter::successors(self.parent(&own), |id| self.parent(id));
            if above.take(self.entries.len()).any(|id| id == own) {
                self.entries[at].1 = None;
            }
        }
    }

    fn path(&self) -> Vec<&str> {
        let mut path: Vec<_> = std::iter::successors(self.leaf.as_deref(), |id| self.parent(id)).collect();
        path.reverse();
        path
    }

    /// Returns what the context at the leaf is made of.
    fn context(&self, lines: &[Value]) -> Vec<String> {
        let path = self.path();
        let line = |id: &str| lines.iter().rfind(|line| line["id"] == id).unwrap();
        let says = |id: &&str| ["message", "custom_message"].iter().any(|kind| line(id)["type"] == *kind);
        let Some(cut) = path.iter().rposition(|id| line(id)["type"] == "compaction" || line(id)["type"] == "reset")
        else {
            return path.into_iter().filter(says).map(str::to_owned).collect();
        };
        let is_reset = line(path[cut])["type"] == "reset";
        let first = path[..cut].iter().position(|id| line(path[cut])["firstKeptEntryId"] == *id).unwrap_or(cut);
        let kept = path[first..cut].iter().filter(|id| says(id) && !(is_reset && line(id)["type"] != "message"));
        let own = (!is_reset).then(|| format!("compaction {}", path[cut]));
        let said = kept.chain(path[cut + 1..].iter().filter(|id| says(id)));
        own.into_iter().chain(said.map(|id| (*id).to_owned())).collect()
    }
}

#[test]
fn entries_hang_where_the_model_hangs_them() {
    let mut seen = BTreeMap::<&str, usize>::new();
    for seed in 1..=FILES {
        let lines = lines(seed);
        let bytes = bytes(&lines);
        let (session, model) = (support::session(&bytes), Model::new(&lines));
        let text = String::from_utf8_lossy(&bytes);
        let id = |node| session.id(node).to_owned();
        let entries: Vec<_> = session.nodes().map(|node| (id(node), session.parent(node).map(id))).collect();
        assert_eq!(entries, model.entries, "file {seed}:\n{text}");
        assert_eq!(session.leaf().map(id), model.leaf, "file {seed}:\n{text}");
        assert_eq!(session.reset().map(id), model.reset, "file {seed}:\n{text}");
        let marks = session.nodes().filter(|&node| session.is_mark(node)).map(id);
        assert_eq!(marks.collect::<BTreeSet<_>>(), model.marks, "file {seed}:\n{text}");
        let context = context::build(&mut Bodies::new(&session), session.leaf()).unwrap();
        let item = |item: &ContextMessage| match *item {
            ContextMessage::Compaction(node) => format!("compaction {}", session.id(node)),
            ref other => session.id(other.node()).to_owned(),
        };
        assert_eq!(
            context.messages.iter().map(item).collect::<Vec<_>>(),
            model.context(&lines),
            "file {seed}:\n{text}"
        );
        // A mark is shown once, right below where the leaf moved to, and is nobody's child.
        let order = walk::display_order(&session, session.leaf());
        assert_eq!(order.iter().copied().collect::<BTreeSet<_>>(), session.nodes().collect(), "file {seed}:\n{text}");
        for (at, &mark) in order.iter().enumerate().filter(|(_, node)| session.is_mark(**node)) {
            let above = order[..at].iter().rev().find(|node| !session.is_mark(**node)).copied();
            assert_eq!(above, session.parent(mark), "file {seed}:\n{text}");
            assert!(session.children(mark).is_empty() && !session.roots().contains(&mark), "file {seed}:\n{text}");
        }
        let children = session.nodes().flat_map(|node| session.children(node)).chain(session.roots()).count();
        assert_eq!((children, session.count()), (order.len() - model.marks.len(), children), "file {seed}:\n{text}");
        assert!(walk::tips(&session).iter().all(|&tip| !session.is_mark(tip)), "file {seed}:\n{text}");
        check::check(Source::spool(&bytes[..]).unwrap(), None, 1).unwrap();
        let mut see = |what, is_so| *seen.entry(what).or_default() += usize::from(is_so);
        see("ignored", !model.ignored.is_empty());
        see("moved", model.marks.len() > model.ignored.len());
        see("reset", model.reset.is_some());
        see("before the first entry", model.leaf.is_none());
        see("plain", !session.stores_leaf());
        see("loop", session.problems.count(WarningKind::Cycle) > 0);
        see("twice", session.problems.count(WarningKind::DuplicateId) > 0);
        see("missing", session.problems.count(WarningKind::Orphan) > 0);
    }
    assert!(seen.values().all(|&count| count > 50), "{seen:?}");
}

/// What a fork keeps says the same as it did in its place.
#[test]
fn a_fork_has_the_context_of_its_entry() {
    let mut count = 0;
    for seed in 1..=FILES {
        let lines = lines(seed);
        let session = support::session(&bytes(&lines));
        // Of a file that is read as ever nothing is new here; a type that is not its agent's is never a leaf.
        let is_own = |node: &NodeId| !session.is_mark(*node) && session.is_user(*node);
        let Some(entry) = session.nodes().filter(is_own).nth(usize::try_from(seed % 4).unwrap()) else { continue };
        if !session.stores_leaf() {
            continue;
        }
        let says = |session: &Session, leaf| {
            let context = context::build(&mut Bodies::new(session), leaf).unwrap();
            context.messages.iter().map(|item| session.id(item.node()).to_owned()).collect::<Vec<_>>()
        };
        let new = NewSession {
            id: "new".to_owned(),
            now: "2026-01-05T12:00:00.000Z".to_owned(),
            parent: None,
            stand_ins: None,
        };
        let (mut out, mut next) = (Vec::new(), 0);
        let mut fresh = || {
            next += 1;
            format!("new{next}")
        };
        Fork::at(&session, entry).write(&mut Bodies::new(&session), &new, &mut fresh, &mut out).unwrap();
        let text = String::from_utf8_lossy(&out);
        let copy = support::session(&out);
        assert_eq!(says(&copy, copy.leaf()), says(&session, Some(entry)), "file {seed}:\n{text}");
        count += 1;
    }
    assert!(count > 1000, "{count}");
}

/// A saved move is one line at the end, and takes the leaf to its position; or nothing is written, if that
/// is above the last reset.
#[test]
fn a_saved_move_appends_a_mark_and_nothing_else() {
    let (mut moved, mut refused) = (0, 0);
    for seed in 1..=120 {
        let lines = lines(seed);
        let old = bytes(&lines);
        let session = support::session(&old);
        let Some(target) =
            session.nodes().filter(|&node| !session.is_mark(node)).nth(usize::try_from(seed % 5).unwrap())
        else {
            continue;
        };
        if !session.stores_leaf() || session.leaf() == Some(target) {
            continue;
        }
        let scratch = Scratch::bytes(&old);
        let run = scratch.args(["navigate", "s.jsonl", session.id(target), "--save", "--json", "--quiet"]);
        let position = if session.is_user(target)
            || lines.iter().any(|line| line["id"] == session.id(target) && line["type"] == "custom_message")
        {
            session.parent(target)
        } else {
            Some(target)
        };
        let earlier = |node: &NodeId| session.parent(*node).filter(|parent| parent < node);
        let mut above = std::iter::successors(position, earlier);
        if session.reset().is_some_and(|reset| above.all(|node| node != reset)) {
            assert_eq!((run.code, scene::error(&run)["kind"].as_str()), (2, Some("usage")), "file {seed}");
            scene::untouched(&scratch, &old);
            refused += 1;
            continue;
        }
        run.ok();
        let new = scene::bytes(&scratch);
        assert_eq!(scene::appended(&old, &new).len(), 1, "file {seed}");
        let after = support::session(&new);
        let place = position.map(|node| session.id(node));
        assert_eq!(after.leaf().map(|leaf| after.id(leaf)), place, "file {seed}:\n{}", String::from_utf8_lossy(&new));
        let parents = |session: &Session| {
            let parent = |node| session.parent(node).map(|parent| session.id(parent).to_owned());
            session.nodes().map(parent).collect::<Vec<_>>()
        };
        assert_eq!(parents(&after)[..session.len()], parents(&session), "file {seed}");
        moved += 1;
    }
    assert!(moved > 40 && refused > 5, "{moved} {refused}");
}
