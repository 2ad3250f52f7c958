//! Signals while a hook or the summarizer runs: it is ended with its children, and nothing is done.

use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use crate::hooks::scene::{HANG, Scene, each, the_new_line, wait_until_ready};
use crate::support::Run;
use crate::write::scene::{bytes, forked, lines, untouched};

/// The signals that ask to stop, and what the binary says then.
const SIGNALS: [(Signal, i32); 2] = [(Signal::INT, 130), (Signal::TERM, 143)];

/// Runs the binary until a program says that it is there, and then sends a signal.
#[track_caller]
fn interrupted(scene: &Scene, line: &str, more: &[&str], signal: Signal) -> Run {
    let started = scene.start(scene.command(line, more));
    wait_until_ready(scene);
    started.send(signal);
    let run = started.end();
    scene.is_alone();
    run
}

/// Checks that a run says that it was interrupted, and that nothing was done.
#[track_caller]
fn nothing_happened(scene: &Scene, old: &[u8], run: &Run, code: i32) {
    assert_eq!((run.code, run.stdout.as_str()), (code, ""), "{run:?}");
    let [line] = &lines(run.stderr.as_bytes())[..] else { panic!("not one line: {run:?}") };
    assert_eq!(line["error"]["kind"], "interrupted", "{run:?}");
    untouched(&scene.session, old);
}

#[test]
fn signal_ends_running_hook_and_changes_nothing() {
    let cases = [
        ("navigate s.jsonl u2", SIGNALS[0]),
        ("navigate s.jsonl u2 --summary x --save", SIGNALS[1]),
        ("branch s.jsonl u2", SIGNALS[1]),
        ("branch s.jsonl u2 -o -", SIGNALS[0]),
    ];
    each(&cases, |&(line, (signal, code))| {
        let scene = Scene::new(forked());
        let old = bytes(&scene.session);
        let hooks = [scene.hook("first", ""), scene.hook("hangs", HANG), scene.hook("next", "")];
        let hooks = hooks.each_ref().map(|hook| format!("--hook={hook}"));
        let run = interrupted(&scene, &format!("{line} --json"), &hooks.each_ref().map(String::as_str), signal);
        nothing_happened(&scene, &old, &run, code);
        assert_eq!(scene.order().len(), 2, "nobody else is asked or told: {:?}", scene.order());
    });
}

#[test]
fn signal_ends_running_summarizer_and_changes_nothing() {
    each(&SIGNALS, |&(signal, code)| {
        let scene = Scene::new(forked());
        let old = bytes(&scene.session);
        let summarizer = scene.summarizer(&format!("echo 'a part of it'\n{HANG}"));
        let more = ["--summarizer", &summarizer, "--hook", &scene.hook("watch", "")];
        let run = interrupted(&scene, "navigate s.jsonl u2 --summarize --json --label x", &more, signal);
        nothing_happened(&scene, &old, &run, code);
        assert_eq!(scene.order(), ["watch session_before_tree", "summarizer"]);
    });
}

#[test]
fn signal_does_not_wait_for_ended_processes() {
    let scene = Scene::new(forked());
    let hook = scene.hook("hangs", HANG);
    let started = scene.start(scene.command("navigate s.jsonl u2 --json", &["--hook", &hook]));
    wait_until_ready(&scene);
    let start = Instant::now();
    started.send(Signal::INT);
    assert_eq!(started.end().code, 130);
    // Whoever takes over orphans may be slow to bury them, or never do it, as in many containers.
    assert!(start.elapsed() < Duration::from_millis(1500), "all have ended at once: {:?}", start.elapsed());
}

#[test]
fn answer_printed_on_sigterm_is_ignored() {
    let late = |said: &str| format!("trap \"{said}; exit 0\" TERM\nsleep 60 &\n: >\"$T/ready\"\nwait");
    let scene = Scene::new(forked());
    let old = bytes(&scene.session);
    let summarizer = scene.summarizer(&late("echo a summary"));
    let more = ["--summarizer", &summarizer];
    let run = interrupted(&scene, "navigate s.jsonl u2 --summarize --json", &more, Signal::INT);
    nothing_happened(&scene, &old, &run, 130);

    let scene = Scene::new(forked());
    let old = bytes(&scene.session);
    let hook = scene.hook("late", &late("echo '{\\\"cancel\\\":true}'"));
    let run = interrupted(&scene, "navigate s.jsonl u2 --save --json", &["--hook", &hook], Signal::TERM);
    nothing_happened(&scene, &old, &run, 143);
}

#[test]
fn text_output_says_interrupted() {
    let scene = Scene::new(forked());
    let old = bytes(&scene.session);
    let hook = scene.hook("hangs", HANG);
    let run = interrupted(&scene, "navigate s.jsonl u2 --save", &["--hook", &hook], Signal::INT);
    assert_eq!((run.code, run.stdout.as_str()), (130, ""));
    assert!(run.stderr.starts_with("error: interrupted"), "{run:?}");
    untouched(&scene.session, &old);
}

#[test]
fn second_signal_changes_nothing() {
    let scene = Scene::new(forked());
    let old = bytes(&scene.session);
    let script = "trap ': >\"$T/asked\"; sleep 0.5; exit 0' TERM\nsleep 60 &\n: >\"$T/ready\"\nwait";
    let hook = scene.hook("slow", script);
    let started = scene.start(scene.command("navigate s.jsonl u2 --save --json", &["--hook", &hook]));
    wait_until_ready(&scene);
    started.send(Signal::INT);
    crate::write::scene::wait_for("the hook is asked to end", || scene.tool("asked").exists());
    started.send(Signal::INT);
    let run = started.end();
    scene.is_alone();
    nothing_happened(&scene, &old, &run, 130);
}

/// Interrupts a run while a hook runs on the event after.
fn interrupted_afterwards(line: &str) -> (Scene, Vec<u8>, Run) {
    let scene = Scene::new(forked());
    let old = bytes(&scene.session);
    let hook = scene.hook("hangs", &format!("case $kind in *before*) exit ;; esac\n{HANG}"));
    let more = ["--hook", &hook, "--hook", &scene.hook("next", "")];
    let run = interrupted(&scene, &format!("{line} --json"), &more, Signal::INT);
    (scene, old, run)
}

#[test]
fn move_saved_before_signal_is_kept() {
    let (scene, old, run) = interrupted_afterwards("navigate s.jsonl u2 --summary x");
    assert_eq!(the_new_line(&scene, &old)["summary"], "x");
    assert_eq!(run.code, 130, "{run:?}");
    let notes = scene.order();
    assert!(!notes.contains(&"next session_tree".to_owned()), "nobody else is told: {notes:?}");
    assert!(!run.stderr.contains("nothing was changed"), "it was: {run:?}");
}

#[test]
fn fork_saved_before_signal_is_kept() {
    let (scene, old, run) = interrupted_afterwards("branch s.jsonl u2 --output new.jsonl");
    assert_eq!(crate::write::scene::names(scene.session.path("")), ["new.jsonl", "s.jsonl"]);
    assert_eq!(bytes(&scene.session), old);
    assert_eq!(run.code, 130, "{run:?}");
    // The fork was printed before the hooks ran.
    let told: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(told["targetId"], "u2");
    assert!(!run.stderr.contains("nothing was changed"), "it was: {run:?}");
}
