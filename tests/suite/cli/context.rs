//! `context`: the JSON shapes. What belongs into a context is tested in `golden`.

use serde_json::{Value, json};

use super::{Scratch, entry, label, message};

fn session() -> Scratch {
    let assistant = r#""message":{"role":"assistant","content":"answer","provider":"anthropic","model":"claude"}"#;
    Scratch::new(&[
        message("id01", "", "user", "prompt"),
        entry("thinking_level_change", "id02", "id01", r#""thinkingLevel":"high""#),
        entry("model_change", "id03", "id02", r#""model":"openai/gpt","role":"plan""#),
        entry("message", "id04", "id03", assistant),
        entry("mode_change", "id05", "id04", r#""mode":"plan","data":{"file": "plan.md"}"#),
        entry("service_tier_change", "id06", "id05", r#""serviceTier":{"openai": "flex"}"#),
        entry("mcp_tool_selection", "id07", "id06", r#""selectedToolNames":["a", "b"]"#),
        entry("ttsr_injection", "id08", "id07", r#""injectedRules":["r2","r1","r2"]"#),
        label("id09", "id08", "id01", "start"),
    ])
}

/// The messages of the first and the fourth entry.
const USER: &str = r#"{"role":"user","content":"prompt"}"#;
const ASSISTANT: &str = r#"{"role":"assistant","content":"answer","provider":"anthropic","model":"claude"}"#;

#[test]
fn a_context_is_compared_with_the_empty_one_by_any_name() {
    let scratch = Scratch::new(&[message("u1", "", "user", "one"), message("a1", "u1", "assistant", "two")]);
    for name in ["@", "assistant:1", "a1", "user:1~0"] {
        let found = scratch.run(&format!("context s.jsonl --root --diff {name} --json")).json();
        let expected = if name.starts_with("user") { "u1" } else { "a1" };
        assert_eq!((&found["fromLeafId"], &found["toLeafId"]), (&serde_json::Value::Null, &expected.into()), "{name}");
    }
}

#[test]
fn json_has_documented_members() {
    let scratch = session();
    let expected = format!(
        "{{\"leafId\":\"id09\",\"messages\":[{USER},{ASSISTANT}],\"entryIds\":[\"id01\",\"id04\"],\"thinkingLevel\":\"high\",\
         \"models\":{{\"default\":\"anthropic/claude\",\"plan\":\"openai/gpt\"}},\"mode\":\"plan\",\
         \"modeData\":{{\"file\": \"plan.md\"}},\"serviceTier\":{{\"openai\": \"flex\"}},\
         \"selectedMCPToolNames\":[\"a\", \"b\"],\"injectedTtsrRules\":[\"r2\",\"r1\"]}}\n"
    );
    assert_eq!(scratch.run("context s.jsonl --json").ok(), expected);
    assert_eq!(scratch.run("context s.jsonl --format json").ok(), expected);
}

#[test]
fn json_leaves_out_settings_that_are_not_set() {
    let expected = format!(
        "{{\"leafId\":\"id01\",\"messages\":[{USER}],\"entryIds\":[\"id01\"],\"thinkingLevel\":\"off\",\"models\":{{}},\"mode\":\"none\",\"injectedTtsrRules\":[]}}\n"
    );
    assert_eq!(session().run("context s.jsonl --json --leaf id01").ok(), expected);
    assert_eq!(session().run("context s.jsonl --json --leaf label:start").ok(), expected);
}

#[test]
fn context_before_first_entry_is_empty() {
    let nothing = "{\"leafId\":null,\"messages\":[],\"entryIds\":[],\"thinkingLevel\":\"off\",\"models\":{},\"mode\":\"none\",\"injectedTtsrRules\":[]}\n";
    assert_eq!(session().run("context s.jsonl --root --json").ok(), nothing);
    assert_eq!(Scratch::new::<&str>(&[]).run("context s.jsonl --json").ok(), nothing);
    assert_eq!(session().run("context s.jsonl --root --format llm").ok(), "[]\n");
    let text = session().run("context s.jsonl --root").ok();
    assert!(text.contains("leaf      none") && text.contains("messages  0"), "{text}");
}

#[test]
fn llm_format_is_array_of_messages() {
    assert_eq!(session().run("context s.jsonl --format llm").ok(), format!("[{USER},{ASSISTANT}]\n"));
}

#[test]
fn text_output_starts_with_settings() {
    let out = session().run("context s.jsonl").ok();
    let lines: Vec<_> = out.lines().collect();
    for (name, value) in [
        ("leaf", "id09"),
        ("messages", "2, about "),
        ("thinking", "high"),
        ("model", "anthropic/claude"),
        ("model", "openai/gpt (plan)"),
        ("mode", "plan"),
        ("rules", "r2, r1"),
    ] {
        let found = lines.iter().any(|line| {
            line.split_once(' ').is_some_and(|(head, rest)| head == name && rest.trim().starts_with(value))
        });
        assert!(found, "{name} {value}\n{out}");
    }
    assert!(out.contains("\nprompt\n") && out.ends_with("\nanswer\n"), "{out}");
}

/// A session whose compaction hides two messages, with usage of every kind; some of it cannot be
/// true.
fn used() -> Scratch {
    let message = |rest: &str| format!(r#""message":{{{rest}}}"#);
    let usage = |rest: &str| format!(r#""usage":{{{rest}}}"#);
    let assistant =
        |content: &str, used: &str| message(&format!(r#""role":"assistant","content":"{content}",{}"#, usage(used)));
    let noted = r#""input":10,"output":20,"cacheRead":30,"cacheWrite":40,"totalTokens":100,"cost":{"total":0.5}"#;
    let hostile = r#""input":"9","output":-3,"cacheRead":1e999,"cacheWrite":7,"totalTokens":[],"cost":{"total":1e300}"#;
    let result = |tool: &str, rest: &str| {
        message(&format!(r#""role":"toolResult","toolName":"{tool}","content":"12345678"{rest}"#))
    };
    let task = format!(r#","details":{{{}}}"#, usage(r#""input":1000"#));
    let not_task = task.clone();
    Scratch::new(&[
        entry("message", "id01", "", &message(r#""role":"user","content":"1234""#)),
        entry("message", "id02", "id01", &assistant("12345678", noted)),
        entry("message", "id03", "id02", &message(r#""role":"user","content":"123456789012""#)),
        entry(
            "compaction",
            "id04",
            "id03",
            &format!(r#""summary":"1234","firstKeptEntryId":"id03","tokensBefore":"x",{}"#, usage(r#""output":5"#)),
        ),
        entry("message", "id05", "id04", &assistant("", hostile)),
        entry("message", "id06", "id05", &result("read", &not_task)),
        entry("message", "id07", "id06", &result("task", &task)),
        entry("message", "id08", "id07", &result("read", &format!(",{}", usage(r#""cacheRead":3"#)))),
        entry("custom_message", "id09", "id08", r#""customType":"note","content":"1234567890123456""#),
        entry("usage", "id10", "id09", &usage(r#""output":1,"totalTokens":2"#)),
        entry("model_usage", "id11", "id10", &usage(r#""cost":{"total":0.25}"#)),
        entry("message", "id12", "id11", &message(r#""role":"assistant","content":null,"usage":null"#)),
    ])
}

#[test]
fn stats_json_has_documented_members() {
    let found = used().run("context s.jsonl --stats --json").json();
    let all = json!({"input": 1010, "output": 26, "cacheRead": 33, "cacheWrite": 47, "totalTokens": 1117, "cost": 0.75,
        "assistantMessages": 2, "leftOut": 5});
    let source = |source: &str, entries: u32, input: u32, output: u32, cache: [u32; 2], total: u32, cost: f64| {
        json!({"source": source, "entries": entries, "input": input, "output": output, "cacheRead": cache[0],
            "cacheWrite": cache[1], "totalTokens": total, "cost": cost})
    };
    let mut usage = all.as_object().unwrap().clone();
    usage.insert(
        "sources".to_owned(),
        json!([
            source("assistant", 2, 10, 20, [30, 47], 107, 0.5),
            source("compaction", 1, 0, 5, [0, 0], 5, 0.0),
            source("toolResult", 2, 1000, 0, [3, 0], 1003, 0.0),
            source("usage", 1, 0, 1, [0, 0], 2, 0.0),
            source("model_usage", 1, 0, 0, [0, 0], 0, 0.25),
        ]),
    );
    let expected = json!({
        "leafId": "id12", "messages": 8, "tokens": 14,
        "parts": [
            {"role": "toolResult", "tool": "read", "messages": 2, "tokens": 4, "share": 28.6},
            {"role": "custom", "customType": "note", "messages": 1, "tokens": 4, "share": 28.6},
            {"role": "user", "messages": 1, "tokens": 3, "share": 21.4},
            {"role": "toolResult", "tool": "task", "messages": 1, "tokens": 2, "share": 14.3},
            {"role": "compactionSummary", "messages": 1, "tokens": 1, "share": 7.1},
            {"role": "assistant", "messages": 2, "tokens": 0, "share": 0.0},
        ],
        "usage": usage,
        "lastRequest": {"id": "id05", "tokens": 7},
        "compaction": {"id": "id04", "hiddenMessages": 2, "hiddenTokens": 3, "tokensBefore": null},
    });
    assert_eq!(found, expected);
    let before = used().run("context s.jsonl --stats --json --leaf id03").json();
    assert_eq!((&before["messages"], &before["compaction"]), (&json!(3), &Value::Null));
    let nothing = used().run("context s.jsonl --stats --json --root").json();
    assert_eq!((&nothing["leafId"], &nothing["parts"]), (&Value::Null, &json!([])));
}

#[test]
fn stats_name_amounts_left_out() {
    let out = used().run("context s.jsonl --stats").ok();
    assert!(out.contains("\nleft out     5 impossible amounts\n"), "{out}");
    assert!(
        out.contains("\ncompacted  by id04\n") && out.contains("\nhidden     2 messages, about 3 tokens\n"),
        "{out}"
    );
    assert!(
        out.contains("\nusage        recorded on this path by assistant (2), compaction (1), toolResult (2), "),
        "{out}"
    );
    assert!(out.contains("     4  28.6%         2  toolResult read\n"), "{out}");
}

#[test]
fn diff_json_has_documented_members() {
    let found = used().run("context s.jsonl --leaf id06 --diff id02 --json").json();
    let expected = json!({
        "fromLeafId": "id06", "toLeafId": "id02", "common": {"messages": 0, "tokens": 0},
        "droppedTokens": 6, "addedTokens": 3, "state": {},
        "dropped": [
            {"id": "id04", "role": "compactionSummary", "tokens": 1, "text": "[compaction: 0k tokens]"},
            {"id": "id03", "role": "user", "tokens": 3, "text": "123456789012"},
            {"id": "id05", "role": "assistant", "tokens": 0, "text": "(no content)"},
            {"id": "id06", "role": "toolResult", "tokens": 2, "text": "[read]"},
        ],
        "added": [
            {"id": "id01", "role": "user", "tokens": 1, "text": "1234"},
            {"id": "id02", "role": "assistant", "tokens": 2, "text": "12345678"},
        ],
    });
    assert_eq!(found, expected);
    let same = used().run("context s.jsonl --diff @ --json").json();
    assert_eq!((&same["common"]["messages"], &same["dropped"], &same["added"]), (&json!(8), &json!([]), &json!([])));
}

#[test]
fn diff_has_changed_settings() {
    let scratch = session();
    let found = scratch.run("context s.jsonl --root --diff id08 --json").json();
    assert_eq!((&found["fromLeafId"], &found["dropped"]), (&Value::Null, &json!([])));
    let expected = json!({
        "thinkingLevel": {"from": "off", "to": "high"},
        "models": {"default": {"from": null, "to": "anthropic/claude"}, "plan": {"from": null, "to": "openai/gpt"}},
        "mode": {"from": "none", "to": "plan"},
        "modeData": {"from": null, "to": {"file": "plan.md"}},
        "serviceTier": {"from": null, "to": {"openai": "flex"}},
        "selectedMCPToolNames": {"from": null, "to": ["a", "b"]},
        "injectedTtsrRules": {"from": [], "to": ["r2", "r1"]},
    });
    assert_eq!(found["state"], expected);
    let found = scratch.run("context s.jsonl --diff id03 --json").json();
    assert_eq!(found["state"]["models"], json!({"default": {"from": "anthropic/claude", "to": null}}));
    let text = scratch.run("context s.jsonl --diff id03 --ascii").ok();
    for line in [
        "model      anthropic/claude -> none",
        "mode       plan -> none",
        "tools      a, b -> none",
        "rules      r2, r1 -> none",
    ] {
        assert!(text.contains(&format!("\n{line}\n")), "{text}");
    }
}

/// The same entry with another content is not the same message, and is shown with its own words.
#[test]
fn diff_shows_edited_message_as_changed() {
    let scratch = Scratch::new(&[
        message("id01", "", "user", "as it was"),
        entry("context_edit", "id02", "id01", r#""targetId":"id01","replacement":{"content":"as it is"}"#),
    ]);
    let rows: Vec<_> = scratch.run("context s.jsonl --diff id01").ok().lines().map(str::to_owned).collect();
    assert_eq!(rows[rows.len() - 2..], ["- id01  2  user: as it is", "+ id01  3  user: as it was"]);
    let hostile = Scratch::new(&[entry(
        "compaction",
        "id01",
        "",
        r#""summary":"s","systemMessage":{"role":"system","content":"rules"}"#,
    )]);
    let text = hostile.run("context s.jsonl --root --diff id01").ok();
    assert!(text.ends_with("+ id01  2  system: rules\n+ id01  1  [compaction: 0k tokens]\n"), "{text}");
}

#[test]
fn diff_warns_once_about_common_path() {
    let scratch = Scratch::new(&[
        message("id01", "gone", "user", "one"),
        message("id02", "id01", "user", "two"),
        message("id03", "id01", "martian", "three"),
    ]);
    let warnings = |args: &str| {
        let run = scratch.run(args);
        run.stderr
            .lines()
            .filter(|line| line.contains("cannot be reached") || line.contains("no model gets it"))
            .count()
    };
    assert_eq!(warnings("context s.jsonl --leaf id02"), 1);
    assert_eq!(warnings("context s.jsonl --leaf id02 --diff id03"), 2);
}

#[test]
fn stats_diff_and_llm_format_exclude_each_other() {
    for args in ["--stats --diff @", "--stats --format llm", "--diff @ --format llm", "--stats --diff @ --json"] {
        let run = session().run(&format!("context s.jsonl {args}"));
        assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{args}");
        let has_hint = run.stderr.contains("hint: ") || run.stderr.contains("\"kind\":\"usage\"");
        assert!(has_hint, "{args}: {}", run.stderr);
    }
}

#[test]
fn a_request_without_a_model_is_warned_of() {
    let scratch = Scratch::new(&[message("aaaa1111", "", "user", "x")]);
    for format in ["anthropic", "openai", "responses"] {
        let run = scratch.run(&format!("context s.jsonl --format {format}"));
        assert!(run.stderr.contains("names no model") && run.stderr.contains("--model PROVIDER/ID"), "{run:?}");
        assert_eq!(run.json()["model"], "");
        let run = scratch.run(&format!("context s.jsonl --format {format} --model acme/m-1"));
        assert_eq!(run.stderr, "");
        assert_eq!(run.json()["model"], "m-1");
    }
}
