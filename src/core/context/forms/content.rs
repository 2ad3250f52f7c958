//! What the forms of providers have in common: the texts and images of a message.

use crate::core::context::content::TextPart::{self, Literal, Stored};
use crate::core::context::content::has_text;
use crate::core::json::{Raw, ValueKind};

/// A message that is taken apart.
#[derive(Clone, Copy)]
pub(super) struct SentMessage<'m>(pub Raw<'m>);

impl<'m> SentMessage<'m> {
    /// Returns the role.
    pub(super) fn role(self) -> String {
        self.0.get_str("role").unwrap_or_default().into_owned()
    }

    /// Returns the content if it is a string.
    pub(super) fn string(self) -> Option<Raw<'m>> {
        self.0.get("content").filter(|content| content.kind() == ValueKind::String)
    }

    /// Iterates over the blocks of the content with their types.
    pub(super) fn blocks(self) -> impl Iterator<Item = (String, Raw<'m>)> {
        let blocks = self.0.get("content").into_iter().flat_map(|content| content.elements());
        blocks.map(|block| (block.get_str("type").unwrap_or_default().into_owned(), block))
    }

    /// Returns the images.
    pub(super) fn images(self) -> impl Iterator<Item = Raw<'m>> {
        self.blocks().filter(|(kind, _)| kind == "image").map(|(_, block)| block)
    }

    /// Returns the text of a result: its text blocks, one after the other on lines of their own.
    pub(super) fn lines(self) -> Vec<TextPart<'m>> {
        if let Some(text) = self.string() {
            return vec![Stored(Some(text))];
        }
        let mut lines = Vec::new();
        for (_, block) in self.blocks().filter(|(kind, _)| kind == "text") {
            if !lines.is_empty() {
                lines.push(Literal("\n"));
            }
            lines.push(Stored(block.get("text")));
        }
        lines
    }
}

/// Returns whether a text in parts has any characters.
pub(super) fn says_anything(text: &[TextPart<'_>]) -> bool {
    text.iter().any(|part| match part {
        Literal(text) => !text.is_empty(),
        Stored(value) => has_text(*value),
    })
}

/// Returns the parts of an image as a URL with its data.
pub(super) fn data_url(image: Raw<'_>) -> [TextPart<'_>; 4] {
    [Literal("data:"), Stored(image.get("mimeType")), Literal(";base64,"), Stored(image.get("data"))]
}
