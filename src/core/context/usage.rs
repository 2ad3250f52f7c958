//! Tokens and cost of model calls along a path. What one entry records is read by [`crate::core::entry::usage`].

pub use crate::core::entry::usage::Amounts;
pub(crate) use crate::core::entry::usage::{RecordedUsage, tokens, whole};

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
    /// Adds what one entry of a kind records.
    pub(crate) fn add(&mut self, name: &'static str, recorded: RecordedUsage) {
        self.odd += recorded.odd;
        let Some(amounts) = recorded.amounts else { return };
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
