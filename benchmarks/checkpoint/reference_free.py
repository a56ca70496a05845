"""Without a reference: how scores by the source alone agree with people, beside those by a reference and baselines.

    python -m benchmarks.checkpoint.reference_free --model FOLDER [--datasets wmt22:de-en wmt22:zh-en]
        [--human wmt23:de-en=FILE.seg.rating ...] [--out FOLDER] [--page [FILE.md]]

Each test set is scored in four ways: `score -s` (its own text as the context), `score -s -r` (the reference's context),
`score -r` and neither. A test set's human scores are WMT's direct assessment of systems and segments, if `--shared`
has it, and each file of `--human` in a format of `pronmetric correlate`, such as MQM of mt-metrics-eval. The scores go
to `--out` as files of mt-metrics-eval; those that are there are not computed again. The checkpoint needs a reader of
sources.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import pages
from benchmarks.checkpoint.system_level import HELD_OUT, NAMES
from data_prep.wmt import corpus as wmt_corpus
from pronmetric.checkpoint.config import has_pair_head
from pronmetric.errors import InputError
from pronmetric.eval.decision import PREFERENCE, SCORE
from pronmetric.eval.resampling import SEED
from pronmetric.eval.segment_correlation import ACC_EQ, ITEM
from pronmetric.lab.baselines.corpus_scores import SystemBaselines
from pronmetric.lab.baselines.reference_based import BLEU, CHRF, EXACT
from pronmetric.lab.human import human_scores, segment_level, system_level, wmt_scores
from pronmetric.lab.human.correlation_tables import SEGMENT_LABELS
from pronmetric.metric import PronounMetric
from pronmetric.output.targets import AtomicFile
from pronmetric.scoring.score import Counts, Tally
from pronmetric.text.context import COMMON, RESPECTIVE, Text, join
from pronmetric.text.corpus import Corpus

PAGE = pages.PUBLISHED / "reference-free.md"
WAYS = {
    "source": (RESPECTIVE, True),
    "source and reference": (COMMON, True),
    "reference": (COMMON, False),
    "neither": (RESPECTIVE, False),
}
BASELINES = (EXACT, BLEU, CHRF)
SEGMENTS, SYSTEMS = ".seg.score", ".sys.score"
_LABELS = {"pearson": "Pearson's r", "kendall": "Kendall's tau-b", "pairwise_accuracy": "pairwise accuracy"}
_ASSESSED = {"liv": "lv"}  # Livonian, which the files of WMT22 call by the code of Latvian

Found = dict[str, list[float | None]]
Whole = dict[str, float | None]


class People(NamedTuple):
    """Human scores of a test set: a name for the page, and files with the scores of its systems and segments."""

    name: str
    systems: str
    segments: str


def texts(corpus: Corpus, kind: str, *, size: int, sourced: bool) -> Iterator[list[Text]]:
    """The texts of all systems, segment by segment, in one kind of context, with their sources or without."""
    for row, contexts in corpus.in_context(kind, size=size):
        evidence = row.evidence if sourced else None
        yield [Text(join([own[0]]), text, evidence) for text, own in zip(row.texts, contexts, strict=True)]


def score(metric: PronounMetric, corpus: Corpus, way: str) -> dict[str, tuple[Found, Whole]]:
    """The scores of segments and of systems in one of `WAYS`, by SCORE and PREFERENCE; higher is better."""
    kind, sourced = WAYS[way]
    tallies = [Tally() for _ in corpus.systems]
    segments: dict[str, Found] = {by: {name: [] for name in corpus.systems} for by in (SCORE, PREFERENCE)}
    flat = (text for row in texts(corpus, kind, size=metric.context_size, sourced=sourced) for text in row)
    for number, found in enumerate(metric.stream(flat)):
        place = number % len(corpus.systems)
        tallies[place].add(found)
        segments[SCORE][corpus.systems[place]].append(found.score)
        segments[PREFERENCE][corpus.systems[place]].append(found.preference)
    totals = {by: [tally.totals(by)[1] for tally in tallies] for by in segments}
    means = {by: [each.mean() if each.counts.sum() else None for each in own] for by, own in totals.items()}
    return {by: (segments[by], dict(zip(corpus.systems, means[by], strict=True))) for by in segments}


def baselines(corpus: Corpus) -> Iterator[tuple[str, Found, Whole]]:
    """The names of the baselines, each with its scores of segments and of systems."""
    made = SystemBaselines.of(corpus, BASELINES)
    rows = list(made.score_corpus(corpus))
    whole = made.score_systems()
    for name in BASELINES:
        segments = {system: [row[place][name] for row in rows] for place, system in enumerate(corpus.systems)}
        yield name, segments, {s: own[name]["score"] for s, own in zip(corpus.systems, whole, strict=True)}


def measure(metric: PronounMetric, dataset: str, wmt: Path, folder: Path) -> list[Path]:
    """Score a test set in each way that `folder` has not; the files, without their endings."""
    corpus: Corpus | None = None
    bys = (SCORE, PREFERENCE) if has_pair_head(metric.config) else (SCORE,)
    stems: list[Path] = []

    def read() -> Corpus:
        nonlocal corpus
        corpus = wmt_corpus.read(dataset, str(wmt), None, _tell) if corpus is None else corpus
        return corpus

    for way in WAYS:
        own = [folder / f"{way.replace(' ', '_')}.{by}" for by in bys]
        if not all(_there(stem) for stem in own):
            found = score(metric, read(), way)
            for stem, by in zip(own, bys, strict=True):
                _write(stem, *found[by])
            _tell(f"{dataset}: {way}")
        stems += own
    there = [folder / name for name in BASELINES]
    if not all(map(_there, there)):
        for name, *its in baselines(read()):
            _write(folder / name, *its)
        _tell(f"{dataset}: baselines")
    return [*stems, *there]


def _there(stem: Path) -> bool:
    return all(stem.with_name(stem.name + ending).is_file() for ending in (SEGMENTS, SYSTEMS))


def _write(stem: Path, segments: Found, systems: Whole) -> None:
    stem.parent.mkdir(parents=True, exist_ok=True)
    for ending, lines in (
        (SEGMENTS, wmt_scores.segment_score_lines(segments)),
        (SYSTEMS, wmt_scores.system_score_lines(systems)),
    ):
        with AtomicFile(str(stem.with_name(stem.name + ending))) as file:
            file.writelines(lines)


def people(dataset: str, human: Path, given: Sequence[str]) -> list[People]:
    """The human scores of a test set: direct assessment where there is one, and files given as NAME:LP=FILE."""
    name, pair = dataset.split(":")
    source, target = pair.split("-")
    code = f"{_ASSESSED.get(source, source)}-{target}"
    ranking, segments = (
        human / f"{name}-da" / f"ad-{file}.csv" for file in (f"sys-ranking-{code}-z-names", f"seg-scores-{code}")
    )
    found = [People("DA", str(ranking), str(segments))] if ranking.is_file() and segments.is_file() else []
    for one in given:
        which, _, file = one.partition("=")
        if which == dataset:
            found.append(People(Path(file).name, file, file))
    if not found:
        raise InputError(f"no human scores of {dataset}: give --human {dataset}=FILE", file=human)
    return found


def agreement(stems: Sequence[Path], one: People, *, seed: int) -> dict[str, Any]:
    """The figures of all scores against one file of human scores, for systems and segments."""
    paths = {ending: [str(stem) + ending for stem in stems] for ending in (SEGMENTS, SYSTEMS)}
    human = human_scores.read(one.segments)
    if human_scores.unit_of(one.systems) == human_scores.SYSTEMS:
        ranked = wmt_scores.read_human(one.systems)
    else:
        ranked = human.means(list(wmt_scores.read_system_scores(paths[SYSTEMS][0])))
    of_systems = system_level.correlate_several(
        paths[SYSTEMS], ranked, human=one.systems, figure="pairwise", keep_references=False, seed=seed
    )
    of_segments = segment_level.correlate(
        segment_level.read_metrics(paths[SEGMENTS], human),
        human=human,
        average=ITEM,
        figure=ACC_EQ,
        keep_references=False,
        seed=seed,
    )
    found = {
        "systems": of_systems.content(pages.portable(one.systems), seed=seed),
        "segments": of_segments.content(pages.portable(one.segments), seed=seed),
    }
    return named(found, {path: Path(path).name for each in paths.values() for path in each})


def named(content: Any, names: Mapping[str, str]) -> Any:
    """The content with the paths in keys and values replaced by their `names`: folders are those of one machine."""
    if isinstance(content, dict):
        return {names.get(key, key): named(value, names) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [named(value, names) for value in content]
    return names.get(content, content) if isinstance(content, str) else content


def page(content: Mapping[str, Any]) -> str:
    """The page as Markdown; no figure on it is typed by hand."""
    parts = []
    for dataset, by_people in content["figures"].items():
        for name, found in by_people.items():
            systems, segments = found["systems"], found["segments"]
            test = systems["significance"]
            rows = [["scores by", *_LABELS.values(), "soft pairwise", *(SEGMENT_LABELS[f] for f in ("tau_b", ACC_EQ))]]
            for k, (own, each) in enumerate(zip(systems["metrics"], segments["metrics"], strict=True)):
                soft = list(segments["soft_pairwise_accuracy"].values())[k]
                figures = [own[figure]["estimate"] for figure in _LABELS]
                figures += [soft, each["tau_b"]["value"], each[ACC_EQ]["value"]]
                label = Path(own["metric"]).name.removesuffix(SYSTEMS).replace("_", " ").replace(".", ", ")
                rows.append([NAMES.get(label, label), *("-" if value is None else f"{value:.3f}" for value in figures)])
            heading = f"## {dataset}{' (test)' * (dataset in HELD_OUT)}, {name}"
            said = (
                f"{len(systems['systems'])} systems; {segments['scores']} outputs with all scores, of "
                f"{segments['human_scores']} that people scored. Smallest p of a better way than `source` in pairwise "
                f"accuracy: {min(row[0] for row in test['p'][1:] if row[0] is not None):.3f}."
            )
            parts += [heading, said, pages.markdown(rows)]
    return pages.fill(
        "reference-free",
        weights=content["weights"],
        signature=content["signature"],
        date=content["date"],
        command=content["command"],
        tables="\n\n".join(parts),
    )


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    pages.add_shared(parser)
    parser.add_argument("--model", metavar="NAME|FOLDER", help="default: the shipped checkpoint")
    parser.add_argument("--wmt-dir", type=Path, metavar="DIR", help="default: data/wmt of --shared")
    parser.add_argument("--datasets", nargs="+", default=HELD_OUT, metavar="NAME:LP", help="default: %(default)s")
    parser.add_argument("--human", nargs="+", default=(), metavar="NAME:LP=FILE", help="further human scores")
    parser.add_argument("--out", type=Path, default=pages.ROOT / "runs" / "reference-free", metavar="FOLDER")
    parser.add_argument("--page", type=Path, nargs="?", const=PAGE, metavar="FILE.md", help=f"default {PAGE.name}")
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    metric = PronounMetric.from_pretrained(options.model)
    if metric.reader is None:
        raise InputError(f"expected a checkpoint with a reader of sources, got {metric.name}")
    signature = metric.signature(context=RESPECTIVE, context_size=metric.context_size, counts=Counts(with_source=1))
    folder = options.out / "-".join((metric.hash, dict(signature.fields)["source"]))
    data = options.shared / "data"
    judged = {dataset: people(dataset, data / "human", options.human) for dataset in options.datasets}
    figures: dict[str, dict[str, Any]] = {}
    for dataset, given in judged.items():
        wmt = data / "wmt" if options.wmt_dir is None else options.wmt_dir
        stems = measure(metric, dataset, wmt, folder / dataset.replace(":", "."))
        figures[dataset] = {one.name: agreement(stems, one, seed=options.seed) for one in given}
    made = {**pages.origin("checkpoint.reference_free"), "weights": metric.hash}
    content = {**made, "signature": str(signature), "figures": figures}
    text = page(content)
    if options.page is not None:
        pages.write_page(options.page, text, content)
    print(text)


def _tell(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


if __name__ == "__main__":
    pages.run(main)
