//! The plan of what omp 18 sends.

pub(super) mod llm;
mod text;

use std::collections::{HashMap, HashSet, VecDeque};

use super::fact::{Call, Fact, Turn};
use super::plan::Plan;
use super::step::{Part, SentStep};
use crate::core::context::message;
use crate::core::context::{Context, ContextMessage};
use crate::core::error::Result;
use crate::core::session::body::Bodies;

/// Fills a plan.
pub(super) fn fill(plan: &mut Plan, bodies: &mut Bodies<'_>, context: &Context) -> Result<()> {
    let mut scratch = Vec::new();
    let mut said = Vec::new();
    for item in &context.messages {
        let (parts, fact) =
            message::with(bodies, item, &mut scratch, |message| (llm::parts(message.raw()), Fact::new(message.raw())))?;
        match fact {
            Fact::System => {}
            Fact::Other => said.extend(parts.iter().map(|part| (item.clone(), Said::Part(*part)))),
            // What was cut off before it said anything is not sent.
            Fact::Turn(turn) if turn.is_cut_short => {}
            Fact::Turn(turn) => said.push((item.clone(), Said::Turn(turn))),
            Fact::Result(id) => said.push((item.clone(), Said::Result(id))),
        }
    }
    drop_invalid(&mut said);
    rename(&mut said);
    for (_, said) in &said {
        if let Said::Turn(turn) = said {
            turn.calls.iter().for_each(|call| plan.tools.call(&call.name));
        }
    }
    plan.steps = order(said);
    Ok(())
}

/// A message on its way into the plan. A call that is left out has no id, others have one.
enum Said {
    Part(Part),
    Turn(Turn),
    Result(String),
}

type Conversation = Vec<(ContextMessage, Said)>;

/// Leaves out calls without an id or a name, with their results.
fn drop_invalid(said: &mut Conversation) {
    // How many results of each id are to be left out.
    let mut dropped: HashMap<String, usize> = HashMap::new();
    said.retain_mut(|(_, said)| match said {
        Said::Part(_) => true,
        Said::Result(id) => match dropped.get_mut(id).filter(|count| **count > 0) {
            Some(count) => {
                *count -= 1;
                false
            }
            None => true,
        },
        Said::Turn(turn) => {
            let mut is_any_left_out = false;
            for Call { id, name } in &mut turn.calls {
                if !id.trim().is_empty() && !name.trim().is_empty() {
                    dropped.remove(id);
                    continue;
                }
                is_any_left_out = true;
                *dropped.entry(std::mem::take(id)).or_default() += 1;
            }
            !is_any_left_out || turn.says_more || turn.calls.iter().any(|call| !call.id.is_empty())
        }
    });
}

/// Renames calls whose id was used before, and their results: those that come after them, in the order of the
/// calls in one turn.
fn rename(said: &mut Conversation) {
    let mut used: HashSet<String> = HashSet::new();
    let mut numbers: HashMap<String, usize> = HashMap::new();
    // The new ids of the latest turn with calls of an id, until they have a result.
    let mut latest: HashMap<String, VecDeque<String>> = HashMap::new();
    for (_, said) in said {
        match said {
            Said::Part(_) => {}
            Said::Result(id) => {
                if let Some(new) = latest.get_mut(id).and_then(VecDeque::pop_front) {
                    *id = new;
                }
            }
            Said::Turn(turn) => {
                turn.calls.iter().for_each(|call| _ = latest.remove(&call.id));
                for call in turn.calls.iter_mut().filter(|call| !call.id.is_empty()) {
                    let old = call.id.clone();
                    while !used.insert(call.id.clone()) {
                        let number = numbers.entry(old.clone()).or_default();
                        *number += 1;
                        call.id = format!("{old}_dup{number}");
                    }
                    latest.entry(old).or_default().push_back(call.id.clone());
                }
            }
        }
    }
}

/// Puts the results right after their calls: those that came next in the order in which they came, then, in the
/// order of the calls, those that came later and those that are missing.
fn order(said: Conversation) -> Vec<SentStep> {
    let mut called = HashSet::new();
    for (_, said) in &said {
        if let Said::Turn(turn) = said {
            called.extend(turn.calls.iter().map(|call| call.id.clone()));
        }
    }
    let results = first_results(&said);
    let end_of_results = ends_of_results(&said);
    let last = said.iter().rposition(|(_, said)| matches!(said, Said::Turn(_)));
    let mut steps = Vec::with_capacity(said.len());
    // How many calls of the turn before still wait for their result.
    let mut waiting = 0_usize;
    for (at, (item, said)) in said.into_iter().enumerate() {
        match said {
            Said::Part(part) => {
                steps.push(SentStep::Message { item, part });
                waiting = 0;
            }
            Said::Turn(turn) => {
                waiting = 0;
                let ids = turn.calls.iter().map(|call| Some(call.id.clone()).filter(|id| !id.is_empty()));
                steps.push(SentStep::Turn { item, ids: ids.collect(), is_last: Some(at) == last });
                let (mut direct, mut late) = (Vec::new(), Vec::new());
                for call in turn.calls.into_iter().filter(|call| !call.id.is_empty()) {
                    waiting += 1;
                    match results.get(&call.id) {
                        Some((place, item)) => {
                            let step = SentStep::Result { item: item.clone(), id: Some(call.id) };
                            let is_direct = *place < end_of_results[at];
                            if is_direct { direct.push((*place, step)) } else { late.push(step) }
                        }
                        None => late.push(SentStep::Missing { id: call.id, name: call.name }),
                    }
                }
                direct.sort_unstable_by_key(|(place, _)| *place);
                steps.extend(direct.into_iter().map(|(_, step)| step));
                steps.extend(late);
            }
            Said::Result(id) if results.get(&id).is_some_and(|(place, _)| *place == at) => {
                waiting = waiting.saturating_sub(1);
            }
            Said::Result(id) if called.contains(&id) => {}
            Said::Result(_) if waiting > 0 => {}
            Said::Result(_) => steps.push(SentStep::Stale(item)),
        }
    }
    steps
}

/// Returns the first result after each call, with its place.
fn first_results(said: &Conversation) -> HashMap<String, (usize, ContextMessage)> {
    let mut open = HashSet::new();
    let mut results = HashMap::new();
    for (at, (item, said)) in said.iter().enumerate() {
        match said {
            Said::Turn(turn) => open.extend(turn.calls.iter().map(|call| call.id.as_str())),
            Said::Result(id) if open.remove(id.as_str()) => _ = results.insert(id.clone(), (at, item.clone())),
            _ => {}
        }
    }
    results
}

/// Returns for each place where the results right after it end.
fn ends_of_results(said: &Conversation) -> Vec<usize> {
    let mut ends = vec![said.len(); said.len()];
    let mut end = said.len();
    for (at, (_, said)) in said.iter().enumerate().rev() {
        ends[at] = end;
        if !matches!(said, Said::Result(_)) {
            end = at;
        }
    }
    ends
}
