//! A folder of many sessions as agents keep them: a folder for each project, and families of forks in which
//! most entries are copies. What all of it comes to, each entry counted once, is known.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::Stats;
use super::clock::Clock;
use super::pool::Pool;
use super::random::Random;

/// How many sessions the first family has.
pub const FAMILY: u64 = 36;
const PROJECTS: usize = 20;
const MODELS: [&str; 3] = ["claude-sonnet-4-5", "claude-opus-4-5", "claude-haiku-4-5"];

const TOOLS: [&str; 3] = ["read", "bash", "edit"];

/// What stands between a prompt and its answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Turns {
    #[default]
    Short,
    /// Often a call of a tool, which sometimes fails.
    WithTools,
}

/// What sessions have together, each entry counted once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Truth {
    pub sessions: u64,
    pub entries: u64,
    pub turns: u64,
    pub tokens: u64,
    /// The cost in thousandths of a dollar.
    pub thousandths: u64,
    /// The same by the day on which it was spent, in UTC.
    pub by_day: BTreeMap<String, u64>,
    /// By model.
    pub by_model: BTreeMap<String, u64>,
    /// By working folder.
    pub by_folder: BTreeMap<String, u64>,
    /// How many results of each tool are errors.
    pub tool_errors: BTreeMap<String, u64>,
    /// The prompt that most sessions have, and how many.
    pub most_forked: (String, u64),
}

impl Truth {
    /// Returns all of it as a JSON object.
    pub fn json(&self) -> String {
        let map = |map: &BTreeMap<String, u64>| {
            let members: Vec<_> = map.iter().map(|(name, number)| format!("\"{name}\":{number}")).collect();
            format!("{{{}}}", members.join(","))
        };
        let Self {
            sessions,
            entries,
            turns,
            tokens,
            thousandths,
            by_day,
            by_model,
            by_folder,
            tool_errors,
            most_forked,
        } = self;
        format!(
            r#"{{"sessions":{sessions},"entries":{entries},"turns":{turns},"tokens":{tokens},"thousandths":{thousandths},"byDay":{},"byModel":{},"byFolder":{},"toolErrors":{},"mostForked":{{"{}":{}}}}}"#,
            map(by_day),
            map(by_model),
            map(by_folder),
            map(tool_errors),
            most_forked.0,
            most_forked.1,
        )
    }
}

/// An entry as it is first written.
struct Line {
    id: u32,
    time: String,
    /// The message up to its usage.
    message: String,
    /// Tokens and cost, of answers.
    usage: Option<(u64, u64)>,
    is_prompt: bool,
}

/// A line in a session, and how it is copied there.
#[derive(Clone, Copy)]
struct Copied {
    line: usize,
    /// Without its cost, as forks of omp have it.
    is_free: bool,
    /// Below nothing, since the fork does not have what was above it.
    is_root: bool,
}

struct Member {
    id: String,
    name: String,
    lines: Vec<Copied>,
}

/// Writes so many sessions into a folder.
///
/// # Errors
/// Those of the file system.
pub fn write(folder: &Path, seed: u64, sessions: u64, turns: Turns) -> io::Result<(Stats, Truth)> {
    let pool = Pool::new(seed);
    let mut random = Random::new(seed, 3);
    let mut clock = Clock::new();
    let (mut stats, mut truth) = (Stats::default(), Truth::default());
    while truth.sessions < sessions {
        let left = sessions - truth.sessions;
        let size = match truth.sessions {
            0 => FAMILY,
            _ if random.chance(70) => 1,
            _ => 2 + u64::try_from(random.below(8)).expect("a few"),
        };
        let project = random.below(PROJECTS);
        let place = folder.join(format!("--home-mia-src-project{project}--"));
        fs::create_dir_all(&place)?;
        let cwd = format!("/home/mia/src/project{project}");
        let lines = Vec::new();
        let mut family = FamilyWriter { pool: &pool, random: &mut random, clock: &mut clock, turns, cwd, lines };
        family.write(&place, size.min(left), &mut stats, &mut truth)?;
    }
    Ok((stats, truth))
}

struct FamilyWriter<'a> {
    pool: &'a Pool,
    random: &'a mut Random,
    clock: &'a mut Clock,
    turns: Turns,
    cwd: String,
    /// All entries of the family.
    lines: Vec<Line>,
}

impl FamilyWriter<'_> {
    fn write(&mut self, place: &Path, size: u64, stats: &mut Stats, truth: &mut Truth) -> io::Result<()> {
        let mut members: Vec<Member> = Vec::new();
        for number in 0..size {
            self.clock.advance(60_000);
            let (a, b) = (self.random.bits(), self.random.bits());
            let id = format!(
                "{:08x}-{:04x}-7{:03x}-8{:03x}-{:012x}",
                a >> 32,
                a >> 16 & 0xffff,
                a & 0xfff,
                b >> 52,
                b & 0xffff_ffff_ffff
            );
            let started = self.clock.to_string();
            let name = format!("{}_{id}.jsonl", started.replace([':', '.'], "-"));
            let parent = (number > 0).then(|| self.random.below(members.len()));
            let is_omp = number % 3 == 1;
            let mut lines = parent.map_or_else(Vec::new, |parent| self.fork(&members[parent].lines, is_omp));
            let named = parent.map(|parent| match (is_omp, number % 5) {
                (true, _) => members[parent].id.clone(),
                // The file was elsewhere when it was forked.
                (false, 4) => format!("/home/mia/old/{}", members[parent].name),
                (false, _) => place.join(&members[parent].name).display().to_string(),
            });
            for _ in 0..self.random.length(2, 5) {
                lines.push(self.prompt(truth));
                if self.turns == Turns::WithTools && self.random.chance(60) {
                    lines.extend(self.call(truth));
                }
                lines.push(self.answer(truth));
            }
            let mut out = BufWriter::new(File::create(place.join(&name))?);
            let mut header =
                format!(r#"{{"type":"session","version":3,"id":"{id}","timestamp":"{started}","cwd":"{}""#, self.cwd);
            if let Some(named) = named {
                let _ = write!(header, r#","parentSession":"{named}""#);
            }
            header.push_str("}\n");
            out.write_all(header.as_bytes())?;
            stats.bytes += self.copy(&lines, &mut out)? + u64::try_from(header.len()).expect("a line");
            out.flush()?;
            stats.files += 1;
            stats.entries += u64::try_from(lines.len()).expect("a file");
            truth.sessions += 1;
            members.push(Member { id, name, lines });
        }
        self.count_prompts(&members, truth);
        Ok(())
    }

    /// Looks for the prompt that most sessions have.
    fn count_prompts(&self, members: &[Member], truth: &mut Truth) {
        let mut counts = vec![0; self.lines.len()];
        members.iter().flat_map(|member| &member.lines).for_each(|copied| counts[copied.line] += 1);
        for (line, count) in self.lines.iter().zip(counts) {
            if line.is_prompt && count > truth.most_forked.1 {
                truth.most_forked = (format!("{:08x}", line.id), count);
            }
        }
    }

    /// Returns what a fork has of its parent: the start, in forks of omp also what follows a cut, without cost.
    fn fork(&mut self, parent: &[Copied], is_omp: bool) -> Vec<Copied> {
        let kept = 1 + self.random.below(parent.len());
        let mut lines = parent[..kept].to_vec();
        if is_omp {
            if kept > 4 {
                lines.drain(1..3);
                lines[1].is_root = true;
            }
            lines.iter_mut().for_each(|line| line.is_free = true);
        }
        lines
    }

    fn prompt(&mut self, truth: &mut Truth) -> Copied {
        let length = self.random.length(20, 6);
        let text = self.pool.prose.run(self.random, length);
        let message = format!(r#""role":"user","content":[{{"type":"text","text":"{text}"}}]"#);
        truth.turns += 1;
        let copied = self.line(message, None, truth);
        self.lines[copied.line].is_prompt = true;
        copied
    }

    fn answer(&mut self, truth: &mut Truth) -> Copied {
        let length = self.random.length(200, 6);
        let text = self.pool.code.run(self.random, length);
        let content = format!(r#"{{"type":"text","text":"{text}"}}"#);
        self.assistant(&content, "stop", truth)
    }

    /// Adds a message that calls a tool, and the result.
    fn call(&mut self, truth: &mut Truth) -> [Copied; 2] {
        let (tool, call) = (self.random.pick(&TOOLS), self.random.bits());
        let content = format!(
            r#"{{"type":"toolCall","id":"toolu_{call:016x}","name":"{tool}","arguments":{{"path":"src/main.rs"}}}}"#
        );
        let called = self.assistant(&content, "toolUse", truth);
        let length = self.random.length(40, 6);
        let text = self.pool.code.run(self.random, length);
        let is_error = self.random.chance(12);
        let message = format!(
            r#""role":"toolResult","toolCallId":"toolu_{call:016x}","toolName":"{tool}","content":[{{"type":"text","text":"{text}"}}],"isError":{is_error}"#
        );
        *truth.tool_errors.entry(tool.to_owned()).or_default() += u64::from(is_error);
        [called, self.line(message, None, truth)]
    }

    fn assistant(&mut self, content: &str, stop: &str, truth: &mut Truth) -> Copied {
        let model = self.random.pick(&MODELS);
        let message = format!(
            r#""role":"assistant","content":[{content}],"api":"anthropic-messages","provider":"anthropic","model":"{model}","stopReason":"{stop}""#
        );
        let mut amount = |most| u64::try_from(1 + self.random.below(most)).expect("a small number");
        let usage = (amount(50_000), amount(999));
        truth.tokens += usage.0;
        truth.thousandths += usage.1;
        let copied = self.line(message, Some(usage), truth);
        let day = self.lines[copied.line].time[..10].to_owned();
        let sums = [
            (&mut truth.by_day, day),
            (&mut truth.by_model, model.to_owned()),
            (&mut truth.by_folder, self.cwd.clone()),
        ];
        for (sum, name) in sums {
            *sum.entry(name).or_default() += usage.1;
        }
        copied
    }

    fn line(&mut self, message: String, usage: Option<(u64, u64)>, truth: &mut Truth) -> Copied {
        self.clock.advance(1000);
        let id = u32::try_from(self.random.bits() >> 32).expect("the high half");
        self.lines.push(Line { id, time: self.clock.to_string(), message, usage, is_prompt: false });
        truth.entries += 1;
        Copied { line: self.lines.len() - 1, is_free: false, is_root: false }
    }

    /// Writes the lines of a session, each below the one before, and returns their length.
    fn copy(&self, lines: &[Copied], out: &mut impl Write) -> io::Result<u64> {
        let (mut above, mut bytes) = (None, 0);
        for copied in lines {
            let Line { id, time, message, usage, .. } = &self.lines[copied.line];
            let parent =
                above.filter(|_| !copied.is_root).map_or("null".to_owned(), |above: u32| format!("\"{above:08x}\""));
            let mut line = format!(
                r#"{{"type":"message","id":"{id:08x}","parentId":{parent},"timestamp":"{time}","message":{{{message}"#
            );
            if let Some((tokens, thousandths)) = usage {
                let cost = if copied.is_free { "0".to_owned() } else { format!("0.{thousandths:03}") };
                let (input, output) = (tokens / 2, tokens - tokens / 2);
                let _ = write!(
                    line,
                    r#","usage":{{"input":{input},"output":{output},"cacheRead":0,"cacheWrite":0,"totalTokens":{tokens},"cost":{{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":{cost}}}}}"#
                );
            }
            line.push_str("}}\n");
            out.write_all(line.as_bytes())?;
            bytes += u64::try_from(line.len()).expect("a line");
            above = Some(*id);
        }
        Ok(bytes)
    }
}
