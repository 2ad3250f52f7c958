//! What a model would see at a leaf (help rules, "Context"): the settings in force, and the entries
//! that contribute a message.
//!
//! A context names its messages by entry; [`message`] makes their JSON. The other modules measure
//! ([`stats`], [`usage`]), compare ([`compare`]) and summarize ([`summary`], [`files`]) stretches of
//! conversation. What the agents agree on is in `builder`, what one agent holds in [`held`], what it sends
//! in [`sent`], and the form in which a provider gets that in [`forms`]. Nothing here prints or writes.

mod builder;
pub mod compare;
mod content;
pub mod files;
pub mod forms;
pub mod held;
pub mod message;
mod omp;
pub mod rules;
pub mod sent;
pub mod settings;
pub mod stats;
pub mod summary;
pub mod usage;

use std::sync::Arc;

pub use builder::build;
use rules::Rules;
pub use settings::Settings;

use crate::core::entry::{Entry, Kind, Role};
use crate::core::error::problem::Problems;
use crate::core::json::{self, Raw};
use crate::core::session::{NodeId, Session};

/// One message of a context, by the entry that it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ContextMessage {
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
    /// The compaction's summary as pi holds it.
    PiCompaction(NodeId),
    /// The compaction's summary as omp holds it.
    OmpCompaction {
        /// The compaction.
        node: NodeId,
        /// The first entry after its message in the context, in force or not; the compaction without one.
        next: NodeId,
    },
    /// An assistant message without some of its calls, as omp holds it.
    Trimmed {
        /// The entry with the message.
        node: NodeId,
        /// The places of the calls that are left out, among its calls.
        calls: Arc<[usize]>,
    },
    /// omp's notebook.
    Notes(NodeId),
}

impl ContextMessage {
    /// Returns the entry that the message comes from.
    pub fn node(&self) -> NodeId {
        match *self {
            Self::Stored(node)
            | Self::Edited { target: node, .. }
            | Self::Custom(node)
            | Self::Branch(node)
            | Self::System(node)
            | Self::Compaction(node)
            | Self::PiCompaction(node)
            | Self::OmpCompaction { node, .. }
            | Self::Trimmed { node, .. }
            | Self::Notes(node) => node,
        }
    }

    /// Returns the role of the message; `unknown` for those that no agent sends.
    pub fn role(&self, session: &Session) -> &'static str {
        let stored = match *self {
            Self::Stored(node) | Self::Edited { target: node, .. } | Self::Trimmed { node, .. } => {
                let is_unknown = session.traits(node).kind == Kind::Message && !session.traits(node).role.is_known();
                if is_unknown { Some("unknown") } else { session.role_name(node) }
            }
            Self::Custom(_) | Self::Notes(_) => None,
            Self::Branch(_) => Role::BranchSummary.name(),
            Self::System(_) => Role::System.name(),
            Self::Compaction(_) | Self::PiCompaction(_) | Self::OmpCompaction { .. } => Role::CompactionSummary.name(),
        };
        // What has no role of its own comes from a `custom_message`.
        stored.unwrap_or("custom")
    }

    /// Returns the compaction whose summary the message is.
    fn compaction(&self) -> Option<NodeId> {
        match *self {
            Self::Compaction(node) | Self::PiCompaction(node) | Self::OmpCompaction { node, .. } => Some(node),
            _ => None,
        }
    }
}

/// The settings and messages that a model would get at a leaf.
#[derive(Debug, Default)]
pub struct Context {
    /// The leaf; `None` before the first entry.
    pub leaf: Option<NodeId>,
    /// By whose rules it was built.
    pub rules: Rules,
    /// The settings in force.
    pub settings: Settings,
    /// The messages in order.
    pub messages: Vec<ContextMessage>,
    /// What was odd along the path.
    pub problems: Problems,
}

impl Context {
    /// Returns the compaction in force.
    pub(crate) fn compaction(&self) -> Option<NodeId> {
        self.messages.iter().find_map(|item| item.compaction())
    }
}

/// Returns the provider and the history of a compaction made by a remote service, if both are usable.
pub(crate) fn remote_history(entry: Entry<'_>) -> Option<(Raw<'_>, Raw<'_>)> {
    let remote = entry.get("preserveData")?.get("openaiRemoteCompaction")?;
    let provider =
        remote.get("provider").filter(|provider| provider.string_body().is_some_and(|name| !name.is_empty()))?;
    let history = remote.get("replacementHistory").filter(|history| history.kind() == json::ValueKind::Array)?;
    Some((provider, history))
}
