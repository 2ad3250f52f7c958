//! The plan of what is sent.

use super::step::SentStep;
use super::system::{CalledTools, SystemPrompt};
use super::target::Target;

/// What is sent to a model.
#[derive(Debug, Default)]
pub struct Plan {
    /// The model.
    pub target: Target,
    /// The steps in order.
    pub steps: Vec<SentStep>,
    /// What the system messages add up to.
    pub system: SystemPrompt,
    /// The tools that are called.
    pub tools: CalledTools,
}
