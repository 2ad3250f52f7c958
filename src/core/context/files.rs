//! The files that tool calls in a stretch of conversation read and changed (help rules, "Summaries").
//! They are names out of the session; nothing here looks at the files themselves.

use std::collections::BTreeSet;

use crate::core::entry::{Entry, Kind, Role};
use crate::core::error::Result;
use crate::core::json::{Object, Raw};
use crate::core::session::NodeId;
use crate::core::session::body::Bodies;

/// Paths of files, sorted. A file that was both read and modified counts as modified.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TouchedFiles {
    /// Files that were only read.
    pub read: BTreeSet<String>,
    /// Files that were written or edited.
    pub modified: BTreeSet<String>,
}

impl TouchedFiles {
    /// Collects the files that some entries name.
    pub(crate) fn of(bodies: &mut Bodies<'_>, nodes: &[NodeId]) -> Result<Self> {
        let mut files = Self::default();
        for &node in nodes {
            let traits = bodies.session().traits(node);
            match (traits.kind, traits.role) {
                (Kind::Message, Role::Assistant) => files.add_calls(bodies.entry(node)?),
                (Kind::BranchSummary, _) => files.add_summary(bodies.entry(node)?),
                _ => {}
            }
        }
        files.read.retain(|path| !files.modified.contains(path));
        Ok(files)
    }

    fn add_calls(&mut self, entry: Entry<'_>) {
        for call in entry.calls() {
            let Some(path) = call.arguments().and_then(|arguments| arguments.get_str("path")) else { continue };
            match call.name().as_deref() {
                Some("read") => drop(self.read.insert(path.into_owned())),
                Some("write" | "edit") => drop(self.modified.insert(path.into_owned())),
                _ => {}
            }
        }
    }

    /// Adds the files of an earlier summary. Extensions may mean something else by these members.
    fn add_summary(&mut self, entry: Entry<'_>) {
        let is = |name: &str| entry.get(name).is_some_and(Raw::is_true);
        if is("fromExtension") || is("fromHook") {
            return;
        }
        let details = entry.get("details");
        let list = |name: &str| details.and_then(|details| details.get(name));
        for (name, into) in [("readFiles", &mut self.read), ("modifiedFiles", &mut self.modified)] {
            let paths = list(name);
            let paths = paths.iter().flat_map(|paths| paths.elements());
            into.extend(paths.filter_map(|path| Some(path.str()?.into_owned())));
        }
    }

    /// Returns the `details` of a branch summary as JSON.
    pub(crate) fn json(&self) -> Vec<u8> {
        let mut out = Vec::new();
        Object::new(&mut out).strings("readFiles", &self.read).strings("modifiedFiles", &self.modified);
        out
    }
}

#[cfg(test)]
mod tests {
    use crate::core::session::body::Bodies;
    use crate::core::session::sample::{calls, entry, message, session};

    use super::TouchedFiles;

    /// Checks the files of some entries, written as the ones read, a bar, and the ones modified.
    #[track_caller]
    fn check(entries: &[String], expected: &str) {
        let session = session(entries);
        let nodes: Vec<_> = session.nodes().collect();
        let files = TouchedFiles::of(&mut Bodies::new(&session), &nodes).unwrap();
        let list = |paths: &std::collections::BTreeSet<String>| paths.iter().cloned().collect::<Vec<_>>().join(" ");
        assert_eq!(format!("{} | {}", list(&files.read), list(&files.modified)), expected);
    }

    #[test]
    fn files_come_from_calls_that_read_write_or_edit() {
        let call = |tool: &'static str, path: &'static str| calls("a1", "", &[(tool, path)]);
        check(&[call("read", "a")], "a | ");
        check(&[call("write", "a")], " | a");
        check(&[call("edit", "a")], " | a");
        check(&[call("grep", "a")], " | ");
        check(&[message("u1", "", "user", "read a")], " | ");
        check(&[calls("a1", "", &[("read", "z"), ("read", "B"), ("read", "é"), ("read", "z")])], "B z é | ");
        // What is modified, before or after, does not count as read.
        let both = [
            calls("a1", "", &[("read", "a"), ("read", "z"), ("bash", "b")]),
            calls("a2", "a1", &[("edit", "a"), ("write", "c"), ("read", "d")]),
            calls("a3", "a2", &[("read", "c")]),
        ];
        check(&both, "d z | a c");
        let odd =
            r#""message":{"role":"assistant","content":[{"type":"toolCall","name":"read","arguments":{"path":7}}]}"#;
        check(&[entry("message", "a1", "", odd)], " | ");
    }

    #[test]
    fn files_of_an_earlier_summary_count_unless_an_extension_made_it() {
        let summary = |members: &str| {
            let details = r#""details":{"readFiles":["r","c"],"modifiedFiles":["m",7],"more":["x"]}"#;
            entry("branch_summary", "s1", "", &format!(r#""fromId":"u1","summary":"s",{details}{members}"#))
        };
        check(&[summary("")], "c r | m");
        check(&[summary(r#","fromExtension":false,"fromHook":false"#)], "c r | m");
        check(&[summary(r#","fromExtension":true"#)], " | ");
        check(&[summary(r#","fromHook":true"#)], " | ");
        check(&[summary(""), calls("a1", "s1", &[("edit", "c"), ("read", "m")])], "r | c m");
        check(&[entry("branch_summary", "s1", "", r#""summary":"s","details":{"readFiles":"r"}"#)], " | ");
    }

    #[test]
    fn details_are_json_with_both_lists() {
        let json = |read: &[&str], modified: &[&str]| {
            let [read, modified] = [read, modified].map(|paths| paths.iter().map(|path| (*path).to_owned()).collect());
            String::from_utf8(TouchedFiles { read, modified }.json()).unwrap()
        };
        assert_eq!(json(&[], &[]), r#"{"readFiles":[],"modifiedFiles":[]}"#);
        assert_eq!(json(&["a"], &["b", "new \"q\""]), r#"{"readFiles":["a"],"modifiedFiles":["b","new \"q\""]}"#);
    }
}
