"""The consistency sets of Voita et al. (ACL 2019), en-ru: deixis, lexical cohesion, ellipsis (inflection, verb phrase).

A JSON list of items of four sentences joined by ` _eos `; candidates differ in the last one.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pronmetric.lab.suites.contrastive import (
    About,
    Candidate,
    Item,
    Judging,
    Reading,
    Scores,
    SuiteVerdicts,
    no_documents,
    no_translations,
    read_list,
    strict_verdicts,
    verdict,
)
from pronmetric.text.entry import Entry

SEPARATOR = " _eos "
SENTENCES = 4
"""Of an item: three of context and the one in question (Voita et al. 2019)."""
DISTANCE = "distance"
_EXPECTED = "expected a consistency set (JSON list of items)"

ABOUT = About(
    name="consistency",
    title="Consistency sets (Voita et al., ACL 2019)",
    languages="en-ru",
    targets=("ru",),
    phenomena="deixis, lexical cohesion, ellipsis",
    judged=("scores",),
    text="""Set: deixis_*.json, lex_cohesion_*.json, ellipsis_infl.json or ellipsis_vp.json of
github.com/lena-voita/good-translation-wrong-in-context. One score for each line: the candidates of each item in order,
as in scoring_data/ there (`suite export --context 3 --join " _eos "` writes the same lines). Accuracy in total and by
distance.
The published program takes the first of the best candidates: in deixis and ellipsis the right one is always first, so
that a tie, even a constant score, counts as right. The strict accuracy, in which a tie is wrong, is reported too.
--compat: NaN is allowed and counts as best, as in the published program.""",
    ignores_surplus=False,
)


def read(path: str | Path, reading: Reading) -> tuple[Item, ...]:
    """The items of a set; a candidate's context are the last `reading.context` of its three previous sentences.

    Raises:
        InputError: with the item, where a key is missing or a value is of another kind.
    """
    no_documents(path, reading)
    return tuple(_item(entry, number, reading.context) for number, entry in enumerate(read_list(path, _EXPECTED)))


def _item(entry: Entry, number: int, context: int) -> Item:
    source = _sentences(entry, entry.string("src"))
    targets = [_sentences(entry, text) for text in entry.strings("dst")]
    right = entry.whole("true_ind", least=0)
    if right >= len(targets):
        entry.fail(f'"true_ind" must be below the number of candidates, {len(targets)}; got {right}')
    first = max(0, SENTENCES - 1 - context)
    candidates = tuple(Candidate(source[-1], text[-1], source[first:-1], text[first:-1]) for text in targets)
    document = entry.string("document id") if entry.get("document id") is not None else str(number)
    return Item(str(number), candidates, right, {DISTANCE: str(entry.whole("ctx_dist", least=1))}, document)


def _sentences(entry: Entry, text: str) -> tuple[str, ...]:
    sentences = tuple(text.split(SEPARATOR))
    if len(sentences) != SENTENCES:
        entry.fail(f'expected {SENTENCES} sentences joined by "{SEPARATOR}", got {len(sentences)}')
    return sentences


def judge(items: Sequence[Item], scores: Sequence[Scores], judging: Judging) -> SuiteVerdicts:
    """The verdicts by the first of the best candidates, as published; also the strict accuracy (a tie is wrong)."""
    verdicts = tuple(
        verdict(item, int(np.argmax(values)) == item.right) for item, values in zip(items, scores, strict=True)
    )
    sharp = sum(one.right for one in strict_verdicts(items, scores))
    return SuiteVerdicts(
        verdicts,
        {
            "strict correct (a tie is wrong)": sharp,
            "strict accuracy (a tie is wrong)": sharp / len(verdicts),
            "items with equal candidates": sum(len(set(item.candidates)) < len(item.candidates) for item in items),
        },
    )


judge_translations = no_translations
