//! The context that one agent holds in memory (help rules, "What an agent holds"). What it then sends is made
//! of this in [`sent`](super::sent).

use super::omp;
use super::rules::Rules;
use super::{Context, Settings};
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
        Rules::Shared => super::build(bodies, leaf),
        Rules::Pi => {
            let context = super::build_by(rules, bodies, leaf)?;
            let settings = pi_settings(bodies, &walk::path(bodies.session(), leaf), context.settings)?;
            Ok(Context { settings, ..context })
        }
        Rules::Omp => omp::build(bodies, leaf),
    }
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
