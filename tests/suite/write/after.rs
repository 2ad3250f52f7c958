//! What goes wrong around a write: what an earlier run left, who comes in between, and limits of
//! the system. Failing system calls are in `tests/faults`.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use session_tree::core::disk::backup::Backup;
use session_tree::core::disk::lock::LockWait;
use session_tree::core::disk::write::{self, Place, WriteOptions};
use session_tree::core::error::Error;
use session_tree::core::read::source::Source;

use crate::cli::Scratch;
use crate::support::{self, Run};
use crate::write::scene::{Other, appended, bytes, end, error, forked, names, set_mode, start, untouched, wait_for};

const V1: &str = "{\"type\":\"session\",\"id\":\"h\"}\n{\"type\":\"message\",\"message\":{\"role\":\"user\"}}\n";

fn wait() -> LockWait<'static> {
    LockWait { timeout: Duration::ZERO, now: &|| 1_767_607_201_000, stop: &|| None }
}

/// Runs the binary in the folder after some shell commands.
fn after(scratch: &Scratch, script: &str, line: &str) -> Run {
    let script = format!("{script}\nexec \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_session-tree")]).args(line.split(' '));
    command.current_dir(scratch.path("")).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    support::finish(command.stdin(Stdio::null()))
}

#[test]
fn complete_backup_of_a_killed_run_is_taken_as_made() {
    let scratch = Scratch::bytes(V1.as_bytes());
    fs::write(scratch.path("s.jsonl.orig"), V1).unwrap();
    assert!(scratch.run("migrate s.jsonl --backup --dry-run --format=jsonl").stdout.contains("would-migrate"));
    let row = scratch.run("migrate s.jsonl --backup --format=jsonl").json();
    assert_eq!(row["status"], "migrated", "{row}");
    assert_eq!(fs::read_to_string(scratch.path("s.jsonl.orig")).unwrap(), V1);
    assert_eq!(names(scratch.path("")), ["s.jsonl", "s.jsonl.orig"]);
}

#[test]
fn backup_with_other_bytes_of_the_same_length_keeps_the_file() {
    let other = V1.replace("user", "resu");
    let scratch = Scratch::bytes(V1.as_bytes());
    fs::write(scratch.path("s.jsonl.orig"), &other).unwrap();
    for line in ["migrate s.jsonl --backup --format=jsonl", "migrate s.jsonl --backup --dry-run --format=jsonl"] {
        let run = scratch.run(line);
        assert_eq!(run.code, 2);
        assert!(run.stdout.contains("\"failed\""), "{run:?}");
    }
    assert_eq!(fs::read(scratch.path("s.jsonl")).unwrap(), V1.as_bytes());
    assert_eq!(fs::read_to_string(scratch.path("s.jsonl.orig")).unwrap(), other);
}

fn backup(place: &Place, source: &Source, copy: &Path) -> Backup {
    Backup::make(place, source, copy.to_owned(), wait()).unwrap()
}

#[test]
fn backup_is_only_discarded_if_the_file_still_has_its_bytes() {
    let scratch = Scratch::bytes(V1.as_bytes());
    let path = fs::canonicalize(scratch.path("s.jsonl")).unwrap();
    let source = Source::open(&path).unwrap();
    let place = Place::new(&path, source.state().unwrap()).unwrap();
    let copy = scratch.path("s.jsonl.orig");
    let make = || backup(&place, &source, &copy);
    let backup = make();
    fs::write(&path, format!("{V1}more")).unwrap();
    backup.discard(&path);
    assert!(!copy.exists(), "a copy of a file that only grew is of no use");
    fs::write(&path, V1).unwrap();
    let backup = make();
    // Another program replaces the file: the copy is all that is left of it.
    fs::write(scratch.path("new"), "other").unwrap();
    fs::rename(scratch.path("new"), &path).unwrap();
    backup.discard(&path);
    assert_eq!(fs::read_to_string(&copy).unwrap(), V1);
    fs::write(&path, V1).unwrap();
    make().discard(&path);
    assert!(copy.exists(), "a backup that was there before is not ours to remove");
}

#[test]
fn backup_that_another_run_took_as_made_stays() {
    let scratch = Scratch::bytes(V1.as_bytes());
    let path = fs::canonicalize(scratch.path("s.jsonl")).unwrap();
    let source = Source::open(&path).unwrap();
    let place = Place::new(&path, source.state().unwrap()).unwrap();
    let copy = scratch.path("s.jsonl.orig");
    let make = || backup(&place, &source, &copy);
    let (first, second) = (make(), make());
    assert!(first.discard(&path), "another run relies on the copy: it stays");
    assert!(second.is_there());
    assert!(!second.discard(&path), "nor does a run remove what it did not make");
    fs::remove_file(&copy).unwrap();
    let (first, second) = (make(), make());
    fs::remove_file(&copy).unwrap();
    assert!(!second.is_there(), "the user removed it: the file is not replaced without one");
    drop((first, second));
    let first = make();
    assert!(!first.discard(&path) && !copy.exists(), "nobody relies on it: it goes");
}

#[test]
fn temporary_files_of_dead_processes_go_though_nothing_is_to_migrate() {
    let scratch = forked();
    let left = format!(".s.jsonl.session-tree.{}.tmp", crate::write::scene::dead_pid());
    fs::write(scratch.path(&left), "half").unwrap();
    scratch.run("migrate s.jsonl --check").ok();
    assert!(scratch.path(&left).exists(), "a check changes nothing");
    scratch.run("migrate s.jsonl").ok();
    assert_eq!(names(scratch.path("")), ["s.jsonl"]);
}

#[test]
fn program_that_opens_the_file_while_its_new_form_is_written_is_seen() {
    let scratch = Scratch::bytes(V1.as_bytes());
    let path = fs::canonicalize(scratch.path("s.jsonl")).unwrap();
    for force in [false, true] {
        let source = Source::open(&path).unwrap();
        let place = Place::new(&path, source.state().unwrap()).unwrap();
        let mut agent = None;
        let replaced = write::replace(&place, WriteOptions { wait: wait(), force }, false, &|| true, &mut |out| {
            agent = Some(Other::start("exec 3>>\"$1\"", &path));
            out.write_all(b"new").map_err(|cause| Error::writing("cannot write", cause))
        });
        let pid = agent.as_ref().unwrap().pid();
        match replaced {
            Ok(_) => assert!(force),
            Err(Error::InUse { holder, replaces: true }) => assert_eq!((holder.pid, force), (pid, false)),
            Err(error) => panic!("{error}"),
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), if force { "new" } else { V1 });
        assert_eq!(names(scratch.path("")), ["s.jsonl"]);
    }
}

#[test]
fn what_is_written_without_a_lock_while_the_file_is_replaced_is_kept_or_told() {
    // What comes after the last look before the rename: its program, the new file after that, what is told.
    for (script, new, aside, carried) in [
        ("exec 3>>\"$1\"", "new\n", "", 0),
        ("exec 3>>\"$1\"; (sleep 0.02; echo late >&3) & exec 3>&-", "new\nlate\n", "", 5),
        ("echo late >>\"$1\"", "new\nlate\n", "", 5),
        ("printf 'longer than before' >\"$1\"", "new\n", "longer than before", 0),
        ("exec 3<>\"$1\"; printf OLD >\"$1\"; touch -d 2020-01-01 \"$1\"", "new\n", "OLD", 0),
    ] {
        for force in [false, true] {
            let scratch = Scratch::bytes(b"old\n");
            let path = fs::canonicalize(scratch.path("s.jsonl")).unwrap();
            let place = Place::new(&path, Source::open(&path).unwrap().state().unwrap()).unwrap();
            let old = File::open(&path).unwrap();
            let agent = std::cell::RefCell::new(None);
            let may_replace = || {
                *agent.borrow_mut() = Some(Other::start(script, &path));
                true
            };
            let options = WriteOptions { wait: wait(), force };
            let mut fill = |out: &mut dyn std::io::Write| {
                let mut now = [0; 4];
                old.read_exact_at(&mut now, 0).map_err(|_| Error::Changed { line: None })?;
                let text: &[u8] = if now == *b"old\n" { b"new\n" } else { b"other\n" };
                out.write_all(text).map_err(|cause| Error::writing("cannot write", cause))
            };
            let done = loop {
                // A child that another test just started has all our files for a moment.
                match write::replace(&place, options, false, &may_replace, &mut fill) {
                    Err(Error::InUse { .. }) if agent.borrow().is_none() => {}
                    done => break done,
                }
            };
            let late = done.unwrap().late;
            let holder =
                (script.contains("exec") && !script.contains("3>&-")).then(|| agent.borrow().as_ref().unwrap().pid());
            assert_eq!((late.carried, late.holder.map(|holder| holder.pid)), (carried, holder), "{script}");
            assert!(late.lost.is_none() && late.aside.is_some() != aside.is_empty(), "{script}");
            assert_eq!(fs::read_to_string(&path).unwrap(), new, "{script}");
            assert_eq!(fs::read_to_string(scratch.path("s.jsonl.late")).unwrap_or_default(), aside, "{script}");
        }
    }
}

#[test]
fn file_that_is_replaced_while_the_lines_are_made_is_not_appended_to() {
    let scratch = forked();
    let path = fs::canonicalize(scratch.path("s.jsonl")).unwrap();
    let old = bytes(&scratch);
    let source = Source::open(&path).unwrap();
    let place = Place::new(&path, source.state().unwrap()).unwrap();
    let read = write::ReadTo { at: old.len() as u64, ends: [Vec::new(), old[old.len() - 16..].to_vec()] };
    let done = write::append(&place, &read, WriteOptions { wait: wait(), force: false }, &|_| true, &mut |_| {
        // The same bytes under the same name, but another file.
        fs::copy(&path, scratch.path("new")).unwrap();
        fs::rename(scratch.path("new"), &path).unwrap();
        Ok(b"{}\n".to_vec())
    });
    assert!(matches!(done, Ok(write::Appended::Replaced)), "{done:?}");
    untouched(&scratch, &old);
}

#[test]
fn invalid_record_with_a_time_in_the_future_is_taken_over() {
    let scratch = forked();
    let old = bytes(&scratch);
    let record = scratch.path(".s.jsonl.lock");
    let leave = || {
        fs::write(&record, "garbage").unwrap();
        let future = SystemTime::now() + Duration::from_secs(100_000);
        File::open(&record).unwrap().set_modified(future).unwrap();
    };
    leave();
    assert_eq!(error(&scratch.run("label s.jsonl u1 x --lock-timeout 0.5 --json"))["kind"], "locked");
    assert!(record.exists(), "it may be one that is being made");
    leave();
    scratch.run("label s.jsonl u1 x --lock-timeout 8").ok();
    assert_eq!(appended(&old, &bytes(&scratch)).len(), 1);
    assert_eq!(names(scratch.path("")), ["s.jsonl"]);
}

#[test]
fn few_descriptors_are_told_as_such_and_leave_no_lock() {
    let mut failures = 0;
    for count in 3..14 {
        for line in ["label s.jsonl u1 x --lock-timeout 0.2 --json", "navigate s.jsonl --root --save --json"] {
            let scratch = forked();
            let old = bytes(&scratch);
            let run = after(&scratch, &format!("ulimit -n {count}"), line);
            assert_eq!(names(scratch.path("")), ["s.jsonl"], "{count}: {run:?}");
            if run.code == 0 {
                assert_eq!(appended(&old, &bytes(&scratch)).len(), 1);
                continue;
            }
            failures += 1;
            untouched(&scratch, &old);
            assert!(!run.stderr.contains("\"locked\""), "{count}: {run:?}");
        }
    }
    assert!(failures > 0, "the limit limits nothing");
}

#[test]
fn folders_of_everything_are_not_migrated() {
    let scratch = Scratch::bytes(V1.as_bytes());
    let home = fs::canonicalize(scratch.path("")).unwrap();
    fs::create_dir(scratch.path("sub")).unwrap();
    std::os::unix::fs::symlink(&home, scratch.path("sub/link")).unwrap();
    fs::write(scratch.path("sub/list"), format!("{}\n", home.display())).unwrap();
    // Nothing outside the folder is named: a fault would show as a migrated file here.
    let refused = [".", "./sub/..", "sub/link", "--files-from sub/list"];
    for (path, option) in
        refused.iter().flat_map(|path| ["", " --force", " --check", " --dry-run"].map(|option| (path, option)))
    {
        let line = format!("migrate {path}{option} --format=jsonl");
        let run = support::finish(scratch.command(line.split(' ')).env("HOME", &home));
        let error = error(&run);
        assert_eq!(error["kind"], "usage", "{line}: {error}");
        assert!(error["hint"].as_str().unwrap().contains("sessions"), "{error}");
        assert_eq!(bytes(&scratch), V1.as_bytes());
    }
    let run = support::finish(scratch.command(["migrate", "."]).env("HOME", home.join("sub")));
    assert_eq!(run.code, 2, "a folder above the home folder: {run:?}");
    fs::rename(scratch.path("s.jsonl"), scratch.path("sub/s.jsonl")).unwrap();
    support::finish(scratch.command(["migrate", "sub"]).env("HOME", &home)).ok();
    assert_ne!(fs::read(scratch.path("sub/s.jsonl")).unwrap(), V1.as_bytes(), "a folder below home is fine");
}

#[test]
fn long_file_names_have_room_for_lock_and_temporary_file() {
    for len in [230, 236, 244, 250, 255] {
        let name = format!("{}.jsonl", "n".repeat(len - 6));
        let scratch = Scratch::bytes(V1.as_bytes());
        fs::rename(scratch.path("s.jsonl"), scratch.path(&name)).unwrap();
        scratch.args(["migrate", &name]).ok();
        scratch.args(["label", &name, "@", "x"]).ok();
        scratch.args(["navigate", &name, "--root", "--save"]).ok();
        assert_eq!(names(scratch.path("")), std::slice::from_ref(&name));
        assert_eq!(fs::read_to_string(scratch.path(&name)).unwrap().lines().count(), 4);
        let left = scratch.args(["branch", &name, "--at", "@", "--output", &"o".repeat(len)]).ok();
        assert!(left.ends_with(&format!("{}\n", "o".repeat(len))));
        assert_eq!(names(scratch.path("")).len(), 2);
    }
}

#[test]
fn path_of_a_new_session_is_usable_by_a_script() {
    let scratch = forked();
    for name in [&b"tab\there"[..], b"esc\x1b[31m", b"bad\xff\xfeutf8", "r\u{202e}l".as_bytes()] {
        let name = OsStr::from_bytes(name);
        fs::create_dir(scratch.path(name)).unwrap();
        let mut command = scratch.command(["branch", "s.jsonl", "u2", "--quiet", "--session-dir"]);
        let output = command.arg(name).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let path = OsStr::from_bytes(output.stdout.strip_suffix(b"\n").unwrap());
        assert!(fs::metadata(path).unwrap().is_file(), "{path:?}");
    }
}

/// Starts a move whose summarizer has started; its id is in the file `pid`.
fn summarizing(scratch: &Scratch, trap: &str, then: &str) -> std::process::Child {
    fs::write(scratch.path("summarizer"), format!("#!/bin/sh\necho $$ >pid.new; mv pid.new pid; {then}\n")).unwrap();
    set_mode(scratch.path("summarizer"), 0o755);
    let line = "navigate s.jsonl --root --summarize --summarizer ./summarizer --json";
    // The tests themselves may run where a hang-up is ignored.
    let mut command = Command::new("env");
    let script = format!("{trap}\nexec \"$@\"");
    command.args(["--default-signal=HUP", "sh", "-c", &script, "sh", env!("CARGO_BIN_EXE_session-tree")]);
    command.args(line.split(' ')).current_dir(scratch.path("")).stdin(Stdio::null()).process_group(0);
    let child = start(&mut command);
    wait_for("the summarizer starts", || scratch.path("pid").exists());
    child
}

fn pid(text: &str) -> Pid {
    Pid::from_raw(text.trim().parse().unwrap()).unwrap()
}

#[test]
fn hang_up_ends_a_run_unless_it_was_ignored_at_the_start() {
    for (trap, code) in [("", 129), ("trap '' HUP", 0)] {
        let scratch = forked();
        let old = bytes(&scratch);
        let child = summarizing(&scratch, trap, "while [ ! -e go ]; do sleep 0.02; done; echo done");
        kill_process(pid(&child.id().to_string()), Signal::HUP).unwrap();
        if code == 0 {
            fs::write(scratch.path("go"), "").unwrap();
        }
        let run = end(child);
        assert_eq!(run.code, code, "{run:?}");
        assert_eq!(bytes(&scratch) == old, code != 0);
    }
}

#[test]
fn ignored_signal_of_children_keeps_no_summary_away() {
    let scratch = forked();
    let old = bytes(&scratch);
    let child = summarizing(&scratch, "trap '' CHLD", "echo done");
    end(child).ok();
    assert_eq!(appended(&old, &bytes(&scratch)).len(), 1);
}

#[test]
fn signal_to_the_summarizer_and_to_us_is_an_interruption() {
    let scratch = forked();
    let old = bytes(&scratch);
    let child = summarizing(&scratch, "", "exec sleep 30");
    let summarizer = pid(&fs::read_to_string(scratch.path("pid")).unwrap());
    kill_process(summarizer, Signal::TERM).unwrap();
    kill_process(pid(&child.id().to_string()), Signal::TERM).unwrap();
    let run = end(child);
    assert_eq!(run.code, 143, "{run:?}");
    assert!(run.stderr.contains("\"interrupted\""), "{run:?}");
    assert_eq!(bytes(&scratch), old);
}

#[test]
fn no_further_thread_while_a_hook_runs_is_a_failure_and_not_a_panic() {
    const NOBODY: u32 = 65534;
    let scratch = forked();
    let old = bytes(&scratch);
    fs::write(scratch.path("hook"), "#!/bin/sh\nexec sleep 0.2\n").unwrap();
    set_mode(scratch.path("hook"), 0o755);
    set_mode(scratch.path(""), 0o777);
    set_mode(scratch.path("s.jsonl"), 0o666);
    let binary = scratch.path("session-tree");
    fs::copy(env!("CARGO_BIN_EXE_session-tree"), &binary).unwrap();
    let is_root = rustix::process::geteuid().is_root();
    let mut endings = Vec::new();
    for limit in 1..8 {
        let script = format!("ulimit -u {limit} 2>/dev/null || ulimit -p {limit}\nexec \"$@\"");
        let mut command = Command::new("sh");
        command.args(["-c", &script, "sh"]).arg(&binary);
        command.args(["navigate", "s.jsonl", "--root", "--jobs", "1", "--json", "--hook", "./hook"]);
        command.current_dir(scratch.path("")).stdin(Stdio::null());
        if is_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        let run = support::finish(&mut command);
        assert!(!run.stderr.contains("panicked"), "{run:?}");
        assert_ne!(run.code, 134, "{run:?}");
        assert_eq!(bytes(&scratch), old);
        endings.push(run.code);
    }
    assert!(endings.contains(&2) || endings.contains(&0), "{endings:?}");
}

#[test]
fn list_of_a_folder_that_cannot_be_looked_into_is_reported() {
    const NOBODY: u32 = 65534;
    let scratch = forked();
    fs::create_dir(scratch.path("d")).unwrap();
    fs::write(scratch.path("d/old.jsonl"), V1).unwrap();
    fs::write(scratch.path("list"), "d\n").unwrap();
    let binary = scratch.path("session-tree");
    fs::copy(env!("CARGO_BIN_EXE_session-tree"), &binary).unwrap();
    set_mode(scratch.path(""), 0o755);
    // It can be listed, but what is in it cannot be looked at.
    set_mode(scratch.path("d"), 0o744);
    for command in ["migrate", "check"] {
        let mut run = Command::new(&binary);
        run.args([command, "--files-from", "list"]).current_dir(scratch.path("")).stdin(Stdio::null());
        if rustix::process::geteuid().is_root() {
            run.uid(NOBODY).gid(NOBODY);
        } else {
            set_mode(scratch.path("d"), 0o444);
        }
        let run = support::finish(&mut run);
        assert_eq!(run.code, 2, "{command}: {run:?}");
        assert!(run.stdout.contains("denied") || run.stderr.contains("denied"), "{command}: {run:?}");
    }
    set_mode(scratch.path("d"), 0o755);
}

#[test]
fn result_that_cannot_be_printed_says_that_the_change_is_made() {
    let scratch = forked();
    let old = bytes(&scratch);
    let Ok(full) = fs::OpenOptions::new().write(true).open("/dev/full") else { return };
    let run = |line: &str| {
        let mut command = scratch.command(line.split(' '));
        let child = command.stdout(full.try_clone().unwrap()).stderr(Stdio::piped()).spawn().unwrap();
        let run = end(child);
        assert_eq!(run.code, 2);
        let error: serde_json::Value = serde_json::from_str(run.stderr.lines().last().unwrap()).unwrap();
        assert_eq!(error["error"]["kind"], json!("io"));
        error["error"]["hint"].as_str().unwrap().to_owned()
    };
    let hint = run("label s.jsonl u1 x --json");
    assert!(hint.contains("do not repeat"), "{hint}");
    assert_eq!(appended(&old, &bytes(&scratch)).len(), 1);
    let hint = run("branch s.jsonl u2 --output new.jsonl --json");
    assert!(hint.contains("new.jsonl"), "the new file is named: {hint}");
    assert!(scratch.path("new.jsonl").exists());
}

/// An access list that lets user 1234 read and write, the owning group nothing, with `rw-` as its mask.
fn access_list() -> Vec<u8> {
    let entry =
        |tag: u16, rights: u16, id: u32| [&tag.to_le_bytes()[..], &rights.to_le_bytes(), &id.to_le_bytes()].concat();
    let none = u32::MAX;
    let entries = [(0x01, 6, none), (0x02, 6, 1234), (0x04, 0, none), (0x10, 6, none), (0x20, 0, none)];
    let entries = entries.into_iter().flat_map(|(tag, rights, id)| entry(tag, rights, id));
    2_u32.to_le_bytes().into_iter().chain(entries).collect()
}

#[test]
fn access_list_of_a_session_is_kept_and_never_becomes_rights_of_the_group() {
    const LIST: &str = "system.posix_acl_access";
    let scratch = Scratch::bytes(V1.as_bytes());
    set_mode(scratch.path("s.jsonl"), 0o600);
    if rustix::fs::setxattr(scratch.path("s.jsonl"), LIST, &access_list(), rustix::fs::XattrFlags::empty()).is_err() {
        // No access lists on this file system.
        return;
    }
    let _ = rustix::fs::setxattr(scratch.path("s.jsonl"), "user.note", b"mine", rustix::fs::XattrFlags::empty());
    scratch.run("migrate s.jsonl --backup").ok();
    scratch.run("branch s.jsonl --at @ --output fork").ok();
    for name in ["s.jsonl", "s.jsonl.orig", "fork"] {
        let mut list = vec![0; 1000];
        let length = rustix::fs::getxattr(scratch.path(name), LIST, &mut list[..]).unwrap();
        assert_eq!(list[..length], access_list(), "{name}");
        let mut note = [0; 4];
        rustix::fs::getxattr(scratch.path(name), "user.note", &mut note).unwrap();
        assert_eq!(&note, b"mine");
    }
}

#[test]
fn access_list_that_a_folder_gives_its_files_is_not_taken_over() {
    let scratch = Scratch::bytes(V1.as_bytes());
    set_mode(scratch.path("s.jsonl"), 0o640);
    let flags = rustix::fs::XattrFlags::empty();
    if rustix::fs::setxattr(scratch.path(""), "system.posix_acl_default", &access_list(), flags).is_err() {
        return;
    }
    scratch.run("migrate s.jsonl --backup").ok();
    scratch.run("branch s.jsonl --at @ --output fork").ok();
    for name in ["s.jsonl", "s.jsonl.orig", "fork"] {
        let mut list = [0; 1000];
        assert!(rustix::fs::getxattr(scratch.path(name), "system.posix_acl_access", &mut list[..]).is_err(), "{name}");
        assert_eq!(crate::write::scene::mode(scratch.path(name)), 0o640, "{name}");
    }
}

#[test]
fn rights_taken_away_while_the_new_form_is_written_stay_away() {
    let scratch = Scratch::bytes(V1.as_bytes());
    let path = fs::canonicalize(scratch.path("s.jsonl")).unwrap();
    set_mode(&path, 0o644);
    let source = Source::open(&path).unwrap();
    let place = Place::new(&path, source.state().unwrap()).unwrap();
    let options = WriteOptions { wait: wait(), force: false };
    write::replace(&place, options, false, &|| true, &mut |out| {
        set_mode(&path, 0o600);
        out.write_all(b"new").map_err(|cause| Error::writing("cannot write", cause))
    })
    .unwrap();
    assert_eq!(crate::write::scene::mode(&path), 0o600);
}

#[test]
fn rights_of_a_group_do_not_reach_another_group() {
    const NOBODY: u32 = 65534;
    if !rustix::process::geteuid().is_root() {
        return;
    }
    // Whoever is of the old group counts as one of the others: they may not get more than the group had.
    for (old, new) in [(0o664, 0o604), (0o606, 0o600), (0o647, 0o604), (0o604, 0o600), (0o600, 0o600)] {
        let scratch = Scratch::bytes(V1.as_bytes());
        set_mode(scratch.path(""), 0o777);
        let binary = scratch.path("session-tree");
        fs::copy(env!("CARGO_BIN_EXE_session-tree"), &binary).unwrap();
        for line in ["migrate s.jsonl --backup --format=jsonl", "branch s.jsonl --at @ --output fork --format=jsonl"] {
            std::os::unix::fs::chown(scratch.path("s.jsonl"), Some(NOBODY), Some(1234)).unwrap();
            set_mode(scratch.path("s.jsonl"), old);
            let mut command = Command::new(&binary);
            command.args(line.split(' ')).current_dir(scratch.path("")).uid(NOBODY).gid(NOBODY).stdin(Stdio::null());
            let run = support::finish(&mut command);
            assert_eq!(run.code, 0, "{run:?}");
            assert_eq!(run.stderr.contains("\"rights-dropped\""), old != new, "{old:o}: {run:?}");
        }
        for name in ["s.jsonl.orig", "fork"] {
            assert_eq!(crate::write::scene::mode(scratch.path(name)), new, "{old:o}: {name}");
        }
    }
}

#[test]
fn hint_of_a_held_lock_names_its_record() {
    let scratch = forked();
    let record = scratch.path(".s.jsonl.lock");
    let hint = || {
        let error = error(&scratch.run("label s.jsonl u1 x --lock-timeout 0 --json"));
        assert_eq!(error["kind"], "locked");
        error["hint"].as_str().unwrap().to_owned()
    };
    fs::write(&record, format!("{}:1\n", std::process::id())).unwrap();
    assert!(hint().contains("`rm ") && hint().contains(".s.jsonl.lock`"), "{}", hint());
    fs::remove_file(&record).unwrap();
    fs::create_dir(&record).unwrap();
    assert!(hint().contains("`rm -r ") && hint().contains(".s.jsonl.lock`"), "{}", hint());
}
