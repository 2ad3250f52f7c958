//! The tree as rows: for people, as columns, and for scripts.

use anyhow::Result;

use super::printer::Printer;
use crate::core::search::{Excerpt, Term};
use crate::core::session::NodeId;
use crate::core::time;
use crate::core::tree::follow::NewRow;
use crate::core::tree::rows::{self, Row, Rows};
use crate::core::tree::view::ShownTree;
use crate::core::tree::walk;
use crate::ui::entry::{self, ShortIds, speaker};
use crate::ui::escape;
use crate::ui::excerpt::beside;
use crate::ui::fit;
use crate::ui::json::SessionName;
use crate::ui::jsonl::{self as in_order, JsonlRows, TreePlace};
use crate::ui::list::{CHUNK, Column, Listing};
use crate::ui::output::safe_json;
use crate::ui::tree::TreeText;

impl Printer<'_> {
    pub(super) fn text(&mut self, shown: &ShownTree) -> Result<()> {
        let session = self.session;
        let rows = rows::of_shape(session, self.leaf, &shown.rows(session));
        let text = TreeText::new(session, &rows, &self.app.screen);
        let text = text.searching(self.query);
        self.heading(&text)?;
        match self.query {
            Some(_) => self.found_rows(&text, &rows.rows)?,
            None => self.plain_rows(&text, &rows.rows)?,
        }
        self.output.release()?;
        if rows.leaf.is_none() {
            self.tell_of_leaf("nothing of the path to it is shown");
        }
        Ok(())
    }

    /// Returns on how many threads rows are made: one where many bodies are read, which is fastest in order.
    fn jobs_for(jobs: usize, rows: usize, reads: usize) -> usize {
        const FEW: usize = 64;
        if reads > rows / FEW { 1 } else { jobs }
    }

    fn plain_rows(&mut self, text: &TreeText<'_>, rows: &[Row]) -> Result<()> {
        let session = self.session;
        let lines = JsonlRows::new(&mut self.bodies);
        let reads = rows.iter().filter(|row| !session.has_row_words(row.node)).count();
        let jobs = Self::jobs_for(self.jobs, rows.len(), reads);
        in_order::write(self.output, rows.len(), jobs, |range, out| {
            for at in range {
                let words = lines.words(rows[at].node)?;
                out.extend_from_slice(text.row(at, &words).as_bytes());
            }
            Ok(())
        })
    }

    /// Prints rows with the places of what was searched for.
    fn found_rows(&mut self, text: &TreeText<'_>, rows: &[Row]) -> Result<()> {
        for (at, row) in rows.iter().enumerate() {
            let words = self.bodies.words(row.node)?;
            let excerpt = match text.lacks(at, &words) {
                Some(term) => self.excerpt(row.node, &words, term)?,
                None => None,
            };
            self.output
                .text(&excerpt.map_or_else(|| text.row(at, &words), |excerpt| text.row_with(at, &words, &excerpt)))?;
        }
        Ok(())
    }

    /// Prints a hint where the leaf is if no row shows it.
    pub(super) fn tell_of_leaf(&self, why: &str) {
        match self.leaf {
            _ if self.args.root || self.session.is_empty() || self.query.is_some() => {}
            _ if self.args.period().is_bound() => {}
            Some(leaf) => self.app.report.hint(&format!("the leaf is {}: {why}", self.session.id(leaf))),
            None => self.app.report.hint("the leaf is before the first entry: the next prompt starts a new root"),
        }
    }

    /// Finds the place of a term that was searched for.
    fn excerpt(&mut self, node: NodeId, words: &str, term: &Term) -> Result<Option<Excerpt>> {
        let label = self.session.label(node).map(|label| label.name.as_str());
        let row = format!("{}{words}", speaker(self.session.traits(node)));
        Ok(Excerpt::of(self.bodies.entry(node)?, label, &row, term))
    }

    pub(super) fn table(&mut self, shown: &ShownTree) -> Result<()> {
        let (session, screen) = (self.session, &self.app.screen);
        let shape = shown.rows(session);
        let nodes = &shape.nodes;
        let (ids, is_search) = (ShortIds::new(session), self.query.is_some());
        if self.file.is_some() {
            self.heading(&TreeText::new(session, &Rows::default(), screen))?;
        }
        let columns = [
            Column::Whole("id", ids.widest(nodes.iter().copied(), usize::MAX)),
            Column::Whole("when (UTC)", 16),
            Column::Text("type", 0),
            Column::Text("label", 0),
            // Beside the words there is to be room for what was searched for.
            Column::Text("text", if is_search { 400 } else { 0 }),
        ];
        let mut listing = Listing::new(&columns, screen);
        for piece in nodes.chunks(CHUNK) {
            let mut rows = Vec::with_capacity(piece.len());
            for &node in piece {
                let words = self.bodies.words(node)?;
                let label = session.label(node).map_or("", |label| label.name.as_str());
                rows.push(vec![
                    ids.of(node).into_owned(),
                    time::minute(session.stamp(node)),
                    self.kind(node).to_owned(),
                    label.to_owned(),
                    entry::text(screen, &words),
                ]);
            }
            listing.arrange(&rows);
            for (&node, row) in piece.iter().zip(&mut rows).filter(|_| is_search) {
                let words = self.bodies.words(node)?;
                row[4] = self.found(node, &words, std::mem::take(&mut row[4]), listing.room(4))?;
            }
            self.output.text(&listing.rows(rows))?;
        }
        Ok(self.output.text(&listing.foot())?)
    }

    /// Adds the place of a word that was searched for to the text of a cell, if it is not seen there.
    fn found(&mut self, node: NodeId, words: &str, text: String, room: Option<usize>) -> Result<String> {
        let Some(query) = self.query else { return Ok(text) };
        let ascii = self.app.screen.paint.ascii;
        let label = self.session.label(node).map_or("", |label| label.name.as_str());
        let safe = escape::line(&text).into_owned();
        let seen = room.map_or(safe.as_str().into(), |room| fit::cut(&safe, room, ascii));
        let seen = format!("{} {label} {seen}", self.kind(node));
        let Some(term) = query.missing_in(&seen) else { return Ok(text) };
        let excerpt = self.excerpt(node, words, term)?;
        Ok(excerpt.map_or(text, |excerpt| beside("", &safe, &excerpt, room, ascii)))
    }

    /// Prints the rows of entries that came after those that were printed.
    pub(super) fn new_text(&mut self, new: &[NewRow]) -> Result<()> {
        let rows = rows::appended(self.session, self.leaf, new);
        let text = TreeText::new(self.session, &rows, &self.app.screen);
        let text = text.searching(self.query);
        match self.query {
            Some(_) => self.found_rows(&text, &rows.rows),
            None => self.plain_rows(&text, &rows.rows),
        }
    }

    /// Prints them as objects.
    pub(super) fn new_lines(&mut self, new: &[NewRow]) -> Result<()> {
        let nodes: Vec<_> = new.iter().map(|row| row.node).collect();
        self.objects(&nodes, &walk::display_order(self.session, self.leaf))
    }

    pub(super) fn lines(&mut self, shown: &ShownTree) -> Result<()> {
        self.objects(&shown.rows(self.session).nodes, &shown.order)
    }

    /// Prints entries as objects; `order` is that of display of all.
    fn objects(&mut self, nodes: &[NodeId], order: &[NodeId]) -> Result<()> {
        let session = self.session;
        let depths = walk::depths(session, order);
        let active = walk::active(session, self.leaf);
        let (leaf, output) = (self.leaf, &mut *self.output);
        let name = self.file.map(|file| SessionName::new(file, session).members()).transpose()?;
        let rows = JsonlRows::new(&mut self.bodies).naming(name.unwrap_or_default());
        let add = |out: &mut Vec<u8>, node: NodeId| {
            let place =
                TreePlace { depth: depths[node.index()], is_active: active[node.index()], is_leaf: Some(node) == leaf };
            rows.push_json(out, node, place)
        };
        let reads = nodes.iter().filter(|&&node| rows.reads(node)).count();
        if self.args.full || self.query.is_some() || reads > 0 {
            output.hold();
        }
        if self.args.full || self.query.is_some() {
            let mut line = Vec::new();
            for &node in nodes {
                line.clear();
                add(&mut line, node)?;
                if let Some(query) = self.query {
                    let row = format!("{}{}", speaker(session.traits(node)), rows.words(node)?);
                    rows.add_match(&mut line, node, &row, query)?;
                }
                if self.args.full {
                    rows.add_entry(&mut line, node)?;
                }
                line.push(b'\n');
                output.json(&line)?;
            }
            return Ok(());
        }
        let (jobs, is_terminal) = (Self::jobs_for(self.jobs, nodes.len(), reads), output.is_terminal());
        in_order::write(output, nodes.len(), jobs, |range, out| {
            for &node in &nodes[range] {
                add(out, node)?;
                out.push(b'\n');
            }
            // Rows are made of text, which is UTF-8 already.
            if is_terminal {
                *out = safe_json(out, is_terminal).into_owned();
            }
            Ok(())
        })
    }
}
