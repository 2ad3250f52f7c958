//! The row texts of tool results, which are those of the calls that were kept while the lines were read.

use std::convert::Infallible;

use super::{NodeId, Session};
use crate::core::read::load::{CallLine, ResultLine, StrRef};
use crate::parallel::Pool;

impl Session {
    /// Sets the row text of tool results to that of their calls, found in the nearest assistant message above.
    pub(super) fn match_calls(&mut self, mut calls: Vec<CallLine>, results: &[ResultLine], jobs: usize) {
        /// How many results a thread looks at at once.
        const CHUNK: usize = 4096;
        if results.is_empty() {
            return;
        }
        // What was found above a line holds only where each entry hangs below the one that its line names.
        for result in results {
            self.nodes[result.entry as usize].words = StrRef::ABSENT;
        }
        let (nodes, texts) = (&self.nodes, &self.texts);
        let text_of = |node: u32| texts[nodes[node as usize].part as usize].as_str();
        for own in calls.chunk_by_mut(|a, b| a.entry == b.entry) {
            let text = text_of(own[0].entry);
            // Stable, so that the first of several with one id is found.
            own.sort_by(|a, b| a.id.of(text).cmp(b.id.of(text)));
        }
        let find = |results: &[ResultLine]| {
            // The first call of the assistant message that was found last: mostly the next result is one
            // of its calls too, or of the message after it.
            let mut near = 0;
            let mut found = Vec::new();
            for result in results {
                let id = result.call.of(text_of(result.entry));
                let call = self.callers(NodeId(result.entry)).find_map(|NodeId(node)| {
                    let is_near = calls.get(near).is_some_and(|call| call.entry == node);
                    if !is_near {
                        near = calls.partition_point(|call| call.entry < node);
                    }
                    let is_before = |call: &CallLine| (call.entry, call.id.of(text_of(call.entry))) < (node, id);
                    let call = calls.get(near + calls[near..].partition_point(is_before))?;
                    (call.entry == node && call.id.of(text_of(node)) == id).then_some(call)
                });
                found.extend(call.map(|call| (result.entry, nodes[call.entry as usize].part, call.text)));
            }
            found
        };
        // All strings are read, most of which have left the caches, so that threads help.
        let chunks: Vec<_> = results.chunks(CHUNK).collect();
        let mut found = Vec::with_capacity(results.len());
        let pool = Pool::new(jobs.min(chunks.len()), usize::MAX);
        let Ok(()) = pool.run(
            chunks.len(),
            || |at: usize| find(chunks[at]),
            |_, part| -> Result<(), Infallible> {
                found.extend(part);
                Ok(())
            },
        );
        for (result, part, shown) in found {
            let node = &mut self.nodes[result as usize];
            (node.words_part, node.words) = (part, shown);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::core::entry::Role;
    use crate::core::read::load::LoadOptions;
    use crate::core::read::source::Source;
    use crate::core::session::Session;
    use crate::core::session::body::Bodies;
    use crate::core::session::sample::{HEADER, calls, entry, message, node, result};
    use crate::random::Random;

    /// Returns lines most of which hang below the one before; how odd the others are depends on the seed.
    fn lines(seed: u64) -> Vec<String> {
        let mut numbers = Random::new(seed);
        let mut lines = vec![message("0", "", "user", "go")];
        let (odd, count) = (2 + usize::try_from(seed % 40).unwrap(), 20 + numbers.below(150));
        for at in 1..count {
            let id = if numbers.below(odd * 9) == 0 { numbers.below(at) } else { at };
            let parent = if numbers.below(odd) == 0 { numbers.below(count) } else { at - 1 };
            let (id, parent) = (id.to_string(), parent.to_string());
            let many = if numbers.below(20) == 0 { 30 } else { 4 };
            let paths: Vec<_> = (0..numbers.below(many)).map(|call| format!("{at}/{call}")).collect();
            let paths: Vec<_> = paths.iter().map(|path| ("read", path.as_str())).collect();
            lines.push(match numbers.below(10) {
                0..=2 => calls(&id, &parent, &paths),
                3..=7 => result(&id, &parent, &format!("call-{}", numbers.below(many + 1))),
                8 if seed.is_multiple_of(5) && numbers.below(9) == 0 => {
                    entry("leaf", &id, &parent, &format!(r#""targetId":"{}""#, numbers.below(at)))
                }
                _ => message(&id, &parent, "user", "and"),
            });
        }
        lines
    }

    #[test]
    fn the_kept_text_of_a_result_is_that_of_the_call_that_is_found_above_it() {
        let options = LoadOptions { words: &|_| true, calls: true, usage: false };
        let (mut with_call, mut without) = (0, 0);
        for seed in 0..60 {
            for version in ["3", "1", "null"] {
                let header = HEADER.replace(":3,", &format!(":{version},"));
                let mut file = vec![header];
                file.extend(lines(seed));
                let session = Session::load(Source::spool(file.join("\n").as_bytes()).unwrap(), options, 1).unwrap();
                let mut bodies = Bodies::new(&session);
                for node in session.nodes().filter(|&node| session.traits(node).role == Role::ToolResult) {
                    let found = bodies.call(node).unwrap();
                    assert_eq!(session.row_words(node), found.as_deref(), "{seed} {version} {}", session.line(node));
                    *(if found.is_some() { &mut with_call } else { &mut without }) += 1;
                }
            }
        }
        assert!(with_call > 899 && without > 899, "{with_call} {without}");
    }

    #[test]
    fn a_call_is_found_as_far_above_its_result_as_in_any_other_file() {
        let options = LoadOptions { words: &|_| true, calls: true, usage: false };
        for (between, expected) in [(0, Some("[read: a]")), (63, Some("[read: a]")), (64, None)] {
            // With an id twice, at the end, calls are looked up when the tree is known.
            for twice in [false, true] {
                let mut file = vec![HEADER.to_owned(), calls("0", "", &[("read", "a")])];
                file.extend((0..between).map(|at| message(&(at + 1).to_string(), &at.to_string(), "user", "x")));
                file.push(result("r", &between.to_string(), "call-0"));
                file.extend((0..2).filter(|_| twice).map(|_| message("z", "r", "user", "x")));
                let session = Session::load(Source::spool(file.join("\n").as_bytes()).unwrap(), options, 1).unwrap();
                let result = node(&session, "r").unwrap();
                assert_eq!(session.row_words(result), expected, "{between} {twice}");
            }
        }
    }
}
