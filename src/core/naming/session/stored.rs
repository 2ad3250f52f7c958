//! What is known of a session in a folder of an agent, from its front and its name.

use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use crate::core::read::load::LoadOptions;
use crate::core::read::source::{Source, is_named_gzip};
use crate::core::session::Session;
use crate::core::session::body::Bodies;

/// A session in a folder of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredSession {
    pub path: PathBuf,
    /// When the file was last written to, in milliseconds since 1970.
    pub modified: i64,
    pub id: String,
    /// The working folder that its header names.
    pub cwd: Option<String>,
    /// Whether there is anything after its header.
    pub has_entries: bool,
    /// Whether its version is one that can be written.
    pub is_known_version: bool,
}

impl StoredSession {
    /// Returns whether one of its ids, in the header and in the name of the file, is as wanted.
    pub(super) fn has_id(&self, is_wanted: impl Fn(&str) -> bool) -> bool {
        is_wanted(&self.id) || id_in_name(&self.path).is_some_and(is_wanted)
    }

    /// Returns whether it can be written to, as far as its name, rights and version say.
    pub(super) fn is_writable(&self) -> bool {
        self.is_known_version && !is_named_gzip(&self.path) && access(&self.path, Access::WRITE_OK).is_ok()
    }
}

/// Returns the id in the name of a file as agents make it, `TIME_ID.jsonl`.
fn id_in_name(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    let stem = name.strip_suffix(".gz").unwrap_or(name).strip_suffix(".jsonl")?;
    let (time, id) = stem.split_once('_')?;
    (time.starts_with(|char: char| char.is_ascii_digit()) && !id.is_empty()).then_some(id)
}

/// Returns the words by which people know a session: its name, else its first prompt. Reads the
/// whole file; empty if there are none or it cannot be read.
pub(crate) fn title(path: &Path, jobs: usize) -> String {
    let session = Source::session(path).and_then(|source| Session::load(source, LoadOptions::INDEX_ONLY, jobs));
    session.and_then(|session| Bodies::new(&session).title()).unwrap_or_default()
}
