//! What a move is to leave in the file, and whose summary that is: the given one, a hook's or the
//! summarizer's. Running these is up to the command.

use super::plan::Move;
use super::record::{self, MoveRecord, Summary};
use crate::core::context::files::TouchedFiles;
use crate::core::context::summary;
use crate::core::edit::label;
use crate::core::error::{Error, Result};
use crate::core::session::body::Bodies;

/// Which summary of what is left behind is asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum SummaryRequest {
    /// None.
    #[default]
    Nothing,
    /// This text.
    Given(String),
    /// What a hook or the summarizer writes.
    Written {
        /// How much of the conversation the summarizer gets, in tokens; 0 is all.
        budget: usize,
        /// What the summarizer is to do, instead of the usual.
        instructions: Option<String>,
    },
}

/// What a move is to leave in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MoveRequest {
    /// The summary.
    pub summary: SummaryRequest,
    /// Whether the move is saved without a summary, too.
    pub save: bool,
    /// A label for the summary, else for the target.
    pub label: Option<String>,
}

impl MoveRequest {
    /// Returns whether a summary is asked for.
    pub fn wants_summary(&self) -> bool {
        self.summary != SummaryRequest::Nothing
    }

    /// Returns whether anything is to be written, so that agents resume at the new position.
    pub fn writes(&self) -> bool {
        !self.options().is_empty()
    }

    /// Returns what was asked for beside the move, as the user calls it.
    pub fn options(&self) -> Vec<&'static str> {
        let options = [(self.save, "--save"), (self.label.is_some(), "--label"), (self.wants_summary(), "the summary")];
        options.into_iter().filter_map(|(is_given, name)| is_given.then_some(name)).collect()
    }

    /// Refuses what makes no sense, whatever the file holds.
    pub fn check(&self, to_root: bool) -> Result<()> {
        if let SummaryRequest::Given(text) = &self.summary
            && text.trim().is_empty()
        {
            return Err(Error::usage("the summary is blank", "leave it out, or say something"));
        }
        self.label.as_deref().map_or(Ok(()), label::check_name)?;
        if to_root && self.label.is_some() && !self.wants_summary() {
            let message = "`--label` with `--root` has nothing to label";
            return Err(Error::usage(message, "add a summary, or leave `--label` out"));
        }
        Ok(())
    }

    /// Returns a move as it is made: nothing is done if the leaf is already there, or if it is a saved move to
    /// that place and nothing else is asked for.
    pub fn settle(&self, bodies: &mut Bodies<'_>, plan: Move) -> Result<Move> {
        let session = bodies.session();
        let (leaf, target) = (session.leaf(), plan.target);
        if self.options() == ["--save"]
            && (plan.old == leaf || plan.is_noop)
            && let Some(saved) = leaf
            && session.parent(saved) == plan.position
            && bodies.is_saved_move(saved)?
        {
            return Ok(plan.stay_saved(saved));
        }
        let stays = plan.is_noop && !(self.save && target != leaf);
        Ok(if stays { plan.stay() } else { Move { is_noop: false, ..plan } })
    }

    /// Returns the types of the entries that a move would write, if no hook has a say in it.
    pub fn types(&self, bodies: &mut Bodies<'_>, plan: &Move) -> Result<Vec<&'static str>> {
        let has_summary = match self.summary {
            SummaryRequest::Nothing => false,
            SummaryRequest::Given(_) => true,
            SummaryRequest::Written { budget, .. } => summary::conversation(bodies, &plan.abandoned, budget)?.is_some(),
        };
        let has_label = self.label.is_some() && (has_summary || plan.target.is_some());
        let marks = record::marks(bodies.session(), plan, self.save);
        let types = [
            (marks && (self.save || has_summary || has_label), "leaf"),
            (has_summary, "branch_summary"),
            (self.save && !has_summary && !marks, "custom"),
            (has_label, "label"),
        ];
        Ok(types
            .into_iter()
            .filter(|_| !plan.is_noop)
            .filter_map(|(is_written, name)| is_written.then_some(name))
            .collect())
    }

    /// Returns what the summarizer is asked; `None` if it is not, or if nothing that is left behind has text.
    ///
    /// # Errors
    /// [`Error::Usage`] if the budget is too small for anything; as [`Bodies::entry`].
    pub fn prompt(&self, bodies: &mut Bodies<'_>, plan: &Move) -> Result<Option<String>> {
        let SummaryRequest::Written { budget, instructions } = &self.summary else { return Ok(None) };
        let Some(conversation) = summary::conversation(bodies, &plan.abandoned, *budget)? else { return Ok(None) };
        if conversation.is_empty() {
            let message = "not even the newest entry that is left behind fits into `--token-budget`";
            return Err(Error::usage(message, "give it more tokens; 0 is no limit"));
        }
        let instructions = instructions.as_deref().unwrap_or(summary::INSTRUCTIONS);
        Ok(Some(summary::prompt(&conversation, instructions)))
    }

    /// Refuses a summary that nothing can write.
    pub fn check_writers(&self, has_hooks: bool, has_summarizer: bool) -> Result<()> {
        let is_possible = has_hooks || has_summarizer || !matches!(self.summary, SummaryRequest::Written { .. });
        if is_possible { Ok(()) } else { Err(Error::NoSummarizer) }
    }

    /// Returns the summary to store: the given text, else a hook's, else what the summarizer makes of
    /// a prompt. There is none if none is asked for, or if nothing that is left behind has text.
    ///
    /// # Errors
    /// [`Error::NoSummarizer`]; [`Error::Usage`] if the budget is too small for anything; as
    /// [`Bodies::entry`]; and those of the summarizer.
    pub fn summary<E: From<Error>>(
        &self,
        bodies: &mut Bodies<'_>,
        plan: &Move,
        from_hook: Option<Summary>,
        summarizer: Option<impl FnOnce(&str) -> std::result::Result<String, E>>,
    ) -> std::result::Result<Option<Summary>, E> {
        let by_us =
            |text: String, files: &TouchedFiles| Summary { text, details: Some(files.json()), from_extension: false };
        match &self.summary {
            SummaryRequest::Nothing => return Ok(None),
            SummaryRequest::Given(text) => {
                return Ok(Some(by_us(text.clone(), &TouchedFiles::of(bodies, &plan.abandoned)?)));
            }
            SummaryRequest::Written { .. } if from_hook.is_some() => return Ok(from_hook),
            SummaryRequest::Written { .. } => {}
        }
        let Some(prompt) = self.prompt(bodies, plan)? else { return Ok(None) };
        let Some(summarizer) = summarizer else { return Err(Error::NoSummarizer.into()) };
        let answer = summarizer(&prompt)?;
        let files = TouchedFiles::of(bodies, &plan.abandoned)?;
        Ok(Some(by_us(summary::finished(&answer, &files), &files)))
    }

    /// Returns what is written, with the summary that was found.
    pub fn record(self, summary: Option<Summary>) -> MoveRecord {
        MoveRecord { summary, save: self.save, label: self.label }
    }
}

#[cfg(test)]
mod tests {
    use crate::core::session::Session;
    use crate::core::session::body::Bodies;
    use crate::core::session::sample::{entry, forked, message, node, session};

    use super::{Error, Move, MoveRequest, Summary, SummaryRequest};

    /// What is asked for; what the hooks say (`-`: there are none); what the summarizer does (`-`: there is
    /// none); what is left behind. Then whose summary is stored, or the kind of the error. `*` is anything.
    const SUMMARIES: &str = "
nothing  *         *            *                 none
given    *         *            *                 user
written  summary   *            *                 hook
written  -         -            *                 no-summarizer
written  silence   -            words             no-summarizer
written  silence   -            wordless/nothing  none
written  -/silence works        words             summarizer
written  -/silence fails        words             interrupted
written  -/silence works/fails  wordless/nothing  none
";

    #[test]
    fn the_given_summary_wins_then_a_hook_s_then_the_summarizer_s() {
        let result = r#""message":{"role":"toolResult","toolCallId":"c","content":[{"type":"text","text":"long"}]}"#;
        let wordless = session(&[
            message("u2", "", "user", "first"),
            entry("model_change", "x1", "u2", r#""provider":"acme","modelId":"m""#),
            message("x2", "x1", "user", " \n\t "),
            entry("message", "b2", "x2", result),
        ]);
        let words = session(&forked());
        let all = [
            ["nothing", "given", "written"],
            ["-", "silence", "summary"],
            ["-", "works", "fails"],
            ["words", "wordless", "nothing"],
        ];
        for case in 0..81 {
            let cells = [0, 1, 2, 3].map(|at| all[at][case / 3_usize.pow(u32::try_from(at).unwrap()) % 3]);
            let holds = |row: &&str| {
                let mut pairs = row.split_whitespace().zip(cells);
                !row.is_empty() && pairs.all(|(is, cell)| is == "*" || is.split('/').any(|word| word == cell))
            };
            let rows: Vec<_> = SUMMARIES.lines().filter(holds).collect();
            assert_eq!(rows.len(), 1, "{cells:?}");
            let [asked, hook, summarizer, left] = cells;
            let session = if left == "wordless" { &wordless } else { &words };
            let (old, target) = if left == "nothing" { ("a1", "t2") } else { ("b2", "u2") };
            let found = chosen(session, (old, target), [asked, hook, summarizer]);
            assert!(rows[0].ends_with(&format!(" {found}")), "{cells:?}: {found}");
        }
    }

    /// Returns whose summary is stored, or the kind of the error.
    fn chosen(session: &Session, (old, target): (&str, &str), [asked, hook, summarizer]: [&str; 3]) -> &'static str {
        let summary = match asked {
            "nothing" => SummaryRequest::Nothing,
            "given" => SummaryRequest::Given("mine".to_owned()),
            _ => SummaryRequest::Written { budget: 0, instructions: None },
        };
        let request = MoveRequest { summary, ..MoveRequest::default() };
        if let Err(error) = request.check_writers(hook != "-", summarizer != "-") {
            return error.kind().name();
        }
        let mut bodies = Bodies::new(session);
        let plan = Move::plan(&mut bodies, node(session, old), node(session, target)).unwrap();
        let from_hook = Summary { text: "hook's".to_owned(), details: None, from_extension: true };
        let from_hook = (hook == "summary").then_some(from_hook);
        let mut is_started = false;
        let summarizer = (summarizer != "-").then_some(|prompt: &str| {
            is_started = true;
            assert!(prompt.contains("[User] other"), "{prompt}");
            if summarizer == "works" { Ok("made".to_owned()) } else { Err(Error::Interrupted { signal: 2 }) }
        });
        let found = match request.summary(&mut bodies, &plan, from_hook, summarizer) {
            Ok(None) => "none",
            Ok(Some(Summary { text, details: Some(_), from_extension: false })) if text == "mine" => "user",
            Ok(Some(Summary { text, details: None, from_extension: true })) if text == "hook's" => "hook",
            Ok(Some(Summary { text, details: Some(_), from_extension: false })) if text.ends_with("\n\nmade") => {
                "summarizer"
            }
            Ok(Some(summary)) => panic!("{summary:?}"),
            Err(error) => error.kind().name(),
        };
        assert_eq!(is_started, ["summarizer", "interrupted"].contains(&found), "{found}");
        found
    }

    #[test]
    fn a_request_that_makes_no_sense_is_refused() {
        let given = |text: &str| SummaryRequest::Given(text.to_owned());
        for (summary, label, to_root, is_right) in [
            (SummaryRequest::Nothing, None, true, true),
            (SummaryRequest::Nothing, Some("x"), false, true),
            (SummaryRequest::Nothing, Some("x"), true, false),
            (given("text"), Some("x"), true, true),
            (given(" \n"), None, false, false),
            (given("text"), Some("a\nb"), false, false),
        ] {
            let request = MoveRequest { summary, save: false, label: label.map(str::to_owned) };
            assert_eq!(request.check(to_root).is_ok(), is_right, "{request:?} {to_root}");
            assert_eq!(request.writes(), request != MoveRequest::default(), "{request:?}");
        }
    }
}
