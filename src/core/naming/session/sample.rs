//! Folders of sessions for unit tests.

use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{Duration, UNIX_EPOCH};

use tempfile::TempDir;

use super::find::{Asker, CurrentSession, Meaning};
use super::place::Places;
use super::store::SessionStore;
use super::stored::StoredSession;

/// Folders of sessions; each file has a time of its own.
pub(crate) struct StoreFolder(TempDir);

/// Returns a session with an entry.
pub(crate) fn session(id: &str, cwd: &str) -> String {
    let header = format!("{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"cwd\":\"{cwd}\"}}");
    format!("{header}\n{{\"type\":\"custom\",\"id\":\"aaaa1111\",\"parentId\":null}}\n")
}

impl StoreFolder {
    /// Writes sessions, each given by its file, its id and its working folder, the last one last.
    pub(crate) fn new(sessions: &[(&str, &str, &str)]) -> Self {
        let folders = Self(tempfile::tempdir().unwrap());
        for (at, (file, id, cwd)) in (1..).zip(sessions) {
            let cwd = folders.path(cwd).display().to_string();
            folders.file(file, &session(id, &cwd), at);
        }
        folders
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    pub(crate) fn file(&self, name: &str, text: &str, second: u64) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        let file = File::options().append(true).open(&path).unwrap();
        file.set_modified(UNIX_EPOCH + Duration::from_secs(second)).unwrap();
    }

    pub(crate) fn store(&self) -> SessionStore {
        SessionStore::new(&Places {
            folders: vec![self.path("pi"), self.path("omp")],
            archives: vec![self.path("archive")],
            registries: vec![self.path("registry")],
        })
    }

    /// Returns the paths of sessions, relative to the folders.
    pub(crate) fn names(&self, kept: &[StoredSession]) -> String {
        let root = self.path("");
        let name = |kept: &StoredSession| kept.path.strip_prefix(&root).unwrap().display().to_string();
        kept.iter().map(name).collect::<Vec<_>>().join(" ")
    }

    /// Returns what a word means in a folder; ids that come near it after `near:`.
    pub(crate) fn meaning(&self, word: &str, cwd: &str) -> String {
        self.meaning_for(word, cwd, &CurrentSession::default(), false)
    }

    pub(crate) fn meaning_for(&self, word: &str, cwd: &str, current: &CurrentSession, writes: bool) -> String {
        match self.store().find(word, &Asker { cwd: &self.path(cwd), current, writes }) {
            Meaning::Current(file) => format!("file {}", file.display()),
            Meaning::NotCurrent => "not current".to_owned(),
            Meaning::UnknownCurrent(id) => format!("unknown {id}"),
            Meaning::One(kept) => self.names(&[kept]),
            Meaning::Many(found) => self.names(&found),
            Meaning::None(near) => format!("near: {}", near.join(" ")),
            Meaning::Elsewhere(kept) => format!("else {}", self.names(&[kept])),
            Meaning::Nowhere => "nowhere".to_owned(),
        }
    }

    #[track_caller]
    pub(crate) fn check(&self, cases: &[(&str, &str)]) {
        for (word, expected) in cases {
            assert_eq!(self.meaning(word, "shop"), *expected, "{word}");
        }
    }
}
