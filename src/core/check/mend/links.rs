//! Fixes of ids and parents: lines that are there twice, entries that share an id, orphans, loops, and what
//! compactions keep.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::members;
use super::state::FileView;
use super::tasks::{Action, LineTask, Tasks};
use crate::core::check::codes::Code;
use crate::core::check::finding::Detail;
use crate::core::check::fixes::FixKind;
use crate::core::check::path::{Continuation, PathCuts};
use crate::core::entry::Scan;
use crate::core::error::Result;
use crate::core::json::splice::string_or_null;
use crate::core::migrate::lines::IdGenerator;
use crate::core::read::line;
use crate::core::session::body::Bodies;
use crate::core::session::{NodeId, Session};
use crate::core::tree::walk;

/// The members that name another entry.
const REFERENCES: [&str; 6] =
    ["parentId", "targetId", "fromId", "firstKeptEntryId", "appendParentId", "providerReplayThroughEntryId"];

/// Removes entries and headers that are there twice; that is a guess if the leaf is another one then.
pub(super) fn duplicate_lines(view: &FileView<'_>, tasks: &mut Tasks) -> Result<()> {
    let session = view.session;
    if session.stores_leaf() {
        return Ok(());
    }
    for finding in view.found(&[Code::DuplicateLine]) {
        let Detail::Line(first) = finding.detail else { continue };
        // Where a later line has the id, too, this one is no entry any more.
        let moves_leaf = finding.node.is_some_and(|node| {
            let before = node.0.checked_sub(1).map(|before| session.line(NodeId(before)));
            session.leaf() == Some(node) && before.is_some_and(|line| line > first)
        });
        let kind = if moves_leaf { FixKind::Guess } else { FixKind::Safe };
        if kind == FixKind::Safe || view.options.guesses {
            let entry_id = finding.node.map(|node| session.id(node).to_owned());
            let action = Action::RemoveCopy(copy_of(view, finding.line, first));
            tasks.push(finding.line, LineTask { code: finding.code, kind, entry_id, action });
        }
    }
    second_headers(view, tasks)
}

/// Says that a line goes since another one has the same.
fn copy_of(view: &FileView<'_>, line: u32, other: u32) -> String {
    let [line, other] = [line, other].map(|line| view.origins.of(line));
    if line == other {
        "removed: it is on the line twice".to_owned()
    } else {
        format!("removed: it is also line {other}")
    }
}

/// Removes headers that are the first one once more.
fn second_headers(view: &FileView<'_>, tasks: &mut Tasks) -> Result<()> {
    let lines: Vec<u32> = view.found(&[Code::SecondHeader]).map(|finding| finding.line).collect();
    if lines.is_empty() || view.counts_lines() {
        return Ok(());
    }
    let header = &view.session.header;
    line::each(view.source, |number, line| {
        if lines.binary_search(&number).is_ok() && line.bytes.trim_ascii() == header.raw {
            let action = Action::RemoveCopy(copy_of(view, number, header.line));
            let task = LineTask { code: Code::SecondHeader, kind: FixKind::Safe, entry_id: None, action };
            tasks.push(number, task);
        }
        true
    })
}

/// Sets new ids for the later ones of entries with one id; what comes after such an entry and names the id means it.
pub(super) fn duplicate_ids(view: &FileView<'_>, tasks: &mut Tasks) -> Result<()> {
    let session = view.session;
    if !view.options.guesses || session.stores_leaf() {
        return Ok(());
    }
    let lines: HashSet<u32> = view.found(&[Code::DuplicateId]).map(|finding| finding.line).collect();
    if lines.is_empty() {
        return Ok(());
    }
    let mut ids = FreshIds::new(session);
    let mut renamed: HashMap<String, String> = HashMap::new();
    let mut scan = Scan::default();
    line::each(view.source, |number, line| {
        let is_later = lines.contains(&number);
        if renamed.is_empty() && !is_later {
            return true;
        }
        let Ok(entry) = scan.read(line.bytes) else { return true };
        let mut changes = Vec::new();
        let mut named = None;
        for name in REFERENCES {
            let meant = entry.get_str(name).and_then(|id| renamed.get(id.as_ref()));
            if let Some(id) = meant {
                named.get_or_insert(name);
                changes.push((name, string_or_null(Some(id))));
            }
        }
        let own = entry.id().map(Cow::into_owned);
        let what = if let Some(own) = own.clone().filter(|_| is_later) {
            let fresh = ids.next();
            let what = format!("`id` set to \"{fresh}\", since another entry has \"{own}\"");
            changes.push(("id", string_or_null(Some(&fresh))));
            renamed.insert(own, fresh);
            what
        } else if let Some(name) = named {
            format!("`{name}` follows the entry with a new id before it")
        } else {
            return true;
        };
        let action = Action::Set(changes, what);
        tasks.push(number, LineTask { code: Code::DuplicateId, kind: FixKind::Guess, entry_id: own, action });
        true
    })
}

/// Ids that are free: the same ones each time the same file is mended.
struct FreshIds<'s> {
    session: &'s Session,
    generator: IdGenerator,
    used: HashSet<String>,
}

impl<'s> FreshIds<'s> {
    fn new(session: &'s Session) -> Self {
        let used = session.orphans().map(|(_, missing)| missing.to_owned()).collect();
        let generator = IdGenerator::new(&format!("{}/mend", session.header.id), 0);
        Self { session, generator, used }
    }

    fn next(&mut self) -> String {
        let id = self.generator.next(|id| self.session.find(id).is_none() && !self.used.contains(id));
        self.used.insert(id.clone());
        id
    }
}

/// Returns an id that no entry has or names.
pub(super) fn fresh_id(session: &Session) -> String {
    FreshIds::new(session).next()
}

/// Sets the parents of orphans and loops, what compactions keep, and what is odd in single entries.
pub(super) fn parents_and_members(view: &FileView<'_>, tasks: &mut Tasks) -> Result<()> {
    members::find(view, tasks);
    let session = view.session;
    if session.stores_leaf() {
        return Ok(());
    }
    for finding in view.found(&[Code::Cycle, Code::SelfParent]) {
        if let Some(node) = finding.node {
            set_parent(view, tasks, finding.code, FixKind::Safe, node, None);
        }
    }
    if !view.options.guesses {
        return Ok(());
    }
    let cuts = PathCuts::find(session, view.notes);
    let mut trees = Trees::new(session);
    for finding in view.found(&[Code::Orphan]) {
        let Some(node) = finding.node else { continue };
        let parent = match cuts.above.get(&node) {
            Some(Continuation::Certain { node: parent, .. }) => {
                Some(*parent).filter(|&parent| trees.join(parent, node))
            }
            Some(Continuation::Before { node: before, .. } | Continuation::Likely(before)) => {
                likely(session, &mut trees, *before, node)
            }
            Some(Continuation::Root { .. } | Continuation::Unknown) | None => None,
        };
        set_parent(view, tasks, Code::Orphan, FixKind::Guess, node, parent);
    }
    kept(view, &cuts, tasks)
}

/// Returns the entry that an orphan went on from, if that can only be guessed, and joins their trees: the nearest
/// before it that is not below it. Where lines are not in the order in which they were written, that may have
/// children that are before the orphan, in the file or by their times: then the conversation went on from these.
fn likely(session: &Session, trees: &mut Trees, before: NodeId, orphan: NodeId) -> Option<NodeId> {
    // Few lines stand in the wrong place, if any.
    const NEAR: u32 = 64;
    let near = (before.0.saturating_sub(NEAR)..=before.0).rev().map(NodeId);
    let mut parent = near.into_iter().find(|&parent| trees.root(parent.0) != orphan.0)?;
    for _ in 0..NEAR {
        let time = |node: NodeId| session.stamp(node).ms();
        let is_before = |child: NodeId| child < orphan || time(child).is_some_and(|at| Some(at) < time(orphan));
        let children = session.children(parent);
        let place = children.partition_point(|&child| child < orphan);
        let near = &children[place.saturating_sub(NEAR as usize)..children.len().min(place + NEAR as usize)];
        let newest = near.iter().copied().rev().find(|&child| is_before(child) && trees.root(child.0) != orphan.0);
        let Some(child) = newest else { break };
        parent = child;
    }
    trees.join(parent, orphan).then_some(parent)
}

fn set_parent(view: &FileView<'_>, tasks: &mut Tasks, code: Code, kind: FixKind, node: NodeId, parent: Option<NodeId>) {
    let session = view.session;
    let id = parent.map(|parent| session.id(parent));
    let what = match parent {
        Some(parent) => format!("`parentId` set to \"{}\", line {}", session.id(parent), view.old_line(parent)),
        None => "`parentId` set to null".to_owned(),
    };
    let action = Action::Set(vec![("parentId", string_or_null(id))], what);
    tasks.push(session.line(node), LineTask { code, kind, entry_id: Some(session.id(node).to_owned()), action });
}

/// Which entries are in one tree, also when orphans get parents: none may become its own ancestor.
struct Trees {
    /// By entry: its root; by root: the root of the tree that it was joined to.
    above: Vec<u32>,
}

impl Trees {
    fn new(session: &Session) -> Self {
        let mut above = vec![0; session.len()];
        for node in walk::display_order(session, None) {
            above[node.index()] = session.parent(node).map_or(node.0, |parent| above[parent.index()]);
        }
        Self { above }
    }

    /// Puts the tree of a root below an entry, unless the entry is in it.
    fn join(&mut self, parent: NodeId, root: NodeId) -> bool {
        let top = self.root(parent.0);
        if top == root.0 {
            return false;
        }
        self.above[root.index()] = top;
        true
    }

    fn root(&mut self, from: u32) -> u32 {
        let mut at = from;
        while self.above[at as usize] != at {
            // Halving the way keeps later walks short.
            self.above[at as usize] = self.above[self.above[at as usize] as usize];
            at = self.above[at as usize];
        }
        at
    }
}

/// Corrects the first kept entry of compactions if it is among what the damage took: what came after it is kept.
fn kept(view: &FileView<'_>, cuts: &PathCuts, tasks: &mut Tasks) -> Result<()> {
    let session = view.session;
    let mut bodies = Bodies::new(session);
    // Of very many compactions the last ones, which count, are enough: each costs a walk to the root.
    let mut steps = session.len().saturating_mul(64);
    let found: Vec<_> = view.found(&[Code::KeptEntryMissing]).collect();
    for finding in found.into_iter().rev() {
        let Some(compaction) = finding.node.filter(|_| steps > 0) else { continue };
        let Some(kept) = bodies.entry(compaction)?.get_str("firstKeptEntryId").map(Cow::into_owned) else { continue };
        let path = repaired_path(session, cuts, compaction);
        steps = steps.saturating_sub(path.len());
        let orphans = || path.iter().copied().filter(|&node| session.missing_parent(node).is_some());
        let child = orphans().find(|&node| session.missing_parent(node) == Some(&kept));
        let remains = view.notes.lost.iter().find(|lost| lost.id.as_deref() == Some(&kept)).map(|lost| lost.line);
        let after = |line: u32| path.iter().rev().copied().find(|&node| session.line(node) > line);
        // If there is one gap only, it was in that.
        let mut gaps = orphans();
        let only = gaps.next().filter(|_| gaps.next().is_none());
        let Some(first) = child.or_else(|| after(remains?)).or(only) else { continue };
        let id = session.id(first);
        let what = format!("`firstKeptEntryId` set to \"{id}\", line {}", view.old_line(first));
        let action = Action::Set(vec![("firstKeptEntryId", string_or_null(Some(id)))], what);
        let entry_id = Some(session.id(compaction).to_owned());
        tasks.push(finding.line, LineTask { code: finding.code, kind: FixKind::Guess, entry_id, action });
    }
    Ok(())
}

/// Returns the entries above a compaction, the nearest first, over all cuts.
fn repaired_path(session: &Session, cuts: &PathCuts, from: NodeId) -> Vec<NodeId> {
    let mut seen = vec![false; session.len()];
    seen[from.index()] = true;
    let mut path = Vec::new();
    let next = |node: NodeId| session.parent(node).or_else(|| cuts.above.get(&node)?.node());
    let mut at = next(from);
    while let Some(node) = at.filter(|node| !std::mem::replace(&mut seen[node.index()], true)) {
        path.push(node);
        at = next(node);
    }
    path
}
