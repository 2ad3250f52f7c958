//! `check`: what is wrong with session files, what it costs, and how to get on.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use anyhow::Result;
use clap::{Args, ValueEnum};

use super::App;
use super::lookup;
use super::paths::{self, Job, Paths};
use super::world;
use crate::core::check::baseline::Baseline;
use crate::core::check::{self, Checked, Code, Finding, RawFinding, Severity, why};
use crate::core::disk::rights::Rights;
use crate::core::disk::write::{self, Manners, Place};
use crate::core::error::Error;
use crate::core::read::source::Source;
use crate::parallel::Pool;
use crate::ui;
use crate::ui::check::{Counts, FindingFormat, Findings};
use crate::ui::exit::Exit;
use crate::ui::progress::{Count, Progress};
use crate::ui::report::{AboutFile, Failure};

/// Say what is wrong with session files, what it costs, and the cure
///
/// Errors are what an agent loses or misreads, warnings what is suspicious. Nothing is changed.
/// Exit code 1 if there is an error or a denied warning, 2 if a file cannot be read. Reads each
/// file once; says nothing of a single sound file.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  session-tree check session.jsonl
  session-tree check ~/.pi/agent/sessions --deny W002  exit 1 if one is old
  session-tree check sessions --deny warnings --allow terminal-escape
  session-tree check sessions --format github          for GitHub Actions
  session-tree check sessions --baseline known.txt --update-baseline
  session-tree check sessions --baseline known.txt     only what is new
  session-tree check --why-leaf latest                 where agents resume")]
pub struct CheckArgs {
    #[command(flatten)]
    paths: Paths,
    /// Let this warning fail the check, by code or name; `warnings` for all of them
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    deny: Vec<String>,
    /// Do not report this code
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    allow: Vec<String>,
    /// Do not report what this file lists
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write all that is found to the baseline file, and report only what cannot be read
    #[arg(long, requires = "baseline")]
    update_baseline: bool,
    /// Say which entry agents resume at and why, and list the tips of all branches
    #[arg(long, conflicts_with_all = ["deny", "allow", "baseline", "update_baseline"])]
    why_leaf: bool,
    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Text, hide_default_value = true)]
    format: Format,
    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Text,
    /// One object a finding
    Json,
    /// Annotations of GitHub Actions
    Github,
    /// One SARIF 2.1.0 document, for code scanning
    Sarif,
}

/// Which findings count, and how.
struct Policy {
    denied: BTreeSet<Code>,
    allowed: BTreeSet<Code>,
    baseline: Baseline,
    /// The folder of the baseline file, all links followed: there its paths begin.
    folder: Option<PathBuf>,
}

impl Policy {
    fn new(args: &CheckArgs) -> Result<Self> {
        let mut denied = BTreeSet::new();
        for name in &args.deny {
            if name == "warnings" {
                denied.extend(Code::all().filter(|code| code.severity() == Severity::Warning));
            } else {
                denied.insert(find(name)?);
            }
        }
        let allowed = args.allow.iter().map(|name| find(name)).collect::<Result<_>>()?;
        let baseline = match &args.baseline {
            Some(path) if !args.update_baseline => read_baseline(path)?,
            _ => Baseline::default(),
        };
        let folder = args.baseline.as_deref().and_then(real_folder);
        Ok(Self { denied, allowed, baseline, folder })
    }

    /// Gives the name of a file in the baseline: the same from whatever folder it is checked.
    fn name(&self, path: &Path) -> String {
        let file = Some(path).filter(|path| *path != Path::new("-"));
        let place = file.and_then(|path| Some((real_folder(path)?, path.file_name()?)));
        let (Some(base), Some((folder, name))) = (&self.folder, place) else { return path.display().to_string() };
        let real = folder.join(name);
        real.strip_prefix(base).unwrap_or(&real).display().to_string()
    }
}

fn find(name: &str) -> Result<Code> {
    let unknown = || {
        let near = Code::near(name).map(|near| format!("; perhaps `{near}`")).unwrap_or_default();
        let hint = format!("codes are named as in `E005` or `malformed-line`, and the README lists them{near}");
        Failure::usage(format!("`{name}` is no code"), hint)
    };
    Ok(Code::find(name).ok_or_else(unknown)?)
}

/// Gives the folder of a file with all links followed.
fn real_folder(path: &Path) -> Option<PathBuf> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    folder.canonicalize().ok()
}

fn read_baseline(path: &Path) -> Result<Baseline> {
    let text = fs::read(path).map_err(Error::io("cannot read the baseline")).map_err(|error| {
        let hint = (!path.exists()).then(|| "`--update-baseline` writes it".to_owned());
        Failure { hint, ..Failure::new(&error, path) }
    })?;
    Baseline::read(&text).about(path)
}

/// More of one code in one file are only counted for people.
const SHOWN: usize = 10;
/// Of a file with more findings than this the words are made while they are printed.
const HELD: usize = 1000;
/// How many findings a thread may hold that are not yet printed.
const AHEAD: usize = 10 * HELD;

/// A file that is done.
struct Done {
    counts: Counts,
    /// What goes into a new baseline.
    known: Baseline,
    words: Words,
}

/// What there is to print of a file.
enum Words {
    /// The findings, and how many there are of each code.
    Few(Vec<Finding>, BTreeMap<Code, usize>),
    /// So many that their words are made while they are printed.
    Many(Box<Checked>),
    /// It could not be read.
    Failed(Failure),
}

impl Done {
    /// Returns how many findings a file counts for until it is printed; those of a file with so many that
    /// they are not made yet fill all the room of a thread.
    fn weight(&self) -> usize {
        match &self.words {
            Words::Few(findings, _) => 1 + findings.len(),
            Words::Many(_) => AHEAD,
            Words::Failed(_) => 1,
        }
    }
}

impl CheckArgs {
    /// Tells whether messages are objects too.
    pub fn is_json(&self) -> bool {
        matches!(self.form(), FindingFormat::Json | FindingFormat::Sarif)
    }

    fn form(&self) -> FindingFormat {
        match self.format {
            _ if self.json => FindingFormat::Json,
            Format::Text => FindingFormat::Text,
            Format::Json => FindingFormat::Json,
            Format::Github => FindingFormat::Github,
            Format::Sarif => FindingFormat::Sarif,
        }
    }

    /// Runs the command; the exit code tells of errors and denied warnings.
    ///
    /// # Errors
    /// A [`Failure`] that keeps all files from being checked, or what the system says of writing
    /// to stdout.
    pub fn run(mut self, app: &App) -> Result<ExitCode> {
        let policy = Policy::new(&self)?;
        if self.why_leaf {
            for path in &mut self.paths.paths {
                *path = lookup::file(app, path)?.unwrap_or_else(|| path.clone());
            }
        }
        let jobs = paths::jobs(self.paths.given()?);
        if self.why_leaf {
            return self.why(app, &jobs);
        }
        if let Some(path) = self.baseline.as_ref().filter(|_| self.update_baseline) {
            refuse_other_files(path)?;
        }
        let mut out = Findings::new(self.form(), app.screen.clone())?;
        let (mut counts, known, could_not) = self.all(app, &jobs, &policy, &mut out)?;
        if let Some(path) = self.baseline.as_ref().filter(|_| self.update_baseline) {
            update(app, path, &known).about(path)?;
            counts = Counts { files: counts.files, known: counts.known, ..Counts::default() };
        }
        out.finish(counts)?;
        let says_no = counts.errors > 0 || counts.denied > 0;
        Ok(match (could_not, says_no) {
            (true, _) => Exit::CouldNot,
            (false, true) => Exit::SaysNo,
            (false, false) => Exit::Done,
        }
        .into())
    }

    fn why(&self, app: &App, jobs: &[Job]) -> Result<ExitCode> {
        if matches!(self.format, Format::Github | Format::Sarif) {
            let hint = "use `--format text` or `--format json`";
            return Err(Failure::usage("`--why-leaf` has no such format", hint).into());
        }
        let [Job { path, .. }] = jobs else {
            return Err(Failure::usage("`--why-leaf` takes one file", "name one session file").into());
        };
        let source = app.open(path).and_then(|source| {
            let _progress = app.reading(&source);
            why::explain(source, app.jobs)
        });
        let why = source.about(path)?;
        ui::check::why(&path.display().to_string(), &why, self.is_json(), &app.screen)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Checks all files, several at once, and prints what is found in their order.
    fn all(&self, app: &App, jobs: &[Job], policy: &Policy, out: &mut Findings) -> Result<(Counts, Baseline, bool)> {
        let workers = app.jobs.min(jobs.len()).max(1);
        let threads = (app.jobs / workers).max(1);
        let done = Arc::default();
        // Of a single file the bytes are counted.
        let files = (jobs.len() > 1).then(|| Count::Things(Arc::clone(&done), jobs.len(), "files"));
        let progress = files.map(|files| Progress::new(app.report, "checking", files));
        let worker = || {
            |at: usize| {
                let checked = self.one(app, policy, &jobs[at], threads, jobs.len() == 1);
                done.fetch_add(1, Ordering::Relaxed);
                checked
            }
        };
        let mut counts = Counts { files: jobs.len(), ..Counts::default() };
        let mut known = Baseline::default();
        let mut could_not = false;
        let pool = Pool::new(workers, workers.saturating_mul(AHEAD)).weighing(Done::weight);
        pool.run(jobs.len(), worker, |at, done| -> Result<()> {
            counts.add(done.counts);
            known.merge(done.known);
            if matches!(&done.words, Words::Few(findings, _) if findings.is_empty()) {
                return Ok(());
            }
            let path = &jobs[at].path;
            could_not |= match progress.as_ref().filter(|progress| progress.is_shown()) {
                Some(progress) => progress.aside(|| {
                    let could_not = self.print_file(app, path, policy, done.words, out);
                    out.flush()?;
                    could_not
                }),
                None => self.print_file(app, path, policy, done.words, out),
            }?;
            Ok(())
        })?;
        Ok((counts, known, could_not))
    }

    /// Checks a file and makes the words of what was found, if they are few.
    fn one(&self, app: &App, policy: &Policy, job: &Job, threads: usize, is_only: bool) -> Done {
        let mut done = Done {
            counts: Counts::default(),
            known: Baseline::default(),
            words: Words::Few(Vec::new(), BTreeMap::new()),
        };
        let failed = |error: &Error| Words::Failed(paths::failure(error, &job.path));
        let blobs = blobs(&job.path);
        let checked = app.open(&job.path).and_then(|source| {
            let _progress = is_only.then(|| app.reading(&source));
            check::check(source, blobs.as_deref(), threads)
        });
        let checked = match checked {
            Ok(checked) => checked,
            Err(error) => return Done { words: failed(&error), ..done },
        };
        let name = policy.name(&job.path);
        for spot in checked.found.iter().filter(|spot| !policy.allowed.contains(&spot.code)) {
            if self.update_baseline {
                done.known.add(&name, &checked, spot);
                done.counts.known += 1;
            } else if policy.baseline.knows(&name, &checked, spot) {
                done.counts.known += 1;
            } else {
                policy.count(spot.code, &mut done.counts);
            }
        }
        if checked.found.len() > HELD {
            return Done { words: Words::Many(Box::new(checked)), ..done };
        }
        let mut findings = Vec::new();
        let made = self.words(policy, &job.path, &checked, &mut |finding| {
            findings.push(finding);
            Ok(())
        });
        done.words = match made {
            Ok(seen) => Words::Few(findings, seen),
            Err(error) => failed(&error),
        };
        done
    }

    /// Makes the words of what is to be printed of a file; gives how many of each code there are.
    fn words<E: From<Error>>(
        &self,
        policy: &Policy,
        path: &Path,
        checked: &Checked,
        each: &mut dyn FnMut(Finding) -> Result<(), E>,
    ) -> Result<BTreeMap<Code, usize>, E> {
        let seen: RefCell<BTreeMap<Code, usize>> = RefCell::default();
        let name = policy.name(path);
        let is_shown = |spot: &RawFinding| {
            let counts = !policy.allowed.contains(&spot.code) && !policy.baseline.knows(&name, checked, spot);
            if self.update_baseline || !counts {
                return false;
            }
            let mut seen = seen.borrow_mut();
            let count = seen.entry(spot.code).or_default();
            *count += 1;
            self.form() != FindingFormat::Text || *count <= SHOWN
        };
        // Commands are there to be copied; standard input has no name to put into them.
        let file = (path != Path::new("-")).then(|| format!(" {}", shell_words::quote(&path.display().to_string())));
        checked.findings(&is_shown, &mut |finding| {
            let fix = file.as_ref().map_or_else(|| finding.fix.clone(), |file| finding.fix.replace(" FILE", file));
            each(Finding { fix, ..finding })
        })?;
        Ok(seen.into_inner())
    }

    /// Prints what is found in a file; tells whether it could not be read.
    fn print_file(&self, app: &App, path: &Path, policy: &Policy, words: Words, out: &mut Findings) -> Result<bool> {
        let name = path.display().to_string();
        let seen = match words {
            Words::Few(findings, seen) => {
                findings.iter().try_for_each(|finding| out.push(&name, finding))?;
                seen
            }
            Words::Many(checked) => {
                let push = &mut |finding: Finding| Ok(out.push(&name, &finding)?);
                match self.words(policy, path, &checked, push) {
                    Ok(seen) => seen,
                    Err(error) => {
                        let error = anyhow::Error::downcast::<Error>(error)?;
                        app.report.failure(&Failure::new(&error, path));
                        return Ok(true);
                    }
                }
            }
            Words::Failed(failure) => {
                app.report.failure(&failure);
                return Ok(true);
            }
        };
        for (&code, &count) in seen.iter().filter(|(_, count)| **count > SHOWN && self.form() == FindingFormat::Text) {
            out.more(&name, code, count - SHOWN)?;
        }
        Ok(false)
    }
}

impl Policy {
    fn count(&self, code: Code, counts: &mut Counts) {
        match code.severity() {
            Severity::Error => counts.errors += 1,
            Severity::Warning => {
                counts.warnings += 1;
                counts.denied += usize::from(self.denied.contains(&code));
            }
        }
    }
}

/// Gives the folder in which omp keeps the images of a session: beside the folder of sessions that
/// it is in, else at home.
fn blobs(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    let sessions = path.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == "sessions"));
    let beside = sessions.map(|sessions| sessions.with_file_name("blobs"));
    let at_home = || env::var_os("HOME").map(|home| Path::new(&home).join(".omp/agent/blobs"));
    beside.filter(|folder| folder.is_dir()).or_else(at_home)
}

/// Makes sure that nothing but a baseline is replaced.
fn refuse_other_files(path: &Path) -> Result<()> {
    match fs::metadata(path) {
        Ok(_) => read_baseline(path).map(|_| ()),
        Err(_) => Ok(()),
    }
}

/// Writes the baseline.
fn update(app: &App, path: &Path, known: &Baseline) -> Result<()> {
    world::prepare()?;
    let patience = world::patience(std::time::Duration::from_secs(10));
    let effects = if fs::symlink_metadata(path).is_err() {
        write::create(path, &Rights::usual(), patience, &mut |out| known.write(out))?
    } else {
        let source = Source::open(path)?;
        let no_file = || Failure::usage("the baseline must be a file", "name a file");
        let place = Place::new(path, source.stat().ok_or_else(no_file)?)?;
        let manners = Manners { patience, force: false };
        write::replace(&place, manners, false, &mut |out| known.write(out))?
    };
    super::warn_of(app, &effects, path);
    Ok(())
}
