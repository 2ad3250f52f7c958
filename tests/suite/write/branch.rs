//! `branch` and `branch --at`: the new file and what is printed. What a fork keeps and changes is
//! tested beside the rule, in `core/edit/branch.rs`.

use std::collections::HashMap;
use std::fs;

use serde_json::{Value, json};

use crate::cli::{HEADER, Scratch};
use crate::support;
use crate::write::scene::{bytes, forked, is_fresh_id, keys, lines, names, untouched, warnings};

/// A new session: what it holds and what was printed of it.
struct Fork {
    /// The lines after the header, as they are.
    raw: Vec<Vec<u8>>,
    lines: Vec<Value>,
    header: Value,
    told: Value,
    warnings: Vec<String>,
}

/// Forks, and checks what all forks have in common: the source stays, all that is printed is right,
/// and every parent is the entry before.
#[track_caller]
fn fork(scratch: &Scratch, args: &str) -> Fork {
    let source = bytes(scratch);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new.jsonl");
    let args = ["branch", "s.jsonl", "--json", "--output", path.to_str().unwrap()].into_iter().chain(args.split(' '));
    let run = scratch.args(args);
    let warnings = warnings(&run);
    let told = run.json();
    untouched(scratch, &source);
    assert_eq!(names(folder.path()), ["new.jsonl"]);
    let new = fs::read(&path).unwrap();
    let raw: Vec<Vec<u8>> = new.strip_suffix(b"\n").unwrap().split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    // What JavaScript takes and serde does not.
    let text = |line: &Vec<u8>| String::from_utf8_lossy(line).replace("\\ud83d", "?");
    let lines: Vec<Value> = raw.iter().map(|line| serde_json::from_str(&text(line)).unwrap()).collect();
    let (header, lines) = (lines[0].clone(), lines[1..].to_vec());
    let mut parent = &Value::Null;
    for line in &lines {
        assert_eq!(&line["parentId"], parent, "{line}");
        parent = &line["id"];
    }
    assert_eq!(&told["leafId"], parent);
    assert_eq!(told["entries"], lines.len());
    let labels = lines.iter().filter(|line| line["type"] == "label").count();
    assert_eq!(told["labels"], labels);
    assert!(lines[..lines.len() - labels].iter().all(|line| line["type"] != "label"), "labels come last");
    assert_eq!((&told["cancelled"], &told["sessionId"]), (&json!(false), &header["id"]));
    assert_eq!(told["sessionFile"], path.to_str().unwrap());
    Fork { raw: raw[1..].to_vec(), lines, header, told, warnings }
}

/// Returns the ids of a fork that are not labels, and its labels as target, name and time.
fn contents(fork: &Fork) -> (Vec<&str>, Vec<[&str; 3]>) {
    let (labels, kept): (Vec<_>, Vec<_>) = fork.lines.iter().partition(|line| line["type"] == "label");
    let kept = kept.into_iter().map(|line| line["id"].as_str().unwrap()).collect();
    let labels =
        labels.into_iter().map(|line| ["targetId", "label", "timestamp"].map(|key| line[key].as_str().unwrap()));
    (kept, labels.collect())
}

/// Checks that kept lines are those of the source but for the values of some members.
#[track_caller]
fn same_but(scratch: &Scratch, fork: &Fork, members: &[&str]) {
    let source = bytes(scratch);
    let by_id: HashMap<String, &[u8]> = source
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| (serde_json::from_str::<Value>(&String::from_utf8_lossy(line)).unwrap(), line))
        .map(|(value, line)| (value["id"].to_string(), line))
        .collect();
    for (new, raw) in fork.lines.iter().zip(&fork.raw).filter(|(new, _)| new["type"] != "label") {
        let old = by_id[&new["id"].to_string()];
        let mut expected = String::from_utf8_lossy(old).into_owned();
        let parsed: Value = serde_json::from_str(&expected).unwrap();
        for member in members.iter().filter(|&&member| parsed[member] != new[member]) {
            let was = format!("\"{member}\":{}", parsed[member]);
            assert_eq!(expected.matches(&was).count(), 1, "the test needs plain data");
            expected = expected.replace(&was, &format!("\"{member}\":{}", new[member]));
        }
        assert_eq!(String::from_utf8_lossy(raw), expected);
        assert!(raw != old || members.iter().all(|member| parsed[member] == new[member]));
    }
}

fn case(name: &str) -> Scratch {
    Scratch::bytes(&fs::read(support::data(&format!("cases/{name}.jsonl"))).unwrap())
}

#[test]
fn fork_before_prompt_copies_lines_before_it_unchanged() {
    let scratch = forked();
    let fork = fork(&scratch, "b1");
    assert_eq!(contents(&fork).0, ["u1", "a1"]);
    assert_eq!(fork.told["selectedText"], "other");
    assert_eq!(fork.told["targetId"], "b1");
    same_but(&scratch, &fork, &[]);
    let source = bytes(&scratch);
    let copied: Vec<u8> = fork.raw.iter().flat_map(|line| [line, &b"\n"[..]].concat()).collect();
    assert!(source[HEADER.len() + 1..].starts_with(&copied), "lines that need no change are copied as they are");
}

#[test]
fn copy_with_at_includes_the_entry_and_selects_no_text() {
    let scratch = forked();
    let full =
        ["cancelled", "entries", "labels", "leafId", "parentSession", "path", "sessionFile", "sessionId", "targetId"];
    for (args, kept) in [
        ("--at b1", vec!["u1", "a1", "b1"]),
        ("--at", vec!["u1", "a1", "b1", "b2"]),
        ("--at t2~1", vec!["u1", "a1", "u2", "a2"]),
    ] {
        let fork = fork(&scratch, args);
        assert_eq!(contents(&fork).0, kept);
        assert_eq!(keys(&fork.told), full);
        assert_eq!(fork.told["targetId"], *kept.last().unwrap());
        same_but(&scratch, &fork, &[]);
    }
}

#[test]
fn fork_gets_new_header_that_names_its_source() {
    let scratch = forked();
    let fork = fork(&scratch, "b1");
    assert_eq!(keys(&fork.header), ["cwd", "id", "parentSession", "timestamp", "type", "version"]);
    assert_eq!((&fork.header["type"], &fork.header["version"]), (&json!("session"), &json!(3)));
    assert_eq!(fork.header["cwd"], "/home/mia/shop");
    let source = scratch.path("s.jsonl");
    assert_eq!(fork.header["parentSession"], fs::canonicalize(&source).unwrap().to_str().unwrap());
    assert_eq!(fork.told["parentSession"], fork.header["parentSession"]);
    let id = fork.header["id"].as_str().unwrap();
    let shape: String = id.chars().map(|char| if char.is_ascii_hexdigit() { 'x' } else { char }).collect();
    assert_eq!((shape.as_str(), &id[14..15]), ("xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", "7"));
}

#[test]
fn fork_drops_title_line_and_title() {
    let fork = fork(&case("c13-title-slot-first"), "a0000003");
    assert_eq!(fork.lines.len(), 2);
    assert_eq!(keys(&fork.header), ["cwd", "id", "parentSession", "timestamp", "type", "version"]);
}

#[test]
fn fork_before_first_prompt_is_only_a_header() {
    let fork = fork(&case("c41-fork-at-first-message"), "a0000001");
    assert_eq!(fork.lines, Vec::<Value>::new());
    assert_eq!(fork.warnings, Vec::<String>::new());
    assert_eq!((&fork.told["leafId"], &fork.told["entries"]), (&Value::Null, &json!(0)));
    assert_eq!(fork.told["selectedText"], "the very first prompt");
    assert_eq!(fork.header["cwd"], "/home/sam/demo");
}

#[test]
fn fork_of_unreachable_path_warns() {
    let orphan = case("c24-orphan-parent");
    let before = fork(&orphan, "a0000006");
    assert_eq!((before.lines.len(), before.told["selectedText"].as_str()), (0, Some("after the gap")));
    assert!(before.warnings.contains(&"unreachable".to_owned()), "{:?}", before.warnings);
    let copy = fork(&orphan, "--at a0000007");
    assert_eq!(contents(&copy).0, ["a0000006", "a0000007"]);
    assert!(copy.warnings.contains(&"unreachable".to_owned()), "{:?}", copy.warnings);
    same_but(&orphan, &copy, &["parentId"]);
    let cycle = case("c23-cycle");
    let copy = fork(&cycle, "--at a0000004");
    assert_eq!(contents(&copy).0, ["a0000001", "a0000002", "a0000003", "a0000004"]);
    assert!(copy.warnings.contains(&"unreachable".to_owned()), "{:?}", copy.warnings);
    same_but(&cycle, &copy, &["parentId"]);
    for (args, count) in [("a0000001", 0), ("--at b0000001", 1), ("a0000004", 3)] {
        let cut = fork(&cycle, args);
        assert_eq!(cut.lines.len(), count);
        assert!(cut.warnings.contains(&"unreachable".to_owned()), "{args}: {:?}", cut.warnings);
    }
    let whole = fork(&orphan, "a0000003");
    assert!(!whole.warnings.contains(&"unreachable".to_owned()), "{:?}", whole.warnings);
}

#[test]
fn fork_moves_labels_from_path_to_end() {
    let scratch = case("c32-labels-in-chain");
    let fork = fork(&scratch, "a0000008");
    let (kept, labels) = contents(&fork);
    assert_eq!(kept, ["a0000001", "a0000003", "a0000006", "a0000007"]);
    let start = ["a0000001", "renamed start", "2026-01-05T10:00:05.000Z"];
    assert_eq!(labels, [start, ["a0000003", "good answer", "2026-01-05T10:00:04.000Z"]]);
    same_but(&scratch, &fork, &["parentId"]);
    let source = lines(&bytes(&scratch));
    for label in &fork.lines[4..] {
        is_fresh_id(&label["id"]);
        assert!(source.iter().all(|line| line["id"] != label["id"]), "labels have new ids");
        assert_eq!(keys(label), ["id", "label", "parentId", "targetId", "timestamp", "type"]);
    }
}

#[test]
fn fork_after_unanswered_tool_call_warns() {
    let scratch = case("c44-dangling-tool-calls");
    for (args, calls) in [("b0000001", 1), ("--at a0000002", 2), ("--at a0000004", 0)] {
        let fork = fork(&scratch, args);
        let count = fork.warnings.iter().filter(|kind| *kind == "unanswered-call").count();
        assert_eq!(count, calls, "{args}: {:?}", fork.warnings);
    }
    let run = scratch.run("branch s.jsonl b0000001 --output -");
    assert!(run.stderr.contains("call_2") && !run.stderr.contains("call_1"), "{run:?}");
}
