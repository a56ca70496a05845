"""The prepared folder: unique pairs by split, passages, confusion table, manifest."""

from __future__ import annotations

import shutil
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from hashlib import blake2b
from itertools import chain
from pathlib import Path
from typing import Any

from data_prep import manifest, translations
from data_prep.coreference import antecedents, conll
from data_prep.coreference.antecedents import openings, trained_on
from data_prep.coreference.conll import Annotated
from data_prep.documents import EnglishDocument
from data_prep.english import English
from data_prep.fidelity import passages as fidelity
from data_prep.fidelity import rewriting
from data_prep.filters import Filter, filter_pair
from data_prep.noise import confuse_slots, study_pair
from data_prep.passages import estimate, passages
from data_prep.settings import STAGES, Reporter, Settings
from data_prep.splits import DEVELOPMENT, TRAIN
from data_prep.survey import SegmentId, Survey, find_forms, output_documents, reference_documents
from data_prep.ties import Ties, as_tie
from data_prep.wmt.testset import TestSet
from pronmetric.data import arrow
from pronmetric.errors import InputError
from pronmetric.pronouns.corrupt import ConfusionTable
from pronmetric.schema import Pair, Passage, Translation
from pronmetric.text import strict_json

STUDY = "development_study"
_ALWAYS_COUNTED = (
    ("compared", "outputs"),
    ("kept", "system"),
    ("kept", "system with a pronoun mismatch"),
    ("kept", "noisy"),
)
"""Counts in the manifest of every test set, even if 0."""


@contextmanager
def replace_folder(out: Path) -> Iterator[Path]:
    """A folder next to `out` that replaces it and takes over its stages on success; else it is removed."""
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


class Result:
    """Writes the prepared folder."""

    def __init__(
        self,
        settings: Settings,
        folder: Path,
        surveyed: Survey,
        keep: Filter,
        ties: Ties,
    ) -> None:
        self._settings = settings
        self._folder = folder
        self._survey = surveyed
        self._keep = keep
        self._ties = ties
        self._seen: set[bytes] = set()
        self._counts: defaultdict[str, Counter[tuple[str, ...]]] = defaultdict(Counter)
        self._confusion: Counter[tuple[str, str]] = Counter()
        self._used: defaultdict[str, list[str]] = defaultdict(list)
        self._openings: defaultdict[str, set[str]] = defaultdict(set)

    def write(
        self,
        files: list[tuple[TestSet, Path]],
        plain: English,
        inputs: Mapping[str, Mapping[str, str]],
        reporter: Reporter,
    ) -> dict[str, Any]:
        """Write everything; returns the manifest."""
        rows = self._write_pairs(files, reporter)
        self._refuse_empty()
        self._check_ties(reporter)
        for split in (TRAIN, DEVELOPMENT):
            if not rows[split]:
                reporter.note(f"split {split} has no pair")
        rows |= self._write_passages(plain, [testset for testset, _ in files], reporter)
        if self._settings.data.coreference:
            rows |= self._write_coreference(self._settings.data.coreference)
        if self._settings.fidelity.passages and self._settings.language.ruled:
            rows |= self._write_fidelity()
        if self._settings.data.parallel is not None:
            rows |= self._write_translations([testset for testset, _ in files], reporter)
        arrow.finish(self._folder, rows)
        if not self._settings.data.wmt:
            self._confusion = self._confuse_slots()
        ConfusionTable.from_counts(self._confusion, forms=self._settings.language.forms).save(
            self._folder / "confusion.json"
        )
        content = manifest.manifest(
            inputs=inputs,
            config=self._settings.to_manifest(),
            counts={
                "testsets": {testset.id: manifest.nested(self._counts[testset.id]) for testset, _ in files},
                **{
                    kind: {split: manifest.nested(self._counts[f"{kind}_{split}"]) for split in (TRAIN, DEVELOPMENT)}
                    for kind in ("passages", "coreference", "fidelity", "translations")
                    if f"{kind}_{TRAIN}" in rows
                },
            },
            splits={split: {"rows": count, "testsets": self._used.get(split, [])} for split, count in rows.items()},
            notes=self._notes(),
        )
        manifest.write(self._folder, content)
        return content

    def _confuse_slots(self) -> Counter[tuple[str, str]]:
        """The confusions where there is no system output: by the forms of the references of training."""
        language = self._settings.language
        lines = (line for document in reference_documents(self._survey, TRAIN) for line in document.lines)
        return confuse_slots(Counter(form for line in lines for form in find_forms(line, language)), language)

    def _notes(self) -> Iterator[str]:
        if not self._settings.data.wmt:
            yield "no system outputs: the confusion table has the forms of each slot by their frequency in references"
        elif self._settings.align.backend != "embedding":
            yield f"the aligner learned from {len(self._survey.sample)} lines of all splits, without any label"
        if self._survey.was_divided:
            yield "documents were divided between train and development"

    def _write_pairs(self, files: list[tuple[TestSet, Path]], reporter: Reporter) -> dict[str, int]:
        waiting = self._folder / ".rows"
        waiting.mkdir()
        features = arrow.pair_features()
        with ExitStack() as stack:
            rows = {split: stack.enter_context(arrow.RowFile(waiting / split, features)) for split in arrow.PAIR_SPLITS}
            for testset, path in reporter.progress(files, "unique pairs", len(files), "test sets"):
                read = self._survey.counts[testset.id].items()
                self._counts[testset.id].update(dict.fromkeys(_ALWAYS_COUNTED, 0))
                self._counts[testset.id].update({("read", name): count for name, count in read})
                self._counts[testset.id].update(_read_counts(path.with_suffix(".json")))
                for row in arrow.read_rows(path):
                    for split, pair in self._sort(arrow.to_pair(row), self._counts[testset.id]):
                        rows[split].add(pair)
                        if testset.id not in self._used[split]:
                            self._used[split].append(testset.id)
        for split in rows:
            arrow.save_split(self._folder / split, waiting / split, features)
        shutil.rmtree(waiting)
        return {split: file.rows for split, file in rows.items()}

    def _sort(self, pair: Pair, counts: Counter[tuple[str, ...]]) -> Iterator[tuple[str, Pair]]:
        """The pair with its split, and a copy in the study's form; nothing if it is dropped; counted."""
        counts["found", pair.kind] += 1
        segment = SegmentId(pair.testset, pair.lp, pair.seg)
        if segment in self._survey.barred:
            counts["dropped", pair.kind, "copy on another side"] += 1
            return
        tied = self._ties.has(pair)
        kept = pair if tied else filter_pair(pair, self._keep)
        if kept is None:
            counts["dropped", pair.kind, "agreement filter"] += 1
            return
        if not self._is_new(pair.kind, pair.better, pair.worse):
            counts["dropped", pair.kind, "repeated"] += 1
            return
        split = self._survey.splits[segment]
        if tied:
            if split == TRAIN:
                counts["kept", "tie"] += 1
                yield split, as_tie(pair)
            else:
                counts["dropped", "noisy", "tie"] += 1
            return
        counts["kept", pair.kind] += 1
        if pair.kind == "system":
            wrong = [(m.ref_form, m.hyp_form) for m in kept.mismatches if m.kind == "pronoun"]
            counts["kept", "system with a pronoun mismatch"] += bool(wrong)
            if split == TRAIN:
                self._confusion.update(wrong)
        yield split, kept
        if split == DEVELOPMENT and pair.kind == "noisy" and self._settings.language.ruled:
            study = study_pair(kept)
            if study is None:
                counts["dropped", "study", "not one word for one"] += 1
            elif not self._is_new("study", study.better, study.worse):
                counts["dropped", "study", "repeated"] += 1
            else:
                counts["kept", "study"] += 1
                yield STUDY, study

    def _is_new(self, *key: str) -> bool:
        digest = blake2b("\0".join(key).encode(), digest_size=12).digest()
        if digest in self._seen:
            return False
        self._seen.add(digest)
        return True

    def _refuse_empty(self) -> None:
        """Raise an error with the cause if no pair with a pronoun-pronoun mismatch is left."""
        total = sum(self._counts.values(), Counter())
        if total["kept", "noisy"] or not self._settings.data.wmt:
            return
        if not total["found", "noisy"]:
            raise InputError(
                f"data.wmt: none of {total['compared', 'outputs']:,} system outputs differs from its reference "
                f"in a pronoun of inventory={self._settings.inventory}",
                file=", ".join(self._settings.data.wmt),
            )
        if total["dropped", "noisy", "agreement filter"]:
            raise InputError(
                f"filter.agreement={self._settings.filter.agreement} leaves none of {total['found', 'noisy']:,} "
                "pronoun mismatches; choose another table, grammar or none"
            )
        raise InputError(f"splits: each of {total['found', 'noisy']:,} pronoun mismatches has a copy in another split")

    def _check_ties(self, reporter: Reporter) -> None:
        """Report ties of the file that are no pair of this data; refuse a file without any other."""
        missing = len(self._ties) - len(self._ties.found)
        if not missing:
            return
        if not self._ties.found:
            raise InputError(
                "no tie is a noisy reference of this data; prepare the data that the study was drawn from",
                file=self._settings.filter.ties,
            )
        reporter.note(f"filter.ties: {missing} of {len(self._ties)} ties are no noisy references of this data")

    def _write_passages(self, plain: English, testsets: list[TestSet], reporter: Reporter) -> dict[str, int]:
        rows = {}
        features = arrow.passage_features()
        for split in (DEVELOPMENT, TRAIN):
            name = f"passages_{split}"
            of_wmt = list(reference_documents(self._survey, split))
            if split == TRAIN and self._settings.passages.outputs:
                of_wmt += output_documents(
                    reporter.progress(testsets, "outputs as plain English", len(testsets), "test sets"),
                    self._survey,
                    split,
                    systems=self._settings.passages.outputs,
                    seed=self._settings.seed,
                    counts=self._counts[name],
                    language=self._settings.language,
                )
            docs = chain(plain.of(split), of_wmt)
            shown = reporter.progress(docs, name, plain.sizes[split] + len(of_wmt), "documents")
            rows[name] = self._write(name, self._passages(split, shown), features)
        return dict(sorted(rows.items(), reverse=True))

    def _passages(self, split: str, docs: Iterable[EnglishDocument]) -> Iterator[Passage]:
        counts = self._counts[f"passages_{split}"]
        held_out = self._survey.held_out[split]
        forms = self._settings.forms
        for doc in docs:
            counts["documents", doc.source] += 1
            for passage in passages(
                doc.lines,
                source=doc.source,
                doc=doc.doc,
                pieces=self._settings.passages.pieces,
                forms=forms,
                language=self._settings.language,
            ):
                if not passage.spans:
                    counts["dropped", "no pronoun"] += 1
                elif held_out.near(passage.text):
                    counts["dropped", "copy on another side"] += 1
                elif not self._is_new("passage", passage.text):
                    counts["dropped", "repeated"] += 1
                else:
                    counts["kept", doc.source] += 1
                    counts[("pronouns",)] += len(passage.spans)
                    counts["pieces", doc.source] += estimate(passage.text, self._settings.language.writing)
                    if self._settings.data.coreference:
                        self._openings[split] |= openings([passage.text])
                    yield passage

    def _write_coreference(self, folders: Iterable[str]) -> dict[str, int]:
        """The passages with antecedents; a document that is not of training's plain English alone is held out."""
        waiting = self._folder / ".rows"
        waiting.mkdir()
        features = arrow.coreference_features()
        splits = dict(zip((TRAIN, DEVELOPMENT), arrow.COREFERENCE_SPLITS, strict=True))
        with ExitStack() as stack:
            rows = {split: stack.enter_context(arrow.RowFile(waiting / split, features)) for split in splits}
            for name, document, split in self._annotated(folders):
                counts = self._counts[splits[split]]
                counts["documents", name] += 1
                for passage in antecedents.passages(document):
                    if self._survey.held_out[split].near(passage.text):
                        counts["dropped", "copy on another side"] += 1
                    else:
                        counts["kept", name] += 1
                        counts[("antecedents",)] += len(passage.antecedents)
                        rows[split].add(passage)
        for split, name in splits.items():
            arrow.save_split(self._folder / name, waiting / split, features)
        shutil.rmtree(waiting)
        return {name: rows[split].rows for split, name in splits.items()}

    def _annotated(self, folders: Iterable[str]) -> Iterator[tuple[str, Annotated, str]]:
        """The annotated documents with the name of their folder and their split."""
        for folder in folders:
            for document in conll.read_folder(folder):
                learned = trained_on(document, self._openings[TRAIN])
                split = TRAIN if learned and not trained_on(document, self._openings[DEVELOPMENT]) else DEVELOPMENT
                yield Path(folder).name, document, split

    def _write_fidelity(self) -> dict[str, int]:
        """The pairs in which only the context decides: of frames, and of annotated documents with other referents.

        Development has a tenth as many of frames, with frames, roles and names of its own.
        """
        rows, features = {}, arrow.pair_features()
        annotated = list(self._annotated(self._settings.data.coreference or ()))
        for split, name in zip((TRAIN, DEVELOPMENT), arrow.FIDELITY_SPLITS, strict=True):
            number = self._settings.fidelity.passages
            made = fidelity.pairs(
                number if split == TRAIN else max(1, number // 10),
                split=split,
                seed=self._settings.seed,
                ties=self._settings.fidelity.ties,
            )
            rewritten = (
                rewriting.pairs(
                    document,
                    source=folder,
                    split=split,
                    seed=self._settings.seed,
                    near=self._survey.held_out[split].near,
                    counts=self._counts[name],
                )
                for folder, document, its in annotated
                if its == split
            )
            every = chain(made, chain.from_iterable(rewritten))
            rows[name] = self._write(name, self._counted(every, self._counts[name]), features)
        return rows

    def _write_translations(self, testsets: list[TestSet], reporter: Reporter) -> dict[str, int]:
        """The texts with a source: of the test sets and, for training, of `data.parallel`."""
        rows, features, settings = {}, arrow.translation_features(), self._settings
        given = settings.data.parallel if settings.language.ruled else ()  # else they are test sets
        for split, name in zip((TRAIN, DEVELOPMENT), arrow.TRANSLATION_SPLITS, strict=True):
            counts = self._counts[name]
            shown = reporter.progress(testsets, name, len(testsets), "test sets")
            found: Iterable[Translation] = translations.of_testsets(
                shown,
                self._survey,
                split,
                systems=settings.source.outputs if split == TRAIN else 0,
                context_size=settings.context.size,
                language=settings.language,
                seed=settings.seed,
                counts=counts,
            )
            if split == TRAIN:
                turned = translations.of_reversed(
                    translations.parallel_sets(given or (), target=settings.language.code),
                    self._survey,
                    context_size=settings.context.size,
                    language=settings.language,
                    counts=counts,
                )
                found = chain(turned, found)
            rows[name] = self._write(name, self._new_translations(found, counts), features)
        return rows

    def _write(self, split: str, items: Iterable[arrow.Record], features: Any) -> int:
        """Write a split; its number of rows."""
        stream = self._folder / f".{split}"
        rows = arrow.write_rows(stream, items, features)
        arrow.save_split(self._folder / split, stream, features)
        stream.unlink()
        return rows

    def _new_translations(
        self, found: Iterable[Translation], counts: Counter[tuple[str, ...]]
    ) -> Iterator[Translation]:
        for each in found:
            if self._is_new("translation", *each.context, each.text, each.language, each.source):
                counts["kept", each.language, each.kind] += 1
                yield each
            else:
                counts["dropped", "repeated"] += 1

    def _counted(self, pairs: Iterable[Pair], counts: Counter[tuple[str, ...]]) -> Iterator[Pair]:
        for pair in pairs:
            if self._is_new(pair.kind, *pair.context, pair.better, pair.worse):
                counts["kept", pair.testset, pair.kind] += 1
                yield pair
            else:
                counts["dropped", "repeated"] += 1


def _read_counts(path: Path) -> dict[tuple[str, ...], int]:
    stored: list[tuple[list[str], int]] = strict_json.read(path, f"delete the folder {STAGES} and prepare again")
    return {tuple(name): count for name, count in stored}
