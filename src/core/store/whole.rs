//! Sessions that are read whole for a list, and sums over families as these become complete.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::list::SessionList;
use super::row::SessionHead;
use super::totals::{EntryKeys, KeyMaker, SeenEntries, Totals};
use crate::core::error::Result;
use crate::core::read::load::LoadOptions;
use crate::core::read::source::Source;
use crate::core::session::Session;

/// What a session has that was read whole.
#[derive(Debug)]
pub(crate) struct WholeRow {
    head: SessionHead,
    totals: Totals,
    /// Kept of sessions that have relatives in the list.
    keys: Option<EntryKeys>,
}

impl WholeRow {
    /// Reads a session whole on up to `jobs` threads.
    fn read(source: Source, keys: Option<&KeyMaker>, has_prompt: bool, jobs: usize) -> Result<Self> {
        let options = LoadOptions { usage: true, ..LoadOptions::INDEX_ONLY };
        let session = Session::load(source, options, jobs)?;
        let head = SessionHead::whole(&session, has_prompt)?;
        Ok(Self { head, totals: Totals::of(&session), keys: keys.map(|keys| keys.keys(&session)) })
    }
}

/// Reads the sessions of a list whole; shared by all threads.
#[derive(Debug)]
pub(crate) struct WholeReader {
    keys: KeyMaker,
    /// The rows in the order of reading: the largest families first, and in each the largest files first, so
    /// that no thread is left with the largest at the end and few families are incomplete at a time.
    order: Vec<usize>,
    /// The rows that have relatives in the list.
    related: HashSet<usize>,
    /// The rows whose first prompt was not found at the start of the file.
    promptless: HashSet<usize>,
}

/// The families whose sessions are being read. A session without relatives in the list is in none.
#[derive(Debug)]
pub(crate) struct FamilySums {
    /// By row: its family in `families`.
    family: HashMap<usize, usize>,
    families: Vec<FamilyReading>,
    /// The lists of models of all sessions so far, each once.
    models: HashSet<Arc<[String]>>,
}

/// A family whose sessions are being read.
#[derive(Debug, Default)]
struct FamilyReading {
    /// Its listed sessions, in the order in which entries count.
    rows: Vec<usize>,
    /// How many are not read yet.
    left: usize,
    keys: HashMap<usize, EntryKeys>,
}

/// Prepares to read all sessions that are listed, and to sum them up.
pub(crate) fn prepare(list: &SessionList) -> (WholeReader, FamilySums) {
    let size = |at: usize| list.rows()[at].size().unwrap_or(0);
    let mut families: Vec<_> = list.families().collect();
    families.sort_by_key(|rows| Reverse(rows.iter().map(|&at| size(at)).sum::<u64>()));
    let (mut order, mut family, mut related) = (Vec::new(), HashMap::new(), Vec::new());
    for rows in families {
        let begin = order.len();
        order.extend(&rows);
        order[begin..].sort_by_key(|&at| Reverse(size(at)));
        if rows.len() > 1 {
            family.extend(rows.iter().map(|&at| (at, related.len())));
            related.push(FamilyReading { left: rows.len(), rows, keys: HashMap::new() });
        }
    }
    let has_prompt = |at: &usize| list.rows()[*at].head().is_some_and(|head| head.first_prompt.is_some());
    let promptless = order.iter().copied().filter(|at| !has_prompt(at)).collect();
    let reader =
        WholeReader { keys: KeyMaker::default(), order, related: family.keys().copied().collect(), promptless };
    (reader, FamilySums { family, families: related, models: HashSet::new() })
}

impl WholeReader {
    /// Returns the rows in the order in which they are best read.
    pub(crate) fn order(&self) -> &[usize] {
        &self.order
    }

    /// Reads the session of a row whole on up to `jobs` threads.
    pub(crate) fn read(&self, row: usize, source: Source, jobs: usize) -> Result<WholeRow> {
        let keys = self.related.contains(&row).then_some(&self.keys);
        WholeRow::read(source, keys, !self.promptless.contains(&row), jobs)
    }
}

impl SessionList {
    /// Takes what was read of a session, or why it could not be read. When the last one of a family is there,
    /// the entries that its sessions share are counted.
    pub(crate) fn take(&mut self, sums: &mut FamilySums, row: usize, read: Result<WholeRow>) {
        let keys = match read {
            Ok(WholeRow { head, mut totals, keys }) => {
                totals.share_models(&mut sums.models);
                self.set(row, head, totals);
                keys
            }
            Err(error) => {
                self.fail(row, error);
                None
            }
        };
        let Some(&family) = sums.family.get(&row) else { return };
        let family = &mut sums.families[family];
        family.left -= 1;
        family.keys.extend(keys.map(|keys| (row, keys)));
        if family.left > 0 {
            return;
        }
        let (mut seen, mut keys) = (SeenEntries::default(), std::mem::take(&mut family.keys));
        for &at in &family.rows {
            if let Some(keys) = keys.remove(&at) {
                self.set_own(at, seen.count_new(&keys));
            }
        }
    }
}
