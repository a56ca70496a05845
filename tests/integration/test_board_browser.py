"""The board in a real browser: sorting, filtering, comparing, links that keep the state, downloads."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from pronmetric.cli.main import main
from pronmetric.output import tsv
from tests.tools.browser import Browser, until

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("no_faults")]

EVIL = "<img src=x onerror=alert(1)> & {{x}}"
ROWS = "[...document.querySelectorAll('#table tbody tr')].map((r) => r.querySelector('th').textContent)"
SETS = "[...new Set([...document.querySelectorAll('#table tbody tr')].map((r) => r.children[1].textContent))]"
COLUMN = "[...document.querySelectorAll('#table tbody tr')].map((r) => Number(r.children[{}].textContent))"
FOUND = "document.getElementById('found').textContent"
SCORE, PRONOUNS = 4, 3
WIDER = (
    "[...document.querySelectorAll('body *')].filter((e) => !e.closest('.wide') && "
    "e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML.slice(0, 80))"
)
LABELLED = "[...document.querySelectorAll('select, input')].every((e) => e.closest('label') || e.ariaLabel)"
TEXT = "p, h1, h2, li, th, td, a, button, label, select, mark, .p, summary, figcaption"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, tiny_checkpoint: Callable[..., Path], sample: Path) -> Path:
    """The site of three small test sets; in one of them a system has a hostile name."""
    place = tmp_path_factory.mktemp("board")
    for name, extra in (("kites2021.de-en", "system-c"), ("lamps2022.de-en", EVIL), ("moles2022.fr-en", "system-c")):
        (place / "wmt" / name).mkdir(parents=True)
        for file in ("ref", "docids", "system-a", "system-b"):
            shutil.copy(sample / f"{file}.txt", place / "wmt" / name)
        shutil.copy(sample / "system-c.txt", place / "wmt" / name / f"{extra}.txt")
    argv = ["board", "build", "--wmt", str(place / "wmt"), "-o", str(place / "site"), "--worst", "5", "--quiet"]
    assert main([*argv, "--model", str(tiny_checkpoint(pair_head=True)), "--gpus", "0"]) == 0
    return place / "site"


@pytest.fixture(params=["light on a desk", "dark on a phone"])
def board(request: pytest.FixtureRequest, browser: Browser, site: Path) -> Iterator[Browser]:
    """The first page, freshly opened."""
    phone = request.param.endswith("phone")
    browser.dark(phone)
    browser.size(*((360, 740) if phone else (1000, 900)), phone=phone)
    browser.open(site / "index.html")
    yield browser
    browser.dark(False)
    browser.size(1000, 900)


def choose(browser: Browser, id: str, value: str) -> None:
    browser.run(f"(() => {{ const s = document.getElementById('{id}'); s.value = '{value}'; s.onchange(); }})()")


def click(browser: Browser, selector: str) -> None:
    browser.run(f"document.querySelector(`{selector}`).click()")


def address(browser: Browser) -> str:
    return browser.run("decodeURIComponent(location.hash)")


def test_all_systems_are_there_in_test_sets_by_score(board: Browser) -> None:
    assert board.run(FOUND) == "9 of 9 systems, 3 of 3 test sets"
    assert board.run(SETS) == ["lamps2022.de-en", "moles2022.fr-en", "kites2021.de-en"]  # the newest first
    scores = board.run(COLUMN.format(SCORE))
    assert all(scores[k : k + 3] == sorted(scores[k : k + 3], reverse=True) for k in (0, 3, 6))
    assert board.run("document.querySelectorAll('tr.first').length") == 2
    assert EVIL in board.run(ROWS) and board.run("document.querySelectorAll('img').length") == 0
    assert board.run("document.querySelector('.limits').textContent").count("No human scores were given") == 1


def test_sorting_by_any_column_by_keyboard(board: Browser) -> None:
    board.run("document.querySelector('[data-key=\"sort pronouns\"]').focus()")
    board.press("Enter")
    numbers = board.run(COLUMN.format(PRONOUNS))
    assert numbers == sorted(numbers, reverse=True)
    assert address(board) == "#sort=pronouns"
    sort = "document.querySelector('th[aria-sort]')"
    assert board.run(f"{sort}.getAttribute('aria-sort')") == "descending"
    assert board.run("document.activeElement.dataset.key") == "sort pronouns"  # the focus stays
    board.press("Enter")
    assert board.run(COLUMN.format(PRONOUNS)) == sorted(numbers)
    assert board.run(f"{sort}.getAttribute('aria-sort')") == "ascending"
    click(board, "[data-key='sort score']")
    scores = board.run(COLUMN.format(SCORE))
    assert scores == sorted(scores, reverse=True)


def test_filters_and_a_link_that_restores_them(board: Browser, site: Path) -> None:
    choose(board, "year", "2022")
    assert board.run(SETS) == ["lamps2022.de-en", "moles2022.fr-en"]
    choose(board, "lp", "de-en")
    choose(board, "class", "she")
    board.run("(() => { const s = document.getElementById('search'); s.value = 'STEM-A'; s.oninput(); })()")
    assert board.run(ROWS) == ["system-a"]
    assert board.run(FOUND) == "1 of 9 systems, 1 of 3 test sets"
    kept, count = address(board), board.run(COLUMN.format(PRONOUNS))
    assert set(kept[1:].split("&")) == {"year=2022", "lp=de-en", "class=she", "q=STEM-A"}
    board.open(site / "index.html", fragment=board.run("location.hash"))
    assert board.run(ROWS) == ["system-a"] and board.run(COLUMN.format(PRONOUNS)) == count
    values = "['year', 'lp', 'class', 'search'].map((id) => document.getElementById(id).value)"
    assert board.run(values) == ["2022", "de-en", "she", "STEM-A"]
    click(board, "#clear")
    assert board.run(FOUND).startswith("9 of 9") and address(board) == ""
    board.open(site / "index.html", fragment="#year=1999&class=no&sort=no&a=no/one")
    assert board.run(FOUND).startswith("0 of 9")  # an unknown year has no system; the rest is ignored


def tick(browser: Browser, key: str) -> None:
    browser.run(f"[...document.querySelectorAll('[data-key]')].find((e) => e.dataset.key === 'pick {key}').click()")


def test_two_systems_are_compared(board: Browser, site: Path) -> None:
    tick(board, "lamps2022.de-en/system-a")
    assert "Tick a second system" in board.run("document.getElementById('picked').textContent")
    tick(board, f"lamps2022.de-en/{EVIL}")
    link = board.run("document.getElementById('compare').href")
    scores = dict(zip(board.run(ROWS), board.run(COLUMN.format(SCORE)), strict=True))
    board.open(site / "index.html", fragment=board.run("location.hash"))  # the choice is in the link
    assert board.run("document.getElementById('compare').href") == link
    board.open(site / "compare" / "lamps2022_de-en.html", fragment=link[link.index("#") :])
    assert board.run("['a', 'b'].map((id) => document.getElementById(id).selectedOptions[0].text)") == [
        "system-a",
        EVIL,
    ]
    verdict = board.run("document.getElementById('verdict').textContent")
    rows = "[...document.querySelectorAll('#table tbody tr')]"
    labels = board.run(f"{rows}.slice(0, 2).map((row) => row.children[0].textContent)")
    assert labels == ["all pronouns, by preference (mean preference)", "all pronouns, by score"]
    decided = board.run(f"{rows}[0].children[5].textContent")
    amount = re.search(r"a mean preference of (\S+) ", verdict)
    assert amount is not None and float(amount[1]) == pytest.approx(abs(float(decided)), abs=0.011)
    assert "p = " in verdict and "system-a" in verdict and EVIL in verdict
    cells = f"{rows}[1].children"
    shown = board.run(f"[3, 4, 5].map((k) => Number({cells}[k].textContent))")
    assert shown[:2] == [scores["system-a"], scores[EVIL]]
    assert shown[2] == pytest.approx(shown[0] - shown[1], abs=0.011)
    won = board.run("[...document.querySelectorAll('#for-a .where')].map((e) => e.textContent)")
    won = [where for where in won if where.startswith("line")]
    assert won and all(", +" in where and where.endswith(" preference") for where in won)
    click(board, "#swap")
    assert (
        board.run("document.getElementById('verdict').textContent") == verdict
    )  # the better one first, in either order
    assert board.run(f"Number({cells}[5].textContent)") == -shown[2]
    lost = board.run("[...document.querySelectorAll('#for-b .where')].map((e) => e.textContent)")
    assert [where.replace("+", "-") for where in won] == [where for where in lost if where.startswith("line")]
    assert float(board.run(f"{rows}[0].children[5].textContent")) == -float(decided)
    assert address(board).startswith("#a=<img")
    choose(board, "b", board.run("document.getElementById('a').value"))
    assert board.run("document.getElementById('verdict').textContent") == "Choose two different systems."


def test_systems_of_different_test_sets_are_not_tested(board: Browser) -> None:
    tick(board, "lamps2022.de-en/system-a")
    tick(board, "kites2021.de-en/system-a")
    assert "different test sets are different texts" in board.run("document.getElementById('picked').textContent")
    tick(board, "kites2021.de-en/system-b")  # takes the place of the first
    assert "compare these two" in board.run("document.getElementById('picked').textContent")


def test_a_system_page_shows_its_worst_pronouns_in_context(board: Browser, site: Path) -> None:
    board.open(site / "systems" / "kites2021_de-en.system-c.html")
    probabilities = board.run("[...document.querySelectorAll('.where b')].map((e) => Number(e.textContent))")
    assert len(probabilities) == 5 and probabilities == sorted(probabilities)
    assert board.run("document.querySelectorAll('.worst mark').length") == 5
    assert board.run("document.querySelectorAll('.context').length") > 0
    assert "the previous sentences of the reference ref" in board.run("document.body.textContent")


def test_the_plots_follow_the_filters(board: Browser) -> None:
    figures = "[...document.querySelectorAll('#years svg')].map((e) => e.getAttribute('aria-label'))"
    labels = board.run(figures)
    assert [label.split(".")[0] for label in labels] == ["de-en", "fr-en"]
    assert "2021: median" in labels[0] and "2022: median" in labels[0] and "2021" not in labels[1]
    assert board.run("document.querySelectorAll('#years circle').length") == 9
    choose(board, "lp", "fr-en")
    assert len(board.run(figures)) == 1


def test_the_rows_shown_are_saved_as_a_table(board: Browser, tmp_path: Path) -> None:
    choose(board, "set", "lamps2022.de-en")
    board.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    click(board, "#save")
    path = tmp_path / "board-rows.tsv"
    until(path.exists)
    rows = list(tsv.read(path))
    assert [row["system"] for row in rows] == board.run(ROWS)
    assert [round(float(row["score"]), 2) for row in rows] == pytest.approx(board.run(COLUMN.format(SCORE)), abs=0.011)


def test_tables_and_plots_are_saved_for_papers(board: Browser, site: Path, tmp_path: Path) -> None:
    board.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))

    def saved(selector: str, name: str) -> Path:
        click(board, selector)
        until((tmp_path / name).exists)
        return tmp_path / name

    choose(board, "set", "lamps2022.de-en")
    systems = saved("[data-downloads='board-rows'] button", "board-rows.tex").read_text(encoding="utf-8")
    assert (
        r"\caption{Which system gets pronouns right? Systems, all pronouns. 3 of 9 systems, 1 of 3 test sets.}"
        in systems
    )
    assert r"\begin{tabular}{llrrrrrrr}" in systems and "% signature: model:" in systems
    assert r"lamps2022.de-en & \textless{}img src=x onerror=alert(1)\textgreater{} \& \{\{x\}\} & " in systems
    assert systems.count(" \\\\\n") == 4  # the header and three systems
    plot = ElementTree.parse(saved("#years button", "years.de-en.svg")).getroot()
    assert (plot.tag, plot.get("width")) == ("{http://www.w3.org/2000/svg}svg", "260")
    assert len(list(plot.iter("{http://www.w3.org/2000/svg}circle"))) == 3

    board.open(site / "systems" / "kites2021_de-en.system-a.html")
    forms = list(tsv.read(saved("#forms [data-downloads] button", "forms.tsv")))
    shown = board.run("[...document.querySelectorAll('#forms tbody tr')].map((r) => r.cells[0].textContent)")
    assert [row["form"] for row in forms] == shown
    assert r"\toprule" in saved("[data-downloads='classes'] :last-child", "classes.tex").read_text(encoding="utf-8")
    board.open(site / "compare" / "kites2021_de-en.html")
    (decided, *_) = tsv.read(saved("[data-downloads='comparison'] button", "comparison.tsv"))
    cell = "document.querySelector('#table tbody tr').children[5].textContent"
    assert decided["difference"] == board.run(cell)


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("phone", [False, True])
def test_letters_contrast_and_fit_on_a_desk_and_on_a_phone(
    browser: Browser, site: Path, dark: bool, phone: bool
) -> None:
    browser.dark(dark)
    browser.size(*((360, 740) if phone else (1000, 900)), phone=phone)
    try:
        for page in ("index.html", "systems/lamps2022_de-en.system-a.html", "compare/lamps2022_de-en.html"):
            browser.open(site / page)
            ratios = browser.contrasts(TEXT)
            assert len(ratios) > 10 and min(ratios) >= 4.5  # WCAG AA
            assert browser.run(WIDER) == []
            assert browser.run("document.documentElement.scrollWidth <= innerWidth")
            ground = browser.run("getComputedStyle(document.body).backgroundColor")
            assert ground == ("rgb(21, 24, 28)" if dark else "rgb(255, 255, 255)")
            assert browser.run(LABELLED)
    finally:
        browser.dark(False)
        browser.size(1000, 900)


def test_the_theme_is_kept_on_all_pages(browser: Browser, site: Path) -> None:
    browser.open(site / "index.html")
    browser.run("localStorage.clear()")
    browser.visit(site / "index.html")
    click(browser, "#theme")
    click(browser, "#theme")
    assert browser.run("document.documentElement.dataset.theme") == "dark"
    browser.visit(site / "systems" / "kites2021_de-en.system-a.html")
    assert browser.run("getComputedStyle(document.body).backgroundColor") == "rgb(21, 24, 28)"
    browser.run("localStorage.clear()")
