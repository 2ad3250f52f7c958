//! The model that a context is sent to, and how near other models are to it.

use crate::core::context::message;
use crate::core::context::{Context, ContextMessage};
use crate::core::error::Result;
use crate::core::json::Raw;
use crate::core::session::body::Bodies;

/// The API that messages are for where none of them says another.
const API: &str = "anthropic-messages";

/// A model, and the API by which it is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// The provider; empty if none is known.
    pub provider: String,
    /// The id of the model at its provider; empty if none is known.
    pub model: String,
    /// The API.
    pub api: String,
}

/// How the reasoning of another model is told as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quoting {
    /// As any other text.
    Plain,
    /// Between these lines.
    Between(&'static str, &'static str),
}

/// How near the model that wrote a turn is to the one that it is sent to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kinship {
    /// It is the same, by the same API.
    Same,
    /// It is another one, by the API of Anthropic, as the one that it is sent to.
    Anthropic {
        /// Whether Anthropic itself answered, whose signatures no other model takes.
        is_own: bool,
    },
    /// It is another one, or by another API.
    Other,
}

impl Target {
    /// Returns the model named as `provider/id`, else the one in force in a context, with the given API, else
    /// that of the last answer in the context.
    ///
    /// # Errors
    /// As [`message::with`].
    pub fn new(bodies: &mut Bodies<'_>, context: &Context, name: Option<&str>, api: Option<&str>) -> Result<Self> {
        let name = name.or_else(|| context.settings.models.get("default").map(String::as_str));
        let (provider, model) = name.map(|name| name.split_once('/').unwrap_or((name, ""))).unwrap_or_default();
        let api = match api {
            Some(api) => api.to_owned(),
            None => last_api(bodies, &context.messages)?.unwrap_or_else(|| API.to_owned()),
        };
        Ok(Self { provider: provider.to_owned(), model: model.to_owned(), api })
    }

    /// Returns how omp tells the model of another one's reasoning, which it knows by the family in its id.
    pub(super) fn quoting(&self) -> Quoting {
        let id = self.model.to_ascii_lowercase();
        let name = id.rsplit('/').next().unwrap_or_default();
        let is = |name: &str, family: &str| {
            let rest = name.strip_prefix(family).map(|rest| rest.chars().next());
            rest.is_some_and(|next| next.is_none_or(|char| !char.is_ascii_alphabetic() && char != '@'))
        };
        let is_numbered = ["o1", "o3", "o4"].iter().any(|family| {
            let rest = name.strip_prefix(family).map(|rest| rest.chars().next());
            rest.is_some_and(|next| next.is_none_or(|char| !char.is_ascii_alphanumeric()))
        });
        if is(name, "claude") || id.split(['/', '.']).any(|part| part == "anthropic" || part.starts_with("anthropic-"))
        {
            return Quoting::Plain;
        }
        if is(name, "gemini") {
            return Quoting::Between("```thinking\n", "\n```");
        }
        let is_family = ["glm", "kimi", "deepseek", "qwen", "gemma"].iter().any(|family| is(name, family));
        let is_maker = id.split(['/', '.']).any(|part| matches!(part, "deepseek" | "moonshotai"));
        let is_gpt = ["gpt-", "chatgpt-"].iter().any(|start| name.starts_with(start));
        match is_gpt || is_numbered || is_family || is_maker {
            true => Quoting::Between("<think>\n", "\n</think>"),
            false => Quoting::Between("<thinking>\n", "\n</thinking>"),
        }
    }

    /// Returns how near the model that wrote an assistant message is.
    pub(crate) fn kinship(&self, turn: Raw<'_>) -> Kinship {
        let is = |name: &str, own: &str| turn.get_str(name).as_deref() == Some(own);
        let is_same_api = is("api", &self.api);
        if is_same_api && is("provider", &self.provider) && is("model", &self.model) {
            return Kinship::Same;
        }
        match is_same_api && self.api == API {
            true => Kinship::Anthropic { is_own: is("provider", "anthropic") },
            false => Kinship::Other,
        }
    }
}

/// Returns the API of the last answer that names one.
fn last_api(bodies: &mut Bodies<'_>, messages: &[ContextMessage]) -> Result<Option<String>> {
    let session = bodies.session();
    let mut scratch = Vec::new();
    for item in messages.iter().rev().filter(|item| item.role(session) == "assistant") {
        let api = message::with(bodies, item, &mut scratch, |message| {
            message.get_str("api").filter(|api| !api.is_empty()).map(|api| api.into_owned())
        })?;
        if api.is_some() {
            return Ok(api);
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::{Kinship, Quoting, Target};
    use crate::core::json::Raw;

    fn target(model: &str, api: &str) -> Target {
        Target { provider: "anthropic".to_owned(), model: model.to_owned(), api: api.to_owned() }
    }

    #[test]
    fn reasoning_is_quoted_as_the_family_of_the_model_does_it() {
        let between = |start, end| Quoting::Between(start, end);
        let think = between("<think>\n", "\n</think>");
        let rows: [(&str, Quoting); 4] = [
            ("claude claude-3 Claude.3 a/claude-x us.anthropic.claude-v1 anthropic/x", Quoting::Plain),
            ("gemini gemini-3-pro google/gemini2", between("```thinking\n", "\n```")),
            ("gpt-5 o1 o3-mini chatgpt-4o glm4 kimi us.deepseek.r1 qwen2.5 gemma-3 moonshotai/x", think),
            ("gpt claudette my-claude o10 geminix mill-2 a.kimi-k2x", between("<thinking>\n", "\n</thinking>")),
        ];
        for (models, quoting) in rows {
            for model in models.split(' ') {
                assert_eq!(target(model, "x").quoting(), quoting, "{model}");
            }
        }
    }

    #[test]
    fn author_is_the_same_only_by_provider_model_and_api() {
        let author = |provider: &str, model: &str, api: &str| {
            let turn = format!(r#"{{"provider":"{provider}","model":"{model}","api":"{api}"}}"#);
            target("m", "anthropic-messages").kinship(Raw::new(turn.as_bytes()))
        };
        assert_eq!(author("anthropic", "m", "anthropic-messages"), Kinship::Same);
        assert_eq!(author("anthropic", "n", "anthropic-messages"), Kinship::Anthropic { is_own: true });
        assert_eq!(author("grain", "m", "anthropic-messages"), Kinship::Anthropic { is_own: false });
        assert_eq!(author("anthropic", "m", "openai-responses"), Kinship::Other);
    }
}
