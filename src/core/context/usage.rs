//! Tokens and cost of model calls along a path, as agents recorded them.
//!
//! A file may record anything: an impossible amount is counted as such and never added.

use crate::core::entry::{Entry, Kind, Role, Traits};
use crate::core::json::{self, Raw};

/// The largest possible amount: the largest integer that JavaScript counts exactly.
const MOST: f64 = 9_007_199_254_740_991.0;

/// Recorded amounts. Even tokens may be recorded as fractions, so only sums are rounded.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Amounts {
    /// Tokens sent to models.
    pub input: f64,
    /// Tokens written by models.
    pub output: f64,
    /// Tokens read from a cache.
    pub cache_read: f64,
    /// Tokens written to a cache.
    pub cache_write: f64,
    /// All tokens: as recorded, else the sum of the others.
    pub total_tokens: f64,
    /// The cost in dollars.
    pub cost: f64,
}

impl Amounts {
    /// Reads what an entry records; `odd` counts the impossible amounts.
    fn read(usage: Raw<'_>, odd: &mut usize) -> Self {
        const PARTS: [&str; 4] = ["input", "output", "cacheRead", "cacheWrite"];
        let parts = |object: Raw<'_>, odd: &mut usize| object.pick(PARTS).map(|part| amount(part, odd).unwrap_or(0.0));
        let [input, output, cache_read, cache_write] = parts(usage, odd);
        let sum = input + output + cache_read + cache_write;
        let total_tokens = amount(usage.get("totalTokens"), odd).unwrap_or(sum);
        let cost = match usage.get("cost").filter(|cost| !cost.is_null()) {
            Some(cost) if cost.kind() == json::ValueKind::Object => {
                amount(cost.get("total"), odd).unwrap_or_else(|| parts(cost, &mut 0).iter().sum())
            }
            other => {
                *odd += usize::from(other.is_some());
                0.0
            }
        };
        Self { input, output, cache_read, cache_write, total_tokens, cost }
    }

    fn add(&mut self, more: Self) {
        self.input += more.input;
        self.output += more.output;
        self.cache_read += more.cache_read;
        self.cache_write += more.cache_write;
        self.total_tokens += more.total_tokens;
        self.cost += more.cost;
    }
}

/// The usage that entries of one kind record.
#[derive(Clone, Debug, PartialEq)]
pub struct UsageSource {
    /// The role of their messages, `assistant` or `toolResult`; else their type.
    pub name: &'static str,
    /// How many such entries record usage.
    pub entries: usize,
    /// The sum of what they record.
    pub amounts: Amounts,
}

/// The usage along a path.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Usage {
    /// The sum of all recorded amounts.
    pub all: Amounts,
    /// The same by kind of entry, in the order of the path.
    pub sources: Vec<UsageSource>,
    /// How many impossible amounts are left out.
    pub odd: usize,
}

impl Usage {
    /// Adds what an entry records.
    pub(super) fn add(&mut self, Recorded { name, amounts, odd }: Recorded) {
        self.odd += odd;
        let Some(amounts) = amounts else { return };
        self.all.add(amounts);
        let known = self.sources.iter().position(|source| source.name == name);
        let at = known.unwrap_or_else(|| {
            self.sources.push(UsageSource { name, entries: 0, amounts: Amounts::default() });
            self.sources.len() - 1
        });
        self.sources[at].entries += 1;
        self.sources[at].amounts.add(amounts);
    }
}

/// The usage that one entry records.
#[derive(Debug)]
pub(super) struct Recorded {
    /// As in [`UsageSource`].
    name: &'static str,
    /// `None` if it is not an object.
    amounts: Option<Amounts>,
    odd: usize,
}

impl Recorded {
    /// Reads what an entry records; `None` if it records no usage.
    pub(super) fn of(entry: Entry<'_>, traits: Traits) -> Option<Self> {
        let name = source(traits)?;
        let usage = recorded(entry, traits)?;
        if usage.kind() != json::ValueKind::Object {
            return Some(Self { name, amounts: None, odd: 1 });
        }
        let mut odd = 0;
        let amounts = Amounts::read(usage, &mut odd);
        Some(Self { name, amounts: Some(amounts), odd })
    }
}

/// Returns the name of a kind of entry that may record usage; `None` for others.
pub(super) fn source(traits: Traits) -> Option<&'static str> {
    match (traits.kind, traits.role) {
        (Kind::Message, Role::Assistant | Role::ToolResult) => traits.role.name(),
        (Kind::Usage | Kind::ModelUsage | Kind::Compaction | Kind::BranchSummary, _) => traits.kind.name(),
        _ => None,
    }
}

/// Returns the usage that an entry records. Results of omp's tool `task` have that of the subagent in
/// their details.
fn recorded(entry: Entry<'_>, traits: Traits) -> Option<Raw<'_>> {
    let is_there = |raw: &Raw<'_>| !raw.is_null();
    if traits.kind != Kind::Message {
        return entry.get("usage").filter(is_there);
    }
    let [own, details] = entry.message()?.pick(["usage", "details"]);
    let own = own.filter(is_there);
    if own.is_some() || traits.role != Role::ToolResult || entry.tool_name().as_deref() != Some("task") {
        return own;
    }
    details?.get("usage").filter(is_there)
}

/// Reads a stored number of tokens; `None` if there is none or it is impossible.
pub(crate) fn tokens(stored: Option<Raw<'_>>) -> Option<u64> {
    amount(stored, &mut 0).map(whole)
}

fn amount(stored: Option<Raw<'_>>, odd: &mut usize) -> Option<f64> {
    let stored = stored.filter(|stored| !stored.is_null())?;
    let number = stored.number().filter(|number| (0.0..=MOST).contains(number));
    *odd += usize::from(number.is_none());
    number
}

/// Rounds an amount of tokens.
pub(crate) fn whole(amount: f64) -> u64 {
    // Amounts are at least 0, and the cast saturates.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let whole = amount.round() as u64;
    whole
}

#[cfg(test)]
mod tests {
    use super::{Amounts, MOST, Raw, whole};

    fn check(usage: &str, expected: Amounts, odd: usize) {
        let mut found = 0;
        assert_eq!(Amounts::read(Raw::new(usage.as_bytes()), &mut found), expected, "{usage}");
        assert_eq!(found, odd, "{usage}");
    }

    #[test]
    fn amounts_are_read_as_stored() {
        let usage =
            r#"{"input":3,"output":86,"cacheRead":1,"cacheWrite":19837,"totalTokens":19926,"cost":{"total":0.25}}"#;
        let amounts = Amounts {
            input: 3.0,
            output: 86.0,
            cache_read: 1.0,
            cache_write: 19837.0,
            total_tokens: 19926.0,
            cost: 0.25,
        };
        check(usage, amounts, 0);
        check("{}", Amounts::default(), 0);
    }

    #[test]
    fn a_missing_total_is_the_sum() {
        let amounts = Amounts { input: 3.0, cache_read: 4.0, total_tokens: 7.0, ..Amounts::default() };
        check(r#"{"input":3,"cacheRead":4}"#, amounts, 0);
        check(r#"{"input":3,"cacheRead":4,"totalTokens":null}"#, amounts, 0);
        check(r#"{"input":3,"cacheRead":4,"totalTokens":-7}"#, amounts, 1);
    }

    #[test]
    fn impossible_amounts_are_counted_and_not_added() {
        let usage =
            r#"{"input":"5","output":-1,"cacheRead":1e999,"cacheWrite":1e300,"totalTokens":[],"cost":{"total":true}}"#;
        check(usage, Amounts::default(), 6);
        check(r#"{"cost":7}"#, Amounts::default(), 1);
        check(r#"{"cost":null,"input":null}"#, Amounts::default(), 0);
        let amounts = Amounts { output: MOST, total_tokens: MOST, ..Amounts::default() };
        check(r#"{"output":9007199254740991,"cacheRead":9007199254740993}"#, amounts, 1);
        let amounts = Amounts { cost: 3.0, ..Amounts::default() };
        check(r#"{"cost":{"input":1,"output":2}}"#, amounts, 0);
    }

    #[test]
    fn only_sums_are_rounded() {
        let mut sum = Amounts::default();
        for _ in 0..4 {
            sum.add(Amounts::read(Raw::new(br#"{"input":0.5,"output":1.5}"#), &mut 0));
        }
        assert_eq!([sum.input, sum.output, sum.total_tokens].map(whole), [2, 6, 8]);
    }
}
