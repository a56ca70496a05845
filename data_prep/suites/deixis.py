"""Forms of address: sentences in the other one, by a table of pronouns (tables/register.*.tsv) and lexicons of verbs.

A sentence is switched where table and lexicons leave one possibility. What may be something else is refused: a verb
that is in neither, imperatives without a subject, reflexives, several persons, quotations.

Relative to Voita et al. 2019, appendix A.1: people wrote its versions. As there, both directions are there (of each
item one), and a source whose last sentence names the person (sir, mum) is left out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from data_prep.fidelity.rewriting import Unclean
from data_prep.suites import verbs
from data_prep.suites.fragments import Fragment, table
from data_prep.suites.versions import Version, cased, opens
from pronmetric.text.conllu import Sentence

FAMILIAR, POLITE = REGISTERS = ("familiar", "polite")
_YOU = frozenset("you your yours yourself".split())
_SEVERAL = frozenset("yourselves guys folks everyone everybody gentlemen ladies both all".split())
_MARKERS = frozenset(  # nominal markers: words for the person who is addressed
    "sir madam ma'am mister mr mrs ms miss officer doctor professor captain sergeant general boss lord lady majesty "
    "mom mum mommy mummy mother dad daddy father grandma grandpa honey darling dear sweetheart baby dude buddy pal "
    "kid bro son sis".split()
)
_QUOTES = frozenset('"\u00ab\u00bb\u201e\u201c\u201d')
_MARKS = frozenset(",.!?;:()\u2026\u2013\u2014-")  # between clauses
_STEM = 3  # letters before the ending of a verb, at least
Forms = Mapping[str, Mapping[str, frozenset[str]]]
"""Of each register, the forms of the other one by form."""


class Address(NamedTuple):
    """The table of a language.

    subjects, objects, words: pronouns; words are all. verbs: irregular forms. endings: of verbs; own: those that show
    the address without a subject. marks: the words that show it. persons: of the lexicon's verbs, by register; None
    where the endings do instead. alone: the registers whose verbs have no other subject. joins: words after which
    another verb may have the same subject. unclear: words with which a sentence that has a subject is not switched. For
    a form that is subject and object (German Sie), opens: conjunctions before a subject; governs: prepositions before
    an object; rivals: words that may be the subject of the same verb form.
    """

    code: str
    subjects: Forms
    objects: Forms
    words: Forms
    verbs: Forms
    endings: Forms
    own: Forms
    marks: Mapping[str, frozenset[str]]
    persons: Mapping[str, int] | None
    alone: frozenset[str]
    joins: frozenset[str]
    unclear: Mapping[str, frozenset[str]]
    opens: frozenset[str]
    governs: frozenset[str]
    rivals: frozenset[str]


@cache
def read(code: str) -> Address:
    """The table of a language.

    Raises:
        PronmetricError: there is none, or its verbs are looked up in lexicons that are not installed.
    """
    rows = table("register", code)

    def listed(register: str, *kinds: str) -> frozenset[str]:
        return frozenset(row[register] for row in rows if row["kind"] in kinds) - {"-"}

    def of(*kinds: str) -> Forms:
        found: dict[str, dict[str, frozenset[str]]] = {FAMILIAR: {}, POLITE: {}}
        for row in rows:
            for here, there in (REGISTERS, REGISTERS[::-1]):
                if row["kind"] in kinds and row[here] != "-":
                    none = row[there] == "-" or (here, row["kind"]) == (POLITE, "weak")
                    found[here][row[here]] = found[here].get(row[here], frozenset()) | (set() if none else {row[there]})
        return found

    persons = next(({name: int(row[name]) - 1 for name in REGISTERS} for row in rows if row["kind"] == "person"), None)
    if persons is not None:
        verbs.check()
    return Address(
        code,
        subjects=of("subject"),
        objects=of("word", "weak"),
        words=of("subject", "word", "weak"),
        verbs=of("verb"),
        endings=of("ending", "own"),
        own=of("own"),
        marks={FAMILIAR: listed(FAMILIAR, "subject", "word", "weak"), POLITE: listed(POLITE, "subject", "word")},
        persons=persons,
        alone=frozenset(name for name in REGISTERS if listed(name, "alone")),
        joins=listed(FAMILIAR, "joins"),
        unclear={name: listed(name, "unclear") for name in REGISTERS},
        opens=listed(FAMILIAR, "opens"),
        governs=listed(FAMILIAR, "governs"),
        rivals=listed(FAMILIAR, "rivals"),
    )


def switch(fragment: Fragment, of: Address) -> tuple[dict[int, Version], int] | None:
    """The sentences that show the form of address in the other one, and the distance of the nearest to the last one.

    By their place in the fragment; the last one is at -1. None where the last sentence has no English you, or where not
    both it and a previous sentence show the form of address.

    Raises:
        Unclean: with the reason why a sentence is not switched.
    """
    source = {token.form.lower() for token in fragment.pair.source.tokens}
    if _YOU.isdisjoint(source):
        return None
    sentences = {**dict(enumerate(pair.target for pair in fragment.before)), -1: fragment.pair.target}
    registers = {at: found for at, one in sentences.items() if (found := _registers(one, of))}
    if -1 not in registers or len(registers) < 2:
        return None
    if len(used := set[str]().union(*registers.values())) > 1:
        raise Unclean("both forms of address")
    if not _MARKERS.isdisjoint(source):
        raise Unclean("source names the person")
    if not _SEVERAL.isdisjoint(source):
        raise Unclean("several persons")
    if any(not _QUOTES.isdisjoint(token.form) for at in registers for token in sentences[at].tokens):
        raise Unclean("quotation")
    (register,) = used
    versions = {at: _switched(sentences[at], register, of) for at in registers}
    return versions, len(fragment.before) - max(at for at in registers if at != -1)


def _registers(sentence: Sentence, of: Address) -> set[str]:
    forms = [_listed(sentence, at, of) for at in range(len(sentence.tokens))]
    return {name for name, marks in of.marks.items() if not marks.isdisjoint(forms)}


def _listed(sentence: Sentence, at: int, of: Address) -> str:
    """A word as the tables have it: a capital tells forms apart inside the sentence only (German Sie and sie)."""
    form = sentence.tokens[at].form
    if form.isupper() and len(form) > 1:
        form = form.capitalize()
    return form.lower() if opens(sentence, at) or not any(form in of.words[name] for name in REGISTERS) else form


def _switched(sentence: Sentence, register: str, of: Address) -> Version:
    """The sentence in the other form of address.

    Raises:
        Unclean: the tables and lexicons do not give just one.
    """
    replaced: dict[int, str] = {}
    subjects: dict[int, int] = {}  # by the place of the verb
    low = [token.form.lower() for token in sentence.tokens]
    for at, token in enumerate(sentence.tokens):
        form = _listed(sentence, at, of)
        if form in of.words[register]:
            is_subject = form in of.subjects[register]
            if is_subject and form in of.objects[register]:
                is_subject = _is_subject(sentence, at, register, of)
            forms = of.subjects if is_subject else of.objects
            replaced[at] = _only(forms[register][form], "form of address with several counterparts")
            if is_subject:
                verb, new = _verb(sentence, at, register, of)
                if verb in subjects:
                    raise Unclean("one verb for two subjects")
                replaced[verb], subjects[verb] = new, at
        elif token.form[:1].isupper() and token.form.capitalize() in of.words[register]:
            raise Unclean("first word that may be no form of address")
    if subjects and not of.unclear[register].isdisjoint(low):
        raise Unclean("reflexive, or several persons")
    _refuse_others(sentence, replaced, subjects, register, of)
    old = sentence.tokens[first := min(replaced)].form
    new_forms = {at: cased(form, sentence, at) for at, form in replaced.items()}
    return Version(new_forms, (old, new_forms[first]))


def _refuse_others(
    sentence: Sentence, replaced: Collection[int], subjects: Mapping[int, int], register: str, of: Address
) -> None:
    """Raise Unclean where a word that is not replaced may be a verb in the form of address."""
    low, joined = [token.form.lower() for token in sentence.tokens], False
    for at, form in enumerate(low):
        if form in of.joins:
            joined = bool(subjects) and at > min(subjects)
        if opens(sentence, at) and of.persons is not None and verbs.is_imperative(form, of.code):
            raise Unclean("verb that may be an imperative")
        if at in replaced:
            is_first = opens(sentence, at) or low[at - 1] == "," or low[at - 1] in of.joins
            asked = low[-1] == "?" or not verbs.is_infinitive(form, of.code)
            if at in subjects and register not in of.alone and at < subjects[at] and is_first and not asked:
                raise Unclean("verb that may be an imperative")
            continue
        if _ending(form, of.own[register]) is not None:
            raise Unclean("another verb in the form of address")
        if (register in of.alone or joined) and _counterparts(form, register, of):
            raise Unclean("another verb in the form of address")


def _only(forms: frozenset[str], why: str) -> str:
    if len(forms) != 1:
        raise Unclean(why)
    return next(iter(forms))


def _clause(low: Sequence[str], at: int) -> range:
    """The places of the words between the marks around a word."""
    first = next((k + 1 for k in range(at - 1, -1, -1) if low[k] in _MARKS), 0)
    return range(first, next((k for k in range(at + 1, len(low)) if low[k] in _MARKS), len(low)))


def _is_subject(sentence: Sentence, at: int, register: str, of: Address) -> bool:
    """Whether a form that may be subject or object is the subject; raises Unclean where this is not sure."""
    low = [token.form.lower() for token in sentence.tokens]
    clause = _clause(low, at)
    before = low[clause.start : at]
    if before and before[-1] in of.governs:
        return False
    if len(before) == 1 and before[0] in of.opens:
        return True
    if before and _counterparts(before[-1], register, of):
        if all(verbs.is_known(word, of.code) and word not in of.rivals for word in before[:-1]) and len(before) < 3:
            return True
    elif len(before) > 1 and not verbs.may_be_verb(before[-1], of.code):
        if not any(_counterparts(low[k], register, of) for k in clause if k != at):
            return False
    raise Unclean("form of address that may be subject or object")


def _verb(sentence: Sentence, at: int, register: str, of: Address) -> tuple[int, str]:
    """The place of the verb of a subject, and its form in the other form of address.

    The verb is just before the subject, just after it where the subject is the first word, at the end of the clause
    after a conjunction, or the only one of the clause.
    """
    low = [token.form.lower() for token in sentence.tokens]
    clause = _clause(low, at)
    found = {k: forms for k in clause if k != at and (forms := _counterparts(low[k], register, of))}
    near = [k for k in (at - 1, *([at + 1] if opens(sentence, at) else [])) if k in found][:1] or list(found)
    if (
        low[at - 1] in of.opens
        and clause.stop - 1 in found
        and found.keys().isdisjoint(k for k in range(clause.start, clause.stop - 1) if low[k] in of.verbs[register])
    ):
        near = [clause.stop - 1]
    if len(near) != 1:
        raise Unclean("several verbs in the clause" if near else "no verb by the tables and lexicons")
    return near[0], _only(found[near[0]], "verb with several counterparts")


def _counterparts(form: str, register: str, of: Address) -> frozenset[str]:
    """The forms of a verb in the other form of address; none where it is no verb in this one."""
    if form in of.verbs[register]:
        return of.verbs[register][form]
    if of.persons is not None:
        other = POLITE if register == FAMILIAR else FAMILIAR
        found = verbs.in_person(form, of.code, of.persons[register], of.persons[other])
        return frozenset() if found is None else frozenset({found})
    ending = _ending(form, of.endings[register])
    if ending is None:
        return frozenset()
    return frozenset(form[: len(form) - len(ending)] + other for other in of.endings[register][ending])


def _ending(form: str, endings: Collection[str]) -> str | None:
    """The longest of some endings that a verb has."""
    fitting = (one for one in endings if form.endswith(one) and len(form) >= len(one) + _STEM)
    return max(fitting, key=len, default=None)
