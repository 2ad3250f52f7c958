//! Migrates files in place: the outcome of each, and what is refused before any file is changed.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::{CURRENT, MigrationNeed, UnfinishedLine, copy, need};
use crate::core::disk;
use crate::core::disk::backup::Backup;
use crate::core::disk::write::{self, Place, SideEffects, WriteOptions};
use crate::core::error::foreign::ForeignFormat;
use crate::core::error::header::HeaderFault;
use crate::core::error::{Error, Result};
use crate::core::read::source::{FileState, Source, is_named_gzip};
use crate::core::words::listed;

/// How often a file is tried that others change at the same time.
const ATTEMPTS: usize = 3;

listed! {
    /// The outcome of a file in one word.
    MigrationStatus,
    /// Returns the stable name.
    name: &'static str {
        /// its new form is in its place
        Migrated = "migrated",
        /// it was of the current version already
        Current = "current",
        /// it is of an old version, and nothing was to be changed
        WouldMigrate = "would-migrate",
        /// its version is newer than any known; not touched
        Newer = "newer",
        /// it is not a session; not touched
        NotASession = "not-a-session",
        /// it could not be done; not touched
        Failed = "failed",
    }
}

/// The outcome of a file.
#[derive(Debug)]
pub struct MigratedFile {
    /// The version that it had; `None` if it could not be read.
    pub from: Option<u32>,
    /// The version that it has, or would have.
    pub to: Option<u32>,
    /// The outcome in one word.
    pub status: MigrationStatus,
    /// The reason why it could not be migrated.
    pub error: Option<Error>,
    /// The copy of the old file, if one is kept.
    pub backup: Option<PathBuf>,
    /// What else the write did.
    pub effects: SideEffects,
}

/// How files are migrated.
#[derive(Clone, Copy)]
pub struct MigrationOptions<'a> {
    /// Whether to change nothing.
    pub only_report: bool,
    /// The suffix of the copies of the old files, if they are kept.
    pub backup: Option<&'a str>,
    /// How to behave towards others.
    pub writing: WriteOptions<'a>,
}

impl MigrationStatus {
    /// Returns how the number of such files is told.
    pub fn words(self) -> &'static str {
        match self {
            Self::Migrated => "migrated",
            Self::Current => "already of version 3",
            Self::WouldMigrate => "to be migrated",
            Self::Newer => "of a newer version",
            Self::NotASession => "not a session",
            Self::Failed => "failed",
        }
    }
}

impl MigratedFile {
    /// Returns the outcome of a file if nothing is changed.
    pub fn of(need: MigrationNeed) -> Self {
        let (from, to, status) = match need {
            MigrationNeed::Migrate(version) => (version, CURRENT, MigrationStatus::WouldMigrate),
            MigrationNeed::Nothing => (CURRENT, CURRENT, MigrationStatus::Current),
            MigrationNeed::Newer(version) => (version, version, MigrationStatus::Newer),
        };
        Self { from: Some(from), to: Some(to), status, error: None, backup: None, effects: SideEffects::default() }
    }

    /// Returns the signal that kept the file from being migrated, if one did.
    pub fn signal(&self) -> Option<i32> {
        match self.error {
            Some(Error::Interrupted { signal }) => Some(signal),
            _ => None,
        }
    }

    /// Returns the format of the file if that is another one.
    pub fn foreign(&self) -> Option<ForeignFormat> {
        match self.error {
            Some(Error::Foreign(format)) => Some(format),
            _ => None,
        }
    }

    fn failed(from: Option<u32>, error: Error) -> Self {
        // A session whose header is damaged is one all the same.
        let is_session = match &error {
            Error::NotASession { fault, .. } => *fault == HeaderFault::Damaged,
            Error::Foreign(_) | Error::Empty => false,
            _ => true,
        };
        let status = if is_session { MigrationStatus::Failed } else { MigrationStatus::NotASession };
        Self { from, to: from, status, error: Some(error), backup: None, effects: SideEffects::default() }
    }
}

/// Migrates a file in place, as [`copy`] does. What `watch` makes of the opened file lives as long as
/// it is read.
pub fn migrate<G>(path: &Path, options: &MigrationOptions<'_>, watch: &dyn Fn(&Source) -> G) -> MigratedFile {
    let (mut from, mut keeps_backup) = (None, false);
    let mut done = once(path, options, watch, &mut from, &mut keeps_backup);
    for _ in 1..ATTEMPTS {
        // A backup that is the only copy of what the file was would be in the way of another one.
        if keeps_backup || !matches!(done, Err(Error::Changed { .. })) {
            break;
        }
        // Perhaps another run, or another name of the same file, has just migrated it.
        done = once(path, options, watch, &mut from, &mut keeps_backup);
    }
    done.unwrap_or_else(|error| MigratedFile::failed(from, error))
}

fn once<G>(
    path: &Path,
    options: &MigrationOptions<'_>,
    watch: &dyn Fn(&Source) -> G,
    from: &mut Option<u32>,
    keeps_backup: &mut bool,
) -> Result<MigratedFile> {
    let MigrationOptions { only_report, backup, writing } = *options;
    writing.wait.check()?;
    let is_other = fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir());
    if is_other || path == Path::new("-") {
        return Err(no_file());
    }
    if !only_report {
        disk::clear_left_over(path);
    }
    let source = Source::open(path)?;
    if is_named_gzip(path) && source.is_gzip() {
        return Err(Error::Compressed);
    }
    let _watched = watch(&source);
    let outcome = MigratedFile::of(need(&source)?);
    *from = outcome.from;
    if outcome.status != MigrationStatus::WouldMigrate {
        return Ok(outcome);
    }
    if only_report {
        copy(&source, UnfinishedLine::Refuse, &mut io::sink())?;
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        backup.map_or(Ok(false), |suffix| Backup::is_made(&source, &with_suffix(&real, suffix)))?;
        return Ok(outcome);
    }
    let stat = source.state().ok_or_else(no_file)?;
    let place = Place::new(path, stat)?;
    let make = |suffix| Backup::make(&place, &source, with_suffix(place.path(), suffix), writing.wait);
    let backup = backup.map(make).transpose().map_err(|error| {
        // Who migrated the file meanwhile has made a backup too.
        let is_there = fs::metadata(place.path()).is_ok_and(|meta| FileState::of(&meta) == stat);
        if is_there { error } else { Error::Changed { line: None } }
    })?;
    let has_backup = || backup.as_ref().is_none_or(Backup::is_there);
    let fill = &mut |out: &mut dyn Write| copy(&source, UnfinishedLine::Refuse, out);
    let replaced = write::replace(&place, writing, true, &has_backup, fill);
    let kept = backup.as_ref().map(|backup| backup.beside(path));
    if let (Err(_), Some(backup)) = (&replaced, backup) {
        *keeps_backup = backup.discard(place.path());
    }
    Ok(MigratedFile { status: MigrationStatus::Migrated, backup: kept, effects: replaced?, ..outcome })
}

/// Writes a file as version 3, an unfinished last line too; one that is not of an old version as it is.
///
/// # Errors
/// As [`copy`].
pub fn form(source: &Source, need: MigrationNeed, out: &mut dyn Write) -> Result<()> {
    match need {
        MigrationNeed::Migrate(_) => copy(source, UnfinishedLine::Copy, out),
        MigrationNeed::Nothing | MigrationNeed::Newer(_) => source.copy_to(out),
    }
}

fn no_file() -> Error {
    Error::Usage { message: "cannot migrate in place what is not a file".to_owned(), hint: "use `--output`".to_owned() }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Refuses suffixes of backups that lead elsewhere, or that an agent takes for backups of its own.
///
/// # Errors
/// [`Error::Usage`].
pub fn check_suffix(suffix: &str) -> Result<()> {
    let refused = |message: &str, hint: &str| Err(Error::Usage { message: message.to_owned(), hint: hint.to_owned() });
    let stem = suffix.strip_suffix(".bak").and_then(|stem| stem.rsplit_once('.'));
    let is_agents =
        stem.is_some_and(|(_, digits)| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()));
    if suffix.is_empty() || suffix.contains(['/', '\0']) {
        return refused("a backup suffix is not empty and has no `/`", "`--backup=.orig` is usual");
    }
    if is_agents {
        let message = "omp takes files that end in `.<digits>.bak` for backups of its own";
        return refused(message, "use another suffix, such as `.orig`");
    }
    Ok(())
}

/// Refuses a folder that holds much more than sessions, such as the home folder: every old session
/// of the machine would be rewritten.
///
/// # Errors
/// [`Error::Usage`].
pub fn refuse_everything(path: &Path, home: Option<&Path>) -> Result<()> {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (folder, home) = (real(path), home.map(real));
    if !is_everything(&folder, home.as_deref()) {
        return Ok(());
    }
    let what = if home.as_ref() == Some(&folder) { "your home folder" } else { "a folder of much more than sessions" };
    let name = if path == folder { String::new() } else { format!(", `{}`", folder.display()) };
    let message = format!("cannot migrate all of `{}`: it is {what}{name}", path.display());
    let hint = "name the sessions' folder, such as `~/.pi/agent/sessions` or `~/.omp/agent/sessions`".to_owned();
    Err(Error::Usage { message, hint })
}

/// Returns whether a folder, its links followed, is one that no command should change all sessions
/// of: the root, the home folder and those above it, and the folders of all homes.
fn is_everything(folder: &Path, home: Option<&Path>) -> bool {
    let is_homes = ["/", "/home", "/Users"].iter().any(|homes| folder == Path::new(homes));
    is_homes || home.is_some_and(|home| home.starts_with(folder))
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::time::Duration;

    use tempfile::TempDir;

    use super::{
        Error, MigratedFile, MigrationOptions, MigrationStatus, Source, WriteOptions, check_suffix, is_everything,
        migrate,
    };
    use crate::core::disk::lock::LockWait;

    const OLD: &str =
        "{\"type\":\"session\",\"version\":2,\"id\":\"s\"}\n{\"type\":\"custom\",\"id\":\"a\",\"parentId\":null}\n";

    /// An old session in a folder of its own.
    struct Scene(TempDir);

    impl Scene {
        fn new() -> Self {
            let scene = Self(tempfile::tempdir().unwrap());
            scene.write("s.jsonl", OLD);
            scene
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().join(name)
        }

        /// Writes a file as others do, by a rename.
        fn write(&self, name: &str, text: &str) {
            fs::write(self.path("new"), text).unwrap();
            fs::rename(self.path("new"), self.path(name)).unwrap();
        }

        fn read(&self, name: &str) -> String {
            fs::read_to_string(self.path(name)).unwrap_or_default()
        }

        /// Migrates the session with a backup. `opened` is called when it is opened, `turn` now and then.
        fn migrate(&self, opened: impl Fn(), turn: impl Fn() + Sync) -> MigratedFile {
            let stop = || {
                turn();
                None
            };
            let wait = LockWait { timeout: Duration::ZERO, now: &|| 0, stop: &stop };
            let writing = WriteOptions { wait, force: false };
            let options = MigrationOptions { only_report: false, backup: Some(".orig"), writing };
            migrate(&self.path("s.jsonl"), &options, &|_: &Source| opened())
        }
    }

    fn new() -> String {
        OLD.replace("\"version\":2", "\"version\":3")
    }

    fn is_current(outcome: &MigratedFile) -> bool {
        (outcome.from, outcome.to, outcome.status) == (Some(3), Some(3), MigrationStatus::Current)
            && outcome.error.is_none()
    }

    #[test]
    fn an_old_file_is_replaced_and_its_backup_has_its_bytes() {
        let scene = Scene::new();
        let outcome = scene.migrate(|| {}, || {});
        assert_eq!((outcome.from, outcome.to, outcome.status), (Some(2), Some(3), MigrationStatus::Migrated));
        assert_eq!(outcome.backup, Some(scene.path("s.jsonl.orig")));
        assert_eq!((scene.read("s.jsonl"), &scene.read("s.jsonl.orig")[..]), (new(), OLD));
        assert!(is_current(&scene.migrate(|| {}, || {})));
    }

    #[test]
    fn a_file_that_another_run_migrates_meanwhile_is_current() {
        // The other run is done when this one has opened the file; its backup has been edited since, or not.
        for backup in [OLD, "edited"] {
            let scene = Scene::new();
            let is_done = Cell::new(false);
            let other = || {
                if !is_done.replace(true) {
                    scene.write("s.jsonl.orig", backup);
                    scene.write("s.jsonl", &new());
                }
            };
            let outcome = scene.migrate(other, || {});
            assert!(is_current(&outcome), "{outcome:?}");
            assert_eq!((scene.read("s.jsonl"), &scene.read("s.jsonl.orig")[..]), (new(), backup));
        }
    }

    #[test]
    fn a_backup_that_another_run_makes_meanwhile_is_taken_as_made() {
        let scene = Scene::new();
        // While the copy is written under its hidden name, the other run puts its own in place.
        let is_writing = || {
            let mut names = fs::read_dir(scene.0.path()).unwrap().map(|entry| entry.unwrap().file_name());
            names.any(|name| name.to_string_lossy().ends_with(".tmp"))
        };
        let turn = || {
            if is_writing() && !scene.path("s.jsonl.orig").exists() {
                scene.write("s.jsonl.orig", OLD);
            }
        };
        let outcome = scene.migrate(|| {}, turn);
        assert_eq!(outcome.status, MigrationStatus::Migrated, "{outcome:?}");
        assert_eq!((scene.read("s.jsonl"), &scene.read("s.jsonl.orig")[..]), (new(), OLD));
    }

    #[test]
    fn another_file_in_place_of_the_backup_is_kept() {
        let scene = Scene::new();
        scene.write("s.jsonl.orig", "mine");
        let outcome = scene.migrate(|| {}, || {});
        assert_eq!((outcome.from, outcome.to, outcome.status), (Some(2), Some(2), MigrationStatus::Failed));
        assert!(matches!(outcome.error, Some(Error::Exists { .. })), "{outcome:?}");
        assert_eq!((&scene.read("s.jsonl")[..], &scene.read("s.jsonl.orig")[..]), (OLD, "mine"));
    }

    #[test]
    fn a_file_that_always_changes_is_left_in_the_end() {
        let scene = Scene::new();
        let count = Cell::new(0);
        let write = || {
            count.set(count.get() + 1);
            scene.write("s.jsonl", OLD);
        };
        let outcome = scene.migrate(write, || {});
        assert!(matches!(outcome.error, Some(Error::Changed { .. })), "{outcome:?}");
        assert_eq!(
            (outcome.status, count.get(), scene.path("s.jsonl.orig").exists()),
            (MigrationStatus::Failed, 3, false)
        );
        scene.write("s.jsonl", "text\n");
        assert_eq!(scene.migrate(|| {}, || {}).status, MigrationStatus::NotASession);
        // Its header was one.
        scene.write("s.jsonl", "{\"type\":\"session\",\"id\":\n");
        assert_eq!(scene.migrate(|| {}, || {}).status, MigrationStatus::Failed);
    }

    #[test]
    fn suffixes_that_lead_elsewhere_or_are_an_agent_s_are_refused() {
        for (suffix, expected) in [
            (".orig", true),
            (".bak", true),
            ("~", true),
            (".1a.bak", true),
            ("", false),
            ("/x", false),
            (".a/b", false),
            ("\0", false),
            (".1.bak", false),
            (".x.1700000000.bak", false),
        ] {
            assert_eq!(check_suffix(suffix).is_ok(), expected, "{suffix:?}");
        }
    }

    #[test]
    fn folders_of_more_than_sessions_are_told() {
        let check = |folder: &str, home: Option<&str>, expected: bool| {
            assert_eq!(is_everything(Path::new(folder), home.map(Path::new)), expected, "{folder} of {home:?}");
        };
        for (folder, expected) in [
            ("/", true),
            ("/home", true),
            ("/Users", true),
            ("/home/mia", true),
            ("/home/mia/.pi", false),
            ("/home/mi", false),
            ("/home/tom", false),
            ("/srv", false),
        ] {
            check(folder, Some("/home/mia"), expected);
        }
        check("/srv", Some("/srv/people/mia"), true);
        check("/srv/people", Some("/srv/people/mia"), true);
        check("/home", None, true);
        check("/srv", None, false);
    }
}
