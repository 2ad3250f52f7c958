//! What an agent sends of a context (`context`): its messages, or a whole request. The JSON is made in
//! [`crate::core::context::sent`] and [`crate::core::context::forms`].

use super::output::Output;
use crate::core::context::Context;
use crate::core::context::forms::request::Api;
use crate::core::context::sent::target::Target;
use crate::core::context::sent::{ids, write};
use crate::core::session::body::Bodies;

/// Prints the messages that the agent by whose rules a context was built sends.
///
/// # Errors
/// As [`write::step`], or what the system says of writing.
pub(crate) fn messages(
    output: &mut Output,
    bodies: &mut Bodies<'_>,
    context: &Context,
    model: Option<&str>,
) -> anyhow::Result<()> {
    let target = Target::new(bodies, context, model, None)?;
    let plan = write::plan(bodies, context, target, ids::Alphabet::Any)?;
    let (mut scratch, mut message) = (Vec::new(), Vec::new());
    output.text("[")?;
    let mut mark = "";
    for step in &plan.steps {
        message.clear();
        if write::step(&mut message, bodies, &mut scratch, context.rules, &plan.target, step)? {
            output.text(mark)?;
            output.json(&message)?;
            mark = ",";
        }
    }
    Ok(output.text("]\n")?)
}

/// Prints the request for a context and a model, and returns whether there is a model.
///
/// # Errors
/// As [`messages`].
pub(crate) fn body(
    output: &mut Output,
    bodies: &mut Bodies<'_>,
    context: &Context,
    api: Api,
    model: Option<&str>,
) -> anyhow::Result<bool> {
    let target = Target::new(bodies, context, model, Some(api.name()))?;
    let has_model = !target.model.is_empty();
    api.request(bodies, context, target, &mut |part| output.json(part))??;
    output.text("\n")?;
    Ok(has_model)
}
