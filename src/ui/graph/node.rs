//! A node of a graph, whatever the language that it is written in.

use std::borrow::Cow;

/// The shape of a node, by what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeShape {
    Entry,
    Fork,
    Tip,
    Run,
    Compaction,
    Summary,
}

/// A node, ready to be written.
#[derive(Debug)]
pub(super) struct GraphNode<'a> {
    pub(super) number: usize,
    pub(super) above: Option<usize>,
    pub(super) look: NodeShape,
    pub(super) is_active: bool,
    pub(super) has_leaf: bool,
    pub(super) has_label: bool,
    /// The id of its entry; of a run that of the first entry.
    pub(super) id: &'a str,
    /// Lines that are safe for terminals, but not yet escaped for the language.
    pub(super) lines: Vec<String>,
}

/// Replaces what XML must not contain, since SVG is made from the text.
pub(super) fn xml_safe(text: &str) -> Cow<'_, str> {
    let is_none = |char: char| u32::from(char) & 0xfffe == 0xfffe || ('\u{fdd0}'..='\u{fdef}').contains(&char);
    if text.contains(is_none) { text.replace(is_none, "\u{fffd}").into() } else { text.into() }
}
