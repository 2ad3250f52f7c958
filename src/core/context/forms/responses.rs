//! The form of OpenAI's Responses API.

use super::content::{SentMessage, data_url, says_anything};
use super::form::Form;
use super::script;
use crate::core::context::content::TextPart::{self, Literal, Stored};
use crate::core::context::content::{list, object, set, write_text};
use crate::core::context::sent::target::{Kinship, Target};
use crate::core::json::text::push_json;
use crate::core::json::{Object, Raw, ValueKind};

/// The longest id of an item.
const LONGEST_ID: usize = 64;

/// The items while they are written.
pub(super) struct ResponsesItems<'t> {
    target: &'t Target,
    has_any: bool,
    /// How many messages of answers were written.
    answers: usize,
}

impl<'t> ResponsesItems<'t> {
    pub(super) fn new(target: &'t Target) -> Self {
        Self { target, has_any: false, answers: 0 }
    }

    fn begin<'o>(&mut self, out: &'o mut Vec<u8>) -> Object<'o> {
        self.separate(out);
        Object::new(out)
    }

    fn separate(&mut self, out: &mut Vec<u8>) {
        if std::mem::replace(&mut self.has_any, true) {
            out.push(b',');
        }
    }

    fn answer(&mut self, out: &mut Vec<u8>, message: SentMessage<'_>) {
        let is_own = self.target.kinship(message.0) == Kinship::Same;
        for (kind, block) in message.blocks() {
            match kind.as_str() {
                "thinking" => {
                    // What the provider gave to be sent back.
                    let signature = block.get_str("thinkingSignature").unwrap_or_default();
                    if let Some(item) = script::parse(&signature).filter(|item| item.kind() == ValueKind::Object) {
                        self.separate(out);
                        out.extend_from_slice(item.bytes());
                    }
                }
                "text" => self.text(out, block),
                "toolCall" => {
                    let mut call = self.begin(out);
                    let id = block.get_str("id").unwrap_or_default();
                    let (id, item) = id.split_once('|').unwrap_or((&id, ""));
                    let item = item.split('|').next().unwrap_or_default();
                    call.str("type", "function_call");
                    if is_own && item.starts_with("fc_") {
                        call.str("id", item);
                    }
                    call.str("call_id", id);
                    set(&mut call, "name", block.get("name"));
                    push_json(call.value("arguments"), &script::text(block.get("arguments")));
                }
                _ => {}
            }
        }
    }

    fn text(&mut self, out: &mut Vec<u8>, block: Raw<'_>) {
        self.answers += 1;
        let signature = block.get_str("textSignature").unwrap_or_default();
        let named = script::parse(&signature).filter(|signature| signature.get("v").and_then(Raw::number) == Some(1.0));
        let id =
            named.map_or(signature.clone().into_owned(), |named| named.get_str("id").unwrap_or_default().into_owned());
        let id = Some(id).filter(|id| !id.is_empty() && id.encode_utf16().count() <= LONGEST_ID);
        let phase = named.and_then(|named| named.get_str("phase"));
        let phase = phase.filter(|phase| matches!(phase.as_ref(), "commentary" | "final_answer"));
        let id = id.unwrap_or_else(|| format!("msg_{}", self.answers));
        let mut item = self.begin(out);
        item.str("type", "message").str("role", "assistant");
        let text = object(|text| {
            write_text(text.str("type", "output_text").value("text"), &[Stored(block.get("text"))]);
            text.json("annotations", b"[]");
        });
        item.json("content", &list(&[text])).str("status", "completed").str("id", &id);
        phase.iter().for_each(|phase| _ = item.str("phase", phase));
    }

    fn result(&mut self, out: &mut Vec<u8>, message: SentMessage<'_>) {
        let mut result = self.begin(out);
        let id = message.0.get_str("toolCallId").unwrap_or_default();
        result.str("type", "function_call_output");
        result.str("call_id", id.split_once('|').map_or(&id, |(id, _)| id));
        let lines = message.lines();
        let images: Vec<_> = message.images().map(image).collect();
        if images.is_empty() {
            let lines = if says_anything(&lines) { lines } else { vec![Literal("(no tool output)")] };
            return write_text(result.value("output"), &lines);
        }
        let mut blocks = Vec::new();
        if says_anything(&lines) {
            blocks.push(text(&lines));
        }
        blocks.extend(images);
        result.json("output", &list(&blocks));
    }
}

impl Form for ResponsesItems<'_> {
    const MESSAGES: &'static str = "input";

    fn tool(&self, tool: &mut Object<'_>, name: &str, description: Option<&str>, parameters: &[u8]) {
        tool.str("type", "function").str("name", name);
        description.iter().for_each(|text| _ = tool.str("description", text));
        tool.json("parameters", parameters).json("strict", b"false");
    }

    fn system(&mut self, out: &mut Vec<u8>, system: &str) {
        self.begin(out).str("role", "developer").str("content", system);
    }

    fn push(&mut self, out: &mut Vec<u8>, message: Raw<'_>) {
        let message = SentMessage(message);
        match message.role().as_str() {
            "toolResult" => self.result(out, message),
            "assistant" => self.answer(out, message),
            "user" => {
                let blocks: Vec<_> = match message.string() {
                    Some(string) => vec![text(&[Stored(Some(string))])],
                    None => message
                        .blocks()
                        .filter_map(|(kind, block)| match kind.as_str() {
                            "text" => Some(text(&[Stored(block.get("text"))])),
                            "image" => Some(image(block)),
                            _ => None,
                        })
                        .collect(),
                };
                if !blocks.is_empty() {
                    self.begin(out).str("role", "user").json("content", &list(&blocks));
                }
            }
            _ => {}
        }
    }
}

fn text(text: &[TextPart<'_>]) -> Vec<u8> {
    object(|block| write_text(block.str("type", "input_text").value("text"), text))
}

fn image(stored: Raw<'_>) -> Vec<u8> {
    object(|image| {
        image.str("type", "input_image").str("detail", "auto");
        write_text(image.value("image_url"), &data_url(stored));
    })
}
