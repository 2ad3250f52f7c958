//! The types of entries, the roles of messages, and what of them decides whether an entry is shown.

/// Makes an enum of what files have names for, and of what they have no one name for.
macro_rules! named {
    (
        $(#[$about:meta])*
        $list:ident {
            $($(#[doc = $meaning:literal])+ $item:ident = $name:literal,)+
        }
        else $unknown:ident {
            $($(#[$other_meaning:meta])+ $other:ident,)+
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum $list {
            $($(#[doc = $meaning])+ $item,)+
            $($(#[$other_meaning])+ $other,)+
        }

        impl $list {
            /// All that have a name.
            pub const ALL: &[Self] = &[$(Self::$item),+];

            /// Returns the one with this name.
            pub(super) fn of(name: &[u8]) -> Self {
                $(if name == $name.as_bytes() {
                    return Self::$item;
                })+
                Self::$unknown
            }

            /// Returns the name that files use for it; `None` if only the file tells.
            pub fn name(self) -> Option<&'static str> {
                match self {
                    $(Self::$item => Some($name),)+
                    $(Self::$other => None,)+
                }
            }

            /// Returns what it is, in one line; an empty one for what has no name.
            pub fn meaning(self) -> &'static str {
                match self {
                    $(Self::$item => concat!($($meaning),+).trim_ascii(),)+
                    $(Self::$other => "",)+
                }
            }
        }
    };
}

named! {
    /// The types of entries (format: "Entries"), the most frequent first.
    Kind {
        /// a message of an agent's conversation
        Message = "message",
        /// a message that an extension put into the conversation
        CustomMessage = "custom_message",
        /// a summary of a branch that was left
        BranchSummary = "branch_summary",
        /// a summary that takes the place of what stands before it
        Compaction = "compaction",
        /// the state of an extension
        Custom = "custom",
        /// a label for an entry, or the end of one
        Label = "label",
        /// another thinking level
        ThinkingLevelChange = "thinking_level_change",
        /// another model
        ModelChange = "model_change",
        /// another mode of omp
        ModeChange = "mode_change",
        /// rules that omp put into the conversation
        TtsrInjection = "ttsr_injection",
        /// another service tier
        ServiceTierChange = "service_tier_change",
        /// the tools that were chosen from MCP servers
        McpToolSelection = "mcp_tool_selection",
        /// what an earlier entry adds to the context from here on
        ContextEdit = "context_edit",
        /// nothing before it is in the context
        ResetBoundary = "reset_boundary",
        /// the name that pi shows for the session
        SessionInfo = "session_info",
        /// prompt, task and tools of a session that another one started
        SessionInit = "session_init",
        /// another title
        TitleChange = "title_change",
        /// what a request used
        Usage = "usage",
        /// what a request to a model used
        ModelUsage = "model_usage",
        /// the account that a provider is used with
        CredentialPin = "credential_pin",
        /// a header, never an entry
        Header = "session",
        /// a title slot, never an entry of its own
        Title = "title",
    }
    else Unknown {
        /// A type that this program does not know.
        Unknown,
        /// No type, or one that is not a string.
        #[default]
        Untyped,
    }
}

impl Kind {
    /// Tells whether it is one of the entry types that agents write.
    pub fn is_entry_type(self) -> bool {
        !matches!(self, Self::Header | Self::Title | Self::Unknown | Self::Untyped)
    }

    /// Tells whether it carries part of the conversation.
    pub fn is_conversation(self) -> bool {
        matches!(self, Self::Message | Self::CustomMessage | Self::BranchSummary | Self::Compaction)
    }
}

named! {
    /// Who speaks in a message (format: "Agent messages").
    Role {
        /// the person
        User = "user",
        /// instructions of the program
        Developer = "developer",
        /// the model
        Assistant = "assistant",
        /// what a tool returned
        ToolResult = "toolResult",
        /// a shell command that the person ran
        BashExecution = "bashExecution",
        /// Python code that the person ran
        PythonExecution = "pythonExecution",
        /// an extension
        Custom = "custom",
        /// what version 3 calls `custom`
        HookMessage = "hookMessage",
        /// files that the person named
        FileMention = "fileMention",
        /// the system prompt
        System = "system",
        /// a branch summary, made by agents in memory, not meant to be stored
        BranchSummary = "branchSummary",
        /// a compaction's summary, made by agents in memory, not meant to be stored
        CompactionSummary = "compactionSummary",
    }
    else Unknown {
        /// A role that this program does not know.
        Unknown,
        /// No message, or one without a role.
        #[default]
        None,
    }
}

impl Role {
    /// Tells whether a message with it can be part of a context.
    pub fn is_known(self) -> bool {
        !matches!(self, Self::Unknown | Self::None)
    }
}

/// How an assistant message ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stop {
    /// `stop`, `toolUse`, or nothing said.
    #[default]
    Normal,
    /// `aborted`
    Aborted,
    /// Anything else, such as `error` or `length`.
    Odd,
}

/// What of an entry decides whether it is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traits {
    /// Its type.
    pub kind: Kind,
    /// Its message's role.
    pub role: Role,
    /// How its message ended.
    pub stop: Stop,
    /// Whether its content has any word.
    pub has_text: bool,
}

impl Traits {
    /// Returns whether it is a message of the user.
    pub fn is_user(self) -> bool {
        self.kind == Kind::Message && self.role == Role::User
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Role};

    #[test]
    fn names_are_read_as_they_are_written() {
        for &kind in Kind::ALL {
            assert_eq!(Kind::of(kind.name().unwrap().as_bytes()), kind);
        }
        for &role in Role::ALL {
            assert_eq!(Role::of(role.name().unwrap().as_bytes()), role);
        }
        assert_eq!((Kind::of(b"messages"), Kind::of(b"")), (Kind::Unknown, Kind::Unknown));
        assert_eq!((Role::of(b"User"), Role::None.name()), (Role::Unknown, None));
    }
}
