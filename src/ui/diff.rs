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
    for line in &hunk.lines {
        let bytes = line.bytes(source, most)?;
        let row = format!("{}{}", char::from(mark(line.mark)), escape::line(&String::from_utf8_lossy(&bytes)));
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

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    use super::name;

    #[test]
    fn names_are_those_that_patch_reads() {
        let check = |path: &[u8], expected: &[u8]| assert_eq!(name(Path::new(OsStr::from_bytes(path))), expected);
        check(b"a/b.jsonl", b"a/b.jsonl");
        check(b"a b", b"a b\t");
        check(b"a\nb\"\\", b"\"a\\012b\\\"\\\\\"");
        check(b"\xff", b"\xff");
    }
}
