//! Session files of coding agents, read and changed as the trees they are.
//!
//! # The map
//!
//! Data flows one way, and a file may only import from what stands to its left or below:
//!
//! ```text
//! bytes ─► lines ─► entries ─► session ─► tree · context · naming ─► edit ─► disk
//!                                              └────────────► ui (stdout)
//! ```
//!
//! | where | what it holds |
//! |---|---|
//! | [`cli`] | the definition of the command line; it hands `clap::Command` to what needs it |
//! | [`cmd`] | one file a subcommand: its arguments, a few calls into core, one into ui |
//! | [`ui`] | text, tables, JSON and pictures of what core found; it decides nothing about sessions |
//! | [`hooks`], [`run`] | what hooks get and what their answers mean; child processes |
//! | [`core`] | the rules of session files, in rooms; it never prints and knows neither environment nor clock |
//! | [`parallel`] | the one worker pool |
//! | `help/*.md` | the pages of `session-tree help`: the specification of what is built |
//!
//! The rooms of core, from the top down; a room imports only from those below it (`tests/suite/layout.rs`
//! holds the order, and forbids circles):
//!
//! | room | what it holds |
//! |---|---|
//! | [`core::check`] | findings, their effects and fixes |
//! | [`core::edit`] | drafts, label, navigate, branch, and bringing them into a file |
//! | [`core::store`] | many sessions: rows by the ends of files, families of forks, sums, which are searched |
//! | [`core::context`] | what a model sees: state, messages, agents' rules, requests of providers, sizes, usage, comparison, the summary's prompt |
//! | [`core::naming`] | which entry an ENTRY is, which file a SESSION is, which agent keeps it, what completion offers |
//! | [`core::tree`] | what is shown, and where: walks, filters, shapes, rows, the view |
//! | [`core::session`] | the index: ids, parents, children, leaf, labels; bodies read again |
//! | [`core::migrate`] | old versions brought to 3: ids, lines, whole files |
//! | [`core::disk`] | locks, who holds a file, rights, and the only code that changes files |
//! | [`core::search`] | words, phrases and patterns in text |
//! | [`core::read`] | sources, lines, loading in blocks, what is odd on the way |
//! | [`core::entry`] | one line: kind, role, places of its members, the words of a row, the header |
//! | [`core::time`] | stored and typed times |
//! | [`core::json`] | the validating parser, lenient strings, writing an object |
//! | [`core::error`] | why an operation cannot be done; in [`core::error::problem`], bad input that can be lived with |
//! | [`core::words`] | numbers of things, quoting for shells, and lists of names with their meanings |
//!
//! # Invariants
//!
//! Each has a test: imports go one way; nothing recurses over session data; bad input is a
//! [`core::error::problem::Problem`], an error means that the operation cannot be done; nothing from a file reaches
//! a terminal unescaped; only `ui` prints; only [`core::disk`] changes files, and what was not written here is
//! copied, not written anew; threads are started only in [`parallel`] and [`run`].
//!
//! # Rules
//!
//! Where a rule is told, where it is kept, and a test that fails when it is broken. A rule is cited by the
//! page and the heading of `session-tree help`, here and in every comment; the pages are the Markdown files
//! in `src/help`. `tests/suite/docs/map.rs` finds each page, heading, file and test:
//!
//! | rule | file | test |
//! |---|---|---|
//! | only LF ends a line, of any length (help rules, "Reading", 1) | `core/read/line.rs` | `lines_do_not_depend_on_the_size_of_blocks` |
//! | which line is the header, and its version (help rules, "Reading", 3) | `core/entry/header.rs` | `versions_are_read_leniently` |
//! | an unfinished last line is skipped and named (help rules, "Reading", 2) | `core/read/warning.rs` | `c01_unfinished_last_line_is_named_with_its_byte` |
//! | which entry is the leaf, what the labels are (help rules, "Leaf") | `core/session/build.rs` | `leaves_and_labels_are_those_of_the_agents` |
//! | where entries hang in a file that stores moves of the leaf (help rules, "Stored moves of the leaf") | `core/session/place.rs` | `entries_hang_where_the_writer_of_the_marks_hangs_them` |
//! | a cycle is cut, an orphan is a root (help rules, "Tree") | `core/session/link.rs` | `c23_a_cycle_is_cut_at_its_first_entry` |
//! | which entries a filter shows (help rules, "Views") | `core/tree/filter.rs` | `filters_show_documented_entries` |
//! | what a view shows (help rules, "Views") | `core/tree/view.rs` | `a_view_shows_what_passes_all_of_it` |
//! | which tips there are, and where they fork (help rules, "Views") | `core/tree/tips.rs` | `tips_are_those_of_the_whole_tree_and_count_from_the_fork` |
//! | what the tips of a tree come to (help json, "`tree --tips`") | `core/tree/tips.rs` | `totals_of_tips_are_their_own_and_those_of_the_whole_path` |
//! | what is new in a file that is followed (help rules, "Following") | `core/tree/follow.rs` | `each_look_finds_what_is_new_and_nothing_twice` |
//! | which of several sessions are shown (help rules, "Views") | `cmd/tree/many.rs` | `search_shows_sessions_with_a_hit_only` |
//! | the words of a row (help rules, "Rows") | `core/entry/preview.rs` | `rows_are_those_of_the_agents` |
//! | which entry an ENTRY is (help naming, "Entries") | `core/naming/entry.rs` | `every_form_of_a_name_finds_its_entry` |
//! | which file a SESSION is (help naming, "Sessions") | `core/naming/session/find.rs` | `an_id_or_its_start_names_a_session` |
//! | what a list says of a session (help naming, "Lists") | `core/store/row.rs` | `a_long_session_is_known_by_its_ends` |
//! | which session is a fork of which (help naming, "Families") | `core/store/family.rs` | `parents_are_found_by_path_by_id_and_by_folder` |
//! | what several sessions share counts once (help naming, "Families") | `core/store/totals.rs` | `an_entry_counts_once_in_the_first_session_that_has_it` |
//! | what a search finds (help rules, "Search") | `core/search/mod.rs` | `a_search_finds_what_the_agents_find` |
//! | what is a phrase, what a pattern (help rules, "Search") | `core/search/term.rs` | `words_in_quotes_are_one_phrase` |
//! | which messages a context has (help rules, "Context") | `core/context/builder.rs` | `the_last_compaction_counts_and_keeps_from_its_entry_on` |
//! | which setting is in force (help rules, "Context") | `core/context/settings.rs` | `each_setting_is_that_of_the_last_entry_that_sets_it` |
//! | what one agent holds (help rules, "What an agent holds") | `core/context/omp/mod.rs` | `what_agents_hold_is_what_they_were_seen_to_hold` |
//! | what an agent sends (help rules, "What an agent sends") | `core/context/sent/write.rs` | `what_agents_send_is_what_they_were_seen_to_send` |
//! | the id of a call in a request (help rules, "Requests") | `core/context/sent/ids.rs` | `ids_are_spelled_as_each_api_takes_them` |
//! | the form of a request (help rules, "Requests") | `core/context/forms/request.rs` | `request_for_anthropic_keeps_the_published_rules` |
//! | where a move goes and what it leaves (help rules, "Navigating") | `core/edit/navigate/plan.rs` | `a_move_leaves_what_only_the_old_path_has` |
//! | which summary wins (help rules, "Summaries") | `core/edit/navigate/request.rs` | `the_given_summary_wins_then_a_hook_s_then_the_summarizer_s` |
//! | what a fork copies (help rules, "Branching") | `core/edit/branch.rs` | `a_fork_keeps_the_path_before_a_prompt_or_up_to_an_entry` |
//! | what a copy of a tree leaves out and where it stands (help rules, "Copying a tree") | `core/edit/tree_copy.rs` | `a_copy_without_some_entries_has_all_others_as_they_were` |
//! | what is replaced in a session for others (help rules, "Stand-ins") | `core/edit/stand_in/rules.rs` | `no_secret_survives_in_any_member_and_encoding` |
//! | what a label may be (help rules, "Labels") | `core/edit/label.rs` | `a_label_is_one_line_without_control_characters` |
//! | what new entries hang at when others wrote meanwhile (help writing, "Appends") | `core/edit/commit.rs` | `entries_get_their_parent_or_are_refused_after_changes_by_others` |
//! | what a migration changes in a line (help rules, "Migration") | `core/migrate/lines.rs` | `old_versions_show_as_the_agents_migrate_them` |
//! | which files a migration takes, and their backups (help writing, "Backups") | `core/migrate/file.rs` | `an_old_file_is_replaced_and_its_backup_has_its_bytes` |
//! | who holds a lock (help writing, "Locks") | `core/disk/lock.rs` | `held_lock_excludes_others_and_has_format_of_agents` |
//! | an unfinished last line is closed before an append (help writing, "Appends") | `core/disk/write.rs` | `unfinished_last_line_is_closed_after_one_second` |
//! | a change is whole or not there (help writing, "Whole files") | `core/disk/write.rs` | `program_that_opens_the_file_while_its_new_form_is_written_is_seen` |
//! | rights are kept or dropped (help writing, "Rights") | `core/disk/rights.rs` | `rights_of_a_group_do_not_reach_another_group` |
//! | what a hook may answer (help hooks, "Answers") | `hooks.rs` | `answer_that_is_not_one_object_fails` |
//! | the keys of all JSON (help json, "Rules") | `ui/json.rs` | `everything_that_is_printed_has_the_shapes_of_the_page` |
//! | what is whole on a damaged line (help checks, "Fixes") | `core/read/pieces.rs` | `a_line_is_cut_into_records_fragments_and_nul_bytes` |
//! | what is mended, and that it is mended once (help checks, "Fixes") | `core/check/mend/mod.rs` | `damaged_files_are_mended_to_what_they_were_less_what_was_destroyed` |
//! | a backup of a fix replaces none (help writing, "Backups") | `core/check/mend/file.rs` | `a_backup_never_replaces_another_one` |
//! | which findings count (help checks, "Findings") | `core/check/policy.rs` | `findings_count_as_the_policy_says` |
//!
//! # Words
//!
//! | word | meaning |
//! |---|---|
//! | session | a file of one JSON object a line in which an agent keeps a conversation |
//! | line | the bytes up to a LF; numbered from 1 |
//! | header | the first line that counts: type `session`, id, version, working folder |
//! | title slot | a line of omp before the header that is kept at one size, so that the title can be changed in place |
//! | entry | a line with an id: a message, a setting, a label, a summary |
//! | kind, role | the type of an entry; who a message is from |
//! | traits | what decides whether an entry is shown: kind, role and a few more |
//! | body | the text of an entry's line, read again when it is needed |
//! | parent, children, root | how entries hang together by `parentId`; a root has no parent in the file |
//! | leaf | the entry where the conversation stands now; the next one hangs at it |
//! | path | the entries from a root to an entry; the active path ends at the leaf |
//! | branch | a path below a fork; its end is a tip |
//! | label | a name that an entry has for people; set and cleared by entries of their own |
//! | mark | a `leaf` entry of openclaw: it only says that the leaf moved, and is nobody's child or parent |
//! | family | sessions that are forks of each other, or of one session |
//! | compaction | an entry that stands for the messages before it, which the model no longer sees |
//! | branch summary | an entry that says what was left behind by a move |
//! | context | the messages and settings that a model would get at a leaf |
//! | orphan | an entry whose parent is not in the file |
//! | foreign line | a line without an id, of another program |
//! | unfinished line | a last line that is cut short: a crash, or a writer still at work |
//! | problem, finding | what is odd in a file, told while reading; the same as `check` reports it, with its cost and fix |
//! | draft, commit | entries on their way into a file; bringing them there under its lock |
//! | anchor, guard | what new entries hang at; what must not have happened meanwhile |
//! | stand-in | what a word or a number becomes in a session that is shown to others |
//! | record | the file `.NAME.lock` by which programs say that they hold a session |
//! | not synced | written, but perhaps not on the disk |

pub mod cli;
pub mod cmd;
pub mod core;
pub mod hooks;
pub mod parallel;
#[cfg(test)]
pub(crate) mod random;
pub mod run;
pub mod ui;
