//! `label`: the labels of a session.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{ArgGroup, Args};

use super::args::{FormatArg, SessionArg, TextOrList, Writing};
use super::{App, Task, world};
use crate::core::edit::commit::{self, Anchor};
use crate::core::edit::label::{self, LabelEdit};
use crate::core::error::problem::WarningKind;
use crate::core::read::load::LoadOptions;
use crate::core::session::{NodeId, Session};
use crate::ui::label::{self as list, LabelReport};
use crate::ui::output::Output;
use crate::ui::report::{AboutFile, Failure};

/// List, print, set or clear labels
///
/// Labels are bookmarks on entries. Without ENTRY, lists those that are set now, in the order in
/// which they were set. With ENTRY, prints its label, or nothing if it has none; with NAME, sets it.
/// A change adds one line to the end of the file; everything else stays as it is. A label that is set
/// already writes nothing. An entry has one label: a new one replaces it. A file of version 1 or 2 is
/// migrated in the same step, without a copy; `migrate --backup` before that keeps the original.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("change").args(["name", "clear", "from"])))]
#[command(mut_args(|arg| Writing::only_with(arg, "change")))]
#[command(after_long_help = super::naming("\
Examples:
  session-tree label session.jsonl                 all labels
  session-tree label session.jsonl user:1          the label of the last prompt
  session-tree label session.jsonl @~3 plan-b      set a label
  session-tree label session.jsonl @ green --move  the label goes from its entry
  session-tree label session.jsonl label:plan-b --clear
  printf '@\\tgreen\\n' | session-tree label session.jsonl --from -"))]
pub struct LabelArgs {
    #[command(flatten)]
    session: SessionArg,
    /// Entry: an id or its start, @, label:NAME, user:N or assistant:N, also with ~N
    #[arg(value_name = "ENTRY", conflicts_with = "from")]
    entry: Option<String>,
    /// Label to set: one line
    #[arg(value_name = "NAME", requires = "entry", conflicts_with_all = ["clear", "from"])]
    name: Option<String>,
    /// Clear the label
    #[arg(long, requires = "entry", conflicts_with = "from")]
    clear: bool,
    /// Take the label from the other entries that have it
    #[arg(long = "move", conflicts_with = "clear")]
    moves: bool,
    /// Set labels from lines of ENTRY, tab, NAME in one step; - for standard input
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Append to this entry instead of the file's leaf; this moves the leaf there
    #[arg(long, value_name = "ENTRY", hide_short_help = true, requires = "change")]
    leaf: Option<String>,
    /// Let the label start a new root; this moves the leaf there
    #[arg(long, hide_short_help = true, requires = "change", conflicts_with = "leaf")]
    root: bool,
    #[command(flatten)]
    writing: Writing,
    #[command(flatten)]
    format: FormatArg<TextOrList>,
}

impl Task for LabelArgs {
    fn is_json(&self) -> bool {
        self.format.is_json()
    }

    fn run(mut self: Box<Self>, app: &App) -> Result<ExitCode> {
        if self.moves && self.name.is_none() && self.from.is_none() {
            let message = "`--move` goes with a label to set";
            return Err(Failure::usage(message, "give ENTRY and NAME, or `--from`").into());
        }
        self.session.find(app, self.writes())?;
        self.act(app).about(&self.session.session)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl LabelArgs {
    /// Returns whether a label is to be set or cleared.
    fn writes(&self) -> bool {
        self.name.is_some() || self.clear || self.from.is_some()
    }

    fn act(&self, app: &App) -> Result<()> {
        let writes = self.writes();
        if writes {
            self.session.must_be_a_file()?;
            self.name.as_deref().map_or(Ok(()), label::check_name)?;
        }
        let session = app.load(&self.session.session, LoadOptions::INDEX_ONLY)?;
        if writes {
            return self.write(app, &session);
        }
        let (is_json, mut output) = (self.format.is_json(), Output::new());
        match &self.entry {
            Some(name) => {
                let node = self.session.entry(&session, session.leaf(), name)?;
                list::one(&session, node, is_json, &mut output)?;
            }
            None if is_json => list::json(&session, self.format.get() == TextOrList::Json, &mut output)?,
            None => list::list(&session, &app.screen, &mut output)?,
        }
        Ok(output.finish()?)
    }

    fn write(&self, app: &App, session: &Session) -> Result<()> {
        commit::check(session)?;
        let leaf = self.session.leaf(session, self.leaf.as_deref())?;
        let edits = self.edits(session, leaf)?;
        let parent = leaf.filter(|_| self.leaf.is_some());
        let anchor = match parent {
            _ if self.root => label::root(session)?,
            Some(parent) => Anchor::At(Some(session.id(parent).to_owned())),
            None => Anchor::Leaf,
        };
        world::prepare()?;
        let is_json = self.format.is_json();
        // Read before anything is written, so that nothing but printing can fail afterwards.
        let words = if is_json { Vec::new() } else { label::words(&edits, session)? };
        let (file, mut fresh) = (self.session.file(app, &self.writing), world::entry_id);
        let mut ids = world::ids_and_time(&mut fresh);
        let (labels, mut done) = label::write(&edits, self.moves, file, session, anchor, &mut ids)?;
        if let Some((kind, message)) = self.warning(session, parent, done.is_some()) {
            self.session.warn(app, kind, &message);
        }
        let not_synced = done.as_mut().and_then(|done| self.session.committed(app, done));
        let report = LabelReport {
            session,
            labels: &labels,
            words: &words,
            ids: done.as_ref().map_or(&[], |done| &done.ids),
            path: &self.session.session,
            was_found: self.session.found().is_some(),
            moves: self.moves,
            synced: not_synced.as_ref().map(|_| false),
        };
        report.warn(app.report);
        let printed = match is_json {
            true => report.json(self.from.is_some() && self.format.get() == TextOrList::Json),
            false => report.print(&app.screen, app.report),
        };
        super::ended(printed.map_err(Into::into), None, not_synced)
    }

    /// Returns what to warn of if the label goes elsewhere than to the leaf.
    fn warning(&self, session: &Session, parent: Option<NodeId>, writes: bool) -> Option<(WarningKind, String)> {
        if parent.is_none() && !self.root {
            return None;
        }
        if !writes {
            return Some((WarningKind::Noop, "nothing is written, so the leaf stays where it is".to_owned()));
        }
        let message = match parent {
            None => "the label starts a new root: the leaf moves there".to_owned(),
            Some(parent) if label::moves_leaf(session, parent) => {
                format!("`{}` is off the active path: the leaf moves to its branch", session.id(parent))
            }
            Some(_) => return None,
        };
        Some((WarningKind::LeafMoved, message))
    }

    /// Returns what is to be set or cleared.
    fn edits(&self, session: &Session, leaf: Option<NodeId>) -> Result<Vec<LabelEdit>> {
        if let Some(from) = &self.from {
            return super::read_text(from).and_then(|text| label::read_list(session, leaf, &text)).about(from);
        }
        let Some(entry) = &self.entry else { return Ok(Vec::new()) };
        let target = session.id(self.session.entry(session, leaf, entry)?).to_owned();
        Ok(vec![LabelEdit { target, name: self.name.clone() }])
    }
}
