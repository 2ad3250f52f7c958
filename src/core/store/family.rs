//! Which session is a fork of which (help naming, "Families"). A parent is named by its path, as pi does, or
//! by its id, as omp does; a file that was moved since is found by the id in its name.
//!
//! Must never trust that parents make a tree: a loop of them is cut at its oldest session.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::fs;
use std::path::Path;

use super::row::SessionRow;
use crate::core::read::source::FileState;

/// How many folders below a session its subagents may be.
const DEEPEST: usize = 8;

/// How the sessions of a list hang together.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Families {
    /// By session: the one that it is a fork of, or that runs it as a subagent, if that is in the list.
    parents: Vec<Option<usize>>,
    /// By session: a number that all sessions of a family have in common.
    numbers: Vec<usize>,
    /// All sessions, family by family; in each parents first, and otherwise the oldest first.
    order: Vec<usize>,
}

impl Families {
    /// Finds the parents of all sessions in a list.
    pub(crate) fn new(rows: &[SessionRow]) -> Self {
        let index = Index::new(rows);
        let mut parents: Vec<_> = (0..rows.len()).map(|at| index.parent(at)).collect();
        cut_loops(&mut parents, |at| age(&rows[at]));
        let mut children: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut tops = Vec::new();
        for (at, parent) in parents.iter().enumerate() {
            parent.map_or(&mut tops, |parent| children.entry(parent).or_default()).push(at);
        }
        let by_age = |list: &mut Vec<usize>| list.sort_by_key(|&at| age(&rows[at]));
        children.values_mut().for_each(by_age);
        by_age(&mut tops);
        // Forks of one session that is not in the list are a family too.
        let mut numbers = vec![0; rows.len()];
        let mut lost = HashMap::new();
        for &top in &tops {
            numbers[top] = match index.lost_parent(top) {
                Some(parent) => *lost.entry(parent).or_insert(top),
                None => top,
            };
        }
        tops.sort_by_key(|&top| numbers[top]);
        let mut order = Vec::with_capacity(rows.len());
        let mut next: Vec<_> = tops.into_iter().rev().collect();
        while let Some(at) = next.pop() {
            numbers[at] = parents[at].map_or(numbers[at], |parent| numbers[parent]);
            order.push(at);
            next.extend(children.get(&at).into_iter().flatten().rev());
        }
        Self { parents, numbers, order }
    }

    /// Returns the session that one is a fork of, or a subagent's.
    pub(crate) fn parent(&self, at: usize) -> Option<usize> {
        self.parents[at]
    }

    /// Returns a number that all sessions of a family have in common.
    pub(crate) fn number(&self, at: usize) -> usize {
        self.numbers[at]
    }

    /// Returns whether two sessions are of one family.
    pub(crate) fn are_related(&self, one: usize, other: usize) -> bool {
        self.numbers[one] == self.numbers[other]
    }

    /// Iterates over the families, each with its sessions in the order in which entries count: parents
    /// first, and otherwise the oldest first.
    pub(crate) fn each(&self) -> impl Iterator<Item = &[usize]> {
        self.order.chunk_by(|&a, &b| self.are_related(a, b))
    }
}

/// Returns a sort key: the oldest session first, unknown times last.
fn age(row: &SessionRow) -> (bool, Option<i64>, Option<i64>, &Path) {
    let created = row.head().and_then(|head| head.created);
    (created.is_none(), created, row.written(), &row.file.path)
}

/// Takes its parent from the oldest session of every loop.
fn cut_loops<K: Ord>(parents: &mut [Option<usize>], age: impl Fn(usize) -> K) {
    // By session: the walk that came by first; 0 for none.
    let mut walks = vec![0; parents.len()];
    for start in 0..parents.len() {
        let mut at = start;
        while walks[at] == 0 {
            walks[at] = start + 1;
            match parents[at] {
                Some(parent) => at = parent,
                None => break,
            }
        }
        if walks[at] != start + 1 || parents[at].is_none() {
            continue;
        }
        // The walk came back to itself: all from here to here are a loop.
        let round = std::iter::successors(Some(at), |&at| parents[at]).skip(1).take_while(|&other| other != at);
        let oldest = round.chain([at]).min_by_key(|&at| age(at)).unwrap_or(at);
        parents[oldest] = None;
    }
}

/// The sessions by what names them.
struct Index<'r> {
    rows: &'r [SessionRow],
    by_path: HashMap<Cow<'r, Path>, usize>,
    /// Made when a path leads to none of the rows as it is spelled.
    by_identity: OnceCell<HashMap<(u64, u64), usize>>,
    /// The ids that others name as their parents, for most sessions have no forks: who has each, the one written
    /// last first.
    by_id: HashMap<&'r str, Vec<usize>>,
    /// The same by folder.
    by_place: HashMap<(&'r str, Option<&'r Path>), Vec<usize>>,
}

impl<'r> Index<'r> {
    fn new(rows: &'r [SessionRow]) -> Self {
        let mut by_path = HashMap::new();
        let parents = rows.iter().filter_map(|row| row.head()?.parent.as_deref());
        let mut by_id: HashMap<&str, Vec<usize>> = parents.map(|name| (id_in(name), Vec::new())).collect();
        for (at, row) in rows.iter().enumerate() {
            let Some(head) = row.head() else { continue };
            by_path.insert(whole(&row.file.path), at);
            by_id.entry(&head.id).and_modify(|rows| rows.push(at));
        }
        by_id.retain(|_, rows| !rows.is_empty());
        let mut by_place: HashMap<_, Vec<usize>> = HashMap::new();
        for (&id, with_id) in &mut by_id {
            with_id.sort_by_key(|&at| (Reverse(rows[at].written()), &rows[at].file.path));
            for &at in &*with_id {
                by_place.entry((id, rows[at].file.path.parent())).or_default().push(at);
            }
        }
        Self { rows, by_path, by_identity: OnceCell::new(), by_id, by_place }
    }

    fn by_identity(&self, identity: (u64, u64)) -> Option<usize> {
        let readable = || self.rows.iter().enumerate().filter(|(_, row)| row.found.is_ok());
        let all = || readable().filter_map(|(at, row)| Some((row.identity()?, at))).collect();
        self.by_identity.get_or_init(all).get(&identity).copied()
    }

    /// Returns the session that one is a fork of, else the one in whose folder it is, as those of subagents
    /// are.
    fn parent(&self, at: usize) -> Option<usize> {
        let named = self.rows[at].head()?.parent.as_deref();
        let named = named.and_then(|name| self.by_path_named(at, name).or_else(|| self.with_id(at, id_in(name))));
        named.or_else(|| self.holder(at))
    }

    /// Returns what stands for the parent of a session, if it has one that is not in the list: its id, as far
    /// as it is known, so that it is the same for all its forks.
    fn lost_parent(&self, at: usize) -> Option<&'r str> {
        let head = self.rows[at].head()?;
        let name = head.parent.as_deref()?;
        let id = id_in(name);
        // One that is in the list was cut off, or it is the session itself.
        let is_lost = !self.by_id.contains_key(id);
        // The name of a file alone may be that of many.
        let is_id = name.rsplit(['/', '\\']).next().is_some_and(|file| file == id || file.contains('_'));
        is_lost.then_some(if is_id { id } else { name })
    }

    fn by_path_named(&self, at: usize, name: &str) -> Option<usize> {
        if !name.contains('/') {
            return None;
        }
        let own = whole(&self.rows[at].file.path);
        let path = own.parent()?.join(name);
        let same = || Some(FileState::of(&fs::metadata(&path).ok()?).identity());
        let found = self.by_path.get(path.as_path());
        // The same file by another path.
        let found = found.copied().or_else(|| self.by_identity(same()?));
        found.filter(|&found| found != at)
    }

    /// Returns the session with an id: of several the one in the folder of `at`, else the one written last.
    fn with_id(&self, at: usize, id: &str) -> Option<usize> {
        let other = |with_id: &Vec<usize>| with_id.iter().copied().find(|&other| other != at);
        let near = self.by_place.get(&(id, self.rows[at].file.path.parent())).and_then(other);
        near.or_else(|| self.by_id.get(id).and_then(other))
    }

    /// Returns the session whose folder a file is in: `NAME.jsonl` has `NAME/`.
    fn holder(&self, at: usize) -> Option<usize> {
        let path = whole(&self.rows[at].file.path);
        let session = |folder: &Path| {
            let named = |ending| self.by_path.get(folder.with_added_extension(ending).as_path());
            named("jsonl").or_else(|| named("jsonl.gz")).copied()
        };
        path.ancestors().skip(1).take(DEEPEST).find_map(session).filter(|&holder| holder != at)
    }
}

/// Returns a path that does not depend on the working folder.
fn whole(path: &Path) -> Cow<'_, Path> {
    match std::path::absolute(path) {
        Ok(whole) if !path.is_absolute() => Cow::Owned(whole),
        _ => Cow::Borrowed(path),
    }
}

/// Returns the id of a session in what names it: agents name files by time and id, as in `TIME_ID.jsonl`.
fn id_in(name: &str) -> &str {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let packed = file.strip_suffix(".gz").unwrap_or(file);
    match packed.strip_suffix(".jsonl") {
        Some(stem) => stem.rsplit_once('_').map_or(stem, |(_, id)| id),
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;

    use super::{Families, cut_loops, id_in};
    use crate::core::naming::files::Named;
    use crate::core::store::row::{SessionHead, SessionRow};

    /// Path, id, what is named as its parent, and when it was started.
    type Made = (&'static str, &'static str, &'static str, i64);

    fn row(&(path, id, parent, created): &Made) -> SessionRow {
        let parent = Some(parent.to_owned()).filter(|parent| !parent.is_empty());
        let head = SessionHead { id: id.to_owned(), parent, created: Some(created), ..SessionHead::default() };
        SessionRow::new(Arc::new(Named { path: PathBuf::from(path), is_named: false, state: None }), Ok(head))
    }

    /// Returns the index of each parent, `-` for none, and the families in their order.
    fn families(rows: &[Made]) -> String {
        let rows: Vec<_> = rows.iter().map(row).collect();
        let families = Families::new(&rows);
        let parents = (0..rows.len()).map(|at| families.parent(at).map_or("-".to_owned(), |at| at.to_string()));
        let order = families.each().map(|family| family.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "));
        format!("{} | {}", parents.collect::<Vec<_>>().join(" "), order.collect::<Vec<_>>().join(", "))
    }

    #[test]
    fn parents_are_found_by_path_by_id_and_by_folder() {
        let table: &[(&[Made], &str)] = &[
            (&[], " | "),
            // By path, by id, and by a fork of the fork; the order is by age.
            (
                &[("/s/c.jsonl", "c", "/s/a.jsonl", 9), ("/s/a.jsonl", "a", "", 1), ("/s/b.jsonl", "b", "a", 3)],
                "1 - 1 | 1 2 0",
            ),
            (&[("/s/a.jsonl", "a", "", 1), ("/s/b.jsonl", "b", "a", 2), ("/s/c.jsonl", "c", "b", 3)], "- 0 1 | 0 1 2"),
            // Files that were moved: the id is in the name.
            (&[("/t/2026_a.jsonl", "a", "", 1), ("/s/b.jsonl", "b", "/s/2026_a.jsonl", 2)], "- 0 | 0 1"),
            (&[("/t/2026_a.jsonl", "a", "", 1), ("/s/b.jsonl", "b", "C:\\s\\2026_a.jsonl", 2)], "- 0 | 0 1"),
            // A path beats an id, and of two files with an id the one in the same folder is meant.
            (
                &[("/s/x_a.jsonl", "q", "", 1), ("/t/a.jsonl", "a", "", 2), ("/t/b.jsonl", "b", "/s/x_a.jsonl", 3)],
                "- - 0 | 0 2, 1",
            ),
            (&[("/s/a.jsonl", "a", "", 1), ("/t/a.jsonl", "a", "", 2), ("/t/b.jsonl", "b", "a", 3)], "- - 1 | 0, 1 2"),
            // A copy of a session may be its parent, the session itself may not.
            (&[("/s/a.jsonl", "a", "a", 1), ("/t/a.jsonl", "a", "", 2)], "1 - | 1 0"),
            // A path that is relative, and one that is not tidy.
            (&[("/s/a.jsonl", "a", "", 1), ("/s/b.jsonl", "b", "./a.jsonl", 2)], "- 0 | 0 1"),
            // Subagents, at any depth, if they name no parent of their own.
            (
                &[("/s/a.jsonl", "a", "", 1), ("/s/a/0.jsonl", "x", "", 2), ("/s/a/0/y/1.jsonl", "y", "", 3)],
                "- 0 1 | 0 1 2",
            ),
            (
                &[("/s/a.jsonl", "a", "", 1), ("/s/b.jsonl", "b", "", 2), ("/s/a/0.jsonl", "x", "b", 3)],
                "- - 1 | 0, 1 2",
            ),
            // Forks of a session that is not in the list are a family; the session itself is nobody's parent.
            (
                &[("/s/b.jsonl", "b", "/s/z_a.jsonl", 2), ("/s/e.jsonl", "e", "", 2), ("/s/c.jsonl", "c", "a", 1)],
                "- - - | 1, 2 0",
            ),
            (&[("/s/b.jsonl", "b", "/y/old.jsonl", 2), ("/s/c.jsonl", "c", "/z/old.jsonl", 1)], "- - | 0, 1"),
            (&[("/s/a.jsonl", "a", "a", 1), ("/s/b.jsonl", "b", "/s/b.jsonl", 2)], "- - | 0, 1"),
            // A loop is cut at its oldest, and so is one of three with a tail.
            (&[("/s/a.jsonl", "a", "b", 2), ("/s/b.jsonl", "b", "a", 1)], "1 - | 1 0"),
            (
                &[
                    ("/s/a.jsonl", "a", "c", 3),
                    ("/s/b.jsonl", "b", "a", 1),
                    ("/s/c.jsonl", "c", "b", 2),
                    ("/s/d.jsonl", "d", "c", 9),
                ],
                "2 - 1 2 | 1 2 0 3",
            ),
        ];
        for (rows, expected) in table {
            assert_eq!(families(rows), *expected, "{rows:?}");
        }
    }

    #[test]
    fn loops_are_cut_in_linear_time() {
        const COUNT: usize = 200_000;
        let mut parents: Vec<_> = (0..COUNT).map(|at| Some((at + 1) % COUNT)).collect();
        cut_loops(&mut parents, |at| COUNT - at);
        assert_eq!(parents.iter().filter(|parent| parent.is_none()).count(), 1);
        assert_eq!(parents[COUNT - 1], None);
    }

    #[test]
    fn forks_of_copies_are_found_in_linear_time() {
        const COUNT: usize = 20_000;
        let made = |name: &str, at: usize, id: &str, parent: Option<&str>| {
            let head = SessionHead { id: id.to_owned(), parent: parent.map(str::to_owned), ..SessionHead::default() };
            let path = PathBuf::from(format!("/{name}/{at:05}.jsonl"));
            SessionRow::new(Arc::new(Named { path, is_named: false, state: None }), Ok(head))
        };
        let copies = (0..COUNT).map(|at| made("copies", at, "a", None));
        let rows: Vec<_> = copies.chain((0..COUNT).map(|at| made("forks", at, "b", Some("a")))).collect();
        let families = Families::new(&rows);
        assert!((COUNT..2 * COUNT).all(|fork| families.parent(fork) == Some(0)));
    }

    #[test]
    fn an_id_is_found_in_the_name_of_a_file() {
        for (name, expected) in [
            ("01a2", "01a2"),
            ("/s/2026-01-01T00-00-00-000Z_01a2.jsonl", "01a2"),
            ("C:\\s\\2026_01a2.jsonl.gz", "01a2"),
            ("/s/01a2.jsonl", "01a2"),
            ("odd/id", "odd/id"),
        ] {
            assert_eq!(id_in(name), expected, "{name}");
        }
    }
}
