//! Labels: one, all of a session, and those that were set or cleared.

use std::io;
use std::path::Path;

use super::entry::{self, ShortIds};
use super::escape;
use super::fit;
use super::json::{LabelChange, LabelPlace, LabelRow, StoredTime};
use super::list::{Column, Listing};
use super::output::{JsonList, Output};
use super::paint::Ink;
use super::report::Report;
use super::screen::Screen;
use crate::core::edit::label::{self, LabelEdit, PlannedLabel};
use crate::core::error::problem::WarningKind;
use crate::core::session::body::Bodies;
use crate::core::session::{Label, NodeId, Session};
use crate::core::time;
use crate::core::words::counted;

/// Labels that were set or cleared.
#[derive(Debug)]
pub(crate) struct LabelReport<'a> {
    pub session: &'a Session,
    /// The labels.
    pub labels: &'a [PlannedLabel],
    /// The words of the labelled entries; only for people.
    pub words: &'a [String],
    /// The ids of the new entries.
    pub ids: &'a [String],
    pub path: &'a Path,
    /// Whether that is another than was named.
    pub was_found: bool,
    /// Whether labels were to be taken from other entries.
    pub moves: bool,
    /// False if what was written could not be synced.
    pub synced: Option<bool>,
}

impl LabelReport<'_> {
    /// Prints what was done for people.
    ///
    /// # Errors
    /// [`io::Error`] of the output.
    pub(crate) fn print(&self, screen: &Screen, report: Report) -> io::Result<()> {
        let mut output = Output::new();
        for (label, words) in self.labels.iter().zip(self.words) {
            output.text(&self.row(label, words, screen))?;
        }
        for edit in self.labels.iter().map(|label| &label.edit).filter(|edit| edit.is_hidden(self.session)) {
            report.hint(&format!("`tree` hides entry {} unless `--filter labeled-only` or `all`", edit.target));
        }
        if self.was_found {
            output.text(&format!("in {}\n", escape::line(&screen.tilde(&self.path.display().to_string()))))?;
        }
        output.finish()
    }

    /// Warns of labels that other entries have too.
    pub(crate) fn warn(&self, report: Report) {
        for PlannedLabel { edit, namesakes, .. } in self.labels.iter().filter(|label| label.namesakes > 0) {
            let others = counted(*namesakes, "other entry has", "other entries have");
            let name = edit.name.as_deref().unwrap_or_default();
            let message =
                format!("{others} this label, too: `label:{name}` names none of them; `--move` takes it from others");
            report.warn(WarningKind::SharedLabel, &message, Some(self.path), None);
        }
    }

    /// Prints what was done as an object for each label, all of them as an array or one a line.
    ///
    /// # Errors
    /// [`io::Error`] of the output.
    pub(crate) fn json(&self, is_array: bool) -> io::Result<()> {
        let (mut output, mut list) = (Output::new(), JsonList::new(is_array));
        let mut ids = self.ids;
        for label in self.labels {
            let (written, rest) = ids.split_at(label.count().min(ids.len()));
            ids = rest;
            let row = LabelChange {
                path: self.path.display().to_string(),
                target_id: &label.edit.target,
                label: label.edit.name.as_deref(),
                was: label.was.as_deref(),
                taken_from: self.moves.then_some(&label.taken_from),
                written,
                synced: self.synced.filter(|_| !written.is_empty()),
            };
            list.add(&mut output, &row)?;
        }
        list.end(&mut output)?;
        output.finish()
    }

    fn row(&self, label: &PlannedLabel, words: &str, screen: &Screen) -> String {
        let LabelEdit { target, name } = &label.edit;
        let traits = self.session.find(target).map(|node| self.session.traits(node));
        let row = traits.map(|traits| entry::row(screen, traits, words)).unwrap_or_default();
        let was = label.was.as_ref().filter(|_| label.changes()).map(|was| format!("was [{was}]"));
        let taken = (!label.taken_from.is_empty()).then(|| format!("taken from {}", label.taken_from.join(", ")));
        let notes: Vec<_> = was.into_iter().chain(taken).collect();
        let notes = if notes.is_empty() { String::new() } else { format!("({}) ", notes.join(", ")) };
        let text = match (name, label.changes()) {
            (Some(name), true) => format!("labelled {target}  [{name}] {notes}{row}"),
            (None, true) => format!("cleared the label of {target}  {notes}{row}"),
            (Some(name), false) if label.count() > 0 => format!("{target} had the label  [{name}] {notes}{row}"),
            (Some(name), false) => format!("nothing written: {target} has this label  [{name}] {row}"),
            (None, false) => format!("nothing written: {target} has no label  {row}"),
        };
        screen.row([(Ink::Plain, &*escape::line(&text))])
    }
}

/// Prints the label of an entry.
///
/// # Errors
/// As [`Bodies::entry`], and what the system says.
pub(crate) fn one(session: &Session, node: NodeId, is_json: bool, output: &mut Output) -> anyhow::Result<()> {
    let label = session.label(node);
    if is_json {
        let mut bodies = Bodies::new(session);
        let timestamp = label.map_or(Ok(StoredTime::Absent), |label| StoredTime::of(&mut bodies, label.set_by))?;
        let label = label.map(|label| label.name.as_str());
        return Ok(output.json_line(&LabelRow { id: session.id(node), label, timestamp, place: None })?);
    }
    let text = label.map(|label| format!("{}\n", escape::line(&label.name)));
    Ok(output.text(&text.unwrap_or_default())?)
}

/// Prints all labels as an array, or one a line.
///
/// # Errors
/// As [`Bodies::words`], and what the system says.
pub(crate) fn json(session: &Session, is_array: bool, output: &mut Output) -> anyhow::Result<()> {
    output.hold();
    let (mut bodies, mut list) = (Bodies::new(session), JsonList::new(is_array));
    for label in label::in_order(session) {
        let text = label.target.map(|target| bodies.words(target)).transpose()?;
        let row = LabelRow {
            id: &label.target_id,
            label: Some(&label.name),
            timestamp: StoredTime::of(&mut bodies, label.set_by)?,
            place: Some(LabelPlace { exists: text.is_some(), text }),
        };
        list.add(output, &row)?;
    }
    Ok(list.end(output)?)
}

/// Prints all labels as a table; nothing if there are none.
///
/// # Errors
/// As [`Bodies::words`], and what the system says.
pub(crate) fn list(session: &Session, screen: &Screen, output: &mut Output) -> anyhow::Result<()> {
    let labels = label::in_order(session);
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
    Listing::new(&columns, screen).print(output, &labels, |label| {
        let text = match label.target {
            Some(target) => entry::row(screen, session.traits(target), &bodies.words(target)?),
            None => "(no such entry)".to_owned(),
        };
        Ok(vec![id(label), label.name.clone(), time::minute(session.stamp(label.set_by)), text])
    })
}
