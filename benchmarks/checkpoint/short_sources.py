"""Short sentences without context, in which only the source tells which of two pronouns is right, in eight languages.

    python -m benchmarks.checkpoint.short_sources --model FOLDER [--page [FILE.md]]

`short-sources.tsv` has a source and its translation in each line, as `{She|He} was late.`, first the right pronoun. In
languages that leave out subjects the form of the verb or adjective decides; a sentence that leaves it open is left out.
The checkpoint must have a reader of sources. Figures: accuracy of the pronoun's probability, right against wrong, with
the source and without; the share of right pronouns that the source speaks against (log-odds below 0), and contradicts
(at most -1, as reports say); and the share of right texts whose score the source lowers by more than 0.1. Intervals
resample the English sentences, which the languages share.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import pages
from pronmetric.errors import PronmetricError
from pronmetric.eval.estimates import cluster_share
from pronmetric.metric import PronounMetric
from pronmetric.scoring.score import Counts, PronounScore, SegmentScore
from pronmetric.text.context import NONE, Source, Text
from pronmetric.text.entry import read_table

TABLE = Path(__file__).with_name("short-sources.tsv")
PAGE = pages.PUBLISHED / "short-sources.md"
CONTRADICTS = -1.0  # log-odds from which reports say that the source contradicts a pronoun
FALLS = 0.1
ALL = "all"
_EITHER = re.compile(r"\{([^|{}]+)\|([^|{}]+)\}")
NAMES = {
    "without": "right without the source",
    "with": "right with it",
    "against": "log-odds below 0",
    "contradicted": "contradicted",
    "falls": "falls by 0.1",
}


class Item(NamedTuple):
    """A source, the text with the right and with the wrong pronoun, and where this starts in both."""

    language: str
    source: str
    right: str
    wrong: str
    start: int

    @property
    def unit(self) -> str:
        """What the languages share: the two texts."""
        return f"{self.right}\n{self.wrong}"


class Judged(NamedTuple):
    """What a metric says of an item: probabilities of its right and wrong pronoun, and of the right text the scores.

    log_odds: of the source, of the right pronoun.
    """

    item: Item
    without: tuple[float, float]
    with_source: tuple[float, float]
    scores: tuple[float, float]
    log_odds: float

    @property
    def values(self) -> dict[str, bool]:
        """What the figures count, by the keys of `NAMES`."""
        return {
            "without": self.without[0] > self.without[1],
            "with": self.with_source[0] > self.with_source[1],
            "against": self.log_odds < 0,
            "contradicted": self.log_odds <= CONTRADICTS,
            "falls": self.scores[1] < self.scores[0] - FALLS,
        }


def read(path: Path = TABLE) -> list[Item]:
    """The items of a table, in order.

    Raises:
        InputError: with file and line, if a column is missing or a text has not exactly one pair of pronouns.
    """
    items = []
    for row in read_table(path, ("language", "source", "text"), expected="short sources"):
        language, source, text = (row.string(name) for name in ("language", "source", "text"))
        found = list(_EITHER.finditer(text))
        if len(found) != 1:
            row.fail(f"expected one {{right|wrong}} in the text, got {text!r}")
        right, wrong = (text[: found[0].start()] + form + text[found[0].end() :] for form in found[0].groups())
        items.append(Item(language, source, right, wrong, found[0].start()))
    return items


def judge(metric: PronounMetric, items: Sequence[Item]) -> list[Judged]:
    """What the metric says of each item.

    Raises:
        PronmetricError: the metric reads no sources, or finds no pronoun where one is.
    """
    if metric.reader is None:
        raise PronmetricError(f"expected a checkpoint with a reader of sources, got {metric.name}")
    bare = [Text("", text) for item in items for text in (item.right, item.wrong)]
    sources = [Source(item.source) for item in items for _ in range(2)]
    sourced = [text._replace(source=source) for text, source in zip(bare, sources, strict=True)]
    both = [_pairs(metric.stream(texts)) for texts in (bare, sourced)]
    return [_judged(item, *each) for item, *each in zip(items, *both, strict=True)]


def _pairs(segments: Iterator[SegmentScore]) -> list[tuple[SegmentScore, SegmentScore]]:
    """The scores of the right and the wrong text of each item."""
    listed = list(segments)
    return list(zip(listed[::2], listed[1::2], strict=True))


def _judged(item: Item, bare: Sequence[SegmentScore], sourced: Sequence[SegmentScore]) -> Judged:
    pronouns = [[_at(segment, item) for segment in pair] for pair in (bare, sourced)]
    evidence, scores = pronouns[1][0].evidence, (bare[0].score, sourced[0].score)
    assert evidence is not None and scores[0] is not None and scores[1] is not None  # it has a source and a pronoun
    without, with_source = ((right.score, wrong.score) for right, wrong in pronouns)
    return Judged(item, without, with_source, (scores[0], scores[1]), evidence.log_odds)


def _at(segment: SegmentScore, item: Item) -> PronounScore:
    """The pronoun of a text that the item is about."""
    for pronoun in segment.pronouns:
        if pronoun.start == item.start:
            return pronoun
    raise PronmetricError(f"no pronoun is found in {item.right!r} or {item.wrong!r} at {item.start}")


def figures(judged: Sequence[Judged]) -> dict[str, Any]:
    """The shares of all items and of each language."""
    found = {}
    for language in (ALL, *dict.fromkeys(each.item.language for each in judged)):
        own = [each for each in judged if language in (ALL, each.item.language)]
        units = [each.item.unit for each in own]
        shares = {name: cluster_share(np.array([each.values[name] for each in own]), units) for name in NAMES}
        found[language] = {"items": len(own), **shares}
    return found


def faults(each: Judged) -> list[str]:
    """What is wrong with an item, by "wrong" and keys of `NAMES`."""
    found = {"wrong": not each.values["with"], **{name: each.values[name] for name in ("contradicted", "falls")}}
    return [name for name, there in found.items() if there]


def wrong(judged: Sequence[Judged]) -> list[dict[str, Any]]:
    """The items that are wrong with the source, whose right pronoun it contradicts, or whose score it lowers."""
    return [
        {
            "language": each.item.language,
            "source": each.item.source,
            "right": each.item.right,
            "wrong": each.item.wrong,
            "without": each.without,
            "with": each.with_source,
            "log_odds": each.log_odds,
            "faults": faults(each),
        }
        for each in judged
        if faults(each)
    ]


def page(content: Mapping[str, Any]) -> str:
    """The page as Markdown, from the JSON of the figures."""
    figures = content["figures"]
    rows = [["", "sentences", *NAMES.values()]]
    rows += [[name, str(own["items"]), *(_share(own[key]) for key in NAMES)] for name, own in figures.items()]
    listed = [["", "source", "right", "wrong", "without the source", "with it", "log-odds", "faults"]]
    for each in content["wrong"]:
        both = (" / ".join(f"{p:.2f}" for p in each[key]) for key in ("without", "with"))
        texts = (each[key] for key in ("language", "source", "right", "wrong"))
        listed.append([*texts, *both, f"{each['log_odds']:+.2f}", ", ".join(each["faults"])])
    return pages.fill(
        "short-sources",
        weights=content["weights"],
        date=content["date"],
        signature=content["signature"],
        command=content["command"],
        items=figures[ALL]["items"],
        languages=len(figures) - 1,
        figures=pages.markdown(rows),
        wrong=pages.markdown(listed),
    )


def _share(share: Mapping[str, float]) -> str:
    """In percent with its interval."""
    low, high = share["low"], share["high"]
    return f"{100 * share['value']:.1f}" + ("" if low is None else f" [{100 * low:.1f}, {100 * high:.1f}]")


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", metavar="NAME|FOLDER", help="default: the shipped checkpoint")
    parser.add_argument("--precision", choices=("32", "bf16", "16"), help="default: the metric's own")
    parser.add_argument(
        "--page", type=Path, nargs="?", const=PAGE, metavar="FILE.md", help="write the page and its JSON"
    )
    options = parser.parse_args()
    metric = PronounMetric.from_pretrained(options.model, precision=options.precision)
    judged = judge(metric, read())
    content = {
        **pages.origin("checkpoint.short_sources"),
        "weights": metric.hash,
        "signature": str(metric.signature(context=NONE, counts=Counts(with_source=len(judged)))),
        "figures": figures(judged),
        "wrong": wrong(judged),
    }
    text = page(pages.plain(content))
    print(text)
    if options.page is not None:
        pages.write_page(options.page, text, content)


if __name__ == "__main__":
    pages.run(main)
