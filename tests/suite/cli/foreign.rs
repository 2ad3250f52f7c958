//! Files of other formats, and compressed sessions: what each command makes of them. How a format is recognised is
//! tested beside the rule.

use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use super::{HEADER, Scratch};
use crate::support::{self, Run, finish};

const CLAUDE: &str = "{\"type\":\"summary\",\"summary\":\"Fix\",\"leafUuid\":\"a\"}\n";
const CODEX: &str = "{\"timestamp\":\"2026\",\"type\":\"session_meta\",\"payload\":{}}\n";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Makes the session `s.jsonl` of [`forked`](crate::lines::forked), and `p.jsonl.gz` of the same bytes.
fn packed() -> Scratch {
    let scratch = Scratch::new(&crate::lines::forked());
    fs::write(scratch.path("p.jsonl.gz"), gzip(&fs::read(scratch.path("s.jsonl")).unwrap())).unwrap();
    scratch
}

/// Returns the error object of a run that must fail.
fn error(run: &Run) -> Value {
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
    serde_json::from_str::<Value>(run.stderr.lines().last().unwrap()).unwrap()["error"].take()
}

/// Returns all files of a folder with their bytes.
fn files(scratch: &Scratch) -> Vec<(String, Vec<u8>)> {
    let files = fs::read_dir(scratch.path("")).unwrap().map(|file| file.unwrap());
    let mut files: Vec<_> =
        files.map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap())).collect();
    files.sort();
    files
}

#[test]
fn a_named_file_of_another_format_is_an_error_with_its_name_in_the_hint() {
    let scratch = packed();
    fs::write(scratch.path("a b.jsonl"), b"\x28\xb5\x2f\xfd\n").unwrap();
    let run = scratch.args(["tree", "a b.jsonl"]);
    let expected = "error: a b.jsonl: not a session of pi or omp: compressed with zstd\n\
        hint: `zstd -dc 'a b.jsonl' | session-tree tree -` reads it\n";
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (2, "", expected));
    // Standard input has no name.
    let run = support::run_with_input(["tree", "-", "--json"], b"\x28\xb5\x2f\xfd\n");
    let error = error(&run);
    assert_eq!((&error["format"], &error["path"]), (&"zstd".into(), &"-".into()));
    assert_eq!(error["hint"], "`zstd -dc FILE | session-tree tree -` reads it");
    let run = scratch.args(["migrate", "a b.jsonl"]);
    assert!(run.stderr.contains("compressed with zstd\nhint: `zstd -dc 'a b.jsonl'"), "{run:?}");
    assert_eq!((run.code, run.stdout.lines().last()), (2, Some("1 file: 1 not a session")));
}

#[test]
fn files_of_other_formats_in_a_folder_are_passed_over_and_counted() {
    let scratch = Scratch::new(&crate::lines::forked());
    for (name, text) in [("a.jsonl", CLAUDE), ("b.jsonl", CODEX), ("c.jsonl", CLAUDE)] {
        fs::write(scratch.path(name), text).unwrap();
    }
    let warning = "3 files of other formats passed over (2 claude-code, 1 codex); the first is `./a.jsonl`";
    let sound = scratch.run("check s.jsonl");
    for (line, output) in [
        ("check .", sound.stdout.replace("s.jsonl", "./s.jsonl")),
        ("migrate .", "1 file: 1 already of version 3\n".to_owned()),
        ("migrate . --check", "1 file: 1 already of version 3\n".to_owned()),
    ] {
        let run = scratch.run(line);
        let code = if line == "check ." { sound.code } else { 0 };
        assert_eq!((run.stderr, run.stdout, run.code), (format!("warning: {warning}\n"), output, code), "{line}");
        let run = scratch.run(&format!("{line} --json"));
        let warned: Value = serde_json::from_str(&run.stderr).unwrap();
        assert_eq!(warned["warning"]["kind"], "foreign-format", "{line}");
        assert_eq!(warned["warning"]["message"], warning, "{line}");
        assert!(!run.stdout.contains("a.jsonl"), "{line}: {run:?}");
        assert_eq!(scratch.run(&format!("{line} --quiet")).stderr, "", "{line}");
    }
    // Named beside the folder, one is looked at.
    let run = scratch.run("check a.jsonl --json");
    assert_eq!((run.code, run.stderr.as_str()), (1, ""), "{run:?}");
}

#[test]
fn a_lookup_that_fails_says_what_it_passed_over() {
    let scratch = packed();
    fs::write(scratch.path("a.jsonl"), CLAUDE).unwrap();
    let run = |line: &str| {
        let mut command = scratch.command(line.split_whitespace());
        finish(command.env("SESSION_TREE_DIR", scratch.path("")).env("HOME", scratch.path("home")))
    };
    let found = run("tree s-1");
    assert_eq!((found.code, found.stderr.as_str()), (0, ""), "{found:?}");
    let failed = run("tree zzzz --json");
    let lines: Vec<Value> = failed.stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((failed.code, lines.len()), (2, 2), "{failed:?}");
    assert_eq!(lines[0]["warning"]["kind"], "foreign-format");
    assert!(lines[0]["warning"]["message"].as_str().unwrap().starts_with("1 file of other formats passed over"));
    assert_eq!(lines[1]["error"]["kind"], "not-found");
}

#[test]
fn compressed_sessions_are_read_by_every_command() {
    let scratch = packed();
    for (command, rest) in [
        ("tree", "--json"),
        ("context", "--json"),
        ("label", ""),
        ("branch", "--json"),
        ("navigate", "u2 --json"),
        ("check", "--why-leaf"),
    ] {
        let [plain, packed] = ["s.jsonl", "p.jsonl.gz"].map(|file| scratch.run(&format!("{command} {file} {rest}")));
        let same = |text: &str| text.replace("p.jsonl.gz", "s.jsonl");
        assert_eq!((packed.code, same(&packed.stdout), same(&packed.stderr)), (0, plain.stdout, plain.stderr));
    }
    // A session in several parts is one, as it is for gzip.
    let bytes = fs::read(scratch.path("s.jsonl")).unwrap();
    let (front, back) = bytes.split_at(bytes.len() / 2);
    fs::write(scratch.path("q.jsonl.gz"), [gzip(front), gzip(back)].concat()).unwrap();
    assert_eq!(scratch.run("tree q.jsonl.gz").ok(), scratch.run("tree s.jsonl").ok());
}

#[test]
fn nothing_is_written_to_a_compressed_session() {
    let scratch = packed();
    let before = files(&scratch);
    for line in [
        "label p.jsonl.gz u1 name",
        "label p.jsonl.gz u1 --clear",
        "navigate p.jsonl.gz u1 --save",
        "navigate p.jsonl.gz u1 --summary text",
        "navigate p.jsonl.gz u1 --save --dry-run",
    ] {
        let error = error(&scratch.run(&format!("{line} --json")));
        assert_eq!((&error["kind"], &error["format"]), (&"foreign-format".into(), &"gzip".into()), "{line}");
        assert_eq!(error["hint"], "`gunzip -k p.jsonl.gz` unpacks it", "{line}");
    }
    for line in ["migrate p.jsonl.gz", "migrate p.jsonl.gz --check", "migrate p.jsonl.gz --backup"] {
        let run = scratch.run(line);
        assert_eq!(run.code, 2, "{line}: {run:?}");
        assert!(run.stderr.ends_with("\nhint: `gunzip -k p.jsonl.gz` unpacks it\n"), "{line}: {run:?}");
    }
    // Nor is a new one made.
    for line in ["branch s.jsonl u2 --output new.jsonl.gz", "migrate s.jsonl --output new.jsonl.gz"] {
        let run = scratch.run(line);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{line}: {run:?}");
        assert!(run.stderr.contains("compressed files are read, not written"), "{line}: {run:?}");
    }
    assert_eq!(files(&scratch), before);
}

#[test]
fn new_files_are_made_of_a_compressed_session_with_its_rights() {
    let scratch = packed();
    fs::set_permissions(scratch.path("p.jsonl.gz"), Permissions::from_mode(0o640)).unwrap();
    let old = format!("{}\n", HEADER.replace("\"version\":3", "\"version\":2"));
    fs::write(scratch.path("old.jsonl.gz"), gzip(old.as_bytes())).unwrap();
    scratch.run("branch p.jsonl.gz u2 --output fork.jsonl").ok();
    scratch.run("migrate old.jsonl.gz --output new.jsonl").ok();
    scratch.run("migrate p.jsonl.gz --output same.jsonl").ok();
    let fork = fs::read_to_string(scratch.path("fork.jsonl")).unwrap();
    assert!(fork.lines().count() == 3 && fork.contains("p.jsonl.gz\""), "{fork}");
    assert_eq!(fs::metadata(scratch.path("fork.jsonl")).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read_to_string(scratch.path("new.jsonl")).unwrap(), format!("{HEADER}\n"));
    assert_eq!(fs::read(scratch.path("same.jsonl")).unwrap(), fs::read(scratch.path("s.jsonl")).unwrap());
}

#[test]
fn fork_of_an_archived_session_needs_a_place() {
    let scratch = packed();
    let archive = scratch.path(".omp/agent/archive/sessions/w");
    fs::create_dir_all(&archive).unwrap();
    fs::rename(scratch.path("p.jsonl.gz"), archive.join("p.jsonl.gz")).unwrap();
    let run = |options: &str| {
        let line = format!("branch .omp/agent/archive/sessions/w/p.jsonl.gz {options}");
        let mut command = scratch.command(line.split_whitespace());
        crate::support::finish(command.env("HOME", scratch.path("").canonicalize().unwrap()))
    };
    for options in ["u2", "u2 --dry-run", "--all", "--at @ --json"] {
        let refused = run(options);
        assert!(refused.code == 2 && refused.stderr.contains("`--session-dir DIR`"), "{options}: {refused:?}");
    }
    assert_eq!(fs::read_dir(&archive).unwrap().count(), 1);
    run("").ok();
    run("u2 --output new.jsonl").ok();
    run("u2 --output -").ok();
    run("u2 --session-dir .omp").ok();
    assert!(scratch.path("new.jsonl").exists());
}

#[test]
fn a_compressed_session_is_found_by_its_id_only() {
    let scratch = packed();
    let here = scratch.path("").canonicalize().unwrap();
    let text = fs::read_to_string(scratch.path("s.jsonl")).unwrap();
    let session =
        |id: &str| text.replace("\"s-1\"", &format!("\"{id}\"")).replace("/home/mia/shop", here.to_str().unwrap());
    fs::create_dir(scratch.path("kept")).unwrap();
    fs::write(scratch.path("kept/a.jsonl"), session("aaaa1111")).unwrap();
    // The newest file of the folder.
    fs::write(scratch.path("kept/b.jsonl.gz"), gzip(session("bbbb2222").as_bytes())).unwrap();
    // What was unpacked counts, not what it comes from.
    fs::write(scratch.path("kept/a.jsonl.gz"), gzip(session("aaaa1111").as_bytes())).unwrap();
    let id = |word: &str| {
        let mut command = scratch.command(["label", word, "u1", "x", "--json"]);
        finish(command.env("SESSION_TREE_DIR", scratch.path("kept")))
    };
    for word in ["aaaa", "aaaa1111", "latest"] {
        let file = id(word).json()["path"].as_str().unwrap().to_owned();
        assert!(file.ends_with("kept/a.jsonl"), "{word}: {file}");
    }
    for word in ["bbbb", "bbbb2222"] {
        assert!(error(&id(word))["path"].as_str().unwrap().ends_with("kept/b.jsonl.gz"), "{word}");
    }
    // Searched folders have only `*.jsonl`.
    assert_eq!(scratch.run("migrate kept").ok(), "1 file: 1 already of version 3\n");
    let checked = scratch.run("check kept");
    assert!(!checked.stdout.contains(".gz") && checked.stderr.is_empty(), "{checked:?}");
}

#[test]
fn a_compressed_session_that_is_cut_off_is_an_error() {
    let scratch = packed();
    let bytes = fs::read(scratch.path("p.jsonl.gz")).unwrap();
    fs::write(scratch.path("p.jsonl.gz"), &bytes[..bytes.len() - 20]).unwrap();
    for command in ["tree", "check", "context"] {
        let run = scratch.run(&format!("{command} p.jsonl.gz"));
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
        let rest = run.stderr.strip_prefix("error: p.jsonl.gz: cannot unpack it: after ").expect(&run.stderr);
        let (bytes, rest) = rest.split_once(" bytes of text, ").expect(rest);
        assert!(bytes.parse::<u64>().unwrap() > 100, "{run:?}");
        assert!(
            rest.ends_with("\nhint: `gzip -dc p.jsonl.gz | session-tree tree -` reads what can be unpacked\n"),
            "{run:?}"
        );
    }
}
