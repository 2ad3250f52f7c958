//! What fills a context: its messages and their estimated tokens by origin, what the compaction in
//! force keeps out, and the usage along the path. Estimates come from [`message::tokens`]; no
//! tokenizer is involved.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::message;
use super::usage::{self, Usage};
use crate::core::context::{Context, ContextMessage, held};
use crate::core::error::Result;
use crate::core::session::NodeId;
use crate::core::session::body::Bodies;
use crate::core::tree::walk;

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

/// Returns the size of messages.
pub(crate) fn size(bodies: &mut Bodies<'_>, items: &[ContextMessage]) -> Result<Size> {
    let mut size = Size::default();
    let mut scratch = Vec::new();
    for item in items {
        size.add(message::with(bodies, item, &mut scratch, message::tokens)?);
    }
    Ok(size)
}

/// Measures a context.
pub fn measure(bodies: &mut Bodies<'_>, context: &Context) -> Result<Stats> {
    let (all, parts) = parts(bodies, &context.messages)?;
    let usage = usage::along(bodies, &walk::path(bodies.session(), context.leaf))?;
    let mut compaction = None;
    if let Some(hidden) = held::hidden(bodies, context)? {
        let size = size(bodies, &hidden.messages)?;
        let node = hidden.compaction;
        let tokens_before = usage::tokens(bodies.entry(node)?.get("tokensBefore"));
        compaction = Some(CompactionSize { node, hidden: size, tokens_before });
    }
    Ok(Stats { all, parts, usage, compaction })
}

fn parts(bodies: &mut Bodies<'_>, items: &[ContextMessage]) -> Result<(Size, Vec<MessageGroup>)> {
    let session = bodies.session();
    let mut all = Size::default();
    let mut sizes: HashMap<(&'static str, Option<String>), Size> = HashMap::new();
    let mut scratch = Vec::new();
    for item in items {
        let role = item.role(session);
        let (tokens, name) = message::with(bodies, item, &mut scratch, |message| {
            let name = origin(role).and_then(|member| message.get_str(member));
            (message::tokens(message), name.filter(|name| !name.is_empty()).map(|name| name.into_owned()))
        })?;
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
