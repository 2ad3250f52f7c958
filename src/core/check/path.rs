//! The path from the leaf as it would be in the undamaged file: where damage cuts it, where it goes on
//! above each cut, and how many entries are beyond. It only estimates losses; no walk elsewhere follows
//! a repaired path.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use crate::core::entry::{Kind, Role};
use crate::core::read::inspect::{self, LineNotes, Oddity};
use crate::core::session::{NodeId, Session};

/// Where a path goes on above a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Continuation {
    /// At this entry, which a damaged line names as parent; `lost` is the index of the lost entry.
    Certain { node: NodeId, lost: u32 },
    /// Nowhere: the lost entry was a root.
    Root { lost: u32 },
    /// Probably at this entry, the one before the damaged line, whose remains do not name a parent.
    Before { node: NodeId, lost: u32 },
    /// Probably at this entry, the one before it in the file.
    Likely(NodeId),
    /// It is not known.
    Unknown,
}

impl Continuation {
    /// Returns the entry at which it goes on.
    pub(super) fn node(self) -> Option<NodeId> {
        match self {
            Self::Certain { node, .. } | Self::Before { node, .. } | Self::Likely(node) => Some(node),
            Self::Root { .. } | Self::Unknown => None,
        }
    }
}

/// The cuts of a session, and how many entries are beyond them.
#[derive(Debug, Default)]
pub(super) struct PathCuts {
    /// By entry without its parent: where the path goes on.
    pub(super) above: HashMap<NodeId, Continuation>,
    /// By cut on the path: how many entries are beyond it.
    beyond: HashMap<NodeId, usize>,
    /// By lost entry on the path: how many entries are beyond it.
    beyond_lost: HashMap<u32, usize>,
    /// Whether the path runs into a loop.
    pub(super) runs_into_a_loop: bool,
}

impl PathCuts {
    pub(super) fn find(session: &Session, notes: &LineNotes) -> Self {
        let mut cuts = Self::default();
        let lost = lost_by_id(session, notes);
        let ends = ends(session, notes, &lost);
        let mut guesses: HashMap<&str, Continuation> = HashMap::new();
        for (orphan, missing) in session.orphans() {
            // Siblings have the same parent, missing or not.
            let above = *guesses.entry(missing).or_insert_with(|| {
                let place = lost.get(missing).copied();
                match place.and_then(|lost| Some((lost, *ends.get(lost as usize)?))) {
                    Some((lost, ChainEnd::Entry(node))) => Continuation::Certain { node, lost },
                    Some((lost, ChainEnd::Root)) => Continuation::Root { lost },
                    Some((lost, ChainEnd::Unknown)) => before_line(session, notes, lost),
                    None => before(orphan),
                }
            });
            cuts.above.insert(orphan, above);
        }
        for root in severed(session, notes) {
            cuts.above.insert(root, before(root));
        }
        cuts.walk(session, notes, &lost);
        cuts
    }

    /// Returns how many entries are beyond a cut.
    pub(super) fn beyond(&self, cut: NodeId) -> usize {
        self.beyond.get(&cut).copied().unwrap_or(0)
    }

    /// Returns how many entries are beyond a lost entry, given by its index.
    pub(super) fn beyond_lost(&self, lost: usize) -> usize {
        u32::try_from(lost).ok().and_then(|lost| self.beyond_lost.get(&lost)).copied().unwrap_or(0)
    }

    /// Follows the path from the leaf over all cuts.
    fn walk(&mut self, session: &Session, notes: &LineNotes, lost: &HashMap<&str, u32>) {
        let mut seen = vec![false; session.len()];
        let mut length = 0;
        let mut met = Vec::new();
        let mut met_lost = Vec::new();
        let mut at = session.leaf();
        while let Some(node) = at.filter(|node| !std::mem::replace(&mut seen[node.index()], true)) {
            length += 1;
            at = session.parent(node);
            if at.is_some() {
                continue;
            }
            if let Some(&above) = self.above.get(&node) {
                met.push((node, length));
                // Lost entries may follow each other.
                let mut name = session.missing_parent(node);
                while let Some(&place) = name.and_then(|id| lost.get(id))
                    && met_lost.last().is_none_or(|&(last, _)| last != place)
                    && met_lost.len() <= notes.lost.len()
                {
                    met_lost.push((place, length));
                    name = match &notes.lost[place as usize].parent {
                        inspect::LostParent::Entry(id) => Some(id),
                        inspect::LostParent::Root | inspect::LostParent::Unknown => None,
                    };
                }
                at = above.node();
            } else if session.is_own_ancestor(node) {
                self.runs_into_a_loop = true;
            }
        }
        self.beyond = met.into_iter().map(|(cut, at)| (cut, length - at)).collect();
        self.beyond_lost = met_lost.into_iter().map(|(place, at)| (place, length - at)).collect();
    }
}

/// Returns the lost entries by their ids; of several with the same id the last one counts. Where the
/// remains have no id, it is taken to be the one that the next entry names as its parent, unless another
/// lost entry has that; or the only one that is missing, if only one has no id.
fn lost_by_id<'a>(session: &'a Session, notes: &'a LineNotes) -> HashMap<&'a str, u32> {
    let lost = notes.lost.iter().zip(0..);
    let mut by_id: HashMap<&str, u32> = lost.filter_map(|(lost, place)| Some((lost.id.as_deref()?, place))).collect();
    let mut named = HashSet::new();
    for (orphan, missing) in session.orphans() {
        let before = orphan.0.checked_sub(1).map_or(0, |before| session.line(NodeId(before)));
        let until = notes.lost.partition_point(|lost| lost.line < session.line(orphan));
        let between = notes.lost[..until].iter().rev().take_while(|lost| lost.line > before);
        let nameless = between.zip((0..until).rev()).find(|(lost, _)| lost.id.is_none());
        if let Some((_, place)) = nameless
            && let Ok(place) = u32::try_from(place)
            && let Entry::Vacant(free) = by_id.entry(missing)
        {
            free.insert(place);
            named.insert(place);
        }
    }
    let mut nameless = notes.lost.iter().zip(0..).filter(|(lost, place)| lost.id.is_none() && !named.contains(place));
    let mut missing = session.orphans().filter(|(_, missing)| !by_id.contains_key(missing));
    if let (Some((lost, place)), None) = (nameless.next(), nameless.next())
        && let Some((first, id)) = missing.next()
        && missing.all(|(_, other)| other == id)
        && lost.line < session.line(first)
    {
        by_id.insert(id, place);
    }
    by_id
}

/// Where a chain of lost parents ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChainEnd {
    Entry(NodeId),
    Root,
    Unknown,
}

/// Follows each lost entry to the first parent that exists; each is visited once.
fn ends(session: &Session, notes: &LineNotes, lost: &HashMap<&str, u32>) -> Vec<ChainEnd> {
    let mut ends: Vec<Option<ChainEnd>> = vec![None; notes.lost.len()];
    let mut chain = Vec::new();
    for from in 0..ends.len() {
        let mut at = from;
        let end = loop {
            if let Some(end) = ends[at] {
                break end;
            }
            // Kept if the chain comes back here: a loop has no end.
            ends[at] = Some(ChainEnd::Unknown);
            chain.push(at);
            match &notes.lost[at].parent {
                inspect::LostParent::Root => break ChainEnd::Root,
                inspect::LostParent::Unknown => break ChainEnd::Unknown,
                inspect::LostParent::Entry(parent) => match (session.find(parent), lost.get(parent.as_str())) {
                    (Some(node), _) => break ChainEnd::Entry(node),
                    (None, Some(&place)) => at = place as usize,
                    (None, None) => break ChainEnd::Unknown,
                },
            }
        };
        for place in chain.drain(..) {
            ends[place] = Some(end);
        }
    }
    ends.into_iter().map(|end| end.unwrap_or(ChainEnd::Unknown)).collect()
}

/// Returns the entry before another one in the file as its probable parent.
fn before(node: NodeId) -> Continuation {
    node.0.checked_sub(1).map_or(Continuation::Unknown, |before| Continuation::Likely(NodeId(before)))
}

/// Returns the entry before a damaged line as the probable parent of the entry that was on it.
fn before_line(session: &Session, notes: &LineNotes, lost: u32) -> Continuation {
    let line = notes.lost.get(lost as usize).map_or(0, |lost| lost.line);
    let after = session.nodes.partition_point(|node| node.line < line);
    let node = after.checked_sub(1).and_then(|before| u32::try_from(before).ok());
    node.map_or(Continuation::Root { lost }, |node| Continuation::Before { node: NodeId(node), lost })
}

/// Finds roots that no agent starts a conversation with: answers, and entries without `parentId`, which
/// all entries of version 1 lack.
pub(super) fn severed<'a>(session: &'a Session, notes: &'a LineNotes) -> impl Iterator<Item = NodeId> + 'a {
    let without = notes.odd.iter().filter(|note| note.oddity == Oddity::NoParent && session.version > 1);
    let mut without = without.filter_map(|note| session.on_line(note.line)).peekable();
    session.roots().iter().copied().filter(move |&root| {
        while without.next_if(|&other| other < root).is_some() {}
        let has_none = without.next_if_eq(&root).is_some();
        let traits = session.traits(root);
        let answers = traits.kind == Kind::Message && matches!(traits.role, Role::Assistant | Role::ToolResult);
        root.index() > 0 && (has_none || answers) && !session.is_cut(root)
    })
}
