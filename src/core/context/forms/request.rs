//! A request of any provider: the model, the tools and the messages, written part by part.

use super::form::Form;
use super::{anthropic, openai, responses};
use crate::core::context::Context;
use crate::core::context::content::{list, object};
use crate::core::context::sent::ids::Alphabet;
use crate::core::context::sent::plan::Plan;
use crate::core::context::sent::target::Target;
use crate::core::context::sent::write;
use crate::core::error::Result;
use crate::core::json::{Object, Raw, ValueKind};
use crate::core::session::body::Bodies;

/// The providers' ways of taking a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// Anthropic's Messages API.
    Anthropic,
    /// OpenAI's Chat Completions API.
    Completions,
    /// OpenAI's Responses API.
    Responses,
}

impl Api {
    /// Returns the name by which sessions call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic-messages",
            Self::Completions => "openai-completions",
            Self::Responses => "openai-responses",
        }
    }

    /// Returns the alphabet of the ids that it takes from a provider.
    pub fn alphabet(self, provider: &str) -> Alphabet {
        match self {
            Self::Anthropic => Alphabet::Anthropic,
            Self::Completions => Alphabet::Completions { is_openai: provider == "openai" },
            Self::Responses => {
                Alphabet::Responses { takes_items: matches!(provider, "openai" | "openai-codex" | "opencode") }
            }
        }
    }

    /// Calls `each` with the parts of the request for a context and a model.
    ///
    /// # Errors
    /// As [`Bodies::entry`], and those of `each`.
    pub fn request<E>(
        self,
        bodies: &mut Bodies<'_>,
        context: &Context,
        target: Target,
        each: &mut dyn FnMut(&[u8]) -> std::result::Result<(), E>,
    ) -> Result<std::result::Result<(), E>> {
        let alphabet = self.alphabet(&target.provider);
        let plan = write::plan(bodies, context, target, alphabet)?;
        match self {
            Self::Anthropic => request(anthropic::AnthropicMessages::default(), bodies, context, &plan, each),
            Self::Completions => {
                request(openai::CompletionsMessages::new(&plan.target.provider), bodies, context, &plan, each)
            }
            Self::Responses => request(responses::ResponsesItems::new(&plan.target), bodies, context, &plan, each),
        }
    }
}

fn request<F: Form, E>(
    mut form: F,
    bodies: &mut Bodies<'_>,
    context: &Context,
    plan: &Plan,
    each: &mut dyn FnMut(&[u8]) -> std::result::Result<(), E>,
) -> Result<std::result::Result<(), E>> {
    let system = plan.system.text();
    let mut out = Vec::new();
    let mut request = Object::new(&mut out);
    request.str("model", &plan.target.model);
    form.head(&mut request, system.as_deref());
    tools(&form, &mut request, plan);
    request.json(F::MESSAGES, b"[");
    drop(request);
    // The list and the object go on, piece by piece.
    out.pop();
    if let Some(system) = &system {
        form.system(&mut out, system);
    }
    let (mut scratch, mut message) = (Vec::new(), Vec::new());
    for step in &plan.steps {
        message.clear();
        if write::step(&mut message, bodies, &mut scratch, context.rules, &plan.target, step)? {
            drop_half_characters(&mut message);
            form.push(&mut out, Raw::new(&message));
        }
        if let Err(error) = each(&out) {
            return Ok(Err(error));
        }
        out.clear();
    }
    form.close(&mut out);
    out.extend_from_slice(b"]}");
    Ok(each(&out))
}

/// Adds the tools: those that the session names, else one for each name that is called, since providers refuse
/// calls without tools.
fn tools<F: Form>(form: &F, request: &mut Object<'_>, plan: &Plan) {
    let named = plan.system.tools().filter_map(|tool| {
        let name = tool.get_str("name")?;
        let description = tool.get_str("description");
        Some(object(|out| form.tool(out, &name, description.as_deref(), &schema(tool))))
    });
    let mut definitions: Vec<_> = named.collect();
    if definitions.is_empty() {
        let any = schema(Raw::new(b"{}"));
        definitions.extend(plan.tools.names.iter().map(|name| object(|out| form.tool(out, name, None, &any))));
    }
    if !definitions.is_empty() {
        request.json("tools", &list(&definitions));
    }
}

/// Returns the parameters of a tool as a schema of an object.
fn schema(tool: Raw<'_>) -> Vec<u8> {
    let parameters = tool.get("parameters").filter(|parameters| parameters.kind() == ValueKind::Object);
    let mut schema = parameters.map_or(b"{}".to_vec(), |parameters| parameters.bytes().to_vec());
    let has = |name| parameters.is_some_and(|parameters: Raw<'_>| parameters.get(name).is_some());
    let mut object = Object::reopen(&mut schema);
    if !has("type") {
        object.str("type", "object");
    }
    if !has("properties") {
        object.json("properties", b"{}");
    }
    drop(object);
    schema
}

/// Takes escapes out of JSON text that stand for half a character: no provider takes them.
fn drop_half_characters(json: &mut Vec<u8>) {
    if memchr::memmem::find(json, b"\\u").is_none() {
        return;
    }
    // The unit of UTF-16 that an escape at this place stands for.
    let unit = |json: &[u8], at: usize| {
        let digits = json.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()
    };
    let (mut from, mut to) = (0, 0);
    while from < json.len() {
        let length = match unit(json, from) {
            Some(0xd800..0xdc00) if matches!(unit(json, from + 6), Some(0xdc00..0xe000)) => 12,
            Some(0xd800..0xe000) => {
                from += 6;
                continue;
            }
            Some(_) => 6,
            None if json[from] == b'\\' => 2.min(json.len() - from),
            None => 1,
        };
        json.copy_within(from..from + length, to);
        from += length;
        to += length;
    }
    json.truncate(to);
}

#[cfg(test)]
mod tests {
    use super::drop_half_characters;

    #[test]
    fn halves_of_characters_are_left_out() {
        let check = |stored: &str, sent: &str| {
            let mut json = stored.as_bytes().to_vec();
            drop_half_characters(&mut json);
            assert_eq!(str::from_utf8(&json), Ok(sent), "{stored}");
        };
        check(r#""a\ud83d b""#, r#""a b""#);
        check(r#""a\ud83d\ude42b\u00e9""#, r#""a\ud83d\ude42b\u00e9""#);
        check(r#""a\ud83d b\udE42\uD83D""#, r#""a b""#);
        check(r#""\\ud83d \\\ud83d\n""#, r#""\\ud83d \\\n""#);
        check(r#""\ud83d"#, "\"");
        check(r#""\u12"#, r#""\u12"#);
    }
}
