//! From what a person types as SESSION to a file that an agent stores (help naming, "Sessions").
//!
//! The places to look in and the working folder come in from outside. Only the start of each file is
//! read; the id in its header names it, and so does the one in its name.

use std::cell::RefCell;
use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind::{NotFound, PermissionDenied};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use super::entry::{NearMisses, PREFIX};
use super::files::{PassedOver, is_session_name};
use super::folder::FolderAndAbove;
use crate::core::entry::header::{CURRENT as NEWEST_KNOWN, DeclaredVersion, Header};
use crate::core::error::Error;
use crate::core::error::foreign::ForeignFormat;
use crate::core::read::load::{self, LoadOptions, SessionStart};
use crate::core::read::source::{FIRST_LINE, Source, is_named_gzip};
use crate::core::session::Session;
use crate::core::session::body::Bodies;

/// The word that means the newest session of a folder.
pub(crate) const LATEST: &str = "latest";
/// The word that means the session whose agent runs the command.
pub(crate) const CURRENT: &str = "current";

/// How many bytes of a file are read to find its header: first a few, which mostly are enough, then
/// more. A file without the start of a header in these is not a session.
const FRONTS: [u64; 2] = [8 * 1024, 1028 * 1024];
/// How many bytes are read to find the end of a longer header: as long as the first line of a session may be.
const LONGEST_HEADER: u64 = FIRST_LINE;
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
fn registered(registry: &Path) -> Vec<PathBuf> {
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

/// What the environment says of the session whose agent runs the command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CurrentSession {
    pub file: Option<PathBuf>,
    pub id: Option<String>,
}

/// Who asks for a session, and what for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Asker<'a> {
    /// The working folder.
    pub cwd: &'a Path,
    pub current: &'a CurrentSession,
    /// Whether the command writes into the session: then what cannot be written to is passed over.
    pub writes: bool,
}

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

/// The sessions that an id, or the start of one, means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    One(StoredSession),
    /// The file that the environment names; it need not exist.
    Current(PathBuf),
    /// Several, the newest first.
    Many(Vec<StoredSession>),
    /// No session has such an id; ids that come near it, best first.
    None(Vec<String>),
    /// The current folder has no session that could be the latest; the newest of all others.
    Elsewhere(StoredSession),
    /// There are no sessions that name a folder.
    Nowhere,
    /// No agent that says so runs the command.
    NotCurrent,
    /// No session has the id that the environment names.
    UnknownCurrent(String),
}

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
fn is_name(id: &str) -> bool {
    !id.is_empty() && id != LATEST && id != CURRENT && !is_path(Path::new(id))
}

/// Returns the id in the name of a file as agents make it, `TIME_ID.jsonl`.
fn id_in_name(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    let stem = name.strip_suffix(".gz").unwrap_or(name).strip_suffix(".jsonl")?;
    let (time, id) = stem.split_once('_')?;
    (time.starts_with(|char: char| char.is_ascii_digit()) && !id.is_empty()).then_some(id)
}

impl StoredSession {
    /// Returns whether one of its ids, in the header and in the name of the file, is as wanted.
    fn has_id(&self, is_wanted: impl Fn(&str) -> bool) -> bool {
        is_wanted(&self.id) || id_in_name(&self.path).is_some_and(is_wanted)
    }

    /// Returns whether it can be written to, as far as its name, rights and version say.
    fn is_writable(&self) -> bool {
        self.is_known_version && !is_named_gzip(&self.path) && access(&self.path, Access::WRITE_OK).is_ok()
    }
}

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

impl SessionStore {
    /// Lists the files `*.jsonl` and `*.jsonl.gz` in folders and in the folders in them, one for each working
    /// folder; those of archives, at any depth; and those that registries name. Hidden names are skipped, and
    /// folders that belong to a session and have its name are left for later.
    pub(crate) fn new(places: &Places) -> Self {
        let mut store = Self { folders: places.folders.clone(), ..Self::default() };
        for folder in &places.folders {
            let Some(below) = store.add(folder) else {
                let is_missing = fs::metadata(folder).is_err_and(|error| error.kind() == NotFound);
                let group = if is_missing { &mut store.missing } else { &mut store.unreadable };
                group.push(folder.clone());
                continue;
            };
            // One that was deleted in the meantime is not a failure. Below are folders of sessions alone.
            below.iter().for_each(|folder| drop(store.add(folder)));
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

    /// Adds the files of one folder, and returns the folders in it that belong to no session; `None` if it
    /// cannot be read.
    fn add(&mut self, folder: &Path) -> Option<Vec<PathBuf>> {
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
        let (of_sessions, mut below): (Vec<_>, Vec<_>) =
            below.into_iter().partition(|folder| is_file(folder, "jsonl") || is_file(folder, "jsonl.gz"));
        self.inner.extend(of_sessions);
        below.sort_unstable();
        Some(below)
    }

    /// Adds a file, unless it is known or cannot be read.
    fn add_file(&mut self, path: PathBuf, meta: &fs::Metadata) {
        if !meta.is_file() || !self.known.insert((meta.dev(), meta.ino())) {
            return;
        }
        if access(&path, Access::READ_OK).is_err() {
            self.closed.push(path);
            return;
        }
        let modified = meta.mtime().saturating_mul(1000).saturating_add(meta.mtime_nsec() / 1_000_000);
        self.files.push((modified, path));
    }

    /// Adds the files of a folder and of all folders below it.
    fn add_all_below(&mut self, folder: PathBuf) {
        let mut folders = vec![folder];
        let mut seen = HashSet::new();
        while let Some(folder) = folders.pop() {
            // Links may lead round in a circle.
            let is_new = fs::metadata(&folder).is_ok_and(|meta| seen.insert((meta.dev(), meta.ino())));
            if is_new {
                folders.extend(self.add(&folder).unwrap_or_default());
                folders.append(&mut self.inner);
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
    fn sessions(&self) -> impl Iterator<Item = StoredSession> + '_ {
        self.files.iter().filter_map(|file| self.read(file))
    }

    /// Reads the start of a file; `None` if it is not a session.
    fn read(&self, &(modified, ref path): &(i64, PathBuf)) -> Option<StoredSession> {
        let read = header(path);
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

    /// Finds what a word means to somebody.
    pub(crate) fn find(&mut self, word: &str, asker: &Asker<'_>) -> Meaning {
        match word {
            CURRENT => match (&asker.current.file, &asker.current.id) {
                (Some(file), _) => Meaning::Current(file.clone()),
                (None, Some(id)) => match self.by_id(id, usize::MAX, asker.writes) {
                    Meaning::None(_) => Meaning::UnknownCurrent(id.clone()),
                    meaning => meaning,
                },
                (None, None) => Meaning::NotCurrent,
            },
            _ if self.files.is_empty() => Meaning::Nowhere,
            LATEST => match self.latest(asker.cwd, asker.writes) {
                // What cannot be written to is found all the same, so that the error says why.
                Meaning::Elsewhere(_) | Meaning::Nowhere if asker.writes => self.latest(asker.cwd, false),
                meaning => meaning,
            },
            id => self.by_id(id, PREFIX, asker.writes),
        }
    }

    /// Finds the sessions with an id, or else those whose ids start with `name`, if it has at least `least`
    /// characters. Those of subagents are looked at only if there is no other.
    fn by_id(&mut self, name: &str, least: usize, writes: bool) -> Meaning {
        let meaning = self.listed_by_id(name, least, writes);
        if !matches!(meaning, Meaning::None(_)) || self.inner.is_empty() {
            return meaning;
        }
        let mut subagents = Self { known: std::mem::take(&mut self.known), ..Self::default() };
        std::mem::take(&mut self.inner).into_iter().for_each(|folder| subagents.add_all_below(folder));
        subagents.files.sort_unstable_by(|a, b| b.cmp(a));
        self.closed.append(&mut subagents.closed);
        match subagents.listed_by_id(name, least, writes) {
            Meaning::None(_) => meaning,
            found => found,
        }
    }

    fn listed_by_id(&self, name: &str, least: usize, writes: bool) -> Meaning {
        let can_be_start = name.chars().count() >= least;
        let mut near = NearMisses::new(name);
        let (mut whole, mut started) = (Vec::new(), Vec::new());
        // Copies have the same id.
        let mut known = HashSet::new();
        for kept in self.sessions() {
            if kept.has_id(|id| id == name) {
                whole.push(kept);
            } else if can_be_start && kept.has_id(|id| id.starts_with(name)) {
                started.push(kept);
            } else if !known.contains(&kept.id) && is_name(&kept.id) {
                near.add_id(&kept.id);
                known.insert(kept.id);
            }
        }
        // A whole id comes before the start of another one, and a file before what it was unpacked from.
        let mut found = if whole.is_empty() { started } else { whole };
        if writes && found.iter().any(StoredSession::is_writable) {
            found.retain(StoredSession::is_writable);
        }
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

    /// Finds the session that was last written to, of a working folder, else of the nearest folder above it
    /// that has one.
    fn latest(&self, cwd: &Path, writes: bool) -> Meaning {
        let mut folder = FolderAndAbove::new(cwd);
        let (mut above, mut elsewhere) = (None, None);
        let files = self.files.iter().filter(|(_, path)| !is_named_gzip(path));
        for kept in files.filter_map(|file| self.read(file)) {
            let Some(named) = &kept.cwd else { continue };
            if !kept.has_entries || (writes && !kept.is_writable()) {
                continue;
            }
            match folder.steps_up_to(named) {
                Some(0) => return Meaning::One(kept),
                Some(steps) if above.as_ref().is_none_or(|(nearest, _)| steps < *nearest) => {
                    above = Some((steps, kept));
                }
                Some(_) => {}
                None => _ = elsewhere.get_or_insert(kept),
            }
        }
        match (above, elsewhere) {
            (Some((_, kept)), _) => Meaning::One(kept),
            (None, Some(kept)) => Meaning::Elsewhere(kept),
            (None, None) => Meaning::Nowhere,
        }
    }
}

/// Reads the header of a file, and whether anything follows it.
///
/// # Errors
/// The format, if it is of a known other one; `None` for other files that are not sessions.
fn header(path: &Path) -> Result<(Header, bool), Option<ForeignFormat>> {
    let (source, start) = front(path).map_err(|error| error.format())?;
    let follows = |source: &Source| {
        let mut rest = vec![0; usize::try_from(source.len().saturating_sub(start.end)).unwrap_or(0)];
        source.read_at(&mut rest, start.end).is_ok() && !rest.trim_ascii().is_empty()
    };
    let [.., longest] = FRONTS;
    let has_entries = follows(&source)
        // What follows may be beyond what was read.
        || FRONTS.contains(&source.len())
            && Source::front(path, longest).is_ok_and(|source| source.len() == longest || follows(&source));
    Ok((start.header, has_entries))
}

/// Opens a file as if it ended soon after its header, and reads what is before the entries.
///
/// # Errors
/// Why it is not a session, or cannot be read.
pub(crate) fn front(path: &Path) -> Result<(Source, SessionStart), Error> {
    front_of(&|limit| Source::front(path, limit))
}

/// Reads what is before the entries of what `open` opens up to a limit.
///
/// # Errors
/// As [`front`].
pub(crate) fn front_of(open: &dyn Fn(u64) -> Result<Source, Error>) -> Result<(Source, SessionStart), Error> {
    let (mut last, mut is_cut) = (Error::Empty, false);
    for limit in FRONTS {
        let source = open(limit)?;
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
        is_cut = !is_certain && source.len() == limit && ends_in_object(&front);
        if is_certain || source.len() < limit {
            break;
        }
    }
    if is_cut { beyond(open) } else { Err(last) }
}

/// Reads a header whose line is longer than the fronts, and as much after it as the longest of them.
fn beyond(open: &dyn Fn(u64) -> Result<Source, Error>) -> Result<(Source, SessionStart), Error> {
    let source = open(LONGEST_HEADER)?;
    let start = load::start(&source).map_err(|error| match error {
        Error::NotASession { line, why: load::DAMAGED } if source.len() == LONGEST_HEADER => {
            Error::NotASession { line, why: load::TOO_LONG }
        }
        error => error,
    })?;
    let [.., longest] = FRONTS;
    Ok((open(start.end.saturating_add(longest))?, start))
}

/// Returns whether the last line has no end, and may be an object.
fn ends_in_object(front: &[u8]) -> bool {
    let start = memchr::memrchr(b'\n', front).map_or(0, |end| end + 1);
    front[start..].trim_ascii_start().starts_with(b"{")
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
    use std::os::unix::fs::PermissionsExt;
    use std::path::{Path, PathBuf};
    use std::time::{Duration, UNIX_EPOCH};

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use tempfile::TempDir;

    use super::{Asker, CurrentSession, Meaning, Places, SessionStore, StoredSession, is_path, with_ending};

    /// Folders of sessions; each file has a time of its own.
    struct StoreFolder(TempDir);

    /// Returns a session with an entry.
    fn session(id: &str, cwd: &str) -> String {
        let header = format!("{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"cwd\":\"{cwd}\"}}");
        format!("{header}\n{{\"type\":\"custom\",\"id\":\"aaaa1111\",\"parentId\":null}}\n")
    }

    impl StoreFolder {
        /// Writes sessions, each given by its file, its id and its working folder, the last one last.
        fn new(sessions: &[(&str, &str, &str)]) -> Self {
            let folders = Self(tempfile::tempdir().unwrap());
            for (at, (file, id, cwd)) in (1..).zip(sessions) {
                let cwd = folders.path(cwd).display().to_string();
                folders.file(file, &session(id, &cwd), at);
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
            SessionStore::new(&Places {
                folders: vec![self.path("pi"), self.path("omp")],
                archives: vec![self.path("archive")],
                registries: vec![self.path("registry")],
            })
        }

        /// Returns the paths of sessions, relative to the folders.
        fn names(&self, kept: &[StoredSession]) -> String {
            let root = self.path("");
            let name = |kept: &StoredSession| kept.path.strip_prefix(&root).unwrap().display().to_string();
            kept.iter().map(name).collect::<Vec<_>>().join(" ")
        }

        /// Returns what a word means in a folder; ids that come near it after `near:`.
        fn meaning(&self, word: &str, cwd: &str) -> String {
            self.meaning_for(word, cwd, &CurrentSession::default(), false)
        }

        fn meaning_for(&self, word: &str, cwd: &str, current: &CurrentSession, writes: bool) -> String {
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
            // The id in the name of a file, which a header of another one follows.
            ("zzzz9999", "pi/--shop--/2026_zzzz9999.jsonl"),
            ("zzzz", "pi/--shop--/2026_zzzz9999.jsonl"),
            ("2026_zzzz9999", "near: "),
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
    fn the_latest_session_is_the_last_written_of_the_folder() {
        let folders = StoreFolder::new(&[
            ("pi/w/old.jsonl", "aaaa1111", "shop"),
            ("omp/w/new.jsonl", "aaaa2222", "shop"),
            ("omp/w/other.jsonl", "aaaa3333", "shop/below"),
            ("pi/w/lost.jsonl", "aaaa5555", "gone"),
        ]);
        let homeless = "{\"type\":\"session\",\"id\":\"x\"}\n{\"type\":\"custom\"}\n";
        folders.file("omp/w/homeless.jsonl", homeless, 6000);
        folders.file("omp/w/damaged.jsonl", "no session\n", 7000);
        fs::create_dir(folders.path("shop")).unwrap();
        std::os::unix::fs::symlink(folders.path("shop"), folders.path("link")).unwrap();
        for (cwd, expected) in [
            ("shop", "omp/w/new.jsonl"),
            ("shop/below", "omp/w/other.jsonl"),
            // Of the nearest folder above that has one.
            ("shop/src", "omp/w/new.jsonl"),
            ("shop/below/deep/er", "omp/w/other.jsonl"),
            ("gone/src", "pi/w/lost.jsonl"),
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
    fn a_session_without_entries_is_not_the_latest() {
        let folders = StoreFolder::new(&[("pi/w/old.jsonl", "aaaa1111", "shop")]);
        let session = session("aaaa2222", folders.path("shop").to_str().unwrap());
        let (header, entries) = session.split_once('\n').unwrap();
        let slot = format!("{{\"type\":\"title\",\"title\":\"x\",\"pad\":\"{}\"}}\n", " ".repeat(200));
        // How it goes on after the header, and whether it is the latest.
        for (text, is_latest) in [
            (header.to_owned(), false),
            (format!("{header}\n"), false),
            (format!("{slot}{header}\n"), false),
            (format!("{header}\n \r\n\n"), false),
            (format!("{header}\n{entries}"), true),
            (format!("{header}\n{{\"type\":\"mess"), true),
            (format!("{header}{}\n", " ".repeat(5000)), false),
            (format!("{header}\n{}", "\n".repeat(5000)), false),
            (format!("{header}\n{}{entries}", "\n".repeat(5000)), true),
        ] {
            folders.file("pi/w/new.jsonl", &text, 100);
            let expected = if is_latest { "pi/w/new.jsonl" } else { "pi/w/old.jsonl" };
            assert_eq!(folders.meaning("latest", "shop"), expected, "{text}");
            // It has an id all the same.
            assert_eq!(folders.meaning("aaaa2222", "shop"), "pi/w/new.jsonl", "{text}");
        }
    }

    #[test]
    fn the_current_session_is_that_of_the_environment() {
        let folders =
            StoreFolder::new(&[("pi/w/one.jsonl", "aaaa1111", "shop"), ("pi/w/two.jsonl", "aaaa2222", "shop")]);
        let file = || Some("/elsewhere/s.jsonl".into());
        let id = |id: &str| Some(id.to_owned());
        for (file, id, expected) in [
            (file(), id("aaaa1111"), "file /elsewhere/s.jsonl"),
            (file(), None, "file /elsewhere/s.jsonl"),
            (None, id("aaaa1111"), "pi/w/one.jsonl"),
            (None, id("zzzz1111"), "unknown zzzz1111"),
            // It is the whole id.
            (None, id("aaaa111"), "unknown aaaa111"),
            (None, id("aaaa"), "unknown aaaa"),
            (None, None, "not current"),
        ] {
            let current = CurrentSession { file, id };
            assert_eq!(folders.meaning_for("current", "shop", &current, false), expected, "{current:?}");
        }
    }

    #[test]
    fn what_cannot_be_written_to_is_passed_over_for_writing() {
        let folders = StoreFolder::new(&[
            ("pi/w/own.jsonl", "aaaa1111", "shop"),
            ("pi/w/copy.jsonl", "aaaa1111", "shop"),
            ("pi/w/alone.jsonl", "bbbb1111", "store"),
        ]);
        let newer =
            session("aaaa1111", folders.path("shop").to_str().unwrap()).replace("\"version\":3", "\"version\":4");
        folders.file("pi/w/newer.jsonl", &newer, 100);
        folders.file("pi/w/future.jsonl", &newer.replace("/shop\"", "/future\"").replace("aaaa1111", "cccc1111"), 100);
        let close =
            |name: &str, mode| fs::set_permissions(folders.path(name), fs::Permissions::from_mode(mode)).unwrap();
        close("pi/w/copy.jsonl", 0o444);
        close("pi/w/alone.jsonl", 0o444);
        let none = CurrentSession::default();
        let all = "pi/w/newer.jsonl pi/w/copy.jsonl pi/w/own.jsonl";
        // The superuser may write anywhere.
        let is_root = rustix::process::geteuid().is_root();
        let own = if is_root { "pi/w/copy.jsonl pi/w/own.jsonl" } else { "pi/w/own.jsonl" };
        for (word, cwd, reading, writing) in [
            ("aaaa1111", "shop", all, own),
            ("latest", "shop", "pi/w/newer.jsonl", own.split(' ').next().unwrap()),
            // If nothing else has the name, the error is to say why it cannot be written to.
            ("bbbb1111", "shop", "pi/w/alone.jsonl", "pi/w/alone.jsonl"),
            ("latest", "store", "pi/w/alone.jsonl", "pi/w/alone.jsonl"),
            ("latest", "future", "pi/w/future.jsonl", "pi/w/future.jsonl"),
        ] {
            let found = [false, true].map(|writes| folders.meaning_for(word, cwd, &none, writes));
            assert_eq!(found, [reading, writing], "{word} {cwd}");
        }
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
