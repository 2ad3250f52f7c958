//! Which summary wins, and what happens when there is none: the table of cases of `navigate`.

use serde_json::{Value, json};

use crate::cli::{Scratch, entry, message};
use crate::hooks::scene::{Scene, answer, each};
use crate::support::Run;
use crate::write::scene::{appended, bytes, forked, untouched, warnings};

/// What was asked for, what the hook answers (`none`: there is none), what the summarizer does
/// (`none`: there is none), what is abandoned: words, entries without text, or nothing.
///
/// The outcome is whose summary is written, `plain` for a move without one, `cancelled`, or the
/// kind of the error; after it stands who was asked. All cases are beside the rule, in
/// `core/edit/navigate/request.rs`: these are one for each way that a run can take.
const CASES: &str = "
text       says     works  nothing   text               hook
text       cancels  works  words     cancelled          hook
nothing    says     works  words     plain              hook
summarize  none     none   words     no-summarizer      -
summarize  none     works  words     summarizer         summarizer
summarize  silent   works  wordless  plain              hook
summarize  says     fails  words     hook               hook
summarize  blank    works  words     hook-failed        hook
summarize  hangs    works  words     hook-failed        hook
summarize  none     blank  words     summarizer-failed  summarizer
summarize  silent   fails  words     summarizer-failed  hook summarizer
summarize  none     hangs  words     summarizer-failed  summarizer
";

/// Makes a session in which only entries without text are abandoned by going from `x9` to `a1`.
fn wordless() -> Scratch {
    let hidden = r#""message":{"role":"bashExecution","command":"ls","output":"x","excludeFromContext":true}"#;
    let result =
        r#"{"role":"toolResult","toolCallId":"c","toolName":"read","content":[{"type":"text","text":"long"}]}"#;
    Scratch::new(&[
        message("u1", "", "user", "first"),
        message("a1", "u1", "assistant", "one"),
        entry("model_change", "x1", "a1", r#""provider":"acme","modelId":"m""#),
        entry("thinking_level_change", "x2", "x1", r#""thinkingLevel":"high""#),
        message("x3", "x2", "user", " \n\t "),
        entry(
            "message",
            "x4",
            "x3",
            r#""message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"}]}"#,
        ),
        entry("message", "x5", "x4", &format!(r#""message":{result}"#)),
        entry("message", "x6", "x5", hidden),
        entry("custom", "x7", "x6", r#""customType":"state","data":{"text":"for the extension only"}"#),
        entry("branch_summary", "x8", "x7", r#""fromId":"a1","summary":"""#),
        entry("label", "x9", "x8", r#""targetId":"a1","label":"text""#),
    ])
}

/// A row of the table.
struct Case<'t> {
    row: &'t str,
    asked: &'t str,
    hook: &'t str,
    summarizer: &'t str,
    left: &'t str,
    outcome: &'t str,
    order: Vec<&'t str>,
}

impl<'t> Case<'t> {
    fn read(row: &'t str) -> Self {
        let mut words = row.split_whitespace();
        let [asked, hook, summarizer, left, outcome] = [(); 5].map(|()| words.next().unwrap());
        let order = words.filter(|word| *word != "-").collect();
        Self { row, asked, hook, summarizer, left, outcome, order }
    }

    fn hook(&self, scene: &Scene) -> Option<String> {
        Some(match self.hook {
            "none" => return None,
            "silent" => scene.hook("hook", ""),
            "says" => scene.answering("hook", answer("from the hook")),
            "cancels" => scene.answering("hook", r#"{"cancel":true}"#),
            "blank" => scene.answering("hook", answer("\n")),
            "hangs" => scene.hook("hook", "sleep 60"),
            other => panic!("{other}"),
        })
    }

    fn summarizer(&self, scene: &Scene) -> Option<String> {
        Some(match self.summarizer {
            "none" => return None,
            "works" => scene.summarizer("echo from the summarizer"),
            "blank" => scene.summarizer("printf ' \\n\\t\\n'"),
            "fails" => scene.summarizer("echo half of it; exit 1"),
            "hangs" => scene.summarizer("echo half of it; sleep 60"),
            other => panic!("{other}"),
        })
    }

    fn run(&self, scene: &Scene) -> Run {
        let mut more: Vec<String> = match self.asked {
            "text" => vec!["--summary".to_owned(), "from the user".to_owned()],
            "summarize" => vec!["--summarize".to_owned()],
            _ => Vec::new(),
        };
        more.extend(self.hook(scene).into_iter().flat_map(|hook| ["--hook".to_owned(), hook]));
        let summarizer = self.summarizer(scene);
        if self.asked == "summarize" {
            more.extend(summarizer.iter().flat_map(|command| ["--summarizer", command].map(str::to_owned)));
        }
        let line = match self.left {
            "words" => "navigate s.jsonl u2",
            "wordless" => "navigate s.jsonl a1",
            _ => "navigate s.jsonl t2 --leaf a1",
        };
        // Only what is to run out of time gets little of it.
        for (what, limit) in [(self.hook, "--hook-timeout=1"), (self.summarizer, "--summarizer-timeout=1")] {
            more.extend((what == "hangs").then(|| limit.to_owned()));
        }
        let mut command =
            scene.command(&format!("{line} --json"), &more.iter().map(String::as_str).collect::<Vec<_>>());
        // It is there for good; the option goes with `--summarize` only.
        command.envs(summarizer.filter(|_| self.asked != "summarize").map(|it| ("SESSION_TREE_SUMMARIZER", it)));
        scene.finish(command)
    }

    fn check(&self) {
        let scene = Scene::new(if self.left == "wordless" { wordless() } else { forked() });
        let old = bytes(&scene.session);
        let run = self.run(&scene);
        let row = self.row;
        match self.outcome {
            "plain" => {
                untouched(&scene.session, &old);
                let is_told = warnings(&run) == ["nothing-to-summarize"];
                assert_eq!(is_told, self.asked == "summarize", "{row}: {run:?}");
                let told = run.json();
                assert_eq!((&told["written"], told.get("summaryEntry")), (&json!([]), None), "{row}");
                assert_eq!(told["newLeafId"], told["positionId"], "{row}");
            }
            "cancelled" => {
                assert_eq!((run.code, run.stderr.as_str()), (3, ""), "{row}: {run:?}");
                let told: Value = serde_json::from_str(&run.stdout).unwrap();
                assert_eq!((&told["cancelled"], &told["newLeafId"]), (&json!(true), &told["oldLeafId"]), "{row}");
                untouched(&scene.session, &old);
            }
            "text" => self.is_written(&scene, &old, run, "from the user"),
            "hook" => self.is_written(&scene, &old, run, "from the hook"),
            "summarizer" => self.is_written(&scene, &old, run, "from the summarizer"),
            kind => {
                let error = scene.refused(&old, &run, kind);
                assert!(error["hint"].is_string(), "{row}: {error}");
                let leaf = scene.run("tree s.jsonl --filter all --format jsonl", &[]).json_lines();
                let leaf = leaf.iter().find(|row| row["leaf"] == true).unwrap();
                assert_eq!(leaf["id"], if self.left == "wordless" { "x9" } else { "b2" }, "{row}");
            }
        }
        // Who was asked, without the events after.
        let order = scene.order();
        let asked = order.iter().filter(|note| !note.ends_with(" session_tree"));
        let asked: Vec<_> = asked.map(|note| note.split(' ').next().unwrap()).collect();
        assert_eq!(asked, self.order, "{row}");
        let is_done = ["plain", "text", "hook", "summarizer"].contains(&self.outcome);
        let is_told = order.iter().any(|note| note == "hook session_tree");
        assert_eq!(is_told, is_done && self.hook != "none", "{row}");
    }

    fn is_written(&self, scene: &Scene, old: &[u8], run: Run, text: &str) {
        let row = self.row;
        assert_eq!(run.stderr, "", "{row}");
        let told = run.json();
        let [line] = &appended(old, &bytes(&scene.session))[..] else { panic!("{row}: not one line") };
        assert_eq!((&told["summaryEntry"], &told["written"]), (line, &json!([line["id"]])), "{row}");
        let is_by_hook = self.outcome == "hook";
        assert_eq!(told["fromExtension"], is_by_hook, "{row}");
        assert_eq!((line.get("fromExtension"), line.get("fromHook")), {
            let mark = is_by_hook.then_some(&Value::Bool(true));
            (mark, mark)
        });
        assert_eq!(line.get("details").is_some(), !is_by_hook, "{row}");
        let summary = line["summary"].as_str().unwrap();
        assert_eq!(summary == text, self.outcome != "summarizer", "{row}: {summary}");
        assert!(summary.contains(text), "{row}: {summary}");
        assert_eq!(line["parentId"], if self.left == "nothing" { "t2" } else { "a1" }, "{row}");
    }
}

#[test]
fn summary_is_chosen_as_in_the_table() {
    let cases: Vec<_> = CASES.lines().filter(|row| !row.is_empty()).map(Case::read).collect();
    assert_eq!(cases.len(), 12);
    each(&cases, |case| case.check());
}

#[test]
fn branch_without_text_can_be_left_with_save_or_label() {
    let check = |args: &str, kinds: &[&str]| {
        let scene = Scene::new(wordless());
        let old = bytes(&scene.session);
        let run = scene.run(&format!("navigate s.jsonl a1 --summarize --summarizer false --json {args}"), &[]);
        assert_eq!(warnings(&run), ["nothing-to-summarize"], "{args}");
        run.ok();
        let new = appended(&old, &bytes(&scene.session));
        assert_eq!(new.iter().map(|line| &line["type"]).collect::<Vec<_>>(), kinds, "{args}");
        assert_eq!(new[0]["parentId"], "a1");
    };
    check("--save", &["custom"]);
    check("--label x", &["label"]);
    check("--save --label x", &["custom", "label"]);
}

#[test]
fn text_output_says_that_there_was_nothing_to_summarize() {
    let scene = Scene::new(wordless());
    let run = scene.run("navigate s.jsonl a1 --summarize --summarizer false", &[]);
    assert_eq!(run.code, 0);
    assert!(run.stderr.contains("has any text: nothing is written"), "{run:?}");
    assert_eq!(scene.run("navigate s.jsonl a1 --summarize --summarizer false --quiet", &[]).stderr, "");
}

#[test]
fn two_sources_of_summary_are_refused() {
    let scene = Scene::new(forked());
    let old = bytes(&scene.session);
    let hook = scene.hook("watch", "");
    let both = ["--summary x", "--summary-file /dev/null"].map(|other| format!("{other} --summarize"));
    for args in both.iter().map(String::as_str).chain(["--summary x --summary-file /dev/null"]) {
        let run = scene.run(&format!("navigate s.jsonl u2 --json --summarizer cat {args}"), &["--hook", &hook]);
        scene.refused(&old, &run, "usage");
        assert_eq!(scene.order().len(), 0);
    }
}

#[test]
fn options_of_summarizer_need_summarize() {
    let scene = Scene::new(forked());
    let old = bytes(&scene.session);
    for args in ["--summarizer cat", "--instructions x", "--token-budget 9"] {
        let run = scene.run(&format!("navigate s.jsonl u2 --json --save {args}"), &[]);
        scene.refused(&old, &run, "usage");
    }
}

#[test]
fn dry_run_runs_no_hook_and_no_summarizer() {
    let scene = Scene::new(forked());
    let old = bytes(&scene.session);
    let (hook, summarizer) = (scene.hook("hook", "exit 1"), scene.summarizer("exit 1"));
    let more = ["--hook", &hook, "--summarizer", &summarizer];
    let told = scene.run("navigate s.jsonl u2 --summarize --dry-run --json", &more).json();
    assert_eq!((&told["dryRun"], &told["newLeafId"], &told["written"]), (&json!(true), &json!("a1"), &json!([])));
    assert_eq!(told["entriesToSummarize"], json!(["b1", "b2"]));
    assert_eq!(scene.order().len(), 0);
    untouched(&scene.session, &old);
}
