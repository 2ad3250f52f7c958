//! `tree`: prints the tree.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;

use super::{App, Task};
use crate::core::entry::Traits;
use crate::core::read::load::LoadOptions;
use crate::core::search::Query;
use crate::core::session::body::Bodies;
use crate::core::tree::view::{Scope, Search, ShownTree, View};
use crate::core::words::counted;
use crate::ui::entry::speaker;
use crate::ui::exit::Exit;
use crate::ui::graph::GraphFormat;
use crate::ui::progress::{Count, Progress};
use crate::ui::report::AboutFile;

use args::Format;
pub use args::TreeArgs;
use printer::Printer;

mod args;
mod graph;
mod printer;
mod rows;
mod tips;
mod usage;
mod whole;

impl Task for TreeArgs {
    fn is_json(&self) -> bool {
        self.format.is_json()
    }

    fn run(mut self: Box<Self>, app: &App) -> Result<ExitCode> {
        usage::check(&self)?;
        self.session.find(app, false)?;
        Ok(self.print(app).about(&self.session.session)?.into())
    }
}

impl TreeArgs {
    /// Prints what was asked for. A search that finds nothing says no, as that of grep does.
    fn print(&self, app: &App) -> Result<Exit> {
        let query = self.search.as_deref().map(Query::new);
        let row = |traits: Traits, words: &str| format!("{}{words}\n{}", speaker(traits), app.screen.tilde(words));
        let done = Arc::new(AtomicU64::new(0));
        let step = || _ = done.fetch_add(1, Ordering::Relaxed);
        let view = View {
            filter: self.filter,
            scope: Scope::Whole,
            path: self.path,
            period: self.period(),
            search: query.as_ref().map(|query| Search { query, row: &row, step: &step }),
            depth: self.depth,
            branches: self.branches,
        };
        let (format, shows_view) = (self.format.get(), self.entry.is_empty());
        let prints_rows = shows_view && !self.tips && matches!(format, Format::Text | Format::Table | Format::Jsonl);
        let words = |traits: Traits| shows_view && view.keeps(traits, prints_rows);
        // Nested nodes have no words.
        let calls = shows_view && view.shows_calls() && (format != Format::Json || self.tips || query.is_some());
        let session = app.load(&self.session.session, LoadOptions { words: &words, calls, usage: false })?;
        let leaf = match self.root {
            true => None,
            false => self.session.leaf(&session, self.leaf.as_deref())?,
        };
        let bodies = Bodies::new(&session);
        let mut printer = Printer { app, args: self, session: &session, leaf, query: query.as_ref(), bodies };
        if !shows_view {
            printer.entries()?;
            return Ok(Exit::Done);
        }
        let entries = query.as_ref().map(|_| Count::Things(Arc::clone(&done), session.len(), "entries"));
        let progress = entries.map(|entries| Progress::new(app.report, "searching", entries));
        let view = View { scope: self.scope(&session, leaf)?, ..view };
        let shown = view.show(&mut printer.bodies, leaf)?;
        drop(progress);
        self.explain(app, &shown);
        match format {
            _ if self.tips => printer.tips(&shown, format)?,
            Format::Text => printer.text(&shown)?,
            Format::Table => printer.table(&shown)?,
            Format::Json => printer.nested(&shown)?,
            Format::Jsonl => printer.lines(&shown)?,
            Format::Dot => printer.graph(&shown, GraphFormat::Dot)?,
            Format::Mermaid => printer.graph(&shown, GraphFormat::Mermaid)?,
        }
        Ok(if query.is_some() && shown.is_empty { Exit::SaysNo } else { Exit::Done })
    }

    /// Prints hints on what is left out although it was asked for.
    fn explain(&self, app: &App, shown: &ShownTree) {
        match (&self.search, self.period().is_bound()) {
            _ if !shown.is_empty => {}
            (Some(text), false) => app.report.hint(&format!("no entry that is shown contains all of: {text}")),
            (Some(text), true) => {
                app.report.hint(&format!("no entry that is shown is of that time and contains all of: {text}"))
            }
            (None, true) => app.report.hint("no entry that is shown is of that time"),
            (None, false) => {}
        }
        if shown.timeless > 0 {
            let entries = counted(shown.timeless, "entry", "entries");
            app.report.hint(&format!("left out: {entries} without a time that can be read"));
        }
        if shown.rowless > 0 && !self.format.is_json() {
            let entries = counted(shown.rowless, "entry is", "entries are");
            app.report.hint(&format!("{entries} deeper, with nothing shown above"));
        }
    }
}
