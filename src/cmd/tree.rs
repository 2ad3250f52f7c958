//! `tree`: prints the tree.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;

use super::{App, Task};
use crate::core::entry::Traits;
use crate::core::read::load::LoadOptions;
use crate::core::search::Query;
use crate::core::session::Session;
use crate::core::session::body::Bodies;
use crate::core::tree::view::{Scope, Search, ShownTree, View};
use crate::core::words::counted;
use crate::ui::entry;
use crate::ui::exit::Exit;
use crate::ui::graph::GraphFormat;
use crate::ui::output::Output;
use crate::ui::progress::{Count, Progress};
use crate::ui::report::AboutFile;

use args::Format;
pub use args::TreeArgs;
use printer::{OneOfSeveral, Printer};

mod args;
mod follow;
mod graph;
mod many;
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
        let one = self.sessions.one();
        let is_one = one.is_some();
        self.session = one.unwrap_or_default();
        usage::check(&self, !is_one)?;
        let query = self.search.query()?;
        if !is_one {
            return many::run(&self, app, query.as_ref());
        }
        self.session.find(app, false)?;
        if self.follow {
            return follow::run(&self, app, query.as_ref());
        }
        let file = &self.session.session;
        let mut output = Output::new();
        let is_shown = self.show(app, query.as_ref(), &mut output, app.jobs, None, |keep| app.load(file, keep));
        let is_shown = is_shown.about(file)?;
        output.finish()?;
        // A search that finds nothing says no, as that of grep does.
        Ok(if is_shown { Exit::Done } else { Exit::SaysNo }.into())
    }
}

impl TreeArgs {
    /// Prints what was asked for of the session that `load` reads; `one` is how it is called, if it is one of several.
    /// Returns whether it is shown: a search may find nothing in it.
    fn show(
        &self,
        app: &App,
        query: Option<&Query>,
        output: &mut Output,
        jobs: usize,
        one: Option<OneOfSeveral<'_>>,
        load: impl FnOnce(LoadOptions<'_>) -> Result<Session>,
    ) -> Result<bool> {
        let row = |traits: Traits, words: &str| entry::searched(&app.screen, traits, words);
        let done = Arc::new(AtomicU64::new(0));
        let step = || _ = done.fetch_add(1, Ordering::Relaxed);
        let view = View {
            filter: self.filter,
            scope: Scope::Whole,
            path: self.path,
            period: self.period(),
            search: query.map(|query| Search { query, row: &row, step: &step }),
            depth: self.depth,
            branches: self.branches,
        };
        let (format, shows_view) = (self.format.get(), self.entry.is_empty());
        let prints_rows = shows_view && !self.tips && matches!(format, Format::Text | Format::Table | Format::Jsonl);
        let words = |traits: Traits| shows_view && view.keeps(traits, prints_rows);
        // Nested nodes have no words.
        let calls = shows_view && view.keeps_calls() && (format != Format::Json || self.tips || query.is_some());
        let session = load(LoadOptions { words: &words, calls, usage: self.tips })?;
        let leaf = match self.root {
            true => None,
            false => self.session.leaf(&session, self.leaf.as_deref())?,
        };
        let bodies = Bodies::new(&session);
        let (file, id) = (one.map(|one| one.file), one.map_or("", |one| one.id));
        let mut printer = Printer { app, args: self, session: &session, leaf, query, bodies, output, jobs, file, id };
        if !shows_view {
            printer.entries()?;
            return Ok(true);
        }
        let entries = query.filter(|_| file.is_none());
        let entries = entries.map(|_| Count::Things(Arc::clone(&done), session.len(), "entries"));
        let progress = entries.map(|entries| Progress::new(app.report, "searching", entries));
        let view = View { scope: self.scope(&session, leaf)?, ..view };
        let shown = view.show(&mut printer.bodies, leaf)?;
        drop(progress);
        let is_found = !(shown.is_empty && query.is_some());
        if file.is_none() {
            self.explain(app, &shown);
        } else if !is_found || shown.is_empty && self.period().is_bound() {
            return Ok(false);
        }
        match format {
            _ if self.tips => printer.tips(&shown, format)?,
            Format::Text => printer.text(&shown)?,
            Format::Table => printer.table(&shown)?,
            Format::Json => printer.nested(&shown)?,
            Format::Jsonl => printer.lines(&shown)?,
            Format::Dot => printer.graph(&shown, GraphFormat::Dot)?,
            Format::Mermaid => printer.graph(&shown, GraphFormat::Mermaid)?,
        }
        Ok(is_found)
    }

    /// Prints hints on what is left out although it was asked for.
    fn explain(&self, app: &App, shown: &ShownTree) {
        if shown.is_empty {
            self.tell_of_nothing(app);
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

    /// Prints a hint that nothing is found.
    fn tell_of_nothing(&self, app: &App) {
        match (self.search.text(), self.period().is_bound()) {
            (Some(text), is_bound) => {
                let time = if is_bound { "is of that time and " } else { "" };
                let has = self.search.has();
                app.report.hint(&format!("no entry that is shown {time}{has}: {text}"));
            }
            (None, true) => app.report.hint("no entry that is shown is of that time"),
            (None, false) => {}
        }
    }
}
