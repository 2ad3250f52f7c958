//! `check` from the shell: forms of output, exit codes, what is denied, allowed and known.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::Stdio;

use rustix::fs::{CWD, FileType, Mode};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::support::{Run, command, data, finish, run, run_with_input};

/// Makes a folder with a sound, a suspicious and a damaged file.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let cases = data("cases");
    fs::copy(data("check/healthy.jsonl"), folder.path().join("a.jsonl")).unwrap();
    fs::copy(cases.join("c30-two-writers.jsonl"), folder.path().join("b.jsonl")).unwrap();
    fs::copy(cases.join("c24-orphan-parent.jsonl"), folder.path().join("c.jsonl")).unwrap();
    folder
}

fn check(folder: &Path, args: &[&str]) -> Run {
    finish(command().current_dir(folder).arg("check").args(args))
}

fn rows(run: &Run) -> Vec<Value> {
    run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn text_output_names_file_line_effect_and_fix() {
    let folder = folder();
    let done = check(folder.path(), &["."]);
    let expected = "\
warning[W019] ./b.jsonl:6: `a0000004` does not directly follow its parent, with entries of another conversation in between: two agents wrote at the same time (2 such places)
  effect: pi and omp show two branches and resume on the one written to last; the other is not part of the conversation
  fix: open a session in one agent only; `session-tree branch ./b.jsonl --at TIP` copies a branch into a file of its own
error[E011] ./c.jsonl:5: parent `a00000ff` of `a0000006` is not in the file
  effect: 3 entries can no longer be reached from the leaf: pi and omp start the conversation there; the model gets nothing from before
  fix: if the conversation went on directly from line 4, set `parentId` of line 5 to \"a0000003\"
3 files: 1 error, 1 warning
1 of them may be mended with `--fix --unsafe-fixes`, by a guess
";
    assert_eq!((done.stdout.as_str(), done.stderr.as_str(), done.code), (expected, "", 1));
}

#[test]
fn only_codes_and_places_are_coloured() {
    let done = run([
        "check".as_ref(),
        "--color".as_ref(),
        "always".as_ref(),
        data("cases/c24-orphan-parent.jsonl").as_os_str(),
    ]);
    assert!(done.stdout.starts_with("\u{1b}[1m\u{1b}[31merror[E011]\u{1b}[0m \u{1b}[1m"), "{}", done.stdout);
}

#[test]
fn exit_code_shows_errors_denied_warnings_and_unreadable_files() {
    let folder = folder();
    let code = |args: &[&str]| check(folder.path(), args).code;
    assert_eq!(code(&["a.jsonl"]), 0);
    assert_eq!(code(&["b.jsonl"]), 0);
    assert_eq!(code(&["c.jsonl"]), 1);
    assert_eq!(code(&["b.jsonl", "--deny", "warnings"]), 1);
    assert_eq!(code(&["b.jsonl", "--deny", "W019"]), 1);
    assert_eq!(code(&["b.jsonl", "--deny", "interleaved-writers"]), 1);
    assert_eq!(code(&["b.jsonl", "--deny", "W001"]), 0);
    assert_eq!(code(&["b.jsonl", "--deny", "warnings", "--allow", "W019"]), 0);
    assert_eq!(code(&["c.jsonl", "--allow", "orphan"]), 0);
    assert_eq!(code(&["gone.jsonl"]), 2);
    assert_eq!(code(&["c.jsonl", "gone.jsonl"]), 2);
    assert_eq!(code(&["a.jsonl", "--deny", "W999"]), 2);
    assert_eq!(code(&[]), 2);
    let gone = check(folder.path(), &["gone.jsonl", "c.jsonl"]);
    assert!(gone.stderr.starts_with("error: gone.jsonl: cannot open"), "{}", gone.stderr);
    assert!(
        gone.stdout.contains("E011")
            && gone.stdout.ends_with(
                "2 files: 1 error, 0 warnings\n1 of them may be mended with `--fix --unsafe-fixes`, by a guess\n"
            ),
        "{}",
        gone.stdout
    );
}

#[test]
fn json_output_is_an_array_and_jsonl_a_line_per_finding() {
    let folder = folder();
    let done = check(folder.path(), &["--format=jsonl", "c.jsonl", "b.jsonl", "a.jsonl"]);
    let rows = rows(&done);
    assert_eq!(done.code, 1);
    assert_eq!(rows.len(), 2);
    let array = check(folder.path(), &["--json", "c.jsonl", "b.jsonl", "a.jsonl"]);
    assert_eq!((array.code, serde_json::from_str::<Value>(&array.stdout).unwrap()), (1, rows.clone().into()));
    let row = rows[0].as_object().unwrap();
    let mut keys: Vec<_> = row.keys().map(String::as_str).collect();
    keys.sort_unstable();
    assert_eq!(
        keys,
        ["code", "effect", "entryId", "fix", "fixKind", "line", "message", "name", "path", "severity", "unreachable"]
    );
    assert_eq!((&row["path"], &row["code"], &row["severity"]), (&"c.jsonl".into(), &"E011".into(), &"error".into()));
    assert_eq!((&row["line"], &row["entryId"], &row["unreachable"]), (&5.into(), &"a0000006".into(), &3.into()));
    assert_eq!(rows[1].get("unreachable"), None);
    let empty = check(folder.path(), &["--format=jsonl", "a.jsonl", "gone.jsonl"]);
    assert_eq!(empty.stdout, "");
    assert!(empty.stderr.starts_with("{\"error\":{\"kind\":\"io\""), "{}", empty.stderr);
    assert_eq!(check(folder.path(), &["--json", "a.jsonl", "gone.jsonl"]).stdout, "[]\n");
}

#[test]
fn check_reads_standard_input_and_lists_of_files() {
    let bytes = fs::read(data("cases/c24-orphan-parent.jsonl")).unwrap();
    let done = run_with_input(["check", "-", "--format=jsonl"], &bytes);
    assert_eq!((done.code, &rows(&done)[0]["path"]), (1, &"-".into()));
    let folder = folder();
    fs::write(folder.path().join("list"), "b.jsonl\0c.jsonl\0").unwrap();
    let done = check(folder.path(), &["--files-from", "list", "--format=jsonl"]);
    assert_eq!(rows(&done).len(), 2);
}

#[test]
fn findings_are_in_the_order_of_the_files() {
    let folder = tempfile::tempdir().unwrap();
    for at in 0..40 {
        let from = if at % 2 == 0 { "c24-orphan-parent.jsonl" } else { "c48-malformed-messages.jsonl" };
        fs::copy(data("cases").join(from), folder.path().join(format!("{at:02}.jsonl"))).unwrap();
    }
    // One with more than is held in memory.
    let line = "{\"type\":\"message\",\"id\":\"ID\",\"parentId\":null,\"timestamp\":\"2026-01-05T10:00:00.000Z\"}\n";
    let header = fs::read_to_string(data("check/healthy.jsonl")).unwrap().lines().next().unwrap().to_owned() + "\n";
    let many: String = (0..3000).map(|at| line.replace("ID", &format!("{at:08}"))).collect();
    fs::write(folder.path().join("05.jsonl"), header + &many).unwrap();
    let done = check(folder.path(), &[".", "--format=jsonl", "--jobs", "4"]);
    let found: Vec<_> = rows(&done)
        .iter()
        .map(|row| (row["path"].as_str().unwrap().to_owned(), row["line"].as_u64().unwrap()))
        .collect();
    assert!(found.is_sorted() && found.len() > 3000, "{}", found.len());
    let text = check(folder.path(), &["."]).stdout;
    assert!(text.contains("error[E016] ./05.jsonl: … and 2990 more of this kind (--json lists them all)\n"));
    assert_eq!(text.matches("[E016] ./05.jsonl:").count(), 11);
}

#[test]
fn a_document_that_is_interrupted_is_closed_before_the_error() {
    let folder = tempfile::tempdir().unwrap();
    let line = "{\"type\":\"message\",\"id\":\"ID\",\"parentId\":null,\"timestamp\":\"2026-01-05T10:00:00.000Z\"}\n";
    let header = fs::read_to_string(data("check/healthy.jsonl")).unwrap().lines().next().unwrap().to_owned() + "\n";
    // One of each alone is more than a pipe holds.
    let text: String = (0..3000).map(|at| line.replace("ID", &format!("{at:08}"))).collect();
    for name in ["1.jsonl", "2.jsonl"] {
        fs::write(folder.path().join(name), header.clone() + &text).unwrap();
    }
    for (format, files, signal, code) in [
        ("json", &["1.jsonl"][..], Signal::INT, 130),
        ("json", &["1.jsonl", "2.jsonl"], Signal::TERM, 143),
        ("sarif", &["1.jsonl", "2.jsonl"], Signal::INT, 130),
    ] {
        let mut command = command();
        command.current_dir(folder.path()).args(["check", "--jobs", "1", "--format", format]).args(files);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stdout = vec![0];
        child.stdout.as_mut().unwrap().read_exact(&mut stdout).unwrap();
        kill_process(Pid::from_child(&child), signal).unwrap();
        child.stdout.as_mut().unwrap().read_to_end(&mut stdout).unwrap();
        let done = child.wait_with_output().unwrap();
        let document: Value = serde_json::from_slice(&stdout).expect("a whole document");
        let findings = if format == "json" { &document } else { &document["runs"][0]["results"] };
        let count = findings.as_array().unwrap().len();
        assert!((1..3000).contains(&count), "{count} findings");
        assert_eq!(done.status.code(), Some(code), "{format} {files:?}");
        let error: Value = serde_json::from_slice(&done.stderr).unwrap();
        assert_eq!(error["error"]["kind"], "interrupted");
    }
}

#[test]
fn github_annotation_is_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let name = "odd,na:me%.jsonl";
    let bytes = fs::read_to_string(data("cases/c24-orphan-parent.jsonl")).unwrap();
    fs::write(folder.path().join(name), bytes.replace("a00000ff", "x\\r\\n::error::%0Aforged\\u001b[2J")).unwrap();
    let done = check(folder.path(), &[name, "--format", "github"]);
    let lines: Vec<_> = done.stdout.lines().collect();
    assert_eq!(lines.len(), 2, "{}", done.stdout);
    assert!(lines[0].starts_with("::error file=odd%2Cna%3Ame%25.jsonl,line=5,title=E011 orphan::"), "{}", lines[0]);
    assert!(
        lines[0].contains("`x\\r\\n::error::%250Aforged\\x1b[2J`") && lines[0].contains("%0Afix: "),
        "{}",
        lines[0]
    );
    assert_eq!(done.code, 1);
}

#[test]
fn sarif_output_is_one_document() {
    let folder = folder();
    for (args, count) in [(&["a.jsonl", "--format", "sarif"][..], 0), (&[".", "--format", "sarif"], 2)] {
        let sarif: Value = serde_json::from_str(&check(folder.path(), args).stdout).unwrap();
        assert_eq!(sarif["version"], "2.1.0");
        let run = &sarif["runs"][0];
        assert_eq!(run["tool"]["driver"]["name"], "session-tree");
        let rules: Vec<_> =
            run["tool"]["driver"]["rules"].as_array().unwrap().iter().map(|rule| rule["id"].clone()).collect();
        let results = run["results"].as_array().unwrap();
        assert_eq!(results.len(), count);
        for result in results {
            assert!(rules.contains(&result["ruleId"]), "{result}");
            assert!(["error", "warning"].contains(&result["level"].as_str().unwrap()));
            let place = &result["locations"][0]["physicalLocation"];
            assert!(place["region"]["startLine"].as_u64().unwrap() > 0);
            assert!(["b.jsonl", "c.jsonl"].contains(&place["artifactLocation"]["uri"].as_str().unwrap()));
        }
    }
}

#[test]
fn findings_in_baseline_do_not_count() {
    let folder = folder();
    let known = ["--baseline", "known.jsonl"];
    let update = check(folder.path(), &[".", "--baseline", "known.jsonl", "--update-baseline"]);
    assert_eq!((update.code, update.stdout.as_str()), (0, "3 files: 0 errors, 0 warnings; 2 known to the baseline\n"));
    let text = fs::read_to_string(folder.path().join("known.jsonl")).unwrap();
    let expected = "{\"type\":\"session-tree/baseline\",\"version\":1}\n\
        {\"path\":\"b.jsonl\",\"code\":\"W019\",\"entryId\":\"a0000004\"}\n\
        {\"path\":\"c.jsonl\",\"code\":\"E011\",\"entryId\":\"a0000006\"}\n";
    assert_eq!(text, expected);
    let again = check(folder.path(), &[&["a.jsonl", "b.jsonl", "c.jsonl"][..], &known].concat());
    assert_eq!((again.code, again.stdout.as_str()), (0, "3 files: 0 errors, 0 warnings; 2 known to the baseline\n"));
    // What is new counts, and the baseline has what is there then.
    fs::copy(data("cases/c25-foreign-marker-last.jsonl"), folder.path().join("a.jsonl")).unwrap();
    let new = check(folder.path(), &[&["a.jsonl", "b.jsonl", "c.jsonl", "--format=jsonl"][..], &known].concat());
    assert_eq!((new.code, rows(&new).len(), &rows(&new)[0]["code"]), (1, 1, &"E014".into()));
    check(folder.path(), &[&["a.jsonl", "--update-baseline"][..], &known].concat());
    let text = fs::read_to_string(folder.path().join("known.jsonl")).unwrap();
    assert_eq!(text.lines().nth(1), Some("{\"path\":\"a.jsonl\",\"code\":\"E014\",\"lineHash\":\"96aa8b800a9a9445\"}"));
    assert!(text.ends_with(expected.split_once('\n').unwrap().1), "{text}");
}

#[test]
fn an_updated_baseline_keeps_what_it_lists_of_files_that_are_not_checked() {
    let folder = folder();
    let known = folder.path().join("known");
    let update = |args: &[&str]| check(folder.path(), &[args, &["--baseline", "known", "--update-baseline"]].concat());
    let listed = || {
        let text = fs::read_to_string(&known).unwrap();
        let path = |line: &str| Some(line.split_once("\"path\":\"")?.1.split_once('"')?.0.to_owned());
        text.lines().filter_map(path).collect::<Vec<_>>().join(" ")
    };
    update(&["c.jsonl"]);
    assert_eq!(listed(), "c.jsonl");
    update(&["b.jsonl"]);
    assert_eq!(listed(), "b.jsonl c.jsonl");
    update(&["a.jsonl"]);
    assert_eq!(listed(), "b.jsonl c.jsonl");
    assert_eq!(check(folder.path(), &[".", "--baseline", "known"]).code, 0);
    // Of a file that is checked what is no more goes, and so does all that is listed of one that is gone.
    fs::copy(folder.path().join("a.jsonl"), folder.path().join("c.jsonl")).unwrap();
    update(&["./c.jsonl"]);
    assert_eq!(listed(), "b.jsonl");
    let whole = folder.path().join("b.jsonl").display().to_string();
    update(&[&whole, "--allow", "W019"]);
    assert_eq!(listed(), "");
    update(&["."]);
    fs::remove_file(folder.path().join("b.jsonl")).unwrap();
    update(&["a.jsonl"]);
    assert_eq!(listed(), "");
    // Standard input is not a file that is gone.
    let first = fs::read_to_string(&known).unwrap();
    let line = "{\"path\":\"-\",\"code\":\"E011\",\"entryId\":\"a0000006\"}\n";
    fs::write(&known, format!("{first}{line}")).unwrap();
    update(&["a.jsonl"]);
    assert_eq!(listed(), "-");
}

#[test]
fn stale_lines_of_a_baseline_are_reported_and_dropped() {
    let folder = folder();
    let known = |path: &str, args: &[&str]| check(folder.path(), &[&[path, "--baseline", "known"], args].concat());
    known(".", &["--update-baseline"]);
    assert_eq!(known(".", &[]).stderr, "");
    // Of a file that is not checked nothing is known.
    assert_eq!(known("a.jsonl", &[]).stderr, "");
    fs::remove_file(folder.path().join("c.jsonl")).unwrap();
    assert!(known("a.jsonl", &[]).stderr.contains("E011 in c.jsonl at `a0000006`"), "it is gone");
    let run = known(".", &[]);
    assert_eq!(run.code, 0);
    assert!(
        run.stderr.starts_with("warning: known: 1 line lists a finding that is no more: E011 in c.jsonl"),
        "{run:?}"
    );
    let json = known(".", &["--json"]);
    assert!(json.stderr.contains("{\"warning\":{\"kind\":\"baseline-stale\""), "{json:?}");
    known(".", &["--update-baseline"]);
    assert_eq!(known(".", &[]).stderr, "");
}

#[test]
fn baseline_stays_if_a_file_cannot_be_read() {
    let folder = folder();
    let args = [".", "missing.jsonl", "--baseline", "known.txt", "--update-baseline"];
    fs::copy(folder.path().join("c.jsonl"), folder.path().join("missing.jsonl")).unwrap();
    assert_eq!(check(folder.path(), &args).code, 0);
    let before = fs::read(folder.path().join("known.txt")).unwrap();
    fs::remove_file(folder.path().join("missing.jsonl")).unwrap();
    let done = check(folder.path(), &args);
    assert_eq!((done.code, done.stdout.as_str()), (2, ""));
    assert!(done.stderr.contains("warning: known.txt: not updated: "), "{}", done.stderr);
    let json = check(folder.path(), &[&args[..], &["--format=jsonl"]].concat());
    assert!(json.stderr.contains("{\"warning\":{\"kind\":\"baseline-not-updated\""), "{}", json.stderr);
    assert_eq!(fs::read(folder.path().join("known.txt")).unwrap(), before);
}

#[test]
fn baseline_is_written_although_that_cannot_be_printed() {
    let folder = folder();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let args = ["check", ".", "--baseline", "known.txt", "--update-baseline"];
    let output = command().current_dir(folder.path()).args(args).stdout(full).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && stderr.contains("hint: the change is in the file"), "{stderr}");
    assert_eq!(fs::read_to_string(folder.path().join("known.txt")).unwrap().lines().count(), 3);
}

#[test]
fn replaced_baseline_with_hard_link_is_reported() {
    let folder = folder();
    let update =
        || check(folder.path(), &[".", "--baseline", "known.txt", "--update-baseline", "--format=jsonl"]).stderr;
    assert_eq!(update(), "");
    fs::hard_link(folder.path().join("known.txt"), folder.path().join("other.txt")).unwrap();
    assert!(update().starts_with("{\"warning\":{\"kind\":\"hard-link\""));
    assert_eq!(update(), "");
}

#[test]
fn baseline_that_is_not_a_file_is_refused_at_once() {
    let folder = folder();
    let fifo = folder.path().join("fifo");
    rustix::fs::mknodat(CWD, &fifo, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    fs::create_dir(folder.path().join("sub")).unwrap();
    for args in [&["fifo", "--update-baseline"][..], &["sub", "--update-baseline"], &["sub"]] {
        let run = check(folder.path(), &[&["a.jsonl", "--baseline"], args].concat());
        assert!(run.code == 2 && run.stderr.contains("must be a file"), "{args:?}: {run:?}");
        assert!(run.stderr.contains("hint: name a file;"), "{args:?}: {run:?}");
    }
    assert!(fifo.exists() && fs::read_dir(folder.path()).unwrap().count() == 5);
}

#[test]
fn baseline_applies_from_any_working_folder() {
    let folder = folder();
    let sub = folder.path().join("sub");
    fs::create_dir(&sub).unwrap();
    check(folder.path(), &[".", "--baseline", "known.txt", "--update-baseline"]);
    let whole = folder.path().display().to_string();
    for (from, path, baseline) in
        [(&sub, "..", "../known.txt"), (&sub, &whole, "../known.txt"), (&folder.path().into(), "sub/..", "known.txt")]
    {
        let done = check(from, &[path, "--baseline", baseline]);
        let expected = "3 files: 0 errors, 0 warnings; 2 known to the baseline\n";
        assert_eq!((done.code, done.stdout.as_str()), (0, expected), "{path}");
    }
    let missing = check(&sub, &["..", "--baseline", "known.txt"]);
    assert!(missing.code == 2 && missing.stderr.contains("hint: `--update-baseline` writes it"), "{}", missing.stderr);
}

#[test]
fn fixes_name_the_file() {
    let folder = folder();
    let fixes = |path: &str| -> Vec<String> {
        let done = check(folder.path(), &[path, "--format=jsonl"]);
        rows(&done).iter().map(|row| row["fix"].as_str().unwrap().to_owned()).collect()
    };
    fs::copy(folder.path().join("b.jsonl"), folder.path().join("it's b.jsonl")).unwrap();
    assert!(fixes("b.jsonl")[0].contains("`session-tree branch b.jsonl --at TIP`"), "{:?}", fixes("b.jsonl"));
    assert!(fixes("it's b.jsonl")[0].contains("`session-tree branch 'it'\\''s b.jsonl' --at TIP`"));
}

#[test]
fn migrate_refuses_an_id_or_latest_with_a_hint_and_check_looks_it_up() {
    let folder = folder();
    for (word, is_told) in [("latest", true), ("019e1c4c", true), ("./latest", false), ("x.jsonl", false)] {
        for (subcommand, hint) in [("check", "do not exist: give a path"), ("migrate", "hint: this command takes")] {
            let run = finish(command().current_dir(folder.path()).args([subcommand, word]));
            assert_eq!((run.code, run.stderr.contains(hint)), (2, is_told), "{word}: {run:?}");
        }
    }
}

#[test]
fn codes_are_comma_separated_and_misspelt_ones_guessed() {
    let folder = folder();
    let done = check(folder.path(), &["b.jsonl", "c.jsonl", "--deny", "W003,interleaved-writers", "--allow=E011,W001"]);
    assert_eq!(done.code, 1, "{done:?}");
    let allowed = check(folder.path(), &["b.jsonl", "c.jsonl", "--allow", "E011,W019"]);
    assert_eq!((allowed.code, allowed.stdout.contains("0 errors, 0 warnings")), (0, true));
    let wrong = check(folder.path(), &["b.jsonl", "--deny", "warning"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("did you mean `warnings`?"), "{}", wrong.stderr);
}

#[test]
fn writing_baseline_never_replaces_a_session() {
    let folder = folder();
    let before = fs::read(folder.path().join("a.jsonl")).unwrap();
    let done = check(folder.path(), &["c.jsonl", "--baseline", "a.jsonl", "--update-baseline"]);
    assert_eq!(done.code, 2);
    assert!(done.stderr.contains("it is not a baseline of `check`"), "{}", done.stderr);
    assert_eq!(fs::read(folder.path().join("a.jsonl")).unwrap(), before);
    assert_eq!(check(folder.path(), &["c.jsonl", "--baseline", "gone"]).code, 2);
    assert_eq!(check(folder.path(), &["c.jsonl", "--update-baseline"]).code, 2);
}

#[test]
fn images_are_looked_for_beside_the_sessions() {
    let folder = tempfile::tempdir().unwrap();
    let sessions = folder.path().join("sessions/project");
    fs::create_dir_all(&sessions).unwrap();
    let blobs = folder.path().join("blobs");
    fs::create_dir(&blobs).unwrap();
    let hash = "ab".repeat(32);
    let text = fs::read_to_string(data("check/healthy.jsonl")).unwrap();
    let image =
        format!("\"content\":[{{\"type\":\"image\",\"data\":\"blob:sha256:{hash}\",\"mimeType\":\"image/png\"}}]");
    fs::write(sessions.join("s.jsonl"), text.replace("\"content\":\"q2\"", &image)).unwrap();
    let done = check(&sessions, &["s.jsonl", "--format=jsonl"]);
    assert_eq!((rows(&done).len(), &rows(&done)[0]["code"], &rows(&done)[0]["line"]), (1, &"W020".into(), &6.into()));
    fs::write(blobs.join(hash), "png").unwrap();
    assert_eq!(check(&sessions, &["s.jsonl", "--format=jsonl"]).stdout, "");
}

#[test]
fn huge_line_is_reported() {
    let text = fs::read_to_string(data("check/healthy.jsonl")).unwrap();
    let huge = text.replace("\"q2\"", &format!("\"{}\"", "x".repeat(10_000_001)));
    let done = run_with_input(["check", "-", "--format=jsonl"], huge.as_bytes());
    assert_eq!((rows(&done).len(), &rows(&done)[0]["code"], &rows(&done)[0]["line"]), (1, &"W021".into(), &6.into()));
}

#[test]
fn why_leaf_says_where_agents_resume() {
    let why =
        |name: &str| run(["check".as_ref(), "--why-leaf".as_ref(), data(name).as_os_str(), "--json".as_ref()]).json();
    let demo = why("demo.jsonl");
    assert_eq!((&demo["leafId"], &demo["line"]), (&"945684d1".into(), &51.into()));
    let tips = demo["tips"].as_array().unwrap();
    let times: Vec<_> = tips.iter().map(|tip| tip["timestamp"].as_str().unwrap()).collect();
    assert!(tips.len() == 4 && times.is_sorted_by(|a, b| a >= b), "{times:?}");
    let leaves: Vec<_> = tips.iter().map(|tip| tip["leaf"] == true).collect();
    assert_eq!(leaves, [true, false, false, false]);
    let tree = run(["tree".as_ref(), data("demo.jsonl").as_os_str(), "--tips".as_ref(), "--json".as_ref()]);
    assert_eq!(demo["tips"], tree.json(), "both commands have the same tips");
    let foreign = why("cases/c25-foreign-marker-last.jsonl");
    assert_eq!(foreign["leafId"], Value::Null);
    assert!(foreign["why"].as_str().unwrap().starts_with("line 6, the last one, has no `id`"), "{foreign}");
    let text = run(["check".as_ref(), "--why-leaf".as_ref(), data("cases/c30-two-writers.jsonl").as_os_str()]).ok();
    let expected = "\
agents resume at a0000005, line 8: it is the last entry of the file (message)
id        when (UTC)        messages  turns  text
a0000005  2026-01-05 10:00         3      2  • user: writer one
b0000004  2026-01-05 10:00         2      1  user: writer two
";
    assert_eq!(text, expected);
    let two = run(["check", "--why-leaf", "a", "b"]);
    assert_eq!(two.code, 2);
}
