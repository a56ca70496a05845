"""Drawing a study: a balanced sample of each source language, and the tasks of the annotators."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from pronmetric.errors import InputError
from pronmetric.lab.study.assignment import assign, sample_stream
from pronmetric.lab.study.balance import draw, score_ranges
from pronmetric.lab.study.design import Design
from pronmetric.lab.study.folder import Study
from pronmetric.lab.study.item import Item


def sample(
    candidates: Sequence[Item], design: Design, *, differences: Mapping[str, float | None] | None = None
) -> Study:
    """A study of these candidates; the same candidates, in any order, and the same design give the same study.

    differences: by the candidate's id, the metric's score of the reference less that of the other version; None for a
    version without a score.

    Raises:
        InputError: a language has too few candidates, or its sample cannot be balanced; a candidate that lacks its
            source or its score.
    """
    if design.source:
        _require("has no source", [item.id for item in candidates if not item.source], "leave out `show_source=True`")
    known = {item: value for item, value in (differences or {}).items() if value is not None}
    if differences is not None:
        missing = [item.id for item in candidates if item.id not in known]
        _require("has no score of both versions", missing, "score all of them, or leave out `scores=`")
    chosen: list[Item] = []
    for number, language in enumerate(sorted({item.language for item in candidates})):
        own = [item for item in candidates if item.language == language]
        ranges = score_ranges({item.id: known[item.id] for item in own}, design.ranges) if known else {}
        total = len(own) if design.items is None else design.items
        strict = design.strict and design.items is not None
        chosen += draw(own, total=total, ranges=ranges, strict=strict, rng=sample_stream(design.seed, number))
    return Study({item.id: item for item in chosen}, design, assign(chosen, design))


def choose(
    candidates: Sequence[Item], *, languages: Collection[str] | None, pairs: Collection[tuple[str, str]] | None
) -> list[Item]:
    """The candidates of these source languages and pronoun pairs (reference, other), None for all.

    Raises:
        InputError: a language or pair that no candidate has.
    """
    found = list(candidates)
    for wanted, key, argument in (
        (languages, lambda item: item.language, "languages"),
        (pairs, lambda item: item.pronouns, "pronoun_pairs"),
    ):
        if wanted is None:
            continue
        known = {key(item) for item in found}
        if absent := [one for one in wanted if one not in known]:
            name = absent[0] if isinstance(absent[0], str) else ":".join(absent[0])
            raise InputError(f"`{argument}={name}`: no candidate has it; leave it out, or give other data")
        found = [item for item in found if key(item) in wanted]
    return found


def _require(what: str, missing: Sequence[str], cure: str) -> None:
    if missing:
        raise InputError(f'{len(missing)} candidates: each {what}, first "{missing[0]}"; {cure}')
