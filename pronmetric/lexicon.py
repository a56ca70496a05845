"""Closed classes and common verbs of English that the pronoun rules ask for (resources/lexicon.en.tsv)."""

from __future__ import annotations

from pronmetric.resources import rows

CLASSES = {row["class"]: frozenset(row["words"].split()) for row in rows("lexicon.en.tsv")}

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
AUXILIARY = BE | MODAL | SINGULAR | PLURAL | FIRST | {"had", "did", "hadn", "didn", "'s", "s"}


def _inflected(verb: str) -> set[str]:
    stem = verb[:-1] if verb.endswith("e") else verb
    if verb.endswith("y") and verb[-2] not in "aeou":
        third, past = f"{verb[:-1]}ies", f"{verb[:-1]}ied"
    else:
        third = f"{verb}es" if verb.endswith(("s", "sh", "ch", "x", "z", "o")) else f"{verb}s"
        past = f"{stem}ed"
    doubled = {f"{verb}{verb[-1]}ed", f"{verb}{verb[-1]}ing"} if verb[-1] in "bdgmnprt" else set()
    return {verb, third, past, f"{stem}ing", *doubled}


BASE = CLASSES["verb"]
VERB = PAST.union(*map(_inflected, BASE))

FUNCTION = (
    PREPOSITION
    | CONJUNCTION
    | ARTICLE
    | AUXILIARY
    | ADVERB
    | CLASSES["subject_pronoun"]
    | CLASSES["possessive"]
    | {
        *CLASSES["object_pronoun"],
        "to",
        "that",
        "this",
        "these",
        "those",
        "not",
        "n't",
        "t",
        "such",
    }
)
