//! What fills a context: its messages and their estimated tokens by origin, what the compaction in
//! force keeps out, and the usage along the path. Estimates come from [`message::tokens`]; no
//! tokenizer is involved.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::message;
use super::usage::{self, Usage};
use crate::core::context::{Context, ContextMessage, builder, held};
use crate::core::entry::message::Message;
use crate::core::entry::{Entry, Role, usage as recorded};
use crate::core::error::Result;
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
    /// The usage along the path, or of all branches, also of entries that are no longer in the context.
    pub usage: Usage,
    /// What the last answer records of its request; `None` for all branches.
    pub request: Option<RequestSize>,
    /// What the compaction in force keeps out, if there is one.
    pub compaction: Option<CompactionSize>,
}

/// The tokens of a request, as its answer records them: with the agent's own system prompt and tools.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RequestSize {
    /// The answer.
    pub node: NodeId,
    /// All tokens that were sent, also those from a cache.
    pub tokens: f64,
}

/// Measures a context on up to `jobs` threads.
pub fn measure(bodies: &mut Bodies<'_>, context: &Context, jobs: usize) -> Result<Stats> {
    let hidden = held::hidden(bodies, context)?;
    let hidden_messages = hidden.as_ref().map_or(&[][..], |hidden| &hidden.messages);
    let path = walk::path(bodies.session(), context.leaf);
    let request = request(bodies, &path, hidden.as_ref().map(|hidden| hidden.compaction))?;
    let (sizes, usage) = sums(bodies, path, &context.messages, hidden_messages, jobs)?;
    let mut compaction = None;
    if let Some(node) = hidden.map(|hidden| hidden.compaction) {
        let tokens_before = usage::tokens(bodies.entry(node)?.get("tokensBefore"));
        compaction = Some(CompactionSize { node, hidden: sizes.hidden, tokens_before });
    }
    Ok(Stats { all: sizes.all, parts: sizes.parts(), usage, request, compaction })
}

/// Returns what the last answer on a path records of its request. What was sent before the compaction in force says
/// nothing of the context.
fn request(bodies: &mut Bodies<'_>, path: &[NodeId], compaction: Option<NodeId>) -> Result<Option<RequestSize>> {
    let session = bodies.session();
    for &node in path.iter().rev().take_while(|&&node| Some(node) != compaction) {
        let traits = session.traits(node);
        if traits.role != Role::Assistant {
            continue;
        }
        let amounts = recorded::of(bodies.entry(node)?, traits).and_then(|found| found.amounts).unwrap_or_default();
        let tokens = amounts.input + amounts.cache_read + amounts.cache_write;
        if tokens > 0.0 {
            return Ok(Some(RequestSize { node, tokens }));
        }
    }
    Ok(None)
}

/// Measures all branches of a session, each entry once, whatever compactions hide.
pub(crate) fn measure_all(bodies: &mut Bodies<'_>, jobs: usize) -> Result<Stats> {
    let session = bodies.session();
    let nodes: Vec<_> = session.nodes().filter(|&node| !session.is_mark(node)).collect();
    let messages = builder::every(bodies, &nodes)?;
    let (sizes, usage) = sums(bodies, nodes, &messages, &[], jobs)?;
    Ok(Stats { all: sizes.all, parts: sizes.parts(), usage, request: None, compaction: None })
}

/// Sums up the usage that some entries record, and the sizes of messages, shown and hidden ones. Messages that these
/// entries store are measured with their usage, so that each is read once.
fn sums(
    bodies: &mut Bodies<'_>,
    mut nodes: Vec<NodeId>,
    shown: &[ContextMessage],
    hidden: &[ContextMessage],
    jobs: usize,
) -> Result<(Sizes, Usage)> {
    let session = bodies.session();
    let mut places = vec![MessagePlace::Elsewhere; session.len()];
    nodes.iter().for_each(|node| places[node.index()] = MessagePlace::Path);
    let mut others = Vec::new();
    for (items, place) in [(shown, MessagePlace::Shown), (hidden, MessagePlace::Hidden)] {
        for item in items {
            match *item {
                ContextMessage::Stored(node) if places[node.index()] == MessagePlace::Path => {
                    places[node.index()] = place
                }
                _ => others.push((item, place)),
            }
        }
    }
    let is_message = |node: NodeId| places[node.index()] != MessagePlace::Path;
    let source = |node: NodeId| recorded::source(session.traits(node));
    nodes.retain(|&node| is_message(node) || source(node).is_some());
    let measure = |node, entry: Entry<'_>| {
        let origin =
            is_message(node).then(|| Origin::of(Message::stored(entry), ContextMessage::Stored(node).role(session)));
        (origin, recorded::of(entry, session.traits(node)))
    };
    let (mut usage, mut sizes) = (Usage::default(), Sizes::default());
    each(session, &nodes, jobs, measure, |node, (origin, found)| {
        origin.into_iter().for_each(|origin| sizes.add(places[node.index()], origin));
        source(node).zip(found).into_iter().for_each(|(name, found)| usage.add(name, found));
    })?;
    let mut scratch = Vec::new();
    for (item, place) in others {
        let role = item.role(session);
        sizes.add(place, message::with(bodies, item, &mut scratch, |message| Origin::of(message, role))?);
    }
    Ok((sizes, usage))
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
            bodies.read_ahead(chunks[at].iter().copied());
            chunks[at].iter().map(|&node| Ok(measure(node, bodies.stored(node)?))).collect()
        }
    };
    Pool::new(jobs, jobs * AHEAD).run(chunks.len(), worker, |at, made| {
        chunks[at].iter().zip(made?).for_each(|(&node, result)| take(node, result));
        Ok(())
    })
}

/// Where an entry is, and its message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MessagePlace {
    /// Not among those that are measured.
    Elsewhere,
    /// Among them, but without a message that is measured.
    Path,
    /// Its message is in the context.
    Shown,
    /// Its message is kept out by the compaction in force.
    Hidden,
}

/// The tokens of a message, and where it comes from.
struct Origin {
    role: &'static str,
    name: Option<String>,
    tokens: u64,
}

impl Origin {
    fn of(message: Message<'_>, role: &'static str) -> Self {
        let name = origin(role).and_then(|member| message.get_str(member)).filter(|name| !name.is_empty());
        Self { role, name: name.map(|name| name.into_owned()), tokens: message::tokens(message) }
    }
}

/// The sums of what is measured.
#[derive(Default)]
struct Sizes {
    all: Size,
    groups: HashMap<(&'static str, Option<String>), Size>,
    hidden: Size,
}

impl Sizes {
    fn add(&mut self, place: MessagePlace, Origin { role, name, tokens }: Origin) {
        if place == MessagePlace::Hidden {
            return self.hidden.add(tokens);
        }
        self.all.add(tokens);
        self.groups.entry((role, name)).or_default().add(tokens);
    }

    /// Returns the groups, the largest first.
    fn parts(self) -> Vec<MessageGroup> {
        let groups = self.groups.into_iter();
        let mut parts: Vec<_> = groups.map(|((role, name), size)| MessageGroup { role, name, size }).collect();
        parts.sort_by(|a, b| {
            let key = |part: &MessageGroup| (Reverse(part.size.tokens), Reverse(part.size.messages), part.role);
            key(a).cmp(&key(b)).then_with(|| a.name.cmp(&b.name))
        });
        parts
    }
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
