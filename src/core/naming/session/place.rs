//! Where agents keep sessions.

use std::fs;
use std::path::{Path, PathBuf};

/// The longest path that a file of a registry holds, in bytes.
const LONGEST_PATH: u64 = 68 * 1024;

/// Where sessions are looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Places {
    /// Folders of sessions, which have one folder below for each working folder, or none.
    pub folders: Vec<PathBuf>,
    /// Folders of compressed sessions, at any depth.
    pub archives: Vec<PathBuf>,
    /// Folders of files that each hold the path of a session.
    pub registries: Vec<PathBuf>,
}

impl Places {
    /// Returns the folders that there are, and the files that registries name.
    pub(crate) fn all(&self) -> Vec<PathBuf> {
        let folders = self.folders.iter().chain(&self.archives).filter(|folder| folder.is_dir()).cloned();
        folders.chain(self.registries.iter().flat_map(|registry| registered(registry))).collect()
    }
}

/// Returns the files that the files of a folder name, whatever these are called.
pub(super) fn registered(registry: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(registry).into_iter().flatten().filter_map(Result::ok);
    let mut entries: Vec<_> = entries.map(|entry| entry.path()).collect();
    entries.sort_unstable();
    let path = |entry: &PathBuf| {
        let is_short = fs::metadata(entry).is_ok_and(|meta| meta.is_file() && meta.len() <= LONGEST_PATH);
        let text = is_short.then(|| fs::read_to_string(entry).ok()).flatten()?;
        // What a registry names may be long gone.
        Some(PathBuf::from(text.trim())).filter(|path| path.is_absolute() && path.is_file())
    };
    entries.iter().filter_map(path).collect()
}
