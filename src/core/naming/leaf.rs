//! What is seen from a leaf: the entry that it is about, and the messages that are counted up from it (help
//! naming, "The leaf and its marks").

use crate::core::entry::{Kind, Role};
use crate::core::error::Result;
use crate::core::session::body::Bodies;
use crate::core::session::{NodeId, Session};

/// The name of the leaf.
pub(crate) const LEAF: &str = "@";

/// Returns the entry that a leaf is about: the one that its marks hang at. A mark that hangs at nothing is
/// itself.
///
/// # Errors
/// As [`Bodies::entry`].
pub(crate) fn below_marks(session: &Session, leaf: NodeId) -> Result<NodeId> {
    let mut bodies = Bodies::new(session);
    let mut node = leaf;
    while let Some(parent) = session.parent(node) {
        let is_mark = match session.traits(node).kind {
            Kind::Label | Kind::SessionInfo | Kind::TitleChange => true,
            Kind::Custom => bodies.is_saved_move(node)?,
            _ => session.is_mark(node),
        };
        if !is_mark {
            break;
        }
        node = parent;
    }
    Ok(node)
}

/// Messages that are counted up from the leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CountedTurn {
    /// What the user sent.
    User,
    /// What the model answered in words.
    Assistant,
}

impl CountedTurn {
    /// Reads `user:N` or `assistant:N`.
    pub(super) fn numbered(base: &str) -> Option<(Self, usize)> {
        let named = |turn: Self| Some((turn, base.strip_prefix(turn.prefix())?.parse().ok()?));
        named(Self::User).or_else(|| named(Self::Assistant))
    }

    /// Returns what stands before the number.
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            Self::User => "user:",
            Self::Assistant => "assistant:",
        }
    }

    /// Iterates over these messages from the leaf up.
    pub(crate) fn of(self, session: &Session, leaf: Option<NodeId>) -> impl Iterator<Item = NodeId> + '_ {
        session.ancestors(leaf).filter(move |&node| match self {
            Self::User => session.is_user(node),
            Self::Assistant => {
                let traits = session.traits(node);
                (traits.kind, traits.role) == (Kind::Message, Role::Assistant) && traits.has_text
            }
        })
    }
}
