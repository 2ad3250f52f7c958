//! How much of an id names something, and how much of those of sessions is shown where there are several.

/// The fewest leading characters of an id that name it.
pub(crate) const PREFIX: usize = 4;
/// The fewest characters of an id that are shown.
const FEWEST: usize = 8;

/// Returns as much of each id as names it among all of them, at least eight characters: forks that are made
/// within a minute start alike.
pub(crate) fn short_ids(ids: &[&str]) -> Vec<String> {
    let mut sorted: Vec<_> = (0..ids.len()).collect();
    sorted.sort_unstable_by_key(|&at| ids[at]);
    let mut lengths = vec![FEWEST; ids.len()];
    for pair in sorted.windows(2) {
        let (a, b) = (ids[pair[0]], ids[pair[1]]);
        let common = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
        for &at in pair {
            lengths[at] = lengths[at].max(common + 1);
        }
    }
    ids.iter().zip(lengths).map(|(id, length)| id.chars().take(length).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::short_ids;

    #[test]
    fn ids_are_as_long_as_tells_them_apart() {
        for (ids, expected) in [
            (&[][..], &[][..]),
            (&["01a23029-aa12"], &["01a23029"]),
            (&["01a23029-aa12", "01a23029-a912"], &["01a23029-aa", "01a23029-a9"]),
            (&["01a23029-aa12", "99a23029-a912", "01a23029-ab"], &["01a23029-aa", "99a23029", "01a23029-ab"]),
            // Copies of one session, one whose id is the start of another, and short ones.
            (&["01a23029-aa12", "01a23029-aa12"], &["01a23029-aa12", "01a23029-aa12"]),
            (&["01a23029", "01a23029-aa12"], &["01a23029", "01a23029-"]),
            (&["a", "b"], &["a", "b"]),
        ] {
            assert_eq!(short_ids(ids), expected, "{ids:?}");
        }
    }
}
