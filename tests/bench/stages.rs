//! Measures what the stages of `tree --filter all --format jsonl` take, one by one and on one
//! thread, on a made-up session.
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
usage: cargo bench --bench stages -- PROFILE [--size N] [--runs N]

PROFILE    text, image, small, deep, bushy or mega: see `cargo bench --bench generate -- --help`
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
    let Some((profile, size, runs)) = parse(&arguments) else {
        eprint!("{USAGE}");
        return ExitCode::from(2);
    };
    match measure(profile, size, runs) {
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

fn parse(arguments: &[String]) -> Option<(Profile, u64, u32)> {
    let profile = Profile::from_name(&arguments[0])?;
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
    Some((profile, size, runs))
}

fn measure(profile: Profile, size: u64, runs: u32) -> Result<String, String> {
    let options = Options { goal: Some(Goal::Bytes(size)), ..Options::default() };
    let mut file = NamedTempFile::new().map_err(|error| error.to_string())?;
    let stats = profile::write(profile, &options, &mut file).map_err(|error| error.to_string())?;
    let open = || Source::open(file.path()).map_err(|error| error.to_string());
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
    let mut out = format!("{} entries, {} bytes, one thread, shortest of {runs}\n\n", stats.entries, stats.bytes);
    out.push_str("| stage | ms | MB/s | ns an entry | what |\n|---|--:|--:|--:|---|\n");
    for (name, time, what) in stages {
        let (ms, seconds) = (time.as_secs_f64() * 1e3, time.as_secs_f64().max(1e-9));
        #[allow(clippy::cast_precision_loss, reason = "figures for people")]
        let (speed, each) = (stats.bytes as f64 / 1e6 / seconds, seconds * 1e9 / stats.entries.max(1) as f64);
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
