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
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path

from data_prep.fidelity.rewriting import Unclean
from data_prep.suites import deixis
from data_prep.suites.corpus import Document
from data_prep.suites.deixis import Address
from data_prep.suites.fragments import Fragment, ellipsis, fragments, literal, table
from data_prep.suites.versions import Version, VersionItem, cased, make
from pronmetric.alignment.parsed import AlignedSentences
from pronmetric.errors import InputError
from pronmetric.text.conllu import Sentence
from pronmetric.text.lines import read_lines

DEIXIS, LEXICAL, VERB_PHRASE = KINDS = ("deixis", "lex_cohesion", "ellipsis_vp")
CONTEXT = 3
"""Sentences before the one in question: items have four, as in Voita et al. (ACL 2019)."""
LEAST = 2
"""How often a name must have a translation for it to be one of the lexical table of a corpus."""
_STEM = 3  # letters that inflections of a word share, at least
_ENDING = 2  # letters by which inflections of a word differ, at most
Lexicon = Mapping[str, tuple[str, ...]]


def items(
    documents: Sequence[Document], kind: str, *, language: str, lexicon: Lexicon | None, counts: Counter[str]
) -> Iterator[VersionItem]:
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
) -> Callable[[Fragment], Iterator[VersionItem]]:
    if kind == DEIXIS:
        address = deixis.read(language)
        return lambda fragment: _deixis(fragment, address)
    if kind == LEXICAL:
        known = count_lexicon(documents) if lexicon is None else lexicon
        return lambda fragment: _lexical(fragment, known)
    table("ellipsis", language)
    return lambda fragment: _verb_phrase(fragment, language)


def _deixis(fragment: Fragment, address: Address) -> Iterator[VersionItem]:
    """Two items: the last sentence in the other form of address, and the same where all sentences have that one."""
    if (found := deixis.switch(fragment, address)) is None:
        return
    versions, distance = found
    yield make(fragment, DEIXIS, [versions[-1]], distance)
    changed = {at: one.replaced for at, one in versions.items() if at != -1}
    yield make(fragment, DEIXIS, [versions[-1]], distance, changed=changed, right=1)


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


def _lexical(fragment: Fragment, lexicon: Lexicon) -> Iterator[VersionItem]:
    """Two items for each name that the last sentence repeats: in its translation, and in another one throughout."""
    for s, t in fragment.pair.links:
        name, form = fragment.pair.source.tokens[s].form, fragment.pair.target.tokens[t].form
        others = [one for one in lexicon.get(name, ()) if form in lexicon[name] and not _inflects(one, form)]
        earlier = {at: here for at, one in enumerate(fragment.before) if (here := _translated(one, name, form))}
        if not others or not earlier:
            continue
        versions = [Version({t: other}, (form, other)) for other in others]
        distance = len(fragment.before) - max(earlier)
        yield make(fragment, LEXICAL, versions, distance)
        changed = {at: dict.fromkeys(here, others[0]) for at, here in earlier.items()}
        yield make(fragment, LEXICAL, versions[:1], distance, changed=changed, right=1)
        return


def _translated(pair: AlignedSentences, name: str, form: str) -> list[int]:
    """Where a name is translated by a form."""
    return [t for s, t in pair.links if pair.source.tokens[s].form == name and pair.target.tokens[t].form == form]


def _inflects(one: str, other: str) -> bool:
    """Whether two words may be inflections of one: all but the last letters of the shorter one are the same."""
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one.lower(), other.lower(), strict=False)))
    return common >= max(_STEM, min(len(one), len(other)) - _ENDING)


def _verb_phrase(fragment: Fragment, language: str) -> Iterator[VersionItem]:
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
    new = cased(other, fragment.pair.target, linked[0])
    yield make(fragment, VERB_PHRASE, [Version({linked[0]: new}, (form, new))], distance)


def _has_stem(sentence: Sentence, form: str) -> bool:
    start = form.lower()[:4]
    return len(start) >= _STEM and any(token.form.lower().startswith(start) for token in sentence.tokens)
