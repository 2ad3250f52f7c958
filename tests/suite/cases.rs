//! Damaged and odd session files that users of agents met in public, and what is right for each.
//!
//! `tests/data/cases` holds the files as they were reported, cut to the fewest lines. The table
//! says what reading must find in each; the tests after it look closer where a case has a point
//! of its own.

use std::fs;
use std::path::PathBuf;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use session_tree::core::context::message;
use session_tree::core::context::{self, Context};
use session_tree::core::error::Error;
use session_tree::core::error::problem::Problem;
use session_tree::core::naming;
use session_tree::core::read::load::LoadOptions;
use session_tree::core::read::source::Source;
use session_tree::core::session::body::Bodies;
use session_tree::core::session::{NodeId, Session};
use session_tree::core::tree::walk;
use session_tree::ui::entry::ShortIds;
use unicode_width::UnicodeWidthStr;

use crate::support::{self, Run};

/// What reading must find in a file.
#[derive(Debug, PartialEq)]
struct Case<S> {
    file: S,
    entries: usize,
    /// Ids, in the order of the file.
    roots: S,
    /// Ids from the root to the leaf.
    path: S,
    /// The roles of the context at the leaf.
    messages: S,
    /// Targets and names, in the order in which the targets were first labelled.
    labels: S,
    /// Lines and kinds of what is odd in the file.
    problems: S,
    /// Lines and kinds of what is odd in the context.
    warnings: S,
}

const PLAIN: Case<&str> = Case {
    file: "",
    entries: 4,
    roots: "a0000001",
    path: "a0000001 a0000002 a0000003 a0000004",
    messages: "user assistant user assistant",
    labels: "",
    problems: "",
    warnings: "",
};

const CASES: &[Case<&str>] = &[
    Case {
        file: "d15-child-before-parent",
        entries: 5,
        path: "a0000001 a0000002 b1000001",
        messages: "user assistant user",
        ..PLAIN
    },
    Case {
        file: "d16-cost-of-all-branches",
        entries: 6,
        path: "a0000001 a0000005 a0000006",
        messages: "user user assistant",
        ..PLAIN
    },
    Case { file: "d17-cost-of-subagents", messages: "user assistant toolResult assistant", ..PLAIN },
    Case { file: "d24-usage-without-cost", entries: 2, path: "a0000001 a0000002", messages: "user assistant", ..PLAIN },
    Case { file: "d25-blob-in-text", entries: 2, path: "a0000001 a0000002", messages: "user assistant", ..PLAIN },
    Case {
        file: "d26-cut-after-colon",
        entries: 1,
        path: "a0000001",
        messages: "user",
        problems: "3 unfinished-line",
        ..PLAIN
    },
    Case { file: "d27-parent-is-session", entries: 2, path: "a0000001 a0000002", messages: "user assistant", ..PLAIN },
    Case { file: "d22-title-slot-short", entries: 2, path: "a0000001 a0000002", messages: "user assistant", ..PLAIN },
    Case {
        file: "d23-title-line-no-slot",
        entries: 2,
        path: "a0000001 a0000002",
        messages: "user assistant",
        problems: "1 foreign-line",
        ..PLAIN
    },
    Case { file: "c01-truncated-tail", problems: "6 unfinished-line", ..PLAIN },
    Case {
        file: "c03-fused-prefix-plus-entry",
        entries: 3,
        roots: "a0000001 a0000005",
        path: "a0000005",
        messages: "assistant",
        problems: "4 malformed-line, 5 orphan",
        warnings: "5 unreachable",
        ..PLAIN
    },
    Case {
        file: "c06-nul-block",
        entries: 5,
        path: "a0000001 a0000002 a0000003 a0000004 a0000005",
        messages: "user assistant user assistant user",
        problems: "5 malformed-line",
        ..PLAIN
    },
    Case {
        file: "c06b-nul-prefix-same-line",
        roots: "a0000001 a0000005",
        path: "a0000005",
        messages: "user",
        problems: "5 malformed-line, 6 orphan",
        warnings: "6 unreachable",
        ..PLAIN
    },
    Case { file: "c08-bom", ..PLAIN },
    Case {
        file: "c10-unicode-line-separators",
        messages: "user assistant user",
        labels: "a0000001=sep\u{2028}label",
        ..PLAIN
    },
    Case { file: "c11-lone-high-surrogate", messages: "user toolResult assistant user", ..PLAIN },
    Case { file: "c13-title-slot-first", ..PLAIN },
    Case {
        file: "c19-second-header-replayed-prefix",
        messages: "user assistant user",
        problems: "4 second-header, 5 duplicate-id, 6 duplicate-id",
        ..PLAIN
    },
    Case { file: "c21-header-odd-fields", ..PLAIN },
    Case {
        file: "c23-cycle",
        entries: 5,
        roots: "a0000001 b0000001",
        messages: "user assistant user user",
        problems: "2 cycle, 5 cycle",
        ..PLAIN
    },
    Case {
        file: "c24-orphan-parent",
        entries: 5,
        roots: "a0000001 a0000006",
        path: "a0000006 a0000007",
        messages: "user assistant",
        problems: "5 orphan",
        warnings: "5 unreachable",
        ..PLAIN
    },
    Case { file: "c25-foreign-marker-last", problems: "6 foreign-line", ..PLAIN },
    Case {
        file: "c28-two-roots",
        entries: 5,
        roots: "a0000001 b0000001",
        path: "b0000001 b0000002",
        messages: "user assistant",
        ..PLAIN
    },
    Case {
        file: "c30-two-writers",
        entries: 7,
        path: "a0000001 a0000002 a0000003 a0000004 a0000005",
        messages: "user assistant user assistant user",
        ..PLAIN
    },
    Case {
        file: "c32-labels-in-chain",
        entries: 10,
        path: "a0000001 a0000002 a0000003 a0000004 a0000005 a0000006 a0000007 a0000008",
        messages: "user assistant user assistant user",
        labels: "a0000001=renamed start, a0000003=good answer, b0000001=side",
        ..PLAIN
    },
    Case {
        file: "c35-compaction-boundary-missing",
        entries: 7,
        path: "a0000001 a0000002 a0000003 a0000004 f0000001 a0000005 a0000006",
        messages: "compactionSummary user assistant",
        warnings: "6 kept-range-unknown",
        ..PLAIN
    },
    Case {
        file: "c37-compaction-boundary-self",
        entries: 7,
        path: "a0000001 a0000002 a0000003 a0000004 f0000001 a0000005 a0000006",
        messages: "compactionSummary user assistant",
        ..PLAIN
    },
    Case {
        file: "c38-two-compactions-orphan-result",
        entries: 10,
        path: "a0000001 a0000002 a0000003 a0000004 f0000001 a0000005 a0000006 a0000007 f0000002 a0000008",
        messages: "compactionSummary toolResult assistant user assistant",
        ..PLAIN
    },
    Case { file: "c41-fork-at-first-message", ..PLAIN },
    Case {
        file: "c44-dangling-tool-calls",
        entries: 6,
        path: "a0000001 a0000002 a0000003 b0000001",
        messages: "user assistant toolResult user",
        ..PLAIN
    },
    Case {
        file: "c46-null-content",
        entries: 6,
        path: "a0000001 a0000002 a0000003 a0000004 a0000005 a0000006",
        messages: "user assistant user toolResult custom user",
        ..PLAIN
    },
    Case {
        file: "c48-malformed-messages",
        entries: 7,
        path: "a0000001 a0000002 a0000003 a0000004 a0000005 a0000006 a0000007",
        messages: "user assistant user",
        warnings: "4 malformed-message, 5 malformed-message, 6 malformed-message, 7 malformed-message",
        ..PLAIN
    },
    Case {
        file: "c51-non-object-lines",
        entries: 3,
        path: "a0000001 a0000002",
        messages: "user assistant",
        problems: "3 malformed-line, 4 malformed-line, 5 malformed-line, 6 malformed-line, 7 malformed-line, \
                   8 foreign-line, 11 malformed-line",
        ..PLAIN
    },
    Case {
        file: "c52-v2-hook-message",
        entries: 3,
        path: "a0000001 a0000002 a0000003",
        messages: "user custom assistant",
        ..PLAIN
    },
    Case {
        file: "c54-newer-version",
        entries: 3,
        path: "a0000001 a0000002 a0000003",
        messages: "user assistant",
        problems: "1 newer-version",
        ..PLAIN
    },
    Case {
        file: "c56-omp-only-types",
        entries: 11,
        path: "a0000001 a0000002 a0000003 a0000004 a0000005 a0000006 a0000007 a0000008 a0000009 a000000a a000000b",
        messages: "user assistant",
        ..PLAIN
    },
    Case {
        file: "c58-non-iso-timestamps",
        entries: 7,
        path: "a0000001 a0000002 a0000003 a0000004 a0000005 a0000006 a0000007",
        messages: "user assistant user assistant user assistant user",
        ..PLAIN
    },
    Case { file: "c61-deep-json-nesting", messages: "user assistant toolResult assistant", ..PLAIN },
    Case {
        file: "c65-escapes-in-text",
        entries: 3,
        path: "a0000001 a0000002 a0000003",
        messages: "user assistant user",
        ..PLAIN
    },
    Case {
        file: "c67-wide-text",
        entries: 7,
        path: "a0000001 a0000002 a0000003 a0000004 a0000005 a0000006 a0000007",
        messages: "user assistant user assistant user",
        labels: LONG_LABEL,
        ..PLAIN
    },
    Case { file: "c75-session-id-traversal", ..PLAIN },
    Case {
        file: "c80-ambiguous-id-prefix",
        entries: 6,
        roots: "abcd0001",
        path: "abcd0001 abcd0002 abcd 7f1c9d2e-1111-4222-8333-444455556666 ABCD0001 1234567890123456",
        messages: "user assistant user assistant user user",
        ..PLAIN
    },
    Case {
        file: "c81-session-name",
        entries: 6,
        path: "a0000001 a0000002 a0000005 a0000006",
        messages: "user",
        ..PLAIN
    },
    Case {
        file: "d09-system-sections",
        entries: 6,
        messages: "system user assistant system user assistant",
        path: "a0000001 a0000002 a0000003 a0000004 a0000005 a0000006",
        ..PLAIN
    },
    Case { file: "d11-prompt-of-images", ..PLAIN },
    Case { file: "d12-skill-prompt", messages: "custom assistant user assistant", ..PLAIN },
    Case {
        file: "d14-search-normalization",
        entries: 2,
        messages: "user assistant",
        path: "a0000001 a0000002",
        ..PLAIN
    },
    Case {
        file: "d20-openclaw-leaf",
        entries: 5,
        roots: "root",
        path: "root ans new1",
        messages: "user assistant user",
        ..PLAIN
    },
    Case { file: "d21-openclaw-reset", entries: 3, roots: "r1", path: "r1 rs r2", messages: "user", ..PLAIN },
    Case {
        file: "d32-patches-of-a-fork",
        entries: 2,
        roots: "aaaa0001",
        path: "aaaa0001 aaaa0002",
        messages: "user assistant",
        problems: "1 newer-version, 4 patch-line",
        ..PLAIN
    },
];

/// Files that are no sessions: the kind of the failure, and the line that it names.
const REFUSED: [(&str, &str, Option<u32>); 8] = [
    ("c15-corrupt-header", "not-a-session", Some(1)),
    ("c17-empty", "empty", None),
    ("c17b-only-newlines", "empty", None),
    ("d10-event-stream", "foreign-format", None),
    ("d28-header-v4", "foreign-format", None),
    ("d29-claude", "foreign-format", None),
    ("d30-codex", "foreign-format", None),
    ("d31-compressed.jsonl", "foreign-format", None),
];

/// Every way of reading, and whether it prints JSON.
const COMMANDS: [(&[&str], bool); 19] = [
    (&["tree"], false),
    (&["tree", "--filter", "all", "--ascii"], false),
    (&["tree", "--filter", "all", "--format", "table"], false),
    (&["tree", "--filter", "all", "--format", "jsonl", "--full"], true),
    (&["tree", "--format", "json"], true),
    (&["tree", "--entry", "@"], false),
    (&["context"], false),
    (&["context", "--format", "markdown", "--stats"], false),
    (&["context", "--format", "json"], true),
    (&["context", "--format", "llm"], true),
    (&["context", "--stats"], false),
    (&["context", "--stats", "--json"], true),
    (&["context", "--diff", "@"], false),
    (&["context", "--diff", "@", "--json"], true),
    (&["label"], false),
    (&["label", "--json"], true),
    (&["branch"], false),
    (&["branch", "--format", "table"], false),
    (&["branch", "--format", "jsonl"], true),
];

fn path(file: &str) -> PathBuf {
    let ending = if file.ends_with(".jsonl") { "zst" } else { "jsonl" };
    support::data(&format!("cases/{file}.{ending}"))
}

fn bytes(file: &str) -> Vec<u8> {
    fs::read(path(file)).unwrap()
}

fn session(file: &str) -> Session {
    support::session(&bytes(file))
}

/// Runs the binary on a case: the command, the file, then what follows.
fn run(command: &str, file: &str, rest: &[&str]) -> Run {
    let path = path(file);
    let mut args = vec![command, path.to_str().unwrap()];
    args.extend(rest);
    support::run(args)
}

fn ids(session: &Session, nodes: &[NodeId]) -> String {
    nodes.iter().map(|&node| session.id(node)).collect::<Vec<_>>().join(" ")
}

fn listed(problems: &[Problem]) -> String {
    let one = |problem: &Problem| format!("{} {}", problem.line.unwrap_or(0), problem.kind.name());
    problems.iter().map(one).collect::<Vec<_>>().join(", ")
}

fn context(session: &Session) -> Context {
    context::build(&mut Bodies::new(session), session.leaf()).unwrap()
}

/// Returns the messages of the context at the leaf, as bytes.
fn messages(session: &Session) -> Vec<Vec<u8>> {
    let mut bodies = Bodies::new(session);
    let message = |item: &_| {
        let mut out = Vec::new();
        message::write(&mut out, &mut bodies, item).unwrap();
        out
    };
    context(session).messages.iter().map(message).collect()
}

/// Returns the rows of `tree --format jsonl` with some of their members.
fn rows<'m>(file: &str, members: impl IntoIterator<Item = &'m str> + Clone) -> Vec<Value> {
    let rows = run("tree", file, &["--filter", "all", "--format", "jsonl"]).json_lines();
    rows.iter().map(|row| members.clone().into_iter().map(|name| row[name].clone()).collect()).collect()
}

#[test]
fn reading_finds_what_is_there() {
    for expected in CASES {
        let session = session(expected.file);
        let role = |message: Vec<u8>| {
            let role = session_tree::core::json::Raw::new(&message).get_str("role").map(|role| role.into_owned());
            role.unwrap_or_default()
        };
        let labels = session.labels().iter().map(|label| format!("{}={}", label.target_id, label.name));
        let context = context(&session);
        let found = Case {
            file: expected.file.to_owned(),
            entries: session.count(),
            roots: ids(&session, session.roots()),
            path: ids(&session, &walk::path(&session, session.leaf())),
            messages: messages(&session).into_iter().map(role).collect::<Vec<_>>().join(" "),
            labels: labels.collect::<Vec<_>>().join(", "),
            problems: listed(&session.problems.list()),
            warnings: listed(&context.problems.list()),
        };
        let Case { file, entries, roots, path, messages, labels, problems, warnings } = *expected;
        let own = str::to_owned;
        let expected = Case {
            file: own(file),
            entries,
            roots: own(roots),
            path: own(path),
            messages: own(messages),
            labels: own(labels),
            problems: own(problems),
            warnings: own(warnings),
        };
        assert_eq!(found, expected);
    }
}

#[test]
fn table_has_every_case_file() {
    let files = fs::read_dir(support::data("cases")).unwrap().map(|file| file.unwrap().path());
    let mut files: Vec<_> = files.map(|path| path.file_stem().unwrap().to_string_lossy().into_owned()).collect();
    files.sort();
    let mut known: Vec<_> = CASES.iter().map(|case| case.file).chain(REFUSED.map(|(file, ..)| file)).collect();
    known.sort_unstable();
    assert_eq!(files, known);
}

/// Every command on every file: no failure, no byte that a terminal obeys, whole JSON, messages
/// that a program can read, and the file as it was.
#[test]
fn every_command_can_read_every_file() {
    for case in CASES {
        let before = bytes(case.file);
        let expected: Vec<_> = case.problems.split(", ").filter(|problem| !problem.is_empty()).collect();
        for (command, is_json) in COMMANDS {
            let run = run(command[0], case.file, &command[1..]);
            let what = format!("{command:?} on {}: {run:?}", case.file);
            assert_eq!(run.code, 0, "{what}");
            let is_safe = |char: char| char == '\n' || !char.is_control();
            assert!(run.stderr.chars().all(is_safe), "{what}");
            if is_json {
                assert!(run.stdout.lines().all(|line| serde_json::from_str::<&RawValue>(line).is_ok()), "{what}");
                let warnings = run.stderr.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
                let warnings = warnings.map(|line| line["warning"].clone());
                let warnings = warnings.map(|it| format!("{} {}", it["line"], it["kind"].as_str().unwrap()));
                let found: Vec<_> = warnings.collect();
                assert!(expected.iter().all(|problem| found.contains(&(*problem).to_owned())), "{what}");
            } else {
                assert!(run.stdout.chars().all(is_safe), "{what}");
                let file = path(case.file).display().to_string();
                for problem in &expected {
                    let place = format!("warning: {file}:{}: ", problem.split(' ').next().unwrap());
                    assert!(run.stderr.contains(&place), "{place} in {what}");
                }
            }
        }
        assert!(bytes(case.file) == before, "{}", case.file);
    }
}

#[test]
fn d10_d28_d31_other_formats_are_named_with_what_to_do() {
    for (file, format, remedy) in [
        ("d10-event-stream", "event-stream", "name it by the `id` of line 1"),
        ("d28-header-v4", "pi-agent-core", "the program that wrote it opens it"),
        ("d29-claude", "claude-code", "`omp --from-claude` imports"),
        ("d30-codex", "codex", "`omp --from-codex` imports"),
        ("d31-compressed.jsonl", "zstd", "d31-compressed.jsonl.zst | session-tree tree -` reads it"),
    ] {
        let failed = run("context", file, &["--json"]);
        let error = &serde_json::from_str::<Value>(&failed.stderr).unwrap()["error"];
        assert_eq!(error["format"], format);
        assert!(error["hint"].as_str().unwrap().contains(remedy), "{error}");
        let found = run("check", file, &["--json"]);
        let finding = serde_json::from_str::<Value>(&found.stdout).unwrap()[0].take();
        assert_eq!((found.code, &finding["code"], &finding["message"]), (1, &json!("E001"), &error["message"]));
        assert!(finding["fix"].as_str().unwrap().contains(remedy), "{finding}");
        // Nobody should put a header before it.
        assert!(!finding["fix"].as_str().unwrap().contains("header"), "{finding}");
    }
}

#[test]
fn d32_changes_by_lines_are_named_once() {
    let many = [bytes("d32-patches-of-a-fork"), b"{\"type\":\"entry_patch\",\"entryId\":\"x\"}\n".repeat(50)].concat();
    assert_eq!(listed(&support::session(&many).problems.list()), "1 newer-version, 4 patch-line");
    for check in [run("check", "d32-patches-of-a-fork", &[]), support::run_with_input(["check", "-"], &many)] {
        let codes: Vec<_> = check.stdout.split('[').skip(1).map(|rest| &rest[..4]).collect();
        assert_eq!((check.code, codes), (0, vec!["W003", "W007"]), "{}", check.stdout);
    }
}

#[test]
fn file_that_is_not_a_session_is_refused() {
    for (file, kind, line) in REFUSED {
        let error = Session::load(Source::spool(&bytes(file)[..]).unwrap(), LoadOptions::INDEX_ONLY, 1).unwrap_err();
        assert_eq!((error.kind().name(), error.line()), (kind, line), "{file}");
        for (command, is_json) in COMMANDS {
            let run = run(command[0], file, &command[1..]);
            let what = format!("{command:?} on {file}: {run:?}");
            assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{what}");
            if is_json {
                let error = &serde_json::from_str::<Value>(&run.stderr).unwrap()["error"];
                assert_eq!(error["kind"], kind, "{what}");
                assert_eq!(error["line"], json!(line), "{what}");
                assert_eq!(error["path"], path(file).to_str().unwrap(), "{what}");
            } else {
                assert!(run.stderr.starts_with(&format!("error: {}", path(file).display())), "{what}");
            }
        }
    }
    let run = run("tree", "c17-empty", &[]);
    assert!(run.stderr.ends_with(": empty file, not a session\n"), "{run:?}");
}

#[test]
fn c01_unfinished_last_line_is_named_with_its_byte() {
    let bytes = bytes("c01-truncated-tail");
    let start = bytes.iter().rposition(|&byte| byte == b'\n').unwrap() + 1;
    let problems = session("c01-truncated-tail").problems.list();
    assert!(problems[0].message.starts_with("unfinished"), "{problems:?}");
    assert!(problems[0].message.contains(&format!("at byte {start}:")), "{problems:?}");
}

#[test]
fn c03_c06_whole_entry_after_damage_is_reported() {
    for (file, what) in [("c03-fused-prefix-plus-entry", "a fragment"), ("c06b-nul-prefix-same-line", "NUL bytes")] {
        let problems = session(file).problems.list();
        let start = format!("{what} and a complete record (from byte ");
        let rest = problems[0].message.strip_prefix(&start).expect(&problems[0].message);
        let at: usize = rest.split(')').next().unwrap().parse().unwrap();
        let bytes = bytes(file);
        let lines: Vec<_> = bytes.split(|&byte| byte == b'\n').collect();
        let line = lines.into_iter().find(|line| serde_json::from_slice::<Value>(line).is_err()).unwrap();
        let record: Value = serde_json::from_slice(&line[at - 1..]).unwrap();
        assert_eq!(record["id"], "a0000004", "{file}");
    }
    let problems = session("c06-nul-block").problems.list();
    assert!(problems[0].message.contains("256 NUL bytes"), "{problems:?}");
}

#[test]
fn c10_only_a_line_feed_ends_a_line() {
    let text = run("tree", "c10-unicode-line-separators", &["--filter", "all"]).ok();
    assert_eq!(text.lines().count(), 5, "{text}");
    assert!(!text.contains(['\u{2028}', '\u{2029}', '\u{85}']), "{text:?}");
    let context = run("context", "c10-unicode-line-separators", &["--json"]).ok();
    assert!(context.contains("before\u{2028}after\u{2029}end\u{85}next"), "{context}");
    let label = &run("label", "c10-unicode-line-separators", &["--json"]).json()[0];
    assert_eq!(label["label"], "sep\u{2028}label");
}

#[test]
fn c11_lone_surrogate_prints_as_replacement_and_is_copied_unchanged() {
    let context = run("context", "c11-lone-high-surrogate", &["--json"]).ok();
    assert!(context.contains(r"key \ud83d... cut"), "{context}");
    let text = run("tree", "c11-lone-high-surrogate", &["--entry", "a0000002"]).ok();
    assert!(text.contains("key \u{fffd}... cut"), "{text}");
}

#[test]
fn c13_c81_session_name_is_found() {
    let check = |file: &str, name: Option<&str>, heading: &str| {
        assert_eq!(session(file).name(), name, "{file}");
        let text = run("tree", file, &[]).ok();
        assert!(text.starts_with(&format!("{heading}  ·  ")), "{text}");
    };
    // The slot wins over the header.
    check("c13-title-slot-first", Some("Fix the build — part 2"), "Fix the build — part 2");
    check("c56-omp-only-types", Some("omp types"), "omp types");
    // A slot of another size is one; a title line that omp does not take for one is not.
    check("d22-title-slot-short", Some("Tides"), "Tides");
    check("d23-title-line-no-slot", None, "Where does the tide table end?");
    // The last one is blank, so the first prompt stands in.
    check("c81-session-name", None, "q");
    // Before that there was one of two lines.
    let bytes = bytes("c81-session-name");
    let mut lines: Vec<_> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
    lines.truncate(5);
    assert_eq!(support::session(&lines.concat()).name(), Some("two line name"));
}

#[test]
fn c19_duplicate_id_counts_once_at_its_last_line() {
    let lines: Vec<_> = rows("c19-second-header-replayed-prefix", ["id", "line", "depth", "children"]);
    let expected = [
        json!(["a0000001", 5, 0, 1]),
        json!(["a0000002", 6, 1, 1]),
        json!(["a0000003", 7, 2, 1]),
        json!(["a0000004", 8, 3, 0]),
    ];
    assert_eq!(lines, expected);
}

#[test]
fn c21_odd_header_members_do_no_harm() {
    let session = session("c21-header-odd-fields");
    assert_eq!(session.version, 3);
    assert_eq!(session.header.cwd, None);
    assert_eq!(session.header.stamp.ms(), Some(1_767_607_200_000));
}

#[test]
fn c23_a_cycle_is_cut_at_its_first_entry() {
    let rows = rows("c23-cycle", ["id", "parentId", "depth"]);
    let expected = [
        json!(["a0000001", null, 0]),
        json!(["a0000002", "a0000001", 1]),
        json!(["a0000003", "a0000002", 2]),
        json!(["a0000004", "a0000003", 3]),
        json!(["b0000001", null, 0]),
    ];
    assert_eq!(rows, expected);
}

#[test]
fn c24_orphan_names_its_parent_and_context_warns() {
    let text = run("tree", "c24-orphan-parent", &[]).ok();
    let row = text.lines().find(|line| line.starts_with("a0000006")).unwrap();
    assert!(row.ends_with("user: after the gap  (parent a00000ff missing)"), "{row}");
    assert_eq!(
        rows("c24-orphan-parent", ["id", "parentId", "missingParent"])[0],
        json!(["a0000006", null, "a00000ff"])
    );
    let problems = context(&session("c24-orphan-parent")).problems.list();
    assert!(problems[0].message.contains("`a00000ff` is missing: 3 earlier entries"), "{problems:?}");
}

#[test]
fn c25_a_foreign_line_is_never_the_leaf() {
    let session = session("c25-foreign-marker-last");
    assert_eq!(session.leaf().map(|leaf| session.id(leaf)), Some("a0000004"));
    assert_eq!(session.find("11111111-2222-4333-8444-555555555555"), None);
}

#[test]
fn c28_c30_the_active_branch_comes_first() {
    let shape = |file: &str| rows(file, ["id", "depth", "active", "leaf"]);
    let expected = [
        json!(["b0000001", 0, true, false]),
        json!(["b0000002", 1, true, true]),
        json!(["a0000001", 0, false, false]),
        json!(["a0000002", 1, false, false]),
        json!(["a0000003", 2, false, false]),
    ];
    assert_eq!(shape("c28-two-roots"), expected);
    assert_eq!(run("tree", "c28-two-roots", &[]).stderr, "");
    let expected = [
        json!(["a0000001", 0, true, false]),
        json!(["a0000002", 1, true, false]),
        json!(["a0000003", 2, true, false]),
        json!(["a0000004", 3, true, false]),
        json!(["a0000005", 4, true, true]),
        json!(["b0000003", 2, false, false]),
        json!(["b0000004", 3, false, false]),
    ];
    assert_eq!(shape("c30-two-writers"), expected);
    let session = session("c30-two-writers");
    assert_eq!(ids(&session, session.children(session.find("a0000002").unwrap())), "a0000003 b0000003");
    assert_eq!(ids(&session, &walk::tips(&session)), "b0000004 a0000005");
}

#[test]
fn c32_labels_are_listed_in_the_order_of_setting() {
    let labels = run("label", "c32-labels-in-chain", &["--json"]).json();
    let time = |second: &str| format!("2026-01-05T10:00:{second}.000Z");
    let expected = json!([
        {"id": "a0000003", "label": "good answer", "timestamp": time("04"), "exists": true, "text": "a1"},
        {"id": "a0000001", "label": "renamed start", "timestamp": time("05"), "exists": true, "text": "q1"},
        {"id": "b0000001", "label": "side", "timestamp": time("09"), "exists": true, "text": "other branch"},
    ]);
    assert_eq!(labels, expected);
}

#[test]
fn c35_c37_c38_only_the_last_compaction_counts() {
    let first = |file: &str| -> Value { serde_json::from_slice(&messages(&session(file))[0]).unwrap() };
    for (file, summary, time) in [
        ("c35-compaction-boundary-missing", "summary of earlier turns", 1_767_607_208_000_u64),
        ("c37-compaction-boundary-self", "summary of earlier turns", 1_767_607_208_000),
        ("c38-two-compactions-orphan-result", "second summary", 1_767_607_210_000),
    ] {
        let expected =
            json!({"role": "compactionSummary", "summary": summary, "tokensBefore": 1234, "timestamp": time});
        assert_eq!(first(file), expected, "{file}");
    }
    let problems = context(&session("c35-compaction-boundary-missing")).problems.list();
    assert!(problems[0].message.contains("`a00000ff`"), "{problems:?}");
}

#[test]
fn c46_missing_content_is_shown_and_kept() {
    let texts = rows("c46-null-content", ["text"]);
    let expected = ["(no content)", "(no content)", "(no content)", "[bash]", "[ext]: (no content)", "real text"];
    assert_eq!(texts, expected.map(|text| json!([text])));
    let contents = |format: &str| -> Vec<Value> {
        let json = run("context", "c46-null-content", &["--format", format]).json();
        let messages = if json.is_array() { &json } else { &json["messages"] };
        messages.as_array().unwrap().iter().map(|message| message["content"].clone()).collect()
    };
    assert_eq!(contents("json"), [json!(null), json!(null), json!(null), json!(null), json!(null), json!("real text")]);
    assert_eq!(contents("llm"), [json!([]), json!([]), json!([]), json!([]), json!([]), json!("real text")]);
    // What is called the first prompt has words.
    let text = run("tree", "c46-null-content", &[]).ok();
    assert!(text.starts_with("real text  ·  "), "{text}");
}

#[test]
fn c48_malformed_messages_are_shown_as_such() {
    let texts = rows("c48-malformed-messages", ["text"]);
    let expected = [
        "go",
        "(no content)",
        "[malformed message]",
        "[malformed message]",
        "[malformed message]",
        "[malformed message: role martian]",
        "end",
    ];
    assert_eq!(texts, expected.map(|text| json!([text])));
    let entry = run("tree", "c48-malformed-messages", &["--entry", "a0000002"]).ok();
    assert!(entry.contains("[call bash: null]\n[call (no name): ]\n"), "{entry}");
}

#[test]
fn c51_an_object_without_type_is_an_entry_if_it_has_an_id() {
    let rows = rows("c51-non-object-lines", ["id", "parentId", "type", "line", "text", "timestamp"]);
    assert_eq!(rows[2], json!(["a0000009", "a0000001", null, 9, "[unknown type]", null]));
}

#[test]
fn c52_an_old_version_shows_as_migrated_and_nothing_else_changes() {
    assert_eq!(rows("c52-v2-hook-message", ["role"])[1], json!(["custom"]));
    let stored = String::from_utf8(bytes("c52-v2-hook-message")).unwrap();
    let line = stored.lines().find(|line| line.contains("hookMessage")).unwrap();
    let entry = run("tree", "c52-v2-hook-message", &["--entry", "a0000002", "--format", "json"]).ok();
    assert_eq!(entry.trim_end(), line.replace("hookMessage", "custom"));
}

#[test]
fn c54_c56_unknown_types_are_shown_by_name() {
    let types = |file: &str| rows(file, ["type", "text"]);
    assert_eq!(types("c54-newer-version")[1], json!(["segment", "[segment]"]));
    let message = &session("c54-newer-version").problems.list()[0].message;
    assert!(message.contains("version 4"), "{message}");
    let types = types("c56-omp-only-types");
    assert_eq!(types[9], json!(["from_the_future", "[from_the_future]"]));
    assert!(types.iter().all(|row| row[1].as_str().is_some_and(|text| !text.is_empty())), "{types:?}");
    let state = context(&session("c56-omp-only-types")).settings;
    assert_eq!((state.mode.as_str(), state.mode_data.as_deref()), ("plan", Some(r#"{"planFile":"PLAN.md"}"#)));
    assert_eq!(state.models.get("default").map(String::as_str), Some("acme/m-1"));
    assert_eq!((state.service_tier, state.ttsr_rules), (None, vec!["no-todo".to_owned()]));
}

#[test]
fn c58_times_of_any_spelling_are_read() {
    let session = session("c58-non-iso-timestamps");
    let times: Vec<_> = session.nodes().map(|node| session.stamp(node).ms()).collect();
    let known = |ms: i64| Some(1_767_607_200_000 + ms);
    let midnight = known(-10 * 60 * 60 * 1000);
    assert_eq!(times, [known(1500), known(2000), None, None, known(5000), midnight, known(7000)]);
    assert_eq!(session.header.stamp.ms(), known(875));
    let stored = rows("c58-non-iso-timestamps", ["timestamp"]);
    assert_eq!(stored[0], json!([1_767_607_201.5]));
    assert_eq!(stored[2..5], [json!([null]), json!(["yesterday"]), json!(["2026-01-05T11:00:05+01:00"])]);
    let table = run("tree", "c58-non-iso-timestamps", &["--format", "table"]).ok();
    let when: Vec<_> = table.lines().skip(1).map(|line| line.get(10..26).unwrap_or("").trim()).collect();
    let (at_ten, unknown) = ("2026-01-05 10:00", "-");
    assert_eq!(when, [at_ten, at_ten, unknown, unknown, at_ten, "2026-01-05 00:00", at_ten], "{table}");
}

#[test]
fn c58_siblings_are_ordered_by_time_and_unknown_times_come_last() {
    let mut text = String::from_utf8(bytes("c58-non-iso-timestamps")).unwrap();
    for at in 2..=6 {
        text = text.replace(&format!(r#""parentId":"a000000{at}""#), r#""parentId":"a0000001""#);
    }
    let session = support::session(text.as_bytes());
    let children = session.children(session.find("a0000001").unwrap());
    assert_eq!(ids(&session, children), "a0000006 a0000002 a0000005 a0000007 a0000003 a0000004");
}

#[test]
fn c61_nesting_of_any_depth_is_read() {
    let file = "c61-deep-json-nesting";
    let stored = String::from_utf8(bytes(file)).unwrap();
    let message = stored.lines().nth(2).unwrap().split_once(r#""message":"#).unwrap().1;
    assert_eq!(messages(&session(file))[1], message.as_bytes()[..message.len() - 1]);
    // As deep as a hostile file may be: a parser or a printer that recurses overflows its stack.
    let deep = 100_000;
    let shallow = stored.lines().nth(2).unwrap();
    let (before, behind) = shallow.split_once(r#""arguments":"#).unwrap();
    let behind = &behind[behind.find("}]").unwrap() + 1..].trim_start_matches('}');
    let line = format!(r#"{before}"arguments":{}1{}}}{behind}"#, r#"{"n":["#.repeat(deep), "]}".repeat(deep));
    let input = stored.replace(shallow, &line);
    for (command, _) in COMMANDS {
        let mut args = vec![command[0], "-"];
        args.extend(&command[1..]);
        let run = support::run_with_input(args, input.as_bytes());
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{command:?}");
        assert!(!run.stdout.is_empty() || command[0] == "label", "{command:?}");
    }
    assert_eq!(support::session(input.as_bytes()).len(), 4);
}

/// A chain of 3000 entries, every tenth of them a prompt.
#[test]
fn c62_a_long_chain_is_not_indented() {
    let mut input = r#"{"type":"session","version":3,"id":"s"}"#.to_owned();
    let mut parent = "null".to_owned();
    for at in 1..=3000 {
        let body = match at % 10 {
            0 => format!(r#""type":"message","message":{{"role":"user","content":"q{at}"}}"#),
            _ => r#""type":"custom","customType":"t""#.to_owned(),
        };
        input.push_str(&format!("\n{{\"id\":\"{at:08x}\",\"parentId\":{parent},{body}}}"));
        parent = format!("\"{at:08x}\"");
    }
    let session = support::session(input.as_bytes());
    assert_eq!((session.len(), session.roots().len()), (3000, 1));
    assert_eq!(walk::path(&session, session.leaf()).len(), 3000);
    assert_eq!(context(&session).messages.len(), 300);
    let order = walk::display_order(&session, session.leaf());
    assert_eq!(walk::depths(&session, &order)[2999], 2999);
    let laid_out = support::lay_out(&session, session.leaf(), &order, |_| true);
    assert!(laid_out.rows.iter().all(|row| row.branch.is_none()));
    let text = support::run_with_input(["tree", "-", "--filter", "user-only"], input.as_bytes()).ok();
    let rows: Vec<_> = text.lines().skip(1).collect();
    assert_eq!((rows.len(), rows[0], rows[298]), (300, "0000000a  • user: q10", "00000bae  • user: q2990"));
    let json = support::run_with_input(["tree", "-", "--json", "--filter", "all"], input.as_bytes()).ok();
    assert_eq!((json.matches(r#"{"entry":"#).count(), json.matches(r#""children":["#).count()), (3000, 3000));
}

#[test]
fn c65_escapes_are_visible_in_text_and_escaped_in_json() {
    let text = run("tree", "c65-escapes-in-text", &[]).ok();
    assert!(
        text.contains(r"probe \x1b[2J\x1b[H\x1b[31mRED\x1b[0m \x1b]0;TITLE\x07 \x1b]52;c;c3Bvb2Y=\x07 end"),
        "{text}"
    );
    assert!(text.contains(r"unterminated \x1b]0;swallows the rest  ← leaf"), "{text}");
    let context = run("context", "c65-escapes-in-text", &["--json"]).ok();
    assert!(context.contains(r"probe \u001b[2J\u001b[H"), "{context}");
    // Our own colours are the only escapes.
    let text = run("tree", "c65-escapes-in-text", &["--color", "always"]).ok();
    let pieces = text.split('\u{1b}').skip(1);
    let is_colour = |piece: &str| {
        piece.starts_with('[')
            && piece[1..].trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('m')
    };
    assert!(pieces.clone().count() > 3 && pieces.clone().all(is_colour), "{text:?}");
}

/// The label of `c67-wide-text` as the table has it.
const LONG_LABEL: &str = "a0000001=한글 이름 한글 이름 한글 이름 한글 이름 한글 이름 한글 이름 한글 이름 한글 이름 ";

/// Checks that all lines of a command fit into every width.
fn check_widths(command: &str, rest: &[&str]) {
    for width in 1..=200 {
        let number = width.to_string();
        let text = run(command, "c67-wide-text", &[rest, &["--width", &number]].concat()).ok();
        for line in text.lines() {
            assert!(line.width() <= width, "{command} {rest:?} in {width}: {} columns: {line:?}", line.width());
        }
        assert!(!text.is_empty(), "{command} {rest:?} in {width}");
    }
}

#[test]
fn c67_the_tree_fits_any_width() {
    check_widths("tree", &["--filter", "all"]);
    check_widths("tree", &["--filter", "all", "--ascii"]);
}

#[test]
fn c67_tables_fit_any_width() {
    check_widths("tree", &["--filter", "all", "--format", "table"]);
    check_widths("branch", &["--format", "table", "--ascii"]);
}

#[test]
fn c67_lists_fit_any_width() {
    check_widths("label", &[]);
    check_widths("branch", &[]);
}

/// A family of four is one character for the reader: all of it or nothing.
#[test]
fn c67_no_emoji_is_cut_in_half() {
    let check = |text: &str| {
        let count = |member: char| text.matches(member).count();
        let members = ['👨', '👩', '👧', '👦'].map(count);
        assert!(members.iter().all(|&count| count == members[0]), "{members:?} in {text}");
        members[0]
    };
    for width in (24..=200).step_by(9) {
        let families = check(&run("tree", "c67-wide-text", &["--width", &width.to_string()]).ok());
        assert!(families > 0, "in {width}");
    }
    assert!(check(&run("tree", "c67-wide-text", &[]).ok()) > 20);
    assert!(check(&run("tree", "c67-wide-text", &["--format", "jsonl"]).ok()) > 20);
}

#[test]
fn c75_a_hostile_session_id_is_shown() {
    assert_eq!(session("c75-session-id-traversal").header.id, "../../../tmp/evil");
    let text = run("tree", "c75-session-id-traversal", &[]).ok();
    assert!(text.starts_with("question 1  ·  ../../..  ·  v3"), "{text}");
}

#[test]
fn c80_names_find_their_entries() {
    let session = session("c80-ambiguous-id-prefix");
    let find = |name: &str| naming::entry::find(&session, session.leaf(), name);
    for (name, id) in [
        ("abcd", "abcd"),
        ("abcd0001", "abcd0001"),
        ("ABCD0001", "ABCD0001"),
        ("ABCD", "ABCD0001"),
        ("7f1c", "7f1c9d2e-1111-4222-8333-444455556666"),
        ("7f1c9d2e-1111-4222-8333-444455556666", "7f1c9d2e-1111-4222-8333-444455556666"),
        ("1234567890123456", "1234567890123456"),
        ("123456789", "1234567890123456"),
        ("abcd~", "abcd0002"),
        ("abcd~2", "abcd0001"),
        ("@", "1234567890123456"),
        ("@~5", "abcd0001"),
        ("user:2", "ABCD0001"),
    ] {
        assert_eq!(session.id(find(name).unwrap()), id, "{name}");
    }
    for name in ["abc", "Abcd", "1234567890123457", "abcd1", "@~6", "user:5", "user:0", "label:abcd", "", "~"] {
        assert_eq!(find(name).unwrap_err().kind().name(), "not-found", "{name}");
    }
    let Err(Error::Ambiguous { candidates, count, .. }) = find("abcd0") else { panic!("`abcd0` is ambiguous") };
    let candidates: Vec<_> = candidates.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
    assert_eq!((count, &candidates[..]), (2, &[("abcd0001", "q1"), ("abcd0002", "a1")][..]));
    let run = run("context", "c80-ambiguous-id-prefix", &["--leaf", "abcd0"]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.contains("abcd0001  q1") && run.stderr.contains("abcd0002  a1"), "{run:?}");
}

#[test]
fn c80_short_ids_that_are_printed_can_be_used() {
    let session = session("c80-ambiguous-id-prefix");
    let ids = ShortIds::new(&session);
    for node in session.nodes() {
        let short = ids.of(node);
        assert_eq!(naming::entry::find(&session, None, &short).unwrap(), node, "{short}");
    }
}

#[test]
fn d09_sections_of_system_messages_are_text() {
    let tree = run("tree", "d09-system-sections", &[]).ok();
    assert!(tree.contains("system: You keep the greenhouse. Water at dawn.\n"), "{tree}");
    assert!(tree.contains("system: It is raining.\n"), "{tree}");
    let whole = run("tree", "d09-system-sections", &["--entry", "a0000004"]).ok();
    assert!(whole.contains("[rules: removed]\n[addendum]\nIt is raining.\n[tool removed: hose]\n"), "{whole}");
    for (word, expected) in [("dawn", "a0000001"), ("raining", "a0000004"), ("hose", "a0000001 a0000004")] {
        let rows = run("tree", "d09-system-sections", &["--search", word, "--format", "jsonl"]).found();
        let ids: Vec<_> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
        assert_eq!(ids.join(" "), expected, "{word}");
    }
}

#[test]
fn d11_images_of_a_prompt_that_is_taken_back_are_named() {
    let stored = run("tree", "d11-prompt-of-images", &["--entry", "user:1", "--json"]).json();
    let image = &stored["message"]["content"][0];
    let told = run("navigate", "d11-prompt-of-images", &["user:1", "--json"]).json();
    assert_eq!((&told["editorText"], &told["editorImages"]), (&json!(""), &json!([image])));
    let told = run("branch", "d11-prompt-of-images", &["user:1", "--json", "--dry-run"]).json();
    assert_eq!((&told["selectedText"], &told["selectedImages"]), (&json!(""), &json!([image])));
    assert_eq!(run("navigate", "d11-prompt-of-images", &["user:2", "--json"]).json().get("editorImages"), None);
    let moved = run("navigate", "d11-prompt-of-images", &["user:1"]).ok();
    assert!(moved.contains("images    1 image (image/png)"), "{moved}");
    let forked = run("branch", "d11-prompt-of-images", &["user:1", "--dry-run"]);
    assert!(forked.stderr.contains("1 image (image/png)"), "{forked:?}");
}

#[test]
fn d12_a_skill_that_the_user_asked_for_is_a_user_s_turn() {
    let typed = "/skill:glaze for the blue bowls";
    let tree = run("tree", "d12-skill-prompt", &[]).ok();
    assert!(tree.starts_with(&format!("{typed}  ·")), "{tree}");
    assert!(tree.contains(&format!("a0000001  • user: {typed}\n")), "{tree}");
    let rows = run("tree", "d12-skill-prompt", &["--filter", "user-only", "--format", "jsonl"]).json_lines();
    let forks = run("branch", "d12-skill-prompt", &["--format", "jsonl"]).json_lines();
    for rows in [rows, forks] {
        let found: Vec<_> =
            rows.iter().map(|row| (row["id"].as_str().unwrap(), row["text"].as_str().unwrap())).collect();
        assert_eq!(found, [("a0000001", typed), ("a0000003", "Thin it a little")]);
    }
    let told = run("navigate", "d12-skill-prompt", &["user:2", "--json"]).json();
    assert_eq!((&told["targetId"], &told["positionId"]), (&json!("a0000001"), &Value::Null));
    assert_eq!(told["editorText"], typed);
    let told = run("branch", "d12-skill-prompt", &["user:2", "--json", "--dry-run"]).json();
    assert_eq!(told["selectedText"], typed);
    // The same of an agent stays, and is not one.
    let by_agent =
        String::from_utf8(bytes("d12-skill-prompt")).unwrap().replace(":\"user\",\"details", ":\"agent\",\"details");
    let told = support::run_with_input(["navigate", "-", "a0000001", "--json"], by_agent.as_bytes()).json();
    assert_eq!((&told["positionId"], told.get("editorText")), (&json!("a0000001"), None));
    let named = support::run_with_input(["navigate", "-", "user:2", "--json"], by_agent.as_bytes());
    assert_eq!(named.code, 2, "{named:?}");
}

#[test]
fn d14_search_finds_all_spellings_of_a_letter() {
    for (word, expected) in [
        ("caf\u{e9}", "a0000001 a0000002"),
        ("cafe\u{301}", "a0000001 a0000002"),
        ("ku\u{308}che", "a0000001"),
        ("한국어", "a0000001"),
        ("strasse", "a0000001 a0000002"),
        ("STRAßE", "a0000001 a0000002"),
        ("grüsse", "a0000002"),
        ("istanbul", ""),
        ("i\u{307}stanbul", "a0000002"),
        ("σίσυφος", "a0000002"),
    ] {
        let rows = run("tree", "d14-search-normalization", &["--search", word, "--format", "jsonl"]).found();
        let ids: Vec<_> = rows.iter().map(|row| row["id"].as_str().unwrap()).collect();
        assert_eq!(ids.join(" "), expected, "{word}");
    }
}

#[test]
fn d20_a_mark_is_a_row_of_its_own_and_counts_for_nobody() {
    let members = ["id", "type", "parentId", "depth", "active", "leaf", "children"];
    let expected = [
        json!(["root", "message", null, 0, true, false, 1]),
        json!(["ans", "message", "root", 1, true, false, 2]),
        json!(["rewind", "leaf", "ans", 2, false, false, 0]),
        json!(["new1", "message", "ans", 2, true, true, 1]),
        json!(["side1", "message", "new1", 3, false, false, 0]),
        json!(["aband1", "message", "ans", 2, false, false, 0]),
    ];
    assert_eq!(rows("d20-openclaw-leaf", members), expected);
    for filter in ["default", "no-tools", "user-only", "labeled-only"] {
        let run = run("tree", "d20-openclaw-leaf", &["--filter", filter, "--format", "jsonl"]);
        assert!(run.json_lines().iter().all(|row| row["id"] != "rewind"), "{filter}");
    }
    let text = run("tree", "d20-openclaw-leaf", &["--filter", "all"]).ok();
    assert!(text.contains("5 entries, 2 branches") && text.contains("rewind  [leaf: ans]\n"), "{text}");
    let tips = run("tree", "d20-openclaw-leaf", &["--filter", "all", "--tips", "--format", "jsonl"]).json_lines();
    assert_eq!(tips.iter().map(|tip| tip["id"].as_str().unwrap()).collect::<Vec<_>>(), ["side1", "aband1"]);
    let graph = run("tree", "d20-openclaw-leaf", &["--filter", "all", "--format", "dot"]).ok();
    assert!(graph.contains("tooltip=\"rewind\"];\n"), "a mark is not drawn as an end: {graph}");
}

#[test]
fn d21_the_context_starts_after_a_reset() {
    let text = run("context", "d21-openclaw-reset", &[]).ok();
    assert!(text.contains("after reset") && !text.contains("before reset"), "{text}");
    let text = run("context", "d21-openclaw-reset", &["--leaf", "r1"]).ok();
    assert!(text.contains("before reset"), "{text}");
}
