//! A search on random sessions: the prefilter rules out no entry that has the words.

use session_tree::core::search::{Prefilter, Query};
use session_tree::core::session::body::Bodies;

use super::for_each_session;

/// Takes words out of a text, each with its first character lost and in the other case.
fn words(text: &str) -> impl Iterator<Item = String> {
    let words: Vec<_> = text.split_whitespace().take(8).collect();
    let some = words.into_iter().map(|word| word.chars().skip(1).take(6).collect::<String>());
    let some: Vec<_> = some.filter(|word| !word.is_empty()).collect();
    some.into_iter().flat_map(|word| [word.to_uppercase(), word])
}

#[test]
fn prefilter_passes_every_match() {
    let count = std::cell::Cell::new((0, 0));
    for_each_session(|session, _| {
        if session.is_migrated() {
            return;
        }
        let mut bodies = Bodies::new(session);
        for node in session.nodes() {
            let row = bodies.words(node).unwrap();
            let text = bodies.entry(node).unwrap().full_text();
            let label = session.label(node).map(|label| label.name.as_str());
            for word in words(&text).chain(words(&row)).chain(["zq".to_owned(), "user".to_owned()]) {
                let query = Query::new(&word);
                let found = query.matches(bodies.entry(node).unwrap(), label, &row);
                let passes = Prefilter::new(&query).may_match(bodies.bytes(node).unwrap(), label, &row);
                assert!(passes || !found, "{word} in {row}");
                let (all, held) = count.get();
                count.set((all + 1, held + usize::from(!passes)));
            }
        }
    });
    let (all, held) = count.get();
    assert!(held > 1000 && all > 2 * held, "{held} of {all} held back");
}
