"""The English-Chinese discourse suite of Cai and Xiong (WMT 2020): ambiguous pronouns, connectives and ellipsis.

Its file is not published; this is a JSONL format for it. One object a line: {"id", "kind", "class", "source",
"source_context": [sentences], "reference", "target_context": [sentences], "source_tokens": [places], "right": [forms],
"rivals": [forms], "contrastive": [sentences]}. `kind` is pronoun, connective or ellipsis; `class` is the Chinese
pronoun, the English connective, or any name of a kind of ellipsis. `right` and `rivals` may be absent for a pronoun.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from pronmetric.errors import InputError
from pronmetric.lab.suites.contrastive import (
    About,
    Candidate,
    Item,
    Judged,
    Judging,
    Reading,
    Scores,
    judge_copies,
    last,
    linked,
    no_documents,
    read_links,
    read_objects,
    read_translations,
    verdict,
)
from pronmetric.text.entry import Entry
from pronmetric.text.entry import read as read_entries

KINDS = ("pronoun", "connective", "ellipsis")
PRONOUNS = ("你", "你们", "他们", "她们", "它们")
CONNECTIVES = ("while", "as", "since", "though", "or")
KIND, CLASS = "kind", "class"
_RIVALS = {form: tuple(one for one in group if one != form) for group in (PRONOUNS[:2], PRONOUNS[2:]) for form in group}

ABOUT = About(
    name="cai-xiong",
    title="Discourse suite (Cai and Xiong, WMT 2020)",
    languages="en-zh",
    targets=("zh",),
    phenomena="pronouns, connectives, ellipsis",
    judged=("translations", "human judgments", "scores"),
    by=KIND,
    text="""Set: the published file is not available; the format is JSONL, one object a line:
  {"id", "kind": "pronoun"|"connective"|"ellipsis", "class", "source", "source_context": [sentences], "reference",
   "target_context": [sentences], "source_tokens": [places, from 0], "right": [forms], "rivals": [forms],
   "contrastive": [sentences]}
The classes of pronouns are 你 你们 他们 她们 它们, those of connectives while as since though or; an ellipsis has any.
"right" and "rivals" are the forms that a translation must and must not have; a pronoun's are its class and the other
forms of the same person by default. The contexts, "source_tokens" and "contrastive" may be absent.
--translations: one line for each item; right if a right form and no rival occurs. Of overlapping forms the longest
counts: 你们 has no 你.
--alignment FILE: word alignments (s-t s-t ..., from 0) of the blank-separated source and translation; only the target
words that are linked to "source_tokens" are judged; an item without links is wrong.
--humans FILE: JSONL {"id", "judge", "correct": true|false}; the majority decides, a tie is wrong. With --translations,
the agreement of both is reported.
--scores: one for the reference and one for each sentence of "contrastive".""",
)


def read(path: str | Path, reading: Reading) -> tuple[Item, ...]:
    """The items of a set; candidates are the reference and the contrastive sentences.

    Raises:
        InputError: with the line, where a key is missing, a value is of another kind, or an id is there twice.
    """
    return tuple(item for item, _ in _entries(path, reading))


def _entries(path: str | Path, reading: Reading) -> list[tuple[Item, Entry]]:
    no_documents(path, reading)
    return read_objects(path, lambda entry: _item(entry, reading.context))


def _item(entry: Entry, size: int) -> Item:
    kind = entry.one_of("kind", KINDS)
    allowed = {KINDS[0]: PRONOUNS, KINDS[1]: CONNECTIVES}.get(kind)
    name = entry.string("class") if allowed is None else entry.one_of("class", allowed)
    before = [_optional(entry, f"{side}_context") for side in ("source", "target")]
    contexts = [last(sentences, size) for sentences in before]
    source, texts = entry.string("source"), (entry.string("reference"), *_optional(entry, "contrastive"))
    return Item(
        id=entry.string("id"),
        candidates=tuple(Candidate(source, text, *contexts) for text in texts),
        groups={KIND: kind, CLASS: f"{kind}: {name}"},
        document=entry.string("id"),
    )


def _optional(entry: Entry, key: str) -> tuple[str, ...]:
    return entry.strings(key) if entry.get(key) is not None else ()


def judge(items: Sequence[Item], scores: Sequence[Scores], judging: Judging) -> Judged:
    """The verdicts on the items that have contrastive sentences; the others are left out and counted."""
    return judge_copies(items, scores, copies="contrastive sentences", cure="give `translations=` or `humans=`")


def judge_translations(path: str | Path, translations: str | Path, judging: Judging) -> Judged:
    """The verdicts by forms: a right form and no rival, in the whole translation or where it is aligned.

    Raises:
        InputError: with the line, where it is blank or its links are wrong; unequal lengths.
    """
    entries = _entries(path, Reading())
    lines = read_translations(translations, len(entries), blank=judging.compat)
    texts: list[str | None] = list(lines)
    if judging.alignment is not None:
        links = read_links(judging.alignment, len(entries))
        rows = zip(entries, lines, links, strict=True)
        texts = [_aligned(entry, line, own, judging.alignment, n) for n, ((_, entry), line, own) in enumerate(rows, 1)]
    verdicts = tuple(
        verdict(item, text is not None and _is_right(entry, item, text))
        for (item, entry), text in zip(entries, texts, strict=True)
    )
    unaligned = {"items without an aligned word, wrong": texts.count(None)}
    return Judged(verdicts, {} if judging.alignment is None else unaligned)


def judge_humans(path: str | Path, humans: str | Path, automatic: Judged | None = None) -> Judged:
    """The verdicts of human judges: the majority decides, a tie is wrong.

    With the automatic verdicts on the same items: how many of them agree.

    Raises:
        InputError: with the line, where an id is unknown, a judge answers twice, or an answer is not true or false;
            an item without a judgment.
    """
    items = read(path, Reading())
    answers = _answers(humans, {item.id for item in items})
    if missing := [item.id for item in items if item.id not in answers]:
        raise InputError(f'{len(missing)} items have no judgment, first "{missing[0]}"', file=humans)
    counts = {id: Counter(given.values()) for id, given in answers.items()}
    verdicts = tuple(verdict(item, counts[item.id][True] > counts[item.id][False]) for item in items)
    further: dict[str, object] = {
        "judges": len({judge for given in answers.values() for judge in given}),
        "items on which the judges are tied, wrong": sum(c[True] == c[False] for c in counts.values()),
        "items on which all judges agree": sum(0 in (c[True], c[False]) for c in counts.values()),
    }
    if automatic is not None:
        pairs = zip(verdicts, automatic.verdicts, strict=True)
        further["items on which automatic and human verdicts agree"] = sum(a.right == b.right for a, b in pairs)
        further["correct by the automatic verdicts"] = sum(one.right for one in automatic.verdicts)
    return Judged(verdicts, further)


def _answers(path: str | Path, known: set[str]) -> Mapping[str, Mapping[str, bool]]:
    answers: dict[str, dict[str, bool]] = {}
    for entry in read_entries(path):
        id, judge, answer = entry.string("id"), entry.string("judge"), entry.one_of("correct", (True, False))
        if id not in known:
            entry.fail(f'unknown item "{id}"')
        if judge in answers.setdefault(id, {}):
            entry.fail(f'"{judge}" judges item "{id}" twice')
        answers[id][judge] = answer
    return answers


def _is_right(entry: Entry, item: Item, text: str) -> bool:
    """Whether the text has a right form and no rival; where forms overlap the longest counts."""
    name = entry.string("class")
    is_pronoun = item.groups[KIND] == KINDS[0]
    right = _optional(entry, "right") or ((name,) if is_pronoun else ())
    if not right:
        entry.fail(f'"right" is missing: a {item.groups[KIND]} needs the forms that a translation must have')
    rivals = _optional(entry, "rivals") or (_RIVALS[name] if is_pronoun else ())
    used = set(_forms({*right, *rivals}, text))
    return bool(used & set(right)) and not used & set(rivals)


def _forms(forms: set[str], text: str) -> Iterator[str]:
    longest = sorted(forms, key=lambda form: (-len(form), form))
    return (match.group() for match in re.finditer("|".join(map(re.escape, longest)), text))


def _aligned(entry: Entry, line: str, links: str, file: str, number: int) -> str | None:
    """The target words that are linked to the item's source words, joined; None without any."""
    tokens = line.split()
    places = linked(links, entry.values("source_tokens"), len(tokens), file=file, line=number)
    return "".join(tokens[place] for place in places) if places else None
