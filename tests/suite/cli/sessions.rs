//! `list`: which sessions are listed, in which order and form, and what they come to. How families are found
//! and entries counted is tested beside the rules.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

use serde_json::Value;

use super::{Scratch, entry, message};
use crate::profile::store;
use crate::support::{self, Run, finish};

/// Writes a session into a folder, last written in a second of 1970; its header has these members too.
fn write(scratch: &Scratch, name: &str, second: u64, members: &str, entries: &[String]) -> PathBuf {
    let path = scratch.path(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let header = format!(r#"{{"type":"session","version":3,"timestamp":"2026-01-01T00:00:00.000Z",{members}}}"#);
    fs::write(&path, format!("{header}\n{}\n", entries.join("\n"))).unwrap();
    File::options().append(true).open(&path).unwrap().set_modified(UNIX_EPOCH + Duration::from_secs(second)).unwrap();
    path
}

/// Two sessions, the fork of one, and its fork; the ids are short and start alike.
fn family() -> Scratch {
    let scratch = Scratch::new::<&str>(&[]);
    let prompt = |text: &str| vec![message("u1", "", "user", text)];
    write(
        &scratch,
        "d/2026_aaaa1111.jsonl",
        10,
        r#""id":"aaaa1111","cwd":"/home/mia/shop""#,
        &prompt("build the shop"),
    );
    write(&scratch, "d/b.jsonl", 40, r#""id":"bbbb1111","cwd":"/home/mia/bank""#, &prompt("count"));
    write(
        &scratch,
        "d/c.jsonl",
        30,
        r#""id":"cccc1111","cwd":"/home/mia/shop","parentSession":"aaaa1111""#,
        &prompt("fork"),
    );
    let named = r#""id":"cccc2222","cwd":"/home/mia/shop","parentSession":"/gone/2026_aaaa1111.jsonl","title":"Named""#;
    write(&scratch, "d/e.jsonl", 50, named, &prompt("x"));
    write(&scratch, "d/e/0-look.jsonl", 20, r#""id":"eeee1111","cwd":"/home/mia/shop""#, &prompt("look around"));
    scratch
}

/// Returns the ids of rows, in their order.
fn ids(run: &Run) -> String {
    let rows = run.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    rows.map(|row| row["sessionId"].as_str().unwrap_or("-").to_owned()).collect::<Vec<_>>().join(" ")
}

#[test]
fn forks_stand_below_their_parents_and_a_family_where_its_newest_session_does() {
    let expected = "\
aaaa1111  1970-01-01 00:00  246 B  ~/shop  build the shop
cccc2222  1970-01-01 00:00  293 B  ~/shop  └─ Named
eeee1111  1970-01-01 00:00  243 B  ~/shop     └─ look around
cccc1111  1970-01-01 00:00  263 B  ~/shop  └─ fork
bbbb1111  1970-01-01 00:00  237 B  ~/bank  count
";
    let scratch = family();
    let run = scratch.run("list d");
    assert_eq!((run.stdout.as_str(), run.stderr.as_str(), run.code), (expected, "", 0));
    let words = scratch.run("list d --plain-rows").ok();
    let forks = words.lines().skip(1).take(2).collect::<Vec<_>>().join("\n");
    assert_eq!(
        forks,
        "cccc2222, 1970-01-01 00:00, 293 B, ~/shop, fork, depth 1: Named\n\
         eeee1111, 1970-01-01 00:00, 243 B, ~/shop, fork, depth 2: look around"
    );
    for (args, expected) in [
        ("", "aaaa1111 cccc2222 eeee1111 cccc1111 bbbb1111"),
        ("--flat", "cccc2222 bbbb1111 cccc1111 eeee1111 aaaa1111"),
        ("--sort size", "cccc2222 cccc1111 aaaa1111 eeee1111 bbbb1111"),
        ("--limit 2", "aaaa1111 cccc2222"),
        ("--flat --limit 2", "cccc2222 bbbb1111"),
        ("--since 1970-01-01T00:00:30Z", "cccc2222 cccc1111 bbbb1111"),
        ("--until 1970-01-01T00:00:30Z", "aaaa1111 cccc1111 eeee1111"),
        ("--family d/c.jsonl", "aaaa1111 cccc2222 eeee1111 cccc1111"),
        ("--family d/b.jsonl", "bbbb1111"),
        ("--search fork", "cccc1111"),
        // The words of one entry, or the name.
        ("--search SHOP", "aaaa1111"),
        ("--search named", "cccc2222"),
    ] {
        let run = scratch.run(&format!("list d --format jsonl {args}"));
        assert_eq!((ids(&run).as_str(), run.code), (expected, 0), "{args}: {run:?}");
    }
    let none = scratch.run("list d --search fork-shop");
    let hint = "hint: no session that was searched has all the words: fork-shop\n";
    assert_eq!((none.stdout.as_str(), none.stderr.as_str(), none.code), ("", hint, 1));
    let hit = scratch.run("list d --search fork");
    assert_eq!(hit.stderr, "hint: `session-tree tree d/c.jsonl --search fork` shows where\n");
    assert_eq!(scratch.run("list d --search fork --format path").stderr, "");
    let missing = scratch.run("list --search fork shop");
    assert_eq!((missing.stdout.as_str(), missing.code), ("", 2));
    assert!(missing.stderr.ends_with("hint: several words to search for are one argument: `--search 'fork shop'`\n"));
    fs::create_dir(scratch.path("none")).unwrap();
    let empty = scratch.run("list none");
    assert!(empty.code == 0 && empty.stderr.starts_with("hint: without a PATH "), "{empty:?}");
    let empty = scratch.run("tree none --search x");
    assert!(empty.code == 2 && empty.stderr.contains("hint: agents keep sessions in folders"), "{empty:?}");
}

#[test]
fn rows_for_programs_have_what_the_ends_of_the_file_say() {
    let scratch = family();
    let rows = scratch.run("list d/e.jsonl d/2026_aaaa1111.jsonl --json").json();
    let expected = serde_json::json!({
        "path": "d/e.jsonl", "sessionId": "cccc2222", "parentSession": "/gone/2026_aaaa1111.jsonl",
        "parentPath": "d/2026_aaaa1111.jsonl", "title": "Named", "firstPrompt": "x", "cwd": "/home/mia/shop",
        "version": 3, "created": "2026-01-01T00:00:00.000Z", "written": "1970-01-01T00:00:50.000Z", "size": 293,
    });
    assert_eq!((&rows[1], rows.as_array().unwrap().len()), (&expected, 2));
    assert_eq!((&rows[0]["sessionId"], rows[0].get("parentPath")), (&Value::from("aaaa1111"), None));
    assert_eq!(scratch.run("list none-such-folder --json").code, 2);
    fs::create_dir(scratch.path("empty")).unwrap();
    assert_eq!(scratch.run("list empty --json").ok(), "[]\n");
}

#[test]
fn paths_are_printed_for_other_programs() {
    let scratch = family();
    fs::write(scratch.path("names"), "d/e.jsonl\0d/c.jsonl\0").unwrap();
    assert_eq!(scratch.run("list --files-from names --format path --flat").ok(), "d/e.jsonl\nd/c.jsonl\n");
    assert_eq!(scratch.run("list d/b.jsonl --format path --null").ok(), "d/b.jsonl\0");
    assert_eq!(scratch.run("list d --null").code, 2);
    assert_eq!(scratch.run("list d --sort cost").code, 2);
}

#[test]
fn what_cannot_be_read_is_listed_and_the_others_too() {
    let scratch = family();
    fs::write(scratch.path("d/bad.jsonl"), "{\"type\":\"session\",\"version\":3}\n").unwrap();
    fs::write(scratch.path("d/empty.jsonl"), "").unwrap();
    fs::write(scratch.path("d/other.jsonl"), "{\"type\":\"summary\",\"leafUuid\":\"x\"}\n").unwrap();
    fs::write(scratch.path("d/text.jsonl"), "some text\n").unwrap();
    let run = scratch.run("list d --format jsonl");
    assert_eq!((ids(&run).split(' ').count(), run.code), (6, 0), "{run:?}");
    let bad = run.stdout.lines().find(|line| line.contains("bad.jsonl")).unwrap();
    let bad: Value = serde_json::from_str(bad).unwrap();
    assert_eq!((&bad["problem"]["kind"], &bad["sessionId"]), (&Value::from("not-a-session"), &Value::Null));
    let warnings: Vec<Value> = run.stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<_> = warnings.iter().map(|line| line["warning"]["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["foreign-format", "unreadable"]);
    let message = warnings[0]["warning"]["message"].as_str().unwrap();
    assert!(
        message.starts_with("3 files of other formats passed over (1 claude-code, 1 empty, 1 unknown)"),
        "{message}"
    );
    // What is named is an error, however it came about; a search neither lists it nor forgets it.
    for name in ["d/bad.jsonl", "d/empty.jsonl", "d/text.jsonl", "gone.jsonl"] {
        // There is no row of what is not there.
        let expected = if name == "gone.jsonl" { ["bbbb1111"; 2] } else { ["bbbb1111 -", "- bbbb1111"] };
        let run = scratch.run(&format!("list d/b.jsonl {name} --format jsonl"));
        assert!(expected.contains(&ids(&run).as_str()) && run.code == 2, "{name}: {run:?}");
        assert!(run.stderr.contains("{\"error\":{"), "{run:?}");
    }
    let run = scratch.run("list d --search count --format jsonl");
    assert_eq!((ids(&run).as_str(), run.code), ("bbbb1111", 0));
    assert!(run.stderr.contains("unreadable"), "{run:?}");
    assert_eq!(scratch.run("list d --search nowhere").code, 1);
    assert_eq!(scratch.run("list d d/bad.jsonl --search nowhere").code, 2);
}

#[test]
fn a_file_is_listed_once_by_all_of_its_names() {
    let scratch = family();
    std::os::unix::fs::symlink(scratch.path("d/b.jsonl"), scratch.path("d/link.jsonl")).unwrap();
    assert_eq!(ids(&scratch.run("list d d/link.jsonl d/b.jsonl --format jsonl")).matches("bbbb").count(), 1);
}

#[test]
fn sessions_are_those_held_here_else_in_the_nearest_folder_above() {
    let scratch = Scratch::new::<&str>(&[]);
    let root = scratch.path("").canonicalize().unwrap();
    for (name, second, cwd) in [("a", 1, "shop"), ("b", 2, "shop/sub"), ("c", 3, "bank")] {
        let members = format!(r#""id":"{name}{name}{name}{name}","cwd":"{}""#, root.join(cwd).display());
        let file = format!(".pi/agent/sessions/--{name}--/{name}.jsonl");
        write(&scratch, &file, second, &members, &[message("u1", "", "user", name)]);
    }
    fs::create_dir_all(scratch.path("shop/sub/deep/er")).unwrap();
    let run = |cwd: &str, args: &str| {
        let mut command = support::command();
        command.env("HOME", &root).current_dir(root.join(cwd));
        finish(command.args("list --format jsonl".split(' ')).args(args.split_whitespace()))
    };
    for (cwd, args, expected) in [
        ("shop", "", "aaaa"),
        ("shop/sub", "", "bbbb"),
        ("shop/sub/deep/er", "", "bbbb"),
        ("", "", ""),
        ("", "--all", "cccc bbbb aaaa"),
        ("", "--family aaaa", "aaaa"),
    ] {
        let run = run(cwd, args);
        assert_eq!((ids(&run).as_str(), run.code), (expected, 0), "{cwd} {args}: {run:?}");
    }
}

/// Runs the binary in a folder that is its home; as another user, if this one may read everything.
fn run_as_reader(scratch: &Scratch, args: &[&str]) -> Run {
    let root = scratch.path("").canonicalize().unwrap();
    fs::set_permissions(&root, Permissions::from_mode(0o755)).unwrap();
    let program = root.join("session-tree");
    fs::copy(env!("CARGO_BIN_EXE_session-tree"), &program).unwrap();
    let mut command = Command::new(program);
    command.args(args).env_clear().env("HOME", &root).current_dir(&root);
    if rustix::process::geteuid().is_root() {
        command.uid(65534);
    }
    finish(&mut command)
}

#[test]
fn what_may_not_be_read_is_warned_of() {
    let scratch = family();
    let root = scratch.path("").canonicalize().unwrap();
    let members = format!(r#""id":"aaaa","cwd":"{}""#, root.display());
    write(&scratch, ".pi/agent/sessions/x/a.jsonl", 1, &members, &[]);
    let shut = [".pi/agent/sessions/x/shut.jsonl", "d/shut"];
    fs::write(root.join(shut[0]), "").unwrap();
    fs::create_dir(root.join(shut[1])).unwrap();
    for path in shut {
        fs::set_permissions(root.join(path), Permissions::from_mode(0o000)).unwrap();
    }
    // Whether it belongs to this folder is in it.
    let run = run_as_reader(&scratch, &["list", "--format", "jsonl"]);
    assert_eq!((ids(&run).as_str(), run.code), ("aaaa", 0), "{run:?}");
    assert!(run.stderr.contains("\"passed-over\"") && run.stderr.contains("1 file cannot be read"), "{run:?}");
    let run = run_as_reader(&scratch, &["list", "d", "--format", "jsonl"]);
    assert_eq!((ids(&run).split(' ').count(), run.code), (6, 0), "{run:?}");
    assert!(run.stderr.contains("unreadable") && run.stderr.contains("d/shut"), "{run:?}");
    let run = run_as_reader(&scratch, &["list", "d", "--format", "path"]);
    assert_eq!((run.stdout.lines().count(), run.stdout.contains("shut"), run.code), (5, false, 0), "{run:?}");
    // Every command that takes folders warns of it, and goes on.
    for args in [&["tree", "d", "-q"][..], &["tree", "d"], &["context", "d", "--stats"]] {
        let run = run_as_reader(&scratch, args);
        let warned = run.stderr.contains("warning: d/shut: cannot ");
        assert_eq!((run.code, warned, run.stdout.is_empty()), (0, !args.contains(&"-q"), false), "{run:?}");
        let run = run_as_reader(&scratch, &[args, &["d/shut"]].concat());
        assert_eq!((run.code, run.stderr.contains("error: d/shut: cannot ")), (2, true), "{run:?}");
    }
    let run = run_as_reader(&scratch, &["list", "d/shut", "d/b.jsonl", "--format", "jsonl"]);
    assert_eq!((ids(&run).split(' ').count(), run.code), (2, 2), "{run:?}");
    fs::set_permissions(root.join(shut[1]), Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_long_list_has_totals_and_sums_count_shared_entries_once() {
    let scratch = Scratch::new::<&str>(&[]);
    let answer = |id: &str, parent: &str, cost: &str| {
        let usage = format!(r#""provider":"p","model":"m","usage":{{"input":5,"output":5,"cost":{{"total":{cost}}}}}"#);
        entry("message", id, parent, &format!(r#""message":{{"role":"assistant","content":"yes",{usage}}}"#))
    };
    let shared = |cost| vec![message("u1", "", "user", "build"), answer("a1", "u1", cost)];
    write(&scratch, "d/a.jsonl", 1, r#""id":"aaaa1111""#, &[shared("0.5"), vec![answer("a2", "a1", "1")]].concat());
    let fork = r#""id":"bbbb1111","parentSession":"aaaa1111""#;
    write(
        &scratch,
        "d/b.jsonl",
        2,
        fork,
        &[shared("0"), vec![answer("a3", "a1", "2"), answer("a4", "u1", "4")]].concat(),
    );
    let expected = "\
id        written (UTC)     size   entries  messages  branches  turns  cost     models  title
aaaa1111  1970-01-01 00:00  632 B        3         3         1      1  $1.5000  p/m     build
bbbb1111  1970-01-01 00:00  865 B        4         4         2      1  $6.0000  p/m     └─ build
2 sessions: 5 entries, 5 messages, 1 turn, 40 tokens, $7.5000; what forks share counts once
";
    let table = scratch.run("list d --long --format table").ok();
    let cells =
        |text: &str| text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>();
    assert_eq!(cells(&table), cells(expected));
    let rows = scratch.run("list d --long --json").json();
    let usage = |name: &str, row: usize| {
        (rows[row][name]["totalTokens"].as_u64().unwrap(), rows[row][name]["cost"].as_f64().unwrap())
    };
    assert_eq!((usage("usage", 1), usage("ownUsage", 1)), ((30, 6.0), (20, 6.0)));
    assert_eq!((usage("usage", 0), usage("ownUsage", 0)), ((20, 1.5), (20, 1.5)));
    assert_eq!(ids(&scratch.run("list d --long --sort cost --format jsonl --limit 1")), "bbbb1111");
    // Alone, all of it is its own.
    assert_eq!(scratch.run("list d/b.jsonl --long --json").json()[0]["ownUsage"]["totalTokens"], 30);
}

/// `omp18.jsonl` is what omp 18.2.3 makes of `parent.jsonl` for `/tan`, by `SessionManager.forkFrom` with
/// `resetInheritedCost`: the entries with the tokens and without the costs. Its other forks, those of omp 13, and
/// pi's keep the costs.
#[test]
fn a_fork_in_which_omp_set_the_costs_to_0_counts_those_of_its_parent() {
    let folder = support::data("forks");
    let list = |args: &[&str]| {
        let mut command = support::command();
        finish(command.current_dir(&folder).arg("list").args(args).args(["--long", "--flat", "--format", "jsonl"]))
            .json_lines()
    };
    let usage =
        |row: &Value, name: &str| [row[name]["totalTokens"].as_f64().unwrap(), row[name]["cost"].as_f64().unwrap()];
    let rows = list(&["parent.jsonl", "omp18.jsonl", "--sort", "created"]);
    let names: Vec<_> = rows.iter().map(|row| row["path"].as_str().unwrap()).collect();
    assert_eq!(names, ["omp18.jsonl", "parent.jsonl"]);
    // Its header names the id of its parent.
    assert_eq!(rows[0]["parentPath"], "parent.jsonl");
    assert_eq!([usage(&rows[0], "usage"), usage(&rows[0], "ownUsage")], [[40.0, 0.0], [0.0, 0.0]]);
    assert_eq!([usage(&rows[1], "usage"), usage(&rows[1], "ownUsage")], [[40.0, 0.7], [40.0, 0.7]]);
    // Where the parent is not listed, nothing else is known.
    assert_eq!(usage(&list(&["omp18.jsonl"])[0], "ownUsage"), [40.0, 0.0]);
}

#[test]
fn sums_of_a_made_up_store_are_exact_to_the_entry() {
    let folder = tempfile::tempdir().unwrap();
    let (_, truth) = store::write(folder.path(), 7, store::FAMILY + 20, store::Turns::Short).unwrap();
    let list = |args: &str| {
        let mut command = support::command();
        finish(command.arg("list").arg(folder.path()).args(args.split_whitespace())).ok()
    };
    let (dollars, rest) = (truth.thousandths / 1000, truth.thousandths % 1000);
    let expected = format!(
        "{} sessions: {} entries, {} messages, {} turns, {} tokens, ${dollars}.{rest:03}0; what forks share counts once",
        truth.sessions, truth.entries, truth.entries, truth.turns, truth.tokens
    );
    assert_eq!(list("--long").lines().last(), Some(expected.as_str()));
    assert_eq!(list("--long --jobs 1 --sort size").lines().last(), Some(expected.as_str()));
    let rows: Vec<Value> =
        list("--long --format jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let sum = |name: &str| rows.iter().map(|row| row[name]["totalTokens"].as_u64().unwrap()).sum::<u64>();
    assert_eq!(sum("ownUsage"), truth.tokens);
    assert!(sum("usage") > truth.tokens * 3 / 2, "many entries are copies");
}

#[test]
fn a_search_finds_the_sessions_in_which_tree_finds_something() {
    let folder = tempfile::tempdir().unwrap();
    store::write(folder.path(), 3, 4, store::Turns::Short).unwrap();
    for name in ["000-v3-omp", "002-v3-omp-weird", "005-v3-pi-weird", "003-v2-omp", "004-v1-omp", "024-v1-omp"] {
        let name = format!("{name}.jsonl");
        fs::copy(support::data(&format!("golden/{name}")), folder.path().join(name)).unwrap();
    }
    let run = |args: &[&str]| finish(support::command().args(args));
    let all = run(&["list", folder.path().to_str().unwrap(), "--format", "path"]).ok();
    for text in [
        "user",
        "custom",
        "read",
        "naïve",
        "the retry",
        "12k",
        "assistant: ",
        "no content",
        "plan",
        "deadline",
        "[bash",
        "zzz",
        "e",
    ] {
        let expected: Vec<_> =
            all.lines().filter(|path| run(&["tree", path, "--search", text, "--quiet"]).code == 0).collect();
        let found = run(&["list", folder.path().to_str().unwrap(), "--format", "path", "--search", text]);
        let mut found: Vec<_> = found.stdout.lines().collect();
        // Their names hold words too.
        found.retain(|path| expected.contains(path) || run(&["tree", path, "--search", text]).code == 0);
        let sorted = |mut paths: Vec<&str>| {
            paths.sort_unstable();
            paths.join("\n")
        };
        assert_eq!(sorted(found), sorted(expected), "{text}");
    }
}

#[test]
fn the_ends_of_a_file_say_what_all_of_it_says() {
    // Names in the middle of long files are not found, and these are short.
    for folder in ["cases", "golden", "check", "sent"] {
        let folder = support::data(folder);
        let rows = |args: &str| {
            let mut command = support::command();
            finish(command.arg("list").arg(&folder).args(args.split_whitespace())).json_lines()
        };
        let (ends, whole) = (rows("--format jsonl"), rows("--format jsonl --long"));
        assert!(ends.len() > 1 && ends.len() == whole.len(), "{}", folder.display());
        for (ends, whole) in ends.iter().zip(&whole) {
            for (key, value) in ends.as_object().unwrap() {
                assert_eq!(value, &whole[key], "{}: {key}", ends["path"]);
            }
        }
    }
}

#[test]
fn a_long_session_is_known_by_its_ends() {
    let filler = |id: &str, parent: &str| entry("custom", id, parent, &format!(r#""data":"{}""#, "x".repeat(300_000)));
    let name = |id: &str, name: &str| entry("session_info", id, "f1", &format!(r#""name":"{name}""#));
    let entries = [
        name("n1", "old"),
        filler("f1", "n1"),
        message("u1", "f1", "user", "build"),
        filler("f2", "u1"),
        name("n2", "new\\nname"),
    ];
    let row = |scratch: &Scratch| scratch.run("list s.jsonl --json").json()[0].take();
    let found = row(&Scratch::new(&entries));
    assert_eq!((&found["title"], &found["firstPrompt"]), (&Value::from("new name"), &Value::from("build")));
    // The last name near the end counts, else the one near the start; in the middle none is found.
    assert_eq!(row(&Scratch::new(&entries[..4]))["title"], "old");
    let middle = [filler("f1", ""), name("n1", "x"), filler("f2", "n1")];
    assert_eq!(row(&Scratch::new(&middle))["title"], Value::Null);
    let late = [
        filler("f1", ""),
        filler("f2", "f1"),
        filler("f3", "f2"),
        filler("f4", "f3"),
        message("u1", "f4", "user", "x"),
    ];
    assert_eq!(row(&Scratch::new(&late))["firstPrompt"], Value::Null);
}

#[test]
fn a_header_of_megabytes_is_read_to_its_end_as_far_as_a_first_line_may_go() {
    let scratch = Scratch::new::<&str>(&[]);
    let title = "Spring ".repeat(300_000);
    for members in [format!(r#""id":"aaaa1111","title":"{title}""#), format!(r#""title":"{title}","id":"aaaa1111""#)] {
        let path = write(&scratch, "d/a.jsonl", 1, &members, &[message("u1", "", "user", "build")]);
        for options in ["--format jsonl", "--format jsonl --long"] {
            let run = scratch.run(&format!("list d {options}"));
            assert_eq!((ids(&run).as_str(), run.code, run.stderr.as_str()), ("aaaa1111", 0, ""), "{options}");
            assert!(run.stdout.contains(r#""firstPrompt":"build""#), "{options}");
        }
        assert!(scratch.run("list d --long").ok().contains("1 session: 1 entry"));
        // Other members may come first.
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replacen(r#"{"type":"session","#, r#"{"version":3,"type":"session","#, 1)).unwrap();
        assert_eq!(ids(&scratch.run("list d --format jsonl")), "aaaa1111");
        // A line that is damaged after its first megabytes is so called.
        fs::write(&path, text.replacen("Spring \"", "Spring \u{1}\"", 1)).unwrap();
        assert!(scratch.run("list d").stderr.contains("its header line is damaged"));
    }
    let slot =
        format!("{{\"type\":\"title\",\"v\":1,\"title\":\"x\",\"updatedAt\":\"\",\"pad\":\"{}\"}}\n", " ".repeat(200));
    fs::write(scratch.path("d/a.jsonl"), slot + r#"{"type":"session","id":""#).unwrap();
    File::options().append(true).open(scratch.path("d/a.jsonl")).unwrap().set_len(65 * 1024 * 1024).unwrap();
    let run = scratch.run("list d");
    assert!(run.code == 0 && run.stderr.contains("its header does not end in its first 64 MiB"), "{}", run.stderr);
}

#[test]
fn pipes_are_not_waited_for() {
    let scratch = Scratch::new::<&str>(&[]);
    let made = std::process::Command::new("mkfifo").arg(scratch.path("pipe.jsonl")).status().unwrap();
    assert!(made.success());
    let run = scratch.run("list pipe.jsonl");
    assert!(run.code == 2 && run.stderr.contains("not a regular file"), "{run:?}");
}

#[test]
fn long_rows_have_headings_and_keep_folder_and_time_where_numbers_have_no_room() {
    let scratch = family();
    let headings = |width: usize| {
        let out = scratch.run(&format!("list d --long --width {width}")).ok();
        out.lines()
            .next()
            .unwrap()
            .split("  ")
            .map(str::trim)
            .filter(|name| !name.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(headings(200), "id written (UTC) size entries messages branches turns cost models folder title");
    assert_eq!(headings(70), "id written (UTC) turns cost folder title");
    assert_eq!(headings(52), "id written (UTC) folder title");
}

#[test]
fn forks_of_one_minute_have_ids_that_can_be_typed() {
    let scratch = Scratch::new::<&str>(&[]);
    for (name, id) in [("a", "01a23029-aa12-7000"), ("b", "01a23029-a912-7000")] {
        let entries = [message("u1", "", "user", name), message("a1", "u1", "assistant", "yes")];
        let members = format!(r#""id":"{id}","cwd":"/shop""#);
        write(&scratch, &format!(".pi/agent/sessions/x/{name}.jsonl"), 1, &members, &entries);
    }
    let root = scratch.path("s.jsonl").parent().unwrap().to_owned();
    let home = |args: &str| {
        let mut command = support::command();
        finish(command.env("HOME", &root).current_dir(&root).args(args.split(' ')))
    };
    let stats = home("context --stats .pi").ok();
    let shown: Vec<_> = stats.lines().skip(1).take(2).map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(shown, ["01a23029-aa", "01a23029-a9"]);
    let trees = home("tree .pi").ok();
    assert!(shown.iter().all(|id| trees.contains(&format!("  {id}  "))), "{trees}");
    let refused = home("tree 01a23029").stderr;
    for id in shown {
        assert!(refused.contains(&format!("\n  {id}  ")), "{refused}");
        assert_eq!(home(&format!("tree {id}")).code, 0, "{id}");
    }
    // Who named it by an id is told how to go back by it.
    let moved = home("navigate 01a23029-aa u1 --exact --save").stderr;
    assert!(moved.contains("`session-tree navigate 01a23029-aa12-7000 a1 --save` goes back"), "{moved}");
    let context = home("context 01a23029-aa --width 20").ok();
    assert!(context.starts_with("session   ~/.pi/agent/sessions/x/a.jsonl\n"), "{context}");
}

#[test]
fn a_stream_is_listed_as_its_file_would_be() {
    let scratch = family();
    let folder = tempfile::tempdir().unwrap();
    store::write(folder.path(), 5, 3, store::Turns::WithTools).unwrap();
    let long = [
        entry("custom", "f1", "", &format!(r#""data":"{}""#, "x".repeat(20_000))),
        message("u1", "f1", "user", "late"),
        entry("custom", "f2", "u1", &format!(r#""data":"{}""#, "x".repeat(1_100_000))),
        entry("session_info", "n1", "f2", r#""name":"Ended""#),
    ];
    let long = write(&scratch, "d/long.jsonl", 60, r#""id":"dddd1111""#, &long);
    let mut files: Vec<_> = scratch.run("list d --format path").stdout.lines().map(|path| scratch.path(path)).collect();
    assert!(files.iter().any(|file| file.ends_with("d/long.jsonl")), "{}", long.display());
    let made = finish(support::command().arg("list").arg(folder.path()).args(["--format", "path"])).ok();
    files.extend(made.lines().map(PathBuf::from));
    for file in &files {
        let bytes = fs::read(file).unwrap();
        for options in ["--json", "--json --long", "--json --search e", "--format jsonl --long --search x"] {
            let name = file.to_str().unwrap();
            let of_file = finish(support::command().args(["list", name]).args(options.split(' ')));
            let stream = ["list", "-", "--stdin-name", name].into_iter().chain(options.split(' '));
            let of_stream = support::run_with_input(stream, &bytes);
            let written = |text: &str| text.split_once(r#""written":"#).map(|(_, rest)| rest[..4].to_owned());
            let expected = match written(&of_file.stdout) {
                Some(_) => {
                    let (before, rest) = of_file.stdout.split_once(r#""written":""#).unwrap();
                    format!(r#"{before}"written":null{}"#, rest.split_once('"').unwrap().1)
                }
                None => of_file.stdout.clone(),
            };
            assert_eq!((of_stream.stdout, of_stream.code), (expected, of_file.code), "{name} {options}");
        }
    }
}

#[test]
fn a_stream_is_one_of_the_files_that_are_listed() {
    let scratch = family();
    let input = fs::read(scratch.path("d/c.jsonl")).unwrap();
    let run = |args: &str, input: &[u8]| {
        fs::write(scratch.path("input"), input).unwrap();
        finish(scratch.command(args.split(' ')).stdin(File::open(scratch.path("input")).unwrap()))
    };
    // Below the parent that is named by its id; a stream has no time.
    let listed = run("list - d/2026_aaaa1111.jsonl d/b.jsonl --format jsonl", &input);
    assert_eq!((ids(&listed).as_str(), listed.code), ("bbbb1111 aaaa1111 cccc1111", 0), "{listed:?}");
    assert_eq!(ids(&run("list - d/2026_aaaa1111.jsonl --family - --format jsonl", &input)), "aaaa1111 cccc1111");
    assert_eq!(run("list - --format path", &input).ok(), "-\n");
    assert_eq!(run("list - --format path --stdin-name d/c.jsonl", &input).ok(), "d/c.jsonl\n");
    assert_eq!(run("list - --search zzz", &input).code, 1);
    assert_eq!(run("list - --since 1970-01-01", &input).ok(), "");
    // What is no session is a row with its problem, and the others are listed.
    let bad = run("list d/b.jsonl - --stdin-name word --long --format jsonl", b"text\n");
    assert_eq!((ids(&bad).as_str(), bad.code), ("bbbb1111 -", 2), "{bad:?}");
    let [row, error] = [bad.stdout.lines().last().unwrap(), bad.stderr.trim_end()];
    let [row, error] = [row, error].map(|line| serde_json::from_str::<Value>(line).unwrap());
    assert_eq!([&row["path"], &row["problem"]["kind"]], ["word", "not-a-session"]);
    assert_eq!([&row["size"], &row["written"]], [&Value::from(5), &Value::Null]);
    assert_eq!([&error["error"]["path"], &error["error"]["kind"]], ["word", "not-a-session"]);
    assert!(!bad.stderr.contains("takes files and folders only"), "{bad:?}");
    for args in ["list d --stdin-name x", "list --stdin-name x", "list --all --stdin-name x"] {
        assert_eq!(scratch.run(args).code, 2, "{args}");
    }
}
