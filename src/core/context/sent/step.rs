//! The steps of a plan: what is sent, one after the other.

use crate::core::context::ContextMessage;

/// Something that is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SentStep {
    /// A message, or the part of it that is a message of its own.
    Message {
        /// The message.
        item: ContextMessage,
        /// Which part.
        part: Part,
    },
    /// The answer of a model.
    Turn {
        /// The message.
        item: ContextMessage,
        /// The ids of its calls, `None` for a call that is left out; empty if all stay as they are.
        ids: Vec<Option<String>>,
        /// Whether it is the last answer.
        is_last: bool,
    },
    /// The result of a call.
    Result {
        /// The message.
        item: ContextMessage,
        /// The id of its call, if it is not the stored one.
        id: Option<String>,
    },
    /// The result of a call that has none.
    Missing {
        /// The id of the call.
        id: String,
        /// The name of the tool.
        name: String,
    },
    /// A result whose call is gone, told as text.
    Stale(ContextMessage),
}

/// A part of a message that omp sends apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Whole,
    /// What is text.
    Text,
    /// What is with images.
    Images,
}
