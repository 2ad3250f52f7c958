//! A message: stored in an entry, or made of what entries say. Of a stored one it is known where its long values
//! are, which saves its readers most of the way through it.

use std::borrow::Cow;

use super::{BLOCKS, BlockKind, BlockSpans, Entry};
use crate::core::json::{Key, Raw, Span};

/// A message as JSON text that is known to be valid.
#[derive(Clone, Copy, Debug)]
pub struct Message<'l> {
    raw: Raw<'l>,
    /// The entry that stores it.
    entry: Option<Entry<'l>>,
}

impl<'l> Message<'l> {
    /// Takes a message that no entry stores.
    pub fn made(raw: Raw<'l>) -> Self {
        Self { raw, entry: None }
    }

    /// Takes the message of an entry, null if it has none.
    pub fn stored(entry: Entry<'l>) -> Self {
        Self { raw: entry.message().unwrap_or(Raw::new(b"null")), entry: Some(entry) }
    }

    /// Returns its text.
    pub fn raw(self) -> Raw<'l> {
        self.raw
    }

    /// Iterates over its members, as [`Raw::members`] does.
    pub(crate) fn members(self) -> impl Iterator<Item = (Key<'l>, Raw<'l>)> {
        let known = self.entry.map_or([Span::default(); 3], |entry| {
            let message = &entry.scan.message;
            [message.content.span, message.details, message.usage].map(|span| {
                let place = |at: u32| at.saturating_sub(message.span.start);
                Span { start: place(span.start), end: place(span.end) }
            })
        });
        self.raw.members_around(known)
    }

    /// Returns several members in one pass, as [`Raw::get`] does.
    pub(crate) fn pick<const N: usize>(self, names: [&str; N]) -> [Option<Raw<'l>>; N] {
        let mut picked = [None; N];
        for (key, value) in self.members() {
            if let Some(at) = names.iter().position(|name| name.as_bytes() == key.name()) {
                picked[at] = Some(value);
            }
        }
        picked
    }

    /// Returns a member; of several with one name the last one counts.
    pub(crate) fn get(self, name: &str) -> Option<Raw<'l>> {
        let [member] = self.pick([name]);
        member
    }

    /// Returns a member that is a string, decoded.
    pub fn get_str(self, name: &str) -> Option<Cow<'l, str>> {
        self.get(name)?.str()
    }

    /// Iterates over the blocks of one of its members, which is the content or another list of blocks.
    pub(crate) fn blocks(self, list: Raw<'l>) -> impl Iterator<Item = ContentBlock<'l>> {
        let known = self.entry.and_then(|entry| Some((entry, known_blocks(entry, list)?)));
        let (others, known) = match known {
            Some(known) => (None, Some(known)),
            None => (Some(list), None),
        };
        let known = known
            .into_iter()
            .flat_map(|(entry, blocks)| blocks.iter().map(move |spans| ContentBlock::known(entry, spans)));
        known.chain(others.into_iter().flat_map(Raw::elements).map(ContentBlock::read))
    }
}

/// Returns the blocks of a list, if it is the content of the message of an entry and all of them were noted.
fn known_blocks<'l>(entry: Entry<'l>, list: Raw<'l>) -> Option<&'l [BlockSpans]> {
    let content = &entry.scan.message.content;
    let is_content = entry.raw_at(content.span).is_some_and(|content| std::ptr::eq(content.bytes(), list.bytes()));
    if !is_content || entry.scan.blocks.len() >= BLOCKS {
        return None;
    }
    entry.scan.blocks.get(content.blocks.clone())
}

/// A content block, with the members that its readers need.
#[derive(Clone, Debug)]
pub(crate) struct ContentBlock<'l> {
    /// All of it.
    pub(crate) raw: Raw<'l>,
    /// Its type; empty if that is no string.
    pub(crate) kind: Cow<'l, str>,
    pub(crate) text: Option<Raw<'l>>,
    pub(crate) thinking: Option<Raw<'l>>,
    pub(crate) name: Option<Raw<'l>>,
    pub(crate) arguments: Option<Raw<'l>>,
}

impl<'l> ContentBlock<'l> {
    fn read(raw: Raw<'l>) -> Self {
        let [kind, text, thinking, name, arguments] = raw.pick(["type", "text", "thinking", "name", "arguments"]);
        Self { raw, kind: kind.and_then(Raw::str).unwrap_or_default(), text, thinking, name, arguments }
    }

    fn known(entry: Entry<'l>, spans: &'l BlockSpans) -> Self {
        let raw = Raw::new(&entry.line[spans.whole.range()]);
        let kind = match spans.kind {
            BlockKind::Text => "text".into(),
            BlockKind::Image => "image".into(),
            BlockKind::ToolCall => "toolCall".into(),
            BlockKind::Other => raw.get_str("type").unwrap_or_default(),
        };
        let [text, thinking, name, arguments] =
            [spans.text, spans.thinking, spans.name, spans.arguments].map(|span| entry.raw_at(span));
        Self { raw, kind, text, thinking, name, arguments }
    }
}

#[cfg(test)]
mod tests {
    use super::Message;
    use crate::core::entry::Scan;
    use crate::core::json::Raw;

    #[test]
    fn what_is_known_of_a_stored_message_is_what_its_text_says() {
        let blocks = concat!(
            r#"[{"type":"text","text":"a","thinking":"t"} , {"type":"toolCall","id":"c","name":"read","arguments":{"p":"]}"}},"#,
            r#" {"type":"image","data":"xx","mimeType":"image/png"},{"thinking":"\"","type":"thinking"},"#,
            r#"{"type":"te\u0078t","text":"a","text":"b\n"},7,"x",[{}],{"type":1},{"type":null,"name":{"a":[]}}]"#,
        );
        let details = r#""details":{"content":[{"type":"text"}]}"#;
        for message in [
            format!(r#"{{"role":"user","content":{blocks},{details},"n":1}}"#),
            format!(r#" {{ {details} , "content" : {blocks} , "role" : "user" }} "#),
            // The last of several counts, and all of them are members.
            format!(r#"{{"content":[{{"type":"text","text":"x"}}],"content":{blocks},"blocks":{blocks}}}"#),
            format!(r#"{{"content":{blocks},"content":"text"}}"#),
            r#"{"content":"\"]}","role":"user"}"#.to_owned(),
            r#"{"content":[]}"#.to_owned(),
            "{}".to_owned(),
            "[1]".to_owned(),
            "null".to_owned(),
        ] {
            for line in [
                format!(r#"{{"type":"message","id":"a","message":{message}}}"#),
                format!(r#"{{"content":{blocks},"message":{{"content":{blocks}}},"message":{message},"id":"a"}}"#),
            ] {
                let mut scan = Scan::default();
                let stored = Message::stored(scan.read(line.as_bytes()).unwrap());
                let made = Message::made(Raw::new(message.trim().as_bytes()));
                assert_eq!(stored.raw(), made.raw());
                let members = |message: Message<'_>| -> Vec<String> {
                    message.members().map(|(key, value)| format!("{:?} {value:?}", key.name())).collect()
                };
                assert_eq!(members(stored), members(made), "{line}");
                for name in ["content", "blocks", "details"] {
                    assert_eq!(stored.get(name), made.get(name), "{line}");
                    let blocks = |message: Message<'_>| -> Vec<String> {
                        let list = message.get(name);
                        list.into_iter()
                            .flat_map(|list| message.blocks(list))
                            .map(|block| format!("{block:?}"))
                            .collect()
                    };
                    assert_eq!(blocks(stored), blocks(made), "{line}");
                }
            }
        }
    }
}
