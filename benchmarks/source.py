"""What the source adds: figures with and without a source, on development data and, once, on the test sets.

    python -m benchmarks.source fit --model FOLDER --data PREPARED [--shared DIR] --out FILE.json [--cache FILE.json]
    python -m benchmarks.source human --model FOLDER [--shared DIR] --out FILE.json [--cache FILE.json]
    python -m benchmarks.source test --only NAME --model FOLDER --data PREPARED [--shared DIR] --out FILE.json
    python -m benchmarks.source missing --model FOLDER [--shared DIR] --out FILE.json
    python -m benchmarks.source reference --model FOLDER [--shared DIR] --out FILE.json
    python -m benchmarks.source dropped --model FOLDER --data PREPARED --out FILE.json
    python -m benchmarks.source page --model FOLDER --figures FILE.json FILE.json ...

`fit` fits the combination on WMT23, where a label is clean: on references with pronouns replaced as systems confuse
them (two seeds), and on references with one pronoun of a system where at least half of the systems have the reference's
form. `human` measures the order of outputs that people rated, with tables learned without the rated documents. `test`
scores pairs of WMT22 de-en or zh-en (`--only de`, `--only zh`), or TED MQM (`--only mqm`). All samples are random, of
short texts. `--cache` keeps the scores of the model between runs. `dropped` reads what `prepare filter.source=drop`
left out. `missing` counts missing pronouns in references and outputs of WMT23, and in references from which one
personal pronoun (but "it") was deleted; `reference` counts them in outputs, by the reference.
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import rankdata
from sklearn.linear_model import LogisticRegression

from benchmarks import scoring, source_page
from data_prep.wmt import discovery, source_lines
from pronmetric.data import arrow
from pronmetric.eval.decision import A, B
from pronmetric.eval.estimates import cluster_mean, cluster_share
from pronmetric.lab.human import mqm, pair_accuracy, wmt_scores
from pronmetric.metric import PronounMetric
from pronmetric.pronouns.corrupt import ConfusionTable
from pronmetric.pronouns.finder import THIRD_PERSON, find
from pronmetric.pronouns.languages import ENGLISH
from pronmetric.schema import Document, Pair, Segment
from pronmetric.scoring.bulk import ScoredRow
from pronmetric.scoring.missing import count_by_reference
from pronmetric.scoring.score import PronounScore, SegmentScore
from pronmetric.source import files as source_files
from pronmetric.source import fit as source_fit
from pronmetric.source.evidence import RELIABLE, Combination, Item, SourceTable
from pronmetric.source.fit import Line
from pronmetric.source.unmatched import person
from pronmetric.text.context import Source, SourceHistory, Text, join
from pronmetric.text.corpus import Row
from pronmetric.text.lines import read_lines
from pronmetric.text.words import words
from pronmetric.training.calibrate import add_noise

LONGEST = 600  # characters of a text with its context
DEVELOPMENT, TESTS = ("de", "ja", "ru", "uk"), ("de", "zh")
RATED = {"cs": ("21", "22"), "de": ("21",)}
RATIOS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)
RATE = 0.0634  # natural share of wrong pronouns
CORRUPTION = 0.15  # share of pronouns replaced
MAJORITY = 0.5  # of the systems that have the reference's form
APART = 0.3  # z scores between two outputs of which people prefer one
RESAMPLES = 300
BLOCK = 20  # segments
TIMED = 60  # texts
MQM = Path("human/mqm/mqm_ted_zhen.tsv")
Key = tuple[str, str, int]


class Judged(NamedTuple):
    """A text's score without the source, the log-odds of its pronouns, and its missing and surplus pronouns."""

    plain: SegmentScore
    log_odds: tuple[float, ...]
    missing: int
    surplus: int

    def with_source(self, combination: Combination) -> SegmentScore:
        """The score with the source."""
        own = self.plain.pronouns
        values = combination.probabilities([p.score for p in own], self.log_odds)
        scores = tuple(p._replace(score=v, probability=v) for p, v in zip(own, values, strict=True))
        return self.plain._replace(score=float(np.mean(values)) if values else None, pronouns=scores)


class Model:
    """The metric without a source, with the scores of texts that were scored before."""

    def __init__(self, metric: PronounMetric, cache: Path | None = None) -> None:
        self.metric, self.cache = metric, cache
        there = cache is not None and cache.is_file()
        self.known: dict[str, list[list[float]]] = json.loads(cache.read_text("utf-8")) if cache and there else {}

    def score(self, texts: Sequence[Text]) -> list[SegmentScore]:
        """The scores of texts, whose sources are ignored."""
        new = {self._name(text): text._replace(source=None) for text in texts if self._name(text) not in self.known}
        for name, segment in zip(new, self.metric.stream(new.values()), strict=True):
            self.known[name] = [[p.start, p.end, p.score] for p in segment.pronouns]
        return [self._segment(text.text, self.known[self._name(text)]) for text in texts]

    def save(self) -> None:
        """Write the scores to the cache."""
        if self.cache is not None:
            self.cache.write_text(json.dumps(self.known), encoding="utf-8")

    @staticmethod
    def _name(text: Text) -> str:
        return f"{text.context}\0{text.text}"

    @staticmethod
    def _segment(text: str, rows: Sequence[Sequence[float]]) -> SegmentScore:
        spans = [(int(start), int(end), score) for start, end, score in rows]
        scores = tuple(PronounScore(text[start:end], start, end, score, score) for start, end, score in spans)
        return SegmentScore(float(np.mean([p.score for p in scores])) if scores else None, scores)


def judge(metric: Model, table: SourceTable, texts: Sequence[Text]) -> list[Judged]:
    """Score texts, whose sources are given, once without a source, and ask the table."""
    items = []
    for _, text, source in texts:
        assert source is not None
        split = words(text)
        items.append(Item(source, split, find(text, split)))
    return [
        Judged(segment, tuple(e.log_odds for e in one.evidence), len(one.missing), len(one.surplus))
        for segment, one in zip(metric.score(texts), table.judge(items), strict=True)
    ]


def sources(folder: Path, languages: Sequence[str]) -> Mapping[Key, Source]:
    """The source of each segment of all test sets from these languages."""
    found: dict[Key, Source] = {}
    testsets = discovery.discover(str(folder), pairs=[f"{language}-en" for language in languages]).testsets
    for testset in testsets:
        for document in discovery.read(testset):
            history = SourceHistory()
            for segment in document.segments:
                if segment.src is not None:
                    found[testset.name, testset.lp, segment.seg] = history.source(segment.src)
    return found


def logit(score: float) -> float:
    """The logit of a probability."""
    return float(np.log(score) - np.log1p(-score)) if 1e-6 < score < 1 - 1e-6 else 14.0 * np.sign(score - 0.5)


class Labelled(NamedTuple):
    """Pronouns: logit of the model, log-odds of the source, whether it is right, and its text's number."""

    logit: np.ndarray
    log_odds: np.ndarray
    right: np.ndarray
    text: np.ndarray

    @classmethod
    def of(cls, rows: Sequence[tuple[float, float, bool, int]]) -> Labelled:
        """From one row for each pronoun."""
        return cls(*map(np.array, zip(*rows, strict=True)))


def drawn(rows: Sequence[Any], most: int, seed: int) -> list[Any]:
    """At most so many of the rows, at random."""
    order = list(rows)
    random.Random(seed).shuffle(order)
    return order[:most]


def corrupted(metric: Model, rows: Sequence[Mapping[str, Any]], given: Mapping[Key, Source], **how: Any) -> Labelled:
    """References of WMT23 with pronouns replaced as systems confuse them."""
    found = []
    first = 0
    for language in DEVELOPMENT:
        distinct: dict[tuple[str, str], Mapping[str, Any]] = {}
        for row in rows:
            before = join(row["context"])
            if row["lp"] == f"{language}-en" and row["kind"] == "system" and len(row["better"]) + len(before) < LONGEST:
                distinct.setdefault((before, row["better"]), row)
        texts, labels = [], []
        for row in drawn(list(distinct.values()), how["most"], how["seed"]):
            seed = 1000 * how["seed"] + len(texts)
            (item,) = add_noise([row], context="common", table=how["table"], rate=CORRUPTION, seed=seed)
            source = given[row["testset"], row["lp"], row["seg"]]
            texts.append(Text(item.example.context, item.example.text, source))
            labels.append(dict(zip(map(tuple, item.example.spans), item.right, strict=True)))
        for k, one in enumerate(judge(metric, source_files.of_language(language), texts)):
            for p, log_odds in zip(one.plain.pronouns, one.log_odds, strict=True):
                if (right := labels[k].get((p.start, p.end))) is not None:
                    found.append((logit(p.score), log_odds, right == 1, first + k))
        first += len(texts)
    return Labelled.of(found)


def noisy(rows: Sequence[Mapping[str, Any]], language: str, most: int, seed: int = 1) -> list[Pair]:
    """Distinct pairs R vs R' of a pronoun against a pronoun, short ones, drawn at random."""
    found: dict[tuple[str, str], Pair] = {}
    for row in rows:
        if row["kind"] == "noisy" and row["lp"] == f"{language}-en":
            pair = arrow.to_pair(row)
            if len(pair.better) + len(join(pair.context)) < LONGEST and pair.mismatches[0].kind == "pronoun":
                found.setdefault((pair.better, pair.worse), pair)
    return drawn(list(found.values()), most, seed)


def agreement(rows: Sequence[Mapping[str, Any]], outputs: Mapping[Key, int]) -> Mapping[tuple[Any, ...], float]:
    """Of each pronoun of a reference that some system has otherwise, the share of systems that have its form."""
    others: Counter[tuple[Any, ...]] = Counter()
    for row in rows:
        if row["kind"] == "system":
            pair = arrow.to_pair(row)
            others.update((*_key(pair), pair.ref, m.ref_start) for m in pair.mismatches)
    return {place: 1 - count / max(1, outputs[place[:3]]) for place, count in others.items()}


def _key(pair: Pair) -> Key:
    return pair.testset, pair.lp, pair.seg


def natural(
    metric: Model,
    chosen: Mapping[str, Sequence[Pair]],
    given: Mapping[Key, Source],
    share: Mapping[tuple[Any, ...], float],
) -> tuple[Labelled, dict[str, Any]]:
    """Pairs R vs R' of WMT23 where most systems agree with R: the pronouns of R', and accuracy on the pairs."""
    rows, gaps, of_all, number = [], [], [], 0
    for language, pairs in chosen.items():
        texts = [Text(join(p.context), side, given[_key(p)]) for p in pairs for side in (p.better, p.worse)]
        judged = judge(metric, source_files.of_language(language), texts)
        for k, pair in enumerate(pairs):
            m = pair.mismatches[0]
            sides = [
                {p.start: (logit(p.score), d) for p, d in zip(one.plain.pronouns, one.log_odds, strict=True)}
                for one in judged[2 * k : 2 * k + 2]
            ]
            if m.ref_start not in sides[0] or m.hyp_start not in sides[1]:
                continue
            number += 1
            gap = np.subtract(sides[0][m.ref_start], sides[1][m.hyp_start])
            of_all.append(gap)
            if share.get((*_key(pair), pair.ref, m.ref_start), 1.0) >= MAJORITY:
                gaps.append(gap)
                rows += [(*found, start != m.hyp_start, number) for start, found in sides[1].items()]
    figures = {name: _pairwise(np.array(found)) for name, found in (("all", of_all), ("majority", gaps))}
    return Labelled.of(rows), figures


def _pairwise(gaps: np.ndarray) -> dict[str, Any]:
    """Accuracy on pairs: of the source alone, and of the model's logit + ratio x log-odds."""
    marks = {f"{ratio:g}": _mark(gaps[:, 0] + ratio * gaps[:, 1]) for ratio in RATIOS}
    return {
        "pairs": len(gaps),
        "source alone": float(_mark(gaps[:, 1]).mean()),
        "accuracy": {ratio: float(mark.mean()) for ratio, mark in marks.items()},
    }


def _mark(differences: np.ndarray) -> np.ndarray:
    return 0.5 * (differences >= 0) + 0.5 * (differences > 0)


def fit(data: Labelled) -> dict[str, Any]:
    """The logistic regression of "right", free and with fixed ratios, at the natural error rate."""
    wrong = float((~data.right).mean())
    weight = np.where(data.right, (1 - RATE) / (1 - wrong), RATE / wrong)
    free = LogisticRegression(C=1e3).fit(np.stack(data[:2], 1), data.right, sample_weight=weight)
    figures: dict[str, Any] = {
        "pronouns": len(data.right),
        "wrong": int((~data.right).sum()),
        "source alone": _auc(data.log_odds, data.right),
        "free": {"logit": free.coef_[0][0], "evidence": free.coef_[0][1], "bias": free.intercept_[0]},
        "ratios": {},
    }
    rng = np.random.default_rng(0)
    draws = [_resample(data.text, rng) for _ in range(RESAMPLES)]
    plain = [_auc(data.logit[d], data.right[d]) for d in draws]
    for ratio in RATIOS:
        seen = data.logit + ratio * data.log_odds
        fitted = LogisticRegression(C=1e3).fit(seen[:, None], data.right, sample_weight=weight)
        shares = fitted.predict_proba(seen[:, None])[:, 1]
        loss = -(weight * np.log(np.where(data.right, shares, 1 - shares))).sum() / weight.sum()
        gains = [_auc(seen[d], data.right[d]) - base for d, base in zip(draws, plain, strict=True)]
        figures["ratios"][f"{ratio:g}"] = {
            "auc": _auc(seen, data.right),
            "gain": list(np.percentile(gains, [2.5, 97.5])),
            "log-loss": loss,
            "logit": fitted.coef_[0][0],
            "bias": fitted.intercept_[0],
        }
    return figures


def _auc(scores: np.ndarray, right: np.ndarray) -> float:
    ranks, good = rankdata(scores), right.sum()
    return float((ranks[right].sum() - good * (good + 1) / 2) / (good * (len(right) - good)))


def _resample(clusters: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    names, inverse = np.unique(clusters, return_inverse=True)
    order = np.argsort(inverse, kind="stable")
    starts = np.searchsorted(inverse[order], np.arange(len(names) + 1))
    return np.concatenate([order[starts[k] : starts[k + 1]] for k in rng.integers(0, len(names), len(names))])


def human(options: Any, metric: Model) -> dict[str, Any]:
    """Which of two outputs of a segment people rated higher, by the expected errors with each weight of the source."""
    data = options.shared / "data"
    rows: dict[str, list[tuple[int, float]]] = defaultdict(list)
    number, counts = 0, Counter[str]()
    for language, years in RATED.items():
        testsets = source_lines.testsets(str(data / "wmt"), language, exclude=["wmt23"])
        halves: tuple[list[Line], list[Line]] = [], []
        segments: list[tuple[int, list[Text], list[float]]] = []
        for testset in testsets:
            documents = list(discovery.read(testset))
            for place, document in enumerate(documents):
                history = SourceHistory()
                for segment in document.segments:
                    if segment.src is not None and segment.src.strip():
                        texts = [*segment.refs.values(), *segment.hyps.values()]
                        line = source_fit.make_line(history.source(segment.src), texts)
                        halves[_half(document, place, segment.seg)].append(line)
            year = testset.name[-2:] if testset.name[-2:].isdigit() else testset.name[-8:-6]
            if year in years:
                path = data / "human" / f"wmt{year}-da" / f"ad-seg-scores-{language}-en.csv"
                rated = _rated(documents, wmt_scores.read_assessments(path))
                segments += drawn(list(rated), options.most, 1)
        for half in (0, 1):
            table = source_fit.fit(halves[1 - half], language)
            held = [(texts, scores) for its, texts, scores in segments if its == half]
            judged = iter(judge(metric, table, [text for texts, _ in held for text in texts]))
            for texts, scores in held:
                number += 1
                found = [next(judged) for _ in texts]
                counts.update(texts=len(texts), segments=1, missing=sum(one.missing for one in found))
                _order(found, scores, number, rows)
    figures: dict[str, Any] = {"counts": dict(counts)}
    for name, marks in rows.items():
        clusters, values = zip(*marks, strict=True)
        figures[name] = {"pairs": len(values), "share": scoring.plain(cluster_share(values, clusters))}
        if name.startswith("ratio"):
            gain = np.subtract(values, [mark for _, mark in rows["ratio 0"]])
            figures[name]["gain"] = scoring.plain(cluster_mean(gain, clusters))
    return {"human": figures}


def _half(document: Document, place: int, seg: int) -> int:
    """The half of a test set that a segment is in: every other document, or block where documents are unknown."""
    return place % 2 if document.exact else seg // BLOCK % 2


def _rated(documents: Sequence[Document], ratings: Mapping[str, Any]) -> Iterator[tuple[int, list[Text], list[float]]]:
    """Segments with two or more rated outputs that differ in their pronouns, in the reference's context.

    The first number says in which half of the test set they are.
    """
    by_name = {name.rpartition(".")[0]: scores for name, scores in ratings.items()}
    for place, document in enumerate(documents):
        history = SourceHistory()
        before: list[str] = []
        for segment in document.segments:
            if segment.src is None or not segment.src.strip():
                continue
            source, context = history.source(segment.src), join(before[-2:])
            before.append(next(iter(segment.refs.values()), ""))
            found = {
                text: by_name[name][segment.seg + 1].z
                for name, text in segment.hyps.items()
                if segment.seg + 1 in by_name.get(name, {})
            }
            forms = {tuple(sorted(p.form for p in find(text))) for text in found}
            if len(forms) > 1 and all(len(text) + len(context) < LONGEST for text in found):
                yield (
                    _half(document, place, segment.seg),
                    [Text(context, text, source) for text in found],
                    list(found.values()),
                )


def _order(found: Sequence[Judged], scores: Sequence[float], number: int, rows: dict[str, list[Any]]) -> None:
    """Add a mark for each pair of outputs of a segment that people rated apart."""
    base = Combination()
    by_ratio = {
        f"ratio {r:g}": [-(one.with_source(_combination(base, r)).errors or 0) for one in found] for r in RATIOS
    }
    fewer = [-one.missing for one in found]
    numbers = {
        **by_ratio,
        "errors + missing": [a + b for a, b in zip(by_ratio[f"ratio {CHOSEN:g}"], fewer, strict=True)],
    }
    for i, j in combinations(range(len(found)), 2):
        if abs(scores[i] - scores[j]) < APART:
            continue
        sign = np.sign(scores[i] - scores[j])
        for name, values in numbers.items():
            rows[name].append((number, float(_mark(np.array([sign * (values[i] - values[j])]))[0])))
        if fewer[i] != fewer[j]:
            rows["fewer missing"].append((number, float(sign * (fewer[i] - fewer[j]) > 0)))


CHOSEN = round(Combination().evidence / Combination().logit, 1)


def _combination(base: Combination, ratio: float) -> Combination:
    return Combination(1.0, 0.0, 0.0) if ratio == 0 else Combination(base.logit, base.logit * ratio, base.bias)


def fits(options: Any, metric: Model) -> dict[str, Any]:
    """The fits of the combination on development data."""
    data = options.shared / "data"
    rows = list(arrow.read_pairs(options.data, "development"))
    given = sources(data / "wmt", DEVELOPMENT)
    table = ConfusionTable.load(options.data / "confusion.json")
    figures: dict[str, Any] = {}
    for seed in (1, 2):
        labelled = corrupted(metric, rows, given, table=table, most=options.most, seed=seed)
        figures[f"replaced, seed {seed}"] = fit(labelled)
    chosen = {language: noisy(rows, language, options.most + 100) for language in DEVELOPMENT}
    outputs = {
        (t.name, t.lp, s.seg): len(s.hyps)
        for t in discovery.discover(str(data / "wmt"), pairs=[f"{x}-en" for x in DEVELOPMENT]).testsets
        for document in discovery.read(t)
        for s in document.segments
    }
    labelled, figures["pairs"] = natural(metric, chosen, given, agreement(rows, outputs))
    figures["natural"] = fit(labelled)
    return figures


def test(options: Any, metric: Model) -> dict[str, Any]:
    """Accuracy on one of the test sets without and with the source, by score and by errors."""
    data, language = options.shared / "data", options.only
    if language == "mqm":
        return _mqm(metric, data)
    given = sources(data / "wmt", [language])
    rows = [r for r in arrow.read_pairs(options.data, "test") if (r["testset"], r["lp"], r["seg"]) in given]
    table = source_files.of_language(language)
    figures: dict[str, Any] = {}
    replaced = noisy(rows, language, options.most)
    of_system = [r for r in rows if r["kind"] == "system" and r["lp"] == f"{language}-en"]
    outputs = [p for p in map(arrow.to_pair, drawn(of_system, 2 * options.most, 1)) if _is_short(p)][: options.most]
    for kind, pairs in (("R vs R'", replaced), ("R vs S", outputs)):
        texts = [Text(join(p.context), side, given[_key(p)]) for p in pairs for side in (p.better, p.worse)]
        judged = judge(metric, table, texts)
        sides = list(zip(judged[::2], judged[1::2], strict=True))
        docs = units(pairs)
        figures[f"{language}-en {kind}"] = _figures(sides, table.combination, docs)
        if kind == "R vs R'":
            forms = ({p.mismatches[0].ref_form, p.mismatches[0].hyp_form} for p in pairs)
            third = [k for k, both in enumerate(forms) if both <= THIRD_PERSON]
            few = _figures([sides[k] for k in third], table.combination, [docs[k] for k in third])
            figures[f"{language}-en {kind}, both third person"] = few
            _show(pairs, sides, table, given, options.show)
    figures[f"{language}-en time"] = _time(metric.metric, table, texts[:TIMED])
    return figures


def missing(data: Path, most: int) -> dict[str, Any]:
    """Missing and surplus pronouns of WMT23 in 100 source pronouns or pronouns, and the share of deletions found."""
    figures = {}
    for language in DEVELOPMENT:
        table = source_files.of_language(language)
        rng = random.Random(1)
        chosen = _segments(data, language, most)
        references = [(s.src or "", next(iter(s.refs.values()))) for s in chosen]
        outputs = [(s.src or "", s.hyps[rng.choice(sorted(s.hyps))]) for s in chosen]
        deleted = [(source, *both) for source, text in references if (both := _delete(text, rng)) is not None]
        counts = [_unmatched(table, found) for found in (references, outputs)]
        before, after = (_unmatched(table, [(row[0], row[k]) for row in deleted])["each"] for k in (1, 2))
        figures[language] = {
            "segments": len(chosen),
            **{
                f"{name} {key}": one[key]
                for name, one in zip(("references", "outputs"), counts, strict=True)
                for key in one
                if key != "each"
            },
            "deletions": len(deleted),
            "found": _more(before, after),
        }
    return {"missing": figures}


def _segments(data: Path, language: str, most: int) -> list[Segment]:
    """Segments of WMT23 with source, reference and outputs, drawn at random."""
    found = [
        segment
        for testset in discovery.discover(str(data / "wmt"), pairs=[f"{language}-en"]).testsets
        if "2023" in testset.name
        for document in discovery.read(testset)
        for segment in document.segments
        if segment.src and segment.src.strip() and segment.refs and segment.hyps
    ]
    return drawn(found, most, 1)


def missing_by_reference(data: Path, most: int) -> dict[str, Any]:
    """The same of one output of each segment, by its reference."""
    figures = {}
    for language in DEVELOPMENT:
        rng = random.Random(1)
        chosen = _segments(data, language, most)
        pairs = [(next(iter(s.refs.values())), s.hyps[rng.choice(sorted(s.hyps))]) for s in chosen]
        figures[language] = _by_reference(pairs, rng)
    return {"missing by reference": figures}


def _more(before: Sequence[int], after: Sequence[int]) -> float:
    """The share of texts with more missing pronouns after the deletion."""
    return sum(b > a for a, b in zip(before, after, strict=True)) / max(1, len(before))


def _by_reference(pairs: Sequence[tuple[str, str]], rng: random.Random) -> dict[str, Any]:
    """Of outputs by their reference, and of outputs from which one pronoun was deleted; seconds for 1,000 outputs."""
    start = time.process_time()
    of_outputs = _compared(pairs)
    seconds = time.process_time() - start
    deleted = [(ref, *both) for ref, text in pairs if (both := _delete(text, rng)) is not None]
    before, after = (_compared([(row[0], row[k]) for row in deleted]) for k in (1, 2))
    expected, own = (sum(len(find(text)) for text in side) for side in zip(*pairs, strict=True))
    return {
        "segments": len(pairs),
        "pronouns": expected,
        "missing": 100 * sum(missing for missing, _ in of_outputs) / max(1, expected),
        "surplus": 100 * sum(surplus for _, surplus in of_outputs) / max(1, own),
        "deletions": len(deleted),
        "found": _more([missing for missing, _ in before], [missing for missing, _ in after]),
        "seconds": 1000 * seconds / max(1, len(pairs)),
    }


def _compared(pairs: Sequence[tuple[str, str]]) -> list[tuple[int, int]]:
    """The numbers of missing and surplus pronouns of each output by its reference."""
    rows = []
    for reference, text in pairs:
        pronouns = tuple(PronounScore(p.text, p.start, p.end, 1.0, 1.0) for p in find(text))
        segment = SegmentScore(1.0 if pronouns else None, pronouns)
        rows.append(ScoredRow(Row((text,), None, None, (reference,)), (("",),), [(segment,)]))
    found = (row.segments[0][0].unmatched for row in count_by_reference(rows, ENGLISH))
    return [(0, 0) if one is None else (len(one.missing), len(one.surplus)) for one in found]


def _delete(text: str, rng: random.Random) -> tuple[str, str] | None:
    """A text, and the text without one of its personal pronouns; None if it has none but "it"."""
    split = words(text)
    found = [p for p in find(text, split) if person(split, p) not in ("", "it")]
    if not found:
        return None
    chosen = rng.choice(found)
    return text, text[: chosen.start] + text[chosen.end :].lstrip()


def _unmatched(table: SourceTable, pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """In 100 pronouns of the source that count, those missing; in 100 pronouns, the surplus; missing ones of each."""
    items = []
    for source, text in pairs:
        split = words(text)
        items.append(Item(Source(source), split, find(text, split)))
    judged = list(table.judge(items))
    read = [table.read(source) for source, _ in pairs]
    count = sum(table.kept.get(one.forms[k], 0.0) >= RELIABLE for one in read for k in one.closed)
    each = [len(one.missing) for one in judged]
    own = sum(len(item.pronouns) for item in items)
    return {
        "source pronouns": count,
        "missing": 100 * sum(each) / max(1, count),
        "surplus": 100 * sum(len(one.surplus) for one in judged) / max(1, own),
        "each": each,
    }


def dropped(data: Path) -> dict[str, Any]:
    """By source language, the mismatches of each kind of pair that `prepare filter.source=drop` dropped, and kept."""
    found: dict[str, dict[str, dict[str, int]]] = {}
    for language, counts in arrow.read_manifest(data)["counts"]["source"].items():
        for kind in ("noisy", "system"):
            name = f"{kind} mismatch"
            reasons = {**counts.get("dropped", {}).get(name, {}), "kept": counts.get("kept", {}).get(name, 0)}
            found.setdefault(kind, {})[language] = reasons
    return {"dropped": found}


def units(pairs: Sequence[Pair]) -> list[str]:
    """What intervals resample: documents, or blocks of 20 segments where documents are unknown."""
    docs = [pair.doc for pair in pairs]
    return docs if len(set(docs)) > 1 else [str(pair.seg // BLOCK) for pair in pairs]


def _is_short(pair: Pair) -> bool:
    return max(len(pair.better), len(pair.worse)) + len(join(pair.context)) < LONGEST


def _figures(sides: Sequence[tuple[Judged, Judged]], combination: Combination, docs: Sequence[str]) -> dict[str, Any]:
    """Accuracy of "the first of two texts is better", without and with the source, by score and by errors."""
    figures: dict[str, Any] = {"pairs": len(sides), "documents": len(set(docs))}
    for by in ("score", "errors"):
        marks = []
        for scored in (
            [(a.plain, b.plain) for a, b in sides],
            [(a.with_source(combination), b.with_source(combination)) for a, b in sides],
        ):
            values = [(a.value(by), b.value(by)) for a, b in scored]
            marks.append(np.array([x is not None and y is not None and x > y for x, y in values], float))
        gain = cluster_mean(marks[1] - marks[0], docs)
        figures[by] = {
            "without": scoring.plain(cluster_share(marks[0], docs)),
            "with": scoring.plain(cluster_share(marks[1], docs)),
            "gain": scoring.plain(gain),
            "to right": int((marks[1] > marks[0]).sum()),
            "to wrong": int((marks[1] < marks[0]).sum()),
        }
    figures["missing"] = [sum(pair[k].missing for pair in sides) for k in (0, 1)]
    figures["surplus"] = [sum(pair[k].surplus for pair in sides) for k in (0, 1)]
    return figures


def _mqm(metric: Model, data: Path) -> dict[str, Any]:
    """TED MQM: pairs of two systems' texts of which a rater prefers one for its pronouns, any other words."""
    judgements = mqm.read(data / MQM)
    given = _mqm_sources(data / MQM)
    table = source_files.of_language("zh")
    pairs = [p for p in mqm.pairs(judgements, mqm.contexts(judgements)) if pair_accuracy.human_answer(p) in (A, B)]
    context = mqm.contexts(judgements)
    of_text = {
        (context[one.doc, one.seg], one.text): Text(join(context[one.doc, one.seg]), one.text, given[one.doc, one.seg])
        for one in judgements
    }
    chosen = [[of_text[pair.context, side] for side in (pair.text_a, pair.text_b)] for pair in pairs]
    texts = list(dict.fromkeys(text for both in chosen for text in both))
    judged = dict(zip(texts, judge(metric, table, texts), strict=True))
    sides = []
    for pair, (a, b) in zip(pairs, chosen, strict=True):
        better, worse = (a, b) if pair_accuracy.human_answer(pair) == A else (b, a)
        sides.append((judged[better], judged[worse]))
    docs = [str(pair.doc) for pair in pairs]
    return {"TED MQM, any other words": _figures(sides, table.combination, docs)}


def _mqm_sources(path: Path) -> Mapping[tuple[str, int], Source]:
    """The source of each segment of an MQM file, with the segments before it."""
    header, *rest = (line.split("\t") for line in read_lines(path))
    doc, seg, text = (header.index(name) for name in ("doc", "seg_id", "source"))
    lines = {(f[doc].strip(), int(f[seg])): f[text].replace("<v>", "").replace("</v>", "").strip() for f in rest}
    history = SourceHistory()
    return {place: history.source(lines[place], place[0]) for place in sorted(lines)}


def _time(metric: PronounMetric, table: SourceTable, texts: Sequence[Text]) -> dict[str, float]:
    """CPU seconds of scoring without and with the source, after a pass that warms up."""
    seconds = {}
    for name, source in (("first", table), ("without", None), ("with", table)):
        metric.inference.source = source
        start = time.process_time()
        list(metric.stream(texts))
        seconds[name] = time.process_time() - start
    metric.inference.source = None
    return {name: seconds[name] for name in ("without", "with")}


def _show(
    pairs: Sequence[Pair],
    sides: Sequence[tuple[Judged, Judged]],
    table: SourceTable,
    given: Mapping[Key, Source],
    most: int,
) -> None:
    """Print pairs that the source decided, to be read."""
    for pair, (a, b) in zip(pairs, sides, strict=True):
        before, after = (
            x > y
            for x, y in (
                (a.plain.value("score"), b.plain.value("score")),
                (a.with_source(table.combination).value("score"), b.with_source(table.combination).value("score")),
            )
            if x is not None and y is not None
        )
        if before != after and most > 0:
            most -= 1
            m = pair.mismatches[0]
            print(f"{pair.id} {m.ref_form}/{m.hyp_form} {'right' if after else 'wrong'} {a.log_odds} {b.log_odds}")
            print(f"  S {given[_key(pair)]}\n  R {pair.better}\n  {pair.worse}", flush=True)


def main() -> None:
    """Run from the command line."""
    parser = scoring.arguments(__doc__)
    scoring.add_shared(parser)
    parser.add_argument("what", choices=("fit", "human", "test", "missing", "reference", "dropped", "page"))
    parser.add_argument("--data", type=Path, metavar="PREPARED", help="folder of `pronmetric prepare`")
    parser.add_argument("--most", type=int, default=250, help="texts or pairs of a language")
    parser.add_argument("--only", choices=(*TESTS, "mqm"), help="of `test`")
    parser.add_argument("--show", type=int, default=0, help="print so many pairs that the source decided")
    parser.add_argument("--cache", type=Path, metavar="FILE.json", help="read and write the model's scores")
    parser.add_argument("--figures", type=Path, nargs="+", metavar="FILE.json", help="files of --out, for the page")
    options = parser.parse_args()
    if options.what == "page":
        source_page.write(options.figures)
        return
    if options.what == "dropped":
        figures = dropped(options.data)
    elif options.what == "missing":
        figures = missing(options.shared / "data", 4 * options.most)
    elif options.what == "reference":
        figures = missing_by_reference(options.shared / "data", options.most)
    else:
        model = Model(PronounMetric.from_pretrained(options.model), options.cache)
        figures = {"fit": fits, "human": human, "test": test}[options.what](options, model)
        model.save()
    content = {
        "benchmark": "source",
        **scoring.origin("source"),
        "weights": scoring.weights_hash(options.model),
        "combination": Combination()._asdict(),
        "figures": scoring.plain(figures),
    }
    options.out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    scoring.run(main)
