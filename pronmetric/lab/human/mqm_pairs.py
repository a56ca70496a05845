"""MQM annotations as judged pairs of texts and as labelled pronouns."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from itertools import combinations
from zlib import crc32

from pronmetric.eval.decision import TIE, A, B
from pronmetric.lab.human.judged_pairs import JudgedPair
from pronmetric.lab.human.mqm import LONGEST, REFERENCE, Judgement, is_reference, sources
from pronmetric.text.context import source_record

JUDGE = "the raters' votes"


def pairs(
    judgements: Sequence[Judgement],
    context: Mapping[tuple[str, int], tuple[str, ...]],
    *,
    longest: int = LONGEST,
    other_words: int | None = None,
    all_pairs: bool = False,
    reference: str | None = REFERENCE,
    tally: Counter[str] | None = None,
) -> Iterator[JudgedPair]:
    """Pairs of two systems' translations of a segment, with the vote of each rater who annotated both.

    A rater votes for the text with the lower penalty, the sum of the pronoun errors' weights; equal penalties are a
    tie. `better` is the answer with more votes, else "tie". Which system is text A is decided for each pair by a
    checksum. Left out, and counted in `tally`: pairs that no rater annotated in full, equal texts, pairs without a
    pronoun error (unless `all_pairs`), and, if `other_words` is given, pairs that differ in more than so many words
    besides pronouns, or in no pronoun. Each pair has the text of the system `reference`, if the segment has one.
    """
    count: Counter[str] = Counter() if tally is None else tally
    segments: dict[tuple[str, int], dict[str, dict[str, Judgement]]] = defaultdict(lambda: defaultdict(dict))
    references = {(one.doc, one.seg): one.text for one in judgements if one.system == reference}
    for one in judgements:
        segments[one.doc, one.seg][one.system][one.rater] = one
    penalties = {id(one): one.penalty(longest=longest) for one in judgements}
    source = sources(judgements)
    for (doc, seg), systems in segments.items():
        for names in combinations(sorted(systems), 2):
            first, second = names if crc32("\t".join((doc, str(seg), *names)).encode()) % 2 else names[::-1]
            raters = [rater for rater in systems[first] if rater in systems[second]]
            texts = [next(iter(systems[name].values())) for name in (first, second)]
            both = {r: (penalties[id(systems[first][r])], penalties[id(systems[second][r])]) for r in raters}
            if not both:
                count["no rater judged both"] += 1
            elif texts[0].text == texts[1].text:
                count["equal texts"] += 1
            elif not all_pairs and not any(map(any, both.values())):
                count["without a pronoun error"] += 1
            else:
                forms, others = difference(*texts)
                if other_words is not None and (others > other_words or not any(forms)):
                    count["too many other words"] += 1
                    continue
                count["pairs"] += 1
                pair = _pair(texts, context[doc, seg], both, forms, references.get((doc, seg)))
                yield replace(pair, source=source.get((doc, seg)))


def difference(a: Judgement, b: Judgement) -> tuple[tuple[tuple[str, ...], tuple[str, ...]], int]:
    """The differences of two texts: the forms of the differing pronouns of each, and the number of other words.

    Case and punctuation are ignored. Of a replaced span, the longer side counts.
    """
    split = a.language.words(a.text), b.language.words(b.text)
    lower = [word.text.lower() for word in split[0]], [word.text.lower() for word in split[1]]
    pronouns = [{o.word: o.form for o in one.pronouns} for one in (a, b)]
    forms: tuple[list[str], list[str]] = ([], [])
    others = 0
    for tag, *edges in SequenceMatcher(None, lower[0], lower[1], autojunk=False).get_opcodes():
        if tag != "equal":
            sizes = []
            for side, (start, end) in enumerate((edges[:2], edges[2:])):
                plain = [k for k in range(start, end) if any(map(str.isalnum, lower[side][k]))]
                forms[side].extend(pronouns[side][k] for k in plain if k in pronouns[side])
                sizes.append(sum(k not in pronouns[side] for k in plain))
            others += max(sizes)
    return (tuple(forms[0]), tuple(forms[1])), others


def label_pronouns(
    judgements: Iterable[Judgement],
    context: Mapping[tuple[str, int], tuple[str, ...]],
    *,
    longest: int = LONGEST,
    tally: Counter[str] | None = None,
) -> Iterator[dict[str, object]]:
    """Each pronoun in use of each annotated text: "wrong" if it is in a pronoun error, else "right"."""
    count: Counter[str] = Counter() if tally is None else tally
    judgements = list(judgements)
    source = sources(judgements)
    for one in judgements:
        errors = sorted(one.pronoun_errors(longest=longest), key=lambda each: (each[0].weight, each[0].category))
        blame = {o.start: error for error, touched in errors for o in touched}  # the gravest one
        for o in one.pronouns:
            error = blame.get(o.start)
            label = "right" if error is None else "wrong"
            count[label] += 1
            yield {
                "id": f"{one.doc}:{one.seg}:{one.system}:{one.rater}:{o.start}",
                "context": list(context[one.doc, one.seg]),
                "text": one.text,
                "start": o.start,
                "end": o.end,
                "pronoun": o.text.lower(),
                "label": label,
                "doc": one.doc,
                "system": one.system,
                "rater": one.rater,
                **({} if error is None else {"category": error.category, "severity": error.severity}),
                **source_record(source.get((one.doc, one.seg))),
            }


def _pair(
    texts: Sequence[Judgement],
    context: tuple[str, ...],
    penalties: Mapping[str, tuple[float, float]],
    forms: tuple[tuple[str, ...], tuple[str, ...]],
    reference: str | None,
) -> JudgedPair:
    a, b = texts
    votes = {rater: A if x < y else B if y < x else TIE for rater, (x, y) in penalties.items()}
    lead = sum((vote == A) - (vote == B) for vote in votes.values())
    single = len(forms[0]) == len(forms[1]) == 1
    return JudgedPair(
        id=f"{a.doc}:{a.seg}:{a.system}:{b.system}",
        context=context,
        text_a=a.text,
        text_b=b.text,
        better=A if lead > 0 else B if lead < 0 else TIE,
        votes=votes,
        group="with a reference" if any(map(is_reference, (a.system, b.system))) else "two systems",
        doc=a.doc,
        pronoun_a=forms[0][0] if single else None,
        pronoun_b=forms[1][0] if single else None,
        judge=JUDGE,
        reference=reference,
        system_a=a.system,
        system_b=b.system,
    )
