"""Agreement of the metric with MQM annotations of TED talks and, on the study set, with "the reference is better".

    python -m benchmarks.checkpoint.people --model FOLDER [--shared DIR] [--study FILE.json] [--sources]
        --out FILE.json [--page [FILE.md]]

Test data: nothing is chosen by it. A rater who judged two systems' translations of a segment votes for the one with
the lower penalty, counting only errors that touch a pronoun (`pronmetric mqm`). The model runs on these texts alone;
of the study set, whose runs are counted, only the figures that `python -m benchmarks.checkpoint.study --out FILE.json`
left are taken, of the same weights. With `--sources` a checkpoint's reader of sources reads those too. `--page` writes
published/people.md, or FILE.md, and the JSON next to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import pages
from benchmarks.checkpoint import people_page, scoring
from benchmarks.checkpoint.people_page import DOUBTS, METRIC, UNTOUCHED
from benchmarks.checkpoint.scoring import Record, Result, Scorer
from pronmetric.checkpoint import config, locate
from pronmetric.errors import InputError
from pronmetric.eval.accuracy import accuracy_by, decide
from pronmetric.eval.decision import TIE, A, B
from pronmetric.eval.decision import decide as said_by
from pronmetric.eval.detection import DRAWS, detect, detect_by
from pronmetric.lab.human import mqm, mqm_pairs, pair_accuracy, votes
from pronmetric.lab.human import pair_baselines as simple
from pronmetric.lab.human.judged_pairs import JudgedPair
from pronmetric.lab.human.mqm import Judgement
from pronmetric.lab.human.pair_baselines import Both, SystemMeans
from pronmetric.lab.human.rater_agreement import tie_json
from pronmetric.pronouns.finder import find
from pronmetric.text.context import source_record

FILE = Path("data/human/mqm/mqm_ted_zhen.tsv")
PAGE = pages.PUBLISHED / "people.md"
CLOSE, NEAR, ANY = "at most 2 other words", "at most 5 other words", "any other words"
REPLACED, AS_MANY, BETTER_FEWER, BETTER_MORE = (
    "one pronoun for another",
    "as many pronouns, otherwise",
    "the better text has fewer",
    "the better text has more",
)
Scored = Mapping[tuple[str, tuple[str, ...]], Result]


def texts(judgements: Sequence[Judgement]) -> list[tuple[str, tuple[str, ...]]]:
    """What must be scored: each judged text in its context, once."""
    context = mqm.contexts(judgements)
    return list(dict.fromkeys((one.text, context[one.doc, one.seg]) for one in judgements))


def with_sources(score: Scorer, judgements: Sequence[Judgement]) -> Scorer:
    """A scorer of the judged texts in their contexts that gives `score` their sources too."""
    context, source = mqm.contexts(judgements), mqm.sources(judgements)
    known = {(one.text, context[one.doc, one.seg]): source.get((one.doc, one.seg)) for one in judgements}

    def scored(records: Sequence[Record]) -> Sequence[Result]:
        return score(
            [
                Record(**record, **source_record(known[record["text"], tuple(record["context"])]))  # type: ignore[typeddict-item]
                for record in records
            ]
        )

    return scored


def measure(
    score: Scorer, judgements: Sequence[Judgement], *, threshold: float | None, seed: int = 0, draws: int = DRAWS
) -> dict[str, Any]:
    """All figures on MQM judgements, from one call of `score`; `threshold` is the checkpoint's tie threshold."""
    context = mqm.contexts(judgements)
    wanted = texts(judgements)
    scored = dict(zip(wanted, scoring.score_all(score, wanted, seed=seed), strict=True))
    means = SystemMeans((one.system, one.doc, -sum(e.weight for e in one.errors)) for one in judgements)
    widths: dict[str, dict[str, Any]] = {
        CLOSE: {"other_words": 2},
        NEAR: {"other_words": 5},
        ANY: {},
        UNTOUCHED: {"other_words": 2, "all_pairs": True},
    }
    sets = {name: list(mqm_pairs.pairs(judgements, context, **width)) for name, width in widths.items()}
    return {
        "tie_threshold": threshold,
        "judgements": len(judgements),
        "documents": len({one.doc for one in judgements}),
        "raters": len({one.rater for one in judgements}),
        "sets": {
            name: held(pairs, scored, means, threshold=threshold or 0.0, seed=seed)
            for name, pairs in sets.items()
            if any(pair_accuracy.human_answer(pair) in (A, B) for pair in pairs)
        },
        "detection": detection(judgements, context, scored, seed=seed, draws=draws),
    }


def held(
    pairs: Sequence[JudgedPair],
    scored: Scored,
    means: SystemMeans,
    *,
    threshold: float,
    seed: int = 0,
) -> dict[str, Any]:
    """The metric and the baselines on one set of pairs."""
    rows: dict[str, Sequence[Both]] = {
        METRIC: [_segments(pair, scored) for pair in pairs],
        DOUBTS: [_doubts(pair, scored) for pair in pairs],
        **simple.score_baselines(pairs, means=means),
    }
    own = rows[METRIC]
    raters = votes.collect_votes(pairs)
    figures = {name: pair_accuracy.evaluate(pairs, scores) for name, scores in rows.items()}
    answers = {
        name: [said_by(*both, tie=threshold if name == METRIC else 0.0) for both in scores]
        for name, scores in rows.items()
    }
    kinds = [_kind(pair) for pair in pairs]
    decided = [i for i, pair in enumerate(pairs) if pair_accuracy.human_answer(pair) in (A, B)]
    docs = [pairs[i].doc for i in decided]
    whole = figures[METRIC]
    return {
        "pairs": len(pairs),
        "documents": len({pair.doc for pair in pairs}),
        "votes": Counter(vote for pair in pairs for vote in pair.votes.values()),
        "accuracy": {name: found.accuracy for name, found in figures.items()},
        "by_group": whole.by_group,
        "beside": {
            name: simple.compare_with_baseline(pairs, own, rows[name])
            for name in (simple.FEWER, simple.CHRF, simple.SYSTEM)
            if name in rows
        },
        "doubts_beside": {
            name: simple.compare_with_baseline(pairs, rows[DOUBTS], rows[name])
            for name in (simple.FEWER,)
            if name in rows
        },
        "agreement": {
            name: tie_json(
                votes.measure_metric_agreement(pairs, said, votes.collect_given(pairs), seed=seed)[mqm_pairs.JUDGE],
                "gwet",
            )
            for name, said in answers.items()
        },
        "by_rater": {
            rater: tie_json(found, "gwet")
            for rater, found in votes.measure_metric_agreement(pairs, answers[METRIC], raters, seed=seed).items()
        },
        "ties": {name: sum(said == TIE for said in given) / len(given) for name, given in answers.items()},
        "by_kind": {
            name: accuracy_by(
                [kinds[i] for i in decided],
                decide(*zip(*(_turned(pairs[i], scores[i]) for i in decided), strict=True)),
                docs,
            )
            for name, scores in rows.items()
        },
        "expected_fewer": _expected_fewer([pairs[i] for i in decided]),
    }


def detection(
    judgements: Sequence[Judgement],
    context: Mapping[tuple[str, int], tuple[str, ...]],
    scored: Scored,
    *,
    seed: int = 0,
    draws: int = DRAWS,
) -> dict[str, Any]:
    """Detection of pronouns in errors by low scores; baseline: how often a form is wrong in other documents."""
    tokens = list(mqm_pairs.label_pronouns(judgements, context))
    wrong = [token["label"] == "wrong" for token in tokens]
    forms = [str(token["pronoun"]) for token in tokens]
    docs = [str(token["doc"]) for token in tokens]
    scores = [
        _at(scored[str(token["text"]), tuple(token["context"])], token)  # type: ignore[arg-type]
        for token in tokens
    ]
    rates = SystemMeans((form, doc, -float(bad)) for form, doc, bad in zip(forms, docs, wrong, strict=True))
    known = [rates.excluding(form, doc) for form, doc in zip(forms, docs, strict=True)]
    often = [form for form, _ in Counter(f for f, bad in zip(forms, wrong, strict=True) if bad).most_common(10)]
    by_form = detect_by(forms, wrong, scores)
    categories: dict[str, list[float]] = {}
    for token, value in zip(tokens, scores, strict=True):
        if "category" in token and value is not None:
            categories.setdefault(str(token["category"]), []).append(value)
    return {
        "metric": detect(wrong, scores, docs, draws=draws, seed=seed),
        "form": detect(wrong, known, docs, threshold=-0.5, draws=draws, seed=seed),
        "by_pronoun": {form: by_form[form] for form in often},
        "by_category": {
            name: {"wrong": len(values), "median": sorted(values)[len(values) // 2]}
            for name, values in sorted(categories.items(), key=lambda named: -len(named[1]))
        },
    }


def of_study(path: Path, weights: str) -> dict[str, Any]:
    """Agreement with "the reference is better" in the report of a run on the study set, by language.

    Raises:
        InputError: no such report, figures of other weights, or of a run that wrote no agreement.
    """
    content = scoring.read_report(path, "study")
    if content["weights"] != weights:
        raise InputError(f"figures of weights {content['weights']}, the checkpoint has {weights}", file=path)
    languages = content["figures"]["languages"]
    if not all("agreement" in part for part in languages.values()):
        raise InputError("a run of an earlier version: it wrote no agreement; leave --study out", file=path)
    return {
        name: {"agreement": part["agreement"], "accuracy": part[scoring.COMMON]} for name, part in languages.items()
    }


def _segments(pair: JudgedPair, scored: Scored) -> Both:
    a, b = (scored[text, pair.context]["score"] for text in (pair.text_a, pair.text_b))
    return a, b


def _doubts(pair: JudgedPair, scored: Scored) -> Both:
    """Minus the number of pronouns that the metric expects to be wrong; 0 of a text without any."""
    found = []
    for text in (pair.text_a, pair.text_b):
        probabilities = [p["probability"] for p in scored[text, pair.context]["pronouns"]]
        found.append(None if None in probabilities else sum((p - 1.0 for p in probabilities), 0.0))
    return found[0], found[1]


def _turned(pair: JudgedPair, both: Both) -> Both:
    """The better text's score first."""
    return both if pair_accuracy.human_answer(pair) == A else (both[1], both[0])


def _kind(pair: JudgedPair) -> str:
    """How the pronouns of the two texts differ."""
    a, b = len(find(pair.text_a)), len(find(pair.text_b))
    if a != b:
        return BETTER_FEWER if (a < b) == (pair_accuracy.human_answer(pair) == A) else BETTER_MORE
    return REPLACED if pair.pronoun_a is not None and pair.pronoun_a != pair.pronoun_b else AS_MANY


def _expected_fewer(pairs: Sequence[JudgedPair]) -> float | None:
    """How often fewer pronouns would win if one random pronoun of both texts were wrong, without any judgement.

    None if both texts of each pair have equally many.
    """
    counts = [(len(find(pair.text_a)), len(find(pair.text_b))) for pair in pairs]
    shares = [max(a, b) / (a + b) for a, b in counts if a != b]
    return sum(shares) / len(shares) if shares else None


def _at(result: Result, token: Mapping[str, Any]) -> float | None:
    """The score of the pronoun at the position of the token."""
    return next(
        (p["probability"] for p in result["pronouns"] if p["start"] < token["end"] and p["end"] > token["start"]), None
    )


def main() -> None:
    """Run from the command line."""
    parser = scoring.arguments(__doc__)
    pages.add_shared(parser)
    parser.add_argument("--sources", action="store_true", help="read the sources too, by the checkpoint's reader")
    parser.add_argument("--study", type=Path, metavar="FILE.json", help="figures of checkpoint.study, of these weights")
    parser.add_argument(
        "--page", type=Path, nargs="?", const=PAGE, metavar="FILE.md", help=f"write the page (default {PAGE.name})"
    )
    options = parser.parse_args()
    weights = pages.weights_hash(options.model)
    study = None if options.study is None else of_study(options.study, weights)
    folder = locate.locate(options.model).folder
    if options.sources and locate.reader_of(folder) is None:
        raise InputError("--sources: the checkpoint has no reader of sources; leave it out", file=folder)
    judgements = mqm.read(options.shared / FILE)
    scorer = scoring.load(options)
    threshold = config.read(folder / locate.CONFIG).get(config.TIE)
    score = with_sources(scorer, judgements) if options.sources else scorer
    figures = {**measure(score, judgements, threshold=threshold, seed=options.seed), "study": study}
    content = scoring.report("people", options, scorer, figures)
    text = people_page.page(content)
    if options.page is not None:
        pages.write_page(options.page, text, content)
    print(text)


if __name__ == "__main__":
    pages.run(main)
