//! What `check` says of agents, beside what they were seen to do with a small file for each finding.
//!
//! `tests/data/effects/CODE-WHAT.jsonl` are the files, `none-WHAT.jsonl` those that have nothing wrong. The table
//! `tests/data/effects.json` was written by `tests/interop/effects.ts`: for each file the findings, and what pi,
//! omp 13 and omp 18 make of it. Words that change here have to be compared with it and written down anew.

use std::collections::BTreeSet;
use std::fs;

use serde_json::{Map, Value, json};
use session_tree::core::check::{Code, Severity};

use super::files::findings;
use crate::support::data;

const AGENTS: [&str; 3] = ["pi", "omp 13", "omp 18"];

/// What an agent does with a request that is sound.
const SOUND: &str = "anthropic ok, openai ok, responses ok";

/// Ten megabytes are not kept here.
const WITHOUT_FILE: &[Code] = &[Code::BigEntry];

fn table() -> Map<String, Value> {
    let Value::Object(table) = serde_json::from_slice(&fs::read(data("effects.json")).unwrap()).unwrap() else {
        panic!("the table is an object");
    };
    table
}

/// Returns the code that a file is for, if it is for one.
fn code(name: &str) -> Option<Code> {
    let code = name.split('-').next().unwrap();
    (code != "none").then(|| Code::find(code).unwrap_or_else(|| panic!("{name} starts with a code")))
}

fn is(answer: &Value, question: &str, expected: &str) -> bool {
    answer[question] == expected
}

/// Returns whether an agent loses nothing of the file, and can go on.
fn is_unharmed(answer: &Value, entries: usize) -> bool {
    let path: Vec<_> = (1..=entries).map(|at| format!("a{at}")).collect();
    let shown = format!("{entries} entries in {entries} rows; path {}", path.join(" "));
    let goes_on = format!("keeps all lines; {0} entries in {0} rows; path {1} +", entries + 1, path.join(" "));
    is(answer, "open", "opens")
        && !is(answer, "list", "no")
        && is(answer, "requests", SOUND)
        && is(answer, "shown", &shown)
        && is(answer, "append", &goes_on)
}

#[test]
fn findings_are_those_that_were_compared_with_agents() {
    let table = table();
    let files = fs::read_dir(data("effects")).unwrap().map(|file| file.unwrap().path());
    let names: BTreeSet<_> = files.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    assert_eq!(names, table.keys().cloned().collect(), "`effects.ts` writes the table");
    for (name, row) in &table {
        let found = findings(&fs::read(data("effects").join(format!("{name}.jsonl"))).unwrap());
        let told: Vec<_> = found
            .iter()
            .map(|finding| json!({"code": finding.code.id(), "effect": finding.effect, "fix": finding.fix}))
            .collect();
        assert_eq!(json!(told), row["check"], "{name}: compare it with what agents do, then write the table anew");
        match code(name) {
            Some(code) => assert!(found.iter().any(|finding| finding.code == code), "{name}: {found:?}"),
            None => assert!(found.is_empty(), "{name}: {found:?}"),
        }
        for agent in AGENTS {
            assert!(row[agent]["open"].is_string(), "{name}: nothing is known of {agent}");
        }
    }
    for code in Code::all().filter(|code| !WITHOUT_FILE.contains(code)) {
        assert!(names.iter().any(|name| self::code(name) == Some(code)), "there is no file for {}", code.id());
    }
}

/// What harms nobody is not an error, and what has no finding harms nobody.
#[test]
fn errors_harm_an_agent_and_what_harms_is_found() {
    for (name, row) in table() {
        let lines = fs::read(data("effects").join(format!("{name}.jsonl"))).unwrap();
        let entries =
            lines.split(|&byte| byte == b'\n').filter(|line| line.windows(6).any(|at| at == b"\"id\":\"")).count();
        let entries = entries.saturating_sub(1);
        let harmed: Vec<_> = AGENTS.into_iter().filter(|agent| !is_unharmed(&row[*agent], entries)).collect();
        match code(&name) {
            // Agents of before the title slot do not know it.
            None if name.contains("title-slot") => assert_eq!(harmed, ["pi", "omp 13"], "{name}"),
            None => assert!(harmed.is_empty(), "{name} harms {harmed:?}"),
            // Nothing is lost but the message, or its place in the list.
            Some(Code::MalformedMessage) if name != "E016" => {
                for agent in AGENTS {
                    assert!(!row[agent]["sent"].as_str().unwrap().contains("\"x\""), "{name}: {agent} sends it");
                }
            }
            Some(code) if code.severity() == Severity::Error => assert!(!harmed.is_empty(), "{name} harms nobody"),
            Some(_) => {}
        }
    }
}

/// Findings about calls and results are there where an agent sends a request that breaks the rules.
#[test]
fn calls_are_found_where_an_agent_sends_them_unpaired() {
    let mut codes = BTreeSet::new();
    for (name, row) in table() {
        let is_unpaired = |agent: &&str| row[*agent]["requests"].as_str().is_some_and(|text| text.contains("unpaired"));
        let unpaired: Vec<_> = AGENTS.into_iter().filter(is_unpaired).collect();
        let expected = match code(&name) {
            Some(Code::CallWithoutResult | Code::ResultOfFailedTurn) => 1,
            Some(Code::ResultWithoutCall | Code::ResultElsewhere | Code::SecondResult | Code::ResultWithoutId) => 2,
            _ => 0,
        };
        assert_eq!(unpaired.len(), expected, "{name}: {unpaired:?}");
        codes.extend((expected > 0).then(|| name[..4].to_owned()));
    }
    assert_eq!(codes.into_iter().collect::<Vec<_>>(), ["E021", "W012", "W013", "W028", "W029", "W030"]);
}
