//! Naming an entry (help naming, "Entries"): every command takes every form, and says what is
//! wrong with a name. Which entry a name means is tested beside the rule, in `core/naming/entry.rs`.

use super::{Scratch, label, message};

/// Three prompts, a label in the middle, and the leaf that set it.
fn session() -> Scratch {
    Scratch::new(&[
        message("aaaa1111", "", "user", "First prompt"),
        message("bbbb2222", "aaaa1111", "assistant", "First answer"),
        message("cccc3333", "bbbb2222", "user", "Second prompt"),
        message("cccc4444", "cccc3333", "assistant", "Second answer"),
        message("12345678", "cccc4444", "user", "Third prompt"),
        label("dddd5555", "12345678", "bbbb2222", "plan-b"),
    ])
}

/// Returns message and hint of a name that is refused.
fn refuse(name: &str, kind: &str) -> (String, String) {
    let run = session().args(["label", "s.jsonl", name, "--json"]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{name}: {run:?}");
    let error = serde_json::from_str::<serde_json::Value>(&run.stderr).unwrap()["error"].take();
    assert_eq!(error["kind"], kind, "{name}: {error}");
    assert_eq!(error["path"], "s.jsonl");
    let text = |name: &str| error[name].as_str().unwrap().to_owned();
    (text("message"), text("hint"))
}

#[test]
fn an_argument_takes_every_form_of_a_name() {
    let scratch = session();
    for (name, expected) in [
        ("aaaa", "aaaa1111"),
        ("@", "dddd5555"),
        ("@~2", "cccc4444"),
        ("label:plan-b", "bbbb2222"),
        ("label:plan-b~1", "aaaa1111"),
        ("user:2~1", "bbbb2222"),
    ] {
        let found = scratch.args(["label", "s.jsonl", name, "--json"]).json();
        assert_eq!(found["id"], expected, "{name}");
    }
}

#[test]
fn names_are_seen_from_the_leaf_given() {
    let scratch = session();
    let check = |args: &str, expected: &str| {
        let line = scratch.run(&format!("tree s.jsonl --json {args}")).json();
        assert_eq!(line["id"], expected, "{args}");
    };
    check("--leaf cccc4444 --entry @", "cccc4444");
    check("--leaf cccc4444 --entry @~1", "cccc3333");
    check("--leaf cccc4444 --entry user:1", "cccc3333");
    // Inside `--leaf`, `@` and `user:N` are seen from the file's leaf.
    check("--leaf @~2 --entry @", "cccc4444");
    check("--leaf user:1 --entry @", "12345678");
    check("--leaf user:2~1 --entry @", "bbbb2222");
}

#[test]
fn a_name_not_found_exits_with_2_and_hints_at_near_ones() {
    let (message, hint) = refuse("label:plan-c", "not-found");
    assert!(message.contains("`label:plan-c`") && hint.contains("label:plan-b"), "{message} {hint}");
    let (message, _) = refuse("user:3~1", "not-found");
    assert!(message.contains("`user:3~1`") && message.contains("beyond the root"), "{message}");
}

#[test]
fn an_ambiguous_name_exits_with_2_and_lists_what_it_may_mean() {
    let (message, _) = refuse("cccc", "ambiguous");
    assert_eq!(message, "`cccc` matches 2 entries:\n  cccc3333  Second prompt\n  cccc4444  Second answer");
}
