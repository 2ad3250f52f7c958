//! What several sessions come to together, where each was read for something else as well.

use std::sync::Arc;

use super::family::Families;
use super::row::{SessionHead, SessionRow};
use super::totals::{EntryCounts, EntryKeys, KeyMaker, SeenEntries};
use crate::core::error::Result;
use crate::core::naming::files::Named;
use crate::core::session::{NodeId, Session};

/// Sums up parts of sessions, each entry once, however many forks have it. Shared by all threads.
#[derive(Debug, Default)]
pub(crate) struct FamilySum(KeyMaker);

/// What a sum needs to know of a session.
#[derive(Debug)]
pub(crate) struct FamilyMember {
    row: SessionRow,
    keys: EntryKeys,
}

impl FamilySum {
    /// Takes the wanted entries of a session that was read with its usage.
    ///
    /// # Errors
    /// That the file has changed, or cannot be read again.
    pub(crate) fn member(
        &self,
        file: &Named,
        session: &Session,
        is_wanted: impl Fn(NodeId) -> bool,
    ) -> Result<FamilyMember> {
        let found = Ok(SessionHead::whole(session, true)?);
        Ok(FamilyMember {
            row: SessionRow::new(Arc::new(file.clone()), found),
            keys: self.0.keys_of(session, is_wanted),
        })
    }

    /// Returns what all of them have together.
    pub(crate) fn of(&self, members: Vec<FamilyMember>) -> EntryCounts {
        let (rows, keys): (Vec<_>, Vec<_>) = members.into_iter().map(|member| (member.row, member.keys)).unzip();
        let mut sum = EntryCounts::default();
        for family in Families::new(&rows).each() {
            let mut seen = SeenEntries::default();
            family.iter().for_each(|&at| sum.add(&seen.count_new(&keys[at])));
        }
        sum
    }
}
