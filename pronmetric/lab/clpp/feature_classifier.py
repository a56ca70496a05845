"""Classifiers of pronoun slots on features, trained with scikit-learn and stored as arrays, without pickled code.

| kind | classifier | as in |
|---|---|---|
| maxent | multinomial logistic regression | Wetzel 2016 (UEDIN); with weighted examples Novák 2016 (CUNI) |
| svm | linear support vector machines, one against the rest | Tiedemann 2016 (UHELSINKI) |
| two-step | two of these: OTHER or a pronoun, then which pronoun | Stymne 2016 (UU-Stymne) |
| forest | a random forest | Bawden 2016 (LIMSI) |

Relative to the papers: all kinds have the features of `features`, which need no parser and no coreference resolution.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
import yaml
from numpy.typing import NDArray
from safetensors.numpy import load_file, save_file
from scipy.sparse import csr_array, hstack

from pronmetric.errors import InputError
from pronmetric.lab.clpp.baseline import sentences
from pronmetric.lab.clpp.data import OTHER, Line, Task
from pronmetric.lab.clpp.features import FOREST, MAXENT, SVM, TWO_STEP, SlotFeatures, describe, model_scores
from pronmetric.lab.clpp.language_models import Ngrams
from pronmetric.lab.clpp.score import Score, tally
from pronmetric.lab.clpp.slots import balanced_weights
from pronmetric.output.targets import AtomicFile
from pronmetric.report.text import table
from pronmetric.text import strict_json

CONFIG, WEIGHTS, NAMES = "clpp.yaml", "model.safetensors", "features.json"
FOLDS = 5
"""The training data are scored by language models of the other folds, so that no line was seen."""
STRENGTHS: Mapping[str, Sequence[float]] = {
    **dict.fromkeys((MAXENT, SVM, TWO_STEP), (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)),
    FOREST: (1, 2, 5, 10),
}
"""The values that development data choose from: C, or the minimum number of slots in a leaf."""
TREES = 200
"""Of a forest; more: probabilities vary less with the seed, larger files."""
_ROWS = 256  # slots that a forest classifies at once
_ITERATIONS = 2000  # of the solvers, at most; scikit-learn warns where they do not converge

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True, slots=True)
class FeatureOptions:
    """How a classifier is made.

    window: words on each side. least: the number of slots that a feature must have. order: of the language model, 0 for
    none. balanced: whether all classes have the same weight; otherwise all slots do.
    """

    kind: str
    window: int = 4
    least: int = 2
    order: int = 3
    balanced: bool = True
    seed: int = 1


class Model(Protocol):
    """A classifier of feature vectors, given by its arrays."""

    arrays: Arrays

    def __call__(self, x: csr_array) -> NDArray[np.int64]:
        """The number of each row's class (slots,)."""
        ...


class Linear:
    """The class with the highest linear score; arrays: weights (classes, features), bias and numbers (classes,)."""

    def __init__(self, arrays: Arrays) -> None:
        self.arrays = arrays

    def __call__(self, x: csr_array) -> NDArray[np.int64]:
        """The number of each row's class (slots,)."""
        scores = x @ self.arrays["weights"].T + self.arrays["bias"]  # (slots, classes)
        return self.arrays["numbers"][scores.argmax(1)]

    @classmethod
    def fit(cls, make: Callable[[], Any], x: csr_array, labels: NDArray[Any], weights: NDArray[Any]) -> Self:
        """Fit a linear model of scikit-learn; with a single class there is nothing to fit."""
        numbers = np.unique(labels)
        if len(numbers) == 1:
            return cls({"weights": np.zeros((1, x.shape[1])), "bias": np.zeros(1), "numbers": numbers})
        model = make().fit(x, labels, sample_weight=weights)
        coefficients, bias = model.coef_, model.intercept_
        if len(numbers) == 2:  # one score, which speaks for the second class
            coefficients, bias = np.concatenate([-coefficients, coefficients]), np.concatenate([-bias, bias])
        return cls({"weights": coefficients, "bias": bias, "numbers": numbers})


class TwoStep:
    """OTHER or a pronoun by one linear model, and the pronoun by another: their arrays, named with 1 and 2."""

    def __init__(self, arrays: Arrays) -> None:
        self.arrays = arrays
        self._first, self._second = (
            Linear({name[:-1]: array for name, array in arrays.items() if name[-1] == step}) for step in "12"
        )

    def __call__(self, x: csr_array) -> NDArray[np.int64]:
        """The number of each row's class (slots,)."""
        first = self._first(x)
        return np.where(first < 0, self._second(x), first)

    @classmethod
    def fit(
        cls, make: Callable[[], Any], x: csr_array, labels: NDArray[Any], weights: NDArray[Any], *, other: int
    ) -> Self:
        """Fit both steps, the second one without the slots of class number `other`."""
        rest = labels != other
        first = Linear.fit(make, x, np.where(rest, -1, other), weights)
        second = Linear.fit(make, x[rest], labels[rest], weights[rest]) if rest.any() else first
        steps = zip("12", (first, second), strict=True)
        return cls({f"{name}{step}": array for step, one in steps for name, array in one.arrays.items()})


class Forest:
    """The class with the highest mean probability over trees.

    Arrays: roots (trees,); of all nodes left, right (-1: a leaf), feature, threshold and shares (nodes, classes);
    numbers (classes,). A row goes left where its feature is at most the threshold.
    """

    def __init__(self, arrays: Arrays) -> None:
        self.arrays = arrays
        for side in (arrays["left"], arrays["right"]):
            if not np.all((side == -1) | (side > np.arange(len(side)))):
                raise ValueError("a tree that does not end")

    def __call__(self, x: csr_array) -> NDArray[np.int64]:
        """The number of each row's class (slots,)."""
        if x.shape[1] <= self.arrays["feature"].max(initial=0):
            raise ValueError(f"trees of more than {x.shape[1]} features")
        best = [self._shares(x[start : start + _ROWS]).argmax(1) for start in range(0, x.shape[0], _ROWS)]
        return self.arrays["numbers"][np.concatenate([np.zeros(0, dtype=np.int64), *best])]

    def _shares(self, x: csr_array) -> NDArray[np.float64]:
        dense = x.toarray().astype(np.float32)  # as scikit-learn compares them (slots, features)
        total = np.zeros((len(dense), len(self.arrays["numbers"])))
        for root in self.arrays["roots"]:
            node = np.full(len(dense), root)
            while (inner := np.flatnonzero(self.arrays["left"][node] >= 0)).size:
                at = node[inner]
                left = dense[inner, self.arrays["feature"][at]] <= self.arrays["threshold"][at]
                node[inner] = np.where(left, self.arrays["left"][at], self.arrays["right"][at])
            total += self.arrays["shares"][node]
        return total

    @classmethod
    def fit(cls, make: Callable[[], Any], x: csr_array, labels: NDArray[Any], weights: NDArray[Any]) -> Self:
        """Fit a forest of scikit-learn."""
        model = make().fit(x, labels, sample_weight=weights)
        trees = [each.tree_ for each in model.estimators_]
        roots = np.cumsum([0, *(tree.node_count for tree in trees)])[:-1]

        def joined(parts: Iterator[NDArray[Any]]) -> NDArray[Any]:
            return np.concatenate(list(parts))

        def children(side: str) -> Iterator[NDArray[Any]]:
            for root, tree in zip(roots, trees, strict=True):
                found = getattr(tree, f"children_{side}")
                yield np.where(found < 0, -1, found + root)

        return cls(
            {
                "roots": roots,
                "left": joined(children("left")),
                "right": joined(children("right")),
                "feature": joined(tree.feature for tree in trees),
                "threshold": joined(tree.threshold for tree in trees),
                "shares": joined(tree.value[:, 0] / tree.value[:, 0].sum(1, keepdims=True) for tree in trees),
                "numbers": model.classes_,
            }
        )


class Names:
    """Features to columns: first the named features, then the language model's score of each class."""

    def __init__(self, names: Sequence[str], model: Ngrams | None) -> None:
        self.names, self.model = list(names), model
        self._columns = {name: column for column, name in enumerate(names)}

    def __call__(
        self, found: Sequence[SlotFeatures], task: Task, *, scores: NDArray[np.float64] | None = None
    ) -> csr_array:
        """The feature matrix of slots (slots, features); `scores` replace those of the language model."""
        columns = [[self._columns[name] for name in one.names if name in self._columns] for one in found]
        ends = np.cumsum([0, *map(len, columns)])
        flat = np.array([column for row in columns for column in row], dtype=np.int32)
        present = csr_array((np.ones(len(flat)), flat, ends), shape=(len(found), len(self.names)))
        if self.model is not None:
            dense = model_scores(found, task, self.model) if scores is None else scores
            present = hstack([present, dense], format="csr")
        places = (one.astype(np.int32) for one in (present.indices, present.indptr))  # scikit-learn takes no others
        return csr_array((present.data, *places), shape=present.shape)


@dataclass(frozen=True, slots=True)
class FeatureClassifier:
    """A trained classifier with its features."""

    task: Task
    options: FeatureOptions
    names: Names
    model: Model

    def predict(self, lines: Sequence[Line]) -> list[tuple[str, ...]]:
        """The classes of each line's slots."""
        found = list(describe(lines, size=self.options.window))
        labels: list[list[str]] = [[] for _ in lines]
        for one, best in zip(found, self.model(self.names(found, self.task)).tolist(), strict=True):
            labels[one.window.line].append(self.task.classes[best])
        return [tuple(each) for each in labels]


class ClassifierFit(NamedTuple):
    """The outcome of `train`.

    chosen: the value of STRENGTHS that was chosen. scores: on development data, for each value. unfinished: values for
    which the optimiser did not converge.
    """

    chosen: float
    scores: dict[float, Score]
    unfinished: list[float]


def format_fitted(fitted: ClassifierFit, kind: str) -> str:
    """The table of the scores of a classifier of this kind."""
    rows = [
        (f"{value:g}", f"{got.macro.recall:.2f}", f"{got.macro_in_gold.recall:.2f}", f"{got.accuracy:.2f}")
        for value, got in fitted.scores.items()
    ]
    return table((strength(kind), "macro R", "macro R of gold classes", "accuracy"), rows)


def strength(kind: str) -> str:
    """The name of what `train` chooses."""
    return "leaf" if kind == "forest" else "C"


def train(
    task: Task, options: FeatureOptions, lines: Sequence[Line], development: Sequence[Line], out: Path
) -> ClassifierFit:
    """Fit a classifier for each value of STRENGTHS, and write the one with the best macro-averaged recall to `out`.

    Raises:
        InputError: no slot with a label to train on or to validate with; a window that is too small for the language
            model; `out` holds a classifier.
    """
    if options.window < options.order - 1:
        raise InputError(
            f"`window={options.window}`: expected at least {options.order - 1}, for `order={options.order}`"
        )
    for result in (CONFIG, WEIGHTS):
        if (out / result).exists():
            raise InputError("would be overwritten: give another folder", file=out / result)
    found, held = (
        [one for one in describe(some, size=options.window) if one.window.label is not None]
        for some in (lines, development)
    )
    for some, name in ((found, "to train on"), (held, "in the development data")):
        if not some:
            raise InputError(f"no slot with a label {name}")
    model, scores = _language_model(task, options, lines, found) if options.order else (None, None)
    counts = Counter(name for one in found for name in one.names)
    names = Names(sorted(name for name, count in counts.items() if count >= options.least), model)
    labels = np.array([task.classes.index(str(one.window.label)) for one in found])
    weights = np.ones(len(labels))
    if options.balanced:
        counted = np.bincount(labels, minlength=len(task.classes)).tolist()
        weights = balanced_weights(counted).double().numpy()[labels]
    x, x_held = names(found, task, scores=scores), names(held, task)
    gold = [[str(one.window.label)] for one in held]
    fitted: dict[float, Model] = {}
    known: dict[float, Score] = {}
    unfinished = []
    for strength in STRENGTHS[options.kind]:
        fitted[strength], converged = _fit_watched(task, options, strength, x, labels, weights)
        unfinished += [] if converged else [strength]
        predicted = [[task.classes[number]] for number in fitted[strength](x_held)]
        known[strength] = tally(gold, predicted, task)
    chosen = max(known, key=lambda one: known[one].macro.recall)
    save(FeatureClassifier(task, options, names, fitted[chosen]), out)
    return ClassifierFit(chosen, known, unfinished)


def _language_model(
    task: Task, options: FeatureOptions, lines: Sequence[Line], found: Sequence[SlotFeatures]
) -> tuple[Ngrams, NDArray[np.float64]]:
    """A language model of all lines, and the scores of the slots by models that have not seen their lines."""
    texts = [[word.lower() for word in words] for words in sentences(lines, task)]
    scores = np.zeros((len(found), len(task.classes)))
    for fold in range(FOLDS):
        rows = [row for row, one in enumerate(found) if one.window.line % FOLDS == fold]
        rest = [text for number, text in enumerate(texts) if number % FOLDS != fold]
        if rows and rest:
            model = Ngrams.count(rest, order=options.order)
            scores[rows] = model_scores([found[row] for row in rows], task, model)
    return Ngrams.count(texts, order=options.order), scores


def _fit_watched(
    task: Task, options: FeatureOptions, strength: float, x: csr_array, labels: NDArray[Any], weights: NDArray[Any]
) -> tuple[Model, bool]:
    """The fitted classifier, and whether the optimiser converged; other warnings are passed on."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = _fit(task, options, strength, x, labels, weights)
    for one in caught:
        if one.category is not ConvergenceWarning:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    return model, all(one.category is not ConvergenceWarning for one in caught)


def _fit(
    task: Task, options: FeatureOptions, strength: float, x: csr_array, labels: NDArray[Any], weights: NDArray[Any]
) -> Model:
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    if options.kind == FOREST:
        leaf = int(strength)
        return Forest.fit(
            lambda: RandomForestClassifier(TREES, min_samples_leaf=leaf, random_state=options.seed), x, labels, weights
        )
    if options.kind == MAXENT:
        return Linear.fit(lambda: LogisticRegression(C=strength, max_iter=_ITERATIONS), x, labels, weights)

    def svm() -> LinearSVC:
        return LinearSVC(C=strength, max_iter=_ITERATIONS, random_state=options.seed)

    if options.kind == SVM:
        return Linear.fit(svm, x, labels, weights)
    return TwoStep.fit(svm, x, labels, weights, other=task.classes.index(OTHER))


def save(classifier: FeatureClassifier, folder: Path) -> None:
    """Write a classifier: clpp.yaml, model.safetensors, and features.json with the names of features and words."""
    folder.mkdir(parents=True, exist_ok=True)
    arrays = {f"model.{name}": np.ascontiguousarray(array) for name, array in classifier.model.arrays.items()}
    words: list[str] = []
    if (model := classifier.names.model) is not None:
        words = sorted({word for gram in model.counts for word in gram})
        ids = {word: id for id, word in enumerate(words)}
        rows = [[*[-1] * (model.order - len(gram)), *(ids[word] for word in gram)] for gram in model.counts]
        arrays["grams"] = np.array(rows, dtype=np.int32)
        arrays["counts"] = np.array(list(model.counts.values()), dtype=np.int64)
    with AtomicFile(folder / NAMES) as file:
        file.write(strict_json.dump({"features": classifier.names.names, "words": words}) + "\n")
    new = folder / f".{WEIGHTS}"
    save_file(arrays, new)
    new.replace(folder / WEIGHTS)
    with AtomicFile(folder / CONFIG) as file:
        yaml.safe_dump({"pair": classifier.task.pair, "options": asdict(classifier.options)}, file, sort_keys=False)


def read(task: Task, options: FeatureOptions, folder: Path) -> FeatureClassifier:
    """Read what `save` wrote; the caller turns errors into a message.

    Raises:
        ValueError, KeyError, TypeError: the files do not fit together.
    """
    arrays = load_file(folder / WEIGHTS)
    texts = strict_json.read(folder / NAMES, "expected the features of a classifier; train it again")
    model = None
    if options.order:
        words, counts = texts["words"], arrays["counts"].tolist()
        grams = [tuple(words[id] for id in row if id >= 0) for row in arrays["grams"].tolist()]
        model = Ngrams(dict(zip(grams, counts, strict=True)), order=options.order)
    names = Names(texts["features"], model)
    own = {name.removeprefix("model."): array for name, array in arrays.items() if name.startswith("model.")}
    kinds: dict[str, type[Linear] | type[TwoStep] | type[Forest]] = {FOREST: Forest, TWO_STEP: TwoStep}
    made = kinds.get(options.kind, Linear)(own)
    made(names([], task))  # arrays of other shapes fail here
    if max(array.max(initial=0) for name, array in own.items() if name.startswith("numbers")) >= len(task.classes):
        raise ValueError(f"more classes than {task.pair} has")
    return FeatureClassifier(task, options, names, made)
