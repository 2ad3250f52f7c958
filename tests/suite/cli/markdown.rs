//! `context --format markdown`, read again by a parser of Markdown: its reader sees what the text form says.

use std::fs;

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use serde_json::json;

use super::{Scratch, entry, message};
use crate::support;

/// Returns all that a reader may be able to do.
fn options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_YAML_STYLE_METADATA_BLOCKS
}

/// What a reader sees of a document.
#[derive(Debug, Default)]
struct Seen {
    matter: String,
    /// The headings above the messages and the items of lists.
    head: Vec<String>,
    cells: Vec<String>,
    /// A heading, and the parts below it: either as its lines are, or as what stands in the fence in them.
    messages: Vec<(String, Vec<Vec<String>>)>,
}

/// Returns the words of events.
fn words<'a>(events: impl IntoIterator<Item = &'a Event<'a>>) -> String {
    let word = |event: &Event<'a>| match event {
        Event::Text(text) | Event::Code(text) => text.to_string(),
        Event::SoftBreak | Event::HardBreak => "\n".to_owned(),
        _ => String::new(),
    };
    events.into_iter().map(word).collect()
}

impl Seen {
    fn read(document: &str) -> Self {
        let parser = Parser::new_ext(document, options());
        let definitions: Vec<_> = parser.reference_definitions().iter().map(|(name, _)| name.to_owned()).collect();
        assert!(definitions.is_empty(), "{definitions:?} defined in {document}");
        let mut seen = Self::default();
        let (mut block, mut depth, mut start) = (Vec::new(), 0, 0);
        for (event, range) in parser.into_offset_iter() {
            let hides = matches!(event, Event::Html(_) | Event::InlineHtml(_) | Event::Start(Tag::Image { .. }));
            assert!(!hides, "{event:?} in {document}");
            if depth == 0 {
                start = range.start;
                block.clear();
            }
            match &event {
                Event::Start(_) => depth += 1,
                Event::End(_) => depth -= 1,
                _ => {}
            }
            block.push(event);
            if depth == 0 {
                seen.add(&block, &document[start..]);
            }
        }
        seen
    }

    /// Adds a block of the document, which `source` begins with.
    fn add(&mut self, block: &[Event<'_>], source: &str) {
        match &block[0] {
            Event::Start(Tag::MetadataBlock(_)) => self.matter = words(block),
            Event::Start(Tag::Heading { .. }) => {
                let heading = words(block);
                match heading.as_bytes().first() {
                    Some(b'0'..=b'9') if block[0] == Event::Start(level(2)) => {
                        self.messages.push((heading, Vec::new()))
                    }
                    _ => self.head.push(heading),
                }
            }
            Event::Start(Tag::List(_)) => {
                let ends = |event: &Event<'_>| *event == Event::End(TagEnd::Item);
                self.head.extend(block.split(ends).map(words).filter(|item| !item.is_empty()));
            }
            Event::Start(Tag::Table(_)) => {
                let ends = |event: &Event<'_>| *event == Event::End(TagEnd::TableCell);
                self.cells.extend(block.split(ends).map(words));
            }
            Event::Start(Tag::CodeBlock(_)) => self.part(vec![words(block)]),
            Event::Start(Tag::BlockQuote(_)) => {
                let lines: Vec<_> = source.lines().take_while(|line| line.starts_with('>')).collect();
                assert_eq!(source.lines().nth(lines.len()), Some(""), "a quote ends with a blank line");
                let lines =
                    lines.into_iter().map(|line| line.strip_prefix("> ").unwrap_or(&line[1..]).to_owned() + "\n");
                let mut forms = vec![lines.collect()];
                let inner = &block[1..block.len() - 1];
                let is_code = matches!(inner.first(), Some(Event::Start(Tag::CodeBlock(_))));
                let blocks = inner.iter().filter(|event| matches!(event, Event::End(TagEnd::CodeBlock))).count();
                if is_code && blocks == 1 && inner.last() == Some(&Event::End(TagEnd::CodeBlock)) {
                    forms.push(words(inner));
                }
                self.part(forms);
            }
            other => panic!("{other:?} is no block of a transcript"),
        }
    }

    fn part(&mut self, forms: Vec<String>) {
        self.messages.last_mut().expect("a part is below a heading").1.push(forms);
    }
}

fn level(level: usize) -> Tag<'static> {
    let level = level.try_into().unwrap();
    Tag::Heading { level, id: None, classes: Vec::new(), attrs: Vec::new() }
}

/// Checks that the Markdown of a session says what its text form says, and returns what is seen.
fn same(scratch: &Scratch, name: &str) -> Seen {
    let text = scratch.args(["context", "s.jsonl", "--width", "0", "--quiet"]).ok();
    let document = scratch.args(["context", "s.jsonl", "--format", "markdown", "--quiet"]).ok();
    let seen = Seen::read(&document);
    let (facts, mut rest) =
        text.split_once("\n\n──").map_or((text.as_str(), ""), |(facts, _)| (facts, &text[facts.len() + 1..]));
    let facts: Vec<_> = facts.lines().map(|fact| fact.split_once("  ").unwrap_or((fact, ""))).collect();
    let facts: Vec<_> = facts.into_iter().map(|(name, value)| format!("{name}: {}", value.trim())).collect();
    assert_eq!(seen.head[1..], facts, "{name}");
    for (heading, parts) in &seen.messages {
        let (title, id) = heading.rsplit_once(" - ").unwrap();
        let title = format!("\n── {title}  {id}\n");
        rest = rest.strip_prefix(&title).unwrap_or_else(|| panic!("{name}: {title:?} is not before {rest}"));
        for forms in parts {
            let after = forms.iter().find_map(|form| rest.strip_prefix(form.as_str()));
            rest = after.unwrap_or_else(|| panic!("{name}: {forms:?} is not before {rest}"));
        }
    }
    assert_eq!(rest, "", "{name}: all is in the Markdown\n{document}");
    seen
}

#[test]
fn markdown_says_what_text_says() {
    let mut files = vec![support::data("demo.jsonl"), support::data("openclaw.jsonl")];
    for folder in ["golden", "cases", "sent"] {
        files.extend(fs::read_dir(support::data(folder)).unwrap().map(|file| file.unwrap().path()));
    }
    files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    files.sort();
    let mut messages = 0;
    for file in files {
        let scratch = Scratch::bytes(&fs::read(&file).unwrap());
        if scratch.run("context s.jsonl --json --quiet").code == 0 {
            messages += same(&scratch, &file.display().to_string()).messages.len();
        }
    }
    assert!(messages > 500, "{messages}");
}

/// Texts that would change a document around them.
const HOSTILE: [&str; 32] = [
    "```\ncode\n```",
    "```",
    "~~~\nopen",
    "````\n```\n````",
    "a ``` b ```` c",
    "`",
    "<!-- hidden",
    "<script>alert(1)",
    "<details>\n\nmore",
    "Vec<String> and `Vec<String>`",
    "---",
    "a\n---\nb",
    "***",
    "===",
    "[a]: http://b \"c\"",
    "[a\nb]:\nc",
    "[^1]: note",
    "![a](http://b)",
    "\tindented\n\t\tmore",
    "a\rb\r\nc\r",
    "> quoted\n>> twice",
    "    code",
    "   three",
    "",
    "\n\n",
    "  \n  \n",
    "# 1 user - id01\n## 2 user - id02",
    "- a\n  ```\n<b>\n",
    "| a | b |\n|---|---|\n| ` | <b> ` |",
    "\u{1b}[31mred\u{202e}\u{2028}x",
    "1. a\n\n   b\n2) c",
    "&lt;b&gt; &#0; \\* \\`<i>`",
];

#[test]
fn hostile_texts_stay_in_their_place() {
    for text in HOSTILE {
        let quoted = json!(text);
        let block = |name: &str| {
            format!(
                r#"{{"type":"text","text":{quoted}}},{{"type":"thinking","thinking":{quoted}}},{{"type":"toolCall","id":"c","name":{name},"arguments":{{"a":{quoted}}}}},{{"type":"image","mimeType":{quoted},"data":"aGk="}},{{"type":{quoted}}}"#
            )
        };
        let role = |role: &str, rest: &str| format!(r#""message":{{"role":"{role}",{rest}}}"#);
        let scratch = Scratch::new(&[
            message("id01", "", "user", text),
            entry(
                "message",
                "id02",
                "id01",
                &role("assistant", &format!(r#""content":[{}],"errorMessage":{quoted}"#, block(&quoted.to_string()))),
            ),
            entry(
                "message",
                "id03",
                "id02",
                &role("toolResult", &format!(r#""toolName":{quoted},"toolCallId":"c","content":[{}]"#, block("\"x\""))),
            ),
            entry(
                "message",
                "id04",
                "id03",
                &role("bashExecution", &format!(r#""command":{quoted},"output":{quoted}"#)),
            ),
            entry(
                "custom_message",
                "id05",
                "id04",
                &format!(r#""customType":{quoted},"content":{quoted},"display":true"#),
            ),
            entry("branch_summary", "id06", "id05", &format!(r#""fromId":"id01","summary":{quoted}"#)),
            entry("session_info", "id07", "id06", &format!(r#""name":{quoted}"#)),
            message("id08", "id07", "user", "end"),
        ]);
        let seen = same(&scratch, text);
        // A summary without words is no message.
        assert_eq!(seen.messages.len(), if text.is_empty() { 6 } else { 7 }, "{text:?}");
        assert_eq!(seen.messages.last().unwrap().1, [["end\n"]], "{text:?}");
    }
}

#[test]
fn words_are_quoted_as_they_are_and_the_rest_is_fenced() {
    let answer = r#""message":{"role":"assistant","provider":"p","model":"m","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"**Do** `Vec<u8>`\n\nor <b>"},{"type":"toolCall","id":"c","name":"read","arguments":{"path":"a"}}]}"#;
    let result = r#""message":{"role":"toolResult","toolName":"read","toolCallId":"c","content":[{"type":"text","text":"```\nx"},{"type":"image","mimeType":"image/png","data":"aGk="}]}"#;
    let scratch = Scratch::new(&[
        message("id01", "", "user", "**Do** `Vec<u8>`\n\n> so"),
        entry("message", "id02", "id01", answer),
        entry("message", "id03", "id02", result),
        entry(
            "message",
            "id04",
            "id03",
            r#""message":{"role":"assistant","content":[{"type":"toolCall","id":"d","name":"ls","arguments":{}}]}"#,
        ),
    ]);
    let document = scratch.run("context s.jsonl --format markdown").ok();
    let (_, messages) = document.split_once("## 1 ").unwrap();
    let first = "user - id01\n\n> **Do** `Vec<u8>`\n>\n> > so\n\n## 2 assistant - id02\n\n```\n[thinking] hm\n```\n\n\
        > ```\n> **Do** `Vec<u8>`\n>\n> or <b>\n> ```\n\n";
    let call = "```\n[call read: {\"path\":\"a\"}]\n```\n\n";
    let rest = "## 3 toolResult \\[read\\] - id03\n\n````\n```\nx\n````\n\n```\n[image: image/png, 1 kB]\n```\n\n\
        ## 4 assistant - id04\n\n```\n[call ls: {}]\n```\n\n";
    assert_eq!(messages, format!("{first}{call}{rest}"));
    let without = scratch.run("context s.jsonl --format markdown --no-tools").ok();
    assert_eq!(without.split_once("## 1 ").unwrap().1, first);
}

#[test]
fn front_matter_and_statistics_are_at_the_head() {
    let scratch = Scratch::new(&[
        message("id01", "", "user", "prompt"),
        entry("model_change", "id02", "id01", r#""provider":"a","modelId":"b""#),
        entry("session_info", "id03", "id02", r#""name":"a: \"b\"\\ *c*""#),
    ]);
    let plain = Seen::read(&scratch.run("context s.jsonl --format markdown").ok());
    let matter: Vec<_> = plain.matter.lines().collect();
    let value = |at: usize, name: &str| -> serde_json::Value {
        serde_json::from_str(matter[at].strip_prefix(name).unwrap()).unwrap()
    };
    assert_eq!(value(1, "title: "), "a: \"b\"\\ *c*");
    assert_eq!(value(2, "model: "), "a/b");
    let header: serde_json::Value = serde_json::from_str(super::HEADER).unwrap();
    assert_eq!((value(0, "id: "), value(3, "created: ")), (header["id"].clone(), header["timestamp"].clone()));
    assert!(value(4, "updated: ").as_str().is_some_and(|time| time.ends_with('Z')), "{matter:?}");
    assert_eq!(plain.head[0], "a: \"b\"\\ *c*");
    let seen = Seen::read(&scratch.run("context s.jsonl --format markdown --stats").ok());
    assert_eq!(seen.messages, plain.messages);
    assert_eq!(seen.cells[..8], ["tokens", "share", "messages", "what", "2", "100.0%", "1", "user"], "{seen:?}");
    assert!(seen.head.contains(&"Statistics".to_owned()), "{seen:?}");
    let named = r#""message":{"role":"toolResult","toolCallId":"c","toolName":"a|b *c*","content":[]}"#;
    let tools = Scratch::new(&[message("id01", "", "user", "prompt"), entry("message", "id02", "id01", named)]);
    let seen = Seen::read(&tools.run("context s.jsonl --format markdown --stats").ok());
    assert!(seen.cells[4..].iter().any(|cell| cell.ends_with("a|b *c*")), "{seen:?}");
    let before = Seen::read(&scratch.run("context s.jsonl --format markdown --root --stats").ok());
    assert!(before.messages.is_empty() && before.matter.ends_with("updated: null\n"), "{before:?}");
}

#[test]
fn markdown_is_of_one_session_and_only_it_goes_without_tools() {
    let scratch = Scratch::new(&[message("id01", "", "user", "prompt")]);
    for (args, message) in [
        ("context s.jsonl . --stats --format markdown", "a transcript is of one session"),
        ("context s.jsonl --diff id01 --format markdown", "`--diff` has no form in Markdown"),
        ("context s.jsonl --no-tools", "`--no-tools` goes with `--format markdown`"),
        ("context s.jsonl --no-tools --json", "`--no-tools` goes with `--format markdown`"),
    ] {
        let run = scratch.run(args);
        assert!(run.code == 2 && run.stderr.contains(message), "{args}: {}", run.stderr);
    }
    let all = Seen::read(&scratch.run("context s.jsonl --format markdown --stats --all").ok());
    assert!(all.head.contains(&"branches: all 1".to_owned()), "{all:?}");
}
