//! The place of a word that was searched for, beside or instead of the words of a row.

use super::escape;
use super::fit;
use crate::core::search::Excerpt;

/// Rows with less room than this show the place alone.
const ROOM: usize = 40;

/// Gives a row's text that shows the place. `words` are those of the row with who speaks, which is
/// `speaker`; both are safe already. Without room for both, the words give way down to a third.
pub fn beside(speaker: &str, words: &str, excerpt: &Excerpt, room: Option<usize>, ascii: bool) -> String {
    let mark = fit::mark(ascii);
    let room = room.unwrap_or(usize::MAX);
    let [before, word, after] = [&excerpt.before, &excerpt.word, &excerpt.after].map(|text| escape::line(text));
    let after = if excerpt.is_end { after.into_owned() } else { format!("{after} {mark}") };
    // Words that start like the text need not be there twice.
    let own = words.strip_prefix(speaker).unwrap_or(words);
    let is_start = excerpt.is_start && own.strip_prefix(&*before).is_some_and(|rest| rest.starts_with(&*word));
    // What the place alone takes, with its marks.
    let wanted = [&*before, &word, &after].iter().map(|text| fit::width(text)).sum::<usize>() + mark.len() + 2;
    let words = match room {
        _ if is_start => speaker.into(),
        ..ROOM => "".into(),
        // What is whole says more than two halves.
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
    // One mark says that something is missing between the two.
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
    fn the_place_stands_beside_the_words_as_far_as_there_is_room() {
        check("Fix it", false, 0, "user: Fix it … then the login retry failed for the third …");
        check("Fix it", false, 60, "user: Fix it … then the login retry failed for the third …");
        check("Fix the flaky test soon", false, 60, "user: Fix the flaky test soon …en the login retry failed fo…");
        check("Fix the flaky test soon", false, 45, "user: Fix the … en the login retry failed fo…");
        check("Fix the flaky test soon", false, 30, "…en the login retry failed fo…");
        check("Fix the flaky test soon", false, 12, "… login ret…");
        check("Fix the flaky test soon", false, 4, "log…");
    }

    #[test]
    fn a_place_near_the_start_takes_the_place_of_the_words() {
        check("then the login retry", true, 0, "user: then the login retry failed for the third …");
        // The start of another text, as that of a summary, does not.
        check("[compaction]", true, 0, "user: [compaction] … then the login retry failed for the third …");
        check("then the login retry", true, 30, "user: … the login retry faile…");
    }
}
