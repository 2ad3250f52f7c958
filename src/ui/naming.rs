//! Why a word names no session, in words.

use std::path::{Path, PathBuf};

use super::report::{Failure, file_hint};
use crate::core::error::ErrorKind;
use crate::core::naming::leaf::{CountedTurn, LEAF};
use crate::core::naming::session::find::Meaning;
use crate::core::naming::session::store::SessionStore;
use crate::core::naming::session::stored::StoredSession;
use crate::core::naming::session::word::LATEST;
use crate::core::naming::short::PREFIX;
use crate::core::naming::short::short_ids;
use crate::core::time;

/// How many sessions an error lists.
const LISTED: usize = 10;

/// How a session is named.
const HOW: &str = "a session is named by its path, by 4 or more characters of its id, or by `latest`";

/// Returns whether a word is a name of an entry that can be no session's.
fn is_entry(name: &str) -> bool {
    let prefixes = [CountedTurn::User.prefix(), CountedTurn::Assistant.prefix(), "label:"];
    name == LEAF || name.starts_with("@~") || prefixes.iter().any(|prefix| name.starts_with(prefix))
}

/// Returns what to warn of if a session may have been passed over.
pub(crate) fn closed(store: &SessionStore) -> Option<String> {
    let (first, rest) = store.closed.split_first()?;
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    Some(format!("no permission to read `{}`{more}: a session there was not looked at", first.display()))
}

/// Returns why a word does not name one session. `now` is in milliseconds since 1970, and `title` returns
/// the words by which people know a session.
pub(crate) fn failure(
    name: &str,
    meaning: &Meaning,
    store: &SessionStore,
    cwd: &Path,
    now: i64,
    title: &dyn Fn(&Path) -> String,
) -> Failure {
    let nothing = format!("there is no file `{name}`, and no session whose id starts so");
    let is_id =
        !matches!(meaning, Meaning::Many(_) | Meaning::Elsewhere(_) | Meaning::NotCurrent | Meaning::UnknownCurrent(_));
    let (message, hint) = match meaning {
        _ if is_id && is_entry(name) => (
            nothing,
            "it names an entry: the session comes before it, as in `latest` for the newest one here".to_owned(),
        ),
        _ if is_id && let Some(hint) = file_hint(Path::new(name)) => (nothing, hint),
        Meaning::One(StoredSession { path, .. }) | Meaning::Current(path) => {
            (nothing, format!("its file is {}", path.display()))
        }
        Meaning::NotCurrent => {
            let hint = "an agent sets them for what it runs; `latest` is the newest session of this folder";
            ("no session is current: neither PI_SESSION_FILE nor PI_SESSION_ID is set".to_owned(), hint.to_owned())
        }
        Meaning::UnknownCurrent(id) => {
            let hint = "it takes the whole id; `latest` is the newest session held in this folder";
            (format!("`current` is unknown: no session has the id of PI_SESSION_ID, `{id}`"), hint.to_owned())
        }
        Meaning::Many(found) => return ambiguous(name, found, now, title),
        Meaning::None(near) if near.is_empty() => (nothing, HOW.to_owned()),
        Meaning::None(near) if name.chars().count() < PREFIX => {
            (nothing, format!("give {PREFIX} or more characters of an id; {}", did_you_mean(near)))
        }
        Meaning::None(near) => (nothing, did_you_mean(near)),
        Meaning::Elsewhere(kept) => {
            let hint = format!("the newest elsewhere is {}", row(kept, now, "of ", kept.cwd.as_deref()));
            (format!("no session belongs to `{}` or a folder above it", cwd.display()), hint)
        }
        Meaning::Nowhere if name == LATEST => ("there is no session at all".to_owned(), nowhere(store)),
        Meaning::Nowhere => (nothing, nowhere(store)),
    };
    Failure::plain(ErrorKind::NotFound, message, Some(hint))
}

fn did_you_mean(near: &[String]) -> String {
    format!("did you mean `{}`?", near.join("`, `"))
}

/// Returns, in words, where there are no sessions.
fn nowhere(store: &SessionStore) -> String {
    let is_listed = |folder: &&PathBuf| store.missing.contains(folder) || store.unreadable.contains(folder);
    let read: Vec<_> = store.folders.iter().filter(|folder| !is_listed(folder)).collect();
    let list = |folders: &[&PathBuf]| {
        let folders: Vec<_> = folders.iter().map(|folder| folder.display().to_string()).collect();
        folders.join(", ")
    };
    let mut parts = Vec::new();
    if !read.is_empty() {
        parts.push(format!("there are no sessions in {}", list(&read)));
    }
    match &store.missing[..] {
        [] => {}
        [folder] => parts.push(format!("{} does not exist", folder.display())),
        folders => parts.push(format!("{} do not exist", list(&folders.iter().collect::<Vec<_>>()))),
    }
    if !store.unreadable.is_empty() {
        parts.push(format!("cannot read {}", list(&store.unreadable.iter().collect::<Vec<_>>())));
    }
    if parts.is_empty() {
        parts.push("there is no home folder to look for sessions in".to_owned());
    }
    format!("{}: give a path, or set SESSION_TREE_DIR", parts.join("; "))
}

fn ambiguous(name: &str, found: &[StoredSession], now: i64, title: &dyn Fn(&Path) -> String) -> Failure {
    let head = format!("`{name}` matches {} sessions:", found.len());
    let ids = short_ids(&found.iter().map(|kept| &*kept.id).collect::<Vec<_>>());
    let is_copied = found.iter().all(|kept| kept.id == found[0].id);
    // What can be typed comes before the path, which may be long.
    let id = |id: &String| if is_copied { String::new() } else { format!("{id}  ") };
    let listed = found.iter().zip(&ids).take(LISTED);
    let rows = listed.map(|(kept, own)| format!("  {}{}", id(own), row(kept, now, "", Some(&title(&kept.path)))));
    let more = found.len().saturating_sub(LISTED);
    let more = (more > 0).then(|| format!("  and {more} more"));
    let lines: Vec<_> = std::iter::once(head).chain(rows).chain(more).collect();
    let hint = if is_copied { "they have one id: give a path" } else { "give one of these ids, or a path" };
    Failure { lines: lines.clone(), ..Failure::plain(ErrorKind::Ambiguous, lines.join("\n"), Some(hint.to_owned())) }
}

/// Shows a session with what there is to say of it.
fn row(kept: &StoredSession, now: i64, before: &str, what: Option<&str>) -> String {
    let what = what.filter(|what| !what.is_empty()).map(|what| format!("  {before}{what}")).unwrap_or_default();
    format!("{}  {}{what}", kept.path.display(), time::ago(now.saturating_sub(kept.modified)))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{ErrorKind, LISTED, Meaning, SessionStore, StoredSession, closed, failure};
    use crate::core::naming::session::place::Places;

    const NOTHING: &str = "there is no file `aaaa`, and no session whose id starts so";

    fn kept(file: &str, id: &str, minutes: i64) -> StoredSession {
        StoredSession {
            path: file.into(),
            modified: -60_000 * minutes,
            id: id.to_owned(),
            cwd: Some("/shop".to_owned()),
            has_entries: true,
            is_known_version: true,
        }
    }

    /// Returns kind, message and hint of a word that does not name one session.
    fn refuse(name: &str, meaning: &Meaning, store: &SessionStore) -> (ErrorKind, String, String) {
        let failure = failure(name, meaning, store, Path::new("/work"), 0, &|path| format!("on {}", path.display()));
        assert_eq!(failure.lines.join("\n"), failure.message);
        (failure.kind, failure.message, failure.hint.unwrap())
    }

    fn store() -> SessionStore {
        SessionStore::new(&Places::default())
    }

    #[test]
    fn several_sessions_are_listed_the_newest_first() {
        let found = [kept("/b", "aaaa1", 20), kept("/a", "aaaa1", 60 * 24)];
        let expected = "`aaaa` matches 2 sessions:\n  /b  20 min ago  on /b\n  /a  1 d ago  on /a";
        let hint = "they have one id: give a path".to_owned();
        let refused = refuse("aaaa", &Meaning::Many(found.to_vec()), &store());
        assert_eq!(refused, (ErrorKind::Ambiguous, expected.to_owned(), hint));
        let found: Vec<_> = (0..13).map(|at| kept(&format!("/{at}"), &format!("aaaa{at}"), at)).collect();
        let (_, message, hint) = refuse("aaaa", &Meaning::Many(found), &store());
        assert_eq!(message.lines().skip(LISTED + 1).collect::<Vec<_>>(), ["  and 3 more"]);
        assert_eq!(hint, "give one of these ids, or a path");
        assert!(message.starts_with("`aaaa` matches 13 sessions:\n  aaaa0  /0  just now  on /0\n  aaaa1"), "{message}");
    }

    #[test]
    fn a_word_without_a_session_gets_a_hint() {
        let near = |ids: &[&str]| Meaning::None(ids.iter().map(|&id| id.to_owned()).collect());
        for (name, meaning, message, expected) in [
            ("aaaa", near(&["aaab", "aaac"]), NOTHING, "did you mean `aaab`, `aaac`?"),
            ("aaaa", near(&[]), NOTHING, super::HOW),
            (
                "aaa",
                near(&["aaab"]),
                "there is no file `aaa`, and no session whose id starts so",
                "give 4 or more characters of an id; did you mean `aaab`?",
            ),
            (
                "latest",
                Meaning::Elsewhere(kept("/a", "aaaa1", 120)),
                "no session belongs to `/work` or a folder above it",
                "the newest elsewhere is /a  2 h ago  of /shop",
            ),
            (
                "current",
                Meaning::NotCurrent,
                "no session is current: neither PI_SESSION_FILE nor PI_SESSION_ID is set",
                "an agent sets them for what it runs; `latest` is the newest session of this folder",
            ),
            (
                "current",
                Meaning::UnknownCurrent("demo".to_owned()),
                "`current` is unknown: no session has the id of PI_SESSION_ID, `demo`",
                "it takes the whole id; `latest` is the newest session held in this folder",
            ),
        ] {
            let refused = refuse(name, &meaning, &store());
            assert_eq!(refused, (ErrorKind::NotFound, message.to_owned(), expected.to_owned()));
        }
    }

    #[test]
    fn an_entry_in_the_place_of_a_session_is_told() {
        for name in ["@", "@~3", "user:1", "assistant:2", "label:x"] {
            let (_, _, hint) = refuse(name, &Meaning::None(Vec::new()), &store());
            assert!(hint.starts_with("it names an entry: "), "{name}: {hint}");
        }
        let (_, _, hint) = refuse("user", &Meaning::None(Vec::new()), &store());
        assert_eq!(hint, super::HOW);
    }

    #[test]
    fn a_name_without_its_ending_is_hinted_at() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("demo.jsonl"), "").unwrap();
        let name = folder.path().join("demo").display().to_string();
        for meaning in [Meaning::None(vec!["demi".to_owned()]), Meaning::Nowhere] {
            assert_eq!(refuse(&name, &meaning, &store()).2, format!("did you mean `{name}.jsonl`?"));
        }
    }

    #[test]
    fn folders_without_sessions_are_named() {
        let store = |folders: &[&str], missing: &[&str], unreadable: &[&str]| {
            let mut store = store();
            store.folders = folders.iter().map(Into::into).collect();
            store.missing = missing.iter().map(Into::into).collect();
            store.unreadable = unreadable.iter().map(Into::into).collect();
            store
        };
        for (folders, missing, unreadable, expected) in [
            (&[][..], &[][..], &[][..], "there is no home folder to look for sessions in"),
            (&["/a", "/b"], &[], &[], "there are no sessions in /a, /b"),
            (&["/a", "/b"], &["/a", "/b"], &[], "/a, /b do not exist"),
            (&["/a", "/b"], &[], &["/a", "/b"], "cannot read /a, /b"),
            (
                &["/a", "/b", "/c", "/d"],
                &["/d"],
                &["/b"],
                "there are no sessions in /a, /c; /d does not exist; cannot read /b",
            ),
        ] {
            let (_, message, hint) = refuse("aaaa", &Meaning::Nowhere, &store(folders, missing, unreadable));
            assert_eq!(message, NOTHING);
            assert_eq!(hint, format!("{expected}: give a path, or set SESSION_TREE_DIR"));
        }
    }

    #[test]
    fn closed_files_are_named_once() {
        let mut store = store();
        assert_eq!(closed(&store), None);
        for (path, more) in [("/a", ""), ("/b", " and 1 more")] {
            store.closed.push(path.into());
            let expected = format!("no permission to read `/a`{more}: a session there was not looked at");
            assert_eq!(closed(&store), Some(expected));
        }
    }
}
