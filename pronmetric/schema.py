"""Frozen records that are passed between packages; no behaviour.

Offsets are half-open spans of code points in the text they belong to. `seg` is the 1-based number of a
segment in its test set. Names follow mt-metrics-eval: src, ref, hyp, doc, seg, lp, system.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

SCHEMA_VERSION = 1
"""Number of our own format of prepared data; another one is refused."""

# Kinds of pairs that are not made from system outputs.
TIE, FIDELITY = "tie", "fidelity"

# A word's state is the mean of the states of its pieces, or the first.
WORD_STATES = ("mean", "first")


@dataclass(frozen=True, slots=True)
class Segment:
    """One segment of a test set: its source (may be missing), references and system outputs by name.

    speaker: who says it, "" if unknown, None if the files do not say.
    """

    seg: int
    src: str | None
    refs: Mapping[str, str]
    hyps: Mapping[str, str]
    speaker: str | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """Consecutive segments of one document; `exact` is False if the files give no document boundaries.

    `origin` is the original language of the text, if known.
    """

    testset: str
    lp: str
    doc: str
    segments: tuple[Segment, ...]
    exact: bool = True
    domain: str | None = None
    origin: str | None = None


@dataclass(frozen=True, slots=True)
class Alignment:
    """Links (i, j) between words i of one text and j of another, 0-based, sorted, without repeats."""

    links: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A pronoun in use in the reference that the system translated differently.

    kind: "pronoun" (aligned with another pronoun in use), "word" (with another word) or "nothing"
    (unaligned; then hyp_start == hyp_end == -1 and hyp_form == "").
    Forms are lower-cased; starts and ends are offsets into the reference and the system output.
    """

    kind: str
    ref_form: str
    hyp_form: str
    ref_start: int
    ref_end: int
    hyp_start: int
    hyp_end: int


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts of one segment, the first of which has the better pronouns.

    kind: "system" (reference and system output, R vs S), "noisy" (reference and the
    reference with one pronoun replaced by the system's, R vs R') or "tie" (as "noisy", but people found both texts
    equally good; in training data only). In the fidelity splits, whose texts are no translations: "fidelity" (one
    person's pronouns, and the same text with another's) or "tie" (nothing decides between the two); `ref` and `system`
    then name the sets of pronouns (he, she, they, it), and there is a mismatch for each replaced pronoun.
    better, worse: the two texts. context: the previous reference sentences, oldest first (common
    context). system_context: the system's own previous sentences (respective context of `worse`).
    mismatches: offsets are into `better` and the *system output*; for kinds "noisy" and "tie" there is exactly one,
    and its hyp offsets are into `worse`, as they are in the fidelity splits.
    agrees: False if the verb next to the replaced pronoun does not agree with it ("they is").
    """

    id: str
    kind: str
    testset: str
    lp: str
    doc: str
    seg: int
    ref: str
    system: str
    better: str
    worse: str
    context: tuple[str, ...]
    system_context: tuple[str, ...]
    mismatches: tuple[Mismatch, ...]
    agrees: bool = True


@dataclass(frozen=True, slots=True)
class Translation:
    """A text and its source, from which a reader learns what sources say about pronouns.

    kind: "reference", "output" (a system's, with the pronoun forms of a reference) or "reversed" (the original of a
    translation out of the target language; the translation is the source). language: of the source. context,
    source_context: the previous sentences of the text's document and of the source's, oldest first.
    """

    id: str
    kind: str
    testset: str
    language: str
    doc: str
    text: str
    context: tuple[str, ...]
    source: str
    source_context: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Antecedent:
    """The antecedent of a pronoun in a passage: numbers of the pronoun's word and of the antecedent's words."""

    word: int
    antecedent: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Passage:
    """A window of a document, with the spans of its pronouns in use.

    text: the window, plain. spans: (start, end) of each pronoun, in order. forms: lower-cased. antecedents: of those
    pronouns whose antecedent is annotated.
    """

    id: str
    source: str
    doc: str
    text: str
    spans: tuple[tuple[int, int], ...] = field(default=())
    forms: tuple[str, ...] = field(default=())
    antecedents: tuple[Antecedent, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class JudgedPronoun:
    """A pronoun of a translation that people judged: its span, its form, and the raters who marked it as an error.

    correction: the form that a person put in its place, "" if it was deleted, None if that is not known.
    """

    start: int
    end: int
    form: str
    marked_by: tuple[str, ...] = ()
    correction: str | None = None


@dataclass(frozen=True, slots=True)
class JudgedGap:
    """A place in which people missed a pronoun: the offset of the word before which it belongs, and its form."""

    start: int
    form: str
    marked_by: tuple[str, ...]


UNDETERMINED = "und"
"""The code of a language that is not known, as in "und-en" (ISO 639-2)."""


@dataclass(frozen=True, slots=True)
class JudgedText:
    """A translation with what people marked or corrected of its pronouns.

    kind: "marks" (raters marked errors; a gap without an entry is not known to be right) or "edits" (a person corrected
    the text: all else was right). lp: as in "zh-en". context, source_context: the previous sentences of the translation
    and of the source, oldest first. unjudged: spans that a person rewrote, of whose pronouns nothing is known. mended:
    the text with all corrections of its pronouns, "" if there is none.
    """

    id: str
    kind: str
    testset: str
    lp: str
    doc: str
    system: str
    raters: tuple[str, ...]
    text: str
    context: tuple[str, ...]
    source: str
    source_context: tuple[str, ...]
    pronouns: tuple[JudgedPronoun, ...]
    gaps: tuple[JudgedGap, ...] = ()
    unjudged: tuple[tuple[int, int], ...] = ()
    mended: str = ""
