//! The lists of `label` and `branch`: their JSON shapes and columns.

use super::{Scratch, entry, label, message};

/// Three prompts on two branches, one of them without text; labels set, set again and cleared.
fn session() -> Scratch {
    let cleared = entry("label", "id09", "id08", r#""targetId":"id04""#);
    Scratch::new(&[
        message("id01", "", "user", "one\nprompt"),
        message("id02", "id01", "assistant", "answer"),
        label("id03", "id02", "id01", "first"),
        message("id04", "id02", "user", "two in /home/mia/shop"),
        label("id05", "id04", "id04", "second"),
        label("id06", "id05", "id02", "third"),
        r#"{"type":"label","id":"id07","parentId":"id06","timestamp":1767225602000,"targetId":"id01","label":"again"}"#
            .to_owned(),
        label("id08", "id07", "gone", "lost"),
        cleared,
        r#"{"type":"message","id":"id10","parentId":"gone","timestamp":"then","message":{"role":"user","content":[{"type":"image","mimeType":"image/png"}]}}"#
            .to_owned(),
    ])
}

/// Returns what a list prints, cell by cell.
fn cells(args: &str) -> Vec<Vec<String>> {
    let out = session().run(args).ok();
    let cells =
        |line: &str| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect();
    out.lines().map(cells).collect()
}

#[test]
fn labels_are_listed_in_the_order_of_setting() {
    let out = session().run("label s.jsonl --json").ok();
    let set = "2026-01-01T00:00:01.000Z";
    let expected = [
        format!(r#"{{"id":"id02","label":"third","timestamp":"{set}","exists":true,"text":"answer"}}"#),
        r#"{"id":"id01","label":"again","timestamp":1767225602000,"exists":true,"text":"one prompt"}"#.to_owned(),
        format!(r#"{{"id":"gone","label":"lost","timestamp":"{set}","exists":false,"text":null}}"#),
    ];
    assert_eq!(out, format!("[{}]\n", expected.join(",")));
    assert_eq!(session().run("label s.jsonl --format jsonl").ok(), format!("{}\n", expected.join("\n")));
}

#[test]
fn labels_in_text_are_columns() {
    assert_eq!(
        cells("label s.jsonl"),
        [
            ["id", "label", "when (UTC)", "text"],
            ["id02", "third", "2026-01-01 00:00", "assistant: answer"],
            ["id01", "again", "2026-01-01 00:00", "user: one prompt"],
            ["gone", "lost", "2026-01-01 00:00", "(no such entry)"],
        ]
    );
}

#[test]
fn one_label_is_printed_alone() {
    let scratch = session();
    assert_eq!(scratch.run("label s.jsonl id01").ok(), "again\n");
    assert_eq!(scratch.run("label s.jsonl id04").ok(), "");
    assert_eq!(
        scratch.run("label s.jsonl label:again --json").ok(),
        "{\"id\":\"id01\",\"label\":\"again\",\"timestamp\":1767225602000}\n"
    );
    assert_eq!(scratch.run("label s.jsonl id04 --json").ok(), "{\"id\":\"id04\",\"label\":null,\"timestamp\":null}\n");
}

#[test]
fn prompts_are_listed_in_the_order_of_the_file() {
    let rows = [
        r#"{"id":"id01","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","text":"one prompt"}"#,
        r#"{"id":"id04","parentId":"id02","timestamp":"2026-01-01T00:00:01.000Z","text":"two in /home/mia/shop"}"#,
        r#"{"id":"id10","parentId":null,"timestamp":"then","text":"[image/png]"}"#,
    ];
    let scratch = session();
    assert_eq!(scratch.run("branch s.jsonl --format jsonl").ok(), format!("{}\n", rows.join("\n")));
    assert_eq!(scratch.run("branch s.jsonl --json").ok(), format!("[{}]\n", rows.join(",")));
    assert_eq!(cells("branch s.jsonl"), [["id01", "one prompt"], ["id04", "two in ~/shop"], ["id10", "[image/png]"]]);
    assert_eq!(
        cells("branch s.jsonl --format table"),
        [
            ["id", "when (UTC)", "text"],
            ["id01", "2026-01-01 00:00", "one prompt"],
            ["id04", "2026-01-01 00:00", "two in ~/shop"],
            ["id10", "-", "[image/png]"],
        ]
    );
}
