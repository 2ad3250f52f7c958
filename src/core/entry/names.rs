//! The types of entries, the roles of messages, and what of them decides whether an entry is shown.

/// The types of entries (format: "Entries").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// `message`
    Message,
    /// `custom_message`
    CustomMessage,
    /// `branch_summary`
    BranchSummary,
    /// `compaction`
    Compaction,
    /// `custom`
    Custom,
    /// `label`
    Label,
    /// `thinking_level_change`
    ThinkingLevelChange,
    /// `model_change`
    ModelChange,
    /// `mode_change`
    ModeChange,
    /// `ttsr_injection`
    TtsrInjection,
    /// `service_tier_change`
    ServiceTierChange,
    /// `mcp_tool_selection`
    McpToolSelection,
    /// `context_edit`
    ContextEdit,
    /// `reset_boundary`
    ResetBoundary,
    /// `session_info`
    SessionInfo,
    /// `session_init`
    SessionInit,
    /// `title_change`
    TitleChange,
    /// `usage`
    Usage,
    /// `model_usage`
    ModelUsage,
    /// `credential_pin`
    CredentialPin,
    /// `session`: a header, never an entry.
    Header,
    /// `title`: a title slot, never an entry of its own.
    Title,
    /// A type that this program does not know.
    Unknown,
    /// No type, or one that is no string.
    #[default]
    Untyped,
}

impl Kind {
    pub(super) fn of(name: &[u8]) -> Self {
        match name {
            b"message" => Self::Message,
            b"custom_message" => Self::CustomMessage,
            b"branch_summary" => Self::BranchSummary,
            b"compaction" => Self::Compaction,
            b"custom" => Self::Custom,
            b"label" => Self::Label,
            b"thinking_level_change" => Self::ThinkingLevelChange,
            b"model_change" => Self::ModelChange,
            b"mode_change" => Self::ModeChange,
            b"ttsr_injection" => Self::TtsrInjection,
            b"service_tier_change" => Self::ServiceTierChange,
            b"mcp_tool_selection" => Self::McpToolSelection,
            b"context_edit" => Self::ContextEdit,
            b"reset_boundary" => Self::ResetBoundary,
            b"session_info" => Self::SessionInfo,
            b"session_init" => Self::SessionInit,
            b"title_change" => Self::TitleChange,
            b"usage" => Self::Usage,
            b"model_usage" => Self::ModelUsage,
            b"credential_pin" => Self::CredentialPin,
            b"session" => Self::Header,
            b"title" => Self::Title,
            _ => Self::Unknown,
        }
    }

    /// Gives the name that files use for it; `None` if only the file tells.
    pub fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::Message => "message",
            Self::CustomMessage => "custom_message",
            Self::BranchSummary => "branch_summary",
            Self::Compaction => "compaction",
            Self::Custom => "custom",
            Self::Label => "label",
            Self::ThinkingLevelChange => "thinking_level_change",
            Self::ModelChange => "model_change",
            Self::ModeChange => "mode_change",
            Self::TtsrInjection => "ttsr_injection",
            Self::ServiceTierChange => "service_tier_change",
            Self::McpToolSelection => "mcp_tool_selection",
            Self::ContextEdit => "context_edit",
            Self::ResetBoundary => "reset_boundary",
            Self::SessionInfo => "session_info",
            Self::SessionInit => "session_init",
            Self::TitleChange => "title_change",
            Self::Usage => "usage",
            Self::ModelUsage => "model_usage",
            Self::CredentialPin => "credential_pin",
            Self::Header => "session",
            Self::Title => "title",
            Self::Unknown | Self::Untyped => return None,
        })
    }

    /// Tells whether it is one of the entry types that agents write.
    pub fn is_entry_type(self) -> bool {
        !matches!(self, Self::Header | Self::Title | Self::Unknown | Self::Untyped)
    }

    /// Tells whether it carries part of the conversation.
    pub fn is_conversation(self) -> bool {
        matches!(self, Self::Message | Self::CustomMessage | Self::BranchSummary | Self::Compaction)
    }
}

/// Who speaks in a message (format: "Agent messages").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// `user`
    User,
    /// `developer`
    Developer,
    /// `assistant`
    Assistant,
    /// `toolResult`
    ToolResult,
    /// `bashExecution`
    BashExecution,
    /// `pythonExecution`
    PythonExecution,
    /// `custom`
    Custom,
    /// `hookMessage`: what version 3 calls `custom`.
    HookMessage,
    /// `fileMention`
    FileMention,
    /// `system`
    System,
    /// `branchSummary`: made by agents in memory, not meant to be stored.
    BranchSummary,
    /// `compactionSummary`: made by agents in memory, not meant to be stored.
    CompactionSummary,
    /// A role that this program does not know.
    Unknown,
    /// No message, or one without a role.
    #[default]
    None,
}

impl Role {
    pub(super) fn of(name: &[u8]) -> Self {
        match name {
            b"user" => Self::User,
            b"developer" => Self::Developer,
            b"assistant" => Self::Assistant,
            b"toolResult" => Self::ToolResult,
            b"bashExecution" => Self::BashExecution,
            b"pythonExecution" => Self::PythonExecution,
            b"custom" => Self::Custom,
            b"hookMessage" => Self::HookMessage,
            b"fileMention" => Self::FileMention,
            b"system" => Self::System,
            b"branchSummary" => Self::BranchSummary,
            b"compactionSummary" => Self::CompactionSummary,
            _ => Self::Unknown,
        }
    }

    /// Gives the name that files use for it; `None` where there is no one name.
    pub fn name(self) -> Option<&'static str> {
        Some(match self {
            Self::User => "user",
            Self::Developer => "developer",
            Self::Assistant => "assistant",
            Self::ToolResult => "toolResult",
            Self::BashExecution => "bashExecution",
            Self::PythonExecution => "pythonExecution",
            Self::Custom => "custom",
            Self::HookMessage => "hookMessage",
            Self::FileMention => "fileMention",
            Self::System => "system",
            Self::BranchSummary => "branchSummary",
            Self::CompactionSummary => "compactionSummary",
            Self::Unknown | Self::None => return None,
        })
    }

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
