//! From PATH, as it is typed, to files: itself, or those in a folder.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::core::error::foreign::ForeignFormat;
use crate::core::words::counted;

/// A file to work on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// Where it is.
    pub path: PathBuf,
    /// Whether it was named, not found in a folder.
    pub is_named: bool,
}

/// The files of other formats in searched folders: not named, so only counted.
#[derive(Debug, Default)]
pub(crate) struct PassedOver {
    counts: BTreeMap<ForeignFormat, usize>,
    first: Option<PathBuf>,
}

impl PassedOver {
    /// Adds a file.
    pub(crate) fn add(&mut self, path: &Path, format: ForeignFormat) {
        *self.counts.entry(format).or_default() += 1;
        self.first.get_or_insert_with(|| path.to_owned());
    }

    /// Returns what to warn of, if there are any.
    pub(crate) fn message(&self) -> Option<String> {
        let first = self.first.as_ref()?;
        let files = counted(self.counts.values().sum::<usize>(), "file", "files");
        let formats = self.counts.iter().map(|(format, count)| format!("{count} {}", format.name()));
        let formats = formats.collect::<Vec<_>>().join(", ");
        Some(format!("{files} of other formats passed over ({formats}); the first is `{}`", first.display()))
    }
}

/// Returns the files of paths, in their order; those of a folder by name.
pub(crate) fn find(paths: Vec<PathBuf>) -> Vec<Named> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            let (found, unreadable) = search(&path);
            files.extend(found.into_iter().map(|path| Named { path, is_named: false }));
            files.extend(unreadable.into_iter().map(|path| Named { path, is_named: true }));
        } else {
            files.push(Named { path, is_named: true });
        }
    }
    files
}

/// Returns for each file whether none before it is the same one under another name.
pub(crate) fn are_first(files: &[Named]) -> Vec<bool> {
    let mut seen = HashSet::new();
    files.iter().map(|file| file.path.canonicalize().map_or(true, |path| seen.insert(path))).collect()
}

/// Searches a folder for session files: `*.jsonl`, no hidden names; links to files, not to folders.
/// What cannot be looked at comes apart.
fn search(folder: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let (mut found, mut unreadable) = (Vec::new(), Vec::new());
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder).and_then(Iterator::collect::<std::io::Result<Vec<_>>>) else {
            // Opening it will say why; the others go on.
            unreadable.push(folder);
            continue;
        };
        for entry in entries {
            let name = entry.file_name();
            if name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "jsonl") {
                match fs::metadata(&path) {
                    Ok(meta) if meta.is_file() => found.push(path),
                    // Links are followed; folders that they lead to, links to nothing, and pipes hold no session.
                    Ok(_) => {}
                    Err(cause) if cause.kind() == io::ErrorKind::NotFound => {}
                    // A folder that can be listed, but not looked into: opening the file will say why.
                    Err(_) => unreadable.push(path),
                }
            }
        }
    }
    found.sort_unstable();
    (found, unreadable)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::{are_first, find};

    #[test]
    fn files_are_those_named_and_those_in_folders() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["d/b/x.jsonl", "d/a.jsonl", "d/c.jsonl", "d/.hidden.jsonl", "d/.git/y.jsonl", "d/notes.txt"] {
            fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            fs::write(at(name), "").unwrap();
        }
        fs::create_dir(at("d/folder.jsonl")).unwrap();
        symlink(at("d/a.jsonl"), at("d/link.jsonl")).unwrap();
        symlink(at("d"), at("d/b/loop.jsonl")).unwrap();
        symlink("gone", at("d/lost.jsonl")).unwrap();
        let files = find(vec![at("gone"), at("d/notes.txt"), at("d")]);
        let found: Vec<_> = files
            .iter()
            .map(|file| (file.path.strip_prefix(folder.path()).unwrap().to_str().unwrap(), file.is_named))
            .collect();
        let named = [("gone", true), ("d/notes.txt", true)];
        let in_folder = ["d/a.jsonl", "d/b/x.jsonl", "d/c.jsonl", "d/link.jsonl"].map(|name| (name, false));
        assert_eq!(found, [&named[..], &in_folder].concat());
        assert_eq!(are_first(&files), [true, true, true, true, true, false]);
    }
}
