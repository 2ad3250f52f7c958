//! How two contexts of a session differ: the messages that only one of them has, and the settings.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::message;
use super::stats::Size;
use crate::core::context::{Context, Item, State};
use crate::core::entry::preview;
use crate::core::entry::{Role, Scan};
use crate::core::error::Result;
use crate::core::json::Object;
use crate::core::session::body::Bodies;

/// A message and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Weighed {
    /// The message.
    pub item: Item,
    /// Its tokens, estimated.
    pub tokens: u64,
}

/// How the messages of two contexts differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// What both have: the same entry with the same content.
    pub common: Size,
    /// What only the first has, in its order.
    pub dropped: Vec<Weighed>,
    /// What only the second has, in its order.
    pub added: Vec<Weighed>,
}

impl Difference {
    /// Sums up messages.
    pub fn size(messages: &[Weighed]) -> Size {
        let mut size = Size::default();
        messages.iter().for_each(|message| size.add(message.tokens));
        size
    }
}

/// Compares the messages of two contexts.
///
/// # Errors
/// As [`message::with`].
pub fn messages(bodies: &mut Bodies<'_>, from: &Context, to: &Context) -> Result<Difference> {
    let mut difference = Difference::default();
    let mut scratch = Vec::new();
    let mut tokens = |item| message::with(bodies, item, &mut scratch, message::tokens);
    let known: HashSet<_> = to.items.iter().collect();
    for item in &from.items {
        let message = Weighed { item: *item, tokens: tokens(*item)? };
        match known.contains(item) {
            true => difference.common.add(message.tokens),
            false => difference.dropped.push(message),
        }
    }
    let known: HashSet<_> = from.items.iter().collect();
    for item in to.items.iter().filter(|item| !known.contains(item)) {
        difference.added.push(Weighed { item: *item, tokens: tokens(*item)? });
    }
    Ok(difference)
}

/// Gives the words that a row shows for a message of a context.
///
/// # Errors
/// As [`message::with`].
pub fn words(bodies: &mut Bodies<'_>, item: Item) -> Result<String> {
    let is_result = bodies.session().traits(item.node()).role == Role::ToolResult;
    let is_made = matches!(item, Item::Edited { .. } | Item::System(_));
    if !is_made || is_result {
        return bodies.words(item.node());
    }
    // The entry's own words are those of something else.
    message::with(bodies, item, &mut Vec::new(), |message| {
        let mut line = Vec::new();
        Object::new(&mut line).str("type", "message").json("message", message.bytes());
        let mut scan = Scan::default();
        let mut words = String::new();
        if let Ok(entry) = scan.read(&line) {
            preview::write(&mut words, entry);
        }
        words
    })
}

/// A setting that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change<T> {
    /// What it is in the first context.
    pub from: T,
    /// What it is in the second.
    pub to: T,
}

impl<T: PartialEq> Change<T> {
    fn between(from: T, to: T) -> Option<Self> {
        (from != to).then_some(Self { from, to })
    }
}

/// The settings that differ between two contexts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings<'s> {
    /// The level of thinking.
    pub thinking_level: Option<Change<&'s str>>,
    /// The models by role.
    pub models: BTreeMap<&'s str, Change<Option<&'s str>>>,
    /// The mode.
    pub mode: Option<Change<&'s str>>,
    /// The mode's data, as stored.
    pub mode_data: Option<Change<Option<&'s str>>>,
    /// The service tier, as stored.
    pub service_tier: Option<Change<Option<&'s str>>>,
    /// The selected tools, as stored.
    pub mcp_tools: Option<Change<Option<&'s str>>>,
    /// The injected rules.
    pub ttsr_rules: Option<Change<&'s [String]>>,
}

impl<'s> Settings<'s> {
    /// Compares the settings of two contexts.
    pub fn between(from: &'s State, to: &'s State) -> Self {
        let roles: BTreeSet<_> = from.models.keys().chain(to.models.keys()).map(String::as_str).collect();
        let model = |state: &'s State, role: &str| state.models.get(role).map(String::as_str);
        let models = roles.into_iter();
        let models = models.filter_map(|role| Some((role, Change::between(model(from, role), model(to, role))?)));
        Self {
            thinking_level: Change::between(&from.thinking_level, &to.thinking_level),
            models: models.collect(),
            mode: Change::between(&from.mode, &to.mode),
            mode_data: Change::between(from.mode_data.as_deref(), to.mode_data.as_deref()),
            service_tier: Change::between(from.service_tier.as_deref(), to.service_tier.as_deref()),
            mcp_tools: Change::between(from.mcp_tools.as_deref(), to.mcp_tools.as_deref()),
            ttsr_rules: Change::between(&from.ttsr_rules, &to.ttsr_rules),
        }
    }
}
