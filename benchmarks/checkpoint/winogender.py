"""Winogender (Rudinger et al., NAACL 2018): sentences with an occupation, in which he or she fits equally well.

The sentences are test data: they are never used for training or tuning.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pronmetric.text.entry import Entry, read_table
from pronmetric.text.words import words

OCCUPATION, PARTICIPANT = "occupation", "participant"
_REFERENT = {"0": OCCUPATION, "1": PARTICIPANT}
_GENDERS = ("male", "female", "neutral")
_SHARES = ("bergsma_pct_female", "bls_pct_female")


@dataclass(frozen=True, slots=True)
class Template:
    """A sentence with a masculine and with a feminine pronoun.

    participant: the other person, or "someone". referent: whom the pronoun means, OCCUPATION or PARTICIPANT. start: of
    the pronoun, the same in both sentences.
    """

    occupation: str
    participant: str
    referent: str
    male: str
    female: str
    start: int


@dataclass(frozen=True, slots=True)
class WomenShares:
    """The share of women in an occupation, in percent: in web text (Bergsma and Lin 2006) and in the US (BLS)."""

    bergsma: float
    bls: float


def read(path: Path) -> list[Template]:
    """The templates of `all_sentences.tsv`, in order.

    Raises:
        InputError: with file and line, if a row is not of this format; a gender is missing, or the sentences of a
            template differ in other than one word.
    """
    sentences_of: dict[tuple[str, str, str], dict[str, str]] = {}
    first: dict[tuple[str, str, str], Entry] = {}
    for row in read_table(path, ("sentid", "sentence"), expected="the sentences of Winogender"):
        name, sentence = row.string("sentid"), row.string("sentence")
        parts = name.split(".")
        if len(parts) != 5 or parts[2] not in _REFERENT or parts[3] not in _GENDERS:
            row.fail(f"expected OCCUPATION.PARTICIPANT.0|1.male|female|neutral.txt, got {name!r}")
        key = parts[0], parts[1], parts[2]
        sentences_of.setdefault(key, {})[parts[3]] = sentence
        first.setdefault(key, row)
    templates = []
    for (occupation, participant, answer), sentences in sentences_of.items():
        row = first[occupation, participant, answer]
        if not {"male", "female"} <= sentences.keys():
            row.fail(f"expected a male and a female sentence of {occupation}")
        male, female = sentences["male"], sentences["female"]
        one, other = words(male), words(female)
        differing = [a.start for a, b in zip(one, other, strict=False) if a.text != b.text]
        if len(one) != len(other) or len(differing) != 1:
            row.fail("expected sentences that differ in one word")
        templates.append(Template(occupation, participant, _REFERENT[answer], male, female, differing[0]))
    return templates


def read_shares(path: Path) -> dict[str, WomenShares]:
    """The shares of women by occupation of `occupations-stats.tsv`.

    Raises:
        InputError: with file and line, if a column is missing or a share is no number.
    """
    shares = {}
    for row in read_table(path, ("occupation", *_SHARES), expected="the shares of women by occupation"):
        given = [row.string(name) for name in _SHARES]
        try:
            shares[row.string("occupation")] = WomenShares(*map(float, given))
        except ValueError:
            row.fail(f"expected shares in percent, got {', '.join(given)}")
    return shares
