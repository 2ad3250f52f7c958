//! `label` that sets and clears: one more line, whatever the file looks like.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::cli::{HEADER, Scratch, entry, message};
use crate::support;
use crate::write::scene::{
    append_like_an_agent, appended, bytes, end, error, forked, is_fresh_id, keys, lines, names, refused, start,
    untouched, wait_until_prepared, warnings,
};

/// Runs a label command that appends one line, and returns it.
#[track_caller]
fn one(scratch: &Scratch, args: &[&str]) -> Value {
    let old = bytes(scratch);
    scratch.args([&["label", "s.jsonl", "--json"], args].concat()).ok();
    let [line] = &appended(&old, &bytes(scratch))[..] else { panic!("not one line") };
    assert_eq!(names(scratch.path("")), ["s.jsonl"]);
    line.clone()
}

#[test]
fn label_can_start_a_new_root() {
    let scratch = forked();
    let old = bytes(&scratch);
    let run = scratch.run("label s.jsonl u1 start --root --json");
    assert_eq!(warnings(&run), ["leaf-moved"]);
    let [line] = &appended(&old, &bytes(&scratch))[..] else { panic!("not one line") };
    assert_eq!((&line["type"], &line["parentId"], &line["targetId"]), (&json!("label"), &Value::Null, &json!("u1")));
    assert_eq!(scratch.run("label s.jsonl u1 start --root --leaf u1").code, 2);
}

#[test]
fn hidden_or_duplicate_label_gets_hint() {
    let lines = [
        message("u1", "", "user", "hello"),
        entry("model_change", "m1", "u1", r#""model":"a/b""#),
        message("u2", "m1", "user", "again"),
    ];
    let scratch = Scratch::new(&lines);
    let hints = |line: &str| scratch.run(line).stderr;
    assert_eq!(hints("label s.jsonl u1 one"), "");
    assert!(hints("label s.jsonl m1 two").contains("`tree` hides entry m1"));
    assert!(hints("label s.jsonl u2 one").starts_with("warning: s.jsonl: 1 other entry has this label, too"));
    assert_eq!(hints("label s.jsonl u2 one --quiet"), "");
    assert_eq!(warnings(&scratch.run("label s.jsonl u2 one --json")), ["shared-label"]);
    assert_eq!(hints("label s.jsonl u2 one --move"), "");
    assert_eq!(hints("label s.jsonl m1 --clear"), "");
}

#[test]
fn label_is_one_line_in_the_form_of_agents() {
    let scratch = forked();
    let old = bytes(&scratch);
    let told = scratch.run("label s.jsonl u1 start --json").json();
    let new = bytes(&scratch);
    let line = String::from_utf8(new[old.len()..].to_vec()).unwrap();
    let (id, time) = (line[22..30].to_owned(), line[61..85].to_owned());
    let shape = r#"{"type":"label","id":"$ID","parentId":"b2","timestamp":"$TIME","targetId":"u1","label":"start"}"#;
    assert!(new.starts_with(&old));
    assert_eq!(line, format!("{}\n", shape.replace("$ID", &id).replace("$TIME", &time)));
    is_fresh_id(&id.clone().into());
    let digits = |text: &str| text.bytes().map(|byte| if byte.is_ascii_digit() { b'0' } else { byte }).collect();
    assert_eq!(String::from_utf8(digits(&time)).unwrap(), "0000-00-00T00:00:00.000Z");
    assert_eq!(told, json!({"path": "s.jsonl", "targetId": "u1", "label": "start", "was": null, "written": [id]}));
    assert_eq!(scratch.run("label s.jsonl u1").ok(), "start\n");
}

#[test]
fn label_is_child_of_leaf_and_becomes_leaf() {
    let scratch = forked();
    let first = one(&scratch, &["u1", "start"]);
    let second = one(&scratch, &["@", "last"]);
    assert_eq!(second["parentId"], first["id"]);
    assert_eq!(second["targetId"], "b2", "`@` is what the first label hangs at");
    assert_ne!(first["id"], second["id"]);
}

#[test]
fn clear_writes_label_entry_without_name() {
    let scratch = forked();
    one(&scratch, &["u1", "start"]);
    let line = one(&scratch, &["u1", "--clear"]);
    assert_eq!(keys(&line), ["id", "parentId", "targetId", "timestamp", "type"]);
    assert_eq!(scratch.run("label s.jsonl u1").ok(), "");
    let told = scratch.run("label s.jsonl u1 --clear --json").json();
    assert_eq!(keys(&told), ["label", "path", "targetId", "was", "written"]);
    assert_eq!((&told["label"], &told["was"], &told["written"]), (&Value::Null, &Value::Null, &json!([])));
    assert_eq!(told["targetId"], "u1");
}

#[test]
fn setting_same_label_and_clearing_none_write_nothing() {
    let scratch = forked();
    one(&scratch, &["u1", "same"]);
    let old = bytes(&scratch);
    for (args, label) in [("u1 same", json!("same")), ("a1 --clear", Value::Null), ("u1 same --move", json!("same"))] {
        let told = scratch.run(&format!("label s.jsonl --json {args}")).json();
        assert_eq!((&told["label"], &told["was"], &told["written"]), (&label, &label, &json!([])), "{args}");
        untouched(&scratch, &old);
    }
    for (args, told) in [
        ("u1 same", "nothing written: u1 has this label  [same] user: first\n"),
        ("a1 --clear", "nothing written: a1 has no label  assistant: one\n"),
    ] {
        let run = scratch.run(&format!("label s.jsonl {args}"));
        assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, told, ""), "{args}");
    }
    // Then the leaf does not move either.
    for option in ["--leaf t2", "--leaf b1", "--root"] {
        let run = scratch.run(&format!("label s.jsonl u1 same --json {option}"));
        assert_eq!((run.code, warnings(&run)), (0, vec!["noop".to_owned()]), "{option}");
        untouched(&scratch, &old);
    }
}

#[test]
fn moved_label_is_cleared_elsewhere_in_same_append() {
    let scratch = forked();
    for target in ["u1", "b1"] {
        one(&scratch, &[target, "green"]);
    }
    let old = bytes(&scratch);
    let told = scratch.run("label s.jsonl a1 green --move --json").json();
    let new = appended(&old, &bytes(&scratch));
    let ids: Vec<_> = new.iter().map(|line| line["id"].clone()).collect();
    assert_eq!((&told["takenFrom"], &told["written"]), (&json!(["u1", "b1"]), &json!(ids)));
    let targets: Vec<_> = new.iter().map(|line| (line["targetId"].as_str().unwrap(), line.get("label"))).collect();
    assert_eq!(targets, [("u1", None), ("b1", None), ("a1", Some(&json!("green")))]);
    assert_eq!((&new[1]["parentId"], &new[2]["parentId"]), (&ids[0], &ids[1]));
    assert_eq!(scratch.run("label s.jsonl label:green --json").json()["id"], "a1");
    // What has it keeps it, and the others lose it all the same.
    one(&scratch, &["u1", "green"]);
    let run = scratch.run("label s.jsonl a1 green --move");
    assert_eq!(run.ok(), "a1 had the label  [green] (taken from u1) assistant: one\n");
    assert_eq!(lines(&bytes(&scratch)).last().unwrap()["targetId"], "u1");
    let told = scratch.run("label s.jsonl u1 green --move").ok();
    assert_eq!(told, "labelled u1  [green] (taken from a1) user: first\n");
    for args in ["u1 --move", "--move", "u1 --clear --move"] {
        assert_eq!(scratch.run(&format!("label s.jsonl {args}")).code, 2, "{args}");
    }
}

#[test]
fn label_name_is_stored_unchanged() {
    let name = " größer \"quoted\" \\ 日本 👩\u{200d}💻 \u{202e}rtl";
    assert_eq!(one(&forked(), &["--", "u1", name])["label"], name);
    assert_eq!(one(&forked(), &["--", "u1", "--clear it"])["label"], "--clear it");
}

#[test]
fn invalid_label_name_changes_nothing() {
    let scratch = forked();
    let old = bytes(&scratch);
    for (name, advice) in [(" ", "--clear"), ("two\nlines", "line ends")] {
        let run = scratch.args(["label", "s.jsonl", "u1", name, "--json"]);
        let error = refused(&scratch, &old, &run, "usage");
        assert!(error["hint"].as_str().unwrap().contains(advice), "{name:?}: {error}");
    }
}

#[test]
fn conflicting_arguments_are_refused() {
    let scratch = forked();
    let old = bytes(&scratch);
    for args in ["u1 name --clear", "--clear", "u1 --from x", "u1 name --from x", "--clear --from x"] {
        let run = scratch.run(&format!("label s.jsonl --json {args}"));
        refused(&scratch, &old, &run, "usage");
    }
    let run = scratch.run("label s.jsonl nothere name --json");
    refused(&scratch, &old, &run, "not-found");
}

#[test]
fn label_on_standard_input_is_refused() {
    for args in [&["u1", "x"][..], &["u1", "--clear"], &["--from", "x"]] {
        for name in ["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"] {
            let run = support::run_with_input([&["label", name], args, &["--json"]].concat(), &bytes(&forked()));
            assert_eq!(error(&run)["message"], "cannot write into standard input", "{name} {args:?}");
        }
    }
    // Also if it is a file.
    let scratch = forked();
    let old = bytes(&scratch);
    let mut command = scratch.command(["label", "/dev/stdin", "u1", "x", "--json"]);
    command.stdin(fs::File::open(scratch.path("s.jsonl")).unwrap());
    assert_eq!(error(&support::finish(&mut command))["kind"], "usage");
    untouched(&scratch, &old);
}

#[test]
fn label_with_leaf_option_moves_leaf_and_warns() {
    let scratch = forked();
    let old = bytes(&scratch);
    let run = scratch.run("label s.jsonl u1 here --leaf t2 --json");
    assert_eq!(warnings(&run), ["leaf-moved"]);
    let line = appended(&old, &bytes(&scratch)).remove(0);
    assert_eq!((&line["parentId"], &line["targetId"]), (&json!("t2"), &json!("u1")));
    let next = one(&scratch, &["u1", "there"]);
    assert_eq!(next["parentId"], line["id"], "the leaf moved");
}

#[test]
fn leaf_option_on_active_path_does_not_warn() {
    let scratch = forked();
    let run = scratch.run("label s.jsonl @~1 here --leaf b1 --json");
    assert_eq!(warnings(&run), Vec::<String>::new());
    let line = lines(&bytes(&scratch)).pop().unwrap();
    assert_eq!((&line["parentId"], &line["targetId"]), (&json!("b1"), &json!("a1")), "`@` is the leaf worked from");
}

#[test]
fn text_output_says_what_was_labelled_or_cleared() {
    let scratch = forked();
    assert_eq!(scratch.run("label s.jsonl u1 start").ok(), "labelled u1  [start] user: first\n");
    assert_eq!(scratch.run("label s.jsonl u1 next").ok(), "labelled u1  [next] (was [start]) user: first\n");
    assert_eq!(scratch.run("label s.jsonl u1 --clear").ok(), "cleared the label of u1  (was [next]) user: first\n");
}

#[test]
fn listing_labels_writes_nothing() {
    let scratch = forked();
    one(&scratch, &["u1", "start"]);
    let old = bytes(&scratch);
    let list = scratch.run("label s.jsonl --json").json();
    assert_eq!(keys(&list[0]), ["exists", "id", "label", "text", "timestamp"]);
    let one = scratch.run("label s.jsonl u1 --json").json();
    assert_eq!(keys(&one), ["id", "label", "timestamp"]);
    untouched(&scratch, &old);
}

#[test]
fn missing_last_line_feed_is_added_before_label() {
    let old = bytes(&forked());
    let scratch = Scratch::bytes(old.strip_suffix(b"\n").unwrap());
    assert_eq!(one(&scratch, &["u1", "start"])["parentId"], "b2");
    assert_eq!(bytes(&scratch).split(|&byte| byte == b'\n').count(), 8 + 1 + 1);
}

#[test]
fn header_without_entries_has_nothing_to_label() {
    let scratch = Scratch::bytes(HEADER.as_bytes());
    let run = scratch.run("label s.jsonl @ x --json");
    refused(&scratch, HEADER.as_bytes(), &run, "not-found");
}

#[test]
fn carriage_returns_and_blank_lines_at_end_are_kept() {
    for tail in ["\r\n", "\n\n  \n", "\n ", "\n\r", "\n\n"] {
        let mut old = bytes(&forked());
        old.pop();
        old.extend_from_slice(tail.as_bytes());
        let scratch = Scratch::bytes(&old);
        assert_eq!(one(&scratch, &["u1", "start"])["parentId"], "b2", "{tail:?}");
    }
}

#[test]
fn unfinished_last_line_is_closed_after_one_second() {
    let mut old = bytes(&forked());
    let fragment = br#"{"type":"message","id":"c1","parentId":"b2","mess"#;
    old.extend_from_slice(fragment);
    let scratch = Scratch::bytes(&old);
    let start = Instant::now();
    let run = scratch.run("label s.jsonl u1 start --json");
    assert!(start.elapsed() >= Duration::from_millis(900), "its writer was given no time");
    assert_eq!(run.code, 0, "{run:?}");
    assert!(warnings(&run).contains(&"unfinished-line".to_owned()), "{run:?}");
    let [line] = &appended(&old, &bytes(&scratch))[..] else { panic!("not one line") };
    assert_eq!(line["parentId"], "b2");
    assert_eq!(names(scratch.path("")), ["s.jsonl"]);
}

#[test]
fn unfinished_last_line_that_wants_a_value_is_ended_by_a_brace() {
    for (cut, closing) in [
        (r#"{"type":"custom","parentId":"#, "\n}\n"),
        (r#"{"type":"custom","data":["#, "\n}\n"),
        (r#"{"type":"custom","data":["a", "#, "\n}\n"),
        (r#"{"type":"custom","data":"a:"#, "\n"),
        (r#"{"type":"custom","data":12"#, "\n"),
    ] {
        let old = format!("{HEADER}\n{}\n{cut}", message("aaaa1111", "", "user", "x"));
        let scratch = Scratch::bytes(old.as_bytes());
        scratch.run("label s.jsonl aaaa1111 mark").ok();
        let new = String::from_utf8(bytes(&scratch)).unwrap();
        let rest = new.strip_prefix(&old).unwrap().strip_prefix(closing);
        assert!(rest.is_some_and(|rest| rest.starts_with("{\"type\":\"label\"")), "{new}");
    }
}

#[test]
fn last_line_finished_while_waiting_becomes_parent() {
    let mut old = bytes(&forked());
    let line = message("c1", "b2", "user", "slow writer");
    let (head, tail) = line.split_at(60);
    old.extend_from_slice(head.as_bytes());
    let scratch = Scratch::bytes(&old);
    let child = start(&mut scratch.command(["label", "s.jsonl", "u1", "start"]));
    wait_until_prepared(&child);
    append_like_an_agent(&scratch.path("s.jsonl"), tail);
    end(child).ok();
    let whole = [&old, tail.as_bytes(), b"\n"].concat();
    let [line] = &appended(&whole, &bytes(&scratch))[..] else { panic!("not one line") };
    assert_eq!(line["parentId"], "c1");
}

#[test]
fn title_line_stays_first() {
    let scratch = Scratch::bytes(&fs::read(support::data("cases/c13-title-slot-first.jsonl")).unwrap());
    one(&scratch, &["a0000001", "start"]);
    let new = bytes(&scratch);
    assert_eq!(new.iter().position(|&byte| byte == b'\n'), Some(255));
    assert!(new.starts_with(br#"{"type":"title","v":1"#));
}

#[test]
fn byte_order_mark_is_kept() {
    let scratch = Scratch::bytes(&fs::read(support::data("cases/c08-bom.jsonl")).unwrap());
    one(&scratch, &["a0000001", "start"]);
    assert!(bytes(&scratch).starts_with(b"\xef\xbb\xbf{"));
}

#[test]
fn foreign_last_line_is_not_a_parent() {
    let scratch = Scratch::bytes(&fs::read(support::data("cases/c25-foreign-marker-last.jsonl")).unwrap());
    assert_eq!(one(&scratch, &["a0000001", "start"])["parentId"], "a0000004");
}

#[test]
fn parent_id_with_escapes_is_written_as_json() {
    let id = r#"we\"ird \ud83d\\ é"#;
    let scratch = Scratch::new(&[message("u1", "", "user", "x"), entry("custom", id, "u1", "")]);
    let old = bytes(&scratch);
    let told = scratch.run("label s.jsonl @ odd").stdout;
    assert!(told.starts_with("labelled we\"ird \u{fffd}\\ é  [odd]"), "{told}");
    let line = String::from_utf8(bytes(&scratch).split_off(old.len())).unwrap();
    // Agents find the entry by the very surrogate.
    for name in ["parentId", "targetId"] {
        assert!(line.contains(&format!(r#""{name}":"{id}""#)), "{line}");
    }
}

#[test]
fn label_through_link_changes_target_and_keeps_link() {
    let scratch = forked();
    let old = bytes(&scratch);
    fs::create_dir(scratch.path("links")).unwrap();
    symlink("../s.jsonl", scratch.path("links/l.jsonl")).unwrap();
    scratch.run("label links/l.jsonl u1 start").ok();
    assert!(scratch.path("links/l.jsonl").is_symlink());
    assert_eq!(appended(&old, &bytes(&scratch)).len(), 1);
    assert_eq!(names(scratch.path("links")), ["l.jsonl"]);
}

#[test]
fn label_keeps_permissions() {
    let scratch = forked();
    crate::write::scene::set_mode(scratch.path("s.jsonl"), 0o640);
    one(&scratch, &["u1", "start"]);
    assert_eq!(crate::write::scene::mode(scratch.path("s.jsonl")), 0o640);
}
