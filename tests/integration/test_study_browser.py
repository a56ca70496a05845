"""The page of a study in a real browser: answering by keyboard, resuming, saving, and the report of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pronmetric.cli.main import main
from pronmetric.lab.study import folder
from tests.tools.browser import Browser, until

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("no_faults")]

COUNT = "document.getElementById('count').textContent"
HIDDEN = "[...document.querySelectorAll('main > section')].filter((e) => !e.hidden).map((e) => e.id)"
WIDER = (
    "[...document.querySelectorAll('body *')].filter((e) => e.getBoundingClientRect().right > innerWidth + 1).length"
)

CLOCK = "(() => { let now = 0; performance.now = () => (now += 2500); })()"  # read when a task is shown and answered


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eighteen items, of which each of two annotators answers two again; sources, marks and both third answers."""
    place = tmp_path_factory.mktemp("study")
    rows = []
    for number in range(18):
        right, wrong = ("She", "It") if number % 2 else ("He", "It")
        rows.append(
            {
                **{"id": f"item {number}", "testset": "t", "lp": "de-en", "doc": f"d{number // 3}", "source": "Kam."},
                **{"source_context": ["Ja."], "reference_context": [f"Anna met Ben {number} times.", "They talked."]},
                **{"reference": f"{right} left {number}.", "noisy_reference": f"{wrong} left {number}."},
                **{"right": right.lower(), "wrong": wrong.lower()},
            }
        )
    data = place / "suite.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    flags = ["--annotators", "2", "--repeated", "0.11", "--answers", "all", "--show-source", "--highlight", "--quiet"]
    assert main(["study", "sample", str(data), "-o", str(place / "study"), *flags]) == 0
    assert main(["study", "page", str(place / "study"), "-o", str(place / "page.html"), "--title", "A study"]) == 0
    return place


def fresh(browser: Browser, study: Path) -> None:
    """The page without stored answers, at its start."""
    browser.open(study / "page.html")
    browser.run("localStorage.clear()")
    browser.visit(study / "page.html")


def enter(browser: Browser, name: str) -> None:
    browser.run(f"document.querySelectorAll('#people button')[{int(name) - 1}].click()")


def test_twenty_tasks_by_keyboard_with_a_reload_saved_and_reported(
    browser: Browser, study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = folder.read(study / "study").assignments["1"]
    assert len(tasks) == 20
    fresh(browser, study)
    browser.run(CLOCK)
    enter(browser, "1")
    assert browser.run(COUNT) == "1 of 20"
    for task in tasks[:9]:
        browser.press("2" if task.swapped else "1")  # the reference
    assert browser.run(COUNT) == "10 of 20"
    browser.press("9")
    browser.press("u")
    browser.press("Backspace")
    assert browser.run(COUNT) == "9 of 20"
    browser.press("0")
    browser.press("x")
    browser.visit(study / "page.html")  # a reload
    assert browser.run("document.querySelector('#people button').textContent") == "Annotator 1: 9 of 20"
    browser.run(CLOCK)
    enter(browser, "1")
    assert browser.run(COUNT) == "10 of 20"
    for task in tasks[9:]:
        browser.press("2" if task.swapped else "1")
    assert browser.run(HIDDEN) == ["done"]
    browser.press("1")  # no task is left
    browser.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    browser.run("document.getElementById('save').click()")
    saved = tmp_path / "answers-1.json"
    until(saved.exists)
    assert main(["study", "report", str(study / "study"), str(saved), "--to_json", str(tmp_path / "f.json")]) == 0
    capsys.readouterr()
    found = json.loads((tmp_path / "f.json").read_text(encoding="utf-8"))
    assert found["annotators"]["1"]["answered"] == 20 and found["annotators"]["1"]["repeated"] == 2
    assert found["overall"]["counts"] == {"reference": 17, "other": 0, "both": 1, "neither": 0}
    assert found["annotators"]["1"]["seconds"] == 2.5


def test_a_task_shows_its_item(browser: Browser, study: Path) -> None:
    found = folder.read(study / "study")
    task = found.assignments["2"][0]
    item = found.items[task.item]
    fresh(browser, study)
    enter(browser, "2")
    texts = [browser.run(f"document.getElementById('{name}-text').textContent") for name in ("first", "second")]
    assert texts == ([item.text_b, item.text_a] if task.swapped else [item.text_a, item.text_b])
    assert browser.run("[...document.querySelectorAll('mark')].map((e) => e.textContent).sort()") == sorted(
        text.split()[0] for text in texts
    )
    assert browser.run("document.getElementById('before').textContent") == " ".join(item.context)
    assert browser.run("document.getElementById('source').textContent") == "Kam."
    ink, dimmed = (browser.run(f"getComputedStyle(document.{of}).color") for of in ("body", "querySelector('#before')"))
    assert ink != dimmed
    assert browser.run("document.activeElement.id") == "question"
    browser.run("document.getElementById('first').click()")
    assert browser.run(COUNT) == "2 of 20"
    browser.run("document.getElementById('undo').click()")
    assert browser.run(COUNT) == "1 of 20" and browser.run("document.getElementById('undo').disabled")
    browser.run("document.getElementById('leave').click()")
    assert browser.run(HIDDEN) == ["start"]


def test_broken_storage_starts_anew(browser: Browser, study: Path) -> None:
    fresh(browser, study)
    enter(browser, "1")
    key = browser.run("place('1')")
    for broken in ("{", "[1]", '[["A", 1]]', '{"a": 1}'):
        browser.run(f"localStorage.setItem({json.dumps(key)}, {json.dumps(broken)})")
        browser.run("enter('1')")
        assert browser.run(COUNT) == "1 of 20"


def test_a_held_key_answers_once(browser: Browser, study: Path) -> None:
    fresh(browser, study)
    enter(browser, "1")
    browser.run("document.dispatchEvent(new KeyboardEvent('keydown', { key: '1', repeat: true, bubbles: true }))")
    browser.run("document.dispatchEvent(new KeyboardEvent('keydown', { key: '1', ctrlKey: true, bubbles: true }))")
    assert browser.run(COUNT) == "1 of 20"


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("phone", [False, True])
def test_letters_contrast_and_fit_on_a_desk_and_on_a_phone(
    browser: Browser, study: Path, dark: bool, phone: bool
) -> None:
    browser.dark(dark)
    browser.size(*((360, 740) if phone else (1000, 900)), phone=phone)
    try:
        fresh(browser, study)
        enter(browser, "1")
        ratios = browser.contrasts("p, h1, h2, button, kbd, mark, #count, #who, .words")
        assert len(ratios) > 10 and min(ratios) >= 4.5  # WCAG AA
        ground = browser.run("getComputedStyle(document.body).backgroundColor")
        assert ground == ("rgb(21, 24, 28)" if dark else "rgb(255, 255, 255)")
        assert browser.run(WIDER) == 0
        heights = "[...document.querySelectorAll('#task button')].map((e) => e.offsetHeight)"
        assert min(browser.run(heights)) >= 44
    finally:
        browser.dark(False)
        browser.size(1000, 900)


def test_the_theme_is_chosen_and_kept(browser: Browser, study: Path) -> None:
    fresh(browser, study)
    names = []
    for _ in range(3):
        browser.run("document.getElementById('theme').click()")
        names.append(browser.run("document.getElementById('theme').textContent.slice(2)"))
        browser.visit(study / "page.html")
        assert browser.run("document.getElementById('theme').textContent.slice(2)") == names[-1]
    assert names == ["light", "dark", "auto"]
