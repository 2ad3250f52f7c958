//! From what a person types to an entry (cli: "Naming an entry").

use super::body::Bodies;
use super::error::{Error, Result};
use super::session::{NodeId, Session};

/// The fewest characters of an id that stand for it.
pub(crate) const PREFIX: usize = 4;
/// How many candidates an error lists.
const CANDIDATES: usize = 10;
/// How many near misses an error lists.
const NEAR: usize = 3;

/// Finds the one entry that goes by a name, seen from `leaf`.
///
/// # Errors
/// [`Error::NotFound`], [`Error::Ambiguous`], [`Error::TooFarUp`]; also [`Error::Changed`] and
/// [`Error::Io`], since candidates are listed with their text.
pub fn entry(session: &Session, leaf: Option<NodeId>, name: &str) -> Result<NodeId> {
    if let Some(node) = session.find(name) {
        return Ok(node);
    }
    let (base, steps) = split_steps(name);
    if let (Some(label), 1..) = (name.strip_prefix("label:"), steps)
        && let [node] = session.labelled(label)
        && session.labelled(&label[..base.len() - "label:".len()]).is_empty()
    {
        // The label itself ends like steps do.
        return Ok(*node);
    }
    let node = match matches(session, leaf, base) {
        Matches::One(node) => node,
        Matches::None => return Err(Error::NotFound { name: name.to_owned(), hint: hint(session, leaf, base) }),
        Matches::Many(nodes) => return Err(ambiguous(session, base, &nodes)?),
    };
    climb(session, node, steps, name)
}

/// What goes by a name.
enum Matches {
    None,
    One(NodeId),
    Many(Vec<NodeId>),
}

fn matches(session: &Session, leaf: Option<NodeId>, base: &str) -> Matches {
    if base == "@" {
        return leaf.map_or(Matches::None, Matches::One);
    }
    if let Some(node) = session.find(base) {
        return Matches::One(node);
    }
    if base.chars().count() >= PREFIX {
        let nodes = session.nodes().filter(|&node| session.id(node).starts_with(base)).collect();
        let found = Matches::of(nodes);
        if !matches!(found, Matches::None) {
            return found;
        }
    }
    if let Some(label) = base.strip_prefix("label:") {
        return Matches::of(session.labelled(label).to_vec());
    }
    if let Some(count) = base.strip_prefix("user:").and_then(|count| count.parse::<usize>().ok()) {
        let mut users = session.ancestors(leaf).filter(|&node| session.is_user(node));
        return count.checked_sub(1).and_then(|skip| users.nth(skip)).map_or(Matches::None, Matches::One);
    }
    Matches::None
}

impl Matches {
    fn of(nodes: Vec<NodeId>) -> Self {
        match nodes[..] {
            [] => Self::None,
            [node] => Self::One(node),
            _ => Self::Many(nodes),
        }
    }
}

/// Splits a trailing `~N` off; `~` alone is one step.
fn split_steps(name: &str) -> (&str, usize) {
    if let Some((base, digits)) = name.rsplit_once('~') {
        if digits.is_empty() {
            return (base, 1);
        }
        if digits.bytes().all(|byte| byte.is_ascii_digit()) {
            // More digits than a number holds are more steps than any file has.
            return (base, digits.parse().unwrap_or(usize::MAX));
        }
    }
    (name, 0)
}

fn climb(session: &Session, node: NodeId, steps: usize, name: &str) -> Result<NodeId> {
    let ancestors = || session.ancestors(session.parent(node)).count();
    let too_far = || Error::TooFarUp { name: name.to_owned(), ancestors: ancestors() };
    session.ancestors(node).nth(steps).ok_or_else(too_far)
}

fn ambiguous(session: &Session, base: &str, nodes: &[NodeId]) -> Result<Error> {
    let mut bodies = Bodies::new(session);
    let mut candidates = Vec::new();
    for &node in nodes.iter().take(CANDIDATES) {
        candidates.push((session.id(node).to_owned(), bodies.words(node)?));
    }
    Ok(Error::Ambiguous { name: base.to_owned(), candidates, count: nodes.len() })
}

/// Says what comes near a name that was not found, or how to find one.
fn hint(session: &Session, leaf: Option<NodeId>, base: &str) -> String {
    if session.is_empty() {
        return "the session has no entries".to_owned();
    }
    if base == "@" {
        return "there is no leaf before the first entry".to_owned();
    }
    if base.strip_prefix("user:").is_some_and(|count| count.parse::<usize>().is_ok()) {
        return match session.ancestors(leaf).filter(|&node| session.is_user(node)).count() {
            0 => "there is no user message on the path".to_owned(),
            1 => "there is one user message on the path, `user:1`".to_owned(),
            count => format!("there are {count} user messages on the path, `user:1` is the last"),
        };
    }
    let near = near(session, base);
    if !near.is_empty() {
        return format!("near it: {}", near.join(", "));
    }
    if base.starts_with("label:") {
        return "`session-tree label FILE` lists the labels".to_owned();
    }
    if base.chars().count() < PREFIX {
        return format!("give at least {PREFIX} characters of an id");
    }
    "`session-tree tree FILE --filter all` lists the ids; `@`, `user:N` and `label:NAME` are names too".to_owned()
}

/// Gives the ids and labels that come nearest to a name that was not found.
fn near(session: &Session, base: &str) -> Vec<String> {
    let mut near = Nearest::new(base);
    let label = base.strip_prefix("label:");
    for set in session.labels().iter().filter(|set| set.target.is_some()) {
        near.offer_label(&set.name, label.unwrap_or(base));
    }
    for node in session.nodes().filter(|_| label.is_none()) {
        near.offer_id(session.id(node));
    }
    near.names()
}

/// The few best of many offers, best first.
pub(crate) struct Nearest<'n> {
    name: &'n str,
    best: Vec<(usize, String)>,
}

impl<'n> Nearest<'n> {
    /// A longer name is no slip of the fingers, and comparing it would take its time.
    const LONGEST: usize = 64;

    /// Takes the name that was not found.
    pub(crate) fn new(name: &'n str) -> Self {
        Self { name, best: Vec::new() }
    }

    /// Gives what came near it.
    pub(crate) fn names(self) -> Vec<String> {
        self.best.into_iter().map(|(_, name)| name).collect()
    }

    /// Tells how far off is near, if anything is.
    fn limit(&self) -> Option<usize> {
        let is_word = !self.name.is_empty() && self.name.len() <= Self::LONGEST;
        is_word.then(|| (self.name.chars().count() / 3).clamp(1, 3))
    }

    /// Compares the name, or a piece of it, with a label.
    fn offer_label(&mut self, label: &str, name: &str) {
        let Some(limit) = self.limit().filter(|_| label.len() <= Self::LONGEST) else { return };
        let far = strsim::levenshtein(label, name);
        if far <= limit.max(2) {
            self.offer(far, || format!("label:{label}"));
        }
    }

    /// Compares the name with an id.
    pub(crate) fn offer_id(&mut self, id: &str) {
        let (Some(limit), name) = (self.limit(), self.name) else { return };
        // A piece of an id is compared with as much of the id.
        let length = name.chars().count().max(PREFIX);
        let head = id.char_indices().nth(length).map_or(id, |(at, _)| &id[..at]);
        let is_start = id.starts_with(name) || head.eq_ignore_ascii_case(name);
        let far = if is_start { 0 } else { strsim::levenshtein(head, name) };
        if far <= limit {
            self.offer(far, || id.to_owned());
        }
    }

    fn offer(&mut self, far: usize, name: impl FnOnce() -> String) {
        let at = self.best.partition_point(|(other, _)| *other <= far);
        if at < NEAR {
            self.best.insert(at, (far, name()));
            self.best.truncate(NEAR);
        }
    }
}
