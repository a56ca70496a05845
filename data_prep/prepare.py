"""Preparation from end to end: WMT test sets and English documents to a folder of pairs and passages.

The stages of one test set (read, align, find the mismatches, make the pairs) are kept under OUT/.stages by a hash of
their inputs and settings, so that a run that was stopped goes on where it stood. What follows needs all test sets
(copies, unique pairs, splits); it is written beside OUT and takes its place at the end.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from data_prep import documents, manifest, wmt
from data_prep.align import AgreementAligner
from data_prep.documents import EnglishDocument
from data_prep.filters import GRAMMAR, NONE, Filter, agreement_filter, filtered
from data_prep.noise import noisy_references
from data_prep.pairs import lowered, system_pairs
from data_prep.passages import passages
from data_prep.splits import DEVELOPMENT, TEST, TRAIN, Rule, draw
from data_prep.study import study_pair
from data_prep.survey import Place, Survey, reference_documents, survey
from data_prep.testset import TestSet
from pronmetric import pronouns
from pronmetric.corrupt import ConfusionTable
from pronmetric.data import arrow
from pronmetric.errors import InputError
from pronmetric.schema import Pair, Passage
from pronmetric.words import words

STAGES = ".stages"
INVENTORIES: Mapping[str, frozenset[str]] = {
    "all": frozenset(pronouns.FORMS),
    "paper": frozenset(pronouns.FORMS) - {"theirs"},
}
STUDY = "development_study"
_TOLD = ("compared.outputs", "kept.system", "kept.system with a pronoun mismatch", "kept.noisy")
"""Counts that stand in the manifest of every test set, even where they are 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What a preparation needs to know; the values, and what they mean, stand in conf/prepare.yaml."""

    wmt: Path
    out: Path
    english: Path | None
    years: tuple[int, ...] | None
    pairs: tuple[str, ...] | None
    exclude: tuple[str, ...]
    inventory: str
    context_size: int
    align_lines: int
    agreement: str
    min_agreement: float
    rule: Rule
    english_share: float
    pieces: int
    seed: int

    def told(self) -> dict[str, Any]:
        """The settings for the manifest: all but where things stand on this machine."""
        values = dataclasses.asdict(self)
        return {name: value for name, value in values.items() if name not in ("wmt", "english", "out")}


@dataclass(frozen=True, slots=True)
class Talk:
    """How preparation speaks while it runs: `note` takes a line, `progress` wraps an iterable (label, length)."""

    note: Callable[[str], None]
    progress: Callable[[Iterable[Any], str, int | None], Iterable[Any]]


def prepare(settings: Settings, talk: Talk) -> dict[str, Any]:
    """Prepare training data and write it to `settings.out`; returns the manifest.

    Raises:
        InputError: a missing folder, a fault in a file, a filter that leaves nothing, an `out` that is something else.
    """
    _check(settings)
    keep = agreement_filter(settings.agreement, min_agreement=settings.min_agreement)
    found = wmt.discover(settings.wmt, years=settings.years, pairs=settings.pairs, exclude=settings.exclude)
    for skipped in found.skipped:
        talk.note(f"skipped {skipped.id}: {skipped.reason}")
    plain = list(_plain(settings))
    surveyed = survey(
        talk.progress(found.testsets, "read", len(found.testsets)),
        rule=settings.rule,
        context_size=settings.context_size,
        sample_size=settings.align_lines,
        development_lines=(line for split, doc in plain if split == DEVELOPMENT for line in doc.lines),
    )
    if surveyed.was_divided:
        talk.note(
            "no test set of train or none of development: documents are divided, "
            f"splits.development_share={settings.rule.development_share} of them for development"
        )
    inputs = _inputs(settings, found.testsets)
    stages = _Stages(settings, inputs["wmt"], surveyed.sample, talk)
    files = [stages.of(testset) for testset in talk.progress(found.testsets, "align and compare", len(found.testsets))]
    stages.forget_others()
    with _replaced(settings.out) as folder:
        return _Result(settings, folder, surveyed, keep).write(files, plain, inputs, talk)


def _check(settings: Settings) -> None:
    """Refuse what cannot work before anything is read."""
    if settings.inventory not in INVENTORIES:
        raise InputError(f"inventory={settings.inventory}: expected one of {', '.join(INVENTORIES)}")
    for key, value, least in (
        ("context.size", settings.context_size, 0),
        ("align.lines", settings.align_lines, 1),
        ("splits.block", settings.rule.block, 1),
        ("passages.pieces", settings.pieces, 1),
        ("seed", settings.seed, 0),
    ):
        if not isinstance(value, int) or value < least:
            raise InputError(f"{key}={value}: expected a whole number, {least} or more")
    for key, share in (
        ("splits.development_share", settings.rule.development_share),
        ("splits.english_share", settings.english_share),
        ("filter.min_agreement", settings.min_agreement),
    ):
        if not isinstance(share, int | float) or not 0 <= share <= 1:
            raise InputError(f"{key}={share}: expected a number from 0 to 1")
    out = settings.out
    if out.exists() and not out.is_dir():
        raise InputError("is a file; out= names the folder to write", file=out)
    if out.is_dir() and not (out / manifest.NAME).is_file() and {path.name for path in out.iterdir()} - {STAGES}:
        raise InputError("holds other things than prepared data; name a new folder with out=", file=out)


def _inputs(settings: Settings, testsets: Iterable[TestSet]) -> dict[str, dict[str, str]]:
    """The hashes of all files that the result is made from."""
    found = {"wmt": manifest.hashes(settings.wmt, {path for testset in testsets for path in testset.paths})}
    sources = {path for testset in wmt.find(settings.wmt) if testset.source == "en" for path in testset.paths}
    found["wmt_english"] = manifest.hashes(settings.wmt, sources)
    if settings.english:
        found["english"] = manifest.hashes(settings.english, documents.files(settings.english))
    if settings.agreement not in (GRAMMAR, NONE):
        found["agreement"] = manifest.hashes(Path(settings.agreement), [Path(settings.agreement)])
    return found


def _plain(settings: Settings) -> Iterator[tuple[str, EnglishDocument]]:
    """All plain English documents with their split: `data.english`, then the English sources of WMT."""
    if settings.english:
        found = list(documents.read(settings.english))
        held_out = draw([(doc.source, doc.doc) for doc in found], settings.english_share, settings.seed)
        for doc in found:
            yield DEVELOPMENT if (doc.source, doc.doc) in held_out else TRAIN, doc
    for doc in wmt.english_sources(settings.wmt, years=settings.years, exclude=settings.exclude):
        split = settings.rule.of(doc.source, None, "")
        if split != TEST:
            yield split, dataclasses.replace(doc, source="wmt", doc=f"{doc.source}/{doc.doc}")


class _Stages:
    """The pairs of each test set, made once and kept in OUT/.stages."""

    def __init__(
        self, settings: Settings, inputs: Mapping[str, str], sample: list[tuple[str, str]], talk: Talk
    ) -> None:
        self._settings = settings
        self._folder = settings.out / STAGES
        self._folder.mkdir(parents=True, exist_ok=True)
        self._used: set[str] = set()
        self._table = manifest.key([manifest.code(), dict(inputs), settings.align_lines, settings.seed])
        self._inputs = inputs
        self._aligner = self._trained(sample, talk)

    def _trained(self, sample: list[tuple[str, str]], talk: Talk) -> AgreementAligner:
        path = self._folder / f"aligner-{self._table}.npz"
        self._used.add(path.name)
        if path.exists():
            talk.note("the aligner's table is taken from an earlier run")
            return AgreementAligner.load(path)
        talk.note(f"training the aligner on {len(sample):,} lines")
        aligner = AgreementAligner()
        aligner.train([(lowered(words(ref)), lowered(words(hyp))) for ref, hyp in sample])
        new = path.with_name(f"new-{path.name}")
        aligner.save(new)
        new.replace(path)
        return aligner

    def of(self, testset: TestSet) -> tuple[TestSet, Path]:
        """The file of a test set's pairs; its counts stand beside it as JSON, written last."""
        named = [self._table, testset.id, self._settings.inventory, self._settings.context_size]
        path = self._folder / f"{testset.id}-{manifest.key(named)}.arrow"
        counts_path = path.with_suffix(".json")
        self._used |= {path.name, counts_path.name}
        if not counts_path.exists():
            new = path.with_name(f"new-{path.name}")
            counts: Counter[str] = Counter()
            arrow.write_rows(new, self._pairs(testset, counts), arrow.pair_features())
            new.replace(path)
            new_counts = new.with_suffix(".json")
            new_counts.write_text(json.dumps(counts, sort_keys=True), encoding="utf-8")
            new_counts.replace(counts_path)
        return testset, path

    def _pairs(self, testset: TestSet, counts: Counter[str]) -> Iterator[Pair]:
        pairs = system_pairs(
            wmt.read(testset),
            self._aligner.align_all,
            forms=INVENTORIES[self._settings.inventory],
            context_size=self._settings.context_size,
            counts=counts,
        )
        for pair in pairs:
            counts.update(f"mismatches.{mismatch.kind}" for mismatch in pair.mismatches)
            yield pair
            yield from noisy_references(pair)

    def forget_others(self) -> None:
        """Remove what no test set of this run uses."""
        for path in self._folder.iterdir():
            if path.name not in self._used:
                path.unlink()


@contextmanager
def _replaced(out: Path) -> Iterator[Path]:
    """A folder beside `out` that takes its place, and its stages, when all went well; else it vanishes."""
    new, old = out.with_name(f".{out.name}.new"), out.with_name(f".{out.name}.old")
    if old.exists() and not out.exists():  # a run was killed between the two renames below
        old.rename(out)
    for left in (new, old):
        shutil.rmtree(left, ignore_errors=True)
    new.mkdir(parents=True)
    try:
        yield new
        out.rename(old)
        new.rename(out)
        (old / STAGES).rename(out / STAGES)
        shutil.rmtree(old)
    finally:
        shutil.rmtree(new, ignore_errors=True)


class _Result:
    """The final folder: unique pairs in their splits, passages, confusion table, manifest."""

    def __init__(self, settings: Settings, folder: Path, surveyed: Survey, keep: Filter) -> None:
        self._settings = settings
        self._folder = folder
        self._survey = surveyed
        self._keep = keep
        self._seen: set[bytes] = set()
        self._counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._confusion: Counter[tuple[str, str]] = Counter()
        self._used: defaultdict[str, list[str]] = defaultdict(list)

    def write(
        self,
        files: list[tuple[TestSet, Path]],
        plain: list[tuple[str, EnglishDocument]],
        inputs: Mapping[str, Mapping[str, str]],
        talk: Talk,
    ) -> dict[str, Any]:
        """Write everything; returns the manifest."""
        rows = self._write_pairs(files, talk)
        self._refuse_nothing(rows)
        for split in (TRAIN, DEVELOPMENT):
            if not rows[split]:
                talk.note(f"split {split} has no pair")
        rows |= self._write_passages(plain, talk)
        arrow.finish(self._folder, rows)
        ConfusionTable.from_counts(self._confusion).save(self._folder / "confusion.json")
        content = manifest.manifest(
            inputs=inputs,
            config=self._settings.told(),
            counts={
                "testsets": {testset.id: _nested(self._counts[testset.id]) for testset, _ in files},
                "passages": {split: _nested(self._counts[f"passages_{split}"]) for split in (TRAIN, DEVELOPMENT)},
            },
            splits={split: {"rows": count, "testsets": self._used.get(split, [])} for split, count in rows.items()},
            notes=["documents were divided between train and development"] if self._survey.was_divided else [],
        )
        manifest.write(self._folder, content)
        return content

    def _write_pairs(self, files: list[tuple[TestSet, Path]], talk: Talk) -> dict[str, int]:
        waiting = self._folder / ".rows"
        waiting.mkdir()
        features = arrow.pair_features()
        with ExitStack() as stack:
            rows = {split: stack.enter_context(arrow.RowFile(waiting / split, features)) for split in arrow.PAIR_SPLITS}
            for testset, path in talk.progress(files, "unique pairs", len(files)):
                read = self._survey.counts[testset.id].items()
                self._counts[testset.id].update(dict.fromkeys(_TOLD, 0))
                self._counts[testset.id].update({f"read.{name}": count for name, count in read})
                self._counts[testset.id].update(json.loads(path.with_suffix(".json").read_text(encoding="utf-8")))
                for row in arrow.read_rows(path):
                    for split, pair in self._kept(arrow.to_pair(row), self._counts[testset.id]):
                        rows[split].add(pair)
                        if testset.id not in self._used[split]:
                            self._used[split].append(testset.id)
        for split in rows:
            arrow.save_split(self._folder / split, waiting / split, features)
        shutil.rmtree(waiting)
        return {split: file.rows for split, file in rows.items()}

    def _kept(self, pair: Pair, counts: Counter[str]) -> Iterator[tuple[str, Pair]]:
        """The pair with its split, and a second time in the study's form; nothing where it is dropped, and counted."""
        counts[f"found.{pair.kind}"] += 1
        place = Place(pair.testset, pair.lp, pair.seg)
        if place in self._survey.barred:
            counts[f"dropped.{pair.kind}.copy on another side"] += 1
            return
        kept = filtered(pair, self._keep)
        if kept is None:
            counts[f"dropped.{pair.kind}.agreement filter"] += 1
            return
        if not self._new(pair.kind, pair.better, pair.worse):
            counts[f"dropped.{pair.kind}.repeated"] += 1
            return
        split = self._survey.splits[place]
        counts[f"kept.{pair.kind}"] += 1
        if pair.kind == "system":
            wrong = [(m.ref_form, m.hyp_form) for m in kept.mismatches if m.kind == "pronoun"]
            counts["kept.system with a pronoun mismatch"] += bool(wrong)
            if split == TRAIN:
                self._confusion.update(wrong)
        yield split, kept
        if split == DEVELOPMENT and pair.kind == "noisy":
            study = study_pair(kept)
            if study is None:
                counts["dropped.study.not one word for one"] += 1
            elif not self._new("study", study.better, study.worse):
                counts["dropped.study.repeated"] += 1
            else:
                counts["kept.study"] += 1
                yield STUDY, study

    def _new(self, *key: str) -> bool:
        digest = blake2b("\0".join(key).encode(), digest_size=12).digest()
        if digest in self._seen:
            return False
        self._seen.add(digest)
        return True

    def _refuse_nothing(self, rows: Mapping[str, int]) -> None:
        """Raise an error that names what left nothing."""
        if any(rows.values()):
            return
        total = sum(self._counts.values(), Counter())
        if not total["found.system"]:
            raise InputError(
                f"data.wmt: none of {total['compared.outputs']:,} system outputs differs from its reference in a "
                f"pronoun of inventory={self._settings.inventory}",
                file=self._settings.wmt,
            )
        if total["dropped.system.agreement filter"]:
            raise InputError(
                f"filter.agreement={self._settings.agreement} leaves none of {total['found.system']:,} pairs; "
                "choose another table, grammar or none"
            )
        raise InputError(f"splits: each of {total['found.system']:,} pairs has a copy on another side")

    def _write_passages(self, plain: list[tuple[str, EnglishDocument]], talk: Talk) -> dict[str, int]:
        rows = {}
        features = arrow.passage_features()
        for split in (DEVELOPMENT, TRAIN):
            name = f"passages_{split}"
            docs = [doc for where, doc in plain if where == split]
            docs += reference_documents(self._survey, split)
            stream = self._folder / f".{name}"
            rows[name] = arrow.write_rows(stream, self._passages(split, talk.progress(docs, name, len(docs))), features)
            arrow.save_split(self._folder / name, stream, features)
            stream.unlink()
        return dict(sorted(rows.items(), reverse=True))

    def _passages(self, split: str, docs: Iterable[EnglishDocument]) -> Iterator[Passage]:
        counts = self._counts[f"passages_{split}"]
        held_out = self._survey.held_out[split]
        for doc in docs:
            counts[f"documents.{doc.source}"] += 1
            for passage in passages(doc.lines, source=doc.source, doc=doc.doc, pieces=self._settings.pieces):
                if not passage.spans:
                    counts["dropped.no pronoun"] += 1
                elif held_out.near(passage.text):
                    counts["dropped.copy on another side"] += 1
                elif not self._new("passage", passage.text):
                    counts["dropped.repeated"] += 1
                else:
                    counts[f"kept.{doc.source}"] += 1
                    counts["pronouns"] += len(passage.spans)
                    yield passage


def _nested(counts: Mapping[str, int]) -> dict[str, Any]:
    """Counts named "stage.what" or "stage.what.why" as a tree."""
    tree: dict[str, Any] = {}
    for name in sorted(counts):
        *stages, last = name.split(".")
        place = tree
        for stage in stages:
            place = place.setdefault(stage, {})
        place[last] = counts[name]
    return tree
