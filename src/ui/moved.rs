//! What a move of the leaf did, in words for people and as an object for programs.

use std::io;
use std::path::Path;

use super::entry;
use super::escape;
use super::json::{ContextSize, Navigated, raw};
use super::output::Output;
use super::paint::Ink;
use super::report::{self, Report};
use super::screen::Screen;
use crate::core::edit::navigate::{Landmark, Move, MoveOutcome, MoveView};
use crate::core::entry::prompt::Prompt;
use crate::core::naming::agent::Agent;
use crate::core::naming::session::word::is_path;
use crate::core::session::{NodeId, Session};
use crate::core::words::{counted, shell_word};

/// A move and what came of it.
#[derive(Debug)]
pub(crate) struct MoveReport<'a> {
    pub session: &'a Session,
    /// The move.
    pub plan: &'a Move,
    /// What is shown of it.
    pub view: &'a MoveView,
    /// What came of it.
    pub outcome: &'a MoveOutcome,
    /// Whether it was only to be shown.
    pub is_dry: bool,
    /// The types of what it would write, if it is only to be shown.
    pub would_write: &'a [&'static str],
    /// The label to set.
    pub label: Option<&'a str>,
    /// What the summarizer would be asked, if that is to be shown.
    pub prompt: Option<&'a str>,
    /// Whether it is one that is written to the file.
    pub writes: bool,
    /// False if what was written could not be synced.
    pub synced: Option<bool>,
    pub path: &'a Path,
    /// Whether that is another than was named.
    pub was_found: bool,
    /// The agent that goes on with it.
    pub agent: Agent,
}

/// What stands before the file.
const FILE: &str = "in";

impl MoveReport<'_> {
    /// Prints what moved where, what was left behind, what the context is now, and how to go on.
    ///
    /// # Errors
    /// [`io::Error`] of the output.
    pub(crate) fn print(&self, is_json: bool, screen: &Screen, report: Report) -> io::Result<()> {
        let mut output = Output::new();
        if is_json {
            output.json_line(&self.json())?;
            return output.finish();
        }
        if let MoveOutcome::Cancelled { by } = self.outcome {
            let text = format!("cancelled by hook `{}`; nothing was changed\n", escape::line(by));
            output.text(&screen.folded(&text, 0))?;
            return output.finish();
        }
        output.text(&self.text(screen))?;
        io::Write::flush(&mut output)?;
        report.hint(&self.hint());
        if let Some(editor) = &self.plan.editor {
            output.text(&format!("\n{}\n", escape::lines(editor.text.trim_end_matches('\n'))))?;
        }
        output.finish()
    }

    fn is_noop(&self) -> bool {
        self.plan.is_noop && matches!(self.outcome, MoveOutcome::Unwritten)
    }

    /// Returns the label of the target that another one takes the place of. A summary takes the new one itself.
    fn was(&self) -> Option<&str> {
        let new = self.label.filter(|_| !self.plan.is_noop)?;
        let has_summary = self.outcome.summary().is_some() || self.would_write.contains(&"branch_summary");
        let is_written = self.is_dry || !self.outcome.ids().is_empty();
        let target = self.plan.target.filter(|_| is_written && !has_summary)?;
        self.session.label(target).map(|label| label.name.as_str()).filter(|was| *was != new)
    }

    /// Returns how many messages the context has. A summary is a message of its own; nothing else that
    /// a move writes is.
    fn messages(&self) -> usize {
        self.view.context.messages.len()
            + usize::from(self.outcome.summary().is_some() || self.would_write.contains(&"branch_summary"))
    }

    fn json(&self) -> Navigated<'_> {
        let (session, plan, state) = (self.session, self.plan, &self.view.context.settings);
        let id = |node: Option<NodeId>| node.map(|node| session.id(node));
        let summary = self.outcome.summary();
        Navigated {
            path: self.path.display().to_string(),
            noop: self.is_noop(),
            cancelled: matches!(self.outcome, MoveOutcome::Cancelled { .. }),
            dry_run: self.is_dry.then_some(true),
            target_id: id(plan.target),
            old_leaf_id: id(plan.old),
            position_id: id(plan.position),
            new_leaf_id: self.outcome.new_leaf(session, plan),
            common_ancestor_id: id(plan.ancestor),
            entries_to_summarize: plan.abandoned.iter().map(|&node| session.id(node)).collect(),
            editor_text: plan.editor.as_ref().map(|editor| &*editor.text),
            editor_images: raw(plan.editor.as_ref()),
            summary_entry: summary.and_then(|(line, _)| serde_json::from_str(line).ok()),
            from_extension: summary.map(|(_, from_extension)| from_extension),
            written: self.outcome.ids(),
            was: self.was(),
            would_write: self.is_dry.then_some(self.would_write),
            prompt: self.prompt,
            context: ContextSize {
                messages: self.messages(),
                thinking_level: &state.thinking_level,
                models: &state.models,
                mode: &state.mode,
            },
            synced: self.synced,
        }
    }

    fn text(&self, screen: &Screen) -> String {
        let mut rows = Vec::new();
        let from = self.named(&self.view.from, screen);
        if self.is_noop() {
            rows.push(("leaf", format!("{from} (already there)")));
        } else {
            let before = if self.plan.editor.is_some() { "before " } else { "" };
            rows.push(("from", from));
            let to = format!("{before}{}", self.named(&self.view.to, screen));
            rows.push((if self.is_dry { "would go" } else { "to" }, to));
            let left = match self.plan.abandoned.len() {
                0 => "nothing".to_owned(),
                count => counted(count, "entry", "entries"),
            };
            rows.push(("left", format!("{left} behind")));
        }
        if !self.would_write.is_empty() {
            rows.push(("to write", self.would_write.join(", ")));
        }
        if !self.outcome.ids().is_empty() {
            rows.push(("written", escape::line(&self.outcome.ids().join(", ")).into_owned()));
            rows.extend(
                self.was_found
                    .then(|| (FILE, escape::line(&screen.tilde(&self.path.display().to_string())).into_owned())),
            );
        }
        if let (Some(label), Some(was)) = (self.label, self.was()) {
            rows.push(("label", escape::line(&format!("[{label}] (was [{was}])")).into_owned()));
        }
        if let Some(images) = self.plan.editor.as_ref().and_then(Prompt::named_images) {
            rows.push(("images", format!("{images}, not in the text below")));
        }
        let state = &self.view.context.settings;
        let model = state.models.get("default").map(|model| format!(", {model}")).unwrap_or_default();
        let messages = counted(self.messages(), "message", "messages");
        let context = format!("{messages}, thinking {}{model}", state.thinking_level);
        rows.push(("context", escape::line(&context).into_owned()));
        let mut out = String::new();
        for (name, value) in rows {
            // A path is of no use if it is not whole.
            let width = screen.width.filter(|_| name != FILE);
            let name = if screen.paint.in_words { format!("{name}: ") } else { format!("{name:<9} ") };
            let screen = Screen { width, ..screen.clone() };
            out.push_str(&screen.row([(Ink::Dim, &*name), (Ink::Plain, &*value)]));
        }
        out
    }

    /// Returns how to go on.
    fn hint(&self) -> String {
        let id = |node: Option<NodeId>| node.map(|node| shell_word(self.session.id(node).as_ref()));
        let goes_on = match self.session.stores_leaf() {
            true => "the agent that stores the leaf in this file goes on here".to_owned(),
            false => format!("`{}` goes on here", report::resume(self.agent, self.path)),
        };
        let is_written = !self.outcome.ids().is_empty();
        match id(self.plan.old) {
            _ if self.is_noop() && self.plan.old == self.session.leaf() => goes_on,
            _ if self.is_dry && self.writes => "nothing was done; leave `--dry-run` out to do it".to_owned(),
            _ if self.is_dry => "nothing was done; `--save` instead of `--dry-run` saves the move".to_owned(),
            // Going back to a message would take it back.
            Some(old) if is_written && !self.view.from.goes_to_editor => {
                // Who named it by an id can do so again, and the path stands there once already.
                let id = &self.session.header.id;
                let name = match self.was_found && !is_path(Path::new(id)) {
                    true => shell_word(id.as_ref()),
                    false => shell_word(self.path.as_os_str()),
                };
                format!("{goes_on}; `session-tree navigate {name} {old} --save` goes back")
            }
            _ if is_written => goes_on,
            _ => {
                let from = id(self.plan.position).map_or("--root".to_owned(), |position| format!("--leaf {position}"));
                // Nothing is written into standard input.
                let save = if self.path == Path::new("-") { "" } else { "`--save` saves the move, " };
                format!("nothing was written: {save}`{from}` lets other commands work from here")
            }
        }
    }

    /// Returns an entry's id and row.
    fn named(&self, landmark: &Landmark, screen: &Screen) -> String {
        let Some(node) = landmark.node else { return "before the first entry".to_owned() };
        let row = entry::row(screen, self.session.traits(node), &landmark.words);
        escape::line(&format!("{}  {row}", self.session.id(node))).into_owned()
    }
}
