//! The picture in the README is that of the demo session. Set `UPDATE_SNAPSHOTS` to make it anew;
//! that needs Graphviz. That pictures can be drawn at all is tested by `tests/graph/run.sh`.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use crate::cli::{Scratch, message};
use crate::support::{data, run};

/// What the picture is made from.
fn dot() -> String {
    run(["tree".as_ref(), data("demo.jsonl").as_os_str(), "--format".as_ref(), "dot".as_ref()]).ok()
}

fn draw() {
    let made =
        Command::new("dot").args(["-Tsvg", "-o"]).args([data("output/demo.svg"), data("output/demo.dot")]).status();
    assert!(made.is_ok_and(|status| status.success()), "Graphviz draws the picture (Debian package: graphviz)");
}

#[test]
fn dot_strings_are_short_enough_for_graphviz() {
    let id = |last: char| format!("{}{last}", "x\\\"&".repeat(5000));
    let lines = [message(&id('a'), "", "user", "one"), message(&id('b'), &id('a'), "user", &"<&>".repeat(9000))];
    let scratch = Scratch::new(&lines);
    let dot = scratch.run("tree s.jsonl --format dot").ok();
    let longest = dot.lines().map(str::len).max().unwrap();
    assert!(longest < 16384 && dot.matches("label=").count() > 1, "{longest}");
}

#[test]
fn recorded_picture_of_demo_is_current() {
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::write(data("output/demo.dot"), dot()).unwrap();
        draw();
    }
    let recorded = fs::read_to_string(data("output/demo.dot")).unwrap();
    assert_eq!(dot(), recorded, "UPDATE_SNAPSHOTS=1 cargo test graph draws it anew");
    // Graphviz draws a little differently from version to version, but always names its nodes.
    let svg = fs::read_to_string(data("output/demo.svg")).unwrap();
    let drawn = |kind: &str| svg.matches(&format!("class=\"{kind}\"")).count();
    let names: BTreeSet<_> = recorded.lines().filter_map(|line| line.trim().split_once(" [label=")).collect();
    assert_eq!(drawn("node"), names.iter().filter(|(name, _)| name.starts_with('n')).count());
    assert_eq!(drawn("edge"), recorded.matches(" -> ").count());
}
