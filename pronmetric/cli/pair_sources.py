"""The judged pairs of `evaluate`: a JSONL or GAP file, a prepared folder, or a WMT test set compared here."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from data_prep.wmt import corpus as wmt_corpus
from pronmetric.errors import InputError, PronmetricError
from pronmetric.eval.shuffling import shuffled
from pronmetric.suites import gap, judged_pairs
from pronmetric.eval.decision import A
from pronmetric.suites.judged_pairs import STUDY_JUDGE, JudgedPair
from pronmetric.suites.pair_accuracy import clusters_of
from pronmetric.text import strict_json
from pronmetric.text.context import NONE, RESPECTIVE, Text, join
from pronmetric.text.lines import iter_lines

if TYPE_CHECKING:
    from pronmetric.schema import Document, Pair

SHUFFLED = "shuffled"
SPLITS = ("development", "test", "train", "development_study")
SYSTEM, NOISY = "R vs S", "R vs R'"
BLOCK = 20
"""Segments taken as one document where a test set's files give no boundaries."""
_ALIGNER_LINES = 100_000
References = Mapping[tuple[str, str, int], Mapping[str, str]]
"""The references of each segment (test set, language pair, number) by their names."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """Judged pairs in named parts, each of which has its own figures.

    own: the context of text B, by the pair's id, where it has one of its own (a system's previous sentences).
    testsets: ids such as newstest2021.de-en, where they are known.
    """

    name: str
    parts: Mapping[str, Sequence[JudgedPair]]
    own: Mapping[str, tuple[str, ...]] | None = None
    testsets: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[JudgedPair]:
        """All pairs, part by part."""
        return chain.from_iterable(self.parts.values())

    def texts(self, kind: str, *, seed: int) -> Iterator[Text]:
        """Text A and text B of each pair, in the context that `kind` names.

        Raises:
            PronmetricError: the pairs have no such context.
        """
        if kind == RESPECTIVE and self.own is None:
            raise PronmetricError(
                f"{self.name}: a pair has one context, so that there is no respective one; give --context common, or a "
                "WMT test set (-d) or prepared folder"
            )
        for part in self.parts.values():
            foreign = _foreign(part, seed) if kind == SHUFFLED else None
            for number, pair in enumerate(part):
                a = b = () if kind == NONE else pair.context if foreign is None else foreign[number]
                if kind == RESPECTIVE and self.own is not None:
                    b = self.own[pair.id]
                yield Text(join(a), pair.text_a)
                yield Text(join(b), pair.text_b)


def _foreign(pairs: Sequence[JudgedPair], seed: int) -> list[tuple[str, ...]]:
    """For each pair the context of another document; pairs of one document and context share it."""
    _, groups = clusters_of(pairs)
    places = [(group, pair.context) for group, pair in zip(groups, pairs, strict=True)]
    return shuffled([pair.context for pair in pairs], items=places, groups=groups, seed=seed)


def first_line(path: str) -> str:
    """The first line of a file that has something in it; "" of an empty one, or of one that can be read only once."""
    if Path(path).exists() and not Path(path).is_file() and not Path(path).is_dir():
        return ""
    return next((line for line in iter_lines(path) if line.strip()), "")


def read(path: str, *, split: str | None, note: Callable[[str], None]) -> Pairs:
    """The pairs of a file or a prepared folder.

    Raises:
        InputError: with file and line, what stands there is none of them.
    """
    if Path(path).is_dir():
        return prepared(path, split or SPLITS[0], note)
    if split is not None:
        raise InputError("--split goes with a prepared folder, this is a file", file=path)
    if gap.is_header(first_line(path)):
        pairs = gap.pairs(gap.read(path))
        repeated = [identity for identity, count in Counter(pair.id for pair in pairs).items() if count > 1]
        if repeated:
            raise InputError(f"the ID {repeated[0]} comes a second time; each item needs one of its own", file=path)
        note(f"{path}: GAP, each sentence against the same with the other gender's pronoun")
        return Pairs(path, {"": pairs})
    return Pairs(path, {"": judged_pairs.read(path)})


def prepared(folder: str, split: str, note: Callable[[str], None]) -> Pairs:
    """The pairs of one split of a folder of `pronmetric prepare`."""
    from pronmetric.data import arrow

    pairs = list(map(arrow.to_pair, arrow.read_pairs(folder, split)))
    references: dict[tuple[str, str, int], dict[str, str]] = defaultdict(dict)
    for pair in pairs:
        references[pair.testset, pair.lp, pair.seg][pair.ref] = pair.better
    found = _parts(pairs, references, note)
    if not found.parts:
        raise InputError(f"no pair in split {split}; choose another --split or prepare more data", file=folder)
    return replace(found, name=f"{folder} ({split})")


def seen_in(path: str) -> frozenset[tuple[str, str]]:
    """The (right form, wrong form) of a confusion.json of `pronmetric prepare` that were met in training."""
    from pronmetric.pronouns.corrupt import ConfusionTable

    return _met(ConfusionTable.load(path).to_dict())


def seen_by(config: Mapping[str, object]) -> frozenset[tuple[str, str]] | None:
    """The same of a checkpoint's config (training: confusion: form -> wrong form -> count); None where it has none."""
    training = config.get("training")
    table = training.get("confusion") if isinstance(training, Mapping) else None
    return _met(table) if isinstance(table, Mapping) else None


def _met(table: Mapping[str, Mapping[str, float]]) -> frozenset[tuple[str, str]]:
    return frozenset((form, wrong) for form, row in table.items() for wrong, count in row.items() if count > 0)


def wmt(
    dataset: str, folder: str, systems: Sequence[str] | None, *, size: int, seed: int, note: Callable[[str], None]
) -> Pairs:
    """The pairs of a WMT test set, as `pronmetric prepare` makes them, the aligner trained on this test set alone.

    size: previous sentences of a pair's context.
    """
    from data_prep.wmt import discovery as testsets
    from data_prep.wmt.testset import TestSet

    testset: TestSet = wmt_corpus.find(dataset, folder)
    documents = _of_systems(list(testsets.read(testset)), systems, dataset, folder)
    note(f"{dataset}: the aligner learns from this test set alone; a folder of `pronmetric prepare` has better links")
    references = {
        (document.testset, document.lp, segment.seg): segment.refs
        for document in documents
        for segment in document.segments
    }
    found = _parts(_compared(documents, size, seed), references, note)
    if not found.parts:
        raise InputError(f"{dataset}: no system output has another pronoun than its reference", file=folder)
    return replace(found, name=dataset)


def _of_systems(
    documents: Sequence[Document], systems: Sequence[str] | None, dataset: str, folder: str
) -> list[Document]:
    segments = [segment for document in documents for segment in document.segments]
    there = list(dict.fromkeys(name for segment in segments for name in segment.hyps))
    for what, found in (("reference", any(segment.refs for segment in segments)), ("system output", there)):
        if not found:
            raise InputError(f"{dataset} has no {what}", file=folder)
    if systems is None:
        return list(documents)
    if unknown := [name for name in systems if name not in there]:
        raise InputError(f"no system {', '.join(unknown)} in {dataset}; there are: {', '.join(there)}", file=folder)
    return [
        replace(
            document,
            segments=tuple(
                replace(segment, hyps={name: text for name, text in segment.hyps.items() if name in systems})
                for segment in document.segments
            ),
        )
        for document in documents
    ]


def _compared(documents: Sequence[Document], size: int, seed: int) -> Iterator[Pair]:
    """System and noisy pairs of these documents, without what grammar lets change places, each pair of texts once."""
    from data_prep.filters import GRAMMAR, agreement_filter, filtered
    from data_prep.noise import noisy_references
    from data_prep.pairs import lowered, system_pairs
    from pronmetric.alignment.agreement import AgreementAligner
    from pronmetric.pronouns.finder import FORMS
    from pronmetric.text.words import words

    lines = [
        (ref, hyp)
        for document in documents
        for segment in document.segments
        for ref in segment.refs.values()
        for hyp in segment.hyps.values()
        if ref.strip() and hyp.strip() and ref != hyp
    ]
    if len(lines) > _ALIGNER_LINES:
        chosen = np.random.default_rng(seed).choice(len(lines), _ALIGNER_LINES, replace=False)
        lines = [lines[i] for i in sorted(chosen)]
    if not lines:
        return
    aligner = AgreementAligner()
    aligner.train([(lowered(words(ref)), lowered(words(hyp))) for ref, hyp in lines])
    keep = agreement_filter(GRAMMAR, min_agreement=0.0)
    seen: set[tuple[str, str, str]] = set()
    for pair in system_pairs(documents, aligner.align_all, forms=FORMS, context_size=size, counts=Counter()):
        for found in (pair, *noisy_references(pair)):
            kept = filtered(found, keep)
            key = found.kind, found.better, found.worse
            if kept is not None and key not in seen:
                seen.add(key)
                yield kept


def _parts(pairs: Iterable[Pair], references: References, note: Callable[[str], None]) -> Pairs:
    """Pairs of the preparation as judged ones: the reference is A and better; the segment's next one is `reference`."""
    parts: dict[str, list[JudgedPair]] = {SYSTEM: [], NOISY: []}
    own: dict[str, tuple[str, ...]] = {}
    testsets: dict[str, None] = {}
    others = 0
    for pair in pairs:
        wrong = [mismatch for mismatch in pair.mismatches if mismatch.kind == "pronoun"]
        if not wrong:
            others += 1
            continue
        testset = f"{pair.testset}.{pair.lp}"
        unit: Hashable = f"{testset}#{pair.seg // BLOCK}" if pair.doc == testset else f"{testset}/{pair.doc}"
        one = wrong[0] if len(pair.mismatches) == 1 else None
        of_segment = references[pair.testset, pair.lp, pair.seg]
        own[pair.id] = pair.system_context
        testsets[testset] = None
        parts[SYSTEM if pair.kind == "system" else NOISY].append(
            JudgedPair(
                id=pair.id,
                context=pair.context,
                text_a=pair.better,
                text_b=pair.worse,
                better=A,
                group=testset,
                doc=str(unit),
                pronoun_a=None if one is None else one.ref_form,
                pronoun_b=None if one is None else one.hyp_form,
                judge=STUDY_JUDGE,
                reference=next((text for name, text in of_segment.items() if name != pair.ref and text.strip()), None),
            )
        )
    if others:
        note(f"left out: {others} pairs that differ in a pronoun against another word or nothing only")
    return Pairs("", {name: part for name, part in parts.items() if part}, own, tuple(testsets))


def score_line(identity: str, scores: tuple[float | None, float | None]) -> str:
    """One pair's scores as `--scores` reads them, in full precision."""
    return strict_json.dump({"id": identity, "score_a": scores[0], "score_b": scores[1]})
