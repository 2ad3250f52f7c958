//! Random numbers that are the same on every run, and sessions made of them that hold everything
//! odd at once.

/// A small generator (xorshift64*); a test names its seed, so that a failure can be run again.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns a number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let number = self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33;
        usize::try_from(number).unwrap() % bound
    }

    pub fn percent(&mut self, chance: usize) -> bool {
        self.below(100) < chance
    }

    pub fn pick<'t, T: ?Sized>(&mut self, from: &[&'t T]) -> &'t T {
        from[self.below(from.len())]
    }
}

/// Times as they are stored, and what they mean in milliseconds.
pub const TIMES: &[(&str, Option<i64>)] = &[
    (r#""2026-01-05T10:00:00.000Z""#, Some(1_767_607_200_000)),
    (r#""2026-01-05T10:00:00.001Z""#, Some(1_767_607_200_001)),
    (r#""2026-01-05T10:00:01.000Z""#, Some(1_767_607_201_000)),
    (r#""2026-01-05T11:00:00+01:00""#, Some(1_767_607_200_000)),
    (r#""2026-01-05T09:30:00.5-00:30""#, Some(1_767_607_200_500)),
    (r#""2026-01-05T10:00:02""#, Some(1_767_607_202_000)),
    (r#""2026-01-05""#, Some(1_767_571_200_000)),
    (r#""1969-12-31T23:59:59.999Z""#, Some(-1)),
    ("1767607200000", Some(1_767_607_200_000)),
    ("1767607203", Some(1_767_607_203_000)),
    ("1767607201.5", Some(1_767_607_201_500)),
    ("1.767607204E9", Some(1_767_607_204_000)),
    ("0", Some(0)),
    ("1e400", None),
    (r#""yesterday""#, None),
    (r#""""#, None),
    ("null", None),
    ("true", None),
    ("[1767607200000]", None),
];

/// Makes a session: mostly one that agents could have written, with everything odd in between.
pub fn session(seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let (version, has_ids) = version(&mut random);
    let mut writer = Writer { random, has_ids, next: 0, used: Vec::new() };
    let mut lines = writer.front();
    lines.push(format!(r#"{{"type":"session"{version},"id":"s{seed}"{}}}"#, writer.header_members()));
    for _ in 0..writer.random.below(50) {
        if writer.next > 0 && writer.random.percent(12) {
            lines.push(writer.odd_line());
        } else {
            lines.push(writer.entry());
        }
    }
    writer.join(&lines)
}

/// Makes a session of many blocks, with lines that are longer than one.
pub fn long_session(seed: u64, entries: usize) -> Vec<u8> {
    let mut writer = Writer { random: Random::new(seed), has_ids: true, next: 0, used: Vec::new() };
    let mut lines = vec![r#"{"type":"session","version":3,"id":"long"}"#.to_owned()];
    for at in 0..entries {
        let mut line = if writer.random.percent(5) { writer.odd_line() } else { writer.entry() };
        let longest = if at % 400 == 7 { 700_000 } else { 2_000 };
        if line.trim_end().ends_with('}') {
            // White space is part of the line and of nothing else.
            line.push_str(&" ".repeat(writer.random.below(longest)));
        }
        lines.push(line);
    }
    writer.join(&lines)
}

/// Returns a `version` member, and whether entries have ids.
fn version(random: &mut Random) -> (String, bool) {
    const ODD: [&str; 10] = ["\"3\"", "3.0", "\" 3 \"", "0", "-1", "2.5", "\"x\"", "[]", "true", "{}"];
    let member = |value: &str| format!(r#","version":{value}"#);
    match random.below(14) {
        0..6 => (member("3"), true),
        6 => (member(random.pick(&["4", "\"4\""])), true),
        7 => (member("2"), true),
        8 => (member(random.pick(&["\"2\"", "2.0"])), true),
        9 => (member(random.pick(&ODD)), true),
        10 => (member("1"), random.percent(30)),
        11 => (member("null"), random.percent(30)),
        _ => (String::new(), random.percent(30)),
    }
}

struct Writer {
    random: Random,
    has_ids: bool,
    /// How many ids were made.
    next: usize,
    used: Vec<String>,
}

impl Writer {
    /// Returns what may stand before the header.
    fn front(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.random.percent(5) {
            lines.push(String::new());
        }
        if self.random.percent(15) {
            let title = self.random.pick(&[r#""slot""#, r#""""#, r#"" ""#, "null"]);
            lines.push(format!(r#"{{"type":"title","v":1,"title":{title},"updatedAt":"","pad":"    "}}"#));
        }
        if self.random.percent(8) {
            lines.push(r#"{"type":"othertool","note":1}"#.to_owned());
        }
        if self.random.percent(5) {
            lines.push("not json".to_owned());
        }
        if self.random.percent(4) {
            // A slot only if nothing stands before it.
            lines.push(r#"{"type":"title","v":1,"title":"late slot","updatedAt":"","pad":""}"#.to_owned());
        }
        lines
    }

    fn header_members(&mut self) -> &'static str {
        self.random.pick(&["", r#","cwd":"/home/mia","title":"header""#, r#","title":"""#, r#","title":7,"cwd":[]"#])
    }

    fn odd_line(&mut self) -> String {
        const LINES: [&str; 18] = [
            "",
            " ",
            "\t",
            "\r",
            "{",
            "null",
            "42",
            "[]",
            "\"text\"",
            "{} {}",
            r#"{"type":"message","id":"brok"#,
            "{}",
            r#"{"type":"othertool","uuid":"1"}"#,
            r#"{"type":"message","message":{"role":"user","content":"no id"}}"#,
            r#"{"type":"message","id":"","message":{"role":"user","content":"empty id"}}"#,
            r#"{"type":"message","id":7,"message":{"role":"user","content":"number as id"}}"#,
            r#"{"type":"session","version":3,"id":"second"}"#,
            "\0\0\0\0",
        ];
        self.random.pick(&LINES).to_owned()
    }

    fn entry(&mut self) -> String {
        let id = self.id();
        // Where the header says nothing, the first entry of a known type shows whether there are ids.
        let (kind, body) = if self.next == 1 { ("\"message\"", self.message()) } else { self.body(&id) };
        let mut members = Vec::new();
        if !kind.is_empty() {
            members.push(format!(r#""type":{kind}"#));
        }
        if self.has_ids {
            members.push(format!(r#""id":"{id}""#));
            members.extend(self.parent(&id).map(|parent| format!(r#""parentId":{parent}"#)));
        }
        let time = TIMES[self.random.below(TIMES.len())].0;
        if !self.random.percent(5) {
            members.push(format!(r#""timestamp":{time}"#));
        }
        members.extend(body);
        if self.random.percent(10) {
            members.reverse();
        }
        let (before, between) = if self.random.percent(10) { (" ", " , ") } else { ("", ",") };
        format!("{before}{{{}}}{before}", members.join(between))
    }

    fn id(&mut self) -> String {
        let is_old = !self.used.is_empty() && self.random.percent(4);
        if is_old {
            return self.any();
        }
        self.next += 1;
        let id = match self.random.below(20) {
            0 => format!("naïve {}", self.next),
            _ => format!("e{:03}", self.next),
        };
        self.used.push(id.clone());
        id
    }

    /// Returns an id that was used before; one of an entry to come or of none, now and then.
    fn any(&mut self) -> String {
        if self.used.is_empty() || self.random.percent(8) {
            return format!("e{:03}", self.next + self.random.below(5));
        }
        self.used[self.random.below(self.used.len())].clone()
    }

    /// Returns the id of one of the last entries: on the path to the next, most of the time.
    fn recent(&mut self) -> String {
        let back = 1 + self.random.below(6);
        match self.used.len().checked_sub(back) {
            Some(at) => self.used[at].clone(),
            None => self.any(),
        }
    }

    fn parent(&mut self, own: &str) -> Option<String> {
        let before = self.used.len().checked_sub(2).map(|at| self.used[at].clone());
        Some(match self.random.below(80) {
            0 => "null".to_owned(),
            1 => "\"\"".to_owned(),
            2 => self.random.pick(&["7", "[]", "{}", "true"]).to_owned(),
            3 => "\"gone\"".to_owned(),
            4 if self.random.percent(50) => format!("\"{own}\""),
            5 => return None,
            // Entries to come make cycles.
            6 => format!("\"e{:03}\"", self.next + 1 + self.random.below(3)),
            7..12 => format!("\"{}\"", self.any()),
            _ => before.map_or("null".to_owned(), |id| format!("\"{id}\"")),
        })
    }

    /// Returns the type as JSON, empty if there is to be none, and the members that go with it.
    fn body(&mut self, own: &str) -> (&'static str, Vec<String>) {
        let member = |name: &str, value: String| format!("\"{name}\":{value}");
        let text = |value: String| format!("\"{value}\"");
        match self.random.below(36) {
            0..14 => ("\"message\"", self.message()),
            14 => ("\"custom_message\"", vec![member("customType", text("note".to_owned())), self.content()]),
            15 => ("\"branch_summary\"", self.summary().into_iter().collect()),
            16..18 => ("\"compaction\"", self.compaction(own)),
            18..22 => {
                let target = if self.random.percent(85) { self.any() } else { "gone".to_owned() };
                let label = self.random.pick(&[r#""one""#, r#""two""#, r#""three""#, r#""""#, "null", "7"]);
                let mut members = vec![member("targetId", text(target))];
                if !self.random.percent(10) {
                    members.push(member("label", label.to_owned()));
                }
                ("\"label\"", members)
            }
            22 => {
                let level = self.random.pick(&[r#""high""#, r#""low""#, "null", "7"]);
                ("\"thinking_level_change\"", vec![member("thinkingLevel", level.to_owned())])
            }
            23 => ("\"model_change\"", self.model()),
            24 => {
                let mode = self.random.pick(&[r#""plan""#, r#""none""#, "null"]);
                let data = self.random.pick(&[r#"{"file": "a"}"#, "null", "1"]);
                ("\"mode_change\"", vec![member("mode", mode.to_owned()), member("data", data.to_owned())])
            }
            25 => {
                let rules = self.random.pick(&[r#"["r1"]"#, r#"["r2","r1"]"#, r#"["r3",7,"r3"]"#, "null", "\"r4\""]);
                ("\"ttsr_injection\"", vec![member("injectedRules", rules.to_owned())])
            }
            26 => {
                let tier = self.random.pick(&[r#""fast""#, "null", r#"{"a":1}"#]);
                ("\"service_tier_change\"", vec![member("serviceTier", tier.to_owned())])
            }
            27 | 34 | 35 => {
                let with = self.random.pick(&["null", r#"{"content":"edited"}"#, r#"{"content":[]}"#]);
                (
                    "\"context_edit\"",
                    vec![member("targetId", text(self.recent())), member("replacement", with.to_owned())],
                )
            }
            28 if self.random.percent(40) => ("\"reset_boundary\"", Vec::new()),
            28 | 29 => ("\"custom\"", vec![member("customType", text("state".to_owned()))]),
            30 => {
                let name = self.random.pick(&[r#""named""#, r#"" two  words ""#, r#""""#, "null", r#"" ""#]);
                ("\"session_info\"", vec![member("name", name.to_owned())])
            }
            31 => ("\"from_the_future\"", vec![member("payload", "[1,{\"a\":null}]".to_owned())]),
            32 => (self.random.pick(&["\"title\"", "\"usage\"", "\"model_usage\"", "\"credential_pin\""]), Vec::new()),
            // Old versions take what has no type for an entry too.
            _ => (self.random.pick(&["", "null", "7"]), Vec::new()),
        }
    }

    fn message(&mut self) -> Vec<String> {
        const ODD: [&str; 5] = ["null", "\"text\"", "{}", r#"{"role":"martian","content":"x"}"#, r#"{"role":null}"#];
        let content = self.content();
        let role = match self.random.below(20) {
            0..7 => "user",
            7..13 => "assistant",
            13..16 => "toolResult",
            16 => self.random.pick(&["bashExecution", "pythonExecution", "fileMention"]),
            17 => self.random.pick(&["custom", "hookMessage"]),
            18 => self.random.pick(&["developer", "system", "branchSummary", "compactionSummary"]),
            _ => "",
        };
        let more = match role {
            "" if self.random.percent(20) => return Vec::new(),
            "" => return vec![format!("\"message\":{}", self.random.pick(&ODD))],
            "toolResult" => {
                let call = self.random.pick(&["", r#","toolCallId":"c1""#, r#","toolCallId":"c2""#]);
                format!(r#"{call},"toolName":"read""#)
            }
            "assistant" => {
                let stop =
                    self.random.pick(&["", r#","stopReason":"stop""#, r#","stopReason":"toolUse""#, STOPPED, FAILED]);
                let model =
                    self.random.pick(&["", r#","provider":"p","model":"m1""#, r#","provider":"p","model":"m2""#]);
                format!("{stop}{model}")
            }
            _ => String::new(),
        };
        vec![format!(r#""message":{{"role":"{role}",{content}{more}}}"#)]
    }

    fn content(&mut self) -> String {
        const CONTENTS: [&str; 12] = [
            r#""words""#,
            r#""日本語 and more""#,
            r#""""#,
            r#"" \n ""#,
            "null",
            "[]",
            r#"[{"type":"text","text":"in a block"}]"#,
            r#"[{"type":"text","text":" "},{"type":"toolCall","id":"c1","name":"read","arguments":{"path":"a"}}]"#,
            r#"[{"type":"toolCall","id":"c1","name":"first"},{"type":"toolCall","id":"c1","name":"second"},{"type":"toolCall","id":"c1","name":"third"}]"#,
            r#"[{"type":"toolCall","name":"ls","arguments":{}},{"type":"toolCall","id":"c2","name":"bash"}]"#,
            r#"[{"type":"thinking","thinking":"hm"},{"type":"image","mimeType":"image/png","data":""}]"#,
            r#"[null,"loose",{"type":"text"},{"type":"text","text":7}]"#,
        ];
        format!("\"content\":{}", self.random.pick(&CONTENTS))
    }

    fn summary(&mut self) -> Option<String> {
        let summary = self.random.pick(&[r#""what was tried""#, r#""more""#, r#""""#, "null", ""]);
        (!summary.is_empty()).then(|| format!("\"summary\":{summary}"))
    }

    fn compaction(&mut self, own: &str) -> Vec<String> {
        let mut members = vec![r#""summary":"so far""#.to_owned(), r#""tokensBefore":1234"#.to_owned()];
        if self.has_ids {
            let first = if self.random.percent(90) { self.recent() } else { own.to_owned() };
            members.push(format!("\"firstKeptEntryId\":\"{first}\""));
        } else {
            let index = self.random.pick(&["-1", "0", "1", "2", "3", "4", "5", "7", "9", "1.5", "\"2\"", "99", "3.0"]);
            members.push(format!("\"firstKeptEntryIndex\":{index}"));
        }
        if self.random.percent(15) {
            members.push(r#""systemMessage":{"role":"system","content":"rules"}"#.to_owned());
        }
        if self.random.percent(30) {
            let provider = self.random.pick(&["\"p\"", "\"p\"", "\"\"", "7"]);
            let remote = format!(r#"{{"provider":{provider},"replacementHistory":[]}}"#);
            members.push(format!("\"preserveData\":{{\"openaiRemoteCompaction\":{remote}}}"));
            if self.random.percent(85) {
                members.push(format!("\"providerReplayThroughEntryId\":\"{}\"", self.recent()));
            }
        }
        members
    }

    fn model(&mut self) -> Vec<String> {
        const CHANGES: [&str; 6] = [
            r#""model":"p/a""#,
            r#""model":"p/b","role":"smol""#,
            r#""model":"p/c","role":"default""#,
            r#""model":"""#,
            r#""provider":"q","modelId":"d""#,
            r#""provider":"q""#,
        ];
        vec![self.random.pick(&CHANGES).to_owned()]
    }

    /// Puts the lines together: with LF or CRLF, and with or without one at the end.
    fn join(&mut self, lines: &[String]) -> Vec<u8> {
        let crlf = self.random.percent(10);
        let mut out = if self.random.percent(5) { "\u{feff}".to_owned() } else { String::new() };
        for line in lines {
            out.push_str(line);
            out.push_str(if crlf || self.random.percent(2) { "\r\n" } else { "\n" });
        }
        match self.random.below(10) {
            0 => drop(out.pop()),
            1 => out.push_str(r#"{"type":"message","id":"torn"#),
            _ => {}
        }
        out.into_bytes()
    }
}

const STOPPED: &str = r#","stopReason":"aborted""#;
const FAILED: &str = r#","stopReason":"error","errorMessage":"over""#;
