//! The form of Anthropic's Messages API.

use super::content::SentMessage;
use super::form::Form;
use crate::core::context::content::TextPart::{Literal, Stored};
use crate::core::context::content::{block, is_blank, list, object, set, write_text};
use crate::core::json::{Object, Raw};

/// How many tokens an answer may have.
const MAX_TOKENS: i64 = 8192;

/// What stands in a failed result for an image.
const IMAGE_BELOW: &str = "(image attached after the tool results)";

/// The messages while they are written.
#[derive(Default)]
pub(super) struct AnthropicMessages {
    /// Whether any was written.
    has_any: bool,
    /// The results that are collected for one message.
    results: Vec<Vec<u8>>,
    /// The images of failed results, which the API takes only after all results.
    images: Vec<Vec<u8>>,
    /// A prompt that is a string. As the last message it has to be a block.
    prompt: Option<Vec<u8>>,
}

impl Form for AnthropicMessages {
    const MESSAGES: &'static str = "messages";

    fn head(&self, request: &mut Object<'_>, system: Option<&str>) {
        request.number("max_tokens", MAX_TOKENS);
        if let Some(system) = system {
            let block = object(|block| _ = block.str("type", "text").str("text", system));
            request.json("system", &list(&[block]));
        }
    }

    fn tool(&self, tool: &mut Object<'_>, name: &str, description: Option<&str>, parameters: &[u8]) {
        tool.str("name", name);
        description.iter().for_each(|text| _ = tool.str("description", text));
        tool.json("input_schema", parameters);
    }

    fn push(&mut self, out: &mut Vec<u8>, message: Raw<'_>) {
        let message = SentMessage(message);
        match message.role().as_str() {
            "toolResult" => {
                self.results.push(result(message));
                self.images.extend(error_images(message));
            }
            "user" => {
                self.close_results(out);
                if let Some(text) = message.string() {
                    if !is_blank(&text.str().unwrap_or_default()) {
                        self.write_prompt(out);
                        self.prompt = Some(text.bytes().to_vec());
                    }
                    return;
                }
                let blocks = message.blocks().filter_map(|(kind, block)| match kind.as_str() {
                    "text" => text(block),
                    "image" => Some(image(block)),
                    _ => None,
                });
                self.message(out, "user", &blocks.collect::<Vec<_>>());
            }
            "assistant" => {
                self.close_results(out);
                let blocks = message.blocks().filter_map(|(kind, block)| answer(&kind, block));
                self.message(out, "assistant", &blocks.collect::<Vec<_>>());
            }
            _ => {}
        }
    }

    fn close(&mut self, out: &mut Vec<u8>) {
        self.close_results(out);
        if let Some(text) = self.prompt.take() {
            self.message(out, "user", &[block(&[Stored(Some(Raw::new(&text)))])]);
        }
    }
}

impl AnthropicMessages {
    /// Writes a message of blocks, if there are any.
    fn message(&mut self, out: &mut Vec<u8>, role: &str, blocks: &[Vec<u8>]) {
        if !blocks.is_empty() {
            self.write_prompt(out);
            self.write(out, role, &list(blocks));
        }
    }

    fn write(&mut self, out: &mut Vec<u8>, role: &str, content: &[u8]) {
        if std::mem::replace(&mut self.has_any, true) {
            out.push(b',');
        }
        Object::new(out).str("role", role).json("content", content);
    }

    /// Writes the prompt that was held back, before another message.
    fn write_prompt(&mut self, out: &mut Vec<u8>) {
        if let Some(text) = self.prompt.take() {
            self.write(out, "user", &text);
        }
    }

    /// Writes the results that were collected.
    fn close_results(&mut self, out: &mut Vec<u8>) {
        let mut blocks = std::mem::take(&mut self.results);
        blocks.append(&mut self.images);
        self.message(out, "user", &blocks);
    }
}

fn result(message: SentMessage<'_>) -> Vec<u8> {
    object(|result| {
        set(result.str("type", "tool_result"), "tool_use_id", message.0.get("toolCallId"));
        if message.images().next().is_none() {
            write_text(result.value("content"), &message.lines());
        } else if is_error(message) {
            let mut lines = Vec::new();
            for (kind, block) in message.blocks() {
                if !lines.is_empty() {
                    lines.push(Literal("\n"));
                }
                lines.push(if kind == "text" { Stored(block.get("text")) } else { Literal(IMAGE_BELOW) });
            }
            write_text(result.value("content"), &lines);
        } else {
            let has_text = message.blocks().any(|(kind, _)| kind == "text");
            let caption = (!has_text).then(|| block(&[Literal("(see attached image)")]));
            let blocks = message.blocks().filter_map(|(kind, stored)| match kind.as_str() {
                "text" => Some(block(&[Stored(stored.get("text"))])),
                "image" => Some(image(stored)),
                _ => None,
            });
            result.json("content", &list(&caption.into_iter().chain(blocks).collect::<Vec<_>>()));
        }
        set(result, "is_error", message.0.get("isError"));
    })
}

/// Returns the images of a failed result, after a caption.
fn error_images(message: SentMessage<'_>) -> Vec<Vec<u8>> {
    let images: Vec<_> = message.images().map(image).collect();
    if images.is_empty() || !is_error(message) {
        return Vec::new();
    }
    let (id, name) = (Stored(message.0.get("toolCallId")), Stored(message.0.get("toolName")));
    let caption = [Literal("Images from the error result of tool call "), id, Literal(" ("), name, Literal("):")];
    std::iter::once(block(&caption)).chain(images).collect()
}

fn is_error(message: SentMessage<'_>) -> bool {
    message.0.get("isError").is_some_and(Raw::is_true)
}

/// Returns the form of a block of an answer, if it has one.
fn answer(kind: &str, stored: Raw<'_>) -> Option<Vec<u8>> {
    let is_said = |name| !is_blank(&stored.get_str(name).unwrap_or_default());
    match kind {
        "text" => text(stored),
        "thinking" if stored.get("redacted").is_some_and(Raw::is_true) => {
            Some(object(|block| set(block.str("type", "redacted_thinking"), "data", stored.get("thinkingSignature"))))
        }
        "thinking" if is_said("thinkingSignature") => Some(object(|block| {
            set(block.str("type", "thinking"), "thinking", stored.get("thinking"));
            set(block, "signature", stored.get("thinkingSignature"));
        })),
        "thinking" if is_said("thinking") => Some(block(&[Stored(stored.get("thinking"))])),
        "toolCall" => Some(object(|block| {
            set(block.str("type", "tool_use"), "id", stored.get("id"));
            set(block, "name", stored.get("name"));
            let input = stored.get("arguments").filter(|arguments| !arguments.is_null());
            block.json("input", input.map_or(b"{}", Raw::bytes));
        })),
        _ => None,
    }
}

/// Returns the form of a text block, unless it is blank.
fn text(stored: Raw<'_>) -> Option<Vec<u8>> {
    let text = stored.get("text");
    let is_blank = text.and_then(Raw::str).is_none_or(|text| is_blank(&text));
    (!is_blank).then(|| block(&[Stored(text)]))
}

fn image(stored: Raw<'_>) -> Vec<u8> {
    let source = object(|source| {
        set(source.str("type", "base64"), "media_type", stored.get("mimeType"));
        set(source, "data", stored.get("data"));
    });
    object(|image| _ = image.str("type", "image").json("source", &source))
}
