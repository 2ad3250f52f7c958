//! `branch`: the user messages that one can branch from.

use anyhow::Result;
use clap::{Args, ValueEnum};

use super::{App, SessionArg};
use crate::core::body::Bodies;
use crate::core::entry::{Kind, Role, Traits};
use crate::core::load::Keep;
use crate::core::session::{NodeId, Session};
use crate::core::time;
use crate::ui::json::{BranchRow, Time};
use crate::ui::list::{Listing, PIECE};
use crate::ui::output::Output;
use crate::ui::tree::{short_ids, tilde};

/// List the user messages that one can branch from
///
/// In the order of the file, those of all branches and those without text too.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  session-tree branch session.jsonl
  session-tree branch session.jsonl --format jsonl | jq -r 'select(.text | test(\"login\")) .entryId'")]
pub struct BranchArgs {
    #[command(flatten)]
    session: SessionArg,
    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Text, hide_default_value = true)]
    format: Format,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Id and text
    Text,
    /// Columns: id, when, text
    Table,
    /// One array of objects
    Json,
    /// One object a line
    Jsonl,
}

impl BranchArgs {
    fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }

    /// Tells whether messages are objects too.
    pub fn is_json(&self) -> bool {
        matches!(self.format(), Format::Json | Format::Jsonl)
    }

    /// Runs the command.
    ///
    /// # Errors
    /// A [`Failure`](crate::ui::report::Failure), or what the system says of writing to stdout.
    pub fn run(self, app: &App) -> Result<()> {
        let is_user = |traits: Traits| traits.kind == Kind::Message && traits.role == Role::User;
        let session = app.load(&self.session.session, Keep { words: &is_user, calls: false })?;
        let nodes: Vec<_> = session.nodes().filter(|&node| session.is_user(node)).collect();
        let mut output = Output::new();
        match self.format() {
            Format::Text | Format::Table => self.rows(app, &session, &nodes, &mut output)?,
            Format::Json | Format::Jsonl => self.json(&session, &nodes, &mut output)?,
        }
        Ok(output.finish()?)
    }

    fn json(&self, session: &Session, nodes: &[NodeId], output: &mut Output) -> Result<()> {
        output.hold();
        let mut bodies = Bodies::new(session);
        let is_array = self.format() == Format::Json;
        let mut mark = if is_array { "[" } else { "" };
        for &node in nodes {
            let row = BranchRow {
                entry_id: session.id(node),
                parent_id: session.parent(node).map(|parent| session.id(parent)),
                timestamp: Time::of(&mut bodies, node).map_err(self.session.failed())?,
                text: &bodies.words(node).map_err(self.session.failed())?,
            };
            output.text(mark)?;
            output.json(&serde_json::to_vec(&row)?)?;
            mark = if is_array { "," } else { "\n" };
        }
        let end = match (is_array, nodes.is_empty()) {
            (true, true) => "[]\n",
            (true, false) => "]\n",
            (false, true) => "",
            (false, false) => "\n",
        };
        Ok(output.text(end)?)
    }

    fn rows(&self, app: &App, session: &Session, nodes: &[NodeId], output: &mut Output) -> Result<()> {
        let is_table = self.format() == Format::Table;
        let ids = short_ids(session);
        let widest = nodes.iter().map(|node| ids[node.index()]).max().unwrap_or(0).min(36);
        let borders = is_table && output.is_terminal();
        let listing = if is_table {
            Listing::new(&["id", "when", "text"], &[widest, 16, 204], app.width, borders, app.paint)
        } else {
            Listing::new(&["", ""], &[widest, 204], app.width, false, app.paint)
        };
        if is_table {
            output.text(&listing.head())?;
        }
        let mut bodies = Bodies::new(session);
        for piece in nodes.chunks(PIECE) {
            let mut cells = Vec::with_capacity(piece.len());
            for &node in piece {
                let words = bodies.words(node).map_err(self.session.failed())?;
                let mut row = vec![session.id(node).chars().take(ids[node.index()]).collect()];
                row.extend(is_table.then(|| time::minute(session.stamp(node))));
                row.push(tilde(&words, app.home.as_deref()));
                cells.push(row);
            }
            output.text(&listing.rows(cells))?;
        }
        Ok(output.text(&listing.foot())?)
    }
}
