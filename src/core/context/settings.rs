//! The settings in force at the end of a path (help rules, "Context"): thinking level, models, mode and the
//! others. Which of them a model is told is not known here.

use std::collections::{BTreeMap, HashSet};

use crate::core::entry::preview;
use crate::core::entry::{Entry, Kind, Role};
use crate::core::error::Result;
use crate::core::json::Raw;
use crate::core::session::NodeId;
use crate::core::session::body::Bodies;

/// The settings in force at a leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The thinking level; `off` unless one was set.
    pub thinking_level: String,
    /// The thinking level that was asked for, which only omp knows.
    pub configured_thinking_level: Option<String>,
    /// The models by role.
    pub models: BTreeMap<String, String>,
    /// The mode; `none` unless one was set.
    pub mode: String,
    /// The mode's data, as stored.
    pub mode_data: Option<String>,
    /// The service tier, as stored.
    pub service_tier: Option<String>,
    /// The selected tools, as stored.
    pub mcp_tools: Option<String>,
    /// The injected rules, in the order in which they were first seen.
    pub ttsr_rules: Vec<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            thinking_level: "off".to_owned(),
            configured_thinking_level: None,
            models: BTreeMap::new(),
            mode: "none".to_owned(),
            mode_data: None,
            service_tier: None,
            mcp_tools: None,
            ttsr_rules: Vec::new(),
        }
    }
}

impl Settings {
    /// Returns the settings in force at the end of a path.
    pub(super) fn along(bodies: &mut Bodies<'_>, path: &[NodeId]) -> Result<Self> {
        let session = bodies.session();
        let mut settings = Self::default();
        let mut known_rules = HashSet::new();
        // The place after the last entry that set the default model.
        let mut from = 0;
        for (&node, after) in path.iter().zip(1..) {
            let kind = session.traits(node).kind;
            if is_setting(kind) && settings.apply(kind, bodies.entry(node)?, &mut known_rules) {
                from = after;
            }
        }
        if let Some(model) = answering_model(bodies, &path[from..])? {
            settings.models.insert("default".to_owned(), model);
        }
        Ok(settings)
    }

    /// Applies an entry, and returns whether it set the default model.
    fn apply(&mut self, kind: Kind, entry: Entry<'_>, known_rules: &mut HashSet<String>) -> bool {
        match kind {
            Kind::ThinkingLevelChange => {
                let level = entry.get_str("thinkingLevel");
                self.thinking_level = level.map_or_else(|| "off".to_owned(), |level| level.into_owned());
            }
            Kind::ModelChange => {
                let Some(model) = preview::model_name(entry) else { return false };
                // The form with a provider of its own knows no roles.
                let role = entry.get_str("role").filter(|role| !role.is_empty() && entry.get("model").is_some());
                let role = role.as_deref().unwrap_or("default");
                self.models.insert(role.to_owned(), model);
                return role == "default";
            }
            Kind::ModeChange => {
                self.mode = entry.get_str("mode").map_or_else(|| "none".to_owned(), |mode| mode.into_owned());
                self.mode_data = entry.get("data").filter(|data| !data.is_null()).map(stored);
            }
            Kind::ServiceTierChange => {
                self.service_tier = entry.get("serviceTier").filter(|tier| !tier.is_null()).map(stored);
            }
            Kind::McpToolSelection => self.mcp_tools = entry.get("selectedToolNames").map(stored),
            Kind::TtsrInjection => {
                for rule in entry.get("injectedRules").iter().flat_map(|rules| rules.elements()) {
                    if let Some(rule) = rule.str()
                        && known_rules.insert(rule.clone().into_owned())
                    {
                        self.ttsr_rules.push(rule.into_owned());
                    }
                }
            }
            _ => {}
        }
        false
    }
}

fn is_setting(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::ThinkingLevelChange
            | Kind::ModelChange
            | Kind::ModeChange
            | Kind::TtsrInjection
            | Kind::ServiceTierChange
            | Kind::McpToolSelection
    )
}

/// Returns the model of the last assistant message among some entries.
fn answering_model(bodies: &mut Bodies<'_>, nodes: &[NodeId]) -> Result<Option<String>> {
    let session = bodies.session();
    // From the end, since only the last one counts and each costs a read.
    for &node in nodes.iter().rev() {
        let traits = session.traits(node);
        if traits.kind != Kind::Message || traits.role != Role::Assistant {
            continue;
        }
        let message = bodies.entry(node)?.message();
        let names = message.and_then(|message| Some((message.get_str("provider")?, message.get_str("model")?)));
        if let Some((provider, model)) = names {
            return Ok(Some(format!("{provider}/{model}")));
        }
    }
    Ok(None)
}

fn stored(raw: Raw<'_>) -> String {
    String::from_utf8_lossy(raw.bytes()).into_owned()
}

#[cfg(test)]
mod tests {
    use crate::core::session::Session;
    use crate::core::session::body::Bodies;
    use crate::core::session::sample::{chain, node};
    use crate::core::tree::walk;

    use super::Settings;

    fn settings(session: &Session, leaf: &str) -> Settings {
        Settings::along(&mut Bodies::new(session), &walk::path(session, node(session, leaf))).unwrap()
    }

    #[test]
    fn each_setting_is_that_of_the_last_entry_that_sets_it() {
        /// What an entry changes in the settings before it.
        type Apply = fn(&mut Settings);
        let rows: [(&str, &str, &str, Apply); 16] = [
            ("user", "e00", "x", |_| ()),
            ("thinking_level_change", "e01", r#""thinkingLevel":"high""#, |state| {
                state.thinking_level = "high".to_owned()
            }),
            ("thinking_level_change", "e02", r#""thinkingLevel":7"#, |state| state.thinking_level = "off".to_owned()),
            ("model_change", "e03", r#""model":"a/b""#, |state| set_model(state, "default", "a/b")),
            ("model_change", "e04", r#""model":"c/d","role":"plan""#, |state| set_model(state, "plan", "c/d")),
            ("model_change", "e05", r#""model":"e/f","role":"""#, |state| set_model(state, "default", "e/f")),
            // The form with a provider of its own knows no roles.
            ("model_change", "e06", r#""provider":"g","modelId":"h","role":"plan""#, |state| {
                set_model(state, "default", "g/h");
            }),
            ("model_change", "e07", r#""role":"plan""#, |_| ()),
            ("mode_change", "e08", r#""mode":"plan","data":{"file": "x"}"#, |state| {
                (state.mode, state.mode_data) = ("plan".to_owned(), Some(r#"{"file": "x"}"#.to_owned()));
            }),
            ("mode_change", "e09", r#""data":null"#, |state| (state.mode, state.mode_data) = ("none".to_owned(), None)),
            ("service_tier_change", "e10", r#""serviceTier":{"openai": "flex"}"#, |state| {
                state.service_tier = Some(r#"{"openai": "flex"}"#.to_owned());
            }),
            ("service_tier_change", "e11", r#""serviceTier":null"#, |state| state.service_tier = None),
            ("mcp_tool_selection", "e12", r#""selectedToolNames":["a", "b"]"#, |state| {
                state.mcp_tools = Some(r#"["a", "b"]"#.to_owned());
            }),
            ("ttsr_injection", "e13", r#""injectedRules":["r2",7,"r1","r2"]"#, |state| {
                state.ttsr_rules = vec!["r2".to_owned(), "r1".to_owned()];
            }),
            ("ttsr_injection", "e14", r#""injectedRules":["r1","r0"]"#, |state| state.ttsr_rules.push("r0".to_owned())),
            ("ttsr_injection", "e15", r#""injectedRules":"r9""#, |_| ()),
        ];
        let session = chain(&rows.map(|(kind, id, members, _)| (kind, id, members)));
        let mut expected = Settings::default();
        for (_, id, _, change) in rows {
            change(&mut expected);
            assert_eq!(settings(&session, id), expected, "after {id}");
        }
        assert_eq!(settings(&session, "-"), Settings::default());
    }

    fn set_model(state: &mut Settings, role: &str, model: &str) {
        state.models.insert(role.to_owned(), model.to_owned());
    }

    #[test]
    fn the_model_that_answered_last_is_the_default_unless_another_was_set_later() {
        let answer = |names: &str| format!(r#""message":{{"role":"assistant","content":"x"{names}}}"#);
        let by = |provider: &str, model: &str| answer(&format!(r#","provider":"{provider}","model":"{model}""#));
        let session = chain(&[
            ("message", "a1", &by("p", "one")),
            ("message", "a2", &by("p", "two")),
            ("message", "a3", &answer(r#","model":"three""#)),
            ("model_change", "m1", r#""model":"q/plan","role":"plan""#),
            ("model_change", "m2", r#""model":"q/set""#),
            ("user", "u1", "x"),
            ("message", "a4", &by("p", "four")),
        ]);
        for (leaf, expected) in [
            ("a1", "p/one"),
            ("a2", "p/two"),
            ("a3", "p/two"),
            ("m1", "p/two"),
            ("m2", "q/set"),
            ("u1", "q/set"),
            ("a4", "p/four"),
        ] {
            assert_eq!(settings(&session, leaf).models["default"], expected, "at {leaf}");
        }
    }
}
