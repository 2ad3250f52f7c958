//! Moving the leaf within a file (semantics: "Navigating").

use super::body::Bodies;
use super::draft::{Draft, Value};
use super::entry::{Kind, Role};
use super::error::Result;
use super::label::Change;
use super::session::{NodeId, Session};
use super::walk;

/// The type that keeps a saved move apart from other custom entries.
const SAVED: &str = "session-tree/leaf";

/// Where a move goes, and what it leaves behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// The leaf that is left; `None` before the first entry.
    pub old: Option<NodeId>,
    /// What was asked for; `None` is before the first entry.
    pub target: Option<NodeId>,
    /// The deepest entry on both paths.
    pub ancestor: Option<NodeId>,
    /// What is left behind, in chronological order.
    pub abandoned: Vec<NodeId>,
    /// Where the leaf goes: a user's or custom message is taken back into the editor.
    pub position: Option<NodeId>,
    /// What goes into the editor.
    pub editor_text: Option<String>,
}

impl Move {
    /// Plans a move.
    ///
    /// # Errors
    /// As [`Bodies::entry`].
    pub fn plan(bodies: &mut Bodies<'_>, old: Option<NodeId>, target: Option<NodeId>) -> Result<Self> {
        let session = bodies.session();
        let (ancestor, abandoned) = abandoned(session, old, target);
        let mut plan = Self { old, target, ancestor, abandoned, position: target, editor_text: None };
        if let Some(target) = target.filter(|&target| goes_to_editor(session, target)) {
            plan.position = session.parent(target);
            plan.editor_text = Some(bodies.entry(target)?.full_text());
        }
        Ok(plan)
    }

    /// Tells whether the leaf is already there.
    pub fn is_noop(&self) -> bool {
        self.old == self.target
    }
}

/// What a move writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// A summary of what is left behind.
    pub summary: Option<Summary>,
    /// Whether the move is to last without a summary.
    pub save: bool,
    /// A label for the summary, else for the target.
    pub label: Option<String>,
}

/// A summary of what is left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// What it says.
    pub text: String,
    /// Its details, as JSON text.
    pub details: Option<Vec<u8>>,
    /// Whether a hook made it.
    pub from_extension: bool,
}

impl Trace {
    /// Tells whether nothing is written.
    pub fn is_empty(&self) -> bool {
        self.summary.is_none() && !self.save && self.label.is_none()
    }

    /// Adds the entries; the draft starts at the new position. `target` is what was asked for.
    pub fn append(&self, draft: &mut Draft<'_>, target: Option<&str>) {
        let mut labelled = target.map(str::to_owned);
        if let Some(Summary { text, details, from_extension }) = &self.summary {
            let from = draft.leaf().unwrap_or("root").to_owned();
            let mut members = vec![("fromId", Value::Str(&from)), ("summary", Value::Str(text))];
            members.extend(details.as_deref().map(|details| ("details", Value::Json(details))));
            if *from_extension {
                // Each family of agents has its own name for it.
                members.extend(["fromExtension", "fromHook"].map(|name| (name, Value::Json(b"true"))));
            }
            draft.append("branch_summary", &members);
            labelled = draft.leaf().map(str::to_owned);
        } else if self.save {
            draft.append("custom", &[("customType", Value::Str(SAVED))]);
        }
        if let (Some(name), Some(target)) = (&self.label, labelled) {
            Change { target, name: Some(name.clone()) }.append(draft);
        }
    }
}

/// Finds the common ancestor of two leaves and what only the old one has above it.
fn abandoned(session: &Session, old: Option<NodeId>, target: Option<NodeId>) -> (Option<NodeId>, Vec<NodeId>) {
    let kept = walk::active(session, target);
    let mut left: Vec<_> = session.ancestors(old).take_while(|node| !kept[node.index()]).collect();
    left.reverse();
    (session.ancestors(old).find(|node| kept[node.index()]), left)
}

/// Tells whether a move to an entry takes it back instead.
pub fn goes_to_editor(session: &Session, node: NodeId) -> bool {
    let traits = session.traits(node);
    traits.kind == Kind::CustomMessage || (traits.kind == Kind::Message && traits.role == Role::User)
}
