//! From what a person types as SESSION to a file that an agent stores (help naming, "Sessions").
//!
//! The folders to look in and the working folder come in from outside. Only the start of each file is
//! read, and its header decides, not its name.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::ErrorKind::PermissionDenied;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use super::entry::{NearMisses, PREFIX};
use super::files::{PassedOver, is_session_name};
use crate::core::entry::header::Header;
use crate::core::error::Error;
use crate::core::error::foreign::ForeignFormat;
use crate::core::read::load::{self, LoadOptions, SessionStart};
use crate::core::read::source::{Source, is_named_gzip};
use crate::core::session::Session;
use crate::core::session::body::Bodies;

/// The word that means the newest session of a folder.
pub(crate) const LATEST: &str = "latest";

/// How many bytes of a file are read to find its header: first a few, which mostly are enough, then
/// more. A file without a header in these is not a session.
const FRONTS: [u64; 2] = [8 * 1024, 1024 * 1024];

/// A session in a folder of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredSession {
    pub path: PathBuf,
    /// When the file was last written to, in milliseconds since 1970.
    pub modified: i64,
    pub id: String,
    /// The working folder that its header names.
    pub cwd: Option<String>,
}

/// The sessions that an id, or the start of one, means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    One(StoredSession),
    /// Several, the newest first.
    Many(Vec<StoredSession>),
    /// No session has such an id; ids that come near it, best first.
    None(Vec<String>),
    /// The current folder has no session that could be the latest; the newest of all others.
    Elsewhere(StoredSession),
    /// There are no sessions that name a folder.
    Nowhere,
}

/// Returns whether a word can only be a path: it exists, looks like a path, or is `-`.
pub(crate) fn is_path(word: &Path) -> bool {
    let bytes = word.as_os_str().as_encoded_bytes();
    let looks_so = bytes == b"-" || bytes.contains(&b'/') || is_session_name(word);
    // A dangling link exists too: opening it fails with the reason.
    looks_so || word.to_str().is_none() || fs::symlink_metadata(word).is_ok()
}

/// Returns whether an id can be typed: one that is read as a path, or as `latest`, cannot.
fn is_name(id: &str) -> bool {
    !id.is_empty() && id != LATEST && !is_path(Path::new(id))
}

/// The files in the folders where agents store sessions, the last written first.
#[derive(Default)]
pub(crate) struct SessionStore {
    /// When each was last written to, in milliseconds since 1970, and where it is.
    files: Vec<(i64, PathBuf)>,
    /// The folders that were looked at.
    pub folders: Vec<PathBuf>,
    /// The folders that could not be read, mostly because they do not exist.
    pub unreadable: Vec<PathBuf>,
    /// Folders and files for which permission was denied: sessions in them are not found.
    pub closed: Vec<PathBuf>,
    /// The files of other formats among those that were read.
    pub passed_over: RefCell<PassedOver>,
}

impl SessionStore {
    /// Lists the files `*.jsonl` and `*.jsonl.gz` in folders and in the folders in them, one for each working folder. Hidden
    /// names are skipped, and so are the folders that belong to a session and have its name.
    pub(crate) fn new(folders: &[PathBuf]) -> Self {
        let mut store = Self { folders: folders.to_vec(), ..Self::default() };
        // A file with several names, or in a folder that is given twice, is one session.
        let mut known = HashSet::new();
        for folder in folders {
            let Some(below) = store.add(folder, &mut known) else {
                store.unreadable.push(folder.clone());
                continue;
            };
            // One that was deleted in the meantime is not a failure.
            below.iter().for_each(|folder| drop(store.add(folder, &mut known)));
        }
        store.files.sort_unstable_by(|a, b| b.cmp(a));
        store
    }

    /// Adds the files of one folder, and returns the folders in it; `None` if it cannot be read.
    fn add(&mut self, folder: &Path, known: &mut HashSet<(u64, u64)>) -> Option<Vec<PathBuf>> {
        let mut below = Vec::new();
        let entries = fs::read_dir(folder).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
        for entry in self.opened(folder, entries)? {
            let path = entry.path();
            let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
            let meta = if is_hidden { None } else { self.opened(&path, fs::metadata(&path)) };
            let Some(meta) = meta else { continue };
            if meta.is_dir() {
                below.push(path);
            } else if meta.is_file() && is_session_name(&path) && known.insert((meta.dev(), meta.ino())) {
                if access(&path, Access::READ_OK).is_err() {
                    self.closed.push(path);
                    continue;
                }
                let modified = meta.mtime().saturating_mul(1000).saturating_add(meta.mtime_nsec() / 1_000_000);
                self.files.push((modified, path));
            }
        }
        let is_file = |folder: &Path, ending| folder.with_added_extension(ending).is_file();
        below.retain(|folder| !is_file(folder, "jsonl") && !is_file(folder, "jsonl.gz"));
        below.sort_unstable();
        Some(below)
    }

    /// Returns what was found at a path; if permission was denied, the path is noted as closed.
    fn opened<T>(&mut self, path: &Path, found: std::io::Result<T>) -> Option<T> {
        let is_closed = found.as_ref().is_err_and(|error| error.kind() == PermissionDenied);
        self.closed.extend(is_closed.then(|| path.to_owned()));
        found.ok()
    }

    /// Returns the sessions, the last written first; the start of each file is read when its turn comes.
    fn sessions(&self) -> impl Iterator<Item = StoredSession> + '_ {
        self.files.iter().filter_map(|file| self.read(file))
    }

    /// Reads the start of a file; `None` if it is not a session.
    fn read(&self, &(modified, ref path): &(i64, PathBuf)) -> Option<StoredSession> {
        let read = header(path);
        if let Err(Some(format)) = read {
            self.passed_over.borrow_mut().add(path, format);
        }
        let Header { id, cwd, .. } = read.ok()?;
        Some(StoredSession { path: path.clone(), modified, id, cwd })
    }

    /// Returns at most `most` sessions whose ids start with `start`, the last written first.
    pub(crate) fn newest(&self, start: &str, most: usize) -> Vec<StoredSession> {
        self.sessions().filter(|kept| kept.id.starts_with(start) && is_name(&kept.id)).take(most).collect()
    }

    /// Finds what a word means to somebody who works in `cwd`.
    pub(crate) fn find(&self, word: &str, cwd: &Path) -> Meaning {
        match word {
            _ if self.files.is_empty() => Meaning::Nowhere,
            LATEST => self.latest(cwd),
            id => self.by_id(id),
        }
    }

    /// Finds the sessions with an id, or else those whose ids start with `name`, if it has at least 4
    /// characters.
    fn by_id(&self, name: &str) -> Meaning {
        let can_be_start = name.chars().count() >= PREFIX;
        let mut near = NearMisses::new(name);
        let (mut whole, mut started) = (Vec::new(), Vec::new());
        // Copies have the same id.
        let mut known = HashSet::new();
        for kept in self.sessions() {
            if kept.id == name {
                whole.push(kept);
            } else if can_be_start && kept.id.starts_with(name) {
                started.push(kept);
            } else if !known.contains(&kept.id) && is_name(&kept.id) {
                near.add_id(&kept.id);
                known.insert(kept.id);
            }
        }
        // A whole id comes before the start of another one, and a file before what it was unpacked from.
        let mut found = if whole.is_empty() { started } else { whole };
        let (packed, plain): (Vec<_>, Vec<_>) = found.iter().partition(|kept| is_named_gzip(&kept.path));
        if !packed.is_empty() && !plain.is_empty() {
            let ids: HashSet<String> = plain.iter().map(|kept| kept.id.clone()).collect();
            found.retain(|kept| !is_named_gzip(&kept.path) || !ids.contains(&kept.id));
        }
        match found.len() {
            0 => Meaning::None(near.names()),
            1 => Meaning::One(found.remove(0)),
            _ => Meaning::Many(found),
        }
    }

    /// Finds the session of a working folder that was last written to.
    fn latest(&self, cwd: &Path) -> Meaning {
        let real = fs::canonicalize(cwd).ok();
        // Many sessions name the same few folders, and each costs a system call.
        let mut is_here: HashMap<String, bool> = HashMap::new();
        let mut elsewhere = None;
        let files = self.files.iter().filter(|(_, path)| !is_named_gzip(path));
        for kept in files.filter_map(|file| self.read(file)) {
            let Some(named) = &kept.cwd else { continue };
            let is_here = *is_here.entry(named.clone()).or_insert_with(|| {
                let named = Path::new(named);
                let is_same = || real.is_some() && fs::canonicalize(named).ok() == real;
                named.is_absolute() && (named == cwd || is_same())
            });
            if is_here {
                return Meaning::One(kept);
            }
            elsewhere.get_or_insert(kept);
        }
        elsewhere.map_or(Meaning::Nowhere, Meaning::Elsewhere)
    }
}

/// Reads the header of a file.
///
/// # Errors
/// The format, if it is of a known other one; `None` for other files that are not sessions.
fn header(path: &Path) -> Result<Header, Option<ForeignFormat>> {
    front(path).map(|(_, start)| start.header).map_err(|error| error.format())
}

/// Opens a file as if it ended soon after its header, and reads what is before the entries.
///
/// # Errors
/// Why it is not a session, or cannot be read.
pub(crate) fn front(path: &Path) -> Result<(Source, SessionStart), Error> {
    let mut last = Error::Empty;
    for limit in FRONTS {
        let source = Source::front(path, limit)?;
        last = match load::start(&source) {
            Ok(start) => return Ok((source, start)),
            Err(error) => error,
        };
        let mut front = vec![0; usize::try_from(source.len()).unwrap_or(0)];
        source.read_at(&mut front, 0)?;
        let whole = memchr::memchr_iter(b'\n', &front).count();
        // The reader has seen the whole line: more of the file does not change the answer.
        let is_certain = match &last {
            Error::Foreign(_) => true,
            Error::NotASession { line, why } => *line as usize <= whole && *why != load::NO_HEADER,
            _ => false,
        };
        if is_certain || source.len() < limit {
            break;
        }
    }
    Err(last)
}

/// Returns the words by which people know a session: its name, else its first prompt. Reads the
/// whole file; empty if there are none or it cannot be read.
pub(crate) fn title(path: &Path, jobs: usize) -> String {
    let session = Source::session(path).and_then(|source| Session::load(source, LoadOptions::INDEX_ONLY, jobs));
    session.and_then(|session| Bodies::new(&session).title()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::Write;
    use std::path::{Path, PathBuf};
    use std::time::{Duration, UNIX_EPOCH};

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use tempfile::TempDir;

    use super::{Meaning, SessionStore, StoredSession, is_path};

    /// Folders of sessions; each file has a time of its own.
    struct StoreFolder(TempDir);

    impl StoreFolder {
        /// Writes sessions, each given by its file, its id and its working folder, the last one last.
        fn new(sessions: &[(&str, &str, &str)]) -> Self {
            let folders = Self(tempfile::tempdir().unwrap());
            for (at, (file, id, cwd)) in (1..).zip(sessions) {
                let cwd = folders.path(cwd).display().to_string();
                let header = format!("{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"cwd\":\"{cwd}\"}}\n");
                folders.file(file, &header, at);
            }
            folders
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().canonicalize().unwrap().join(name)
        }

        fn file(&self, name: &str, text: &str, second: u64) {
            let path = self.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            let file = File::options().append(true).open(&path).unwrap();
            file.set_modified(UNIX_EPOCH + Duration::from_secs(second)).unwrap();
        }

        fn store(&self) -> SessionStore {
            SessionStore::new(&[self.path("pi"), self.path("omp")])
        }

        /// Returns the paths of sessions, relative to the folders.
        fn names(&self, kept: &[StoredSession]) -> String {
            let root = self.path("");
            let name = |kept: &StoredSession| kept.path.strip_prefix(&root).unwrap().display().to_string();
            kept.iter().map(name).collect::<Vec<_>>().join(" ")
        }

        /// Returns what a word means in a folder; ids that come near it after `near:`.
        fn meaning(&self, word: &str, cwd: &str) -> String {
            match self.store().find(word, &self.path(cwd)) {
                Meaning::One(kept) => self.names(&[kept]),
                Meaning::Many(found) => self.names(&found),
                Meaning::None(near) => format!("near: {}", near.join(" ")),
                Meaning::Elsewhere(kept) => format!("else {}", self.names(&[kept])),
                Meaning::Nowhere => "nowhere".to_owned(),
            }
        }

        #[track_caller]
        fn check(&self, cases: &[(&str, &str)]) {
            for (word, expected) in cases {
                assert_eq!(self.meaning(word, "shop"), *expected, "{word}");
            }
        }
    }

    #[test]
    fn an_id_or_its_start_names_a_session() {
        let folders = StoreFolder::new(&[
            ("pi/--shop--/2026_zzzz9999.jsonl", "aaaa1111-0000", "shop"),
            ("omp/-shop/x.jsonl", "aaaa2222-0000", "shop"),
            ("omp/flat.jsonl", "s-1", "shop"),
            ("omp/whole.jsonl", "aaaa", "shop"),
            ("pi/w/copy.jsonl", "aaaa2222-0000", "shop"),
            ("pi/w/odd.jsonl", "latest", "shop"),
        ]);
        folders.check(&[
            ("aaaa1", "pi/--shop--/2026_zzzz9999.jsonl"),
            ("aaaa1111-0000", "pi/--shop--/2026_zzzz9999.jsonl"),
            // A whole id is not the start of another one, and has no fewest characters.
            ("aaaa", "omp/whole.jsonl"),
            ("s-1", "omp/flat.jsonl"),
            // The newest comes first.
            ("aaaa2222", "pi/w/copy.jsonl omp/-shop/x.jsonl"),
            ("aaaa2222-0000", "pi/w/copy.jsonl omp/-shop/x.jsonl"),
            // The header counts, not the name of the file.
            ("zzzz9999", "near: "),
            // A start has at least four characters; the id of copies is listed once.
            ("s-", "near: s-1"),
            ("aaba2222", "near: aaaa2222-0000"),
            ("AAAA11", "near: aaaa1111-0000"),
            // An id that cannot be typed is not a near miss.
            ("latesd", "near: "),
        ]);
    }

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
        assert_eq!(SessionStore::new(&[folders.path("gone")]).unreadable, [folders.path("gone")]);
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
        let store = folders.store();
        store.find("zzzz", &folders.path("shop"));
        let message = store.passed_over.borrow().message().unwrap();
        assert!(
            message.starts_with("1 file of other formats passed over (1 claude-code); the first is `"),
            "{message}"
        );
    }

    #[test]
    fn the_latest_session_is_the_last_written_of_the_folder() {
        let folders = StoreFolder::new(&[
            ("pi/w/old.jsonl", "aaaa1111", "shop"),
            ("omp/w/new.jsonl", "aaaa2222", "shop"),
            ("omp/w/other.jsonl", "aaaa3333", "shop/below"),
            ("pi/w/lost.jsonl", "aaaa5555", "gone"),
        ]);
        folders.file("omp/w/homeless.jsonl", "{\"type\":\"session\",\"id\":\"x\"}\n", 6000);
        folders.file("omp/w/damaged.jsonl", "no session\n", 7000);
        fs::create_dir(folders.path("shop")).unwrap();
        std::os::unix::fs::symlink(folders.path("shop"), folders.path("link")).unwrap();
        for (cwd, expected) in [
            ("shop", "omp/w/new.jsonl"),
            ("shop/below", "omp/w/other.jsonl"),
            // By a link.
            ("link", "omp/w/new.jsonl"),
            // A deleted folder still has its sessions.
            ("gone", "pi/w/lost.jsonl"),
            ("elsewhere", "else pi/w/lost.jsonl"),
        ] {
            assert_eq!(folders.meaning("latest", cwd), expected, "{cwd}");
        }
        for word in ["latest", "aaaa1111"] {
            assert_eq!(StoreFolder::new(&[]).meaning(word, "shop"), "nowhere");
        }
        // A file that is not a session is looked at, and has nothing near.
        let folders = StoreFolder::new(&[]);
        folders.file("pi/w/damaged.jsonl", "no session\n", 1);
        assert_eq!(
            (folders.meaning("latest", "shop"), folders.meaning("aaaa", "shop")),
            ("nowhere".into(), "near: ".into())
        );
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
