//! What a plan has to know of a message.

use crate::core::json::{Raw, ValueKind};

/// What a plan has to know of a message.
pub(super) enum Fact {
    /// System messages have a place of their own.
    System,
    /// The answer of a model.
    Turn(Turn),
    /// The result of the call with this id.
    Result(String),
    /// Any other message.
    Other,
}

/// What a plan has to know of an answer.
pub(super) struct Turn {
    /// Whether it ended with an error or was aborted.
    pub has_failed: bool,
    /// Its calls.
    pub calls: Vec<Call>,
    /// Whether it holds anything but calls.
    pub says_more: bool,
    /// Whether it was cut off before it came to text or a call.
    pub is_cut_short: bool,
}

/// A call.
pub(super) struct Call {
    /// Its id; empty if it has none.
    pub id: String,
    /// The name of the tool; empty if it has none.
    pub name: String,
}

impl Fact {
    /// Reads a message as it is held.
    pub(super) fn new(message: Raw<'_>) -> Self {
        match message.get_str("role").as_deref() {
            Some("system") => Self::System,
            Some("assistant") => Self::Turn(Turn::new(message)),
            Some("toolResult") => Self::Result(message.get_str("toolCallId").unwrap_or_default().into_owned()),
            _ => Self::Other,
        }
    }
}

impl Turn {
    fn new(message: Raw<'_>) -> Self {
        let stop = message.get_str("stopReason");
        let has_failed = matches!(stop.as_deref(), Some("error" | "aborted"));
        let is_cut_short = stop.as_deref() == Some("length");
        let mut turn = Self { has_failed, calls: Vec::new(), says_more: false, is_cut_short };
        if message.get("content").is_some_and(|content| content.kind() == ValueKind::String) {
            return Self { says_more: true, is_cut_short: false, ..turn };
        }
        for block in message.get("content").iter().flat_map(|content| content.elements()) {
            let kind = block.get_str("type");
            turn.is_cut_short &= !matches!(kind.as_deref(), Some("text" | "toolCall"));
            if kind.as_deref() != Some("toolCall") {
                turn.says_more = true;
                continue;
            }
            let text = |name| block.get_str(name).unwrap_or_default().into_owned();
            turn.calls.push(Call { id: text("id"), name: text("name") });
        }
        turn
    }
}
