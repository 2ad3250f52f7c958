//! Whether a reader of Markdown sees all of what somebody wrote. HTML, definitions of links and pictures from
//! elsewhere are not seen as they were written, unless they stand in code.
//!
//! Of code only that is believed which cannot be anything else for any reader: fences that begin their line,
//! and spans that end on their line. All doubt counts as no.

use memchr::memchr3_iter;

/// What is known of a text so far.
#[derive(Default)]
struct Sight {
    /// Whether something stands in code that would not be seen elsewhere.
    in_code: bool,
    /// Whether what is taken for code might be none.
    is_unsure: bool,
}

/// Returns whether all of a text is seen where it is read as Markdown. It has no tabs and no CR.
pub(super) fn is_all_shown(text: &str) -> bool {
    if !hides(text) {
        return true;
    }
    let mut sight = Sight::default();
    // The character and the length of the fence that is open.
    let mut open: Option<(char, usize)> = None;
    for line in text.split('\n') {
        match open {
            Some((mark, length)) => {
                let row = line.trim_matches(' ');
                let ends = row.len() >= length && row.chars().all(|char| char == mark);
                if ends && line.len() - line.trim_start_matches(' ').len() <= 3 {
                    open = None;
                } else {
                    sight.in_code |= hides(line);
                }
            }
            None => match fence(line) {
                Some(fence) => open = Some(fence),
                None if !sight.takes(line) => return false,
                None => {}
            },
        }
    }
    !(sight.in_code && sight.is_unsure)
}

/// Returns the fence that a line opens at its beginning.
fn fence(line: &str) -> Option<(char, usize)> {
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let info = line.trim_start_matches(mark);
    let length = line.len() - info.len();
    (length >= 3 && !(mark == '`' && info.contains('`'))).then_some((mark, length))
}

/// Returns whether a text has something that is not seen outside of code.
fn hides(text: &str) -> bool {
    let bytes = text.as_bytes();
    memchr3_iter(b'<', b'[', b']', bytes).any(|at| {
        let after = &bytes[at + 1..];
        match bytes[at] {
            b'<' => after.first().is_some_and(|next| next.is_ascii_alphabetic() || b"/!?".contains(next)),
            b']' => after.starts_with(b":"),
            _ => after.starts_with(b"](") || bytes[..at].ends_with(b"!"),
        }
    })
}

impl Sight {
    /// Takes in a line outside of fences. Returns whether all of it is seen.
    fn takes(&mut self, line: &str) -> bool {
        // A fence in a list ends where the list does, a cell of a table ends a span, and a backtick may be
        // escaped.
        self.is_unsure |= line.contains("```") || line.contains("~~~") || line.contains('|') || line.contains("\\`");
        let mut outside = String::new();
        let mut rest = line;
        while let Some(start) = rest.find('`') {
            outside.push_str(&rest[..start]);
            let after = rest[start..].trim_start_matches('`');
            let length = rest.len() - start - after.len();
            let Some(end) = closing(after, length) else {
                // It may begin a span that ends on another line.
                self.is_unsure = true;
                break;
            };
            self.in_code |= hides(&after[..end]);
            // What stands around a span is not joined.
            outside.push('`');
            rest = &after[end + length..];
        }
        outside.push_str(rest);
        !hides(&outside)
    }
}

/// Returns where a row of backticks of some length stands.
fn closing(text: &str, length: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = text[at..].find('`') {
        let start = at + found;
        let row = text[start..].len() - text[start..].trim_start_matches('`').len();
        if row == length {
            return Some(start);
        }
        at = start + row;
    }
    None
}

#[cfg(test)]
mod tests {
    use pulldown_cmark::{Event, Options, Parser, Tag};

    use super::is_all_shown;
    use crate::random::Random;

    /// Pieces that mean something to a reader of Markdown, alone or together.
    const PIECES: [&str; 32] = [
        "\n", "\n", "\n\n", " ", "  ", "    ", "`", "``", "```", "````", "~~~", "<b>", "<!--", "-->", "</p>", "<?",
        "a", "b c", "- ", "1. ", "> ", "[a]", "]:", ": /u", "![", "(c)", "|", "|---|", "\\", "# ", "---", "*",
    ];

    #[test]
    fn no_parser_hides_what_is_taken_for_shown() {
        let mut random = Random::new(1);
        let mut next = |bound: usize| random.below(bound);
        let mut shown_with_code = 0;
        for _ in 0..40_000 {
            let text: String = (0..1 + next(14)).map(|_| PIECES[next(PIECES.len())]).collect();
            if !is_all_shown(&text) {
                continue;
            }
            shown_with_code += usize::from(text.contains('<'));
            let quote: String = text.split('\n').map(|line| format!("> {line}\n")).collect();
            for options in [Options::empty(), Options::all() - Options::ENABLE_MATH] {
                let parser = Parser::new_ext(&quote, options);
                assert_eq!(parser.reference_definitions().iter().count(), 0, "{text:?}");
                for event in parser {
                    let hides =
                        matches!(event, Event::Html(_) | Event::InlineHtml(_) | Event::Start(Tag::Image { .. }));
                    assert!(!hides, "{event:?} in {text:?}");
                }
            }
        }
        assert!(shown_with_code > 300, "{shown_with_code}");
    }

    #[test]
    fn what_hides_text_counts_outside_of_code() {
        let check = |text: &str, expected: bool| assert_eq!(is_all_shown(text), expected, "{text:?}");
        check("plain *text*, 1 < 2 and <3", true);
        check("- a\n- b\n\n> c\n\n    d", true);
        check("a <b> c", false);
        check("<!-- a", false);
        check("</details>", false);
        check("[a]: /b", false);
        check("> [a\n> b]: /c", false);
        check("![a](http://b)", false);
        check("[](http://b)", false);
        check("[a](http://b)", true);
        check("`Vec<String>` and ``a ` <b>``", true);
        check("`Vec<String> and `` <b>", false);
        check("```rust\nVec<String>\n```", true);
        check("~~~ `\n<b>\n```\n~~~~\nend", true);
        check("```\n<b>", true);
        check("```\na\n```\n<b>", false);
        check("``` a`b\n<b>\n```", false);
        check("````\n```\n<b>\n````", true);
        check("```\n    ```\n<b>\n```", true);
        // A fence in doubt, and one that it closes.
        check("  ```\n```\n<b>", false);
        check("- ```\n```\n<b>", false);
        check("- ```\n  a\n  ```", true);
        // Spans in doubt.
        check("` a\n`<b>`", false);
        check("a \\` `<b>`", false);
        check("| ` | `<b>` |", false);
        check("a ` b", true);
    }
}
