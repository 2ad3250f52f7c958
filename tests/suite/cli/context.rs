//! `context`: the JSON shapes. What belongs into a context is tested in `golden`.

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
fn json_has_the_documented_members() {
    let scratch = session();
    let expected = format!(
        "{{\"leafId\":\"id09\",\"messages\":[{USER},{ASSISTANT}],\"thinkingLevel\":\"high\",\
         \"models\":{{\"default\":\"anthropic/claude\",\"plan\":\"openai/gpt\"}},\"mode\":\"plan\",\
         \"modeData\":{{\"file\": \"plan.md\"}},\"serviceTier\":{{\"openai\": \"flex\"}},\
         \"selectedMcpToolNames\":[\"a\", \"b\"],\"injectedTtsrRules\":[\"r2\",\"r1\"]}}\n"
    );
    assert_eq!(scratch.run("context s.jsonl --json").ok(), expected);
    assert_eq!(scratch.run("context s.jsonl --format json").ok(), expected);
}

#[test]
fn json_leaves_out_what_is_not_set() {
    let expected = format!(
        "{{\"leafId\":\"id01\",\"messages\":[{USER}],\"thinkingLevel\":\"off\",\"models\":{{}},\"mode\":\"none\",\"injectedTtsrRules\":[]}}\n"
    );
    assert_eq!(session().run("context s.jsonl --json --leaf id01").ok(), expected);
    assert_eq!(session().run("context s.jsonl --json --leaf label:start").ok(), expected);
}

#[test]
fn before_the_first_entry_there_is_nothing() {
    let nothing = "{\"leafId\":null,\"messages\":[],\"thinkingLevel\":\"off\",\"models\":{},\"mode\":\"none\",\"injectedTtsrRules\":[]}\n";
    assert_eq!(session().run("context s.jsonl --root --json").ok(), nothing);
    assert_eq!(Scratch::new::<&str>(&[]).run("context s.jsonl --json").ok(), nothing);
    assert_eq!(session().run("context s.jsonl --root --format llm").ok(), "[]\n");
    let text = session().run("context s.jsonl --root").ok();
    assert!(text.contains("leaf      none") && text.contains("messages  0"), "{text}");
}

#[test]
fn llm_is_the_array_of_messages() {
    assert_eq!(session().run("context s.jsonl --format llm").ok(), format!("[{USER},{ASSISTANT}]\n"));
}

#[test]
fn text_is_headed_by_the_state() {
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
