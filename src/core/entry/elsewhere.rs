//! The texts of an entry that stand neither in its content nor in its summary (help rules, "Rows"). What shows,
//! searches or measures an entry has them from here, so that none of them knows fewer than the others.

use std::borrow::Cow;

use super::{Entry, Kind, Role};
use crate::core::json::{Raw, ValueKind};

/// The custom type of entries with a revision of omp's notebook.
pub(crate) const NOTES: &str = "experimental_context_notes";

/// A text that stands outside of the content.
#[derive(Clone, Debug)]
pub enum TextElsewhere<'l> {
    /// A section of the system prompt; null if it is taken away.
    Section {
        /// Its name.
        name: Cow<'l, str>,
        /// Its text.
        text: Raw<'l>,
    },
    /// A tool that the model may call from here on.
    ToolAdded(Raw<'l>),
    /// A tool that it may no longer call.
    ToolRemoved(Raw<'l>),
    /// What the system message of a compaction says.
    SystemText(Raw<'l>),
    /// What the session was started for.
    Task(Raw<'l>),
    /// The system prompt that the session was started with.
    SystemPrompt(Raw<'l>),
    /// Old conversation that a compaction keeps as text.
    Archived(Raw<'l>),
    /// Old conversation that a compaction keeps as a picture.
    Picture(Raw<'l>),
    /// A revision of omp's notebook.
    Notes(Raw<'l>),
}

impl<'l> TextElsewhere<'l> {
    /// Returns the texts of an entry outside of its content, in the order in which they are read.
    pub fn of(entry: Entry<'l>) -> Vec<Self> {
        let text = |name| entry.get(name).filter(|text| text.kind() == ValueKind::String);
        match (entry.kind(), entry.role()) {
            (Kind::Message, Role::System) => entry.message().map(Self::of_system).unwrap_or_default(),
            (Kind::Compaction, _) => {
                let system = entry.get("systemMessage").filter(|system| system.kind() == ValueKind::Object);
                let mut texts = Vec::new();
                if let Some(system) = system {
                    texts.extend(texts_of(system).map(Self::SystemText));
                    texts.extend(Self::of_system(system));
                }
                let archive = entry.get("preserveData").and_then(|data| data.get("snapcompact"));
                let archived = |name| archive.and_then(|archive: Raw<'l>| archive.get(name));
                let string = |name| archived(name).filter(|text| text.kind() == ValueKind::String);
                texts.extend(string("textHead").map(Self::Archived));
                texts.extend(archived("frames").iter().flat_map(|frames| frames.elements()).map(Self::Picture));
                texts.extend(string("textTail").map(Self::Archived));
                texts
            }
            (Kind::SessionInit, _) => {
                text("task").map(Self::Task).into_iter().chain(text("systemPrompt").map(Self::SystemPrompt)).collect()
            }
            (Kind::Custom, _) if entry.get_str("customType").as_deref() == Some(NOTES) => {
                let notes = entry.get("data").and_then(|data| data.get("text"));
                notes.filter(|notes| notes.kind() == ValueKind::String).map(Self::Notes).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns what a system message says outside of its content.
    pub fn of_system(message: Raw<'l>) -> Vec<Self> {
        let mut texts = Vec::new();
        for (name, text) in message.get("sections").iter().flat_map(|sections| sections.members()) {
            texts.push(Self::Section { name: String::from_utf8_lossy(name.name()).into_owned().into(), text });
        }
        for tool in message.get("toolsAdded").iter().flat_map(|tools| tools.elements()) {
            texts.push(Self::ToolAdded(tool));
        }
        for tool in message.get("toolsRemoved").iter().flat_map(|tools| tools.elements()) {
            texts.push(Self::ToolRemoved(tool));
        }
        texts
    }

    /// Returns the strings that a search looks into.
    pub(crate) fn searched(&self) -> impl Iterator<Item = Cow<'l, str>> + use<'l> {
        let (first, second) = match *self {
            Self::Section { text, .. }
            | Self::SystemText(text)
            | Self::Task(text)
            | Self::SystemPrompt(text)
            | Self::Archived(text)
            | Self::Notes(text) => (text.str(), None),
            Self::ToolAdded(tool) | Self::ToolRemoved(tool) => (Some(tool_name(tool)), tool.get_str("description")),
            Self::Picture(_) => (None, None),
        };
        first.into_iter().chain(second)
    }
}

/// Returns the name of a tool, which is listed as an object or by its name alone.
pub fn tool_name(tool: Raw<'_>) -> Cow<'_, str> {
    tool.get_str("name").or_else(|| tool.str()).unwrap_or_default()
}

/// Returns the texts of the content of a message, as they are stored.
fn texts_of(message: Raw<'_>) -> impl Iterator<Item = Raw<'_>> {
    let content = message.get("content");
    let blocks = content.into_iter().flat_map(Raw::elements);
    let texts = blocks.filter(|block| block.get_str("type").as_deref() == Some("text"));
    let string = content.filter(|content| content.kind() == ValueKind::String);
    string.into_iter().chain(texts.filter_map(|block| block.get("text")))
}
