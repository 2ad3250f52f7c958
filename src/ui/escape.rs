//! Escaping of untrusted text for terminals. Everything from a file or an argument must pass through
//! here before it is shown.

use std::borrow::Cow;
use std::fmt::Write;

use crate::core::json::text::{StringPart, StringParts, is_lone_surrogate, push_printable};

/// Returns a text for one line, in which control characters, escape sequences and direction overrides are
/// shown as escapes.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    // Most text is ASCII, for which this is fast.
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) || !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for char in text.chars() {
        push(&mut out, char);
    }
    Cow::Owned(out)
}

/// Returns a text of several lines: line ends stay, tabs become spaces, the rest is as in [`line()`].
pub(crate) fn lines(text: &str) -> Cow<'_, str> {
    let mut safe = safe_front(text);
    if safe == text.len() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let mut rest = text;
    loop {
        out.push_str(&rest[..safe]);
        rest = &rest[safe..];
        let Some(char) = rest.chars().next() else { return Cow::Owned(out) };
        rest = &rest[char.len_utf8()..];
        match char {
            '\t' => out.push_str("    "),
            '\r' if rest.starts_with('\n') => {}
            _ => push(&mut out, char),
        }
        safe = safe_front(rest);
    }
}

/// Appends a text of several lines as [`lines`] has it.
pub(crate) fn push_lines(out: &mut Vec<u8>, text: &str) {
    let mut rest = text;
    loop {
        let safe = safe_front(rest);
        out.extend_from_slice(&rest.as_bytes()[..safe]);
        rest = &rest[safe..];
        let Some(char) = rest.chars().next() else { return };
        rest = &rest[char.len_utf8()..];
        push_of_lines(out, char, || rest.starts_with('\n'));
    }
}

/// Appends the body of a JSON string, decoded, as [`lines`] has it, and returns how much of the body that is: all,
/// or, once `enough` bytes were added, up to the end of a line; up to any place at four times as many, unless lines
/// have to be whole.
pub(crate) fn push_stored_lines(out: &mut Vec<u8>, body: &[u8], enough: usize, is_by_lines: bool) -> usize {
    const RUN: usize = 64 * 1024;
    let most = if is_by_lines { usize::MAX } else { enough.saturating_mul(4) };
    let (enough, most) = (enough.saturating_add(out.len()), most.saturating_add(out.len()));
    let mut at = 0;
    while out.len() < most {
        let run = &body[at..body.len().min(at + RUN)];
        let plain = push_printable(out, run);
        at += plain;
        let Some(&byte) = run.get(plain) else {
            if at == body.len() {
                break;
            } else {
                continue;
            };
        };
        let escaped = if byte == b'\\' { body.get(at + 1) } else { None };
        match escaped {
            Some(b'n') => {
                out.push(b'\n');
                at += 2;
                if out.len() >= enough {
                    break;
                }
            }
            Some(&(b'"' | b'\\')) => {
                out.push(body[at + 1]);
                at += 2;
            }
            Some(b't') => {
                out.extend_from_slice(b"    ");
                at += 2;
            }
            _ if byte < 0x80 => at += push_odd(out, &body[at..]),
            _ => at += push_beyond_ascii(out, &body[at..]),
        }
    }
    at
}

/// Appends the character at the front of the body of a JSON string, one of the rarer ones. Returns its length there.
#[cold]
fn push_odd(out: &mut Vec<u8>, body: &[u8]) -> usize {
    let (char, length) = match body {
        // Text that is valid JSON has only escapes here.
        [byte, ..] if *byte != b'\\' => (char::from(*byte), 1),
        _ => front_char(body),
    };
    const ESCAPE: usize = 6;
    let after = &body[length..body.len().min(length + ESCAPE)];
    push_of_lines(out, char, || matches!(front_char(after), ('\n', _)));
    length
}

/// Returns the character of the escape, or of the control character, at the front of the body of a JSON string, and
/// its length there.
fn front_char(body: &[u8]) -> (char, usize) {
    let mut parts = StringParts::new(body);
    match parts.next() {
        Some(StringPart::Char(char)) => (char, body.len() - parts.rest().len()),
        Some(StringPart::Surrogate(_)) => (char::REPLACEMENT_CHARACTER, body.len() - parts.rest().len()),
        Some(StringPart::Plain(bytes)) => (bytes.first().map_or('\0', |&byte| char::from(byte)), 1),
        None => ('\0', 0),
    }
}

/// Appends the characters beyond ASCII at the front of a text in UTF-8, with U+FFFD for what is none. Returns how many
/// bytes they take.
fn push_beyond_ascii(out: &mut Vec<u8>, bytes: &[u8]) -> usize {
    const MANY: usize = 4096;
    let mut end = bytes.iter().take(MANY).take_while(|byte| !byte.is_ascii()).count();
    if end == MANY {
        // Not within a character; a longer row of continuation bytes is bad UTF-8 anyway.
        let is_start = |back: &usize| bytes.get(end - back).is_none_or(|byte| byte & 0xc0 != 0x80);
        end -= (0..4).find(is_start).unwrap_or(0);
    }
    for chunk in bytes[..end].utf8_chunks() {
        let valid = chunk.valid();
        if valid.chars().any(is_unsafe) {
            valid.chars().for_each(|char| push_of_lines(out, char, || false));
        } else {
            out.extend_from_slice(valid.as_bytes());
        }
        if !chunk.invalid().is_empty() {
            out.extend_from_slice("\u{fffd}".as_bytes());
        }
    }
    end
}

/// Appends a character of a text of several lines.
fn push_of_lines(out: &mut Vec<u8>, char: char, is_before_line_end: impl FnOnce() -> bool) {
    match char {
        '\n' => out.push(b'\n'),
        '\t' => out.extend_from_slice(b"    "),
        '\r' if is_before_line_end() => {}
        _ => {
            let mut shown = String::new();
            push(&mut shown, char);
            out.extend_from_slice(shown.as_bytes());
        }
    }
}

/// Returns the length of the lines at the front in which nothing has to be escaped.
fn safe_front(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n');
    let mut at = 0;
    loop {
        // Compilers make vector instructions of this.
        while let Some(chunk) = bytes[at..].first_chunk::<16>()
            && chunk.iter().fold(true, |all, byte| all & is_plain(byte))
        {
            at += chunk.len();
        }
        at += bytes[at..].iter().take_while(|byte| is_plain(byte)).count();
        match text[at..].chars().next() {
            Some(char) if !char.is_ascii() && !is_unsafe(char) => at += char.len_utf8(),
            _ => return at,
        }
    }
}

/// Returns a text that goes into a file, which somebody may show on a terminal: control characters and
/// direction overrides are shown as escapes, and line ends, tabs and all else stay as they are.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    let is_order = |char: char| {
        char.is_control() && !matches!(char, '\n' | '\t')
            || matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.chars().any(is_order) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        let ends_line = char == '\r' && chars.peek() == Some(&'\n');
        if is_order(char) && !ends_line { push(&mut out, char) } else { out.push(char) }
    }
    Cow::Owned(out)
}

/// Returns JSON text for a terminal: what JSON allows in strings but a terminal might obey is written as
/// `\uXXXX`.
pub(crate) fn json(text: &str) -> Cow<'_, str> {
    // JSON escapes all unsafe characters below U+0080 except DEL.
    if !text.chars().any(|char| is_unsafe(char) && char >= '\u{7f}') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for char in text.chars() {
        if is_unsafe(char) && char >= '\u{7f}' {
            for unit in char.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(char);
        }
    }
    Cow::Owned(out)
}

fn push(out: &mut String, char: char) {
    let code = u32::from(char);
    // Writing to a string cannot fail.
    let _ = match char {
        _ if !is_unsafe(char) => out.write_char(char),
        _ if is_lone_surrogate(char) => out.write_char(char::REPLACEMENT_CHARACTER),
        '\n' => out.write_str("\\n"),
        '\r' => out.write_str("\\r"),
        '\t' => out.write_str("\\t"),
        _ if code < 0x100 => write!(out, "\\x{code:02x}"),
        _ => write!(out, "\\u{{{code:x}}}"),
    };
}

/// Returns whether a terminal might do anything with a character but show it.
fn is_unsafe(char: char) -> bool {
    char.is_control()
        || is_lone_surrogate(char)
        || matches!(char,
            '\u{61c}' | '\u{200e}' | '\u{200f}' // direction marks
            | '\u{2028}' | '\u{2029}' // line and paragraph separators
            | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' // direction overrides and isolates
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}') // invisible
}

#[cfg(test)]
mod tests {
    use super::{json, line, lines, push_lines, push_stored_lines, text};
    use crate::core::json::text::{decode, trim_line_ends};
    use crate::random::Random;

    #[test]
    fn characters_that_a_terminal_obeys_are_escaped() {
        assert_eq!(line("a\u{1b}]52;c;x\u{7}b"), "a\\x1b]52;c;x\\x07b");
        assert_eq!(line("a\u{202e}b\u{9b}c\u{7f}\n"), "a\\u{202e}b\\x9bc\\x7f\\n");
        assert_eq!(lines("a\r\n\tb\rc\u{8}"), "a\n    b\\rc\\x08");
        assert_eq!(text("a\r\n\tb\rc\u{8}\u{1b}[m\u{9b}\u{202e}"), "a\r\n\tb\\rc\\x08\\x1b[m\\x9b\\u{202e}");
        assert_eq!(json("\"\u{7f}\u{9b}\u{202e}é\u{e0041}\""), "\"\\u007f\\u009b\\u202eé\\udb40\\udc41\"");
    }

    #[test]
    fn safe_text_is_not_copied() {
        assert!(matches!(line("naïve 日本語 🙂"), std::borrow::Cow::Borrowed(_)));
        assert!(matches!(text("\tשלום\u{200f}!\n"), std::borrow::Cow::Borrowed(_)));
    }

    /// Pieces of the body of a string, alone or together odd or not.
    const PIECES: [&[u8]; 34] = [
        b"a",
        b" ",
        b"words of some length",
        b"~",
        b"\\n",
        b"\\n",
        b"\\n\\n",
        b"\\r",
        b"\\r\\n",
        b"\\t",
        b"\\\"",
        b"\\\\",
        b"\\/",
        b"\\b",
        b"\\u000a",
        b"\\u000A",
        b"\\u000d",
        b"\\u0009",
        b"\\u001b",
        b"\\u007f",
        b"\\u202e",
        b"\\ud83d\\ude42",
        b"\\ud83d",
        b"\\ude42",
        b"\x7f",
        "é".as_bytes(),
        "日本".as_bytes(),
        "\u{202e}".as_bytes(),
        "\u{85}".as_bytes(),
        "🙂".as_bytes(),
        b"\xe6\x97",
        b"\x80",
        b"\xf0\x9f\x99",
        b"\xff",
    ];

    #[test]
    fn stored_lines_are_the_lines_of_the_decoded_text() {
        let mut random = Random::new(7);
        let mut next = |bound: usize| random.below(bound);
        for _ in 0..6_000 {
            // Some have nothing that is ASCII.
            let (front, count) = (if next(8) == 0 { 25 } else { 0 }, next(20));
            let mut piece = |_| PIECES[front + next(PIECES.len() - front)];
            let mut body: Vec<u8> = (0..count).flat_map(&mut piece).copied().collect();
            if next(100) == 0 {
                // Longer than what is looked at together.
                body = body.repeat(1 + next(400));
            }
            let text = decode(&body);
            let trimmed = trim_line_ends(&body);
            assert_eq!(decode(trimmed), text.trim_end_matches('\n'), "{text:?}");
            let expected = lines(&text);
            let mut out = Vec::new();
            push_lines(&mut out, &text);
            assert!(out == expected.as_bytes(), "{text:?}");
            for (enough, is_by_lines) in [(usize::MAX, false), (1 + next(40), false), (1 + next(40), true)] {
                let (mut out, mut all, mut rest) = (Vec::new(), Vec::new(), &body[..]);
                while !rest.is_empty() {
                    let done = push_stored_lines(&mut out, rest, enough, is_by_lines);
                    assert!(done > 0);
                    rest = &rest[done..];
                    assert!(!is_by_lines || rest.is_empty() || out.ends_with(b"\n"));
                    all.append(&mut out);
                }
                assert!(all == expected.as_bytes(), "{enough} {text:?} {:?}", String::from_utf8_lossy(&all));
            }
        }
    }
}
