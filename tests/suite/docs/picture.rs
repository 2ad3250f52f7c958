//! Pictures of terminals: what the program prints, drawn as SVG on an exact grid. The one that
//! opens the README is compared with the program; set `UPDATE_README` to draw it anew.

use std::fmt::Write;
use std::fs;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::docs::readme::readme;
use crate::support::{command, data, finish};

/// Width of a cell in hundredths of a pixel, so that places are exact.
const CELL: usize = 840;
/// Height of a row in pixels.
const ROW: usize = 19;
/// Pixels around the rows.
const EDGE: usize = 16;

/// A window of its own, so that it can be read on light and dark pages alike.
const STYLE: &str = "\
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre;fill:#e6edf3}
path{fill:none;stroke:#e6edf3}
.dim{fill:#8b949e}.bold{font-weight:bold}
.red{fill:#ff7b72}.green{fill:#7ee787}.yellow{fill:#e3b341}.magenta{fill:#d2a8ff}.cyan{fill:#56d4dd}
path.dim{fill:none;stroke:#8b949e}";

/// How a piece of text is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Look {
    bold: bool,
    dim: bool,
    color: Option<&'static str>,
}

impl Look {
    /// Obeys a sequence that sets colours: what stands between `ESC [` and `m`.
    fn set(&mut self, codes: &str) {
        for code in codes.split(';') {
            match code {
                "" | "0" => *self = Self::default(),
                "1" => self.bold = true,
                "2" => self.dim = true,
                "31" => self.color = Some("red"),
                "32" => self.color = Some("green"),
                "33" => self.color = Some("yellow"),
                "35" => self.color = Some("magenta"),
                "36" => self.color = Some("cyan"),
                _ => panic!("no picture of the sequence {codes:?}"),
            }
        }
    }

    fn class(self) -> String {
        let names = [self.bold.then_some("bold"), self.dim.then_some("dim"), self.color];
        let names: Vec<_> = names.into_iter().flatten().collect();
        if names.is_empty() { String::new() } else { format!(" class=\"{}\"", names.join(" ")) }
    }
}

/// Text of one look that fills cells side by side.
#[derive(Debug, PartialEq, Eq)]
struct Run {
    column: usize,
    columns: usize,
    look: Look,
    text: String,
}

/// Splits a row into runs. A wide cluster and a piece of a line are runs of their own.
fn runs(row: &str, look: &mut Look) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut column = 0;
    let mut pieces = row.split("\u{1b}[");
    let mut push = |text: &str, look: Look| {
        for cluster in text.graphemes(true) {
            let columns = cluster.width();
            let is_plain = |text: &str| text.width() == text.chars().count() && arms(text).is_none();
            match runs.last_mut() {
                Some(run) if run.look == look && is_plain(cluster) && is_plain(&run.text) => {
                    run.text.push_str(cluster);
                    run.columns += columns;
                }
                _ => runs.push(Run { column, columns, look, text: cluster.to_owned() }),
            }
            column += columns;
        }
    };
    push(pieces.next().unwrap_or_default(), *look);
    for piece in pieces {
        let (codes, text) = piece.split_once('m').expect("only colours are set");
        look.set(codes);
        push(text, *look);
    }
    runs
}

/// Returns where the arms of a piece of a line go: up, down, left, right.
fn arms(text: &str) -> Option<[bool; 4]> {
    Some(match text {
        "─" | "═" => [false, false, true, true],
        "│" | "┆" => [true, true, false, false],
        "├" | "╞" => [true, true, false, true],
        "┤" | "╡" => [true, true, true, false],
        "┼" | "╪" => [true, true, true, true],
        "┬" => [false, true, true, true],
        "┴" => [true, false, true, true],
        "┌" | "╭" => [false, true, false, true],
        "┐" | "╮" => [false, true, true, false],
        "└" | "╰" => [true, false, false, true],
        "┘" | "╯" => [true, false, true, false],
        _ => return None,
    })
}

/// Writes hundredths of a pixel.
fn pixels(hundredths: usize) -> String {
    let text = format!("{}.{:02}", hundredths / 100, hundredths % 100);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Draws a screen of so many columns; `title` is for those who cannot see it.
fn svg(title: &str, screen: &str, columns: usize) -> String {
    let rows: Vec<_> = screen.lines().collect();
    let (width, height) = ((columns * CELL).div_ceil(100) + 2 * EDGE, rows.len() * ROW + 2 * EDGE);
    let escaped = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" xml:space=\"preserve\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n\
         <title>{}</title>\n<style>\n{STYLE}\n</style>\n\
         <rect x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"8\" fill=\"#0d1117\" stroke=\"#30363d\"/>\n",
        escaped(title),
        width - 1,
        height - 1
    );
    let mut look = Look::default();
    for (at, row) in rows.iter().enumerate() {
        let top = EDGE + at * ROW;
        for Run { column, columns, look, text } in runs(row, &mut look) {
            // What draws pictures may drop blanks at the edges of a text.
            let shown = text.trim_start_matches(' ');
            let (column, columns) = (column + text.len() - shown.len(), columns - (text.len() - shown.len()));
            let text = shown.trim_end_matches(' ');
            let columns = columns - (shown.len() - text.len());
            if text.is_empty() {
                continue;
            }
            let (left, class) = (EDGE * 100 + column * CELL, look.class());
            let Some([up, down, to_left, to_right]) = arms(text) else {
                let (x, y, length, text) = (pixels(left), top + 14, pixels(columns * CELL), escaped(text));
                // Fonts differ in width; the grid does not.
                let fit = format!("textLength=\"{length}\" lengthAdjust=\"spacingAndGlyphs\"");
                writeln!(out, "<text x=\"{x}\" y=\"{y}\" {fit}{class}>{text}</text>").unwrap();
                continue;
            };
            let (middle, center) = (pixels(left + CELL / 2), pixels(top * 100 + ROW * 50));
            let mut path = String::new();
            if up || down {
                let (from, to) =
                    (if up { top * 100 } else { top * 100 + ROW * 50 }, top * 100 + ROW * if down { 100 } else { 50 });
                write!(path, "M{middle} {}V{}", pixels(from), pixels(to)).unwrap();
            }
            if to_left || to_right {
                let from = if to_left { left } else { left + CELL / 2 };
                let to = if to_right { left + CELL } else { left + CELL / 2 };
                write!(path, "M{} {center}H{}", pixels(from), pixels(to)).unwrap();
            }
            writeln!(out, "<path d=\"{path}\"{class}/>").unwrap();
        }
    }
    out + "</svg>\n"
}

#[test]
fn text_runs_of_picture_are_on_the_grid() {
    let found = runs("a\u{1b}[2mb\u{1b}[0m\u{1b}[36m\u{1b}[1mcd日e│f", &mut Look::default());
    let found: Vec<_> =
        found.iter().map(|run| (run.column, run.columns, run.look.class(), run.text.as_str())).collect();
    let cyan = " class=\"bold cyan\"";
    let expected = [
        (0, 1, "", "a"),
        (1, 1, " class=\"dim\"", "b"),
        (2, 2, cyan, "cd"),
        (4, 2, cyan, "日"),
        (6, 1, cyan, "e"),
        (7, 1, cyan, "│"),
        (8, 1, cyan, "f"),
    ];
    assert_eq!(found, expected.map(|(column, columns, class, text)| (column, columns, class.to_owned(), text)));
}

#[test]
fn picture_is_valid_xml_with_joined_lines() {
    let picture = svg("<a>", "│x & y\n└─", 8);
    assert!(picture.contains("<title>&lt;a&gt;</title>") && picture.contains(">x &amp; y</text>"), "{picture}");
    let (line, corner, rule) = ("M20.2 16V35", "M20.2 35V44.5M20.2 44.5H24.4", "M24.4 44.5H32.8");
    for path in [line, corner, rule] {
        assert!(picture.contains(&format!("<path d=\"{path}\"/>")), "{path}\n{picture}");
    }
}

#[test]
fn picture_of_readme_shows_what_is_printed() {
    let run = finish(command().args(["tree", "--width=80", "--color=always"]).arg(data("demo.jsonl")));
    let screen = format!("\u{1b}[2m$\u{1b}[0m \u{1b}[1msession-tree tree demo.jsonl\u{1b}[0m\n{}", run.ok());
    let picture = svg("The tree of a session, as session-tree prints it", &screen, 80);
    let path = data("output/tree.svg");
    if std::env::var_os("UPDATE_README").is_some() {
        fs::write(&path, &picture).unwrap();
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == picture, "{} is old: UPDATE_README=1 cargo test picture", path.display());
    let readme = readme();
    let opening = &readme[..readme.find("\n## ").unwrap()];
    assert!(opening.contains("(tests/data/output/tree.svg)"), "the picture opens the README");
}
