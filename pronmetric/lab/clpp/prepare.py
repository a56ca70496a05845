"""Data of the cross-lingual pronoun prediction task, made from an aligned and tagged parallel corpus.

Each source pronoun of the task that is a subject has a slot. The slot replaces a target word that the pronoun is
aligned to: one of the task's classes if there is one, else the first one, of class OTHER. If the pronoun is not
aligned, the slot is inserted after the words that the nearest aligned source word before it is aligned to, and its word
is NONE.

Guillou et al. 2016, section 3.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from pronmetric.alignment.parsed import SUBJECTS, AlignedSentences, Link
from pronmetric.errors import InputError
from pronmetric.lab.clpp.data import NONE, OTHER, Task
from pronmetric.text import conllu
from pronmetric.text.conllu import Token


class Slot(NamedTuple):
    """A slot: its source token, the target token that it replaces (-1: inserted at `at`), its class and word."""

    source: int
    at: int
    replaces: int
    label: str
    word: str


def prepare(
    corpus: Iterable[AlignedSentences], task: Task, *, subjects: Sequence[str] = SUBJECTS, counts: Counter[str]
) -> Iterator[tuple[str, str]]:
    """The data line and the document of each sentence pair.

    Where the source sentence has dependency labels, a source pronoun gives a slot only if its label is one of
    `subjects`. `counts` takes "segments", "segments with a slot", "slots CLASS", "dropped: no subject" and
    "dropped: its word is a slot already".

    Raises:
        InputError: a task without source pronouns, and a source without dependencies and features.
    """
    labels = {label.lower() for label in subjects}
    for pair in corpus:
        if not task.triggers and not _has_labels(pair.source.tokens):
            message = f"{task.pair} needs dependency labels and features of the source, as it has no subject pronouns"
            raise InputError(message)
        slots = list(_slots(pair, task, labels, counts))
        counts["segments"] += 1
        counts["segments with a slot"] += bool(slots)
        counts.update(f"slots {slot.label}" for slot in slots)
        yield _write(pair, slots), pair.source.doc or pair.target.doc


def _has_labels(tokens: Sequence[Token]) -> bool:
    return any(token.deprel != conllu.NOTHING for token in tokens)


def _slots(pair: AlignedSentences, task: Task, subjects: set[str], counts: Counter[str]) -> Iterator[Slot]:
    """The slots of a sentence pair, in the order of their source tokens."""
    taken: set[int] = set()
    for s in _triggers(pair.source.tokens, task, subjects, counts):
        linked = sorted(t for here, t in pair.links if here == s)
        free = [t for t in linked if t not in taken]
        if linked and not free:
            counts["dropped: its word is a slot already"] += 1
        elif not free:
            yield Slot(s, _insertion(s, pair.links, len(pair.source.tokens)), -1, OTHER, NONE)
        else:
            classes = {t: found for t in free if (found := _class(pair.target.tokens[t].form, task)) != OTHER}
            t = next(iter(classes), free[0])
            taken.add(t)
            yield Slot(s, t, t, classes.get(t, OTHER), _plain(pair.target.tokens[t].form))


def _class(form: str, task: Task) -> str:
    return task.class_of(form.lower().replace("\u2019", "'")) or OTHER


def _triggers(tokens: Sequence[Token], task: Task, subjects: set[str], counts: Counter[str]) -> Iterator[int]:
    """The source tokens that have a slot."""
    labelled = _has_labels(tokens)
    for s, token in enumerate(tokens):
        if task.triggers:
            if token.form.lower() not in task.triggers:
                continue
            if labelled and token.deprel.lower() not in subjects:
                counts["dropped: no subject"] += 1
                continue
            yield s
        elif _has_null_subject(tokens, s, subjects):
            yield s


def _has_null_subject(tokens: Sequence[Token], s: int, subjects: set[str]) -> bool:
    """Whether a finite verb of the third person has no subject of its own, nor its predicate, if it is an auxiliary."""
    token = tokens[s]
    if token.feats.get("Person") != "3" or token.feats.get("VerbForm") != "Fin":
        return False
    owner = token.head if token.pos == "AUX" and token.head >= 0 else s
    return not any(other.head == owner and other.deprel.lower() in subjects for other in tokens)


def _insertion(s: int, links: Sequence[Link], size: int) -> int:
    """Where a slot without a link is inserted: after the words of the nearest linked source word before, else at 0."""
    for before in range(s - 1, -1, -1):
        if linked := [t for here, t in links if here == before]:
            return max(linked) + 1
    after = (t for other in range(s + 1, size) for here, t in links if here == other)
    return next(after, 0)


def _write(pair: AlignedSentences, slots: Sequence[Slot]) -> str:
    """The five columns of a sentence pair."""
    replaced = {slot.replaces: slot for slot in slots if slot.replaces >= 0}
    inserted = [slot for slot in slots if slot.replaces < 0]
    written: list[str] = []
    order: list[Slot] = []
    place: dict[int, int] = {}
    links: list[Link] = []
    for at in range(len(pair.target.tokens) + 1):
        for slot in inserted:
            if slot.at == at:
                links.append((slot.source, len(written)))
                order.append(slot)
                written.append(f"REPLACE_{slot.source}")
        if at < len(pair.target.tokens):
            place[at] = len(written)
            if at in replaced:
                order.append(replaced[at])
            written.append(
                f"REPLACE_{replaced[at].source}" if at in replaced else _format_token(pair.target.tokens[at])
            )
    links += [(s, place[t]) for s, t in pair.links]
    return "\t".join(
        (
            " ".join(slot.label for slot in order),
            " ".join(slot.word for slot in order),
            " ".join(_plain(token.form) for token in pair.source.tokens),
            " ".join(written),
            " ".join(f"{s}-{t}" for s, t in sorted(links)),
        )
    )


def _format_token(token: Token) -> str:
    lemma = token.form.lower() if token.lemma == conllu.NOTHING else token.lemma
    return f"{_plain(lemma)}|{token.pos}"


def _plain(form: str) -> str:
    """A form without white space, which separates tokens; CoNLL-U allows it in numbers such as 10 000."""
    return "_".join(form.split()) or conllu.NOTHING
