//! The command line as bash has it while it is typed: into words, and words back into it.
//!
//! Bash gives a completion no words but the line; it replaces only what stands after the last of
//! `COMP_WORDBREAKS`, a colon among them, so that what stands before it must be left out.

use super::choice::Choice;

/// A line that is cut off at the cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Typed {
    /// Its words, unquoted; the last is the one at the cursor, and may be empty.
    pub words: Vec<String>,
    /// What of the last word stays, unquoted.
    kept: String,
    /// The quote that is open.
    quote: Option<char>,
}

impl Typed {
    /// Takes a line apart. `breaks` are the characters after which bash completes.
    pub(crate) fn read(line: &str, breaks: &str) -> Self {
        let mut typed = Self::default();
        let mut word = String::new();
        let mut in_word = false;
        // What was kept before the quote that is open.
        let mut before = String::new();
        let mut chars = line.chars();
        while let Some(char) = chars.next() {
            match (typed.quote, char) {
                (Some(quote), _) if char == quote => {
                    typed.quote = None;
                    typed.kept = std::mem::take(&mut before);
                }
                (Some('"'), '\\') => match chars.next() {
                    Some(next @ ('"' | '\\' | '$' | '`')) => word.push(next),
                    Some(next) => word.extend(['\\', next]),
                    None => {}
                },
                (Some(_), _) => word.push(char),
                (None, '\'' | '"') => {
                    typed.quote = Some(char);
                    in_word = true;
                    // Nothing before a quote that is left open is replaced; one that is closed is part
                    // of what is replaced.
                    before = std::mem::replace(&mut typed.kept, word.clone());
                }
                (None, '\\') => {
                    word.extend(chars.next());
                    in_word = true;
                }
                (None, ' ' | '\t' | '\n') => {
                    if std::mem::take(&mut in_word) {
                        typed.words.push(std::mem::take(&mut word));
                    }
                    typed.kept.clear();
                }
                (None, _) => {
                    word.push(char);
                    in_word = true;
                    if breaks.contains(char) {
                        typed.kept.clone_from(&word);
                    }
                }
            }
        }
        typed.words.push(word);
        typed
    }

    /// Returns the answer for bash: whether paths come, which bash quotes itself, and what to put for
    /// the part of the word that bash replaces.
    pub(crate) fn answer(&self, choices: &[Choice]) -> String {
        if choices.is_empty() {
            return String::new();
        }
        let is_path = choices.iter().any(|choice| choice.is_path);
        let mut out = if is_path { "paths\n" } else { "words\n" }.to_owned();
        for choice in choices {
            let Some(rest) = choice.value.strip_prefix(self.kept.as_str()) else { continue };
            if choice.is_path {
                out.push_str(rest);
            } else if !self.quoted(&mut out, rest) {
                continue;
            }
            out.push('\n');
        }
        out
    }

    /// Adds a word so that bash reads it again as it is. Returns whether that can be done.
    fn quoted(&self, out: &mut String, word: &str) -> bool {
        if self.quote.is_some_and(|quote| word.ends_with(quote)) {
            // Bash would take this end for that of the quotes.
            return false;
        }
        match self.quote {
            Some('\'') => out.push_str(&word.replace('\'', "'\\''")),
            // Between these quotes no backslash keeps bash from looking into its history.
            Some(_) if word.contains('!') => return false,
            Some(_) => word.chars().for_each(|char| push_quoted(out, char, "\"\\$`".contains(char))),
            None => word.chars().for_each(|char| {
                let is_plain = char.is_ascii_alphanumeric() || !char.is_ascii() || "_-./:=@%+,".contains(char);
                push_quoted(out, char, !is_plain);
            }),
        }
        true
    }
}

fn push_quoted(out: &mut String, char: char, is_special: bool) {
    if is_special {
        out.push('\\');
    }
    out.push(char);
}

#[cfg(test)]
mod tests {
    use super::{Choice, Typed};

    const BREAKS: &str = " \t\n\"'@><=;|&(:";

    fn words(line: &str, expected: &[&str]) {
        assert_eq!(Typed::read(line, BREAKS).words, expected, "{line}");
    }

    #[test]
    fn lines_come_apart_as_bash_reads_them() {
        words("session-tree ", &["session-tree", ""]);
        words("  session-tree  tree", &["session-tree", "tree"]);
        words(r#"s "a b"'c d'e\ f --x=y"#, &["s", "a bc de f", "--x=y"]);
        words(r#"s "a\"b\n\$" '\'"#, &["s", "a\"b\\n$", "\\"]);
        words(r#"s "a b"#, &["s", "a b"]);
        words("s 'a b", &["s", "a b"]);
        words(r"s a\", &["s", "a"]);
        words("s '' ", &["s", "", ""]);
        words("", &[""]);
    }

    fn check(line: &str, value: &str, expected: &str) {
        let choice = Choice { value: value.to_owned(), ..Choice::default() };
        let answer = Typed::read(line, BREAKS).answer(&[choice]);
        assert_eq!(answer, format!("words\n{expected}"), "{line}");
    }

    #[test]
    fn only_what_bash_replaces_is_given() {
        check("s ", "label:a", "label:a\n");
        check("s lab", "label:a", "label:a\n");
        check("s label:", "label:a", "a\n");
        check("s label:x:", "label:x:y", "y\n");
        check("s --leaf=", "--leaf=label:a", "label:a\n");
        check("s --leaf=label:", "--leaf=label:a", "a\n");
        check("s @", "@", "\n");
        check("s label\\:a", "label:a", "label:a\n");
        check("s \"label:a\"", "label:a", "label:a\n");
        check(r#"s label:"a\"#, "label:a", "a\n");
        check(r#"s label:"a" "#, "x", "x\n");
        check("s x: label", "label:a", "label:a\n");
        check("s label:", "other", "");
        let typed = Typed::read("s label:", " ");
        assert_eq!(typed.answer(&[Choice { value: "label:a".to_owned(), ..Choice::default() }]), "words\nlabel:a\n");
    }

    #[test]
    fn words_are_quoted_as_the_line_is() {
        let odd = "label:a b$c'd\"e`f\\g~";
        check("s label:", odd, "a\\ b\\$c\\'d\\\"e\\`f\\\\g\\~\n");
        check("s \"label:a", odd, "label:a b\\$c'd\\\"e\\`f\\\\g~\n");
        check("s 'label:a", odd, "label:a b$c'\\''d\"e`f\\g~\n");
        check("s lab\"el:a", odd, "el:a b\\$c'd\\\"e\\`f\\\\g~\n");
        check("s label:", "label:!x", "\\!x\n");
        check("s \"label:", "label:!x", "");
        check("s label:", "label:日本", "日本\n");
        check("s \"label:", "label:a\"", "");
        check("s 'label:", "label:a'", "");
        check("s \"label:", "label:a'", "label:a'\n");
    }

    #[test]
    fn what_is_quoted_is_read_back() {
        for value in
            ["a b", "a'b", "a\"b", "$HOME", "`id`", "a\\", "\\", "!!", "~", "#x", "a;b|c&d", "(x)", "*?[", "{a,b}"]
        {
            for open in ["", "'", "\""] {
                let typed = Typed::read(&format!("s {open}"), BREAKS);
                let mut quoted = String::new();
                if typed.quoted(&mut quoted, value) {
                    words(&format!("s {open}{quoted}{open}"), &["s", value]);
                }
            }
        }
    }

    #[test]
    fn paths_are_left_to_bash() {
        let choice = Choice { value: "my file".to_owned(), is_path: true, ..Choice::default() };
        assert_eq!(Typed::read("s my", BREAKS).answer(&[choice]), "paths\nmy file\n");
    }
}
