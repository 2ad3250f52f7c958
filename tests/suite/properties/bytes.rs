//! However the bytes of a file are cut, damaged, spelled or shared among threads, nothing is lost
//! that is there, and nothing panics.

use std::collections::HashSet;
use std::fmt::Write;
use std::fs;

use serde_json::Value;
use session_tree::core::context;
use session_tree::core::context::message;
use session_tree::core::entry::message::Message;
use session_tree::core::error::problem::WarningKind;
use session_tree::core::json::Raw;
use session_tree::core::naming;
use session_tree::core::read::load::LoadOptions;
use session_tree::core::read::source::Source;
use session_tree::core::session::Session;
use session_tree::core::session::body::Bodies;
use session_tree::core::tree::filter::Filter;
use session_tree::core::tree::walk;
use session_tree::ui::context as transcript;
use session_tree::ui::screen::Screen;
use session_tree::ui::tree::TreeText;

use super::random::{self, Random};
use super::{SESSIONS, ids, stored, support};

const WORDS: LoadOptions<'static> = LoadOptions { words: &|_| true, calls: true, usage: true };

fn load(bytes: &[u8], keep: LoadOptions<'_>, jobs: usize) -> session_tree::core::error::Result<Session> {
    Session::load(Source::spool(bytes).unwrap(), keep, jobs)
}

/// Returns all that was found, as text.
fn found(session: &Session) -> String {
    let mut out = format!("{:?} {:?} {:?}\n", session.name(), session.header, session.problems.list());
    let mut bodies = Bodies::new(session);
    for node in session.nodes() {
        let parent = session.parent(node).map(|parent| session.id(parent));
        let children = ids(session, session.children(node).iter().copied());
        let (line, stamp, traits) = (session.line(node), session.stamp(node), session.traits(node));
        let label = session.label(node);
        let words = bodies.words(node).unwrap();
        writeln!(out, "{} {parent:?} {children:?} {line} {stamp:?} {traits:?} {label:?} {words}", session.id(node))
            .unwrap();
    }
    out
}

/// Returns the ids of a file that begins with its header, each with the last line that has it.
fn last_lines(bytes: &[u8]) -> Vec<(String, u32)> {
    let text = String::from_utf8_lossy(bytes).replace("1e400", "0");
    let lines = text.split('\n').map(|line| serde_json::from_str::<Value>(line).unwrap_or_default());
    let is_entry = |line: &Value| line.is_object() && line["type"] != "session";
    let id = |line: Value| Some(line["id"].as_str().filter(|id| !id.is_empty() && is_entry(&line))?.to_owned());
    let ids: Vec<_> = (1..).zip(lines).filter_map(|(number, line)| Some((id(line)?, number))).collect();
    let mut seen = HashSet::new();
    let mut last: Vec<_> = ids.into_iter().rev().filter(|(id, _)| seen.insert(id.clone())).collect();
    last.reverse();
    assert!(last.len() > 2000);
    last
}

#[test]
fn number_of_threads_does_not_change_what_is_read() {
    for seed in 1..=2 {
        let bytes = random::long_session(seed, 7500);
        assert!(bytes.len() > 24 * 256 * 1024, "enough blocks for four threads: {}", bytes.len());
        let expected = found(&load(&bytes, WORDS, 1).unwrap());
        let session = load(&bytes, LoadOptions::INDEX_ONLY, 1).unwrap();
        let lines = session.nodes().map(|node| (session.id(node).to_owned(), session.line(node)));
        assert_eq!(lines.collect::<Vec<_>>(), last_lines(&bytes), "session {seed}");
        for jobs in [2, 4] {
            assert!(found(&load(&bytes, WORDS, jobs).unwrap()) == expected, "session {seed} with {jobs} threads");
        }
    }
}

/// An entry's words are the same, whether they were kept while the file was read or are read when
/// they are needed.
#[test]
fn words_do_not_depend_on_what_was_kept() {
    for seed in 1..=SESSIONS {
        let bytes = random::session(seed);
        let (kept, read) = (load(&bytes, WORDS, 1).unwrap(), load(&bytes, LoadOptions::INDEX_ONLY, 1).unwrap());
        let (mut kept_bodies, mut read_bodies) = (Bodies::new(&kept), Bodies::new(&read));
        for node in kept.nodes() {
            let (kept_words, read_words) = (kept_bodies.words(node).unwrap(), read_bodies.words(node).unwrap());
            let text = String::from_utf8_lossy(&bytes);
            assert_eq!(kept_words, read_words, "{} of session {seed}:\n{text}", kept.id(node));
        }
    }
}

/// A file that is cut anywhere has every line that ends before the cut, and what is left of the
/// line at the cut is only unfinished if it is not a whole entry.
#[test]
fn cut_at_any_byte_loses_no_whole_line() {
    let mut random = Random::new(7);
    let mut file = "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n".to_owned();
    for at in 1..=12 {
        let parent = at - 1 - random.below(at.min(3));
        let parent = if parent == 0 { "null".to_owned() } else { format!("\"naïve-{parent}\"") };
        let message = r#"{"role":"user","content":"日本語 🙂 \ud83d \u00e9"}"#;
        let end = random.pick(&["\n", "\r\n", "\n\n", " \n"]);
        writeln!(
            file,
            r#"{{"type":"message","id":"naïve-{at}","parentId":{parent},"message":{message}}}{}"#,
            &end[..end.len() - 1]
        )
        .unwrap();
    }
    let whole = support::session(file.as_bytes());
    assert_eq!((whole.len(), whole.problems.is_empty()), (12, true));
    let header = file.find('\n').unwrap();
    for cut in 0..=file.len() {
        let bytes = &file.as_bytes()[..cut];
        let Ok(session) = load(bytes, LoadOptions::INDEX_ONLY, 1) else {
            assert!(cut < header, "cut at {cut}");
            continue;
        };
        assert!(cut >= header, "cut at {cut}");
        let ends = bytes.split(|&byte| byte == b'\n').skip(1).map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
        let ends: Vec<_> = ends.map(|line| line.ends_with(b"\"}}")).collect();
        let entries = ends.iter().filter(|is_whole| **is_whole).count();
        let expected = ids(&whole, whole.nodes().take(entries));
        assert_eq!(ids(&session, session.nodes()), expected, "cut at {cut}");
        let torn: Vec<_> = session.problems.list().into_iter().map(|problem| (problem.kind, problem.line)).collect();
        let line = u32::try_from(bytes.split(|&byte| byte == b'\n').count()).unwrap();
        let is_unfinished = ends.last() == Some(&false);
        assert_eq!(
            torn,
            if is_unfinished { vec![(WarningKind::UnfinishedLine, Some(line))] } else { vec![] },
            "cut at {cut}"
        );
    }
}

/// Does everything with a session that reading commands do, and checks what holds for any file.
fn exercise(session: &Session) {
    let is_safe = |text: &str| text.chars().all(|char| char == '\n' || !char.is_control());
    let mut bodies = Bodies::new(session);
    for leaf in [None, session.leaf()] {
        let order = walk::display_order(session, leaf);
        let mut once = vec![false; session.len()];
        for &node in &order {
            assert!(!std::mem::replace(&mut once[node.index()], true), "an entry is shown twice");
            assert!(session.parent(node).is_none_or(|parent| once[parent.index()]), "a child comes before its parent");
        }
        assert_eq!(order.len(), session.len(), "an entry is not shown");
        walk::tips(session);
        let shows = |node| Filter::Default.shows(session.traits(node), false, Some(node) == leaf);
        let rows = support::lay_out(session, leaf, &order, shows);
        let screen = Screen { width: Some(60), ..Screen::default() };
        let text = TreeText::new(session, &rows, &screen);
        assert!(is_safe(&text.heading(session.name().unwrap_or(""), "", 1, 1)));
        for (at, row) in rows.rows.iter().enumerate() {
            assert!(is_safe(&text.row(at, &bodies.words(row.node).unwrap())));
        }
        let context = context::build(&mut bodies, leaf).unwrap();
        for (at, item) in context.messages.iter().enumerate() {
            let (mut stored, mut sent) = (Vec::new(), Vec::new());
            message::write(&mut stored, &mut bodies, item).unwrap();
            message::write_for_model(&mut sent, Message::made(Raw::new(&stored)));
            for json in [&stored, &sent] {
                let text = String::from_utf8_lossy(json);
                assert!(json.is_empty() || is_json(&text), "{text}");
            }
            let mut shown =
                transcript::title(&screen, at + 1, session.id(item.node()), Message::made(Raw::new(&stored)));
            transcript::body(Message::made(Raw::new(&stored)), None, &mut |part| {
                shown.push_str(part);
                Ok(())
            })
            .unwrap();
            assert!(is_safe(&shown));
        }
        for name in ["@", "@~1", "user:1", "label:one", "e00", "e001~99999999999999999999", "~", ""] {
            // Any answer is right, as long as there is one.
            let _ = naming::entry::find(session, leaf, name);
        }
    }
}

/// Returns whether a text is JSON; of any depth, and with lone surrogates.
fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

#[test]
fn random_damage_never_panics() {
    const BYTES: &[u8] = b"{}[]\",:\\/u0e1.-+tfn \n\r\t\x00\x01\x1b\x7f\xff\xc3\xe2\x80\xf0";
    let mut sessions = 0;
    for seed in 1..=250 {
        let whole = if seed % 5 == 0 { stored::session(seed) } else { random::session(seed) };
        let mut random = Random::new(seed);
        for _ in 0..10 {
            let mut bytes = whole.clone();
            for _ in 0..=random.below(6) {
                let at = random.below(bytes.len());
                let end = bytes.len().min(at + random.below(40));
                match random.below(6) {
                    0 => bytes[at] = u8::try_from(random.below(256)).unwrap(),
                    1 | 2 => bytes[at] = BYTES[random.below(BYTES.len())],
                    3 => bytes.insert(at, BYTES[random.below(BYTES.len())]),
                    4 if bytes.len() > 100 => drop(bytes.drain(at..end)),
                    _ => {
                        let piece = bytes[at..end].to_vec();
                        let to = random.below(bytes.len());
                        bytes.splice(to..to, piece);
                    }
                }
            }
            let keep = if random.percent(50) { WORDS } else { LoadOptions::INDEX_ONLY };
            if let Ok(session) = load(&bytes, keep, 1) {
                exercise(&session);
                sessions += 1;
            }
        }
    }
    assert!(sessions > 1600, "most damaged files are still sessions: {sessions} of 2500");
}

/// Returns whether reading the bodies fails when another program writes `after` over `before` once
/// that has been indexed. What does not fail is still the same entry.
fn is_noticed(before: &[u8], after: &[u8]) -> bool {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), before).unwrap();
    let session = Session::load(Source::open(file.path()).unwrap(), LoadOptions::INDEX_ONLY, 1).unwrap();
    fs::write(file.path(), after).unwrap();
    let mut bodies = Bodies::new(&session);
    let mut read = |node| bodies.entry(node).map(|_| ()).map_err(|error| error.kind().name());
    let read: Vec<_> = session.nodes().map(&mut read).collect();
    assert!(read.iter().all(|read| matches!(read, Ok(()) | Err("changed"))), "{read:?}");
    read.contains(&Err("changed"))
}

#[test]
fn changed_file_is_noticed() {
    let is_long = |bytes: &Vec<u8>| bytes.starts_with(b"{") && support::session(bytes).len() > 20;
    let before = (1..).map(random::session).find(is_long).unwrap();
    let header = before.iter().position(|&byte| byte == b'\n').unwrap();
    assert!(!is_noticed(&before, &before), "the same bytes");
    assert!(!is_noticed(&before, &[&before[..], b"{\"more\":1}\n"].concat()), "more lines");
    assert!(is_noticed(&before, &before[..header + 1]), "cut to its header");
    assert!(is_noticed(&before, &before[..before.len() / 2]), "cut in half");
    assert!(is_noticed(&before, &[b" ", &before[..]].concat()), "moved by a byte");
    assert!(is_noticed(&before, &random::session(4).repeat(9)), "another session");
    assert!(is_noticed(&before, &b"\0".repeat(before.len())), "zeros");
    let with = |line: &str| format!("{{\"type\":\"session\",\"version\":3,\"id\":\"s\"}}\n{line}\n");
    let before = with(r#"{"type":"custom","id":"a","data":"words"}"#);
    for (after, what) in [
        (r#"{"type":"custom","id":"a","data":"word"} "#, "shorter"),
        (r#"{"type":"custom","id":"b","data":"words"}"#, "another id"),
        (r#"{"type":"labels","id":"a","data":"words"}"#, "another type"),
    ] {
        assert!(is_noticed(before.as_bytes(), with(after).as_bytes()), "{what}");
    }
}

/// The words of a row are the text with its white space collapsed, or as much of its start as fits.
#[test]
fn words_are_the_start_of_the_text() {
    const PIECES: [&str; 14] =
        ["a", "bc", "word", " ", "  ", "\n", "\t", "\u{a0}", "é", "日本", "🙂", "👩\u{200d}👦", "\"", "\\"];
    let mut random = Random::new(5);
    for _ in 0..600 {
        let pieces = 1 + random.below(260);
        let text: String = (0..pieces).map(|_| random.pick(&PIECES)).collect();
        let json = serde_json::to_string(&text).unwrap();
        let file = format!(
            "{{\"type\":\"session\",\"version\":3,\"id\":\"s\"}}\n\
             {{\"type\":\"message\",\"id\":\"x\",\"message\":{{\"role\":\"user\",\"content\":{json}}}}}"
        );
        let session = load(file.as_bytes(), WORDS, 1).unwrap();
        let words = Bodies::new(&session).words(session.leaf().unwrap()).unwrap();
        let whole = text.split_whitespace().collect::<Vec<_>>().join(" ");
        match whole.chars().count() {
            0 => assert_eq!(words, "(empty)"),
            1..=200 => assert_eq!(words, whole),
            _ => {
                assert!(whole.starts_with(&words), "{words:?} of {whole:?}");
                assert!((190..=200).contains(&words.chars().count()), "{words:?}");
                assert_eq!(words.trim_end(), words, "no space at the end");
            }
        }
    }
}

/// Ways to spell members that a reader may not care for, but must not change.
const SPELLINGS: [&str; 12] = [
    r#""n":1E5"#,
    r#""n":-0.0"#,
    r#""n":12345678901234567890123"#,
    r#""n":1e400"#,
    r#""s":"\u00e9\/\ud83d\u0000\u001b""#,
    r#""s":"é🙂 \" \\ \b\f""#,
    r#" "spaced" : [ 1 , { } ] "#,
    r#""twice":1,"twice":2"#,
    r#""id":"not this one""#,
    r#""\u0069d":"nor this one""#,
    r#""parentId":"nor that one""#,
    r#""deep":[[[[[[[[[[[[{"a":[]}]]]]]]]]]]]]"#,
];

/// `tree --format json` is built from the lines as they are, in whatever way they are spelled.
#[test]
fn nested_json_holds_every_entry_as_it_stands_in_the_file() {
    for seed in 1..=40 {
        let mut random = Random::new(seed);
        let count = 1 + random.below(25);
        let mut file = r#"{"type":"session","version":3,"id":"s"}"#.to_owned() + "\n";
        let mut entries = Vec::new();
        for at in 0..count {
            let parent = random.below(at + 1).checked_sub(1);
            let mut members = vec![r#""type":"custom""#.to_owned()];
            members.extend((0..random.below(4)).map(|_| random.pick(&SPELLINGS).to_owned()));
            // Of members with one name the last one counts.
            members.push(format!(r#""id":"e{at:03}""#));
            members.push(format!(r#""parentId":{}"#, parent.map_or("null".to_owned(), |at| format!("\"e{at:03}\""))));
            let entry = format!("{{{}}}", members.join(random.pick(&[",", " ,", ", "])));
            let around = random.pick(&["", " ", "\t"]);
            writeln!(file, "{around}{entry}{around}{}", random.pick(&["", "\r"])).unwrap();
            entries.push((parent, entry));
        }
        let json = support::run_with_input(["tree", "-", "--json", "--filter", "all", "--root"], file.as_bytes()).ok();
        assert_eq!(json, format!("[{}]\n", nested(&entries, None)), "{file}");
    }
}

/// Returns the nodes below a parent; all have the same time, so they stay in the order of the file.
fn nested(entries: &[(Option<usize>, String)], parent: Option<usize>) -> String {
    let children = entries.iter().enumerate().filter(|(_, (of, _))| *of == parent);
    let node = |(at, (_, entry)): (usize, &(_, String))| {
        format!(r#"{{"entry":{entry},"children":[{}]}}"#, nested(entries, Some(at)))
    };
    children.map(node).collect::<Vec<_>>().join(",")
}

#[test]
fn every_command_reads_random_sessions() {
    const COMMANDS: [&[&str]; 7] = [
        &["tree", "-"],
        &["tree", "-", "--filter", "all", "--format", "jsonl", "--full"],
        &["tree", "-", "--filter", "all", "--json"],
        &["tree", "-", "--format", "table", "--search", "o"],
        &["context", "-", "--format", "llm"],
        &["label", "-"],
        &["branch", "-", "--json"],
    ];
    for seed in 1..=40 {
        let bytes = random::session(1000 + seed);
        let entries = support::session(&bytes).len();
        for command in COMMANDS {
            let run = support::run_with_input(command, &bytes);
            let found = i32::from(command.contains(&"--search") && run.stdout.lines().count() == 1);
            assert_eq!(run.code, found, "{command:?} on session {}: {run:?}", 1000 + seed);
            match command.last().unwrap() {
                &"--full" => assert_eq!(run.stdout.lines().filter(|line| is_json(line)).count(), entries),
                &"--json" | &"llm" => assert!(is_json(&run.stdout), "{command:?}: {run:?}"),
                _ => {}
            }
        }
    }
}

/// What an id holds cannot keep a message from being JSON that says so.
#[test]
fn errors_can_name_any_id() {
    for char in "\"\\\n\t\u{1b}\u{7f}\u{9b}\u{200e}\u{202e}\u{2028}\u{feff}\u{e0001}\u{e007f}é🙂".chars() {
        let parent = format!("a{char}b");
        let id = serde_json::to_string(&parent).unwrap();
        let file = format!("{{\"type\":\"session\",\"version\":3,\"id\":\"s\"}}\n{{\"id\":\"x\",\"parentId\":{id}}}\n");
        let run = support::run_with_input(["tree", "-", "--format", "jsonl", "--filter", "all"], file.as_bytes());
        let warning: Value = serde_json::from_str(&run.stderr).expect(&run.stderr);
        let message = warning["warning"]["message"].as_str().unwrap();
        assert!(message.contains(&format!("parent `{parent}` of")), "{char:?}: {message:?}");
        assert!(!run.stderr.trim_end().contains(['\u{1b}', '\u{7f}', '\u{9b}', '\u{202e}', '\u{e0001}']), "{run:?}");
        let row: Value = serde_json::from_str(&run.stdout).expect(&run.stdout);
        assert_eq!(row["missingParent"], parent);
    }
}
