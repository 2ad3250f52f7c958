//! The context that omp 18 holds (help rules, "What an agent holds"): other messages and settings than the shared
//! rules give. It does not know edits, which omp does not know either.

pub(super) mod message;

use std::collections::HashSet;
use std::sync::Arc;

use super::rules::Rules;
use super::{Context, ContextMessage, Settings, remote_history};
use crate::core::entry::{Entry, Kind, Role};
use crate::core::error::Result;
use crate::core::json::{Raw, ValueKind};
use crate::core::session::NodeId;
use crate::core::session::body::Bodies;
use crate::core::tree::walk;

/// The largest revision of a notebook, in bytes.
const LARGEST_NOTES: usize = 16 * 1024;
/// The custom type of what a person asks for by the name of a skill.
pub(super) use crate::core::entry::SKILL;
/// The custom type of entries with a revision of the notebook.
pub(super) use crate::core::entry::elsewhere::NOTES;
/// The custom types of what omp tells the model anew each time.
const TRANSIENT: [&str; 2] = ["prewalk-plan", "vibe-mode-context"];

/// Builds the context at a leaf, or before the first entry.
///
/// # Errors
/// As [`context::build`](super::build).
pub(super) fn build(bodies: &mut Bodies<'_>, leaf: Option<NodeId>) -> Result<Context> {
    let shared = super::build(bodies, leaf)?;
    let path = walk::path(bodies.session(), leaf);
    let settings = settings(bodies, &path, shared.settings)?;
    let mut held = Held::new(bodies);
    held.take_path(&path)?;
    let messages = held.trim();
    Ok(Context { rules: Rules::Omp, settings, messages, ..shared })
}

/// Returns all messages of a path, as if nothing on it took earlier ones away.
///
/// # Errors
/// As [`build`].
pub(super) fn messages_along(bodies: &mut Bodies<'_>, path: &[NodeId]) -> Result<Vec<ContextMessage>> {
    let mut held = Held::new(bodies);
    held.take_all(path)?;
    Ok(held.trim())
}

/// Returns the settings that omp keeps: of the shared ones not tier and tools, and other models.
fn settings(bodies: &mut Bodies<'_>, path: &[NodeId], shared: Settings) -> Result<Settings> {
    let mut settings = Settings { service_tier: None, mcp_tools: None, ..shared };
    settings.models.clear();
    let session = bodies.session();
    let mut answered = None;
    for &node in path {
        let traits = session.traits(node);
        match traits.kind {
            Kind::ModelChange => {
                let entry = bodies.entry(node)?;
                if let Some(model) = entry.get_str("model").filter(|model| !model.is_empty()) {
                    let role = entry.get_str("role").map_or("default".to_owned(), |role| role.into_owned());
                    settings.models.insert(role, model.into_owned());
                }
            }
            Kind::ThinkingLevelChange => {
                let entry = bodies.entry(node)?;
                let level = entry.get_str("configured").or_else(|| entry.get_str("thinkingLevel"));
                settings.configured_thinking_level = level.map(|level| level.into_owned());
            }
            Kind::Message if traits.role == Role::Assistant => answered = Some(node),
            _ => {}
        }
    }
    // A model that was chosen wins over those that answered, even if they answered later.
    if let (false, Some(node)) = (settings.models.contains_key("default"), answered) {
        let message = bodies.entry(node)?.message();
        let names = message.and_then(|message| Some((message.get_str("provider")?, message.get_str("model")?)));
        if let Some((provider, model)) = names {
            settings.models.insert("default".to_owned(), format!("{provider}/{model}"));
        }
    }
    Ok(settings)
}

/// The messages of a path on their way into the context.
struct Held<'b, 's> {
    bodies: &'b mut Bodies<'s>,
    /// The messages, with their calls.
    turns: Vec<(ContextMessage, Calls)>,
    /// The ids of calls in turns that failed.
    failed: HashSet<String>,
    /// The ids of all results.
    answered: HashSet<String>,
}

/// The calls of a message.
#[derive(Default)]
struct Calls {
    /// Their ids.
    ids: Vec<Option<String>>,
    /// Whether the message holds more that stays if calls are left out.
    says_more: bool,
}

impl<'b, 's> Held<'b, 's> {
    fn new(bodies: &'b mut Bodies<'s>) -> Self {
        Self { bodies, turns: Vec::new(), failed: HashSet::new(), answered: HashSet::new() }
    }

    fn take_path(&mut self, path: &[NodeId]) -> Result<()> {
        let session = self.bodies.session();
        let last = |kind: Kind| path.iter().rposition(|&node| session.traits(node).kind == kind);
        let (compaction, reset) = (last(Kind::Compaction), last(Kind::ResetBoundary));
        let from = reset.map_or(0, |reset| reset + 1);
        if let Some(notes) = self.notes(&path[from..])? {
            self.push(ContextMessage::Notes(notes));
        }
        let Some(at) = compaction.filter(|&at| at >= from) else { return self.take_all(&path[from..]) };
        let node = path[at];
        let entry = self.bodies.entry(node)?;
        let before = |id: &str| path[..=at].iter().rposition(|&node| session.id(node) == id);
        let first = entry.get_id("firstKeptEntryId").and_then(|id| before(&id));
        let kept = match remote_history(entry) {
            Some(_) => entry.get_id("providerReplayThroughEntryId").and_then(|id| before(&id)).map(|at| at + 1),
            None => first,
        };
        let kept = kept.unwrap_or(at).min(at);
        let is_rollover = is_rollover(entry);
        let next = path[kept..].iter().copied().find(|&next| next != node).unwrap_or(node);
        self.push(ContextMessage::OmpCompaction { node, next });
        if let Some(first) = first.filter(|_| is_rollover) {
            // The newest request, unless it is kept anyway.
            for (at, &node) in path[..at].iter().enumerate().skip(from).rev() {
                if self.is_request(node)? {
                    self.take_all(if at < first { &path[at..=at] } else { &[] })?;
                    break;
                }
            }
        }
        self.take_all(&path[kept..at])?;
        self.take_all(&path[at + 1..])
    }

    fn push(&mut self, item: ContextMessage) {
        self.turns.push((item, Calls::default()));
    }

    /// Returns the entry of the last valid revision of the notebook, unless it empties it.
    fn notes(&mut self, path: &[NodeId]) -> Result<Option<NodeId>> {
        let session = self.bodies.session();
        for &node in path.iter().rev() {
            if session.traits(node).kind != Kind::Custom {
                continue;
            }
            let entry = self.bodies.entry(node)?;
            if entry.get_str("customType").as_deref() != Some(NOTES) {
                continue;
            }
            if let Some(text) = notes_text(entry) {
                return Ok((!text.is_empty()).then_some(node));
            }
        }
        Ok(None)
    }

    /// Returns whether an entry is something that the person asked for.
    fn is_request(&mut self, node: NodeId) -> Result<bool> {
        let traits = self.bodies.session().traits(node);
        let source = match traits.kind {
            Kind::Message if traits.role == Role::User => return Ok(true),
            Kind::Message if traits.role == Role::Custom => self.bodies.entry(node)?.message(),
            Kind::CustomMessage => Some(self.bodies.entry(node)?.object()),
            _ => None,
        };
        let is = |member, value| source.is_some_and(|source| source.get_str(member).as_deref() == Some(value));
        Ok(is("customType", SKILL) && is("attribution", "user"))
    }

    fn take_all(&mut self, nodes: &[NodeId]) -> Result<()> {
        let session = self.bodies.session();
        for &node in nodes {
            let traits = session.traits(node);
            let item = match (traits.kind, traits.role) {
                (Kind::Message, Role::Assistant) => {
                    self.take_turn(node)?;
                    continue;
                }
                (Kind::Message, Role::ToolResult) => {
                    let id = self.bodies.entry(node)?.tool_call_id().unwrap_or_default().into_owned();
                    let is_failed = self.failed.contains(&id);
                    self.answered.insert(id);
                    if is_failed {
                        continue;
                    }
                    ContextMessage::Stored(node)
                }
                (Kind::Message, role) if role.is_known() || self.is_held(node)? => ContextMessage::Stored(node),
                (Kind::CustomMessage, _) => {
                    let name = self.bodies.entry(node)?.get_str("customType").unwrap_or_default();
                    if TRANSIENT.contains(&name.as_ref()) {
                        continue;
                    }
                    ContextMessage::Custom(node)
                }
                (Kind::BranchSummary, _) => {
                    if self.bodies.entry(node)?.get_str("summary").is_none_or(|summary| summary.is_empty()) {
                        continue;
                    }
                    ContextMessage::Branch(node)
                }
                _ => continue,
            };
            self.push(item);
        }
        Ok(())
    }

    /// Returns whether omp holds a message that it does not know.
    fn is_held(&mut self, node: NodeId) -> Result<bool> {
        let kind = self.bodies.entry(node)?.message().map(Raw::kind);
        Ok(matches!(kind, Some(ValueKind::Object | ValueKind::Array)))
    }

    /// Takes an assistant message, unless it failed or was made up for later.
    fn take_turn(&mut self, node: NodeId) -> Result<()> {
        let entry = self.bodies.entry(node)?;
        let Some(message) = entry.message() else { return Ok(()) };
        let mut calls = Calls::default();
        for block in message.get("content").iter().flat_map(|content| content.elements()) {
            match block.get_str("type").as_deref() {
                Some("toolCall") => calls.ids.push(block.get_str("id").map(|id| id.into_owned())),
                kind => calls.says_more |= kind != Some("redactedThinking"),
            }
        }
        if message.get("retryRecovery").is_some_and(|recovery| !is_falsy(recovery)) {
            return Ok(());
        }
        match message.get_str("stopReason").as_deref() {
            Some("error" | "aborted") => self.failed.extend(calls.ids.into_iter().flatten()),
            _ => self.turns.push((ContextMessage::Stored(node), calls)),
        }
        Ok(())
    }

    /// Leaves the calls out that have no result, and the messages that are left without content.
    fn trim(self) -> Vec<ContextMessage> {
        let answered = self.answered;
        let trimmed = |(item, calls): (ContextMessage, Calls)| {
            let is_open = |id: &Option<String>| id.as_ref().is_none_or(|id| !answered.contains(id));
            let open: Arc<[usize]> = (0..).zip(&calls.ids).filter(|(_, id)| is_open(id)).map(|(at, _)| at).collect();
            if open.is_empty() {
                return Some(item);
            }
            if open.len() == calls.ids.len() && !calls.says_more {
                return None;
            }
            Some(ContextMessage::Trimmed { node: item.node(), calls: open })
        };
        self.turns.into_iter().filter_map(trimmed).collect()
    }
}

/// Returns whether a compaction starts the context anew instead of summarizing it.
fn is_rollover(entry: Entry<'_>) -> bool {
    let kind = entry.get("details").and_then(|details| details.get_str("kind"));
    kind.as_deref() == Some("experimental-context-rollover")
}

/// Returns the text of a revision of the notebook; `None` if it is not valid.
pub(super) fn notes_text(entry: Entry<'_>) -> Option<String> {
    let data = entry.get("data")?;
    let text = data.get_str("text")?;
    let is_valid = data.get("version")?.number() == Some(1.0) && data.members().count() == 2;
    (is_valid && text.len() <= LARGEST_NOTES).then(|| text.into_owned())
}

/// Returns whether JavaScript takes a value for false.
pub(super) fn is_falsy(value: Raw<'_>) -> bool {
    match value.kind() {
        ValueKind::Null => true,
        ValueKind::Bool => !value.is_true(),
        ValueKind::Number => value.number() == Some(0.0),
        ValueKind::String => value.string_body() == Some(b""),
        ValueKind::Array | ValueKind::Object => false,
    }
}
