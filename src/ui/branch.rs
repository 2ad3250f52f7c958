//! Forks of a session, and where it can be forked.

use std::io;
use std::path::Path;

use super::entry::{self, ShortIds};
use super::escape;
use super::json::{BranchRow, Branched, StoredTime, raw};
use super::list::{Column, Listing};
use super::output::{JsonList, Output};
use super::report::Report;
use super::screen::Screen;
use crate::core::edit::branch::{BranchPlan, NewSession, WrittenSession};
use crate::core::naming::agent::Agent;
use crate::core::session::body::Bodies;
use crate::core::session::{NodeId, Session};
use crate::core::time;
use crate::core::words::counted;

/// A fork and what came of it.
#[derive(Debug)]
pub(crate) struct ForkReport<'a> {
    /// The session that is forked.
    pub session: &'a Session,
    /// Its file.
    pub source: &'a Path,
    pub plan: &'a BranchPlan,
    /// What the new session's header says.
    pub new: &'a NewSession<'a>,
    /// What was written, or would be.
    pub written: Option<WrittenSession>,
    /// The new file, if there is one.
    pub path: Option<&'a Path>,
    /// The agent that goes on with it.
    pub agent: Agent,
    /// The hook that was against it.
    pub cancelled_by: Option<String>,
    /// Whether it was only to be shown.
    pub is_dry: bool,
    /// Whether the new session itself goes to stdout.
    pub is_stdout_taken: bool,
}

impl<'a> ForkReport<'a> {
    /// Takes a fork of which nothing is written yet.
    pub(crate) fn new(
        (session, source): (&'a Session, &'a Path),
        plan: &'a BranchPlan,
        new: &'a NewSession<'a>,
        agent: Agent,
    ) -> Self {
        let (written, path, cancelled_by) = (None, None, None);
        Self { session, source, plan, new, written, path, agent, cancelled_by, is_dry: false, is_stdout_taken: false }
    }

    /// Prints what was made, or would be, and how to go on.
    ///
    /// # Errors
    /// [`io::Error`] of the output.
    pub(crate) fn print(&self, is_json: bool, screen: &Screen, report: Report) -> io::Result<()> {
        let is_made = !self.is_dry && self.cancelled_by.is_none();
        if self.is_stdout_taken && is_made {
            if is_json {
                report.result(&self.json(is_made));
            }
            self.warn_of_what_stays(report);
            return Ok(());
        }
        let mut output = Output::new();
        match (is_json, self.path, &self.cancelled_by) {
            (true, ..) => output.json_line(&self.json(is_made))?,
            (false, Some(path), _) => output.path(path)?,
            (false, None, Some(hook)) => {
                let text = format!("cancelled by hook `{}`; nothing was made\n", escape::line(hook));
                output.text(&screen.folded(&text, 0))?;
            }
            (false, None, None) => {
                let (entries, labels) = self.counts();
                let entries = counted(entries, "entry", "entries");
                let text = format!("would make a session of {entries}, {labels} of them labels\n");
                output.text(&screen.folded(&text, 0))?;
            }
        }
        output.finish()?;
        if self.cancelled_by.is_none() {
            if is_made {
                self.warn_of_what_stays(report);
            }
            let goes_on = self.path.filter(|_| !self.is_anonymized());
            report.forked(self.agent, goes_on, self.plan.selected());
        }
        Ok(())
    }

    fn is_anonymized(&self) -> bool {
        self.new.stand_ins.is_some()
    }

    /// Prints a hint on what stand-ins do not hide.
    fn warn_of_what_stays(&self, report: Report) {
        if self.is_anonymized() {
            report.hint("read it before you share it: names of models and providers, times and cost stay");
        }
    }

    fn counts(&self) -> (usize, usize) {
        self.written.as_ref().map_or((0, 0), |written| (written.entries, written.labels))
    }

    fn json(&self, is_made: bool) -> Branched<'_> {
        let (entries, labels) = self.counts();
        Branched {
            cancelled: self.cancelled_by.is_some(),
            dry_run: self.is_dry.then_some(true),
            path: self.source.display().to_string(),
            target_id: self.plan.entry().map(|entry| self.session.id(entry)),
            selected_text: self.plan.selected().map(|prompt| &*prompt.text),
            selected_images: raw(self.plan.selected()),
            session_file: self.path.map(|path| path.display().to_string()),
            session_id: is_made.then_some(&self.new.id),
            parent_session: self.new.parent.as_deref(),
            leaf_id: self.written.as_ref().and_then(|written| written.leaf.as_deref()),
            entries,
            labels,
        }
    }
}

/// Prints where a session can be forked, as an array or one object a line.
///
/// # Errors
/// As [`Bodies::words`], and what the system says.
pub(crate) fn json(session: &Session, nodes: &[NodeId], is_array: bool, output: &mut Output) -> anyhow::Result<()> {
    output.hold();
    let (mut bodies, mut list) = (Bodies::new(session), JsonList::new(is_array));
    for &node in nodes {
        let row = BranchRow {
            id: session.id(node),
            parent_id: session.parent(node).map(|parent| session.id(parent)),
            timestamp: StoredTime::of(&mut bodies, node)?,
            text: &bodies.words(node)?,
        };
        list.add(output, &row)?;
    }
    Ok(list.end(output)?)
}

/// Prints where a session can be forked: ids and texts, in a table also the times.
///
/// # Errors
/// As [`Bodies::words`], and what the system says.
pub(crate) fn rows(
    session: &Session,
    nodes: &[NodeId],
    is_table: bool,
    screen: &Screen,
    output: &mut Output,
) -> anyhow::Result<()> {
    let ids = ShortIds::new(session);
    let widest = ids.widest(nodes.iter().copied(), usize::MAX);
    let columns = [Column::Whole("id", widest), Column::Whole("when (UTC)", 16), Column::Text("text", 0)];
    let listing = match is_table {
        true => Listing::new(&columns, screen),
        false => Listing::new(&[columns[0], columns[2]], screen).bare(),
    };
    let mut bodies = Bodies::new(session);
    listing.print(output, nodes, |&node| {
        let words = bodies.words(node)?;
        let mut row = vec![ids.of(node).into_owned()];
        row.extend(is_table.then(|| time::minute(session.stamp(node))));
        row.push(entry::text(screen, &words));
        Ok(row)
    })
}
