"""Where people put a pronoun into a translation (the gaps of post-edits), beside what a metric says is missing there.

A gap is the place before a word. Those of rewritten phrases are left out: nothing is known of them. Figures: areas
under the ROC curve and average precision of the gaps into which a person put a pronoun against the other gaps; the area
of the texts with such a gap against those without one, by the expected number of missing pronouns; and how often the
likeliest form is the person's. Intervals resample documents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pronmetric.eval import detection
from pronmetric.eval.estimates import Estimate, bootstrap
from pronmetric.lab.human.people import ALL, set_of
from pronmetric.pronouns.languages import Language
from pronmetric.report.text import percent
from pronmetric.schema import JudgedText
from pronmetric.scoring.judged import missing_forms
from pronmetric.scoring.score import SegmentScore
from pronmetric.text.words import Word

Array = NDArray[np.float64]
ALIKE = "every gap alike: the longer text"
BY_WORD = "frequency of insertions before the word in training"
_PRIOR = 5.0  # gaps of the mean rate that are added to the counts of each word
NO_INSERTION = "there is no post-edit of a text with a source into which a person put a pronoun"
NOT_TOLD = "this model finds none: that needs a reader of sources with a head for gaps, and the sources"


class TextGaps(NamedTuple):
    """The gaps of a corrected text of which it is known whether a pronoun is missing (gaps,).

    words: after them. forms: that a person put there, "" for none. likeliest: forms by the metric, "" for
    none. doubt: that one is missing, higher is likelier, by a metric in [0, 1]; NaN where it does not tell.
    """

    text: JudgedText
    words: tuple[Word, ...]
    forms: tuple[str, ...]
    likeliest: tuple[str, ...]
    doubt: Array


@dataclass(frozen=True, slots=True)
class GapFigures:
    """Figures of the gaps of some texts; estimates are in [0, 1], higher is better, 0.5 is chance for areas.

    lacking: texts with an insertion. text_area: of these against the others. likeliest: the share of the insertions of
    which the likeliest form is the person's; None without insertions, and of numbers that name no form.
    """

    texts: int
    lacking: int
    documents: int
    gaps: int
    insertions: int
    area: Estimate | None
    average_precision: Estimate | None
    text_area: Estimate | None
    likeliest: float | None


def keep(
    texts: Iterable[JudgedText], scores: Iterable[SegmentScore], language: Language, found: list[TextGaps]
) -> Iterator[SegmentScore]:
    """The scores of the texts of `judged.to_score`, as they come; the gaps of corrected texts are added to `found`.

    scores: with every gap that was read. Texts without a source are left out.
    """
    stream = iter(scores)
    for one in texts:
        given = next(stream)
        if _is_known(one):
            found.append(_beside(one, given, language))
        yield given
        if one.mended:
            yield next(stream)


def _is_known(text: JudgedText) -> bool:
    return text.kind == "edits" and bool(text.source.strip())


def _beside(text: JudgedText, segment: SegmentScore, language: Language) -> TextGaps:
    told = {gap.start: gap for gap in segment.gaps}
    labels = zip(language.words(text.text), missing_forms(text, language), strict=True)
    known = [(word, form, told.get(word.start)) for word, form in labels if form is not None]
    return TextGaps(
        text,
        tuple(word for word, _, _ in known),
        tuple(form for _, form, _ in known),
        tuple("" if gap is None else gap.form for _, _, gap in known),
        np.array([np.nan if gap is None else gap.probability for _, _, gap in known]),
    )


def word_rates(texts: Iterable[JudgedText], language: Language) -> dict[str, float]:
    """How often people put a pronoun before each word, smoothed towards the mean; "" is that of an unseen word.

    Empty if they put none anywhere.
    """
    seen, missing = Counter[str](), Counter[str]()
    for each in (_beside(one, SegmentScore(None, ()), language) for one in texts if _is_known(one)):
        seen.update(word.text.lower() for word in each.words)
        missing.update(word.text.lower() for word, form in zip(each.words, each.forms, strict=True) if form)
    if not missing:
        return {}
    mean = missing.total() / seen.total()
    return {"": mean} | {word: (missing[word] + _PRIOR * mean) / (count + _PRIOR) for word, count in seen.items()}


def reason(found: Sequence[TextGaps]) -> str | None:
    """Why there is no figure of the gaps; None if there is."""
    if not any(any(each.forms) for each in found):
        return NO_INSERTION
    return NOT_TOLD if all(np.isnan(each.doubt).all() for each in found) else None


def doubted(found: Iterable[TextGaps], doubts: Iterable[float]) -> list[TextGaps]:
    """The same gaps with other doubts, which name no form; one for each gap of all texts."""
    stream = iter(doubts)
    return [
        each._replace(likeliest=("",) * len(each.words), doubt=np.array([next(stream) for _ in each.words]))
        for each in found
    ]


def by_word(found: Sequence[TextGaps], rates: Mapping[str, float]) -> list[TextGaps]:
    """The gaps with the rate of their word (see `word_rates`) as the doubt: a baseline."""
    return doubted(found, (rates.get(word.text.lower(), rates[""]) for each in found for word in each.words))


def measure(
    found: Sequence[TextGaps], baselines: Mapping[str, Sequence[TextGaps]], *, seed: int, draws: int
) -> dict[str, GapFigures]:
    """The figures of all texts and of each set, and of all by the baselines."""
    sets = sorted({set_of(each.text) for each in found})
    rows = {ALL: found} | {name: [each for each in found if set_of(each.text) == name] for name in sets}
    rows |= {ALIKE: doubted(found, (1.0 for each in found for _ in each.words)), **baselines}
    return {name: _figures(part, seed=seed, draws=draws) for name, part in rows.items()}


def _figures(found: Sequence[TextGaps], *, seed: int, draws: int) -> GapFigures:
    missing = np.array([bool(form) for each in found for form in each.forms])
    doubt = np.concatenate([np.nan_to_num(each.doubt, nan=-np.inf) for each in found])  # not told: the least likely
    lacking = np.array([any(each.forms) for each in found])
    expected = np.array([np.nansum(each.doubt) for each in found])
    documents = [f"{set_of(each.text)}/{each.text.doc}" for each in found]
    of_gaps = [name for name, each in zip(documents, found, strict=True) for _ in each.forms]
    area, precision, text_area = (
        bootstrap(partial(figure, wrong, suspicion), units, draws=draws, seed=seed)
        for figure, wrong, suspicion, units in (
            (detection.roc_auc, missing, doubt, of_gaps),
            (detection.average_precision, missing, doubt, of_gaps),
            (detection.roc_auc, lacking, expected, documents),
        )
    )
    both = [pair for each in found for pair in zip(each.forms, each.likeliest, strict=True) if pair[0]]
    named = any(form for each in found for form in each.likeliest)
    return GapFigures(
        texts=len(found),
        lacking=int(lacking.sum()),
        documents=len(set(documents)),
        gaps=len(missing),
        insertions=int(missing.sum()),
        area=area,
        average_precision=precision,
        text_area=text_area,
        likeliest=float(np.mean([a == b for a, b in both])) if both and named else None,
    )


def cells(rows: Mapping[str, GapFigures]) -> tuple[list[str], list[list[object]]]:
    """The header and the rows of a table of the figures, in percent."""
    header = ["missing pronouns", "texts", "with one", "documents", "gaps", "insertions"]
    header += ["area of gaps", "AP", "area of texts", "form is the likeliest"]
    return header, [
        [
            name,
            one.texts,
            one.lacking,
            one.documents,
            one.gaps,
            one.insertions,
            *map(percent, (one.area, one.average_precision, one.text_area)),
            "-" if one.likeliest is None else f"{100 * one.likeliest:.1f}",
        ]
        for name, one in rows.items()
    ]
