"""APT: accuracy of pronoun translation, the share of source pronouns that are translated as in the reference.

Miculicich Werlen and Popescu-Belis 2017, "Validation of an automatic metric for the accuracy of pronoun translation
(APT)", DiscoMT. Word links give for each source pronoun its words in the reference and in the candidate; the two sides
determine one of six cases, and the score is the weighted share of the cases.

Relative to the published program: where a pronoun found by `repair` is added to a side, it is added as the pronoun,
lower-cased and without hyphenated parts, and the search ignores case. With `compat=True` the token is added unchanged,
and comparisons are case-sensitive, as in that program.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

Link = tuple[int, int]

OTHER, NONE, REST = "OTHER", "NONE", "..."
REACH = 2  # positions on either side of a side's words, where repair looks
_UNKNOWN = "\0"  # texts do not contain NUL


@dataclass(frozen=True, slots=True)
class Instance:
    """A pronoun to judge: sentence and token position from 0, and the word, lower-cased."""

    sentence: int
    position: int
    word: str


@dataclass(frozen=True, slots=True)
class Side:
    """The translation of an instance in one text: token positions from 0, and words; both empty if unaligned."""

    positions: tuple[int, ...] = ()
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rendering:
    """An instance with its two sides."""

    instance: Instance
    reference: Side
    candidate: Side


@dataclass(frozen=True, slots=True)
class Dictionary:
    """The pronouns, lower-cased, by which sides are repaired."""

    source: frozenset[str]
    target: frozenset[str]


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules by which words count as the same.

    listed: the target list, None if any word may translate a pronoun. equal, similar: groups of words.
    other_is_equal: two sides without a listed word are case 1.
    """

    listed: frozenset[str] | None = None
    equal: tuple[tuple[str, ...], ...] = ()
    similar: tuple[tuple[str, ...], ...] = ()
    other_is_equal: bool = False


@dataclass(frozen=True, slots=True)
class Score:
    """The score, higher is better, None without findings; findings by case, in the order of `cases` and `weights`.

    With weights in [0, 1] the score is in [0, 1]. instances: all of them, also those of cases that are not selected.
    """

    score: float | None
    cases: tuple[int, ...]
    weights: tuple[float, ...]
    findings: tuple[int, ...]
    instances: int


@dataclass(frozen=True, slots=True)
class Matrix:
    """Counts of reference words (rows) by candidate words (columns), both labelled by `labels`.

    left_out: instances that are not counted, because a side has several words.
    """

    labels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    left_out: int


def pieces(token: str, separator: str = "") -> list[str]:
    """The parts of a token, which is one part where no separator is given.

    >>> pieces("est-il", "-"), pieces("est-il")
    (['est', 'il'], ['est-il'])
    """
    return token.split(separator) if separator else [token]


def find(sentences: Iterable[Sequence[str]], pronouns: Collection[str], *, separator: str = "") -> Iterator[Instance]:
    """Each piece of each token that is one of the pronouns (lower-cased), in the order of the text.

    >>> [i.position for i in find([["It", "said", "it"]], {"it"})]
    [0, 2]
    """
    for number, tokens in enumerate(sentences):
        for position, token in enumerate(tokens):
            for piece in pieces(token.lower(), separator):
                if piece in pronouns:
                    yield Instance(number, position, piece)


def side(
    position: int,
    tokens: Sequence[str],
    links: Iterable[Link],
    *,
    listed: Collection[str] | None = None,
    separator: str = "",
) -> Side:
    """The tokens to which the token at `position` is linked, lower-cased.

    links: (position, position in `tokens`). With a list of words: the first piece of each token that is in the list,
    and OTHER if no token has one.

    >>> side(1, ["Elle", "dort"], [(0, 1), (1, 0)])
    Side(positions=(0,), words=('elle',))
    """
    positions = tuple(sorted({there for here, there in links if here == position}))
    words = tuple(tokens[place].lower() for place in positions)
    if not positions or listed is None:
        return Side(positions, words)
    known = [next((piece for piece in pieces(word, separator) if piece in listed), None) for word in words]
    return Side(positions, tuple(word for word in known if word is not None) or (OTHER,))


def repair(
    side: Side,
    *,
    source: Sequence[str],
    tokens: Sequence[str],
    links: Collection[Link],
    dictionary: Dictionary,
    separator: str = "",
    compat: bool = False,
) -> Side:
    """Add to a linked side without any target pronoun the nearest one that no source pronoun is linked to.

    The positions from REACH before the side's first to REACH after its last are searched; the one nearest to the middle
    is chosen, the leftmost of equals. `separator` splits the source's tokens. An empty side stays empty: without a link
    there is no position to search.
    """
    if not side.positions or not dictionary.target.isdisjoint(side.words):
        return side
    first, last = side.positions[0], side.positions[-1]
    window = range(max(0, first - REACH), min(len(tokens), last + REACH + 1))

    def pronoun(place: int) -> str:
        token = tokens[place] if compat else tokens[place].lower()
        return token.rsplit("-", 1)[-1]

    def is_taken(place: int) -> bool:
        linked = [source[here] for here, there in links if there == place]
        if compat:
            return not dictionary.source.isdisjoint(linked)
        lowered = [token.lower() for token in linked]
        return any(not dictionary.source.isdisjoint([token, *pieces(token, separator)]) for token in lowered)

    free = [
        (rank, place)
        for rank, place in zip(ranks(len(window)), window, strict=True)
        if pronoun(place) in dictionary.target and not is_taken(place)
    ]
    if not free:
        return side
    _, place = min(free)
    words = () if side.words == (OTHER,) else side.words
    return Side((*side.positions, place), (*words, tokens[place] if compat else pronoun(place)))


def ranks(length: int) -> list[int]:
    """How far each of `length` positions in a row is from the middle, 1 being nearest.

    >>> ranks(5), ranks(4)
    ([2, 1, 1, 1, 2], [2, 1, 1, 2])
    """
    half = range(1, length // 2 + 1)
    return [*reversed(half), *([1] if length % 2 else []), *half]


def from_reference(
    sentence: int,
    reference: Sequence[str],
    candidate: Sequence[str],
    *,
    positions: Iterable[int],
    links: Collection[Link],
    listed: Collection[str],
) -> Iterator[Rendering]:
    """Renderings without a source: the reference's own pronouns are the instances, each its own reference side.

    positions: of the pronouns in the reference. links: (reference position, candidate position). listed: the words
    that are pronouns, lower-cased. Cases 5 and 6 cannot come of it.

    >>> [one] = from_reference(0, ["She", "left"], ["He", "left"], positions=[0], links=[(0, 0)], listed={"he", "she"})
    >>> one.reference.words, one.candidate.words
    (('she',), ('he',))
    """
    for position in positions:
        word = reference[position].lower()
        there = side(position, candidate, links, listed=listed)
        yield Rendering(Instance(sentence, position, word), Side((position,), (word,)), there)


def judge(renderings: Sequence[Rendering], *, rules: Rules) -> tuple[int, ...]:
    """The case of each instance, 1 to 6.

    1: same or equal pronoun. 2: similar. 3: different. 4: nothing in the candidate. 5: nothing in the reference. 6:
    nothing in either.

    Words are compared as sets. Words of an `equal` group are one word; groups of either kind hold only words that are
    known, see `known`. All words that are not known are one and the same word.
    """
    words = known_words(renderings, rules)
    same = _first_of_group(rules.equal, words)
    alike = [{same[word] for word in group} for group in _known_groups(rules.similar, words)]

    def case(rendering: Rendering) -> int:
        reference, candidate = (
            {same.get(word, _UNKNOWN) for word in one.words} for one in (rendering.reference, rendering.candidate)
        )
        if not reference or not candidate:
            return 6 if not reference and not candidate else 5 if not reference else 4
        shared = reference & candidate
        if not rules.other_is_equal:
            shared.discard(OTHER)
        if shared:
            return 1
        return 2 if any(group & reference and group & candidate for group in alike) else 3

    return tuple(map(case, renderings))


def known_words(renderings: Iterable[Rendering], rules: Rules) -> frozenset[str]:
    """The words allowed in groups: the target list with OTHER and NONE, or, without a list, all words of all sides."""
    if rules.listed is not None:
        return rules.listed | {OTHER, NONE}
    return frozenset(word for one in renderings for word in (*one.reference.words, *one.candidate.words))


def _known_groups(groups: Iterable[Sequence[str]], words: Collection[str]) -> list[list[str]]:
    """The groups with only the words that are known; single words are not groups."""
    kept = ([word for word in group if word in words] for group in groups)
    return [group for group in kept if len(group) > 1]


def _first_of_group(groups: Iterable[Sequence[str]], words: Collection[str]) -> dict[str, str]:
    """Each known word -> the first word of the first group that has it; itself, where none has."""
    first: dict[str, str] = {}
    for group in _known_groups(groups, words):
        for word in group:
            first.setdefault(word, group[0])
    return {word: first.get(word, word) for word in words}


def score(cases: Sequence[int], *, weights: Mapping[int, float]) -> Score:
    """The mean of the cases' weights over the instances of these cases; other cases are left out.

    weights: of each selected case, in the order of the findings.
    """
    counts = Counter(cases)
    findings = tuple(counts[case] for case in weights)
    total = sum(findings)
    weighted = sum(weight * count for weight, count in zip(weights.values(), findings, strict=True))
    value = weighted / total if total else None
    return Score(value, tuple(weights), tuple(weights.values()), findings, len(cases))


def matrix(renderings: Iterable[Rendering], *, multiword: bool = False, limit: int | None = None) -> Matrix:
    """The counts of reference words and their translations in the candidate; NONE is an empty side.

    Labels are sorted by diagonal count, then total count (most frequent first), then alphabetically. Beyond `limit`
    labels the others are merged into REST. multiword: instances with several distinct words on a side are counted under
    these words in alphabetical order; otherwise they are left out.
    """
    cells: Counter[tuple[str, str]] = Counter()
    left_out = 0
    for one in renderings:
        reference, candidate = sorted(set(one.reference.words)), sorted(set(one.candidate.words))
        if not multiword and max(len(reference), len(candidate)) > 1:
            left_out += 1
        else:
            cells[" ".join(reference) or NONE, " ".join(candidate) or NONE] += 1
    total = Counter[str]()
    for (row, column), count in cells.items():
        total.update({row: count})
        total.update({column: count})
    labels = sorted(total, key=lambda label: (-cells[label, label], -total[label], label))
    place = {label: min(number, len(labels) if limit is None else limit) for number, label in enumerate(labels)}
    size = len(set(place.values()))
    counts = [[0] * size for _ in range(size)]
    for (row, column), count in cells.items():
        counts[place[row]][place[column]] += count
    shown = labels if limit is None or len(labels) <= limit else [*labels[:limit], REST]
    return Matrix(tuple(shown), tuple(map(tuple, counts)), left_out)
