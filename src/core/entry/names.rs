//! The names of entry types and roles, each list written once. What a type or role does is decided
//! elsewhere.

/// Defines an enum of items that have a name in files, and of items that do not.
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
            /// All items that have a name.
            #[cfg(test)]
            const ALL: &[Self] = &[$(Self::$item),+];

            /// Returns the item with this name.
            pub(super) fn of(name: &[u8]) -> Self {
                $(if name == $name.as_bytes() {
                    return Self::$item;
                })+
                Self::$unknown
            }

            /// Returns whether an item has this name.
            pub(crate) fn is_name(name: &str) -> bool {
                $(name == $name)||+
            }

            /// Returns the name in files; `None` for an item that has none.
            pub fn name(self) -> Option<&'static str> {
                match self {
                    $(Self::$item => Some($name),)+
                    $(Self::$other => None,)+
                }
            }
        }
    };
}

named! {
    /// The types of entries (help format, "Entries"), the most frequent first.
    Kind {
        /// a message of an agent's conversation
        Message = "message",
        /// a message that an extension put into the conversation
        CustomMessage = "custom_message",
        /// a summary of a branch that was left
        BranchSummary = "branch_summary",
        /// a summary that replaces what is before it in the context
        Compaction = "compaction",
        /// the state of an extension
        Custom = "custom",
        /// a label that is set or cleared
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
        /// a change of what an earlier entry adds to the context
        ContextEdit = "context_edit",
        /// nothing before it is in the context
        ResetBoundary = "reset_boundary",
        /// nothing before it is in the context, but for messages that openclaw keeps
        Reset = "reset",
        /// a mark of openclaw: the leaf moved to another entry
        Leaf = "leaf",
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
    /// Returns whether it is an entry type that agents write.
    pub fn is_entry_type(self) -> bool {
        !matches!(self, Self::Header | Self::Title | Self::Unknown | Self::Untyped)
    }

    /// Returns whether entries of this type are part of the conversation.
    pub fn is_conversation(self) -> bool {
        matches!(self, Self::Message | Self::CustomMessage | Self::BranchSummary | Self::Compaction)
    }
}

named! {
    /// The role of a message: who speaks (help format, "Messages").
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
    /// Returns whether a message with this role can be part of a context.
    pub fn is_known(self) -> bool {
        !matches!(self, Self::Unknown | Self::None)
    }
}

/// How an assistant message ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StopReason {
    /// `stop`, `toolUse`, or not stored.
    #[default]
    Normal,
    /// `aborted`
    Aborted,
    /// Anything else, such as `error` or `length`.
    Other,
}

/// The properties of an entry that decide whether a view shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traits {
    /// The entry's type.
    pub kind: Kind,
    /// The role of its message; [`Role::User`] also for a skill that the user asked for.
    pub role: Role,
    /// How its message ended.
    pub stop: StopReason,
    /// Whether its content, or the task that it was started for, has any text but white space.
    pub has_text: bool,
}

impl Traits {
    /// Returns whether it is what the user sent: a message, or a command for a skill.
    pub fn is_user(self) -> bool {
        self.role == Role::User
    }

    /// Returns how well its words name the session that it is in; `None` for those that never do.
    pub fn title_rank(self) -> Option<TitleRank> {
        let is_said = matches!(self.kind, Kind::Message | Kind::CustomMessage) && self.role != Role::ToolResult;
        match self.has_text {
            true if self.is_user() => Some(TitleRank::Prompt),
            true if self.kind == Kind::SessionInit => Some(TitleRank::Task),
            false if self.is_user() => Some(TitleRank::PromptWithoutText),
            true if is_said => Some(TitleRank::Text),
            _ => None,
        }
    }
}

/// What names a session that has no name, the best first; of equals it is the first in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TitleRank {
    /// The text of the first prompt.
    Prompt,
    /// What the session was started for.
    Task,
    /// A prompt without text.
    PromptWithoutText,
    /// The first text of anybody.
    Text,
}

#[cfg(test)]
mod tests {
    use super::{Kind, Role, StopReason, TitleRank, Traits};

    #[test]
    fn prompts_and_tasks_name_a_session_better_than_other_texts() {
        let rank = |kind, role, has_text| Traits { kind, role, stop: StopReason::Normal, has_text }.title_rank();
        for (kind, role, with_text, without) in [
            (Kind::Message, Role::User, Some(TitleRank::Prompt), Some(TitleRank::PromptWithoutText)),
            (Kind::CustomMessage, Role::User, Some(TitleRank::Prompt), Some(TitleRank::PromptWithoutText)),
            (Kind::SessionInit, Role::None, Some(TitleRank::Task), None),
            (Kind::Message, Role::Developer, Some(TitleRank::Text), None),
            (Kind::CustomMessage, Role::None, Some(TitleRank::Text), None),
            (Kind::Message, Role::ToolResult, None, None),
            (Kind::Custom, Role::None, None, None),
        ] {
            assert_eq!((rank(kind, role, true), rank(kind, role, false)), (with_text, without), "{kind:?} {role:?}");
        }
        assert!(TitleRank::Prompt < TitleRank::Task && TitleRank::PromptWithoutText < TitleRank::Text);
    }

    #[test]
    fn every_name_is_read_as_its_item() {
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
