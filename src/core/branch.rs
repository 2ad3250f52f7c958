//! Forking a session into a new file (semantics: "Branching").

use std::collections::{BTreeSet, HashMap};
use std::io::Write;

use super::body::Bodies;
use super::draft::{Draft, Value, World};
use super::entry::{BlockKind, Kind, Role};
use super::error::{Error, Result};
use super::header::CURRENT;
use super::json::Object;
use super::session::{NodeId, Session};
use super::text::push_json;
use super::upgrade;
use super::walk;

/// What a new session holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fork {
    /// The entry that was named.
    pub entry: NodeId,
    /// The text of the user message that it forks at.
    pub selected_text: Option<String>,
    /// The entries to copy, in order, without labels.
    pub kept: Vec<NodeId>,
    /// The path with its labels.
    path: Vec<NodeId>,
}

/// What tells a new session from others.
#[derive(Clone, Debug)]
pub struct Identity {
    /// Its id.
    pub id: String,
    /// Where it comes from; `None` if it has no file to come from.
    pub parent: Option<String>,
}

/// What was written of a fork.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Lines behind the header.
    pub entries: usize,
    /// How many of them are labels.
    pub labels: usize,
    /// The id of the last one.
    pub leaf: Option<String>,
}

impl Fork {
    /// Plans a fork before a user message.
    ///
    /// # Errors
    /// [`Error::NotAUserMessage`]; and as [`Bodies::entry`].
    pub fn before(bodies: &mut Bodies<'_>, entry: NodeId) -> Result<Self> {
        let session = bodies.session();
        if !session.is_user(entry) {
            let mut above = session.ancestors(session.parent(entry));
            let nearest = above.find(|&node| session.is_user(node)).map(|node| session.id(node).to_owned());
            let what = what_is(session, entry);
            return Err(Error::NotAUserMessage { id: session.id(entry).to_owned(), what, nearest });
        }
        let selected_text = Some(bodies.entry(entry)?.full_text());
        Ok(Self { selected_text, ..Self::up_to(session, entry, session.parent(entry)) })
    }

    /// Plans a copy up to and including an entry.
    pub fn at(session: &Session, entry: NodeId) -> Self {
        Self::up_to(session, entry, Some(entry))
    }

    fn up_to(session: &Session, entry: NodeId, last: Option<NodeId>) -> Self {
        let path = walk::path(session, last);
        let kept = path.iter().copied().filter(|&node| !is_label(session, node)).collect();
        Self { entry, selected_text: None, kept, path }
    }

    /// Writes the new session.
    ///
    /// # Errors
    /// As [`Bodies::entry`], and what `out` says.
    pub fn write(
        &self,
        bodies: &mut Bodies<'_>,
        identity: &Identity,
        world: &mut World<'_>,
        out: &mut dyn Write,
    ) -> Result<Written> {
        let session = bodies.session();
        let mut put = |bytes: &[u8]| out.write_all(bytes).map_err(|cause| Error::writing("cannot write", cause));
        put(&header(session, identity, &world.now))?;
        let next_kept = self.next_kept(session);
        let mut parent: Option<&str> = None;
        for &node in &self.kept {
            let entry = bodies.entry(node)?;
            let mut changes = Vec::new();
            let named = entry.get("parentId").map(|named| named.str());
            let is_right = match (&named, parent) {
                (Some(Some(named)), Some(parent)) => named == parent,
                (Some(None), None) => entry.get("parentId").is_some_and(|named| named.bytes() == b"null"),
                _ => false,
            };
            if !is_right {
                changes.push(("parentId", parent));
            }
            if entry.kind() == Kind::Compaction {
                for name in ["firstKeptEntryId", "providerReplayThroughEntryId"] {
                    let next = entry.get_str(name).and_then(|id| next_kept.get(id.as_ref()).copied());
                    changes.extend(next.map(|next| (name, Some(next))));
                }
            }
            let line = upgrade::with_ids(entry.object().bytes(), &changes).into_owned();
            let (before, behind) = bodies.blanks(node)?;
            for piece in [&before[..], &line, &behind, b"\n"] {
                put(piece)?;
            }
            parent = Some(session.id(node));
        }
        let kept: HashMap<&str, NodeId> = self.kept.iter().map(|&node| (session.id(node), node)).collect();
        let is_taken = |id: &str| session.find(id).is_some();
        let mut now = Vec::new();
        push_json(&mut now, &world.now);
        let mut draft = Draft::new(world, parent.map(str::to_owned), &is_taken);
        for label in session.labels().iter().filter(|label| kept.contains_key(label.target_id.as_str())) {
            let entry = bodies.entry(label.set_by)?;
            let timestamp = entry.timestamp().map_or(&now[..], |timestamp| timestamp.bytes());
            let members = [("targetId", Value::Str(&label.target_id)), ("label", Value::Str(&label.name))];
            draft.append_at("label", timestamp, &members);
        }
        put(&draft.lines)?;
        let labels = draft.ids.len();
        Ok(Written { entries: self.kept.len() + labels, labels, leaf: draft.leaf().map(str::to_owned) })
    }

    /// Gives for each label on the path the next entry that is kept.
    fn next_kept<'s>(&self, session: &'s Session) -> HashMap<&'s str, &'s str> {
        let mut next = HashMap::new();
        let mut waiting: Vec<NodeId> = Vec::new();
        for &node in &self.path {
            if is_label(session, node) {
                waiting.push(node);
            } else {
                next.extend(waiting.drain(..).map(|label| (session.id(label), session.id(node))));
            }
        }
        next
    }
}

fn is_label(session: &Session, node: NodeId) -> bool {
    session.traits(node).kind == Kind::Label
}

/// Finds the tool calls at the end of a path that have no result on it.
///
/// # Errors
/// As [`Bodies::entry`].
pub fn unanswered(bodies: &mut Bodies<'_>, path: &[NodeId]) -> Result<Vec<String>> {
    let session = bodies.session();
    let role = |node: NodeId| session.traits(node).role;
    let Some(at) = path.iter().rposition(|&node| role(node) == Role::Assistant) else { return Ok(Vec::new()) };
    let entry = bodies.entry(path[at])?;
    let calls = entry.blocks().filter(|block| block.kind() == BlockKind::ToolCall).filter_map(|call| call.id());
    let calls: Vec<String> = calls.map(|id| id.into_owned()).collect();
    let mut answered = BTreeSet::new();
    for &node in path[at + 1..].iter().filter(|&&node| role(node) == Role::ToolResult) {
        answered.extend(bodies.entry(node)?.tool_call_id().map(|id| id.into_owned()));
    }
    Ok(calls.into_iter().filter(|call| !answered.contains(call)).collect())
}

fn header(session: &Session, identity: &Identity, now: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut header = Object::new(&mut out);
    header.str("type", "session").number("version", CURRENT).str("id", &identity.id).str("timestamp", now);
    header.str("cwd", session.header.cwd.as_deref().unwrap_or(""));
    if let Some(parent) = &identity.parent {
        header.str("parentSession", parent);
    }
    drop(header);
    out.push(b'\n');
    out
}

/// Says what an entry is, for people.
fn what_is(session: &Session, node: NodeId) -> String {
    let traits = session.traits(node);
    match (traits.kind, session.role_name(node)) {
        (Kind::Message, Some(role)) => format!("a message of role {role}"),
        (kind, _) => format!("an entry of type {}", kind.name().unwrap_or("unknown")),
    }
}
