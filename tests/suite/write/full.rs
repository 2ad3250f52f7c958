//! Disks that are full, files that must not grow, folders that may not be written to.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::cli::{HEADER, Scratch, message};
use crate::support::{self, Run};
use crate::write::scene::{appended, bytes, end, error, lines, names, refused, set_mode, untouched, wait_for};

/// Makes a session of exactly so many bytes.
fn sized(len: usize) -> Vec<u8> {
    let empty = message("u1", "", "user", "").len() + HEADER.len() + 2;
    let bytes = format!("{HEADER}\n{}\n", message("u1", "", "user", &"x".repeat(len - empty))).into_bytes();
    assert_eq!(bytes.len(), len);
    bytes
}

/// Makes an old session of exactly so many bytes.
fn old_sized(len: usize) -> Vec<u8> {
    let text = |count: usize| {
        let entry = format!(
            "{{\"type\":\"message\",\"message\":{{\"role\":\"user\",\"content\":\"{}\"}}}}\n",
            "x".repeat(count)
        );
        format!("{{\"type\":\"session\",\"id\":\"h\"}}\n{entry}").into_bytes()
    };
    text(len - text(0).len())
}

/// The unit of `ulimit -f` in a POSIX shell.
const BLOCK: usize = 512;

/// Runs the binary where no file may grow beyond some blocks; with `trap`, the signal is ignored.
fn limited(scratch: &Scratch, blocks: usize, trap: &str, line: &str) -> Run {
    let script = format!("{trap}\nulimit -f {blocks} || exit 99\nexec \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_session-tree")]).args(line.split(' '));
    command.current_dir(scratch.path("")).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    command.stdin(Stdio::null());
    support::finish(&mut command)
}

#[test]
fn append_without_space_changes_nothing() {
    for trap in ["", "trap '' XFSZ"] {
        for room in [0, 1, 40, 100, 511] {
            let old = sized(8 * BLOCK - room);
            let scratch = Scratch::bytes(&old);
            let run = limited(&scratch, 8, trap, "label s.jsonl u1 x --json");
            if room > 300 {
                run.ok();
                assert_eq!(appended(&old, &bytes(&scratch)).len(), 1);
                continue;
            }
            let error = refused(&scratch, &old, &run, "io");
            assert!(error["message"].as_str().unwrap().starts_with("cannot write: "), "{error}");
            // The same file takes a label where there is room.
            scratch.run("label s.jsonl u1 x").ok();
            assert_eq!(appended(&old, &bytes(&scratch)).len(), 1);
        }
    }
}

#[test]
fn append_of_several_lines_without_space_writes_none() {
    let old = sized(8 * BLOCK - 200);
    let scratch = Scratch::bytes(&old);
    let run = limited(&scratch, 8, "", "navigate s.jsonl u1 --summary tried --label left --leaf u1 --json");
    assert_eq!(run.code, 0, "a move to the leaf is none: {run:?}");
    let run = limited(&scratch, 8, "", "navigate s.jsonl --root --summary tried --label left --json");
    refused(&scratch, &old, &run, "io");
    let open = &old[..old.len() - 1];
    let scratch = Scratch::bytes(open);
    refused(
        &scratch,
        open,
        &limited(&scratch, 8, "", "navigate s.jsonl --root --summary tried --label left --json"),
        "io",
    );
}

#[test]
fn append_without_space_for_lock_record_changes_nothing() {
    let old = sized(8 * BLOCK);
    let scratch = Scratch::bytes(&old);
    for line in ["label s.jsonl u1 x --json", "navigate s.jsonl --root --save --json", "branch s.jsonl --at --json"] {
        refused(&scratch, &old, &limited(&scratch, 0, "", line), "io");
    }
}

#[test]
fn migration_without_space_keeps_old_file() {
    for trap in ["", "trap '' XFSZ"] {
        let old = old_sized(700 * BLOCK);
        let scratch = Scratch::bytes(&old);
        for line in ["migrate s.jsonl --format=jsonl", "migrate s.jsonl --backup --format=jsonl"] {
            let run = limited(&scratch, 700, trap, line);
            let row: Value = serde_json::from_str(run.stdout.trim()).unwrap();
            assert_eq!((&row["status"], run.code), (&json!("failed"), 2));
            untouched(&scratch, &old);
        }
        refused(&scratch, &old, &limited(&scratch, 700, trap, "label s.jsonl @ x --json"), "io");
        refused(&scratch, &old, &limited(&scratch, 700, trap, "migrate s.jsonl --output new --format=jsonl"), "io");
        refused(&scratch, &old, &limited(&scratch, 699, trap, "branch s.jsonl --at --json"), "io");
        refused(&scratch, &old, &limited(&scratch, 3, trap, "branch s.jsonl --at --output new --json"), "io");
    }
}

/// Returns how a file system can be mounted for one process here, if it can.
fn unshare() -> Option<&'static str> {
    let works = |options: &str| {
        let mount = "mount -t tmpfs -o size=64k tmpfs /tmp";
        let mut command = Command::new("unshare");
        command.args([options, "sh", "-c", mount]).stdin(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    ["-rm", "-m"].into_iter().find(|options| works(options))
}

/// What a run on a small file system left.
struct Left {
    run: Run,
    names: Vec<String>,
    bytes: Vec<u8>,
}

/// Runs the binary on a file system that has room for a session and some pages more.
fn on_small(options: &str, session: &[u8], pages: usize, line: &str) -> Left {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("source"), session).unwrap();
    fs::create_dir(folder.path().join("small")).unwrap();
    let script = "
        page=$(getconf PAGESIZE) && size=$(( ($(wc -c <source) + page - 1) / page * page + $1 * page )) && shift
        mount -t tmpfs -o size=$size tmpfs small && cp source small/s.jsonl && cd small || exit 99
        \"$@\"
        code=$?
        ls -A >../names && cat s.jsonl >../left
        exit $code";
    let mut command = Command::new("unshare");
    command.args([options, "sh", "-c", script, "sh", &pages.to_string(), env!("CARGO_BIN_EXE_session-tree")]);
    command.args(line.split(' ')).current_dir(folder.path()).stdin(Stdio::null());
    let run = support::finish(&mut command);
    assert_ne!(run.code, 99, "{run:?}");
    let names = fs::read_to_string(folder.path().join("names")).unwrap();
    let bytes = fs::read(folder.path().join("left")).unwrap();
    Left { run, names: names.lines().map(str::to_owned).collect(), bytes }
}

#[test]
fn full_file_system_keeps_old_files() {
    let Some(options) = unshare() else {
        // No small file system to be had: a limit on the file is as good as it gets.
        let old = sized(8 * BLOCK);
        let scratch = Scratch::bytes(&old);
        refused(&scratch, &old, &limited(&scratch, 8, "", "label s.jsonl u1 x --json"), "io");
        return;
    };
    // The last page has room for a part of a line.
    let (new, old) = (sized(5 * 4096 - 40), old_sized(5 * 4096 - 40));
    let mut failures = 0;
    for pages in 0..9 {
        for (session, line) in [
            (&new, "label s.jsonl u1 x --json"),
            (&new, "navigate s.jsonl --root --summary tried --label left --json"),
            (&old, "migrate s.jsonl --format=jsonl"),
            (&old, "label s.jsonl @ x --json"),
        ] {
            let left = on_small(options, session, pages, line);
            assert_eq!(left.names, ["s.jsonl"], "{pages} pages, {line}");
            if left.run.code == 0 {
                assert!(left.bytes.len() > session.len() && left.bytes.ends_with(b"\n"));
                lines(&left.bytes);
                continue;
            }
            failures += 1;
            assert_eq!(left.run.code, 2, "{:?}", left.run);
            assert!(left.run.stdout.contains("No space") || left.run.stderr.contains("space"), "{:?}", left.run);
            assert_eq!(&left.bytes, session, "{pages} pages, {line}");
        }
        let left = on_small(options, &new, pages, "branch s.jsonl --at --output new --json");
        let is_made = left.run.code == 0;
        assert_eq!(left.names, if is_made { vec!["new", "s.jsonl"] } else { vec!["s.jsonl"] });
        assert_eq!(left.bytes, new);
    }
    assert!((6..30).contains(&failures), "{failures} of 36 runs failed");
}

/// A folder in which a run of the binary may do less than this process, also if that is root's.
struct Bounded {
    folder: TempDir,
    binary: PathBuf,
    is_root: bool,
}

impl Bounded {
    fn new(session: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        set_mode(folder.path(), 0o755);
        let binary = folder.path().join("session-tree");
        fs::copy(env!("CARGO_BIN_EXE_session-tree"), &binary).unwrap();
        fs::create_dir(folder.path().join("d")).unwrap();
        fs::write(folder.path().join("d/s.jsonl"), session).unwrap();
        set_mode(folder.path().join("d/s.jsonl"), 0o644);
        set_mode(folder.path().join("d"), 0o555);
        let probe = folder.path().join("d/probe");
        let is_root = File::create(&probe).is_ok_and(|_| fs::remove_file(&probe).is_ok());
        Self { folder, binary, is_root }
    }

    fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, line: &str) -> Run {
        const NOBODY: u32 = 65534;
        let mut command = Command::new(&self.binary);
        command.args(line.split(' ')).current_dir(self.folder.path()).env_clear().stdin(Stdio::null());
        if self.is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = None;
        wait_for("nobody writes to the copy of the binary any more", || {
            // A process that another test starts has the copy open until it is a program of its own.
            let spawned = command.spawn();
            let is_busy = matches!(&spawned, Err(cause) if cause.kind() == ErrorKind::ExecutableFileBusy);
            child = (!is_busy).then(|| spawned.unwrap());
            child.is_some()
        });
        end(child.unwrap())
    }

    fn bytes(&self) -> Vec<u8> {
        fs::read(self.path("d/s.jsonl")).unwrap()
    }

    fn names(&self) -> Vec<String> {
        names(self.path("d"))
    }
}

impl Drop for Bounded {
    /// Lets the folder be removed.
    fn drop(&mut self) {
        set_mode(self.path("d"), 0o755);
    }
}

#[test]
fn read_only_folder_can_be_read_but_not_written() {
    let whole = sized(500);
    for session in [&whole[..], &whole[..499]] {
        let bounded = Bounded::new(session);
        for line in [
            "label d/s.jsonl u1 x",
            "navigate d/s.jsonl --root --save",
            "branch d/s.jsonl --at",
            "branch d/s.jsonl --at --output d/new",
        ] {
            let error = error(&bounded.run(&format!("{line} --json")));
            assert_eq!(error["kind"], "read-only", "{line}: {error}");
            assert!(error["hint"].is_string());
        }
        for line in [
            "tree d/s.jsonl",
            "context d/s.jsonl",
            "label d/s.jsonl",
            "navigate d/s.jsonl --root",
            "branch d/s.jsonl --at --output -",
            "migrate d/s.jsonl",
        ] {
            bounded.run(line).ok();
        }
        assert_eq!((bounded.bytes(), bounded.names()), (session.to_vec(), vec!["s.jsonl".to_owned()]));
    }
    let old = old_sized(500);
    let bounded = Bounded::new(&old);
    for line in ["migrate d/s.jsonl", "migrate d/s.jsonl --backup", "migrate d"] {
        let run = bounded.run(line);
        assert!(run.code == 2 && run.stderr.contains("denied"), "{run:?}");
    }
    assert_eq!(error(&bounded.run("label d/s.jsonl @ x --json"))["kind"], "read-only");
    assert_eq!((bounded.bytes(), bounded.names()), (old, vec!["s.jsonl".to_owned()]));
}

#[test]
fn read_only_file_is_not_appended_to() {
    let session = sized(500);
    let bounded = Bounded::new(&session);
    set_mode(bounded.path("d"), 0o777);
    set_mode(bounded.path("d/s.jsonl"), 0o444);
    for line in ["label d/s.jsonl u1 x --json", "navigate d/s.jsonl --root --save --json"] {
        assert_eq!(error(&bounded.run(line))["kind"], "read-only");
        assert_eq!((bounded.bytes(), bounded.names()), (session.clone(), vec!["s.jsonl".to_owned()]));
    }
}

#[test]
fn write_in_unlistable_folder_reports_what_it_did() {
    let old = old_sized(500);
    for line in ["migrate d/s.jsonl", "migrate d/s.jsonl --backup", "label d/s.jsonl @ x"] {
        let bounded = Bounded::new(&old);
        set_mode(bounded.path("d"), 0o333);
        let run = bounded.run(line);
        set_mode(bounded.path("d"), 0o777);
        assert_eq!(run.code == 0, bounded.bytes() != old, "{line}: {run:?}");
        assert!(run.code == 0 || bounded.names() == ["s.jsonl"], "{line}: {:?}", bounded.names());
        assert_eq!(
            bounded.names().len() == 2,
            run.code == 0 && line.contains("backup"),
            "{line}: {:?}",
            bounded.names()
        );
    }
    let bounded = Bounded::new(&sized(500));
    set_mode(bounded.path("d"), 0o333);
    let run = bounded.run("branch d/s.jsonl --at --output d/new");
    set_mode(bounded.path("d"), 0o777);
    assert_eq!(run.code == 0, bounded.names().len() == 2, "{run:?}: {:?}", bounded.names());
}
