"""The worst pronouns of a result with their sentences: those that are least likely right, and likely gaps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import NamedTuple

from pronmetric.report.content import NOTHING, Content, display_form
from pronmetric.report.embed import show_controls
from pronmetric.results import Output, Pronoun
from pronmetric.scoring.alternatives import THRESHOLD
from pronmetric.scoring.score import Gap

SHOWN = 10
"""Places of a report by default: about what a reader looks at."""


class Place(NamedTuple):
    """A pronoun, or a gap where one is likely missing, in a text that one system or several have.

    value: how likely it is right, the score of a pronoun; lower is worse. segment, systems: by index; at: the pronoun's
    index in its output, None for a gap.
    """

    value: float
    segment: int
    systems: tuple[int, ...]
    at: int | None
    found: Pronoun | Gap


def worst(content: Content, number: int = SHOWN) -> list[Place]:
    """The worst places of all segments, worst first; one in equal texts and contexts of several systems counts once."""
    merged: dict[tuple[int, str, str, int, bool], Place] = {}
    for place in _places(content):
        output = content.result.segments[place.segment].outputs[place.systems[0]]
        key = place.segment, output.text, output.context, place.found.start, place.at is None
        known = merged.get(key)
        merged[key] = place if known is None else known._replace(systems=(*known.systems, *place.systems))
    return sorted(merged.values(), key=lambda place: place[:3])[:number]


def _places(content: Content) -> Iterator[Place]:
    for number, segment in enumerate(content.result.segments):
        for system, output in enumerate(segment.outputs):
            for at, pronoun in enumerate(output.pronouns):
                yield Place(pronoun.score, number, (system,), at, pronoun)
            for gap in output.gaps:
                yield Place(1.0 - gap.probability, number, (system,), None, gap)


def html(content: Content, names: Sequence[str]) -> str:
    """The worst places as a list, each with its sentence; names: of the systems, as they are shown."""
    found = worst(content)
    if not found:
        return '<p class="hint">No text has a pronoun.</p>'
    listed = frozenset(content.listed)
    several = len(names) > 1
    items = []
    for place in found:
        segment = content.result.segments[place.segment]
        line = f"Line {segment.number + 1}"
        where = [f'<a href="#l{segment.number + 1}">{line}</a>' if place.segment in listed else line]
        where += [f"<bdi>{_text(names[system])}</bdi>" for system in place.systems if several]
        where += [] if segment.doc is None else [f'<bdi class="doc">{_text(segment.doc)}</bdi>']
        output = segment.outputs[place.systems[0]]
        text = (
            f'<p class="text" dir="auto" lang="{escape(content.language.code)}">{_marked(output, place, content)}</p>'
        )
        items.append(f'<li><p class="where">{" · ".join(where)}: {_said(content, place)}</p>{text}</li>')
    sure = content.result.probability and found[0].value >= THRESHOLD
    told = '<p class="hint">None of them is doubtful.</p>' if sure else ""
    return f'{told}<ol class="worst">{"".join(items)}</ol>'


def _marked(output: Output, place: Place, content: Content) -> str:
    """The text with the place marked."""
    text, start = output.text, place.found.start
    if isinstance(place.found, Gap):
        sign = f'<span class="gap doubtful">‸{_text(display_form(place.found.form))}</span> '
        return f"{_text(text[:start])}{sign}{_text(text[start:])}"
    end = place.found.end
    doubtful = content.result.probability and place.value < THRESHOLD
    kind = "p doubtful" if doubtful else "p"
    return f'{_text(text[:start])}<span class="{kind}">{_text(text[start:end])}</span>{_text(text[end:])}'


def _said(content: Content, place: Place) -> str:
    """What is wrong there, as HTML."""
    if isinstance(place.found, Gap):
        return f"“{_text(display_form(place.found.form))}” is missing with probability {place.found.probability:.2f}"
    value = place.found.score
    parts = [f"“{_text(place.found.text)}” "]
    parts.append(
        f"is right with probability {value:.2f}" if content.result.probability else f"has the score {value:.2f}"
    )
    if place.found.surplus is not None and place.found.surplus > (1.0 - value) / 2:
        parts.append(", surplus rather than wrong")
    if (reference := _reference(content, place)) is not None:
        parts.append(f"; the reference has “{_text(display_form(reference))}”")
    views: Mapping[int, Sequence] = content.views
    if place.segment in views and place.at is not None:
        others = views[place.segment][place.systems[0]].others[place.at] or ()
        if others:
            parts.append(f"; more probable: “{_text(display_form(others[0][0]))}” {others[0][1]:.2f}")
    return "".join(parts)


def _reference(content: Content, place: Place) -> str | None:
    """The pronoun of the reference in the place of this one, if it is another."""
    if content.links is None:
        return None
    output = content.result.segments[place.segment].outputs[place.systems[0]]
    words = {word.start: k for k, word in enumerate(content.language.words(output.text))}
    own = words.get(place.found.start)
    for link in content.links[place.segment][place.systems[0]]:
        if link.word == own and link.kind != NOTHING and link.reference_form not in ("", link.form):
            return link.reference_form
    return None


def _text(text: str) -> str:
    return escape(show_controls(text))
