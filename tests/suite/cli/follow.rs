//! `tree --follow`, with a writer beside it. What is new after which bytes is tested where it is decided
//! (`core/tree/follow.rs`).

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::{HEADER, Scratch, message};

/// How long a test waits for what has to come.
const DEADLINE: Duration = Duration::from_secs(60);

/// A run that goes on, and the lines that it printed.
struct Following<'s> {
    scratch: &'s Scratch,
    child: Child,
    lines: Receiver<String>,
}

impl<'s> Following<'s> {
    fn start(scratch: &'s Scratch, options: &str) -> Self {
        let line = format!("tree s.jsonl --follow {options}");
        let mut command = scratch.command(line.split_whitespace());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (send, lines) = channel();
        thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
        Self { scratch, child, lines }
    }

    /// Waits for the next line.
    fn next(&self) -> String {
        self.lines.recv_timeout(DEADLINE).expect("a line comes in time")
    }

    /// Waits for the lines up to the one that starts so.
    fn up_to(&self, start: &str) -> String {
        loop {
            let line = self.next();
            if line.starts_with(start) {
                return line;
            }
        }
    }

    fn append(&self, text: &str) {
        let mut file = File::options().append(true).open(self.scratch.path("s.jsonl")).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    fn replace(&self, text: &str) {
        fs::write(self.scratch.path("new"), text).unwrap();
        fs::rename(self.scratch.path("new"), self.scratch.path("s.jsonl")).unwrap();
    }

    fn send(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.child.id().try_into().unwrap()).unwrap(), signal).unwrap();
    }

    /// Waits for the end: exit code, the lines that were left, stderr.
    fn end(mut self) -> (Option<i32>, Vec<String>, String) {
        let start = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            if start.elapsed() > DEADLINE {
                self.child.kill().unwrap();
            }
            thread::sleep(Duration::from_millis(5));
        }
        let mut stderr = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        (self.child.wait().unwrap().code(), self.lines.iter().collect(), stderr)
    }
}

fn user(id: &str, parent: &str, text: &str) -> String {
    message(id, parent, "user", text) + "\n"
}

fn scratch() -> Scratch {
    Scratch::new(&[message("aaaaaaaa", "", "user", "one"), message("bbbbbbbb", "aaaaaaaa", "assistant", "two")])
}

#[test]
fn rows_come_as_they_are_appended() {
    let scratch = scratch();
    let following = Following::start(&scratch, "");
    assert_eq!(following.up_to("bbbbbbbb"), "bbbbbbbb  • assistant: two  ← leaf");
    following.append(&user("cccccccc", "bbbbbbbb", "three"));
    assert_eq!(following.next(), "cccccccc  • user: three");
    let next = user("dddddddd", "aaaaaaaa", "\u{1b}[31mfour");
    let (front, rest) = next.split_at(30);
    following.append(&(user("eeeeeeee", "cccccccc", "five") + front));
    assert_eq!(following.next(), "eeeeeeee  • user: five");
    following.append(rest);
    let row = following.next();
    assert!(row.starts_with("dddddddd  • user: ") && row.ends_with("four  (after aaaaaaaa)"), "{row}");
    assert!(!row.contains('\u{1b}'), "{row}");
    // What is there comes back in another file, with more, and a line that is damaged.
    let all = fs::read_to_string(scratch.path("s.jsonl")).unwrap();
    following.replace(&(all + "damaged\n" + &user("ffffffff", "dddddddd", "six") + &user("gggggggg", "", "seven")));
    // By the same look the leaf is on another path.
    assert_eq!(following.next(), "ffffffff  user: six");
    assert_eq!(following.next(), "gggggggg  • user: seven  (a new root)");
    following.send(Signal::INT);
    let (code, left, stderr) = following.end();
    assert_eq!((code, left.len()), (Some(130), 0), "{stderr}");
    assert!(stderr.starts_with("warning: s.jsonl:7: ") && stderr.contains("interrupted"), "{stderr}");
}

#[test]
fn objects_come_one_a_line_and_filtered() {
    let scratch =
        Scratch::new(&[message("aaaaaaaa", "", "user", "here"), message("bbbbbbbb", "aaaaaaaa", "assistant", "two")]);
    let following = Following::start(&scratch, "--format jsonl --filter user-only --search HER --full");
    let next = || serde_json::from_str::<serde_json::Value>(&following.next()).unwrap();
    assert_eq!(next()["id"], "aaaaaaaa");
    following.append(&user("cccccccc", "bbbbbbbb", "no"));
    following.append(&(message("dddddddd", "cccccccc", "assistant", "here") + "\n"));
    following.append(&user("eeeeeeee", "dddddddd", "and there"));
    let row = next();
    assert_eq!(
        (&row["id"], &row["line"], &row["depth"], &row["match"]),
        (&"eeeeeeee".into(), &6.into(), &4.into(), &"and there".into())
    );
    assert_eq!((&row["leaf"], &row["active"], &row["children"]), (&true.into(), &true.into(), &0.into()));
    assert_eq!(row["entry"]["parentId"], "dddddddd");
    // Another session starts again.
    let other = HEADER.replace("s-1", "s-2") + "\n" + &user("aaaaaaaa", "", "where");
    following.replace(&other);
    assert_eq!(next()["text"], "where");
    following.send(Signal::TERM);
    let (code, left, stderr) = following.end();
    assert_eq!((code, left.len()), (Some(143), 0), "{stderr}");
    assert!(stderr.starts_with(r#"{"error":{"kind":"interrupted""#), "{stderr}");
}

#[test]
fn time_without_a_row_ends_it_well() {
    let scratch = scratch();
    let start = Instant::now();
    let following = Following::start(&scratch, "--timeout 1.5");
    following.up_to("bbbbbbbb");
    following.append(&user("cccccccc", "bbbbbbbb", "three"));
    following.up_to("cccccccc");
    let row = Instant::now();
    following.append("{half a line");
    let (code, left, stderr) = following.end();
    assert_eq!((code, left.len(), stderr.as_str()), (Some(0), 0, ""));
    assert!(start.elapsed() >= Duration::from_millis(1500) && row.elapsed() >= Duration::from_millis(1200));
    // A half line that is there from the start waits as well, and without time all is printed.
    let run = scratch.run("tree s.jsonl --follow --timeout 0 --format jsonl");
    assert_eq!((run.code, run.stdout.lines().count(), run.stderr.as_str()), (0, 3, ""));
}

#[test]
fn file_that_is_gone_is_waited_for() {
    let scratch = scratch();
    let mut following = Following::start(&scratch, "--timeout 60");
    following.up_to("bbbbbbbb");
    let text = fs::read_to_string(scratch.path("s.jsonl")).unwrap();
    fs::remove_file(scratch.path("s.jsonl")).unwrap();
    let mut said = String::new();
    let mut stderr = BufReader::new(following.child.stderr.take().unwrap());
    stderr.read_line(&mut said).unwrap();
    assert_eq!(said, "hint: cannot open: it does not exist: waiting for a session in `s.jsonl`\n");
    following.child.stderr = Some(stderr.into_inner());
    following.replace(&(text + &user("cccccccc", "bbbbbbbb", "three")));
    assert_eq!(following.next(), "cccccccc  • user: three");
    following.send(Signal::TERM);
    assert_eq!(following.end().0, Some(143));
}

#[test]
fn reader_that_goes_away_ends_it_without_a_row() {
    let scratch = scratch();
    let mut command = scratch.command(["tree", "s.jsonl", "--follow"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 10];
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut first).unwrap();
    drop(stdout);
    let (_, lines) = channel();
    let (code, _, stderr) = Following { scratch: &scratch, child, lines }.end();
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
}

#[test]
fn what_does_not_go_with_follow_is_refused() {
    let scratch = scratch();
    let folder = scratch.path(".").display().to_string();
    for (options, why) in [
        ("-", "standard input is none"),
        ("/dev/stdin", "standard input is none"),
        ("s.jsonl s.jsonl", "`--follow` is for one session"),
        (&folder, "`--follow` is for one session"),
        ("s.jsonl --json", "it goes with `--format text` or `jsonl`"),
        ("s.jsonl --format table", "it goes with `--format text` or `jsonl`"),
        ("s.jsonl --format dot", "it goes with `--format text` or `jsonl`"),
        ("s.jsonl --path", "cannot be used with"),
        ("s.jsonl --tips", "cannot be used with"),
        ("/dev/null", "it is not a regular file"),
        ("none.jsonl", "it does not exist"),
    ] {
        let run = scratch.run(&format!("tree --follow {options}"));
        assert!(run.code == 2 && run.stderr.contains(why), "{options}: {run:?}");
    }
    let run = scratch.run("tree s.jsonl --timeout 1");
    assert!(run.code == 2 && run.stderr.contains("--follow"), "{run:?}");
}
