"""The n-gram baseline of cross-lingual pronoun prediction: the fillers with which a sentence is most probable.

The fillers of a slot are the classes of the pair, some frequent other words and nothing (the last two count as OTHER);
the slots of a line are filled jointly. Guillou et al. 2016, section 5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from pronmetric.lab.clpp.data import OTHER, SLOT, TASKS, Line, Task
from pronmetric.lab.clpp.score import Score, tally
from pronmetric.report.text import table

MOST, KEPT = 5000, 200
"""Where a line has more than MOST hypotheses, the KEPT best ones are kept."""
PENALTIES = tuple(-half / 2 for half in range(9))
"""The grid of penalties for an empty filler: 0, -0.5, ... -4, added to the log10 score."""

_ENGLISH = "them let me to like would as will by themselves may"
_GERMAN = "diese ihnen ihre ihrer sondern den so werden auch beide dazu dabei"
_FRENCH = "le l' se s' y en qui que qu' tout faire ont fait est parler comprendre chose choses ne pas dessus dedans"
_FILLERS: Mapping[str, Mapping[str, str]] = {"en-fr": {"c'": "ce", "ça": "cela"}, "fr-en": {"those": "these"}}
_OTHERS: Mapping[str, str] = {
    "en-fr": _FRENCH,
    "en-de": _GERMAN,
    "fr-en": _ENGLISH,
    "de-en": _ENGLISH,
    "es-en": f"{_ENGLISH} this these",
}


class LanguageModel(Protocol):
    """Gives the log10 probability of a sentence, or of its beginning."""

    def __call__(self, words: Sequence[str], *, whole: bool) -> float:
        """The probability of the words after the sentence's start; `whole`: and of its end."""
        ...


class Filler(NamedTuple):
    """A word for a slot ("" for none) and the class that it predicts."""

    word: str
    label: str


def fillers(task: Task) -> tuple[Filler, ...]:
    """All fillers of a language pair: classes and spellings, other words, nothing."""
    named = [Filler(label, label) for label in task.classes if label != OTHER]
    named += [Filler(word, label) for word, label in _FILLERS.get(task.pair, {}).items()]
    others = [Filler(word, OTHER) for word in _OTHERS[task.pair].split()]
    return (*named, *others, Filler("", OTHER))


class _Hypothesis(NamedTuple):
    words: tuple[str, ...]
    chosen: tuple[Filler, ...]
    penalty: float


def predict(line: Line, task: Task, model: LanguageModel, *, penalty: float) -> tuple[Filler, ...]:
    """The best fillers of a line's slots; of equally good ones, the first."""
    options = fillers(task)
    hypotheses = [_Hypothesis((), (), 0.0)]
    for token in line.target:
        if not SLOT.fullmatch(token):
            word = bare(token)
            hypotheses = [one._replace(words=(*one.words, word)) for one in hypotheses]
            continue
        hypotheses = [_extend(one, filler, penalty) for one in hypotheses for filler in options]
        if len(hypotheses) > MOST:
            hypotheses.sort(key=lambda one: -model(one.words, whole=False) - one.penalty)
            del hypotheses[KEPT:]
    return max(hypotheses, key=lambda one: model(one.words, whole=True) + one.penalty).chosen


def _extend(one: _Hypothesis, filler: Filler, penalty: float) -> _Hypothesis:
    words = (*one.words, filler.word) if filler.word else one.words
    return _Hypothesis(words, (*one.chosen, filler), one.penalty + (0.0 if filler.word else penalty))


def bare(token: str) -> str:
    """A target token without its tag: `lamp|NOUN` is lamp; 2015 files have no tags."""
    word, mark, _ = token.rpartition("|")
    return word if mark and word else token


def tune(
    lines: Sequence[Line], task: Task, model: LanguageModel, *, penalties: Sequence[float] = PENALTIES
) -> dict[float, Score]:
    """The score of each penalty on lines with labels."""
    gold = [line.labels for line in lines]
    return {
        penalty: tally(
            gold,
            [[filler.label for filler in predict(line, task, model, penalty=penalty)] for line in lines],
            task,
        )
        for penalty in penalties
    }


def format_tuned(scores: Mapping[float, Score]) -> str:
    """The table of the scores of `tune`."""
    rows = [(f"{penalty:.1f}", f"{got.macro.recall:.2f}", f"{got.accuracy:.2f}") for penalty, got in scores.items()]
    return table(("none penalty", "macro R", "accuracy"), rows)


def sentences(lines: Sequence[Line], task: Task) -> list[list[str]]:
    """The target sentences that the language model is trained on: without tags, with the words of the slots."""
    return [_initial_words(line, task) for line in lines]


def _initial_words(line: Line, task: Task) -> list[str]:
    words = iter(line.words)
    filled = (next(words, "") if SLOT.fullmatch(token) else bare(token) for token in line.target)
    return [word.lower() if task.class_of(word.lower()) else word for word in filled if word not in ("", "NONE")]


assert _OTHERS.keys() == TASKS.keys()
