//! The filters of `tree --filter`. Whether an entry is shown follows from its kind, role and label;
//! which entries hang below which is up to [`super::shape`].

use crate::core::entry::{Kind, Role, StopReason, Traits};

/// A choice of entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filter {
    /// The conversation: no bookkeeping, no assistant messages without text.
    #[default]
    Default,
    /// As the default, without tool results.
    NoTools,
    /// User messages.
    UserOnly,
    /// Entries with a label.
    LabeledOnly,
    /// Everything.
    All,
}

impl Filter {
    /// Returns whether an entry is shown.
    pub fn shows(self, traits: Traits, is_labelled: bool, is_leaf: bool) -> bool {
        match self {
            Self::All => true,
            _ if traits.kind == Kind::Leaf => false,
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
