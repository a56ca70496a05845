"""A checkpoint of several target languages: replaced and deleted pronouns, the choice of gender.

    python -m benchmarks.checkpoint.target_languages --data PREPARED ... [--model NAME|FOLDER] [--wmt-dir DIR]
        [--limit N] [--out FILE.json] [--page [FILE.md]]

The texts of a language are of two kinds: the development references of its prepared folder, and, where the folder of
WMT has its pair into English, the original of that test set (default: WMT22) with the English reference as its source.
Of a language that the checkpoint was not trained on they are the references of all parts of its folder, and the choice
of gender is not measured. Each is scored with its source, without it, and with it but without any previous sentence.

- Areas under the ROC curve: a fifth of the pronouns are replaced by the folder's confusion table.
- Areas of the gaps where a tenth of the pronouns were deleted (`gap_fit.shorten`), with the source alone.
- The choice of gender: a singular subject pronoun of the third person against those of the other genders (er, sie, es),
  where all third-person pronouns of the English sentence are of one kind: it, he or she. A choice is right if the text
  as it is scores strictly higher. `target_suites` has sets in which the antecedent is known.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks import pages
from benchmarks.checkpoint.prepared import BLOCK
from data_prep.wmt import discovery
from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.checkpoint import locate
from pronmetric.data.collate import Example
from pronmetric.eval.detection import detect
from pronmetric.eval.estimates import Estimate, cluster_share
from pronmetric.metric import PronounMetric
from pronmetric.pronouns.corrupt import ConfusionTable, match_case
from pronmetric.pronouns.languages import ENGLISH, Language, referents
from pronmetric.text.context import CONTEXT_SIZE, Source, SourceHistory, Text, join
from pronmetric.training.after import gap_fit
from pronmetric.training.examples.labelled import Corrupter
from pronmetric.training.examples.prepared import Folder
from pronmetric.training.source.data import read_translations, replaced

PAGE = pages.PUBLISHED / "target-languages.md"
DEVELOPMENT, TEST, HELD_OUT = "development", "test", "held out"
WAYS = ("source", "no source", "source, no context")
KINDS = {"singularneuter": "it", "singularmasculine": "he or she", "singularfeminine": "he or she"}


class Sample(NamedTuple):
    """A text in a target language with its English: a row as in a prepared folder, and the unit of its intervals."""

    row: Mapping[str, Any]
    unit: Hashable


class Choice(NamedTuple):
    """A text and its copies with a pronoun of another gender; kind: of the English pronoun."""

    texts: tuple[str, ...]
    sample: Sample
    form: str
    kind: str


def of_folder(folder: Path, *parts: str) -> list[Sample]:
    """The references in these parts of a prepared folder."""
    rows = (row for part in parts for row in read_translations(folder, f"translations_{part}"))
    return [Sample(row, _unit(row)) for row in rows if row["kind"] == "reference"]


def _unit(row: Mapping[str, Any]) -> Hashable:
    """The document of a row; where its test set gives none, a block of segments."""
    testset, *_, seg = row["id"].split("/")
    return (testset, int(seg) // BLOCK) if row["doc"] == testset else row["doc"]


def of_testset(testset: str, code: str, wmt: Path) -> list[Sample]:
    """The originals of the test set from a language into English, with the reference as the source; none if absent."""
    found = [one for one in discovery.find(wmt) if discovery.matches(one, f"{testset}:{code}-{ENGLISH.code}")]
    samples = []
    for document in (each for one in found[:1] for each in discovery.read(one)):
        originals, references = SourceHistory(), SourceHistory()
        for segment in document.segments:
            if not segment.src or not segment.refs:
                continue
            text = originals.source(segment.src)
            source = references.source(segment.refs[min(segment.refs)])
            row = {"text": text.text, "context": text.before[-CONTEXT_SIZE:], "source": source.text}
            row |= {"source_context": source.before, "language": ENGLISH.code}
            samples.append(Sample(row, document.doc if document.exact else segment.seg // BLOCK))
    return samples


def as_read(sample: Sample, text: str, way: str) -> Text:
    """A text in one of `WAYS`."""
    row, in_context = sample.row, way != WAYS[2]
    source = Source(row["source"], tuple(row["source_context"]) if in_context else ())
    return Text(join(row["context"]) if in_context else "", text, None if way == WAYS[1] else source)


def detection(metric: PronounMetric, samples: Sequence[Sample], table: ConfusionTable) -> dict[str, Any]:
    """The areas under the ROC curve in each way, of all pronouns and of the third person, and their numbers."""
    rows = enumerate(sample.row for sample in samples)
    corrupted = replaced(rows, Corrupter(table, language=metric.language), forms=metric.config["pronouns"])
    wrong = np.array([right == 0 for item in corrupted.items for right in item.right], dtype=bool)
    third = np.array([each for own in corrupted.third for each in own], dtype=bool)
    units = [sample.unit for sample, item in zip(samples, corrupted.items, strict=True) for _ in range(len(item.right))]
    parts = {"all": np.flatnonzero(np.ones(len(wrong), dtype=bool)), "third": np.flatnonzero(third)}
    found: dict[str, Any] = {
        "texts": len(samples),
        **{f"pronouns {name}": len(part) for name, part in parts.items()},
        **{f"replaced {name}": int(wrong[part].sum()) for name, part in parts.items()},
    }
    for way in WAYS:
        texts = (as_read(s, item.example.text, way) for s, item in zip(samples, corrupted.items, strict=True))
        scores: list[float | None] = []
        for item, segment in zip(corrupted.items, metric.stream(texts), strict=True):
            by_start = {pronoun.start: pronoun.score for pronoun in segment.pronouns}
            scores += [by_start.get(start) for start, _ in item.example.spans]
        found[way] = {name: _area(wrong, scores, units, part) for name, part in parts.items()}
    return found


def deletions(metric: PronounMetric, samples: Sequence[Sample]) -> dict[str, Any] | None:
    """The area under the ROC curve of the gaps where a pronoun was deleted; None if the metric finds none missing."""
    if not metric.finds_missing:
        return None
    texts, labels = [], list[dict[int, str | None]]()
    for number, sample in enumerate(samples):
        whole = Example("", sample.row["text"], ())
        shorter, gaps = gap_fit.shorten(whole, np.random.default_rng([9, number]), metric.language)
        starts = [word.start for word in metric.language.words(shorter.text)]
        labels.append(dict(zip(starts, gaps, strict=True)))
        texts.append(as_read(sample, shorter.text, WAYS[0]))
    missing, scores, units = list[bool](), list[float](), list[Hashable]()
    for sample, own, segment in zip(samples, labels, metric.stream(texts, every_gap=True), strict=True):
        for gap in segment.gaps:
            missing.append(bool(own[gap.start]))
            scores.append(1 - gap.probability)
            units.append(sample.unit)
    area = detect(missing, scores, units).roc_auc if any(missing) else None
    return {"texts": len(samples), "gaps": len(missing), "deleted": sum(missing), "area": area}


def _area(
    wrong: np.ndarray, scores: Sequence[float | None], units: Sequence[Hashable], part: np.ndarray
) -> Estimate | None:
    """The area of a part of the pronouns; None if all are right or all are wrong."""
    if not len(part):
        return None
    chosen = part.tolist()
    return detect(wrong[part].tolist(), [scores[k] for k in chosen], [units[k] for k in chosen]).roc_auc


@cache
def genders(language: Language) -> Mapping[str, str]:
    """The gender of each singular subject pronoun of the third person; where there are no cases, of each form."""
    entries = [e for e in language.entries if (e.type, e.person, e.number) == ("personal", "3", "singular")]
    found: dict[str, str] = {}
    for entry in entries:
        if entry.case in ("subject", "-") and entry.gender in ("masculine", "feminine", "neuter"):
            found.setdefault(entry.form, entry.gender)
    return found


def choices(samples: Iterable[Sample], language: Language) -> Iterator[Choice]:
    """The texts as they are, each with its copies, one pronoun at a time."""
    of = genders(language)
    first: dict[str, str] = {}
    for form, gender in of.items():
        first.setdefault(gender, form)
    for sample in samples:
        text, kind = sample.row["text"], kind_of(sample.row["source"])
        if kind is None:
            continue
        for found in language.find(text):
            if found.form in of:
                others = [form for gender, form in first.items() if gender != of[found.form]]
                copies = (_with(text, found.start, found.end, form) for form in others)
                yield Choice((text, *copies), sample, found.form, kind)


def kind_of(english: str) -> str | None:
    """The kind of all third-person pronouns of an English text; None if there is none, or of several kinds."""
    meant = [referents(ENGLISH)[each.form] for each in ENGLISH.find(english) if each.form in referents(ENGLISH)]
    kinds = frozenset().union(*meant)
    return KINDS.get(next(iter(kinds))) if len(kinds) == 1 else None


def _with(text: str, start: int, end: int, form: str) -> str:
    return text[:start] + match_case(text, start, end, form) + text[end:]


def choosing(metric: PronounMetric, samples: Sequence[Sample]) -> dict[str, Any]:
    """The share of right choices in each way, by the kind of the English pronoun and by form."""
    made = list(choices(samples, metric.language))
    groups = defaultdict[str, list[int]](list)
    for number, one in enumerate(made):
        for part in ("all", one.form):
            groups[f"{one.kind}: {part}"].append(number)
    found: dict[str, Any] = {group: {"choices": len(own)} for group, own in sorted(groups.items())}
    for way in WAYS:
        scores = iter(metric.stream(as_read(one.sample, text, way) for one in made for text in one.texts))
        right = []
        for one in made:
            own, *others = (next(scores).score for _ in one.texts)
            right.append(own is not None and all(other is None or own > other for other in others))
        for group, numbers in groups.items():
            units = [made[k].sample.unit for k in numbers]
            found[group][way] = cluster_share([right[k] for k in numbers], units)
    return found


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """The figures of each language that has a prepared folder."""
    place = locate.locate(options.model)
    known = [each.code for each in checkpoint_config.languages_of(checkpoint_config.read(place.folder / locate.CONFIG))]
    folders = Folder.of_languages(options.data)
    figures: dict[str, Any] = {DEVELOPMENT: {}, TEST: {}, HELD_OUT: {}}
    wmt = options.wmt_dir or options.shared / "data" / "wmt"
    for folder in folders:
        metric = PronounMetric.from_pretrained(options.model, lang=folder.code)
        table = ConfusionTable.load(folder.path / "confusion.json", forms=metric.language.forms)
        if folder.code not in known:
            chosen = draw(of_folder(folder.path, "train", "development"), metric.language, options.limit)
            own = {"detection": detection(metric, chosen, table), "deleted": deletions(metric, chosen)}
            figures[HELD_OUT][folder.code] = own
            continue
        for name, samples in (
            (DEVELOPMENT, of_folder(folder.path, "development")),
            (TEST, of_testset(options.testset, folder.code, wmt)),
        ):
            if chosen := draw(samples, metric.language, options.limit):
                own = {"detection": detection(metric, chosen, table), "deleted": deletions(metric, chosen)}
                figures[name][folder.code] = {**own, "choice": choosing(metric, chosen)}
    return {
        "weights": pages.weights_hash(place.folder),
        "precision": metric.precision,
        "testset": options.testset,
        "limit": options.limit,
        "figures": figures,
    }


def draw(samples: Sequence[Sample], language: Language, most: int | None) -> list[Sample]:
    """The samples with a pronoun, at most so many, drawn by seed 0, in order."""
    found = [sample for sample in samples if language.find(sample.row["text"])]
    return [found[k] for k in np.sort(np.random.default_rng(0).permutation(len(found))[:most]).tolist()]


def page(content: Mapping[str, Any]) -> str:
    """The page of these figures."""
    parts = pages.template("target-languages")
    sections = []
    for name, figures in content["figures"].items():
        if figures:
            tables = {"detection": _detection_table(figures), "deleted": _deletion_table(figures)}
            tables |= {} if name == HELD_OUT else {"choice": _choice_table(figures)}
            sections.append(parts[name].format(testset=content["testset"], **tables))
    limit = content["limit"]
    return (
        parts["page"].format(
            weights=content["weights"],
            precision=content["precision"],
            date=content["date"],
            command=content["command"],
            limit="" if limit is None else f" A sample: at most {limit} texts of each language and set.",
            sections="\n\n".join(sections),
        )
        + "\n"
    )


def _detection_table(figures: Mapping[str, Any]) -> str:
    names = ("all", "third")
    header = [f"{way}: {part}" for way in WAYS for part in ("all", "third person")]
    rows = [["language", "texts", "pronouns", "third person", *header]]
    for code, own in figures.items():
        found = own["detection"]
        counts = [f"{found[key]:,}" for key in ("texts", *(f"pronouns {name}" for name in names))]
        rows.append([code, *counts, *(_estimate(found[way][name]) for way in WAYS for name in names)])
    return pages.markdown(rows)


def _deletion_table(figures: Mapping[str, Any]) -> str:
    rows = [["language", "texts", "gaps", "deleted", "area"]]
    for code, own in figures.items():
        if (found := own["deleted"]) is not None:
            rows.append([code, *(f"{found[key]:,}" for key in ("texts", "gaps", "deleted")), _estimate(found["area"])])
    return pages.markdown(rows)


def _choice_table(figures: Mapping[str, Any]) -> str:
    rows = [["language", "English", "form", "choices", *WAYS]]
    for code, own in figures.items():
        for group, found in own["choice"].items():
            kind, _, form = group.partition(": ")
            rows.append([code, kind, form, f"{found['choices']:,}", *(_estimate(found[way]) for way in WAYS)])
    return pages.markdown(rows)


def _estimate(found: Mapping[str, Any] | None) -> str:
    """A figure in percent with its interval."""
    if found is None:
        return "-"
    ends = (found["low"], found["high"])
    shown = "" if None in ends else f" ({100 * ends[0]:.1f} to {100 * ends[1]:.1f})"
    return f"{100 * found['value']:.1f}{shown}"


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    pages.add_shared(parser)
    parser.add_argument("--model", default="multilingual", metavar="NAME|FOLDER", help="default: %(default)s")
    parser.add_argument(
        "--data", type=Path, nargs="+", required=True, metavar="PREPARED", help="the folder of each language"
    )
    parser.add_argument("--wmt-dir", type=Path, metavar="DIR", help="default: data/wmt of --shared")
    parser.add_argument("--testset", default="wmt22", metavar="NAME", help="into English (default: %(default)s)")
    parser.add_argument("--limit", type=int, metavar="N", help="texts of each language and set, drawn by seed 0")
    parser.add_argument("--out", type=Path, metavar="FILE.json")
    parser.add_argument("--page", type=Path, nargs="?", const=PAGE, metavar="FILE.md", help=f"default {PAGE.name}")
    options = parser.parse_args()
    content = pages.plain({**pages.origin("checkpoint.target_languages"), **measure(options)})
    pages.publish(content, page(content), out=options.out, at=options.page)


if __name__ == "__main__":
    pages.run(main)
