//! From PATH, as it is typed, to files: itself, or those in a folder.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use crate::core::error::Error;
use crate::core::error::foreign::ForeignFormat;
use crate::core::read::source::FileState;
use crate::core::words::counted;

/// A file to work on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// Where it is.
    pub path: PathBuf,
    /// Whether it was named, not found in a folder.
    pub is_named: bool,
    /// Its length, time and identity; `None` if it is not a file, or cannot be looked at.
    pub state: Option<FileState>,
}

impl Named {
    /// Returns a file that is named.
    pub(crate) fn at(path: &Path) -> Self {
        let meta = fs::metadata(path).ok().filter(Metadata::is_file);
        Self { path: path.to_owned(), is_named: true, state: meta.as_ref().map(FileState::of) }
    }

    /// Returns the length in bytes; 0 if it is not known.
    pub(crate) fn len(&self) -> u64 {
        self.state.map_or(0, |state| state.len)
    }
}

/// The files that a search of folders looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Searched {
    /// `*.jsonl`
    Plain,
    /// Also those that are compressed, `*.jsonl.gz`.
    Packed,
}

/// The files of other formats in searched folders: not named, so only counted.
#[derive(Debug, Default)]
pub(crate) struct PassedOver {
    counts: BTreeMap<&'static str, usize>,
    first: Option<PathBuf>,
}

/// What a format without a name is called.
pub(crate) const UNKNOWN: &str = "unknown";

impl PassedOver {
    /// Adds a file.
    pub(crate) fn add(&mut self, path: &Path, format: ForeignFormat) {
        self.add_as(path, format.name());
    }

    /// Adds a file that cannot be read because it is of another kind than sessions; returns whether it is. A
    /// session that is damaged is not.
    pub(crate) fn takes(&mut self, path: &Path, error: &Error) -> bool {
        match error {
            Error::Foreign(format) => self.add(path, *format),
            Error::Empty => self.add_as(path, "empty"),
            Error::NotASession { fault, .. } if !fault.is_of_session() => {
                self.add_as(path, UNKNOWN);
            }
            _ => return false,
        }
        true
    }

    /// Adds a file that is not a session; `kind` is the name of its format, `empty` or [`UNKNOWN`].
    pub(crate) fn add_as(&mut self, path: &Path, kind: &'static str) {
        *self.counts.entry(kind).or_default() += 1;
        self.first.get_or_insert_with(|| path.to_owned());
    }

    /// Returns what to warn of, if there are any.
    pub(crate) fn message(&self) -> Option<String> {
        let first = self.first.as_ref()?;
        let files = counted(self.counts.values().sum::<usize>(), "file", "files");
        let formats = self.counts.iter().map(|(format, count)| format!("{count} {format}"));
        let formats = formats.collect::<Vec<_>>().join(", ");
        Some(format!("{files} of other formats passed over ({formats}); the first is `{}`", first.display()))
    }
}

/// Returns the files of paths, in their order; those of a folder by name. All commands that take many files
/// find them here, so that they work on the same ones in the same order.
pub(crate) fn find(paths: Vec<PathBuf>, searched: Searched) -> Vec<Named> {
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            let (found, unreadable) = search(&path, searched);
            files.extend(found);
            let unread = |found: PathBuf| Named { is_named: found == path, path: found, state: None };
            files.extend(unreadable.into_iter().map(unread));
        } else {
            files.push(Named::at(&path));
        }
    }
    files
}

/// Returns whether a file is named as sessions are, `*.jsonl`, or as compressed ones, `*.jsonl.gz`.
pub(crate) fn is_session_name(path: &Path) -> bool {
    let name = path.as_os_str().as_encoded_bytes();
    name.ends_with(b".jsonl") || name.ends_with(b".jsonl.gz")
}

/// Returns for each file whether none before it is the same one under another name.
pub(crate) fn are_first(files: &[Named]) -> Vec<bool> {
    let mut seen = HashSet::new();
    files.iter().map(|file| file.path.canonicalize().map_or(true, |path| seen.insert(path))).collect()
}

/// Returns each file once, under its first name, and as named if one of its names is.
pub(crate) fn once(files: Vec<Named>) -> Vec<Named> {
    let mut places = HashMap::new();
    let mut kept: Vec<Named> = Vec::with_capacity(files.len());
    for file in files {
        let next = kept.len();
        match file.path.canonicalize().map_or(next, |path| *places.entry(path).or_insert(next)) {
            first if first < next => kept[first].is_named |= file.is_named,
            _ => kept.push(file),
        }
    }
    kept
}

/// Searches a folder for session files, by their names and no hidden ones; links to files, not to folders.
/// What cannot be looked at comes apart.
fn search(folder: &Path, searched: Searched) -> (Vec<Named>, Vec<PathBuf>) {
    let is_searched = |path: &Path| match searched {
        Searched::Plain => path.extension().is_some_and(|ending| ending == "jsonl"),
        Searched::Packed => is_session_name(path),
    };
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
            } else if is_searched(&path) {
                match fs::metadata(&path) {
                    Ok(meta) if meta.is_file() => {
                        found.push(Named { path, is_named: false, state: Some(FileState::of(&meta)) });
                    }
                    // Links are followed; folders that they lead to, links to nothing, and pipes hold no session.
                    Ok(_) => {}
                    Err(cause) if cause.kind() == io::ErrorKind::NotFound => {}
                    // A folder that can be listed, but not looked into: opening the file will say why.
                    Err(_) => unreadable.push(path),
                }
            }
        }
    }
    found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    (found, unreadable)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::{Searched, are_first, find, once};

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
        let files = find(vec![at("gone"), at("d/notes.txt"), at("d")], Searched::Plain);
        let found: Vec<_> = files
            .iter()
            .map(|file| (file.path.strip_prefix(folder.path()).unwrap().to_str().unwrap(), file.is_named))
            .collect();
        let named = [("gone", true), ("d/notes.txt", true)];
        let in_folder = ["d/a.jsonl", "d/b/x.jsonl", "d/c.jsonl", "d/link.jsonl"].map(|name| (name, false));
        assert_eq!(found, [&named[..], &in_folder].concat());
        assert_eq!(are_first(&files), [true, true, true, true, true, false]);
        assert_eq!(
            files.iter().map(|file| file.state.is_some()).collect::<Vec<_>>(),
            [false, true, true, true, true, true]
        );
        // Found in a folder and named too, it is named.
        let kept: Vec<_> = once(find(vec![at("d"), at("d/link.jsonl")], Searched::Plain));
        let kept: Vec<_> = kept.iter().map(|file| (file.path.file_name().unwrap(), file.is_named)).collect();
        assert_eq!(kept, [("a.jsonl".as_ref(), true), ("x.jsonl".as_ref(), false), ("c.jsonl".as_ref(), false)]);
        fs::write(at("d/b/p.jsonl.gz"), "packed").unwrap();
        let more = find(vec![at("d")], Searched::Packed);
        let packed: Vec<_> = more.iter().filter(|file| file.len() > 0).map(|file| &file.path).collect();
        assert_eq!((more.len(), packed), (5, vec![&at("d/b/p.jsonl.gz")]));
    }
}
