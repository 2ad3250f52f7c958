//! The table of rules in `src/lib.rs`: each file is there, and each test.

use std::fs;
use std::path::{Path, PathBuf};

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
