"""Calibration of the pronoun probabilities on held-out references with errors at a natural rate.

    python -m benchmarks.checkpoint.calibration --model FOLDER --data PREPARED
        [--wmt DIR] [--split test] [--no-source] [--out FILE.json]

Every reference sentence of the split's test sets, two sentences of context before it, with its pronouns replaced as
often as the outputs of WMT22 have another pronoun than the reference (`counts` of the prepared folder's manifest)
and by the forms that systems put there (its confusion.json). A replaced pronoun is wrong, all others are right.
`--form study` measures the same in the study set's form (lower-cased, without punctuation). A checkpoint with a reader
of sources reads them; `--no-source` leaves them out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from sklearn.metrics import brier_score_loss

from benchmarks import pages
from benchmarks.checkpoint import scoring
from benchmarks.checkpoint.reliability import BINS, expected_calibration_error, reliability
from benchmarks.checkpoint.scoring import Record, Result, Scorer
from data_prep.wmt import discovery
from pronmetric.data import arrow
from pronmetric.errors import InputError
from pronmetric.eval import calibration as evaluation
from pronmetric.eval.estimates import cluster_share
from pronmetric.pronouns.corrupt import ConfusionTable, CorruptionRates, corrupt
from pronmetric.pronouns.finder import find
from pronmetric.text.context import Source, SourceHistory
from pronmetric.text.writing import study_form

NATURAL = "*2022.*"
_CONTEXT = 2


@dataclass(frozen=True, slots=True)
class Sentence:
    """A reference sentence with its context and the unit (document) it is resampled with; its source, if known."""

    text: str
    context: tuple[str, ...]
    unit: str
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class Noised:
    """A sentence with some pronouns replaced; `wrong` are their spans."""

    text: str
    context: tuple[str, ...]
    unit: str
    wrong: tuple[tuple[int, int], ...]
    source: Source | None = None

    @property
    def record(self) -> Record:
        """The sentence to score; a scorer without a reader of sources ignores its source."""
        record = Record(text=self.text, context=list(self.context))
        if self.source is not None:
            record |= Record(source=self.source.text, source_context=list(self.source.before))
        return record


def natural_rate(manifest: Mapping[str, Any], pattern: str = NATURAL) -> float:
    """Share of the reference's pronouns for which the outputs of test sets like `pattern` have another pronoun."""
    testsets = manifest["counts"]["testsets"]
    found = [counts for name, counts in testsets.items() if fnmatchcase(name, pattern)]
    pronouns = sum(counts["compared"].get("ref pronouns", 0) for counts in found)
    if not pronouns:
        raise InputError(f"the manifest counts no reference pronoun of test sets {pattern}; use --natural PATTERN")
    return sum(counts.get("mismatches", {}).get("pronoun", 0) for counts in found) / pronouns


def held_out(manifest: Mapping[str, Any], split: str) -> list[str]:
    """The test sets of a split, none of which may be in training."""
    found = manifest["splits"][split]["testsets"]
    both = sorted(set(found) & set(manifest["splits"]["train"]["testsets"]))
    if both:
        raise InputError(f"test set {both[0]} is in {split} and in train; calibration needs whole test sets held out")
    return list(found)


def sentences(folder: Path, testsets: Sequence[str]) -> list[Sentence]:
    """The reference sentences with a pronoun of these test sets, each text in its context once."""
    found: dict[tuple[str, tuple[str, ...]], Sentence] = {}
    for testset in discovery.discover(folder).testsets:
        if testset.id not in testsets:
            continue
        for document in discovery.read(testset):
            history = SourceHistory()
            for index, segment in enumerate(document.segments):
                source = None if segment.src is None else history.source(segment.src)
                before = document.segments[max(0, index - _CONTEXT) : index]
                unit = f"{testset.id}/{document.doc}" + ("" if document.exact else f"/{index // 20}")
                for name, text in segment.refs.items():
                    context = tuple(s.refs[name] for s in before if s.refs.get(name))
                    if find(text):
                        found.setdefault((text, context), Sentence(text, context, unit, source))
    if not found:
        raise InputError(f"no reference with a pronoun in test sets {', '.join(testsets)}", file=folder)
    return list(found.values())


def in_study_form(texts: Iterable[Sentence]) -> list[Sentence]:
    """The sentences lower-cased and without punctuation."""
    return [replace(s, text=study_form(s.text), context=tuple(map(study_form, s.context))) for s in texts]


def add_noise(texts: Sequence[Sentence], table: ConfusionTable, *, rate: float, seed: int = 0) -> list[Noised]:
    """Replace about `rate` of the pronouns by forms that systems wrote."""
    rng = np.random.default_rng(seed)
    made = []
    for s in texts:
        done = corrupt(s.text, find(s.text), rng, CorruptionRates.raw(rate), table=table)
        wrong = tuple(span for span, replaced in zip(done.spans, done.replaced, strict=True) if replaced)
        made.append(Noised(done.text, s.context, s.unit, wrong, s.source))
    return made


def measure(score: Scorer, texts: Sequence[Noised], *, seed: int = 0) -> dict[str, Any]:
    """All figures of a scorer on noised sentences."""
    results = score([s.record for s in texts])
    probabilities, labels, units = _labelled(texts, results)
    unseen = sum(not scoring.scored_at(r, *span) for s, r in zip(texts, results, strict=True) for span in s.wrong)
    halves = np.array([crc32(unit.encode()) % 2 for unit in units])
    logits = evaluation.logit(probabilities)
    refitted = np.empty(len(labels))
    for half in (0, 1):  # each half is calibrated with the parameters of the other
        if set(labels[halves != half]) != {0.0, 1.0}:
            raise InputError("calibration needs right and wrong pronouns in both halves of the documents")
        refitted[halves == half] = evaluation.fit_platt(logits[halves != half], labels[halves != half])(
            logits[halves == half]
        )
    return {
        "ece": expected_calibration_error(probabilities, labels),
        "bins": BINS,
        "brier": float(brier_score_loss(labels, probabilities)),
        "pronouns": len(labels),
        "sentences": len(texts),
        "wrong": int((1 - labels).sum()),
        "wrong_unscored": unseen,
        "mean_probability": float(probabilities.mean()),
        "right": cluster_share(labels, units),
        "reliability": reliability(probabilities, labels),
        "platt": evaluation.fit_platt(logits, labels),
        "ece_after_platt": expected_calibration_error(refitted, labels),
    }


def _labelled(texts: Sequence[Noised], results: Sequence[Result]) -> tuple[np.ndarray, np.ndarray, list[str]]:
    probabilities, labels, units = [], [], []
    for sentence, result in zip(texts, results, strict=True):
        for pronoun in result["pronouns"]:
            if pronoun["probability"] is None:
                raise InputError("a head without probabilities cannot be calibrated; train with head=logit")
            hit = any(pronoun["start"] < end and pronoun["end"] > start for start, end in sentence.wrong)
            probabilities.append(pronoun["probability"])
            labels.append(0.0 if hit else 1.0)
            units.append(sentence.unit)
    return np.array(probabilities), np.array(labels), units


def show(figures: Mapping[str, Any]) -> str:
    """The figures as a short table."""
    rows = [
        [f"{b.low:.3f} .. {b.high:.3f}", b.count, f"{b.probability:.3f}", f"{b.frequency:.3f}"]
        for b in figures["reliability"]
    ]
    platt = figures["platt"]
    lines = (
        pages.table(["probability", "pronouns", "mean", "right"], rows),
        f"expected calibration error {figures['ece']:.4f} ({figures['bins']} equal-mass bins), "
        f"Brier score {figures['brier']:.4f}",
        f"{figures['pronouns']} pronouns, {figures['wrong']} of them wrong (rate drawn {figures['rate']:.4f}), "
        f"{figures['wrong_unscored']} replaced ones unscored",
        f"Platt: logit x {platt.scale:.3f} {platt.bias:+.3f} gives {figures['ece_after_platt']:.4f} (cross-fitted)",
    )
    return "\n".join(lines)


def main() -> None:
    """Run from the command line."""
    parser = scoring.arguments(__doc__)
    pages.add_shared(parser)
    parser.add_argument("--data", type=Path, required=True, metavar="PREPARED", help="folder of `pronmetric prepare`")
    parser.add_argument("--split", choices=("development", "test"), default="development")
    parser.add_argument(
        "--wmt", type=Path, metavar="DIR", help="the WMT folder it was prepared from (default in --shared)"
    )
    parser.add_argument("--natural", default=NATURAL, metavar="PATTERN", help="test sets that determine the error rate")
    parser.add_argument("--form", choices=("natural", "study"), default="natural")
    parser.add_argument("--no-source", action="store_true", help="score without the sources")
    options = parser.parse_args()
    pages.weights_hash(options.model)
    manifest = arrow.read_manifest(options.data)
    table = ConfusionTable.load(options.data / "confusion.json")
    rate = natural_rate(manifest, options.natural)
    testsets = held_out(manifest, options.split)
    found = sentences(options.wmt or options.shared / "data" / "wmt", testsets)
    if options.form == "study":
        found = in_study_form(found)
    if options.no_source:
        found = [replace(sentence, source=None) for sentence in found]
    scorer = scoring.load(options)
    noised = add_noise(found, table, rate=rate, seed=options.seed)
    figures = measure(scorer, noised, seed=options.seed)
    figures |= {"rate": rate, "split": options.split, "form": options.form}
    scoring.report("calibration", options, scorer, figures)
    print(show(figures))


if __name__ == "__main__":
    pages.run(main)
