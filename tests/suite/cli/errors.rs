//! Failures and warnings: exit codes, words for people, objects for programs.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use super::{HEADER, Scratch, message};
use crate::support::{self, Run};

fn session() -> Scratch {
    Scratch::new(&[message("aaaa1111", "", "user", "one"), message("aaaa2222", "aaaa1111", "user", "two")])
}

/// Returns the objects on stderr; each line must be one of the documented shape.
fn objects(run: &Run, what: &str) -> Vec<Value> {
    let objects: Vec<Value> = run.stderr.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let allowed = BTreeSet::from(["kind", "message", "path", "line", "format", "hint"]);
    for (at, object) in objects.iter().enumerate() {
        let members: Vec<_> = object.as_object().unwrap().iter().collect();
        let [(name, inner)] = members[..] else { panic!("{what}: {object}") };
        let is_last = at + 1 == objects.len();
        assert!(name == "warning" || (name == "error" && is_last && run.code == 2), "{what}: {object}");
        let keys: BTreeSet<_> = inner.as_object().unwrap().keys().map(String::as_str).collect();
        assert!(keys.is_subset(&allowed), "{what}: {object}");
        assert!(name == "error" || !keys.contains("hint"), "{what}: {object}");
        assert!(inner["kind"].is_string() && inner["message"].is_string(), "{what}: {object}");
        assert!(keys.contains("path") == inner["path"].is_string(), "{what}: {object}");
        assert!(keys.contains("line") == inner["line"].is_u64(), "{what}: {object}");
        assert_eq!(keys.contains("format"), inner["kind"] == "foreign-format" && name == "error", "{what}: {object}");
        assert!(keys.contains("hint") == inner["hint"].is_string(), "{what}: {object}");
    }
    objects
}

/// Checks a failure in words and as an object, and that both say the same.
fn check(scratch: &Scratch, args: &str, kind: &str, file: Option<&str>, line: Option<u64>) {
    let run = scratch.run(&format!("{args} --format json"));
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args}: {run:?}");
    let error = objects(&run, args).pop().expect("an error object")["error"].take();
    assert_eq!(error["kind"], kind, "{args}: {error}");
    assert_eq!(error["path"].as_str(), file, "{args}: {error}");
    assert_eq!(error["line"].as_u64(), line, "{args}: {error}");

    let run = scratch.run(args);
    let place = match (file, line) {
        (Some(file), Some(line)) => format!("{file}:{line}: "),
        (Some(file), None) => format!("{file}: "),
        _ => String::new(),
    };
    let hint = error["hint"].as_str().map(|hint| format!("hint: {hint}\n")).unwrap_or_default();
    let expected = format!("error: {place}{}\n{hint}", error["message"].as_str().unwrap());
    assert_eq!((run.code, run.stdout.as_str(), run.stderr), (2, "", expected), "{args}");
}

#[test]
fn unreadable_file_exits_with_2() {
    let scratch = session();
    fs::write(scratch.path("empty.jsonl"), "").unwrap();
    fs::write(scratch.path("blank.jsonl"), "\n  \r\n\n").unwrap();
    for command in ["tree", "context", "label", "branch"] {
        let check = |file: &str, kind: &str| check(&scratch, &format!("{command} {file}"), kind, Some(file), None);
        check("missing.jsonl", "io");
        check("no/such/folder/s.jsonl", "io");
        check("s.jsonl/s.jsonl", "io");
        if !["tree", "context"].contains(&command) {
            check(".", "io");
        }
        check("empty.jsonl", "empty");
        check("blank.jsonl", "empty");
        check("/dev/null", "empty");
    }
}

#[test]
fn file_that_is_not_a_session_exits_with_2() {
    let scratch = session();
    let check = |text: &str, line: u64| {
        fs::write(scratch.path("x.jsonl"), text).unwrap();
        for command in ["tree", "context", "label", "branch"] {
            check(&scratch, &format!("{command} x.jsonl"), "not-a-session", Some("x.jsonl"), Some(line));
        }
    };
    check("{\"type\":\"message\",\"id\":\"a\"}\n", 1);
    check("\n{\"type\":\"message\",\"id\":\"a\"}\n", 2);
    check("{\"type\":\"session\"}\n", 1);
    check("{\"type\":\"session\",\"id\":7}\n", 1);
    check("{\"type\":\"title\",\"title\":\"x\"}\n{\"type\":\"session\"}\n", 2);
    check("{\"type\":\"title\",\"v\":1,\"title\":\"x\",\"updatedAt\":\"\",\"pad\":\"\"}\n{\"type\":\"session\"}\n", 2);
    check("{}\n", 1);
}

#[test]
fn text_file_is_not_a_session() {
    for text in ["# A README\n\nwith words\n", "[]\n", "\u{0}\u{0}\u{0}\n"] {
        let run = Scratch::bytes(text.as_bytes()).run("tree s.jsonl --json");
        let error = &objects(&run, text).pop().unwrap()["error"];
        assert_eq!((run.code, &error["kind"]), (2, &Value::from("not-a-session")), "{text}: {run:?}");
    }
}

#[test]
fn unknown_entry_exits_with_2() {
    let scratch = session();
    for (args, kind) in [
        ("tree s.jsonl --leaf zzzz", "not-found"),
        ("tree s.jsonl --entry zzzz", "not-found"),
        ("tree s.jsonl --entry @ --entry zzzz", "not-found"),
        ("tree s.jsonl --leaf aaaa", "ambiguous"),
        ("tree s.jsonl --leaf @~7", "not-found"),
        ("context s.jsonl --leaf zzzz", "not-found"),
        ("context s.jsonl --leaf aaaa", "ambiguous"),
        ("label s.jsonl zzzz", "not-found"),
        ("label s.jsonl aaaa", "ambiguous"),
    ] {
        check(&scratch, args, kind, Some("s.jsonl"), None);
    }
}

/// Command lines that do not go, each with a word that the message must have.
const MISUSES: [(&str, &str); 22] = [
    ("label", "SESSION"),
    ("tree s.jsonl s.jsonl --leaf @", "--leaf"),
    ("tree s.jsonl --bogus", "--bogus"),
    ("tree s.jsonl --filter bogus", "bogus"),
    ("tree s.jsonl --search", "--search"),
    ("tree s.jsonl --leaf @ --root", "--root"),
    ("tree s.jsonl --entry @ --search x", "--search"),
    ("tree s.jsonl --entry @ --path", "--path"),
    ("tree s.jsonl --entry @ --full", "--full"),
    ("tree s.jsonl --tips --branches", "--branches"),
    ("tree s.jsonl --entry @ --tips", "--tips"),
    ("tree s.jsonl --entry @ --since 2d", "--since"),
    ("tree s.jsonl --depth all", "all"),
    ("tree s.jsonl --until tomorrow", "tomorrow"),
    ("tree s.jsonl --width all", "--width"),
    ("tree s.jsonl --width -3", "-3"),
    ("tree s.jsonl --jobs 0", "--jobs"),
    ("tree s.jsonl --color perhaps", "perhaps"),
    ("context s.jsonl --leaf @ --root", "--root"),
    ("label s.jsonl --bogus", "--bogus"),
    ("branch s.jsonl --bogus", "--bogus"),
    ("bogus s.jsonl", "bogus"),
];

#[test]
fn usage_error_is_text_by_default() {
    let scratch = session();
    for (args, word) in MISUSES {
        let run = scratch.run(args);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args}: {run:?}");
        assert!(run.stderr.starts_with("error: ") && run.stderr.contains(word), "{args}: {run:?}");
    }
    let run = scratch.run("");
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run:?}");
    assert!(run.stderr.contains("Usage: session-tree"), "{run:?}");
}

#[test]
fn usage_error_with_quiet_has_no_hint() {
    let scratch = session();
    for line in ["show s.jsonl", "show s.jsonl --json"] {
        assert!(scratch.run(line).stderr.contains("hint"), "{line}");
        assert!(!scratch.run(&format!("{line} --quiet")).stderr.contains("hint"), "{line}");
    }
    // What stands after `--` is no option.
    let error = scratch.run("label s.jsonl -- a b --json --quiet").stderr;
    assert!(error.starts_with("error: ") && error.contains("Usage"), "{error}");
    let error = scratch.run("tree s.jsonl --nope --json").stderr;
    assert!(!error.contains("Usage") && !error.contains("to pass"), "{error}");
}

#[test]
fn misuse_with_json_has_the_right_hint() {
    let scratch = session();
    for (args, hint) in [
        ("tree s.jsonl --serach x --json", "did you mean `--search`?"),
        ("tree s.jsonl --filter user --json", "did you mean `user-only`?"),
        ("tre s.jsonl --json", "did you mean `tree`?"),
        ("show s.jsonl --json", "session-tree tree SESSION"),
        ("label --json", "`session-tree label --help` lists its arguments"),
        ("tree s.jsonl --tips --branches --json", "`session-tree tree --help` lists its arguments"),
        ("bogus s.jsonl --json", "`session-tree --help` lists the commands"),
    ] {
        let run = scratch.run(args);
        assert_eq!(objects(&run, args)[0]["error"]["hint"], hint, "{args}: {run:?}");
    }
}

#[test]
fn usage_error_with_json_is_an_object() {
    let scratch = session();
    for (args, word) in MISUSES {
        for format in ["--json", "--format json", "--format=json", "--format jsonl", "--format=jsonl", "--format llm"] {
            let what = format!("{args} {format}");
            let run = scratch.run(&what);
            assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{what}: {run:?}");
            let objects = objects(&run, &what);
            let [object] = &objects[..] else { panic!("{what}: {run:?}") };
            let error = &object["error"];
            assert_eq!(error["kind"], "usage", "{what}: {object}");
            let message = error["message"].as_str().unwrap();
            assert!(!message.starts_with("error") && !message.contains("\u{1b}"), "{what}: {object}");
            // Options that the command does not have may be what is told instead.
            let words = [word, "--format", "--json", "jsonl", "llm"];
            assert!(words.iter().any(|word| message.contains(word)), "{what}: {object}");
        }
    }
}

#[test]
fn conflicting_options_are_refused() {
    let scratch = session();
    for args in ["tree s.jsonl --full", "tree s.jsonl --full --format table"] {
        let run = scratch.run(args);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args}: {run:?}");
        let lines: Vec<_> = run.stderr.lines().collect();
        assert!(lines[0].starts_with("error: ") && lines[0].contains("--full"), "{run:?}");
        assert!(lines[1].starts_with("hint: ") && lines[1].contains("jsonl"), "{run:?}");
        assert_eq!(lines.len(), 2, "{run:?}");
    }
    for args in [
        "tree s.jsonl --full --tips --json",
        "tree s.jsonl --tips --branches --format jsonl",
        "check s.jsonl --diff --format sarif",
    ] {
        let run = scratch.run(args);
        let objects = objects(&run, args);
        assert_eq!((run.code, run.stdout.as_str(), objects.len()), (2, "", 1), "{args}: {run:?}");
        assert_eq!(objects[0]["error"]["kind"], "usage", "{args}: {run:?}");
        assert!(objects[0]["error"]["hint"].is_string(), "{args}: {run:?}");
    }
    assert_eq!(scratch.run("tree s.jsonl --entry @ --format table").code, 2);
    assert_eq!(scratch.run("tree s.jsonl --json --format text").code, 2);
}

#[test]
fn conflicting_views_are_refused() {
    let scratch = session();
    for (args, word) in [
        ("--tips --format dot", "--tips"),
        ("--tips --format mermaid", "--tips"),
        ("--tips --full", "--full"),
        ("--tips --full --format jsonl", "--full"),
        ("--full --format dot", "--full"),
        ("--entry @ --format mermaid", "--entry"),
        ("--since 2d --until 3d", "--since"),
        ("--since 2d --until 3d --tips --json", "--since"),
    ] {
        let run = scratch.run(&format!("tree s.jsonl {args}"));
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args}: {run:?}");
        assert!(run.stderr.contains(word) && run.stderr.contains("hint"), "{args}: {run:?}");
    }
}

/// Options that go with another one, beside one that this other one does not go with: the option that is refused.
const WITHOUT_THEIR_OWN: &str = "
branch s.jsonl --without @ --at                            --without
branch s.jsonl aaaa1111 --without @                        --without
tree s.jsonl --body --search one                           --body
tree s.jsonl --body --tips                                 --body
tree s.jsonl --body --path                                 --body
tree s.jsonl --regex --entry @                             --regex
tree s.jsonl --timeout 1 --path                            --timeout
check --explain E011 --update-baseline                     --update-baseline
check --explain E011 --unsafe-fixes                        --unsafe-fixes
check --explain E011 --backup                              --backup
check s.jsonl --why-leaf --unsafe-fixes                    --unsafe-fixes
check s.jsonl --why-leaf --no-backup                       --no-backup
check s.jsonl --diff --backup                              --backup
check s.jsonl --diff --no-backup                           --no-backup
check s.jsonl --force                                      --force
check s.jsonl --lock-timeout 3                             --lock-timeout
check s.jsonl --diff --force                               --force
check s.jsonl --why-leaf --lock-timeout 3                  --lock-timeout
check s.jsonl --baseline base --update-baseline --force    --force
check --explain E011 --lock-timeout 3                      --lock-timeout
navigate s.jsonl --root --exact                            --exact
navigate s.jsonl @~ --summary x --dry-run --prompt         --prompt
navigate s.jsonl @~ --summary x --summarizer cat           --summarizer
navigate s.jsonl @~ --summary x --instructions z           --instructions
navigate s.jsonl @~ --summary x --token-budget 3           --token-budget
navigate s.jsonl @~ --summary-file f --token-budget 3      --token-budget
navigate s.jsonl @~ --summary x --summarizer-timeout 3     --summarizer-timeout
navigate s.jsonl @~ --save --summarizer-timeout 3          --summarizer-timeout
navigate s.jsonl @~ --hook-timeout 3                       --hook-timeout
navigate s.jsonl @~ --force                                --force
navigate s.jsonl @~ --lock-timeout 3                       --lock-timeout
label s.jsonl --force                                      --force
label s.jsonl aaaa1111 --lock-timeout 3                    --lock-timeout
label s.jsonl --leaf @                                     --leaf
label s.jsonl aaaa1111 --root                              --root
branch s.jsonl --leaf @                                    --leaf
branch s.jsonl --hook cat                                  --hook
branch s.jsonl @ --hook-timeout 3                          --hook-timeout
branch s.jsonl --anonymize                                 --anonymize
migrate s.jsonl --check --force                            --force
migrate s.jsonl --check --lock-timeout 3                   --lock-timeout
migrate s.jsonl --output new.jsonl --force                 --force
check --explain E011 --stdin-name x                        --stdin-name
check s.jsonl --fix --backup=.1.bak                        .bak
tree - -                                                   once
list - s.jsonl -                                           once
check - -                                                  once
context - - --stats                                        once
";

#[test]
fn no_option_is_ignored_where_what_it_goes_with_cannot_be() {
    let scratch = session();
    fs::write(scratch.path("f"), "text").unwrap();
    let old = fs::read(scratch.path("s.jsonl")).unwrap();
    for row in WITHOUT_THEIR_OWN.lines().filter(|row| !row.is_empty()) {
        let (args, option) = row.rsplit_once(' ').unwrap();
        let run = scratch.run(args.trim());
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args}: {run:?}");
        assert!(run.stderr.contains(option), "{args}: {run:?}");
        let run = scratch.run(&format!("{} --json", args.trim()));
        assert_eq!(objects(&run, args)[0]["error"]["kind"], "usage", "{args}: {run:?}");
        assert_eq!(run.stdout, "", "no document is begun: {args}");
    }
    assert_eq!(fs::read(scratch.path("s.jsonl")).unwrap(), old);
    let run = scratch.run("navigate s.jsonl @~");
    assert!(run.stderr.contains("`--save` saves the move"), "{run:?}");
    let mut command = scratch.command(["navigate", "-", "@~"]);
    let run = support::finish(command.stdin(fs::File::open(scratch.path("s.jsonl")).unwrap()));
    assert!(run.code == 0 && run.stderr.starts_with("hint: nothing was written: `--"), "{run:?}");
    for args in ["--at --without @", "@ --without @", "--without @"] {
        let run = scratch.run(&format!("branch s.jsonl {args}"));
        assert!(run.stderr.contains("hint: `--without` goes with `--all`"), "{args}: {run:?}");
    }
    let run = scratch.run("branch s.jsonl --all --at --without @");
    assert!(run.code == 2 && !run.stderr.contains("goes with"), "{run:?}");
    // Where they belong they are taken.
    for args in [
        "check s.jsonl --fix --force --lock-timeout 3 --no-backup",
        "tree s.jsonl --entry @ --body",
        "navigate s.jsonl @~ --save --dry-run --force --lock-timeout 3 --hook cat --hook-timeout 3",
        "navigate s.jsonl @~ --summarize --summarizer cat --summarizer-timeout 3 --dry-run",
        "branch s.jsonl aaaa1111 --leaf @ --hook cat --hook-timeout 3 --dry-run",
        "migrate s.jsonl --output new.jsonl --lock-timeout 3",
        "label s.jsonl aaaa1111 x --root --force --lock-timeout 3",
        "label s.jsonl aaaa1111 --clear --leaf @",
    ] {
        assert_eq!(scratch.run(args).code, 0, "{args}");
    }
}

#[test]
fn a_search_without_result_exits_with_1() {
    for (options, stdout) in [
        ("--format jsonl", ""),
        ("--json", "[]\n"),
        ("--tips --json", "[]\n"),
        ("--tips --format jsonl", ""),
        ("--filter all --branches --json", "[]\n"),
    ] {
        let run = session().run(&format!("tree s.jsonl --search nothing-has-this {options}"));
        assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (1, stdout, ""), "{options}");
        let run = session().run(&format!("tree s.jsonl --search two {options}"));
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{options}");
    }
    let run = session().run("tree s.jsonl --search nothing-has-this");
    assert!(run.code == 1 && run.stderr.starts_with("hint: no entry that is shown"), "{run:?}");
    // Hits that are only too deep to be shown are hits.
    assert_eq!(session().run("tree s.jsonl --search two --depth 0 -q").code, 0);
}

#[test]
fn an_empty_session_is_not_a_failure() {
    let empty = Scratch::new::<&str>(&[]);
    for args in [
        "tree s.jsonl",
        "tree s.jsonl --format table",
        "tree s.jsonl --format jsonl",
        "tree s.jsonl --json",
        "tree s.jsonl --path --root",
        "context s.jsonl",
        "context s.jsonl --format llm",
        "label s.jsonl",
        "label s.jsonl --json",
        "branch s.jsonl",
        "branch s.jsonl --json",
    ] {
        let run = empty.run(args);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{args}: {run:?}");
    }
    let run = session().run("label s.jsonl aaaa1111");
    assert_eq!((run.code, run.stdout.as_str(), run.stderr.as_str()), (0, "", ""));
}

/// A session with something odd on lines 2, 3 and 5, and one entry.
fn damaged() -> Scratch {
    let entry = message("aaaa1111", "gone", "user", "one");
    Scratch::bytes(format!("{HEADER}\nno json\n{{\"type\":\"foreign\"}}\n\n{entry}\n").as_bytes())
}

#[test]
fn warnings_name_file_and_line() {
    let run = damaged().run("tree s.jsonl");
    assert_eq!(run.code, 0);
    assert!(run.stdout.contains("aaaa1111"), "{run:?}");
    let lines: Vec<_> = run.stderr.lines().collect();
    assert_eq!(lines.len(), 3, "{run:?}");
    for (line, number) in lines.iter().zip([2, 3, 5]) {
        assert!(line.starts_with(&format!("warning: s.jsonl:{number}: ")), "{line}");
    }
}

#[test]
fn warnings_with_json_are_objects() {
    let scratch = damaged();
    for args in [
        "tree s.jsonl --json",
        "tree s.jsonl --format jsonl",
        "context s.jsonl --json",
        "context s.jsonl --format llm",
        "label s.jsonl --json",
        "label s.jsonl aaaa1111 --json",
        "branch s.jsonl --json",
        "branch s.jsonl --format jsonl",
    ] {
        let run = scratch.run(args);
        assert_eq!(run.code, 0, "{args}: {run:?}");
        let told: Vec<_> = objects(&run, args)
            .iter()
            .map(|object| &object["warning"])
            .map(|told| (told["kind"].as_str().unwrap().to_owned(), told["line"].as_u64(), told["path"].clone()))
            .collect();
        let expected = [("malformed-line", 2), ("foreign-line", 3), ("orphan", 5)];
        let expected = expected.map(|(kind, line)| (kind.to_owned(), Some(line), Value::from("s.jsonl")));
        assert_eq!(told[..3], expected, "{args}");
    }
}

#[test]
fn error_is_printed_after_warnings() {
    let run = damaged().run("tree s.jsonl --leaf zzzz --format jsonl");
    let objects = objects(&run, "damaged");
    assert_eq!((run.code, run.stdout.as_str(), objects.len()), (2, "", 4), "{run:?}");
    assert!(objects[..3].iter().all(|object| object["warning"].is_object()));
    assert_eq!(objects[3]["error"]["kind"], "not-found");
    let run = damaged().run("tree s.jsonl --leaf zzzz");
    let starts: Vec<_> = run.stderr.lines().filter_map(|line| line.split(':').next()).collect();
    assert_eq!(starts, ["warning", "warning", "warning", "error", "hint"]);
}

#[test]
fn quiet_prints_only_the_error() {
    let scratch = damaged();
    for args in ["tree s.jsonl --quiet", "tree s.jsonl -q", "-q tree s.jsonl", "context s.jsonl -q --json"] {
        let run = scratch.run(args);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{args}: {run:?}");
    }
    let run = scratch.run("tree s.jsonl -q --leaf zzzz");
    assert_eq!((run.code, run.stderr.lines().count()), (2, 1), "{run:?}");
    assert!(run.stderr.starts_with("error: s.jsonl: "), "{run:?}");
    let run = scratch.run("tree s.jsonl -q --leaf zzzz --json");
    let objects = objects(&run, "quiet");
    assert_eq!((run.code, objects.len()), (2, 1), "{run:?}");
    assert_eq!(objects[0]["error"]["kind"], "not-found");
}

#[test]
fn file_names_with_blanks_and_bad_bytes_are_quoted() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let scratch = session();
    for name in [&b"my session.jsonl"[..], b"s\xff.jsonl", b"--json", b"\xe6\x97\xa5.jsonl"] {
        let name = OsStr::from_bytes(name);
        fs::copy(scratch.path("s.jsonl"), scratch.path(name)).unwrap();
        let args = [OsStr::new("label"), OsStr::new("--"), name, OsStr::new("aaaa1111")];
        let run = scratch.args(args);
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
        fs::remove_file(scratch.path(name)).unwrap();
        let run = scratch.args(args);
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.stderr.contains(name.to_string_lossy().as_ref()), "{run:?}");
    }
}

#[test]
fn commands_in_hints_can_be_pasted() {
    let scratch = session();
    fs::rename(scratch.path("s.jsonl"), scratch.path("my s.jsonl")).unwrap();
    fs::create_dir(scratch.path("my folder")).unwrap();
    for (args, hint) in [
        (&["label", "my s.jsonl", "zzzz"][..], "`session-tree tree 'my s.jsonl' --filter all` lists the ids"),
        (&["label", "my s.jsonl", "label:no"], "`session-tree label 'my s.jsonl'` lists the labels"),
        (&["label", "my folder"], "`ls -t 'my folder'/*.jsonl | head -1` is the newest"),
        (&["migrate", "my s.jsonl", "--backup", ".my bak"], "a suffix is given as `--backup='.my bak'`"),
    ] {
        let run = scratch.args(args);
        assert!(run.code == 2 && run.stderr.contains(&format!("hint: {hint}")), "{args:?}: {run:?}");
    }
}

/// Returns the hint of a mistake; in words and in an object it is the same.
fn hint_on(scratch: &Scratch, line: &str) -> String {
    let run = scratch.run(line);
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{line}: {run:?}");
    let hint = run.stderr.lines().last().unwrap().strip_prefix("hint: ").expect("the last line is the hint");
    assert!(!run.stderr.contains("tip:"), "one hint is enough: {run:?}");
    let object = objects(&scratch.run(&format!("{line} --json")), line).pop().unwrap();
    assert_eq!(object["error"]["hint"], hint, "{line}");
    hint.to_owned()
}

#[test]
fn words_of_other_programs_hint_at_the_command() {
    let scratch = session();
    for (words, command) in [
        ("show log", "tree SESSION"),
        ("grep", "tree SESSION --search TEXT"),
        ("cat", "context SESSION"),
        ("fork", "branch SESSION ENTRY"),
        ("goto checkout", "navigate SESSION ENTRY --save"),
        ("rename bookmark", "label SESSION ENTRY NAME"),
        ("lint", "check PATH"),
        ("upgrade", "migrate PATH"),
        ("export", "context SESSION"),
        ("stats", "context SESSION --stats"),
        ("undo", "navigate SESSION user:1 --save"),
        ("sessions ls", "list"),
        ("format rules", "help"),
        ("s.jsonl", "tree s.jsonl"),
        ("latest", "tree latest"),
    ] {
        for word in words.split(' ') {
            for rest in ["", " s.jsonl"] {
                let command = if command == "help" { format!("help {word}") } else { command.to_owned() };
                assert_eq!(hint_on(&scratch, &format!("{word}{rest}")), format!("session-tree {command}"), "{word}");
            }
        }
    }
}

#[test]
fn extra_entry_argument_hints_at_its_option() {
    let scratch = session();
    let hint = hint_on(&scratch, "tree s.jsonl user:1");
    let expected = "if it is an entry, `--leaf user:1` works from there, and `tree SESSION --entry user:1` prints it";
    assert_eq!(hint, expected);
    assert_eq!(hint_on(&scratch, "--ascii tree s.jsonl user:1"), hint);
    let hint = hint_on(&scratch, "context s.jsonl 'x");
    assert!(hint.starts_with("if it is an entry, `--leaf ''\\''x'` works from there"), "{hint}");
    for line in ["branch s.jsonl a b", "tree s.jsonl --bogus"] {
        let run = scratch.run(line);
        assert!(run.code == 2 && !run.stderr.contains("hint: "), "{line}: {run:?}");
    }
}

#[test]
fn misspelt_words_are_guessed() {
    let scratch = session();
    for (line, guess) in [
        ("tre s.jsonl", "'tree'"),
        ("navigte s.jsonl", "'navigate'"),
        ("tree s.jsonl --serch x", "'--search'"),
        ("tree s.jsonl --filter user", "'user-only'"),
        ("context s.jsonl --format txt", "'text'"),
    ] {
        let run = scratch.run(line);
        assert!(run.code == 2 && run.stderr.contains("  tip: ") && run.stderr.contains(guess), "{run:?}");
        let run = scratch.run(&format!("{line} --json"));
        let error = &objects(&run, line)[0]["error"];
        assert!(error["hint"].as_str().unwrap().contains(&guess.replace('\'', "`")), "{run:?}");
    }
}

#[test]
fn what_is_wrong_with_an_option_is_said_in_words() {
    for (line, expected) in [
        ("branch s.jsonl --without aaaa2222", "`--without` goes with `--all`"),
        ("tree s.jsonl --depth x", "a number of steps is a whole number"),
        ("list --limit x", "it is a whole number from 0 on"),
        ("navigate s.jsonl @~ --summarize --token-budget x", "it is a whole number from 0 on"),
        ("list --sort cost", "`--sort` by cost or messages needs files that are read whole"),
        ("branch s.jsonl --all --anonymize --output new.jsonl", "hint: read it before you share it"),
        ("branch s.jsonl --all --anonymize --output -", "hint: read it before you share it"),
    ] {
        let run = session().run(line);
        assert!(run.stderr.contains(expected) && !run.stderr.contains("goes on there"), "{line}: {run:?}");
    }
}
