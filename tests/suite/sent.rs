//! What agents hold and send of small sessions, one a rule, and what we say that they do; and the rules that
//! providers have published for requests.
//!
//! `tests/data/sent/NAME.jsonl` are the sessions. The `.json` beside each was written by
//! `tests/interop/answers.ts`: `pi` (1.6) with `json` (what it holds), `llm` (its messages before a provider's
//! own form) and its requests by format, `omp` (18.2.3) with `json` and `llm`. What everybody words in his own
//! way is left out of it.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::support;

/// How many files there are; a test that runs on fewer has lost its data.
const FILES: usize = 40;

/// What stands for a result that is missing.
const MISSING: &str = "There is no result of this call.";

fn files() -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(support::data("sent")).unwrap().map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    assert_eq!(files.len(), FILES);
    files
}

/// Returns the answers of the agents about a file.
fn answers(file: &Path) -> Value {
    plain(&serde_json::from_slice(&fs::read(file.with_extension("json")).unwrap()).unwrap())
}

fn context(file: &str, options: &[&str]) -> Value {
    let run = support::run(["context", file].iter().chain(options));
    assert_eq!(run.code, 0, "{file} {options:?}: {}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

/// Returns what was sent, without what is everybody's own in it.
fn plain(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(without_own_words(text)),
        Value::Array(values) => values.iter().map(plain).collect(),
        Value::Object(members) => {
            let kind = members.get("type").and_then(Value::as_str);
            let has_own_id = matches!(kind, Some("message" | "function_call" | "reasoning"));
            let is_own = |name: &str| matches!(name, "attribution" | "usage") || (name == "id" && has_own_id);
            let members = members.iter().filter(|(name, value)| !value.is_null() && !is_own(name));
            let mut members: Map<_, _> = members.map(|(name, value)| (name.clone(), plain(value))).collect();
            let is_missing = members.get("content").is_some_and(|content| content.to_string().contains("(missing)"));
            if is_missing && members.get("role") == Some(&json!("toolResult")) {
                members.remove("timestamp");
            }
            Value::Object(members)
        }
        // An agent writes 1 for 1.0.
        Value::Number(number) => json!(number.as_f64()),
        other => other.clone(),
    }
}

fn without_own_words(text: &str) -> String {
    let between = |start: &str, end: &str| Some(text.split_once(start)?.1.rsplit_once(end)?.0);
    if text == MISSING {
        "(missing)".to_owned()
    } else if let Some(summary) = between("<summary>", "</summary>") {
        format!("(summary) {}", summary.trim())
    } else if let Some(notes) = between("<experimental-context-notes>", "\n</experimental-context-notes>") {
        format!("(notes) {}", notes.rsplit('\n').next().unwrap())
    } else {
        text.to_owned()
    }
}

/// Returns those members of an object that have a value.
fn members(object: &Value, names: &[&str]) -> Value {
    let members = names.iter().filter_map(|name| Some(((*name).to_owned(), object.get(name)?.clone())));
    Value::Object(members.collect())
}

#[test]
fn what_agents_send_is_what_they_were_seen_to_send() {
    for path in files() {
        let file = path.to_str().unwrap();
        let expected = answers(&path);
        for agent in ["pi", "omp"] {
            let ours = plain(&context(file, &["--as", agent, "--format", "llm"]));
            assert_eq!(ours, expected[agent]["llm"], "{file} as {agent}");
        }
        for format in ["anthropic", "openai", "responses"] {
            // Where pi itself fails there is nothing to compare.
            if let Some(body) = expected["pi"].get(format) {
                let ours = plain(&context(file, &["--format", format]));
                assert_eq!(members(&ours, &["system", "messages", "input"]), *body, "{file} as {format}");
            }
        }
    }
}

#[test]
fn what_agents_hold_is_what_they_were_seen_to_hold() {
    for path in files() {
        let file = path.to_str().unwrap();
        let expected = answers(&path);
        let names = ["messages", "thinkingLevel", "configuredThinkingLevel", "models", "mode", "injectedTtsrRules"];
        let omp = plain(&context(file, &["--as", "omp", "--json"]));
        assert_eq!(members(&omp, &names), members(&expected["omp"]["json"], &names), "{file} as omp");
        let held = &expected["pi"]["json"];
        let pi = plain(&context(file, &["--as", "pi", "--json"]));
        assert_eq!(pi["messages"], held["messages"], "{file} as pi");
        let model = held["model"]["provider"].as_str().zip(held["model"]["modelId"].as_str());
        let model = model.map(|(provider, id)| Value::String(format!("{provider}/{id}")));
        assert_eq!(pi["models"].get("default"), model.as_ref(), "{file} as pi");
    }
}

/// Returns the blocks of a message of a request for Anthropic.
fn blocks(message: &Value) -> Vec<Value> {
    message["content"].as_array().cloned().unwrap_or_default()
}

/// Returns a member of those blocks of a message that are of a kind.
fn ids(message: &Value, kind: &str, member: &str) -> Vec<String> {
    let blocks = blocks(message).into_iter().filter(|block| block["type"] == kind);
    blocks.map(|block| block[member].as_str().unwrap_or_default().to_owned()).collect()
}

/// Returns which of the rules that Anthropic has published a request breaks: members, roles and their order,
/// the pairs of calls and results, blocks with something in them, tools.
fn broken_rule(body: &Value) -> Option<String> {
    if !body["model"].is_string() || !body["max_tokens"].is_number() || body.get("stream").is_some() {
        return Some("members".to_owned());
    }
    let messages = body["messages"].as_array().unwrap();
    let is_empty = |text: &Value| text.as_str().is_some_and(|text| text.trim().is_empty());
    let (mut open, mut before) = (Vec::new(), None);
    for message in messages {
        let broken = |rule: &str| Some(format!("{rule}: {message}"));
        let Some(role @ ("user" | "assistant")) = message["role"].as_str() else { return broken("role") };
        // Answers do not follow each other, and do not come first. Prompts may: they are taken as one.
        if role == "assistant" && before != Some("user") {
            return broken("order");
        }
        if is_empty(&message["content"]) || message["content"] == json!([]) {
            return broken("empty message");
        }
        if blocks(message).iter().any(|block| block["type"] == "text" && is_empty(&block["text"])) {
            return broken("empty block");
        }
        let (mut results, mut calls) = (ids(message, "tool_result", "tool_use_id"), open.clone());
        results.sort();
        calls.sort();
        if results != calls {
            return broken("pairs");
        }
        // Results come first in their message.
        if !blocks(message).iter().map(|block| block["type"] == "tool_result").is_sorted_by(|a, b| a >= b) {
            return broken("order of blocks");
        }
        open = ids(message, "tool_use", "id");
        let is_id = |id: &String| !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
        if !open.iter().all(is_id) || open.iter().collect::<HashSet<_>>().len() != open.len() {
            return broken("ids");
        }
        before = Some(role);
    }
    let tools = body["tools"].as_array().cloned().unwrap_or_default();
    let is_tool = |tool: &Value| tool["name"].is_string() && tool["input_schema"]["type"] == "object";
    let has_calls = messages.iter().any(|message| !ids(message, "tool_use", "id").is_empty());
    match (open.is_empty(), tools.iter().all(is_tool) && !(has_calls && tools.is_empty())) {
        (false, _) => Some("a call without a result at the end".to_owned()),
        (_, false) => Some("tools".to_owned()),
        _ => None,
    }
}

#[test]
fn request_for_anthropic_keeps_the_published_rules() {
    let request = |file: &Path| context(file.to_str().unwrap(), &["--format", "anthropic"]);
    let body = request(&support::data("demo.jsonl"));
    assert_eq!(broken_rule(&body), None);
    assert!(body["messages"].as_array().unwrap().len() > 5);
    // Sessions of which agents cannot make a sound request are left out here: with an answer first or after
    // another one, or with a result that does not follow its call.
    let sent = "arguments call-ids-elsewhere d05-unanswered-call d07-aborted-text d09-system-sections d18-omp-notes \
         images many-calls notebook omp-roles pictures reset rollover sections summaries unknown-roles";
    let golden = "001-v3-omp 002-v3-omp-weird 006-v3-pi 007-v3-pi 009-v1-pi 012-v3-omp 015-v3-pi 022-v3-omp";
    for (folder, names) in [("sent", sent), ("golden", golden)] {
        for name in names.split_whitespace() {
            let file = support::data(folder).join(name).with_extension("jsonl");
            assert_eq!(broken_rule(&request(&file)), None, "{name}");
        }
    }
}

#[test]
fn each_broken_rule_of_a_request_is_found() {
    let file = support::data("sent").join("d05-unanswered-call.jsonl");
    let body = context(file.to_str().unwrap(), &["--format", "anthropic"]);
    let messages = body["messages"].as_array().unwrap();
    let call = messages.iter().position(|message| !ids(message, "tool_use", "id").is_empty()).unwrap();
    type Change<'c> = &'c dyn Fn(&mut Value);
    let changes: [(&str, Change<'_>); 12] = [
        ("members", &|body| body["stream"] = json!(true)),
        ("role", &|body| body["messages"][0]["role"] = json!("system")),
        ("order", &|body| _ = body["messages"].as_array_mut().unwrap().remove(0)),
        ("order", &|body| {
            let answer = json!({ "role": "assistant", "content": "x" });
            body["messages"].as_array_mut().unwrap().extend([answer.clone(), answer]);
        }),
        ("empty message", &|body| body["messages"][0]["content"] = json!([])),
        ("empty block", &|body| body["messages"][0]["content"] = json!([{ "type": "text", "text": " " }])),
        ("pairs", &|body| _ = body["messages"].as_array_mut().unwrap().remove(call + 1)),
        ("pairs", &|body| body["messages"][call + 1]["content"][0]["tool_use_id"] = json!("other")),
        ("order of blocks", &|body| {
            let text = json!({ "type": "text", "text": "x" });
            body["messages"][call + 1]["content"].as_array_mut().unwrap().insert(0, text);
        }),
        ("ids", &|body| body["messages"][call]["content"][0]["id"] = json!("a|b")),
        ("a call without a result", &|body| body["messages"].as_array_mut().unwrap().truncate(call + 1)),
        ("tools", &|body| body["tools"] = json!([])),
    ];
    for (at, (rule, change)) in changes.iter().enumerate() {
        let mut broken = body.clone();
        change(&mut broken);
        let found = broken_rule(&broken).unwrap_or_default();
        assert!(found.starts_with(rule), "{at}: {rule}, but found: {found}");
    }
}

#[test]
fn request_names_model_and_tools() {
    let file = support::data("sent").join("d09-system-sections.jsonl");
    let file = file.to_str().unwrap();
    let body = context(file, &["--format", "openai", "--model", "openai/gpt-5"]);
    assert_eq!(body["model"], "gpt-5");
    assert_eq!(body["messages"][0]["role"], "developer");
    // The tool that the session took away is not named.
    assert_eq!(body.get("tools"), None);
    let before = ["--leaf", "a0000003", "--format"];
    let parameters = json!({ "type": "object", "properties": {} });
    let tool = |format| context(file, &[&before[..], &[format]].concat())["tools"][0].clone();
    let hose = json!({ "name": "hose", "description": "Water" });
    let with = |more: Value| {
        let mut tool = hose.as_object().unwrap().clone();
        tool.extend(more.as_object().unwrap().clone());
        Value::Object(tool)
    };
    assert_eq!(tool("anthropic"), with(json!({ "input_schema": parameters })));
    let function = with(json!({ "parameters": parameters }));
    assert_eq!(tool("openai"), json!({ "type": "function", "function": function }));
    let own = json!({ "type": "function", "strict": false, "parameters": parameters });
    assert_eq!(tool("responses"), with(own));
    let called = support::data("sent").join("invalid-calls.jsonl");
    let called = context(called.to_str().unwrap(), &["--format", "anthropic"]);
    assert_eq!(called["tools"], json!([{ "name": "read", "input_schema": parameters }]));
}

#[test]
fn half_characters_are_not_sent() {
    let file = support::data("cases").join("c11-lone-high-surrogate.jsonl");
    for format in ["anthropic", "openai", "responses"] {
        let body = context(file.to_str().unwrap(), &["--format", format]);
        assert!(body.to_string().contains("key ... cut"), "{body}");
    }
}

#[test]
fn stats_and_differences_follow_the_agent() {
    let file = |name: &str| support::data("sent").join(name).with_extension("jsonl").display().to_string();
    let messages = |name: &str, first: &str, agent: &str| {
        let file = &file(name);
        let context = context(file, &["--as", agent, "--json"]);
        let stats = self::context(file, &["--as", agent, "--stats", "--json"]);
        let count = context["messages"].as_array().unwrap().len();
        assert_eq!(stats["messages"], count, "{agent}");
        let difference = self::context(file, &["--as", agent, "--diff", first, "--json"]);
        assert_eq!(difference["dropped"].as_array().unwrap().len(), count - 1, "{agent}");
        count
    };
    let by_agent = |name, first| ["shared", "pi", "omp"].map(|agent| messages(name, first, agent));
    assert_eq!(by_agent("failed-turns", "e0000001"), [13, 13, 9]);
    assert_eq!(by_agent("unknown-roles", "00000001"), [4, 6, 6]);
}

#[test]
fn options_that_do_not_fit_are_refused() {
    let file = support::data("demo.jsonl");
    let refused = |options: &str| {
        let run = support::run(["context", file.to_str().unwrap()].into_iter().chain(options.split(' ')));
        assert_eq!(run.code, 2, "{options}: {}", run.stdout);
        run.stderr
    };
    for agent in ["shared", "omp"] {
        assert!(refused(&format!("--as {agent} --format anthropic")).contains("requests of providers follow pi"));
    }
    assert!(refused("--stats --format openai").contains("has no form for a model"));
    assert!(refused("--diff @~2 --format responses").contains("has no form for a model"));
    assert!(refused("--model a/b").contains("`--model` is for what is sent"));
    assert!(refused("--model a/b --format llm").contains("`--model` is for what is sent"));
    assert!(refused("--model gpt --format openai").contains("takes a provider and an id"));
    assert!(refused("--model /gpt --format openai").contains("takes a provider and an id"));
}
