//! Which entries a view shows (cli: `tree --filter`).

use crate::core::entry::{Kind, Role, StopReason, Traits};

/// The views of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filter {
    /// The conversation: no bookkeeping, no assistant messages without text.
    #[default]
    Default,
    /// As default, without tool results.
    NoTools,
    /// User messages.
    UserOnly,
    /// Entries with a label.
    LabeledOnly,
    /// Everything.
    All,
}

impl Filter {
    /// Tells whether an entry is shown.
    pub fn shows(self, traits: Traits, is_labelled: bool, is_leaf: bool) -> bool {
        match self {
            Self::All => true,
            Self::LabeledOnly => is_labelled,
            Self::UserOnly => traits.is_user(),
            Self::NoTools => shows_conversation(traits, is_leaf) && traits.role != Role::ToolResult,
            Self::Default => shows_conversation(traits, is_leaf),
        }
    }
}

fn shows_conversation(traits: Traits, is_leaf: bool) -> bool {
    if traits.kind.is_entry_type() && !traits.kind.is_conversation() {
        return false;
    }
    let is_silent = traits.kind == Kind::Message
        && traits.role == Role::Assistant
        && !traits.has_text
        && traits.stop == StopReason::Normal;
    !is_silent || is_leaf
}
