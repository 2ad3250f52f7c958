//! Sessions as agents write them, and the damage that files get: lines that are cut, glued, full of NUL bytes,
//! dropped, swapped, or doubled.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::check::damage::Random;

const HEADER: &str = r#"{"type":"session","version":3,"id":"0198f000-0000-7000-8000-00000000d0d0","timestamp":"2026-02-01T08:00:00.000Z","cwd":"/home/sam/demo"}"#;

/// A damaged file, and what it was.
pub(super) struct Damaged {
    /// The lines of the sound file, the header first.
    pub(super) sound: Vec<String>,
    /// The bytes that are left.
    pub(super) bytes: Vec<u8>,
    /// What was done.
    pub(super) kinds: BTreeSet<&'static str>,
    /// Whether the sound file has forks.
    pub(super) is_branched: bool,
}

/// The kinds of damage.
pub(super) const KINDS: [&str; 11] = [
    "cut",
    "cut front",
    "glued",
    "glued fragment",
    "NUL before",
    "NUL line",
    "dropped",
    "swapped",
    "doubled",
    "torn tail",
    "conflict",
];

impl Damaged {
    /// Makes one; the same seed always makes the same.
    pub(super) fn new(seed: u64) -> Self {
        Self::of(seed, str::to_owned)
    }

    /// Makes one of version 1, a plain list without ids.
    pub(super) fn first(seed: u64) -> Self {
        Self::of(seed, |line| {
            let line = line.replace("\"version\":3,", "");
            match (line.starts_with("{\"type\":\"session\""), line.find(",\"id\":"), line.find(",\"timestamp\":")) {
                (false, Some(from), Some(to)) => line[..from].to_owned() + &line[to..],
                _ => line,
            }
        })
    }

    fn of(seed: u64, spell: fn(&str) -> String) -> Self {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let (sound, is_branched) = session(&mut random);
        let sound: Vec<String> = sound.iter().map(|line| spell(line)).collect();
        let mut lines: Vec<Vec<u8>> = sound.iter().map(|line| format!("{line}\n").into_bytes()).collect();
        let mut kinds = BTreeSet::new();
        for _ in 0..1 + random.below(3) {
            let kind = KINDS[random.below(KINDS.len())];
            damage(&mut lines, kind, &mut random);
            kinds.insert(kind);
        }
        Self { sound, bytes: lines.concat(), kinds, is_branched }
    }

    /// Returns the ids of the entries that are nowhere whole in the file any more.
    pub(super) fn destroyed(&self) -> BTreeSet<String> {
        let is_whole = |line: &String| memchr::memmem::find(&self.bytes, line.as_bytes()).is_some();
        self.sound.iter().skip(1).filter(|line| !is_whole(line)).map(|line| id(line)).collect()
    }

    /// Returns whether a compaction is gone, so that a model gets again what that left out.
    pub(super) fn lost_compaction(&self) -> bool {
        let destroyed = self.destroyed();
        self.sound
            .iter()
            .skip(1)
            .any(|line| line.starts_with(r#"{"type":"compaction""#) && destroyed.contains(&id(line)))
    }
}

/// Returns the id on a sound line.
pub(super) fn id(line: &str) -> String {
    let entry: Value = serde_json::from_str(line).unwrap();
    entry["id"].as_str().unwrap().to_owned()
}

/// Makes a session of turns, settings, labels, branches and perhaps a compaction.
fn session(random: &mut Random) -> (Vec<String>, bool) {
    let mut lines = vec![HEADER.to_owned()];
    let mut ids: Vec<String> = Vec::new();
    // Prompts, at whose parents branches start.
    let mut forks: Vec<Option<usize>> = Vec::new();
    let (mut leaf, mut is_branched) = (None::<usize>, false);
    let has_branches = random.below(2) == 0;
    for turn in 0..2 + random.below(7) {
        if has_branches && turn > 1 && random.below(3) == 0 {
            leaf = forks[random.below(forks.len())];
            is_branched = true;
        }
        let mut push = |kind: &str, members: Value| {
            let at = ids.len();
            let parent = leaf.map(|leaf: usize| ids[leaf].clone());
            let time = format!("2026-02-01T08:{:02}:{:02}.000Z", at / 60, at % 60);
            let id = format!("{:08x}", 0xa000_0000_u32 + u32::try_from(at).unwrap());
            let (parent, members) = (json!(parent), members.to_string());
            // Agents write these members first.
            let base = format!(r#""type":"{kind}","id":"{id}","parentId":{parent},"timestamp":"{time}""#);
            lines.push(format!("{{{base},{}", &members[1..]));
            ids.push(id);
            leaf = Some(at);
            at
        };
        if random.below(6) == 0 {
            push("thinking_level_change", json!({"thinkingLevel": "high"}));
        }
        let text = format!("question {turn} {{\"type\":\"message\"}} {}", "x".repeat(random.below(200)));
        let prompt =
            push("message", json!({"message": {"role": "user", "content": text, "timestamp": 1_769_932_800_000_u64}}));
        let usage = json!({"input": 5, "output": 7, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 12,
            "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}});
        let answer = |content: Value, stop: &str| {
            json!({"message": {"role": "assistant", "content": content, "api": "openai-completions", "provider": "acme",
                "model": "m-1", "usage": usage, "stopReason": stop, "timestamp": 1_769_932_800_000_u64}})
        };
        if random.below(2) == 0 {
            let call = format!("call_{prompt}");
            // An inner object with the members of an entry.
            let arguments = json!({"path": "a.rs", "entry": {"type": "x", "id": "y"}});
            push(
                "message",
                answer(json!([{"type": "toolCall", "id": call, "name": "read", "arguments": arguments}]), "toolUse"),
            );
            push(
                "message",
                json!({"message": {"role": "toolResult", "toolCallId": call, "toolName": "read",
                "content": [{"type": "text", "text": "fn main() {}"}], "isError": false, "timestamp": 1_769_932_800_000_u64}}),
            );
        }
        let last = push("message", answer(json!([{"type": "text", "text": format!("answer {turn}")}]), "stop"));
        if random.below(5) == 0 {
            push(
                "label",
                json!({"targetId": format!("{:08x}", 0xa000_0000_u32 + u32::try_from(last).unwrap()), "label": "good"}),
            );
        }
        if random.below(9) == 0 {
            let kept = format!("{:08x}", 0xa000_0000_u32 + u32::try_from(prompt).unwrap());
            push("compaction", json!({"summary": "so far", "firstKeptEntryId": kept, "tokensBefore": 900}));
        }
        forks.push(Some(last));
    }
    (lines, is_branched)
}

fn damage(lines: &mut Vec<Vec<u8>>, kind: &str, random: &mut Random) {
    if lines.len() < 3 {
        return;
    }
    // The header is damaged, too, but not as often as it stands on one of many lines.
    let at = if random.below(12) == 0 { 0 } else { 1 + random.below(lines.len() - 2) };
    let len = lines[at].len();
    match kind {
        "cut" => lines[at] = [&lines[at][..len * (1 + random.below(9)) / 10], b"\n"].concat(),
        "cut front" => drop(lines[at].drain(..len * (1 + random.below(9)) / 10)),
        "glued" => drop(lines[at].pop()),
        "glued fragment" => lines[at].truncate(len * (1 + random.below(9)) / 10),
        "NUL before" => drop(lines[at].splice(..0, vec![0; 1 + random.below(600)])),
        "NUL line" => lines.insert(at, [vec![0; 1 + random.below(600)], vec![b'\n']].concat()),
        "dropped" => {
            let count = (1 + random.below(3)).min(lines.len() - at);
            lines.drain(at..at + count);
        }
        "swapped" => lines.swap(at, at + 1),
        "doubled" => {
            let copy = lines[at].clone();
            let to = if random.below(2) == 0 { at + 1 } else { at + 1 + random.below(lines.len() - at) };
            lines.insert(to, copy);
        }
        "torn tail" => {
            let last = lines.last_mut().unwrap();
            last.truncate(last.len() * (1 + random.below(9)) / 10);
        }
        _ => {
            let end = (at + 1 + random.below(3)).min(lines.len());
            lines.insert(end, b">>>>>>> other\n".to_vec());
            lines.insert(at + 1, b"=======\n".to_vec());
            lines.insert(at.max(1), b"<<<<<<< HEAD\n".to_vec());
        }
    }
}

/// Also makes files for other programs (`tests/README.md`, "Damaged files").
#[test]
fn damaged_files_are_the_same_each_time() {
    let folder = std::env::var_os("DAMAGED_FOLDER").map(PathBuf::from);
    let mut kinds = BTreeSet::new();
    for seed in 1..=1000 {
        let damaged = Damaged::new(seed);
        assert_eq!(damaged.bytes, Damaged::new(seed).bytes, "seed {seed}");
        if let Some(folder) = &folder {
            let file = |what: &str| folder.join(format!("{seed:04}.{what}.jsonl"));
            fs::write(file("sound"), damaged.sound.join("\n") + "\n").unwrap();
            fs::write(file("damaged"), &damaged.bytes).unwrap();
        }
        kinds.extend(damaged.kinds);
    }
    assert_eq!(kinds, BTreeSet::from(KINDS));
}
