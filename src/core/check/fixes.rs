//! Which findings can be mended, and how: what `check --fix` and `--explain` go by. Beside [`super::codes`],
//! which says what agents do.

use super::codes::Code;

/// How sure a fix is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FixKind {
    /// It loses nothing and guesses nothing: `--fix` makes it.
    Safe,
    /// It may be wrong: only `--unsafe-fixes` makes it.
    Guess,
    /// Nothing here can mend it.
    None,
}

impl FixKind {
    /// Returns the stable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Safe => "safe",
            Self::Guess => "guess",
            Self::None => "none",
        }
    }
}

/// What `check` can do about a code.
#[derive(Clone, Copy, Debug)]
pub struct FixRule {
    /// How sure the fix is.
    pub kind: FixKind,
    /// What it does, or why there is none.
    pub what: &'static str,
    /// Lines that have the finding.
    pub example: &'static str,
}

macro_rules! fixes {
    ($($code:ident: $kind:ident, $what:literal, $example:literal;)+) => {
        impl Code {
            /// Returns what `check` can do about it.
            pub fn rule(self) -> FixRule {
                match self {
                    $(Self::$code => FixRule { kind: FixKind::$kind, what: $what, example: $example },)+
                }
            }
        }
    };
}

fixes! {
    NotASession: Guess,
        "puts a header before the first entry, with the id that is in the file's name, or moves one to the front that is further down; safe if it is whole on a damaged line before the entries",
        r#"{"type":"message","id":"a1","parentId":null,"timestamp":"…","message":{…}}   as line 1"#;
    Empty: None, "there is nothing to mend", "";
    UnreadableHeader: Guess,
        "writes a header with what can be read of the old one, and the id that is in the file's name; safe if the header is whole and only shares its line",
        r#"{"type":"session","version":3,"id":"0197…","timest"#;
    HeaderNotFirst: Safe, "moves the line to after the header",
        r#"{"note":"of another program"}
{"type":"session","version":3,"id":"…","timestamp":"…","cwd":"/work"}"#;
    MalformedLine: Guess,
        "removes the line: its bytes are in the backup; safe for records among other bytes, which are put on lines of their own, and for markers of conflicts of git, which go while both sides stay; in version 1 records stay where they are, and the rest is a guess",
        r#"{"type":"message","id":"b2","parentId":"a1","timestamp":"…","mess"#;
    UnfinishedLine: Guess,
        "removes the line, if it is still unfinished after a second: its bytes are in the backup; safe for whole records on it, which are put on lines of their own",
        r#"{"type":"message","id":"b2","parentId":"a1","timest   without a line end"#;
    GluedObjects: Safe,
        "puts each record on a line of its own, and what is before a record too; none in version 1, whose lines are counted",
        r#"{"type":"message","id":"b2",…}{"type":"message","id":"c3",…}"#;
    NulRun: Safe, "removes the NUL bytes around records, and lines of nothing else; none for records in version 1", r"\0\0\0\0\0\0\0\0";
    Bom: Safe, "removes the mark", r#"\xef\xbb\xbf{"type":"session",…}"#;
    DuplicateId: Guess,
        "gives the later entry a new id, and what comes after it and names the id names the new one; none in files with marks of openclaw",
        r#"{"type":"message","id":"b2",…"first"…}
{"type":"message","id":"b2",…"second"…}"#;
    Orphan: Guess,
        "sets `parentId` to what the remains of a damaged line name, else to the entry before it in the file, or to null if there is none; none in files with marks of openclaw",
        r#"{"type":"message","id":"c3","parentId":"gone",…}"#;
    Cycle: Safe, "sets `parentId` to null where `tree` cuts the loop; none in files with marks of openclaw",
        r#"{"type":"message","id":"a1","parentId":"b2",…}
{"type":"message","id":"b2","parentId":"a1",…}"#;
    SelfParent: Safe, "sets `parentId` to null; none in files with marks of openclaw",
        r#"{"type":"message","id":"a1","parentId":"a1",…}"#;
    ForeignLeaf: Safe,
        "saves a move to the last entry after it, as `session-tree navigate --save` does; a line that is not an object is removed as a guess",
        r#"{"type":"message",…}
{"note":"of another program"}   as the last line"#;
    UnknownVersion: Guess, "sets `version` to 2 if there are messages with the role `hookMessage`, else to 3",
        r#"{"type":"session","version":"three","id":"…",…}"#;
    MalformedMessage: Guess,
        "changes the `type` to `custom` if there is no message, or one without a role; a role that is not known stays",
        r#"{"type":"message","id":"b2","parentId":"a1","timestamp":"…","message":null}"#;
    MissingContent: Safe, "sets `content` to an empty list, as which agents read it",
        r#"{"type":"message",…,"message":{"role":"assistant","content":null,…}}"#;
    NoUsage: Guess, "adds a `usage` of zeros, with its cost",
        r#"{"type":"message",…,"message":{"role":"assistant","content":[…],"stopReason":"stop"}}"#;
    NoCost: Guess, "adds a `cost` of zeros", r#""usage":{"input":10,"output":2,"cacheRead":0,"cacheWrite":0}"#;
    ShortSlot: Safe, "adds spaces to `pad`", r#"{"type":"title","v":1,"title":"…","updatedAt":"…","pad":" "}"#;
    ResultWithoutId: None, "which call it answers is not known",
        r#"{"type":"message",…,"message":{"role":"toolResult","toolName":"read","content":[…]}}"#;
    OddMember: None, "what the member should be is not known", r#"{"type":"compaction",…,"summary":7}"#;
    SecondHeader: Safe,
        "removes the line if it is the first header once more; saves a move after another one that is the last line; none for others, which may be all that is left of another session, and in version 1",
        r#"{"type":"session",…}
{"type":"message",…}
{"type":"session",…}"#;
    OldVersion: None, "`session-tree migrate` does that", r#"{"type":"session","version":2,"id":"…",…}"#;
    NewerVersion: None, "nothing is changed in a version that is not known", r#"{"type":"session","version":4,"id":"…",…}"#;
    BadUtf8: None, "what the bytes stood for is not known", r#""text":"caf\xe9""#;
    LoneSurrogate: None, "what the other half was is not known", r#""text":"\ud83d""#;
    DuplicateLine: Safe,
        "removes the later line; a guess if it is the last entry, where agents resume; none in files with marks of openclaw",
        r#"{"type":"message","id":"b2",…}
{"type":"message","id":"b2",…}   the same bytes"#;
    ForeignLine: None, "the line belongs to another program", r#"{"note":"of another program"}"#;
    LeafOnOlderBranch: Guess, "saves a move to the end of the newest conversation",
        r#"{"type":"label","id":"d4","parentId":"a1",…}   as the last line"#;
    LabelWithoutTarget: None, "the entry that was meant is not known", r#"{"type":"label",…,"targetId":"gone","label":"plan"}"#;
    KeptEntryMissing: Guess,
        "names the first entry above the compaction that was a child of the missing one, or comes after its remains; none if nothing is left of it",
        r#"{"type":"compaction",…,"firstKeptEntryId":"gone"}"#;
    KeptEntryOffPath: None, "the entry that was meant is not known", r#"{"type":"compaction",…,"firstKeptEntryId":"on-another-branch"}"#;
    CallWithoutResult: None, "which of the calls has the result is not known", r#"{"type":"toolCall","id":"call_1",…}   twice, with one result"#;
    ResultWithoutCall: None, "agents refuse it only when they send it", r#"{"type":"message",…,"message":{"role":"toolResult","toolCallId":"gone",…}}"#;
    LeftOut: None, "nothing is damaged", r#""stopReason":"error""#;
    OddContent: None, "what the content should be is not known", r#""content":{"text":"x"}"#;
    UnreadableTime: Guess, "sets `timestamp` to that of the nearest entry before it", r#"{"type":"message","id":"b2","parentId":"a1","timestamp":"soon",…}"#;
    TimeBackwards: None, "nothing is damaged if a clock was wrong", r#"a parent of 10:00, and a child of 09:00"#;
    SeveralRoots: None, "whether the conversation went on from another entry is not known", r#"{"type":"message","id":"c3","parentId":null,…,"message":{"role":"assistant",…}}"#;
    InterleavedWriters: None, "both branches are whole", r#"entries of two branches by turns"#;
    MissingBlob: None, "the image is not in the file", r#""data":"blob:sha256:…""#;
    BigEntry: None, "nothing is damaged", r#"a line of 12 MB"#;
    TerminalEscape: None, "nothing is damaged", r#""text":"\u001b[2J""#;
    NoLineEnd: Safe, "adds the line end", r#"{"type":"message",…}   without a line end"#;
    OddHeader: None, "what the members should be is not known", r#"{"type":"session","version":3,"id":"…","timestamp":5}"#;
    UntypedEntry: Guess, "sets `type` to `message` if the entry has a message with a role, else to `custom`",
        r#"{"id":"b2","parentId":"a1","timestamp":"…"}"#;
    StoredLeaf: None, "the file is as its agent wrote it", r#"{"type":"leaf","id":"d4","parentId":"c3",…,"targetId":"a1"}"#;
    MarkWithoutTarget: None, "where it went is not known", r#"{"type":"leaf","id":"d4",…,"targetId":"gone"}"#;
    ResultElsewhere: None, "agents refuse it only when they send it", r#"a prompt between a tool call and its result"#;
    SecondResult: None, "agents refuse it only when they send it", r#"two results with one `toolCallId`"#;
    ResultOfFailedTurn: None, "agents refuse it only when they send it", r#"a result of a call in a turn with `"stopReason":"error"`"#;
    LongSlot: Safe, "takes spaces out of `pad`, if it has enough", r#"{"type":"title","v":1,"title":"…","updatedAt":"…","pad":"     "}"#;
    RetainedTail: None, "agents leave it out, and nothing is damaged", r#"{"type":"compaction",…,"retainedTail":[…]}"#;
    LeafNotLast: Guess, "saves a move to the newest entry below it",
        r#"{"type":"message","id":"b2","parentId":"a1",…}
{"type":"message","id":"a1","parentId":null,…}"#;
}
