//! What all forms of a tree are printed from.

use std::path::Path;

use anyhow::Result;

use super::args::TreeArgs;
use crate::cmd::App;
use crate::core::entry::Kind;
use crate::core::search::Query;
use crate::core::session::body::Bodies;
use crate::core::session::{NodeId, Session};
use crate::core::tree::walk;
use crate::ui::json::SessionName;
use crate::ui::output::Output;
use crate::ui::tree::TreeText;

/// A tree, and how it is to be printed; the other files here say how each form is.
pub(super) struct Printer<'v> {
    pub(super) app: &'v App,
    pub(super) args: &'v TreeArgs,
    pub(super) session: &'v Session,
    pub(super) leaf: Option<NodeId>,
    pub(super) query: Option<&'v Query>,
    pub(super) bodies: Bodies<'v>,
    pub(super) output: &'v mut Output,
    /// On how many threads rows are made.
    pub(super) jobs: usize,
    /// The file, if the session is one of several: then what is printed names it.
    pub(super) file: Option<&'v Path>,
    /// What is shown of its id then, so that it is told apart from the others.
    pub(super) id: &'v str,
}

/// A session that is one of several.
#[derive(Clone, Copy)]
pub(super) struct OneOfSeveral<'v> {
    /// What its file is called.
    pub(super) file: &'v Path,
    /// As much of its id as tells it apart from the others; empty if that is not known.
    pub(super) id: &'v str,
}

impl Printer<'_> {
    /// Prints the line above the rows, and the file if the session is one of several.
    pub(super) fn heading(&mut self, text: &TreeText<'_>) -> Result<()> {
        if let Some(file) = self.file {
            self.output.path(file)?;
        }
        let title = self.bodies.title()?;
        let branches = walk::tips(self.session).len();
        Ok(self.output.text(&text.heading(&title, self.id, self.session.count(), branches))?)
    }

    /// Begins the document of the session; if it is one of several, as an object with the rest as `member`.
    pub(super) fn open(&mut self, member: &str) -> Result<()> {
        if let Some(file) = self.file {
            let name = SessionName::new(file, self.session).members()?;
            self.output.json(format!("{{{name}\"{member}\":").as_bytes())?;
        }
        Ok(())
    }

    /// Ends what [`Self::open`] began.
    pub(super) fn close(&mut self) -> Result<()> {
        Ok(self.output.text(if self.file.is_some() { "}" } else { "\n" })?)
    }

    /// Returns the role of an entry's message, else its type.
    pub(super) fn kind(&self, node: NodeId) -> &'static str {
        let traits = self.session.traits(node);
        let role = self.session.role_name(node).filter(|_| traits.kind == Kind::Message);
        role.or(traits.kind.name()).unwrap_or("?")
    }
}
