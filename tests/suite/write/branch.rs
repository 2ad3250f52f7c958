//! `branch` and `branch --at`: what the new session holds.

use std::collections::HashMap;
use std::fs;

use serde_json::{Value, json};

use crate::cli::{HEADER, Scratch, entry, label, message};
use crate::support;
use crate::write::scene::{bytes, calls, is_fresh_id, keys, lines, result, warnings};

/// A new session: what it holds and what was told of it.
struct Fork {
    /// The lines behind the header, as they are.
    raw: Vec<Vec<u8>>,
    lines: Vec<Value>,
    header: Value,
    told: Value,
    warnings: Vec<String>,
}

/// Forks, and checks what all forks have in common: the source stays, everything is told rightly,
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
    crate::write::scene::untouched(scratch, &source);
    assert_eq!(crate::write::scene::names(folder.path()), ["new.jsonl"]);
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

/// Gives the ids of a fork that are not labels, and its labels as target, name and time.
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
fn a_fork_at_a_prompt_holds_what_stands_before_it() {
    let scratch = crate::write::scene::forked();
    let fork = fork(&scratch, "b1");
    assert_eq!(contents(&fork).0, ["u1", "a1"]);
    assert_eq!(fork.told["selectedText"], "other");
    assert_eq!(fork.told["entryId"], "b1");
    same_but(&scratch, &fork, &[]);
    let source = bytes(&scratch);
    let copied: Vec<u8> = fork.raw.iter().flat_map(|line| [line, &b"\n"[..]].concat()).collect();
    assert!(source[HEADER.len() + 1..].starts_with(&copied), "lines that need no change are copied as they are");
}

#[test]
fn a_copy_holds_the_entry_too_and_selects_nothing() {
    let scratch = crate::write::scene::forked();
    let full = ["cancelled", "entries", "entryId", "labels", "leafId", "parentSession", "sessionFile", "sessionId"];
    for (args, kept) in [
        ("--at b1", vec!["u1", "a1", "b1"]),
        ("--at", vec!["u1", "a1", "b1", "b2"]),
        ("--at t2~1", vec!["u1", "a1", "u2", "a2"]),
    ] {
        let fork = fork(&scratch, args);
        assert_eq!(contents(&fork).0, kept);
        assert_eq!(keys(&fork.told), full);
        assert_eq!(fork.told["entryId"], *kept.last().unwrap());
        same_but(&scratch, &fork, &[]);
    }
}

#[test]
fn the_header_is_new() {
    let scratch = crate::write::scene::forked();
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
fn title_slot_and_title_do_not_go_along() {
    let fork = fork(&case("c13-title-slot-first"), "a0000003");
    assert_eq!(fork.lines.len(), 2);
    assert_eq!(keys(&fork.header), ["cwd", "id", "parentSession", "timestamp", "type", "version"]);
}

#[test]
fn a_cwd_that_is_no_string_becomes_empty() {
    for cwd in ["", r#","cwd":null"#, r#","cwd":7"#, r#","cwd":{}"#] {
        let header = format!(r#"{{"type":"session","version":3,"id":"s"{cwd}}}"#);
        let scratch = Scratch::bytes(format!("{header}\n{}\n", message("u1", "", "user", "x")).as_bytes());
        assert_eq!(fork(&scratch, "u1").header["cwd"], "", "{cwd}");
    }
}

#[test]
fn a_fork_at_the_first_prompt_is_a_header_only() {
    let fork = fork(&case("c41-fork-at-first-message"), "a0000001");
    assert_eq!(fork.lines, Vec::<Value>::new());
    assert_eq!(fork.warnings, Vec::<String>::new());
    assert_eq!((&fork.told["leafId"], &fork.told["entries"]), (&Value::Null, &json!(0)));
    assert_eq!(fork.told["selectedText"], "the very first prompt");
    assert_eq!(fork.header["cwd"], "/home/sam/demo");
}

#[test]
fn a_cut_path_is_told() {
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
fn labels_in_the_chain_are_taken_out_and_put_at_the_end() {
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
fn labels_come_in_the_order_of_their_first_setting() {
    let mut entries = vec![
        message("u1", "", "user", "1"),
        message("a1", "u1", "assistant", "2"),
        message("u2", "a1", "user", "3"),
        message("off", "u1", "user", "elsewhere"),
    ];
    let set = [("u2", "two"), ("a1", "one"), ("u1", "gone"), ("u2", "two again"), ("a1", ""), ("off", "off")];
    let later = [("a1", "one again"), ("u1", ""), ("nowhere", "lost")];
    let mut parent = "off".to_owned();
    for (at, (target, name)) in set.iter().chain(&later).enumerate() {
        let id = format!("L{at}");
        entries.push(label(&id, &parent, target, name).replace("00:00:01.", &format!("00:01:{at:02}.")));
        parent = id;
    }
    entries.push(message("last", "u2", "assistant", "4"));
    let fork = fork(&Scratch::new(&entries), "--at");
    let (kept, labels) = contents(&fork);
    assert_eq!(kept, ["u1", "a1", "u2", "last"]);
    let time = |second: &'static str| ["2026-01-01T00:01:", second, ".000Z"].concat();
    assert_eq!(labels, [["u2", "two again", &time("03")], ["a1", "one again", &time("06")]]);
}

#[test]
fn a_label_keeps_its_time_as_it_is_stored() {
    let times = ["1767607201000", "\"yesterday\"", "\"2026-01-05T10:00:05+01:00\"", "1.5e9"];
    let plain = "\"2026-01-01T00:00:01.000Z\"";
    let mut entries = vec![message("u1", "", "user", "1")];
    for (at, time) in times.iter().enumerate() {
        entries.push(message(&format!("m{at}"), "u1", "user", "x"));
        entries.push(label(&format!("L{at}"), &format!("m{at}"), &format!("m{at}"), "x").replace(plain, time));
        let scratch = Scratch::new(&entries);
        let fork = fork(&scratch, &format!("--at m{at}"));
        let raw = String::from_utf8(fork.raw.last().unwrap().clone()).unwrap();
        assert!(raw.contains(&format!(r#""timestamp":{time},"targetId""#)), "{raw}");
    }
}

#[test]
fn a_fork_whose_path_is_labels_only_is_a_header_only() {
    let scratch =
        Scratch::new(&[label("L0", "", "u1", "early"), label("L1", "L0", "x", "y"), message("u1", "L1", "user", "x")]);
    assert_eq!(fork(&scratch, "u1").lines.len(), 0);
    let copy = fork(&scratch, "--at u1");
    assert_eq!(contents(&copy).0, ["u1"]);
    assert_eq!(contents(&copy).1[0][..2], ["u1", "early"]);
    same_but(&scratch, &copy, &["parentId"]);
    assert_eq!(fork(&scratch, "--at L0").lines.len(), 0);
}

#[test]
fn a_compaction_that_kept_from_a_label_keeps_from_the_next_entry() {
    let compaction = |kept: &str, replay: &str| {
        let members = format!(
            r#""summary":"s","firstKeptEntryId":"{kept}","tokensBefore":1,"providerReplayThroughEntryId":"{replay}""#
        );
        Scratch::new(&[
            message("u1", "", "user", "1"),
            label("L1", "u1", "u1", "x"),
            label("L2", "L1", "u1", "y"),
            message("a1", "L2", "assistant", "2"),
            label("L3", "a1", "u1", "z"),
            entry("compaction", "c1", "L3", &members),
            message("u2", "c1", "user", "3"),
        ])
    };
    for (kept, expected) in
        [("L1", "a1"), ("L2", "a1"), ("L3", "c1"), ("u1", "u1"), ("c1", "c1"), ("gone", "gone"), ("", "")]
    {
        for (replay, through) in [("L1", "a1"), ("u1", "u1"), ("gone", "gone")] {
            let scratch = compaction(kept, replay);
            let fork = fork(&scratch, "--at");
            let compaction = &fork.lines[2];
            assert_eq!(compaction["firstKeptEntryId"], expected);
            assert_eq!(compaction["providerReplayThroughEntryId"], through);
            same_but(&scratch, &fork, &["parentId", "firstKeptEntryId", "providerReplayThroughEntryId"]);
        }
    }
}

#[test]
fn odd_lines_are_copied_to_the_byte() {
    let odd = [
        r#"{ "type" : "message","id":"u1", "parentId":null,"n":1E5,"big":12345678901234567890,"message":{"role":"user","content":"\ud83d \u00e9 \/"}}"#.as_bytes(),
        b"{\"type\":\"message\",\"id\":\"a1\",\"parentId\":\"u1\",\"message\":{\"role\":\"assistant\",\"content\":\"bad \xff\xfe utf-8\"},\"x\":[ ]}",
        r#"{"type":"from_the_future","id":"f1","parentId":"a1","deep":{"er":[{"est":null}]},"dup":1,"dup":2}"#.as_bytes(),
    ];
    let label = label("L1", "f1", "u1", "x");
    let child = b"{\"parentId\" : \"L1\" , \"type\":\"message\",\"id\":\"u2\",\"message\":{\"role\":\"user\",\"content\":\"\xc3( \\ud83d\"}}";
    let mut source = HEADER.as_bytes().to_vec();
    for line in [odd[0], odd[1], b"{\"malformed", odd[2], label.as_bytes(), child] {
        source.push(b'\n');
        source.extend_from_slice(line);
    }
    source.push(b'\n');
    let scratch = Scratch::bytes(&source);
    let fork = fork(&scratch, "--at u2");
    assert_eq!(fork.raw[..3], odd.map(<[u8]>::to_vec), "malformed lines are in no path");
    assert_eq!(fork.raw[3], replaced(child, b"\"L1\"", b"\"f1\""));
}

fn replaced(bytes: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    let at = bytes.windows(old.len()).position(|window| window == old).unwrap();
    [&bytes[..at], new, &bytes[at + old.len()..]].concat()
}

#[test]
fn blanks_around_a_line_are_copied_too() {
    let source = format!("{HEADER}\r\n{}\r\n  {} \n", message("u1", "", "user", "x"), message("u2", "u1", "user", "y"));
    let scratch = Scratch::bytes(source.as_bytes());
    let fork = fork(&scratch, "--at");
    let copied = fork.raw.iter().map(|line| format!("{}\n", String::from_utf8_lossy(line))).collect::<String>();
    assert!(source.ends_with(&copied), "{copied:?}");
}

#[test]
fn an_unanswered_call_is_warned_about() {
    let scratch = case("c44-dangling-tool-calls");
    for (args, calls) in
        [("b0000001", 1), ("--at a0000002", 2), ("--at a0000003", 1), ("--at a0000004", 0), ("--at a0000005", 0)]
    {
        let fork = fork(&scratch, args);
        let count = fork.warnings.iter().filter(|kind| *kind == "unanswered-call").count();
        assert_eq!(count, calls, "{args}: {:?}", fork.warnings);
    }
    let run = scratch.run("branch s.jsonl b0000001 --output -");
    assert!(run.stderr.contains("call_2") && !run.stderr.contains("call_1"), "{run:?}");
    let calls = Scratch::new(&[calls("a1", "", &[("read", "x"), ("read", "y")]), result("t1", "a1", "call-1")]);
    assert_eq!(fork(&calls, "--at").warnings, ["unanswered-call"]);
}

#[test]
fn ids_that_stand_twice_are_copied_once() {
    let scratch = Scratch::new(&[
        message("u1", "", "user", "old"),
        message("a1", "u1", "assistant", "x"),
        message("u1", "", "user", "new"),
        message("u2", "a1", "user", "y"),
    ]);
    let fork = fork(&scratch, "--at u2");
    assert_eq!(contents(&fork).0, ["u1", "a1", "u2"]);
    assert_eq!(fork.lines[0]["message"]["content"], "new");
}
