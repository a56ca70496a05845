"""Consistency sets as those of Voita et al. (ACL 2019), from English into languages with the tables that they need.

An item is a fragment of four sentences whose last one is contrasted with another version: deixis, the other form of
address (tables/register.*.tsv); lexical cohesion, another translation of a name, by a lexical table; ellipsis of a
verb phrase, the literal translation of the auxiliary (tables/ellipsis.*.tsv); ellipsis that leaves a noun phrase,
another inflection of its noun.

Relative to the paper: its contrastive translations of deixis and ellipsis are people's. Here the versions are made by
tables, where these leave one possibility, and each item is a question for a study (`Check`). The lexical table may be
counted on the links of the corpus itself.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

from data_prep.fidelity.rewriting import Unclean
from data_prep.suites.corpus import Document
from data_prep.suites.fragments import Check, Fragment, check, ellipsis, fragments, has_verb, literal, table
from pronmetric.alignment.parsed import Aligned
from pronmetric.errors import InputError
from pronmetric.text.conllu import Sentence
from pronmetric.text.lines import read_lines

DEIXIS, LEXICAL, VERB_PHRASE, INFLECTION = "deixis", "lex_cohesion", "ellipsis_vp", "ellipsis_infl"
KINDS = (DEIXIS, LEXICAL, VERB_PHRASE, INFLECTION)
SEPARATOR = " _eos "
CONTEXT = 3
LEAST = 2
"""How often a name must have a translation for it to be one of the lexical table of a corpus."""
FAMILIAR, POLITE = "familiar", "polite"
_YOU = frozenset("you your yours yourself".split())
_REACH = 4  # words after a subject among which its verb is looked for
_STEM = 3  # letters before the ending of a verb, at least
_LONGEST = 6  # words of a sentence that is only a noun phrase
_ENDING = 2  # letters by which inflections of a noun differ in length, at most
_FORMS = 3  # wrong inflections of an item, at most
Lexicon = Mapping[str, tuple[str, ...]]


class Made(NamedTuple):
    """An item in the JSON schema of the sets, and what people are asked about it."""

    item: dict[str, Any]
    check: Check


class _Version(NamedTuple):
    """The last sentence otherwise: the new form of some words, and the first old and new form."""

    replaced: Mapping[int, str]
    forms: tuple[str, str]


def items(
    documents: Sequence[Document], kind: str, *, language: str, lexicon: Lexicon | None, counts: Counter[str]
) -> Iterator[Made]:
    """The items of one of `KINDS`, in order. `counts` takes "candidates", of these "dropped: REASON", and "items".

    lexicon: for lexical cohesion, the translations of each name; None counts them on the documents.

    Raises:
        InputError: there is no table for the language.
    """
    find = _finder(documents, kind, language, lexicon)
    for document in documents:
        for fragment in fragments(document, least=CONTEXT, most=CONTEXT):
            try:
                for made in find(fragment):
                    counts["items"] += 1
                    counts["candidates"] += 1
                    yield made
            except Unclean as why:
                counts["candidates"] += 1
                counts[f"dropped: {why}"] += 1


def _finder(
    documents: Sequence[Document], kind: str, language: str, lexicon: Lexicon | None
) -> Callable[[Fragment], Iterator[Made]]:
    if kind == DEIXIS:
        table("register", language)
        return lambda fragment: _deixis(fragment, language)
    if kind == LEXICAL:
        known = count_lexicon(documents) if lexicon is None else lexicon
        return lambda fragment: _lexical(fragment, known)
    if kind == VERB_PHRASE:
        table("ellipsis", language)
        return lambda fragment: _verb_phrase(fragment, language)
    forms = _vocabulary(documents)
    return lambda fragment: _inflection(fragment, forms)


def _made(
    fragment: Fragment,
    kind: str,
    versions: Sequence[_Version],
    distance: int,
    *,
    changed: Mapping[int, Mapping[int, str]] | None = None,
    right: int = 0,
) -> Made:
    """The item whose candidates are the last sentence as it is and in other versions.

    changed: words of previous sentences, by sentence, that differ in all candidates. right: the place of the right one.
    """
    before = [one.target.text((changed or {}).get(at)) for at, one in enumerate(fragment.before)]
    texts = [fragment.pair.target.text(), *(fragment.pair.target.text(one.replaced) for one in versions)]
    source = [*(one.source.text() for one in fragment.before), fragment.pair.source.text()]
    item = {
        "src": SEPARATOR.join(source),
        "dst": [SEPARATOR.join([*before, text]) for text in texts],
        "true_ind": right,
        "ctx_dist": distance,
        "kind": kind,
        "document id": fragment.document,
        "segment id": fragment.number + 1,
    }
    old, new = versions[max(0, right - 1)].forms
    wrong, forms = (texts[1], (old, new)) if right == 0 else (texts[0], (new, old))
    asked = check(fragment, kind if right == 0 else f"{kind}.{right}", texts[right], wrong, forms)
    return Made(item, asked._replace(context=tuple(before), group=kind))


class _Register(NamedTuple):
    """Forms of address: of each register, the other register's forms by form; the endings and forms of verbs.

    own: endings that show the address without a subject, such as those of imperatives.
    """

    subjects: Mapping[str, Mapping[str, frozenset[str]]]
    words: Mapping[str, Mapping[str, frozenset[str]]]
    verbs: Mapping[str, Mapping[str, frozenset[str]]]
    endings: Mapping[str, Mapping[str, frozenset[str]]]
    own: Mapping[str, Mapping[str, frozenset[str]]]
    marks: Mapping[str, frozenset[str]]


@cache
def _register(language: str) -> _Register:
    rows = table("register", language)

    def of(*kinds: str) -> dict[str, dict[str, frozenset[str]]]:
        found: dict[str, dict[str, frozenset[str]]] = {FAMILIAR: {}, POLITE: {}}
        for row in rows:
            if row["kind"] in kinds:
                for here, there in ((FAMILIAR, POLITE), (POLITE, FAMILIAR)):
                    if row[here] == "-":
                        continue
                    none = row[there] == "-" or (here, row["kind"]) == (POLITE, "weak")
                    found[here][row[here]] = found[here].get(row[here], frozenset()) | (set() if none else {row[there]})
        return found

    forms = of("subject", "word", "weak")
    marking = {FAMILIAR: ("subject", "word", "weak"), POLITE: ("subject", "word")}
    marks = {name: frozenset(r[name] for r in rows if r["kind"] in kinds) - {"-"} for name, kinds in marking.items()}
    return _Register(of("subject"), forms, of("verb"), of("ending", "own"), of("own"), marks)


def _deixis(fragment: Fragment, language: str) -> Iterator[Made]:
    """An item where English you is one form of address in the last sentence and in a previous one."""
    if not any(token.form.lower() in _YOU for token in fragment.pair.source.tokens):
        return
    of = _register(language)
    registers = [_registers(pair.target, of) for pair in (*fragment.before, fragment.pair)]
    if not registers[-1] or not any(registers[:-1]):
        return
    if len(used := set[str]().union(*registers)) > 1:
        raise Unclean("both forms of address")
    version = _switched(fragment.pair.target, next(iter(used)), of)
    distance = next(k for k, found in enumerate(registers[-2::-1], start=1) if found)
    yield _made(fragment, DEIXIS, [version], distance)


def _registers(sentence: Sentence, of: _Register) -> set[str]:
    forms = [_listed(sentence, at, of) for at in range(len(sentence.tokens))]
    return {name for name, marks in of.marks.items() if not marks.isdisjoint(forms)}


def _listed(sentence: Sentence, at: int, of: _Register) -> str:
    """A word as the tables have it: a capital tells forms apart inside the sentence only (German Sie and sie)."""
    form = sentence.tokens[at].form
    is_first = not any(token.form[:1].isalnum() for token in sentence.tokens[:at])
    return form.lower() if is_first or not any(form in of.words[name] for name in of.words) else form


def _switched(sentence: Sentence, register: str, of: _Register) -> _Version:
    """The sentence in the other form of address; raises Unclean where the tables do not give just one."""
    replaced: dict[int, str] = {}
    for at in range(len(sentence.tokens)):
        form = _listed(sentence, at, of)
        if form in of.words[register]:
            replaced[at] = _only(of.words[register][form], "form of address with several counterparts")
            if form in of.subjects[register]:
                replaced |= _verb(sentence, at, register, of)
    if any(at not in replaced and _ending(token.form, of.own[register]) for at, token in enumerate(sentence.tokens)):
        raise Unclean("another verb in the form of address")
    old = sentence.tokens[first := min(replaced)].form
    new = {at: _cased(form, sentence, at) for at, form in replaced.items()}
    return _Version(new, (old, new[first]))


def _only(forms: frozenset[str], why: str) -> str:
    if len(forms) != 1:
        raise Unclean(why)
    return next(iter(forms))


def _cased(form: str, sentence: Sentence, at: int) -> str:
    """A form with the capital of its place: that of the first word stays."""
    begins = not any(token.form[:1].isalnum() for token in sentence.tokens[:at])
    return form[:1].upper() + form[1:] if begins and sentence.tokens[at].form[:1].isupper() else form


def _verb(sentence: Sentence, at: int, register: str, of: _Register) -> dict[int, str]:
    """The verb of a subject in the other form of address: near after it, or just before it."""
    near = [k for k in (*range(at + 1, at + 1 + _REACH), at - 1) if 0 <= k < len(sentence.tokens)]
    for k in near:
        low = sentence.tokens[k].form.lower()
        if low in of.verbs[register]:
            return {k: _only(of.verbs[register][low], "verb with several counterparts")}
        if ending := _ending(low, of.endings[register]):
            other = _only(of.endings[register][ending], "verb with several counterparts")
            return {k: low[: len(low) - len(ending)] + other}
    raise Unclean("no verb by the table")


def _ending(form: str, endings: Collection[str]) -> str | None:
    """The longest of some endings that a verb has."""
    fitting = (one for one in endings if form.lower().endswith(one) and len(form) >= len(one) + _STEM)
    return max(fitting, key=len, default=None)


def count_lexicon(documents: Sequence[Document]) -> Lexicon:
    """The translations of each name inside a sentence, most frequent first: capitalised words that are linked to it."""
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for document in documents:
        for pair in document.pairs:
            for s, t in pair.links:
                source, target = pair.source.tokens[s].form, pair.target.tokens[t].form
                if s and source.istitle() and source.isalpha() and len(source) > 2 and target.isalpha():
                    found[source][target] += target[:1].upper() == target[:1]
    return {
        name: kept
        for name, forms in found.items()
        if len(kept := tuple(form for form, count in forms.most_common() if count >= LEAST)) > 1
    }


def read_lexicon(path: str | Path) -> Lexicon:
    """A lexical table: a name, a tab, and its translations, separated by blanks.

    Raises:
        InputError: with the line, where it is no such line, or a name is there twice.
    """
    found: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(read_lines(path), start=1):
        name, tab, forms = line.partition("\t")
        if not tab or len(set(forms.split())) < 2 or "\t" in forms or not name.strip():
            expected = "expected a name, a tab and two translations or more, separated by blanks"
            raise InputError(f"{expected}, got {line[:60]!r}", file=path, line=number)
        if name in found:
            raise InputError(f"{name!r} is there twice", file=path, line=number)
        found[name] = tuple(forms.split())
    if not found:
        raise InputError("no line: expected a lexical table", file=path)
    return found


def _lexical(fragment: Fragment, lexicon: Lexicon) -> Iterator[Made]:
    """Two items for each name that the last sentence repeats: in its translation, and in another one throughout."""
    for s, t in fragment.pair.links:
        name, form = fragment.pair.source.tokens[s].form, fragment.pair.target.tokens[t].form
        others = [one for one in lexicon.get(name, ()) if form in lexicon[name] and not _inflects(one, form)]
        earlier = {at: here for at, one in enumerate(fragment.before) if (here := _translated(one, name, form))}
        if not others or not earlier:
            continue
        versions = [_Version({t: other}, (form, other)) for other in others]
        distance = len(fragment.before) - max(earlier)
        yield _made(fragment, LEXICAL, versions, distance)
        changed = {at: dict.fromkeys(here, others[0]) for at, here in earlier.items()}
        yield _made(fragment, LEXICAL, versions[:1], distance, changed=changed, right=1)
        return


def _translated(pair: Aligned, name: str, form: str) -> list[int]:
    """Where a name is translated by a form."""
    return [t for s, t in pair.links if pair.source.tokens[s].form == name and pair.target.tokens[t].form == form]


def _inflects(one: str, other: str) -> bool:
    """Whether two words may be inflections of one: all but the last letters of the shorter one are the same."""
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one.lower(), other.lower(), strict=False)))
    return common >= max(_STEM, min(len(one), len(other)) - _ENDING)


def _stem(form: str) -> str:
    """What inflections of a word share, roughly."""
    return form.lower()[: max(3, len(form) - 2)]


def _verb_phrase(fragment: Fragment, language: str) -> Iterator[Made]:
    """An item where an English auxiliary stands for a verb phrase, and the target repeats the verb."""
    if (found := ellipsis(fragment.pair.source)) is None:
        return
    linked = [t for s, t in fragment.pair.links if s == found[0]]
    if not linked:
        raise Unclean("auxiliary without a link")
    form = fragment.pair.target.tokens[linked[0]].form
    distance = next(
        (k for k, one in enumerate(reversed(fragment.before), start=1) if _has_stem(one.target, form)), None
    )
    if distance is None:
        raise Unclean("verb is not in a previous sentence")
    other = literal(form, language)
    if other is None:
        raise Unclean("no literal form for the verb")
    new = _cased(other, fragment.pair.target, linked[0])
    yield _made(fragment, VERB_PHRASE, [_Version({linked[0]: new}, (form, new))], distance)


def _has_stem(sentence: Sentence, form: str) -> bool:
    start = form.lower()[:4]
    return len(start) >= _STEM and any(token.form.lower().startswith(start) for token in sentence.tokens)


def _vocabulary(documents: Sequence[Document]) -> Mapping[str, Counter[str]]:
    """The words of the target side by stem."""
    found: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for document in documents:
        for pair in document.pairs:
            for token in pair.target.tokens:
                if token.form.isalpha() and len(token.form) > _STEM:
                    found[_stem(token.form)][token.form.lower()] += 1
    return found


def _inflection(fragment: Fragment, vocabulary: Mapping[str, Counter[str]]) -> Iterator[Made]:
    """An item where the last sentence is a noun phrase, whose case depends on the verb of the previous one."""
    source, tokens = fragment.pair.source, fragment.pair.target.tokens
    short = len(source.tokens) <= _LONGEST and any(token.form.isalpha() for token in source.tokens)
    if not short or has_verb(source) or not has_verb(fragment.before[-1].source):
        return
    linked = {t for _, t in fragment.pair.links}
    at = max((t for t in linked if tokens[t].form.isalpha() and len(tokens[t].form) > _STEM), default=None)
    if at is None:
        raise Unclean("no linked noun")
    form = tokens[at].form
    others = [one for one, _ in vocabulary[_stem(form)].most_common() if one != form.lower()]
    near = [one for one in others if abs(len(one) - len(form)) <= _ENDING][:_FORMS]
    if not near:
        raise Unclean("no other inflection in the corpus")
    versions = [_Version({at: new}, (form, new)) for one in near for new in (_like(one, form),)]
    yield _made(fragment, INFLECTION, versions, 1)


def _like(word: str, form: str) -> str:
    return word.capitalize() if form[:1].isupper() else word
