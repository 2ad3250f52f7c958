//! The order of a list of sessions, and which stand below which.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::Path;

use super::family::Families;
use super::row::SessionRow;

/// What a list is sorted by, the most of it first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SortKey {
    /// When the file was last written to.
    #[default]
    Written,
    /// When the session was started.
    Created,
    /// The length of the file.
    Size,
    /// What all of its entries cost.
    Cost,
    /// How many messages it has.
    Messages,
}

impl SortKey {
    /// Returns whether it takes what only a whole reading finds.
    pub(crate) fn is_of_totals(self) -> bool {
        matches!(self, Self::Cost | Self::Messages)
    }
}

/// A session at its place in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlacedRow {
    /// Its index among all rows.
    pub row: usize,
    /// How many listed sessions are above it.
    pub depth: usize,
}

/// Sorts the listed sessions; what has no such value comes last, and what is equal goes by path.
pub(crate) fn flat(rows: &[SessionRow], listed: &[usize], key: SortKey) -> Vec<PlacedRow> {
    let mut sorted = listed.to_vec();
    sorted.sort_by(|&a, &b| {
        let (a, b) = (&rows[a], &rows[b]);
        value(b, key).total_cmp(&value(a, key)).then_with(|| a.file.path.cmp(&b.file.path))
    });
    sorted.into_iter().map(|row| PlacedRow { row, depth: 0 }).collect()
}

/// Returns what a session is sorted by. Times in milliseconds and lengths of files are exact.
fn value(row: &SessionRow, key: SortKey) -> f64 {
    #[allow(clippy::cast_precision_loss)]
    let value = match key {
        SortKey::Written => row.written().map(|ms| ms as f64),
        SortKey::Created => row.head().and_then(|head| head.created).map(|ms| ms as f64),
        SortKey::Size => row.size().map(|size| size as f64),
        SortKey::Cost => row.totals.as_ref().map(|totals| totals.all.usage.cost),
        SortKey::Messages => row.totals.as_ref().map(|totals| totals.all.messages as f64),
    };
    value.unwrap_or(f64::NEG_INFINITY)
}

/// Puts forks below the nearest listed session above them. A family stands where its newest session does, and
/// so does every part of it.
pub(crate) fn families(rows: &[SessionRow], listed: &[usize], families: &Families) -> Vec<PlacedRow> {
    let mut is_listed = vec![false; rows.len()];
    listed.iter().for_each(|&at| is_listed[at] = true);
    let order: Vec<_> = families.each().flatten().copied().collect();
    // By session: the nearest listed one above. Parents come first.
    let mut above: Vec<Option<usize>> = vec![None; rows.len()];
    for &at in &order {
        let parent = families.parent(at);
        above[at] = parent.and_then(|parent| if is_listed[parent] { Some(parent) } else { above[parent] });
    }
    let mut newest: Vec<_> = rows.iter().map(SessionRow::written).collect();
    let mut children = vec![Vec::new(); rows.len()];
    let mut tops = Vec::new();
    for &at in order.iter().rev().filter(|&&at| is_listed[at]) {
        match above[at] {
            Some(parent) => {
                newest[parent] = newest[parent].max(newest[at]);
                children[parent].push(at);
            }
            None => tops.push(at),
        }
    }
    let key = |at: &usize| -> (Reverse<Option<i64>>, &Path) { (Reverse(newest[*at]), &rows[*at].file.path) };
    // Forks of a session that is not listed are several tops of one family: its newest session, and its first path.
    let mut firsts: HashMap<usize, (Reverse<Option<i64>>, &Path)> = HashMap::new();
    for top in &tops {
        let ((newest, path), own) = (key(top), families.number(*top));
        firsts
            .entry(own)
            .and_modify(|first| *first = (first.0.min(newest), first.1.min(path)))
            .or_insert((newest, path));
    }
    let first = |at: &usize| firsts.get(&families.number(*at)).copied();
    tops.sort_by(|a, b| first(a).cmp(&first(b)).then_with(|| key(a).cmp(&key(b))));
    children.iter_mut().for_each(|list| list.sort_by(|a, b| key(a).cmp(&key(b))));
    let mut placed = Vec::with_capacity(listed.len());
    let mut next: Vec<_> = tops.into_iter().rev().map(|row| PlacedRow { row, depth: 0 }).collect();
    while let Some(place) = next.pop() {
        placed.push(place);
        next.extend(children[place.row].iter().rev().map(|&row| PlacedRow { row, depth: place.depth + 1 }));
    }
    placed
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;

    use super::{Families, families};
    use crate::core::naming::files::Named;
    use crate::core::read::source::FileState;
    use crate::core::store::row::{SessionHead, SessionRow};

    /// Returns the names of the sessions as they are listed, with a blank before them for each level. A session is its
    /// name, what it is a fork of, and how old the file is.
    fn listed(sessions: &[(&str, &str, u64)]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let row = |&(name, parent, age): &(&str, &str, u64)| {
            let path = folder.path().join(name);
            let file = std::fs::File::create(&path).unwrap();
            file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000 - age)).unwrap();
            let parent = Some(parent.to_owned()).filter(|parent| !parent.is_empty());
            let head = SessionHead { id: name.to_owned(), parent, ..SessionHead::default() };
            let state = Some(FileState::of(&file.metadata().unwrap()));
            SessionRow::new(Arc::new(Named { path: PathBuf::from(name), is_named: false, state }), Ok(head))
        };
        let rows: Vec<_> = sessions.iter().map(row).collect();
        let all: Vec<_> = (0..rows.len()).collect();
        let placed = families(&rows, &all, &Families::new(&rows));
        let names: Vec<_> =
            placed.iter().map(|place| format!("{}{}", " ".repeat(place.depth), sessions[place.row].0)).collect();
        names.join("|")
    }

    #[test]
    fn a_family_stands_where_its_newest_session_does() {
        assert_eq!(listed(&[("a", "", 1), ("b", "", 2)]), "a|b");
        assert_eq!(listed(&[("a", "", 9), ("b", "", 2), ("c", "a", 1)]), "a| c|b");
        // Forks of one that is not there.
        assert_eq!(listed(&[("a", "gone", 9), ("b", "", 2), ("c", "gone", 1)]), "c|a|b");
        assert_eq!(listed(&[("a", "gone", 9), ("b", "", 2), ("c", "lost", 1)]), "c|b|a");
        assert_eq!(listed(&[("c", "gone", 1), ("b", "", 1), ("a", "gone", 1), ("d", "", 1)]), "a|c|b|d");
    }
}
