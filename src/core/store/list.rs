//! A list of sessions: which of the files that were found are listed, and what they have together.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::arrange::{self, PlacedRow, SortKey};
use super::family::Families;
use super::row::{SessionHead, SessionRow};
use super::totals::{EntryCounts, Totals};
use crate::core::error::Error;
use crate::core::naming::files::PassedOver;
use crate::core::naming::folder::FolderAndAbove;
use crate::core::read::source::FileState;

/// Sessions, and which of them are listed.
#[derive(Debug)]
pub(crate) struct SessionList {
    rows: Vec<SessionRow>,
    families: Families,
    /// Indices of rows, in the order of the files.
    listed: Vec<usize>,
}

impl SessionList {
    /// Makes a list of all files that were read. Left out are second names of a file, and files in searched
    /// folders that are not sessions; those are returned too.
    pub(crate) fn new(mut rows: Vec<SessionRow>) -> (Self, PassedOver) {
        let mut passed_over = PassedOver::default();
        let (mut known, mut named, mut next) = (HashMap::new(), Vec::new(), 0);
        // In place: there may be many.
        rows.retain(|row| {
            let error = row.found.as_ref().err().filter(|_| !row.file.is_named);
            if error.is_some_and(|error| passed_over.takes(&row.file.path, error)) {
                return false;
            }
            let first = row.identity().map_or(next, |identity| *known.entry(identity).or_insert(next));
            if first < next {
                named.extend(row.file.is_named.then_some(first));
                return false;
            }
            next += 1;
            true
        });
        named.into_iter().for_each(|at| Arc::make_mut(&mut rows[at].file).is_named = true);
        rows.shrink_to_fit();
        let families = Families::new(&rows);
        (Self { listed: (0..rows.len()).collect(), rows, families }, passed_over)
    }

    /// Returns all rows, also those that are not listed.
    pub(crate) fn rows(&self) -> &[SessionRow] {
        &self.rows
    }

    /// Returns the rows that are listed, in the order of the files.
    pub(crate) fn listed(&self) -> &[usize] {
        &self.listed
    }

    /// Returns the listed rows whose files can be read.
    pub(crate) fn readable(&self) -> Vec<usize> {
        self.listed.iter().copied().filter(|&at| self.rows[at].found.is_ok()).collect()
    }

    /// Returns the path of the session that one is a fork of, or a subagent's.
    pub(crate) fn parent_path(&self, row: usize) -> Option<&Path> {
        self.families.parent(row).map(|parent| self.rows[parent].file.path.as_path())
    }

    /// Keeps the listed rows that are wanted; files that cannot be read stay if they were named.
    pub(crate) fn keep(&mut self, is_wanted: impl Fn(usize, &SessionRow) -> bool) {
        let rows = &self.rows;
        self.listed.retain(|&at| rows[at].file.is_named && rows[at].found.is_err() || is_wanted(at, &rows[at]));
    }

    /// Drops the rows of names without a file.
    pub(crate) fn drop_missing(&mut self) {
        let rows = &self.rows;
        self.listed.retain(|&at| !rows[at].is_missing());
    }

    /// Keeps the family of the session in a file: its ancestors, their forks, and the forks of these. Returns
    /// whether the file is in the list.
    pub(crate) fn keep_family(&mut self, path: &Path) -> bool {
        let identity = fs::metadata(path).ok().map(|meta| FileState::of(&meta).identity());
        let is_it = |row: &SessionRow| row.file.path == path || identity.is_some() && row.identity() == identity;
        let Some(of) = self.rows.iter().position(is_it) else { return false };
        let families = &self.families;
        self.listed.retain(|&at| families.are_related(at, of));
        true
    }

    /// Keeps the sessions of a working folder; if it has none, those of the nearest folder above that has
    /// some. Returns the folder.
    pub(crate) fn keep_nearest(&mut self, cwd: &Path) -> Option<PathBuf> {
        let mut folder = FolderAndAbove::new(cwd);
        let mut up = |at: usize| folder.steps_up_to(self.rows[at].head()?.cwd.as_deref()?);
        let steps: Vec<_> = self.listed.iter().map(|&at| (at, up(at))).collect();
        let nearest = steps.iter().filter_map(|(_, up)| *up).min();
        let kept = steps.into_iter().filter(|(_, up)| up.is_some() && *up == nearest);
        self.listed = kept.map(|(at, _)| at).collect();
        cwd.ancestors().nth(nearest?).map(Path::to_owned)
    }

    /// Keeps the first so many rows of an order.
    pub(crate) fn keep_first(&mut self, order: &[PlacedRow], count: usize) {
        self.listed = order.iter().take(count).map(|placed| placed.row).collect();
        self.listed.sort_unstable();
    }

    /// Returns the listed rows in order: sorted by one thing, or forks below their parents.
    pub(crate) fn place(&self, key: SortKey, is_flat: bool) -> Vec<PlacedRow> {
        match key {
            SortKey::Written if !is_flat => arrange::families(&self.rows, &self.listed, &self.families),
            _ => arrange::flat(&self.rows, &self.listed, key),
        }
    }

    /// Iterates over the families, each with its listed sessions that can be read, in the order in which entries
    /// count.
    pub(super) fn families(&self) -> impl Iterator<Item = Vec<usize>> {
        let mut is_listed = vec![false; self.rows.len()];
        self.readable().iter().for_each(|&at| is_listed[at] = true);
        let listed = move |rows: &[usize]| rows.iter().copied().filter(|&at| is_listed[at]).collect();
        self.families.each().map(listed).filter(|rows: &Vec<usize>| !rows.is_empty())
    }

    /// Returns what the listed sessions have together, each entry counted once.
    pub(crate) fn sum(&self) -> EntryCounts {
        let mut sum = EntryCounts::default();
        let totals = self.listed.iter().filter_map(|&at| self.rows[at].totals.as_deref());
        totals.for_each(|totals| sum.add(totals.own()));
        sum
    }

    /// Returns whether the listed sessions are of several working folders.
    pub(crate) fn has_several_folders(&self) -> bool {
        let folders = self.listed.iter().filter_map(|&at| self.rows[at].head());
        folders.map(|head| head.cwd.as_deref()).collect::<HashSet<_>>().len() > 1
    }

    /// Notes what was found when all of a row's file was read.
    pub(super) fn set(&mut self, row: usize, mut head: SessionHead, totals: Totals) {
        let known = self.rows[row].found.as_mut().ok().and_then(|head| head.first_prompt.take());
        head.first_prompt = known.or(head.first_prompt);
        (self.rows[row].found, self.rows[row].totals) = (Ok(head), Some(Box::new(totals)));
    }

    /// Notes that a row cannot be read.
    pub(crate) fn fail(&mut self, row: usize, error: Error) {
        self.rows[row].found = Err(error);
    }

    /// Notes what only this row has of its family.
    pub(super) fn set_own(&mut self, row: usize, own: EntryCounts) {
        if let Some(totals) = &mut self.rows[row].totals {
            totals.set_own(own);
        }
    }
}
