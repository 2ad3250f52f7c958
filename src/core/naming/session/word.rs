//! What SESSION can be: a path, a word with a meaning, or an id.

use std::fs;
use std::path::{Path, PathBuf};

use crate::core::naming::files::is_session_name;

/// The word that means the newest session of a folder.
pub(crate) const LATEST: &str = "latest";
/// The word that means the session whose agent runs the command.
pub(crate) const CURRENT: &str = "current";

/// Returns whether a word can only be a path: it exists, looks like a path, or is `-`.
pub(crate) fn is_path(word: &Path) -> bool {
    let bytes = word.as_os_str().as_encoded_bytes();
    let looks_so = bytes == b"-" || bytes.contains(&b'/') || is_session_name(word);
    // A dangling link exists too: opening it fails with the reason.
    looks_so || word.to_str().is_none() || fs::symlink_metadata(word).is_ok()
}

/// Returns the file that was meant by a word that names none, if only the ending of a session is missing.
pub(crate) fn with_ending(word: &Path) -> Option<PathBuf> {
    let mut endings = ["jsonl", "jsonl.gz"].iter().map(|ending| word.with_added_extension(ending));
    endings.find(|path| path.is_file())
}

/// Returns whether an id can be typed: one that is read as a path, or as another name, cannot.
pub(super) fn is_name(id: &str) -> bool {
    !id.is_empty() && id != LATEST && id != CURRENT && !is_path(Path::new(id))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{is_path, with_ending};
    use crate::core::naming::session::sample::StoreFolder;

    #[test]
    fn a_file_is_meant_by_its_name_without_the_ending() {
        let folders =
            StoreFolder::new(&[("demo.jsonl", "a", "x"), ("old.jsonl.gz", "b", "x"), ("two.jsonl", "c", "x")]);
        folders.file("two.jsonl.gz", "", 1);
        fs::create_dir(folders.path("folder.jsonl")).unwrap();
        for (word, expected) in [
            ("demo", Some("demo.jsonl")),
            ("old", Some("old.jsonl.gz")),
            ("two", Some("two.jsonl")),
            ("folder", None),
            ("dem", None),
            ("demo.jsonl", None),
        ] {
            assert_eq!(with_ending(&folders.path(word)), expected.map(|name| folders.path(name)), "{word}");
        }
    }

    #[test]
    fn a_word_that_exists_or_looks_like_a_path_is_a_path() {
        let folders = StoreFolder::new(&[("latest", "aaaa1111", "shop")]);
        fs::create_dir(folders.path("01a2")).unwrap();
        std::os::unix::fs::symlink("nowhere", folders.path("01a3")).unwrap();
        for name in ["latest", "01a2", "01a3"] {
            assert!(is_path(&folders.path(name)), "{name}");
        }
        for (word, expected) in [
            ("-", true),
            ("./latest", true),
            ("x/01a2", true),
            ("01a2.jsonl", true),
            ("01a2.jsonl.gz", true),
            ("01a2.gz", false),
            ("01a2", false),
            ("latest", false),
        ] {
            assert_eq!(is_path(Path::new(word)), expected, "{word}");
        }
    }
}
