//! What a move of the leaf did, in words for people.

use std::path::Path;

use shell_words::quote;

use super::entry;
use super::escape;
use super::paint::Ink;
use super::screen::Screen;
use crate::core::context::Settings;
use crate::core::edit::navigate::{self, Move};
use crate::core::error::Result;
use crate::core::session::body::Bodies;
use crate::core::session::{NodeId, Session};
use crate::core::words::counted;

/// A move and what came of it.
#[derive(Debug)]
pub struct Told<'a> {
    /// The move.
    pub plan: &'a Move,
    /// Whether the leaf was there already.
    pub is_noop: bool,
    /// Whether nothing was done.
    pub is_dry: bool,
    /// Whether the move is one that is written down.
    pub lasts: bool,
    /// The ids of the new entries.
    pub written: &'a [String],
    /// The file, where it was named by other than its path.
    pub file: Option<&'a Path>,
    /// How many messages the context has now.
    pub messages: usize,
    /// The settings in force now.
    pub state: &'a Settings,
}

/// What stands before the file.
const FILE: &str = "in";

/// The ends of a move in words.
#[derive(Debug)]
pub struct Ends {
    old: String,
    new: String,
}

impl Ends {
    /// Reads the words of the entries.
    ///
    /// # Errors
    /// As [`Bodies::words`].
    pub fn read(bodies: &mut Bodies<'_>, plan: &Move, screen: &Screen) -> Result<Self> {
        let new = match plan.editor_text {
            // A message that is taken back is a better landmark than the entry above it.
            Some(_) => format!("before {}", named(bodies, plan.target, screen)?),
            None => named(bodies, plan.position, screen)?,
        };
        Ok(Self { old: named(bodies, plan.old, screen)?, new })
    }
}

/// Returns what moved where, what was left behind, and what the context is now.
pub fn text(ends: &Ends, told: &Told<'_>, screen: &Screen) -> String {
    let plan = told.plan;
    let mut rows = Vec::new();
    if told.is_noop {
        rows.push(("leaf", format!("{} (already there)", ends.old)));
    } else {
        rows.push(("from", ends.old.clone()));
        rows.push((if told.is_dry { "would go" } else { "to" }, ends.new.clone()));
        let left = match plan.abandoned.len() {
            0 => "nothing".to_owned(),
            count => counted(count, "entry", "entries"),
        };
        rows.push(("left", format!("{left} behind")));
    }
    if !told.written.is_empty() {
        rows.push(("written", escape::line(&told.written.join(", ")).into_owned()));
        rows.extend(told.file.map(|file| (FILE, escape::line(&file.display().to_string()).into_owned())));
    }
    let model = told.state.models.get("default").map(|model| format!(", {model}")).unwrap_or_default();
    let messages = counted(told.messages, "message", "messages");
    let context = format!("{messages}, thinking {}{model}", told.state.thinking_level);
    rows.push(("context", escape::line(&context).into_owned()));
    let mut out = String::new();
    for (name, value) in rows {
        // A path is of no use if it is not whole.
        let width = screen.width.filter(|_| name != FILE);
        let name = format!("{name:<9} ");
        let screen = Screen { width, ..screen.clone() };
        out.push_str(&screen.row([(Ink::Dim, &*name), (Ink::Plain, &*value)]));
    }
    out
}

/// Gives the text that goes into the editor.
pub fn editor(text: &str) -> String {
    format!("\n{}\n", escape::lines(text.trim_end_matches('\n')))
}

/// Says how to go on.
pub fn hint(path: &Path, session: &Session, told: &Told<'_>) -> String {
    let path = path.display().to_string();
    let path = quote(&path);
    let id = |node: Option<NodeId>| node.map(|node| quote(session.id(node)));
    // Going back to a message would take it back.
    let back = |old: &str| match told.plan.old.is_some_and(|old| navigate::goes_to_editor(session, old)) {
        true => String::new(),
        false => format!("; `session-tree navigate {path} {old} --save` goes back"),
    };
    let is_at_leaf = told.plan.position == session.leaf();
    match id(told.plan.old) {
        _ if told.is_noop && is_at_leaf => format!("`pi --session {path}` goes on here"),
        _ if told.is_dry && told.lasts => "nothing was done; leave `--dry-run` out to do it".to_owned(),
        _ if told.is_dry => "nothing was done; `--save` instead of `--dry-run` makes the move last".to_owned(),
        Some(old) if !told.written.is_empty() => format!("`pi --session {path}` goes on here{}", back(&old)),
        None if !told.written.is_empty() => format!("`pi --session {path}` goes on here"),
        _ => {
            let from = id(told.plan.position).map_or("--root".to_owned(), |position| format!("--leaf {position}"));
            format!("nothing was written: `--save` makes it last, `{from}` lets other commands work from here")
        }
    }
}

fn named(bodies: &mut Bodies<'_>, node: Option<NodeId>, screen: &Screen) -> Result<String> {
    let Some(node) = node else { return Ok("before the first entry".to_owned()) };
    let words = bodies.words(node)?;
    let session = bodies.session();
    let text = format!("{}  {}", session.id(node), entry::row(screen, session.traits(node), &words));
    Ok(escape::line(&text).into_owned())
}
