"""DiscEvalMT (Bawden et al., NAACL 2018), en-fr: anaphora and lexical choice.

A JSON object of numbered blocks; each pair has a right and a wrong translation of two sentences. The generation mode
(Post and Junczys-Dowmunt 2023) looks for the words that a fork of the sets adds to each pair.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from pronmetric.errors import InputError
from pronmetric.lab.suites.contrastive import (
    About,
    Candidate,
    Item,
    Judged,
    Judging,
    Reading,
    Scores,
    Verdict,
    no_documents,
    strict_verdicts,
    verdict,
)
from pronmetric.text import running_text, strict_json
from pronmetric.text.entry import Entry, kind
from pronmetric.text.files.columns import Role

ANAPHORA = ("m.sg", "f.sg", "m.pl", "f.pl")
LEXICAL = ("repet", "disambig", "repet, disambig")
TYPE, DEGREE = "type", "translation"
_DEGREES = ("correct", "semi-correct")
_EXPECTED = "expected anaphora.json or lexical-choice.json, an object of numbered blocks"

ABOUT = About(
    name="discevalmt",
    title="DiscEvalMT (Bawden et al., NAACL 2018)",
    languages="en-fr",
    targets=("fr",),
    phenomena="anaphora; lexical choice (repetition, disambiguation)",
    judged=("scores", "translations"),
    by=TYPE,
    text="""Set: anaphora.json or lexical-choice.json of github.com/rbawden/discourse-mt-test-sets. One score for each
line: blocks by number, pairs in order, the right translation, then the wrong one. A pair is right if the right
translation scores strictly better. Each translation has one previous sentence. Intervals are over blocks.
--translations: two lines for each pair (the second is not read), for the set of the fork with "correct-words" and
"incorrect-words"; the text after the last <eos> must have all correct words and no incorrect one, as whole words.
--compat: words may also be parts of longer words; surplus lines are ignored, fields after the score too, NaN is
allowed; the blocks not entirely right are counted as pairs minus right blocks (lexical choice).""",
)


class _Pair(NamedTuple):
    item: Item
    entry: Entry
    target: Entry


def read(path: str | Path, reading: Reading) -> tuple[Item, ...]:
    """The pairs of a set, as items of two candidates.

    Raises:
        InputError: with the block, where a key is missing, a value is of another kind, or a type is unknown.
    """
    no_documents(path, reading)
    return tuple(pair.item for pair in _pairs(path, reading.context))


def _pairs(path: str | Path, context: int) -> list[_Pair]:
    value = strict_json.read(path, _EXPECTED)
    if not isinstance(value, dict) or not value:
        raise InputError(f"{_EXPECTED}, got {kind(value)}", file=path)
    if wrong := [key for key in value if not (key.isascii() and key.isdigit())]:
        raise InputError(f"{_EXPECTED}, got a block named {wrong[0]!r}", file=path)
    blocks = [(key, Entry(value[key], file=path, name=f"block {key}")) for key in sorted(value, key=int)]
    return [pair for key, block in blocks for pair in _block(key, block, context)]


def _block(key: str, block: Entry, context: int) -> Iterator[_Pair]:
    if "trg" in block.record:
        source = block.strings("src", length=2)
        for number, target in enumerate(block.entries("trg"), start=1):
            degree = next((one for one in _DEGREES if one in target.record), _DEGREES[1])
            groups = {TYPE: target.one_of("type", ANAPHORA), DEGREE: degree}
            yield _Pair(_item(f"{key}.{number}", source, target, degree, groups, context), target, target)
        return
    kinds = {TYPE: block.one_of("type", LEXICAL)} if block.get("type") is not None else {}
    groups = {name: value for name, value in kinds.items() if value != LEXICAL[2]}
    for number, example in enumerate(block.entries("examples"), start=1):
        target = example.entry("trg")
        source = example.strings("src", length=2)
        yield _Pair(_item(f"{key}.{number}", source, target, "correct", groups, context), example, target)


def _item(id: str, source: Sequence[str], target: Entry, right: str, groups: dict[str, str], context: int) -> Item:
    texts = [target.strings(name, length=2) for name in (right, "incorrect")]
    size = min(context, 1)
    candidates = tuple(Candidate(source[1], text[1], tuple(source[:size]), tuple(text[:size])) for text in texts)
    return Item(id, candidates, groups=groups, document=id.split(".")[0])


def judge(items: Sequence[Item], scores: Sequence[Scores], judging: Judging) -> Judged:
    """The verdicts; which blocks are entirely right; for anaphora, right and wrong pairs by type and degree."""
    return _judged(strict_verdicts(items, scores), judging)


def judge_translations(path: str | Path, translations: str | Path, judging: Judging) -> Judged:
    """The verdicts on generated translations, two lines for each pair, of which the second is not read.

    Raises:
        InputError: the set has no words to look for; too few or too many lines.
    """
    pairs = _pairs(path, 0)
    lines = running_text.read(translations, Role.TRANSLATION)
    if len(lines) < 2 * len(pairs) or (len(lines) > 2 * len(pairs) and not judging.compat):
        message = f"expected {2 * len(pairs)} lines, two for each of {len(pairs)} pairs, got {len(lines)}"
        raise InputError(message, file=translations, line=min(len(lines), 2 * len(pairs)) + 1)
    verdicts = []
    for number, pair in enumerate(pairs):
        output = lines[2 * number].split(judging.separator)[-1].strip()
        if not output and not judging.compat:
            message = "a blank translation; `compat=True` counts it as wrong"
            raise InputError(message, file=translations, line=2 * number + 1)
        wanted, unwanted = (_words(pair.entry, name) for name in ("correct-words", "incorrect-words"))
        occur = [_occurs(word, output, compat=judging.compat) for word in (*wanted, *unwanted)]
        verdicts.append(verdict(pair.item, all(occur[: len(wanted)]) and not any(occur[len(wanted) :])))
    return _judged(tuple(verdicts), judging)


def _words(entry: Entry, key: str) -> tuple[str, ...]:
    if key not in entry.record:
        entry.fail(f'the key "{key}" is missing: only the fork of the sets with these words judges translations')
    return (entry.string(key),) if isinstance(entry.record[key], str) else entry.strings(key)


def _occurs(word: str, text: str, *, compat: bool) -> bool:
    """Whether a word or phrase occurs, as a whole (with `compat`, also inside a longer word); case-sensitive."""
    return word in text if compat else re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def _judged(verdicts: tuple[Verdict, ...], judging: Judging) -> Judged:
    blocks: dict[str, bool] = {}
    for one in verdicts:
        blocks[one.document] = blocks.get(one.document, True) and one.right
    right = [block for block, whole in blocks.items() if whole]
    of_anaphora = any(DEGREE in one.groups for one in verdicts)
    counted = len(verdicts) if judging.compat and not of_anaphora else len(blocks)
    further: dict[str, object] = {
        "blocks entirely right": len(right),
        "blocks not entirely right": counted - len(right),
        "ids of blocks entirely right": right,
    }
    if of_anaphora:
        by_type = {name: [one for one in verdicts if one.groups[TYPE] == name] for name in ANAPHORA}
        further["pairs by type"] = {name: _by_degree(members) for name, members in by_type.items()}
    return Judged(verdicts, further)


def _by_degree(verdicts: Sequence[Verdict]) -> dict[str, int]:
    return {
        f"{outcome} {degree}": sum(v.right is is_right and v.groups[DEGREE] == degree for v in verdicts)
        for outcome, is_right in (("right", True), ("wrong", False))
        for degree in _DEGREES
    }
