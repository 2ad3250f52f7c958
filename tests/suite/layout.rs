//! The build of the program: which part may know which, and what no source file may hold.
//!
//! Reads the sources as text. Comments, the insides of strings, and unit tests do not count where
//! it is about who knows whom.

use std::fs;
use std::path::{Path, PathBuf};

/// The parts of the program: each may import from itself and from those before it.
const PARTS: [&str; 3] = ["core", "ui", "cmd"];

/// The rooms of core: each may import only from those before it.
const CORE: [&str; 16] = [
    "words", "error", "problem", "json", "time", "entry", "read", "search", "disk", "migrate", "session", "tree",
    "naming", "context", "edit", "check",
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
const QUESTIONS: [&str; 5] = [
    "stderr().is_terminal()",
    "stdout().is_terminal()",
    "&io::stderr()",
    "&io::stdout()",
    "tcgetwinsize(io::stdout())",
];

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
        self.name.split('/').next().unwrap()
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
    let mut out = Vec::new();
    for root in ["crate", "super", "session_tree"] {
        for (at, _) in code.match_indices(&format!("{root}::")) {
            let before = code[..at].chars().next_back();
            let goes_on = before.is_some_and(|char| char.is_alphanumeric() || char == '_' || char == ':');
            if !goes_on {
                take_path(&code[at..], &mut Vec::new(), &mut out);
            }
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

#[test]
fn parts_know_only_the_parts_before_them() {
    let files = File::all("src");
    assert!(files.len() > 30, "{} files", files.len());
    let mut imports = 0;
    for file in &files {
        let Some(own) = PARTS.iter().position(|part| *part == file.part()) else { continue };
        // The command line is known by no part but `cmd`, which prints the scripts that complete it.
        let mut later = PARTS[own + 1..].to_vec();
        later.extend((file.part() != "cmd").then_some("cli"));
        for import in file.imports() {
            assert!(!later.contains(&import[0].as_str()), "src/{} imports {}", file.name, import.join("::"));
            imports += 1;
        }
    }
    assert!(imports > 150, "{imports} imports");
}

#[test]
fn modules_of_core_know_only_the_modules_before_them() {
    let files = File::all("src/core");
    let mut names: Vec<_> = files.iter().map(|file| file.module()[0]).filter(|name| *name != "mod").collect();
    names.dedup();
    let mut known = CORE.to_vec();
    known.sort_unstable();
    assert_eq!(names, known, "every module of core has its place in the order");
    let mut backwards = Vec::new();
    for file in File::all("src").iter().filter(|file| file.part() == "core" && file.name != "core/mod.rs") {
        let own = CORE.iter().position(|name| *name == file.module()[1]).unwrap();
        for import in file.imports().iter().filter(|import| import[0] == "core") {
            let place = CORE.iter().position(|name| *name == import[1]).expect("what core imports is in core");
            if place > own {
                backwards.push(format!("{} -> {}", CORE[own], import[1..].join("::")));
            }
        }
    }
    assert_eq!(backwards, [""; 0], "imports against the order");
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
