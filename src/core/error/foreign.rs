//! Formats that are taken for sessions of pi or omp: their names, what they are, and what can be done with such a
//! file. `crate::core::read::foreign` recognises them.

use crate::core::words::listed;

listed! {
    /// A format that is not that of pi and omp.
    ForeignFormat,
    /// Returns the stable name, as JSON errors carry it.
    name: &'static str {
        /// a Claude Code session
        ClaudeCode = "claude-code",
        /// a Codex session
        Codex = "codex",
        /// a GitHub Copilot CLI session
        Copilot = "copilot",
        /// a Factory Droid session
        Droid = "droid",
        /// a pigo session
        Pigo = "pigo",
        /// output of `--mode json`, the events of a run
        EventStream = "event-stream",
        /// a session of version 4, which only pi-agent-core 0.84 to 0.99 wrote
        AgentCore = "pi-agent-core",
        /// compressed with gzip
        Gzip = "gzip",
        /// compressed with zstd
        Zstd = "zstd",
        /// compressed with xz
        Xz = "xz",
        /// text in UTF-16, not in UTF-8
        Utf16 = "utf-16",
        /// an SQLite database
        Sqlite = "sqlite",
    }
}

impl ForeignFormat {
    /// Returns what can be done with such a file; ` FILE` in it stands for its path.
    pub fn remedy(self) -> &'static str {
        match self {
            Self::ClaudeCode => "`omp --from-claude` imports sessions of Claude Code",
            Self::Codex => "`omp --from-codex` imports sessions of Codex",
            Self::Copilot => "`copilot --resume` opens sessions of Copilot",
            Self::Droid => "`droid --resume` opens sessions of Droid",
            Self::Pigo => "pigo opens it; its sessions are lists, not trees",
            Self::EventStream => "the session is a file of its own, if one was kept: name it by the `id` of line 1",
            Self::AgentCore => "the program that wrote it opens it; pi and omp do not",
            Self::Gzip => {
                "`gzip -dc FILE | session-tree tree -` reads it, and so does any command if its name ends in `.jsonl.gz`"
            }
            Self::Zstd => "`zstd -dc FILE | session-tree tree -` reads it",
            Self::Xz => "`xz -dc FILE | session-tree tree -` reads it",
            Self::Utf16 => "`iconv -f UTF-16 -t UTF-8 FILE | session-tree tree -` reads it",
            Self::Sqlite => {
                "if it is openclaw's, `sqlite3 FILE \"select event_json from transcript_events where session_id='ID' \
                 order by seq\" | session-tree tree -` reads one session"
            }
        }
    }
}
