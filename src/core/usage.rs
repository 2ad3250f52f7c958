//! What the calls of models along a path used: tokens and cost, as agents noted them.
//!
//! Noted amounts are only what a file says: one that cannot be true is counted, not added.

use super::body::Bodies;
use super::entry::{Entry, Kind, Role, Traits};
use super::error::Result;
use super::json::{self, Raw};
use super::session::NodeId;

/// The most that a noted amount may be: what JavaScript can count to.
const MOST: f64 = 9_007_199_254_740_991.0;

/// Amounts that were used.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Amounts {
    /// Tokens that a model read.
    pub input: u64,
    /// Tokens that it wrote.
    pub output: u64,
    /// Tokens that it had from a cache.
    pub cache_read: u64,
    /// Tokens that went into a cache.
    pub cache_write: u64,
    /// All tokens: as noted, else the sum of the others.
    pub total_tokens: u64,
    /// The cost in dollars.
    pub cost: f64,
}

impl Amounts {
    /// Reads what an entry notes; `odd` counts what cannot be true.
    fn read(usage: Raw<'_>, odd: &mut usize) -> Self {
        let mut tokens = |name: &str| amount(usage.get(name), odd).map(whole);
        let [input, output, cache_read, cache_write] =
            ["input", "output", "cacheRead", "cacheWrite"].map(|name| tokens(name).unwrap_or(0));
        // Each is below 2^53, so that the sum of four is exact.
        let total_tokens = tokens("totalTokens").unwrap_or(input + output + cache_read + cache_write);
        let cost = usage.get("cost").and_then(|cost| cost.get("total"));
        Self { input, output, cache_read, cache_write, total_tokens, cost: amount(cost, odd).unwrap_or(0.0) }
    }

    fn add(&mut self, more: Self) {
        self.input = self.input.saturating_add(more.input);
        self.output = self.output.saturating_add(more.output);
        self.cache_read = self.cache_read.saturating_add(more.cache_read);
        self.cache_write = self.cache_write.saturating_add(more.cache_write);
        self.total_tokens = self.total_tokens.saturating_add(more.total_tokens);
        self.cost += more.cost;
    }
}

/// What one kind of entry notes.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The role of its message, `assistant` or `toolResult`; else its type.
    pub name: &'static str,
    /// How many such entries note something.
    pub entries: usize,
    /// What they note.
    pub amounts: Amounts,
}

/// What was used along a path.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Usage {
    /// All of it.
    pub all: Amounts,
    /// The same by who noted it, in the order in which they come up.
    pub sources: Vec<Source>,
    /// How many noted amounts cannot be true and are left out.
    pub odd: usize,
}

/// Sums up what the entries on a path note.
///
/// # Errors
/// As [`Bodies::entry`].
pub fn along(bodies: &mut Bodies<'_>, path: &[NodeId]) -> Result<Usage> {
    let session = bodies.session();
    let mut usage = Usage::default();
    for &node in path {
        let traits = session.traits(node);
        let Some(name) = source(traits) else { continue };
        let Some(noted) = noted(bodies.entry(node)?, traits) else { continue };
        let amounts = Amounts::read(noted, &mut usage.odd);
        usage.all.add(amounts);
        let known = usage.sources.iter().position(|source| source.name == name);
        let at = known.unwrap_or_else(|| {
            usage.sources.push(Source { name, entries: 0, amounts: Amounts::default() });
            usage.sources.len() - 1
        });
        usage.sources[at].entries += 1;
        usage.sources[at].amounts.add(amounts);
    }
    Ok(usage)
}

/// Names the kind of an entry that may note what it used.
fn source(traits: Traits) -> Option<&'static str> {
    match (traits.kind, traits.role) {
        (Kind::Message, Role::Assistant | Role::ToolResult) => traits.role.name(),
        (Kind::Usage | Kind::ModelUsage | Kind::Compaction | Kind::BranchSummary, _) => traits.kind.name(),
        _ => None,
    }
}

/// Gives what an entry notes. A result of omp's tool `task` has what the other agent used in its
/// details.
fn noted(entry: Entry<'_>, traits: Traits) -> Option<Raw<'_>> {
    let is_object = |raw: &Raw<'_>| raw.kind() == json::Kind::Object;
    if traits.kind != Kind::Message {
        return entry.get("usage").filter(is_object);
    }
    let message = entry.message()?;
    let own = message.get("usage").filter(is_object);
    if own.is_some() || traits.role != Role::ToolResult || entry.tool_name().as_deref() != Some("task") {
        return own;
    }
    message.get("details")?.get("usage").filter(is_object)
}

/// Reads a stored number of tokens; `None` if there is none, or one that cannot be true.
pub(crate) fn tokens(stored: Option<Raw<'_>>) -> Option<u64> {
    amount(stored, &mut 0).map(whole)
}

fn amount(stored: Option<Raw<'_>>, odd: &mut usize) -> Option<f64> {
    let stored = stored.filter(|stored| stored.kind() != json::Kind::Null)?;
    let number = stored.number().filter(|number| (0.0..=MOST).contains(number));
    *odd += usize::from(number.is_none());
    number
}

fn whole(amount: f64) -> u64 {
    // Between 0 and 2^53: the cast is exact.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let whole = amount.round() as u64;
    whole
}

#[cfg(test)]
mod tests {
    use super::{Amounts, Raw};

    fn check(usage: &str, expected: Amounts, odd: usize) {
        let mut found = 0;
        assert_eq!(Amounts::read(Raw::new(usage.as_bytes()), &mut found), expected, "{usage}");
        assert_eq!(found, odd, "{usage}");
    }

    #[test]
    fn amounts_are_read_as_noted() {
        let usage =
            r#"{"input":3,"output":86,"cacheRead":1,"cacheWrite":19837,"totalTokens":19926,"cost":{"total":0.25}}"#;
        let amounts =
            Amounts { input: 3, output: 86, cache_read: 1, cache_write: 19837, total_tokens: 19926, cost: 0.25 };
        check(usage, amounts, 0);
        check("{}", Amounts::default(), 0);
    }

    #[test]
    fn a_total_that_is_missing_is_the_sum() {
        let amounts = Amounts { input: 3, cache_read: 4, total_tokens: 7, ..Amounts::default() };
        check(r#"{"input":3,"cacheRead":4}"#, amounts, 0);
        check(r#"{"input":3,"cacheRead":4,"totalTokens":null}"#, amounts, 0);
        check(r#"{"input":3,"cacheRead":4,"totalTokens":-7}"#, amounts, 1);
    }

    #[test]
    fn what_cannot_be_true_is_counted_and_not_added() {
        let usage =
            r#"{"input":"5","output":-1,"cacheRead":1e999,"cacheWrite":1e300,"totalTokens":[],"cost":{"total":true}}"#;
        check(usage, Amounts::default(), 6);
        check(r#"{"cost":7}"#, Amounts::default(), 0);
        let most = 9_007_199_254_740_991;
        let amounts = Amounts { output: most, total_tokens: most, ..Amounts::default() };
        check(r#"{"input":0.4,"output":9007199254740991,"cacheRead":9007199254740993}"#, amounts, 1);
    }
}
