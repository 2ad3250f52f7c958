//! What stays and what is replaced, by where a member stands. What is in no list here is replaced: the name, and
//! all that it holds.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::core::entry::{Kind, Role, SKILL};

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Within {
    /// A line that is no header.
    Entry,
    /// A record on a damaged line, which is no entry.
    Record,
    /// A header.
    Header,
    /// A message, or what an entry has in its place.
    Message,
    /// A block of content.
    Block,
    /// A block that is an image.
    Image,
    /// Numbers of tokens, or what they cost.
    Usage,
    /// Details of a tool's result, and what is noted there of each subagent.
    Details,
    /// A file that was named.
    File,
    /// The definition of a tool.
    Tool,
    /// Sections by their names, and what else is not known.
    Unknown,
}

/// What becomes of a value. A list has the rule of its elements; a value of a kind that the rule is not for is
/// replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// Text is replaced word by word, other values inside as in [`Within::Unknown`].
    Replace,
    /// The id of the entry itself, which stays.
    OwnId,
    /// The id of another entry stays; one that no entry has is replaced.
    Id,
    /// Text of a closed list stays.
    OneOf(&'static [&'static str]),
    /// A type or a role that is known stays.
    Kind,
    Role,
    /// The name of a model, provider or API stays.
    Model,
    /// The name of a tool that agents have stays.
    Tool,
    /// A time stays.
    Time,
    /// A number stays.
    Number,
    /// The data of an image becomes an image of one pixel.
    Pixel,
    /// An object, or a list of them, with rules of its own; text is replaced.
    Inside(Within),
}

/// Types of extensions whose entries have a meaning in the rules of this program or of the agents.
const CUSTOM: Rule =
    Rule::OneOf(&[SKILL, "experimental_context_notes", "prewalk-plan", "vibe-mode-context", "session-tree/leaf"]);
const LEVELS: Rule =
    Rule::OneOf(&["off", "none", "minimal", "low", "medium", "high", "xhigh", "max", "auto", "inherit"]);
const STOPS: Rule = Rule::OneOf(&["stop", "length", "toolUse", "error", "aborted", "deferred"]);
const BLOCKS: Rule = Rule::OneOf(&[
    "text",
    "image",
    "thinking",
    "redactedThinking",
    "toolCall",
    "tool_use",
    "tool_result",
    "input_text",
]);
const IMAGES: Rule = Rule::OneOf(&["image/png", "image/jpeg", "image/gif", "image/webp"]);
const MODEL_ROLES: Rule = Rule::OneOf(&["default", "smol", "slow", "plan", "commit", "vision", "task", "temporary"]);
const MODES: Rule = Rule::OneOf(&["none", "plan", "plan_paused", "vibe", "goal", "loop"]);
const TIERS: Rule = Rule::OneOf(&["none", "auto", "default", "flex", "priority", "scale", "fast"]);

/// Tools that pi, omp and openclaw have.
static TOOLS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "\
    apply_patch ask ast_edit ast_grep bash browser calc checkpoint computer debug edit eval exec \
     exit_plan_mode fetch find generate_image github glob goal grep inspect_image job ls lsp \
     notebook patch poll process python read recall reflect render_mermaid report_finding resolve retain \
     rewind search ssh submit_result task todo todo_write vim web_fetch web_search write yield"
        .split(' ')
        .collect()
});

/// Names that stay wherever they stand: those of `session-tree help format`, and arguments that rows show.
static NAMES: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    "\
    additionalDirectories advisor agent anthropicCompaction api appendMode appendParentId args arguments \
     artifactId attribution blocks branchedFrom cacheRead cacheWrite cancelled chars code cols command \
     configured configuredThinkingLevel content cost customType cwd data description details display entryId \
     errorMessage excludeFromContext exitCode file_path files firstKeptEntryId firstKeptEntryIndex frames \
     fromExtension fromHook fromId fullOutputPath hash id image images injectedRules input instructions \
     isError isolated label limit maxBytes message meta method mimeType mode model modelId modelRole name \
     nextOffset offset openaiRemoteCompaction output outputLines outputSchema outputSchemaMode pad parameters \
     parentId parentSession path paths pattern phase premiumRequests preserveData previousSessionFiles \
     previousTitle prompt provider providerPayload providerReplayThroughEntryId query readOnly readSummarize \
     reasoning redacted replacement replacementHistory resolvedModel responseId responseModel \
     restrictToolNames results retainedTail retryRecovery role rows sections selectedToolNames serviceTier \
     shortSummary shownRange signature snapcompact source spawns stopReason summary systemMessage \
     systemPrompt targetId task tasks text textHead textSignature textTail thinking thinkingLevel \
     thinkingSignature thoughtSignature timestamp title titleSource tokensBefore toolCallId toolName tools \
     toolsAdded toolsRemoved total totalLines totalTokens truncated truncatedBy truncation type updatedAt url \
     usage userContent v version warning"
        .split(' ')
        .collect()
});

/// Returns whether the name of a member stays.
pub(super) fn is_known_name(name: &str) -> bool {
    NAMES.contains(name)
}

/// Returns what becomes of the value of a member.
pub(super) fn rule(place: Within, name: &str) -> Rule {
    match place {
        // So that others that name it name the same.
        Within::Record if name == "id" => Rule::Id,
        Within::Entry | Within::Record => match name {
            "type" => Rule::Kind,
            "id" => Rule::OwnId,
            "parentId"
            | "targetId"
            | "fromId"
            | "firstKeptEntryId"
            | "providerReplayThroughEntryId"
            | "appendParentId" => Rule::Id,
            "timestamp" => Rule::Time,
            "firstKeptEntryIndex" | "tokensBefore" => Rule::Number,
            "message" | "systemMessage" => Rule::Inside(Within::Message),
            "content" => Rule::Inside(Within::Block),
            // It holds the content of a message.
            "replacement" => Rule::Inside(Within::Message),
            "usage" => Rule::Inside(Within::Usage),
            "tools" => Rule::Inside(Within::Tool),
            "model" | "provider" | "modelId" => Rule::Model,
            "role" => MODEL_ROLES,
            "thinkingLevel" | "configured" => LEVELS,
            "mode" => MODES,
            "serviceTier" => TIERS,
            "source" => Rule::OneOf(&["auto", "user"]),
            "attribution" => Rule::OneOf(&["user", "agent"]),
            "appendMode" => Rule::OneOf(&["side"]),
            "customType" => CUSTOM,
            "selectedToolNames" => Rule::Tool,
            _ => Rule::Replace,
        },
        Within::Header => match name {
            "type" => Rule::Kind,
            "timestamp" | "updatedAt" => Rule::Time,
            "version" | "v" => Rule::Number,
            "source" | "titleSource" => Rule::OneOf(&["auto", "user"]),
            "provider" | "modelId" => Rule::Model,
            "thinkingLevel" => LEVELS,
            _ => Rule::Replace,
        },
        Within::Message => match name {
            "role" => Rule::Role,
            "timestamp" => Rule::Time,
            "content" => Rule::Inside(Within::Block),
            "usage" => Rule::Inside(Within::Usage),
            "files" => Rule::Inside(Within::File),
            "toolsAdded" => Rule::Inside(Within::Tool),
            "api" | "provider" | "model" | "responseModel" => Rule::Model,
            "stopReason" => STOPS,
            "toolName" | "toolsRemoved" => Rule::Tool,
            "customType" => CUSTOM,
            "attribution" => Rule::OneOf(&["user", "agent"]),
            "fromId" => Rule::Id,
            "exitCode" | "tokensBefore" => Rule::Number,
            "details" => Rule::Inside(Within::Details),
            _ => Rule::Replace,
        },
        Within::Details => match name {
            "usage" => Rule::Inside(Within::Usage),
            "results" => Rule::Inside(Within::Details),
            _ => Rule::Replace,
        },
        Within::Block | Within::Image => match name {
            "type" => BLOCKS,
            "mimeType" => IMAGES,
            "name" => Rule::Tool,
            "data" if place == Within::Image => Rule::Pixel,
            _ => Rule::Replace,
        },
        Within::Usage => match name {
            "input" | "output" | "cacheRead" | "cacheWrite" | "total" | "totalTokens" | "reasoning"
            | "premiumRequests" => Rule::Number,
            "cost" => Rule::Inside(Within::Usage),
            _ => Rule::Replace,
        },
        Within::File => match name {
            "image" => Rule::Inside(Within::Block),
            _ => Rule::Replace,
        },
        Within::Tool => match name {
            "name" => Rule::Tool,
            _ => Rule::Replace,
        },
        Within::Unknown => Rule::Replace,
    }
}

impl Rule {
    /// Returns whether this text stays. `has` answers whether an entry of the session has this id.
    pub(super) fn keeps(self, text: &str, has: impl Fn(&str) -> bool) -> bool {
        match self {
            Self::OwnId => true,
            Self::Id => text == "root" || has(text),
            Self::OneOf(list) => list.contains(&text),
            Self::Kind => Kind::is_name(text),
            Self::Role => Role::is_name(text),
            Self::Model => is_made_of(text, |byte| byte.is_ascii_alphanumeric() || b"._:/@+-".contains(&byte)),
            Self::Tool => TOOLS.contains(text),
            Self::Time => is_made_of(text, |byte| byte.is_ascii_digit() || b"TZ:+-. ".contains(&byte)),
            Self::Replace | Self::Number | Self::Pixel | Self::Inside(_) => false,
        }
    }

    /// Returns whether a number stays.
    pub(super) fn keeps_numbers(self) -> bool {
        matches!(self, Self::Number | Self::Time | Self::Inside(Within::Usage))
    }
}

/// Returns whether a text is short and holds nothing but such characters.
fn is_made_of(text: &str, holds: impl Fn(u8) -> bool) -> bool {
    const LONGEST: usize = 80;
    text.len() <= LONGEST && text.bytes().all(holds)
}

#[cfg(test)]
mod tests {
    use super::{Rule, Within, is_known_name, rule};

    /// Returns the words in backticks of a cell.
    fn words(cell: &str) -> impl Iterator<Item = &str> {
        cell.split('`').skip(1).step_by(2)
    }

    #[test]
    fn names_that_the_page_of_the_format_lists_stay() {
        let (mut column, mut seen) = (None, 0);
        for line in include_str!("../../../help/format.md").lines() {
            if !line.starts_with('|') {
                column = None;
                continue;
            }
            let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
            match column {
                None => column = Some(cells.iter().position(|cell| matches!(*cell, "member" | "members"))),
                Some(Some(at)) => {
                    // A value, and a role that has the same members.
                    for name in words(cells[at]).filter(|name| !matches!(*name, "auto" | "bashExecution")) {
                        assert!(is_known_name(name), "{name}");
                        seen += 1;
                    }
                }
                Some(None) => {}
            }
        }
        assert!(seen > 60, "{seen}");
    }

    #[test]
    fn what_stays_depends_on_where_it_stands() {
        for (place, name, text, stays) in [
            (Within::Entry, "type", "message", true),
            (Within::Entry, "type", "mia's own", false),
            (Within::Entry, "id", "anything", true),
            (Within::Record, "id", "no-entry", false),
            (Within::Entry, "parentId", "known", true),
            (Within::Entry, "parentId", "other", false),
            (Within::Entry, "timestamp", "2026-01-05T10:00:00.000Z", true),
            (Within::Entry, "timestamp", "call 555", false),
            (Within::Entry, "label", "message", false),
            (Within::Entry, "customType", "skill-prompt", true),
            (Within::Entry, "customType", "mias-own", false),
            (Within::Header, "id", "anything", false),
            (Within::Message, "role", "user", true),
            (Within::Message, "role", "mia", false),
            (Within::Message, "model", "claude-sonnet-4-5", true),
            (Within::Message, "model", "the model of Mia", false),
            (Within::Message, "toolName", "bash", true),
            (Within::Message, "toolName", "mcp__mia", false),
            (Within::Message, "content", "message", false),
            (Within::Block, "mimeType", "image/png", true),
            (Within::Block, "id", "call_1", false),
            (Within::Unknown, "role", "user", false),
            (Within::Unknown, "model", "claude-sonnet-4-5", false),
        ] {
            assert_eq!(rule(place, name).keeps(text, |id| id == "known"), stays, "{place:?} {name} {text}");
        }
        assert!(rule(Within::Usage, "input").keeps_numbers());
        assert!(rule(Within::Entry, "usage").keeps_numbers() && rule(Within::Usage, "cost").keeps_numbers());
        assert!(!rule(Within::Unknown, "input").keeps_numbers());
        assert_eq!(rule(Within::Image, "data"), Rule::Pixel);
    }
}
