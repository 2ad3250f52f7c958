//! Labels: one, all of a session, and those that were set or cleared.

use std::io;
use std::path::Path;

use super::entry::{self, ShortIds};
use super::escape;
use super::fit;
use super::json::{LabelChange, LabelRow, StoredTime};
use super::list::{Column, Listing};
use super::output::Output;
use super::paint::Ink;
use super::report::Report;
use super::screen::Screen;
use crate::core::edit::label::{self, LabelEdit};
use crate::core::session::body::Bodies;
use crate::core::session::{Label, NodeId, Session};
use crate::core::time;
use crate::core::words::counted;

/// Labels that were set or cleared.
#[derive(Debug)]
pub(crate) struct LabelReport<'a> {
    pub session: &'a Session,
    /// The labels.
    pub edits: &'a [LabelEdit],
    /// The words of the labelled entries; only for people.
    pub words: &'a [String],
    /// The ids of the new entries.
    pub ids: &'a [String],
    /// Whether they come from a list: then programs get an array.
    pub is_list: bool,
    /// The file, if it was named by other than its path.
    pub found: Option<&'a Path>,
    /// False if what was written could not be synced.
    pub synced: Option<bool>,
}

impl LabelReport<'_> {
    /// Prints what was done.
    ///
    /// # Errors
    /// [`io::Error`] of the output.
    pub(crate) fn print(&self, is_json: bool, screen: &Screen, report: Report) -> io::Result<()> {
        let mut output = Output::new();
        if is_json {
            let rows = self.ids.iter().zip(self.edits);
            let rows: Vec<_> = rows.map(|(id, edit)| LabelChange::of(id, edit, self.found, self.synced)).collect();
            match self.is_list {
                true => output.json_line(&rows)?,
                false => rows.iter().try_for_each(|row| output.json_line(row))?,
            }
            return output.finish();
        }
        for (edit, words) in self.edits.iter().zip(self.words) {
            output.text(&self.row(edit, words, screen))?;
        }
        self.edits.iter().for_each(|edit| self.hint(edit, report));
        if let Some(file) = self.found {
            output.text(&format!("in {}\n", escape::line(&file.display().to_string())))?;
        }
        output.finish()
    }

    fn row(&self, LabelEdit { target, name }: &LabelEdit, words: &str, screen: &Screen) -> String {
        let traits = self.session.find(target).map(|node| self.session.traits(node));
        let row = traits.map(|traits| entry::row(screen, traits, words)).unwrap_or_default();
        let text = match name {
            Some(name) => format!("labelled {target}  [{name}] {row}"),
            None => format!("cleared the label of {target}  {row}"),
        };
        screen.row([(Ink::Plain, &*escape::line(&text))])
    }

    /// Hints at a new label that is not seen in the usual view, or that another entry has, too.
    fn hint(&self, edit: &LabelEdit, report: Report) {
        let namesakes = edit.namesakes(self.session);
        if namesakes > 0 {
            let others = counted(namesakes, "other entry has", "other entries have");
            let name = edit.name.as_deref().unwrap_or_default();
            report.hint(&format!("{others} this label, too: `label:{name}` names none of them"));
        }
        if edit.is_hidden(self.session) {
            report.hint(&format!("`tree` hides entry {} unless `--filter labeled-only` or `all`", edit.target));
        }
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
        return Ok(output.json_line(&LabelRow { target_id: session.id(node), label, timestamp, exists: None })?);
    }
    let text = label.map(|label| format!("{}\n", escape::line(&label.name)));
    Ok(output.text(&text.unwrap_or_default())?)
}

/// Prints all labels as an array.
///
/// # Errors
/// As [`Bodies::entry`], and what the system says.
pub(crate) fn json(session: &Session, output: &mut Output) -> anyhow::Result<()> {
    let mut bodies = Bodies::new(session);
    let mut rows = Vec::new();
    for label in label::in_order(session) {
        let timestamp = StoredTime::of(&mut bodies, label.set_by)?;
        let exists = Some(label.target.is_some());
        rows.push(LabelRow { target_id: &label.target_id, label: Some(&label.name), timestamp, exists });
    }
    Ok(output.json_line(&rows)?)
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
