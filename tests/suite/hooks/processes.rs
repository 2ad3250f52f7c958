//! Hooks as processes: how they are started, what they may do with what they get, and how those
//! that fail or do not end are ended, with their children.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::cli::{Scratch, message};
use crate::hooks::scene::{HANG, Scene, each, the_new_line};
use crate::write::scene::{bytes, forked, names, warnings};

/// How long a process that was asked to end is given.
const GRACE: Duration = Duration::from_secs(5);

/// Runs a hook; checks that it counts as failed, and returns the message.
#[track_caller]
fn fails(scene: &Scene, line: &str, hook: &str) -> String {
    let old = bytes(&scene.session);
    let run = scene.run(&format!("{line} --json"), &["--hook", hook]);
    scene.refused(&old, &run, "hook-failed")["message"].as_str().unwrap().to_owned()
}

#[test]
fn hook_command_is_split_into_words_without_shell() {
    let scene = Scene::new(forked());
    let script = r#"cat >/dev/null; for word; do printf '%s\n' "$word"; done >"$T/words""#;
    let hook = scene.program("it's \"a\" hook", script);
    let hook = format!(r#"{hook} one 'two  words' "a\"b" \$T ~ * '' | ; > x && y $(z) # not"#);
    let run = scene.run("navigate s.jsonl u2 --json", &["--hook", &hook]);
    let words = "one\ntwo  words\na\"b\n$T\n~\n*\n\n|\n;\n>\nx\n&&\ny\n$(z)\n";
    assert_eq!((run.stderr.as_str(), scene.note("words")), ("", words.to_owned()));
    assert_eq!(names(scene.session.path("")), ["s.jsonl"]);
}

#[test]
fn hook_program_is_found_in_path() {
    let scene = Scene::new(forked());
    scene.hook("a-hook-of-mine", "");
    let mut command = scene.command("navigate s.jsonl u2 --json --hook a-hook-of-mine", &[]);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain([scene.tool("")]);
    command.env("PATH", std::env::join_paths(folders).unwrap());
    scene.finish(command).ok();
    assert_eq!(scene.events("a-hook-of-mine").len(), 2);
}

#[test]
fn hook_that_cannot_be_started_fails() {
    let scene = Scene::new(forked());
    fs::write(scene.tool("no-program"), "#!/bin/sh\n").unwrap();
    scene.program("no-interpreter", "");
    fs::write(scene.tool("no-interpreter"), "#!/nonexistent/sh\n").unwrap();
    let tools = scene.tool("");
    let tools = tools.to_str().unwrap();
    let in_tools = |name: &str| format!("{tools}{name}");
    let missing = [in_tools("missing"), "session-tree-has-no-such-hook".to_owned(), in_tools("no-interpreter")];
    let unusable = [tools.to_owned(), in_tools("no-program"), in_tools("no-program/x")];
    let unreadable = ["", " ", "'open", "\"open", "x \\"].map(str::to_owned);
    for hook in missing.iter().chain(&unusable).chain(&unreadable) {
        for line in ["navigate s.jsonl u2 --save", "navigate s.jsonl u2 --summarize", "branch s.jsonl u2"] {
            let message = fails(&scene, line, hook);
            assert!(message.contains(hook.as_str()), "{hook:?}: {message}");
        }
    }
}

#[test]
fn hook_with_failing_exit_code_fails_whatever_it_printed() {
    let scene = Scene::new(forked());
    for (script, why) in [
        ("exit 1", "1"),
        ("exit 255", "255"),
        ("echo '{\"cancel\":true}'; exit 3", "3"),
        ("kill -KILL $$", "9"),
        ("kill -TERM $$", "15"),
    ] {
        let hook = scene.program("fails", &format!("cat >/dev/null; {script}"));
        for line in ["navigate s.jsonl u2", "navigate s.jsonl u2 --summary x", "branch s.jsonl u2"] {
            let message = fails(&scene, line, &hook);
            assert!(message.contains(why), "{script}: {message}");
        }
    }
}

#[test]
fn children_of_failed_hook_are_ended() {
    each(&["exit 1", "echo noise", "echo '[]'"], |script| {
        let scene = Scene::new(forked());
        let hook = scene.program("fails", &format!("sleep 20 >/dev/null 2>&1 &\n{script}"));
        fails(&scene, "navigate s.jsonl u2 --save", &hook);
    });
}

#[test]
fn stderr_of_hook_passes_through() {
    let scene = Scene::new(forked());
    let hook = scene.hook("talks", "printf 'to be \\033[1mseen\\n' >&2");
    let run = scene.run("navigate s.jsonl u2", &["--hook", &hook, "--quiet"]);
    assert_eq!((run.code, run.stderr.as_str()), (0, "to be \u{1b}[1mseen\nto be \u{1b}[1mseen\n"));
    let run = scene.run("branch s.jsonl u2 --output -", &["--hook", &hook, "--quiet"]);
    assert_eq!((run.code, run.stderr.lines().count()), (0, 2));
}

/// Makes a session that abandons several megabytes when it goes to `u1`.
fn large() -> Scene {
    let text = "x".repeat(1_500_000);
    let parents = ["u1", "e0", "e1", "e2"];
    let long = parents.iter().enumerate().map(|(at, parent)| message(&format!("e{at}"), parent, "user", &text));
    let entries: Vec<_> = [message("u1", "", "user", "first")].into_iter().chain(long).collect();
    Scene::new(Scratch::new(&entries))
}

#[test]
fn hook_that_does_not_read_its_event_does_not_block() {
    let scene = large();
    for (at, script) in
        [":", "exec <&-; echo '{}'", "head -c 100 >/dev/null", "exec </dev/null; cat"].iter().enumerate()
    {
        let old = bytes(&scene.session);
        let first = scene.program(&format!("first{at}"), script);
        // The next one gets everything all the same.
        let next = scene.program(&format!("next{at}"), &format!("cat >>\"$T/got{at}\""));
        let hooks = ["--hook", &first, "--hook", &next];
        let run = scene.run("navigate s.jsonl u1 --leaf e3 --save --json", &hooks);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{script}");
        assert_eq!(the_new_line(&scene, &old)["type"], "custom");
        let got = scene.note(&format!("got{at}"));
        let events = crate::write::scene::lines(got.as_bytes());
        assert_eq!(events[0]["preparation"]["entriesToSummarize"].as_array().unwrap().len(), 4);
        assert!(got.len() > 6_000_000 && events.len() == 2, "{script}");
    }
}

#[test]
fn hook_cannot_change_event_of_next_hook() {
    let check = |first: &str, next: &str| {
        let scene = Scene::new(forked());
        let first = scene.program("first", first);
        let next = scene.program("next", &format!("{next}\ncat >>\"$T/got\""));
        scene.run("navigate s.jsonl u2 --json", &["--hook", &first, "--hook", &next]).ok();
        let got = scene.note("got");
        let starts: Vec<_> = got.lines().filter_map(|event| event.split(',').next()).collect();
        assert_eq!(starts, [r#"{"type":"session_before_tree""#, r#"{"type":"session_tree""#]);
    };
    check("{ printf XXXXXXXX >&0; } 2>/dev/null || :", ":");
    // It goes on reading while the next one is to read.
    let wait = |name: &str| format!("while [ ! -e \"$T/{name}\" ]; do sleep 0.01; done");
    let reads_on = format!("exec 3<&0\n({}; cat <&3; : >\"$T/read\") >/dev/null 2>&1 &", wait("next-is-there"));
    check(&reads_on, &format!(": >\"$T/next-is-there\"\n{}", wait("read")));
}

#[test]
fn hook_that_prints_before_reading_does_not_block() {
    let scene = large();
    let old = bytes(&scene.session);
    let script = "head -c 5000000 /dev/zero | tr '\\0' ' '; echo '{}'; cat >/dev/null";
    let hook = scene.program("eager", script);
    scene.run("navigate s.jsonl u1 --save --json", &["--hook", &hook]).ok();
    the_new_line(&scene, &old);
}

#[test]
fn hook_that_times_out_is_ended_with_its_children() {
    each(&["navigate s.jsonl u2 --save", "branch s.jsonl u2"], |line| {
        let scene = Scene::new(forked());
        let hook = scene.hook("hangs", HANG);
        let start = Instant::now();
        let message = fails(&scene, &format!("{line} --hook-timeout 1"), &hook);
        assert!(scene.tool("ready").exists(), "it had children");
        assert!(start.elapsed() >= Duration::from_secs(1), "{:?}", start.elapsed());
        assert!(message.contains("longer than 1 s"), "{message}");
    });
}

#[test]
fn hook_that_closes_stdout_is_still_waited_for() {
    let scene = Scene::new(forked());
    let hook = scene.hook("hangs", "exec >&-\nsleep 60");
    let message = fails(&scene, "navigate s.jsonl u2 --save --hook-timeout 0.3", &hook);
    assert!(message.contains("longer than 0.3 s"), "{message}");
    let hook = scene.hook("ends", "exec >&-\nsleep 0.2; : >\"$T/done\"");
    scene.run("navigate s.jsonl u2 --json", &["--hook", &hook]).ok();
    assert!(scene.tool("done").exists());
}

#[test]
fn hook_that_ignores_sigterm_is_killed() {
    let scene = Scene::new(forked());
    let deaf = "exec 2>/dev/null\ntrap 'echo asked >>\"$T/asked\"' TERM\n(trap '' TERM; exec sleep 60) &\nwhile :; do sleep 0.1; done";
    let hook = scene.hook("deaf", deaf);
    let start = Instant::now();
    let message = fails(&scene, "navigate s.jsonl u2 --save --hook-timeout 1", &hook);
    assert!((GRACE..GRACE * 3).contains(&start.elapsed()), "{:?}", start.elapsed());
    assert_eq!(scene.note("asked"), "asked\n", "it was asked first");
    assert!(message.contains("longer than 1 s"), "{message}");
}

#[test]
fn child_that_holds_stdout_open_does_not_block() {
    let scene = Scene::new(forked());
    let hook = scene.hook("leaves", "sleep 60 &\necho '{}'");
    // It would be held up for longer than any run may take.
    fails(&scene, "navigate s.jsonl u2 --save", &hook);
}

#[test]
fn child_without_open_output_does_not_block() {
    let scene = Scene::new(forked());
    let hook = scene.hook("leaves", "sleep 20 </dev/null >/dev/null 2>&1 &\necho '{}'");
    let run = scene.start(scene.command("navigate s.jsonl u2 --save --json", &["--hook", &hook])).end();
    assert_eq!(run.json()["cancelled"], false);
    // A hook may well start something that goes on.
    assert_eq!(scene.processes().len(), 2, "before and after: {:?}", scene.processes());
    scene.clear();
    scene.is_alone();
}

#[test]
fn hook_that_hangs_on_event_after_is_ended_with_warning() {
    let scene = Scene::new(forked());
    let old = bytes(&scene.session);
    let hook = scene.hook("hangs", &format!("case $kind in *before*) exit ;; esac\n{HANG}"));
    let args = ["--hook-timeout", "1", "--hook", &hook, "--hook", &scene.hook("watch", "")];
    let run = scene.run("navigate s.jsonl u2 --save --json", &args);
    assert_eq!(warnings(&run), ["hook-failed"]);
    assert_eq!(run.json()["written"], json!([the_new_line(&scene, &old)["id"]]));
    assert_eq!(scene.events("watch").len(), 2, "the next one is told all the same");
}

#[test]
fn hook_timeout_is_seconds() {
    let scene = Scene::new(forked());
    let old = bytes(&scene.session);
    let hook = scene.hook("slow", "sleep 0.3");
    let run = scene.run("navigate s.jsonl u2 --json --hook-timeout 0", &["--hook", &hook]);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "0 is for ever");
    fs::remove_file(scene.tool("order")).unwrap();
    for limit in ["-1", "x", "", "1s", "nan", "inf", "1e400"] {
        let limit = format!("--hook-timeout={limit}");
        let run = scene.run("navigate s.jsonl u2 --json", &["--hook", &hook, &limit]);
        scene.refused(&old, &run, "usage");
        assert_eq!(scene.order().len(), 0, "{limit}");
    }
}
