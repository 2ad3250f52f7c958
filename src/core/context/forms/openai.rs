//! The form of OpenAI's Chat Completions API, which many providers take.

use super::content::{SentMessage, data_url, says_anything};
use super::form::Form;
use super::script;
use crate::core::context::content::TextPart::{Literal, Stored};
use crate::core::context::content::{block, has_text, is_blank, list, object, set, write_text};
use crate::core::json::text::push_json;
use crate::core::json::{Object, Raw};

/// The members by which providers name reasoning.
const REASONING: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_text"];

/// The messages while they are written.
pub(super) struct CompletionsMessages {
    /// The role of the system prompt.
    system: &'static str,
    /// Whether every answer has to have reasoning.
    wants_reasoning: bool,
    has_any: bool,
    /// The images of results, which follow them in a message of their own.
    images: Vec<Vec<u8>>,
}

impl CompletionsMessages {
    pub(super) fn new(provider: &str) -> Self {
        let system = if provider == "openai" { "developer" } else { "system" };
        Self { system, wants_reasoning: provider == "deepseek", has_any: false, images: Vec::new() }
    }

    fn begin<'o>(&mut self, out: &'o mut Vec<u8>, role: &str) -> Object<'o> {
        if std::mem::replace(&mut self.has_any, true) {
            out.push(b',');
        }
        let mut message = Object::new(out);
        message.str("role", role);
        message
    }

    fn flush(&mut self, out: &mut Vec<u8>) {
        if self.images.is_empty() {
            return;
        }
        let mut blocks = vec![block(&[Literal("Attached image(s) from tool result:")])];
        blocks.append(&mut self.images);
        self.begin(out, "user").json("content", &list(&blocks));
    }

    fn answer(&mut self, out: &mut Vec<u8>, message: SentMessage<'_>) {
        let of =
            |wanted: &'static str| message.blocks().filter(move |(kind, _)| kind == wanted).map(|(_, block)| block);
        let is_said = |block: &Raw<'_>, name| !is_blank(&block.get_str(name).unwrap_or_default());
        let text: Vec<_> = of("text").filter(|block| is_said(block, "text")).collect();
        let thoughts: Vec<_> = of("thinking").filter(|block| is_said(block, "thinking")).collect();
        let calls: Vec<_> = of("toolCall").collect();
        if text.is_empty() && calls.is_empty() {
            return;
        }
        let mut answer = self.begin(out, "assistant");
        match text.is_empty() {
            true => _ = answer.json("content", b"null"),
            false => {
                let text: Vec<_> = text.iter().map(|block| Stored(block.get("text"))).collect();
                write_text(answer.value("content"), &text);
            }
        }
        let signature = thoughts.first().and_then(|block| block.get_str("thinkingSignature"));
        let details: Vec<_> = calls.iter().filter_map(|block| sealed(*block)).collect();
        // Sealed reasoning stands for the words.
        let member = REASONING.into_iter().find(|name| signature.as_deref() == Some(*name) && details.is_empty());
        if let Some(member) = member {
            let mut parts = Vec::new();
            for thought in &thoughts {
                if !parts.is_empty() {
                    parts.push(Literal("\n"));
                }
                parts.push(Stored(thought.get("thinking")));
            }
            write_text(answer.value(member), &parts);
        }
        if self.wants_reasoning && member != Some(REASONING[0]) {
            answer.str(REASONING[0], "");
        }
        if !calls.is_empty() {
            let calls: Vec<_> = calls.iter().map(|block| call(*block)).collect();
            answer.json("tool_calls", &list(&calls));
            if !details.is_empty() {
                answer.json("reasoning_details", &list(&details));
            }
        }
    }
}

impl Form for CompletionsMessages {
    const MESSAGES: &'static str = "messages";

    fn tool(&self, tool: &mut Object<'_>, name: &str, description: Option<&str>, parameters: &[u8]) {
        let mut function = Object::new(tool.str("type", "function").value("function"));
        function.str("name", name);
        description.iter().for_each(|text| _ = function.str("description", text));
        function.json("parameters", parameters);
    }

    fn system(&mut self, out: &mut Vec<u8>, system: &str) {
        let role = self.system;
        self.begin(out, role).str("content", system);
    }

    fn push(&mut self, out: &mut Vec<u8>, message: Raw<'_>) {
        let message = SentMessage(message);
        match message.role().as_str() {
            "toolResult" => {
                self.images.extend(message.images().map(image));
                let has_images = message.images().next().is_some();
                let mut result = self.begin(out, "tool");
                let lines = message.lines();
                match (says_anything(&lines), has_images) {
                    (true, _) => write_text(result.value("content"), &lines),
                    (false, true) => _ = result.str("content", "(see attached image)"),
                    (false, false) => _ = result.str("content", "(no tool output)"),
                }
                set(&mut result, "tool_call_id", message.0.get("toolCallId"));
            }
            "user" => {
                self.flush(out);
                if let Some(text) = message.string() {
                    self.begin(out, "user").json("content", text.bytes());
                    return;
                }
                let blocks = message.blocks().filter_map(|(kind, stored)| match kind.as_str() {
                    "text" if has_text(stored.get("text")) => Some(block(&[Stored(stored.get("text"))])),
                    "image" => Some(image(stored)),
                    _ => None,
                });
                let blocks: Vec<_> = blocks.collect();
                if !blocks.is_empty() {
                    self.begin(out, "user").json("content", &list(&blocks));
                }
            }
            "assistant" => {
                self.flush(out);
                self.answer(out, message);
            }
            _ => {}
        }
    }

    fn close(&mut self, out: &mut Vec<u8>) {
        self.flush(out);
    }
}

fn call(stored: Raw<'_>) -> Vec<u8> {
    let function = object(|function| {
        set(function, "name", stored.get("name"));
        push_json(function.value("arguments"), &script::text(stored.get("arguments")));
    });
    object(|call| {
        set(call, "id", stored.get("id"));
        call.str("type", "function").json("function", &function);
    })
}

/// Returns the sealed reasoning of a call, which stands in its signature.
fn sealed(block: Raw<'_>) -> Option<Vec<u8>> {
    let signature = block.get_str("thoughtSignature")?;
    let value = script::parse(&signature)?;
    let has = |name| has_text(value.get(name));
    let is_sealed = value.get_str("type").as_deref() == Some("reasoning.encrypted") && has("id") && has("data");
    is_sealed.then(|| value.bytes().to_vec())
}

fn image(stored: Raw<'_>) -> Vec<u8> {
    let url = object(|url| write_text(url.value("url"), &data_url(stored)));
    object(|image| _ = image.str("type", "image_url").json("image_url", &url))
}
