//! `migrate`: which files are taken, what is said of each, and where the new form goes.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, FileType, Mode};
use serde_json::{Value, json};

use crate::cli::Scratch;
use crate::support::{self, Run, run_with_input};
use crate::write::scene::{bytes, end, error, lines, mode, names, refused, set_mode, start, untouched, warnings};

const V1: &str = "{\"type\":\"session\",\"id\":\"h\"}\n{\"type\":\"message\",\"message\":{\"role\":\"user\"}}\n";
const V2: &str = "{\"type\":\"session\",\"version\":2,\"id\":\"h\"}\n";
const V3: &str = "{\"type\":\"session\",\"version\":3,\"id\":\"h\"}\n";
const V4: &str = "{\"type\":\"session\",\"version\":4,\"id\":\"h\"}\n";

/// A folder of files and what is in them.
fn folder(files: &[(&str, &str)]) -> Scratch {
    let scratch = Scratch::bytes(b"");
    fs::remove_file(scratch.path("s.jsonl")).unwrap();
    for (name, text) in files {
        fs::create_dir_all(scratch.path(name).parent().unwrap()).unwrap();
        fs::write(scratch.path(name), text).unwrap();
    }
    scratch
}

/// Returns path and status of every line, and the exit code.
#[track_caller]
fn statuses(run: &Run) -> (Vec<(String, String)>, i32) {
    let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
    let rows = lines(run.stdout.as_bytes());
    (rows.iter().map(|row| (text(row, "path"), text(row, "status"))).collect(), run.code)
}

/// Checks what a command line says of each file.
#[track_caller]
fn check(scratch: &Scratch, args: &str, expected: &[(&str, &str)], code: i32) {
    let run = scratch.run(&format!("migrate --format=jsonl {args}"));
    let expected = expected.iter().map(|(path, status)| (path.to_string(), status.to_string())).collect();
    assert_eq!(statuses(&run), (expected, code), "{run:?}");
}

#[test]
fn migrate_prints_one_line_per_file() {
    let scratch = folder(&[("1", V1), ("2", V2), ("3", V3), ("4", V4), ("no", "{}\n"), ("empty", "")]);
    let run = scratch.run("migrate --format=jsonl 1 2 3 4 no empty gone");
    let rows = lines(run.stdout.as_bytes());
    let row = |path: &str, from: Value, to: Value, status: &str| json!({"path": path, "from": from, "to": to, "status": status});
    assert_eq!(
        rows[..3],
        [
            row("1", 1.into(), 3.into(), "migrated"),
            row("2", 2.into(), 3.into(), "migrated"),
            row("3", 3.into(), 3.into(), "current"),
        ]
    );
    assert_eq!(rows[3], row("4", 4.into(), 4.into(), "newer"));
    for (at, status) in [(4, "not-a-session"), (5, "not-a-session"), (6, "failed")] {
        assert_eq!((&rows[at]["from"], &rows[at]["status"]), (&Value::Null, &json!(status)));
        assert_eq!(rows[at]["error"]["path"], rows[at]["path"]);
        assert!(rows[at]["error"]["message"].is_string(), "{}", rows[at]);
    }
    assert_eq!((rows.len(), run.code), (7, 2));
    assert_eq!(warnings(&run), ["newer-version"]);
    assert_eq!(fs::read_to_string(scratch.path("4")).unwrap(), V4);
}

#[test]
fn one_bad_file_does_not_stop_the_others() {
    for bad in ["bad", "gone"] {
        let scratch = folder(&[("1", V1), ("bad", "x\n"), ("2", V2)]);
        let run = scratch.run(&format!("migrate 1 {bad} 2"));
        assert_eq!(run.code, 2);
        assert!(run.stderr.contains(&format!("error: {bad}:")), "{run:?}");
        assert!(run.stdout.contains("2 migrated"), "{run:?}");
        check(&scratch, "1 2", &[("1", "current"), ("2", "current")], 0);
        assert_eq!(fs::read_to_string(scratch.path("bad")).unwrap(), "x\n");
    }
}

#[test]
fn newer_version_is_skipped_without_failure() {
    let scratch = folder(&[("s.jsonl", V4)]);
    for args in ["", "--check", "--dry-run", "--backup"] {
        check(&scratch, &format!("s.jsonl {args}"), &[("s.jsonl", "newer")], 0);
        untouched(&scratch, V4.as_bytes());
    }
    let run = scratch.run("migrate s.jsonl");
    assert!(run.code == 0 && run.stderr.starts_with("warning: s.jsonl: "), "{run:?}");
}

#[test]
fn entries_with_ids_but_no_version_are_not_migrated() {
    let text = "{\"type\":\"session\",\"id\":\"h\"}\n{\"type\":\"message\",\"id\":\"a\",\"message\":{}}\n";
    let scratch = folder(&[("s.jsonl", text)]);
    check(&scratch, "s.jsonl --backup", &[("s.jsonl", "failed")], 2);
    untouched(&scratch, text.as_bytes());
}

#[test]
fn check_exits_1_if_a_file_needs_migration() {
    let scratch = folder(&[("1", V1), ("2", V2), ("3", V3), ("no", "x\n")]);
    check(&scratch, "--check 3", &[("3", "current")], 0);
    check(&scratch, "--check 3 1", &[("3", "current"), ("1", "would-migrate")], 1);
    check(&scratch, "--check 2", &[("2", "would-migrate")], 1);
    check(&scratch, "--check 2 no", &[("2", "would-migrate"), ("no", "not-a-session")], 2);
    check(&scratch, "--dry-run 1 2 3", &[("1", "would-migrate"), ("2", "would-migrate"), ("3", "current")], 0);
    check(&scratch, "--dry-run 1 no", &[("1", "would-migrate"), ("no", "not-a-session")], 2);
    assert_eq!(names(scratch.path("")), ["1", "2", "3", "no"]);
    for (name, text) in [("1", V1), ("2", V2), ("3", V3)] {
        assert_eq!(fs::read_to_string(scratch.path(name)).unwrap(), text);
    }
}

#[test]
fn backup_has_the_old_bytes() {
    let scratch = folder(&[("s.jsonl", V1), ("t.jsonl", V3)]);
    set_mode(scratch.path("s.jsonl"), 0o640);
    scratch.run("migrate s.jsonl t.jsonl --backup").ok();
    assert_eq!(names(scratch.path("")), ["s.jsonl", "s.jsonl.orig", "t.jsonl"], "a current file needs none");
    assert_eq!(fs::read_to_string(scratch.path("s.jsonl.orig")).unwrap(), V1);
    assert_eq!(mode(scratch.path("s.jsonl.orig")), 0o640);
    fs::write(scratch.path("s.jsonl"), V2).unwrap();
    scratch.run("migrate s.jsonl --backup=~old").ok();
    assert_eq!(fs::read_to_string(scratch.path("s.jsonl~old")).unwrap(), V2);
}

#[test]
fn existing_backup_fails_only_its_file() {
    let scratch = folder(&[("a", V1), ("a.orig", "precious"), ("b", V1), ("c", V1)]);
    symlink("nowhere", scratch.path("c.orig")).unwrap();
    check(&scratch, "--backup a b c", &[("a", "failed"), ("b", "migrated"), ("c", "failed")], 2);
    assert_eq!(names(scratch.path("")), ["a", "a.orig", "b", "b.orig", "c", "c.orig"]);
    assert_eq!(fs::read_to_string(scratch.path("a.orig")).unwrap(), "precious");
    for name in ["a", "b.orig", "c"] {
        assert_eq!(fs::read_to_string(scratch.path(name)).unwrap(), V1, "{name}");
    }
}

#[test]
fn dry_run_reports_existing_backup() {
    let scratch = folder(&[("s.jsonl", V1), ("s.jsonl.orig", "precious")]);
    check(&scratch, "s.jsonl --dry-run --backup", &[("s.jsonl", "failed")], 2);
    check(&scratch, "s.jsonl --dry-run --backup=.old", &[("s.jsonl", "would-migrate")], 0);
    assert_eq!(names(scratch.path("")), ["s.jsonl", "s.jsonl.orig"]);
}

#[test]
fn backups_are_named_whole_with_how_to_go_back() {
    let name = format!("{}.jsonl", "long".repeat(20));
    let scratch = folder(&[(&name, V1), ("a.jsonl", V1), ("b.jsonl", V1)]);
    let one = scratch.run(&format!("migrate {name} --backup --width 60")).ok();
    assert!(one.ends_with(&format!("\nthe original is kept, `mv` it back to undo: {name}.orig\n")), "{one}");
    let two = scratch.run("migrate a.jsonl b.jsonl --backup=.old").ok();
    assert!(two.ends_with("\n2 originals are kept beside them as NAME.old; `mv` one back to undo\n"), "{two}");
}

#[test]
fn backup_is_beside_target_of_link() {
    let scratch = folder(&[("real/s.jsonl", V1), ("links/x", "")]);
    symlink("../real/s.jsonl", scratch.path("links/l.jsonl")).unwrap();
    scratch.run("migrate links/l.jsonl --backup").ok();
    assert_eq!(names(scratch.path("links")), ["l.jsonl", "x"]);
    assert_eq!(names(scratch.path("real")), ["s.jsonl", "s.jsonl.orig"]);
}

#[test]
fn harmful_backup_suffix_is_refused() {
    let scratch = folder(&[("s.jsonl", V1)]);
    for suffix in ["", ".1.bak", ".2026.bak", "x.7.bak", "/x", "a/b"] {
        let run = scratch.run(&format!("migrate s.jsonl --format=jsonl --backup={suffix}"));
        refused(&scratch, V1.as_bytes(), &run, "usage");
    }
    for suffix in [".bak", ".a1.bak", ".1.old", ".1", ".bak.1", "..bak"] {
        fs::write(scratch.path("s.jsonl"), V1).unwrap();
        scratch.run(&format!("migrate s.jsonl --backup={suffix}")).ok();
        assert_eq!(fs::read_to_string(scratch.path(format!("s.jsonl{suffix}"))).unwrap(), V1);
    }
}

#[test]
fn output_leaves_source_unchanged() {
    for (text, from, status) in [(V1, 1, "migrated"), (V2, 2, "migrated"), (V3, 3, "current"), (V4, 4, "newer")] {
        let scratch = folder(&[("s.jsonl", text)]);
        set_mode(scratch.path("s.jsonl"), 0o600);
        let to = if from == 4 { 4 } else { 3 };
        let row = json!({"path": "s.jsonl", "from": from, "to": to, "status": status});
        let run = scratch.run("migrate s.jsonl --output - --format=jsonl");
        assert_eq!((lines(run.stderr.as_bytes()).pop().unwrap()["result"].clone(), run.code), (row.clone(), 0));
        untouched(&scratch, text.as_bytes());
        assert_eq!(scratch.run("migrate s.jsonl --output new --format=jsonl").json_lines(), [row]);
        assert_eq!(fs::read_to_string(scratch.path("new")).unwrap(), run.stdout);
        assert_eq!(mode(scratch.path("new")), 0o600);
        assert_eq!(bytes(&scratch), text.as_bytes());
        assert_eq!(run.stdout == text, from > 2);
        for target in ["new", "s.jsonl"] {
            let run = scratch.run(&format!("migrate s.jsonl --format=jsonl --output {target}"));
            assert_eq!(error(&run)["kind"], "exists");
        }
        assert_eq!(bytes(&scratch), text.as_bytes());
        assert_eq!(names(scratch.path("")), ["new", "s.jsonl"]);
    }
    assert_eq!(run_with_input(["migrate", "-", "--output", "-"], V3.as_bytes()).ok(), V3);
}

#[test]
fn output_with_several_files_is_refused() {
    let scratch = folder(&[("s.jsonl", V1)]);
    for args in [
        "s.jsonl other.jsonl",
        ".",
        "--files-from /dev/null",
        "s.jsonl --check",
        "s.jsonl --backup",
        "s.jsonl --dry-run",
    ] {
        let run = scratch.run(&format!("migrate --format=jsonl --output - {args}"));
        refused(&scratch, V1.as_bytes(), &run, "usage");
    }
    let run = run_with_input(["migrate", "-", "--format=jsonl"], V1.as_bytes());
    assert_eq!(run.code, 2, "standard input cannot be changed in place: {run:?}");
}

#[test]
fn folder_is_searched_for_session_files() {
    let files = [
        "b/deep/er/x.jsonl",
        "a.jsonl",
        "b/c.jsonl",
        "c.jsonl/inner.jsonl",
        "a.jsonl.bak",
        "a.txt",
        "jsonl",
        "b/.jsonl",
    ];
    let hidden = [".hidden.jsonl", ".dir/x.jsonl", "b/.dir/x.jsonl", "elsewhere/x.jsonl"];
    let all: Vec<_> = files.iter().chain(&hidden).map(|name| (*name, V1)).collect();
    let scratch = folder(&all);
    let top = folder(&[("target", V1)]);
    fs::rename(scratch.path("elsewhere"), top.path("elsewhere")).unwrap();
    symlink(top.path("elsewhere"), scratch.path("b/folder-link")).unwrap();
    symlink(top.path("elsewhere"), scratch.path("b/folder-link.jsonl")).unwrap();
    symlink(top.path("target"), scratch.path("b/link.jsonl")).unwrap();
    symlink(scratch.path("b"), scratch.path("b/deep/loop")).unwrap();
    let found = ["a.jsonl", "b/c.jsonl", "b/deep/er/x.jsonl", "b/link.jsonl", "c.jsonl/inner.jsonl"];
    let expected: Vec<_> = found.iter().map(|name| (format!("./{name}"), "migrated".to_owned())).collect();
    let run = scratch.run("migrate --format=jsonl .");
    assert_eq!(statuses(&run), (expected, 0));
    assert!(scratch.path("b/link.jsonl").is_symlink());
    assert_ne!(fs::read_to_string(top.path("target")).unwrap(), V1);
    assert_eq!(fs::read_to_string(top.path("elsewhere/x.jsonl")).unwrap(), V1);
    for name in [".hidden.jsonl", ".dir/x.jsonl", "b/.dir/x.jsonl", "a.jsonl.bak", "a.txt", "jsonl", "b/.jsonl"] {
        assert_eq!(fs::read_to_string(scratch.path(name)).unwrap(), V1, "{name}");
    }
}

#[test]
fn named_file_is_migrated_whatever_its_extension() {
    let scratch = folder(&[(".hidden/.x", V1), ("plain", V1)]);
    symlink(scratch.path(".hidden"), scratch.path("link")).unwrap();
    fs::rename(scratch.path(".hidden/.x"), scratch.path(".hidden/x.jsonl")).unwrap();
    check(&scratch, "link plain", &[("link/x.jsonl", "migrated"), ("plain", "migrated")], 0);
    check(&scratch, ".hidden", &[(".hidden/x.jsonl", "current")], 0);
}

#[test]
fn other_files_in_folder_are_only_reported() {
    let scratch = folder(&[("d/a.jsonl", V1), ("d/b.jsonl", "no session\n"), ("d/c.jsonl", "")]);
    check(
        &scratch,
        "d",
        &[("d/a.jsonl", "migrated"), ("d/b.jsonl", "not-a-session"), ("d/c.jsonl", "not-a-session")],
        0,
    );
    check(
        &scratch,
        "--check d",
        &[("d/a.jsonl", "current"), ("d/b.jsonl", "not-a-session"), ("d/c.jsonl", "not-a-session")],
        0,
    );
    check(&scratch, "d/b.jsonl", &[("d/b.jsonl", "not-a-session")], 2);
    fs::write(scratch.path("d/torn.jsonl"), format!("{V1}{{")).unwrap();
    assert_eq!(scratch.run("migrate d --quiet").code, 2, "one that fails is a failure");
    let empty = folder(&[("d/x", "")]);
    assert_eq!(empty.run("migrate d").ok(), "0 files\n");
    assert_eq!(empty.run("migrate d --format=jsonl").ok(), "");
}

#[test]
fn dangling_link_in_folder_is_not_a_failure() {
    let scratch = folder(&[("d/a.jsonl", V1)]);
    symlink("nowhere.jsonl", scratch.path("d/dangling.jsonl")).unwrap();
    let run = scratch.run("migrate --format=jsonl d");
    assert!(statuses(&run).0.contains(&("d/a.jsonl".to_owned(), "migrated".to_owned())));
    assert_eq!(run.code, 0, "{run:?}");
}

#[test]
fn named_pipe_in_folder_is_skipped() {
    let scratch = folder(&[("d/a.jsonl", V1)]);
    rustix::fs::mknodat(CWD, scratch.path("d/pipe.jsonl"), FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let mut child = start(&mut scratch.command(["migrate", "d", "--format=jsonl"]));
    let deadline = Instant::now() + Duration::from_secs(5);
    while child.try_wait().unwrap().is_none() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    let hangs = child.try_wait().unwrap().is_none();
    let _ = child.kill();
    let run = end(child);
    assert!(!hangs, "it waits for somebody to write into the pipe");
    assert_eq!(run.code, 0, "{run:?}");
}

#[test]
fn file_names_can_come_from_a_list() {
    let scratch = folder(&[("a", V1), ("b c", V1), ("d/e.jsonl", V1), ("f\ng", V1), ("h", V1)]);
    let run = |list: &[u8], args: &[&str]| {
        fs::write(scratch.path("list"), list).unwrap();
        let mut args: Vec<_> =
            ["migrate", "--format=jsonl", "--files-from", "list"].iter().chain(args).copied().collect();
        args.push("--dry-run");
        statuses(&scratch.args(args))
    };
    let would = |names: &[&str]| (names.iter().map(|name| (name.to_string(), "would-migrate".to_owned())).collect(), 0);
    assert_eq!(run(b"a\nb c\r\n\nd\nh", &[]), would(&["a", "b c", "d/e.jsonl", "h"]));
    assert_eq!(run(b"a\0f\ng\0d/e.jsonl\0", &[]), would(&["a", "f\ng", "d/e.jsonl"]));
    assert_eq!(run(b"h\n", &["b c"]), would(&["b c", "h"]));
    assert_eq!(run(b"", &[]), would(&[]));
    assert_eq!(run(b"a\ngone\n", &[]).1, 2);
    assert_eq!(error(&scratch.run("migrate --format=jsonl --files-from gone"))["kind"], "io");
    assert_eq!(error(&scratch.run("migrate --format=jsonl"))["kind"], "usage");
    let mut command = scratch.command(["migrate", "--files-from", "-"]);
    fs::write(scratch.path("list"), "a\nd\n").unwrap();
    command.stdin(Stdio::from(fs::File::open(scratch.path("list")).unwrap()));
    assert!(support::finish(&mut command).ok().ends_with("2 files: 2 migrated\n"));
}

#[test]
fn file_names_may_be_any_bytes() {
    let scratch = folder(&[("d/x", "")]);
    let name = OsStr::from_bytes(b"d/caf\xe9.jsonl");
    fs::write(scratch.path(name), V1).unwrap();
    let migrate = |path: &Path| {
        fs::write(scratch.path(name), V1).unwrap();
        let run = scratch.args([OsStr::new("migrate"), path.as_os_str()]);
        assert!(run.code == 0 && run.stdout.contains("1 migrated"), "{path:?}: {run:?}");
    };
    migrate(Path::new("d"));
    migrate(Path::new(name));
    fs::write(scratch.path(name), V1).unwrap();
    fs::write(scratch.path("list"), [name.as_bytes(), b"\0"].concat()).unwrap();
    let run = scratch.run("migrate --files-from list");
    assert!(run.code == 0 && run.stdout.contains("1 migrated"), "{run:?}");
}

#[test]
fn number_of_threads_does_not_change_output() {
    let files: Vec<_> = (0..60).map(|at| (format!("d/{at:02}.jsonl"), [V1, V2, V3, V4, "x\n"][at % 5])).collect();
    let files: Vec<_> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    let run = |jobs: &str| {
        let scratch = folder(&files);
        let run = scratch.run(&format!("migrate d --format=jsonl --jobs {jobs}"));
        let content = |name: &String| fs::read(scratch.path("d").join(name)).unwrap();
        let names = names(scratch.path("d"));
        let contents: Vec<_> = names.iter().map(content).collect();
        (run.stdout, run.code, run.stderr, names, contents)
    };
    assert_eq!(run("1"), run("4"));
}

#[test]
fn file_found_twice_is_migrated_once() {
    let line =
        format!("{{\"type\":\"message\",\"message\":{{\"role\":\"user\",\"content\":\"{}\"}}}}\n", "x".repeat(200));
    let text = format!("{{\"type\":\"session\",\"id\":\"h\"}}\n{}", line.repeat(2000));
    for round in 0..10 {
        let scratch = folder(&[("d/00.jsonl", &text)]);
        for at in 1..4 {
            symlink("00.jsonl", scratch.path(format!("d/{at:02}.jsonl"))).unwrap();
        }
        let inode = fs::metadata(scratch.path("d/00.jsonl")).unwrap().ino();
        let run = scratch.run("migrate d --format=jsonl --jobs 4");
        let (rows, code) = statuses(&run);
        let count = |status: &str| rows.iter().filter(|(_, is)| is == status).count();
        assert_eq!((code, count("migrated"), count("current")), (0, 1, 0), "round {round}: {run:?}");
        assert_ne!(fs::metadata(scratch.path("d/00.jsonl")).unwrap().ino(), inode);
        assert_eq!(fs::read_to_string(scratch.path("d/00.jsonl")).unwrap().lines().count(), 2001);
        assert_eq!(names(scratch.path("d")), ["00.jsonl", "01.jsonl", "02.jsonl", "03.jsonl"]);
    }
}

#[test]
fn text_output_is_a_table() {
    let scratch = folder(&[("1", V1), ("3", V3), ("4", V4)]);
    let run = scratch.run("migrate 1 3 4");
    let rows: Vec<_> = run.stdout.lines().collect();
    let words = |row: &str| row.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(words(rows[0]), ["status", "version", "file"]);
    assert_eq!(words(rows[1]), ["migrated", "1", "→", "3", "1"]);
    assert_eq!(words(rows[2]), ["newer", "4", "4"]);
    assert_eq!(
        rows[3..],
        ["3 files: 1 migrated, 1 already of version 3, 1 of a newer version"],
        "a current file is only counted"
    );
    assert!(!run.stdout.contains('\u{1b}') && run.code == 0);
}
