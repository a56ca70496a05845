"""What do ties of a study change in training? A small trial with simulated annotators on the bundled sample.

    python -m benchmarks.study_ties [--steps N] [--page]

Half of the pronoun pairs, drawn by a seed, are made "both fine" for everybody, the others are errors. Five simulated
annotators with known error rates answer the training items. The checkpoint `small` is trained further on references
and noisy references, once without and once with `filter.ties` from these answers. `--page` writes study-ties.md and
its JSON.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import scoring
from pronmetric import PronounMetric
from pronmetric.checkpoint import locate
from pronmetric.cli.main import main as pronmetric
from pronmetric.data import arrow
from pronmetric.errors import PronmetricError
from pronmetric.lab.human import judged_pairs
from pronmetric.lab.study import folder, votes
from pronmetric.lab.study.answers import Answers
from pronmetric.lab.study.folder import Study
from pronmetric.lab.study.simulation import simulate
from pronmetric.schema import Pair

ERRORS = (0.02, 0.05, 0.1, 0.15, 0.25)
STEPS, SEED = 40, 1
BEFORE, WITHOUT, WITH = "before", "trained without ties", "trained with ties"
PAGE = scoring.BENCHMARKS / "study-ties.md"
_DATA = ("data.wmt=examples/wmt-sample", "data.exclude=[]", "splits.development_share=0.5", "filter.agreement=none")
_TRAIN = (
    *("init=small", "head=logit", "objective=pairs", "data.kinds=[noisy,tie]", "data.pieces=1024", "optim.lr=1e-4"),
    *("trainer.precision=32", "trainer.threads=1", "trainer.progress=false"),
)
PronounPair = tuple[str, str]


def answer(study: Study, fine: set[PronounPair], seed: int) -> Answers:
    """Answers by annotators for whom items of the pronoun pairs in `fine` have two right versions."""
    tied = simulate(study, ERRORS, truth={"both": 1.0}, seed=seed)
    other = simulate(study, ERRORS, truth={"reference": 1.0}, seed=seed)
    return {
        name: tuple(
            (tied if study.items[task.item].pronouns in fine else other)[name][number]
            for number, task in enumerate(tasks)
        )
        for name, tasks in study.assignments.items()
    }


def pairs_of(place: Path, split: str) -> list[Pair]:
    """The references and noisy references of a split."""
    found = (arrow.to_pair(row) for row in arrow.read_pairs(place, split, kinds=("pronoun",)))
    return [pair for pair in found if pair.kind == "noisy"]


def pronouns(pair: Pair) -> PronounPair:
    """The pronoun of the reference and the other one."""
    (mismatch,) = pair.mismatches
    return mismatch.ref_form, mismatch.hyp_form


def differences(model: str | Path, pairs: Sequence[Pair]) -> np.ndarray:
    """The score of the reference less that of the noisy reference (pairs,)."""
    metric = PronounMetric.from_pretrained(model)
    records = [{"text": text, "context": list(pair.context)} for pair in pairs for text in (pair.better, pair.worse)]
    scores = np.array([found.score for found in metric.predict(records).segments], dtype=float).reshape(-1, 2)
    if np.isnan(scores).any():
        raise PronmetricError("a text has no score; give pairs whose texts have pronouns")
    return scores[:, 0] - scores[:, 1]


def figures(found: np.ndarray) -> dict[str, float]:
    """The mean distance of the scores, and the share of pairs whose reference has the higher score."""
    return {"distance": round(float(np.abs(found).mean()), 4), "higher": round(float((found > 0).mean()), 4)}


def run(*line: str) -> None:
    """One command of `pronmetric`; its output goes to stderr."""
    with contextlib.redirect_stdout(sys.stderr):
        code = pronmetric(line)
    if code:
        raise PronmetricError(f"pronmetric {line[0]} failed")


def measure(place: Path, steps: int) -> dict[str, Any]:
    """All figures."""
    first, second, ties = place / "first", place / "second", place / "pairs.jsonl"
    run("prepare", *_DATA, f"out={first}")
    run("study", "sample", str(first), "-o", str(place / "study"), "--annotators", str(len(ERRORS)), "--quiet")
    study = folder.read(place / "study")
    kinds = sorted({item.pronouns for item in study.items.values()})
    fine = {kinds[k] for k in np.random.default_rng(SEED).permutation(len(kinds))[: len(kinds) // 2]}
    judged = list(votes.judged_pairs(study, votes.collect(study, answer(study, fine, SEED))))
    ties.write_text("".join(judged_pairs.to_line(pair) + "\n" for pair in judged), encoding="utf-8")
    run("prepare", *_DATA, f"filter.ties={ties}", f"out={second}")
    models: dict[str, str | Path] = {BEFORE: "small"}
    for name, data in ((WITHOUT, first), (WITH, second)):
        out = place / name.replace(" ", "-")
        settings = (f"trainer.max_steps={steps}", f"trainer.validate_every={steps}", "trainer.max_epochs=1000")
        run("train", *_TRAIN, *settings, f"data.dir={data}", f"out={out}")
        models[name] = out / "checkpoint"
    sets = {"seen": pairs_of(first, "train"), "unseen": pairs_of(first, "development")}
    rows = []
    for name, pairs in sets.items():
        is_fine = np.array([pronouns(pair) in fine for pair in pairs])
        found = {model: differences(path, pairs) for model, path in models.items()}
        for kind, chosen in (("tie", is_fine), ("error", ~is_fine)):
            by_model = {model: figures(own[chosen]) for model, own in found.items()}
            rows.append({"items": name, "kind": kind, "pairs": int(chosen.sum()), **by_model})
    truth = {item.id for item in study.items.values() if item.pronouns in fine}
    tied = {pair.id for pair in judged if pair.better == "tie"}
    return {
        "weights": scoring.weights_hash(locate.locate("small").folder),
        "steps": steps,
        "items": len(study.items),
        "fine": len(truth),
        "tied": len(tied),
        "right": len(tied & truth),
        "rows": rows,
    }


def page(content: Mapping[str, Any]) -> str:
    """The page of these figures."""
    models = (BEFORE, WITHOUT, WITH)
    rows = "\n".join(
        f"| {one['items']}, {one['kind']} | {one['pairs']} | "
        + " | ".join(f"{one[model]['distance']:.3f} ({100 * one[model]['higher']:.1f})" for model in models)
        + " |"
        for one in content["rows"]
    )
    errors = ", ".join(f"{100 * error:g} %" for error in ERRORS)
    won = f"{content['tied']} items, {content['right']} of the {content['fine']} that are fine"
    return f"""# Ties of a study in training

Weights: `{content["weights"]}` and what training makes of them. JSON: `study-ties.json`. Written by
`python -m benchmarks.study_ties --page`.

A small trial on the bundled sample, with simulated annotators. Half of the pronoun pairs, drawn at random, are made
"both fine" for everybody; the others are errors. Five annotators with error rates of {errors} answer
the {content["items"]} references and noisy references of training: "both fine" wins on {won}.
The checkpoint `small` is trained for {content["steps"]} steps on these pairs, without and with `prepare filter.ties`.

The table has the mean distance between the scores of the two texts and, in brackets, the percentage of pairs in which
the reference has the higher score. "Seen" items are those of training, "unseen" ones of other documents, with the same
rule for their pronoun pairs. Ties should come closer together, errors should not.

| items | pairs | {" | ".join(models)} |
|---|---:|---:|---:|---:|
{rows}

One run of each; the differences between the two trained models on few pairs may be chance. The truth of these
annotators is drawn at random, so that nothing follows for people's answers.
"""


def main() -> int:
    """Run the trial; print or write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=STEPS, help="of each training (default: %(default)s)")
    parser.add_argument("--page", action="store_true", help="write the page and its JSON")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        content = measure(Path(place), args.steps)
    if args.page:
        scoring.write_page(PAGE, page(content), content)
    print(page(content))
    print(json.dumps(content["rows"]), file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
