//! What reaches a terminal: no escape sequence from a file, no row wider than the terminal.
//!
//! `output` needs no terminal (options and variables stand for it), `commands` and `progress` run
//! in one: [`pty`] makes it.

mod commands;
mod output;
mod progress;
mod pty;

/// Removes the sequences that only set colours.
fn without_colours(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[") {
        let end = at + 2 + rest[at + 2..].find(|char: char| !char.is_ascii_digit() && char != ';').unwrap_or(0);
        let is_colour = rest[end..].starts_with('m');
        out.push_str(&rest[..at]);
        out.push_str(if is_colour { "" } else { "\u{1b}[" });
        rest = if is_colour { &rest[end + 1..] } else { &rest[at + 2..] };
    }
    out + rest
}
