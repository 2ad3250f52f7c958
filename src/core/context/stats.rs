//! What fills a context: its messages and their estimated tokens by origin, what the compaction in
//! force keeps out, and the usage along the path. Estimates come from [`message::tokens`]; no
//! tokenizer is involved.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use super::message;
use super::usage::{self, Recorded, Usage};
use crate::core::context::{self, Context, ContextMessage};
use crate::core::entry::Entry;
use crate::core::error::Result;
use crate::core::json::Raw;
use crate::core::session::body::Bodies;
use crate::core::session::{NodeId, Session};
use crate::core::tree::walk;
use crate::parallel::Pool;

/// The number and size of some messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// How many there are.
    pub messages: usize,
    /// Their estimated tokens.
    pub tokens: u64,
}

impl Size {
    /// Adds a message.
    pub fn add(&mut self, tokens: u64) {
        self.messages += 1;
        self.tokens += tokens;
    }

    /// Returns these tokens as a percentage of those of `all`, rounded to one digit.
    pub(crate) fn share(self, all: Self) -> f64 {
        let share = (self.tokens * 1000 + all.tokens / 2).checked_div(all.tokens).unwrap_or(0);
        f64::from(u32::try_from(share).unwrap_or(u32::MAX)) / 10.0
    }
}

/// The messages of one origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageGroup {
    /// Their role.
    pub role: &'static str,
    /// The tool of tool results, or the type of custom messages.
    pub name: Option<String>,
    /// Their size.
    pub size: Size,
}

/// The size of what the compaction in force keeps out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompactionSize {
    /// The compaction.
    pub node: NodeId,
    /// The messages before it that are not in the context.
    pub hidden: Size,
    /// The stored `tokensBefore`; `None` if it is not a possible number of tokens.
    pub tokens_before: Option<u64>,
}

/// What fills a context.
#[derive(Clone, Debug, PartialEq)]
pub struct Stats {
    /// All messages.
    pub all: Size,
    /// The messages by origin, the largest group first.
    pub parts: Vec<MessageGroup>,
    /// The usage along the path, also of entries that are no longer in the context.
    pub usage: Usage,
    /// What the compaction in force keeps out, if there is one.
    pub compaction: Option<CompactionSize>,
}

/// Returns the size of messages, measured on up to `jobs` threads.
pub(crate) fn size(bodies: &mut Bodies<'_>, items: &[ContextMessage], jobs: usize) -> Result<Size> {
    let mut size = Size::default();
    let mut scratch = Vec::new();
    let stored = |item: &ContextMessage| if let ContextMessage::Stored(node) = *item { Some(node) } else { None };
    let nodes: Vec<_> = items.iter().filter_map(stored).collect();
    let measure = |_, entry: Entry<'_>| message::tokens(entry.message().unwrap_or(Raw::new(b"null")));
    each(bodies.session(), &nodes, jobs, measure, |_, tokens| size.add(tokens))?;
    for &item in items.iter().filter(|item| stored(item).is_none()) {
        size.add(message::with(bodies, item, &mut scratch, message::tokens)?);
    }
    Ok(size)
}

/// Measures a context on up to `jobs` threads.
pub fn measure(bodies: &mut Bodies<'_>, context: &Context, jobs: usize) -> Result<Stats> {
    let session = bodies.session();
    let hidden = context::hidden(bodies, context)?;
    let is_stored = |item: &&ContextMessage| matches!(item, ContextMessage::Stored(_));
    let messages = hidden.iter().flat_map(|hidden| &hidden.messages).chain(&context.messages);
    let stored: HashSet<_> = messages.filter(is_stored).map(|item| item.node()).collect();
    // Each entry is read once: for the usage along the path, and for its message in the context.
    let mut nodes = walk::path(session, context.leaf);
    nodes.retain(|node| stored.contains(node) || usage::source(session.traits(*node)).is_some());
    let (mut usage, mut messages) = (Usage::default(), HashMap::new());
    let measure = |node, entry: Entry<'_>| {
        let role = ContextMessage::Stored(node).role(session);
        let origin = entry.message().map(|message| Origin::of(message, role));
        (origin, Recorded::of(entry, session.traits(node)))
    };
    each(session, &nodes, jobs, measure, |node, (origin, recorded)| {
        recorded.into_iter().for_each(|recorded| usage.add(recorded));
        messages.extend(origin.filter(|_| stored.contains(&node)).map(|origin| (node, origin)));
    })?;
    let (all, parts) = parts(bodies, &context.messages, &messages)?;
    let mut compaction = None;
    if let Some(hidden) = hidden {
        let (size, _) = self::parts(bodies, &hidden.messages, &messages)?;
        let node = hidden.compaction;
        let tokens_before = usage::tokens(bodies.entry(node)?.get("tokensBefore"));
        compaction = Some(CompactionSize { node, hidden: size, tokens_before });
    }
    Ok(Stats { all, parts, usage, compaction })
}

/// How many entries a thread measures at once.
const CHUNK: usize = 256;
/// How many chunks each thread may be ahead.
const AHEAD: usize = 4;
/// Of entries of more bytes only one is read at a time.
const LONG: u32 = 4 * 1024 * 1024;

/// Calls `measure` with each of some entries on up to `jobs` threads, and `take` with each result in order.
fn each<T: Send>(
    session: &Session,
    nodes: &[NodeId],
    jobs: usize,
    measure: impl Fn(NodeId, Entry<'_>) -> T + Sync,
    mut take: impl FnMut(NodeId, T),
) -> Result<()> {
    let is_long = |node: &NodeId| session.nodes[node.index()].len > LONG;
    let jobs = if nodes.iter().any(is_long) { 1 } else { jobs };
    let chunks: Vec<_> = nodes.chunks(CHUNK).collect();
    let worker = || {
        let mut bodies = Bodies::new(session);
        let (measure, chunks) = (&measure, &chunks);
        move |at: usize| -> Result<Vec<T>> {
            chunks[at].iter().map(|&node| Ok(measure(node, bodies.entry(node)?))).collect()
        }
    };
    Pool::new(jobs, jobs * AHEAD).run(chunks.len(), worker, |at, made| {
        chunks[at].iter().zip(made?).for_each(|(&node, result)| take(node, result));
        Ok(())
    })
}

/// The tokens of a message, and the name of its origin.
struct Origin {
    tokens: u64,
    name: Option<String>,
}

impl Origin {
    fn of(message: Raw<'_>, role: &str) -> Self {
        let name = origin(role).and_then(|member| message.get_str(member)).filter(|name| !name.is_empty());
        Self { tokens: message::tokens(message), name: name.map(|name| name.into_owned()) }
    }
}

/// Groups messages by origin, of which some have been measured.
fn parts(
    bodies: &mut Bodies<'_>,
    items: &[ContextMessage],
    measured: &HashMap<NodeId, Origin>,
) -> Result<(Size, Vec<MessageGroup>)> {
    let session = bodies.session();
    let mut all = Size::default();
    let mut sizes: HashMap<(&'static str, Option<String>), Size> = HashMap::new();
    let mut scratch = Vec::new();
    for &item in items {
        let role = item.role(session);
        let known = if let ContextMessage::Stored(node) = item { measured.get(&node) } else { None };
        let (tokens, name) = match known {
            Some(Origin { tokens, name }) => (*tokens, name.clone()),
            None => {
                let Origin { tokens, name } =
                    message::with(bodies, item, &mut scratch, |message| Origin::of(message, role))?;
                (tokens, name)
            }
        };
        all.add(tokens);
        sizes.entry((role, name)).or_default().add(tokens);
    }
    let mut parts: Vec<_> = sizes.into_iter().map(|((role, name), size)| MessageGroup { role, name, size }).collect();
    parts.sort_by(|a, b| {
        let key = |part: &MessageGroup| (Reverse(part.size.tokens), Reverse(part.size.messages), part.role);
        key(a).cmp(&key(b)).then_with(|| a.name.cmp(&b.name))
    });
    Ok((all, parts))
}

/// Returns the member that names the origin of a message more exactly than its role does.
fn origin(role: &str) -> Option<&'static str> {
    match role {
        "toolResult" => Some("toolName"),
        "custom" | "hookMessage" => Some("customType"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::Size;

    #[test]
    fn share_is_a_percentage_with_one_digit() {
        let share = |tokens, all| Size { messages: 1, tokens }.share(Size { messages: 1, tokens: all }).to_string();
        assert_eq!(share(1, 3), "33.3");
        assert_eq!(share(2, 3), "66.7");
        assert_eq!(share(3, 3), "100");
        assert_eq!(share(0, 0), "0");
    }
}
