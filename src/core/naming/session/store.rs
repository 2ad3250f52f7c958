//! The sessions that agents store: lists their files, and reads the front of each when its turn comes.

use std::cell::RefCell;
use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind::{NotFound, PermissionDenied};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use super::place::{Places, registered};
use super::stored::StoredSession;
use super::word::is_name;
use crate::core::entry::header::{CURRENT as NEWEST_KNOWN, DeclaredVersion, Header};
use crate::core::naming::files::{PassedOver, is_session_name};
use crate::core::read::front;
use crate::core::read::source::{FileState, is_named_gzip};

/// The files in the places where agents store sessions, the last written first.
#[derive(Default)]
pub(crate) struct SessionStore {
    /// When each was last written to, in milliseconds since 1970, and where it is.
    files: Vec<(i64, PathBuf)>,
    /// Folders that belong to a session: those of its subagents' sessions.
    inner: Vec<PathBuf>,
    /// The folders that were looked at.
    pub folders: Vec<PathBuf>,
    /// Those of them that do not exist.
    pub missing: Vec<PathBuf>,
    /// Those that could not be read for another reason.
    pub unreadable: Vec<PathBuf>,
    /// Folders and files for which permission was denied: sessions in them are not found.
    pub closed: Vec<PathBuf>,
    /// The files of other formats among those that were read.
    pub passed_over: RefCell<PassedOver>,
    /// Files that are known: one with several names, or in a folder that is given twice, is one session.
    known: HashSet<(u64, u64)>,
}

/// The folders in a folder, each kind by name.
struct FoldersBelow {
    /// Those that belong to a session, and have its name.
    of_sessions: Vec<PathBuf>,
    others: Vec<PathBuf>,
}

impl SessionStore {
    /// Lists the files `*.jsonl` and `*.jsonl.gz` in folders and in the folders in them, one for each working
    /// folder; those of archives, at any depth; and those that registries name. Hidden names are skipped, and
    /// folders that belong to a session and have its name are left for later.
    pub(crate) fn new(places: &Places) -> Self {
        let mut store = Self { folders: places.folders.clone(), ..Self::default() };
        for folder in &places.folders {
            let Some(found) = store.add(folder) else {
                let is_missing = fs::metadata(folder).is_err_and(|error| error.kind() == NotFound);
                let group = if is_missing { &mut store.missing } else { &mut store.unreadable };
                group.push(folder.clone());
                continue;
            };
            store.inner.extend(found.of_sessions);
            // One that was deleted in the meantime is not a failure. Below are folders of sessions alone.
            for folder in &found.others {
                let below = store.add(folder);
                store.inner.extend(below.into_iter().flat_map(|below| below.of_sessions));
            }
        }
        for path in places.registries.iter().flat_map(|registry| registered(registry)) {
            if let Ok(meta) = fs::metadata(&path) {
                store.add_file(path, &meta);
            }
        }
        places.archives.iter().for_each(|archive| store.add_all_below(archive.clone()));
        store.files.sort_unstable_by(|a, b| b.cmp(a));
        store
    }

    /// Adds the files of one folder, and returns the folders in it; `None` if it cannot be read.
    fn add(&mut self, folder: &Path) -> Option<FoldersBelow> {
        let mut below = Vec::new();
        let entries = fs::read_dir(folder).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
        for entry in self.opened(folder, entries)? {
            let path = entry.path();
            let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
            let meta = if is_hidden { None } else { self.opened(&path, fs::metadata(&path)) };
            let Some(meta) = meta else { continue };
            if meta.is_dir() {
                below.push(path);
            } else if is_session_name(&path) {
                self.add_file(path, &meta);
            }
        }
        let is_file = |folder: &Path, ending| folder.with_added_extension(ending).is_file();
        below.sort_unstable();
        let (of_sessions, others) =
            below.into_iter().partition(|folder| is_file(folder, "jsonl") || is_file(folder, "jsonl.gz"));
        Some(FoldersBelow { of_sessions, others })
    }

    /// Adds a file, unless it is known or cannot be read.
    fn add_file(&mut self, path: PathBuf, meta: &fs::Metadata) {
        let state = FileState::of(meta);
        if !meta.is_file() || !self.known.insert(state.identity()) {
            return;
        }
        if access(&path, Access::READ_OK).is_err() {
            self.closed.push(path);
            return;
        }
        self.files.push((state.written(), path));
    }

    /// Adds the files of a folder and of all folders below it.
    fn add_all_below(&mut self, folder: PathBuf) {
        let mut folders = vec![folder];
        let mut seen = HashSet::new();
        while let Some(folder) = folders.pop() {
            // Links may lead round in a circle.
            let is_new = fs::metadata(&folder).is_ok_and(|meta| seen.insert(FileState::of(&meta).identity()));
            if let Some(FoldersBelow { of_sessions, others }) = is_new.then(|| self.add(&folder)).flatten() {
                folders.extend(others.into_iter().chain(of_sessions));
            }
        }
    }

    /// Returns what was found at a path; if permission was denied, the path is noted as closed.
    fn opened<T>(&mut self, path: &Path, found: std::io::Result<T>) -> Option<T> {
        let is_closed = found.as_ref().is_err_and(|error| error.kind() == PermissionDenied);
        self.closed.extend(is_closed.then(|| path.to_owned()));
        found.ok()
    }

    /// Returns the sessions, the last written first; the start of each file is read when its turn comes.
    pub(super) fn sessions(&self) -> impl Iterator<Item = StoredSession> + '_ {
        self.files.iter().filter_map(|file| self.read(file))
    }

    /// Returns those that are not compressed.
    pub(super) fn plain_sessions(&self) -> impl Iterator<Item = StoredSession> + '_ {
        self.files.iter().filter(|(_, path)| !is_named_gzip(path)).filter_map(|file| self.read(file))
    }

    /// Returns whether no file was found.
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Returns the sessions of subagents, which are in folders that belong to a session, the first time.
    pub(super) fn take_subagents(&mut self) -> Self {
        let mut subagents = Self { known: std::mem::take(&mut self.known), ..Self::default() };
        std::mem::take(&mut self.inner).into_iter().for_each(|folder| subagents.add_all_below(folder));
        subagents.files.sort_unstable_by(|a, b| b.cmp(a));
        self.closed.append(&mut subagents.closed);
        subagents
    }

    /// Reads the start of a file; `None` if it is not a session.
    fn read(&self, &(modified, ref path): &(i64, PathBuf)) -> Option<StoredSession> {
        let read = front::header(path);
        if let Err(Some(format)) = read {
            self.passed_over.borrow_mut().add(path, format);
        }
        let (Header { id, cwd, version, .. }, has_entries) = read.ok()?;
        let is_known_version = !matches!(version, DeclaredVersion::Number(newer) if newer > NEWEST_KNOWN);
        Some(StoredSession { path: path.clone(), modified, id, cwd, has_entries, is_known_version })
    }

    /// Returns at most `most` sessions whose ids start with `start`, the last written first.
    pub(crate) fn newest(&self, start: &str, most: usize) -> Vec<StoredSession> {
        self.sessions().filter(|kept| kept.id.starts_with(start) && is_name(&kept.id)).take(most).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::SessionStore;
    use crate::core::naming::session::find::{Asker, CurrentSession};
    use crate::core::naming::session::place::Places;
    use crate::core::naming::session::sample::StoreFolder;

    #[test]
    fn only_session_files_at_most_one_folder_down_are_listed() {
        let folders = StoreFolder::new(&[
            ("pi/.hidden.jsonl", "aaaa1111", "shop"),
            ("pi/w/s.jsonl.bak", "aaaa2222", "shop"),
            ("pi/w/deep/er/s.jsonl", "aaaa3333", "shop"),
            ("pi/run.jsonl", "bbbb1111", "shop"),
            // A folder that belongs to a session.
            ("pi/run/0-explore.jsonl", "bbbb2222", "shop"),
            ("pi/w/odd.jsonl", "latest", "shop"),
            ("pi/w/path.jsonl", "a/b", "shop"),
        ]);
        folders.file("pi/w/empty.jsonl", "", 100);
        folders.file("pi/w/text.jsonl", "aaaa4444\n", 100);
        fs::create_dir(folders.path("pi/w/folder.jsonl")).unwrap();
        std::os::unix::fs::symlink(folders.path("pi/run.jsonl"), folders.path("pi/w/link.jsonl")).unwrap();
        std::os::unix::fs::symlink(folders.path("pi"), folders.path("omp")).unwrap();
        let store = folders.store();
        // Ids that would be read as a path, or as `latest`, are not returned.
        assert_eq!(store.newest("", 9).iter().map(|kept| &kept.id[..]).collect::<Vec<_>>(), ["bbbb1111"]);
        assert_eq!((store.newest("bbbb2", 9).len(), store.newest("", 0).len()), (0, 0));
        let places =
            Places { folders: ["gone", "pi/run.jsonl"].map(|name| folders.path(name)).to_vec(), ..Places::default() };
        let store = SessionStore::new(&places);
        assert_eq!((store.missing, store.unreadable), (vec![folders.path("gone")], vec![folders.path("pi/run.jsonl")]));
        // But the session of a subagent is found by its id.
        folders.check(&[("bbbb2222", "pi/run/0-explore.jsonl"), ("bbbb", "pi/run.jsonl"), ("aaaa3", "near: ")]);
    }

    #[test]
    fn a_long_header_after_a_title_is_found() {
        let folders = StoreFolder::new(&[]);
        let slot = format!(
            "{{\"type\":\"title\",\"v\":1,\"title\":\"x\",\"updatedAt\":\"\",\"pad\":\"{}\"}}\n",
            " ".repeat(200)
        );
        let header = format!("{{\"type\":\"session\",\"long\":\"{}\",\"id\":\"dddd4444\"}}\n", "x".repeat(100_000));
        folders.file("omp/w/long.jsonl", &(slot + &header), 1);
        folders.check(&[("dddd4444", "omp/w/long.jsonl")]);
    }

    #[test]
    fn compressed_sessions_are_found_by_id_and_other_formats_are_counted() {
        let folders = StoreFolder::new(&[("pi/w/plain.jsonl", "aaaa1111", "shop")]);
        let pack = |name: &str, of: &str| {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(&fs::read(folders.path(of)).unwrap()).unwrap();
            fs::write(folders.path(name), encoder.finish().unwrap()).unwrap();
        };
        pack("pi/w/plain.jsonl.gz", "pi/w/plain.jsonl");
        folders.file("pi/w/other.jsonl", "{\"type\":\"session\",\"id\":\"bbbb2222\"}\n", 1);
        pack("pi/w/packed.jsonl.gz", "pi/w/other.jsonl");
        fs::remove_file(folders.path("pi/w/other.jsonl")).unwrap();
        folders.file("pi/w/claude.jsonl", "{\"type\":\"summary\",\"leafUuid\":\"x\"}\n", 1);
        folders.check(&[
            ("bbbb", "pi/w/packed.jsonl.gz"),
            ("aaaa1111", "pi/w/plain.jsonl"),
            ("aaaa", "pi/w/plain.jsonl"),
            ("latest", "pi/w/plain.jsonl"),
        ]);
        let mut store = folders.store();
        let (cwd, current) = (folders.path("shop"), CurrentSession::default());
        store.find("zzzz", &Asker { cwd: &cwd, current: &current, writes: false });
        let message = store.passed_over.borrow().message().unwrap();
        assert!(
            message.starts_with("1 file of other formats passed over (1 claude-code); the first is `"),
            "{message}"
        );
    }

    #[test]
    fn archives_and_registries_are_looked_into() {
        let folders = StoreFolder::new(&[
            ("elsewhere/notes", "aaaa1111", "shop"),
            ("elsewhere/gone.jsonl", "aaaa2222", "shop"),
            ("pi/w/own.jsonl", "aaaa3333", "shop"),
            ("archive/--shop--/2025_bbbb1111.jsonl", "bbbb1111", "shop"),
            ("archive/--shop--/2025_bbbb1111/0-explore.jsonl", "bbbb2222", "shop"),
            ("archive/flat.jsonl", "bbbb3333", "shop"),
        ]);
        for name in ["--shop--/2025_bbbb1111.jsonl", "--shop--/2025_bbbb1111/0-explore.jsonl", "flat.jsonl"] {
            let path = folders.path(&format!("archive/{name}"));
            let mut encoder =
                GzEncoder::new(File::create(path.with_added_extension("gz")).unwrap(), Compression::default());
            encoder.write_all(&fs::read(&path).unwrap()).unwrap();
            encoder.finish().unwrap();
            fs::remove_file(&path).unwrap();
        }
        let at = |name: &str| folders.path(name).display().to_string();
        // A path that is noted, with and without a line end, twice, of nothing, and what is no path.
        for (name, text) in [
            ("1", at("elsewhere/notes") + "\n"),
            ("2", at("elsewhere/notes")),
            ("3", at("pi/w/own.jsonl")),
            ("4", at("elsewhere/lost.jsonl")),
            ("5", "elsewhere/gone.jsonl".to_owned()),
            ("6", String::new()),
            ("7", at("elsewhere")),
            ("8", "x".repeat(100_000)),
        ] {
            folders.file(&format!("registry/{name}"), &text, 1);
        }
        std::os::unix::fs::symlink(folders.path("archive"), folders.path("archive/loop")).unwrap();
        folders.check(&[
            ("aaaa1111", "elsewhere/notes"),
            ("aaaa2222", "near: "),
            ("bbbb1111", "archive/--shop--/2025_bbbb1111.jsonl.gz"),
            ("bbbb2222", "archive/--shop--/2025_bbbb1111/0-explore.jsonl.gz"),
            ("bbbb3333", "archive/flat.jsonl.gz"),
            // What is compressed is put away.
            ("latest", "pi/w/own.jsonl"),
        ]);
    }
}
