//! Completions in the form that the script of each shell in `completions/` reads: words, each with a
//! description. A word that a terminal might obey is never suggested; descriptions are escaped.

use super::entry::speaker;
use super::escape;
use super::fit;
use crate::core::entry::Traits;
use crate::core::naming::offer::{Suggestion, SuggestionReason};
use crate::core::time;

/// The most columns of a description.
const ABOUT: usize = 70;

/// A word that may come next.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Choice {
    /// The word, as the program is to get it.
    pub value: String,
    /// Its description; may be empty.
    pub about: String,
    pub is_path: bool,
}

impl Choice {
    /// Returns whether a word is safe to be shown and typed.
    pub(crate) fn is_safe(value: &str) -> bool {
        !value.is_empty() && escape::line(value) == value
    }

    /// Returns a word and its description, separated by a tab, which no safe word contains.
    fn line(&self, value: &str) -> String {
        let about = escape::line(&self.about);
        let about = fit::cut(&about, ABOUT, false);
        if about.is_empty() { format!("{value}\n") } else { format!("{value}\t{about}\n") }
    }
}

/// Returns the description of a suggested entry: whether it is the leaf or a tip, who speaks, how long
/// ago, and its words.
pub(crate) fn about(offer: &Suggestion, traits: Traits, now: i64) -> String {
    let part = match offer.reason {
        SuggestionReason::Leaf => "leaf",
        SuggestionReason::Tip => "tip",
        SuggestionReason::Prompt
        | SuggestionReason::Answer
        | SuggestionReason::Label
        | SuggestionReason::Message
        | SuggestionReason::Id => "",
    };
    let role = speaker(traits).trim_end_matches(": ");
    let age = offer.stamp.ms().map(|ms| time::ago(now.saturating_sub(ms))).unwrap_or_default();
    let known: Vec<_> = [part, role, &age].into_iter().filter(|text| !text.is_empty()).collect();
    let separator = if known.is_empty() { "" } else { ": " };
    format!("{}{separator}{}", known.join(", "), offer.words)
}

/// Returns the completions for shells that quote words themselves (elvish, fish).
pub(crate) fn plain(choices: &[Choice]) -> String {
    choices.iter().map(|choice| choice.line(&choice.value)).collect()
}

/// Returns the completions for zsh, which quotes words itself and takes a colon for the end of a word.
/// A tab marks paths.
pub(crate) fn zsh(choices: &[Choice]) -> String {
    let escaped = |choice: &Choice| {
        if choice.is_path {
            return format!("\t{}\n", choice.value);
        }
        let value = choice.value.replace('\\', "\\\\").replace(':', "\\:");
        choice.line(&value).replacen('\t', ":", 1)
    };
    choices.iter().map(escaped).collect()
}

/// Returns the completions for PowerShell, quoted where it needs that.
pub(crate) fn powershell(choices: &[Choice]) -> String {
    let quoted = |choice: &Choice| {
        let value = &choice.value;
        let is_plain = |char: char| char.is_ascii_alphanumeric() || "_-./:~=\\".contains(char);
        let is_word = value.chars().all(is_plain) && !value.starts_with('~');
        // PowerShell takes all of these for the end of a string.
        let is_quote = |char: &char| matches!(char, '\'' | '\u{2018}'..='\u{201b}');
        let doubled = value.chars().flat_map(|char| [char].into_iter().chain(Some(char).filter(is_quote)));
        choice.line(&if is_word { value.clone() } else { format!("'{}'", doubled.collect::<String>()) })
    };
    choices.iter().map(quoted).collect()
}

#[cfg(test)]
mod tests {
    use super::{Choice, plain, powershell, zsh};

    fn choice(value: &str, about: &str) -> [Choice; 1] {
        [Choice { value: value.to_owned(), about: about.to_owned(), is_path: false }]
    }

    #[test]
    fn each_shell_gets_its_own_form() {
        assert_eq!(plain(&choice("label:a b", "x\ty\u{1b}[31m")), "label:a b\tx\\ty\\x1b[31m\n");
        assert_eq!(plain(&choice("@", "")), "@\n");
        assert_eq!(zsh(&choice("label:a\\b", "user: hello")), "label\\:a\\\\b:user: hello\n");
        assert_eq!(zsh(&choice("user:1", "")), "user\\:1\n");
        assert_eq!(powershell(&choice("label:it's", "")), "'label:it''s'\n");
        assert_eq!(powershell(&choice("@", "leaf")), "'@'\tleaf\n");
        assert_eq!(powershell(&choice("user:1", "")), "user:1\n");
        assert_eq!(plain(&choice("x", &"y".repeat(200))), format!("x\t{}…\n", "y".repeat(69)));
    }

    #[test]
    fn a_word_with_control_characters_is_not_safe() {
        for value in ["", "a\nb", "a\u{1b}b", "a\u{202e}b", "a\u{2028}b", "a\tb", "a\u{7f}"] {
            assert!(!Choice::is_safe(value), "{value:?}");
        }
        assert!(Choice::is_safe("label:a b $x 日本 'q' \"q\" `q` \\"));
    }
}
