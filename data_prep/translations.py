"""Texts with their sources, from which a reader learns what sources say about pronouns.

They are the references of the test sets into the target language, outputs of systems whose pronouns equal a
reference's, and for English the originals of translations out of it, whose translation is then the source.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from data_prep.survey import SegmentId, Survey, draw_systems, find_forms, is_free
from data_prep.wmt import discovery, parallel
from data_prep.wmt.testset import Part, TestSet, documents, year_of
from pronmetric.errors import InputError
from pronmetric.pronouns.languages import Language
from pronmetric.schema import Document, Translation
from pronmetric.text.context import SOURCE_CONTEXT, nearest, spoken

REFERENCE, OUTPUT, REVERSED = "reference", "output", "reversed"
_FOLDER = re.compile(r"(?P<name>.+)\.(?P<source>[a-z]{2,3})-(?P<target>[a-z]{2,3})")


def parallel_sets(folders: Sequence[str], *, target: str) -> list[TestSet]:
    """The sets NAME.A-B of some folders, ref.B and its translation src.A, of which one is `target`: the text.

    The other one is its source.

    Raises:
        InputError: a folder does not exist or has no such set, or a set lacks one of the two files.
    """
    found: list[TestSet] = []
    for root in map(Path, folders):
        if not root.is_dir():
            raise InputError("no such folder: data.parallel expects the folder of NAME.LANG-en folders", file=root)
        named = [(path, match) for path in sorted(root.iterdir()) if (match := _FOLDER.fullmatch(path.name))]
        own = [_parallel_set(path, match, target) for path, match in named if target in match.group("source", "target")]
        if not own:
            raise InputError(
                f"data.parallel: holds no folder NAME.LANG-en with ref.en and src.LANG of which one is {target}",
                file=root,
            )
        found += own
    return found


def _parallel_set(folder: Path, match: re.Match[str], target: str) -> TestSet:
    files = {match["source"]: folder / f"src.{match['source']}", match["target"]: folder / f"ref.{match['target']}"}
    (other,) = files.keys() - {target}
    parts = [Part("src", "", files[other]), Part("ref", "ref", files[target])]
    for part in parts:
        if not part.path.is_file():
            raise InputError("no such file: a set of data.parallel has ref.en and src.LANG", file=part.path)
    for role in (parallel.DOCIDS, parallel.SPEAKERS):
        if (path := folder / f"{role}.txt").is_file():
            parts.append(Part(role, "", path))
    return TestSet(match["name"], year_of(match["name"]), f"{other}-{target}", tuple(parts))


def of_reversed(
    testsets: Iterable[TestSet],
    surveyed: Survey,
    *,
    context_size: int,
    language: Language,
    counts: Counter[tuple[str, ...]],
) -> Iterator[Translation]:
    """The originals of translations, for training; those that test or development also have are left out."""

    def take(text: str, segment: int) -> bool:
        if not surveyed.held_out["train"].near(text):
            return True
        counts["dropped", "copy on another side"] += 1
        return False

    for testset in testsets:
        for document in documents(testset, parallel.read(testset)):
            texts = [segment.refs["ref"] for segment in document.segments]
            yield from _lines(document, texts, REVERSED, "ref", take, context_size, language, counts)


def of_testsets(
    testsets: Iterable[TestSet],
    surveyed: Survey,
    split: str,
    *,
    systems: int,
    context_size: int,
    language: Language,
    seed: int,
    counts: Counter[tuple[str, ...]],
) -> Iterator[Translation]:
    """The references of a split with their sources and, of training, the outputs of `systems` systems of each test set.

    An output is taken where it has exactly the pronoun forms of a reference.
    """
    for testset in testsets:
        read = list(discovery.read(testset))
        chosen = draw_systems(testset, read, systems, seed)
        for document in read:
            free = [
                is_free(surveyed, SegmentId(document.testset, document.lp, segment.seg), split)
                for segment in document.segments
            ]
            right = [
                [find_forms(text, language) for text in segment.refs.values()] if known and chosen else []
                for segment, known in zip(document.segments, free, strict=True)
            ]

            def is_reference(text: str, segment: int) -> bool:
                return free[segment]  # noqa: B023  # called within this turn

            def is_right(text: str, segment: int) -> bool:
                if not free[segment]:  # noqa: B023
                    return False
                taken = find_forms(text, language) in right[segment]  # noqa: B023
                counts["outputs", *(("taken",) if taken else ("dropped", "other pronouns"))] += 1
                return taken

            for name in dict.fromkeys(name for segment in document.segments for name in segment.refs):
                texts = [segment.refs.get(name) for segment in document.segments]
                yield from _lines(document, texts, REFERENCE, name, is_reference, context_size, language, counts)
            for name in chosen:
                texts = [segment.hyps.get(name) for segment in document.segments]
                yield from _lines(document, texts, OUTPUT, name, is_right, context_size, language, counts)


def _lines(
    document: Document,
    texts: Sequence[str | None],
    kind: str,
    name: str,
    take: Callable[[str, int], bool],
    context_size: int,
    language: Language,
    counts: Counter[tuple[str, ...]],
) -> Iterator[Translation]:
    """The texts of a document that `take` wants and that have a pronoun, with the sentences before them.

    A line without text or source, and one that is not taken, ends the context of those after it.
    """
    source_language = document.lp.split("-")[0]
    before: list[tuple[str, str, str | None]] = []
    for number, (segment, text) in enumerate(zip(document.segments, texts, strict=True)):
        source = (segment.src or "").strip()
        if text is None or not text.strip() or not source:
            counts["dropped", "empty"] += 1
            before.clear()
            continue
        if not take(text, number):
            before.clear()
            continue
        if language.find(text):
            yield Translation(
                id=f"{document.testset}.{document.lp}/{name}/{segment.seg}",
                kind=kind,
                testset=document.testset,
                language=source_language,
                doc=document.doc,
                text=text,
                context=spoken(((line, who) for _, line, who in reversed(before)), segment.speaker, size=context_size),
                source=source,
                source_context=nearest((line for line, _, _ in reversed(before)), SOURCE_CONTEXT),
            )
        else:
            counts["dropped", "no pronoun"] += 1
        before.append((source, text, segment.speaker))
