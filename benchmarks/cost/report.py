"""Size of an HTML report and its loading time in a browser; screenshots for the documentation.

    python -m benchmarks.cost.report [PAGE] [--segments N] [--pictures FOLDER]

Without PAGE, a report, it measures a made-up one in which all segments differ. `--pictures FOLDER` takes two small
pictures of it, light on a desk and dark on a phone.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from pronmetric.report.page import page
from tests.tools.browser import NAMES, VARIABLE, Browser, find
from tests.tools.made_up_report import READY, made_up, opening

SEGMENTS = 2000


def pictures(browser: Browser, path: Path, folder: Path) -> None:
    """The page on a light desk, from its top, and on a dark phone, at its first segment."""
    browser.dark(False)
    browser.size(960, 960, scale=0.85)
    browser.open(path)
    (folder / "report-light.webp").write_bytes(browser.picture())
    browser.dark(True)
    browser.size(390, 800, phone=True)
    browser.open(path)
    browser.run("document.querySelector('article').scrollIntoView()")
    browser.run(READY)
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
