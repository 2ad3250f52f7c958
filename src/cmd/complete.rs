//! What may come next on a command line that is still being typed. Never fails, prints nothing, and
//! opens nothing but plain files: whatever is wrong, there is just nothing to offer.

use std::collections::HashSet;
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Arg, ArgMatches, Command};
use clap_complete::engine::{self, ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter};

use super::folders;
use super::help;
use super::world;
use crate::core::check::Code;
use crate::core::naming;
use crate::core::naming::files::is_session_name;
use crate::core::naming::offer::{self, Nameable};
use crate::core::naming::session::find::{Asker, Meaning};
use crate::core::naming::session::store::SessionStore;
use crate::core::naming::session::stored::StoredSession;
use crate::core::naming::session::word::{CURRENT, LATEST, is_path};
use crate::core::time;
use crate::ui::choice::{self, Choice};

/// How many ids of sessions are offered.
const MOST: usize = 30;
/// Marks candidates that are paths.
const PATH: &str = "path";

/// Returns what may come at the end of a command line: `words` are the program's name and what follows
/// it, the last being the one at the cursor.
pub(super) fn choices(command: Command, words: Vec<String>, jobs: usize) -> Vec<Choice> {
    let Some(before) = words.len().checked_sub(1).filter(|&before| before > 0) else { return Vec::new() };
    let so_far = Arc::new(SoFar { words: words[..before].to_vec(), definition: command.clone(), jobs });
    let mut command = command.mut_subcommands(|command| {
        let name = command.get_name().to_owned();
        command.mut_args(|arg| with_values(arg, &name, &so_far))
    });
    let is_empty = words[before].is_empty();
    let words = words.into_iter().map(OsString::from).collect();
    let here = env::current_dir().ok();
    let candidates = engine::complete(&mut command, words, before, here.as_deref()).unwrap_or_default();
    let mut choices: Vec<_> = candidates.iter().filter_map(to_choice).collect();
    // An option may do without its value: then the word may be what comes next as well.
    let mut seen = HashSet::new();
    choices.retain(|choice| seen.insert(choice.value.clone()));
    // Options are many: they are there for those who begin one, or where there is nothing else.
    let is_option = |choice: &Choice| choice.value.starts_with('-');
    if is_empty && !choices.iter().all(is_option) {
        choices.retain(|choice| !is_option(choice));
    }
    choices
}

fn to_choice(candidate: &CompletionCandidate) -> Option<Choice> {
    let value = candidate.get_value().to_str().filter(|value| Choice::is_safe(value))?;
    let help = candidate.get_help().map(ToString::to_string).unwrap_or_default();
    let is_path = candidate.get_tag().is_some_and(|tag| tag.to_string() == PATH);
    Some(Choice { value: value.to_owned(), about: help.lines().next().unwrap_or_default().to_owned(), is_path })
}

/// Adds what values an argument has, by what it calls them. Those of an enum are known already.
fn with_values(arg: Arg, command: &str, so_far: &Arc<SoFar>) -> Arg {
    let Some(name) = arg.get_value_names().and_then(<[_]>::first) else { return arg };
    match name.as_str() {
        "ENTRY" => {
            let so_far = Arc::clone(so_far);
            let wanted =
                if (command, arg.get_id().as_str()) == ("branch", "entry") { Nameable::Users } else { Nameable::Any };
            arg.add(ArgValueCompleter::new(move |typed: &OsStr| {
                typed.to_str().and_then(|typed| so_far.entries(wanted, typed)).unwrap_or_default()
            }))
        }
        "SESSION" => arg.add(ArgValueCompleter::new(sessions)),
        // It takes names too.
        "PATH" if (command, arg.get_id().as_str()) == ("check", "paths") => arg.add(ArgValueCompleter::new(sessions)),
        "PATH" => arg.add(ArgValueCompleter::new(|typed: &OsStr| paths(typed, is_session))),
        "FILE" => arg.add(ArgValueCompleter::new(|typed: &OsStr| paths(typed, Path::is_file))),
        "DIR" => arg.add(ArgValueCompleter::new(|typed: &OsStr| paths(typed, |_| false))),
        "TOPIC" => {
            let names = help::commands(&so_far.definition).into_iter().chain(help::topics()).collect::<Vec<_>>();
            arg.add(ArgValueCompleter::new(move |typed: &OsStr| begun(typed, &names)))
        }
        "CODE" => {
            let denies = arg.get_id() == "deny";
            arg.add(ArgValueCompleter::new(move |typed: &OsStr| codes(typed, denies)))
        }
        _ => arg,
    }
}

/// Returns what can stand for SESSION: files, and what goes by another name once that is begun.
fn sessions(typed: &OsStr) -> Vec<CompletionCandidate> {
    let mut candidates = paths(typed, is_session);
    let Some(typed) = typed.to_str() else { return candidates };
    if LATEST.starts_with(typed) {
        candidates.push(CompletionCandidate::new(LATEST).help(Some("the newest session of this folder".into())));
    }
    let current = folders::current();
    if CURRENT.starts_with(typed) && (current.file.is_some() || current.id.is_some()) {
        let about = "the session whose agent runs this shell";
        candidates.push(CompletionCandidate::new(CURRENT).help(Some(about.into())));
    }
    if !typed.is_empty() && !is_path(Path::new(typed)) {
        let now = world::now();
        let candidate = |StoredSession { id, cwd, modified, .. }| {
            let about = format!("{}  {}", time::ago(now.saturating_sub(modified)), cwd.unwrap_or_default());
            CompletionCandidate::new(id).help(Some(about.into()))
        };
        candidates.extend(kept().newest(typed, MOST).into_iter().map(candidate));
    }
    candidates
}

/// Returns the file that SESSION means.
fn session_file(word: &OsStr) -> Option<PathBuf> {
    let path = Path::new(word);
    // Shells leave it as it was typed.
    if let Ok(below) = path.strip_prefix("~") {
        return Some(env::home_dir()?.join(below));
    }
    let Some(name) = path.to_str().filter(|_| !is_path(path)) else { return Some(path.to_owned()) };
    let (cwd, current) = (env::current_dir().ok()?, folders::current());
    match kept().find(name, &Asker { cwd: &cwd, current: &current, writes: false }) {
        Meaning::One(found) => Some(found.path),
        Meaning::Current(file) => Some(file),
        _ => None,
    }
}

/// Returns the sessions that agents keep.
fn kept() -> SessionStore {
    SessionStore::new(&folders::sessions())
}

fn is_session(path: &Path) -> bool {
    is_session_name(path) && path.is_file()
}

/// Returns the files that `is_wanted` lets through, and folders, since the way may lead through them.
fn paths(typed: &OsStr, is_wanted: impl Fn(&Path) -> bool + Send + Sync + 'static) -> Vec<CompletionCandidate> {
    let mut candidates = PathCompleter::any().filter(is_wanted).complete(typed);
    candidates.retain(|candidate| candidate.get_value() != ".");
    candidates.into_iter().map(|candidate| candidate.tag(Some(PATH.into()))).collect()
}

/// Returns the names that begin as what is typed.
fn begun(typed: &OsStr, names: &[(String, String)]) -> Vec<CompletionCandidate> {
    let begun = names.iter().filter(|(name, _)| typed.to_str().is_some_and(|typed| name.starts_with(typed)));
    begun.map(|(name, about)| CompletionCandidate::new(name).help(Some(about.into()))).collect()
}

fn codes(typed: &OsStr, with_all: bool) -> Vec<CompletionCandidate> {
    let Some(typed) = typed.to_str() else { return Vec::new() };
    let all = Some(("warnings", "all warnings".to_owned())).filter(|(name, _)| with_all && name.starts_with(typed));
    let names = all.into_iter().chain(Code::begun(typed));
    names.map(|(name, about)| CompletionCandidate::new(name).help(Some(about.into()))).collect()
}

/// The command line before the word at the cursor.
struct SoFar {
    words: Vec<String>,
    definition: Command,
    jobs: usize,
}

impl SoFar {
    /// Returns the names of entries; `None` if there is no session that can be read.
    fn entries(&self, wanted: Nameable, typed: &str) -> Option<Vec<CompletionCandidate>> {
        let matches = self.definition.clone().ignore_errors(true).try_get_matches_from(&self.words).ok()?;
        let (command, matches) = matches.subcommand()?;
        // Without one these take the latest.
        let default = || ["tree", "context"].contains(&command).then_some(OsStr::new(LATEST));
        let session = offer::load(&session_file(value(matches, "session").or_else(default)?)?, self.jobs)?;
        let leaf = value(matches, "leaf").and_then(OsStr::to_str);
        // `navigate` and `label` go there; for others it is where they work from.
        let is_at_root = !["navigate", "label"].contains(&command)
            && matches.try_get_one("root").ok().flatten().is_some_and(|&root: &bool| root);
        let leaf = match leaf {
            _ if is_at_root => None,
            Some(name) => Some(naming::entry::find_place(&session, session.leaf(), name).ok()?),
            None => session.leaf(),
        };
        let offers = offer::entries(&session, leaf, wanted, typed).ok()?;
        let now = world::now();
        let candidate = |offer: &offer::Suggestion| {
            let about = choice::about(offer, session.traits(offer.node), now);
            CompletionCandidate::new(&offer.name).help(Some(about.into()))
        };
        Some(offers.iter().map(candidate).collect())
    }
}

/// Returns the value of an argument, if the command has it.
fn value<'m>(matches: &'m ArgMatches, name: &str) -> Option<&'m OsStr> {
    matches.try_get_raw(name).ok()?.and_then(|mut values| values.next())
}
