"""Size of an HTML report and its loading time in a browser; screenshots for the documentation.

`python -m benchmarks.report` measures a made-up page in which all segments differ, `python -m benchmarks.report PAGE`
that page; `--pictures FOLDER` takes two small pictures of it, light on a desk and dark on a phone.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from pathlib import Path

from benchmarks.browser import NAMES, VARIABLE, Browser, find
from pronmetric.eval.decision import SCORE
from pronmetric.report.content import PRONOUN, SAME, Content, Link, ModelView
from pronmetric.report.page import page, pieces
from pronmetric.results import Output, Pronoun, Result, Segment, System, judge

SEGMENTS = 2000
_SENTENCE = (
    "On Friday the librarian, who had run the place for years, locked its doors one last time, put the key on the "
    "table and went home without saying anything to anyone."
)
_READY = "new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.now()), 0)))"


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
    return browser.run(_READY) / 1000


def pictures(browser: Browser, path: Path, folder: Path) -> None:
    """The page on a light desk, from its top, and on a dark phone, at its first segment."""
    browser.dark(False)
    browser.size(1000, 1400)
    browser.open(path)
    (folder / "report-light.webp").write_bytes(browser.picture())
    browser.dark(True)
    browser.size(390, 800, phone=True)
    browser.open(path)
    browser.run("document.querySelector('article').scrollIntoView()")
    browser.run(_READY)
    (folder / "report-dark-phone.webp").write_bytes(browser.picture())


def main() -> int:
    """Measure, and take pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page", nargs="?", type=Path, help="a report; without it one is made up")
    parser.add_argument("--segments", type=int, default=SEGMENTS, help="of the made-up page (default: %(default)s)")
    parser.add_argument("--pictures", type=Path, metavar="FOLDER", help="where two pictures are put")
    args = parser.parse_args()
    program = find()
    if program is None:
        print(f"no browser: install one of {', '.join(NAMES)}, or name it in {VARIABLE}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as folder, Browser(program) as browser:
        path = args.page
        if path is None:
            path = Path(folder) / "made-up.html"
            path.write_text(page(made_up(args.segments), title="made up"), encoding="utf-8")
        took = sorted((opening(browser, path), browser.work()) for _ in range(3))
        size = path.stat().st_size / 1e6
        print(
            f"{path.name}: {size:.2f} MB, opened in {took[1][0]:.2f} s ({took[0][0]:.2f} to {took[2][0]:.2f}), "
            f"of which {took[1][1]:.2f} s are the page's own work"
        )
        if args.pictures is not None:
            pictures(browser, path, args.pictures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
