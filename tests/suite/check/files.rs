//! `check` on whole files: what each of the reported cases gives, and that sound files give nothing.

use std::fs;
use std::path::PathBuf;

use session_tree::core::check::{self, Checked, Code, Finding, Severity};
use session_tree::core::error::Error;
use session_tree::core::read::source::Source;

use crate::lines::{HEADER, entry, message};
use crate::support::{data, run};

/// Checks bytes.
pub fn check(bytes: &[u8]) -> Checked {
    check::check(Source::spool(bytes).unwrap(), None, 2).unwrap()
}

/// Returns all findings with their words.
pub fn findings(bytes: &[u8]) -> Vec<Finding> {
    let mut all = Vec::new();
    let done: Result<(), Error> = check(bytes).findings(&|_| true, &mut |finding| {
        all.push(finding);
        Ok(())
    });
    done.unwrap();
    all
}

/// Spells findings as `LINE CODE` and, where it is known, how much is lost.
fn spell(findings: &[Finding]) -> String {
    let one = |finding: &Finding| match finding.unreachable {
        Some(count) => format!("{} {} -{count}", finding.line, finding.code.id()),
        None => format!("{} {}", finding.line, finding.code.id()),
    };
    findings.iter().map(one).collect::<Vec<_>>().join(", ")
}

/// What every reported case gives, the silent ones included.
const CASES: &[(&str, &str)] = &[
    ("c01-truncated-tail", "6 E006 -1"),
    ("c03-fused-prefix-plus-entry", "4 E007 -4, 5 E011 -2"),
    ("c06-nul-block", "5 E008 -0"),
    ("c06b-nul-prefix-same-line", "5 E008 -4, 6 E011 -3"),
    ("c08-bom", "1 E009"),
    ("c10-unicode-line-separators", ""),
    ("c11-lone-high-surrogate", "3 W005, 3 W013"),
    ("c13-title-slot-first", ""),
    ("c15-corrupt-header", "1 E003"),
    ("c17-empty", "1 E002"),
    ("c17b-only-newlines", "1 E002"),
    ("c19-second-header-replayed-prefix", "4 W001, 5 W006 -0, 6 W006 -0"),
    ("c21-header-odd-fields", "1 W024"),
    ("c23-cycle", "2 E012 -5, 5 E013 -0"),
    ("c24-orphan-parent", "5 E011 -3"),
    ("c25-foreign-marker-last", "6 E014 -4"),
    ("c28-two-roots", ""),
    ("c30-two-writers", "6 W019"),
    ("c32-labels-in-chain", ""),
    ("c35-compaction-boundary-missing", "6 W010"),
    ("c37-compaction-boundary-self", ""),
    ("c38-two-compactions-orphan-result", "7 W013"),
    ("c41-fork-at-first-message", ""),
    ("c44-dangling-tool-calls", ""),
    ("c46-null-content", "2 E017, 3 E017, 4 E017, 5 E017, 5 W013, 6 E017"),
    ("c48-malformed-messages", "3 W015, 4 E016, 5 E016, 6 E016, 7 E016"),
    ("c51-non-object-lines", "3 E005 -0, 4 W007, 5 W007, 6 W007, 7 W007, 8 W007, 9 W016, 9 W025, 11 E005 -0"),
    ("c52-v2-hook-message", "1 W002"),
    ("c54-newer-version", "1 W003"),
    ("c56-omp-only-types", ""),
    ("c58-non-iso-timestamps", "1 W024, 4 W016, 5 W016, 7 W017"),
    ("c61-deep-json-nesting", ""),
    ("c65-escapes-in-text", "2 W022, 3 W022, 4 W022"),
    ("c67-wide-text", ""),
    ("c75-session-id-traversal", "1 W024"),
    ("c80-ambiguous-id-prefix", ""),
    ("c81-session-name", "7 W008 -2"),
    ("d09-system-sections", ""),
    ("d11-prompt-of-images", ""),
    ("d12-skill-prompt", ""),
    ("d14-search-normalization", ""),
    ("d15-child-before-parent", "6 W031 -2"),
    ("d16-cost-of-all-branches", ""),
    ("d17-cost-of-subagents", ""),
    ("d24-usage-without-cost", "3 E019"),
    ("d25-blob-in-text", ""),
    ("d22-title-slot-short", "1 E020"),
    ("d23-title-line-no-slot", "1 E004"),
    ("d26-cut-after-colon", "3 E006 -1"),
    ("d27-parent-is-session", ""),
    ("d20-openclaw-leaf", "7 W026 -0"),
    ("d21-openclaw-reset", "4 W026 -0"),
    ("d10-event-stream", "1 E001"),
    ("d28-header-v4", "1 E001"),
    ("d29-claude", "1 E001"),
    ("d30-codex", "1 E001"),
    ("d32-patches-of-a-fork", "1 W003, 4 W007"),
];

#[test]
fn reported_cases_have_expected_codes() {
    for (name, expected) in CASES {
        let bytes = fs::read(data("cases").join(format!("{name}.jsonl"))).unwrap();
        assert_eq!(spell(&findings(&bytes)), *expected, "{name}");
    }
    let files = fs::read_dir(data("cases")).unwrap();
    let files = files.filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|name| name == "jsonl"));
    assert_eq!(files.count(), CASES.len(), "every case is in the table");
}

/// What files give whose requests are compared with those of agents.
const SENT: &[(&str, &str)] = &[
    ("d01-repeated-call-id", ""),
    ("d02-result-not-adjacent", "5 W028"),
    ("d03-result-before-call", "3 W028, 4 W012"),
    ("d04-two-results", "5 W029"),
    ("d05-unanswered-call", ""),
    ("d06-aborted-turn-answered", "3 W014, 4 W030"),
    ("d07-aborted-text", "3 W014"),
    ("d08-call-without-name", "3 W015"),
    ("d09-system-sections", ""),
];

#[test]
fn calls_are_paired_as_agents_pair_them() {
    for (name, expected) in SENT {
        let bytes = fs::read(data("sent").join(format!("{name}.jsonl"))).unwrap();
        assert_eq!(spell(&findings(&bytes)), *expected, "{name}");
    }
}

/// omp 13 takes a call for answered once its id has a result, or one in the place of a missing one.
#[test]
fn calls_without_results_are_reported_only_where_an_agent_sends_them() {
    let turn = |id: &str, parent: &str, call: &str, stop: &str| {
        let call = format!(r#"{{"type":"toolCall","id":"{call}","name":"bash","arguments":{{}}}}"#);
        entry(
            "message",
            id,
            parent,
            &format!(
                r#""message":{{"role":"assistant","content":[{call}],"usage":{{"cost":{{"total":0}}}},"stopReason":"{stop}"}}"#
            ),
        )
    };
    let result = |id: &str, parent: &str| {
        entry(
            "message",
            id,
            parent,
            r#""message":{"role":"toolResult","toolCallId":"c","toolName":"bash","content":[]}"#,
        )
    };
    let bash = |id: &str, parent: &str, is_kept: &str| {
        let message =
            format!(r#"{{"role":"bashExecution","command":"ls","output":"","excludeFromContext":{is_kept}}}"#);
        entry("message", id, parent, &format!(r#""message":{message}"#))
    };
    let first = turn("t1", "", "c", "toolUse");
    for (rest, expected) in [
        (vec![message("u1", "t1", "user", "x")], ""),
        (vec![message("u1", "t1", "user", "x"), turn("t2", "u1", "c", "toolUse")], ""),
        (
            vec![message("u1", "t1", "user", "x"), turn("t2", "u1", "c", "toolUse"), message("u2", "t2", "user", "x")],
            "4 W012",
        ),
        (
            vec![message("u1", "t1", "user", "x"), turn("t2", "u1", "d", "toolUse"), message("u2", "t2", "user", "x")],
            "",
        ),
        (vec![result("r1", "t1"), turn("t2", "r1", "c", "toolUse"), message("u2", "t2", "user", "x")], "4 W012"),
        (vec![result("r1", "t1"), turn("t2", "r1", "c", "aborted"), message("u2", "t2", "user", "x")], ""),
        (vec![result("r1", "t1"), message("u1", "r1", "user", "x"), result("r2", "u1")], "5 W029"),
        (vec![result("r1", "t1"), turn("t2", "r1", "c", "error"), result("r2", "t2")], "5 W030"),
        (vec![turn("t2", "t1", "d", "toolUse"), result("r1", "t2")], "4 W028"),
        // Agents send system messages elsewhere.
        (vec![message("s1", "t1", "system", "x"), result("r1", "s1")], ""),
        // Nobody is told of it, unless it is not kept from the model.
        (vec![bash("b1", "t1", "true"), result("r1", "b1")], ""),
        (vec![bash("b1", "t1", "false"), result("r1", "b1")], "4 W028"),
        // After a result, and before another call with the id.
        (
            vec![
                result("r1", "t1"),
                message("u1", "r1", "user", "x"),
                result("r2", "u1"),
                turn("t2", "r2", "c", "toolUse"),
            ],
            "5 W028",
        ),
    ] {
        let lines = [HEADER.to_owned(), first.clone()].into_iter().chain(rest);
        let file: String = lines.map(|line| line + "\n").collect();
        assert_eq!(spell(&findings(file.as_bytes())), expected, "{file}");
    }
}

/// Where entries are each other's ancestors, that alone is said.
#[test]
fn loop_is_not_a_leaf_with_descendants() {
    let talk = |id: &str, parent: &str| message(id, parent, "user", "x") + "\n";
    let check = |lines: &[String], expected: &str| {
        let file = format!("{HEADER}\n{}", lines.concat());
        assert_eq!(spell(&findings(file.as_bytes())), expected, "{file}");
    };
    check(&[talk("a1", "a2"), talk("a2", "a3"), talk("a3", "a1")], "2 E012 -3");
    check(&[talk("a1", ""), talk("a3", "a2"), talk("a2", "a1")], "4 W031 -1");
    // The newest of those below it is named, wherever it stands.
    let at = |line: String, second: u32| line.replacen("01.000Z", &format!("{second:02}.000Z"), 1);
    let lines = [talk("a1", ""), at(talk("a3", "a2"), 9), at(talk("a4", "a2"), 5), talk("a2", "a1")];
    let found = findings(format!("{HEADER}\n{}", lines.concat()).as_bytes());
    assert!(found[0].fix.contains("navigate FILE a3 --save"), "{found:?}");
}

/// `null` is no usage, and not one without cost, which is worse.
#[test]
fn usage_of_null_is_none() {
    for (usage, expected) in [("null", "2 E018"), ("{}", "2 E019"), (r#"{"cost":{}}"#, "")] {
        let body = format!(r#""message":{{"role":"assistant","content":[],"usage":{usage},"stopReason":"stop"}}"#);
        let file = format!("{HEADER}\n{}\n", entry("message", "a1", "", &body));
        assert_eq!(spell(&findings(file.as_bytes())), expected, "{usage}");
    }
}

#[test]
fn every_finding_has_effect_and_fix() {
    for (name, _) in CASES {
        for finding in findings(&fs::read(data("cases").join(format!("{name}.jsonl"))).unwrap()) {
            assert!(!finding.message.is_empty() && finding.effect.len() > 20 && finding.fix.len() > 10, "{finding:?}");
            let lost = finding.unreachable.filter(|&count| count > 0);
            assert!(lost.is_none_or(|count| finding.effect.contains(&count.to_string())), "{finding:?}");
        }
    }
}

/// omp takes the line after a cut one for the value that is missing, unless a brace ends it.
#[test]
fn line_cut_where_a_value_has_to_come_takes_the_next_one_with_it() {
    let start = [HEADER.to_owned(), message("u1", "", "user", "x")].map(|line| line + "\n").concat();
    let last = message("u2", "u1", "user", "x");
    for (cut, is_open) in [
        (r#"{"type":"message","id":"t1","parentId":"#, true),
        (r#"{"type":"message","id":"t1","x":[1, "#, true),
        (r#"{"type":"message","id":"t1","x":{"y":["#, true),
        (r#"{"type":"message","id":"t1","x":"y:"#, false),
        (r#"{"type":"message","id":"t1","x":"\\","#, false),
        (r#"{"type":"message","id":"t1","x":[1],"#, false),
    ] {
        let found = findings(format!("{start}{cut}\n{last}\n").as_bytes());
        assert_eq!(spell(&found), "3 E005 -1", "{cut}");
        assert_eq!(found[0].effect.contains("omp takes the next line"), is_open, "{:?}", found[0]);
        assert_eq!(found[0].fix.contains("insert a line `}`"), is_open, "{:?}", found[0]);
        let found = findings(format!("{start}{cut}\n}}\n{last}\n").as_bytes());
        assert_eq!(spell(&found), if is_open { "3 E005 -1" } else { "3 E005 -1, 4 E005 -0" }, "{cut}");
        assert!(!found[0].fix.contains("insert a line"), "{:?}", found[0]);
    }
}

/// What agents that know no marks make of a file differs, or it does not; what is ignored is named anyhow.
#[test]
fn stored_leaf_is_found_where_other_agents_resume_elsewhere() {
    let mark = |id: &str, target: &str| entry("leaf", id, "a2", &format!(r#""targetId":{target}"#));
    let start = [message("u1", "", "user", "x"), message("u2", "u1", "user", "x"), message("a2", "u2", "user", "x")];
    let beside = message("s1", "a2", "user", "x").replacen('{', r#"{"appendMode":"side","#, 1);
    for (rest, expected) in [
        (vec![mark("x1", "\"a2\"")], ""),
        (vec![mark("x1", "\"gone\"")], "5 W027"),
        (vec![mark("x1", "\"u1\"")], "5 W026 -0"),
        (vec![mark("x1", "null")], "5 W026 -0"),
        (vec![mark("x1", "\"u1\""), message("u3", "x1", "user", "x")], "6 W026 -0"),
        (vec![mark("x1", "\"u1\""), message("u3", "u1", "user", "x")], ""),
        (vec![mark("x1", "\"u1\""), mark("x2", "7"), mark("x3", "\"a2\"")], "6 W027"),
        (vec![beside.clone()], "5 W026 -0"),
        (vec![beside, message("u3", "u1", "user", "x"), mark("x1", "\"a2\"")], ""),
        (vec![entry("reset", "r1", "a2", ""), message("u3", "u1", "user", "x")], "6 W026 -3"),
    ] {
        let file =
            [HEADER.to_owned()].iter().chain(&start).chain(&rest).map(|line| format!("{line}\n")).collect::<String>();
        let found = findings(file.as_bytes());
        assert_eq!(spell(&found), expected, "{rest:?}");
        let has_leaf = |finding: &&Finding| finding.code == Code::StoredLeaf;
        for finding in found.iter().filter(has_leaf) {
            let leaf = if rest[0].contains("null") { "before the first entry" } else { "it resumes at `" };
            assert!(finding.message.contains(leaf) && finding.message.contains("pi and omp"), "{finding:?}");
        }
    }
}

#[test]
fn orphan_finding_names_certain_parent_or_offers_candidates() {
    let fix = |name: &str, line: u32, code: &str| {
        let found = findings(&fs::read(data("cases").join(name)).unwrap());
        found.into_iter().find(|finding| finding.line == line && finding.code.id() == code).unwrap().fix
    };
    let certain = "mend line 4 first; else set `parentId` of line 5 to \"a0000002\"";
    assert_eq!(fix("c03-fused-prefix-plus-entry.jsonl", 5, "E011"), certain);
    let likely = "if the conversation went on directly from line 4, set `parentId` of line 5 to \"a0000003\"";
    assert_eq!(fix("c24-orphan-parent.jsonl", 5, "E011"), likely);
}

#[test]
fn sound_files_have_no_findings() {
    let mut sound: Vec<PathBuf> =
        vec![data("demo.jsonl"), data("check/healthy.jsonl"), data("check/several-roots.jsonl")];
    sound.extend(
        CASES.iter().filter(|(_, codes)| codes.is_empty()).map(|(name, _)| data("cases").join(format!("{name}.jsonl"))),
    );
    for path in sound {
        let done = run(["check".as_ref(), path.as_os_str()]);
        assert_eq!((done.stdout.as_str(), done.stderr.as_str(), done.code), ("", "", 0), "{}", path.display());
    }
}

#[test]
fn random_sound_files_have_no_errors() {
    let mut count = 0;
    for path in fs::read_dir(data("golden")).unwrap().map(|entry| entry.unwrap().path()) {
        let name = path.file_name().unwrap().to_str().unwrap();
        if !name.ends_with(".jsonl") || !name.contains("-v3-") || name.contains("weird") {
            continue;
        }
        let found = findings(&fs::read(&path).unwrap());
        let errors: Vec<_> = found.iter().filter(|finding| finding.code.severity() == Severity::Error).collect();
        assert!(errors.is_empty(), "{name}: {errors:?}");
        count += 1;
    }
    assert!(count > 5, "{count} files");
}

#[test]
fn file_that_is_not_a_session_is_an_error_only_if_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    fs::write(at("s.jsonl"), format!("{HEADER}\n{}\n", message("aaaa1111", "", "user", "x"))).unwrap();
    // What is found in a folder; what if it was named.
    for (text, found, named) in [
        ("{\"type\":\"summary\",\"leafUuid\":\"x\"}\n", (0, "1 claude"), "E001"),
        ("{\"some\":\"log\"}\n", (0, "(1 unknown)"), "E001"),
        ("no json\n", (0, "(1 unknown)"), "E001"),
        // It was a session, or may become one.
        ("{\"type\":\"session\"}\n", (1, ""), "E003"),
        ("", (1, ""), "E002"),
    ] {
        fs::write(at("other.jsonl"), text).unwrap();
        let in_folder = run(["check", &at("")]);
        let warning = in_folder.stderr.lines().find(|line| line.contains("passed over")).unwrap_or_default();
        assert_eq!((in_folder.code, warning.is_empty()), (found.0, found.1.is_empty()), "{text}: {in_folder:?}");
        assert!(warning.contains(found.1), "{text}: {in_folder:?}");
        let alone = run(["check", &at("other.jsonl")]);
        assert!(alone.code == 1 && alone.stdout.contains(named), "{text}: {alone:?}");
    }
}

#[test]
fn folder_without_session_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    fs::create_dir_all(at("bare/below")).unwrap();
    fs::create_dir_all(at("other")).unwrap();
    fs::create_dir_all(at("full/below")).unwrap();
    fs::write(at("other/claude.jsonl"), "{\"type\":\"summary\",\"leafUuid\":\"x\"}\n").unwrap();
    fs::write(at("full/below/s.jsonl"), format!("{HEADER}\n{}\n", message("aaaa1111", "", "user", "x"))).unwrap();
    fs::write(at("list"), "\n").unwrap();
    for (args, code, bare) in [
        (vec![at("bare")], 2, 1),
        (vec![at("other")], 2, 1),
        (vec![at("full")], 0, 0),
        (vec![at("full"), at("bare"), at("other")], 2, 2),
        (vec![at("")], 0, 0),
        (vec!["--files-from".to_owned(), at("list")], 2, 0),
    ] {
        let run = run([&["check".to_owned()], &args[..]].concat());
        let found = run.stderr.matches("there is no session in this folder").count();
        assert_eq!((run.code, found), (code, bare), "{args:?}: {run:?}");
    }
}
