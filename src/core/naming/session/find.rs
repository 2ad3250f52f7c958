//! Which session a word means, to somebody who stands in a folder.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::store::SessionStore;
use super::stored::StoredSession;
use super::word::{CURRENT, LATEST, is_name};
use crate::core::naming::folder::FolderAndAbove;
use crate::core::naming::near::NearMisses;
use crate::core::naming::short::PREFIX;
use crate::core::read::source::is_named_gzip;

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

impl SessionStore {
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
            _ if self.is_empty() => Meaning::Nowhere,
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
        if !matches!(meaning, Meaning::None(_)) {
            return meaning;
        }
        match self.take_subagents().listed_by_id(name, least, writes) {
            Meaning::None(_) => meaning,
            found => found,
        }
    }

    /// Does the same without those of subagents.
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
        for kept in self.plain_sessions() {
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::CurrentSession;
    use crate::core::naming::session::sample::{StoreFolder, session};

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
    fn sessions_of_subagents_are_apart_whether_there_are_archives_or_not() {
        let folders =
            StoreFolder::new(&[("pi/run.jsonl", "aaaa1111", "shop"), ("pi/run/0-explore.jsonl", "aaaa2222", "shop")]);
        let cases = [("latest", "pi/run.jsonl"), ("aaaa", "pi/run.jsonl"), ("aaaa2222", "pi/run/0-explore.jsonl")];
        folders.check(&cases);
        fs::create_dir(folders.path("archive")).unwrap();
        folders.check(&cases);
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
}
