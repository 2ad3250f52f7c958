//! The tree as text, one row per entry (`tree`). Only branches are indented, so that long sessions stay
//! narrow. Which rows there are comes from [`crate::core::tree`].

use std::collections::VecDeque;

use super::entry::{self, LONGEST_ID, ShortIds, speaker};
use super::escape;
use super::excerpt::beside;
use super::fit::{self, Shrink};
use super::paint::{Ink, Paint};
use super::screen::Screen;
use crate::core::search::{Excerpt, Query, Term};
use crate::core::session::Session;
use crate::core::tree::follow::RowPlace;
use crate::core::tree::rows::{Branch, Row, Rows};
use crate::core::tree::shape::Omitted;
use crate::core::tree::walk;
use crate::core::words::counted;

/// The columns of one level of branching.
const LEVEL: usize = 5;
/// The most levels that are drawn; deeper rows have a mark for the others.
const LEVELS: usize = 16;

/// Draws the rows of one tree.
#[derive(Debug)]
pub struct TreeText<'s> {
    session: &'s Session,
    rows: &'s Rows,
    screen: &'s Screen,
    ids: ShortIds<'s>,
    id_columns: usize,
    levels: usize,
    glyphs: Glyphs,
    /// How many steps each entry is below its root, if rows are words.
    depths: Option<Vec<u32>>,
    query: Option<&'s Query>,
}

/// The pieces of a row.
struct TreeLine {
    id: String,
    pad: String,
    gutters: String,
    dot: String,
    label: String,
    text: String,
    marks: Vec<(Ink, String)>,
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

/// For screen readers: rows are words, and only the words for the leaf and between facts are of use.
const WORDS: Glyphs =
    Glyphs { fork: "", last: "", line: "", gap: "", more: "", dot: ", active", leaf: "leaf", between: ", " };

impl<'s> TreeText<'s> {
    /// Prepares to draw.
    pub fn new(session: &'s Session, rows: &'s Rows, screen: &'s Screen) -> Self {
        let ids = ShortIds::new(session);
        let id_columns = ids.widest(rows.rows.iter().map(|row| row.node), LONGEST_ID);
        let room = screen.width.map_or(LEVELS, |width| width.saturating_sub(id_columns + 2) / 2 / LEVEL);
        let glyphs = match screen.paint {
            Paint { in_words: true, .. } => WORDS,
            Paint { ascii: true, .. } => ASCII,
            _ => UNICODE,
        };
        let depths = || walk::depths(session, &walk::display_order(session, None));
        let depths = screen.paint.in_words.then(depths);
        Self { session, rows, screen, ids, id_columns, levels: room.clamp(1, LEVELS), glyphs, depths, query: None }
    }

    /// Draws the line above the rows; `id` is what is shown of that of the session, eight characters if it is empty.
    pub fn heading(&self, name: &str, id: &str, entries: usize, branches: usize) -> String {
        let between = self.glyphs.between;
        let fact = |fact: &str| match fact {
            "" => String::new(),
            _ => format!("{between}{}", escape::line(fact)),
        };
        let header = &self.session.header;
        let name = if name.is_empty() { "(no name)".to_owned() } else { self.screen.tilde(name) };
        let id = if id.is_empty() { header.id.chars().take(8).collect() } else { id.to_owned() };
        let size = format!("{}, {}", counted(entries, "entry", "entries"), counted(branches, "branch", "branches"));
        let folder = self.screen.tilde(header.cwd.as_deref().unwrap_or_default());
        let version = format!("v{}", self.session.version);
        let pieces = [escape::line(&name).into_owned(), fact(&id), fact(&version), fact(&size), fact(&folder)];
        // Without room the folder is removed first, then the name is cut to a few words, then version and id
        // are removed: the size is of most use.
        const FEW: usize = 16;
        let gap = fit::width(between);
        let mut columns = pieces.each_ref().map(|piece| fit::width(piece));
        fit::share(
            &mut columns,
            self.screen.room(),
            &[
                Shrink::ByColumn(4, gap + FEW),
                Shrink::AtOnce(4, 0),
                Shrink::ByColumn(0, FEW),
                Shrink::AtOnce(2, 0),
                Shrink::AtOnce(1, 0),
                Shrink::ByColumn(0, FEW - gap),
                Shrink::ByColumn(3, gap + 1),
                Shrink::AtOnce(3, 0),
            ],
        );
        let inks = [Ink::Strong].into_iter().chain([Ink::Dim; 4]);
        let pieces: Vec<_> =
            pieces.iter().zip(columns).map(|(piece, columns)| self.screen.cut(piece, columns)).collect();
        self.screen.row(inks.zip(pieces.iter().map(|piece| &**piece)))
    }

    /// Sets the query, whose words are highlighted.
    pub(crate) fn searching(self, query: Option<&'s Query>) -> Self {
        Self { query, ..self }
    }

    /// Returns what the query has that a row does not show.
    pub(crate) fn lacks(&self, at: usize, words: &str) -> Option<&'s Term> {
        let line = self.query.map(|_| self.line(at, words, None))?;
        self.query?.missing_in(&format!("{}{}", line.label, line.text))
    }

    /// Draws one row; `words` are those of its entry.
    pub fn row(&self, at: usize, words: &str) -> String {
        self.paint(at, &self.line(at, words, None))
    }

    /// Draws one row with an excerpt around a word that it would not show.
    pub(crate) fn row_with(&self, at: usize, words: &str, excerpt: &Excerpt) -> String {
        self.paint(at, &self.line(at, words, Some(excerpt)))
    }

    /// Returns the pieces of a row, cut to the width.
    fn line(&self, at: usize, words: &str, excerpt: Option<&Excerpt>) -> TreeLine {
        let row = self.rows.rows[at];
        let traits = self.session.traits(row.node);
        let id = self.ids.of(row.node).into_owned();
        let pad = " ".repeat(self.id_columns.saturating_sub(fit::width(&id)) + 2);
        let label = self.session.label(row.node).map(|label| format!("[{}] ", escape::line(&label.name)));
        let text = escape::line(&entry::row(self.screen, traits, words)).into_owned();
        let mut line = match &self.depths {
            Some(depths) => self.in_words(at, id, depths[row.node.index()], text),
            None => TreeLine {
                id,
                pad,
                gutters: self.gutters(row),
                dot: if row.is_active { self.glyphs.dot.to_owned() } else { String::new() },
                label: label.unwrap_or_default(),
                text,
                marks: self.marks(at, row),
            },
        };
        let text = |line: &TreeLine, room: Option<usize>| match excerpt {
            Some(excerpt) => beside(speaker(traits), &line.text, excerpt, room, self.screen.paint.ascii),
            None => room.map_or_else(|| line.text.clone(), |room| self.cut(&line.text, room)),
        };
        let Some(width) = self.screen.width else {
            line.text = text(&line, None);
            return line;
        };
        // Marks are of more use than the end of the words, but not than all of them.
        const SHRINKS: [Shrink; 4] =
            [Shrink::ByColumn(4, 8), Shrink::AtOnce(5, 0), Shrink::AtOnce(6, 0), Shrink::AtOnce(7, 0)];
        let mut columns = [0; 8];
        let front = [&mut line.id, &mut line.pad, &mut line.gutters, &mut line.dot];
        columns.iter_mut().zip(&front).for_each(|(columns, piece)| *columns = fit::width(piece));
        columns[4] = width;
        columns[5..].iter_mut().zip(&line.marks).for_each(|(columns, (_, mark))| *columns = 2 + fit::width(mark));
        fit::share(&mut columns, width, &SHRINKS);
        for (piece, columns) in front.into_iter().zip(columns).filter(|(piece, columns)| piece.len() > *columns) {
            *piece = self.cut(piece, columns);
        }
        let mut marks = columns[5..].iter();
        line.marks.retain(|_| marks.next().is_some_and(|&columns| columns > 0));
        let label = self.cut(&line.label, columns[4]);
        let left = columns[4] - fit::width(&label).min(columns[4]);
        line.text = if label == line.label { text(&line, Some(left)) } else { String::new() };
        line.label = label;
        line
    }

    fn cut(&self, text: &str, columns: usize) -> String {
        self.screen.cut(text, columns).into_owned()
    }

    fn paint(&self, at: usize, line: &TreeLine) -> String {
        let paint = self.screen.paint;
        let mut out = String::new();
        paint.push(&mut out, Ink::Dim, &line.id);
        out.push_str(&line.pad);
        paint.push(&mut out, Ink::Dim, &line.gutters);
        paint.push(&mut out, Ink::Active, &line.dot);
        paint.push(&mut out, Ink::Label, &line.label);
        let ink = entry::ink(self.session.traits(self.rows.rows[at].node));
        let mut painted = 0;
        for place in self.query.filter(|_| paint.color).iter().flat_map(|query| query.places(&line.text)) {
            paint.push(&mut out, ink, &line.text[painted..place.start]);
            paint.push(&mut out, Ink::Found, &line.text[place.clone()]);
            painted = place.end;
        }
        paint.push(&mut out, ink, &line.text[painted..]);
        for (ink, mark) in &line.marks {
            out.push_str("  ");
            paint.push(&mut out, *ink, mark);
        }
        if self.screen.width.is_some() {
            out.truncate(out.trim_end_matches(' ').len());
        }
        out + "\n"
    }

    /// Returns the pieces of a row in words: all that is known of the entry, then its text.
    fn in_words(&self, at: usize, id: String, depth: u32, text: String) -> TreeLine {
        let row = self.rows.rows[at];
        let mut place = format!(", depth {depth}");
        if let Some(branch) = row.branch.filter(|_| row.is_head).map(|branch| self.rows.branches[branch]) {
            let from = branch.below.map_or("the start".into(), |below| self.ids.of(below));
            place.push_str(&format!(", branch {} of {} from {from}", branch.place, branch.siblings));
        }
        let marks = self.marks(at, row).into_iter().map(|(_, mark)| format!(", {mark}"));
        let active = if row.is_active { self.glyphs.dot } else { "" };
        let label = self.session.label(row.node).map(|label| format!(", label {}", escape::line(&label.name)));
        TreeLine {
            id,
            pad: String::new(),
            gutters: place,
            dot: active.to_owned() + &marks.collect::<String>(),
            label: label.unwrap_or_default() + ": ",
            text,
            marks: Vec::new(),
        }
    }

    fn gutters(&self, row: Row) -> String {
        let Some(own) = row.branch else { return String::new() };
        let branch = |at: usize| -> Branch { self.rows.branches[at] };
        let mut pieces = VecDeque::new();
        pieces.push_front(match (row.is_head, branch(own).is_last()) {
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
            pieces.push_front(if branch(at).is_last() { self.glyphs.gap } else { self.glyphs.line });
            above = branch(at).from;
        }
        Vec::from(pieces).concat()
    }

    /// Returns the marks after the text, the most important last: omitted rows, a missing parent, what a later row
    /// is below, the leaf.
    fn marks(&self, at: usize, row: Row) -> Vec<(Ink, String)> {
        let in_words = self.depths.is_some();
        let mut marks = Vec::new();
        let omitted = if in_words { omitted_in_words(row.omitted) } else { omitted(row.omitted) };
        marks.extend(omitted.map(|mark| (Ink::Dim, mark)));
        if let Some(missing) = self.session.missing_parent(row.node) {
            let missing: String = missing.chars().take(36).collect();
            let missing = escape::line(&missing);
            let mark =
                if in_words { format!("parent {missing} missing") } else { format!("(parent {missing} missing)") };
            marks.push((Ink::Warning, mark));
        }
        match self.rows.places.get(at) {
            Some(RowPlace::After(above)) => marks.push((Ink::Dim, format!("(after {})", self.ids.of(*above)))),
            Some(RowPlace::Root) => marks.push((Ink::Dim, "(a new root)".to_owned())),
            Some(RowPlace::Continues) | None => {}
        }
        match self.rows.leaf {
            Some((leaf, 0)) if leaf == at => marks.push((Ink::Active, self.glyphs.leaf.to_owned())),
            Some((leaf, hidden)) if leaf == at && in_words => {
                let entries = counted(hidden, "entry", "entries");
                marks.push((Ink::Active, format!("{} {entries} below, hidden", self.glyphs.leaf)));
            }
            Some((leaf, hidden)) if leaf == at => {
                marks.push((Ink::Active, format!("{} (+{hidden} hidden)", self.glyphs.leaf)));
            }
            _ => {}
        }
        marks
    }
}

fn omitted_in_words(Omitted { above, below }: Omitted) -> Option<String> {
    let words = [(above, "above"), (below, "below")].into_iter().filter(|(count, _)| *count > 0);
    let words: Vec<_> = words.map(|(count, place)| format!("{count} omitted {place}")).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// Returns words for the rows omitted next to one, if there are any.
pub(crate) fn omitted(Omitted { above, below }: Omitted) -> Option<String> {
    match (above, below) {
        (0, 0) => None,
        (above, 0) => Some(format!("(+{above} above)")),
        (0, below) => Some(format!("(+{below} below)")),
        (above, below) => Some(format!("(+{above} above, +{below} below)")),
    }
}
