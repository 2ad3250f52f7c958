//! Where agents resume a session and why, with the tips of all branches (`check --why`). Uses the same
//! checks as findings do, so that both always say the same.

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

/// How many entries are visited at most to count the messages of branches with compactions, resets or
/// edits; further such branches are not counted.
const STEPS: usize = 20_000_000;

/// The end of a branch, where agents could resume.
#[derive(Clone, Debug)]
pub(crate) struct ResumeTip {
    /// The id of its last entry.
    pub id: String,
    /// The 1-based line of that entry.
    pub line: u32,
    /// The time of the last entry of its conversation.
    pub stamp: Stamp,
    /// How many messages a model would get there, if they were counted.
    pub messages: Option<usize>,
    /// Whether agents resume there.
    pub is_active: bool,
    /// The words of the last entry of its conversation.
    pub words: String,
}

/// Where agents resume, and where they could.
#[derive(Clone, Debug)]
pub(crate) struct Resume {
    /// The entry at which agents resume; `None` if they start with an empty conversation.
    pub leaf: Option<String>,
    /// Its 1-based line.
    pub line: Option<u32>,
    pub why: String,
    /// The ends of all branches, the one with the newest conversation first.
    pub tips: Vec<ResumeTip>,
}

/// Explains where agents resume a session.
///
/// # Errors
/// [`Error`](crate::core::error::Error) if the file is not a session or cannot be read.
pub(crate) fn explain(source: Source, jobs: usize) -> Result<Resume> {
    let (session, notes) = Session::inspect(source, jobs)?;
    let mut found = Vec::new();
    super::lines::check(&session, &notes, None, &mut found);
    let foreign = found.iter().find(|finding| finding.code == Code::ForeignLeaf).map(|finding| finding.line);
    super::tree::check(&session, &notes, &mut found)?;
    let newest = found.iter().find(|finding| finding.code == Code::LeafOnOlderBranch);
    let leaf = session.leaf();
    let why = match (foreign, leaf) {
        (Some(line), Some(leaf)) => format!(
            "line {line}, the last one, has no `id`: agents take it as the leaf and start with an empty conversation; `session-tree` resumes at `{}`, line {}",
            session.id(leaf),
            session.line(leaf)
        ),
        (Some(line), None) => format!("line {line}, the last one, has no `id`, and there is no entry"),
        (None, None) if session.stores_leaf() => "the file moved the leaf to before the first entry".to_owned(),
        (None, None) => "there is no entry: the conversation starts empty".to_owned(),
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
    let mut why = match session.stores_leaf() {
        true => format!("the file says so, in the way of openclaw ({what}); pi and omp take its last entry"),
        false => format!("it is the last entry of the file ({what})"),
    };
    if !kind.is_conversation() {
        let talk = session.ancestors(session.parent(leaf)).find(|&node| session.traits(node).kind.is_conversation());
        why += &match talk {
            Some(talk) => {
                format!("; the conversation goes on below `{}`, line {}", session.id(talk), session.line(talk))
            }
            None => "; there is no conversation above it".to_owned(),
        };
    }
    if is_older {
        why += "; this is not the newest conversation";
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

/// Counts of messages that add up along paths, so that all branches together cost one pass.
struct MessageCounts {
    /// By entry: the messages on its path, if every entry of that adds one or none.
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

/// Returns the branch summaries that add no message.
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
