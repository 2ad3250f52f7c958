//! `navigate` and `label` in a file in which openclaw stores where its leaf is: a move is a mark, and
//! nothing leads out of what is below a reset. Where entries hang is tested in `core/session/place.rs`.

use serde_json::{Value, json};

use crate::cli::Scratch;
use crate::lines::{entry, message};
use crate::write::scene::{appended, bytes, error, keys, untouched};

/// Makes a session whose leaf is `a1`, after a move, with an entry beside the conversation at the end:
///
/// ```text
/// u1 ─ a1 ─┬─ u2 ─ a2
///          └─ s1 (beside)
/// ```
fn stored() -> Scratch {
    Scratch::new(&[
        message("u1", "", "user", "first"),
        message("a1", "u1", "assistant", "one"),
        message("u2", "a1", "user", "second"),
        message("a2", "u2", "assistant", "two"),
        entry("leaf", "x1", "a2", r#""targetId":"a1","appendParentId":"a1""#),
        message("s1", "a1", "assistant", "beside").replacen('{', r#"{"appendMode":"side","#, 1),
    ])
}

/// Runs a move, and returns what it says and the lines that it adds.
#[track_caller]
fn moved(scratch: &Scratch, args: &str) -> (Value, Vec<Value>) {
    let old = bytes(scratch);
    let told = scratch.run(&format!("navigate s.jsonl {args} --json")).json();
    let new = appended(&old, &bytes(scratch));
    let ids: Vec<_> = new.iter().map(|line| line["id"].clone()).collect();
    assert_eq!(told["written"], json!(ids));
    (told, new)
}

/// Returns the id of the file's leaf.
fn leaf(scratch: &Scratch) -> Value {
    let rows = scratch.run("tree s.jsonl --filter all --format jsonl").stdout;
    let rows: Vec<Value> = rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    rows.into_iter().find(|row| row["leaf"] == true).map_or(Value::Null, |row| row["id"].clone())
}

#[test]
fn a_saved_move_is_a_mark_to_the_position() {
    for (args, position) in [
        ("a2 --save", json!("a2")),
        ("u2 --save --leaf a2", json!("a1")),
        ("s1 --save", json!("s1")),
        ("x1~1 --save", json!(null)),
        ("--root --save", json!(null)),
    ] {
        let scratch = stored();
        assert_eq!(leaf(&scratch), "a1");
        let (told, new) = moved(&scratch, args);
        assert_eq!(new.len(), 1, "{args}");
        assert_eq!(keys(&new[0]), ["appendParentId", "id", "parentId", "targetId", "timestamp", "type"], "{args}");
        assert_eq!((&new[0]["type"], &new[0]["parentId"]), (&json!("leaf"), &json!("a1")), "{args}");
        assert_eq!((&new[0]["targetId"], &new[0]["appendParentId"]), (&position, &position), "{args}");
        assert_eq!((&told["positionId"], &told["newLeafId"]), (&position, &position), "{args}");
        assert_eq!(leaf(&scratch), position, "{args}");
    }
}

/// pi and omp would go on elsewhere.
#[test]
fn no_other_agent_is_said_to_go_on_there() {
    let run = stored().run("navigate s.jsonl a2 --save");
    assert!(run.stderr.contains("goes on here") && !run.stderr.contains("pi "), "{run:?}");
}

#[test]
fn a_summary_or_a_label_elsewhere_comes_with_a_mark() {
    for (args, lines, kinds) in [
        ("a2 --summary why", 2, json!(["leaf", "branch_summary"])),
        ("s1 --summary why --label l", 3, json!(["leaf", "branch_summary", "label"])),
        ("a2 --label l", 2, json!(["leaf", "label"])),
        // At the leaf none is needed.
        ("u2 --leaf a2 --summary why", 1, json!(["branch_summary"])),
    ] {
        let scratch = stored();
        let (told, new) = moved(&scratch, args);
        let found: Vec<_> = new.iter().map(|line| line["type"].clone()).collect();
        assert_eq!((new.len(), json!(found)), (lines, kinds), "{args}");
        let last = &new[lines - 1]["id"];
        assert_eq!((&told["newLeafId"], &leaf(&scratch)), (last, last), "{args}");
        if let Some(summary) = told.get("summaryEntry") {
            assert_eq!(summary["type"], "branch_summary", "{args}");
        }
    }
}

#[test]
fn a_label_hangs_at_the_leaf() {
    let scratch = stored();
    let old = bytes(&scratch);
    scratch.run("label s.jsonl x1 here").ok();
    let new = appended(&old, &bytes(&scratch));
    assert_eq!((&new[0]["parentId"], &new[0]["targetId"]), (&json!("a1"), &json!("a1")));
    assert_eq!(leaf(&scratch), new[0]["id"]);
}

#[test]
fn a_move_out_of_what_is_below_a_reset_writes_nothing() {
    let scratch = Scratch::new(&[
        message("u1", "", "user", "before"),
        entry("reset", "r1", "u1", ""),
        message("a1", "r1", "assistant", "after"),
    ]);
    let old = bytes(&scratch);
    for args in ["u1 --save", "--root --save", "u1 --label l", "u1 --summary why", "u1 --save --dry-run"] {
        let run = scratch.run(&format!("navigate s.jsonl {args} --json"));
        assert_eq!(error(&run)["kind"], "usage", "{args}");
        untouched(&scratch, &old);
    }
    // What writes nothing may look anywhere.
    assert_eq!(scratch.run("navigate s.jsonl u1 --json").json()["positionId"], json!(null));
    let (told, new) = moved(&scratch, "r1 --save");
    assert_eq!((&told["newLeafId"], &new[0]["type"]), (&json!("r1"), &json!("leaf")));
}
