//! `navigate`: what a move prints, and what each way of saving it writes. Where a move goes and
//! what it leaves is tested beside the rule, in `core/edit`.

use serde_json::{Value, json};

use crate::cli::Scratch;
use crate::support::{self, Run};
use crate::write::scene::{appended, bytes, error, forked, is_fresh_id, keys, refused, untouched, warnings};

/// A move in [`forked`]. `""` stands for null.
struct Case {
    args: &'static str,
    old: &'static str,
    target: &'static str,
    position: &'static str,
    ancestor: &'static str,
    abandoned: &'static str,
    editor: Option<&'static str>,
}

/// Returns the columns of a case in the order in which they read best.
const fn case(
    args: &'static str,
    [old, target, position, ancestor]: [&'static str; 4],
    abandoned: &'static str,
    editor: Option<&'static str>,
) -> Case {
    Case { args, old, target, position, ancestor, abandoned, editor }
}

impl Case {
    fn run(&self, scratch: &Scratch, more: &[&str]) -> Run {
        scratch.args(["navigate", "s.jsonl", "--json"].iter().copied().chain(self.args.split(' ')).chain(more.to_vec()))
    }

    /// Checks the result object; returns it.
    #[track_caller]
    fn told(&self, run: Run, wrote: bool, more: &[&str]) -> Value {
        let told = run.json();
        let mut expected = vec!["cancelled", "commonAncestorId", "context", "path"];
        expected.extend(self.editor.map(|_| "editorText"));
        expected.extend(["entriesToSummarize", "newLeafId", "noop", "oldLeafId", "positionId", "targetId", "written"]);
        expected.extend(more);
        expected.sort_unstable();
        assert_eq!(keys(&told), expected, "{}", self.args);
        assert_eq!(keys(&told["context"]), ["messages", "mode", "models", "thinkingLevel"]);
        assert_eq!((&told["noop"], &told["cancelled"]), (&json!(false), &json!(false)));
        assert_eq!(told["oldLeafId"], id(self.old), "{}", self.args);
        assert_eq!(told["targetId"], id(self.target), "{}", self.args);
        assert_eq!(told["positionId"], id(self.position), "{}", self.args);
        assert_eq!(told["commonAncestorId"], id(self.ancestor), "{}", self.args);
        assert_eq!(told["entriesToSummarize"], json!(self.abandoned.split_whitespace().collect::<Vec<_>>()));
        assert_eq!(told.get("editorText"), self.editor.map(Value::from).as_ref(), "{}", self.args);
        let position = id(self.position);
        let written = told["written"].as_array().unwrap();
        assert_eq!(!written.is_empty(), wrote, "{}", self.args);
        assert_eq!(&told["newLeafId"], written.last().unwrap_or(&position), "{}", self.args);
        told
    }

    /// Makes the move in a fresh session, checks what all moves have in common, and returns the new
    /// lines and the result.
    #[track_caller]
    fn write(&self, session: impl Fn() -> Scratch, args: &[&str], more: &[&str]) -> (Vec<Value>, Value) {
        let scratch = session();
        let old = bytes(&scratch);
        let told = self.told(self.run(&scratch, args), true, more);
        let new = appended(&old, &bytes(&scratch));
        let mut parent = &id(self.position);
        for (at, line) in new.iter().enumerate() {
            is_fresh_id(&line["id"]);
            assert_eq!(&line["parentId"], parent, "{} {args:?}", self.args);
            assert_eq!(told["written"][at], line["id"]);
            parent = &line["id"];
        }
        assert_eq!(told["written"].as_array().unwrap().len(), new.len());
        same_context(&scratch, &told, &[]);
        (new, told)
    }

    /// Checks that a move writes nothing, and returns the result.
    #[track_caller]
    fn look(&self, session: impl Fn() -> Scratch, args: &[&str], more: &[&str]) -> Value {
        let scratch = session();
        let old = bytes(&scratch);
        let told = self.told(self.run(&scratch, args), false, more);
        untouched(&scratch, &old);
        let from = ["--leaf", self.position];
        same_context(&scratch, &told, if self.position.is_empty() { &["--root"] } else { &from });
        told
    }

    /// Checks all that can be done with a move.
    #[track_caller]
    fn check(&self, session: impl Fn() -> Scratch + Copy) {
        self.look(session, &[], &[]);
        for args in [&["--save"][..], &["--summary", "x"], &["--summary", "x", "--label", "y", "--save"]] {
            let told = self.look(session, &[args, &["--dry-run"]].concat(), &["dryRun", "wouldWrite"]);
            let more = if args[0] == "--summary" { &["summaryEntry", "fromExtension"][..] } else { &[] };
            let (new, done) = self.write(session, args, more);
            let types: Vec<_> = new.iter().map(|line| &line["type"]).collect();
            assert_eq!((&told["wouldWrite"], &told["context"]), (&json!(types), &done["context"]), "{args:?}");
        }
        let (new, _) = self.write(session, &["--save"], &[]);
        assert_eq!(new.len(), 1);
        assert_eq!(keys(&new[0]), ["customType", "id", "parentId", "timestamp", "type"]);
        assert_eq!((&new[0]["type"], &new[0]["customType"]), (&json!("custom"), &json!("session-tree/leaf")));
        for save in [&[][..], &["--save"]] {
            let more = ["summaryEntry", "fromExtension"];
            let (new, told) = self.write(session, &[&["--summary", "tried\n\"it\" …\n"], save].concat(), &more);
            assert_eq!(new.len(), 1, "a summary saves by itself");
            self.is_summary(&new[0], &told);
            let args = ["--summary", "tried\n\"it\" …", "--label", "left"];
            let (new, told) = self.write(session, &[&args, save].concat(), &more);
            assert_eq!(new.len(), 2);
            self.is_summary(&new[0], &told);
            is_label(&new[1], &new[0]["id"]);
        }
        if self.target.is_empty() {
            return self.has_nothing_to_label(session());
        }
        let (new, _) = self.write(session, &["--label", "left"], &[]);
        assert_eq!(new.len(), 1);
        is_label(&new[0], &id(self.target));
        let (new, _) = self.write(session, &["--label", "left", "--save"], &[]);
        assert_eq!((new.len(), &new[0]["type"]), (2, &json!("custom")));
        is_label(&new[1], &id(self.target));
    }

    #[track_caller]
    fn is_summary(&self, line: &Value, told: &Value) {
        assert_eq!(keys(line), ["details", "fromId", "id", "parentId", "summary", "timestamp", "type"]);
        assert_eq!((&line["type"], &line["summary"]), (&json!("branch_summary"), &json!("tried\n\"it\" …")));
        assert_eq!(line["fromId"], if self.position.is_empty() { "root" } else { self.position });
        assert_eq!((&told["summaryEntry"], &told["fromExtension"]), (line, &json!(false)));
    }

    #[track_caller]
    fn has_nothing_to_label(&self, scratch: Scratch) {
        let old = bytes(&scratch);
        for args in [&["--label", "x"][..], &["--label", "x", "--save"]] {
            refused(&scratch, &old, &self.run(&scratch, args), "usage");
        }
    }
}

fn id(id: &str) -> Value {
    if id.is_empty() { Value::Null } else { id.into() }
}

#[track_caller]
fn is_label(line: &Value, target: &Value) {
    assert_eq!(keys(line), ["id", "label", "parentId", "targetId", "timestamp", "type"]);
    assert_eq!((&line["type"], &line["label"], &line["targetId"]), (&json!("label"), &json!("left"), target));
}

/// Checks that the context of a result is the one that `context` shows.
#[track_caller]
fn same_context(scratch: &Scratch, told: &Value, args: &[&str]) {
    let shown = scratch.args([&["context", "s.jsonl", "--json"], args].concat()).json();
    let would_add = told.get("wouldWrite").is_some_and(|types| types[0] == "branch_summary");
    assert_eq!(told["context"]["messages"], shown["messages"].as_array().unwrap().len() + usize::from(would_add));
    for key in ["thinkingLevel", "models", "mode"] {
        assert_eq!(told["context"][key], shown[key]);
    }
    let leaf = &shown["leafId"];
    assert!(leaf == &told["newLeafId"] || leaf == &told["positionId"]);
}

#[test]
fn a_move_prints_and_writes_where_it_goes() {
    case("u2", ["b2", "u2", "a1", "a1"], "b1 b2", Some("second")).check(forked);
    case("t2 --leaf a1", ["a1", "t2", "t2", "a1"], "", None).check(forked);
    case("--root", ["b2", "", "", ""], "u1 a1 b1 b2", None).check(forked);
    case("u1", ["b2", "u1", "", "u1"], "a1 b1 b2", Some("first")).check(forked);
}

/// Checks a move to where the leaf is.
#[track_caller]
fn stays(session: impl Fn() -> Scratch, args: &str, leaf: &str, editor: Option<&str>, warning: &[&str]) {
    let scratch = session();
    let old = bytes(&scratch);
    let run = scratch.run(&format!("navigate s.jsonl --json {args}"));
    assert_eq!(warnings(&run), warning, "{args}");
    let told = run.json();
    for key in ["targetId", "oldLeafId", "positionId", "newLeafId"] {
        assert_eq!(told[key], id(leaf), "{args}: {key}");
    }
    assert_eq!((&told["noop"], &told["cancelled"]), (&json!(true), &json!(false)));
    assert_eq!((&told["written"], &told["entriesToSummarize"]), (&json!([]), &json!([])));
    assert_eq!(told.get("editorText"), editor.map(Value::from).as_ref());
    assert_eq!((told.get("summaryEntry"), told.get("fromExtension")), (None, None));
    untouched(&scratch, &old);
    let from = ["--leaf", leaf];
    same_context(&scratch, &told, if leaf.is_empty() { &["--root"] } else { &from });
}

#[test]
fn move_to_the_leaf_does_nothing() {
    stays(forked, "b2", "b2", None, &[]);
    stays(forked, "@", "b2", None, &[]);
    stays(forked, "t2 --leaf t2", "t2", None, &[]);
    stays(forked, "u2 --leaf u2", "u2", Some("second"), &[]);
    stays(forked, "t2 --leaf t2 --label x", "t2", None, &["noop"]);
    stays(forked, "t2 --leaf t2 --summary x", "t2", None, &["noop"]);
    stays(forked, "@ --save", "b2", None, &["noop"]);
    stays(forked, "@ --leaf b2 --save --label x --summary x", "b2", None, &["noop"]);
    let nothing = || Scratch::new::<&str>(&[]);
    stays(nothing, "--root", "", None, &[]);
    stays(nothing, "--root --save", "", None, &["noop"]);
}

#[test]
fn move_to_the_leaf_names_options_without_effect() {
    let run = forked().run("navigate s.jsonl @ --save --label x --summary y");
    for name in ["--save", "--label", "summary"] {
        assert!(run.stderr.contains(name), "{run:?}");
    }
}

#[test]
fn move_to_own_leaf_option_can_be_saved() {
    let scratch = forked();
    let old = bytes(&scratch);
    let told = scratch.run("navigate s.jsonl t2 --leaf t2 --save --json").json();
    let [line] = &appended(&old, &bytes(&scratch))[..] else { panic!("not one line") };
    assert_eq!((&line["parentId"], &line["customType"]), (&json!("t2"), &json!("session-tree/leaf")));
    assert_eq!((&told["oldLeafId"], &told["newLeafId"]), (&json!("t2"), &line["id"]));
    assert_eq!((&told["written"], &told["entriesToSummarize"]), (&json!([line["id"]]), &json!([])));
}

#[test]
fn exact_goes_to_the_entry_itself() {
    case("u2 --exact", ["b2", "u2", "u2", "a1"], "b1 b2", None).check(forked);
    case("b1 --exact", ["b2", "b1", "b1", "b1"], "b2", None).check(forked);
    stays(forked, "u2 --leaf u2 --exact", "u2", None, &[]);
}

#[test]
fn from_root_leaves_nothing_behind() {
    case("t2 --from-root", ["", "t2", "t2", ""], "", None).check(forked);
    case("u1 --from-root", ["", "u1", "", ""], "", Some("first")).check(forked);
    stays(forked, "--root --from-root", "", None, &[]);
}

#[test]
fn move_that_is_saved_already_is_not_saved_again() {
    for args in ["t2 --save", "u2 --save", "--root --save", "t2 --leaf t2 --save"] {
        let scratch = forked();
        let line = format!("navigate s.jsonl --json {args}");
        let first = scratch.run(&line).json();
        let saved = bytes(&scratch);
        for more in ["", " --dry-run"] {
            let told = scratch.run(&format!("{line}{more}"));
            assert_eq!(warnings(&told), ["noop"], "{args}");
            let told = told.json();
            assert_eq!(
                (&told["noop"], &told["written"], &told["entriesToSummarize"]),
                (&json!(true), &json!([]), &json!([]))
            );
            for id in ["oldLeafId", "newLeafId"] {
                assert_eq!(told[id], first["newLeafId"], "{args}: {id}");
            }
            // Where it stands is the place that the saved move is at.
            assert_eq!(told["positionId"], first["positionId"], "{args}");
            assert_eq!(told.get("editorText"), first.get("editorText"));
            untouched(&scratch, &saved);
        }
        // A label or a move elsewhere is written.
        assert_eq!(scratch.run("navigate s.jsonl a2 --save --json --dry-run").json()["wouldWrite"], json!(["custom"]));
    }
}

#[test]
fn dry_run_is_the_same_noop_as_the_move() {
    for (args, is_noop, types) in [
        ("t2 --leaf t2 --save", false, json!(["custom"])),
        ("@ --save", true, json!([])),
        ("u2 --label x --save", false, json!(["custom", "label"])),
        ("u2", false, json!([])),
    ] {
        let told = forked().run(&format!("navigate s.jsonl --json --dry-run {args}")).json();
        assert_eq!((&told["noop"], &told["wouldWrite"]), (&json!(is_noop), &types), "{args}");
    }
    let text = forked().run("navigate s.jsonl u2 --label x --save --dry-run").ok();
    assert!(text.contains("to write  custom, label\n"), "{text}");
}

#[test]
fn a_label_that_another_one_takes_the_place_of_is_named() {
    let scratch = forked();
    scratch.run("label s.jsonl u2 green").ok();
    let told = scratch.run("navigate s.jsonl u2 --label red --dry-run --json").json();
    assert_eq!(told["was"], "green");
    // A summary takes the label itself, and the same label takes no place.
    for args in ["u2 --label red --summary x", "u2 --label green", "u2 --save"] {
        let told = scratch.run(&format!("navigate s.jsonl {args} --dry-run --json")).json();
        assert_eq!(told.get("was"), None, "{args}");
    }
    let text = scratch.run("navigate s.jsonl u2 --label red").ok();
    assert!(text.contains("label     [red] (was [green])\n"), "{text}");
}

#[test]
fn the_summarizer_s_prompt_is_printed_without_asking_it() {
    let line = "navigate s.jsonl u2 --summarize --dry-run --prompt";
    let text = forked().run(line).ok();
    assert!(text.starts_with("<conversation>\n[User] other\n"), "{text}");
    assert_eq!(forked().run(&format!("{line} --json")).json()["prompt"], text);
    assert_eq!(forked().run("navigate s.jsonl u2 --summarize --prompt").code, 2);
}

#[test]
fn without_an_entry_the_hint_names_root() {
    let run = forked().run("navigate s.jsonl");
    assert!(run.code == 2 && run.stderr.contains("hint: `--root` instead of ENTRY"), "{run:?}");
    assert!(error(&forked().run("navigate s.jsonl --json"))["hint"].as_str().unwrap().contains("`--root`"));
}

#[test]
fn target_must_be_given_exactly_once() {
    let scratch = forked();
    let old = bytes(&scratch);
    for args in ["", "u1 --root", "u1 a1"] {
        refused(&scratch, &old, &scratch.run(&format!("navigate s.jsonl --json {args}")), "usage");
    }
    refused(&scratch, &old, &scratch.run("navigate s.jsonl --json zz --save"), "not-found");
    refused(&scratch, &old, &scratch.run("navigate s.jsonl --json u1 --leaf zz --save"), "not-found");
}

#[test]
fn standard_input_can_be_navigated_but_not_saved() {
    let session = bytes(&forked());
    let run = |args: &[&str]| support::run_with_input([&["navigate", "-", "u2", "--json"], args].concat(), &session);
    assert_eq!(run(&[]).json()["positionId"], "a1");
    assert_eq!(run(&["--save", "--dry-run"]).json()["dryRun"], true);
    for args in [&["--save"][..], &["--label", "x"], &["--summary", "x"]] {
        assert_eq!(error(&run(args))["kind"], "usage", "{args:?}");
    }
}
