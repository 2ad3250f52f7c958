//! Escaping of untrusted text for terminals. Everything from a file or an argument must pass through
//! here before it is shown.

use std::borrow::Cow;
use std::fmt::Write;

use crate::core::json::text::is_lone_surrogate;

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
    use super::{json, line, lines, text};

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
}
