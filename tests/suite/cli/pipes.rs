//! Where the bytes come from and go to: standard input, pipes, a reader that went away.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

use super::{HEADER, Scratch, label, message};
use crate::support::{data, run, run_with_input};

#[test]
fn standard_input_reads_like_the_file() {
    let demo = data("demo.jsonl");
    let bytes = fs::read(&demo).unwrap();
    let demo = demo.to_str().unwrap();
    for args in [
        &["tree"][..],
        &["tree", "--filter", "all", "--format", "jsonl"],
        &["tree", "--filter", "all", "--format", "jsonl", "--full"],
        &["tree", "--json"],
        &["tree", "--entry", "@"],
        &["context", "--json"],
        &["label"],
        &["branch", "--json"],
    ] {
        let with = |path: &'static str| [&args[..1], &[path], &args[1..]].concat();
        let expected = run([&args[..1], &[demo], &args[1..]].concat()).ok();
        assert!(!expected.is_empty());
        assert_eq!(run_with_input(with("-"), &bytes).ok(), expected, "{args:?}");
        assert_eq!(run_with_input(with("/dev/stdin"), &bytes).ok(), expected, "{args:?}");
    }
}

#[test]
fn named_pipe_reads_like_the_file() {
    let demo = data("demo.jsonl");
    let scratch = Scratch::new::<&str>(&[]);
    let pipe = scratch.path("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let expected = run([OsStr::new("tree"), demo.as_os_str()]).ok();
    // A process of its own, since it hangs if nobody ever opens the other end.
    let feed = "exec cat \"$0\" > \"$1\"";
    let mut feeder = Command::new("sh").args(["-c", feed]).arg(&demo).arg(&pipe).spawn().unwrap();
    let found = scratch.run("tree pipe");
    let _ = feeder.kill();
    feeder.wait().unwrap();
    assert_eq!(found.ok(), expected);
}

#[test]
fn messages_about_standard_input_name_no_file() {
    let damaged = format!("{HEADER}\nno json\n{}\n", message("aaaa1111", "", "user", "one"));
    let run = run_with_input(["tree", "-", "--leaf", "zzzz"], damaged.as_bytes());
    assert_eq!(run.code, 2);
    let lines: Vec<_> = run.stderr.lines().collect();
    assert!(lines[0].starts_with("warning: line 2: "), "{run:?}");
    assert!(lines[1].starts_with("error: `zzzz`"), "{run:?}");
    let run = run_with_input(["tree", "-", "--leaf", "zzzz", "--json"], damaged.as_bytes());
    for line in run.stderr.lines() {
        assert!(!line.contains("\"file\""), "{line}");
    }
    let run = run_with_input(["tree", "-"], b"");
    assert_eq!((run.code, run.stderr.lines().count()), (2, 1), "{run:?}");
}

/// A session of about a megabyte with labels.
fn large() -> Scratch {
    let mut text = format!("{HEADER}\n");
    let mut parent = String::new();
    for at in 0..2500 {
        let id = format!("{at:08}");
        writeln!(text, "{}", message(&id, &parent, "user", &format!("number {at} {}", "word ".repeat(60)))).unwrap();
        parent = format!("l{at:07}");
        writeln!(text, "{}", label(&parent, &id, &id, &format!("label-{at}"))).unwrap();
    }
    Scratch::bytes(text.as_bytes())
}

#[test]
fn closed_stdout_ends_quietly() {
    let scratch = large();
    for args in [
        "tree s.jsonl",
        "tree s.jsonl --filter all",
        "tree s.jsonl --format table",
        "tree s.jsonl --format jsonl",
        "tree s.jsonl --format jsonl --full",
        "tree s.jsonl --json",
        "context s.jsonl",
        "context s.jsonl --json",
        "context s.jsonl --format llm",
        "label s.jsonl",
        "label s.jsonl --json",
        "branch s.jsonl",
        "branch s.jsonl --format table",
        "branch s.jsonl --format jsonl",
    ] {
        let mut command = scratch.command(args.split(' '));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut first = Vec::new();
        // `--json` has no line ends; a few bytes do.
        stdout.by_ref().take(80).read_until(b'\n', &mut first).unwrap();
        assert!(!first.is_empty(), "{args}");
        drop(stdout);
        let end = child.wait_with_output().unwrap();
        assert_eq!((end.status.code(), String::from_utf8_lossy(&end.stderr).as_ref()), (Some(0), ""), "{args}");
    }
}

#[test]
fn full_disk_on_stdout_is_reported() {
    let scratch = large();
    for (args, start) in [
        ("tree s.jsonl", "error: "),
        ("tree s.jsonl --format jsonl", "{\"error\":{\"kind\":\"io\","),
        ("tree s.jsonl --json", "{\"error\":{\"kind\":\"io\","),
        ("context s.jsonl", "error: "),
        ("label s.jsonl", "error: "),
        ("branch s.jsonl", "error: "),
        ("completions bash", "error: "),
    ] {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let output = scratch.command(args.split(' ')).stdout(full).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args}: {stderr}");
        assert!(stderr.starts_with(start), "{args}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{args}: {stderr}");
    }
}
