//! A coding session as agents write it: turns of a prompt, answers with tool calls, and their results;
//! between them compactions, labels, changes of model, and branches.

use std::collections::VecDeque;
use std::io::{self, Write};

use super::pool::Pool;
use super::random::Random;
use super::session::{Depth, Session};
use super::{Stats, Version};

use Lengths::{Deciles, Octaves};

pub struct Conversation<'pool, W: Write> {
    pub session: Session<W>,
    pub pool: &'pool Pool,
    sizes: Sizes,
    stage: Stage,
    calls: VecDeque<Call>,
    /// Where the turns on the path start, root first.
    turns: Vec<Depth>,
    model: &'static str,
}

/// How long the parts are, and how often they come.
#[derive(Clone, Copy)]
pub struct Sizes {
    prompt: Lengths,
    answer: Lengths,
    thinking: Lengths,
    signature: Lengths,
    /// Each side of an edit.
    edit: Lengths,
    /// The diff of an edit; none is as long as an output.
    diff: Option<Lengths>,
    /// What a file is written with.
    write: Lengths,
    read: Lengths,
    output: Lengths,
    /// In percent of the tool calls.
    screenshots: usize,
    /// In percent of the answers, as are those without text.
    thinks: usize,
    silent: usize,
    /// How many answers with calls a turn has at most.
    answers: usize,
    tools: &'static [Tool],
}

/// A distribution of lengths in bytes.
#[derive(Clone, Copy)]
enum Lengths {
    /// From the shortest up, doubled so many times, each octave equally likely.
    Octaves(usize, u32),
    /// The shortest, the nine deciles, and the longest; what is between two of them is equally likely.
    Deciles([usize; 11]),
}

#[derive(Clone, Copy)]
enum Stage {
    Between,
    Prompt,
    Working { answers_left: usize },
}

struct Call {
    id: u64,
    tool: Tool,
    path: usize,
}

#[derive(Clone, Copy)]
enum Tool {
    Read,
    Screenshot,
    Bash,
    Edit,
    Grep,
    Write,
}

const MODELS: &[&str] = &["claude-opus-4-5", "claude-sonnet-4-5", "claude-haiku-4-5"];
const LABELS: &[&str] = &["checkpoint", "tests pass", "before the rewrite", "naïve version", "good", "計画"];
const COMMANDS: &[&str] = &[
    "npm test -- --run 2>&1 | tail -40",
    "git diff --stat && git log --oneline -5",
    r#"rg -n \"TODO|FIXME\" src | head -20"#,
    r#"node -e 'console.log(JSON.stringify(require(\"./package.json\").scripts, null, 2))'"#,
    r"cd packages/core && cargo test --quiet 2>&1 | sed 's/\t/  /g'",
];

impl Sizes {
    pub const TEXT: Self = Self {
        prompt: Octaves(40, 5),
        answer: Octaves(50, 5),
        thinking: Octaves(60, 5),
        signature: Octaves(200, 2),
        edit: Octaves(60, 5),
        diff: None,
        write: Octaves(505, 6),
        read: Octaves(505, 6),
        output: Octaves(60, 7),
        screenshots: 0,
        thinks: 50,
        silent: 0,
        answers: 12,
        tools: &[Tool::Read, Tool::Read, Tool::Bash, Tool::Bash, Tool::Bash, Tool::Edit, Tool::Edit, Tool::Grep],
    };
    pub const IMAGE: Self = Self { screenshots: 25, ..Self::TEXT };
    pub const SMALL: Self = Self {
        prompt: Octaves(20, 3),
        answer: Octaves(20, 3),
        thinking: Octaves(30, 2),
        signature: Octaves(60, 1),
        edit: Octaves(30, 3),
        read: Octaves(88, 4),
        output: Octaves(40, 4),
        ..Self::TEXT
    };
    /// Measured on a session of a week's work on TypeScript, published by the authors of an agent.
    pub const REAL: Self = Self {
        prompt: Deciles([2, 12, 26, 43, 55, 80, 142, 194, 275, 361, 2320]),
        answer: Deciles([4, 33, 44, 56, 67, 80, 92, 110, 166, 369, 4600]),
        thinking: Deciles([50, 91, 144, 181, 239, 396, 650, 1018, 1218, 2094, 5458]),
        signature: Deciles([0, 336, 404, 460, 512, 724, 996, 1484, 1824, 3144, 10632]),
        edit: Deciles([28, 80, 120, 160, 190, 250, 370, 500, 830, 1800, 11000]),
        diff: Some(Deciles([250, 368, 442, 494, 576, 659, 757, 897, 1795, 3831, 24061])),
        write: Deciles([155, 188, 1050, 2159, 3063, 3651, 7643, 8432, 11121, 15405, 55644]),
        read: Deciles([155, 617, 1019, 1440, 1926, 2531, 3339, 3927, 6855, 9801, 57871]),
        output: Deciles([6, 11, 21, 65, 181, 394, 734, 967, 1219, 2103, 9000]),
        screenshots: 0,
        thinks: 10,
        silent: 46,
        answers: 18,
        tools: &[
            Tool::Bash,
            Tool::Bash,
            Tool::Bash,
            Tool::Bash,
            Tool::Bash,
            Tool::Bash,
            Tool::Bash,
            Tool::Bash,
            Tool::Bash,
            Tool::Edit,
            Tool::Edit,
            Tool::Edit,
            Tool::Edit,
            Tool::Edit,
            Tool::Read,
            Tool::Read,
            Tool::Read,
            Tool::Read,
            Tool::Read,
            Tool::Write,
        ],
    };
    const SCREENSHOT: Lengths = Octaves(100_000, 5);
    const LARGEST_SCREENSHOT: usize = 2_000_000;
}

impl Lengths {
    fn pick(self, random: &mut Random) -> usize {
        match self {
            Octaves(low, octaves) => random.length(low, octaves),
            Deciles(deciles) => {
                let tenth = random.below(10);
                let (low, high) = (deciles[tenth], deciles[tenth + 1]);
                low + random.below(high - low + 1)
            }
        }
    }
}

impl<'pool, W: Write> Conversation<'pool, W> {
    pub fn new(session: Session<W>, pool: &'pool Pool, sizes: Sizes) -> Self {
        let (stage, calls, turns) = (Stage::Prompt, VecDeque::new(), Vec::new());
        Self { session, pool, sizes, stage, calls, turns, model: MODELS[0] }
    }

    /// Goes on to the goal.
    pub fn finish(mut self) -> io::Result<Stats> {
        while !self.session.is_done() {
            self.step()?;
        }
        self.session.finish()
    }

    pub fn is_between_turns(&self) -> bool {
        matches!(self.stage, Stage::Between)
    }

    /// Writes the next entry.
    pub fn step(&mut self) -> io::Result<()> {
        if let Some(call) = self.calls.pop_front() {
            return self.tool_result(&call);
        }
        match self.stage {
            Stage::Between => {
                self.stage = Stage::Prompt;
                self.event()
            }
            Stage::Prompt => {
                self.stage = Stage::Working { answers_left: self.session.random.below(self.sizes.answers) };
                self.prompt()
            }
            Stage::Working { answers_left: 0 } => {
                self.stage = Stage::Between;
                self.answer(0)
            }
            Stage::Working { answers_left } => {
                self.stage = Stage::Working { answers_left: answers_left - 1 };
                // Mostly one, at times a few at once.
                let calls = 1 + self.session.random.below(6) / 4;
                self.answer(calls)
            }
        }
    }

    /// Ends an entry whose message is open: with the time that every message has.
    pub fn end_message(&mut self) -> io::Result<()> {
        let now = self.session.clock.epoch();
        write!(self.session, r#","timestamp":{now}}}"#)?;
        self.session.end()
    }

    fn prompt(&mut self) -> io::Result<()> {
        self.turns.push(self.session.depth());
        let length = self.length(self.sizes.prompt);
        self.session.begin("message")?;
        self.session.text(r#","message":{"role":"user","content":[{"type":"text","text":""#)?;
        self.session.lines(&self.pool.prose, length)?;
        self.session.text(r#""}]"#)?;
        self.end_message()
    }

    /// Writes an assistant message. Its results follow in the next steps.
    fn answer(&mut self, calls: usize) -> io::Result<()> {
        self.session.begin("message")?;
        self.session.text(r#","message":{"role":"assistant","content":["#)?;
        let mut mark = "";
        if self.session.random.chance(self.sizes.thinks) {
            let (length, signature) = (self.length(self.sizes.thinking), self.length(self.sizes.signature));
            self.session.text(r#"{"type":"thinking","thinking":""#)?;
            self.session.lines(&self.pool.prose, length)?;
            self.session.text(r#"","thinkingSignature":""#)?;
            let run = self.pool.base64.run(&mut self.session.random, signature);
            self.session.text(run)?;
            self.session.text(r#""}"#)?;
            mark = ",";
        }
        let silent = self.sizes.silent;
        if calls == 0 || silent == 0 || !self.session.random.chance(silent) {
            let length = self.length(self.sizes.answer);
            write!(self.session, r#"{mark}{{"type":"text","text":""#)?;
            self.session.lines(&self.pool.prose, length)?;
            self.session.text(r#""}"#)?;
            mark = ",";
        }
        for _ in 0..calls {
            let call = self.next_call();
            self.session.text(std::mem::replace(&mut mark, ","))?;
            self.tool_call(&call)?;
            self.calls.push_back(call);
        }
        let (input, output) = (self.session.random.length(1, 12), self.session.random.length(20, 6));
        let (cached, cost) = (self.session.random.length(2000, 6), 100_000 + output * 25);
        let total = input + output + cached;
        let stop = if calls == 0 { "stop" } else { "toolUse" };
        write!(
            self.session,
            r#"],"api":"anthropic-messages","provider":"anthropic","model":"{}","usage":{{"input":{input},"output":{output},"cacheRead":{cached},"cacheWrite":0,"totalTokens":{total},"cost":{{"input":0.00005,"output":0.{cost},"cacheRead":0.0219175,"cacheWrite":0,"total":0.{}}}}},"stopReason":"{stop}""#,
            self.model,
            cost + 21_967,
        )?;
        self.end_message()
    }

    fn next_call(&mut self) -> Call {
        let random = &mut self.session.random;
        let tool = if random.chance(self.sizes.screenshots) {
            Tool::Screenshot
        } else {
            self.sizes.tools[random.below(self.sizes.tools.len())]
        };
        Call { id: random.bits(), tool, path: random.below(self.pool.paths.len()) }
    }

    fn tool_call(&mut self, call: &Call) -> io::Result<()> {
        let (id, path, name) = (call.id, &self.pool.paths[call.path], call.tool.name());
        let (sizes, session, pool) = (self.sizes, &mut self.session, self.pool);
        write!(session, r#"{{"type":"toolCall","id":"toolu_01{id:022x}","name":"{name}","arguments":{{"#)?;
        match call.tool {
            Tool::Read => {
                let (offset, limit) = (session.random.length(1, 11), session.random.length(50, 4));
                write!(session, r#""path":"{path}","offset":{offset},"limit":{limit}"#)?;
            }
            Tool::Screenshot => session.text(r#""path":"/tmp/shots/page.png""#)?,
            Tool::Bash => {
                let command = session.random.pick(COMMANDS);
                write!(session, r#""command":"{command}","timeout":120"#)?;
            }
            Tool::Edit => {
                write!(session, r#""path":"{path}","oldText":""#)?;
                let (old, new) = (sizes.edit.pick(&mut session.random), sizes.edit.pick(&mut session.random));
                session.lines(&pool.code, old)?;
                session.text(r#"","newText":""#)?;
                session.lines(&pool.code, new)?;
                session.text("\"")?;
            }
            Tool::Write => {
                let length = sizes.write.pick(&mut session.random);
                write!(session, r#""path":"{path}","content":""#)?;
                session.lines(&pool.code, length)?;
                session.text("\"")?;
            }
            Tool::Grep => write!(session, r#""pattern":"(?:set|get)\\(\"[a-z]+\"","path":"src","glob":"*.ts""#)?,
        }
        session.text("}}")
    }

    fn tool_result(&mut self, call: &Call) -> io::Result<()> {
        let (id, name, path) = (call.id, call.tool.name(), &self.pool.paths[call.path]);
        let (read, output) = (self.length(self.sizes.read), self.length(self.sizes.output));
        let diff = self.sizes.diff.map_or(output, |diff| self.length(diff));
        let (session, pool) = (&mut self.session, self.pool);
        session.begin("message")?;
        write!(
            session,
            r#","message":{{"role":"toolResult","toolCallId":"toolu_01{id:022x}","toolName":"{name}","content":[{{"type":"text","text":""#,
        )?;
        match call.tool {
            Tool::Read => {
                session.lines(&pool.code, read)?;
                session.text(r#"\n"}]"#)?;
            }
            Tool::Screenshot => {
                session.text(r#"Read image file [image/png]"},{"type":"image","data":""#)?;
                let length = Sizes::SCREENSHOT.pick(&mut session.random).min(Sizes::LARGEST_SCREENSHOT);
                session.png(&pool.base64, length)?;
                session.text(r#"","mimeType":"image/png"}]"#)?;
            }
            Tool::Bash | Tool::Grep => {
                session.lines(&pool.shell, output)?;
                session.text(r#"\n"}]"#)?;
            }
            Tool::Edit => {
                write!(session, r#"Successfully replaced text in {path}."}}],"details":{{"diff":""#)?;
                session.lines(&pool.code, diff)?;
                session.text(r#""}"#)?;
            }
            Tool::Write => write!(session, r#"Successfully wrote {read} bytes to {path}."}}]"#)?,
        }
        let is_error = session.random.chance(4);
        write!(session, r#","isError":{is_error}"#)?;
        self.end_message()
    }

    /// Writes what at times comes between two turns; mostly that is the next prompt already.
    fn event(&mut self) -> io::Result<()> {
        let is_tree = self.session.version().is_tree();
        match self.session.random.below(100) {
            0 => self.compaction(),
            1..=3 if is_tree => self.label(),
            4..=5 => self.model_change(),
            6..=7 => {
                let level = self.session.random.pick(&["off", "low", "medium", "high"]);
                self.session.begin("thinking_level_change")?;
                write!(self.session, r#","thinkingLevel":"{level}""#)?;
                self.session.end()
            }
            8..=9 => self.extension_message(),
            10..=12 => self.bash_execution(),
            13..=42 if is_tree => self.go_back(),
            _ => self.step(),
        }
    }

    fn compaction(&mut self) -> io::Result<()> {
        let kept = self.session.at(self.turns[self.turns.len().saturating_sub(4)]);
        let (length, tokens) = (self.length(self.sizes.thinking), self.session.random.length(90_000, 1));
        self.session.begin("compaction")?;
        self.session.text(r#","summary":""#)?;
        self.session.lines(&self.pool.prose, length * 2)?;
        if self.session.version().is_tree() {
            self.session.text(r#"","firstKeptEntryId":"#)?;
            self.session.reference(Some(kept), "null")?;
        } else {
            write!(self.session, r#"","firstKeptEntryIndex":{}"#, Session::<W>::line_index(kept))?;
        }
        write!(self.session, r#","tokensBefore":{tokens}"#)?;
        self.session.end()
    }

    fn label(&mut self) -> io::Result<()> {
        let steps = self.session.random.below(20);
        let target = self.session.ancestor(steps);
        self.session.begin("label")?;
        self.session.text(r#","targetId":"#)?;
        self.session.reference(target, "null")?;
        // Without a name it takes the label away.
        if self.session.random.chance(90) {
            let name = self.session.random.pick(LABELS);
            write!(self.session, r#","label":"{name}""#)?;
        }
        self.session.end()
    }

    fn model_change(&mut self) -> io::Result<()> {
        self.model = self.session.random.pick(MODELS);
        self.session.begin("model_change")?;
        write!(self.session, r#","provider":"anthropic","modelId":"{}""#, self.model)?;
        self.session.end()
    }

    /// Writes a message of an extension, in the form of the version.
    fn extension_message(&mut self) -> io::Result<()> {
        let length = self.length(self.sizes.prompt);
        let is_current = self.session.version() == Version::Three;
        self.session.begin(if is_current { "custom_message" } else { "message" })?;
        self.session.text(if is_current { "," } else { r#","message":{"role":"hookMessage","# })?;
        self.session.text(r#""customType":"lint","content":""#)?;
        self.session.lines(&self.pool.shell, length)?;
        self.session.text(r#"","display":true"#)?;
        if is_current { self.session.end() } else { self.end_message() }
    }

    fn bash_execution(&mut self) -> io::Result<()> {
        let length = self.length(self.sizes.output);
        self.session.begin("message")?;
        let command = self.session.random.pick(COMMANDS);
        write!(self.session, r#","message":{{"role":"bashExecution","command":"{command}","output":""#)?;
        self.session.lines(&self.pool.shell, length)?;
        self.session.text(r#"","exitCode":0,"cancelled":false,"truncated":false"#)?;
        self.end_message()
    }

    /// Goes back to the start of an earlier turn, mostly the last one, so that the next prompt is its
    /// sibling; one time in four with a summary of what is left behind.
    fn go_back(&mut self) -> io::Result<()> {
        let far = if self.session.random.chance(2) { 40 } else { 3 };
        let turns = 1 + self.session.random.below(far);
        let kept = self.turns.len().saturating_sub(turns);
        self.session.go_back(self.turns[kept]);
        self.turns.truncate(kept);
        if !self.session.random.chance(25) {
            return self.step();
        }
        let place = self.session.leaf();
        let length = self.length(self.sizes.thinking);
        self.session.begin("branch_summary")?;
        self.session.text(r#","fromId":"#)?;
        self.session.reference(place, r#""root""#)?;
        self.session.text(r#","summary":""#)?;
        self.session.lines(&self.pool.prose, length)?;
        self.session.text("\"")?;
        self.session.end()
    }

    fn length(&mut self, lengths: Lengths) -> usize {
        lengths.pick(&mut self.session.random)
    }
}

impl Tool {
    fn name(self) -> &'static str {
        match self {
            Self::Read | Self::Screenshot => "read",
            Self::Bash => "bash",
            Self::Edit => "edit",
            Self::Grep => "grep",
            Self::Write => "write",
        }
    }
}
