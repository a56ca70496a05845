"""Pair accuracy on the published study set: French and German, lower-cased, reference against noisy reference.

    python -m benchmarks.checkpoint.study --model FOLDER --log [FILE] [--shared DIR] [--out FILE.json]

The study set is test data. A run on a model needs `--log`, which adds a line to benchmarks/published/study-runs.md
(or FILE) and is refused once that holds six runs: choose on development data, run finished candidates only.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import pages
from benchmarks.checkpoint import scoring
from benchmarks.checkpoint.scoring import COMMON, NONE, SHUFFLED, Contrast, Judged, Scorer
from pronmetric.errors import InputError, PronmetricError
from pronmetric.eval import accuracy as evaluation
from pronmetric.eval.decision import A, decide
from pronmetric.lab.human import votes
from pronmetric.lab.human.judged_pairs import STUDY_JUDGE, JudgedPair
from pronmetric.lab.human.rater_agreement import tie_json

LANGUAGES = ("french", "german")
RUNS_ALLOWED = 6
LOG = pages.PUBLISHED / "study-runs.md"
_DOCUMENT = 50  # lines of a test set taken as one document: the files give no boundaries
_HEADER = """# Runs on the study set

Test data: at most six runs, each on a finished candidate. Accuracy in percent with the 95 % interval (resampling
reference sentences), common context; unscored: share of samples whose differing position has no score on one side.

| date | weights | checkpoint | French | German | French, no context | German, no context | equal | null | unscored |
|---|---|---|---|---|---|---|---|---|---|
"""


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample: tokens of both sentences, the joined context and the index of the first differing token."""

    id: str
    language: str
    reference: tuple[str, ...]
    noisy: tuple[str, ...]
    context: tuple[str, ...]
    position: int
    reference_pronoun: str
    noisy_pronoun: str
    one_token: bool
    testset: str
    line: int


def read(folder: Path) -> list[Sample]:
    """The samples of all languages, in file order."""
    samples = []
    for language in LANGUAGES:
        path = folder / f"{language}.jsonl"
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except OSError as error:
            raise InputError(
                f"no study file ({error.strerror}): give the shared folder with --shared", file=path
            ) from error
        samples += [_sample(json.loads(line)) for line in lines]
    return samples


def _sample(row: Mapping[str, Any]) -> Sample:
    return Sample(
        id=row["id"],
        language=row["lang"],
        reference=tuple(row["reference"]),
        noisy=tuple(row["noisy"]),
        context=(" ".join(row["context"]),) if row["context"] else (),
        position=row["position"],
        reference_pronoun=row["reference_pronoun"],
        noisy_pronoun=row["noisy_pronoun"],
        one_token=row["one_token"],
        testset=row["origin_testset"],
        line=row["origin_line"],
    )


def token_span(tokens: Sequence[str], index: int) -> tuple[int, int]:
    """The span of token `index` in the tokens joined by blanks.

    >>> token_span(["i", "saw", "it"], 1)
    (2, 5)
    """
    start = sum(len(token) + 1 for token in tokens[:index])
    return start, start + len(tokens[index])


def contexts(samples: Sequence[Sample], *, seed: int = 0) -> dict[str, scoring.Contexts]:
    """The samples' own context, none, and that of another place of the same test set's language."""
    foreign: dict[str, tuple[str, ...]] = {}
    for language in LANGUAGES:
        part = [s for s in samples if s.language == language]
        given = scoring.shuffle_contexts(
            [s.context for s in part],
            items=[(s.reference, s.context) for s in part],
            groups=[(s.testset, s.line // _DOCUMENT) for s in part],
            seed=seed,
        )
        foreign |= {s.id: context for s, context in zip(part, given, strict=True)}
    return {
        COMMON: scoring.same([s.context for s in samples]),
        NONE: scoring.same([() for _ in samples]),
        SHUFFLED: scoring.same([foreign[s.id] for s in samples]),
    }


def measure(score: Scorer, samples: Sequence[Sample], *, seed: int = 0) -> dict[str, Any]:
    """All figures of a scorer on the samples, from one call of `score`."""
    contrasts = [Contrast(" ".join(s.reference), " ".join(s.noisy)) for s in samples]
    judged = scoring.judge(score, contrasts, contexts(samples, seed=seed), seed=seed)
    parts = {language: [i for i, s in enumerate(samples) if s.language == language] for language in LANGUAGES}
    parts["all"] = list(range(len(samples)))
    confusions = evaluation.confusions(
        [s.reference_pronoun for s in samples], [s.noisy_pronoun for s in samples], judged[COMMON].decisions
    )
    return {
        "languages": {
            name: _part([samples[i] for i in part], scoring.pick(judged, part), seed) for name, part in parts.items()
        },
        "confusions": confusions,
    }


def _part(samples: Sequence[Sample], judged: Mapping[str, Judged], seed: int) -> dict[str, Any]:
    clusters = [s.reference for s in samples]
    common = judged[COMMON]
    persons = ["third" if s.reference_pronoun in scoring.THIRD_PERSON else "other" for s in samples]
    tokens = ["one" if s.one_token else "block" for s in samples]
    return {
        **{kind: evaluation.accuracy(found.decisions, clusters) for kind, found in judged.items()},
        "context_gain": scoring.difference(common, judged[NONE], clusters),
        "shuffled_gain": scoring.difference(judged[SHUFFLED], judged[NONE], clusters),
        "by_token": evaluation.accuracy_by(tokens, common.decisions, clusters),
        "by_person": evaluation.accuracy_by(persons, common.decisions, clusters),
        "by_count": evaluation.accuracy_by_count(
            scoring.counts(common.better), scoring.counts(common.worse), common.decisions, clusters
        ),
        "unscored": _unscored(samples, common),
        "agreement": agreement(samples, common, seed=seed),
    }


def agreement(samples: Sequence[Sample], found: Judged, *, seed: int = 0) -> dict[str, Any]:
    """Gwet's AC1 of the scorer and "the reference is better", which is not a human answer, in each sample.

    A is the reference; without a score there is no answer. Intervals resample reference sentences.
    """
    texts = [(" ".join(s.reference), " ".join(s.noisy)) for s in samples]
    pairs = [
        JudgedPair(str(number), (), *both, better=A, doc=both[0], judge=STUDY_JUDGE)
        for number, both in enumerate(texts)
    ]
    said = [decide(a["score"], b["score"]) for a, b in zip(found.better, found.worse, strict=True)]
    return tie_json(
        votes.measure_metric_agreement(pairs, said, votes.collect_given(pairs), seed=seed)[STUDY_JUDGE], "gwet"
    )


def _unscored(samples: Sequence[Sample], judged: Judged) -> dict[str, float]:
    """Samples without a score at the differing position: in the reference, the noisy one, either."""
    missing = [
        (
            not scoring.scored_at(better, *token_span(s.reference, s.position)),
            not scoring.scored_at(worse, *token_span(s.noisy, s.position)),
        )
        for s, better, worse in zip(samples, judged.better, judged.worse, strict=True)
    ]
    either = sum(a or b for a, b in missing)
    return {
        "reference": sum(a for a, _ in missing),
        "noisy": sum(b for _, b in missing),
        "either": either,
        "share": either / len(missing),
    }


def runs(log: Path) -> int:
    """How many runs a log holds."""
    return sum(line.startswith("| 20") for line in log.read_text(encoding="utf-8").splitlines()) if log.exists() else 0


def check_log(log: Path | None) -> None:
    """Refuse a run that would not be logged, or that exceeds the limit."""
    if log is None:
        raise PronmetricError(
            f"a run on the study set counts and needs --log; choose on development data first "
            f"({RUNS_ALLOWED - runs(LOG)} of {RUNS_ALLOWED} runs are left)"
        )
    if runs(log) >= RUNS_ALLOWED:
        raise PronmetricError(f"{log} holds {runs(log)} runs already; {RUNS_ALLOWED} are allowed")


def log_line(content: Mapping[str, Any], checkpoint: str) -> str:
    """One line of the log, from a report."""
    languages = content["figures"]["languages"]

    def cell(language: str, kind: str) -> str:
        found = languages[language][kind]
        return pages.percent(evaluation.Estimate(found["accuracy"], found["low"], found["high"]))

    whole = languages["all"]
    cells = [
        content["date"],
        content["weights"],
        checkpoint,
        *(cell(language, kind) for kind in (COMMON, NONE) for language in LANGUAGES),
        whole[COMMON]["equal"],
        whole[COMMON]["null"],
        f"{100 * whole['unscored']['share']:.1f} %",
    ]
    return "| " + " | ".join(str(c) for c in cells) + " |\n"


def show(figures: Mapping[str, Any]) -> str:
    """The figures as two short tables."""
    rows = [
        [
            name,
            *(pages.percent(part[kind]) for kind in (COMMON, NONE, SHUFFLED)),
            pages.percent(part["context_gain"], signed=True),
            part[COMMON].equal,
            part[COMMON].null,
            f"{100 * part['unscored']['share']:.1f} %",
        ]
        for name, part in figures["languages"].items()
    ]
    wrong = [[f"{c.reference} -> {c.system}", c.wrong, c.pairs] for c in figures["confusions"][:15] if c.wrong]
    head = ["study set", "common", "none", "shuffled", "common - none", "equal", "null", "unscored"]
    return pages.table(head, rows) + "\n\n" + pages.table(["most errors", "wrong", "of"], wrong)


def main() -> None:
    """Run from the command line."""
    parser = scoring.arguments(__doc__)
    pages.add_shared(parser)
    parser.add_argument(
        "--log", type=Path, nargs="?", const=LOG, metavar="FILE", help=f"log the run (default {LOG.name})"
    )
    options = parser.parse_args()
    check_log(options.log)
    pages.weights_hash(options.model)
    samples = read(options.shared / "data" / "study")
    scorer = scoring.load(options)
    figures = measure(scorer, samples, seed=options.seed)
    content = scoring.report("study", options, scorer, figures)
    if not options.log.exists():
        options.log.write_text(_HEADER, encoding="utf-8")
    with options.log.open("a", encoding="utf-8") as log:
        log.write(log_line(content, Path(options.model).name))
    print(show(figures))


if __name__ == "__main__":
    pages.run(main)
