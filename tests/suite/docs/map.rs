//! What comments point at is there: files, headings of the reference, and in the table of rules in
//! `src/lib.rs` each test.

use std::fs;
use std::path::{Path, PathBuf};

use super::readme::{Text, texts};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns all Rust files of a folder and the folders in it.
fn files(folder: &str) -> Vec<PathBuf> {
    let (mut folders, mut found) = (vec![root().join(folder)], Vec::new());
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match path.extension() {
                Some(extension) if extension == "rs" => found.push(path),
                _ if path.is_dir() => folders.push(path),
                _ => {}
            }
        }
    }
    found
}

#[test]
fn every_rule_of_the_map_has_its_file_and_its_test() {
    let map = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    let rules = map.lines().skip_while(|line| *line != "//! | rule | file | test |").skip(2);
    let rules: Vec<_> = rules.map_while(|line| line.strip_prefix("//! | ")?.strip_suffix(" |")).collect();
    assert!(rules.len() > 20, "{rules:?}");
    let sources: Vec<_> = ["src", "tests/suite"].iter().flat_map(|folder| files(folder)).collect();
    let sources: Vec<_> = sources.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    for rule in rules {
        let [_, file, test] = rule.split(" | ").collect::<Vec<_>>()[..] else { panic!("three columns: {rule}") };
        assert!(rule.contains("(help "), "no page is cited: {rule}");
        let [file, test] = [file, test].map(|name| name.trim_matches('`'));
        assert!(root().join("src").join(file).is_file(), "src/{file} is missing");
        let line = format!("#[test]\nfn {test}()");
        let indented = format!("#[test]\n    fn {test}()");
        assert!(sources.iter().any(|text| text.contains(&line) || text.contains(&indented)), "no test {test}");
    }
}

#[test]
fn every_room_is_on_the_map() {
    let map = fs::read_to_string(root().join("src/lib.rs")).unwrap();
    for entry in fs::read_dir(root().join("src/core")).unwrap() {
        let name = entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned();
        assert!(name == "mod" || map.contains(&format!("[`core::{name}`]")), "{name} is not on the map");
    }
}

/// A comment of several lines, without what marks them as one; its first line counts from 1.
struct Comment {
    place: String,
    text: String,
}

/// Returns the comments of a source.
fn comments(name: &str, source: &str) -> Vec<Comment> {
    let mut comments: Vec<Comment> = Vec::new();
    let mut goes_on = false;
    for (at, line) in source.lines().map(str::trim_start).enumerate() {
        let Some(text) = line.strip_prefix("//") else {
            goes_on = false;
            continue;
        };
        let text = text.trim_start_matches(['/', '!']).trim();
        match comments.last_mut().filter(|_| goes_on) {
            Some(comment) => comment.text.push_str(&format!(" {text}")),
            None => comments.push(Comment { place: format!("{name}:{}", at + 1), text: text.to_owned() }),
        }
        goes_on = true;
    }
    comments
}

/// Returns the comments of the program and of its tests.
fn all_comments() -> Vec<Comment> {
    let sources = ["src", "tests"].iter().flat_map(|folder| files(folder));
    let read = |path: PathBuf| {
        let name = path.strip_prefix(root()).unwrap().display().to_string();
        comments(&name, &fs::read_to_string(path).unwrap())
    };
    sources.flat_map(read).collect()
}

/// A citation: `(help PAGE, "HEADING")`, or with the number of a rule `(help PAGE, "HEADING", 3)`.
#[derive(Debug, PartialEq)]
struct Citation<'c> {
    page: &'c str,
    heading: &'c str,
    number: Option<&'c str>,
}

impl<'c> Citation<'c> {
    /// Reads what stands after `(help `.
    fn read(text: &'c str) -> Option<Self> {
        let (page, rest) = text.split_once(", \"")?;
        let (heading, rest) = rest.split_once('"')?;
        let (number, _) = rest.split_once(')')?;
        let number =
            (!number.is_empty()).then(|| number.strip_prefix(", ")).map_or(Some(None), |number| number.map(Some))?;
        page.bytes().all(|byte| byte.is_ascii_lowercase()).then_some(Self { page, heading, number })
    }

    /// Returns whether the page has the heading, and the rule below it.
    fn is_there(&self) -> bool {
        let Ok(page) = fs::read_to_string(root().join(format!("src/help/{}.md", self.page))) else { return false };
        let mut lines = page.lines();
        let is_heading = |line: &str| line.starts_with('#') && line.trim_start_matches('#').trim() == self.heading;
        let has_heading = lines.any(is_heading);
        let mut rules = lines.take_while(|line| !line.starts_with('#'));
        has_heading && self.number.is_none_or(|number| rules.any(|line| line.starts_with(&format!("{number}. "))))
    }
}

#[test]
fn citations_are_read_and_looked_up() {
    let check = |text: &str, expected: Option<(&str, &str, Option<&str>)>, is_there: bool| {
        let found = Citation::read(text);
        assert_eq!(found.as_ref().map(|found| (found.page, found.heading, found.number)), expected, "{text}");
        assert_eq!(found.is_some_and(|found| found.is_there()), is_there, "{text}");
    };
    check("rules, \"Leaf\"). More", Some(("rules", "Leaf", None)), true);
    check("rules, \"Reading\", 8)", Some(("rules", "Reading", Some("8"))), true);
    check("rules, \"Reading\", 80)", Some(("rules", "Reading", Some("80"))), false);
    check("rules, \"Leaf\", 1)", Some(("rules", "Leaf", Some("1"))), false);
    check("rules, \"Leave\")", Some(("rules", "Leave", None)), false);
    check("rule, \"Leaf\")", Some(("rule", "Leaf", None)), false);
    check("rules: Leaf)", None, false);
    check("rules, \"Leaf\" 1)", None, false);
    let comments = comments("a.rs", "//! One (help\n//! rules,\n//! \"Leaf\")\n\nfn f() {}\n    // two\n");
    let comments: Vec<_> = comments.iter().map(|comment| (comment.place.as_str(), comment.text.as_str())).collect();
    assert_eq!(comments, [("a.rs:1", "One (help rules, \"Leaf\")"), ("a.rs:6", "two")]);
}

#[test]
fn every_citation_is_in_the_reference() {
    let mut count = 0;
    let mut wrong = Vec::new();
    for Comment { place, text } in
        all_comments().iter().filter(|comment| !comment.place.starts_with("tests/suite/docs/"))
    {
        for rest in text.split("(help ").skip(1) {
            count += 1;
            if !Citation::read(rest).is_some_and(|citation| citation.is_there()) {
                wrong.push(format!("{place}: (help {}", &rest[..rest.find(')').map_or(rest.len(), |end| end + 1)]));
            }
        }
        // Other forms cite what is not in the repository.
        let is_other = |at: usize| text[..at].rsplit_once('(').is_some_and(|(_, word)| !word.contains([' ', ')']));
        wrong.extend(text.match_indices(": \"").filter(|(at, _)| is_other(*at)).map(|_| format!("{place}: {text}")));
    }
    assert!(count > 40, "{count} citations");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_heading_that_a_page_cites_is_there() {
    let (mut count, mut wrong) = (0, Vec::new());
    for Text { name, markdown } in texts() {
        let text = markdown.split_whitespace().collect::<Vec<_>>().join(" ");
        let in_brackets = text.split("(help ").skip(1).filter_map(Citation::read);
        let in_words = text.match_indices("\" in `session-tree help ").filter_map(|(at, between)| {
            let (_, heading) = text[..at].rsplit_once('"')?;
            let (page, _) = text[at + between.len()..].split_once('`')?;
            Some(Citation { page, heading, number: None })
        });
        let citations: Vec<_> = in_brackets.chain(in_words).collect();
        count += citations.len();
        wrong.extend(citations.iter().filter(|cited| !cited.is_there()).map(|cited| format!("{name}: {cited:?}")));
    }
    assert!(count > 5, "{count} citations");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_file_that_a_comment_names_is_there() {
    const ENDINGS: [&str; 6] = [".rs", ".md", ".sh", ".py", ".ts", ".mjs"];
    let is_path = |word: &&str| word.contains('/') && ENDINGS.iter().any(|ending| word.ends_with(ending));
    let is_there =
        |word: &str| ["", "src", "tests", "tests/suite"].iter().any(|folder| root().join(folder).join(word).is_file());
    let mut count = 0;
    for Comment { place, text } in all_comments() {
        for word in text.split('`').skip(1).step_by(2).filter(is_path).filter(|word| !word.contains([' ', '*'])) {
            assert!(is_there(word), "{place}: {word}");
            count += 1;
        }
    }
    assert!(count > 30, "{count} files");
}
