//! Text that does not stand in the content of a message, and which views know it.

use super::{Scratch, entry, message};

/// The word that is looked for.
const WORD: &str = "feldspar";
/// How many bytes of text follow it.
const LONG: usize = 2000;

/// Returns the views of a session of these lines that know the word, each with a blank after it.
fn views(entries: &[String], agent: &str) -> String {
    let scratch = Scratch::new(entries);
    let print = |args: &str| scratch.run(args).stdout;
    let rows = print("tree s.jsonl --filter all");
    let (heading, rows) = rows.split_once('\n').unwrap();
    let in_entry = |number| print(&format!("tree s.jsonl --entry id0{number}")).contains(WORD);
    let stats = scratch.run(&format!("context s.jsonl --as {agent} --stats --json")).json();
    let is_counted = stats["tokens"].as_u64().unwrap() >= LONG as u64 / 4;
    let known = [
        ("title", heading.contains(WORD)),
        ("row", rows.contains(WORD)),
        ("entry", (1..=entries.len()).any(in_entry)),
        ("search", scratch.run(&format!("tree s.jsonl --filter all --search {WORD}")).code == 0),
        ("context", print(&format!("context s.jsonl --as {agent}")).contains(WORD)),
        ("tokens", is_counted),
    ];
    known.iter().filter(|(_, is_known)| *is_known).map(|(view, _)| format!("{view} ")).collect()
}

#[test]
fn every_view_knows_text_that_lives_elsewhere() {
    let text = format!("{WORD} {}", "x".repeat(LONG));
    let line = |kind: &str, members: String| vec![entry(kind, "id01", "", &members.replace("TEXT", &text))];
    let said = |members: &str| line("message", format!(r#""message":{{{members},"timestamp":1}}"#));
    let called = |name: &str, arguments: &str| {
        let call = format!(r#"{{"type":"toolCall","id":"c1","name":"{name}","arguments":{arguments}}}"#);
        let answer = format!(r#""message":{{"role":"assistant","content":[{call}],"timestamp":1}}"#);
        let result = format!(r#""toolCallId":"c1","toolName":"{name}","content":[],"timestamp":1"#);
        vec![
            entry("message", "id01", "", &answer.replace("TEXT", &text)),
            entry("message", "id02", "id01", &format!(r#""message":{{"role":"toolResult",{result}}}"#)),
        ]
    };
    let compaction = |members: &str| line("compaction", format!(r#""summary":"s","firstKeptEntryId":"",{members}"#));
    let skill = |members: &str| line("custom_message", format!(r#""customType":"skill-prompt",{members}"#));
    let (all, all_but_title) = ("title row entry search context tokens ", "row entry search context tokens ");
    let tool = r#"{"name":"feldspar","description":"Stone","parameters":{"type":"TEXT"}}"#;
    for (what, entries, agent, expected) in [
        ("prompt", said(r#""role":"user","content":"TEXT""#), "shared", all),
        ("sections", said(r#""role":"system","content":"","sections":{"a":"TEXT"}"#), "pi", all_but_title),
        ("tools", said(&format!(r#""role":"system","content":"","toolsAdded":[{tool}]"#)), "pi", all_but_title),
        (
            "description of a tool",
            said(r#""role":"system","content":"","toolsAdded":[{"name":"rake","description":"TEXT"}]"#),
            "shared",
            "entry search context tokens ",
        ),
        (
            "system message of a compaction",
            compaction(r#""systemMessage":{"role":"system","content":"TEXT"}"#),
            "pi",
            "entry search context tokens ",
        ),
        (
            "sections of a compaction",
            compaction(r#""systemMessage":{"role":"system","content":"","sections":{"a":"TEXT"}}"#),
            "shared",
            "entry search context tokens ",
        ),
        (
            "text before archived pictures",
            compaction(r#""preserveData":{"snapcompact":{"frames":[],"textHead":"TEXT"}}"#),
            "omp",
            "entry search context tokens ",
        ),
        (
            "text after archived pictures, which pi does not know",
            compaction(r#""preserveData":{"snapcompact":{"frames":[],"textTail":"TEXT"}}"#),
            "pi",
            "entry search ",
        ),
        ("task", line("session_init", r#""task":"TEXT""#.to_owned()), "omp", "title row entry search "),
        (
            "first prompt of an agent",
            line("session_init", r#""systemPrompt":"TEXT""#.to_owned()),
            "omp",
            "entry search ",
        ),
        (
            "command for a skill",
            skill(r#""content":"s","attribution":"user","details":{"prompt":"/glaze feldspar"}"#),
            "shared",
            "title row entry search ",
        ),
        (
            "skill that was asked for",
            skill(r#""content":"TEXT","attribution":"user","details":{"name":"glaze"}"#),
            "omp",
            "entry search context tokens ",
        ),
        ("skill of the model", skill(r#""content":"TEXT","attribution":"agent""#), "pi", all),
        (
            "notebook",
            line(
                "custom",
                r#""customType":"experimental_context_notes","data":{"version":1,"text":"TEXT"}"#.to_owned(),
            ),
            "omp",
            "entry search context tokens ",
        ),
        ("command of another tool", called("exec", r#"{"cwd":"/","command":"TEXT"}"#), "shared", all_but_title),
        ("path of a patch", called("edit", r#"{"input":"[feldspar.md#a1]\nTEXT"}"#), "omp", all_but_title),
        ("paths", called("search", r#"{"limit":1,"paths":["feldspar","TEXT"]}"#), "pi", all_but_title),
        ("pattern", called("glob", r#"{"limit":1,"pattern":"TEXT"}"#), "pi", all_but_title),
        ("query", called("web_search", r#"{"limit":1,"query":"TEXT"}"#), "pi", all_but_title),
        ("address", called("fetch", r#"{"limit":1,"url":"TEXT"}"#), "pi", all_but_title),
        ("task of an agent", called("task", r#"{"agent":"scout","task":"TEXT"}"#), "omp", all_but_title),
        ("code", said(r#""role":"pythonExecution","code":"TEXT","output":"""#), "omp", all_but_title),
        (
            "file",
            said(r#""role":"fileMention","files":[{"path":"a","content":"TEXT"}]"#),
            "omp",
            "entry search context tokens ",
        ),
    ] {
        assert_eq!(views(&entries, agent), expected, "{what}");
    }
}

#[test]
fn archived_pictures_are_shown_and_counted() {
    let frame = r#"{"data":"AAAA","mimeType":"image/png","cols":80,"rows":24,"chars":1920}"#;
    let archive = format!(r#""summary":"s","preserveData":{{"snapcompact":{{"frames":[{frame},{frame}]}}}}"#);
    let scratch = Scratch::new(&[entry("compaction", "id01", "", &archive)]);
    let count = |args: &str| scratch.run(args).stdout.matches("[image: image/png, 1 kB]").count();
    assert_eq!(count("tree s.jsonl --entry id01"), 2);
    assert_eq!(count("context s.jsonl --as omp"), 2);
    let stats = scratch.run("context s.jsonl --as omp --stats --json").json();
    assert_eq!(stats["tokens"], 2 * 1200 + 1);
}

#[test]
fn call_without_a_name_says_so() {
    let call = r#"{"type":"toolCall","id":"c1","name":"","arguments":{}}"#;
    let answer = format!(r#""message":{{"role":"assistant","content":[{call}]}}"#);
    let result = r#""message":{"role":"toolResult","toolCallId":"c1","toolName":"","content":[]}"#;
    let scratch = Scratch::new(&[entry("message", "id01", "", &answer), entry("message", "id02", "id01", result)]);
    assert!(scratch.run("tree s.jsonl").stdout.contains("id02  • [(no name): {}]"));
    assert!(scratch.run("tree s.jsonl --entry id01").stdout.contains("[call (no name): {}]"));
}

#[test]
fn session_without_a_prompt_is_named_by_its_task_or_its_first_text() {
    let title = |entries: &[String]| {
        let heading = Scratch::new(entries).run("tree s.jsonl").stdout;
        heading.split("  ·  ").next().unwrap().to_owned()
    };
    let said = |id: &str, parent: &str, role: &str| message(id, parent, role, &format!("said by {role}"));
    let task = entry("session_init", "id02", "id01", r#""task":"Find the leak","systemPrompt":"x""#);
    let image = entry("message", "id03", "id02", r#""message":{"role":"user","content":[{"type":"image"}]}"#);
    let (first, last) = (said("id01", "", "developer"), said("id04", "id02", "user"));
    assert_eq!(title(&[first.clone(), task.clone(), image.clone(), last]), "said by user");
    assert_eq!(title(&[first.clone(), task, image.clone()]), "Find the leak");
    assert_eq!(title(&[first.clone(), image]), "[image]");
    assert_eq!(title(&[first, said("id02", "id01", "assistant")]), "said by developer");
    assert_eq!(title(&[entry("model_change", "id01", "", r#""model":"a/b""#)]), "(no name)");
}
