//! Writes made-up sessions to measure with. The same arguments always give the same bytes.
//!
//! ```sh
//! cargo bench --bench generate -- text --size 160M /tmp/text.jsonl
//! ```
//!
//! Only arguments and files are handled here; what is written is decided in `profile.rs`.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program of its own, not the crate's ui")]

use std::env;
use std::fs::{self, File};
use std::path::PathBuf;
use std::process::ExitCode;

use profile::store::{Truth, Turns};
use profile::{Goal, Health, Options, Profile, Stats, Version};

mod profile;

const USAGE: &str = "\
usage: cargo bench --bench generate -- PROFILE [OPTIONS] OUT

PROFILE  what it holds                                         default
  text   a coding session, 2.7 kB an entry                     160 MB
  real   a coding session with the lengths of a real one, 2.4 kB an entry  160 MB
  image  a coding session with screenshots of 0.1 to 2 MB      77 MB
  small  a terse coding session, 0.7 kB an entry               200 000 entries
  deep   one chain of small entries                            1 000 000 entries
  bushy  a third of the entries are branch tips                60 000 entries
  mega   a line of 60 MB after every 250 ordinary entries      240 MB
  batch  OUT is a folder: 1000 version 1 files                 1 GB together

  store  OUT is a folder: 3000 sessions of 20 projects, a
         third of them forks, and what they come to          270 MB together

  --size BYTES     stop at this size (suffixes k, M, G: powers of 1000)
  --entries N      stop at this number of entries (not for batch)
  --files N        so many sessions (store)
  --tools          calls of tools too, some of which fail (store)
  --truth FILE     write what the store comes to there, as JSON
  --seed N         other content of the same kind (default 1)
  --version 1|2|3  format version (default 3; 1 for batch)
  --damage         lines among the entries that are not JSON, and a torn last line;
                   batch: ten files of the thousand cannot be migrated
";

enum Target {
    File(Profile),
    Folder,
    Store,
}

struct Request {
    target: Target,
    options: Options,
    out: PathBuf,
    /// Where what a store comes to is written.
    truth: Option<PathBuf>,
}

fn main() -> ExitCode {
    // `cargo bench` appends `--bench`. Without other arguments, as in a plain `cargo bench`
    // that runs every target, there is nothing to do.
    let arguments: Vec<String> = env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if arguments.is_empty() || arguments.iter().any(|argument| argument == "--help") {
        print!("{USAGE}");
        return ExitCode::SUCCESS;
    }
    match parse(arguments).and_then(|request| run(&request)) {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(reason) => {
            eprintln!("error: {reason}");
            ExitCode::from(2)
        }
    }
}

fn run(request: &Request) -> Result<String, String> {
    let Request { target, options, out, .. } = request;
    let written = match target {
        Target::File(profile) => File::create(out).and_then(|mut file| profile::write(*profile, options, &mut file)),
        Target::Store => {
            let written = profile::store::write(out, options.seed, options.files, options.turns);
            let (Stats { files, entries, bytes }, truth) =
                written.map_err(|error| format!("`{}`: {error}", out.display()))?;
            if let Some(file) = &request.truth {
                fs::write(file, truth.json() + "\n").map_err(|error| format!("`{}`: {error}", file.display()))?;
            }
            let Truth { sessions, entries: distinct, turns, tokens, thousandths, .. } = truth;
            return Ok(format!(
                "{}: {files} files, {entries} entries, {bytes} bytes\n{sessions} sessions: {distinct} entries, {turns} turns, {tokens} tokens, ${}.{:03}",
                out.display(),
                thousandths / 1000,
                thousandths % 1000,
            ));
        }
        Target::Folder => fs::create_dir_all(out).and_then(|()| profile::write_folder(options, out)),
    };
    let Stats { files, entries, bytes } = written.map_err(|error| format!("`{}`: {error}", out.display()))?;
    let files = if files == 1 { String::new() } else { format!("{files} files, ") };
    Ok(format!("{}: {files}{entries} entries, {bytes} bytes", out.display()))
}

fn parse(arguments: Vec<String>) -> Result<Request, String> {
    let mut options = Options::default();
    let mut version = None;
    let mut truth = None;
    let mut names = Vec::new();
    let mut rest = arguments.into_iter();
    while let Some(argument) = rest.next() {
        if !argument.starts_with("--") {
            names.push(argument);
            continue;
        }
        if argument == "--damage" {
            options.health = Health::Damaged;
            continue;
        }
        if argument == "--tools" {
            options.turns = Turns::WithTools;
            continue;
        }
        let value = rest.next().ok_or_else(|| format!("`{argument}` needs a value"))?;
        let wrong = || format!("`{argument} {value}` is not valid");
        match argument.as_str() {
            "--size" => options.goal = Some(Goal::Bytes(bytes(&value).ok_or_else(wrong)?)),
            "--entries" => options.goal = Some(Goal::Entries(value.parse().map_err(|_| wrong())?)),
            "--files" => options.files = value.parse().map_err(|_| wrong())?,
            "--seed" => options.seed = value.parse().map_err(|_| wrong())?,
            "--truth" => truth = Some(value.into()),
            "--version" => version = Some(Version::from_number(&value).ok_or_else(wrong)?),
            _ => return Err(format!("unknown option `{argument}`")),
        }
    }
    let [profile, out] =
        <[String; 2]>::try_from(names).map_err(|_| format!("PROFILE and OUT are needed\n\n{USAGE}"))?;
    let target = match profile.as_str() {
        "batch" => Target::Folder,
        "store" => Target::Store,
        name => Target::File(Profile::from_name(name).ok_or_else(|| format!("unknown profile `{name}`"))?),
    };
    options.version = version.unwrap_or(match target {
        Target::File(_) | Target::Store => Version::Three,
        Target::Folder => Version::One,
    });
    Ok(Request { target, options, out: out.into(), truth })
}

/// Reads `160M` as 160 000 000.
fn bytes(text: &str) -> Option<u64> {
    let (digits, unit) = match text.as_bytes().last()? {
        b'k' => (&text[..text.len() - 1], 1_000),
        b'M' => (&text[..text.len() - 1], 1_000_000),
        b'G' => (&text[..text.len() - 1], 1_000_000_000),
        _ => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}
