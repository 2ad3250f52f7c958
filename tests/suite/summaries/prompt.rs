//! The summarizer: which program it is, and what it gets to read.

use session_tree::core::context::summary::INSTRUCTIONS;

use crate::cli::{Scratch, entry, message};
use crate::hooks::scene::{Scene, the_new_line};
use crate::support::Run;
use crate::write::scene::{bytes, forked};

/// Abandons entries by going to `u0` and lets a summarizer read them; returns its prompt.
#[track_caller]
fn prompt_of(entries: &[String], args: &[&str]) -> String {
    let root = [message("u0", "", "user", "kept, not left behind")];
    let scene = Scene::new(Scratch::new(&[&root[..], entries].concat()));
    let summarizer = scene.summarizer("echo done");
    let args = [&["--json", "--summarizer", &summarizer], args].concat();
    let told = scene.run("navigate s.jsonl u0 --summarize", &args).json();
    assert_eq!(told["fromExtension"], false);
    scene.note("prompt")
}

/// Returns the conversation in a prompt.
#[track_caller]
fn conversation_of(entries: &[String], args: &[&str]) -> String {
    let prompt = prompt_of(entries, args);
    let rest = prompt.strip_prefix("<conversation>\n").unwrap_or_else(|| panic!("{prompt}"));
    let (conversation, rest) = rest.rsplit_once("\n</conversation>\n\n").unwrap();
    assert_eq!(rest, format!("{INSTRUCTIONS}\n"));
    conversation.to_owned()
}

/// Returns entries from what they hold, each below the one before it.
fn chain<const N: usize>(entries: [(&str, &str); N]) -> Vec<String> {
    let entry_at = |at: usize, (kind, rest): (&str, &str)| {
        let parent = at.checked_sub(1).map_or("u0".to_owned(), |above| format!("e{above}"));
        let rest = if kind == "message" { format!(r#""message":{{{rest}}}"#) } else { rest.to_owned() };
        entry(kind, &format!("e{at}"), &parent, &rest)
    };
    entries.into_iter().enumerate().map(|(at, entry)| entry_at(at, entry)).collect()
}

#[test]
fn prompt_has_conversation_as_text() {
    let entries = chain([
        ("message", r#""role":"user","content":"fix the\ntest"}"#.trim_end_matches('}')),
        (
            "message",
            r#""role":"assistant","content":[{"type":"thinking","thinking":"SECRET"},{"type":"text","text":" On it. "},{"type":"toolCall","id":"c","name":"read","arguments":{"path": "src/a.rs","n":1.0}},{"type":"toolCall","id":"d","name":"bash","arguments":{"command":"ls"}}]"#,
        ),
        (
            "message",
            r#""role":"toolResult","toolCallId":"c","toolName":"read","content":[{"type":"text","text":"SECRET"}]"#,
        ),
        (
            "message",
            r#""role":"user","content":[{"type":"text","text":"see "},{"type":"image","data":"SECRET","mimeType":"image/png"},{"type":"text","text":"this"}]"#,
        ),
        ("message", r#""role":"bashExecution","command":"cargo test","output":"1 failed","exitCode":101"#),
        ("message", r#""role":"bashExecution","command":"SECRET","output":"SECRET","excludeFromContext":true"#),
        ("message", r#""role":"pythonExecution","code":"1+1","output":"2""#),
        ("message", r#""role":"pythonExecution","code":"SECRET","output":"2","excludeFromContext":true"#),
        (
            "message",
            r#""role":"fileMention","files":[{"path":"a.md","content":"SECRET"},{"path":"b.md","content":"x"}]"#,
        ),
        ("custom_message", r#""customType":"note","content":"from an extension","display":false"#),
        ("custom", r#""customType":"state","data":"SECRET""#),
        ("branch_summary", r#""fromId":"u0","summary":"tried a retry""#),
        ("compaction", r#""summary":"so far so good","firstKeptEntryId":"e0","tokensBefore":9"#),
        ("model_change", r#""provider":"SECRET","modelId":"SECRET""#),
        ("label", r#""targetId":"e0","label":"SECRET""#),
        ("message", r#""role":"developer","content":"be brief""#),
        ("message", r#""role":"assistant","content":[],"stopReason":"aborted""#),
        ("message", r#""role":"assistant","content":[{"type":"text","text":"Done."}]"#),
    ]);
    let expected = r#"[User] fix the
test

[Assistant] On it.
[Assistant called read] {"path": "src/a.rs","n":1.0}
[Assistant called bash] {"command":"ls"}

[User] see this

[User ran] cargo test
1 failed

[User ran] 1+1
2

[User mentioned files] a.md, b.md

[Extension] from an extension

[Summary of an earlier branch] tried a retry

[Summary of what came before] so far so good

[User] be brief

[Assistant] Done."#;
    assert_eq!(conversation_of(&entries, &[]), expected);
}

#[test]
fn prompt_has_only_abandoned_entries() {
    let scene = Scene::new(forked());
    let summarizer = scene.summarizer("echo done");
    let conversation = |line: &str| {
        scene.run(&format!("navigate s.jsonl {line} --summarize"), &["--summarizer", &summarizer]).ok();
        let prompt = scene.note("prompt");
        prompt.split("</conversation>").next().unwrap().lines().skip(1).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(conversation("t2 --leaf b2"), "[User] other\n\n[Assistant] two");
    let calls = "[User] second\n\n[Assistant called read] {\"path\":\"src/a.rs\"}\n[Assistant called edit] {\"path\":\"src/b.rs\"}";
    assert_eq!(conversation("b2 --leaf t2"), calls);
    let all = "[User] first\n\n[Assistant] one\n\n[User] other\n\n[Assistant] two";
    assert_eq!(conversation("--root --leaf b2"), all);
}

#[test]
fn instructions_option_replaces_default_instructions() {
    let entries = chain([("message", r#""role":"user","content":"x""#)]);
    let given = "Say it in French,\n  in one line: \"é\"";
    let prompt = prompt_of(&entries, &["--instructions", given]);
    assert_eq!(prompt, format!("<conversation>\n[User] x\n</conversation>\n\n{given}\n"));
    assert!(prompt_of(&entries, &[]).ends_with(&format!("</conversation>\n\n{INSTRUCTIONS}\n")));
}

/// Returns which of some messages, called by single letters, are in the prompt within a budget of tokens.
#[track_caller]
fn told_within(budget: &str, lengths: &[(char, usize)]) -> String {
    let mut parent = "u0".to_owned();
    let mut entries = Vec::new();
    for (name, length) in lengths {
        // With `[User] ` in front it is just as long as it is to be.
        entries.push(message(&name.to_string(), &parent, "user", &name.to_string().repeat(length - 7)));
        parent = name.to_string();
    }
    let conversation = conversation_of(&entries, &["--token-budget", budget]);
    conversation.split("[User] ").filter_map(|text| text.chars().next()).collect()
}

#[test]
fn budget_keeps_newest_entries_in_their_order() {
    let same = [('a', 40), ('b', 40), ('c', 40), ('d', 40)];
    for (budget, told) in
        [("40", "abcd"), ("39", "bcd"), ("30", "bcd"), ("29", "cd"), ("20", "cd"), ("19", "d"), ("10", "d")]
    {
        assert_eq!(told_within(budget, &same), told, "{budget}");
    }
    assert_eq!(told_within("0", &same), "abcd", "0 is no limit");
    assert_eq!(told_within("18446744073709551615", &same), "abcd");
}

#[test]
fn budget_stops_at_first_entry_that_does_not_fit() {
    assert_eq!(told_within("30", &[('a', 20), ('b', 400), ('c', 20), ('d', 20)]), "cd");
    assert_eq!(told_within("114", &[('a', 20), ('b', 400), ('c', 20), ('d', 20)]), "bcd");
}

#[test]
fn budget_counts_characters_not_bytes() {
    assert_eq!(told_within("20", &[('a', 40), ('😀', 40), ('é', 40)]), "😀é");
}

#[test]
fn skipped_entries_use_no_budget() {
    let long = "x".repeat(4000);
    let result = format!(r#""role":"toolResult","toolCallId":"c","content":[{{"type":"text","text":"{long}"}}]"#);
    let thinking = format!(r#""role":"assistant","content":[{{"type":"thinking","thinking":"{long}"}}]"#);
    let entries = chain([("message", r#""role":"user","content":"x""#), ("message", &result), ("message", &thinking)]);
    assert_eq!(conversation_of(&entries, &["--token-budget", "2"]), "[User] x");
}

#[test]
fn default_budget_fits_a_large_model() {
    let [old, new] = ["o", "n"].map(|text| text.repeat(300_000));
    let entries = [message("e0", "u0", "user", &old), message("e1", "e0", "user", &new)];
    assert_eq!(conversation_of(&entries, &[]).len(), 300_007);
    assert_eq!(conversation_of(&entries, &["--token-budget", "0"]).len(), 600_016);
    // It is a file, so that whoever does not read it holds up nothing.
    let scene = Scene::new(Scratch::new(&[&[message("u0", "", "user", "x")], &entries[..]].concat()));
    let old = bytes(&scene.session);
    let reads_nothing = scene.program("reads-nothing", "exec <&-; echo done");
    scene.run("navigate s.jsonl u0 --summarize --json --token-budget 0", &["--summarizer", &reads_nothing]).ok();
    assert!(the_new_line(&scene, &old)["summary"].as_str().unwrap().ends_with("\n\ndone"));
}

#[test]
fn invalid_budget_is_refused() {
    let scene = Scene::new(forked());
    let old = bytes(&scene.session);
    for args in ["--token-budget=-1", "--token-budget=x", "--token-budget=1.5", "--summarizer-timeout=x"] {
        let run = scene.run(&format!("navigate s.jsonl u2 --summarize --summarizer cat --json {args}"), &[]);
        scene.refused(&old, &run, "usage");
    }
}

/// Runs with a summarizer in the environment.
#[track_caller]
fn run_with(scene: &Scene, variable: &str, line: &str, more: &[&str]) -> Run {
    let mut command = scene.command(line, more);
    command.env("SESSION_TREE_SUMMARIZER", variable);
    scene.finish(command)
}

#[test]
fn summarizer_option_wins_over_variable() {
    let summary = |variable: &str, line: &str| {
        let scene = Scene::new(forked());
        let old = bytes(&scene.session);
        run_with(&scene, variable, &format!("navigate s.jsonl u2 --summarize --json {line}"), &[]).ok();
        let summary = the_new_line(&scene, &old)["summary"].as_str().unwrap().to_owned();
        summary.rsplit("\n\n").next().unwrap().to_owned()
    };
    assert_eq!(summary("echo 'from  the' environment", ""), "from  the environment");
    assert_eq!(summary("false", "--summarizer=uname"), summary("uname", ""));
    assert_eq!(summary("", "--summarizer=uname"), summary("uname", ""));
}

#[test]
fn empty_variable_means_no_summarizer() {
    let scene = Scene::new(forked());
    let old = bytes(&scene.session);
    for variable in ["", " "] {
        let run = run_with(&scene, variable, "navigate s.jsonl u2 --summarize --json", &[]);
        scene.refused(&old, &run, "no-summarizer");
    }
    // Nobody asked for a summary: whatever it names is not run.
    run_with(&scene, "'open", "navigate s.jsonl u2 --json", &[]).ok();
    run_with(&scene, "false", "navigate s.jsonl u2 --json --summary x", &[]).ok();
    let run = run_with(&scene, "a b 'open", "navigate s.jsonl a1 --summarize --json", &[]);
    let error = crate::write::scene::error(&run);
    assert_eq!(error["kind"], "summarizer-failed");
    assert!(error["message"].as_str().unwrap().contains("a b 'open"), "{error}");
}

#[test]
fn stderr_of_summarizer_passes_through() {
    let scene = Scene::new(forked());
    let summarizer = scene.summarizer("echo 'loading a model' >&2; echo done");
    let run = scene.run("navigate s.jsonl u2 --summarize --quiet", &["--summarizer", &summarizer]);
    assert_eq!((run.code, run.stderr.as_str()), (0, "loading a model\n"));
    let summarizer = scene.summarizer("echo 'no such model' >&2; exit 3");
    let run = scene.run("navigate s.jsonl u2 --summarize", &["--summarizer", &summarizer]);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""));
    assert!(run.stderr.starts_with("no such model\nerror: "), "{run:?}");
}

#[test]
fn head_as_summarizer_stores_start_of_prompt() {
    let scene = Scene::new(forked());
    let old = bytes(&scene.session);
    let told = scene.run("navigate s.jsonl u2 --summarize --json", &["--summarizer", "head -c 40"]).json();
    let line = the_new_line(&scene, &old);
    assert_eq!(told["summaryEntry"], line);
    assert!(line["summary"].as_str().unwrap().contains("<conversation>\n[User] other\n"), "{line}");
}
