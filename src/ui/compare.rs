//! The difference between two contexts (`context --diff`): rows with `-` and `+` for people, one object
//! for programs.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::json;
use serde_json::value::{RawValue, Value};

use super::context;
use super::entry::{self, LONGEST_ID, ShortIds};
use super::escape;
use super::fit;
use super::output::Output;
use super::paint::Ink;
use super::screen::Screen;
use crate::core::context::compare::{self, Difference, SettingChange, SettingsDiff, SizedMessage};
use crate::core::context::stats::Size;
use crate::core::context::{Context, ContextMessage};
use crate::core::error::Result;
use crate::core::session::Session;
use crate::core::session::body::Bodies;

/// Draws the difference between two contexts as text.
#[derive(Debug)]
pub(crate) struct DifferenceText<'s> {
    session: &'s Session,
    screen: &'s Screen,
    ids: ShortIds<'s>,
    id_columns: usize,
    token_columns: usize,
}

impl<'s> DifferenceText<'s> {
    /// Prepares to draw.
    pub(crate) fn new(session: &'s Session, difference: &Difference, screen: &'s Screen) -> Self {
        let ids = ShortIds::new(session);
        let messages = || difference.dropped.iter().chain(&difference.added);
        let id_columns = ids.widest(messages().map(|message| message.message.node()), LONGEST_ID);
        let token_columns = messages().map(|message| message.tokens.to_string().len()).max().unwrap_or(1);
        Self { session, screen, ids, id_columns, token_columns }
    }

    /// Prints the two places, totals, settings that differ, and a row for each message that only one of
    /// the contexts has.
    ///
    /// # Errors
    /// As [`compare::words`], or what the system says of writing.
    pub(crate) fn print(
        &self,
        output: &mut Output,
        bodies: &mut Bodies<'_>,
        [from, to]: [&Context; 2],
        difference: &Difference,
    ) -> anyhow::Result<()> {
        output.text(&self.heading(from, to, difference))?;
        let mut gap = "\n";
        let sides = [('-', Ink::Dropped, &difference.dropped), ('+', Ink::Added, &difference.added)];
        for (sign, ink, messages) in sides {
            for message in messages {
                let row = self.row(bodies, sign, message)?;
                output.text(std::mem::take(&mut gap))?;
                output.text(&self.screen.row([(ink, &*row)]))?;
            }
        }
        Ok(())
    }

    /// Draws the lines above the rows: both leaves, totals, and settings that differ.
    fn heading(&self, from: &Context, to: &Context, difference: &Difference) -> String {
        let id = |context: &Context| match context.leaf {
            Some(leaf) => self.session.id(leaf).to_owned(),
            None => "before the first entry".to_owned(),
        };
        let mut facts = vec![
            ("from", id(from)),
            ("to", id(to)),
            ("common", context::size(difference.common)),
            ("dropped", context::size(Difference::size(&difference.dropped))),
            ("added", context::size(Difference::size(&difference.added))),
        ];
        self.settings(&SettingsDiff::between(&from.settings, &to.settings), &mut facts);
        context::rows(self.screen, &facts)
    }

    fn settings(&self, settings: &SettingsDiff<'_>, facts: &mut Vec<(&'static str, String)>) {
        let arrow = self.screen.arrow();
        let change = |SettingChange { from, to }: SettingChange<String>| format!("{from} {arrow} {to}");
        let text =
            |change: SettingChange<&str>| SettingChange { from: change.from.to_owned(), to: change.to.to_owned() };
        let stored = |SettingChange { from, to }: SettingChange<Option<&str>>, read: fn(&str) -> String| {
            let read = |json: Option<&str>| json.map_or("none".to_owned(), read);
            SettingChange { from: read(from), to: read(to) }
        };
        facts.extend(settings.thinking_level.map(|level| ("thinking", change(text(level)))));
        for (&role, &model) in &settings.models {
            let model = change(stored(model, str::to_owned));
            facts.push(("model", if role == "default" { model } else { format!("{model} ({role})") }));
        }
        facts.extend(settings.mode.map(|mode| ("mode", change(text(mode)))));
        facts.extend(settings.mode_data.map(|data| ("mode data", change(stored(data, str::to_owned)))));
        facts.extend(settings.service_tier.map(|tier| ("tier", change(stored(tier, context::plain)))));
        facts.extend(settings.mcp_tools.map(|tools| ("tools", change(stored(tools, context::names)))));
        let rules = |rules: &[String]| if rules.is_empty() { "none".to_owned() } else { rules.join(", ") };
        let rules =
            settings.ttsr_rules.map(|SettingChange { from, to }| SettingChange { from: rules(from), to: rules(to) });
        facts.extend(rules.map(|rules| ("rules", change(rules))));
    }

    fn row(&self, bodies: &mut Bodies<'_>, sign: char, message: &SizedMessage) -> Result<String> {
        let words = compare::words(bodies, &message.message)?;
        let words = match &message.message {
            ContextMessage::System(_) => format!("system: {}", entry::text(self.screen, &words)),
            item => entry::row(self.screen, self.session.traits(item.node()), &words),
        };
        let id = self.ids.of(message.message.node());
        if self.screen.paint.in_words {
            let side = if sign == '-' { "dropped" } else { "added" };
            return Ok(format!("{side} {id}, {} tokens, {}", message.tokens, escape::line(&words)));
        }
        let pad = " ".repeat(self.id_columns.saturating_sub(fit::width(&id)));
        let tokens = format!("{:>1$}", message.tokens, self.token_columns);
        Ok(format!("{sign} {id}{pad}  {tokens}  {}", escape::line(&words)))
    }
}

/// A message that only one of two contexts has.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct MessageRow<'a> {
    id: &'a str,
    role: &'a str,
    tokens: u64,
    text: String,
}

/// The JSON of `context --diff ENTRY --json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DifferenceRow<'a> {
    from_leaf_id: Option<&'a str>,
    to_leaf_id: Option<&'a str>,
    common: Value,
    dropped_tokens: u64,
    added_tokens: u64,
    state: StateRow<'a>,
    dropped: Vec<MessageRow<'a>>,
    added: Vec<MessageRow<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct StateRow<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking_level: Option<ChangeRow<&'a str>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    models: BTreeMap<&'a str, ChangeRow<Option<&'a str>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode: Option<ChangeRow<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mode_data: Option<ChangeRow<Option<Box<RawValue>>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    service_tier: Option<ChangeRow<Option<Box<RawValue>>>>,
    #[serde(rename = "selectedMCPToolNames", skip_serializing_if = "Option::is_none")]
    selected_mcp_tool_names: Option<ChangeRow<Option<Box<RawValue>>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    injected_ttsr_rules: Option<ChangeRow<&'a [String]>>,
}

#[derive(Debug, Serialize)]
struct ChangeRow<T> {
    from: T,
    to: T,
}

impl<T> From<SettingChange<T>> for ChangeRow<T> {
    fn from(SettingChange { from, to }: SettingChange<T>) -> Self {
        Self { from, to }
    }
}

impl<'a> DifferenceRow<'a> {
    /// Makes the object of two contexts and their difference.
    ///
    /// # Errors
    /// As [`compare::words`].
    pub(crate) fn new<'s: 'a>(
        bodies: &mut Bodies<'s>,
        from: &'a Context,
        to: &'a Context,
        difference: &Difference,
    ) -> Result<Self> {
        let session = bodies.session();
        let mut row = |SizedMessage { message, tokens }: &SizedMessage| {
            let text = compare::words(bodies, message)?;
            Ok(MessageRow { id: session.id(message.node()), role: message.role(session), tokens: *tokens, text })
        };
        let mut rows = |messages: &[SizedMessage]| messages.iter().map(&mut row).collect::<Result<_>>();
        let id = |context: &Context| context.leaf.map(|leaf| session.id(leaf));
        let Size { messages, tokens } = difference.common;
        Ok(Self {
            from_leaf_id: id(from),
            to_leaf_id: id(to),
            common: json!({"messages": messages, "tokens": tokens}),
            dropped_tokens: Difference::size(&difference.dropped).tokens,
            added_tokens: Difference::size(&difference.added).tokens,
            state: StateRow::new(SettingsDiff::between(&from.settings, &to.settings)),
            dropped: rows(&difference.dropped)?,
            added: rows(&difference.added)?,
        })
    }
}

impl<'a> StateRow<'a> {
    fn new(settings: SettingsDiff<'a>) -> Self {
        let raw = |text: Option<&str>| text.and_then(|text| RawValue::from_string(text.to_owned()).ok());
        let stored =
            |SettingChange { from, to }: SettingChange<Option<&str>>| ChangeRow { from: raw(from), to: raw(to) };
        Self {
            thinking_level: settings.thinking_level.map(Into::into),
            models: settings.models.into_iter().map(|(role, model)| (role, model.into())).collect(),
            mode: settings.mode.map(Into::into),
            mode_data: settings.mode_data.map(stored),
            service_tier: settings.service_tier.map(stored),
            selected_mcp_tool_names: settings.mcp_tools.map(stored),
            injected_ttsr_rules: settings.ttsr_rules.map(Into::into),
        }
    }
}
