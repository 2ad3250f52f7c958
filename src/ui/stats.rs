//! What fills a context (`context --stats`): a table for people, one object for programs. All numbers come
//! from [`crate::core::context::stats`].

use serde::Serialize;

use super::context::{self, NamedFact};
use super::escape;
use super::fit;
use super::list::{Column, Listing};
use super::screen::Screen;
use crate::core::context::stats::{MessageGroup, Stats};
use crate::core::context::usage::{Amounts, whole};
use crate::core::naming::short::short_ids;
use crate::core::session::Session;
use crate::core::store::totals::EntryCounts;
use crate::core::tree::walk;
use crate::core::words::counted;

/// Returns what is measured, and its size.
pub(super) fn facts(session: &Session, part: MeasuredPart<'_>, stats: &Stats) -> Vec<NamedFact> {
    let first = match part {
        MeasuredPart::Path(leaf) => ("leaf", leaf.unwrap_or("none (before the first entry)").to_owned()),
        MeasuredPart::AllBranches => ("branches", format!("all {}", walk::tips(session).len())),
    };
    let mut facts = vec![first, ("messages", format!("{}, about {} tokens", stats.all.messages, stats.all.tokens))];
    if let Some(request) = stats.request {
        let tokens = counted(whole(request.tokens), "token", "tokens");
        facts.push(("last sent", format!("{tokens}, as {} records", session.id(request.node))));
    }
    if let Some(compaction) = stats.compaction {
        let before = compaction.tokens_before.map(|tokens| format!(", at {tokens} tokens")).unwrap_or_default();
        facts.push(("compacted", format!("by {}{before}", session.id(compaction.node))));
        facts.push(("hidden", context::size(compaction.hidden)));
    }
    facts
}

/// Draws what fills a context, and the usage along its path.
pub(crate) fn text(session: &Session, part: MeasuredPart<'_>, stats: &Stats, screen: &Screen) -> String {
    let mut out = context::rows(screen, &facts(session, part, stats));
    if !stats.parts.is_empty() {
        out.push('\n');
        out.push_str(&table(stats, screen));
    }
    out.push('\n');
    out + &context::rows(screen, &usage(stats, part))
}

/// What of a session is measured.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MeasuredPart<'a> {
    /// The context and the path to the leaf with this id.
    Path(Option<&'a str>),
    /// All branches.
    AllBranches,
}

/// The statistics of one of several sessions in a line.
#[derive(Debug)]
pub(crate) struct StatsLine([String; 6]);

impl StatsLine {
    /// Makes the line of a session by its title.
    pub(crate) fn new(session: &Session, title: &str, stats: &Stats, screen: &Screen) -> Self {
        let title = if title.is_empty() { "(no name)".to_owned() } else { screen.tilde(title) };
        let (used, cost) = amounts(&stats.usage.all);
        let size = [stats.all.messages.to_string(), stats.all.tokens.to_string()];
        let [messages, tokens] = size;
        Self([session.header.id.clone(), messages, tokens, used, cost, escape::line(&title).into_owned()])
    }
}

/// Returns the tokens that were used, and the cost.
fn amounts(usage: &Amounts) -> (String, String) {
    (whole(usage.total_tokens).to_string(), format!("${:.4}", usage.cost))
}

/// Draws the lines of several sessions, and what they used together.
pub(crate) fn lines(lines: Vec<StatsLine>, sum: &EntryCounts, screen: &Screen) -> String {
    let (used, cost) = amounts(&sum.usage);
    let words = format!("{}, shared entries counted once", counted(lines.len(), "session", "sessions"));
    let ids = short_ids(&lines.iter().map(|StatsLine([id, ..])| &**id).collect::<Vec<_>>());
    let mut rows: Vec<_> = lines.into_iter().map(|StatsLine(cells)| cells.to_vec()).collect();
    rows.iter_mut().zip(ids).for_each(|(row, id)| row[0] = escape::line(&id).into_owned());
    rows.push(vec!["sum".to_owned(), String::new(), String::new(), used, cost, words]);
    let widest = |at: usize| rows.iter().map(|row| fit::width(&row[at])).max().unwrap_or(0);
    let columns = [
        Column::Whole("id", widest(0)),
        Column::Number("messages", widest(1)),
        Column::Number("tokens", widest(2)),
        Column::Number("used", widest(3)),
        Column::Number("cost", widest(4)),
        Column::Text("title", 0),
    ];
    let mut listing = Listing::new(&columns, screen);
    listing.rows(rows) + &listing.foot()
}

/// The headings of the groups of messages. Names come last, since numbers must not be cut.
pub(super) const GROUP: [&str; 4] = ["tokens", "share", "messages", "what"];

/// Returns the groups of messages, with a cell for each of [`GROUP`].
pub(super) fn groups(stats: &Stats) -> Vec<Vec<String>> {
    let share = |part: &MessageGroup| format!("{:.1}%", part.size.share(stats.all));
    let name = |part: &MessageGroup| match &part.name {
        Some(name) => format!("{} {name}", part.role),
        None => part.role.to_owned(),
    };
    let row = |part: &MessageGroup| {
        vec![part.size.tokens.to_string(), share(part), part.size.messages.to_string(), name(part)]
    };
    stats.parts.iter().map(row).collect()
}

fn table(stats: &Stats, screen: &Screen) -> String {
    let rows = groups(stats);
    let number = |at: usize| Column::Number(GROUP[at], rows.iter().map(|row| row[at].len()).max().unwrap_or(0));
    let columns = [number(0), number(1), number(2), Column::Text(GROUP[3], 0)];
    let mut listing = Listing::new(&columns, screen);
    listing.rows(rows) + &listing.foot()
}

/// Returns what was used.
pub(super) fn usage(stats: &Stats, part: MeasuredPart<'_>) -> Vec<NamedFact> {
    let usage = &stats.usage;
    let place = match part {
        MeasuredPart::Path(_) => "on this path",
        MeasuredPart::AllBranches => "in all branches",
    };
    if usage.sources.is_empty() {
        return vec![("usage", format!("nothing is recorded {place}"))];
    }
    let sources = usage.sources.iter().map(|source| format!("{} ({})", source.name, source.entries));
    let Amounts { input, output, cache_read, cache_write, total_tokens, cost } = usage.all;
    let mut facts = vec![
        ("usage", format!("recorded {place} by {}", sources.collect::<Vec<_>>().join(", "))),
        ("input", format!("{} tokens", whole(input))),
        ("output", format!("{} tokens", whole(output))),
        ("cache read", format!("{} tokens", whole(cache_read))),
        ("cache write", format!("{} tokens", whole(cache_write))),
        ("total", format!("{} tokens", whole(total_tokens))),
        ("cost", format!("${cost:.4}")),
    ];
    if usage.odd > 0 {
        facts.push(("left out", counted(usage.odd, "impossible amount", "impossible amounts")));
    }
    facts
}

/// The JSON of `context --stats --json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StatsRow<'a> {
    leaf_id: Option<&'a str>,
    messages: usize,
    tokens: u64,
    parts: Vec<PartRow<'a>>,
    usage: UsageRow<'a>,
    last_request: Option<RequestRow<'a>>,
    compaction: Option<CompactionRow<'a>>,
}

#[derive(Debug, Serialize)]
struct RequestRow<'a> {
    id: &'a str,
    tokens: u64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct PartRow<'a> {
    role: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    custom_type: Option<&'a str>,
    messages: usize,
    tokens: u64,
    share: f64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct UsageRow<'a> {
    #[serde(flatten)]
    all: AmountsRow,
    assistant_messages: usize,
    sources: Vec<SourceRow<'a>>,
    left_out: usize,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct SourceRow<'a> {
    source: &'a str,
    entries: usize,
    #[serde(flatten)]
    amounts: AmountsRow,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AmountsRow {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
    total_tokens: u64,
    cost: f64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CompactionRow<'a> {
    id: &'a str,
    hidden_messages: usize,
    hidden_tokens: u64,
    tokens_before: Option<u64>,
}

impl<'a> StatsRow<'a> {
    /// Makes the object of measured statistics.
    pub(crate) fn new(session: &'a Session, measured: MeasuredPart<'a>, stats: &'a Stats) -> Self {
        let part = |part: &'a MessageGroup| {
            let (is_result, name) = (part.role == "toolResult", part.name.as_deref());
            PartRow {
                role: part.role,
                tool: name.filter(|_| is_result),
                custom_type: name.filter(|_| !is_result),
                messages: part.size.messages,
                tokens: part.size.tokens,
                share: part.size.share(stats.all),
            }
        };
        let usage = &stats.usage;
        let sources = usage.sources.iter().map(|source| SourceRow {
            source: source.name,
            entries: source.entries,
            amounts: source.amounts.into(),
        });
        let assistant = usage.sources.iter().find(|source| source.name == "assistant");
        let compaction = stats.compaction.map(|compaction| CompactionRow {
            id: session.id(compaction.node),
            hidden_messages: compaction.hidden.messages,
            hidden_tokens: compaction.hidden.tokens,
            tokens_before: compaction.tokens_before,
        });
        Self {
            leaf_id: match measured {
                MeasuredPart::Path(leaf) => leaf,
                MeasuredPart::AllBranches => None,
            },
            messages: stats.all.messages,
            tokens: stats.all.tokens,
            parts: stats.parts.iter().map(part).collect(),
            usage: UsageRow {
                all: usage.all.into(),
                assistant_messages: assistant.map_or(0, |source| source.entries),
                sources: sources.collect(),
                left_out: usage.odd,
            },
            last_request: stats
                .request
                .map(|request| RequestRow { id: session.id(request.node), tokens: whole(request.tokens) }),
            compaction,
        }
    }
}

impl From<Amounts> for AmountsRow {
    fn from(amounts: Amounts) -> Self {
        let Amounts { cost, .. } = amounts;
        let [input, output, cache_read, cache_write, total_tokens] =
            [amounts.input, amounts.output, amounts.cache_read, amounts.cache_write, amounts.total_tokens].map(whole);
        Self { input, output, cache_read, cache_write, total_tokens, cost }
    }
}
