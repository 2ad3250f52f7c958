//! The names that a person may have meant by one that was not found.

use super::short::PREFIX;

/// How many near misses an error lists.
const NEAR: usize = 3;

/// The names nearest to one that was not found, best first.
pub(crate) struct NearMisses<'n> {
    name: &'n str,
    best: Vec<(usize, String)>,
}

impl<'n> NearMisses<'n> {
    /// The longest name that is compared, in bytes: a longer one is not mistyped, and comparing it is slow.
    const LONGEST: usize = 64;

    /// Starts with the name that was not found.
    pub(crate) fn new(name: &'n str) -> Self {
        Self { name, best: Vec::new() }
    }

    /// Returns the near misses.
    pub(crate) fn names(self) -> Vec<String> {
        self.best.into_iter().map(|(_, name)| name).collect()
    }

    /// Returns the largest distance of a near miss; `None` if nothing is to be compared.
    fn limit(&self) -> Option<usize> {
        let is_word = !self.name.is_empty() && self.name.len() <= Self::LONGEST;
        is_word.then(|| (self.name.chars().count() / 3).clamp(1, 3))
    }

    /// Compares `name`, which may be a part of the whole one, with a label.
    pub(super) fn add_label(&mut self, label: &str, name: &str) {
        let Some(limit) = self.limit().filter(|_| label.len() <= Self::LONGEST) else { return };
        let far = strsim::levenshtein(label, name);
        if far <= limit.max(2) {
            self.add(far, || format!("label:{label}"));
        }
    }

    /// Compares the name with an id.
    pub(crate) fn add_id(&mut self, id: &str) {
        let (Some(limit), name) = (self.limit(), self.name) else { return };
        // The start of an id is compared with a start of the same length.
        let length = name.chars().count().max(PREFIX);
        let head = id.char_indices().nth(length).map_or(id, |(at, _)| &id[..at]);
        let is_start = id.starts_with(name) || head.eq_ignore_ascii_case(name);
        let far = if is_start { 0 } else { strsim::levenshtein(head, name) };
        if far <= limit {
            self.add(far, || id.to_owned());
        }
    }

    fn add(&mut self, far: usize, name: impl FnOnce() -> String) {
        let at = self.best.partition_point(|(other, _)| *other <= far);
        if at < NEAR {
            self.best.insert(at, (far, name()));
            self.best.truncate(NEAR);
        }
    }
}
