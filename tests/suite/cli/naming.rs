//! Naming an entry (cli.md: "Naming an entry").

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

fn check(scratch: &Scratch, name: &str, expected: &str) {
    let found = scratch.args(["label", "s.jsonl", name, "--json"]).json();
    assert_eq!(found["targetId"], expected, "{name}");
}

/// Gives message and hint of a name that does not do.
fn refuse(scratch: &Scratch, name: &str, kind: &str) -> (String, Option<String>) {
    let run = scratch.args(["label", "s.jsonl", name, "--json"]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{name}: {run:?}");
    let error = serde_json::from_str::<serde_json::Value>(&run.stderr).unwrap()["error"].take();
    assert_eq!(error["kind"], kind, "{name}: {error}");
    assert_eq!(error["file"], "s.jsonl");
    let text = |name: &str| error[name].as_str().map(str::to_owned);
    (text("message").unwrap(), text("hint"))
}

#[test]
fn every_form_finds_its_entry() {
    let scratch = session();
    for (name, expected) in [
        ("aaaa1111", "aaaa1111"),
        ("aaaa111", "aaaa1111"),
        ("aaaa", "aaaa1111"),
        ("cccc4", "cccc4444"),
        ("1234", "12345678"),
        ("12345678", "12345678"),
        ("@", "dddd5555"),
        ("label:plan-b", "bbbb2222"),
        ("user:1", "12345678"),
        ("user:2", "cccc3333"),
        ("user:3", "aaaa1111"),
    ] {
        check(&scratch, name, expected);
    }
}

#[test]
fn steps_go_towards_the_root_through_entries_of_any_kind() {
    let scratch = session();
    for (name, expected) in [
        ("@~0", "dddd5555"),
        ("@~", "12345678"),
        ("@~1", "12345678"),
        ("@~2", "cccc4444"),
        ("@~5", "aaaa1111"),
        ("@~005", "aaaa1111"),
        ("dddd5555~1", "12345678"),
        ("dddd~", "12345678"),
        ("12345678~", "cccc4444"),
        ("label:plan-b~1", "aaaa1111"),
        ("user:1~2", "cccc3333"),
    ] {
        check(&scratch, name, expected);
    }
}

#[test]
fn a_whole_id_comes_first() {
    let scratch = Scratch::new(&[
        message("abcd", "", "user", "short id"),
        message("abcdef00", "abcd", "user", "same start"),
        message("abcdef00~1", "abcdef00", "user", "id that looks like a step"),
        message("@", "abcdef00~1", "user", "id that looks like the leaf"),
        message("label:x", "@", "user", "id that looks like a label"),
        message("7", "label:x", "user", "id that looks like a number"),
        label("eeee0000", "7", "abcd", "x"),
        message("ffff0000", "eeee0000", "user", "the leaf"),
    ]);
    for name in ["abcd", "abcdef00", "abcdef00~1", "@", "label:x", "7"] {
        check(&scratch, name, name);
    }
    // Steps are split off before a piece of an id is looked for.
    check(&scratch, "abcdef00~1~1", "abcdef00");
    refuse(&scratch, "abcde", "ambiguous");
}

#[test]
fn labels_and_prompts_follow_the_working_leaf() {
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
fn a_prompt_counts_on_the_active_path_only() {
    let scratch = Scratch::new(&[
        message("aaaa1111", "", "user", "First prompt"),
        message("bbbb2222", "aaaa1111", "user", "Left behind"),
        message("cccc3333", "aaaa1111", "assistant", "Answer"),
    ]);
    check(&scratch, "user:1", "aaaa1111");
    refuse(&scratch, "user:2", "not-found");
}

#[test]
fn what_names_nothing_is_not_found() {
    let scratch = session();
    for name in
        ["aaa", "", "~", "~1", "zzzzzzzz", "user:0", "user:4", "user:", "user:x", "user:-1", "label:", "label:x"]
    {
        let (message, hint) = refuse(&scratch, name, "not-found");
        assert!(message.contains(&format!("`{name}`")), "{message}");
        assert!(hint.is_some(), "{name}");
    }
    for name in ["@~6", "@~99999999999999999999999999", "aaaa1111~1", "label:plan-b~2", "user:3~1"] {
        let (message, _) = refuse(&scratch, name, "not-found");
        assert!(message.contains(name) && message.contains("beyond the root"), "{message}");
    }
}

#[test]
fn near_misses_are_hinted_at() {
    let scratch = session();
    for (name, near) in [
        ("aaaa1112", "aaaa1111"),
        ("aaa", "aaaa1111"),
        ("1234568", "12345678"),
        ("label:plan-c", "label:plan-b"),
        ("label:planb", "label:plan-b"),
        ("plan-b", "label:plan-b"),
    ] {
        let (_, hint) = refuse(&scratch, name, "not-found");
        assert!(hint.as_ref().is_some_and(|hint| hint.contains(near)), "{name}: {hint:?}");
    }
    let (_, hint) = refuse(&scratch, "zzzzzzzz", "not-found");
    assert!(hint.is_some_and(|hint| !hint.contains("aaaa") && !hint.contains("plan")));
}

#[test]
fn an_ambiguous_name_lists_what_it_may_mean() {
    let (message, hint) = refuse(&session(), "cccc", "ambiguous");
    assert_eq!(message, "`cccc` matches 2 entries:\n  cccc3333  Second prompt\n  cccc4444  Second answer");
    assert!(hint.is_some());
}

#[test]
fn an_ambiguous_name_lists_ten_at_most() {
    let many: Vec<_> =
        (0..12).map(|at| message(&format!("abcd{at:02}"), "", "user", &format!("number {at}"))).collect();
    let (message, _) = refuse(&Scratch::new(&many), "abcd", "ambiguous");
    assert!(message.starts_with("`abcd` matches 12 entries:\n  abcd00  number 0\n"), "{message}");
    assert!(message.contains("  abcd09  number 9\n") && !message.contains("abcd10"), "{message}");
    assert!(message.ends_with("2 more"), "{message}");
}

#[test]
fn a_label_on_two_entries_is_ambiguous() {
    let scratch = Scratch::new(&[
        message("aaaa1111", "", "user", "one"),
        message("bbbb2222", "aaaa1111", "user", "two"),
        label("cccc3333", "bbbb2222", "aaaa1111", "twin"),
        label("dddd4444", "cccc3333", "bbbb2222", "twin"),
    ]);
    let (message, _) = refuse(&scratch, "label:twin", "ambiguous");
    assert!(message.contains("aaaa1111  one") && message.contains("bbbb2222  two"), "{message}");
}

#[test]
fn a_session_without_entries_has_no_leaf_to_name() {
    refuse(&Scratch::new::<&str>(&[]), "@", "not-found");
    refuse(&Scratch::new::<&str>(&[]), "user:1", "not-found");
}
