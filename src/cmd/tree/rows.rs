//! The tree as rows: for people, as columns, and for scripts.

use std::borrow::Cow;

use anyhow::Result;

use super::{LineError, View};
use crate::core::entry::{Kind, Role};
use crate::core::error::Error;
use crate::core::rows;
use crate::core::search::Excerpt;
use crate::core::session::{NodeId, Session};
use crate::core::time::{self, Stamp};
use crate::core::walk;
use crate::ui::escape;
use crate::ui::excerpt::beside;
use crate::ui::fit;
use crate::ui::json::{self, Time, TreeRow};
use crate::ui::list::{Listing, PIECE};
use crate::ui::output::Output;
use crate::ui::tree::{TreeText, short_ids, speaker, tilde, whole_or_cut};

impl View<'_> {
    pub(super) fn text(&mut self) -> Result<()> {
        let (session, failed) = (self.session, self.failed());
        let (_, shape) = self.row_shape()?;
        let rows = rows::of_shape(session, self.leaf, &shape);
        let text = TreeText::new(session, &rows, self.app.paint, self.app.width, self.app.home.as_deref());
        let text = text.searching(self.query);
        let mut output = Output::new();
        output.text(&text.heading(&self.name()?, session.len(), walk::tips(session).len()))?;
        for (at, row) in rows.rows.iter().enumerate() {
            let words = self.bodies.words(row.node).map_err(&failed)?;
            let excerpt = match text.lacks(at, &words) {
                Some(word) => self.excerpt(row.node, &words, word).map_err(&failed)?,
                None => None,
            };
            output
                .text(&excerpt.map_or_else(|| text.row(at, &words), |excerpt| text.row_with(at, &words, &excerpt)))?;
        }
        if rows.leaf.is_none() {
            self.tell_of_leaf("nothing of the path to it is shown");
        }
        Ok(output.finish()?)
    }

    /// Says where the leaf is if no row does.
    pub(super) fn tell_of_leaf(&self, why: &str) {
        match self.leaf {
            _ if self.args.root || self.session.len() == 0 || self.args.search.is_some() => {}
            _ if self.args.period().is_bound() => {}
            Some(leaf) => self.app.report.hint(&format!("the leaf is {}: {why}", self.session.id(leaf))),
            None => self.app.report.hint("the leaf is before the first entry: the next prompt starts a new root"),
        }
    }

    /// Finds the place of a word that was searched for.
    fn excerpt(&mut self, node: NodeId, words: &str, word: &str) -> Result<Option<Excerpt>, Error> {
        let label = self.session.label(node).map(|label| label.name.as_str());
        let row = format!("{}{words}", speaker(self.session.traits(node)));
        Ok(Excerpt::of(self.bodies.entry(node)?, label, &row, word))
    }

    pub(super) fn table(&mut self) -> Result<()> {
        let (session, failed) = (self.session, self.failed());
        let nodes = self.row_shape()?.1.nodes;
        let mut output = Output::new();
        let widest = |of: &dyn Fn(NodeId) -> usize| nodes.iter().map(|&node| of(node)).max().unwrap_or(0);
        let ids = short_ids(session);
        let label = |node: NodeId| session.label(node).map_or("", |label| label.name.as_str());
        let widths = [
            widest(&|node| ids[node.index()]),
            16,
            widest(&|node| self.kind(node).len()),
            widest(&|node| fit::width(&escape::line(label(node)))).min(24),
            if self.query.is_some() { 400 } else { 204 },
        ];
        let headings = ["id", "when (UTC)", "type", "label", "text"];
        let listing = Listing::new(&headings, &widths, self.app.width, output.is_terminal(), self.app.paint);
        output.text(&listing.head())?;
        for piece in nodes.chunks(PIECE) {
            let mut cells = Vec::with_capacity(piece.len());
            for &node in piece {
                let words = self.bodies.words(node).map_err(&failed)?;
                let text = tilde(&whole_or_cut(&words, self.app.paint), self.app.home.as_deref());
                let text = self.found(node, &words, text, listing.room(4)).map_err(&failed)?;
                cells.push(vec![
                    session.id(node).chars().take(ids[node.index()]).collect(),
                    time::minute(session.stamp(node)),
                    self.kind(node).to_owned(),
                    label(node).to_owned(),
                    text,
                ]);
            }
            output.text(&listing.rows(cells))?;
        }
        output.text(&listing.foot())?;
        Ok(output.finish()?)
    }

    /// Adds the place of a word that was searched for to the text of a cell, if it is not seen there.
    fn found(&mut self, node: NodeId, words: &str, text: String, room: Option<usize>) -> Result<String, Error> {
        let Some(query) = self.query else { return Ok(text) };
        let ascii = self.app.paint.ascii;
        let label = self.session.label(node).map_or("", |label| label.name.as_str());
        let safe = escape::line(&text).into_owned();
        let seen = room.map_or(safe.as_str().into(), |room| fit::cut(&safe, room, ascii));
        let seen = format!("{} {label} {seen}", self.kind(node));
        let Some(word) = query.missing_in(&seen) else { return Ok(text) };
        let excerpt = self.excerpt(node, words, word)?;
        Ok(excerpt.map_or(text, |excerpt| beside("", &safe, &excerpt, room, ascii)))
    }

    pub(super) fn lines(&mut self) -> Result<()> {
        let (session, failed) = (self.session, self.failed());
        let (order, shape) = self.row_shape()?;
        let depths = walk::depths(session, &order);
        let active = walk::active(session, self.leaf);
        let mut output = Output::new();
        if self.args.full || shape.nodes.iter().any(|&node| needs_body(session, node)) {
            output.hold();
        }
        for &node in &shape.nodes {
            self.line(&mut output, node, active[node.index()], depths[node.index()])
                .map_err(|error| error.with(&failed))?;
        }
        Ok(output.finish()?)
    }

    fn line(&mut self, output: &mut Output, node: NodeId, active: bool, depth: u32) -> Result<(), LineError> {
        let session = self.session;
        let timestamp = Time::of(&mut self.bodies, node)?;
        let named = (session.traits(node).kind.name(), session.role_name(node));
        let (kind, role) = match named {
            (Some(kind), role) if session.traits(node).role != Role::Unknown => {
                (Some(Cow::Borrowed(kind)), role.map(Cow::Borrowed))
            }
            _ => {
                let (kind, role) = json::names(&mut self.bodies, node)?;
                (kind.map(Cow::Owned), role.map(Cow::Owned))
            }
        };
        let words = match session.row_words(node) {
            Some(words) => Cow::Borrowed(words),
            None => Cow::Owned(self.bodies.words(node)?),
        };
        let line = TreeRow {
            id: session.id(node),
            parent_id: session.parent(node).map(|parent| session.id(parent)),
            missing_parent: session.missing_parent(node),
            depth,
            line: session.line(node),
            r#type: kind.as_deref(),
            role: role.as_deref(),
            timestamp,
            label: session.label(node).map(|label| label.name.as_str()),
            active,
            leaf: Some(node) == self.leaf,
            children: session.children(node).len(),
            text: &words,
        };
        if !self.args.full {
            return Ok(output.json_line(&line)?);
        }
        let mut bytes = serde_json::to_vec(&line).map_err(std::io::Error::from)?;
        bytes.pop();
        bytes.extend_from_slice(b",\"entry\":");
        bytes.extend_from_slice(self.bodies.entry(node)?.object().bytes());
        bytes.extend_from_slice(b"}\n");
        Ok(output.json(&bytes)?)
    }
}

/// Tells whether a row cannot be printed from the index alone.
fn needs_body(session: &Session, node: NodeId) -> bool {
    let traits = session.traits(node);
    session.row_words(node).is_none()
        || matches!(session.stamp(node), Stamp::Other(_) | Stamp::Unknown)
        || matches!(traits.kind, Kind::Unknown)
        || traits.role == Role::Unknown
}
