//! The codes of findings: stable ids and names, severities, what agents do, and what helps. The page
//! `checks` and the rules in SARIF are made from here; ids and names must never change.
//!
//! What agents do was measured with a small file for each code, opened with pi 1.6.0, omp 13.19.0 and
//! omp 18.2.3.

use crate::core::error::{Error, Result};
use crate::core::words::nearest;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// An agent loses or misreads something.
    Error,
    /// It is suspicious: most agents cope.
    Warning,
}

impl Severity {
    /// Returns the stable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

/// The row of a code.
struct CodeInfo {
    code: Code,
    id: &'static str,
    name: &'static str,
    title: &'static str,
    agents: &'static str,
    fix: &'static str,
}

macro_rules! codes {
    ($($(#[doc = $title:literal])+ $code:ident = $id:literal $name:literal: $agents:literal, $fix:literal;)+) => {
        /// The kinds of problems of a session file.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $($(#[doc = $title])+ $code,)+
        }

        /// Every code, in the order of the enum.
        const CODES: &[CodeInfo] = &[
            $(CodeInfo {
                code: Code::$code,
                id: $id,
                name: $name,
                title: concat!($($title),+),
                agents: $agents,
                fix: $fix,
            },)+
        ];
    };
}

codes! {
    /// not a session: it does not start with a session header
    NotASession = "E001" "not-a-session":
        "pi refuses the file; omp 13 replaces it with an empty session and everything in it is lost; omp 18 refuses it",
        "if it was a session, insert a header as the first line; else do not open it with agents";
    /// an empty file, or blank lines only
    Empty = "E002" "empty":
        "pi writes a header into an empty file and refuses one of blank lines; omp writes a header over it",
        "delete it: there is nothing in it";
    /// the header line is damaged or has no `id`
    UnreadableHeader = "E003" "unreadable-header":
        "pi refuses the file; omp 13 replaces it with an empty session and everything in it is lost; omp 18 refuses it",
        "repair the header; the id is in the file's name, after the `_`";
    /// a foreign line before the header
    HeaderNotFirst = "E004" "header-not-first":
        "pi refuses the file; omp 13 replaces it with an empty session and everything in it is lost; omp 18 refuses it",
        "delete the line, or move it after the header, but not to the end";
    /// a line that is not one JSON object
    MalformedLine = "E005" "malformed-line":
        "pi and omp skip it silently, and omp the last line with it if that follows and a value has to come; omp 18 rewrites the file without it when it next saves",
        "take the line from a backup; else delete it and give its children another parent";
    /// an unfinished last line: cut off, or a writer is still at work
    UnfinishedLine = "E006" "unfinished-line":
        "pi skips it and adds a line end; omp 13 skips it and appends its next entry to it, which is lost too; omp 18 rewrites the file without it when it next saves",
        "close the agent that has the file open and check again; if the line is still unfinished, delete it";
    /// several records on one line
    GluedObjects = "E007" "glued-objects":
        "pi skips the whole line; omp keeps the first record if all are whole, else it skips the line too; omp 18 rewrites the file without it when it next saves",
        "insert a line end between the records";
    /// NUL bytes, such as a crash of the system leaves
    NulRun = "E008" "nul-run":
        "pi and omp skip the line silently; omp 18 rewrites the file without it when it next saves",
        "delete the NUL bytes; a line of nothing else goes as a whole";
    /// a byte order mark before the header
    Bom = "E009" "byte-order-mark":
        "pi refuses the file; omp opens it",
        "delete the first three bytes";
    /// two different entries with one id
    DuplicateId = "E010" "duplicate-id":
        "the later one counts, the model never gets the earlier one; the tree shows everything below it twice, and if an entry becomes its own ancestor, pi and omp never finish opening",
        "give one of them a new id, and set `parentId` of its children to that";
    /// an entry whose parent is not in the file
    Orphan = "E011" "orphan":
        "pi and omp start the conversation there; the model gets nothing from before",
        "repair the line that held the parent; else set `parentId` to the entry that the conversation went on from";
    /// entries that are each other's ancestors
    Cycle = "E012" "cycle":
        "if the leaf is on or below the loop, pi and omp 13 never finish opening and use up all memory; omp 18 cuts it; otherwise they do not show these entries",
        "set `parentId` of one of them to an entry outside the loop, or to null";
    /// an entry that is its own parent
    SelfParent = "E013" "self-parent":
        "if the leaf is at or below it, pi and omp 13 never finish opening and use up all memory; omp 18 starts there; otherwise it is shown as a root",
        "set `parentId` to the entry that the conversation went on from, or to null";
    /// the last line, where agents look for the leaf, is a foreign line or not an object
    ForeignLeaf = "E014" "foreign-leaf":
        "pi and omp resume there: an empty conversation, and the next message is written without a parent",
        "delete the line, or append an entry: `session-tree label FILE @ NAME`";
    /// the header's version is missing, or read as 1 by agents, although the entries have ids
    UnknownVersion = "E015" "unknown-version":
        "pi and omp take it for version 1: they give every entry a new id and put all branches into one list",
        "set `version` of the header: 2 if there are messages with the role `hookMessage`, else 3";
    /// a message entry without a message, or without a known role
    MalformedMessage = "E016" "malformed-message":
        "without a message pi opens the file but cannot build the conversation, and omp cannot open it; a message without a known role is left out",
        "set the `role`, or change the `type` to `custom`, so that the children keep their parent";
    /// `content` is missing or null
    MissingContent = "E017" "missing-content":
        "pi reads it as empty; omp cannot make most requests with it, only that omp 18 leaves out such a custom message; the session can be missing from their lists",
        "set `content` to an empty list";
    /// an assistant message without `usage`
    NoUsage = "E018" "no-usage":
        "omp 13 cannot open the file; pi and omp 18 open it",
        "add `usage` with `cost`, as other messages have it";
    /// an assistant message or `model_usage` entry whose `usage` has no `cost`
    NoCost = "E019" "usage-without-cost":
        "omp cannot open the file, at a `model_usage` entry only omp 18; pi opens it",
        "add `\"cost\":{\"input\":0,\"output\":0,\"cacheRead\":0,\"cacheWrite\":0,\"total\":0}` to `usage`";
    /// a title slot of less than 256 bytes
    ShortSlot = "E020" "short-title-slot":
        "omp 18 destroys the header when it changes the title, and refuses the file from then on; as any with a slot, pi refuses the file, and omp 13 replaces it with an empty session",
        "add spaces to `pad`, until the line has 256 bytes with its line end";
    /// a tool result without the id of its call
    ResultWithoutId = "E021" "result-without-call-id":
        "omp 18 cannot make a request with it, unless the call has no id either; pi and omp 13 send it without a call, and a request can fail or be refused",
        "set `toolCallId` to the `id` of its call";
    /// a member of an entry that does not have the form that an agent needs
    OddMember = "E022" "odd-member":
        "pi or omp, which the finding says, cannot build the conversation or make a request with it",
        "give the member the form that the finding says";
    /// a second session header
    SecondHeader = "W001" "second-header":
        "pi and omp 13 ignore it; omp 18 shows it as an entry of its own, and resumes there if it is the last line: an empty conversation",
        "delete the line";
    /// version 1 or 2
    OldVersion = "W002" "old-version":
        "pi and omp migrate it: pi rewrites the file when it opens it, omp when it next saves",
        "`session-tree migrate FILE`";
    /// a version newer than 3
    NewerVersion = "W003" "newer-version":
        "pi and omp open it and write to it as if it were version 3",
        "open it only with the agent that wrote it";
    /// bytes that are not UTF-8
    BadUtf8 = "W004" "bad-utf8":
        "pi and omp read U+FFFD in their place",
        "put the text there that was meant, if it is known";
    /// half of a surrogate pair in a string
    LoneSurrogate = "W005" "lone-surrogate":
        "pi and omp keep it and send it on; some providers refuse the request",
        "replace the escape with `\\ufffd` if a provider refuses it";
    /// a line that is in the file twice
    DuplicateLine = "W006" "duplicate-line":
        "pi and omp show everything below it once more in the tree for every copy; the conversation is unchanged",
        "delete the second line";
    /// a line without an `id`, of another program
    ForeignLine = "W007" "foreign-line":
        "pi and omp show it as a root of its own; the conversation is unchanged",
        "delete the line, if nobody needs it";
    /// the leaf is a bookkeeping entry on an older branch, so agents do not resume the newest conversation
    LeafOnOlderBranch = "W008" "leaf-on-older-branch":
        "pi and omp resume on that older branch",
        "`session-tree navigate FILE ENTRY --save`, unless the leaf was left there on purpose";
    /// a label for an entry that is not in the file
    LabelWithoutTarget = "W009" "label-without-target":
        "pi and omp do not show it",
        "set `targetId` to the entry that is meant; do not delete the line if it has children";
    /// a compaction names a first kept entry that is not in the file
    KeptEntryMissing = "W010" "kept-entry-missing":
        "pi and omp give the model the summary and what comes after it, but none of the messages to be kept",
        "set `firstKeptEntryId` to the first entry to keep, such as the parent of the compaction";
    /// a compaction names a first kept entry that is not above it
    KeptEntryOffPath = "W011" "kept-entry-off-path":
        "pi and omp give the model the summary and what comes after it, but none of the messages to be kept",
        "set `firstKeptEntryId` to the first entry to keep, such as the parent of the compaction";
    /// a tool call without a result, whose id another call or result has already
    CallWithoutResult = "W012" "call-without-result":
        "omp 13 sends it without a result, and strict providers refuse the request; pi puts one in its place; omp 18 does too, or leaves the call out",
        "give the call an id of its own; or go on above it: `session-tree navigate FILE ENTRY --save`";
    /// a tool result in the conversation without a call
    ResultWithoutCall = "W013" "result-without-call":
        "pi and omp 13 send it unchanged, and strict providers refuse the request; omp 18 sends it as text of the user",
        "go on above it: `session-tree navigate FILE ENTRY --save`; or go on in omp 18";
    /// a failed turn with text, which pi and omp 18 leave out
    LeftOut = "W014" "left-out-by-omp-18":
        "pi and omp 18 do not send it to the model; omp 13 does, and `session-tree context` shows it",
        "if the model has to know it, repeat it in the next prompt";
    /// content, or a block of it, that does not have the form of its type
    OddContent = "W015" "odd-content":
        "pi and omp open it, but often cannot make a request with it, or the provider refuses it; the session can be missing from their lists; omp 18 leaves out a call without a name or an id",
        "make `content` a list of blocks, and correct or remove the block";
    /// a timestamp that is missing or not a time
    UnreadableTime = "W016" "unreadable-time":
        "pi and omp open it; where they sort by time, its position is arbitrary",
        "set `timestamp` to a time such as that of the entry before";
    /// more than five minutes older than its parent
    TimeBackwards = "W017" "time-backwards":
        "pi and omp accept it; among its siblings it may be in the wrong position",
        "none needed if a clock was wrong; else check that `parentId` is right";
    /// a further root that no agent made by going back to the start
    SeveralRoots = "W018" "several-roots":
        "pi and omp start the conversation there; the model gets nothing from before",
        "if the conversation went on directly from an entry before it, set `parentId` to that";
    /// two agents wrote to the file at the same time
    InterleavedWriters = "W019" "interleaved-writers":
        "pi and omp show two branches and resume on the one written to last; the other is not part of the conversation",
        "open a session in one agent only; `session-tree branch FILE --at TIP` copies a branch into a file of its own";
    /// an image stored in another file, which is missing
    MissingBlob = "W020" "missing-blob":
        "omp sends the name of the file instead of the image, as pi always does, and providers refuse the request",
        "restore the file in the folder `blobs` next to omp's `sessions`, or replace the block with text";
    /// an entry of more than 10 MB
    BigEntry = "W021" "big-entry":
        "pi and omp read it, slowly; while it is in the conversation it is part of every request",
        "remove images from the line, or go on after a compaction";
    /// terminal escape sequences, other than colours, in what is not the output of a program
    TerminalEscape = "W022" "terminal-escape":
        "pi and omp keep it; in a program that prints it unchanged it can move the cursor, or set title and clipboard",
        "remove it, unless it is meant; `session-tree` shows it escaped";
    /// the last line is whole, but without a line end
    NoLineEnd = "W023" "no-line-end":
        "pi adds the line end; omp appends its next entry to the line, and both are lost",
        "add a line end: `echo >> FILE`";
    /// a header with odd members
    OddHeader = "W024" "odd-header":
        "pi and omp open it; without a folder pi does not list it, and omp lists it without one; without a time both list it without one",
        "correct the members, if an agent needs them";
    /// an entry without a type
    UntypedEntry = "W025" "untyped-entry":
        "pi and omp keep it in the tree; the model gets nothing from it",
        "give it a `type`, such as `custom`; do not delete it if it has children";
    /// marks or resets of openclaw, which only some agents follow
    StoredLeaf = "W026" "stored-leaf":
        "pi and omp know neither marks nor resets: they resume at the last entry, below what it names as its parent",
        "open it only with the agent that wrote it; `session-tree branch FILE --at ENTRY` copies its branch into a file of its own";
    /// a mark of openclaw that moves the leaf to no entry before it
    MarkWithoutTarget = "W027" "mark-without-target":
        "openclaw ignores it, as pi and omp do with all marks",
        "set `targetId` to where it went, if that is known";
    /// a tool result that is not next to its call
    ResultElsewhere = "W028" "result-not-next-to-call":
        "pi and omp 13 send it where it is, without a call right before it, and strict providers refuse the request; omp 18 moves it to its call, or leaves it out if the call comes later",
        "go on above it: `session-tree navigate FILE ENTRY --save`; or go on in omp 18";
    /// one more result of a tool call that has one
    SecondResult = "W029" "second-result":
        "pi and omp 13 send both, and strict providers refuse the request; omp 18 sends the first",
        "go on above it: `session-tree navigate FILE ENTRY --save`; or go on in omp 18";
    /// the result of a call whose turn failed
    ResultOfFailedTurn = "W030" "result-of-failed-turn":
        "pi leaves the turn out and sends the result, which then has no call, and strict providers refuse the request; omp 13 sends both, omp 18 neither",
        "go on above it: `session-tree navigate FILE ENTRY --save`; or go on in omp";
    /// the last line has entries below it, as in a union of the lines of two machines
    LeafNotLast = "W031" "leaf-has-descendants":
        "pi and omp resume at the last line, in the middle of the conversation",
        "`session-tree navigate FILE ENTRY --save`";
    /// a title slot of more than 256 bytes
    LongSlot = "W032" "long-title-slot":
        "omp 18 leaves the end of the line before the header when it changes the title, and drops it when it next saves; as any with a slot, pi refuses the file, and omp 13 replaces it with an empty session",
        "remove spaces of `pad`, until the line has 256 bytes with its line end";
    /// a compaction that keeps messages in `retainedTail`, and no entries
    RetainedTail = "W033" "retained-tail":
        "pi and omp give the model the summary and what comes after it, but none of these messages",
        "set `firstKeptEntryId` to the first entry to keep, such as the parent of the compaction";
}

impl Code {
    /// Returns every code, errors first.
    pub fn all() -> impl Iterator<Item = Self> {
        CODES.iter().map(|info| info.code)
    }

    /// Finds a code by its id or its name.
    pub fn find(text: &str) -> Option<Self> {
        let is_meant = |info: &&CodeInfo| info.id.eq_ignore_ascii_case(text) || info.name == text;
        CODES.iter().find(is_meant).map(|info| info.code)
    }

    /// Returns the code with an id or a name.
    ///
    /// # Errors
    /// [`Error::Usage`] if there is none, with the name that comes nearest.
    pub fn named(text: &str) -> Result<Self> {
        Self::find(text).ok_or_else(|| {
            // `warnings` is a word of `--deny` alone.
            let near = Self::near(text).filter(|&near| near != text);
            let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
            let hint =
                format!("{near}a code is given as `E005` or `malformed-line`; `session-tree help checks` lists all");
            Error::usage(format!("unknown code `{text}`"), hint)
        })
    }

    /// Returns the name that comes nearest to a misspelt one, if any does; `warnings` is one, too.
    fn near(text: &str) -> Option<&'static str> {
        nearest(text, CODES.iter().map(|info| info.name).chain(["warnings"]))
    }

    /// Returns the names that begin so, each with what it means; ids only if one is begun.
    pub fn begun(text: &str) -> impl Iterator<Item = (&'static str, String)> {
        let name = |code: Self| (code.name(), format!("{}: {}", code.id(), code.title()));
        let id = |code: Self| (code.id(), code.title().to_owned());
        let ids = Self::all().filter(|_| !text.is_empty()).map(id);
        Self::all().map(name).chain(ids).filter(move |(name, _)| name.starts_with(text))
    }

    /// Returns the stable id, as `E005`.
    pub fn id(self) -> &'static str {
        self.info().id
    }

    /// Returns the stable name, such as `malformed-line`.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// Returns what it means, in a few words.
    pub fn title(self) -> &'static str {
        self.info().title.trim()
    }

    /// Returns what agents do.
    pub fn agents(self) -> &'static str {
        self.info().agents
    }

    /// Returns what can be done about it, whatever the file. A finding says it for its line.
    pub fn fix(self) -> &'static str {
        self.info().fix
    }

    /// Returns the severity.
    pub fn severity(self) -> Severity {
        if self.id().starts_with('E') { Severity::Error } else { Severity::Warning }
    }

    fn info(self) -> &'static CodeInfo {
        // The macro makes the variants and the rows in the same order.
        &CODES[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::{Code, Severity};

    #[test]
    fn codes_are_unique_and_in_order() {
        let ids: Vec<_> = Code::all().map(Code::id).collect();
        assert!(ids.is_sorted_by_key(|id| id.as_bytes()), "{ids:?}");
        assert_eq!(ids.iter().collect::<HashSet<_>>().len(), ids.len());
        assert_eq!(Code::all().map(Code::name).collect::<HashSet<_>>().len(), ids.len());
        for code in Code::all() {
            assert_eq!(Code::find(code.id()), Some(code));
            assert_eq!(Code::find(code.name()), Some(code));
        }
        assert_eq!(Code::find("e005"), Some(Code::MalformedLine));
        assert_eq!(Code::find("E05"), None);
        assert_eq!(Code::near("warning"), Some("warnings"));
        assert!(Code::named("warnings").unwrap_err().hint().unwrap().starts_with("a code is given as"));
        assert_eq!(Code::near("malformd-line"), Some("malformed-line"));
        assert_eq!(Code::near("zebra"), None);
        assert_eq!(Code::Orphan.severity(), Severity::Error);
        assert_eq!(Code::OldVersion.severity(), Severity::Warning);
    }
}
