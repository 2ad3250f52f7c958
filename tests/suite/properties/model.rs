//! What a session file means, by the rules and as simply as can be: whole values, quadratic walks,
//! nothing kept from one question to the next.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use uuid::Uuid;

use super::random::TIMES;

const NOTHING: &Value = &Value::Null;

const BOOKKEEPING: [&str; 16] = [
    "custom",
    "label",
    "thinking_level_change",
    "model_change",
    "mode_change",
    "ttsr_injection",
    "service_tier_change",
    "mcp_tool_selection",
    "context_edit",
    "reset_boundary",
    "session_info",
    "session_init",
    "title_change",
    "usage",
    "model_usage",
    "credential_pin",
];
const CONVERSATION: [&str; 4] = ["message", "custom_message", "branch_summary", "compaction"];
const ROLES: [&str; 12] = [
    "user",
    "developer",
    "assistant",
    "toolResult",
    "bashExecution",
    "pythonExecution",
    "custom",
    "hookMessage",
    "fileMention",
    "system",
    "branchSummary",
    "compactionSummary",
];

/// An entry.
#[derive(Clone, Debug)]
pub struct Node {
    pub id: String,
    pub line: usize,
    pub object: Value,
    pub parent: Option<String>,
    pub missing: Option<String>,
    time: Option<i64>,
    /// Its number among the well-formed lines.
    index: u32,
}

/// A session.
#[derive(Debug)]
pub struct Model {
    pub version: u32,
    pub name: Option<String>,
    pub nodes: Vec<Node>,
    /// The numbers of the lines with each kind of problem.
    pub problems: BTreeMap<&'static str, Vec<usize>>,
}

/// A well-formed line.
struct Line {
    number: usize,
    object: Value,
    time: Option<i64>,
}

/// A shown entry, and where it hangs.
#[derive(Debug, PartialEq)]
pub struct Row {
    pub id: String,
    pub is_active: bool,
    pub is_head: bool,
    /// For each branch that the row is in, outermost first: whether it is the last at its fork.
    pub lasts: Vec<bool>,
}

/// What is in force at a leaf.
#[derive(Debug, PartialEq)]
pub struct Settings {
    pub thinking: String,
    pub models: BTreeMap<String, String>,
    pub mode: String,
    pub mode_data: Value,
    pub service_tier: Value,
    pub rules: Vec<String>,
}

fn is_known(kind: &str) -> bool {
    BOOKKEEPING.contains(&kind) || CONVERSATION.contains(&kind)
}

fn id_of(object: &Value) -> Option<&str> {
    object["id"].as_str().filter(|id| !id.is_empty())
}

fn kind_of(object: &Value) -> &str {
    object["type"].as_str().unwrap_or("")
}

impl Node {
    pub fn kind(&self) -> &str {
        kind_of(&self.object)
    }

    pub fn role(&self) -> &str {
        self.object["message"]["role"].as_str().filter(|_| self.kind() == "message").unwrap_or("")
    }

    fn has_text(&self) -> bool {
        let content = &self.object["message"]["content"];
        let blocks = content.as_array().map_or(&[][..], Vec::as_slice);
        let texts = blocks.iter().filter(|block| block["type"] == "text").filter_map(|block| block["text"].as_str());
        content.as_str().into_iter().chain(texts).any(|text| !text.trim().is_empty())
    }
}

impl Model {
    /// Reads a file that has a header.
    pub fn read(bytes: &[u8]) -> Self {
        let mut problems = BTreeMap::<_, Vec<usize>>::new();
        let mut note = |kind: &'static str, line: usize| problems.entry(kind).or_default().push(line);
        let mut lines = well_formed(bytes, &mut note);
        let slot = lines.first().filter(|line| line.number == 1 && is_slot(&line.object));
        let slot = slot.map(|line| line.object.clone());
        if slot.is_some() {
            lines.remove(0);
        }
        let at = lines.iter().position(|line| kind_of(&line.object) == "session").expect("there is a header");
        for line in &lines[..at] {
            note("foreign-line", line.number);
        }
        let header = lines[at].object.clone();
        let version = version(&header, &lines[at + 1..], &mut |kind| note(kind, lines[at].number));
        let mut nodes = Vec::<Node>::new();
        for (index, line) in lines.iter().enumerate().skip(at + 1) {
            let id = id_of(&line.object);
            let before = nodes.iter().position(|node| Some(node.id.as_str()) == id);
            if kind_of(&line.object) == "session" {
                note("second-header", line.number);
            } else if version == 1 {
                let id = fresh_id(&header, &lines, index, &nodes);
                nodes.push(node(id, line, index));
            } else if let Some(id) = id {
                if let Some(before) = before {
                    note("duplicate-id", line.number);
                    nodes.remove(before);
                }
                nodes.push(node(id.to_owned(), line, index));
            } else {
                note("foreign-line", line.number);
            }
        }
        let name = name(slot.as_ref(), &header, &lines);
        let mut model = Self { version, name, nodes, problems: BTreeMap::new() };
        model.set_parents(header["id"].as_str().unwrap_or_default(), &mut note);
        model.cut_cycles(&mut note);
        model.problems = problems;
        model
    }

    pub fn ids(&self) -> Vec<&str> {
        self.nodes.iter().map(|node| node.id.as_str()).collect()
    }

    pub fn leaf(&self) -> Option<&str> {
        self.nodes.last().map(|node| node.id.as_str())
    }

    fn node(&self, id: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.id == id)
    }

    fn set_parents(&mut self, session_id: &str, note: &mut impl FnMut(&'static str, usize)) {
        let ids: Vec<_> = self.nodes.iter().map(|node| node.id.clone()).collect();
        for (at, node) in self.nodes.iter_mut().enumerate() {
            if self.version == 1 {
                node.parent = at.checked_sub(1).map(|before| ids[before].clone());
                continue;
            }
            let named = node.object["parentId"].as_str().filter(|parent| !parent.is_empty()).map(str::to_owned);
            match named {
                Some(parent) if parent == node.id => note("cycle", node.line),
                Some(parent) if ids.contains(&parent) => node.parent = Some(parent),
                Some(parent) if parent == session_id => {}
                Some(parent) => {
                    note("orphan", node.line);
                    node.missing = Some(parent);
                }
                None => {}
            }
        }
    }

    /// Makes an entry a root if following parents from it leads back to it. Going through the
    /// entries in the order of the file, this cuts each cycle at its first.
    fn cut_cycles(&mut self, note: &mut impl FnMut(&'static str, usize)) {
        for at in 0..self.nodes.len() {
            let comes_back = self.ancestors(at).any(|id| id == self.nodes[at].id);
            if comes_back {
                note("cycle", self.nodes[at].line);
                self.nodes[at].parent = None;
            }
        }
    }

    /// Returns the parent, its parent and so on, of a node that may be on a cycle.
    fn ancestors(&self, at: usize) -> impl Iterator<Item = &str> {
        let parent_of = |id: &&str| self.node(id).and_then(|node| node.parent.as_deref());
        std::iter::successors(self.nodes[at].parent.as_deref(), parent_of).take(self.nodes.len())
    }

    pub fn roots(&self) -> Vec<&str> {
        self.nodes.iter().filter(|node| node.parent.is_none()).map(|node| node.id.as_str()).collect()
    }

    /// Returns the children, oldest first; those of no known time last.
    pub fn children(&self, id: &str) -> Vec<&str> {
        let mut children: Vec<_> = self.nodes.iter().filter(|node| node.parent.as_deref() == Some(id)).collect();
        children.sort_by_key(|node| (node.time.is_none(), node.time));
        children.into_iter().map(|node| node.id.as_str()).collect()
    }

    /// Returns targets and names, in the order in which the targets were first labelled.
    pub fn labels(&self) -> Vec<(String, String)> {
        let mut labels = Vec::<(String, String)>::new();
        for node in self.nodes.iter().filter(|node| node.kind() == "label") {
            let target = node.object["targetId"].as_str().unwrap_or("");
            let name = node.object["label"].as_str().unwrap_or("");
            let at = labels.iter().position(|(labelled, _)| labelled == target);
            match (at, name.is_empty()) {
                (Some(at), true) => drop(labels.remove(at)),
                (Some(at), false) => labels[at].1 = name.to_owned(),
                (None, true) => {}
                (None, false) => labels.push((target.to_owned(), name.to_owned())),
            }
        }
        labels
    }

    pub fn path(&self, leaf: Option<&str>) -> Vec<&str> {
        let node = leaf.and_then(|leaf| self.node(leaf));
        let mut path: Vec<_> = std::iter::successors(node, |node| self.node(node.parent.as_deref()?))
            .map(|node| node.id.as_str())
            .collect();
        path.reverse();
        path
    }

    /// Returns all entries in the order of display, with their depths.
    pub fn display_order(&self, leaf: Option<&str>) -> Vec<(&str, usize)> {
        let path = self.path(leaf);
        let active_first = |mut family: Vec<_>| {
            family.sort_by_key(|id| !path.contains(id));
            family
        };
        let mut order = Vec::new();
        let mut waiting: Vec<_> = active_first(self.roots()).into_iter().map(|id| (id, 0)).collect();
        while !waiting.is_empty() {
            let (id, depth) = waiting.remove(0);
            order.push((id, depth));
            let children = active_first(self.children(id)).into_iter().map(|child| (child, depth + 1));
            waiting.splice(0..0, children);
        }
        order
    }

    /// Returns whether a view shows an entry.
    pub fn shows(&self, filter: &str, id: &str, leaf: Option<&str>) -> bool {
        let node = self.node(id).unwrap();
        let stop = node.object["message"]["stopReason"].as_str().unwrap_or("stop");
        let ended_well = ["stop", "toolUse"].contains(&stop);
        let is_silent = node.role() == "assistant" && !node.has_text() && ended_well && Some(id) != leaf;
        let is_conversation = !BOOKKEEPING.contains(&node.kind()) && !is_silent;
        match filter {
            "default" => is_conversation,
            "no-tools" => is_conversation && node.role() != "toolResult",
            "user-only" => node.role() == "user",
            "labeled-only" => self.labels().iter().any(|(target, _)| target == id),
            _ => true,
        }
    }

    /// Returns the rows of a view: an entry hangs at its nearest shown ancestor.
    pub fn rows(&self, filter: &str, leaf: Option<&str>) -> Vec<Row> {
        let order = self.display_order(leaf);
        let shown: Vec<_> = order.iter().map(|(id, _)| *id).filter(|id| self.shows(filter, id, leaf)).collect();
        // Of each row the rows from the outermost one down to it, by their places.
        let place = |id: &str| shown.iter().position(|shown| *shown == id);
        let lines: Vec<Vec<_>> =
            shown.iter().map(|id| self.path(Some(id)).into_iter().filter_map(place).collect()).collect();
        let above: Vec<_> = lines.iter().map(|line| line.iter().nth_back(1)).collect();
        let family = |row: usize| (0..shown.len()).filter(|&other| above[other] == above[row]).collect::<Vec<_>>();
        let is_head = |row: &usize| family(*row).len() > 1;
        let is_last = |row: usize| family(row).last() == Some(&row);
        let active = self.path(leaf);
        let row = |(at, id): (usize, &&str)| Row {
            id: (*id).to_owned(),
            is_active: active.contains(id),
            is_head: is_head(&at),
            lasts: lines[at].iter().copied().filter(is_head).map(is_last).collect(),
        };
        shown.iter().enumerate().map(row).collect()
    }

    /// Returns the row of the leaf, or of its nearest shown ancestor, and the steps between them.
    pub fn leaf_row(&self, filter: &str, leaf: Option<&str>) -> Option<(String, usize)> {
        let path = self.path(leaf);
        let (steps, id) = path.iter().rev().enumerate().find(|(_, id)| self.shows(filter, id, leaf))?;
        Some(((*id).to_owned(), steps))
    }

    pub fn settings(&self, leaf: Option<&str>) -> Settings {
        let mut settings = Settings {
            thinking: "off".to_owned(),
            models: BTreeMap::new(),
            mode: "none".to_owned(),
            mode_data: Value::Null,
            service_tier: Value::Null,
            rules: Vec::new(),
        };
        for node in self.path(leaf).into_iter().filter_map(|id| self.node(id)) {
            let object = &node.object;
            let text = |name: &str| object[name].as_str();
            match node.kind() {
                "thinking_level_change" => settings.thinking = text("thinkingLevel").unwrap_or("off").to_owned(),
                "mode_change" => {
                    settings.mode = text("mode").unwrap_or("none").to_owned();
                    settings.mode_data = object["data"].clone();
                }
                "service_tier_change" => settings.service_tier = object["serviceTier"].clone(),
                "ttsr_injection" => {
                    for rule in object["injectedRules"].as_array().into_iter().flatten().filter_map(Value::as_str) {
                        if !settings.rules.iter().any(|known| known == rule) {
                            settings.rules.push(rule.to_owned());
                        }
                    }
                }
                "model_change" => {
                    let two =
                        text("provider").zip(text("modelId")).map(|(provider, model)| format!("{provider}/{model}"));
                    let model = text("model").map(str::to_owned).or(two).filter(|model| !model.is_empty());
                    let role = text("role").unwrap_or("default");
                    settings.models.extend(model.map(|model| (role.to_owned(), model)));
                }
                "message" if node.role() == "assistant" => {
                    let message = &object["message"];
                    if let Some((provider, model)) = message["provider"].as_str().zip(message["model"].as_str()) {
                        settings.models.insert("default".to_owned(), format!("{provider}/{model}"));
                    }
                }
                _ => {}
            }
        }
        settings
    }

    /// Returns what the context at a leaf is made of, as words.
    pub fn context(&self, leaf: Option<&str>) -> Vec<String> {
        let path: Vec<_> = self.path(leaf).into_iter().filter_map(|id| self.node(id)).collect();
        let last = |kind: &str| path.iter().rposition(|node| node.kind() == kind);
        let (compaction, reset) = (last("compaction"), last("reset_boundary"));
        if reset > compaction {
            return path[reset.unwrap() + 1..].iter().filter_map(|node| self.item(node, &path)).collect();
        }
        let Some(at) = compaction else {
            return path.iter().filter_map(|node| self.item(node, &path)).collect();
        };
        let mut items = Vec::new();
        if path[at].object["systemMessage"].is_object() {
            items.push(format!("system {}", path[at].id));
        }
        items.push(format!("compaction {}", path[at].id));
        let kept = path[self.first_kept(&path, at)..at].iter().filter(|node| node.role() != "system");
        let behind = &path[at + 1..];
        items.extend(kept.chain(behind).filter_map(|node| self.item(node, &path)));
        items
    }

    /// Returns the place on a path of the first entry that its compaction keeps.
    fn first_kept(&self, path: &[&Node], at: usize) -> usize {
        let object = &path[at].object;
        let place = |id: Option<&str>| path[..at].iter().position(|node| Some(node.id.as_str()) == id);
        let remote = &object["preserveData"]["openaiRemoteCompaction"];
        let provider = remote["provider"].as_str().unwrap_or("");
        if !provider.is_empty() && remote["replacementHistory"].is_array() {
            return place(object["providerReplayThroughEntryId"].as_str()).map_or(at, |through| through + 1);
        }
        let first = match self.version {
            1 => {
                let index = object["firstKeptEntryIndex"].as_f64();
                self.nodes.iter().find(|node| Some(f64::from(node.index)) == index).map(|node| node.id.as_str())
            }
            _ => object["firstKeptEntryId"].as_str(),
        };
        place(first).unwrap_or(at)
    }

    /// Returns an entry as version 3 has it.
    pub fn migrated(&self, node: &Node) -> Value {
        let mut object = node.object.clone();
        if self.version == 1 {
            object["id"] = node.id.clone().into();
            object["parentId"] = node.parent.clone().into();
            let index = object["firstKeptEntryIndex"].as_f64().filter(|index| index.fract() == 0.0);
            if let Some(index) = index.filter(|_| node.kind() == "compaction") {
                object.as_object_mut().unwrap().remove("firstKeptEntryIndex");
                let kept = self.nodes.iter().find(|kept| f64::from(kept.index) == index);
                if let Some(kept) = kept.filter(|kept| kept.index <= node.index) {
                    object["firstKeptEntryId"] = kept.id.clone().into();
                }
            }
        }
        if self.version < 3 && node.role() == "hookMessage" {
            object["message"]["role"] = "custom".into();
        }
        object
    }

    /// Returns what an entry adds to a context.
    fn item(&self, node: &Node, path: &[&Node]) -> Option<String> {
        let id = &node.id;
        let item = match node.kind() {
            "message" if ROLES.contains(&node.role()) => format!("stored {id}"),
            "custom_message" => format!("custom {id}"),
            "branch_summary" if node.object["summary"].as_str().is_some_and(|text| !text.is_empty()) => {
                format!("branch {id}")
            }
            _ => return None,
        };
        let can_be_edited =
            node.kind() == "custom_message" || ["user", "assistant", "toolResult"].contains(&node.role());
        let mut edits = path.iter().filter(|edit| edit.kind() == "context_edit" && edit.object["targetId"] == **id);
        match edits.next_back().filter(|_| can_be_edited) {
            Some(edit) if edit.object["replacement"].is_null() => None,
            Some(edit) => Some(format!("edited {id} by {}", edit.id)),
            None => Some(item),
        }
    }
}

/// Returns the lines that are JSON objects.
fn well_formed(bytes: &[u8], note: &mut impl FnMut(&'static str, usize)) -> Vec<Line> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let text = std::str::from_utf8(bytes).unwrap();
    let mut lines = Vec::new();
    for (at, line) in text.split_inclusive('\n').enumerate() {
        let number = at + 1;
        if line.trim().is_empty() {
            continue;
        }
        // A number as large as 1e400 is fine for agents, but not for this parser.
        match serde_json::from_str::<Value>(&line.replace("1e400", "\"1e400\"")) {
            Ok(object) if object.is_object() => lines.push(Line { number, time: time(line), object }),
            _ if line.ends_with('\n') => note("malformed-line", number),
            _ => note("unfinished-line", number),
        }
    }
    lines
}

/// Returns the time of a line, by the spellings that the generator knows.
fn time(line: &str) -> Option<i64> {
    let value = line.split_once(r#""timestamp":"#)?.1;
    let longest = TIMES.iter().filter(|(text, _)| value.starts_with(text)).max_by_key(|(text, _)| text.len());
    longest.expect("all times are known").1
}

fn node(id: String, line: &Line, index: usize) -> Node {
    let index = u32::try_from(index).unwrap();
    Node { id, line: line.number, object: line.object.clone(), parent: None, missing: None, time: line.time, index }
}

fn version(header: &Value, lines: &[Line], note: &mut impl FnMut(&'static str)) -> u32 {
    let declared = &header["version"];
    if declared.is_null() {
        let mut entries = lines.iter().filter(|line| is_known(kind_of(&line.object)));
        if !entries.any(|line| id_of(&line.object).is_some()) {
            return 1;
        }
        note("odd-version");
        return 2;
    }
    let number = match declared.as_str() {
        Some(text) => text.trim().parse::<f64>().ok(),
        None => declared.as_f64(),
    };
    let version = [1_u32, 2, 3, 4].into_iter().find(|&version| number == Some(version.into()));
    match version {
        Some(4) => note("newer-version"),
        Some(_) => {}
        None => note("odd-version"),
    }
    version.unwrap_or(3)
}

/// Makes the id of a version 1 entry: the first free candidate.
fn fresh_id(header: &Value, lines: &[Line], index: usize, nodes: &[Node]) -> String {
    let namespace = Uuid::new_v5(&Uuid::NAMESPACE_OID, header["id"].as_str().unwrap().as_bytes());
    let ordinal = lines[..index].iter().filter(|line| kind_of(&line.object) != "session").count();
    let taken: BTreeSet<_> = nodes.iter().map(|node| node.id.as_str()).collect();
    let more = (1..).map(|attempt| format!("{ordinal}.{attempt}"));
    let candidates = std::iter::once(ordinal.to_string()).chain(more);
    let ids = candidates.map(|name| Uuid::new_v5(&namespace, name.as_bytes()).simple().to_string()[..8].to_owned());
    ids.into_iter().find(|id| !taken.contains(id.as_str())).unwrap()
}

/// Whether omp takes a line for the title slot.
fn is_slot(line: &Value) -> bool {
    let source = &line["source"];
    kind_of(line) == "title"
        && line["v"].as_f64() == Some(1.0)
        && ["title", "updatedAt", "pad"].iter().all(|name| line[name].is_string())
        && (line.get("source").is_none() || source == "auto" || source == "user")
}

fn name(slot: Option<&Value>, header: &Value, lines: &[Line]) -> Option<String> {
    let words = |value: &Value| {
        let words = value.as_str().unwrap_or("").split_whitespace().collect::<Vec<_>>().join(" ");
        Some(words).filter(|words| !words.is_empty())
    };
    let info = lines.iter().rfind(|line| kind_of(&line.object) == "session_info");
    let titles = [
        slot.map_or(NOTHING, |slot| &slot["title"]),
        info.map_or(NOTHING, |line| &line.object["name"]),
        &header["title"],
    ];
    titles.into_iter().find_map(words)
}
