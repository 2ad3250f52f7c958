//! Tokens and cost of model calls, as an entry records them.
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
    /// Reads recorded usage; `odd` counts the impossible amounts. A cost is an object with a total, or that number.
    fn read(usage: Raw<'_>, odd: &mut usize) -> Self {
        let (mut parts, mut total, mut cost) = ([None; 4], None, None);
        for (key, value) in usage.members() {
            match key.name() {
                b"totalTokens" => total = Some(value),
                b"cost" => cost = Some(value),
                name => set(&mut parts, name, value),
            }
        }
        let [input, output, cache_read, cache_write] = parts.map(|part| amount(part, odd).unwrap_or(0.0));
        let total_tokens = amount(total, odd).unwrap_or(input + output + cache_read + cache_write);
        let cost = cost.filter(|cost| !cost.is_null());
        let cost = match cost.filter(|cost| cost.kind() == json::ValueKind::Object) {
            None => amount(cost, odd).unwrap_or(0.0),
            Some(cost) => {
                let mut parts = [None; 4];
                let mut total = None;
                for (key, value) in cost.members() {
                    match key.name() {
                        b"total" => total = Some(value),
                        name => set(&mut parts, name, value),
                    }
                }
                amount(total, odd).unwrap_or_else(|| parts.iter().filter_map(|&part| amount(part, &mut 0)).sum())
            }
        };
        Self { input, output, cache_read, cache_write, total_tokens, cost }
    }

    /// Adds other amounts.
    pub(crate) fn add(&mut self, more: Self) {
        self.input += more.input;
        self.output += more.output;
        self.cache_read += more.cache_read;
        self.cache_write += more.cache_write;
        self.total_tokens += more.total_tokens;
        self.cost += more.cost;
    }
}

/// What an entry records.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct RecordedUsage {
    /// The amounts; `None` if what is recorded is not usage.
    pub amounts: Option<Amounts>,
    /// How many impossible amounts are left out.
    pub odd: usize,
}

/// Returns the name of a kind of entry that may record usage; `None` for others.
pub(crate) fn source(traits: Traits) -> Option<&'static str> {
    match (traits.kind, traits.role) {
        (Kind::Message, Role::Assistant | Role::ToolResult) => traits.role.name(),
        (Kind::Usage | Kind::ModelUsage | Kind::Compaction | Kind::BranchSummary, _) => traits.kind.name(),
        _ => None,
    }
}

/// Returns what an entry records, if it records any usage. Results of tools that run subagents have their
/// usage in the details: the tool `task` of omp for all of them, others for each.
pub(crate) fn of(entry: Entry<'_>, traits: Traits) -> Option<RecordedUsage> {
    source(traits)?;
    let mut recorded = RecordedUsage::default();
    if let Some(own) = entry.usage().filter(|usage| !usage.is_null()) {
        recorded.add(own);
        return Some(recorded);
    }
    let details = (traits.role == Role::ToolResult).then(|| entry.details()).flatten()?;
    let is_task = entry.tool_name().as_deref() == Some("task");
    if let Some(all) = details.get("usage").filter(|usage| is_task && !usage.is_null()) {
        recorded.add(all);
        return Some(recorded);
    }
    let results = details.get("results").filter(|results| results.kind() == json::ValueKind::Array)?;
    let each = results.elements().filter_map(|result| result.get("usage")).filter(|usage| !usage.is_null());
    let count = each.map(|usage| recorded.add(usage)).count();
    (count > 0).then_some(recorded)
}

impl RecordedUsage {
    /// Adds one usage object.
    fn add(&mut self, usage: Raw<'_>) {
        if usage.kind() != json::ValueKind::Object {
            self.odd += 1;
            return;
        }
        let amounts = Amounts::read(usage, &mut self.odd);
        self.amounts.get_or_insert_default().add(amounts);
    }
}

/// Notes a member if it is one of the four parts of usage.
fn set<'a>(parts: &mut [Option<Raw<'a>>; 4], name: &[u8], value: Raw<'a>) {
    const PARTS: [&[u8]; 4] = [b"input", b"output", b"cacheRead", b"cacheWrite"];
    if let Some(at) = PARTS.iter().position(|part| *part == name) {
        parts[at] = Some(value);
    }
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
    use super::{Amounts, MOST, Raw, of, whole};
    use crate::core::entry::Scan;

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
        check(r#"{"cost":[]}"#, Amounts::default(), 1);
        check(r#"{"cost":7}"#, Amounts { cost: 7.0, ..Amounts::default() }, 0);
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

    #[test]
    fn usage_is_noted_in_messages_entries_and_details_of_subagents() {
        let tokens = |members: &str| {
            let line = format!(r#"{{"id":"a",{members}}}"#);
            let mut scan = Scan::default();
            let entry = scan.read(line.as_bytes()).unwrap();
            of(entry, entry.traits()).map(|usage| (usage.amounts.map(|amounts| amounts.total_tokens), usage.odd))
        };
        let message =
            |role: &str, members: &str| tokens(&format!(r#""type":"message","message":{{"role":"{role}",{members}}}"#));
        let result = |members: &str| message("toolResult", members);
        let one = r#""usage":{"input":1}"#;
        assert_eq!(message("assistant", one), Some((Some(1.0), 0)));
        assert_eq!(message("user", one), None);
        assert_eq!(message("assistant", r#""usage":null"#), None);
        assert_eq!(message("assistant", r#""usage":[]"#), Some((None, 1)));
        assert_eq!(tokens(&format!(r#""type":"compaction",{one}"#)), Some((Some(1.0), 0)));
        assert_eq!(tokens(&format!(r#""type":"custom",{one}"#)), None);
        let details = |more: &str| {
            format!(r#""details":{{"results":[{{"usage":{{"input":2}}}},{{}},{{"usage":{{"input":3}}}}]{more}}}"#)
        };
        let with_sum = details(&format!(",{one}"));
        // That of the result itself comes first, then the sum that the tool of omp has, then each subagent's.
        assert_eq!(result(&format!("{one},{with_sum}")), Some((Some(1.0), 0)));
        assert_eq!(result(&format!(r#""toolName":"task",{with_sum}"#)), Some((Some(1.0), 0)));
        assert_eq!(result(&format!(r#""toolName":"subagent",{with_sum}"#)), Some((Some(5.0), 0)));
        assert_eq!(result(&format!(r#""toolName":"task",{}"#, details(""))), Some((Some(5.0), 0)));
        assert_eq!(result(r#""details":{"results":[]}"#), None);
        assert_eq!(message("assistant", &with_sum), None);
    }
}
