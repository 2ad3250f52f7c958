//! What is shown of a move.

use super::plan::{Move, goes_to_editor};
use crate::core::context::{self, Context};
use crate::core::error::Result;
use crate::core::session::NodeId;
use crate::core::session::body::Bodies;

/// What is shown of a move. It is read before anything is written, so that nothing but printing can
/// fail afterwards.
#[derive(Debug)]
pub struct MoveView {
    /// The leaf that is left.
    pub from: Landmark,
    /// Where the leaf goes, or, if a message is taken back, that message: it says more than the entry
    /// above it.
    pub to: Landmark,
    /// What the model sees at the leaf after the move, new entries left out.
    pub context: Context,
}

/// An entry, or `None` for the place before the first one, with the words of its row.
#[derive(Debug, Default)]
pub struct Landmark {
    /// The entry.
    pub node: Option<NodeId>,
    /// Its words.
    pub words: String,
    /// Whether a move to it takes it back.
    pub goes_to_editor: bool,
}

impl MoveView {
    /// Reads what is shown of a move after which the leaf is at `leaf`.
    pub fn read(bodies: &mut Bodies<'_>, plan: &Move, leaf: Option<NodeId>) -> Result<Self> {
        let mut landmark = |node: Option<NodeId>| -> Result<Landmark> {
            let Some(node) = node else { return Ok(Landmark::default()) };
            let words = bodies.words(node)?;
            Ok(Landmark { node: Some(node), words, goes_to_editor: goes_to_editor(bodies.entry(node)?) })
        };
        let to = if plan.editor.is_some() { plan.target } else { plan.position };
        Ok(Self { from: landmark(plan.old)?, to: landmark(to)?, context: context::build(bodies, leaf)? })
    }
}
