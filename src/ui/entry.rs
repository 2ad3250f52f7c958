//! The parts of an entry's row in any listing: as much of its id as names it, who speaks, its words and
//! their colour. How rows are arranged is up to each listing.

use std::borrow::Cow;

use super::escape;
use super::fit;
use super::paint::Ink;
use super::screen::Screen;
use crate::core::entry::preview::LIMIT;
use crate::core::entry::{Kind, Role, Traits};
use crate::core::session::{NodeId, Session};

/// Returns the words of a row with who speaks; not yet safe to print.
pub(crate) fn row(screen: &Screen, traits: Traits, words: &str) -> String {
    format!("{}{}", speaker(traits), text(screen, words))
}

/// Returns the words of a row, with a mark where they were cut at the limit for words.
pub(crate) fn text(screen: &Screen, words: &str) -> String {
    let is_whole = words.len() < LIMIT || words.chars().count() < LIMIT;
    let words = if is_whole { Cow::Borrowed(words) } else { Cow::Owned(format!("{words}{}", screen.mark())) };
    screen.tilde(&words)
}

/// Returns what a search finds of a row: its words as they are stored, and as they are shown.
pub(crate) fn searched(screen: &Screen, traits: Traits, words: &str) -> String {
    format!("{}{words}\n{}", speaker(traits), screen.tilde(words))
}

/// Returns who speaks, as it stands before the words of a row.
pub(crate) fn speaker(traits: Traits) -> &'static str {
    match (traits.kind, traits.role) {
        (_, Role::User) => "user: ",
        (Kind::Message, Role::Assistant) => "assistant: ",
        (Kind::Message, Role::Developer) => "developer: ",
        (Kind::Message, Role::System) => "system: ",
        _ => "",
    }
}

/// Returns the colour of an entry's words.
pub(crate) fn ink(traits: Traits) -> Ink {
    match (traits.kind, traits.role) {
        (_, Role::User) => Ink::User,
        (Kind::Message, Role::Assistant | Role::BashExecution | Role::PythonExecution) => Ink::Plain,
        (Kind::BranchSummary | Kind::Compaction, _) => Ink::Summary,
        (Kind::CustomMessage, _) => Ink::Plain,
        _ => Ink::Dim,
    }
}

/// The widest id that others are aligned with: one as long as a line would push everything else out of
/// view.
pub(super) const LONGEST_ID: usize = 36;

/// How many characters of each entry's id are shown: enough to name it, at least 8.
#[derive(Debug)]
pub struct ShortIds<'s> {
    session: &'s Session,
    lengths: Vec<usize>,
}

impl<'s> ShortIds<'s> {
    /// Compares all ids of a session.
    pub fn new(session: &'s Session) -> Self {
        const FEWEST: usize = 8;
        let mut lengths = vec![FEWEST; session.len()];
        if session.nodes().all(|node| session.id(node).len() <= FEWEST) {
            return Self { session, lengths };
        }
        let mut sorted: Vec<_> = session.nodes().collect();
        sorted.sort_unstable_by_key(|&node| session.id(node));
        for pair in sorted.windows(2) {
            let (a, b) = (session.id(pair[0]), session.id(pair[1]));
            let common = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
            for node in pair {
                lengths[node.index()] = lengths[node.index()].max(common + 1);
            }
        }
        Self { session, lengths }
    }

    /// Returns as much of an entry's id as is shown, safe to print.
    pub fn of(&self, node: NodeId) -> Cow<'s, str> {
        let id = self.session.id(node);
        let end = id.char_indices().nth(self.lengths[node.index()]).map_or(id.len(), |(end, _)| end);
        escape::line(&id[..end])
    }

    /// Returns the columns that the widest of some ids takes, those of more than `most` left out.
    pub(crate) fn widest(&self, nodes: impl IntoIterator<Item = NodeId>, most: usize) -> usize {
        let widths = nodes.into_iter().map(|node| fit::width(&self.of(node)));
        widths.filter(|&width| width <= most).max().unwrap_or(0)
    }
}
