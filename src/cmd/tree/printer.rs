//! What all forms of a tree are printed from.

use super::args::TreeArgs;
use crate::cmd::App;
use crate::core::entry::Kind;
use crate::core::search::Query;
use crate::core::session::body::Bodies;
use crate::core::session::{NodeId, Session};

/// A tree, and how it is to be printed; the other files here say how each form is.
pub(super) struct Printer<'v> {
    pub(super) app: &'v App,
    pub(super) args: &'v TreeArgs,
    pub(super) session: &'v Session,
    pub(super) leaf: Option<NodeId>,
    pub(super) query: Option<&'v Query>,
    pub(super) bodies: Bodies<'v>,
}

impl Printer<'_> {
    /// Returns the role of an entry's message, else its type.
    pub(super) fn kind(&self, node: NodeId) -> &'static str {
        let traits = self.session.traits(node);
        let role = self.session.role_name(node).filter(|_| traits.kind == Kind::Message);
        role.or(traits.kind.name()).unwrap_or("?")
    }
}
