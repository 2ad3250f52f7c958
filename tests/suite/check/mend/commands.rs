//! What the binary prints and writes when it mends.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::damaged::Damaged;
use crate::cli::Scratch;
use crate::lines::{HEADER, message};
use crate::support::{Run, data, run};
use crate::write::scene::names;

/// A folder with a file `s.jsonl`.
struct Scene(Scratch);

impl Scene {
    fn new(bytes: impl AsRef<[u8]>) -> Self {
        Self(Scratch::bytes(bytes.as_ref()))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path(name)
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn names(&self) -> Vec<String> {
        names(self.path(""))
    }

    /// Runs `check` on the file, in the folder.
    fn check(&self, args: &[&str]) -> Run {
        self.0.args(["check", "s.jsonl"].iter().chain(args))
    }
}

/// Returns a session with a glued line (safe), an orphan below it (a guess), and no line end (safe).
fn damaged() -> String {
    let [u1, a1, u2, a2] = [
        message("u1", "", "user", "first"),
        message("a1", "u1", "user", "second"),
        message("u2", "a1", "user", "third"),
        message("a2", "gone", "user", "fourth"),
    ];
    format!("{HEADER}\n{u1}\n{a1}{u2}\n{a2}")
}

fn mended(parent: &str) -> String {
    damaged().replace("}{", "}\n{").replace("gone", parent) + "\n"
}

#[test]
fn safe_fixes_are_written_and_the_original_is_kept() {
    let scene = Scene::new(damaged());
    let run = scene.check(&["--fix"]);
    // The orphan is left, and is an error.
    assert_eq!((run.code, &run.stderr[..]), (1, ""), "{run:?}");
    assert_eq!(scene.read("s.jsonl"), mended("gone").as_bytes());
    assert_eq!(scene.read("s.jsonl.orig"), damaged().as_bytes());
    assert_eq!(scene.names(), ["s.jsonl", "s.jsonl.orig"]);
    for line in [
        "fixed[E007] s.jsonl:3: 2 records put on lines of their own",
        "fixed[W023] s.jsonl:4: line end added",
        "  the original is kept: s.jsonl.orig",
        "error[E011] s.jsonl:5: ",
        "1 file: 1 error, 0 warnings",
    ] {
        assert!(run.stdout.contains(line), "{line}: {}", run.stdout);
    }
    // There is nothing more to do without a guess.
    let again = scene.check(&["--fix"]);
    assert_eq!((again.code, scene.names().len()), (1, 2), "{again:?}");
    assert!(!again.stdout.contains("fixed"), "{again:?}");
}

#[test]
fn guesses_are_made_if_they_are_asked_for() {
    let scene = Scene::new(damaged());
    let run = scene.check(&["--fix", "--unsafe-fixes"]);
    assert_eq!((run.code, scene.read("s.jsonl")), (0, mended("u2").into_bytes()), "{run:?}");
    assert!(run.stdout.contains("guessed[E011] s.jsonl:4: `a2`: `parentId` set to \"u2\", line 3\n"), "{run:?}");
    let run = scene.check(&["--unsafe-fixes"]);
    assert_eq!((run.code, run.stdout.is_empty()), (2, true), "without `--fix` it means nothing: {run:?}");
}

#[test]
fn a_backup_never_replaces_another_one() {
    let scene = Scene::new("");
    for (count, name) in ["s.jsonl.orig", "s.jsonl.orig.2", "s.jsonl.orig.3"].into_iter().enumerate() {
        let text = damaged().replace("first", &count.to_string());
        fs::write(scene.path("s.jsonl"), &text).unwrap();
        assert_eq!(scene.check(&["--fix"]).code, 1);
        assert_eq!(scene.read(name), text.as_bytes(), "{name}");
    }
    // One with the same bytes is taken as made, as a run that was killed leaves it.
    fs::write(scene.path("s.jsonl"), damaged().replace("first", "1")).unwrap();
    assert!(scene.check(&["--fix"]).stdout.contains("kept: s.jsonl.orig.2\n"));
    fs::write(scene.path("s.jsonl"), damaged()).unwrap();
    assert_eq!(scene.check(&["--fix", "--backup=.bak"]).code, 1);
    assert_eq!(scene.read("s.jsonl.bak"), damaged().as_bytes());
    fs::write(scene.path("s.jsonl"), damaged()).unwrap();
    assert!(scene.check(&["--fix", "--no-backup"]).stdout.contains("the original is not kept\n"));
    assert_eq!(scene.names(), ["s.jsonl", "s.jsonl.bak", "s.jsonl.orig", "s.jsonl.orig.2", "s.jsonl.orig.3"]);
    assert_eq!(scene.check(&["--fix", "--backup=/tmp/x"]).code, 2);
}

#[test]
fn what_only_a_guess_mends_is_told() {
    let (whole, cut) = (mended("u2"), "{\"type\":\"message\",\"id\":\"a9\",\"par");
    let scene = Scene::new(format!("{whole}{cut}"));
    let run = scene.check(&["--fix"]);
    assert!(run.stdout.ends_with("\nnothing mended; 1 finding more with `--unsafe-fixes`\n"), "{run:?}");
    assert!(run.stdout.contains("\n  --fix: a guess, made with `--unsafe-fixes`\n"), "{run:?}");
    let run = scene.check(&["--diff"]);
    assert_eq!(
        (&run.stdout[..], &run.stderr[..]),
        ("", "hint: nothing mended; 1 finding more with `--unsafe-fixes`\n")
    );
    let run = scene.check(&[]);
    assert!(run.stdout.ends_with("\n1 of them may be mended with `--fix --unsafe-fixes`, by a guess\n"), "{run:?}");
    let run = scene.check(&["--fix", "--unsafe-fixes"]);
    assert!(run.stdout.ends_with("1 file: 0 errors, 0 warnings\n"), "{run:?}");
}

#[test]
fn a_diff_writes_nothing_and_ends_as_a_check() {
    let scene = Scene::new(damaged());
    let run = scene.check(&["--diff"]);
    assert_eq!((run.code, &run.stderr[..]), (1, "hint: 1 finding more with `--unsafe-fixes`\n"), "{run:?}");
    assert!(run.stdout.starts_with("--- s.jsonl\n+++ s.jsonl\n@@ -1,4 +1,5 @@\n"), "{run:?}");
    assert_eq!((scene.read("s.jsonl"), scene.names()), (damaged().into_bytes(), vec!["s.jsonl".to_owned()]));
    // It ends as a check of the file as it is, also if all would be mended.
    assert_eq!(scene.check(&["--diff", "--unsafe-fixes"]).code, 1);
    let sound = Scene::new(mended("u2"));
    let run = sound.check(&["--diff"]);
    assert_eq!((run.code, &run.stdout[..]), (0, ""), "{run:?}");
    assert_eq!(sound.check(&["--diff", "--fix"]).code, 2);
    assert_eq!(sound.check(&["--diff", "--format", "sarif"]).code, 2);
}

/// Runs `patch`, if there is one.
fn patch(folder: &Path, args: &[&str], diff: &str) -> Option<bool> {
    let mut command = Command::new("patch");
    command.current_dir(folder).args(args).arg("-s").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    std::io::Write::write_all(child.stdin.as_mut().unwrap(), diff.as_bytes()).unwrap();
    Some(child.wait().unwrap().success())
}

#[test]
fn a_diff_can_be_applied_and_taken_back() {
    for seed in 1..=60 {
        let bytes = Damaged::new(seed).bytes;
        // A diff is text for this test.
        let Ok(text) = String::from_utf8(bytes) else { continue };
        let scene = Scene::new(&text);
        let diff = scene.check(&["--diff", "--unsafe-fixes"]).stdout;
        scene.check(&["--fix", "--unsafe-fixes", "--no-backup"]);
        let fixed = scene.read("s.jsonl");
        assert_eq!(diff.is_empty(), fixed == text.as_bytes(), "seed {seed}");
        if diff.is_empty() || diff.contains("session-tree/leaf") {
            // Saved moves have the time of the run.
            continue;
        }
        let Some(is_taken_back) = patch(&scene.path(""), &["-R", "s.jsonl"], &diff) else { return };
        assert!(is_taken_back, "seed {seed}: {diff}");
        assert_eq!(scene.read("s.jsonl"), text.as_bytes(), "seed {seed}");
        assert_eq!(patch(&scene.path(""), &["s.jsonl"], &diff), Some(true), "seed {seed}");
        assert_eq!(scene.read("s.jsonl"), fixed, "seed {seed}");
    }
}

#[test]
fn what_is_not_reported_is_not_mended() {
    let scene = Scene::new(damaged());
    let run = scene.check(&["--fix", "--unsafe-fixes", "--allow", "glued-objects,W023"]);
    let expected = damaged().replace("gone", "u1");
    assert_eq!((run.code, scene.read("s.jsonl")), (0, expected.into_bytes()), "{run:?}");
    let scene = Scene::new(damaged());
    let known = |args: &[&str]| scene.check(&[&["--baseline", "known"], args].concat());
    assert_eq!(known(&["--update-baseline"]).code, 0);
    let run = known(&["--fix", "--unsafe-fixes"]);
    assert_eq!((run.code, scene.read("s.jsonl")), (0, damaged().into_bytes()), "{run:?}");
    assert_eq!(known(&["--fix", "--update-baseline"]).code, 2);
}

#[test]
fn what_is_not_a_session_file_is_refused() {
    for (args, why) in [
        (&["-"][..], "cannot mend what is not a file"),
        (&["d29-claude.jsonl"], "a Claude Code session"),
        (&["s.jsonl.gz"], "compressed"),
    ] {
        for how in ["--fix", "--diff"] {
            let scene = Scene::new("");
            fs::copy(data("cases/d29-claude.jsonl"), scene.path("d29-claude.jsonl")).unwrap();
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            std::io::Write::write_all(&mut gzip, damaged().as_bytes()).unwrap();
            fs::write(scene.path("s.jsonl.gz"), gzip.finish().unwrap()).unwrap();
            let before = scene.names();
            let run = scene.0.args(["check", how].iter().chain(args));
            assert_eq!((run.code, scene.names()), (2, before), "{args:?} {run:?}");
            assert!(run.stderr.contains(why), "{args:?} {run:?}");
        }
    }
}

#[test]
fn programs_get_a_row_for_each_file() {
    let scene = Scene::new(damaged());
    let row = |run: &Run| -> Value { serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}")) };
    let run = scene.check(&["--diff", "--format", "jsonl"]);
    let shown = row(&run);
    assert_eq!((run.code, &shown["written"], shown["findings"].as_array().unwrap().len()), (1, &Value::from(false), 3));
    assert!(shown["diff"].as_str().unwrap().starts_with("--- s.jsonl\n"), "{shown}");
    let run = scene.check(&["--fix", "--unsafe-fixes", "--json"]);
    let made = &row(&run)[0];
    assert_eq!((run.code, &made["written"], &made["backup"]), (0, &true.into(), &"s.jsonl.orig".into()), "{run:?}");
    assert_eq!(made["fixes"], shown_with_guess(&shown), "{made}");
    assert_eq!((&made["findings"], made.get("diff")), (&serde_json::json!([]), None));
}

/// Returns the safe fixes of a row with the one guess that there is.
fn shown_with_guess(shown: &Value) -> Value {
    let mut fixes = shown["fixes"].as_array().unwrap().clone();
    fixes.insert(
        1,
        serde_json::json!({"code": "E011", "name": "orphan", "kind": "guess", "line": 4, "entryId": "a2",
        "message": "`parentId` set to \"u2\", line 3", "removedBytes": 0}),
    );
    fixes.into()
}

#[test]
fn codes_are_explained() {
    let one = run(["check", "--explain", "e012"]);
    assert_eq!(one.code, 0);
    assert!(one.stdout.starts_with("E012 cycle\n  What: "), "{one:?}");
    assert!(one.stdout.contains("  Fix: `check --fix`: sets `parentId` to null"), "{one:?}");
    let all = run(["check", "--explain", "all", "--format", "jsonl"]);
    assert_eq!(all.stdout.lines().count(), session_tree::core::check::Code::all().count());
    for line in all.stdout.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        assert!(["safe", "guess", "none"].contains(&row["fixKind"].as_str().unwrap()), "{line}");
    }
    let wrong = run(["check", "--explain", "cycel"]);
    assert_eq!((wrong.code, wrong.stderr.contains("did you mean `cycle`?")), (2, true), "{wrong:?}");
    assert_eq!(run(["check", "--explain", "cycle", "s.jsonl"]).code, 2);
    assert_eq!(run(["check"]).code, 2);
}
