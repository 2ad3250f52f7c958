//! The tree as text: a row an entry, narrow on long sessions.

use std::borrow::Cow;
use std::collections::VecDeque;

use super::escape;
use super::fit;
use super::paint::{Ink, Paint};
use crate::core::entry::{Kind, Role, Traits};
use crate::core::preview::LIMIT;
use crate::core::rows::{Branch, Row, Rows};
use crate::core::session::{NodeId, Session};

/// Columns of one level of branching.
const LEVEL: usize = 5;
/// The most levels that are drawn; deeper rows show that there are more.
const LEVELS: usize = 16;

/// How the rows of one tree are drawn.
#[derive(Debug)]
pub struct TreeText<'s> {
    session: &'s Session,
    rows: &'s Rows,
    paint: Paint,
    width: Option<usize>,
    home: Option<&'s str>,
    ids: Vec<usize>,
    id_columns: usize,
    levels: usize,
    glyphs: Glyphs,
}

#[derive(Clone, Copy, Debug)]
struct Glyphs {
    fork: &'static str,
    last: &'static str,
    line: &'static str,
    gap: &'static str,
    more: &'static str,
    dot: &'static str,
    leaf: &'static str,
    between: &'static str,
}

const UNICODE: Glyphs = Glyphs {
    fork: "├─ ",
    last: "└─ ",
    line: "│    ",
    gap: "     ",
    more: "⋯ ",
    dot: "• ",
    leaf: "← leaf",
    between: "  ·  ",
};

const ASCII: Glyphs = Glyphs {
    fork: "|- ",
    last: "`- ",
    line: "|    ",
    gap: "     ",
    more: ".. ",
    dot: "* ",
    leaf: "<- leaf",
    between: "  -  ",
};

impl<'s> TreeText<'s> {
    /// Prepares to draw.
    pub fn new(
        session: &'s Session,
        rows: &'s Rows,
        paint: Paint,
        width: Option<usize>,
        home: Option<&'s str>,
    ) -> Self {
        let ids = short_ids(session);
        // An id as long as a line would push everything else out of sight.
        const LONGEST: usize = 36;
        let shown = rows.rows.iter().map(|row| fit::width(&short(session, row.node, &ids)));
        let id_columns = shown.filter(|&columns| columns <= LONGEST).max().unwrap_or(0);
        let room = width.map_or(LEVELS, |width| width.saturating_sub(id_columns + 2) / 2 / LEVEL);
        let glyphs = if paint.ascii { ASCII } else { UNICODE };
        Self { session, rows, paint, width, home, ids, id_columns, levels: room.clamp(1, LEVELS), glyphs }
    }

    /// Draws the line above the rows.
    pub fn heading(&self, name: &str, entries: usize, branches: usize) -> String {
        let between = self.glyphs.between;
        let plural = |count: usize, one: &str, many: &str| format!("{count} {}", if count == 1 { one } else { many });
        let header = &self.session.header;
        let id: String = header.id.chars().take(8).collect();
        let mut facts = Vec::new();
        facts.extend((!id.is_empty()).then_some(id));
        facts.push(format!("v{}", self.session.version));
        let entries = plural(entries, "entry", "entries");
        facts.push(format!("{entries}, {}", plural(branches, "branch", "branches")));
        // Without room the folder goes first, then the name, down to a few words, then the version and
        // the id: how much there is says most.
        const FEW: usize = 16;
        let (gap, width) = (fit::width(between), self.width.unwrap_or(usize::MAX));
        let all = |facts: &[String]| escape::line(&facts.join(between)).into_owned();
        let mut few = FEW;
        while facts.len() > 1 && fit::width(&all(&facts)) + gap + FEW > width {
            facts.remove(facts.len() - 2);
            few = FEW - gap;
        }
        let facts = all(&facts);
        let folder = header.cwd.as_deref().unwrap_or_default();
        let folder = escape::line(&self.tilde(folder)).into_owned();
        let name = escape::line(&self.tilde(name)).into_owned();
        let name = if name.is_empty() { "(no name)".to_owned() } else { name };
        let room = width.saturating_sub(gap.saturating_add(fit::width(&facts))).max(few.min(width));
        let name = fit::cut(&name, room, self.paint.ascii);
        let mut out = String::new();
        self.paint.push(&mut out, Ink::Strong, &name);
        let mut left = width - fit::width(&name);
        for (text, fewest) in [(facts, 1), (folder, FEW)] {
            let fewest = fewest.min(fit::width(&text));
            if text.is_empty() || left < gap + fewest {
                break;
            }
            out.push_str(between);
            let text = fit::cut(&text, left - gap, self.paint.ascii);
            self.paint.push(&mut out, Ink::Dim, &text);
            left -= gap + fit::width(&text);
        }
        out + "\n"
    }

    /// Draws one row; `words` are the entry's.
    pub fn row(&self, at: usize, words: &str) -> String {
        let row = self.rows.rows[at];
        let paint = self.paint;
        let id = short(self.session, row.node, &self.ids);
        let id = escape::line(&id).into_owned();
        let pad = " ".repeat(self.id_columns.saturating_sub(fit::width(&id)) + 2);
        let gutters = self.gutters(row);
        let marks = self.marks(at, row);
        let text = self.text(row.node, words);
        let label = self.session.label(row.node).map(|label| format!("[{}] ", escape::line(&label.name)));
        let label = label.unwrap_or_default();
        let mut out = String::new();
        let Some(width) = self.width else {
            paint.push(&mut out, Ink::Dim, &id);
            out.push_str(&pad);
            paint.push(&mut out, Ink::Dim, &gutters);
            self.push_dot(&mut out, row);
            paint.push(&mut out, Ink::Label, &label);
            self.push_text(&mut out, row.node, &text);
            self.push_marks(&mut out, &marks);
            return out + "\n";
        };
        let ascii = paint.ascii;
        let mut left = width;
        let mut take = |text: &str, reserve: usize| {
            let cut = fit::cut(text, left.saturating_sub(reserve), ascii).into_owned();
            left -= fit::width(&cut).min(left);
            cut
        };
        // What marks the row is worth more than the end of its words, but not than all of them.
        const FEW: usize = 8;
        let dot = if row.is_active { self.glyphs.dot } else { "" };
        let front = fit::width(&id) + pad.len() + fit::width(&gutters) + fit::width(dot);
        let fits = front + FEW + fit::width(&marks) <= width;
        let reserve = if fits { fit::width(&marks) } else { 0 };
        let front = take(&format!("{id}{pad}{gutters}"), 0);
        // The id is cut only on a terminal narrower than it.
        let (id, rest) = front.split_at(if front.starts_with(&id) { id.len() } else { front.len() });
        paint.push(&mut out, Ink::Dim, id);
        let rest_at = rest.len().min(pad.len());
        let (pad, gutters) = rest.split_at(if rest.is_char_boundary(rest_at) { rest_at } else { 0 });
        out.push_str(pad);
        paint.push(&mut out, Ink::Dim, gutters);
        if row.is_active {
            let dot = take(self.glyphs.dot, 0);
            paint.push(&mut out, Ink::Active, &dot);
        }
        let shown = take(&label, reserve);
        paint.push(&mut out, Ink::Label, &shown);
        if shown == label {
            let text = take(&text, reserve);
            self.push_text(&mut out, row.node, &text);
        }
        if fits {
            let marks = take(&marks, 0);
            self.push_marks(&mut out, &marks);
        }
        out.truncate(out.trim_end_matches(' ').len());
        out + "\n"
    }

    /// Gives the words of a row with who speaks, as it is printed but not cut.
    fn text(&self, node: NodeId, words: &str) -> String {
        let words = whole_or_cut(words, self.paint);
        let text = format!("{}{}", speaker(self.session.traits(node)), self.tilde(&words));
        escape::line(&text).into_owned()
    }

    fn gutters(&self, row: Row) -> String {
        let Some(own) = row.branch else { return String::new() };
        let branch = |at: usize| -> Branch { self.rows.branches[at] };
        let mut pieces = VecDeque::new();
        pieces.push_front(match (row.is_head, branch(own).is_last) {
            (true, true) => self.glyphs.last,
            (true, false) => self.glyphs.fork,
            (false, true) => self.glyphs.gap,
            (false, false) => self.glyphs.line,
        });
        let mut above = branch(own).from;
        while let Some(at) = above {
            if pieces.len() == self.levels {
                pieces.push_front(self.glyphs.more);
                break;
            }
            pieces.push_front(if branch(at).is_last { self.glyphs.gap } else { self.glyphs.line });
            above = branch(at).from;
        }
        Vec::from(pieces).concat()
    }

    /// Gives what stands behind the text: a missing parent, the leaf.
    fn marks(&self, at: usize, row: Row) -> String {
        let mut marks = String::new();
        if let Some(missing) = self.session.missing_parent(row.node) {
            let missing: String = missing.chars().take(36).collect();
            marks.push_str(&format!("  (parent {} missing)", escape::line(&missing)));
        }
        match self.rows.leaf {
            Some((leaf, 0)) if leaf == at => marks.push_str(&format!("  {}", self.glyphs.leaf)),
            Some((leaf, hidden)) if leaf == at => {
                marks.push_str(&format!("  {} (+{hidden} hidden)", self.glyphs.leaf));
            }
            _ => {}
        }
        marks
    }

    fn push_dot(&self, out: &mut String, row: Row) {
        if row.is_active {
            self.paint.push(out, Ink::Active, self.glyphs.dot);
        }
    }

    fn push_text(&self, out: &mut String, node: NodeId, text: &str) {
        self.paint.push(out, ink(self.session.traits(node)), text);
    }

    fn push_marks(&self, out: &mut String, marks: &str) {
        match marks.find(self.glyphs.leaf) {
            Some(leaf) => {
                self.paint.push(out, Ink::Warning, &marks[..leaf]);
                self.paint.push(out, Ink::Active, &marks[leaf..]);
            }
            None => self.paint.push(out, Ink::Warning, marks),
        }
    }

    fn tilde(&self, text: &str) -> String {
        tilde(text, self.home)
    }
}

/// Gives who speaks, as it stands before the words of a row.
pub fn speaker(traits: Traits) -> &'static str {
    match (traits.kind, traits.role) {
        (Kind::Message, Role::User) => "user: ",
        (Kind::Message, Role::Assistant) => "assistant: ",
        (Kind::Message, Role::Developer) => "developer: ",
        (Kind::Message, Role::System) => "system: ",
        _ => "",
    }
}

fn ink(traits: Traits) -> Ink {
    match (traits.kind, traits.role) {
        (Kind::Message, Role::User) => Ink::User,
        (Kind::Message, Role::Assistant | Role::BashExecution | Role::PythonExecution) => Ink::Plain,
        (Kind::BranchSummary | Kind::Compaction, _) => Ink::Summary,
        (Kind::CustomMessage, _) => Ink::Plain,
        _ => Ink::Dim,
    }
}

/// Shows that words go on behind the most that is taken of them.
pub fn whole_or_cut(words: &str, paint: Paint) -> Cow<'_, str> {
    if words.len() < LIMIT || words.chars().count() < LIMIT {
        return Cow::Borrowed(words);
    }
    Cow::Owned(format!("{words}{}", if paint.ascii { "..." } else { "…" }))
}

/// Shows the home folder as `~` wherever a path starts with it.
pub fn tilde(text: &str, home: Option<&str>) -> String {
    let Some(home) = home.filter(|home| home.len() > 1) else { return text.to_owned() };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(home) {
        let (before, behind) = (&rest[..at], &rest[at + home.len()..]);
        let joins = |char: char| char.is_alphanumeric() || matches!(char, '.' | '_' | '-');
        let is_path = !before.ends_with(|char: char| joins(char) || char == '/') && !behind.starts_with(joins);
        out.push_str(before);
        out.push_str(if is_path { "~" } else { home });
        rest = behind;
    }
    out + rest
}

/// Gives for every entry how many characters of its id are shown: enough to name it, at least 8.
pub fn short_ids(session: &Session) -> Vec<usize> {
    const FEWEST: usize = 8;
    let mut lengths = vec![FEWEST; session.len()];
    if session.nodes().all(|node| session.id(node).len() <= FEWEST) {
        return lengths;
    }
    let mut sorted: Vec<_> = session.nodes().collect();
    sorted.sort_unstable_by_key(|&node| session.id(node));
    for pair in sorted.windows(2) {
        let (a, b) = (session.id(pair[0]), session.id(pair[1]));
        let common = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
        for node in pair {
            lengths[node.index()] = lengths[node.index()].max(common + 1);
        }
    }
    lengths
}

fn short(session: &Session, node: NodeId, lengths: &[usize]) -> String {
    session.id(node).chars().take(lengths[node.index()]).collect()
}
