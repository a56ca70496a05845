"""Closed classes and common verbs of English for the pronoun rules (tables/lexicon.en.tsv).

In the table a verb with a star includes its regular inflections.
"""

from __future__ import annotations

from pronmetric.pronouns.tables import rows


def _inflect(verb: str) -> set[str]:
    """The regular forms of a verb, and some impossible ones, none of which is another word.

    >>> sorted(_inflect("deny"))
    ['denied', 'denies', 'deny', 'denying']
    """
    stem = verb[:-1] if verb.endswith("e") and not verb.endswith(("ee", "oe", "ye")) else verb
    if verb.endswith("y") and verb[-2] not in "aeou":
        third, past = f"{verb[:-1]}ies", f"{verb[:-1]}ied"
    else:
        third = f"{verb}es" if verb.endswith(("s", "sh", "ch", "x", "z", "o")) else f"{verb}s"
        past = f"{verb}d" if verb.endswith("e") else f"{verb}ed"
    doubled = {f"{verb}{verb[-1]}ed", f"{verb}{verb[-1]}ing"} if verb[-1] in "bdgmnprt" else set()
    return {verb, third, past, f"{stem}ing", *doubled}


def _words(cell: str) -> frozenset[str]:
    return frozenset().union(*(_inflect(word[:-1]) if word.endswith("*") else {word} for word in cell.split()))


CLASSES = {row["class"]: _words(row["words"]) for row in rows("lexicon.en.tsv")}

ADVERB = CLASSES["adverb"]
ARTICLE = CLASSES["article"]
BE = CLASSES["be"]
CONJUNCTION = CLASSES["conjunction"]
MODAL = CLASSES["modal"]
PAST = CLASSES["past"]
PREPOSITION = CLASSES["preposition"]
SINGULAR = CLASSES["finite_singular"]
PLURAL = CLASSES["finite_plural"]
FIRST = CLASSES["finite_first"]
BASE = CLASSES["verb"]

AUXILIARY = BE | MODAL | SINGULAR | PLURAL | FIRST | {"had", "did", "hadn", "didn", "'s", "s"}
VERB = PAST.union(*map(_inflect, BASE))
FUNCTION = (
    PREPOSITION
    | CONJUNCTION
    | ARTICLE
    | AUXILIARY
    | ADVERB
    | CLASSES["subject_pronoun"]
    | CLASSES["object_pronoun"]
    | CLASSES["possessive"]
    | {"to", "that", "this", "these", "those", "not", "n't", "t", "such"}
)
