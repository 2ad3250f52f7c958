//! A unified diff of what a file would be: bytes as they are for `patch`, escaped and cut for a terminal.

use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::escape;
use super::output::Output;
use super::paint::Ink;
use super::screen::Screen;
use crate::core::check::mend::Mended;
use crate::core::check::mend::diff::{self, DiffLine, Hunk, Mark};
use crate::core::read::source::Source;

/// Prints the diff of a file; nothing if nothing would be changed.
///
/// # Errors
/// The core's [`Error`](crate::core::error::Error) if the file cannot be read, else the error of the output.
pub(crate) fn print(
    output: &mut Output,
    path: &Path,
    mended: &Mended,
    source: &Source,
    screen: &Screen,
) -> anyhow::Result<()> {
    if !screen.is_terminal {
        return write(output, path, mended, source);
    }
    let mut is_first = true;
    diff::hunks(mended, source, &mut |hunk| {
        let mut text = String::new();
        if std::mem::take(&mut is_first) {
            for mark in ["---", "+++"] {
                let name = format!("{mark} {}", escape::line(&path.display().to_string()));
                screen.paint.push(&mut text, Ink::Strong, &name);
                text.push('\n');
            }
        }
        shown(&mut text, &hunk, source, screen)?;
        Ok(output.text(&text)?)
    })
}

/// Writes the diff of a file for programs.
///
/// # Errors
/// As [`print`].
pub(super) fn write(out: &mut dyn Write, path: &Path, mended: &Mended, source: &Source) -> anyhow::Result<()> {
    let mut is_first = true;
    diff::hunks(mended, source, &mut |hunk| {
        if std::mem::take(&mut is_first) {
            for mark in [b"--- ", b"+++ "] {
                out.write_all(&[mark, &name(path)[..], b"\n"].concat())?;
            }
        }
        out.write_all(range(&hunk).as_bytes())?;
        for line in &hunk.lines {
            out.write_all(&[mark(line.mark)])?;
            out.write_all(&line.bytes(source, usize::MAX)?)?;
            out.write_all(end(line).as_bytes())?;
        }
        Ok(())
    })
}

/// Returns a name as `patch` reads it: in quotes if it has bytes that would end it.
fn name(path: &Path) -> Vec<u8> {
    let bytes = path.as_os_str().as_bytes();
    let is_plain = |byte: &u8| !byte.is_ascii_control() && !matches!(byte, b'"' | b'\\');
    if bytes.iter().all(is_plain) {
        let mut name = bytes.to_vec();
        // What follows a tab is a time.
        if bytes.contains(&b' ') {
            name.push(b'\t');
        }
        return name;
    }
    let mut name = vec![b'"'];
    for byte in bytes {
        match byte {
            b'"' | b'\\' => name.extend([b'\\', *byte]),
            byte if byte.is_ascii_control() => name.extend_from_slice(format!("\\{byte:03o}").as_bytes()),
            byte => name.push(*byte),
        }
    }
    name.push(b'"');
    name
}

fn range(hunk: &Hunk) -> String {
    let side = |(first, count): (u32, u32)| match count {
        // Without lines it names the line before.
        0 => format!("{},0", first.saturating_sub(1)),
        1 => first.to_string(),
        count => format!("{first},{count}"),
    };
    format!("@@ -{} +{} @@\n", side(hunk.old), side(hunk.new))
}

fn mark(mark: Mark) -> u8 {
    match mark {
        Mark::Same => b' ',
        Mark::Removed => b'-',
        Mark::Added => b'+',
    }
}

fn end(line: &DiffLine) -> &'static str {
    if line.is_terminated() { "\n" } else { "\n\\ No newline at end of file\n" }
}

/// Adds a hunk as it is shown on a terminal.
fn shown(text: &mut String, hunk: &Hunk, source: &Source, screen: &Screen) -> anyhow::Result<()> {
    screen.paint.push(text, Ink::Dim, range(hunk).trim_end());
    text.push('\n');
    // A column takes four bytes at most.
    let most = screen.width.map_or(usize::MAX, |width| (width + 1).saturating_mul(4));
    let starts = starts(hunk, source, screen.width)?;
    for (line, start) in hunk.lines.iter().zip(starts) {
        let bytes = match start {
            0 => line.bytes(source, most)?,
            start => line.bytes(source, start.saturating_add(most))?.split_off(start),
        };
        let left_out = if start > 0 { screen.mark() } else { "" };
        let words = String::from_utf8_lossy(&bytes);
        let row = format!("{}{left_out}{}", char::from(mark(line.mark)), escape::line(&words));
        let row = screen.cut(&row, screen.room());
        match line.mark {
            Mark::Same => text.push_str(&row),
            Mark::Removed => screen.paint.push(text, Ink::Dropped, &row),
            Mark::Added => screen.paint.push(text, Ink::Added, &row),
        }
        text.push_str(end(line));
    }
    Ok(())
}

/// Returns from which byte on each line is shown: the same in a line and what takes its place, and near to where
/// they begin to differ.
fn starts(hunk: &Hunk, source: &Source, width: Option<usize>) -> anyhow::Result<Vec<usize>> {
    let mut starts = vec![0; hunk.lines.len()];
    let Some(width) = width else { return Ok(starts) };
    let mut at = 0;
    while at < hunk.lines.len() {
        let run = |from: usize, mark| hunk.lines[from..].iter().take_while(|line| line.mark == mark).count();
        let removed = run(at, Mark::Removed);
        let added = run(at + removed, Mark::Added);
        for (old, new) in (at..at + removed).zip(at + removed..at + removed + added) {
            let (before, after) =
                (hunk.lines[old].bytes(source, usize::MAX)?, hunk.lines[new].bytes(source, usize::MAX)?);
            let start = start(&before, &after, width);
            (starts[old], starts[new]) = (start, start);
        }
        at += (removed + added).max(1);
    }
    Ok(starts)
}

/// Returns from which byte on two lines are shown in rows of this width, so that the first difference is seen.
fn start(before: &[u8], after: &[u8], width: usize) -> usize {
    let common = before.iter().zip(after).take_while(|(before, after)| before == after).count();
    if common < width.saturating_mul(2) / 3 {
        return 0;
    }
    let start = common.saturating_sub(width / 3);
    // Not within a character, which has four bytes at most.
    let is_start = |at: &usize| before.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80);
    (start.saturating_sub(3)..=start).rev().find(is_start).unwrap_or(start)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    use super::{name, start};

    #[test]
    fn names_are_those_that_patch_reads() {
        let check = |path: &[u8], expected: &[u8]| assert_eq!(name(Path::new(OsStr::from_bytes(path))), expected);
        check(b"a/b.jsonl", b"a/b.jsonl");
        check(b"a b", b"a b\t");
        check(b"a\nb\"\\", b"\"a\\012b\\\"\\\\\"");
        check(b"\xff", b"\xff");
    }

    #[test]
    fn two_long_lines_are_shown_from_before_their_first_difference() {
        let line = |common: usize, rest: &str| format!("{}{rest}", "x".repeat(common)).into_bytes();
        assert_eq!(start(&line(10, "a"), &line(10, "b"), 30), 0);
        assert_eq!(start(&line(100, "a"), &line(100, "b"), 30), 90);
        assert_eq!(start(&line(100, ""), &line(100, "b"), 30), 90);
        // Never within a character.
        let wide = |rest: &str| format!("{}{rest}", "é".repeat(50)).into_bytes();
        assert_eq!(start(&wide("a"), &wide("b"), 27), 90);
        assert_eq!(start(&line(1, &"é".repeat(50)), &line(1, &("é".repeat(49) + "b")), 27), 89);
        assert_eq!(start(b"", b"", 0), 0);
    }
}
