//! The difference between two contexts of a session: messages that only one of them has, and
//! settings that differ. Knows no order of time: either may be on any branch.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::message;
use super::stats::Size;
use crate::core::context::{Context, ContextMessage, Settings};
use crate::core::entry::preview;
use crate::core::entry::{Role, Scan};
use crate::core::error::Result;
use crate::core::json::Object;
use crate::core::session::body::Bodies;

/// A message with its size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SizedMessage {
    /// The message.
    pub message: ContextMessage,
    /// Its estimated tokens.
    pub tokens: u64,
}

/// The difference between the messages of two contexts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// The size of what both have: the same entry with the same content.
    pub common: Size,
    /// The messages that only the first has, in its order.
    pub dropped: Vec<SizedMessage>,
    /// The messages that only the second has, in its order.
    pub added: Vec<SizedMessage>,
}

impl Difference {
    /// Returns the total size of messages.
    pub fn size(messages: &[SizedMessage]) -> Size {
        let mut size = Size::default();
        messages.iter().for_each(|message| size.add(message.tokens));
        size
    }
}

/// Compares the messages of two contexts.
pub fn messages(bodies: &mut Bodies<'_>, from: &Context, to: &Context) -> Result<Difference> {
    let mut difference = Difference::default();
    let mut scratch = Vec::new();
    let mut tokens = |item: &ContextMessage| message::with(bodies, item, &mut scratch, message::tokens);
    let known: HashSet<_> = to.messages.iter().collect();
    for item in &from.messages {
        let message = SizedMessage { message: item.clone(), tokens: tokens(item)? };
        match known.contains(item) {
            true => difference.common.add(message.tokens),
            false => difference.dropped.push(message),
        }
    }
    let known: HashSet<_> = from.messages.iter().collect();
    for item in to.messages.iter().filter(|item| !known.contains(item)) {
        difference.added.push(SizedMessage { message: item.clone(), tokens: tokens(item)? });
    }
    Ok(difference)
}

/// Returns the words that a row shows for a message of a context.
pub fn words(bodies: &mut Bodies<'_>, item: &ContextMessage) -> Result<String> {
    let is_result = bodies.session().traits(item.node()).role == Role::ToolResult;
    let is_made = matches!(item, ContextMessage::Edited { .. } | ContextMessage::System(_));
    if !is_made || is_result {
        return bodies.words(item.node());
    }
    // The words of the entry itself are not those of this message.
    message::with(bodies, item, &mut Vec::new(), |message| {
        let mut line = Vec::new();
        Object::new(&mut line).str("type", "message").json("message", message.raw().bytes());
        let mut scan = Scan::default();
        let mut words = String::new();
        if let Ok(entry) = scan.read(&line) {
            preview::write(&mut words, entry);
        }
        words
    })
}

/// The two values of a setting that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettingChange<T> {
    /// Its value in the first context.
    pub from: T,
    /// Its value in the second context.
    pub to: T,
}

impl<T: PartialEq> SettingChange<T> {
    fn between(from: T, to: T) -> Option<Self> {
        (from != to).then_some(Self { from, to })
    }
}

/// The settings that differ between two contexts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingsDiff<'s> {
    /// The thinking level.
    pub thinking_level: Option<SettingChange<&'s str>>,
    /// The models by role.
    pub models: BTreeMap<&'s str, SettingChange<Option<&'s str>>>,
    /// The mode.
    pub mode: Option<SettingChange<&'s str>>,
    /// The mode's data, as stored.
    pub mode_data: Option<SettingChange<Option<&'s str>>>,
    /// The service tier, as stored.
    pub service_tier: Option<SettingChange<Option<&'s str>>>,
    /// The selected tools, as stored.
    pub mcp_tools: Option<SettingChange<Option<&'s str>>>,
    /// The injected rules.
    pub ttsr_rules: Option<SettingChange<&'s [String]>>,
}

impl<'s> SettingsDiff<'s> {
    /// Compares the settings of two contexts.
    pub fn between(from: &'s Settings, to: &'s Settings) -> Self {
        let roles: BTreeSet<_> = from.models.keys().chain(to.models.keys()).map(String::as_str).collect();
        let model = |state: &'s Settings, role: &str| state.models.get(role).map(String::as_str);
        let models = roles.into_iter();
        let models =
            models.filter_map(|role| Some((role, SettingChange::between(model(from, role), model(to, role))?)));
        Self {
            thinking_level: SettingChange::between(&from.thinking_level, &to.thinking_level),
            models: models.collect(),
            mode: SettingChange::between(&from.mode, &to.mode),
            mode_data: SettingChange::between(from.mode_data.as_deref(), to.mode_data.as_deref()),
            service_tier: SettingChange::between(from.service_tier.as_deref(), to.service_tier.as_deref()),
            mcp_tools: SettingChange::between(from.mcp_tools.as_deref(), to.mcp_tools.as_deref()),
            ttsr_rules: SettingChange::between(&from.ttsr_rules, &to.ttsr_rules),
        }
    }
}
