//! `label`: the labels of a session.

use anyhow::Result;
use clap::{Args, ValueEnum};

use super::{App, SessionArg};
use crate::core::body::Bodies;
use crate::core::load::Keep;
use crate::core::session::{Label, Session};
use crate::core::time;
use crate::ui::json::{LabelRow, Time};
use crate::ui::list::{Listing, PIECE};
use crate::ui::output::Output;
use crate::ui::tree::{speaker, tilde};
use crate::ui::{escape, fit};

/// List the labels of a session, or print one
///
/// Labels are bookmarks on entries. Without ENTRY all that are set now are listed, in the order of
/// setting; with ENTRY its label is printed, nothing if it has none.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  session-tree label session.jsonl          all labels
  session-tree label session.jsonl user:1   the label of the last prompt
  session-tree tree session.jsonl --leaf label:plan-b --path")]
pub struct LabelArgs {
    #[command(flatten)]
    session: SessionArg,
    /// Entry whose label to print
    #[arg(value_name = "ENTRY")]
    entry: Option<String>,
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
    /// A [`Failure`](crate::ui::report::Failure), or what the system says of writing to stdout.
    pub fn run(self, app: &App) -> Result<()> {
        let session = app.load(&self.session.session, Keep::NOTHING)?;
        let mut output = Output::new();
        match &self.entry {
            Some(name) => self.one(&session, name, &mut output)?,
            None if self.is_json() => self.json(&session, &mut output)?,
            None => self.list(app, &session, &mut output)?,
        }
        Ok(output.finish()?)
    }

    fn one(&self, session: &Session, name: &str, output: &mut Output) -> Result<()> {
        let node = self.session.entry(session, session.leaf(), name)?;
        let label = session.label(node);
        if self.is_json() {
            let mut bodies = Bodies::new(session);
            let timestamp = label.map_or(Ok(Time::Absent), |label| Time::of(&mut bodies, label.set_by));
            let timestamp = timestamp.map_err(self.session.failed())?;
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
            let timestamp = Time::of(&mut bodies, label.set_by).map_err(self.session.failed())?;
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
        let widest = |of: &dyn Fn(&Label) -> &str| {
            labels.iter().map(|label| fit::width(&escape::line(of(label)))).max().unwrap_or(0)
        };
        let widths = [widest(&|label| &label.target_id).min(36), widest(&|label| &label.name).min(40), 16, 204];
        let headings = ["id", "label", "when", "text"];
        let listing = Listing::new(&headings, &widths, app.width, output.is_terminal(), app.paint);
        output.text(&listing.head())?;
        for piece in labels.chunks(PIECE) {
            let mut cells = Vec::with_capacity(piece.len());
            for label in piece {
                let text = match label.target {
                    Some(target) => {
                        let words = bodies.words(target).map_err(self.session.failed())?;
                        format!("{}{}", speaker(session.traits(target)), tilde(&words, app.home.as_deref()))
                    }
                    None => "(no such entry)".to_owned(),
                };
                let when = time::minute(session.stamp(label.set_by));
                cells.push(vec![label.target_id.clone(), label.name.clone(), when, text]);
            }
            output.text(&listing.rows(cells))?;
        }
        Ok(output.text(&listing.foot())?)
    }
}

/// Gives the labels in the order in which they were set.
fn in_order(session: &Session) -> Vec<&Label> {
    let mut labels: Vec<_> = session.labels().iter().collect();
    labels.sort_by_key(|label| label.set_by);
    labels
}
