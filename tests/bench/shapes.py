"""Hostile sessions: each shape is a function that gives the lines of a session of about `count` entries (or of one
entry with as many parts). What is slower than in proportion to its bytes is meant to show on at least one of them.

usage: shapes.py SHAPE COUNT     prints the session; without arguments, the names of the shapes
"""

import json
import sys

SHAPES = {}
HEADER = '{"type":"session","version":3,"id":"s","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/w"}'


def shape(function):
    """Adds a function to the shapes, under its name; a header that it gives itself is kept."""
    SHAPES[function.__name__] = function
    return function


def lines(name, count):
    made = SHAPES[name](count)
    first = next(made, "")
    if not first.startswith('{"type":"session"'):
        yield HEADER
    yield first
    yield from made


def name(at):
    """An id of eight digits, named by the first seven of them as well."""
    return f"{at:07x}0"


def stamp(at):
    return f"2026-01-02T{at // 3600 % 24:02}:{at // 60 % 60:02}:{at % 60:02}.{at // 86400 % 1000:03}Z"


def entry(at, parent, kind="message", **members):
    """An entry with a number as its id, and one as its parent; below 0 there is none."""
    parent = name(parent) if isinstance(parent, int) and parent >= 0 else parent if isinstance(parent, str) else None
    ids = {"id": name(at), "parentId": parent, "timestamp": stamp(at)}
    return json.dumps({"type": kind, **ids, **members}, separators=(",", ":"))


def message(at, parent, role, content, **members):
    return entry(at, parent, message={"role": role, "content": content, **members})


def user(at, parent, text=None):
    return message(at, parent, "user", text or f"question {at}")


def answer(at, parent, *blocks, **members):
    blocks = blocks or [{"type": "text", "text": f"answer {at}"}]
    usage = {"input": 10, "output": 5, "cacheRead": 1, "cacheWrite": 1, "totalTokens": 17, "cost": {"total": 0.01}}
    said = {"api": "anthropic-messages", "provider": "anthropic", "model": "m", "usage": usage, "stopReason": "stop"}
    return message(at, parent, "assistant", list(blocks), **{**said, **members})


def call(number, **arguments):
    return {"type": "toolCall", "id": f"c{number}", "name": "read", "arguments": {"path": f"f{number}", **arguments}}


def result(at, parent, number):
    text = [{"type": "text", "text": "ok"}]
    return message(at, parent, "toolResult", text, toolCallId=f"c{number}", toolName="read", isError=False)


def label(at, parent, target, text):
    target = name(target) if isinstance(target, int) else target
    return entry(at, parent, "label", targetId=target, **({} if text is None else {"label": text}))


# Trees.


@shape
def chain(count):
    for at in range(count):
        yield user(at, at - 1)


@shape
def talk(count):
    for at in range(count):
        yield user(at, at - 1) if at % 2 == 0 else answer(at, at - 1)


@shape
def chain_of_unknown(count):
    for at in range(count):
        yield entry(at, at - 1, "custom", customType=f"c{at}")


@shape
def star(count):
    for at in range(count):
        yield user(at, min(at, 1) - 1)


@shape
def star_of_answers(count):
    for at in range(count):
        yield user(at, -1) if at == 0 else answer(at, 0)


@shape
def star_newest_first(count):
    for at in range(count):
        yield user(at, min(at, 1) - 1).replace(stamp(at), stamp(count - at))


@shape
def roots(count):
    for at in range(count):
        yield user(at, -1)


@shape
def comb(count):
    for at in range(count):
        yield user(at, at - (1 if at % 2 else 2))


@shape
def comb_from_its_first_tooth(count):
    for at in range(count - 1):
        yield user(at, at - (1 if at % 2 else 2))
    yield user(count - 1, 1)


@shape
def comb_of_settings(count):
    for at in range(count):
        if at % 2:
            yield entry(at, at - 1, "model_change", provider="p", modelId=f"m{at}")
        else:
            yield user(at, at - 2)


@shape
def binary_tree(count):
    for at in range(count):
        yield user(at, (at - 1) // 2)


@shape
def broom(count):
    for at in range(count):
        yield user(at, min(at, count // 2) - 1)


@shape
def broom_of_settings(count):
    """Long tails of settings at every end: what follows a conversation is walked over."""
    for at in range(count):
        if at < count // 2:
            yield user(at, at - 1)
        else:
            yield entry(at, at - 1, "custom", customType="x")


@shape
def stars_of_tails(count):
    width = max(int(count**0.5), 1)
    for at in range(count):
        if at % width == 1 or at == 0:
            yield user(at, min(at, 1) - 1)
        else:
            yield entry(at, at - 1, "custom", customType="x")


@shape
def branches_as_long_as_many(count):
    width = max(int(count**0.5), 1)
    for at in range(count):
        yield user(at, 0 if at % width == 1 and at > 1 else at - 1)


@shape
def two_chains(count):
    for at in range(count):
        yield user(at, at - 2)


@shape
def random_tree(count):
    seed = 1
    for at in range(count):
        seed = (seed * 1103515245 + 12345) % 2**31
        yield user(at, seed % at if at else -1)


@shape
def children_before_parents(count):
    for at in reversed(range(count)):
        yield user(at, at - 1)


@shape
def one_loop(count):
    for at in range(count):
        yield user(at, (at + 1) % count)


@shape
def loops_of_two(count):
    for at in range(count):
        yield user(at, at ^ 1)


@shape
def own_parents(count):
    for at in range(count):
        yield user(at, at)


@shape
def orphans(count):
    for at in range(count):
        yield user(at, f"gone{at:07}")


@shape
def orphans_of_one(count):
    for at in range(count):
        yield user(at, "gone0000")


@shape
def orphans_with_children(count):
    for at in range(count):
        yield user(at, f"gone{at:07}" if at % 2 == 0 else at - 1)


@shape
def one_id(count):
    for at in range(count):
        yield user(0, -1, f"text {at}")


@shape
def twice_each_id(count):
    for at in range(count):
        yield user(at // 2, at // 2 - 1, f"text {at}")


@shape
def shared_starts_of_ids(count):
    for at in range(count):
        yield user(at, at - 1).replace('"id":"', '"id":"' + "a" * 60).replace('"parentId":"', '"parentId":"' + "a" * 60)


@shape
def ids_that_look_like_names(count):
    for at in range(count):
        yield user(at, at - 1).replace('"id":"', '"id":"label:').replace('"parentId":"', '"parentId":"label:')


@shape
def older_branch_at_the_end(count):
    for at in range(count - 1):
        yield user(at, at - 1)
    yield entry(count - 1, 0, "custom", customType="x")


# Calls and results.


@shape
def calls_of_sibling_results(count):
    yield answer(0, -1, *map(call, range(count)))
    for at in range(count):
        yield result(at + 1, 0, at)


@shape
def calls_of_results_in_a_row(count):
    yield answer(0, -1, *map(call, range(count)))
    for at in range(count):
        yield result(at + 1, at, at)


@shape
def calls_answered_backwards(count):
    yield answer(0, -1, *map(call, range(count)))
    for at in range(count):
        yield result(at + 1, at, count - at - 1)


@shape
def sibling_results_of_other_calls(count):
    yield answer(0, -1, *map(call, range(count)))
    for at in range(count):
        yield result(at + 1, 0, count + at)


@shape
def results_of_no_call(count):
    for at in range(count):
        yield result(at, at - 1, at)


@shape
def calls_and_results(count):
    for at in range(count):
        yield answer(at, at - 1, call(at)) if at % 2 == 0 else result(at, at - 1, at - 1)


@shape
def calls_eight_answers_above(count):
    each = count // 8
    for at in range(8):
        yield answer(at, at - 1, *map(call, range(at * each, at * each + each)))
    for at in range(count):
        yield result(at + 8, 7, at % max(each, 1))


@shape
def calls_of_many_branches_in_turn(count):
    many = 64
    yield user(0, -1)
    for at in range(many):
        yield answer(at + 1, 0, *map(call, range(count // many)))
    for at in range(count):
        yield result(at + many + 1, at % many + 1, at // many)


@shape
def one_large_call_of_sibling_results(count):
    yield answer(0, -1, call(0, text="x" * count * 50))
    for at in range(count):
        yield result(at + 1, 0, 0)


@shape
def one_call_id(count):
    for at in range(count):
        yield answer(at, at - 1, call(0)) if at % 2 == 0 else result(at, at - 1, 0)


@shape
def one_call_answered_often(count):
    yield answer(0, -1, call(0))
    for at in range(1, count):
        yield result(at, at - 1, 0)


@shape
def calls_without_results(count):
    for at in range(count):
        yield answer(at, at - 1, call(at))


@shape
def calls_without_results_in_one(count):
    yield answer(0, -1, *map(call, range(count)))
    yield user(1, 0)


@shape
def calls_asked_twice(count):
    for at in range(2):
        yield answer(at * 2, at * 2 - 1, *map(call, range(count)))
        yield user(at * 2 + 1, at * 2)


@shape
def one_call_often_in_one(count):
    yield answer(0, -1, *(call(0) for _ in range(count)))
    yield result(1, 0, 0)


@shape
def results_before_calls(count):
    for at in range(count):
        yield answer(at, at - 1, call(at)) if at % 2 else result(at, at - 1, at + 1)


@shape
def failed_turns(count):
    for at in range(count):
        if at % 2 == 0:
            yield answer(at, at - 1, call(at), stopReason="error", errorMessage="overloaded")
        else:
            yield result(at, at - 1, at - 1)


@shape
def failed_turns_in_a_row(count):
    for at in range(count):
        yield answer(at, at - 1, stopReason="aborted", errorMessage=f"e{at}")


@shape
def silent_answers(count):
    for at in range(count):
        yield answer(at, at - 1, {"type": "thinking", "thinking": "hm", "thinkingSignature": f"s{at}"})


# Labels and names.


@shape
def labels_of_one(count):
    yield user(0, -1)
    for at in range(1, count):
        yield label(at, at - 1, 0, f"name {at}")


@shape
def labels_of_many(count):
    for at in range(count):
        yield user(at, at - 1) if at % 2 == 0 else label(at, at - 1, at - 1, f"name {at}")


@shape
def one_label_of_many(count):
    for at in range(count):
        yield user(at, at - 1) if at % 2 == 0 else label(at, at - 1, at - 1, "name")


@shape
def labels_of_nothing(count):
    for at in range(count):
        yield label(at, at - 1, f"gone{at}", f"name {at}")


@shape
def labels_set_and_cleared(count):
    yield user(0, -1)
    for at in range(1, count):
        yield label(at, at - 1, at // 2, f"name {at}" if at % 2 else None)


@shape
def labels_of_sibling_results(count):
    many = count // 2
    yield answer(0, -1, *map(call, range(many)))
    for at in range(many):
        yield result(at + 1, 0, at)
    for at in range(many):
        yield label(many + 1 + at, many + at, at + 1, f"name {at}")


@shape
def one_long_label(count):
    yield user(0, -1)
    yield label(1, 0, 0, "x" * count * 9)


@shape
def one_label_of_controls(count):
    yield user(0, -1)
    yield label(1, 0, 0, "\x1b" * count)


@shape
def labels_like_steps(count):
    for at in range(count):
        yield user(at, at - 1) if at % 2 == 0 else label(at, at - 1, at - 1, f"v~{at}")


@shape
def session_names(count):
    for at in range(count):
        yield entry(at, at - 1, "session_info", name=f"name {at}")


@shape
def titles(count):
    for at in range(count):
        yield entry(at, at - 1, "title_change", title=f"t{at}", previousTitle=f"t{at - 1}", source="auto")


# What a context is made of.


@shape
def compactions_that_keep_the_one_before(count):
    for at in range(count):
        if at % 2 == 0:
            yield user(at, at - 1)
        else:
            yield entry(at, at - 1, "compaction", summary="s", firstKeptEntryId=name(at - 1), tokensBefore=9)


@shape
def compactions_that_keep_all(count):
    for at in range(count):
        if at % 2 == 0:
            yield user(at, at - 1)
        else:
            yield entry(at, at - 1, "compaction", summary="s", firstKeptEntryId=name(0), tokensBefore=9)


@shape
def compactions_that_keep_nothing(count):
    for at in range(count):
        if at % 2 == 0:
            yield user(at, at - 1)
        else:
            yield entry(at, at - 1, "compaction", summary="s", firstKeptEntryId="gone", tokensBefore=9)


@shape
def compactions_of_branches(count):
    for at in range(count):
        if at == 0:
            yield user(at, -1)
        else:
            yield entry(at, 0, "compaction", summary="s", firstKeptEntryId=name(0), tokensBefore=9)


@shape
def compactions_with_tails(count):
    tail = [name(0), name(1)]
    for at in range(count):
        if at % 2 == 0:
            yield user(at, at - 1)
        else:
            kept = {"firstKeptEntryId": name(at - 1), "tokensBefore": 9, "retainedTail": tail}
            yield entry(at, at - 1, "compaction", summary="s", **kept)


@shape
def edits_of_the_one_before(count):
    for at in range(count):
        if at % 2 == 0:
            yield user(at, at - 1)
        else:
            yield entry(at, at - 1, "context_edit", targetId=name(at - 1), replacement={"content": "new"})


@shape
def edits_of_one(count):
    yield user(0, -1)
    for at in range(1, count):
        yield entry(at, at - 1, "context_edit", targetId=name(0), replacement={"content": f"new {at}"})


@shape
def edits_of_edits(count):
    yield user(0, -1)
    for at in range(1, count):
        yield entry(at, at - 1, "context_edit", targetId=name(at - 1), replacement={"content": f"new {at}"})


@shape
def summaries_of_branches(count):
    for at in range(count):
        if at % 2 == 0:
            yield user(at, at - 1)
        else:
            yield entry(at, at - 1, "branch_summary", fromId=name(at - 1), summary=f"was {at}")


@shape
def summaries_at_one(count):
    yield user(0, -1)
    for at in range(1, count):
        yield entry(at, 0, "branch_summary", fromId=name(0), summary=f"was {at}")


@shape
def boundaries(count):
    for at in range(count):
        yield user(at, at - 1) if at % 2 == 0 else entry(at, at - 1, "reset_boundary")


@shape
def models(count):
    for at in range(count):
        yield entry(at, at - 1, "model_change", provider=f"p{at}", modelId=f"m{at}")


@shape
def levels_and_modes(count):
    for at in range(count):
        if at % 2 == 0:
            yield entry(at, at - 1, "thinking_level_change", thinkingLevel=f"l{at}")
        else:
            yield entry(at, at - 1, "mode_change", mode=f"m{at}", data={"a": at})


@shape
def injected_rules(count):
    for at in range(count):
        yield entry(at, at - 1, "ttsr_injection", injectedRules=[f"r{at}", "all"])


@shape
def selected_tools(count):
    for at in range(count):
        yield entry(at, at - 1, "mcp_tool_selection", selectedToolNames=[f"t{at}", "all"])


@shape
def custom_messages(count):
    for at in range(count):
        yield entry(at, at - 1, "custom_message", customType=f"c{at}", content=f"text {at}", display=True)


@shape
def commands_run(count):
    for at in range(count):
        run = {"role": "bashExecution", "command": f"ls {at}", "output": "o", "exitCode": 0, "cancelled": False}
        yield entry(at, at - 1, message={**run, "truncated": False, "excludeFromContext": at % 2 == 0})


@shape
def files_mentioned(count):
    for at in range(count):
        yield entry(at, at - 1, message={"role": "fileMention", "files": [{"path": f"f{at}", "content": "x"}]})


@shape
def system_messages(count):
    for at in range(count):
        parts = {"sections": {f"s{at}": "x"}, "toolsAdded": [{"name": f"t{at}"}], "toolsRemoved": [f"t{at - 1}"]}
        yield message(at, at - 1, "system", f"rules {at}", **parts)


@shape
def models_that_answer(count):
    for at in range(count):
        yield answer(at, at - 1, provider=f"p{at}", model=f"m{at}")


@shape
def usages(count):
    for at in range(count):
        yield entry(at, at - 1, "model_usage", provider=f"p{at}", model=f"m{at}", usage={"input": 1, "output": 2})


# Entries of many parts.


@shape
def texts_in_one(count):
    yield message(0, -1, "user", [{"type": "text", "text": f"part {at}"} for at in range(count)])


@shape
def images_in_one(count):
    yield message(0, -1, "user", [{"type": "image", "data": "AAAA", "mimeType": "image/png"} for _ in range(count)])


@shape
def images(count):
    for at in range(count):
        yield message(at, at - 1, "user", [{"type": "image", "data": f"blob:sha256:{at:064x}", "mimeType": "image/png"}])


@shape
def members_in_one(count):
    yield user(0, -1)[:-1] + "," + ",".join(f'"m{at}":{at}' for at in range(count)) + "}"


@shape
def one_member_often(count):
    yield user(0, -1)[:-1] + "," + ",".join(f'"message":{at}' for at in range(count)) + "}"


@shape
def nested(count):
    yield user(0, -1)[:-1] + ',"data":' + "[" * count * 10 + "]" * count * 10 + "}"


@shape
def one_long_text(count):
    yield user(0, -1, "word \n" * count * 10)


@shape
def one_long_text_of_escapes(count):
    yield user(0, -1, '\x1b[31m"\\' * count * 10)


@shape
def one_long_word(count):
    yield user(0, -1, "w" * count * 40)


@shape
def one_letter_of_many_marks(count):
    yield user(0, -1, "a" + "\u0301" * count * 10)


@shape
def one_text_of_backslashes(count):
    yield user(0, -1, "\\" * count * 20)


@shape
def one_text_of_half_pairs(count):
    yield user(0, -1, "\ud83d" * count * 10)


@shape
def one_line_of_blanks(count):
    yield user(0, -1)
    yield " " * count * 100
    yield user(1, 0)


@shape
def one_line_of_zeros(count):
    yield user(0, -1)
    yield "\0" * count * 100 + "}"
    yield user(1, 0)


@shape
def one_line_of_brackets(count):
    yield user(0, -1)
    yield '{"a":' + "[" * count * 50
    yield user(1, 0)


@shape
def paths_in_one_call(count):
    yield answer(0, -1, call(0, **{f"path{at}": f"/tmp/file{at}" for at in range(count)}))
    yield result(1, 0, 0)


@shape
def long_texts_of_escapes(count):
    for at in range(count):
        yield user(at, at - 1, "\x1b[31m\u200d\u202e\ud83d" * 20)


@shape
def tools_in_one(count):
    tools = [{"name": f"t{at}", "description": "d"} for at in range(count)]
    yield entry(0, -1, "session_init", systemPrompt="p", task="t", tools=tools)
    yield user(1, 0)


# Damage.


@shape
def lines_cut_short(count):
    for at in range(count):
        yield user(at, at - 1) if at % 2 else user(at, at - 1)[:60]


@shape
def lines_cut_short_alone(count):
    for at in range(count):
        yield user(at, at - 1)[:60]


@shape
def lines_of_others(count):
    for at in range(count):
        yield user(at, at - 2) if at % 2 == 0 else '{"other":1}'


@shape
def patches(count):
    for at in range(count):
        yield user(at, at - 2) if at % 2 == 0 else '{"type":"entry_patch","targetId":"' + name(at - 1) + '","patch":{}}'


@shape
def pairs_on_a_line(count):
    for at in range(count):
        yield user(at, at - 1) + user(at + count, at)


@shape
def records_on_one_line(count):
    yield user(0, -1)
    yield "".join(user(at, at - 1) for at in range(1, count))
    yield user(count, 0)


@shape
def fragments_on_one_line(count):
    yield user(0, -1)
    yield "".join(user(at, at - 1)[:50] for at in range(1, count))
    yield user(count, 0)


@shape
def openings_on_one_line(count):
    yield user(0, -1)
    yield '{"type":"message","id":' * count
    yield user(1, 0)


@shape
def zeros(count):
    for at in range(count):
        yield user(at, at - 2) if at % 2 == 0 else "\0" * 100


@shape
def zeros_before(count):
    for at in range(count):
        yield "\0" * 50 + user(at, at - 1)


@shape
def headers(count):
    for at in range(count):
        yield user(at, at - 2) if at % 2 == 0 else HEADER


@shape
def blank_lines(count):
    for at in range(count):
        yield user(at, at - 2) if at % 2 == 0 else " \r"


@shape
def odd_times(count):
    for at in range(count):
        yield user(at, at - 1).replace(stamp(at), "soon")


# Stored moves of the leaf.


@shape
def marks_of_the_one_before(count):
    for at in range(count):
        yield user(at, at - 1) if at % 2 == 0 else entry(at, at - 1, "leaf", targetId=name(at - 1))


@shape
def marks_of_one(count):
    yield user(0, -1)
    for at in range(1, count):
        yield entry(at, at - 1, "leaf", targetId=name(0))


@shape
def marks_of_marks(count):
    yield user(0, -1)
    for at in range(1, count):
        yield entry(at, at - 1, "leaf", targetId=name(at - 1))


@shape
def marks_of_nothing(count):
    yield user(0, -1)
    for at in range(1, count):
        yield entry(at, at - 1, "leaf", targetId=f"gone{at}")


@shape
def marks_of_the_start(count):
    for at in range(count):
        yield user(at, at - 1) if at % 2 == 0 else entry(at, at - 1, "leaf", targetId=None)


@shape
def kept_aside(count):
    for at in range(count):
        yield user(at, at - 1)[:-1] + (',"appendMode":"side"}' if at % 2 else "}")


@shape
def resets(count):
    for at in range(count):
        yield user(at, at - 1) if at % 2 == 0 else entry(at, at - 1, "reset", firstKeptEntryId=name(at - 1))


# Old versions.


def old(line):
    """A line of version 1: without ids."""
    made = json.loads(line)
    return json.dumps({key: value for key, value in made.items() if key not in ("id", "parentId")})


@shape
def version_1(count):
    yield HEADER.replace('"version":3,', "")
    for at in range(count):
        yield old(user(at, -1) if at % 2 == 0 else answer(at, -1))


@shape
def version_1_with_compactions(count):
    yield HEADER.replace('"version":3,', "")
    for at in range(count):
        yield old(user(at, -1) if at % 2 else entry(at, -1, "compaction", summary="s", firstKeptEntryIndex=at))


@shape
def version_2(count):
    yield HEADER.replace('"version":3', '"version":2')
    for at in range(count):
        yield user(at, at - 1) if at % 2 else message(at, at - 1, "hookMessage", "x", customType="c", display=True)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print("\n".join(lines(sys.argv[1], int(sys.argv[2]))))
    else:
        print("\n".join(SHAPES))
