//! Measures what the stages of `tree --filter all --format jsonl` take, one by one and on one
//! thread, on a made-up session or on a file.
//!
//! ```sh
//! cargo bench --bench stages -- text --size 16M
//! ```
//!
//! A stage is timed with those before it, which are then taken off; of several runs the shortest
//! counts.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program of its own, not the crate's ui")]

use std::env;
use std::hint::black_box;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use session_tree::core::entry::Scan;
use session_tree::core::read::line::{BLOCK, Lines};
use session_tree::core::read::load::LoadOptions;
use session_tree::core::read::source::Source;
use session_tree::core::session::Session;
use session_tree::core::session::body::Bodies;
use session_tree::core::tree::walk;
use session_tree::ui::jsonl::{JsonlRows, TreePlace};
use tempfile::NamedTempFile;

use profile::{Goal, Options, Profile};

mod profile;

const USAGE: &str = "\
usage: cargo bench --bench stages -- PROFILE|FILE [--size N] [--runs N]

PROFILE    text, real, image, small, deep, bushy or mega: see `cargo bench --bench generate -- --help`
FILE       a session, with a `/` in its name
--size N   about so many bytes (suffix M = 1 000 000; default 16M)
--runs N   how often each stage is run (default 9)
";

fn main() -> ExitCode {
    // `cargo bench` appends `--bench`; a plain `cargo bench` runs every target.
    let arguments: Vec<String> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if arguments.is_empty() || arguments.iter().any(|argument| argument == "--help") {
        print!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    let Some((input, runs)) = parse(&arguments) else {
        eprint!("{USAGE}");
        return ExitCode::from(2);
    };
    match measure(&input, runs) {
        Ok(table) => {
            print!("{table}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

/// What is measured.
enum Input {
    MadeUp(Profile, u64),
    File(PathBuf),
}

fn parse(arguments: &[String]) -> Option<(Input, u32)> {
    let name = &arguments[0];
    let (mut size, mut runs) = (16_000_000, 9);
    for pair in arguments[1..].chunks(2) {
        match pair {
            [name, value] if name == "--size" => {
                size = match value.strip_suffix('M') {
                    Some(millions) => millions.parse::<u64>().ok()?.checked_mul(1_000_000)?,
                    None => value.parse().ok()?,
                }
            }
            [name, value] if name == "--runs" => runs = value.parse().ok().filter(|&runs| runs > 0)?,
            _ => return None,
        }
    }
    let input =
        if name.contains('/') { Input::File(name.into()) } else { Input::MadeUp(Profile::from_name(name)?, size) };
    Some((input, runs))
}

fn measure(input: &Input, runs: u32) -> Result<String, String> {
    let mut made_up = NamedTempFile::new().map_err(|error| error.to_string())?;
    let path = match input {
        Input::File(path) => path,
        Input::MadeUp(profile, size) => {
            let options = Options { goal: Some(Goal::Bytes(*size)), ..Options::default() };
            profile::write(*profile, &options, &mut made_up).map_err(|error| error.to_string())?;
            made_up.path()
        }
    };
    let open = || Source::open(path).map_err(|error| error.to_string());
    let source = open()?;
    let framing = shortest(runs, || frame(&source, |_| ()));
    let mut scan = Scan::default();
    let envelope = shortest(runs, || {
        frame(&source, |line| {
            black_box(scan.read(line).map(|entry| entry.traits()).is_ok());
        })
    });
    let load = |keep: LoadOptions<'_>| {
        shortest(runs, || {
            let session = open().and_then(|source| Session::load(source, keep, 1).map_err(|error| error.to_string()));
            drop(black_box(session.expect("the file can be read")));
        })
    };
    let index = load(LoadOptions::INDEX_ONLY);
    let words = LoadOptions { words: &|_| true, calls: true, usage: false };
    let preview = load(words);
    let session = Session::load(open()?, words, 1).map_err(|error| error.to_string())?;
    let mut rows = Vec::new();
    let render = shortest(runs, || {
        rows.clear();
        render(&session, &mut rows);
    });
    let stages = [
        ("framing", framing, "blocks are read and cut into lines"),
        ("envelope", envelope.saturating_sub(framing), "every line is parsed whole"),
        ("index", index.saturating_sub(envelope), "ids, times, parents, children, labels"),
        ("preview", preview.saturating_sub(index), "the words of the rows"),
        ("render", render, "order of display, and the rows as JSON"),
        ("together", preview + render, ""),
    ];
    let (entries, bytes) = (session.len(), source.len());
    let mut out = format!("{entries} entries, {bytes} bytes, one thread, shortest of {runs}\n\n");
    out.push_str("| stage | ms | MB/s | ns an entry | what |\n|---|--:|--:|--:|---|\n");
    for (name, time, what) in stages {
        let (ms, seconds) = (time.as_secs_f64() * 1e3, time.as_secs_f64().max(1e-9));
        #[allow(clippy::cast_precision_loss, reason = "figures for people")]
        let (speed, each) = (bytes as f64 / 1e6 / seconds, seconds * 1e9 / entries.max(1) as f64);
        out.push_str(&format!("| {name} | {ms:.1} | {speed:.0} | {each:.0} | {what} |\n"));
    }
    Ok(out)
}

fn shortest(runs: u32, mut stage: impl FnMut()) -> Duration {
    let times = (0..runs).map(|_| {
        let start = Instant::now();
        stage();
        start.elapsed()
    });
    times.min().unwrap_or_default()
}

/// Goes through the lines as loading does.
fn frame(source: &Source, mut each: impl FnMut(&[u8])) {
    let long = Mutex::new(());
    let mut lines = Lines::new(source, &long);
    for from in (0..source.len()).step_by(BLOCK) {
        let block = from..source.len().min(from + BLOCK as u64);
        let read = lines.in_block(block, |line| {
            each(black_box(line.bytes));
            true
        });
        read.expect("the file can be read");
    }
}

/// Makes the rows as `tree` does.
fn render(session: &Session, out: &mut Vec<u8>) {
    let leaf = session.leaf();
    let order = walk::display_order(session, leaf);
    let depths = walk::depths(session, &order);
    let active = walk::active(session, leaf);
    let mut bodies = Bodies::new(session);
    let rows = JsonlRows::new(&mut bodies);
    for node in order {
        let place =
            TreePlace { depth: depths[node.index()], is_active: active[node.index()], is_leaf: Some(node) == leaf };
        rows.push_json(out, node, place).expect("the file can be read");
        out.push(b'\n');
    }
}
