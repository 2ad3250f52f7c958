//! Naming a session: each command finds it by its id and as the latest, and a path always wins.
//! Which word names which file is tested beside the rule.

use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use tempfile::TempDir;

use super::message;
use crate::support::{self, Run, data, finish};

/// The id of the session in the home folder.
const ID: &str = "01a22a6f-0000-7000-8000-000000000000";

/// A home with one session, of the folder `shop` in it, where the binary is run.
struct Home(TempDir);

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(home.path("shop")).unwrap();
        fs::create_dir_all(home.file().parent().unwrap()).unwrap();
        fs::write(home.file(), home.session(ID)).unwrap();
        home
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(name)
    }

    fn file(&self) -> PathBuf {
        self.path(".pi/agent/sessions/--shop--/2026-01-01T00-00-00-000Z_x.jsonl")
    }

    fn session(&self, id: &str) -> String {
        let cwd = self.path("shop").display().to_string();
        let header = format!(r#"{{"type":"session","version":3,"id":"{id}","cwd":{}}}"#, Value::from(cwd));
        let entries = [
            message("aaaa1111", "", "user", "one"),
            message("aaaa2222", "aaaa1111", "user", "two"),
            message("aaaa3333", "aaaa2222", "assistant", "three"),
        ];
        format!("{header}\n{}\n", entries.join("\n"))
    }

    fn run(&self, line: &str) -> Run {
        let mut command = support::command();
        command.env("HOME", self.path("")).current_dir(self.path("shop"));
        finish(command.args(line.split_whitespace()))
    }

    /// Returns the error object of a run that must fail.
    fn refuse(&self, line: &str) -> Value {
        let run = self.run(line);
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{line}: {run:?}");
        serde_json::from_str::<Value>(run.stderr.lines().last().unwrap()).unwrap()["error"].take()
    }
}

#[test]
fn every_command_finds_session_by_id_and_latest() {
    let home = Home::new();
    for word in ["latest", "01a2", "01a22a6f", ID] {
        let checked = home.run(&format!("check {word} --diff --json"));
        let by_path = home.run(&format!("check {} --diff --json", home.file().display()));
        assert!(
            checked.stdout.contains("\"written\":false") && checked.stdout == by_path.stdout,
            "{word}: {checked:?}"
        );
        for line in ["tree", "context", "label", "branch", "branch user:1 --dry-run", "navigate @~", "check --why-leaf"]
        {
            let (command, rest) = line.split_once(' ').unwrap_or((line, ""));
            let (named, by_path) = match rest.strip_prefix("--why-leaf") {
                Some(_) => (format!("{line} {word}"), format!("{line} {}", home.file().display())),
                None => (format!("{command} {word} {rest}"), format!("{command} {} {rest}", home.file().display())),
            };
            let (mut named, by_path) = (home.run(&named), home.run(&by_path));
            if line == "context" {
                // It says whose context it is.
                named.stdout = named.stdout.split_once('\n').unwrap().1.to_owned();
            }
            assert_eq!(named.code, 0, "{line} {word}: {named:?}");
            assert!(!by_path.stdout.is_empty() || !by_path.stderr.is_empty() || command == "label", "{line}");
            assert_eq!((named.stdout, named.stderr), (by_path.stdout, by_path.stderr), "{line} {word}");
        }
    }
}

#[test]
fn errors_name_the_file_found() {
    let home = Home::new();
    let file = home.file().display().to_string();
    for line in ["tree latest --leaf zzzz", "context 01a2 --leaf zzzz", "label latest zzzz", "navigate latest zzzz"] {
        let error = home.refuse(&format!("{line} --json"));
        assert_eq!((&error["kind"], &error["path"]), (&"not-found".into(), &file.clone().into()), "{line}");
    }
    let made = home.run("branch latest user:1 --json").json();
    assert_eq!(made["parentSession"], file);
    assert_eq!(PathBuf::from(made["sessionFile"].as_str().unwrap()).parent(), home.file().parent());
}

#[test]
fn writing_commands_name_the_file_found() {
    let home = Home::new();
    let file = home.file().display().to_string();
    let told = home.run("label latest user:1 asked --width 20").ok();
    assert_eq!(told, format!("labelled aaaa2222  …\nin {file}\n"));
    let run = home.run("navigate 01a2 aaaa3333 --save --width 20");
    let text = fs::read_to_string(home.file()).unwrap();
    assert!(run.stdout.contains(&format!("\nin        {file}\n")), "{run:?}");
    assert!(run.stderr.contains(&format!("`pi --session {file}`")), "{run:?}");
    assert!(text.contains("\"asked\"") && text.lines().count() > 4, "{text}");
    // A path that was typed is not printed again.
    assert!(!home.run(&format!("label {file} user:1 again")).ok().contains("jsonl"));
    assert_eq!(home.run("label latest user:1 again --json").json()["path"], file);
    assert_eq!(home.run("navigate latest aaaa2222 --json").json()["path"], file);
    assert!(!home.run("navigate latest aaaa2222").ok().contains("\nin  "));
}

#[test]
fn hints_name_the_agent_that_keeps_the_file() {
    let home = Home::new();
    let kept = home.path(".omp/agent/sessions/w/s.jsonl");
    fs::create_dir_all(kept.parent().unwrap()).unwrap();
    fs::write(&kept, home.session("omp")).unwrap();
    fs::write(home.path("shop/own.jsonl"), home.session("own")).unwrap();
    let slot = "{\"type\":\"title\",\"v\":1,\"title\":\"\",\"updatedAt\":\"\",\"pad\":\"\"}\n";
    fs::write(home.path("shop/slot.jsonl"), slot.to_owned() + &home.session("slot")).unwrap();
    let kept = kept.to_str().unwrap();
    for (file, command) in [("own.jsonl", "pi --session"), ("slot.jsonl", "omp --resume"), (kept, "omp --resume")] {
        let moved = home.run(&format!("navigate {file} aaaa3333 --save"));
        assert!(moved.stderr.contains(&format!("`{command} {file}` goes on here")), "{moved:?}");
        let made = home.run(&format!("branch {file} user:1"));
        let new = made.stdout.trim_end();
        assert!(made.stderr.contains(&format!("`{command} {new}` goes on there")), "{made:?}");
    }
    // The new file is where it is kept, whatever the old one was.
    let made = home.run(&format!("branch own.jsonl user:1 --session-dir {}/..", kept.trim_end_matches("/s.jsonl")));
    assert!(made.stderr.contains("`omp --resume "), "{made:?}");
}

#[test]
fn context_names_the_file_found() {
    let home = Home::new();
    let file = home.file().display().to_string();
    for options in ["", " --stats", " --diff @~1"] {
        let told = home.run(&format!("context latest{options}")).ok();
        assert!(told.starts_with(&format!("session   {file}\n")), "{told}");
        assert!(!home.run(&format!("context {file}{options}")).ok().contains("session"));
    }
    assert!(home.run("context latest --json").ok().starts_with("{\"leafId\":"));
}

#[test]
fn unreadable_candidates_are_warned_about() {
    let home = Home::new();
    let (closed, folder) = (home.file().with_file_name("z.jsonl"), home.path(".pi/agent/sessions/other"));
    fs::write(&closed, home.session("01a22a6f")).unwrap();
    fs::create_dir(&folder).unwrap();
    for path in [&closed, &folder] {
        fs::set_permissions(path, Permissions::from_mode(0o000)).unwrap();
    }
    fs::set_permissions(home.path(""), Permissions::from_mode(0o755)).unwrap();
    let program = home.path("session-tree");
    fs::copy(env!("CARGO_BIN_EXE_session-tree"), &program).unwrap();
    for word in ["latest", "01a22a6f"] {
        let mut command = Command::new(&program);
        command.args(["tree", word]).env_clear().env("HOME", home.path("")).current_dir(home.path("shop"));
        // Root may read everything: then another user asks.
        if rustix::process::geteuid().is_root() {
            command.uid(65534);
        }
        let run = finish(&mut command);
        let expected = format!("no permission to read `{}` and 1 more", closed.display());
        assert!(run.code == 0 && run.stderr.contains(&expected), "{run:?}");
    }
    fs::set_permissions(folder, Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn existing_path_wins_over_id_and_latest() {
    let home = Home::new();
    for name in ["latest", "01a22a6f"] {
        fs::copy(data("demo.jsonl"), home.path("shop").join(name)).unwrap();
        assert!(home.run(&format!("tree {name}")).ok().contains("50 entries"), "{name}");
        fs::remove_file(home.path("shop").join(name)).unwrap();
        fs::create_dir(home.path("shop").join(name)).unwrap();
        let run = home.run(&format!("tree {name} --json"));
        assert_eq!((run.code, run.stdout.as_str()), (2, "[]\n"), "{run:?}");
        assert!(run.stderr.contains(&format!("there is no session in `{name}`")), "{run:?}");
        fs::remove_dir(home.path("shop").join(name)).unwrap();
        std::os::unix::fs::symlink("nowhere", home.path("shop").join(name)).unwrap();
        assert_eq!(home.refuse(&format!("tree {name} --json"))["kind"], "io", "{name}");
    }
    for word in ["01a2.jsonl", "./latest", "x/01a2"] {
        let error = home.refuse(&format!("tree {word} --json"));
        assert_eq!((&error["kind"], &error["path"]), (&"io".into(), &word.into()), "{word}");
    }
    // PATH of `migrate` is only ever a path.
    for line in ["migrate latest --json", "migrate 01a2 --json"] {
        let run = home.run(line);
        assert!(run.code == 2 && !run.stdout.contains("01a22a6f"), "{line}: {run:?}");
    }
}

#[test]
fn unknown_or_ambiguous_session_is_reported() {
    let home = Home::new();
    let error = home.refuse("tree 01a22b --json");
    assert_eq!(error["message"], "there is no file `01a22b`, and no session whose id starts so");
    assert_eq!(error["hint"], format!("did you mean `{ID}`?"));
    assert_eq!(error["kind"], "not-found");
    assert_eq!(home.refuse("check --why-leaf 01a22b --json")["kind"], "not-found");

    fs::write(home.file().with_file_name("copy.jsonl"), home.session(ID)).unwrap();
    let run = home.run("tree 01a2");
    let lines: Vec<_> = run.stderr.lines().collect();
    assert_eq!(lines[0], "error: `01a2` matches 2 sessions:");
    assert!(
        lines[1].starts_with(&format!("  {}", home.path(".pi").display())) && lines[1].ends_with("  one"),
        "{run:?}"
    );
    assert_eq!(lines[3], "hint: they have one id: give a path");

    let mut elsewhere = support::command();
    elsewhere.env("HOME", home.path("")).current_dir(home.path("")).args(["tree", "latest"]);
    let run = finish(&mut elsewhere);
    assert!(
        run.stderr.starts_with(&format!(
            "error: no session belongs to `{}` or a folder above it\n",
            home.path("").display().to_string().trim_end_matches('/')
        )),
        "{run:?}"
    );
    assert!(run.stderr.contains("hint: the newest elsewhere is ") && run.stderr.contains("/shop\n"), "{run:?}");
}

#[test]
fn session_folders_are_from_environment() {
    let home = Home::new();
    fs::create_dir(home.path("mine")).unwrap();
    fs::write(home.path("mine/s.jsonl"), home.session("99998888")).unwrap();
    let mut command = support::command();
    command.env("SESSION_TREE_DIR", home.path("mine")).args(["context", "9999", "--json"]);
    assert_eq!(finish(&mut command).json()["leafId"], "aaaa3333");
}

#[test]
fn hostile_session_names_are_escaped() {
    let home = Home::new();
    let evil = "evil\\u001b[2J\\u202e\\nerror: forged";
    for file in ["one", "two"] {
        let text = home.session(evil).replace("one", evil);
        fs::write(home.file().with_file_name(format!("{file}\u{1b}[2J.jsonl")), text).unwrap();
    }
    for name in ["evil", "evim", "ev\u{1b}il"] {
        let run = home.run(&format!("tree {name}"));
        assert!(run.code == 2 && !run.stderr.contains(['\u{1b}', '\u{202e}']), "{run:?}");
        assert!(!run.stderr.contains("\nerror: forged"), "{run:?}");
    }
}

#[test]
fn every_place_of_a_home_is_looked_into() {
    let home = Home::new();
    let at = |name: &str| home.path(name).display().to_string();
    let write = |name: &str, bytes: &[u8]| {
        fs::create_dir_all(home.path(name).parent().unwrap()).unwrap();
        fs::write(home.path(name), bytes).unwrap();
    };
    let packed = |id: &str| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(home.session(id).as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    // Each place with a session whose id is that of the row.
    let places = [
        "mine/s.jsonl",
        "env/s.jsonl",
        "agent/sessions/w/s.jsonl",
        "by-user/s.jsonl",
        "by-agent/s.jsonl",
        "shop/by-project/s.jsonl",
        ".pi/agent/sessions/w/s.jsonl",
        ".foo/agent/sessions/w/s.jsonl",
        ".omp/agent/sessions/w/s.jsonl",
        ".omp/profiles/work/agent/sessions/w/s.jsonl",
        "data/omp/sessions/w/s.jsonl",
        ".omp/agent/archive/sessions/w/s.jsonl.gz",
        ".omp/agent/archive/sessions/w/deep/er/s.jsonl.gz",
        "agent/archive/sessions/w/s.jsonl.gz",
        "noted/anywhere",
        "noted/by-state.jsonl",
        ".omp/agent/sessions/w/s/0-Explore.jsonl",
        ".omp/agent/sessions/w/s/0-Explore/1-Read.jsonl",
    ];
    let id = |at: usize| format!("{at:04}face-0000");
    for (row, place) in places.iter().enumerate() {
        match place.strip_suffix(".gz") {
            Some(_) => write(place, &packed(&id(row))),
            None => write(place, home.session(&id(row)).as_bytes()),
        }
    }
    write(".pi/agent/settings.json", br#"{"sessionDir":"~/by-user"}"#);
    write("agent/settings.json", format!(r#"{{"sessionDir":"{}"}}"#, at("by-agent")).as_bytes());
    write("shop/.pi/settings.json", br#"{"sessionDir":"by-project"}"#);
    write(".omp/agent/custom-session-files/1", at("noted/anywhere").as_bytes());
    write("state/omp/custom-session-files/1", at("noted/by-state.jsonl").as_bytes());
    fs::create_dir_all(home.path("shop/src")).unwrap();
    for (row, place) in places.iter().enumerate() {
        for folder in ["shop", "shop/src"] {
            let mut command = support::command();
            command.env("HOME", home.path("")).current_dir(home.path(folder));
            for (name, value) in [
                ("SESSION_TREE_DIR", at("mine")),
                ("PI_CODING_AGENT_SESSION_DIR", at("env")),
                ("PI_CODING_AGENT_DIR", at("agent")),
                ("PI_CONFIG_DIR", ".foo".to_owned()),
                ("OMP_PROFILE", "work".to_owned()),
                ("XDG_DATA_HOME", at("data")),
                ("XDG_STATE_HOME", at("state")),
            ] {
                command.env(name, value);
            }
            let run = finish(command.args(["context", &id(row)[..6]]));
            assert!(run.stdout.starts_with(&format!("session   {}\n", at(place))), "{place} from {folder}: {run:?}");
        }
    }
}

#[test]
fn latest_is_that_of_the_nearest_folder_and_what_is_shown_without_a_name() {
    let home = Home::new();
    fs::create_dir_all(home.path("shop/src/cart")).unwrap();
    let bare = home.session("bare").lines().next().unwrap().to_owned();
    fs::write(home.file().with_file_name("bare.jsonl"), bare).unwrap();
    let run = |folder: &str, line: &str| {
        let mut command = support::command();
        command.env("HOME", home.path("")).current_dir(home.path(folder));
        finish(command.args(line.split_whitespace()))
    };
    let file = home.file().display().to_string();
    for folder in ["shop", "shop/src", "shop/src/cart"] {
        // The path is whole however narrow the screen is.
        for line in ["context latest", "context --width 20", "context --stats"] {
            assert!(run(folder, line).ok().starts_with(&format!("session   {file}\n")), "{folder} {line}");
        }
        assert_eq!(run(folder, "tree").ok(), run(folder, &format!("tree {file}")).ok(), "{folder}");
    }
    // Other commands have to be told.
    for command in ["label", "branch", "navigate", "check"] {
        assert_eq!(run("shop", command).code, 2, "{command}");
    }
    assert!(run("", "tree").stderr.starts_with("error: no session belongs to "));
    let nowhere = finish(support::command().env("HOME", home.path("shop")).current_dir(home.path("shop")).arg("tree"));
    assert!(
        nowhere.stderr.contains("/.pi/agent/sessions, ") && nowhere.stderr.contains(" do not exist: "),
        "{nowhere:?}"
    );
}

#[test]
fn current_session_is_that_of_the_agent_that_runs_the_command() {
    let home = Home::new();
    fs::write(home.path("shop/own.jsonl"), home.session("own")).unwrap();
    let own = home.path("shop/own.jsonl").display().to_string();
    let run = |variables: &[(&str, &str)], line: &str| {
        let mut command = support::command();
        command.env("HOME", home.path("")).current_dir(home.path("shop")).envs(variables.iter().copied());
        finish(command.args(line.split_whitespace()))
    };
    let (by_file, by_id) = (("PI_SESSION_FILE", &*own), ("PI_SESSION_ID", ID));
    for (variables, file) in [
        (vec![by_file], own.clone()),
        (vec![by_id], home.file().display().to_string()),
        (vec![by_id, by_file], own.clone()),
    ] {
        assert!(run(&variables, "context current").ok().starts_with(&format!("session   {file}\n")), "{variables:?}");
        let told = run(&variables, "label current @ here").ok();
        assert!(told.ends_with(&format!("\nin {file}\n")), "{told}");
    }
    let missing = run(&[("PI_SESSION_FILE", "/gone.jsonl")], "tree current");
    assert_eq!(missing.stderr, "error: /gone.jsonl: cannot open: it does not exist\n");
    let start = run(&[("PI_SESSION_ID", &ID[..8])], "tree current");
    let told = format!("error: `current` is unknown: no session has the id of PI_SESSION_ID, `{}`\n", &ID[..8]);
    assert!(start.code == 2 && start.stderr.starts_with(&told), "{start:?}");
    // A file, not standard input.
    let dash = [("PI_SESSION_FILE", "-")];
    assert_eq!(run(&dash, "tree current").stderr, "error: ./-: cannot open: it does not exist\n");
    fs::write(home.path("shop/-"), home.session("dash")).unwrap();
    assert!(run(&dash, "label current @ here").ok().ends_with("\nin ./-\n"));
    for variables in [&[][..], &[("PI_SESSION_FILE", ""), ("PI_SESSION_ID", "")]] {
        assert!(run(variables, "tree current").stderr.starts_with("error: no session is current: "));
    }
}

#[test]
fn a_name_without_its_ending_is_hinted_at() {
    let home = Home::new();
    fs::write(home.path("shop/demo.jsonl"), home.session("own")).unwrap();
    for line in ["tree demo", "tree ./demo", "check demo", "label demo @ x", "migrate demo"] {
        let run = home.run(line);
        let word = if line.contains("./") { "./demo.jsonl" } else { "demo.jsonl" };
        assert!(run.code == 2 && run.stderr.contains(&format!("hint: did you mean `{word}`?")), "{line}: {run:?}");
    }
}
