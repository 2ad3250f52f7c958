//! The build of the program: which part may know which, and what no source file may hold.
//!
//! Reads the sources as text. Comments, the insides of strings, and unit tests do not count where
//! it is about who knows whom.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The parts of the program, in levels: each may import from itself and from the levels before it.
const PARTS: [&[&str]; 7] =
    [&["parallel", "random"], &["core"], &["run", "ui"], &["hooks"], &["cmd"], &["cli"], &["main"]];

/// The rooms of core, in levels as above.
const ROOMS: [&[&str]; 11] = [
    &["json", "words"],
    &["error", "time"],
    &["entry"],
    &["read", "search"],
    &["disk"],
    &["migrate"],
    &["session"],
    &["tree"],
    &["context", "naming"],
    &["edit", "store"],
    &["check"],
];

/// So many rooms can be kept in mind.
const MOST_ROOMS: usize = 16;

/// The names that several types have as they do the same for different things.
const PARALLEL: &[&str] = &["Format"];

/// How the standard library writes into folders and opens files for writing.
const WRITES: [&str; 14] = [
    "OpenOptions",
    "create_dir",
    "create_dir_all",
    "create_new",
    "hard_link",
    "remove_dir",
    "remove_dir_all",
    "remove_file",
    "set_len",
    "set_permissions",
    "symlink",
    "fs::copy",
    "fs::rename",
    "fs::write",
];

/// Names that core has no business with: the command line, printing, environment and clock.
const NOT_IN_CORE: [&str; 13] = [
    "clap",
    "anyhow",
    "comfy_table",
    "anstyle",
    "stdin",
    "stdout",
    "stderr",
    "print",
    "println",
    "eprint",
    "eprintln",
    "env",
    "SystemTime",
];

/// The ways in which others than ui may name an output: to ask whether a terminal is there.
const QUESTIONS: [&str; 3] = ["stderr().is_terminal()", "stdout().is_terminal()", "tcgetwinsize(io::stdout())"];

/// The only files that start threads: the worker pool, and what reads from a child process.
const THREADS: [&str; 2] = ["parallel.rs", "run.rs"];

/// A source file.
struct File {
    /// The path below the folder, with `/`.
    name: String,
    text: String,
}

impl File {
    /// Returns all Rust files below a folder of the project.
    fn all(folder: &str) -> Vec<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let mut folders = vec![root.clone()];
        let mut files = Vec::new();
        while let Some(folder) = folders.pop() {
            for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    files.push(Self::read(&root, path));
                }
            }
        }
        files.sort_by(|a, b| a.name.cmp(&b.name));
        files
    }

    fn read(root: &Path, path: PathBuf) -> Self {
        let name = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
        Self { name, text: fs::read_to_string(path).unwrap() }
    }

    /// Returns the names of the modules from the top down to this one.
    fn module(&self) -> Vec<&str> {
        let path = self.name.strip_suffix(".rs").unwrap();
        path.strip_suffix("/mod").unwrap_or(path).split('/').filter(|name| !["lib", "main"].contains(name)).collect()
    }

    fn part(&self) -> &str {
        self.name.split('/').next().unwrap().trim_end_matches(".rs")
    }

    /// Returns the code without unit tests, which stand at the end.
    fn code(&self) -> String {
        let code = code(&self.text);
        let Some(end) = code.find("#[cfg(test)]\nmod ") else { return code };
        let is_end = code[end..].lines().filter(|line| *line == "}").count() == 1;
        assert!(is_end, "unit tests stand at the end of {}", self.name);
        code[..end].to_owned()
    }

    /// Returns the modules that the code names, from the top down.
    fn imports(&self) -> Vec<Vec<String>> {
        let own = self.module();
        paths(&self.code()).into_iter().map(|path| absolute(&own, path)).collect()
    }

    /// Returns the same with the paths that start at a module which the file declares, where it does not
    /// only pass on a name.
    fn uses(&self) -> Vec<Vec<String>> {
        let (own, code) = (self.module(), self.code());
        let declared = code.lines().filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod "));
        let mut uses = self.imports();
        let passed_on = |statement: &&str| statement.trim_start().starts_with("pub use ");
        let code = code.split(';').filter(|statement| !passed_on(statement)).collect::<Vec<_>>().join(";");
        for name in declared.filter_map(|rest| rest.strip_suffix(';')) {
            let below = paths_from(name, &code).into_iter();
            uses.extend(below.map(|path| own.iter().map(|name| (*name).to_owned()).chain(path).collect::<Vec<_>>()));
        }
        uses
    }
}

/// Blanks out comments and the insides of strings and characters.
fn code(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        let before = out.chars().next_back();
        let begins_word = !before.is_some_and(|char| char.is_alphanumeric() || char == '_');
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if char == '"' {
            string_length(rest)
        } else if begins_word && rest.starts_with("r\"") || rest.starts_with("r#") {
            raw_string_length(rest)
        } else if char == '\'' {
            char_length(rest)
        } else {
            0
        };
        if length == 0 {
            out.push(char);
            rest = &rest[char.len_utf8()..];
        } else {
            out.push_str(if rest.starts_with("//") { "" } else { "\"\"" });
            rest = &rest[length..];
        }
    }
    out
}

fn string_length(text: &str) -> usize {
    let mut escaped = false;
    let end = text[1..].find(|char: char| {
        let ends = char == '"' && !escaped;
        escaped = char == '\\' && !escaped;
        ends
    });
    end.expect("strings end") + 2
}

/// Returns the length of a raw string; 0 if there is none, as in a raw identifier.
fn raw_string_length(text: &str) -> usize {
    let hashes = text[1..].bytes().take_while(|&byte| byte == b'#').count();
    let start = 1 + hashes;
    if text.as_bytes().get(start) != Some(&b'"') {
        return 0;
    }
    let end = format!("\"{}", "#".repeat(hashes));
    start + 1 + text[start + 1..].find(&end).expect("strings end") + end.len()
}

/// Returns the length of a character in quotes; 0 for a lifetime.
fn char_length(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), Some((at, escaped))) => {
            let behind = at + escaped.len_utf8();
            behind + text[behind..].find('\'').expect("characters end") + 1
        }
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 0,
    }
}

/// Returns the words of code: names and keywords.
fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|char: char| !char.is_alphanumeric() && char != '_').filter(|word| !word.is_empty())
}

/// Returns all paths in code that start at the crate or at a parent, with groups taken apart.
fn paths(code: &str) -> Vec<Vec<String>> {
    ["crate", "super", "session_tree"].into_iter().flat_map(|root| paths_from(root, code)).collect()
}

/// Returns all paths in code that start with a name.
fn paths_from(root: &str, code: &str) -> Vec<Vec<String>> {
    let mut out = Vec::new();
    for (at, _) in code.match_indices(&format!("{root}::")) {
        let before = code[..at].chars().next_back();
        let goes_on = before.is_some_and(|char| char.is_alphanumeric() || char == '_' || char == ':');
        if !goes_on {
            take_path(&code[at..], &mut Vec::new(), &mut out);
        }
    }
    out
}

/// Takes one path, or a tree of them, and returns what follows it.
fn take_path<'c>(code: &'c str, above: &mut Vec<String>, out: &mut Vec<Vec<String>>) -> &'c str {
    let code = code.trim_start();
    if let Some(mut rest) = code.strip_prefix('{') {
        while !rest.trim_start().starts_with('}') {
            rest = take_path(rest, above, out).trim_start();
            rest = rest.strip_prefix(',').unwrap_or(rest);
        }
        return &rest.trim_start()[1..];
    }
    let length = code.find(|char: char| !char.is_alphanumeric() && char != '_').unwrap_or(code.len());
    assert!(length > 0, "a path ends in a name: {:?}", code.get(..40));
    above.push(code[..length].to_owned());
    let rest = &code[length..];
    let rest = match rest.strip_prefix("::").filter(|rest| !rest.starts_with('<')) {
        Some(rest) => take_path(rest, above, out),
        None => {
            out.push(above.clone());
            // `as` and another name.
            rest.trim_start()
                .strip_prefix("as ")
                .map_or(rest, |rest| rest.trim_start_matches(|char: char| char.is_alphanumeric() || char == '_'))
        }
    };
    above.pop();
    rest
}

/// Resolves `crate` and `super`.
fn absolute(own: &[&str], path: Vec<String>) -> Vec<String> {
    let ups = path.iter().take_while(|name| *name == "super").count();
    let base: Vec<String> = match ups {
        0 => Vec::new(),
        _ => own[..own.len() - ups].iter().map(|name| (*name).to_owned()).collect(),
    };
    base.into_iter().chain(path.into_iter().skip(ups.max(1))).collect()
}

#[test]
fn source_reader_finds_code_and_imports() {
    let text = "use a::b; // crate::no\nlet x = \"crate::no \\\" {\"; 'c'; '\\''; r#\"crate::no\"#; &'a str\n/// crate::no\nr#type";
    assert_eq!(code(text), "use a::b; \nlet x = \"\"; \"\"; \"\"; \"\"; &'a str\n\nr#type");
    let text = "use crate::core::{json::{self, Raw as R}, text}; super::super::x::f(y); a::crate::no; supercrate::no";
    let found: Vec<_> = paths(text).into_iter().map(|path| absolute(&["cmd", "tree"], path).join("::")).collect();
    assert_eq!(found, ["core::json::self", "core::json::Raw", "core::text", "x::f"]);
    let file = |name: &str| File { name: name.to_owned(), text: "use super::b;".to_owned() };
    assert_eq!(file("core/a.rs").imports(), [["core", "b"]]);
    assert_eq!(file("core/mod.rs").imports(), [["b"]]);
}

/// Lists the imports of a name in a ladder that are not from lower levels; `own` is where they stand.
fn against(ladder: &[&[&str]], own: &str, imports: &[&str]) -> Vec<String> {
    let level = |name: &str| ladder.iter().position(|level| level.contains(&name));
    let place = level(own).unwrap_or_else(|| panic!("`{own}` has a place in the order"));
    let is_wrong = |name: &&&str| **name != own && level(name).is_none_or(|level| level >= place);
    imports.iter().filter(is_wrong).map(|name| format!("{own} -> {name}")).collect()
}

#[test]
fn parts_know_only_the_parts_before_them() {
    assert_eq!(against(&[&["a"], &["b", "c"]], "b", &["a", "b", "c", "d"]), ["b -> c", "b -> d"]);
    let (mut found, mut count) = (Vec::new(), 0);
    for file in File::all("src").iter().filter(|file| file.part() != "lib") {
        let imports = file.imports();
        let parts: Vec<_> = imports.iter().map(|import| import[0].as_str()).collect();
        found.extend(against(&PARTS, file.part(), &parts));
        count += parts.len();
    }
    assert_eq!(found, [""; 0], "imports against the order");
    assert!(count > 150, "{count} imports");
}

#[test]
fn rooms_of_core_know_only_the_rooms_below_them() {
    let mut rooms = Vec::new();
    let mut found = Vec::new();
    for file in File::all("src/core").iter().filter(|file| file.name != "mod.rs") {
        let room = file.module()[0].to_owned();
        let file = File { name: format!("core/{}", file.name), text: file.text.clone() };
        let imports = file.imports();
        let imports: Vec<_> = imports.iter().filter(|import| import[0] == "core").map(|import| &*import[1]).collect();
        found.extend(against(&ROOMS, &room, &imports));
        rooms.push(room);
    }
    assert_eq!(found, [""; 0], "imports against the order");
    rooms.dedup();
    assert_eq!(rooms.len(), ROOMS.iter().map(|level| level.len()).sum::<usize>(), "{rooms:?}");
    assert!(rooms.len() <= MOST_ROOMS, "{rooms:?}");
}

/// Returns the imports that are part of a circle.
fn circles(files: &[File]) -> Vec<String> {
    let module: Vec<_> = files.iter().map(File::module).collect();
    let place = |path: &[String]| {
        let named = |length: usize| module.iter().position(|module| path[..length] == *module);
        (1..=path.len()).rev().find_map(named)
    };
    let mut imports = vec![BTreeSet::new(); files.len()];
    for (at, file) in files.iter().enumerate() {
        let others = file.uses().into_iter().filter_map(|path| place(&path));
        imports[at].extend(others.filter(|&other| other != at));
    }
    let leads_to = |from: usize, to: usize| {
        let (mut seen, mut next) = (BTreeSet::from([from]), vec![from]);
        while let Some(at) = next.pop() {
            next.extend(imports[at].iter().filter(|&&import| seen.insert(import)));
        }
        seen.contains(&to)
    };
    let all = imports.iter().enumerate().flat_map(|(from, imports)| imports.iter().map(move |&to| (from, to)));
    let circle = all.filter(|&(from, to)| leads_to(to, from));
    circle.map(|(from, to)| format!("{} -> {}", files[from].name, files[to].name)).collect()
}

#[test]
fn no_file_imports_itself_by_way_of_others() {
    let file = |(name, text): (&str, &str)| File { name: name.to_owned(), text: text.to_owned() };
    let check = |files: &[(&str, &str)], expected: &[&str]| {
        assert_eq!(circles(&files.iter().copied().map(file).collect::<Vec<_>>()), expected, "{files:?}");
    };
    let b = ("a/b.rs", "use crate::c::{self, X};");
    check(&[b, ("c.rs", "fn f() { d::g() }")], &[]);
    check(&[b, ("c.rs", "use crate::a::b::Y;")], &["a/b.rs -> c.rs", "c.rs -> a/b.rs"]);
    check(&[("a/mod.rs", "mod b;"), ("a/b.rs", "use super::X;")], &[]);
    check(&[("a/b.rs", "use super::X;"), ("a/mod.rs", "mod b;\npub use b::{X, Y};")], &[]);
    let both = ["a/b.rs -> a/mod.rs", "a/mod.rs -> a/b.rs"];
    check(&[("a/b.rs", "use super::X;"), ("a/mod.rs", "pub mod b;\nfn f() { b::g() }")], &both);
    let found = circles(&File::all("src"));
    assert_eq!(found, [""; 0], "circles of imports");
}

/// Returns whether a module, or one above it, is declared for unit tests alone.
fn is_for_tests(module: &[&str], files: &[File]) -> bool {
    (1..=module.len()).any(|length| {
        let (above, name) = (&module[..length - 1], module[length - 1]);
        let declaration = ["mod", "pub(crate) mod"].map(|form| format!("#[cfg(test)]\n{form} {name};\n"));
        let parent = files.iter().find(|file| file.module() == above);
        parent.is_some_and(|parent| declaration.iter().any(|form| parent.text.contains(form)))
    })
}

#[test]
fn modules_for_tests_are_known_by_their_declaration() {
    let file = |name: &str, text: &str| File { name: name.to_owned(), text: text.to_owned() };
    let files = [file("a/mod.rs", "mod b;\n#[cfg(test)]\npub(crate) mod c;\n"), file("a/c/mod.rs", "mod d;\n")];
    let found = [["a"].as_slice(), &["a", "b"], &["a", "c"], &["a", "c", "d"], &["a", "d"]]
        .map(|module| is_for_tests(module, &files));
    assert_eq!(found, [false, false, true, true, false]);
}

#[test]
fn only_the_disk_writes_files() {
    let mut found = Vec::new();
    let mut writers = 0;
    let files = File::all("src");
    for file in files.iter().filter(|file| !is_for_tests(&file.module(), &files)) {
        let code = file.code();
        let is_in = |name: &&&str| match name.contains(':') {
            true => code.contains(**name),
            false => words(&code).any(|word| word == **name),
        };
        let names: Vec<_> = WRITES.iter().filter(is_in).collect();
        if file.name.starts_with("core/disk/") {
            writers += usize::from(!names.is_empty());
        } else {
            found.extend(names.into_iter().map(|name| format!("{name} in {}", file.name)));
        }
    }
    assert_eq!(found, [""; 0]);
    assert!(writers > 0, "the names are those that are used");
}

#[test]
fn a_type_name_means_one_type() {
    let mut places = BTreeMap::<String, Vec<String>>::new();
    for file in &File::all("src") {
        for line in file.code().lines() {
            // What has a place of its own inside of a trait is not meant.
            let mut words = words(line).skip_while(|word| ["pub", "crate", "super", "in"].contains(word));
            let is_type = words.next().is_some_and(|word| match word {
                "struct" | "enum" | "trait" | "union" => true,
                "type" => !line.starts_with(' '),
                _ => false,
            });
            if let Some(name) = words.next().filter(|name| is_type && name.starts_with(char::is_uppercase)) {
                places.entry(name.to_owned()).or_default().push(file.name.clone());
            }
        }
    }
    assert!(places.len() > 100, "{} types", places.len());
    places.retain(|name, files| files.len() > 1 && !PARALLEL.contains(&name.as_str()));
    assert_eq!(places, BTreeMap::new());
}

#[test]
fn functions_are_described_by_what_they_return() {
    let mut found = Vec::new();
    for file in File::all("src") {
        let is_old = |line: &&str| ["/// Gives ", "/// Tells "].iter().any(|old| line.trim_start().starts_with(old));
        found.extend(file.text.lines().filter(is_old).map(|line| format!("{}: {}", file.name, line.trim_start())));
    }
    assert_eq!(found, [""; 0]);
}

#[test]
fn core_uses_no_command_line_terminal_or_clock() {
    for file in File::all("src").iter().filter(|file| file.part() == "core") {
        let code = file.code();
        let found = words(&code).find(|word| NOT_IN_CORE.contains(word));
        assert_eq!(found, None, "src/{}", file.name);
    }
}

#[test]
fn only_ui_prints() {
    for file in File::all("src").iter().filter(|file| file.part() != "ui" && file.name != "main.rs") {
        let mut code = file.code();
        for question in QUESTIONS {
            code = code.replace(question, "");
        }
        for name in ["stdout()", "stderr()", "Stdout", "Stderr", "println!", "eprintln!", "print!"] {
            assert!(!code.contains(name), "{name} in src/{}", file.name);
        }
    }
}

#[test]
fn only_the_worker_pool_and_child_processes_start_threads() {
    let files = File::all("src");
    let starts = |file: &&File| {
        let code = file.code();
        let names = |name: &str| words(&code).any(|word| word == name);
        names("thread") && ["scope", "spawn", "Builder"].into_iter().any(names)
    };
    let found: Vec<_> = files.iter().filter(starts).map(|file| file.name.as_str()).collect();
    assert_eq!(found, THREADS);
    let pool = files.iter().find(|file| file.name == "parallel.rs").unwrap();
    assert!(pool.imports().is_empty(), "the worker pool knows no other part");
}

#[test]
fn commands_read_no_json() {
    for file in File::all("src").iter().filter(|file| file.part() == "cmd") {
        assert!(!file.code().contains("serde_json::from_"), "src/{}", file.name);
    }
}

#[test]
fn sources_have_no_unsafe_todo_or_ignored_test() {
    for file in File::all("src").iter().chain(&File::all("tests/suite")) {
        let code = code(&file.text);
        for word in ["unsafe", "todo", "unimplemented", "dbg"] {
            assert!(!words(&code).any(|found| found == word), "{word} in {}", file.name);
        }
        assert!(!code.contains("#[ignore"), "an ignored test in {}", file.name);
    }
    for file in File::all("src") {
        assert!(!code(&file.text).contains("allow(clippy::unwrap_used"), "unwrap is allowed in src/{}", file.name);
    }
}
