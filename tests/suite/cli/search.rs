//! `tree --search`: where words are looked for.

use super::{Scratch, entry, ids, label, message};

fn session() -> Scratch {
    let long = format!("Fix the login {}needle at the end", "hay ".repeat(200));
    Scratch::new(&[
        message("id01", "", "user", &long),
        entry(
            "message",
            "id02",
            "id01",
            r#""message":{"role":"assistant","content":[{"type":"text","text":"Looking"},{"type":"toolCall","id":"t1","name":"web_fetch","arguments":{"url":"example.com"}}]}"#,
        ),
        entry(
            "message",
            "id03",
            "id02",
            r#""message":{"role":"toolResult","toolCallId":"t1","toolName":"web_fetch","content":[{"type":"text","text":"Größe: 42"}]}"#,
        ),
        entry("branch_summary", "id04", "id03", r#""summary":"Tried a RETRY with\na deadline""#),
        entry("compaction", "id05", "id04", r#""summary":"Retry dropped","tokensBefore":9000"#),
        entry("custom_message", "id06", "id05", r#""customType":"ci-status","content":"green""#),
        entry(
            "message",
            "id07",
            "id06",
            r#""message":{"role":"bashExecution","command":"cargo test","output":"214 passed"}"#,
        ),
        label("id08", "id07", "id01", "plan-b"),
        message("id09", "id08", "user", "Thanks"),
    ])
}

fn check(query: &str, expected: &[&str]) {
    let run = session().args(["tree", "s.jsonl", "--filter", "all", "--format", "jsonl", "--search", query]);
    assert_eq!(ids(&run.found()), expected, "{query}");
}

#[test]
fn search_ignores_case() {
    check("thanks", &["id09"]);
    check("THANKS", &["id09"]);
    check("hank", &["id09"]);
    check("größe", &["id03"]);
    check("GRÖSSE", &["id03"]);
    check("gro\u{308}sse", &["id03"]);
    check("grosse", &[]);
    check("GRÖßE", &["id03"]);
    check("nothing-has-this", &[]);
}

#[test]
fn search_needs_all_words_in_any_order() {
    check("retry deadline", &["id04"]);
    check("deadline   retry", &["id04"]);
    check("retry", &["id04", "id05"]);
    check("retry thanks", &[]);
}

#[test]
fn search_finds_phrases() {
    check("\"retry with a\"", &["id04"]);
    check("\"with  A\" tried", &["id04"]);
    check("\"retry deadline\"", &[]);
    // Quotes within a word are looked for.
    check("retry\"", &[]);
    // The forms of a row are texts of their own.
    check("\"thanks user\"", &[]);
}

#[test]
fn search_finds_patterns() {
    let check = |pattern: &str, expected: &[&str]| {
        let args = ["tree", "s.jsonl", "--filter", "all", "--format", "jsonl", "--regex", "--search", pattern];
        assert_eq!(ids(&session().args(args).found()), expected, "{pattern}");
    };
    check(r"\b\d{3} passed", &["id07"]);
    check(r"(?i)^tried .*y with$", &[]);
    check(r"(?im)^tried .*y with$", &["id04"]);
    check("retry", &[]);
    check("Gr.+e: 4[2-9]", &["id03"]);
    check("^user$", &["id01", "id09"]);
    check("Thanks.Thanks", &[]);
}

#[test]
fn bad_pattern_is_misuse() {
    let run = session().run("tree s.jsonl --search a(b --regex");
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    let message = "error: `a(b` cannot be searched for as a regular expression: unclosed group at character 2\n";
    assert_eq!(run.stderr, format!("{message}hint: without `--regex` the words are searched for as they are\n"));
    let run = session().run("tree s.jsonl --search a(b --regex --json");
    assert!(run.stderr.starts_with(r#"{"error":{"kind":"usage","message":"`a(b` cannot"#), "{run:?}");
    assert_eq!(session().run("tree s.jsonl --regex").code, 2);
    let run = session().run("tree s.jsonl --search nothing.has --regex");
    assert_eq!(run.stderr, "hint: no entry that is shown matches: nothing.has\n");
}

#[test]
fn search_without_words_finds_everything() {
    check("", &["id01", "id02", "id03", "id04", "id05", "id06", "id07", "id08", "id09"]);
    check("  ", &["id01", "id02", "id03", "id04", "id05", "id06", "id07", "id08", "id09"]);
}

#[test]
fn search_covers_whole_text() {
    check("needle", &["id01"]);
    check("login needle", &["id01"]);
}

#[test]
fn search_covers_names() {
    check("web_fetch", &["id02", "id03"]);
    check("toolresult", &["id03"]);
    check("assistant", &["id02"]);
    check("user", &["id01", "id09"]);
    check("plan-b", &["id01", "id08"]);
    check("ci-status", &["id06"]);
    check("214", &["id07"]);
    check("cargo test", &["id07"]);
}

#[test]
fn search_covers_row_as_printed() {
    // The call that a result shows stands in another entry.
    check("example.com", &["id02", "id03"]);
    check("9k tokens", &["id05"]);
    check("[compaction", &["id05"]);
}

#[test]
fn search_works_within_filter_and_path() {
    let rows = |options: &str| {
        let run = session().run(&format!("tree s.jsonl --format jsonl {options}"));
        ids(&run.found()).join(" ")
    };
    assert_eq!(rows("--search plan-b"), "id01");
    assert_eq!(rows("--search retry --path --leaf id04"), "id04");
    assert_eq!(rows("--search e --filter user-only"), "id01 id09");
    assert_eq!(rows("--search retry --filter labeled-only"), "");
}
