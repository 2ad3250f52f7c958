//! The arguments of `context` that say whose context it is, and to which model it goes.

use anyhow::Result;
use clap::{Args, ValueEnum};

use crate::core::context::forms::request::Api;
use crate::core::context::rules::Rules;
use crate::ui::report::Failure;

/// Whose rules to follow, and for which model.
#[derive(Debug, Args)]
pub(super) struct SentArgs {
    /// Whose rules to follow [default: shared; pi for the requests of providers]
    #[arg(long = "as", value_name = "AGENT", value_enum)]
    agent: Option<RuleSet>,
    /// Send it to this model [default: the one in force]
    ///
    /// What only the model that wrote it understands, as signed reasoning, is sent to that model alone.
    #[arg(long, value_name = "PROVIDER/ID")]
    model: Option<String>,
}

/// The rules that can be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum RuleSet {
    /// What pi 1.6 and omp 13 agree on
    Shared,
    /// As pi 1.6 holds and sends it
    Pi,
    /// As omp 18 holds and sends it
    Omp,
}

impl SentArgs {
    /// Returns whose rules to follow for a request to an API, or for another format.
    pub(super) fn rules(&self, api: Option<Api>) -> Rules {
        match (self.agent, api) {
            (Some(RuleSet::Pi), _) | (None, Some(_)) => Rules::Pi,
            (Some(RuleSet::Omp), _) => Rules::Omp,
            (Some(RuleSet::Shared) | None, _) => Rules::Shared,
        }
    }

    /// Returns the name of the model.
    pub(super) fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// Checks that the arguments fit the format: a request to an API, the messages for a model, or another.
    pub(super) fn check(&self, api: Option<Api>, is_llm: bool) -> Result<()> {
        let rules = self.rules(api);
        let is_sent = api.is_some() || (is_llm && rules != Rules::Shared);
        let is_name = |model: &str| model.split_once('/').is_some_and(|(by, id)| !by.is_empty() && !id.is_empty());
        let (option, hint) = match self.model() {
            _ if api.is_some() && rules != Rules::Pi => {
                ("requests of providers follow pi", "leave `--as` out, or use `--format llm`")
            }
            Some(_) if !is_sent => (
                "`--model` is for what is sent",
                "use it with a provider's format, or `--as` an agent with `--format llm`",
            ),
            Some(model) if !is_name(model) => {
                ("`--model` takes a provider and an id", "name both, as in `--model anthropic/claude-opus-4-5`")
            }
            _ => return Ok(()),
        };
        Err(Failure::usage(option, hint).into())
    }
}
