//! From SESSION, as it is typed, to a file: a path, an id, or `latest`.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::App;
use super::world;
use crate::core::error::ErrorKind;
use crate::core::naming;
use crate::core::naming::entry::PREFIX;
use crate::core::naming::session::{IdMatch, LATEST, Latest, SessionStore, StoredSession};
use crate::core::problem::WarningKind;
use crate::core::time;
use crate::ui::report::Failure;

/// How many sessions an error lists.
const LISTED: usize = 10;

/// Where sessions are looked for, and for whom.
struct Place {
    folders: Vec<PathBuf>,
    cwd: PathBuf,
    /// In milliseconds since 1970.
    now: i64,
    jobs: usize,
}

/// Gives the file that a word other than a path names; `None` for a path.
///
/// # Errors
/// A [`Failure`] if no session goes by that name, or several do.
pub(super) fn file(app: &App, word: &Path) -> Result<Option<PathBuf>> {
    let Some(name) = word.to_str().filter(|_| !naming::session::is_path(word)) else { return Ok(None) };
    let folders = world::session_folders(&|name| env::var_os(name));
    // Without a current folder no session is one of it.
    let place = Place { folders, cwd: env::current_dir().unwrap_or_default(), now: world::now(), jobs: app.jobs };
    let (found, closed) = place.find(name);
    if let [first, rest @ ..] = &closed[..] {
        let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
        let message = format!("no permission to read `{}`{more}: a session there was not looked at", first.display());
        app.report.warn(WarningKind::PassedOver, &message, None, None);
    }
    Ok(Some(found?))
}

impl Place {
    /// Finds the session, and tells what was not looked at.
    fn find(&self, name: &str) -> (Result<PathBuf>, Vec<PathBuf>) {
        let shelf = SessionStore::new(&self.folders);
        (self.find_in(&shelf, name), shelf.closed)
    }

    fn find_in(&self, shelf: &SessionStore, name: &str) -> Result<PathBuf> {
        let failure = if shelf.is_empty() {
            nothing(name, self.nowhere(shelf))
        } else if name == LATEST {
            match shelf.latest(&self.cwd) {
                Latest::Here(kept) => return Ok(kept.path),
                Latest::Elsewhere(kept) => {
                    let hint = format!("the newest elsewhere is {}", self.row(&kept, "of ", kept.cwd.as_deref()));
                    failure(ErrorKind::NotFound, format!("no session was held in `{}`", self.cwd.display()), hint)
                }
                Latest::Nowhere => nothing(name, self.nowhere(shelf)),
            }
        } else {
            match shelf.by_id(name) {
                IdMatch::One(kept) => return Ok(kept.path),
                IdMatch::Many(found) => self.ambiguous(name, &found),
                IdMatch::None(near) if near.is_empty() => nothing(name, HOW.to_owned()),
                IdMatch::None(near) if name.chars().count() < PREFIX => {
                    nothing(name, format!("give {PREFIX} or more characters of an id; near it: {}", near.join(", ")))
                }
                IdMatch::None(near) => nothing(name, format!("ids near it: {}", near.join(", "))),
            }
        };
        Err(failure.into())
    }

    /// Says where there are no sessions.
    fn nowhere(&self, shelf: &SessionStore) -> String {
        let (unread, read): (Vec<_>, Vec<_>) =
            self.folders.iter().partition(|folder| shelf.unreadable.contains(folder));
        let list = |folders: &[&PathBuf]| {
            let folders: Vec<_> = folders.iter().map(|folder| folder.display().to_string()).collect();
            folders.join(", ")
        };
        let what = match (&read[..], &unread[..]) {
            ([], []) => "there is no home folder to look for sessions in".to_owned(),
            (read, []) => format!("there are no sessions in {}", list(read)),
            ([], unread) => format!("cannot look into {}", list(unread)),
            (read, unread) => {
                format!("there are no sessions in {}, and one cannot look into {}", list(read), list(unread))
            }
        };
        format!("{what}: give a path, or set SESSION_TREE_DIR")
    }

    fn ambiguous(&self, name: &str, found: &[StoredSession]) -> Failure {
        let head = format!("`{name}` matches {} sessions:", found.len());
        let listed = found.iter().take(LISTED);
        let rows = listed
            .map(|kept| format!("  {}", self.row(kept, "", Some(&naming::session::title(&kept.path, self.jobs)))));
        let more = found.len().saturating_sub(LISTED);
        let more = (more > 0).then(|| format!("  and {more} more"));
        let lines: Vec<_> = std::iter::once(head).chain(rows).chain(more).collect();
        let is_copied = found.iter().all(|kept| kept.id == found[0].id);
        let hint = if is_copied { "they have one id: give a path" } else { "give more characters, or a path" };
        Failure { lines: lines.clone(), ..failure(ErrorKind::Ambiguous, lines.join("\n"), hint.to_owned()) }
    }

    /// Shows a session with what there is to say of it.
    fn row(&self, kept: &StoredSession, before: &str, what: Option<&str>) -> String {
        let what = what.filter(|what| !what.is_empty()).map(|what| format!("  {before}{what}")).unwrap_or_default();
        format!("{}  {}{what}", kept.path.display(), time::ago(self.now.saturating_sub(kept.modified)))
    }
}

/// How a session is named.
const HOW: &str = "a session is named by its path, by 4 or more characters of its id, or by `latest`";

fn nothing(name: &str, hint: String) -> Failure {
    failure(ErrorKind::NotFound, format!("`{name}` names no session, and there is no such file"), hint)
}

fn failure(kind: ErrorKind, message: String, hint: String) -> Failure {
    Failure::plain(kind, message, Some(hint))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::path::PathBuf;
    use std::time::{Duration, UNIX_EPOCH};

    use super::{ErrorKind, Failure, LISTED, Place};

    /// A home with the sessions of both agents, written to at a known time each.
    struct Scene(tempfile::TempDir);

    impl Scene {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.path().canonicalize().unwrap().join(name)
        }

        /// Makes a session of a folder below the scene, with a prompt.
        fn session(&self, file: &str, id: &str, cwd: &str, modified: u64) -> PathBuf {
            let cwd = self.path(cwd).display().to_string();
            let text = format!(
                "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"cwd\":\"{cwd}\"}}\n\
                 {{\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"message\":{{\"role\":\"user\",\"content\":\"prompt of {id}\"}}}}\n"
            );
            self.file(file, &text, modified)
        }

        fn file(&self, name: &str, text: &str, modified: u64) -> PathBuf {
            let path = self.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            let file = File::options().append(true).open(&path).unwrap();
            file.set_modified(UNIX_EPOCH + Duration::from_secs(modified)).unwrap();
            path
        }

        fn find_in(&self, cwd: &str, name: &str) -> anyhow::Result<PathBuf> {
            let folders = vec![self.path("pi"), self.path("omp")];
            Place { folders, cwd: self.path(cwd), now: 100_000_000, jobs: 1 }.find(name).0
        }

        fn find(&self, name: &str) -> anyhow::Result<PathBuf> {
            self.find_in("shop", name)
        }

        /// Gives kind, message and hint of a name that does not do.
        fn refuse(&self, cwd: &str, name: &str) -> (ErrorKind, String, String) {
            let failure: Failure = self.find_in(cwd, name).unwrap_err().downcast().unwrap();
            assert_eq!(failure.lines.join("\n"), failure.message);
            (failure.kind, failure.message, failure.hint.unwrap())
        }
    }

    #[test]
    fn an_id_and_its_start_name_a_session() {
        let scene = Scene::new();
        let one = scene.session("pi/--shop--/2026_aaaa1111.jsonl", "aaaa1111-0000", "shop", 1000);
        let two = scene.session("omp/-shop/x.jsonl", "aaaa2222-0000", "shop", 2000);
        let short = scene.session("omp/flat.jsonl", "s-1", "shop", 3000);
        for (name, path) in [("aaaa1", &one), ("aaaa1111-0000", &one), ("aaaa2222", &two), ("s-1", &short)] {
            assert_eq!(scene.find(name).unwrap(), *path, "{name}");
        }
        let (kind, message, _) = scene.refuse("shop", "aaa");
        assert_eq!((kind, &message[..]), (ErrorKind::NotFound, "`aaa` names no session, and there is no such file"));
        // A whole id is not the start of another one.
        let whole = scene.session("omp/whole.jsonl", "aaaa", "shop", 4000);
        assert_eq!(scene.find("aaaa").unwrap(), whole);
    }

    #[test]
    fn the_header_counts_not_the_name() {
        let scene = Scene::new();
        let path = scene.session("pi/w/2026-01-01T00-00-00-000Z_bbbb2222.jsonl", "cccc3333", "shop", 1000);
        assert_eq!(scene.find("cccc3333").unwrap(), path);
        assert_eq!(scene.refuse("shop", "bbbb2222").0, ErrorKind::NotFound);
        let slot = format!("{{\"type\":\"title\",\"title\":\"x\",\"pad\":\"{}\"}}\n", " ".repeat(200));
        let header = format!("{{\"type\":\"session\",\"long\":\"{}\",\"id\":\"dddd4444\"}}\n", "x".repeat(100_000));
        let long = scene.file("omp/w/long.jsonl", &(slot + &header), 1000);
        assert_eq!(scene.find("dddd4444").unwrap(), long);
    }

    #[test]
    fn what_is_no_session_of_its_own_is_passed_over() {
        let scene = Scene::new();
        scene.session("pi/.hidden.jsonl", "aaaa1111", "shop", 1000);
        scene.session("pi/w/s.jsonl.bak", "aaaa2222", "shop", 1000);
        scene.session("pi/w/deep/er/s.jsonl", "aaaa3333", "shop", 1000);
        scene.file("pi/w/empty.jsonl", "", 1000);
        scene.file("pi/w/text.jsonl", "aaaa4444\n", 1000);
        fs::create_dir(scene.path("pi/w/folder.jsonl")).unwrap();
        let own = scene.session("pi/run.jsonl", "bbbb1111", "shop", 1000);
        // What an agent keeps beside a session, under its name.
        scene.session("pi/run/0-explore.jsonl", "bbbb2222", "shop", 2000);
        for name in ["aaaa", "bbbb2222"] {
            assert_eq!(scene.refuse("shop", name).0, ErrorKind::NotFound, "{name}");
        }
        assert_eq!(scene.find("latest").unwrap(), own);
    }

    #[test]
    fn one_file_under_two_names_is_one_session_and_a_copy_is_another() {
        let scene = Scene::new();
        let path = scene.session("pi/w/s.jsonl", "aaaa1111", "shop", 1000);
        std::os::unix::fs::symlink(&path, scene.path("pi/w/link.jsonl")).unwrap();
        std::os::unix::fs::symlink(scene.path("pi"), scene.path("omp")).unwrap();
        let found = scene.find("aaaa1111").unwrap();
        assert_eq!(found.canonicalize().unwrap(), path);
        let copy = scene.session("pi/v/copy.jsonl", "aaaa1111", "shop", 40_000);
        let (kind, message, hint) = scene.refuse("shop", "aaaa1111");
        let expected = format!(
            "`aaaa1111` matches 2 sessions:\n  {}  16 h ago  prompt of aaaa1111\n  {}  1 d ago  prompt of aaaa1111",
            copy.display(),
            found.display(),
        );
        assert_eq!((kind, message, &hint[..]), (ErrorKind::Ambiguous, expected, "they have one id: give a path"));
    }

    #[test]
    fn ten_of_many_are_listed_the_newest_first() {
        let scene = Scene::new();
        for at in 0..13 {
            scene.session(&format!("pi/w/{at}.jsonl"), &format!("aaaa11{at:02}"), "shop", 99_000 + at);
        }
        let (kind, message, hint) = scene.refuse("shop", "aaaa");
        let lines: Vec<_> = message.lines().collect();
        assert_eq!((kind, lines.len(), lines[LISTED + 1]), (ErrorKind::Ambiguous, LISTED + 2, "  and 3 more"));
        assert!(lines[1].ends_with("pi/w/12.jsonl  16 min ago  prompt of aaaa1112"), "{message}");
        assert_eq!(hint, "give more characters, or a path");
    }

    #[test]
    fn the_latest_is_that_of_the_current_folder() {
        let scene = Scene::new();
        fs::create_dir(scene.path("shop")).unwrap();
        std::os::unix::fs::symlink(scene.path("shop"), scene.path("link")).unwrap();
        scene.session("pi/w/old.jsonl", "aaaa1111", "shop", 1000);
        let new = scene.session("omp/w/new.jsonl", "aaaa2222", "shop", 2000);
        let other = scene.session("omp/w/other.jsonl", "aaaa3333", "shop/below", 5000);
        scene.file("omp/w/homeless.jsonl", "{\"type\":\"session\",\"id\":\"x\"}\n", 6000);
        scene.file("omp/w/damaged.jsonl", "no session\n", 7000);
        assert_eq!(scene.find("latest").unwrap(), new);
        assert_eq!(scene.find_in("link", "latest").unwrap(), new, "by another name");
        let linked = scene.session("pi/w/linked.jsonl", "aaaa4444", "link", 3000);
        assert_eq!(scene.find("latest").unwrap(), linked, "its header has another name");
        let (kind, message, hint) = scene.refuse("gone", "latest");
        let gone = scene.path("gone");
        assert_eq!((kind, message), (ErrorKind::NotFound, format!("no session was held in `{}`", gone.display())));
        let below = scene.path("shop/below");
        let expected = format!("the newest elsewhere is {}  1 d ago  of {}", other.display(), below.display());
        assert_eq!(hint, expected);
        // A folder that is gone still has its sessions.
        let lost = scene.session("pi/w/lost.jsonl", "aaaa5555", "gone", 10);
        assert_eq!(scene.find_in("gone", "latest").unwrap(), lost);
    }

    #[test]
    fn what_comes_near_is_named() {
        let scene = Scene::new();
        scene.session("pi/w/s.jsonl", "aaaa1111-0000", "shop", 1000);
        assert_eq!(scene.refuse("shop", "aaba1111").2, "ids near it: aaaa1111-0000");
        assert_eq!(scene.refuse("shop", "AAAA11").2, "ids near it: aaaa1111-0000");
        let (_, _, hint) = scene.refuse("shop", "something");
        assert!(hint.starts_with("a session is named by its path, "), "{hint}");
    }

    #[test]
    fn where_there_is_nothing_it_is_said() {
        let scene = Scene::new();
        let (kind, _, hint) = scene.refuse("shop", "aaaa1111");
        assert_eq!(kind, ErrorKind::NotFound);
        assert!(hint.starts_with("cannot look into ") && hint.contains("/pi, ") && hint.contains("/omp: "), "{hint}");
        fs::create_dir(scene.path("pi")).unwrap();
        for name in ["aaaa1111", "latest"] {
            let (kind, message, hint) = scene.refuse("shop", name);
            assert_eq!(
                (kind, message),
                (ErrorKind::NotFound, format!("`{name}` names no session, and there is no such file"))
            );
            assert!(hint.starts_with("there are no sessions in ") && hint.contains("/pi, and "), "{hint}");
            assert!(hint.ends_with("/omp: give a path, or set SESSION_TREE_DIR"), "{hint}");
        }
        let place = Place { folders: Vec::new(), cwd: PathBuf::new(), now: 0, jobs: 1 };
        let failure: Failure = place.find("latest").0.unwrap_err().downcast().unwrap();
        let hint = failure.hint.unwrap();
        assert!(hint.starts_with("there is no home folder"), "{hint}");
    }
}
