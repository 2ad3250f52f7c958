//! Where agents resume a session and why (`check --why-leaf`). Uses the same checks as findings do, so that
//! both always say the same.

use super::Code;
use crate::core::error::Result;
use crate::core::read::load::LoadOptions;
use crate::core::read::source::Source;
use crate::core::session::{NodeId, Session};
use crate::core::tree::walk;

/// Where agents resume.
#[derive(Debug)]
pub(crate) struct Resume {
    pub session: Session,
    /// The entry at which agents resume; `None` if they start with an empty conversation.
    pub leaf: Option<NodeId>,
    pub why: String,
}

/// Explains where agents resume a session.
///
/// # Errors
/// [`Error`](crate::core::error::Error) if the file is not a session or cannot be read.
pub(crate) fn explain(source: Source, jobs: usize) -> Result<Resume> {
    // The tips of its branches have sums.
    let keep = LoadOptions { usage: true, ..LoadOptions::INDEX_ONLY };
    let (session, notes) = Session::inspect(source, keep, jobs)?;
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
    Ok(Resume { leaf: leaf.filter(|_| foreign.is_none()), session, why })
}

fn because(session: &Session, leaf: NodeId, is_older: bool) -> String {
    let kind = session.traits(leaf).kind;
    let what = kind.name().unwrap_or("unknown type");
    let mut why = match session.stores_leaf() {
        true => format!("the file says so, in the way of openclaw ({what}); pi and omp take its last entry"),
        false => format!("it is the last entry of the file ({what})"),
    };
    if !kind.is_conversation() {
        why += &match walk::conversation(session, leaf) {
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
