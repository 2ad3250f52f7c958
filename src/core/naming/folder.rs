//! Whether a folder that a session names is one that somebody works in, or one above it, in all the ways in
//! which one folder is spelled (help naming, "Sessions").

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use unicode_normalization::UnicodeNormalization;

/// A working folder and the folders above it.
pub(crate) struct FolderAndAbove {
    /// How many steps up each of them is, by its spelling.
    steps: HashMap<String, usize>,
    /// The answers so far: many sessions name the same few folders, and each costs a system call.
    known: HashMap<String, Option<usize>>,
}

impl FolderAndAbove {
    /// Takes a working folder as it is named, and as it is called without links.
    pub(crate) fn new(cwd: &Path) -> Self {
        let mut steps = HashMap::new();
        for folder in [Some(cwd.to_owned()), fs::canonicalize(cwd).ok()].into_iter().flatten() {
            for (at, folder) in folder.ancestors().enumerate() {
                let Some(spelling) = spelling(&folder.to_string_lossy()) else { continue };
                // A folder that is reached in two ways is as near as the nearer one.
                let known = steps.entry(spelling).or_insert(at);
                *known = at.min(*known);
            }
        }
        Self { steps, known: HashMap::new() }
    }

    /// Returns how many steps up a folder is that a session names: 0 for the working folder itself; `None` if
    /// it is neither that nor above it.
    pub(crate) fn steps_up_to(&mut self, named: &str) -> Option<usize> {
        if let Some(&known) = self.known.get(named) {
            return known;
        }
        let up = spelling(named).and_then(|spelling| {
            let real = |path: PathBuf| self::spelling(&fs::canonicalize(path).ok()?.to_string_lossy());
            let by_name = self.steps.get(&spelling).copied();
            // By a link, or by the spelling of the other system.
            let by_link = || self.steps.get(&real(named.into()).or_else(|| real(spelling.into()))?).copied();
            by_name.or_else(by_link)
        });
        self.known.insert(named.to_owned(), up);
        up
    }
}

/// Returns the one spelling of all those of a folder: a drive of Windows as WSL mounts it, letters composed, no
/// slash at the end. `None` if the path is relative.
fn spelling(path: &str) -> Option<String> {
    let on_drive = |letter: u8, below: &str| {
        let below = below.replace('\\', "/");
        let below = below.trim_matches('/');
        let slash = if below.is_empty() { "" } else { "/" };
        format!("/mnt/{}{slash}{below}", char::from(letter.to_ascii_lowercase()))
    };
    let unix = |path: &str| match path.strip_prefix("/mnt").unwrap_or(path).as_bytes() {
        [b'/', letter] if letter.is_ascii_alphabetic() => on_drive(*letter, ""),
        [b'/', letter, b'/', ..] if letter.is_ascii_alphabetic() => {
            on_drive(*letter, path.strip_prefix("/mnt").unwrap_or(path).get(2..).unwrap_or_default())
        }
        _ => match path.trim_end_matches('/') {
            "" => "/".to_owned(),
            path => path.to_owned(),
        },
    };
    let spelled = match path.as_bytes() {
        [b'/', ..] => unix(path),
        [letter, b':'] if letter.is_ascii_alphabetic() => on_drive(*letter, ""),
        [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic() => on_drive(*letter, path.get(2..)?),
        _ => return None,
    };
    Some(spelled.nfc().collect())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::{FolderAndAbove, spelling};

    #[test]
    fn all_spellings_of_a_folder_are_one() {
        for (one, other) in [
            ("C:\\shop\\src", "/mnt/c/shop/src"),
            ("c:\\shop\\src\\", "/c/shop/src"),
            ("C:/shop/src", "/mnt/c/shop/src"),
            ("/mnt/C/shop", "/c/shop/"),
            ("C:", "/mnt/c"),
            ("C:\\", "/c"),
            ("D:/", "/mnt/d/"),
            ("/home/mia/", "/home/mia"),
            // Composed and decomposed.
            ("/home/caf\u{e9}", "/home/cafe\u{301}"),
            ("C:\\caf\u{e9}", "/mnt/c/cafe\u{301}"),
        ] {
            assert_eq!(spelling(one), spelling(other), "{one}");
        }
        for (one, other) in [
            ("/mnt/c/x", "/mnt/d/x"),
            ("/mnt/cc/x", "/cc/x"),
            ("/C/Shop", "/C/shop"),
            ("/a\\b", "/a/b"),
            ("/", "/mnt"),
            ("/home/caf\u{e9}", "/home/cafe"),
        ] {
            assert_ne!(spelling(one), spelling(other), "{one}");
        }
        for relative in ["", "shop", "./shop", "C:shop", "\\\\host\\share", "~"] {
            assert_eq!(spelling(relative), None, "{relative}");
        }
        assert_eq!(spelling("/").as_deref(), Some("/"));
    }

    #[test]
    fn folders_above_are_as_many_steps_away_as_they_are_up() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let at = |name: &str| root.join(name);
        fs::create_dir_all(at("shop/src/cart")).unwrap();
        symlink(at("shop/src"), at("link")).unwrap();
        symlink(at("shop"), at("market")).unwrap();
        for (cwd, named, expected) in [
            ("shop/src", "shop/src", Some(0)),
            ("shop/src", "shop/src/", Some(0)),
            ("shop/src", "shop", Some(1)),
            ("shop/src/cart", "shop", Some(2)),
            ("shop/src", "", Some(2)),
            ("shop/src", "shop/src/cart", None),
            ("shop/src", "sho", None),
            // By links, on either side.
            ("shop/src/cart", "link", Some(1)),
            ("link", "shop/src", Some(0)),
            ("link", "market", Some(1)),
            ("shop/src", "link", Some(0)),
            // A folder that is gone.
            ("gone/src", "gone", Some(1)),
        ] {
            let mut folder = FolderAndAbove::new(&at(cwd));
            let named = at(named).display().to_string();
            // Asked twice, it says the same.
            assert_eq!([(); 2].map(|()| folder.steps_up_to(&named)), [expected; 2], "{cwd} {named}");
        }
        assert_eq!(FolderAndAbove::new(&at("shop")).steps_up_to("shop"), None);
    }
}
