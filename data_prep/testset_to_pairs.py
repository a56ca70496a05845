"""`evaluate -d`: a WMT test set to judged pairs: its system outputs aligned and compared with its references."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from data_prep.filters import GRAMMAR, agreement_filter, filter_pair
from data_prep.noise import noisy_references
from data_prep.pairs import system_pairs
from data_prep.wmt import corpus, discovery
from pronmetric.alignment.agreement import AgreementAligner
from pronmetric.errors import InputError
from pronmetric.lab.human import pair_sets
from pronmetric.lab.human.pair_sets import PairSet
from pronmetric.pronouns.languages import ENGLISH, Language
from pronmetric.schema import Document, Pair
from pronmetric.text.words import lower_words

_MAX_ALIGNER_LINES = 100_000  # drawn where a test set has more, which bounds the time of training the aligner


def read(
    dataset: str,
    folder: str,
    systems: Sequence[str] | None,
    *,
    context_size: int,
    seed: int,
    note: Callable[[str], None],
    language: Language = ENGLISH,
) -> PairSet:
    """The pairs of a WMT test set `NAME:LP` into a language, as `pronmetric prepare` makes them.

    The aligner is trained only on this test set. context_size: number of context sentences. seed: of the sample of
    lines for training the aligner.

    Raises:
        PronmetricError: there is no such test set, no reference, no such system, or no pair.
    """
    testset = corpus.find(dataset, folder, target=language.code)
    documents = _select_systems(list(discovery.read(testset)), systems, dataset, folder)
    note(f"{dataset}: the aligner is trained on this test set only; a folder of `pronmetric prepare` has better links")
    references = {
        (document.testset, document.lp, segment.seg): segment.refs
        for document in documents
        for segment in document.segments
    }
    found = pair_sets.judge_prepared(_compare(documents, context_size, seed, language), references, note=note)
    if not found.parts:
        raise InputError(f"{dataset}: no system output differs from its reference in a pronoun", file=folder)
    return replace(found, name=dataset)


def _select_systems(
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


def _compare(documents: Sequence[Document], context_size: int, seed: int, language: Language) -> Iterator[Pair]:
    """System and noisy pairs, without mismatches that grammar explains; each pair of texts once."""
    aligner = train_aligner(documents, seed, language)
    if aligner is None:
        return
    keep = agreement_filter(GRAMMAR, min_agreement=0.0, language=language)
    seen: set[tuple[str, str, str]] = set()
    found = system_pairs(
        documents,
        aligner.align_all,
        forms=language.forms,
        context_size=context_size,
        counts=Counter(),
        language=language,
    )
    for pair in found:
        for candidate in (pair, *noisy_references(pair, language)):
            kept = filter_pair(candidate, keep)
            key = candidate.kind, candidate.better, candidate.worse
            if kept is not None and key not in seen:
                seen.add(key)
                yield kept


def train_aligner(documents: Sequence[Document], seed: int, language: Language = ENGLISH) -> AgreementAligner | None:
    """An aligner trained on references and outputs that differ; None if there are none."""
    lines = [
        (ref, hyp)
        for document in documents
        for segment in document.segments
        for ref in segment.refs.values()
        for hyp in segment.hyps.values()
        if ref.strip() and hyp.strip() and ref != hyp
    ]
    if not lines:
        return None
    if len(lines) > _MAX_ALIGNER_LINES:
        chosen = np.random.default_rng(seed).choice(len(lines), _MAX_ALIGNER_LINES, replace=False)
        lines = [lines[i] for i in sorted(chosen)]
    aligner = AgreementAligner()
    aligner.train([(lower_words(language.words(ref)), lower_words(language.words(hyp))) for ref, hyp in lines])
    return aligner
