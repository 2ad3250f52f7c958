//! `migrate`: what changes in a file, and all that must not.

use std::fs;
use std::os::unix::fs::{MetadataExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::cli::Scratch;
use crate::support;
use crate::write::scene::{bytes, mode, names, set_mode, untouched, warnings};

/// How many golden files are of an old version.
const OLD: usize = 12;

/// Returns what migration makes of some bytes.
#[track_caller]
fn migrated(bytes: &[u8]) -> Vec<u8> {
    let scratch = Scratch::bytes(bytes);
    scratch.run("migrate s.jsonl --output new.jsonl").ok();
    assert_eq!(self::bytes(&scratch), bytes, "the source changed");
    fs::read(scratch.path("new.jsonl")).unwrap()
}

/// Reverts, as text, what migration is allowed to do to a line; what comes out must be the line.
fn undone(new: &str, old: &str, version: u64) -> String {
    let (Ok(after), Ok(before)) = (serde_json::from_str::<Value>(new), serde_json::from_str::<Value>(old)) else {
        return new.to_owned();
    };
    let (colon, comma) = if old.starts_with("{\"type\": ") { (": ", ", ") } else { (":", ",") };
    let mut text = new.to_owned();
    let mut replace = |from: &str, to: &str| {
        assert_eq!(text.matches(from).count(), 1, "{from} in {text}");
        text = text.replace(from, to);
    };
    if after["type"] == "session" {
        match before.get("version") {
            Some(version) => replace(&format!("\"version\"{colon}3"), &format!("\"version\"{colon}{version}")),
            None => replace("\"session\",\"version\":3", "\"session\""),
        }
        return text;
    }
    if version == 1 {
        let kind = &after["type"];
        replace(&format!("{kind},\"id\":{},\"parentId\":{}", after["id"], after["parentId"]), &kind.to_string());
        match (&before["firstKeptEntryIndex"], after.get("firstKeptEntryId")) {
            (Value::Null, _) => {}
            (index, Some(id)) => {
                let (new, old) = ("\"firstKeptEntryId\"", "\"firstKeptEntryIndex\"");
                replace(&format!("{new}{colon}{id}"), &format!("{old}{colon}{index}"));
            }
            (index, None) => {
                let tokens = format!("{comma}\"tokensBefore\"{colon}{}", after["tokensBefore"]);
                replace(&tokens, &format!("{comma}\"firstKeptEntryIndex\"{colon}{index}{tokens}"));
            }
        }
    }
    if after["type"] == "message" && before["message"]["role"] == "hookMessage" {
        assert_eq!(after["message"]["role"], "custom");
        replace(&format!("\"role\"{colon}\"custom\""), &format!("\"role\"{colon}\"hookMessage\""));
    }
    text
}

/// Returns the golden files of old versions.
fn old_files() -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(support::data("golden")).unwrap().map(|file| file.unwrap().path()).collect();
    let is_old = |path: &Path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name.ends_with(".jsonl") && (name.contains("-v1-") || name.contains("-v2-"))
    };
    paths.retain(|path| is_old(path));
    assert_eq!(paths.len(), OLD);
    paths
}

#[test]
fn migration_of_golden_files_changes_only_necessary_bytes() {
    let mut renamed = 0;
    let mut kept = 0;
    for path in old_files() {
        let old = fs::read_to_string(&path).unwrap();
        let version = if path.to_str().unwrap().contains("-v1-") { 1 } else { 2 };
        let new = String::from_utf8(migrated(old.as_bytes())).unwrap();
        assert_eq!(new.matches('\n').count(), old.matches('\n').count(), "{path:?}");
        for (new, old) in new.split('\n').zip(old.split('\n')) {
            assert_eq!(undone(new, old, version), old, "{path:?}");
            renamed += usize::from(old.contains("hookMessage") && !new.contains("hookMessage"));
            kept += usize::from(old.contains("firstKeptEntryIndex") && new.contains("firstKeptEntryId"));
        }
    }
    assert!(renamed > 3 && kept > 3, "the data shows nothing: {renamed}, {kept}");
}

#[test]
fn migrated_golden_files_have_entries_as_shown_before() {
    for path in old_files() {
        let scratch = Scratch::bytes(&fs::read(&path).unwrap());
        let entries = |file: &str| {
            let rows = scratch.run(&format!("tree {file} --filter all --format jsonl --full")).json_lines();
            rows.into_iter().map(|row| (row["entry"].clone(), row["parentId"].clone())).collect::<Vec<_>>()
        };
        let before = entries("s.jsonl");
        let labels = scratch.run("label s.jsonl --json").json();
        scratch.run("migrate s.jsonl --output new.jsonl").ok();
        assert_eq!(entries("new.jsonl"), before, "{path:?}");
        assert_eq!(scratch.run("label new.jsonl --json").json(), labels, "{path:?}");
        let context = |file: &str| scratch.run(&format!("context {file} --json")).json();
        assert_eq!(context("new.jsonl"), context("s.jsonl"), "{path:?}");
    }
}

#[test]
fn migration_in_place_equals_output_and_is_idempotent() {
    for path in old_files() {
        let old = fs::read(&path).unwrap();
        if !old.ends_with(b"\n") {
            continue;
        }
        let scratch = Scratch::bytes(&old);
        let rows = scratch.run("migrate s.jsonl --format=jsonl").json_lines();
        let from = if path.to_str().unwrap().contains("-v1-") { 1 } else { 2 };
        assert_eq!(rows, [json!({"path": "s.jsonl", "from": from, "to": 3, "status": "migrated"})]);
        let new = migrated(&old);
        untouched(&scratch, &new);
        let before = fs::metadata(scratch.path("s.jsonl")).unwrap();
        let rows = scratch.run("migrate s.jsonl --format=jsonl --backup").json_lines();
        assert_eq!(rows, [json!({"path": "s.jsonl", "from": 3, "to": 3, "status": "current"})]);
        untouched(&scratch, &new);
        let after = fs::metadata(scratch.path("s.jsonl")).unwrap();
        assert_eq!((after.ino(), after.ctime_nsec()), (before.ino(), before.ctime_nsec()), "it was touched");
        assert_eq!(migrated(&new), new);
    }
}

/// Checks lines after a header, with `#1`, `#2` … for the new ids in the order of the entries.
#[track_caller]
fn check(old: &[u8], expected: &[u8]) {
    // A character a byte, so that no byte is lost.
    let text = |bytes: &[u8]| bytes.iter().map(|&byte| char::from(byte)).collect::<String>();
    let new = text(&migrated(old));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.jsonl");
    fs::write(&path, old).unwrap();
    let rows = support::run(["tree", path.to_str().unwrap(), "--filter", "all", "--format", "jsonl"]).json_lines();
    let mut rows: Vec<_> = rows.iter().map(|row| (row["line"].as_u64().unwrap(), row["id"].clone())).collect();
    rows.sort_by_key(|(line, _)| *line);
    let mut expected = text(expected);
    for (at, (_, id)) in rows.iter().enumerate() {
        expected = expected.replace(&format!("\"#{}\"", at + 1), &id.to_string());
    }
    assert!(!expected.contains("\"#"), "more ids than entries: {expected}");
    assert_eq!(new, expected);
}

#[test]
fn migration_of_odd_version_1_lines() {
    check(
        b"\xef\xbb\xbf{\"type\":\"session\",\"id\":\"h\",\"z\":1}\r\n \n{\"n\" : 1E5 , \"type\" : \"x\"}\r\n  {\"a\":[ ]}  \n{\"cut",
        b"\xef\xbb\xbf{\"type\":\"session\",\"version\":3,\"id\":\"h\",\"z\":1}\r\n \n{\"n\" : 1E5 , \"type\" : \"x\",\"id\":\"#1\",\"parentId\":null}\r\n  {\"id\":\"#2\",\"parentId\":\"#1\",\"a\":[ ]}  \n{\"cut",
    );
    check(
        br#"{"version":1.0,"id":"h","type":"session"}
[1]
{"type":"custom","parentId":7,"s":"\ud83d\/","n":123456789012345678901234567890}
{"type":"message","message":{"content":"x","role":"\u0068ookMessage","role":"hookMessage"}}
{"type":"session","id":"second"}
{}"#,
        br##"{"version":3,"id":"h","type":"session"}
[1]
{"type":"custom","id":"#1","parentId":null,"s":"\ud83d\/","n":123456789012345678901234567890}
{"type":"message","id":"#2","parentId":"#1","message":{"content":"x","role":"\u0068ookMessage","role":"custom"}}
{"type":"session","id":"second"}
{"id":"#3","parentId":"#2"}
"##,
    );
    check(
        b"{\"type\":\"session\",\"id\":\"h\",\"version\":null}\n{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"\xff\"}}\n\0\0\n",
        b"{\"type\":\"session\",\"id\":\"h\",\"version\":3}\n{\"type\":\"message\",\"id\":\"#1\",\"parentId\":null,\"message\":{\"role\":\"user\",\"content\":\"\xff\"}}\n\0\0\n",
    );
}

#[test]
fn kept_index_of_version_1_counts_well_formed_lines() {
    let slot = format!(r#"{{"type":"title","v":1,"title":"t","updatedAt":"","pad":"{}"}}"#, " ".repeat(195));
    let compaction = |index: &str| format!(r#"{{"type":"compaction","firstKeptEntryIndex":{index},"summary":"s"}}"#);
    let after = |at: usize, member: &str| {
        let parent = if at == 1 { "null".to_owned() } else { format!("\"#{}\"", at - 1) };
        let ids = format!("\"id\":\"#{at}\",\"parentId\":{parent}");
        format!(r#"{{"type":"compaction",{ids},{member}"summary":"s"}}"#)
    };
    let kept = |at: usize, of: usize| after(at, &format!("\"firstKeptEntryId\":\"#{of}\","));
    // Lines 0 and 3 are headers; the malformed line does not count, the slot neither.
    let old = [
        slot.clone(),
        r#"{"type":"session","id":"h"}"#.to_owned(),
        compaction("1"),
        "malformed".to_owned(),
        compaction("1"),
        r#"{"type":"session","id":"x"}"#.to_owned(),
        compaction("4"),
        compaction("3"),
        compaction("99"),
        compaction("-1"),
        compaction("0"),
        compaction("9"),
        compaction("2.0"),
    ];
    let new = [
        slot,
        r#"{"type":"session","version":3,"id":"h"}"#.to_owned(),
        kept(1, 1),
        "malformed".to_owned(),
        kept(2, 1),
        r#"{"type":"session","id":"x"}"#.to_owned(),
        kept(3, 3),
        after(4, ""),
        after(5, ""),
        after(6, ""),
        after(7, ""),
        kept(8, 8),
        kept(9, 2),
    ];
    check(format!("{}\n", old.join("\n")).as_bytes(), format!("{}\n", new.join("\n")).as_bytes());
}

#[test]
fn migration_of_version_2_only_renames_hook_role() {
    check(
        br#"{"type":"session","version":"2","id":"h"}
{"type":"message","id":"a","parentId":null,"message":{ "role" : "hookMessage","content":"hookMessage"},"x":{"role":"hookMessage"}}
{"type":"custom","id":"b","message":{"role":"hookMessage"}}
{"type":"compaction","id":"c","firstKeptEntryIndex":1}"#,
        br#"{"type":"session","version":3,"id":"h"}
{"type":"message","id":"a","parentId":null,"message":{ "role" : "custom","content":"hookMessage"},"x":{"role":"hookMessage"}}
{"type":"custom","id":"b","message":{"role":"hookMessage"}}
{"type":"compaction","id":"c","firstKeptEntryIndex":1}
"#,
    );
}

const V1: &str = "{\"type\":\"session\",\"id\":\"h\"}\n{\"type\":\"message\",\"message\":{\"role\":\"user\"}}\n";

#[test]
fn migration_keeps_time_permissions_and_owner() {
    for wanted in [0o600, 0o644, 0o640, 0o4755] {
        let scratch = Scratch::bytes(V1.as_bytes());
        let path = scratch.path("s.jsonl");
        // An ordinary user cannot give a file away; then it stays one's own.
        let _ = chown(&path, Some(12345), Some(23456));
        set_mode(&path, wanted);
        let time = SystemTime::UNIX_EPOCH + Duration::new(1_600_000_000, 123_456_789);
        fs::File::open(&path).unwrap().set_modified(time).unwrap();
        let before = fs::metadata(&path).unwrap();
        scratch.run("migrate s.jsonl").ok();
        let after = fs::metadata(&path).unwrap();
        assert_eq!(after.modified().unwrap(), time);
        assert_eq!(mode(&path), wanted);
        assert_eq!((after.uid(), after.gid()), (before.uid(), before.gid()));
        untouched(&scratch, &migrated(V1.as_bytes()));
    }
}

#[test]
fn migration_through_link_changes_target_and_keeps_link() {
    let scratch = Scratch::bytes(V1.as_bytes());
    fs::create_dir(scratch.path("links")).unwrap();
    symlink("../s.jsonl", scratch.path("links/one")).unwrap();
    symlink("one", scratch.path("links/two")).unwrap();
    scratch.run("migrate links/two").ok();
    assert_eq!(fs::read_link(scratch.path("links/two")).unwrap(), Path::new("one"));
    assert_eq!(fs::read_link(scratch.path("links/one")).unwrap(), Path::new("../s.jsonl"));
    assert_eq!(bytes(&scratch), migrated(V1.as_bytes()));
    assert_eq!(names(scratch.path("links")), ["one", "two"]);
}

#[test]
fn migration_of_hard_link_breaks_it_and_warns() {
    let scratch = Scratch::bytes(V1.as_bytes());
    fs::hard_link(scratch.path("s.jsonl"), scratch.path("other")).unwrap();
    let run = scratch.run("migrate s.jsonl --format=jsonl");
    assert_eq!(warnings(&run), ["hard-link"]);
    assert_eq!(run.json_lines()[0]["status"], "migrated");
    assert_eq!(bytes(&scratch), migrated(V1.as_bytes()));
    assert_eq!(fs::read(scratch.path("other")).unwrap(), V1.as_bytes());
    assert_eq!(fs::metadata(scratch.path("s.jsonl")).unwrap().nlink(), 1);
}

#[test]
fn hard_link_of_the_file_is_not_its_backup() {
    let scratch = Scratch::bytes(V1.as_bytes());
    fs::hard_link(scratch.path("s.jsonl"), scratch.path("s.jsonl.orig")).unwrap();
    for args in ["", " --dry-run"] {
        let run = scratch.run(&format!("migrate s.jsonl --backup --format=jsonl{args}"));
        let row: Value = serde_json::from_str(run.stdout.trim()).unwrap();
        assert_eq!((&row["status"], &row["error"]["kind"]), (&json!("failed"), &json!("exists")), "{row}");
        assert_eq!(bytes(&scratch), V1.as_bytes());
        assert_eq!(names(scratch.path("")), ["s.jsonl", "s.jsonl.orig"]);
    }
}

#[test]
fn migration_in_place_refuses_unfinished_last_line() {
    let old = format!("{V1}{{\"type\":\"mess");
    let scratch = Scratch::bytes(old.as_bytes());
    for args in ["", "--backup", "--check", "--dry-run", "--force"] {
        let run = scratch.run(&format!("migrate s.jsonl --format=jsonl {args}"));
        assert_eq!(run.code, 2, "{args}: {run:?}");
        let row: Value = serde_json::from_str(run.stdout.trim()).unwrap();
        assert_eq!((&row["status"], &row["from"], &row["to"]), (&json!("failed"), &json!(1), &json!(1)));
        assert!(row["error"]["message"].as_str().unwrap().contains("unfinished"), "{row}");
        untouched(&scratch, old.as_bytes());
    }
    let run = scratch.run("migrate s.jsonl");
    assert!(run.code == 2 && run.stderr.contains("s.jsonl:3: "), "the line is named: {run:?}");
    scratch.run("migrate s.jsonl --output new.jsonl").ok();
    assert!(fs::read(scratch.path("new.jsonl")).unwrap().ends_with(b"}\n{\"type\":\"mess"));
}

#[test]
fn migration_adds_missing_last_line_feed() {
    // omp appends its next entry to what is there, and would lose both.
    let scratch = Scratch::bytes(V1.trim_end().as_bytes());
    scratch.run("migrate s.jsonl").ok();
    assert_eq!(bytes(&scratch), migrated(V1.as_bytes()));
}

#[test]
fn migration_of_large_file_keeps_every_line() {
    let mut old = String::from("{\"type\":\"session\",\"id\":\"large\"}\n");
    for at in 0..20_000 {
        let text = "x".repeat(at % 300);
        old.push_str(&format!(
            "{{\"type\":\"message\",\"message\":{{\"role\":\"user\",\"content\":\"{at} {text}\"}}}}\n"
        ));
    }
    let scratch = Scratch::bytes(old.as_bytes());
    scratch.run("migrate s.jsonl --quiet").ok();
    let new = String::from_utf8(bytes(&scratch)).unwrap();
    let mut parent = Value::Null;
    for (new, old) in new.lines().zip(old.lines()).skip(1) {
        let entry: Value = serde_json::from_str(new).unwrap();
        assert_eq!(entry["parentId"], parent);
        assert_eq!(undone(new, old, 1), old);
        parent = entry["id"].clone();
    }
    assert_eq!(new.lines().count(), 20_001);
}
