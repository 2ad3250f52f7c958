//! The context that one agent holds in memory (help rules, "What an agent holds"). What it then sends is made
//! of this in [`sent`](super::sent).

use std::collections::HashSet;

use super::builder;
use super::omp;
use super::rules::Rules;
use super::{Context, ContextMessage, Settings};
use crate::core::entry::{Kind, Role};
use crate::core::error::Result;
use crate::core::json::Raw;
use crate::core::session::NodeId;
use crate::core::session::body::Bodies;
use crate::core::tree::walk;

/// Builds the context at a leaf, or before the first entry, by the given rules.
///
/// # Errors
/// As [`context::build`](super::build).
pub fn build(bodies: &mut Bodies<'_>, leaf: Option<NodeId>, rules: Rules) -> Result<Context> {
    match rules {
        Rules::Shared => builder::build(bodies, leaf),
        Rules::Pi => {
            let context = builder::build_by(rules, bodies, leaf)?;
            let settings = pi_settings(bodies, &walk::path(bodies.session(), leaf), context.settings)?;
            Ok(Context { settings, ..context })
        }
        Rules::Omp => omp::build(bodies, leaf),
    }
}

/// What a compaction keeps out of a context.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HiddenMessages {
    /// The compaction in force.
    pub compaction: NodeId,
    /// The messages before it on the path that are not in the context.
    pub messages: Vec<ContextMessage>,
}

/// Returns the messages that the compaction in force keeps out of a context, by the rules of the context;
/// `None` without one.
///
/// # Errors
/// As [`build`].
pub fn hidden(bodies: &mut Bodies<'_>, context: &Context) -> Result<Option<HiddenMessages>> {
    let session = bodies.session();
    let Some(compaction) = context.compaction() else { return Ok(None) };
    let before = walk::path(session, session.parent(compaction));
    let mut messages = match context.rules {
        Rules::Omp => omp::messages_along(bodies, &before)?,
        rules => builder::messages_along(rules, bodies, &before, &walk::path(session, context.leaf))?,
    };
    let shown: HashSet<_> = context.messages.iter().map(|item| item.node()).collect();
    messages.retain(|item| !shown.contains(&item.node()));
    Ok(Some(HiddenMessages { compaction, messages }))
}

/// Returns what pi keeps of the shared settings: the thinking level, and one model, which is that of the last
/// entry that sets one, even if it sets it in a form that pi cannot read.
fn pi_settings(bodies: &mut Bodies<'_>, path: &[NodeId], shared: Settings) -> Result<Settings> {
    let mut settings = Settings { thinking_level: shared.thinking_level, ..Settings::default() };
    let session = bodies.session();
    for &node in path.iter().rev() {
        let traits = session.traits(node);
        let (source, model) = match traits.kind {
            Kind::Message if traits.role == Role::Assistant => (bodies.entry(node)?.message(), "model"),
            Kind::ModelChange => (Some(bodies.entry(node)?.object()), "modelId"),
            _ => continue,
        };
        let name = |member| source.and_then(|source: Raw<'_>| source.get_str(member)).filter(|name| !name.is_empty());
        if let Some((provider, model)) = name("provider").zip(name(model)) {
            settings.models.insert("default".to_owned(), format!("{provider}/{model}"));
        }
        break;
    }
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use crate::core::context::rules::Rules;
    use crate::core::session::body::Bodies;
    use crate::core::session::sample::{chain, node};

    use super::{build, hidden};

    const RULES: [Rules; 3] = [Rules::Shared, Rules::Pi, Rules::Omp];

    #[test]
    fn hidden_lists_the_messages_before_a_compaction_that_are_not_kept() {
        let session = chain(&[
            ("user", "u1", "x"),
            ("assistant", "a1", "x"),
            ("context_edit", "e1", r#""targetId":"a1","replacement":{"content":"new"}"#),
            ("message", "f1", r#""message":{"role":"assistant","content":[],"stopReason":"error"}"#),
            ("message", "m1", r#""message":{"role":"martian","content":"x"}"#),
            ("user", "u2", "x"),
            ("compaction", "c1", r#""summary":"s","firstKeptEntryId":"u2""#),
            ("user", "u3", "x"),
        ]);
        let hidden = |leaf, rules| {
            let mut bodies = Bodies::new(&session);
            let context = build(&mut bodies, node(&session, leaf), rules).unwrap();
            hidden(&mut bodies, &context).unwrap().map(|hidden| {
                let messages = hidden.messages.iter().map(|item| format!(" {}", session.id(item.node())));
                format!("{}:{}", session.id(hidden.compaction), messages.collect::<String>())
            })
        };
        assert_eq!(RULES.map(|rules| hidden("u2", rules)), [None, None, None]);
        let expected = ["c1: u1 a1 f1", "c1: u1 a1 f1 m1", "c1: u1 a1 m1"];
        assert_eq!(RULES.map(|rules| hidden("u3", rules).unwrap()), expected);
    }

    #[test]
    fn agents_hold_messages_that_they_do_not_know() {
        for (message, held) in [
            (r#"{"role":"martian","content":"x"}"#, [0, 1, 1]),
            (r#"{"content":"x"}"#, [0, 1, 1]),
            ("[1]", [0, 1, 1]),
            // omp cannot open these files.
            (r#""x""#, [0, 1, 0]),
            ("null", [0, 0, 0]),
        ] {
            let session = chain(&[("message", "m1", &format!(r#""message":{message}"#))]);
            let context = |rules| build(&mut Bodies::new(&session), session.leaf(), rules).unwrap();
            let count = RULES.map(|rules| context(rules).messages.len());
            assert_eq!(count, held, "{message}");
            assert!(RULES.iter().all(|rules| context(*rules).problems.list().len() == 1), "{message}");
            assert!(context(Rules::Pi).messages.iter().all(|item| item.role(&session) == "unknown"));
        }
    }
}
