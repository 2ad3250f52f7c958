//! Findings in how entries are connected: cuts, loops, duplicate ids, labels, times, and the leaf.

use super::codes::Code;
use super::finding::{Detail, RawFinding};
use super::path::{self, PathCuts};
use crate::core::entry::{Kind, Role};
use crate::core::error::Result;
use crate::core::read::inspect::{DuplicateId, LineNotes};
use crate::core::session::body::Bodies;
use crate::core::session::{NodeId, Session};
use crate::core::tree::walk;

/// How many milliseconds an entry may be older than its parent: clocks differ, and agents stamp some
/// entries before they write them.
const CLOCK_SKEW: i64 = 5 * 60 * 1000;

pub(super) fn check(session: &Session, notes: &LineNotes, found: &mut Vec<RawFinding>) -> Result<()> {
    let cuts = PathCuts::find(session, notes);
    count_lost(notes, &cuts, found);
    if let Some(leaf) = session.leaf()
        && let Some(finding) = found.iter_mut().find(|finding| finding.code == Code::ForeignLeaf)
    {
        *finding = finding.losing(session.ancestors(leaf).count());
    }
    let mut push_cut = |code, node| {
        let above = cuts.above.get(&node).copied().unwrap_or(path::Continuation::Unknown);
        found.push(RawFinding::of(session, code, node, Detail::Above(above)).losing(cuts.beyond(node)));
    };
    session.orphans().for_each(|(orphan, _)| push_cut(Code::Orphan, orphan));
    path::severed(session, notes).for_each(|root| push_cut(Code::SeveralRoots, root));
    loops(session, &cuts, found)?;
    duplicates(session, notes, found)?;
    labels(session, found);
    times(session, found);
    if session.stores_leaf() {
        return stored_leaf(session, found);
    }
    writers(session, found);
    if descendants(session, found) {
        return Ok(());
    }
    leaf(session, found)
}

/// Reports a last entry with entries below it, and returns whether it is one.
fn descendants(session: &Session, found: &mut Vec<RawFinding>) -> bool {
    let has_children = |&leaf: &NodeId| !session.children(leaf).is_empty();
    let Some(leaf) = session.leaf().filter(has_children).filter(|_| session.cuts().is_empty()) else { return false };
    let subtrees = walk::Subtrees::new(session);
    let below = session.nodes().filter(|&node| node != leaf && subtrees.is_above(leaf, node));
    let Some(newest) = below.max_by_key(|&node| session.stamp(node).ms()) else { return false };
    let finding = RawFinding::of(session, Code::LeafNotLast, leaf, Detail::Node(newest));
    found.push(finding.losing(subtrees.size(leaf).saturating_sub(1)));
    true
}

/// Reports a file that says where its leaf is, if agents that do not read that resume elsewhere, or with
/// another conversation; and marks that are ignored.
fn stored_leaf(session: &Session, found: &mut Vec<RawFinding>) -> Result<()> {
    for mark in session.ignored_marks() {
        found.push(RawFinding::new(Code::MarkWithoutTarget, session.line(mark), Some(mark), Detail::Nothing));
    }
    // The path that they take: from the last entry on, by the parents that entries name.
    let mut theirs = vec![false; session.len()];
    let mut bodies = Bodies::new(session);
    let last = session.nodes().next_back();
    let mut at = last;
    while let Some(node) = at.filter(|node| !std::mem::replace(&mut theirs[node.index()], true)) {
        at = bodies.entry(node)?.parent_id().and_then(|parent| session.find(&parent));
    }
    let Some(last) = last else { return Ok(()) };
    let ours = walk::active(session, session.leaf());
    let differs = |node: NodeId| ours[node.index()] != theirs[node.index()] && !session.is_mark(node);
    let is_reset = |node: NodeId| ours[node.index()] && session.traits(node).kind == Kind::Reset;
    if session.nodes().any(|node| differs(node) || is_reset(node)) {
        let lost = session.nodes().filter(|node| ours[node.index()] && !theirs[node.index()]).count();
        let mut finding = RawFinding::new(Code::StoredLeaf, session.line(last), Some(last), Detail::Nothing);
        finding.unreachable = Some(u32::try_from(lost).unwrap_or(u32::MAX));
        found.push(finding);
    }
    Ok(())
}

/// Sets how many entries were lost with damaged lines.
fn count_lost(notes: &LineNotes, cuts: &PathCuts, found: &mut [RawFinding]) {
    let mut lost = notes.lost.iter().enumerate().peekable();
    // Both lists are in the order of the file.
    let is_damage =
        |code: Code| matches!(code, Code::MalformedLine | Code::UnfinishedLine | Code::NulRun | Code::GluedObjects);
    for finding in found.iter_mut().filter(|finding| is_damage(finding.code)) {
        while lost.next_if(|(_, lost)| lost.line < finding.line).is_some() {}
        let (mut own, mut beyond) = (0, 0);
        while let Some((place, _)) = lost.next_if(|(_, lost)| lost.line == finding.line) {
            own += 1;
            beyond = beyond.max(cuts.beyond_lost(place));
        }
        *finding = finding.losing(own + beyond);
    }
}

/// Reports entries that are their own ancestors.
fn loops(session: &Session, cuts: &PathCuts, found: &mut Vec<RawFinding>) -> Result<()> {
    if session.cuts().is_empty() {
        return Ok(());
    }
    let subtrees = walk::Subtrees::new(session);
    let root_of_leaf = session.ancestors(session.leaf()).last();
    let mut bodies = Bodies::new(session);
    for &cut in session.cuts() {
        let is_own = session.version > 1 && bodies.entry(cut)?.parent_id().as_deref() == Some(session.id(cut));
        let code = if is_own { Code::SelfParent } else { Code::Cycle };
        let is_fatal = cuts.runs_into_a_loop && root_of_leaf == Some(cut);
        // Off the path agents show an entry that is its own parent as a root, but no entry of a loop.
        let count = match (is_fatal, is_own) {
            (true, _) => session.len(),
            (false, true) => 0,
            (false, false) => subtrees.size(cut),
        };
        found.push(RawFinding::of(session, code, cut, Detail::Count(u32::from(is_fatal))).losing(count));
    }
    Ok(())
}

/// Reports ids that are on several lines.
fn duplicates(session: &Session, notes: &LineNotes, found: &mut Vec<RawFinding>) -> Result<()> {
    for duplicate in &notes.duplicates {
        let same = is_same(session, duplicate)?;
        let code = if same { Code::DuplicateLine } else { Code::DuplicateId };
        let detail = Detail::Line(duplicate.first_line);
        let finding = RawFinding::new(code, duplicate.line, session.on_line(duplicate.line), detail);
        found.push(finding.losing(usize::from(!same)));
    }
    Ok(())
}

fn is_same(session: &Session, duplicate: &DuplicateId) -> Result<bool> {
    const STEP: u32 = 64 * 1024;
    if duplicate.len != duplicate.first_len {
        return Ok(false);
    }
    let (mut new, mut first) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < duplicate.len {
        let count = STEP.min(duplicate.len - at);
        for (buffer, offset) in [(&mut new, duplicate.offset), (&mut first, duplicate.first_offset)] {
            buffer.resize(count as usize, 0);
            session.source.read_at(buffer, offset + u64::from(at))?;
        }
        if new != first {
            return Ok(false);
        }
        at += count;
    }
    Ok(true)
}

fn labels(session: &Session, found: &mut Vec<RawFinding>) {
    for (label, place) in session.labels().iter().zip(0..) {
        if label.target.is_none() {
            found.push(RawFinding::of(session, Code::LabelWithoutTarget, label.set_by, Detail::Index(place)));
        }
    }
}

fn times(session: &Session, found: &mut Vec<RawFinding>) {
    // A label that is copied into a new file keeps its old time.
    for node in session.nodes().filter(|&node| session.traits(node).kind != Kind::Label) {
        let parent = session.parent(node).and_then(|parent| session.stamp(parent).ms());
        if let (Some(own), Some(parent)) = (session.stamp(node).ms(), parent)
            && parent.saturating_sub(own) > CLOCK_SKEW
        {
            let gap = Detail::Gap(parent.saturating_sub(own));
            found.push(RawFinding::of(session, Code::TimeBackwards, node, gap));
        }
    }
}

/// Reports that two agents wrote at the same time: an answer that does not directly follow its parent in
/// the file, since entries of another conversation are in between. One agent alone never writes that:
/// going back starts with a new prompt.
fn writers(session: &Session, found: &mut Vec<RawFinding>) {
    let mut last: Option<NodeId> = None;
    let mut first = None;
    let mut count = 0;
    for node in session.nodes() {
        let traits = session.traits(node);
        let answers = traits.kind == Kind::Message && matches!(traits.role, Role::Assistant | Role::ToolResult);
        if answers
            && let (Some(parent), Some(between)) = (session.parent(node), last)
            && parent < between
        {
            count += 1;
            first = first.or(Some(node));
        }
        if traits.kind.is_conversation() {
            last = Some(node);
        }
    }
    if let Some(node) = first {
        found.push(RawFinding::of(session, Code::InterleavedWriters, node, Detail::Count(count)));
    }
}

/// Reports a leaf that is not part of a conversation and is not on the newest branch.
fn leaf(session: &Session, found: &mut Vec<RawFinding>) -> Result<()> {
    let is_talk = |node: NodeId| session.traits(node).kind.is_conversation();
    let Some(leaf) = session.leaf().filter(|&leaf| !is_talk(leaf)) else { return Ok(()) };
    let Some(newest) = session.nodes().rev().find(|&node| is_talk(node)) else { return Ok(()) };
    let active = walk::active(session, Some(leaf));
    if active[newest.index()] {
        return Ok(());
    }
    let mut bodies = Bodies::new(session);
    for node in session.ancestors(leaf).take_while(|&node| !is_talk(node)) {
        // `navigate --save` left it there on purpose.
        if bodies.is_saved_move(node)? {
            return Ok(());
        }
    }
    let left = session.ancestors(newest).take_while(|node| !active[node.index()]).count();
    found.push(RawFinding::of(session, Code::LeafOnOlderBranch, leaf, Detail::Node(newest)).losing(left));
    Ok(())
}
