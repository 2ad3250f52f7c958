//! What fills a context: its messages and their estimated tokens by who they come from, what a
//! compaction keeps out, and what was used on the way.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::message;
use super::usage::{self, Usage};
use crate::core::context::{self, Context, Item};
use crate::core::error::Result;
use crate::core::session::NodeId;
use crate::core::session::body::Bodies;
use crate::core::tree::walk;

/// How much some messages are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// How many there are.
    pub messages: usize,
    /// Their tokens, estimated.
    pub tokens: u64,
}

impl Size {
    /// Adds a message.
    pub fn add(&mut self, tokens: u64) {
        self.messages += 1;
        self.tokens += tokens;
    }

    /// Gives the share of the tokens in others, in percent with one digit.
    pub fn share(self, all: Self) -> f64 {
        let share = (self.tokens * 1000 + all.tokens / 2).checked_div(all.tokens).unwrap_or(0);
        f64::from(u32::try_from(share).unwrap_or(u32::MAX)) / 10.0
    }
}

/// The messages of one origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Their role.
    pub role: &'static str,
    /// The tool of tool results, the custom type of custom messages.
    pub name: Option<String>,
    /// How much they are.
    pub size: Size,
}

/// What the compaction that counts keeps out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Compacted {
    /// The compaction.
    pub node: NodeId,
    /// The messages before it that are not in the context.
    pub hidden: Size,
    /// The tokens before it, as stored; `None` if that is no number of tokens.
    pub tokens_before: Option<u64>,
}

/// What fills a context.
#[derive(Clone, Debug, PartialEq)]
pub struct Stats {
    /// All messages.
    pub all: Size,
    /// The same by origin, the largest first.
    pub parts: Vec<Part>,
    /// What was used along the path, also by what is no longer in the context.
    pub usage: Usage,
    /// What the compaction keeps out, if one counts.
    pub compaction: Option<Compacted>,
}

/// Returns the size of messages.
///
/// # Errors
/// As [`message::with`].
pub fn size(bodies: &mut Bodies<'_>, items: &[Item]) -> Result<Size> {
    let mut size = Size::default();
    let mut scratch = Vec::new();
    for &item in items {
        size.add(message::with(bodies, item, &mut scratch, message::tokens)?);
    }
    Ok(size)
}

/// Measures a context.
///
/// # Errors
/// As [`message::with`].
pub fn measure(bodies: &mut Bodies<'_>, context: &Context) -> Result<Stats> {
    let (all, parts) = parts(bodies, &context.items)?;
    let usage = usage::along(bodies, &walk::path(bodies.session(), context.leaf))?;
    let mut compaction = None;
    if let Some(hidden) = context::hidden(bodies, context)? {
        let size = size(bodies, &hidden.items)?;
        let node = hidden.compaction;
        let tokens_before = usage::tokens(bodies.entry(node)?.get("tokensBefore"));
        compaction = Some(Compacted { node, hidden: size, tokens_before });
    }
    Ok(Stats { all, parts, usage, compaction })
}

fn parts(bodies: &mut Bodies<'_>, items: &[Item]) -> Result<(Size, Vec<Part>)> {
    let session = bodies.session();
    let mut all = Size::default();
    let mut sizes: HashMap<(&'static str, Option<String>), Size> = HashMap::new();
    let mut scratch = Vec::new();
    for &item in items {
        let role = item.role(session);
        let (tokens, name) = message::with(bodies, item, &mut scratch, |message| {
            let name = origin(role).and_then(|member| message.get_str(member));
            (message::tokens(message), name.filter(|name| !name.is_empty()).map(|name| name.into_owned()))
        })?;
        all.add(tokens);
        sizes.entry((role, name)).or_default().add(tokens);
    }
    let mut parts: Vec<_> = sizes.into_iter().map(|((role, name), size)| Part { role, name, size }).collect();
    parts.sort_by(|a, b| {
        let place = |part: &Part| (Reverse(part.size.tokens), Reverse(part.size.messages), part.role);
        place(a).cmp(&place(b)).then_with(|| a.name.cmp(&b.name))
    });
    Ok((all, parts))
}

/// Gives the member that says where a message comes from more exactly than its role does.
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
    fn shares_have_one_digit() {
        let share = |tokens, all| Size { messages: 1, tokens }.share(Size { messages: 1, tokens: all }).to_string();
        assert_eq!(share(1, 3), "33.3");
        assert_eq!(share(2, 3), "66.7");
        assert_eq!(share(3, 3), "100");
        assert_eq!(share(0, 0), "0");
    }
}
