//! What the model would see at a leaf (semantics: "Context"): the state, and which entries
//! contribute a message. The messages themselves are made by [`super::message`].

use std::collections::{BTreeMap, HashMap, HashSet};

use super::body::Bodies;
use super::entry::{Entry, Kind, Role};
use super::error::Result;
use super::json::{self, Raw};
use super::preview;
use super::problem::{Problems, WarningKind};
use super::session::{NodeId, Session};
use super::walk;

/// One message of a context, by the entry that it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Item {
    /// The message stored in an entry.
    Stored(NodeId),
    /// A message or custom message with its content replaced by a `context_edit`.
    Edited {
        /// The entry with the message.
        target: NodeId,
        /// The entry with the replacement.
        edit: NodeId,
    },
    /// A `custom_message`.
    Custom(NodeId),
    /// A `branch_summary`.
    Branch(NodeId),
    /// The compaction's own system message.
    System(NodeId),
    /// The compaction's summary.
    Compaction(NodeId),
}

impl Item {
    /// Gives the entry that the message comes from.
    pub fn node(self) -> NodeId {
        match self {
            Self::Stored(node)
            | Self::Edited { target: node, .. }
            | Self::Custom(node)
            | Self::Branch(node)
            | Self::System(node)
            | Self::Compaction(node) => node,
        }
    }

    /// Gives the role of the message.
    pub fn role(self, session: &Session) -> &'static str {
        let stored = match self {
            Self::Stored(node) | Self::Edited { target: node, .. } => session.role_name(node),
            Self::Custom(_) => None,
            Self::Branch(_) => Role::BranchSummary.name(),
            Self::System(_) => Role::System.name(),
            Self::Compaction(_) => Role::CompactionSummary.name(),
        };
        // What has no role of its own comes from a `custom_message`.
        stored.unwrap_or("custom")
    }
}

/// The settings in force at a leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// The level of thinking.
    pub thinking_level: String,
    /// The models by role.
    pub models: BTreeMap<String, String>,
    /// The mode.
    pub mode: String,
    /// The mode's data, as stored.
    pub mode_data: Option<String>,
    /// The service tier, as stored.
    pub service_tier: Option<String>,
    /// The selected tools, as stored.
    pub mcp_tools: Option<String>,
    /// The injected rules, in the order in which they were first seen.
    pub ttsr_rules: Vec<String>,
    /// The same, to be found fast.
    known_rules: HashSet<String>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            thinking_level: "off".to_owned(),
            models: BTreeMap::new(),
            mode: "none".to_owned(),
            mode_data: None,
            service_tier: None,
            mcp_tools: None,
            ttsr_rules: Vec::new(),
            known_rules: HashSet::new(),
        }
    }
}

/// A context: settings and messages.
#[derive(Debug, Default)]
pub struct Context {
    /// Where it is seen from.
    pub leaf: Option<NodeId>,
    /// The settings in force.
    pub state: State,
    /// The messages in order.
    pub items: Vec<Item>,
    /// What was odd on the way.
    pub problems: Problems,
}

/// Builds the context at a leaf, or before the first entry.
///
/// # Errors
/// [`Error::Changed`](super::error::Error::Changed) and [`Error::Io`](super::error::Error::Io).
pub fn build(bodies: &mut Bodies<'_>, leaf: Option<NodeId>) -> Result<Context> {
    let session = bodies.session();
    let path = walk::path(session, leaf);
    let mut context = Context { leaf, ..Context::default() };
    let mut edits = HashMap::new();
    let mut last_default = None;
    for (at, &node) in path.iter().enumerate() {
        let kind = session.traits(node).kind;
        if !changes_context(kind) {
            continue;
        }
        let entry = bodies.entry(node)?;
        if kind == Kind::ContextEdit {
            edits.extend(edit(session, node, entry));
        } else if context.state.apply(kind, entry) {
            last_default = Some(at);
        }
    }
    if let Some(model) = answering_model(bodies, &path, last_default)? {
        context.state.models.insert("default".to_owned(), model);
    }
    let mut collector = Collector { edits, context };
    collector.collect(bodies, &path)?;
    collector.warn_of_cut(session, &path);
    Ok(collector.context)
}

/// Gives the entry that an edit is about, the edit, and whether it takes the entry out.
fn edit(session: &Session, node: NodeId, entry: Entry<'_>) -> Option<(NodeId, (NodeId, bool))> {
    let target = session.find(&entry.get_str("targetId")?)?;
    Some((target, (node, entry.get("replacement").is_none_or(is_null))))
}

/// What a compaction keeps out of a context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hidden {
    /// The compaction that counts.
    pub compaction: NodeId,
    /// The messages before it on the path that are not in the context.
    pub items: Vec<Item>,
}

/// Finds what the compaction that counts keeps out of a context; `None` if none does.
///
/// # Errors
/// As [`build`].
pub fn hidden(bodies: &mut Bodies<'_>, context: &Context) -> Result<Option<Hidden>> {
    let session = bodies.session();
    let compaction = context.items.iter().find_map(|item| match *item {
        Item::Compaction(node) => Some(node),
        _ => None,
    });
    let Some(compaction) = compaction else { return Ok(None) };
    let mut edits = HashMap::new();
    for node in walk::path(session, context.leaf) {
        if session.traits(node).kind == Kind::ContextEdit {
            edits.extend(edit(session, node, bodies.entry(node)?));
        }
    }
    let mut before = Collector { edits, context: Context::default() };
    before.take_all(bodies, &walk::path(session, session.parent(compaction)), None)?;
    let shown: HashSet<_> = context.items.iter().copied().collect();
    let mut items = before.context.items;
    items.retain(|item| !shown.contains(item));
    Ok(Some(Hidden { compaction, items }))
}

fn changes_context(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::ThinkingLevelChange
            | Kind::ModelChange
            | Kind::ModeChange
            | Kind::TtsrInjection
            | Kind::ServiceTierChange
            | Kind::McpToolSelection
            | Kind::ContextEdit
    )
}

impl State {
    /// Applies an entry; tells whether it set the default model.
    fn apply(&mut self, kind: Kind, entry: Entry<'_>) -> bool {
        match kind {
            Kind::ThinkingLevelChange => {
                let level = entry.get_str("thinkingLevel");
                self.thinking_level = level.map_or_else(|| "off".to_owned(), |level| level.into_owned());
            }
            Kind::ModelChange => {
                let Some(model) = preview::model_name(entry) else { return false };
                // The form with a provider of its own knows no roles.
                let role = entry.get_str("role").filter(|role| !role.is_empty() && entry.get("model").is_some());
                let role = role.as_deref().unwrap_or("default");
                self.models.insert(role.to_owned(), model);
                return role == "default";
            }
            Kind::ModeChange => {
                self.mode = entry.get_str("mode").map_or_else(|| "none".to_owned(), |mode| mode.into_owned());
                self.mode_data = entry.get("data").filter(|data| !is_null(*data)).map(stored);
            }
            Kind::ServiceTierChange => {
                self.service_tier = entry.get("serviceTier").filter(|tier| !is_null(*tier)).map(stored);
            }
            Kind::McpToolSelection => self.mcp_tools = entry.get("selectedToolNames").map(stored),
            Kind::TtsrInjection => {
                for rule in entry.get("injectedRules").iter().flat_map(|rules| rules.elements()) {
                    if let Some(rule) = rule.str()
                        && self.known_rules.insert(rule.clone().into_owned())
                    {
                        self.ttsr_rules.push(rule.into_owned());
                    }
                }
            }
            _ => {}
        }
        false
    }
}

/// Gives the model of the last assistant message behind `after`: reading from the end, since only
/// the last one counts.
fn answering_model(bodies: &mut Bodies<'_>, path: &[NodeId], after: Option<usize>) -> Result<Option<String>> {
    let session = bodies.session();
    let from = after.map_or(0, |at| at + 1);
    for &node in path[from..].iter().rev() {
        let traits = session.traits(node);
        if traits.kind != Kind::Message || traits.role != Role::Assistant {
            continue;
        }
        let message = bodies.entry(node)?.message();
        let names = message.and_then(|message| Some((message.get_str("provider")?, message.get_str("model")?)));
        if let Some((provider, model)) = names {
            return Ok(Some(format!("{provider}/{model}")));
        }
    }
    Ok(None)
}

/// Goes along a path and collects what contributes.
struct Collector {
    /// The latest edit of each edited entry, and whether it takes the entry out.
    edits: HashMap<NodeId, (NodeId, bool)>,
    context: Context,
}

impl Collector {
    fn collect(&mut self, bodies: &mut Bodies<'_>, path: &[NodeId]) -> Result<()> {
        let session = bodies.session();
        let last = |kind: Kind| path.iter().rposition(|&node| session.traits(node).kind == kind);
        let compaction = last(Kind::Compaction);
        if let Some(reset) = last(Kind::ResetBoundary).filter(|&reset| compaction.is_none_or(|at| reset > at)) {
            return self.take_all(bodies, &path[reset + 1..], None);
        }
        let Some(at) = compaction else {
            return self.take_all(bodies, path, None);
        };
        let kept = self.compaction(bodies, path, at)?;
        self.take_all(bodies, &path[kept..at], Some(Role::System))?;
        self.take_all(bodies, &path[at + 1..], None)
    }

    /// Takes the compaction's own messages; gives the place on the path of the first kept entry.
    fn compaction(&mut self, bodies: &mut Bodies<'_>, path: &[NodeId], at: usize) -> Result<usize> {
        let session = bodies.session();
        let node = path[at];
        let entry = bodies.entry(node)?;
        if entry.get("systemMessage").is_some_and(|message| message.kind() == json::Kind::Object) {
            self.context.items.push(Item::System(node));
        }
        self.context.items.push(Item::Compaction(node));
        let before = |id: &str| path[..at].iter().rposition(|&node| session.id(node) == id);
        if remote_history(entry).is_some() {
            let through = entry.get_str("providerReplayThroughEntryId").and_then(|id| before(&id));
            return Ok(through.map_or(at, |through| through + 1));
        }
        let first = entry.get_str("firstKeptEntryId").unwrap_or_default();
        let kept = before(&first);
        if kept.is_none() && !first.is_empty() && first != session.id(node) {
            let message = format!(
                "compaction `{}` keeps from `{first}` on, which is not on its path: nothing before it is shown",
                session.id(node)
            );
            self.context.problems.push(WarningKind::KeptRangeUnknown, Some(session.line(node)), || message);
        }
        Ok(kept.unwrap_or(at))
    }

    fn take_all(&mut self, bodies: &mut Bodies<'_>, nodes: &[NodeId], without: Option<Role>) -> Result<()> {
        let session = bodies.session();
        for &node in nodes {
            let traits = session.traits(node);
            let is_message = traits.kind == Kind::Message;
            if is_message && without == Some(traits.role) {
                continue;
            }
            if is_message && !traits.role.is_known() {
                let message = || format!("message `{}` has no known role: it adds nothing", session.id(node));
                self.context.problems.push(WarningKind::MalformedMessage, Some(session.line(node)), message);
                continue;
            }
            let item = match traits.kind {
                Kind::Message => Item::Stored(node),
                Kind::CustomMessage => Item::Custom(node),
                Kind::BranchSummary => {
                    if bodies.entry(node)?.get_str("summary").is_none_or(|summary| summary.is_empty()) {
                        continue;
                    }
                    Item::Branch(node)
                }
                _ => continue,
            };
            match self.edits.get(&node).filter(|_| can_be_edited(traits.kind, traits.role)) {
                Some((_, true)) => {}
                Some(&(edit, false)) => self.context.items.push(Item::Edited { target: node, edit }),
                None => self.context.items.push(item),
            }
        }
        Ok(())
    }

    /// Warns if the path starts at an orphan: what was before it cannot be reached.
    fn warn_of_cut(&mut self, session: &Session, path: &[NodeId]) {
        let Some(&root) = path.first() else { return };
        let Some(missing) = session.missing_parent(root) else { return };
        let message = format!(
            "the path starts at `{}`, whose parent `{missing}` is missing: {} earlier entries cannot be reached",
            session.id(root),
            root.index()
        );
        self.context.problems.push(WarningKind::Unreachable, Some(session.line(root)), || message);
    }
}

fn can_be_edited(kind: Kind, role: Role) -> bool {
    match kind {
        Kind::CustomMessage => true,
        Kind::Message => matches!(role, Role::User | Role::Assistant | Role::ToolResult),
        _ => false,
    }
}

/// Gives provider and history of a compaction that another service did, if it is usable.
pub(crate) fn remote_history(entry: Entry<'_>) -> Option<(Raw<'_>, Raw<'_>)> {
    let remote = entry.get("preserveData")?.get("openaiRemoteCompaction")?;
    let provider =
        remote.get("provider").filter(|provider| provider.string_body().is_some_and(|name| !name.is_empty()))?;
    let history = remote.get("replacementHistory").filter(|history| history.kind() == json::Kind::Array)?;
    Some((provider, history))
}

fn is_null(raw: Raw<'_>) -> bool {
    raw.kind() == json::Kind::Null
}

fn stored(raw: Raw<'_>) -> String {
    String::from_utf8_lossy(raw.bytes()).into_owned()
}
