//! The plan of what pi 1.6 sends.

use std::collections::HashSet;

use super::fact::{Call, Fact};
use super::ids::{Alphabet, Ids};
use super::plan::Plan;
use super::step::{Part, SentStep};
use super::target::Kinship;
use crate::core::context::message;
use crate::core::context::{Context, ContextMessage};
use crate::core::error::Result;
use crate::core::session::body::Bodies;

/// The roles that pi has a form for.
const KNOWN: [&str; 8] =
    ["user", "assistant", "toolResult", "system", "custom", "branchSummary", "compactionSummary", "bashExecution"];

/// Fills a plan.
pub(super) fn fill(plan: &mut Plan, bodies: &mut Bodies<'_>, context: &Context, alphabet: Alphabet) -> Result<()> {
    let session = bodies.session();
    let mut scratch = Vec::new();
    let mut open = OpenTurn::default();
    let mut ids = Ids::new(alphabet);
    for item in context.messages.iter().filter(|item| KNOWN.contains(&item.role(session))) {
        let fact = message::with(bodies, item, &mut scratch, |message| {
            let message = message.raw();
            if message.get_str("role").as_deref() == Some("system") {
                plan.system.add(message);
            }
            let is_left_out = message.get("excludeFromContext").is_some_and(|left_out| left_out.is_true());
            (!is_left_out).then(|| (Fact::new(message), plan.target.kinship(message)))
        })?;
        let Some((fact, kinship)) = fact else { continue };
        match fact {
            Fact::System if open.calls.is_empty() => {
                plan.steps.push(SentStep::Message { item: item.clone(), part: Part::Whole })
            }
            Fact::System => open.systems.push(item.clone()),
            Fact::Other => {
                open.close(&mut plan.steps);
                plan.steps.push(SentStep::Message { item: item.clone(), part: Part::Whole });
            }
            Fact::Result(id) => {
                let sent = ids.of_result(&id);
                open.answered.insert(sent.clone().unwrap_or(id));
                plan.steps.push(SentStep::Result { item: item.clone(), id: sent });
            }
            Fact::Turn(turn) => {
                open.close(&mut plan.steps);
                let calls = turn.calls.into_iter().map(|call| match kinship {
                    Kinship::Same => call,
                    _ => Call { id: ids.of_call(&call.id), ..call },
                });
                let calls: Vec<_> = calls.collect();
                if turn.has_failed {
                    continue;
                }
                calls.iter().for_each(|call| plan.tools.call(&call.name));
                let sent = calls.iter().map(|call| Some(call.id.clone()));
                plan.steps.push(SentStep::Turn { item: item.clone(), ids: sent.collect(), is_last: false });
                open.calls = calls;
            }
        }
    }
    open.close(&mut plan.steps);
    Ok(())
}

/// What is open after an answer with calls, until something else is said.
#[derive(Default)]
struct OpenTurn {
    calls: Vec<Call>,
    answered: HashSet<String>,
    /// System messages, which must not come between a call and its result.
    systems: Vec<ContextMessage>,
}

impl OpenTurn {
    /// Answers the calls that have no result, and lets the system messages through.
    fn close(&mut self, steps: &mut Vec<SentStep>) {
        for Call { id, name } in self.calls.drain(..) {
            if !self.answered.contains(&id) {
                steps.push(SentStep::Missing { id, name });
            }
        }
        steps.extend(self.systems.drain(..).map(|item| SentStep::Message { item, part: Part::Whole }));
        self.answered.clear();
    }
}
