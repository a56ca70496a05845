"""What decides between two texts beside the score, on sets of our own: none may be worse by more than a point.

    python -m benchmarks.checkpoint.deciding --model FOLDER --data PREPARED [--out FILE.json] [--page [FILE.md]]

Sets: passages of held-out frames with the right pronouns against another person's, and rewritten documents (see
`fidelity`); singular they; gendered pronouns of held-out passages (see `gender`); sentences with two names and one
gendered pronoun (two-names.tsv: the names are of one gender, or the grammar tells whose pronoun it is); references
against noisy references and system outputs of the development split (see `pair_accuracy`). No text has a source, and
none is of a test set. The score is the mean probability of the pronouns; what decides is named by the checkpoint.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import pages
from benchmarks.checkpoint import fidelity, gap, gender, pair_accuracy, prepared, scoring
from benchmarks.checkpoint.scoring import Contrast, Scorer
from data_prep.fidelity.frames import fill, pronouns, tables
from pronmetric.checkpoint import config, locate
from pronmetric.data import arrow
from pronmetric.eval import accuracy as evaluation
from pronmetric.eval.decision import SCORE
from pronmetric.eval.estimates import cluster_mean

PAGE = pages.PUBLISHED / "deciding.md"
NAMES = Path(__file__).with_name("two-names.tsv")
TWO_NAMES = "two names and one gendered pronoun"
ONE_GENDER = "one gender"
DRAWN = 3  # pairs of a frame and a gender
LIMIT = -0.01  # the least difference that is allowed
_OTHER = {"he": "she", "she": "he"}


class Item(NamedTuple):
    """A pair of a set in a context; unit: what an interval is over."""

    name: str
    contrast: Contrast
    context: Sequence[str]
    unit: Hashable


def two_names(*, seed: int) -> list[Item]:
    """Sentences of the frames with names that no training text of ours has, for each gender of the right pronoun."""
    names, rng = tables("development").names, np.random.default_rng(seed)
    found = []
    for line in NAMES.read_text(encoding="utf-8").splitlines()[1:]:
        kind, frame = line.split("\t")
        for right, wrong in _OTHER.items():
            others = names[right if kind == ONE_GENDER else wrong]
            for _ in range(DRAWN):
                own = str(rng.choice(names[right]))
                given = {"X": own, "Y": str(rng.choice([name for name in others if name != own]))}
                texts = (fill(frame, given, [each] * pronouns(frame)).text for each in (right, wrong))
                found.append(Item(f"{TWO_NAMES}, {kind}", Contrast(*texts), (), frame))
    return found


def items(options: Any) -> list[Item]:
    """The pairs of all sets; rewritten documents only if the prepared folder has some."""
    found = [
        Item(f"fidelity, level {level}", Contrast(pair.better, pair.worse), pair.context, f"{level}/{number}")
        for level, pairs in fidelity.levels(options.number, seed=options.seed).items()
        for number, pair in enumerate(pairs)
    ]
    if arrow.FIDELITY_SPLITS[1] in arrow.read_manifest(options.data)["splits"]:
        found += [
            Item("rewritten documents", Contrast(pair.better, pair.worse), pair.context, pair.doc)
            for pair in fidelity.rewritten(options.data)
        ]
    found += [Item("singular they", *each) for _, each in fidelity.singular_they()]
    found += [
        Item("gendered pronouns of passages", gap.contrast(one), (one.before,), one.article)
        for _, one in gender.read(options.data, number=options.number, seed=options.seed)
    ]
    found += two_names(seed=options.seed)
    pairs = prepared.read(options, lambda pair: pair_accuracy.part(pair) in ("system", "noisy"))
    for pair, unit in zip(pairs, prepared.units(pairs), strict=True):
        name = pair_accuracy.PARTS[pair_accuracy.part(pair)]
        found.append(Item(name, Contrast(pair.better, pair.worse), pair.context, unit))
    return found


def measure(score: Scorer, found: Sequence[Item], by: str, *, seed: int = 0) -> dict[str, dict[str, Any]]:
    """By set the accuracy by the score, that by what decides, and the second minus the first."""
    texts = [(text, each.context) for each in found for text in (each.contrast.better, each.contrast.worse)]
    results = scoring.score_all(score, texts, seed=seed)
    figures = {}
    for name in dict.fromkeys(each.name for each in found):
        part = [number for number, each in enumerate(found) if each.name == name]
        units = [found[number].unit for number in part]
        score_right, right = (
            evaluation.decide(
                [results[2 * number]["values"][key] for number in part],
                [results[2 * number + 1]["values"][key] for number in part],
            )
            for key in (SCORE, by)
        )
        figures[name] = {
            "pairs": len(part),
            "units": len(set(units)),
            SCORE: evaluation.accuracy(score_right, units),
            "decides": evaluation.accuracy(right, units),
            "difference": cluster_mean(right.right.astype(float) - score_right.right, units),
        }
    return figures


def below(figures: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The sets where what decides is below the score by more than a point."""
    return [name for name, each in figures.items() if each["difference"].value < LIMIT]


def page(figures: Mapping[str, Mapping[str, Any]], content: Mapping[str, Any]) -> str:
    """The page as Markdown; figures: of `measure`."""
    by = content["figures"]["by"]
    rows = [["set", "pairs", "units", "by the score", f"by the {by}, which decides", "difference"]]
    for name, each in figures.items():
        shares = (pages.percent(each[key]) for key in (SCORE, "decides"))
        rows.append(
            [name, str(each["pairs"]), str(each["units"]), *shares, pages.percent(each["difference"], signed=True)]
        )
    worse = below(figures)
    return pages.fill(
        "deciding",
        **{key: content[key] for key in ("weights", "date", "signature", "command")},
        figures=pages.markdown(rows),
        below=f"Below the score by more than a point: {', '.join(worse)}." if worse else "None is below by more.",
    )


def main() -> None:
    """Run from the command line."""
    parser = scoring.arguments(__doc__)
    scoring.add_data(parser)
    parser.add_argument(
        "--number", type=int, default=200, metavar="N", help="pairs of a level, of a source of passages"
    )
    parser.add_argument("--page", type=Path, nargs="?", const=PAGE, metavar="FILE.md", help=f"default {PAGE.name}")
    options = parser.parse_args()
    pages.weights_hash(options.model)
    read = config.read(locate.locate(options.model).folder / locate.CONFIG)
    by = config.decision_of(read, None, name=options.model)
    scorer = scoring.load(options)
    figures = measure(scorer, items(options), by, seed=options.seed)
    content = scoring.report("deciding", options, scorer, {"by": by, "sets": figures})
    text = page(figures, content)
    if options.page is not None:
        pages.write_page(options.page, text, content)
    print(text)


if __name__ == "__main__":
    pages.run(main)
