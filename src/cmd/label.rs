//! `label`: the labels of a session.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};

use super::world::{self, Writing};
use super::{App, SessionArg};
use crate::core::edit::commit::{self, Anchor, Commit, Guard};
use crate::core::edit::draft::Draft;
use crate::core::edit::label::{self, Change};
use crate::core::error::Error;
use crate::core::naming;
use crate::core::problem::WarningKind;
use crate::core::read::load::Keep;
use crate::core::session::body::Bodies;
use crate::core::session::{Label, NodeId, Session};
use crate::core::time;
use crate::core::tree::filter::Filter;
use crate::core::tree::walk;
use crate::core::words::counted;
use crate::ui::entry::{self, ShortIds};
use crate::ui::json::{LabelChange, LabelRow, StoredTime};
use crate::ui::list::{Column, Listing};
use crate::ui::output::Output;
use crate::ui::paint::Ink;
use crate::ui::report::{AboutFile, Failure};
use crate::ui::{escape, fit};

/// List, print, set or clear labels
///
/// Labels are bookmarks on entries. Without ENTRY all that are set now are listed, in the order of
/// setting; with ENTRY its label is printed, nothing if it has none; with NAME it is set. A change
/// is one more line at the end of the file: everything else stays as it is.
#[derive(Debug, Args)]
#[command(after_long_help = super::naming("\
Examples:
  session-tree label session.jsonl                 all labels
  session-tree label session.jsonl user:1          the label of the last prompt
  session-tree label session.jsonl @~3 plan-b      set a label
  session-tree label session.jsonl label:plan-b --clear
  printf '@\\tgreen\\n' | session-tree label session.jsonl --from -"))]
pub struct LabelArgs {
    #[command(flatten)]
    session: SessionArg,
    /// Entry: an id or its start, @, label:NAME, user:N, each with ~N
    #[arg(value_name = "ENTRY", conflicts_with = "from")]
    entry: Option<String>,
    /// Label to set: one line
    #[arg(value_name = "NAME", requires = "entry", conflicts_with_all = ["clear", "from"])]
    name: Option<String>,
    /// Take the label away
    #[arg(long, requires = "entry", conflicts_with = "from")]
    clear: bool,
    /// Set labels from lines of ENTRY, tab, NAME in one step; - for standard input
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Append to this entry instead of the file's leaf; this moves the leaf there
    #[arg(long, value_name = "ENTRY", hide_short_help = true)]
    leaf: Option<String>,
    #[command(flatten)]
    writing: Writing,
    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Text, hide_default_value = true)]
    format: Format,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Columns for people
    Text,
    /// Objects for programs
    Json,
}

impl LabelArgs {
    /// Tells whether messages are objects too.
    pub fn is_json(&self) -> bool {
        self.json || self.format == Format::Json
    }

    /// Runs the command.
    ///
    /// # Errors
    /// A [`Failure`], or what the system says of writing to stdout.
    pub fn run(mut self, app: &App) -> Result<()> {
        self.session.find(app)?;
        self.act(app).about(&self.session.session)
    }

    fn act(&self, app: &App) -> Result<()> {
        let writes = self.name.is_some() || self.clear || self.from.is_some();
        if writes {
            self.session.must_be_a_file()?;
            self.name.as_deref().map_or(Ok(()), label::check_name)?;
        }
        let session = app.load(&self.session.session, Keep::NOTHING)?;
        let mut output = Output::new();
        match &self.entry {
            _ if writes => return self.write(app, &session, output),
            Some(name) => self.one(&session, name, &mut output)?,
            None if self.is_json() => self.json(&session, &mut output)?,
            None => self.list(app, &session, &mut output)?,
        }
        Ok(output.finish()?)
    }

    fn write(&self, app: &App, session: &Session, mut output: Output) -> Result<()> {
        commit::check(session)?;
        let leaf = self.session.leaf(session, self.leaf.as_deref())?;
        let changes = self.changes(session, leaf)?;
        let mut anchor = Anchor::Leaf;
        if let Some(leaf) = leaf.filter(|_| self.leaf.is_some()) {
            if !walk::active(session, session.leaf())[leaf.index()] {
                let id = session.id(leaf);
                let message = format!("`{id}` is off the active path: the leaf moves to its branch");
                app.report.warn(WarningKind::LeafMoved, &message, Some(&self.session.session), None);
            }
            anchor = Anchor::At(Some(session.id(leaf).to_owned()));
        }
        world::prepare()?;
        let commit = Commit {
            path: &self.session.session,
            manners: self.writing.manners(),
            jobs: app.jobs,
            anchor,
            guard: Guard::None,
            needs: changes.iter().map(|change| change.target.clone()).collect(),
        };
        let words = self.words(app, session, &changes)?;
        let mut fresh = world::entry_id;
        let mut world = world::world(&mut fresh);
        let write = &mut |draft: &mut Draft<'_>| changes.iter().for_each(|change| change.append(draft));
        let mut done = commit.write(session, &mut world, write)?;
        let not_synced = self.session.committed(app, &mut done);
        let synced = not_synced.as_ref().map(|_| false);
        let rows = done.ids.iter().zip(&changes);
        let rows: Vec<_> = rows.map(|(id, change)| LabelChange::of(id, change, self.session.found(), synced)).collect();
        let mut print = || -> Result<()> {
            match (self.is_json(), self.from.is_some()) {
                (true, true) => output.json_line(&rows)?,
                (true, false) => rows.iter().try_for_each(|row| output.json_line(row))?,
                (false, _) => {
                    for (change, words) in changes.iter().zip(&words) {
                        output.text(&told(change, words, app))?;
                    }
                    changes.iter().for_each(|change| hint(session, change, app));
                    if let Some(file) = self.session.found() {
                        output.text(&format!("in {}\n", escape::line(&file.display().to_string())))?;
                    }
                }
            }
            Ok(())
        };
        let printed = print().and_then(|()| Ok(output.finish()?));
        super::ended(printed, None, not_synced)
    }

    /// Gives the words of the entries, for people. They are read before anything is written, so that
    /// nothing but printing can fail afterwards.
    fn words(&self, app: &App, session: &Session, changes: &[Change]) -> Result<Vec<String>> {
        let mut bodies = Bodies::new(session);
        let mut words = |change: &Change| -> Result<String> {
            let Some(node) = session.find(&change.target).filter(|_| !self.is_json()) else {
                return Ok(String::new());
            };
            let words = bodies.words(node)?;
            Ok(entry::row(&app.screen, session.traits(node), &words))
        };
        changes.iter().map(&mut words).collect()
    }

    /// Gives what is to be set or cleared, with the entries found.
    fn changes(&self, session: &Session, leaf: Option<NodeId>) -> Result<Vec<Change>> {
        let target =
            |name: &str| -> Result<String> { Ok(session.id(self.session.entry(session, leaf, name)?).to_owned()) };
        let Some(from) = &self.from else {
            let Some(entry) = &self.entry else { return Ok(Vec::new()) };
            return Ok(vec![Change { target: target(entry)?, name: self.name.clone() }]);
        };
        let failed = |line: Option<u32>, error: Error| Failure { line, ..Failure::new(&error, from) };
        let text = super::read_text(from).map_err(|error| failed(None, error))?;
        let mut changes = Vec::new();
        for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
            let Some((entry, name)) = text.split_once('\t') else {
                let message = "no tab on this line".to_owned();
                let error = Error::Usage { message, hint: "lines are ENTRY<TAB>NAME".to_owned() };
                return Err(failed(Some(line), error).into());
            };
            label::check_name(name).map_err(|error| failed(Some(line), error))?;
            let target = naming::entry::find(session, leaf, entry).map_err(|error| failed(Some(line), error))?;
            changes.push(Change { target: session.id(target).to_owned(), name: Some(name.to_owned()) });
        }
        if changes.is_empty() {
            let message = "no labels in it".to_owned();
            return Err(failed(None, Error::Usage { message, hint: "lines are ENTRY<TAB>NAME".to_owned() }).into());
        }
        Ok(changes)
    }

    fn one(&self, session: &Session, name: &str, output: &mut Output) -> Result<()> {
        let node = self.session.entry(session, session.leaf(), name)?;
        let label = session.label(node);
        if self.is_json() {
            let mut bodies = Bodies::new(session);
            let timestamp = label.map_or(Ok(StoredTime::Absent), |label| StoredTime::of(&mut bodies, label.set_by));
            let timestamp = timestamp?;
            let label = label.map(|label| label.name.as_str());
            let row = LabelRow { target_id: session.id(node), label, timestamp, exists: None };
            return Ok(output.json_line(&row)?);
        }
        match label {
            Some(label) => Ok(output.text(&format!("{}\n", escape::line(&label.name)))?),
            None => Ok(()),
        }
    }

    fn json(&self, session: &Session, output: &mut Output) -> Result<()> {
        let mut bodies = Bodies::new(session);
        let mut rows = Vec::new();
        for label in in_order(session) {
            let timestamp = StoredTime::of(&mut bodies, label.set_by)?;
            let exists = Some(label.target.is_some());
            rows.push(LabelRow { target_id: &label.target_id, label: Some(&label.name), timestamp, exists });
        }
        Ok(output.json_line(&rows)?)
    }

    fn list(&self, app: &App, session: &Session, output: &mut Output) -> Result<()> {
        let labels = in_order(session);
        if labels.is_empty() {
            return Ok(());
        }
        let mut bodies = Bodies::new(session);
        let ids = ShortIds::new(session);
        let id = |label: &Label| match label.target {
            Some(target) => ids.of(target).into_owned(),
            None => escape::line(&label.target_id).into_owned(),
        };
        let widest = labels.iter().map(|label| fit::width(&id(label))).max().unwrap_or(0);
        let columns = [
            Column::Whole("id", widest),
            Column::Text("label", 0),
            Column::Whole("when (UTC)", 16),
            Column::Text("text", 0),
        ];
        Listing::new(&columns, &app.screen).print(output, &labels, |label| {
            let text = match label.target {
                Some(target) => {
                    let words = bodies.words(target)?;
                    entry::row(&app.screen, session.traits(target), &words)
                }
                None => "(no such entry)".to_owned(),
            };
            Ok(vec![id(label), label.name.clone(), time::minute(session.stamp(label.set_by)), text])
        })
    }
}

/// Says what was done, for people.
fn told(change: &Change, words: &str, app: &App) -> String {
    let target = &change.target;
    let text = match &change.name {
        Some(name) => format!("labelled {target}  [{name}] {words}"),
        None => format!("cleared the label of {target}  {words}"),
    };
    app.screen.row([(Ink::Plain, &*escape::line(&text))])
}

/// Tells of a new label that is not seen in the usual view, or that another entry has, too.
fn hint(session: &Session, change: &Change, app: &App) {
    let Some((name, node)) = change.name.as_deref().zip(session.find(&change.target)) else { return };
    match session.labelled(name).iter().filter(|&&other| other != node).count() {
        0 => {}
        count => {
            let others = counted(count, "other entry has", "other entries have");
            app.report.hint(&format!("{others} this label, too: `label:{name}` names none of them"));
        }
    }
    if !Filter::Default.shows(session.traits(node), true, false) {
        app.report.hint(&format!("`tree` hides entry {} unless `--filter labeled-only` or `all`", change.target));
    }
}

/// Gives the labels in the order in which they were set.
fn in_order(session: &Session) -> Vec<&Label> {
    let mut labels: Vec<_> = session.labels().iter().collect();
    labels.sort_by_key(|label| label.set_by);
    labels
}
