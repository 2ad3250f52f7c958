//! Copies of whole trees on random sessions: less some branches, and with stand-ins for what people wrote.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;
use session_tree::core::check;
use session_tree::core::context::{self, stats};
use session_tree::core::edit::commit;
use session_tree::core::edit::new_session::NewSession;
use session_tree::core::edit::stand_in::{StandInKey, StandIns};
use session_tree::core::edit::tree_copy::TreeCopy;
use session_tree::core::error::Error;
use session_tree::core::read::load::LoadOptions;
use session_tree::core::read::source::Source;
use session_tree::core::session::body::Bodies;
use session_tree::core::session::{NodeId, Session};
use session_tree::core::tree::tips;
use uuid::Uuid;

use super::random::{self, Random};
use super::{SESSIONS, id, ids};
use crate::support;

/// Writes a copy of a tree. With a seed it has stand-ins.
fn copy(session: &Session, plan: &TreeCopy, seed: Option<u64>) -> Vec<u8> {
    let key = seed.map(|seed| StandInKey::new(Uuid::from_u64_pair(seed, 1)));
    let stand_ins = key.map(|key| StandIns::new(session, key));
    let new = NewSession { id: "new".to_owned(), now: "2026-01-05T12:00:00.000Z".to_owned(), parent: None, stand_ins };
    let (mut out, mut next) = (Vec::new(), 0);
    let mut fresh = || {
        next += 1;
        format!("copy{next}")
    };
    plan.write(&mut Bodies::new(session), &new, &mut fresh, &mut out).unwrap();
    out
}

fn anonymized(session: &Session, seed: u64) -> Vec<u8> {
    let plan = TreeCopy::without(&mut Bodies::new(session), &[], None).unwrap();
    copy(session, &plan, Some(seed))
}

/// Returns random sessions of known versions, and those that are stored beside the tests.
fn sessions() -> impl Iterator<Item = (u64, Vec<u8>)> {
    let stored = ["golden", "cases", "sent", "effects"].iter().flat_map(|folder| {
        let files = fs::read_dir(support::data(folder)).unwrap().map(|file| file.unwrap().path());
        let mut files: Vec<_> =
            files.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl")).collect();
        files.sort();
        files
    });
    let stored = stored.map(|path| fs::read(path).unwrap()).chain([fs::read(support::data("demo.jsonl")).unwrap()]);
    let random = (1..=SESSIONS).map(random::session);
    // The numbers of random ones do not depend on what is stored.
    (1..).zip(random.chain(stored)).filter(|(_, bytes)| {
        let session = Source::spool(&bytes[..]).and_then(|source| Session::load(source, LoadOptions::INDEX_ONLY, 1));
        session.is_ok_and(|session| commit::check_known(&session).is_ok())
    })
}

/// Returns code and entry of each finding after the header, which is new.
fn findings(bytes: &[u8], header: u32) -> Vec<String> {
    let checked = check::check(Source::spool(bytes).unwrap(), None, 1).unwrap();
    let mut found = Vec::new();
    let each = &mut |finding: check::Finding| {
        if finding.line > header {
            found.push(format!("{} {:?} {:?}", finding.code.name(), finding.entry_id, finding.unreachable));
        }
        Ok::<_, Error>(())
    };
    checked.findings(&|_| true, each).unwrap();
    found.sort();
    found
}

#[test]
fn stand_ins_keep_tree_tips_and_findings() {
    let mut compared = 0;
    for (seed, bytes) in sessions() {
        let session = support::session(&bytes);
        let out = anonymized(&session, seed);
        let other = support::session(&out);
        let about = || format!("{}\nbecame\n{}", String::from_utf8_lossy(&bytes), String::from_utf8_lossy(&out));
        assert_eq!(ids(&other, other.nodes()), ids(&session, session.nodes()), "{}", about());
        assert_eq!(id(&other, other.leaf()), id(&session, session.leaf()), "{}", about());
        let (mut bodies, mut others) = (Bodies::new(&session), Bodies::new(&other));
        for (node, there) in session.nodes().zip(other.nodes()) {
            assert_eq!(id(&session, session.parent(node)), id(&other, other.parent(there)), "{}", about());
            assert_eq!(session.traits(node).kind, other.traits(there).kind, "{}", about());
            assert_eq!(session.role_name(node), other.role_name(there), "{}", about());
            assert_eq!(session.label(node).is_some(), other.label(there).is_some(), "{}", about());
            let (words, theirs) = (bodies.words(node).unwrap(), others.words(there).unwrap());
            // A range of lines is reckoned, and may get or lose a digit.
            assert!(
                words.chars().count().abs_diff(theirs.chars().count()) <= 2,
                "ROW {words}\nROW {theirs}\n{}",
                about()
            );
        }
        let tips = |session: &Session| {
            let name = |node: NodeId| session.id(node).to_owned();
            let tip = |tip: tips::Tip| (name(tip.node), tip.fork.map(name), tip.own.messages, tip.has_leaf);
            tips::of(session, session.leaf()).into_iter().map(tip).collect::<Vec<_>>()
        };
        assert_eq!(tips(&other), tips(&session), "{}", about());
        let usage = |session: &Session| {
            let mut bodies = Bodies::new(session);
            let context = context::build(&mut bodies, session.leaf()).unwrap();
            stats::measure(&mut bodies, &context, 1).unwrap().usage
        };
        assert_eq!(usage(&other), usage(&session), "{}", about());
        if !session.is_migrated() {
            assert_eq!(findings(&out, other.header.line), findings(&bytes, session.header.line), "{}", about());
            let lines = |bytes: &[u8]| bytes.iter().filter(|&&byte| byte == b'\n').count();
            let slots = session.header.line - other.header.line;
            assert_eq!(lines(&out) + usize::try_from(slots).unwrap(), lines(&bytes), "{}", about());
        }
        compared += 1;
    }
    assert!(compared > 400, "{compared}");
}

#[test]
fn stand_ins_of_one_file_are_the_same_and_those_of_two_keys_are_not() {
    let bytes = fs::read(support::data("demo.jsonl")).unwrap();
    let session = support::session(&bytes);
    assert_eq!(anonymized(&session, 1), anonymized(&session, 1));
    assert_ne!(anonymized(&session, 1), anonymized(&session, 2));
}

#[test]
fn ids_with_half_a_pair_hang_together_with_stand_ins_too() {
    let message = |id: &str, parent: &str| {
        format!(r#"{{"type":"message","id":{id},"parentId":{parent},"message":{{"role":"user","content":"x"}}}}"#)
    };
    let lines = [
        r#"{"type":"session","version":3,"id":"s"}"#.to_owned(),
        message(r#""one\ud800""#, "null"),
        message(r#""one\ud801""#, r#""one\ud800""#),
        message(r#""two""#, r#""one\ud801""#),
    ];
    let session = support::session(format!("{}\n", lines.join("\n")).as_bytes());
    let copy = anonymized(&session, 3);
    assert_eq!(support::session(&copy).roots().len(), 1, "{}", String::from_utf8_lossy(&copy));
}

/// A name that is replaced must not become one that means something: two letters are soon `id`.
#[test]
fn no_name_becomes_one_that_is_known() {
    for letter in 'a'..='z' {
        let names: Vec<_> = ('a'..='z').map(|second| format!("\"{letter}{second}\":1")).collect();
        let names = names.into_iter().filter(|name| name != "\"id\":1").collect::<Vec<_>>().join(",");
        let text = format!(
            "{{\"type\":\"session\",\"version\":3,\"id\":\"s\"}}\n{{\"type\":\"custom\",\"id\":\"a\",\"parentId\":null,{names}}}\n"
        );
        let session = support::session(text.as_bytes());
        for seed in 0..20 {
            let out = anonymized(&session, seed);
            assert_eq!(ids(&support::session(&out), support::session(&out).nodes()), ["a"], "{letter} {seed}");
        }
    }
}

/// A word that nobody would write, of letters and digits that a seed decides.
fn secret(random: &mut Random) -> String {
    let mut word = String::from("S");
    for _ in 0..14 {
        word.push(char::from(b"abcdefghijkmnpqrstuvwxyz23456789ABCDEFGHJKLMNPQRSTUVWXYZ"[random.below(56)]));
    }
    word
}

fn base64(text: &str) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let number =
            chunk.iter().fold(0_usize, |number, &byte| number << 8 | usize::from(byte)) << (8 * (3 - chunk.len()));
        let digits = (0..=chunk.len()).map(|at| char::from(DIGITS[(number >> (18 - 6 * at)) & 63]));
        out.extend(digits);
    }
    out
}

/// Puts a secret into JSON text in one of the ways in which it could be written.
fn written(secret: &str, way: usize) -> String {
    match way % 7 {
        0 => format!("/home/{secret}/x"),
        1 => secret.chars().map(|char| format!("\\u{:04x}", u32::from(char))).collect(),
        2 => base64(secret),
        3 => format!("mail {secret}@example.org, now"),
        4 => secret.bytes().map(|byte| format!("{byte:02x}")).collect(),
        5 => format!("a\\n{secret}\\t\\\"{secret}\\\""),
        _ => secret.bytes().map(|byte| format!("%{byte:02X}")).collect(),
    }
}

/// Lines with `§` wherever a person, a model or a program could have written something.
const LINES: &[&str] = &[
    r#"{"type":"message","id":"a1","parentId":null,"timestamp":"§","message":{"role":"user","content":"§","timestamp":1,"§":"§"}}"#,
    r#"{"type":"message","id":"a2","parentId":"a1","timestamp":"T","message":{"role":"assistant","content":[{"type":"thinking","thinking":"§","thinkingSignature":"§"},{"type":"text","text":"§","textSignature":"§"},{"type":"toolCall","id":"§","name":"§","arguments":{"path":"§","§":{"§":["§",{"model":"§","id":"§"}]}},"thoughtSignature":"§"},{"type":"§","data":"§","text":"§"}],"errorMessage":"§","stopReason":"§","responseId":"§","usage":{"input":1,"§":"§"},"diagnostics":["§"]}}"#,
    r#"{"type":"message","id":"a3","parentId":"a2","timestamp":"T","message":{"role":"toolResult","toolCallId":"§","toolName":"§","content":[{"type":"text","text":"§"},{"type":"image","data":"§","mimeType":"§","§":"§"}],"details":{"diff":"§","§":[["§"]]},"isError":false}}"#,
    r#"{"type":"message","id":"a4","parentId":"a3","timestamp":"T","message":{"role":"bashExecution","command":"§","output":"§","fullOutputPath":"§"}}"#,
    r#"{"type":"message","id":"a5","parentId":"a4","timestamp":"T","message":{"role":"pythonExecution","code":"§","output":"§"}}"#,
    r#"{"type":"message","id":"a6","parentId":"a5","timestamp":"T","message":{"role":"fileMention","files":[{"path":"§","content":"§","image":{"type":"image","data":"§","mimeType":"image/png"}}]}}"#,
    r#"{"type":"message","id":"a7","parentId":"a6","timestamp":"T","message":{"role":"system","content":"§","sections":{"§":"§"},"toolsAdded":[{"name":"§","description":"§","parameters":{"type":"object","properties":{"§":{"description":"§","enum":["§"]}}}}],"toolsRemoved":["§"]}}"#,
    r#"{"type":"message","id":"a8","parentId":"a7","timestamp":"T","message":{"role":"§","customType":"§","content":"§","details":"§"}}"#,
    r#"{"type":"custom_message","id":"b1","parentId":"a8","timestamp":"T","customType":"§","content":[{"type":"text","text":"§"}],"details":{"§":"§"},"attribution":"§"}"#,
    r#"{"type":"custom_message","id":"b2","parentId":"b1","timestamp":"T","customType":"skill-prompt","content":"§","details":{"args":"§","name":"§"},"attribution":"user"}"#,
    r#"{"type":"custom","id":"b3","parentId":"b2","timestamp":"T","customType":"§","data":{"§":"§","n":["§"]}}"#,
    r#"{"type":"branch_summary","id":"b4","parentId":"b3","timestamp":"T","fromId":"§","summary":"§","details":{"readFiles":["§"]}}"#,
    r#"{"type":"compaction","id":"b5","parentId":"b4","timestamp":"T","summary":"§","shortSummary":"§","firstKeptEntryId":"§","tokensBefore":5,"details":{"§":"§"},"preserveData":{"snapcompact":"§","§":"§"},"systemMessage":{"role":"system","content":"§","sections":{"§":"§"}},"method":"§","warning":"§","retainedTail":["§"]}"#,
    r#"{"type":"context_edit","id":"b6","parentId":"b5","timestamp":"T","targetId":"a1","replacement":{"content":"§"}}"#,
    r#"{"type":"label","id":"b7","parentId":"b6","timestamp":"T","targetId":"a1","label":"§"}"#,
    r#"{"type":"label","id":"b8","parentId":"b7","timestamp":"T","targetId":"§","label":"§"}"#,
    r#"{"type":"session_info","id":"b9","parentId":"b8","timestamp":"T","name":"§"}"#,
    r#"{"type":"session_init","id":"c1","parentId":"b9","timestamp":"T","systemPrompt":"§","task":"§","tools":["§",{"name":"§"}],"outputSchema":{"§":"§"}}"#,
    r#"{"type":"title_change","id":"c2","parentId":"c1","timestamp":"T","title":"§","previousTitle":"§","source":"§"}"#,
    r#"{"type":"mode_change","id":"c3","parentId":"c2","timestamp":"T","mode":"§","data":{"planFile":"§"}}"#,
    r#"{"type":"credential_pin","id":"c4","parentId":"c3","timestamp":"T","provider":"anthropic","hash":"§"}"#,
    r#"{"type":"mcp_tool_selection","id":"c5","parentId":"c4","timestamp":"T","selectedToolNames":["§","mcp__§"]}"#,
    r#"{"type":"ttsr_injection","id":"c6","parentId":"c5","timestamp":"T","injectedRules":["§"]}"#,
    r#"{"type":"service_tier_change","id":"c7","parentId":"c6","timestamp":"T","serviceTier":"§"}"#,
    r#"{"type":"thinking_level_change","id":"c8","parentId":"c7","timestamp":"T","thinkingLevel":"§","configured":"§"}"#,
    r#"{"type":"model_change","id":"c9","parentId":"c8","timestamp":"T","model":"p/m","role":"§"}"#,
    r#"{"type":"§","id":"d1","parentId":"c9","timestamp":"T","§":"§","payload":[{"§":["§"]},"§"]}"#,
    r#"{"type":"custom","id":"d2","parentId":"§","timestamp":["§"],"customType":{"§":"§"}}"#,
    r#"{"type":"session","version":3,"id":"§","cwd":"§","title":"§","parentSession":"§","additionalDirectories":["§"]}"#,
    r#"{"type":"othertool","uuid":"§","content":"§"}"#,
    r#"["§",{"§":"§"}]"#,
    r#""§""#,
    r#"{"type":"message","id":"e1","message":{"role":"user","content":"§ and then it broke"#,
    r#"{"type":"message","id":"e2"}{"type":"message","id":"e3","parentId":"a1","timestamp":"T","message":{"role":"user","content":"§"}}"#,
    "<<<<<<< §",
    "§",
    r#"{"type":"usage","id":"d3","parentId":"c9","timestamp":"T","usage":{"input":3,"cost":{"total":0.5,"§":"§"}},"§":"§"}"#,
];

#[test]
fn no_secret_survives_in_any_member_and_encoding() {
    let mut random = Random::new(20);
    let mut secrets = Vec::new();
    let mut text = String::from(r#"{"type":"session","version":3,"id":"s","timestamp":"T","cwd":"§","title":"§"}"#);
    text.push('\n');
    for round in 0..3 {
        for line in LINES {
            let line = line.replace("\"T\"", "\"2026-01-05T10:00:00.000Z\"");
            let mut pieces = line.split('§');
            let mut filled = pieces.next().unwrap().to_owned();
            for piece in pieces {
                let word = secret(&mut random);
                filled.push_str(&written(&word, secrets.len() + round));
                filled.push_str(piece);
                secrets.push(word);
            }
            text.push_str(&filled);
            text.push('\n');
        }
    }
    assert!(secrets.len() >= 400, "{}", secrets.len());
    let session = support::session(text.as_bytes());
    let out = String::from_utf8(anonymized(&session, 9)).unwrap();
    // What a reader of the file sees, too.
    let decoded: String =
        out.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()).map(strings).collect();
    let lower = |text: &str| text.to_lowercase();
    let (out, decoded) = (lower(&out), lower(&decoded));
    for word in &secrets {
        for way in 0..7 {
            let form = lower(&written(word, way));
            let form = form.trim_start_matches("/home/").trim_end_matches("/x").replace("mail ", "");
            let form = form.split("\\n").last().unwrap().split("\\t").next().unwrap().split('@').next().unwrap();
            assert!(!out.contains(form), "{word} as {form}");
            assert!(!decoded.contains(form), "{word} as {form}, decoded");
        }
    }
    // What is known stays readable.
    for kept in ["\"role\":\"bashexecution\"", "\"customtype\":\"skill-prompt\"", "\"tokensbefore\":5", "\"input\":3"] {
        assert!(out.contains(kept), "{kept}");
    }
}

/// Returns all strings of a value, names included.
fn strings(value: Value) -> String {
    match value {
        Value::String(text) => format!("{text}\n"),
        Value::Array(list) => list.into_iter().map(strings).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(name, value)| format!("{name}\n{}", strings(value))).collect()
        }
        other => format!("{other}\n"),
    }
}

/// What is kept of a tree is as it was: order, parents, contexts, labels; what is not is gone.
#[test]
fn a_copy_without_some_entries_has_all_others_as_they_were() {
    let (mut pruned, mut refused, mut whole) = (0, 0, 0);
    for (seed, bytes) in sessions() {
        let session = support::session(&bytes);
        let mut random = Random::new(seed);
        let nodes: Vec<_> = session.nodes().filter(|&node| !session.is_mark(node)).collect();
        if nodes.is_empty() {
            continue;
        }
        let chosen: Vec<_> = (0..random.below(3)).map(|_| nodes[random.below(nodes.len())]).collect();
        let stands = random.percent(30).then(|| nodes[random.below(nodes.len())]);
        let below = |node: NodeId| session.ancestors(node).any(|above| chosen.contains(&above));
        let plan = TreeCopy::without(&mut Bodies::new(&session), &chosen, stands);
        let leaf = stands.or(session.leaf());
        let Ok(plan) = plan else {
            assert!(leaf.is_some_and(below), "a leaf that stays is not refused");
            refused += 1;
            continue;
        };
        assert!(!leaf.is_some_and(below));
        let out = copy(&session, &plan, None);
        let other = support::session(&out);
        let about = || {
            let names = ids(&session, chosen.iter().copied());
            format!("{names:?} of\n{}\nbecame\n{}", String::from_utf8_lossy(&bytes), String::from_utf8_lossy(&out))
        };
        let kept: BTreeSet<_> = ids(&other, other.nodes()).into_iter().filter(|id| !id.starts_with("copy")).collect();
        let is_only = |name: &str| session.nodes().filter(|&node| session.id(node) == name).count() == 1;
        for node in session.nodes() {
            let name = session.id(node);
            let is_label = session.traits(node).kind.name() == Some("label");
            assert!(kept.contains(name) || below(node) || is_label, "{name} is gone\n{}", about());
            assert!(is_label || !kept.contains(name) || !below(node) || !is_only(name), "{name} stayed\n{}", about());
        }
        for node in other.nodes().filter(|&node| kept.contains(other.id(node))) {
            let old = session.find(other.id(node)).unwrap();
            if below(old) || !is_only(session.id(old)) {
                continue;
            }
            assert_eq!(
                session.label(old).map(|label| &label.name),
                other.label(node).map(|label| &label.name),
                "{}",
                about()
            );
            let says = |session: &Session, leaf| {
                let context = context::build(&mut Bodies::new(session), Some(leaf)).unwrap();
                context.messages.iter().map(|item| session.id(item.node()).to_owned()).collect::<Vec<_>>()
            };
            assert_eq!(says(&other, node), says(&session, old), "{} of {}", other.id(node), about());
        }
        if chosen.is_empty() && stands.is_none() {
            let after = |bytes: &[u8], session: &Session| {
                let lines = bytes.split(|&byte| byte == b'\n').skip(usize::try_from(session.header.line).unwrap());
                lines.filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect::<Vec<_>>()
            };
            // A root that hangs at the id of its session cannot hang at the old one.
            let at_session = format!("\"parentId\":\"{}\"", session.header.id);
            let is_same = !String::from_utf8_lossy(&bytes).contains(&at_session);
            if !session.is_migrated() && bytes.ends_with(b"\n") && is_same {
                assert_eq!(after(&out, &other), after(&bytes, &session), "{}", about());
                whole += 1;
            }
        }
        pruned += 1;
    }
    assert!(pruned > 200 && refused > 20 && whole > 20, "{pruned} {refused} {whole}");
}
