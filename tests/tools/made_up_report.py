"""A made-up report in which all segments differ, and the time that a browser takes to open it."""

from __future__ import annotations

import re
from pathlib import Path

from pronmetric.eval.decision import SCORE
from pronmetric.report.content import PRONOUN, SAME, Content, Link, ModelView
from pronmetric.report.page import pieces
from pronmetric.results import Output, Pronoun, Result, Segment, System, judge
from tests.tools.browser import Browser

_SENTENCE = (
    "On Friday the librarian, who had run the place for years, locked its doors one last time, put the key on the "
    "table and went home without saying anything to anyone."
)
READY = "new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now()), 0)))"


def made_up(segments: int) -> Content:
    """Two systems that differ in every segment.

    Each output has three pronouns, their attention over some ninety words, and three other forms for each.
    """
    made, links, said = [], [], {}
    for number in range(segments):
        context = f"{_SENTENCE} ({number - 1}) {_SENTENCE}"
        outputs = []
        for k, form in enumerate(("she", "he")):
            score = ((number + k) * 37 % 100) / 100
            text = f"Then {form} saw {number} of {form} and {form}: {_SENTENCE}"
            at = [match.start() for match in re.finditer(rf"\b{form}\b", text)]
            found = tuple(Pronoun(form, start, start + len(form), score) for start in at)
            outputs.append(Output(text, context, score, found))
        reference = f"Then she saw {number} of she and she: {_SENTENCE}"
        verdicts = judge(outputs, by=SCORE, tie=0.01)
        made.append(Segment(number, f"doc {number // 20}", _SENTENCE[::-1], reference, tuple(outputs), verdicts))
        links.append([(Link(SAME, 1, "she", 1, "she"),), (Link(PRONOUN, 1, "she", 1, "he"),)])
        words = len(pieces(context)) + len(pieces(outputs[0].text)) - 2
        weights = tuple((word * 37 % 61) / 61 for word in range(words))
        others = (("it", 0.81234), ("they", 0.51234), ("this", 0.21234))
        said[number] = (ModelView((weights,) * 3, (others,) * 3),) * 2
    systems = tuple(System(name, 50.0, (45.0, 55.0), 3 * segments, segments, segments) for name in ("one", "two"))
    result = Result(systems=systems, pairs=(), segments=tuple(made), signature="model:none", tie=0.01, probability=True)
    return Content(result=result, links=links, listed=range(segments), differing=segments, views=said)


def opening(browser: Browser, path: Path) -> float:
    """Seconds from the navigation until the first segments are drawn."""
    browser.open(path)
    return browser.run(READY) / 1000
