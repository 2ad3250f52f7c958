//! Where agents resume a session, why there, and what the other branches are.

use std::collections::HashSet;

use super::Code;
use crate::core::context;
use crate::core::entry::Kind;
use crate::core::error::Result;
use crate::core::read::source::Source;
use crate::core::session::body::Bodies;
use crate::core::session::{NodeId, Session};
use crate::core::time::Stamp;
use crate::core::tree::walk;

/// So many entries are walked over to count the messages of branches whose contexts need more than
/// adding up; beyond that they are not counted.
const STEPS: usize = 20_000_000;

/// The end of a branch.
#[derive(Clone, Debug)]
pub struct ResumeTip {
    /// The last entry's id.
    pub id: String,
    /// Its 1-based line.
    pub line: u32,
    /// When the last entry of its conversation was made.
    pub stamp: Stamp,
    /// How many messages a model would get there, if it was counted.
    pub messages: Option<usize>,
    /// Whether it is where agents resume.
    pub is_active: bool,
    /// The words of the last entry of its conversation.
    pub words: String,
}

/// Where agents resume, and where they could.
#[derive(Clone, Debug)]
pub struct Resume {
    /// The entry that agents resume at; `None` if they start anew.
    pub leaf: Option<String>,
    /// Its 1-based line.
    pub line: Option<u32>,
    /// Why there.
    pub why: String,
    /// The ends of all branches, the one with the newest conversation first.
    pub tips: Vec<ResumeTip>,
}

/// Explains where agents resume a session.
///
/// # Errors
/// [`Error`](crate::core::error::Error) if it is no session or cannot be read.
pub fn explain(source: Source, jobs: usize) -> Result<Resume> {
    let (session, notes) = Session::inspect(source, jobs)?;
    let mut found = Vec::new();
    super::lines::check(&session, &notes, None, &mut found);
    let foreign = found.iter().find(|spot| spot.code == Code::ForeignLeaf).map(|spot| spot.line);
    super::tree::check(&session, &notes, &mut found)?;
    let newest = found.iter().find(|spot| spot.code == Code::LeafOnOlderBranch);
    let leaf = session.leaf();
    let why = match (foreign, leaf) {
        (Some(line), Some(leaf)) => format!(
            "line {line}, the last one, has no `id`: agents take it as the leaf and start anew; `session-tree` goes on at `{}`, line {}",
            session.id(leaf),
            session.line(leaf)
        ),
        (Some(line), None) => format!("line {line}, the last one, has no `id`, and there is no entry"),
        (None, None) => "there is no entry: the conversation starts anew".to_owned(),
        (None, Some(leaf)) => because(&session, leaf, newest.is_some()),
    };
    let tips = tips(&session, foreign.is_none())?;
    let leaf = leaf.filter(|_| foreign.is_none());
    Ok(Resume {
        leaf: leaf.map(|leaf| session.id(leaf).to_owned()),
        line: leaf.map(|leaf| session.line(leaf)),
        why,
        tips,
    })
}

fn because(session: &Session, leaf: NodeId, is_older: bool) -> String {
    let kind = session.traits(leaf).kind;
    let what = kind.name().unwrap_or("unknown type");
    let mut why = format!("it is the last entry of the file ({what})");
    if !kind.is_conversation() {
        let talk = session.ancestors(session.parent(leaf)).find(|&node| session.traits(node).kind.is_conversation());
        why += &match talk {
            Some(talk) => {
                format!("; the conversation goes on below `{}`, line {}", session.id(talk), session.line(talk))
            }
            None => "; no conversation is above it".to_owned(),
        };
    }
    if is_older {
        why += "; that is not the newest conversation";
    }
    why
}

fn tips(session: &Session, leaf_counts: bool) -> Result<Vec<ResumeTip>> {
    let sums = MessageCounts::new(session)?;
    let leaf = session.leaf();
    let mut bodies = Bodies::new(session);
    let mut steps = 0;
    let mut tips = Vec::new();
    for (node, talk) in walk::newest_tips(session) {
        let messages = match sums.messages(node) {
            Some(messages) => Some(messages),
            None => {
                steps += sums.depth[node.index()] as usize;
                let is_cheap = steps <= STEPS;
                is_cheap
                    .then(|| context::build(&mut bodies, Some(node)))
                    .transpose()?
                    .map(|context| context.messages.len())
            }
        };
        tips.push(ResumeTip {
            id: session.id(node).to_owned(),
            line: session.line(node),
            stamp: session.stamp(talk),
            messages,
            is_active: leaf_counts && leaf == Some(node),
            words: bodies.words(talk)?,
        });
    }
    Ok(tips)
}

/// What adds up along paths, so that many branches cost no more than their entries.
struct MessageCounts {
    /// Messages up to each entry, if nothing on its path does more than add one.
    messages: Vec<u32>,
    is_plain: Vec<bool>,
    depth: Vec<u32>,
}

impl MessageCounts {
    fn new(session: &Session) -> Result<Self> {
        let order = walk::display_order(session, session.leaf());
        let empty = empty_summaries(session)?;
        let mut sums = Self {
            messages: vec![0; order.len()],
            is_plain: vec![true; order.len()],
            depth: walk::depths(session, &order),
        };
        for &node in &order {
            let traits = session.traits(node);
            let adds = match traits.kind {
                Kind::Message => traits.role.is_known(),
                Kind::CustomMessage => true,
                Kind::BranchSummary => !empty.contains(&node),
                _ => false,
            };
            let at = node.index();
            let above = session.parent(node).map(NodeId::index);
            sums.messages[at] = above.map_or(0, |above| sums.messages[above]) + u32::from(adds);
            sums.is_plain[at] = above.is_none_or(|above| sums.is_plain[above])
                && !matches!(traits.kind, Kind::Compaction | Kind::ContextEdit | Kind::ResetBoundary);
        }
        Ok(sums)
    }

    fn messages(&self, node: NodeId) -> Option<usize> {
        self.is_plain[node.index()].then_some(self.messages[node.index()] as usize)
    }
}

/// Finds the branch summaries that add nothing.
fn empty_summaries(session: &Session) -> Result<HashSet<NodeId>> {
    let mut bodies = Bodies::new(session);
    let mut empty = HashSet::new();
    for node in session.nodes().filter(|&node| session.traits(node).kind == Kind::BranchSummary) {
        if bodies.entry(node)?.get_str("summary").is_none_or(|summary| summary.is_empty()) {
            empty.insert(node);
        }
    }
    Ok(empty)
}
