//! Moving the leaf within a file (help rules, "Navigating"): where it goes, whose summary is stored,
//! what is written, and what is shown of it.

use super::commit::{Anchor, Commit, Committed, Guard, SessionFile};
use super::draft::{Draft, IdsAndTime, Value};
use super::label::{self, LabelEdit};
use crate::core::context::files::TouchedFiles;
use crate::core::context::{self, Context, summary};
use crate::core::entry::Kind;
use crate::core::error::{Error, Result};
use crate::core::session::body::Bodies;
use crate::core::session::{NodeId, Session};
use crate::core::tree::walk;

/// The type that keeps a saved move apart from other custom entries.
const SAVED: &str = "session-tree/leaf";

/// Where a move goes, and what it leaves behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// The leaf that is left; `None` before the first entry.
    pub old: Option<NodeId>,
    /// What was asked for; `None` is before the first entry.
    pub target: Option<NodeId>,
    /// The deepest entry on both paths.
    pub ancestor: Option<NodeId>,
    /// What is left behind, in chronological order.
    pub abandoned: Vec<NodeId>,
    /// Where the leaf goes: a user's or custom message is taken back into the editor.
    pub position: Option<NodeId>,
    /// What goes into the editor.
    pub editor_text: Option<String>,
}

impl Move {
    /// Plans a move.
    ///
    /// # Errors
    /// As [`Bodies::entry`].
    pub fn plan(bodies: &mut Bodies<'_>, old: Option<NodeId>, target: Option<NodeId>) -> Result<Self> {
        let session = bodies.session();
        let (ancestor, abandoned) = abandoned(session, old, target);
        let mut plan = Self { old, target, ancestor, abandoned, position: target, editor_text: None };
        if let Some(target) = target.filter(|&target| goes_to_editor(session, target)) {
            plan.position = session.parent(target);
            plan.editor_text = Some(bodies.entry(target)?.full_text());
        }
        Ok(plan)
    }

    /// Returns whether the leaf is already there.
    pub fn is_noop(&self) -> bool {
        self.old == self.target
    }

    /// Returns the move of a leaf that stays where it is.
    pub fn stay(self) -> Self {
        Self { position: self.old, ..self }
    }
}

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
    ///
    /// # Errors
    /// [`Error::Usage`].
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

    /// Refuses a summary that nothing can write.
    ///
    /// # Errors
    /// [`Error::NoSummarizer`].
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
        let (budget, instructions) = match &self.summary {
            SummaryRequest::Nothing => return Ok(None),
            SummaryRequest::Given(text) => {
                return Ok(Some(by_us(text.clone(), &TouchedFiles::of(bodies, &plan.abandoned)?)));
            }
            SummaryRequest::Written { .. } if from_hook.is_some() => return Ok(from_hook),
            SummaryRequest::Written { budget, instructions } => (*budget, instructions.as_deref()),
        };
        let Some(conversation) = summary::conversation(bodies, &plan.abandoned, budget)? else { return Ok(None) };
        if conversation.is_empty() {
            let message = "not even the newest entry that is left behind fits into `--token-budget`";
            return Err(Error::usage(message, "give it more tokens; 0 is no limit").into());
        }
        let Some(summarizer) = summarizer else { return Err(Error::NoSummarizer.into()) };
        let answer = summarizer(&summary::prompt(&conversation, instructions.unwrap_or(summary::INSTRUCTIONS)))?;
        let files = TouchedFiles::of(bodies, &plan.abandoned)?;
        Ok(Some(by_us(summary::finished(&answer, &files), &files)))
    }

    /// Returns what is written, with the summary that was found.
    pub fn record(self, summary: Option<Summary>) -> MoveRecord {
        MoveRecord { summary, save: self.save, label: self.label }
    }
}

/// What a move writes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MoveRecord {
    /// A summary of what is left behind.
    pub summary: Option<Summary>,
    /// Whether the move is saved without a summary, too.
    pub save: bool,
    /// A label for the summary, else for the target.
    pub label: Option<String>,
}

/// A summary of what is left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// What it says.
    pub text: String,
    /// Its details, as JSON text.
    pub details: Option<Vec<u8>>,
    /// Whether a hook made it.
    pub from_extension: bool,
}

impl MoveRecord {
    /// Returns whether nothing is written.
    pub fn is_empty(&self) -> bool {
        self.summary.is_none() && !self.save && self.label.is_none()
    }

    /// Returns what others must not do before it is written: a summary is of all that is left behind,
    /// so nothing may be added there, unless the user insists.
    pub fn guard(&self, old: Option<String>, old_is_named: bool, is_forced: bool) -> Guard {
        match (&self.summary, is_forced, old_is_named) {
            (None, ..) | (_, true, _) => Guard::None,
            (Some(_), false, true) => Guard::Childless(old),
            (Some(_), false, false) => Guard::Unmoved(old),
        }
    }

    /// Writes it to the file. `old_is_named` if the move does not come from the file's own leaf.
    ///
    /// # Errors
    /// As [`Commit::write`].
    pub fn write(
        &self,
        file: SessionFile<'_>,
        session: &Session,
        plan: &Move,
        old_is_named: bool,
        ids: &mut IdsAndTime<'_>,
    ) -> Result<WrittenMove> {
        let id = |node: Option<NodeId>| node.map(|node| session.id(node).to_owned());
        let target = id(plan.target);
        let commit = Commit {
            file,
            anchor: Anchor::At(id(plan.position)),
            guard: self.guard(id(plan.old), old_is_named, file.options.force),
            needs: target.iter().cloned().collect(),
        };
        let mut lines = Vec::new();
        let committed = commit.write(session, ids, &mut |draft| {
            self.append(draft, target.as_deref());
            lines.clone_from(&draft.lines);
        })?;
        let first = || String::from_utf8_lossy(&lines).lines().next().map(str::to_owned);
        let summary = self.summary.as_ref().and_then(|summary| Some((first()?, summary.from_extension)));
        Ok(WrittenMove { committed, summary })
    }

    /// Adds the entries; the draft starts at the new position. `target` is what was asked for.
    fn append(&self, draft: &mut Draft<'_>, target: Option<&str>) {
        let mut labelled = target.map(str::to_owned);
        if let Some(Summary { text, details, from_extension }) = &self.summary {
            let from = draft.leaf().unwrap_or("root").to_owned();
            let mut members = vec![("fromId", Value::Str(&from)), ("summary", Value::Str(text))];
            members.extend(details.as_deref().map(|details| ("details", Value::Json(details))));
            if *from_extension {
                // Each family of agents has its own name for it.
                members.extend(["fromExtension", "fromHook"].map(|name| (name, Value::Json(b"true"))));
            }
            draft.append("branch_summary", &members);
            labelled = draft.leaf().map(str::to_owned);
        } else if self.save {
            draft.append("custom", &[("customType", Value::Str(SAVED))]);
        }
        if let (Some(name), Some(target)) = (&self.label, labelled) {
            LabelEdit { target, name: Some(name.clone()) }.append(draft);
        }
    }
}

/// What is in the file after a move.
#[derive(Debug)]
pub struct WrittenMove {
    /// The new entries.
    pub committed: Committed,
    /// The summary's line, and whether a hook made it.
    pub summary: Option<(String, bool)>,
}

/// What came of a move.
#[derive(Debug)]
pub enum MoveOutcome {
    /// Nothing was to be written.
    Unwritten,
    /// A hook was against it.
    Cancelled {
        /// Its command.
        by: String,
    },
    /// It is in the file.
    Written(WrittenMove),
}

impl MoveOutcome {
    /// Returns the ids of the new entries.
    pub fn ids(&self) -> &[String] {
        if let Self::Written(written) = self { &written.committed.ids } else { &[] }
    }

    /// Returns the summary's line, and whether a hook made it.
    pub fn summary(&self) -> Option<(&str, bool)> {
        let Self::Written(written) = self else { return None };
        written.summary.as_ref().map(|(line, from_extension)| (&line[..], *from_extension))
    }

    /// Returns the id of the leaf after the move.
    pub fn new_leaf<'l>(&'l self, session: &'l Session, plan: &Move) -> Option<&'l str> {
        let position = if matches!(self, Self::Cancelled { .. }) { plan.old } else { plan.position };
        self.ids().last().map(String::as_str).or(position.map(|node| session.id(node)))
    }
}

/// What is shown of a move. It is read before anything is written, so that nothing but printing can
/// fail afterwards.
#[derive(Debug)]
pub struct MoveView {
    /// The leaf that is left.
    pub from: Landmark,
    /// Where the leaf goes, or, if a message is taken back, that message: it says more than the entry
    /// above it.
    pub to: Landmark,
    /// What the model sees at the leaf after the move, new entries left out.
    pub context: Context,
}

/// An entry, or `None` for the place before the first one, with the words of its row.
#[derive(Debug)]
pub struct Landmark {
    /// The entry.
    pub node: Option<NodeId>,
    /// Its words.
    pub words: String,
}

impl MoveView {
    /// Reads what is shown of a move after which the leaf is at `leaf`.
    ///
    /// # Errors
    /// As [`Bodies::words`].
    pub fn read(bodies: &mut Bodies<'_>, plan: &Move, leaf: Option<NodeId>) -> Result<Self> {
        let mut landmark = |node: Option<NodeId>| -> Result<Landmark> {
            Ok(Landmark { node, words: node.map_or(Ok(String::new()), |node| bodies.words(node))? })
        };
        let to = if plan.editor_text.is_some() { plan.target } else { plan.position };
        Ok(Self { from: landmark(plan.old)?, to: landmark(to)?, context: context::build(bodies, leaf)? })
    }
}

/// Finds the common ancestor of two leaves and what only the old one has above it.
fn abandoned(session: &Session, old: Option<NodeId>, target: Option<NodeId>) -> (Option<NodeId>, Vec<NodeId>) {
    let kept = walk::active(session, target);
    let mut left: Vec<_> = session.ancestors(old).take_while(|node| !kept[node.index()]).collect();
    left.reverse();
    (session.ancestors(old).find(|node| kept[node.index()]), left)
}

/// Returns whether a move to an entry takes it back instead.
pub fn goes_to_editor(session: &Session, node: NodeId) -> bool {
    let traits = session.traits(node);
    traits.kind == Kind::CustomMessage || traits.is_user()
}

#[cfg(test)]
mod tests {
    use crate::core::edit::draft::drafted;
    use crate::core::session::Session;
    use crate::core::session::body::Bodies;
    use crate::core::session::sample::{entry, forked, ids, label, message, node, session};

    use super::{Error, Guard, Move, MoveRecord, MoveRequest, Summary, SummaryRequest};

    /// Checks moves, each written as `OLD to TARGET: at POSITION, above ANCESTOR, leaves ENTRIES` and,
    /// for what is taken back, `, edits TEXT`.
    #[track_caller]
    fn check(session: &Session, moves: &[&str]) {
        for row in moves {
            let (old, target) = row.split_once(':').unwrap().0.split_once(" to ").unwrap();
            let made = Move::plan(&mut Bodies::new(session), node(session, old), node(session, target)).unwrap();
            let [position, ancestor] = [made.position, made.ancestor].map(|node| ids(session, node));
            let edits = made.editor_text.as_ref().map(|text| format!(", edits {text:?}")).unwrap_or_default();
            let left = ids(session, made.abandoned.iter().copied());
            let found = format!("{old} to {target}: at {position}, above {ancestor}, leaves {left}{edits}");
            assert_eq!(found, *row);
            assert_eq!(made.is_noop(), old == target, "{row}");
        }
    }

    #[test]
    fn a_move_leaves_what_only_the_old_path_has() {
        let moves = [
            "b2 to u2: at a1, above a1, leaves b1 b2, edits \"second\"",
            "b2 to a2: at a2, above a1, leaves b1 b2",
            "b2 to t2: at t2, above a1, leaves b1 b2",
            "b2 to a1: at a1, above a1, leaves b1 b2",
            "b2 to b1: at a1, above b1, leaves b2, edits \"other\"",
            "b2 to u1: at -, above u1, leaves a1 b1 b2, edits \"first\"",
            "b2 to -: at -, above -, leaves u1 a1 b1 b2",
            "t2 to b1: at a1, above a1, leaves u2 a2 t2, edits \"other\"",
            "a1 to t2: at t2, above a1, leaves -",
            "u1 to -: at -, above -, leaves u1",
            "- to u1: at -, above -, leaves -, edits \"first\"",
            // To where the leaf is.
            "b2 to b2: at b2, above b2, leaves -",
            "u2 to u2: at a1, above u2, leaves -, edits \"second\"",
            "- to -: at -, above -, leaves -",
        ];
        check(&session(&forked()), &moves);
    }

    #[test]
    fn two_roots_have_no_ancestor_in_common() {
        let session = session(&[
            message("u1", "", "user", "first"),
            entry("thinking_level_change", "l1", "u1", r#""thinkingLevel":"high""#),
            message("u2", "", "user", "second"),
            entry("model_change", "m2", "u2", r#""provider":"acme","modelId":"m""#),
            label("n2", "m2", "u1", "start"),
        ]);
        let moves = [
            "n2 to l1: at l1, above -, leaves u2 m2 n2",
            "n2 to u1: at -, above -, leaves u2 m2 n2, edits \"first\"",
            "n2 to -: at -, above -, leaves u2 m2 n2",
            "n2 to u2: at -, above u2, leaves m2 n2, edits \"second\"",
        ];
        check(&session, &moves);
    }

    #[test]
    fn a_compaction_does_not_stop_what_is_left() {
        let session = session(&[
            message("u1", "", "user", "first"),
            message("a1", "u1", "assistant", "one"),
            entry("compaction", "c1", "a1", r#""summary":"so far","firstKeptEntryId":"a1","tokensBefore":9"#),
            message("u2", "c1", "user", "second"),
        ]);
        let moves = [
            "u2 to u1: at -, above u1, leaves a1 c1 u2, edits \"first\"",
            "u2 to a1: at a1, above a1, leaves c1 u2",
            "u2 to c1: at c1, above c1, leaves u2",
        ];
        check(&session, &moves);
    }

    #[test]
    fn orphans_and_the_first_entry_of_a_loop_are_roots() {
        let session = session(&[
            message("u1", "gone", "user", "x"),
            message("l1", "l2", "user", "y"),
            message("l2", "l1", "user", "z"),
        ]);
        let moves =
            ["l2 to u1: at -, above -, leaves l1 l2, edits \"x\"", "l2 to l1: at -, above l1, leaves l2, edits \"y\""];
        check(&session, &moves);
    }

    #[test]
    fn messages_of_users_and_extensions_go_to_the_editor() {
        let custom = |id: &str, content: &str| {
            entry("custom_message", id, "u1", &format!(r#""customType":"x","content":{content},"display":true"#))
        };
        let blocks =
            r#"[{"type":"text","text":"one "},{"type":"image","data":"","mimeType":"x"},{"type":"text","text":"two"}]"#;
        let session = session(&[
            message("u1", "", "user", "first"),
            custom("c1", "\"words\\nmore\\n\""),
            custom("c2", blocks),
            custom("c3", "null"),
            entry("message", "u5", "u1", &format!(r#""message":{{"role":"user","content":{blocks}}}"#)),
            entry("message", "u6", "u1", r#""message":{"role":"user","content":null}"#),
            message("d1", "u1", "developer", "x"),
            message("s1", "u1", "system", "x"),
            message("x1", "u1", "custom", "x"),
            message("a9", "u1", "assistant", "x"),
        ]);
        let moves = [
            "a9 to c1: at u1, above u1, leaves a9, edits \"words\\nmore\\n\"",
            "a9 to c2: at u1, above u1, leaves a9, edits \"one two\"",
            "a9 to c3: at u1, above u1, leaves a9, edits \"\"",
            "a9 to u5: at u1, above u1, leaves a9, edits \"one two\"",
            "a9 to u6: at u1, above u1, leaves a9, edits \"\"",
            "a9 to d1: at d1, above u1, leaves a9",
            "a9 to s1: at s1, above u1, leaves a9",
            "a9 to x1: at x1, above u1, leaves a9",
        ];
        check(&session, &moves);
    }

    /// Checks the lines that a move from `b2` to `u2` (position `a1`), or to before the first entry, adds.
    #[track_caller]
    fn writes(record: &MoveRecord, at_root: bool, expected: &[&str]) {
        let (leaf, target) = if at_root { (None, None) } else { (Some("a1"), Some("u2")) };
        let parent = if at_root { "null" } else { "\"a1\"" };
        let expected: Vec<_> = expected.iter().map(|line| line.replace("$PARENT", parent)).collect();
        assert_eq!(drafted(leaf, |draft| record.append(draft, target)), expected, "{record:?}");
        assert_eq!(record.is_empty(), *record == MoveRecord::default());
    }

    #[test]
    fn a_move_writes_a_summary_or_a_mark_and_a_label_for_it() {
        let summary = |details: Option<&str>, from_extension| {
            let details = details.map(|json| json.as_bytes().to_vec());
            Some(Summary { text: "tried\n\"it\"".to_owned(), details, from_extension })
        };
        let label = || Some("left".to_owned());
        let mark = r#"{"type":"custom","id":"n1","parentId":$PARENT,"timestamp":"T","customType":"session-tree/leaf"}"#;
        let start = r#"{"type":"branch_summary","id":"n1","parentId":$PARENT,"timestamp":"T","fromId":"#;
        let text = r#","summary":"tried\n\"it\"""#;
        let by_user = format!(r#"{start}"a1"{text},"details":{{"readFiles": []}}}}"#);
        let by_hook = format!(r#"{start}"root"{text},"fromExtension":true,"fromHook":true}}"#);
        let labelled = |id: &str, parent: &str, target: &str| {
            format!(
                r#"{{"type":"label","id":"{id}","parentId":{parent},"timestamp":"T","targetId":"{target}","label":"left"}}"#
            )
        };
        let details = Some(r#"{"readFiles": []}"#);

        writes(&MoveRecord::default(), false, &[]);
        writes(&MoveRecord { save: true, ..MoveRecord::default() }, false, &[mark]);
        writes(&MoveRecord { save: true, ..MoveRecord::default() }, true, &[mark]);
        // A summary saves by itself, and takes the label.
        for save in [false, true] {
            writes(&MoveRecord { summary: summary(details, false), save, label: None }, false, &[&by_user]);
            let both = MoveRecord { summary: summary(details, false), save, label: label() };
            writes(&both, false, &[&by_user, &labelled("n2", "\"n1\"", "n1")]);
        }
        writes(&MoveRecord { summary: summary(None, true), ..MoveRecord::default() }, true, &[&by_hook]);
        // Without one the label is for the target, even if its place is before the position.
        let only_label = MoveRecord { label: label(), ..MoveRecord::default() };
        writes(&only_label, false, &[&labelled("n1", "$PARENT", "u2")]);
        writes(&only_label, true, &[]);
        let saved = MoveRecord { save: true, label: label(), summary: None };
        writes(&saved, false, &[mark, &labelled("n2", "\"n1\"", "u2")]);
    }

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
    fn a_summary_is_only_written_if_nothing_was_added_to_what_it_is_about() {
        let old = || Some("b2".to_owned());
        let summary = || Some(Summary { text: "x".to_owned(), details: None, from_extension: false });
        for (summary, is_forced, old_is_named, expected) in [
            (None, false, false, Guard::None),
            (None, false, true, Guard::None),
            (None, true, true, Guard::None),
            (summary(), true, false, Guard::None),
            (summary(), true, true, Guard::None),
            (summary(), false, false, Guard::Unmoved(old())),
            (summary(), false, true, Guard::Childless(old())),
        ] {
            let record = MoveRecord { summary, save: true, label: Some("x".to_owned()) };
            assert_eq!(record.guard(old(), old_is_named, is_forced), expected, "{record:?} {is_forced} {old_is_named}");
        }
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
