"""What a result says, in one sentence: of one system, how many pronoun errors; of two, which is better."""

from __future__ import annotations

from collections.abc import Sequence

from pronmetric.checkpoint.people import People
from pronmetric.eval.decision import ERRORS, PREFERENCE, SCORE
from pronmetric.eval.resampling import MINIMUM
from pronmetric.results.records import ERROR_RATES, Pair, Result, System

ALPHA = 0.05  # two-sided; with a greater p a difference is not clear
COMPARE = "pronmetric compare"


def of_system(system: System, name: str | None = None) -> str:
    """A system's expected errors in 100 pronouns by kind, then the paper's score.

    name: as it is shown; by default that of the system.

    >>> rates = dict(zip(ERROR_RATES, ((3.1, (1.9, 4.6)), (1.6, None), (1.2, None), (0.3, None))))
    >>> of_system(System("system-a", 96.4, None, 240, 90, 80, rates=rates))
    'system-a: 3.1 pronoun errors per 100 pronouns (1.6 wrong, 1.2 missing, 0.3 surplus; 95 % 1.9 to 4.6); score \
96.40 over 240 pronouns.'
    """
    name = system.name if name is None else name
    if system.score is None:
        return f"{name}: no pronouns, so there is nothing to score."
    score = f"score {system.score:.2f}{_between(system.interval, '.2f')} over {_count(system.pronouns, 'pronoun')}"
    errors = system.rates.get(ERROR_RATES[0])
    if errors is None:
        return f"{name}: {score}."
    total, ends = errors
    told = [kinds(system)] + ([] if ends is None else [f"95 % {ends[0]:.1f} to {ends[1]:.1f}"])
    return f"{name}: {total:.1f} pronoun errors per 100 pronouns ({'; '.join(told)}); {score}."


def kinds(system: System) -> str:
    """The expected errors in 100 pronouns of each kind, or which kinds are counted."""
    wrong, missing, surplus = (system.rates.get(key) for key in ERROR_RATES[1:])
    if wrong is None or missing is None:
        return "wrong or surplus"
    if surplus is None:
        return f"{wrong[0]:.1f} wrong or surplus, {missing[0]:.1f} missing"
    return f"{wrong[0]:.1f} wrong, {missing[0]:.1f} missing, {surplus[0]:.1f} surplus"


def of_people(people: People, system: System | None = None) -> str:
    """How the metric's marks meet those of professional raters, by the checkpoint's record.

    system: of which the errors are, if the record says how many a rater would mark. Missing pronouns are left out, as
    they cannot be marked.

    >>> of_people(People("MQM of WMT20", 0.25, 0.4))
    'A professional rater marks 1 in 4 of the pronouns that this model doubts most (raters among each other: 1 in 2.5; \
MQM of WMT20).'
    """
    met = (
        f"1 in {_in(people.shared)} of the pronouns that this model doubts most (raters among each other: "
        f"1 in {_in(people.raters)}; {people.texts})."
    )
    errors = None if system is None else system.rates.get(ERROR_RATES[0])
    if system is None or people.marks is None or errors is None:
        return f"A professional rater marks {met}"
    missing = system.rates.get(ERROR_RATES[2])
    marked = people.marks * (errors[0] - (0.0 if missing is None else missing[0]))
    return f"A professional rater would mark about {marked:.1f} per 100 pronouns, and {met}"


def _in(share: float) -> str:
    """The N of "1 in N"."""
    return f"{1 / share:.1f}".removesuffix(".0")


def of_pair(pair: Pair, names: Sequence[str], *, by: str) -> str:
    """Which of two systems is better, by how much, and whether the difference is clear; the better one comes first.

    names: of the two, as they are shown. by: what decides, one of `DECISIONS`. The same systems give the same
    sentence in either order.

    >>> pair = Pair(0, 1, -3.1, (-5.0, -1.2), 0.002, 0.003, 3, 20, 9, units=32)
    >>> of_pair(pair, ("A", "B"), by=ERRORS)
    'B has better pronouns than A: 3.10 fewer errors in 100 segments (95 % 1.20 to 5.00, p = 0.0020).'
    """
    if pair.difference is None:
        return f"{names[0]} and {names[1]} are not compared: one of them has no pronoun."
    turned = pair.difference < 0
    first, second = reversed(names) if turned else names
    if pair.difference == 0 and not (pair.wins or pair.losses):
        return f"{first} and {second} do not differ in their pronouns."
    sign = -1 if turned else 1
    amount = _amount(abs(pair.difference), by)
    ends = None if pair.interval is None else sorted(sign * end for end in pair.interval)
    interval = "" if ends is None else f"95 % {ends[0]:.2f} to {ends[1]:.2f}, "
    p = pair.p_randomisation
    if p is None:
        few = f"fewer than {MINIMUM} {pair.resampled} with a pronoun"
        return f"{first} has better pronouns than {second}: {amount}; not tested, as there are {few}."
    tested = f"{interval}p = {p:.4f}"
    if p >= ALPHA:
        least = 1.0 if pair.units is None else 2.0 ** (1 - pair.units)
        few = f"; {pair.units} {pair.resampled} are too few for a clear one" if ALPHA <= least < 1.0 else ""
        return (
            f"No clear difference between the pronouns of {first} and {second}: {first} has {amount} ({tested}){few}."
        )
    return f"{first} has better pronouns than {second}: {amount} ({tested})."


def of_result(result: Result, names: Sequence[str]) -> tuple[str, ...]:
    """The verdict of a result in one sentence, then a sentence on each system and on people's marks.

    Of several systems: the better one, of more than two the best against the next. names: as they are shown.
    """
    systems = [of_system(system, name) for system, name in zip(result.systems, names, strict=True)]
    alone = result.systems[0] if len(systems) == 1 else None
    scored = any(system.score is not None for system in result.systems)
    people = [of_people(result.people, alone)] if result.people is not None and scored else []
    if alone is not None:
        return (*systems, *people)
    return (_of_pairs(result, names) if result.pairs else _of_scores(result.systems, names), *systems, *people)


def _of_pairs(result: Result, names: Sequence[str]) -> str:
    """The sentence on the system that is ahead of most others and the next one."""
    ahead = [0] * len(names)
    for pair in result.pairs:
        if pair.difference:
            ahead[pair.a if pair.difference > 0 else pair.b] += 1
    best = sorted(range(len(names)), key=lambda system: -ahead[system])[:2]
    first = next(pair for pair in result.pairs if {pair.a, pair.b} == set(best))
    said = of_pair(first, (names[first.a], names[first.b]), by=result.by)
    return said if len(names) == 2 else f"{said} They are the best two of {len(names)} systems."


def _of_scores(systems: Sequence[System], names: Sequence[str]) -> str:
    """The sentence on systems that were scored but not compared."""
    untested = f"`{COMPARE}` tests whether they differ."
    known = [(name, system) for name, system in zip(names, systems, strict=True) if system.score is not None]
    if len(known) < 2:
        return "Nothing to compare: fewer than two systems have a pronoun."
    errors = [(rate[0], name) for name, system in known if (rate := system.rates.get(ERROR_RATES[0])) is not None]
    if len(errors) == len(known):
        (least, first), (then, second) = sorted(errors, key=lambda one: one[0])[:2]
        told = f"{first} has the fewest pronoun errors, {least:.1f} per 100 pronouns, then {second} with {then:.1f}"
        if least == then:
            told = f"{first} and {second} have equally few pronoun errors, {least:.1f} per 100 pronouns"
    else:
        scores = sorted(((system.score or 0.0, name) for name, system in known), key=lambda one: -one[0])
        (most, first), (then, second) = scores[:2]
        told = f"{first} has the highest score, {most:.2f}, then {second} with {then:.2f}"
        if most == then:
            told = f"{first} and {second} have the same score, {most:.2f}"
    return f"{told}; {untested}"


def _amount(difference: float, by: str) -> str:
    """A difference of two systems in words, in the unit of what decides; at least 0, of the better one."""
    return {
        SCORE: f"{difference:.2f} points more",
        ERRORS: f"{difference:.2f} fewer errors in 100 segments",
        PREFERENCE: f"a mean preference of {difference:.2f}",
    }[by]


def _between(ends: tuple[float, float] | None, form: str) -> str:
    return "" if ends is None else f" (95 % {ends[0]:{form}} to {ends[1]:{form}})"


def _count(number: int, one: str) -> str:
    return f"{number:,} {one}{'' if number == 1 else 's'}"
