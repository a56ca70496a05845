"""A pair of artificial languages in which only the context decides: a parallel corpus, and contrastive sets.

Three phenomena cannot be translated from the sentence alone:

- a pronoun of the source, *it*, is one of three in the target, by the gender of the last noun, which nothing in the
  sentence tells;
- *you* is one of two forms of politeness, which stays the same in a document and is in the target only;
- *does too* repeats the verb of the previous sentence.

`EASY` is the language of the published page. In `HARD` there are four times as many nouns, half of those that decide
stand beside an object of another gender, which *it* never means, and one in ten pronouns of the training text has a
random gender: to be right, a model must tell subjects from objects, and know the gender of nouns that it saw seldom.

The sets are in the formats of ContraPro (with documents) and of the consistency sets. Each sentence of them is there
once with each right answer, so that a model that reads the sentence alone is right on one in three pronouns, one in
two forms of politeness and one in three verbs, whatever it has learned.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from pronmetric.lab.suites.consistency import SENTENCES, SEPARATOR

GENDERS = ("ro", "ra", "ri")
"""The target's pronouns for *it*."""
POLITE = ("tu", "vos")
"""The target's forms for *you*."""
DISTANCES = (1, 2, 3)
NAMES = ("Ado", "Beno", "Ciro", "Dena", "Elin", "Faro", "Gita", "Hugo")
PRONOUNS, POLITENESS, ELLIPSIS = "pronouns.json", "politeness.json", "ellipsis.json"
SOURCE, TARGET, DOCIDS, DOCUMENTS = "text.src", "text.tgt", "docids.txt", "documents"
_SYLLABLES = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
_KINDS = ("noun", "name", "you", "it", "too")


class Words(NamedTuple):
    """The words of the pair: each has a source and a target form; the gender of noun k is k modulo 3."""

    nouns: list[tuple[str, str]]
    verbs: list[tuple[str, str]]
    adverbs: list[tuple[str, str]]


class Language(NamedTuple):
    """How hard the language is: its nouns, the share of these with an object, and of random pronouns in training."""

    nouns: int
    objects: float
    noise: float


EASY, HARD = Language(12, 0.0, 0.0), Language(48, 0.5, 0.1)


class Sentence(NamedTuple):
    """A sentence of both languages; `forms`: the target with each other form, by the phenomenon."""

    source: str
    target: str


def words() -> Words:
    """The same words in each call: 48 nouns, 16 verbs, 8 adverbs, each of two or three syllables."""
    drawn = np.random.default_rng(1)
    made: list[str] = []
    while len(made) < 144:
        word = "".join(drawn.choice(_SYLLABLES, drawn.integers(2, 4)))
        if word not in (*made, *GENDERS, *POLITE):
            made.append(word)
    pairs = list(zip(made[::2], made[1::2], strict=True))
    return Words(pairs[:12] + pairs[36:], pairs[12:28], pairs[28:36])


WORDS = words()


def clause(subject: tuple[str, str], verb: int, adverb: int, other: tuple[str, str] | None = None) -> Sentence:
    """Subject, verb, object (`other`) and adverb; the verb stands last in the target."""
    (verb_source, verb_target), (adverb_source, adverb_target) = WORDS.verbs[verb], WORDS.adverbs[adverb]
    source, target = (f"{one} " for one in other) if other is not None else ("", "")
    return Sentence(
        f"{subject[0]} {verb_source} {source}{adverb_source} .", f"{subject[1]} {target}{adverb_target} {verb_target} ."
    )


def noun(number: int) -> tuple[str, str]:
    """A noun as a subject."""
    source, target = WORDS.nouns[number]
    return f"the {source}", f"ta {target}"


def repeated(name: str, verb: int) -> Sentence:
    """The ellipsis: somebody does too what the previous sentence says."""
    return Sentence(f"{name} does too .", f"{name} {WORDS.verbs[verb][1]} aso .")


def rival(drawn: Generator, number: int, of: Language) -> tuple[str, str] | None:
    """An object of another gender than noun `number`, or None; nothing is drawn where the language has none."""
    if not of.objects or drawn.random() >= of.objects:
        return None
    return noun(3 * int(drawn.integers(of.nouns // 3)) + (number + int(drawn.integers(1, 3))) % 3)


def document(drawn: Generator, of: Language) -> list[Sentence]:
    """Four sentences in which a pronoun has a noun before it, and an ellipsis follows a clause about somebody."""
    polite, last_noun, last_verb = drawn.choice(POLITE), None, None
    made: list[Sentence] = []
    for _ in range(SENTENCES):
        shares = np.array([3, 2, 3, 9 * (last_noun is not None), 8 * (last_verb is not None)], dtype=float)
        kind = drawn.choice(_KINDS, p=shares / shares.sum())
        verb, adverb = int(drawn.integers(len(WORDS.verbs))), int(drawn.integers(len(WORDS.adverbs)))
        name = str(drawn.choice(NAMES))
        if kind == "too" and last_verb is not None:
            made.append(repeated(name, last_verb))
            last_verb = None
            continue
        other = None
        if kind == "noun":
            last_noun = int(drawn.integers(of.nouns))
            subject, other = noun(last_noun), rival(drawn, last_noun, of)
        elif kind == "it" and last_noun is not None:
            is_noise = bool(of.noise) and drawn.random() < of.noise
            subject = "it", str(drawn.choice(GENDERS)) if is_noise else GENDERS[last_noun % 3]
        else:
            subject = ("you", str(polite)) if kind == "you" else (name, name)
        made.append(clause(subject, verb, adverb, other))
        last_verb = verb if kind == "name" else None
    return made


def _clauses(drawn: Generator, number: int) -> list[tuple[tuple[str, str], int, int]]:
    """Clauses about somebody, as arguments of `clause`."""
    names = drawn.choice(NAMES, number)
    verbs, adverbs = drawn.integers(len(WORDS.verbs), size=number), drawn.integers(len(WORDS.adverbs), size=number)
    return [((str(n), str(n)), int(v), int(a)) for n, v, a in zip(names, verbs, adverbs, strict=True)]


class Item(NamedTuple):
    """A contrastive item: a document, the other targets of its last sentence, and the distance of what decides."""

    document: list[Sentence]
    others: list[str]
    distance: int


def items(drawn: Generator, kind: str, distance: int, of: Language) -> Iterator[Item]:
    """The same last sentence once with each right answer: pronouns, forms of politeness or verbs."""
    frames = _clauses(drawn, SENTENCES)
    place = SENTENCES - 1 - distance
    _, verb, adverb = frames[-1]
    subjects, answers = [], []
    others: list[tuple[str, str] | None] = [None] * len(GENDERS)
    if kind == PRONOUNS:
        group = 3 * int(drawn.integers(of.nouns // 3))
        subjects = [noun(group + gender) for gender in range(3)]
        answers = [clause(("it", form), verb, adverb) for form in GENDERS]
        others = [rival(drawn, group + gender, of) for gender in range(3)]
    elif kind == POLITENESS:
        subjects = [("you", form) for form in POLITE]
        answers = [clause(("you", form), verb, adverb) for form in POLITE]
    else:
        verbs = [int(one) for one in drawn.choice(len(WORDS.verbs), 3, replace=False)]
        answers = [repeated(frames[-1][0][0], one) for one in verbs]
    for right, answer in enumerate(answers):
        subject, said, how = frames[place]
        decisive = (subjects[right], said, how) if subjects else (subject, verbs[right], how)
        other = others[right]
        before = [clause(*decisive, other) if k == place else clause(*frame) for k, frame in enumerate(frames[:-1])]
        yield Item([*before, answer], [one.target for k, one in enumerate(answers) if k != right], distance)


def write(folder: Path, *, of: Language = HARD, documents: int = 5000, size: int = 60, seed: int = 1) -> None:
    """Write a corpus of `documents`, and sets of `size` sentences for each distance, each with all its answers."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = np.random.default_rng(seed)
    corpus = [(f"d{number}", one) for number in range(documents) for one in document(drawn, of)]
    (folder / SOURCE).write_text("".join(f"{one.source}\n" for _, one in corpus), encoding="utf-8")
    (folder / TARGET).write_text("".join(f"{one.target}\n" for _, one in corpus), encoding="utf-8")
    (folder / DOCIDS).write_text("".join(f"{name}\n" for name, _ in corpus), encoding="utf-8")

    def drawn_items(kind: str, distances: Sequence[int]) -> list[Item]:
        return [item for distance in distances for _ in range(size) for item in items(drawn, kind, distance, of)]

    _write_pronouns(folder, drawn_items(PRONOUNS, DISTANCES))
    for name, distances in ((POLITENESS, DISTANCES), (ELLIPSIS, (1,))):
        found = [_consistency(item, k) for k, item in enumerate(drawn_items(name, distances))]
        (folder / name).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def _write_pronouns(folder: Path, found: Sequence[Item]) -> None:
    """The set in ContraPro's format, and its documents."""
    (folder / DOCUMENTS).mkdir(exist_ok=True)
    made = []
    for number, item in enumerate(found):
        *_, last = item.document
        for side, text in enumerate(("src", "tgt")):
            lines = "".join(f"{one[side]}\n" for one in item.document)
            (folder / DOCUMENTS / f"i{number}.{text}").write_text(lines, encoding="utf-8")
        made.append(
            {
                "src segment": last.source,
                "ref segment": last.target,
                "src pronoun": "it",
                "ref pronoun": last.target.split()[0],
                "ante distance": item.distance,
                "intrasegmental": False,
                "document id": f"i{number}",
                "segment id": SENTENCES - 1,
                "errors": [{"contrastive": other} for other in item.others],
            }
        )
    (folder / PRONOUNS).write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")


def _consistency(item: Item, number: int) -> dict[str, object]:
    """An item in the format of the consistency sets; the right candidate is at each place in turn."""
    *before, last = item.document
    place = number % (1 + len(item.others))
    targets = [*item.others[:place], last.target, *item.others[place:]]
    return {
        "src": SEPARATOR.join(one.source for one in item.document),
        "dst": [SEPARATOR.join([*(one.target for one in before), target]) for target in targets],
        "true_ind": place,
        "ctx_dist": item.distance,
    }
