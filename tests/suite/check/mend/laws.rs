//! What is true of every file that is mended: the fixes stay, nothing else changes, and a conversation is what
//! it was, less what the damage destroyed.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::time::Duration;

use session_tree::core::check::mend::{Fix, MendOptions, Mended, mend};
use session_tree::core::check::{Checked, Code};
use session_tree::core::context::{self, ContextMessage};
use session_tree::core::disk::lock::LockWait;
use session_tree::core::read::load::LoadOptions;
use session_tree::core::read::source::Source;
use session_tree::core::session::body::Bodies;
use session_tree::core::session::{NodeId, Session};

use super::damaged::{Damaged, id};
use crate::support::data;

/// A file that was mended.
struct Fixed {
    bytes: Vec<u8>,
    mended: Mended,
    after: Checked,
}

fn mended(bytes: &[u8], guesses: bool) -> Fixed {
    let source = Source::spool(bytes).unwrap();
    let options = MendOptions {
        guesses,
        now: "2026-03-01T00:00:00.000Z",
        name: None,
        blobs: None,
        jobs: 1,
        wait: LockWait { timeout: Duration::ZERO, now: &|| 0, stop: &|| None },
        wanted: &|_, _| true,
    };
    let (mended, after) = mend(&source, &options).unwrap();
    let mut bytes = Vec::new();
    mended.write(&source, &mut bytes).unwrap();
    Fixed { bytes, mended, after }
}

fn load(bytes: &[u8]) -> session_tree::core::error::Result<Session> {
    Session::load(Source::spool(bytes).unwrap(), LoadOptions::INDEX_ONLY, 1)
}

/// Returns the ids of the entries whose messages a model gets at an entry.
fn context(session: &Session, leaf: Option<NodeId>) -> Vec<String> {
    let context = context::build(&mut Bodies::new(session), leaf).unwrap();
    let ids = context.messages.iter().map(|message| match *message {
        ContextMessage::Stored(node)
        | ContextMessage::Custom(node)
        | ContextMessage::Branch(node)
        | ContextMessage::System(node)
        | ContextMessage::Compaction(node) => session.id(node).to_owned(),
        _ => "other".to_owned(),
    });
    ids.collect()
}

/// Checks the laws of all mended files.
#[track_caller]
fn check_laws(name: &str, bytes: &[u8], guesses: bool) -> Fixed {
    let fixed = mended(bytes, guesses);
    let again = mended(&fixed.bytes, guesses);
    assert!(again.mended.is_empty(), "{name}: mended again: {:?}", again.mended.fixes);
    assert_eq!(again.bytes, fixed.bytes, "{name}");
    let codes: BTreeSet<Code> = fixed.mended.fixes.iter().map(|fix| fix.code).collect();
    let left: Vec<_> = fixed.after.found.iter().filter(|finding| codes.contains(&finding.code)).collect();
    // What only a guess could mend stays; so does a role that is not known, and a record of version 1 on a damaged line.
    let is_list = load(&fixed.bytes).is_ok_and(|session| session.version == 1);
    let may_stay = |code: Code| match code {
        Code::MalformedLine | Code::NulRun => !guesses || is_list,
        _ => !guesses || code == Code::MalformedMessage,
    };
    assert!(left.iter().all(|finding| may_stay(finding.code)), "{name}: {left:?} of {:?}", fixed.mended.fixes);
    untouched(name, bytes, &fixed);
    fixed
}

/// Checks that the lines without a fix are there as they were, in their order.
fn untouched(name: &str, bytes: &[u8], fixed: &Fixed) {
    let touched: HashSet<u32> = fixed.mended.fixes.iter().map(|fix: &Fix| fix.line).collect();
    let mut lines = fixed.bytes.split_inclusive(|&byte| byte == b'\n');
    for (line, number) in bytes.split_inclusive(|&byte| byte == b'\n').zip(1..) {
        // A header that is moved to the front leaves its line.
        let is_header = line.starts_with(b"{\"type\":\"session\"");
        if !touched.contains(&number) && !is_header {
            assert!(lines.any(|other| other == line), "{name}: line {number} is not as it was");
        }
    }
}

#[test]
fn cases_of_public_reports_are_mended_once_and_for_all() {
    let mut count = 0;
    for entry in fs::read_dir(data("cases")).unwrap().map(|entry| entry.unwrap().path()) {
        let name = entry.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = fs::read(&entry).unwrap();
        for guesses in [false, true] {
            let fixed = check_laws(&name, &bytes, guesses);
            count += usize::from(!fixed.mended.is_empty());
            // What could be read before can be read after, and none is lost.
            let (Ok(before), Ok(after)) = (load(&bytes), load(&fixed.bytes)) else { continue };
            let ids: HashSet<&str> = after.nodes().map(|node| after.id(node)).collect();
            assert!(before.nodes().all(|node| ids.contains(before.id(node))), "{name}");
        }
    }
    assert!(count > 20, "{count}");
}

#[test]
fn records_of_version_1_keep_their_numbers() {
    let mut count = 0;
    for seed in 1..=300 {
        let damaged = Damaged::first(seed);
        let name = format!("seed {seed} {:?}", damaged.kinds);
        for guesses in [false, true] {
            let fixed = check_laws(&name, &damaged.bytes, guesses);
            count += usize::from(!fixed.mended.is_empty());
            let objects = |bytes: &[u8]| {
                let lines = bytes.split(|&byte| byte == b'\n');
                let objects = lines.filter(|line| serde_json::from_slice::<serde_json::Map<_, _>>(line).is_ok());
                objects.map(<[u8]>::to_vec).collect::<Vec<_>>()
            };
            // A header that is whole, but not alone on its line, makes it a session again.
            if load(&damaged.bytes).is_err() {
                continue;
            }
            assert_eq!(objects(&fixed.bytes).len(), objects(&damaged.bytes).len(), "{name}");
            let ids =
                |bytes: &[u8]| load(bytes).ok().map(|file| file.nodes().map(|at| file.id(at).to_owned()).collect());
            let (before, after): (Option<Vec<String>>, _) = (ids(&damaged.bytes), ids(&fixed.bytes));
            assert_eq!(before, after, "{name}");
        }
    }
    assert!(count > 100, "{count}");
}

/// What became of the conversation of a damaged file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    /// It is what it was, less what the damage destroyed.
    Same,
    /// It has entries of another branch: what the lost line named is not known.
    More,
    /// Something is missing that was not destroyed.
    Fewer,
    /// It goes on at another entry.
    Elsewhere,
    /// It is not a session any more.
    Unread,
}

fn verdict(damaged: &Damaged, fixed: &[u8]) -> Verdict {
    let Ok(after) = load(fixed) else { return Verdict::Unread };
    let sound = load((damaged.sound.join("\n") + "\n").as_bytes()).unwrap();
    let destroyed = damaged.destroyed();
    // The conversation goes on at the last entry that is left.
    let last = damaged.sound.iter().skip(1).map(|line| id(line)).rfind(|id| !destroyed.contains(id));
    let leaf = last.as_deref().and_then(|id| sound.find(id));
    let all: Vec<String> = context(&sound, leaf).into_iter().filter(|id| !destroyed.contains(id)).collect();
    let found = context(&after, after.leaf());
    let is_reached = |id: &String| found.contains(id);
    let own_leaf =
        after.leaf().map(|leaf| after.ancestors(leaf).map(|node| after.id(node).to_owned()).collect::<Vec<_>>());
    let is_there = own_leaf.is_some_and(|path| last.is_none_or(|last| path.contains(&last)));
    match (all.iter().all(is_reached), all.len() == found.len()) {
        (true, true) => Verdict::Same,
        (true, false) => Verdict::More,
        (false, _) if is_there => Verdict::Fewer,
        (false, _) => Verdict::Elsewhere,
    }
}

/// The table of `tests/README.md`.
const TABLE: [&str; 12] = [
    "NUL before {Same: 176, More: 1}",
    "NUL line {Same: 159, More: 2, Fewer: 1}",
    "all {Same: 988, More: 9, Fewer: 3}",
    "conflict {Same: 172}",
    "cut {Same: 153, More: 2, Fewer: 1}",
    "cut front {Same: 180, More: 2, Fewer: 1}",
    "doubled {Same: 186, More: 1}",
    "dropped {Same: 172, More: 7, Fewer: 2}",
    "glued {Same: 173, More: 1}",
    "glued fragment {Same: 165, More: 2}",
    "swapped {Same: 160}",
    "torn tail {Same: 174}",
];

#[test]
fn damaged_files_are_mended_to_what_they_were_less_what_was_destroyed() {
    let mut table: BTreeMap<&str, BTreeMap<Verdict, usize>> = BTreeMap::new();
    for seed in 1..=1000 {
        let damaged = Damaged::new(seed);
        let name = format!("seed {seed} {:?}", damaged.kinds);
        check_laws(&name, &damaged.bytes, false);
        let fixed = check_laws(&name, &damaged.bytes, true);
        let after = load(&fixed.bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        // Every entry that the damage left is there, and none is cut off.
        let destroyed = damaged.destroyed();
        for id in damaged.sound.iter().skip(1).map(|line| id(line)).filter(|id| !destroyed.contains(id)) {
            assert!(after.find(&id).is_some(), "{name}: {id} is gone");
        }
        let verdict = verdict(&damaged, &fixed.bytes);
        for kind in &damaged.kinds {
            *table.entry(kind).or_default().entry(verdict).or_default() += 1;
        }
        *table.entry("all").or_default().entry(verdict).or_default() += 1;
        // What went with a line is not known: its parent on another branch, what a compaction left out, or the
        // order of lines that were swapped beside a gap.
        let may_differ = damaged.is_branched || damaged.lost_compaction() || damaged.kinds.contains("swapped");
        assert!(verdict == Verdict::Same || may_differ, "{name}: {verdict:?}");
    }
    let table: Vec<_> = table.iter().map(|(kind, counts)| format!("{kind} {counts:?}")).collect();
    assert_eq!(table, TABLE);
}
