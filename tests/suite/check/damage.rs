//! `check` on damage: a sound file, one damage of each kind at random places. The code stands at
//! that line, nothing of error severity is reported that does not follow from it, and the number
//! of lost entries is what agents lose, as far as they are modelled here: entries by id, the later
//! one counting, from the last line up.

use std::collections::{HashMap, HashSet};
use std::fs;

use serde_json::{Value, json};
use session_tree::core::check::Severity;

use crate::check::files::findings;
use crate::support::data;

/// Numbers that look random and are the same every time (xorshift).
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % count as u64).unwrap()
    }
}

/// A file that can be damaged.
struct File {
    lines: Vec<Vec<u8>>,
    /// Whether a LF ends the last line.
    ends: bool,
}

impl File {
    fn read(name: &str) -> Self {
        let bytes = fs::read(data(name)).unwrap();
        let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect();
        Self { lines, ends: true }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.lines.join(&b'\n');
        if self.ends {
            bytes.push(b'\n');
        }
        bytes
    }

    fn value(&self, at: usize) -> Value {
        serde_json::from_slice(&self.lines[at]).unwrap()
    }

    /// Changes the entry on a line.
    fn change(&mut self, at: usize, change: impl FnOnce(&mut Value)) {
        let mut value = self.value(at);
        change(&mut value);
        self.lines[at] = serde_json::to_vec(&value).unwrap();
    }

    fn id(&self, at: usize) -> String {
        self.value(at)["id"].as_str().unwrap().to_owned()
    }

    /// Returns the lines whose entries name an id as their parent.
    fn children(&self, id: &str) -> Vec<usize> {
        (1..self.lines.len()).filter(|&at| self.value(at)["parentId"] == id).collect()
    }

    /// Picks a line of messages with a role.
    fn pick(&self, random: &mut Random, role: &str) -> usize {
        let with: Vec<_> = (1..self.lines.len()).filter(|&at| self.value(at)["message"]["role"] == role).collect();
        with[random.below(with.len())]
    }

    /// Reads the file as agents do.
    fn opened(&self) -> Opened {
        let mut parents: HashMap<String, Option<String>> = HashMap::new();
        let mut leaf = None;
        for line in &self.lines {
            let Ok(value) = serde_json::from_slice::<Value>(line) else { continue };
            if value["type"] == "session" {
                continue;
            }
            leaf = value["id"].as_str().map(str::to_owned);
            if let Some(id) = &leaf {
                parents.insert(id.clone(), value["parentId"].as_str().map(str::to_owned));
            }
        }
        let mut path = HashSet::new();
        while let Some((id, parent)) = leaf.as_ref().and_then(|id| parents.get_key_value(id)) {
            if !path.insert(id.clone()) {
                // They go round for ever, and nothing is opened.
                return Opened::default();
            }
            leaf = parent.clone();
        }
        Opened { ids: parents.into_keys().collect(), path }
    }
}

/// What agents have of a file.
#[derive(Default)]
struct Opened {
    ids: HashSet<String>,
    /// The entries from the root to the leaf.
    path: HashSet<String>,
}

impl Opened {
    /// Returns how many entries are lost after damage: not read any more, or fallen off the path.
    fn lost(&self, after: &Self) -> usize {
        self.ids
            .iter()
            .filter(|id| !after.ids.contains(*id) || self.path.contains(*id) && !after.path.contains(*id))
            .count()
    }
}

/// What a damage must give.
struct Expected {
    code: &'static str,
    /// 1-based.
    line: usize,
    /// What else of error severity may follow from it.
    follows: &'static [&'static str],
    /// Whether the number of lost entries is compared.
    counts: bool,
}

const fn expect(code: &'static str, line: usize) -> Option<Expected> {
    Some(Expected { code, line, follows: &[], counts: false })
}

const fn follow(code: &'static str, line: usize, follows: &'static [&'static str]) -> Option<Expected> {
    Some(Expected { code, line, follows, counts: true })
}

/// Does one damage; `None` if it cannot be done there.
type Damage = fn(&mut File, usize, &mut Random) -> Option<Expected>;

const DAMAGES: &[(&str, Damage)] = &[
    ("cut", |file, at, random| {
        let length = file.lines[at].len();
        file.lines[at].truncate(length / 2 + random.below(length / 2 - 1));
        follow("E005", at + 1, &["E011"])
    }),
    ("scrambled", |file, at, _| {
        let middle = file.lines[at].len() / 2;
        file.lines[at].splice(middle..middle, *b"\x01");
        follow("E005", at + 1, &["E011"])
    }),
    ("removed", |file, at, _| {
        let id = file.id(at);
        file.lines.remove(at);
        let child = file.children(&id).first().copied()?;
        Some(Expected { code: "E011", line: child + 1, follows: &["E011"], counts: false })
    }),
    ("torn", |file, _, random| {
        let last = file.lines.len() - 1;
        let length = file.lines[last].len();
        file.lines[last].truncate(length / 2 + random.below(length / 2 - 1));
        file.ends = false;
        follow("E006", last + 1, &[])
    }),
    ("no line end", |file, _, _| {
        file.ends = false;
        expect("W023", file.lines.len())
    }),
    ("NUL line", |file, at, random| {
        file.lines.insert(at, vec![0; 1 + random.below(4000)]);
        follow("E008", at + 1, &[])
    }),
    ("NUL prefix", |file, at, random| {
        let nuls = vec![0; 1 + random.below(4000)];
        file.lines[at].splice(..0, nuls);
        follow("E008", at + 1, &["E011"])
    }),
    ("glued", |file, at, _| {
        if at + 1 == file.lines.len() {
            return None;
        }
        let next = file.lines.remove(at + 1);
        file.lines[at].extend(next);
        follow("E007", at + 1, &["E011"])
    }),
    ("fused", |file, at, random| {
        if at + 1 == file.lines.len() {
            return None;
        }
        let next = file.lines.remove(at + 1);
        let length = file.lines[at].len();
        file.lines[at].truncate(length / 2 + random.below(length / 2 - 1));
        file.lines[at].extend(next);
        follow("E007", at + 1, &["E011"])
    }),
    ("BOM", |file, _, _| {
        file.lines[0].splice(..0, *b"\xef\xbb\xbf");
        expect("E009", 1)
    }),
    ("bad UTF-8", |file, at, _| {
        let text = text_of(&file.lines[at])?;
        file.lines[at].insert(text, 0xff);
        expect("W004", at + 1)
    }),
    ("half a pair", |file, at, random| {
        let text = text_of(&file.lines[at])?;
        let half = [&br"\ud83d"[..], br"\uDE42"][random.below(2)];
        file.lines[at].splice(text..text, half.iter().copied());
        expect("W005", at + 1)
    }),
    ("terminal escape", |file, at, _| {
        let text = text_of(&file.lines[at])?;
        // There is nothing to do about what programs print.
        let is_output = file.lines[at].windows(12).any(|window| window == b"\"toolResult\"");
        if is_output {
            return None;
        }
        file.lines[at].splice(text..text, *br"\u001b]0;x\u0007");
        expect("W022", at + 1)
    }),
    ("no header", |file, _, _| {
        file.lines.remove(0);
        expect("E001", 1)
    }),
    ("header cut", |file, _, _| {
        file.lines[0].truncate(60);
        expect("E003", 1)
    }),
    ("header without id", |file, _, _| {
        file.change(0, |header| drop(header.as_object_mut().unwrap().remove("id")));
        expect("E003", 1)
    }),
    ("header not first", |file, _, _| {
        file.lines.insert(0, br#"{"type":"wrapper"}"#.to_vec());
        expect("E004", 1)
    }),
    ("second header", |file, at, _| {
        let header = file.lines[0].clone();
        file.lines.insert(at, header);
        expect("W001", at + 1)
    }),
    ("no version", |file, _, _| {
        file.change(0, |header| drop(header.as_object_mut().unwrap().remove("version")));
        expect("E015", 1)
    }),
    ("odd version", |file, _, random| {
        let odd = [json!(0), json!(1.5), json!(true), json!("0"), json!([])][random.below(5)].clone();
        file.change(0, |header| header["version"] = odd);
        expect("E015", 1)
    }),
    ("newer version", |file, _, _| {
        file.change(0, |header| header["version"] = json!(4));
        expect("W003", 1)
    }),
    ("old version", |file, _, _| {
        file.change(0, |header| header["version"] = json!(2));
        expect("W002", 1)
    }),
    ("odd header", |file, _, _| {
        file.change(0, |header| header["id"] = json!("../x"));
        expect("W024", 1)
    }),
    ("repeated line", |file, at, _| {
        let line = file.lines[at].clone();
        file.lines.insert(at + 1, line);
        follow("W006", at + 2, &[])
    }),
    ("repeated id", |file, at, random| {
        if at < 2 {
            return None;
        }
        let id = file.id(1 + random.below(at - 1));
        file.change(at, |entry| entry["id"] = json!(id));
        Some(Expected { code: "E010", line: at + 1, follows: &["E011", "E012", "E013"], counts: false })
    }),
    ("orphan", |file, at, _| {
        file.change(at, |entry| entry["parentId"] = json!("not-here"));
        Some(Expected { code: "E011", line: at + 1, follows: &[], counts: at > 1 })
    }),
    ("own parent", |file, at, _| {
        let id = file.id(at);
        file.change(at, |entry| entry["parentId"] = json!(id));
        follow("E013", at + 1, &[])
    }),
    ("loop", |file, at, random| {
        let mut below = at;
        for _ in 0..=random.below(5) {
            let children = file.children(&file.id(below));
            below = *children.first().unwrap_or(&below);
        }
        let id = (below != at).then(|| file.id(below))?;
        file.change(at, |entry| entry["parentId"] = json!(id));
        follow("E012", at + 1, &[])
    }),
    ("no parent", |file, at, _| {
        if at < 2 {
            return None;
        }
        file.change(at, |entry| drop(entry.as_object_mut().unwrap().remove("parentId")));
        expect("W018", at + 1)
    }),
    ("foreign line", |file, at, random| {
        let line = [&br#"{"type":"wrapper","x":1}"#[..], b"{}"][random.below(2)];
        file.lines.insert(at, line.to_vec());
        expect("W007", at + 1)
    }),
    ("foreign leaf", |file, _, random| {
        let line = [&br#"{"type":"wrapper","x":1}"#[..], b"{}", b"42", b"[]"][random.below(4)];
        file.lines.push(line.to_vec());
        follow("E014", file.lines.len(), &[])
    }),
    ("no object", |file, at, random| {
        let line = [&b"42"[..], b"\"text\"", b"true", b"[]"][random.below(4)];
        file.lines.insert(at, line.to_vec());
        expect("W007", at + 1)
    }),
    ("no type", |file, at, _| {
        file.change(at, |entry| drop(entry.as_object_mut().unwrap().remove("type")));
        expect("W025", at + 1)
    }),
    ("no message", |file, _, random| {
        let at = file.pick(random, "user");
        file.change(at, |entry| entry["message"] = Value::Null);
        expect("E016", at + 1)
    }),
    ("unknown role", |file, _, random| {
        let at = file.pick(random, "user");
        file.change(at, |entry| entry["message"]["role"] = json!("martian"));
        expect("E016", at + 1)
    }),
    ("no content", |file, _, random| {
        let role = ["user", "toolResult"][random.below(2)];
        let at = file.pick(random, role);
        file.change(at, |entry| drop(entry["message"].as_object_mut().unwrap().remove("content")));
        expect("E017", at + 1)
    }),
    ("odd content", |file, _, random| {
        let at = file.pick(random, "user");
        let odd = [json!(5), json!({}), json!([null]), json!([{"text": "x"}]), json!([{"type": "text"}])];
        let odd = odd[random.below(5)].clone();
        file.change(at, |entry| entry["message"]["content"] = odd);
        expect("W015", at + 1)
    }),
    ("no usage", |file, _, random| {
        let at = file.pick(random, "assistant");
        file.change(at, |entry| drop(entry["message"].as_object_mut().unwrap().remove("usage")));
        expect("E018", at + 1)
    }),
    ("usage without cost", |file, _, random| {
        let at = file.pick(random, "assistant");
        let odd = [json!({}), json!(5), json!({"cost": null})][random.below(3)].clone();
        file.change(at, |entry| entry["message"]["usage"] = odd);
        expect("E019", at + 1)
    }),
    ("no time", |file, at, random| {
        let odd = [Value::Null, json!("yesterday"), json!({})][random.below(3)].clone();
        file.change(at, |entry| entry["timestamp"] = odd);
        expect("W016", at + 1)
    }),
    ("back in time", |file, at, _| {
        if at < 2 || file.value(at)["type"] == "label" || file.value(at)["parentId"].is_null() {
            return None;
        }
        file.change(at, |entry| entry["timestamp"] = json!("2001-01-01T00:00:00.000Z"));
        expect("W017", at + 1)
    }),
    ("label for nothing", |file, _, _| {
        let last = file.id(file.lines.len() - 1);
        let label = json!({"type": "label", "id": "ffff0001", "parentId": last, "timestamp": "2030-01-01T00:00:00.000Z", "targetId": "gone", "label": "x"});
        file.lines.push(serde_json::to_vec(&label).unwrap());
        expect("W009", file.lines.len())
    }),
    ("label on an old branch", |file, _, _| {
        let first = file.id(1);
        let label = json!({"type": "label", "id": "ffff0001", "parentId": first, "timestamp": "2030-01-01T00:00:00.000Z", "targetId": first, "label": "x"});
        file.lines.push(serde_json::to_vec(&label).unwrap());
        expect("W008", file.lines.len())
    }),
    ("compaction of nothing", |file, _, _| {
        let last = file.id(file.lines.len() - 1);
        let entry = json!({"type": "compaction", "id": "ffff0001", "parentId": last, "timestamp": "2030-01-01T00:00:00.000Z", "summary": "s", "firstKeptEntryId": "gone", "tokensBefore": 1});
        file.lines.push(serde_json::to_vec(&entry).unwrap());
        expect("W010", file.lines.len())
    }),
    ("no number as version", |file, _, random| {
        let odd = [json!("three"), json!(2.5), json!({})][random.below(3)].clone();
        file.change(0, |header| header["version"] = odd);
        expect("W024", 1)
    }),
    ("null", |file, at, _| {
        file.lines.insert(at, b"null".to_vec());
        expect("E005", at + 1)
    }),
    ("result without the id of its call", |file, _, random| {
        let at = file.pick(random, "toolResult");
        file.change(at, |entry| drop(entry["message"].as_object_mut().unwrap().remove("toolCallId")));
        expect("E021", at + 1)
    }),
    ("title slot of another size", |file, _, random| {
        let pad = " ".repeat(random.below(400));
        let slot = format!(r#"{{"type":"title","v":1,"title":"x","updatedAt":"","pad":"{pad}"}}"#);
        let code = if slot.len() < 255 { "E020" } else { "W032" };
        file.lines.insert(0, slot.into_bytes());
        expect(code, 1)
    }),
    ("title line that is no slot", |file, _, _| {
        file.lines.insert(0, br#"{"type":"title","v":1,"title":"x","updatedAt":""}"#.to_vec());
        expect("E004", 1)
    }),
];

/// Finds the inside of a text in a line.
fn text_of(line: &[u8]) -> Option<usize> {
    let mark = b"\"text\":\"";
    line.windows(mark.len()).position(|window| window == mark).map(|at| at + mark.len())
}

#[test]
fn every_kind_of_damage_gets_its_code_on_its_line() {
    for name in ["demo.jsonl", "check/healthy.jsonl"] {
        let sound = File::read(name).opened();
        for (at, (damage, apply)) in DAMAGES.iter().enumerate() {
            let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ (at as u64 + 1));
            let mut done = 0;
            for _ in 0..24 {
                let mut file = File::read(name);
                let line = 1 + random.below(file.lines.len() - 1);
                let Some(expected) = apply(&mut file, line, &mut random) else { continue };
                done += 1;
                verify(&format!("{name}: {damage} at line {}", line + 1), &file, &expected, &sound);
            }
            assert!(done > 0, "{name}: {damage} was never done");
        }
    }
}

fn verify(what: &str, file: &File, expected: &Expected, sound: &Opened) {
    let found = findings(&file.bytes());
    let is_it = |finding: &&session_tree::core::check::Finding| {
        finding.code.id() == expected.code && finding.line as usize == expected.line
    };
    let it = found.iter().find(is_it);
    let Some(it) = it else { panic!("{what}: no {} at line {}: {found:#?}", expected.code, expected.line) };
    for other in found.iter().filter(|other| other.code.severity() == Severity::Error) {
        let is_own = is_it(&other);
        assert!(is_own || expected.follows.contains(&other.code.id()), "{what}: {other:#?}");
    }
    if expected.counts {
        let lost = sound.lost(&file.opened());
        // Off the path a loop is lost although it is read: no root leads to it.
        let is_loop_aside = expected.code == "E012" && lost == 0;
        assert!(is_loop_aside || it.unreachable == u32::try_from(lost).ok(), "{what}: {lost} are lost: {it:#?}");
    }
}
