//! The excerpt around a word that was searched for, next to or in place of the words of a row. Finding
//! the word is the work of [`crate::core::search`].

use super::escape;
use super::fit;
use crate::core::search::Excerpt;

/// Rows with fewer columns than this show the excerpt alone.
const ROOM: usize = 40;

/// Returns the text of a row with an excerpt. `words` start with `speaker` and are safe to print, both. If
/// there is not enough room, the words are cut, down to a third of it.
pub(crate) fn beside(speaker: &str, words: &str, excerpt: &Excerpt, room: Option<usize>, ascii: bool) -> String {
    let mark = fit::mark(ascii);
    let room = room.unwrap_or(usize::MAX);
    let [before, word, after] = [&excerpt.before, &excerpt.word, &excerpt.after].map(|text| escape::line(text));
    let after = if excerpt.is_end { after.into_owned() } else { format!("{after} {mark}") };
    // Words that begin like the excerpt would be there twice.
    let own = words.strip_prefix(speaker).unwrap_or(words);
    let is_start = excerpt.is_start && own.strip_prefix(&*before).is_some_and(|rest| rest.starts_with(&*word));
    // The columns of the whole excerpt with its marks.
    let wanted = [&*before, &word, &after].iter().map(|text| fit::width(text)).sum::<usize>() + mark.len() + 2;
    let words = match room {
        _ if is_start => speaker.into(),
        ..ROOM => "".into(),
        // Short words stay whole.
        _ if fit::width(words) <= room / 5 * 3 => words.into(),
        _ => fit::cut(words, (room / 3).max(room.saturating_sub(wanted)), ascii),
    };
    let mut out = words.trim_end().to_owned();
    if !out.is_empty() {
        out.push(' ');
    }
    let joins = words.ends_with(mark) || is_start || (words.is_empty() && excerpt.is_start);
    let before = if joins { before.into_owned() } else { format!("{mark} {before}") };
    let left = room.saturating_sub(fit::width(&out)).saturating_sub(fit::width(&word));
    let before_room = (left / 3).max(left.saturating_sub(fit::width(&after)));
    let before = fit::cut_front(&before, before_room, ascii);
    // One mark between the two is enough.
    let before = if words.ends_with(mark) { before.trim_start_matches(mark).trim_start() } else { &before };
    let after_room = left.saturating_sub(fit::width(before));
    out.push_str(before);
    out.push_str(&word);
    out.push_str(&fit::cut(&after, after_room, ascii));
    fit::cut(&out, room, ascii).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{Excerpt, beside};

    fn check(words: &str, is_start: bool, room: usize, expected: &str) {
        let excerpt = Excerpt {
            before: "then the ".to_owned(),
            word: "login".to_owned(),
            after: " retry failed for the third".to_owned(),
            is_start,
            is_end: false,
        };
        let room = (room > 0).then_some(room);
        assert_eq!(beside("user: ", &format!("user: {words}"), &excerpt, room, false), expected);
    }

    #[test]
    fn excerpt_follows_the_words_as_far_as_there_is_room() {
        check("Fix it", false, 0, "user: Fix it … then the login retry failed for the third …");
        check("Fix it", false, 60, "user: Fix it … then the login retry failed for the third …");
        check("Fix the flaky test soon", false, 60, "user: Fix the flaky test soon …en the login retry failed fo…");
        check("Fix the flaky test soon", false, 45, "user: Fix the … en the login retry failed fo…");
        check("Fix the flaky test soon", false, 30, "…en the login retry failed fo…");
        check("Fix the flaky test soon", false, 12, "… login ret…");
        check("Fix the flaky test soon", false, 4, "log…");
    }

    #[test]
    fn excerpt_from_the_start_of_the_words_replaces_them() {
        check("then the login retry", true, 0, "user: then the login retry failed for the third …");
        // The start of another text, such as a summary, does not replace them.
        check("[compaction]", true, 0, "user: [compaction] … then the login retry failed for the third …");
        check("then the login retry", true, 30, "user: … the login retry faile…");
    }
}
