"""Screenshots of a made-up study's page for the documentation.

    python -m benchmarks.cost.study FOLDER

Writes two small pictures of the page at its second task, light on a desk and dark on a phone.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

from pronmetric.cli.main import main as pronmetric
from pronmetric.lab.study import folder
from pronmetric.lab.study.page import code
from tests.tools.browser import NAMES, VARIABLE, Browser, find, until

LOOKS = {"light": (900, 700, False), "dark-phone": (390, 800, True)}
ITEMS = 20
ANNOTATOR = "1"


def made_up(place: Path) -> Path:
    """The page of a study of `ITEMS` made-up items; the study is beside it."""
    rows = [
        {
            **{"id": f"item {number}", "testset": "made-up", "lp": "de-en", "doc": f"document {number // 4}"},
            **{"source": "Sie sprachen eine Stunde lang.", "source_context": []},
            "reference_context": [f"The committee met in room {number + 1}.", "Its chair had invited two experts."],
            **{"reference": "They spoke for an hour.", "noisy_reference": "It spoke for an hour."},
            **{"right": "they", "wrong": "it"},
        }
        for number in range(ITEMS)
    ]
    (place / "suite.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    pronmetric(["study", "sample", str(place / "suite.jsonl"), "-o", str(place / "study"), "--highlight", "--quiet"])
    pronmetric(["study", "page", str(place / "study"), "-o", str(place / "page.html"), "--guide", "none"])
    return place / "page.html"


def main() -> int:
    """Take the pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the pictures are put")
    args = parser.parse_args()
    program = find()
    if program is None:
        print(f"no browser: install one of {', '.join(NAMES)}, or name it in {VARIABLE}", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory() as place, Browser(program) as browser:
        path = made_up(Path(place))
        link = code(folder.read(Path(place) / "study"), ANNOTATOR)
        for name, (width, height, phone) in LOOKS.items():
            browser.dark(phone)
            browser.size(width, height, phone=phone)
            browser.open(path)
            browser.run("localStorage.clear()")
            browser.visit(path, fragment=f"?{name}#{link}")
            browser.press("1")
            until(lambda: browser.run("document.getElementById('count').textContent").startswith("2 of "))
            (args.folder / f"study-{name}.webp").write_bytes(browser.picture())
    return 0


if __name__ == "__main__":
    sys.exit(main())
