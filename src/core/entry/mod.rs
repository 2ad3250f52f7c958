//! One line of a session as an entry: its type, its role, and the spans of its members.
//!
//! [`Scan`] validates a whole line in one pass that copies nothing, and notes the members that every
//! reader needs; others are searched for by [`Raw::get`]. It takes a line as it is: whether it counts
//! as an entry, and where it hangs in the tree, is decided by [`crate::core::session`].

pub mod elsewhere;
pub mod header;
pub mod message;
pub mod preview;
pub mod prompt;
pub mod usage;

use std::borrow::Cow;
use std::ops::Range;

use crate::core::json::text;
use crate::core::json::{self, Cursor, Raw, Span, SyntaxError};
use crate::core::time::Stamp;

pub use names::{Kind, Role, StopReason, TitleRank, Traits};

mod names;

/// The custom type of a message that has the text of a skill.
pub(crate) const SKILL: &str = "skill-prompt";

/// The types of content blocks that readers distinguish.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlockKind {
    /// `text`
    Text,
    /// `image`
    Image,
    /// `toolCall`
    ToolCall,
    /// Anything else.
    #[default]
    Other,
}

/// The spans of a content block's members.
#[derive(Clone, Copy, Debug, Default)]
struct BlockSpans {
    kind: BlockKind,
    whole: Span,
    text: Span,
    thinking: Span,
    id: Span,
    name: Span,
    arguments: Span,
    mime: Span,
}

/// The span of a `content`, and the indices of its blocks if it is an array.
#[derive(Clone, Debug, Default)]
struct ContentSpans {
    span: Span,
    blocks: Range<usize>,
}

/// The spans of a `message`'s members.
#[derive(Clone, Debug, Default)]
struct MessageSpans {
    span: Span,
    role: Span,
    stop: Span,
    call: Span,
    tool: Span,
    provider: Span,
    model: Span,
    usage: Span,
    details: Span,
    content: ContentSpans,
}

/// The spans of a line's members. One value is reused for all lines, to save allocations.
#[derive(Debug, Default)]
pub struct Scan {
    object: Span,
    kind: Span,
    /// Type and role, looked up by name only once.
    kind_is: Kind,
    role_is: Role,
    id: Span,
    parent: Span,
    timestamp: Span,
    append_mode: Span,
    usage: Span,
    message: MessageSpans,
    content: ContentSpans,
    blocks: Vec<BlockSpans>,
}

/// The reason why a line is not an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScanError {
    /// It is not JSON from this byte on.
    NotJson(SyntaxError),
    /// It is JSON, but not an object.
    NotAnObject,
    /// It is longer than 4 GiB.
    TooLong,
}

/// How many blocks of one content are noted at most; [`Entry::full_text`] does not need them.
const BLOCKS: usize = 1 << 16;

impl Scan {
    /// Validates a line and notes the spans of its members.
    ///
    /// # Errors
    /// [`ScanError`] if it is not exactly one JSON object.
    #[inline]
    pub fn read<'l>(&'l mut self, line: &'l [u8]) -> Result<Entry<'l>, ScanError> {
        if u32::try_from(line.len()).is_err() {
            return Err(ScanError::TooLong);
        }
        self.object(line).map_err(ScanError::NotJson)?;
        if self.object.is_absent() {
            return Err(ScanError::NotAnObject);
        }
        Ok(Entry { line, scan: self })
    }

    fn object(&mut self, line: &[u8]) -> Result<(), SyntaxError> {
        let mut blocks = std::mem::take(&mut self.blocks);
        blocks.clear();
        *self = Self { blocks, ..Self::default() };
        let mut cursor = Cursor::new(line);
        if cursor.peek() != Some(b'{') {
            cursor.value()?;
            return cursor.end();
        }
        let start = cursor.position();
        cursor.begin_object()?;
        let mut first = true;
        while let Some(key) = cursor.next_member(&mut first)? {
            match key.name() {
                b"type" => {
                    self.kind = cursor.value()?;
                    self.kind_is = Raw::new(cursor.text(self.kind))
                        .string_body()
                        .map_or(Kind::Untyped, |body| named(body, Kind::of, Kind::Unknown));
                }
                b"id" => self.id = cursor.value()?,
                b"parentId" => self.parent = cursor.value()?,
                b"timestamp" => self.timestamp = cursor.value()?,
                b"message" => {
                    self.message = self.message(&mut cursor)?;
                    let role = (!self.message.role.is_absent()).then(|| Raw::new(cursor.text(self.message.role)));
                    self.role_is =
                        role.and_then(Raw::string_body).map_or(Role::None, |body| named(body, Role::of, Role::Unknown));
                }
                b"content" => self.content = self.content(&mut cursor)?,
                b"usage" => self.usage = cursor.value()?,
                b"appendMode" => self.append_mode = cursor.value()?,
                _ => drop(cursor.value()?),
            }
        }
        self.object = Span::new(start, cursor.position());
        cursor.end()
    }

    fn message(&mut self, cursor: &mut Cursor<'_>) -> Result<MessageSpans, SyntaxError> {
        let mut message = MessageSpans::default();
        if cursor.peek() != Some(b'{') {
            message.span = cursor.value()?;
            return Ok(message);
        }
        let start = cursor.position();
        cursor.begin_object()?;
        let mut first = true;
        while let Some(key) = cursor.next_member(&mut first)? {
            match key.name() {
                b"role" => message.role = cursor.value()?,
                b"content" => message.content = self.content(cursor)?,
                b"stopReason" => message.stop = cursor.value()?,
                b"toolCallId" => message.call = cursor.value()?,
                b"toolName" => message.tool = cursor.value()?,
                b"provider" => message.provider = cursor.value()?,
                b"model" => message.model = cursor.value()?,
                b"usage" => message.usage = cursor.value()?,
                b"details" => message.details = cursor.value()?,
                _ => drop(cursor.value()?),
            }
        }
        message.span = Span::new(start, cursor.position());
        Ok(message)
    }

    fn content(&mut self, cursor: &mut Cursor<'_>) -> Result<ContentSpans, SyntaxError> {
        let from = self.blocks.len();
        if cursor.peek() != Some(b'[') {
            return Ok(ContentSpans { span: cursor.value()?, blocks: from..from });
        }
        let start = cursor.position();
        cursor.begin_array()?;
        let mut first = true;
        while cursor.next_element(&mut first)? {
            let block = Self::block(cursor)?;
            if self.blocks.len() < BLOCKS {
                self.blocks.push(block);
            }
        }
        Ok(ContentSpans { span: Span::new(start, cursor.position()), blocks: from..self.blocks.len() })
    }

    #[inline]
    fn block(cursor: &mut Cursor<'_>) -> Result<BlockSpans, SyntaxError> {
        let mut block = BlockSpans::default();
        if cursor.peek() != Some(b'{') {
            block.whole = cursor.value()?;
            return Ok(block);
        }
        let start = cursor.position();
        cursor.begin_object()?;
        let mut first = true;
        while let Some(key) = cursor.next_member(&mut first)? {
            match key.name() {
                b"type" => {
                    let span = cursor.value()?;
                    block.kind = match cursor.text(span) {
                        b"\"text\"" => BlockKind::Text,
                        b"\"image\"" => BlockKind::Image,
                        b"\"toolCall\"" => BlockKind::ToolCall,
                        _ => BlockKind::Other,
                    };
                }
                b"text" => block.text = cursor.value()?,
                b"thinking" => block.thinking = cursor.value()?,
                b"id" => block.id = cursor.value()?,
                b"name" => block.name = cursor.value()?,
                b"arguments" => block.arguments = cursor.value()?,
                b"mimeType" => block.mime = cursor.value()?,
                _ => drop(cursor.value()?),
            }
        }
        block.whole = Span::new(start, cursor.position());
        Ok(block)
    }
}

/// One well-formed line and the spans of its members.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'l> {
    line: &'l [u8],
    scan: &'l Scan,
}

impl<'l> Entry<'l> {
    /// Returns the object, without white space around it on the line.
    pub fn object(self) -> Raw<'l> {
        Raw::new(&self.line[self.scan.object.range()])
    }

    /// Returns the span of the object on the line.
    pub(crate) fn object_span(self) -> Span {
        self.scan.object
    }

    /// Searches for a string member of the entry and returns it decoded.
    pub fn get_str(self, name: &str) -> Option<Cow<'l, str>> {
        self.get(name)?.str()
    }

    /// Returns a member of the entry that is the id of an entry.
    pub(crate) fn get_id(self, name: &str) -> Option<Cow<'l, str>> {
        self.get(name)?.id()
    }

    /// Searches for a member of the entry; not fast, since it parses the entry again.
    pub fn get(self, name: &str) -> Option<Raw<'l>> {
        self.object().get(name)
    }

    /// Returns the entry's type.
    pub fn kind(self) -> Kind {
        self.scan.kind_is
    }

    /// Returns the name of the entry's type as stored.
    pub(crate) fn type_name(self) -> Option<Cow<'l, str>> {
        self.str_at(self.scan.kind)
    }

    /// Returns whether [`Self::id`] is there, without decoding it.
    pub(crate) fn has_id(self) -> bool {
        self.raw_at(self.scan.id).and_then(Raw::string_body).is_some_and(|id| !id.is_empty())
    }

    /// Returns the id, if it is a string and not empty.
    pub fn id(self) -> Option<Cow<'l, str>> {
        self.id_at(self.scan.id)
    }

    /// Returns the parent's id, if it is a string and not empty.
    pub(crate) fn parent_id(self) -> Option<Cow<'l, str>> {
        self.id_at(self.scan.parent)
    }

    /// Returns whether `parentId` is null, which says that the entry is a root; it may also be missing.
    pub(crate) fn is_root(self) -> bool {
        self.raw_at(self.scan.parent).is_some_and(|parent| parent.bytes() == b"null")
    }

    /// Returns whether the entry is kept beside the conversation, so that the leaf does not move to it.
    pub(crate) fn is_aside(self) -> bool {
        self.str_at(self.scan.append_mode).as_deref() == Some("side")
    }

    /// Returns the meaning of the timestamp.
    pub fn stamp(self) -> Stamp {
        self.raw_at(self.scan.timestamp).map_or(Stamp::Absent, Stamp::read)
    }

    /// Returns the timestamp as stored, if it is a string or a number.
    pub fn timestamp(self) -> Option<Raw<'l>> {
        self.raw_at(self.scan.timestamp)
            .filter(|raw| matches!(raw.kind(), json::ValueKind::String | json::ValueKind::Number))
    }

    /// Returns the message as stored.
    pub fn message(self) -> Option<Raw<'l>> {
        self.raw_at(self.scan.message.span)
    }

    /// Returns the message's role; [`Role::None`] for other entries.
    pub fn role(self) -> Role {
        if self.kind() == Kind::Message { self.scan.role_is } else { Role::None }
    }

    /// Returns the name of the message's role as stored.
    pub fn role_name(self) -> Option<Cow<'l, str>> {
        self.str_at(self.scan.message.role)
    }

    /// Returns the id of the call that a tool result answers.
    pub(crate) fn tool_call_id(self) -> Option<Cow<'l, str>> {
        self.str_at(self.scan.message.call)
    }

    /// Returns the name of the tool of a tool result.
    pub(crate) fn tool_name(self) -> Option<Cow<'l, str>> {
        self.str_at(self.scan.message.tool)
    }

    /// Returns the usage as stored: that of the message, or that of another kind of entry.
    pub(crate) fn usage(self) -> Option<Raw<'l>> {
        let is_message = self.kind() == Kind::Message;
        self.raw_at(if is_message { self.scan.message.usage } else { self.scan.usage })
    }

    /// Returns the details of a tool result.
    pub(crate) fn details(self) -> Option<Raw<'l>> {
        self.raw_at(self.scan.message.details)
    }

    /// Returns the provider and the name of the model that wrote a message, if it has a name.
    pub(crate) fn written_by(self) -> Option<(Cow<'l, str>, Cow<'l, str>)> {
        let model = self.str_at(self.scan.message.model).filter(|model| !model.is_empty())?;
        Some((self.str_at(self.scan.message.provider).unwrap_or_default(), model))
    }

    /// Returns the content: that of the message, or that of the entry if it is a `custom_message`.
    pub fn content(self) -> Option<Raw<'l>> {
        self.raw_at(self.content_place().span)
    }

    /// Iterates over the blocks of the content; a string has none.
    pub fn blocks(self) -> impl Iterator<Item = Block<'l>> {
        let blocks = self.scan.blocks.get(self.content_place().blocks.clone()).unwrap_or_default();
        blocks.iter().map(move |block| Block { entry: self, block })
    }

    /// Iterates over the tool calls of the content.
    pub(crate) fn calls(self) -> impl Iterator<Item = Block<'l>> {
        self.blocks().filter(|block| block.kind() == BlockKind::ToolCall)
    }

    /// Iterates over the texts of the content as undecoded string bodies: the string, or the text
    /// blocks.
    pub fn texts(self) -> impl Iterator<Item = &'l [u8]> {
        let string = self.content().and_then(Raw::string_body);
        let blocks = self.blocks().filter(|block| block.kind() == BlockKind::Text);
        string.into_iter().chain(blocks.filter_map(|block| block.text()?.string_body()))
    }

    /// Returns the whole text of the content: its text blocks, joined without a separator.
    pub fn full_text(self) -> String {
        let Some(content) = self.content() else { return String::new() };
        if let Some(text) = content.str() {
            return text.into_owned();
        }
        let texts = content.elements().filter(|block| block.get_str("type").as_deref() == Some("text"));
        texts.filter_map(|block| block.get_str("text")).collect()
    }

    /// Returns the properties that decide whether a view shows the entry.
    pub fn traits(self) -> Traits {
        let stop = match self.raw_at(self.scan.message.stop).map(Raw::bytes) {
            None | Some(b"\"stop\"" | b"\"toolUse\"" | b"null" | b"\"\"" | b"false" | b"0") => StopReason::Normal,
            Some(b"\"aborted\"") => StopReason::Aborted,
            Some(_) => StopReason::Other,
        };
        let role = if self.is_skill_of_user() { Role::User } else { self.role() };
        let has_text = match self.kind() {
            Kind::SessionInit => self.get("task").and_then(Raw::string_body).is_some_and(text::has_words),
            _ => self.texts().any(text::has_words),
        };
        Traits { kind: self.kind(), role, stop, has_text }
    }

    /// Returns whether the entry has the text of a skill, whoever asked for it.
    pub(crate) fn is_skill(self) -> bool {
        self.kind() == Kind::CustomMessage && self.get_str("customType").as_deref() == Some(SKILL)
    }

    /// Returns whether the entry has the text of a skill that a person asked for.
    fn is_skill_of_user(self) -> bool {
        self.is_skill() && self.get_str("attribution").as_deref() == Some("user")
    }

    fn content_place(self) -> &'l ContentSpans {
        let own = self.scan.message.span.is_absent()
            || (!self.scan.content.span.is_absent() && self.kind() == Kind::CustomMessage);
        if own { &self.scan.content } else { &self.scan.message.content }
    }

    fn raw_at(self, span: Span) -> Option<Raw<'l>> {
        (!span.is_absent()).then(|| Raw::new(&self.line[span.range()]))
    }

    fn str_at(self, span: Span) -> Option<Cow<'l, str>> {
        self.raw_at(span)?.str()
    }

    fn id_at(self, span: Span) -> Option<Cow<'l, str>> {
        self.raw_at(span)?.id().filter(|id| !id.is_empty())
    }
}

/// Returns the type or role with a name, given as the body of a string.
fn named<T: PartialEq>(body: &[u8], of: impl Fn(&[u8]) -> T, unknown: T) -> T {
    let found = of(body);
    if found == unknown && body.contains(&b'\\') { of(text::decode(body).as_bytes()) } else { found }
}

/// One content block.
#[derive(Clone, Copy, Debug)]
pub struct Block<'l> {
    entry: Entry<'l>,
    block: &'l BlockSpans,
}

impl<'l> Block<'l> {
    /// Returns the whole block, which is no object if it is damaged.
    pub(crate) fn raw(self) -> Raw<'l> {
        Raw::new(&self.entry.line[self.block.whole.range()])
    }

    /// Returns the block's type.
    pub fn kind(self) -> BlockKind {
        self.block.kind
    }

    /// Returns the text of a text block.
    pub fn text(self) -> Option<Raw<'l>> {
        self.entry.raw_at(self.block.text)
    }

    /// Returns the id of a tool call.
    pub fn id(self) -> Option<Cow<'l, str>> {
        self.entry.str_at(self.block.id)
    }

    /// Returns the name of a tool call.
    pub fn name(self) -> Option<Cow<'l, str>> {
        self.entry.str_at(self.block.name)
    }

    /// Returns the arguments of a tool call.
    pub fn arguments(self) -> Option<Raw<'l>> {
        self.entry.raw_at(self.block.arguments)
    }

    /// Returns the media type of an image.
    pub(crate) fn mime(self) -> Option<Cow<'l, str>> {
        self.entry.str_at(self.block.mime)
    }
}
