//! Makes plans, and writes what they say.

use super::ids::Alphabet;
use super::omp::{self, llm};
use super::pi;
use super::plan::Plan;
use super::step::SentStep;
use super::target::Target;
use super::turn;
use crate::core::context::Context;
use crate::core::context::content::TextPart::Literal;
use crate::core::context::content::{block, list, with_content, write_changed};
use crate::core::context::message;
use crate::core::context::rules::Rules;
use crate::core::error::Result;
use crate::core::json::text::push_json;
use crate::core::json::{Object, Raw, ValueKind};
use crate::core::session::body::Bodies;

/// What stands for a result that is missing.
const MISSING: &str = "There is no result of this call.";

/// Plans what is sent of a context, by its own rules; there is no plan by the shared ones but pi's.
///
/// # Errors
/// As [`message::with`].
pub fn plan(bodies: &mut Bodies<'_>, context: &Context, target: Target, alphabet: Alphabet) -> Result<Plan> {
    let mut plan = Plan { target, ..Plan::default() };
    match context.rules {
        Rules::Omp => omp::fill(&mut plan, bodies, context)?,
        Rules::Shared | Rules::Pi => pi::fill(&mut plan, bodies, context, alphabet)?,
    }
    Ok(plan)
}

/// Writes a step of a plan for a context, and returns whether anything is sent for it.
///
/// # Errors
/// As [`message::with`].
pub fn step(
    out: &mut Vec<u8>,
    bodies: &mut Bodies<'_>,
    scratch: &mut Vec<u8>,
    rules: Rules,
    target: &Target,
    step: &SentStep,
) -> Result<bool> {
    match step {
        SentStep::Missing { id, name } => {
            let mut object = Object::new(out);
            object.str("role", "toolResult").str("toolCallId", id).str("toolName", name);
            object.json("content", &list(&[block(&[Literal(MISSING)])])).json("isError", b"true");
            Ok(true)
        }
        SentStep::Stale(item) => message::with(bodies, item, scratch, |message| llm::write_stale(out, message.raw())),
        SentStep::Message { item, part } => message::with(bodies, item, scratch, |message| match rules {
            Rules::Omp => {
                llm::write(out, message.raw(), *part);
                true
            }
            _ => message::write_for_model(out, message),
        }),
        SentStep::Turn { item, ids, is_last } => message::with(bodies, item, scratch, |message| {
            let message = message.raw();
            let author = target.kinship(message);
            match rules {
                Rules::Omp => {
                    let quoting = target.quoting();
                    let keeps_signature = *is_last && target.provider == "anthropic";
                    turn::write(out, message, ids, &|block| turn::omp(block, author, quoting, keeps_signature));
                }
                _ => turn::write(out, message, ids, &|block| turn::pi(block, author)),
            }
            true
        }),
        SentStep::Result { item, id } => message::with(bodies, item, scratch, |message| {
            result(out, message.raw(), id.as_deref(), rules);
            true
        }),
    }
}

/// Writes a result, with the given id if it has another.
fn result(out: &mut Vec<u8>, message: Raw<'_>, id: Option<&str>, rules: Rules) {
    let mut changed = Vec::new();
    let mut message = message;
    if let Some(id) = id.filter(|id| message.get_str("toolCallId").as_deref() != Some(id)) {
        let mut new = Vec::new();
        push_json(&mut new, id);
        write_changed(&mut changed, message, &[("toolCallId", Some(&new))]);
        message = Raw::new(&changed);
    }
    match rules {
        Rules::Omp => llm::attributed(out, message, "agent"),
        _ if message.get("content").is_none_or(|content| content.kind() == ValueKind::Null) => {
            with_content(out, message, b"[]");
        }
        _ => out.extend_from_slice(message.bytes()),
    }
}
