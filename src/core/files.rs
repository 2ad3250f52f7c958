//! Which files a stretch of conversation touched (semantics: "Summaries").

use std::collections::BTreeSet;

use super::body::Bodies;
use super::entry::{BlockKind, Entry, Kind, Role};
use super::error::Result;
use super::json::{Object, Raw};
use super::session::NodeId;

/// Files by what was done with them, sorted. A file both read and modified counts as modified.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// Only read.
    pub read: BTreeSet<String>,
    /// Written or edited.
    pub modified: BTreeSet<String>,
}

impl Files {
    /// Collects the files of some entries.
    ///
    /// # Errors
    /// As [`Bodies::entry`].
    pub fn of(bodies: &mut Bodies<'_>, nodes: &[NodeId]) -> Result<Self> {
        let mut files = Self::default();
        for &node in nodes {
            let traits = bodies.session().traits(node);
            match (traits.kind, traits.role) {
                (Kind::Message, Role::Assistant) => files.add_calls(bodies.entry(node)?),
                (Kind::BranchSummary, _) => files.add_summary(bodies.entry(node)?),
                _ => {}
            }
        }
        files.read.retain(|path| !files.modified.contains(path));
        Ok(files)
    }

    fn add_calls(&mut self, entry: Entry<'_>) {
        for call in entry.blocks().filter(|block| block.kind() == BlockKind::ToolCall) {
            let Some(path) = call.arguments().and_then(|arguments| arguments.get_str("path")) else { continue };
            match call.name().as_deref() {
                Some("read") => drop(self.read.insert(path.into_owned())),
                Some("write" | "edit") => drop(self.modified.insert(path.into_owned())),
                _ => {}
            }
        }
    }

    /// Takes over what an earlier summary collected; what extensions put there is their own.
    fn add_summary(&mut self, entry: Entry<'_>) {
        let is = |name: &str| entry.get(name).is_some_and(Raw::is_true);
        if is("fromExtension") || is("fromHook") {
            return;
        }
        let details = entry.get("details");
        let list = |name: &str| details.and_then(|details| details.get(name));
        for (name, into) in [("readFiles", &mut self.read), ("modifiedFiles", &mut self.modified)] {
            let paths = list(name);
            let paths = paths.iter().flat_map(|paths| paths.elements());
            into.extend(paths.filter_map(|path| Some(path.str()?.into_owned())));
        }
    }

    /// Gives the `details` of a branch summary.
    pub fn json(&self) -> Vec<u8> {
        let mut out = Vec::new();
        Object::new(&mut out).strings("readFiles", &self.read).strings("modifiedFiles", &self.modified);
        out
    }
}
