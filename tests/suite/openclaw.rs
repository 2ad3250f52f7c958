//! What openclaw's own modules (2026.9.6) make of random sessions, against what is read here. The sessions
//! and the answers are `data/openclaw.jsonl`, made by `interop/openclaw.mjs`.

use std::fs;

use serde_json::{Value, json};
use session_tree::core::context::{self, message};
use session_tree::core::session::body::Bodies;

use crate::support;

#[test]
fn sessions_of_openclaw_are_read_as_it_reads_them() {
    let answers = fs::read_to_string(support::data("openclaw.jsonl")).unwrap();
    let mut count = 0;
    for answer in answers.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let header = json!({"type": "session", "version": 3, "id": "s", "cwd": "/x"});
        let lines = std::iter::once(&header).chain(answer["lines"].as_array().unwrap());
        let text: String = lines.map(|line| format!("{line}\n")).collect();
        let session = support::session(text.as_bytes());
        let id = |node| session.id(node);
        let leaf = json!(session.leaf().map(id));
        let entries = session.nodes().filter(|&node| !session.is_mark(node));
        let parents = entries.map(|node| (id(node).to_owned(), json!(session.parent(node).map(id))));
        let parents: serde_json::Map<_, _> = parents.collect();
        let mut bodies = Bodies::new(&session);
        let context = context::build(&mut bodies, session.leaf()).unwrap();
        let mut says = |item: &_| {
            let mut out = Vec::new();
            message::write(&mut out, &mut bodies, item).unwrap();
            let message: Value = serde_json::from_slice(&out).unwrap();
            json!([message["role"], message.get("summary").unwrap_or(&message["content"])])
        };
        let messages: Vec<_> = context.messages.iter().map(&mut says).collect();
        let found = json!({"lines": answer["lines"], "leaf": leaf, "parents": parents, "messages": messages});
        assert_eq!(found, answer, "{text}");
        count += 1;
    }
    assert_eq!(count, 80);
}
