"""Learning a source table from parallel text: lines of source, each with its references and system outputs.

The model gives the class of each English pronoun from the features of its place (multinomial logistic regression). Its
weights are drawn to a prior: a closed-class form supports the classes that its table lists, everything else is 0. The
texts of one line together count once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy import optimize, sparse

from pronmetric.alignment import table as aligner_file
from pronmetric.alignment.agreement import AgreementAligner
from pronmetric.alignment.cells import KEY_BASE, Array
from pronmetric.errors import InputError, PronmetricError
from pronmetric.pronouns import finder
from pronmetric.pronouns.classes import CLASSES, INDEX, class_of, group_of
from pronmetric.pronouns.closed_class import ClosedClass, closed_class
from pronmetric.pronouns.slots import slot
from pronmetric.source.evidence import Item, SourceTable
from pronmetric.source.features import Feature, features
from pronmetric.source.unmatched import person, unmatched
from pronmetric.text.context import Source, SourceHistory
from pronmetric.text.lines import read_lines
from pronmetric.text.words import lower_words
from pronmetric.text.words import words as split

UNSEEN = 10  # pronouns added to the counts of each form, one of them without a counterpart
STRENGTH: Mapping[str, float] = {"l": 1.0, "w": 1.0, "u": 2.0, "v": 2.0, "n": 2.0, "z": 3.0, "s": 4.0, "c": 6.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitting:
    """Settings; a few values were tried on WMT23 from German and Ukrainian.

    aligned: the most line pairs that train the aligner. pairs: the most word pairs that are kept of it, each with an
    expected count of at least `least_count` and a product of conditional probabilities of at least `least_product`.
    lines: source lines in which a feature must occur. strength: of the pull to the prior, by kind of feature. linked,
    near: the prior weight of a class for a closed-class form that is linked to the pronoun, or near it.
    """

    aligned: int = 10_000
    pairs: int = 1500
    least_count: float = 1.5
    least_product: float = 0.02
    lines: int = 4
    linked: float = 3.0
    near: float = 1.0
    strength: Mapping[str, float] = field(default_factory=lambda: STRENGTH)
    iterations: int = 60


class Line(NamedTuple):
    """A source line with its distinct English texts, each with its share of the line's weight."""

    source: Source
    texts: Mapping[str, float]


def make_line(source: Source, texts: Iterable[str]) -> Line:
    """A line of a source and its English texts; empty ones are left out."""
    count = Counter(text for text in texts if text.strip())
    return Line(source, {text: number / count.total() for text, number in count.items()})


def read_parallel(files: Sequence[str], *, docids: str | None = None) -> Iterator[Line]:
    """The lines of a source file and of English files parallel to it; without `docids` they are one document.

    Raises:
        InputError: a file that cannot be read, or files with different numbers of lines.
    """
    columns = [read_lines(name) for name in (*files, *(() if docids is None else (docids,)))]
    for name, column in zip((*files, docids), columns, strict=False):
        if len(column) != len(columns[0]):
            raise InputError(f"{len(column)} lines, but {files[0]} has {len(columns[0])}: expected the same", file=name)
    docs = columns.pop() if docids is not None else [""] * len(columns[0])
    history = SourceHistory()
    for source, doc, *texts in zip(columns[0], docs, *columns[1:], strict=True):
        yield make_line(history.source(source, doc), texts)


class _Example(NamedTuple):
    """One pronoun: its class, group of slots, features, number of its line, and weight."""

    this: int
    group: str
    features: list[Feature]
    line: int
    weight: float


Advance = Callable[[int], object]


def fit(
    lines: Sequence[Line],
    language: str,
    *,
    settings: Fitting | None = None,
    about: Mapping[str, Any] | None = None,
    advance: Advance = lambda _: None,
) -> SourceTable:
    """Learn the table of `language` from parallel lines; `advance` is called with numbers that sum to `work(lines)`.

    Raises:
        PronmetricError: no English text has a pronoun.
    """
    settings = settings or Fitting()
    closed = closed_class(language)
    empty = SourceTable(language, AgreementAligner(), {}, np.zeros((0, len(CLASSES))), {}, np.zeros((1, len(CLASSES))))
    aligner = _aligner(lines, empty, settings, advance)
    examples = list(_examples(lines, _replaced(empty, aligner=aligner), advance))
    if not examples:
        raise PronmetricError("the English side has no pronoun in use: expected English text, line by line parallel")
    vocabulary = _vocabulary(examples, closed, settings)
    groups = {name: number for number, name in enumerate(sorted({example.group for example in examples}))}
    base = _base(examples, groups)
    weights = _weights(examples, vocabulary, base[[groups[example.group] for example in examples]], closed, settings)
    advance(len(lines))
    kept, sourced = _matched(lines, _replaced(empty, aligner=aligner))
    return SourceTable(language, aligner, vocabulary, weights, groups, base, kept, sourced, about=dict(about or {}))


def work(lines: Sequence[Line]) -> int:
    """The numbers that `fit` calls `advance` with, in all: one each for aligning, reading and fitting a line."""
    return 3 * len(lines)


def _replaced(table: SourceTable, *, aligner: AgreementAligner) -> SourceTable:
    return SourceTable(table.language, aligner, table.vocabulary, table.weights, table.groups, table.base)


def _aligner(lines: Sequence[Line], table: SourceTable, settings: Fitting, advance: Advance) -> AgreementAligner:
    """The aligner trained on a regular sample of the line pairs, with its strongest word pairs only."""
    pairs = [
        (table.read(line.source.text).lower, lower_words(split(text)))
        for line in lines
        for text in list(line.texts)[:: max(1, len(lines) * _mean_texts(lines) // settings.aligned)]
    ]
    whole = AgreementAligner()
    whole.train(pairs)
    advance(len(lines))
    stored = whole.to_table()
    a, b = stored.keys // KEY_BASE, stored.keys % KEY_BASE
    of_a, of_b = (1 + np.bincount(side, stored.counts, len(stored.words)) for side in (a, b))
    product = stored.counts**2 / (of_a[a] * of_b[b])
    good = np.flatnonzero((stored.counts >= settings.least_count) & (product >= settings.least_product))
    kept = np.sort(good[np.argsort(-stored.counts[good], kind="stable")][: settings.pairs])
    used = np.unique(np.concatenate([a[kept], b[kept]]))
    number = np.zeros(len(stored.words), np.int64)
    number[used] = np.arange(len(used))
    pruned = aligner_file.Table(
        stored.settings,
        [stored.words[index] for index in used],
        stored.occurrences[:, used],
        number[a[kept]] * KEY_BASE + number[b[kept]],
        stored.counts[kept].astype(np.float32).astype(np.float64),
    )
    return AgreementAligner.of(pruned)


def _mean_texts(lines: Sequence[Line]) -> int:
    return max(1, sum(len(line.texts) for line in lines) // max(1, len(lines)))


def _examples(lines: Sequence[Line], table: SourceTable, advance: Advance) -> Iterator[_Example]:
    for number, line in enumerate(lines):
        items = []
        for text in line.texts:
            words = split(text)
            items.append(Item(line.source, words, finder.find(text, words)))
        counted = table.counted(line.source)
        aligned = table.aligned(items)
        for item, weight, (source, links) in zip(items, line.texts.values(), aligned, strict=True):
            for pronoun in item.pronouns:
                place = slot(item.words, pronoun.word)
                found = list(features(source, counted, links, pronoun.word, table.closed))
                yield _Example(INDEX[class_of(pronoun.form, place)], group_of(place), found, number, weight)
        advance(1)


def _matched(lines: Sequence[Line], table: SourceTable) -> tuple[dict[str, float], dict[str, float]]:
    """How often each source pronoun and each person of English pronouns has a counterpart, in first references."""
    forms: Counter[str] = Counter()
    persons: Counter[str] = Counter()
    without: Counter[str] = Counter()
    items = []
    for line in lines:
        text = next(iter(line.texts), "")
        words = split(text)
        items.append(Item(line.source, words, finder.find(text, words)))
    for item, (source, links) in zip(items, table.aligned(items), strict=True):
        found = unmatched(source, table.closed, item.words, item.pronouns, links)
        forms.update(source.forms[k] for k in source.closed if source.forms[k] in table.closed.pronouns)
        persons.update(person(item.words, pronoun) for pronoun in item.pronouns)
        without.update(f"s {source.forms[k]}" for k in found.missing)
        without.update(f"e {person(item.words, item.pronouns[k])}" for k in found.surplus)
    del persons[""]
    kept = {form: 1 - (without[f"s {form}"] + 1) / (count + UNSEEN) for form, count in sorted(forms.items())}
    return kept, {name: 1 - (without[f"e {name}"] + 1) / (count + UNSEEN) for name, count in sorted(persons.items())}


def _vocabulary(examples: Iterable[_Example], closed: ClosedClass, settings: Fitting) -> dict[str, int]:
    """The features that occur in enough lines, and those of closed-class forms, in alphabetical order."""
    lines: defaultdict[str, set[int]] = defaultdict(set)
    for example in examples:
        for feature in example.features:
            lines[feature.name].add(example.line)
    names = {name for name, where in lines.items() if len(where) >= settings.lines}
    names |= {f"{kind}={form}" for form in closed.english for kind in ("l", "w")}
    return {name: row for row, name in enumerate(sorted(names))}


def _base(examples: Iterable[_Example], groups: Mapping[str, int]) -> Array:
    """The share of each class in each group of slots; the last row is that in all."""
    counts = np.full((len(groups) + 1, len(CLASSES)), 0.05)
    for example in examples:
        counts[[groups[example.group], -1], example.this] += example.weight
    return counts / counts.sum(axis=1, keepdims=True)


def _prior(vocabulary: Mapping[str, int], closed: ClosedClass, settings: Fitting) -> Array:
    prior = np.zeros((len(vocabulary), len(CLASSES)))
    for kind, weight in (("l", settings.linked), ("w", settings.near)):
        for form, classes in closed.english.items():
            prior[vocabulary[f"{kind}={form}"], [INDEX[name] for name in classes]] = weight
    return prior


def _weights(
    examples: Sequence[_Example], vocabulary: Mapping[str, int], base: Array, closed: ClosedClass, settings: Fitting
) -> Array:
    """The most probable weights (features, CLASSES), by L-BFGS; base: the shares of each example's slot."""
    prior = _prior(vocabulary, closed, settings)
    strength = np.array([settings.strength[name[0]] for name in vocabulary])[:, None]
    seen = _matrix(examples, vocabulary)
    this = np.array([example.this for example in examples])
    weight = np.array([example.weight for example in examples])
    offset = np.log(base)
    rows = np.arange(len(examples))

    def loss(flat: Array) -> tuple[float, Array]:
        weights = flat.reshape(prior.shape)
        logits = seen @ weights + offset
        logits -= logits.max(axis=1, keepdims=True)
        shares = np.exp(logits)
        total = shares.sum(axis=1, keepdims=True)
        likelihood = weight @ (logits[rows, this] - np.log(total[:, 0]))
        shares /= total
        shares[rows, this] -= 1
        away = weights - prior
        gradient = seen.T @ (shares * weight[:, None]) + strength * away
        return 0.5 * float((strength * away * away).sum()) - float(likelihood), gradient.ravel()

    found = optimize.minimize(
        loss, prior.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": settings.iterations}
    )
    return found.x.reshape(prior.shape)


def _matrix(examples: Iterable[_Example], vocabulary: Mapping[str, int]) -> sparse.csr_matrix:
    ends, columns, values = [0], [], []
    for example in examples:
        for feature in example.features:
            if feature.name in vocabulary:
                columns.append(vocabulary[feature.name])
                values.append(feature.value)
        ends.append(len(columns))
    return sparse.csr_matrix((values, columns, ends), shape=(len(ends) - 1, len(vocabulary)))
