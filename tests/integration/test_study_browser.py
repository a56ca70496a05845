"""The page of a study in a real browser: answering by keyboard, resuming, saving, and the report of it."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path

import pytest

from pronmetric.cli.main import main
from pronmetric.lab.study import folder
from pronmetric.lab.study.page import code as page_code
from tests.tools.browser import Browser, until

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("no_faults")]

COUNT = "document.getElementById('count').textContent"
HIDDEN = "[...document.querySelectorAll('main > section')].filter((e) => !e.hidden).map((e) => e.id)"
WIDER = (
    "[...document.querySelectorAll('body *')].filter((e) => e.getBoundingClientRect().right > innerWidth + 1).length"
)

_VISITS = count()
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
    page = ["study", "page", str(place / "study"), "--title", "A study"]
    assert main([*page, "-o", str(place / "page.html"), "--guide", "none"]) == 0
    assert main([*page, "-o", str(place / "guided.html"), "--breaks", "2"]) == 0
    return place


def fresh(browser: Browser, study: Path, name: str = "", *, page: str = "page.html") -> None:
    """The page of an annotator without stored answers, at its start; without a name, by no link."""
    browser.open(study / page)
    browser.run("localStorage.clear()")
    enter(browser, study, name, page=page)


def enter(browser: Browser, study: Path, name: str, *, page: str = "page.html") -> None:
    """Follow the link of an annotator."""
    code = page_code(folder.read(study / "study"), name) if name else ""
    browser.visit(study / page, fragment=f"?{next(_VISITS)}#{code}")  # each is loaded, in the same process


def text(browser: Browser, identity: str) -> str:
    return browser.run(f"document.getElementById('{identity}').textContent")


def click(browser: Browser, identity: str) -> None:
    browser.run(f"document.getElementById('{identity}').click()")


def write(browser: Browser, comment: str) -> None:
    """Write a comment by keyboard, and leave the field."""
    browser.press("c")
    for key in comment:
        browser.press(key)
    browser.press("Escape")


def test_twenty_tasks_by_keyboard_with_a_reload_saved_and_reported(
    browser: Browser, study: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = folder.read(study / "study").assignments["1"]
    assert len(tasks) == 20
    fresh(browser, study, "1")
    browser.run(CLOCK)
    browser.run("enter('1')")  # the task is shown again, by this clock
    assert browser.run(COUNT) == "1 of 20"
    for task in tasks[:9]:
        browser.press("2" if task.swapped else "1")  # the reference
    assert browser.run(COUNT) == "10 of 20"
    browser.press("9")
    browser.press("u")
    browser.press("Backspace")
    assert browser.run(COUNT) == "9 of 20"
    write(browser, "1 u 0")  # no answers
    browser.press("0")
    browser.press("x")
    enter(browser, study, "1")  # a reload
    browser.run(CLOCK)
    browser.run("enter('1')")
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
    assert [(one["answer"], one["text"]) for one in found["comments"]] == [("both", "1 u 0")]


def test_a_task_shows_its_item(browser: Browser, study: Path) -> None:
    found = folder.read(study / "study")
    task = found.assignments["2"][0]
    item = found.items[task.item]
    fresh(browser, study, "2")
    texts = [browser.run(f"document.getElementById('{name}-text').textContent") for name in ("first", "second")]
    assert texts == ([item.text_b, item.text_a] if task.swapped else [item.text_a, item.text_b])
    assert browser.run("[...document.querySelectorAll('mark')].map((e) => e.textContent).sort()") == sorted(
        text.split()[0] for text in texts
    )
    assert browser.run("document.getElementById('before').textContent") == " ".join(item.context)
    assert browser.run("document.getElementById('source').textContent") == "Kam."
    ink, context = (
        browser.run(f"getComputedStyle(document.{of}).color") for of in ("body", "querySelector('#before')")
    )
    assert ink == context  # it must be read
    assert browser.run("document.activeElement.id") == "question"
    click(browser, "first")
    assert browser.run(COUNT) == "2 of 20"
    click(browser, "undo")
    assert browser.run(COUNT) == "1 of 20" and browser.run("document.getElementById('undo').disabled")


def test_an_annotator_is_chosen_by_the_link_alone(browser: Browser, study: Path) -> None:
    fresh(browser, study)
    assert browser.run(HIDDEN) == ["start"] and "Open your link" in text(browser, "start")
    assert browser.run("document.querySelectorAll('#start button').length") == 0
    browser.press("1")  # nobody answers
    browser.run(f"location.hash = '{page_code(folder.read(study / 'study'), '2')}'")
    until(lambda: browser.run(HIDDEN) == ["task"])
    assert text(browser, "who") == "Annotator 2"
    browser.run("location.hash = 'constructor'")
    until(lambda: browser.run(HIDDEN) == ["start"])


def test_instructions_an_example_and_training_with_feedback_come_first(browser: Browser, study: Path) -> None:
    fresh(browser, study, "1", page="guided.html")
    assert browser.run(HIDDEN) == ["guide"] and browser.run("document.activeElement.id") == "guide-head"
    assert browser.run("document.querySelectorAll('#answers li').length") == 4
    assert "The suitcase is full of letters" in text(browser, "example")
    browser.press("1")  # not a task yet
    click(browser, "begin")
    assert browser.run(COUNT) == "Training 1 of 3" and browser.run("document.getElementById('remark').hidden")
    browser.press("1")
    assert text(browser, "verdict").startswith("The answer here is “Second version”. The keys were lost")
    browser.press("2")  # one answer each
    assert browser.run(COUNT) == "Training 1 of 3" and browser.run("document.activeElement.id") == "next"
    browser.press("Enter")
    browser.press("0")
    assert text(browser, "verdict").startswith("Right. Nothing tells")
    browser.press("Enter")
    browser.press("9")
    browser.press("Enter")
    assert browser.run(COUNT) == "1 of 20" and browser.run("given('1').length") == 0
    click(browser, "help")
    assert browser.run(HIDDEN) == ["guide"] and text(browser, "begin") == "Back to the tasks"
    click(browser, "begin")
    assert browser.run(HIDDEN) == ["task"]
    browser.press("1")
    enter(browser, study, "1", page="guided.html")  # who has begun is not trained again
    assert browser.run(HIDDEN) == ["task"] and browser.run(COUNT) == "2 of 20"


def test_what_was_answered_is_shown_for_a_moment_and_breaks_are_proposed(browser: Browser, study: Path) -> None:
    fresh(browser, study, "1", page="guided.html")
    click(browser, "begin")
    for _ in range(3):
        browser.press("1")
        browser.press("Enter")
    browser.run("window.later = []; setTimeout = (call) => later.push(call)")
    browser.press("0")
    assert text(browser, "said") == "Answered: both are fine."
    browser.run("later.at(-1)()")
    assert text(browser, "said") == ""
    write(browser, "why")
    browser.press("1")
    assert browser.run(HIDDEN) == ["pause"] and "2 tasks" in text(browser, "pause-text")
    browser.press("1")  # not during a break
    assert browser.run("given('1').length") == 2
    browser.press("u")
    assert browser.run(HIDDEN) == ["task"] and browser.run("document.getElementById('comment').value") == "why"
    browser.press("2")
    click(browser, "go-on")
    assert browser.run(HIDDEN) == ["task"] and browser.run(COUNT) == "3 of 20"
    assert browser.run("given('1').map((one) => one.slice(0, 1).concat(one.slice(2)))") == [["both"], ["second", "why"]]


def test_broken_storage_starts_anew(browser: Browser, study: Path) -> None:
    fresh(browser, study, "1")
    key = browser.run("place('1')")
    for broken in ("{", "[1]", '[["A", 1]]', '{"a": 1}'):
        browser.run(f"localStorage.setItem({json.dumps(key)}, {json.dumps(broken)})")
        browser.run("enter('1')")
        assert browser.run(COUNT) == "1 of 20"


def test_a_held_key_answers_once(browser: Browser, study: Path) -> None:
    fresh(browser, study, "1")
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
        fresh(browser, study, "1", page="guided.html")
        letters = "p, h1, h2, h3, li, label, button, kbd, mark, #count, #who, .words"
        for _ in range(4):  # the guide and the training
            ratios = browser.contrasts(letters)
            assert len(ratios) > 10 and min(ratios) >= 4.5 and browser.run(WIDER) == 0  # WCAG AA
            click(browser, "begin" if browser.run(HIDDEN) == ["guide"] else "next")
            browser.press("8" if browser.run(COUNT).startswith("Training") else "x")
            browser.press("1")
        enter(browser, study, "1")
        ratios = browser.contrasts(letters)
        assert len(ratios) > 10 and min(ratios) >= 4.5
        assert min(browser.contrasts("#before")) >= 7  # the context must be read
        ground = browser.run("getComputedStyle(document.body).backgroundColor")
        assert ground == ("rgb(21, 24, 28)" if dark else "rgb(255, 255, 255)")
        assert browser.run(WIDER) == 0
        shown = "[...document.querySelectorAll('#task button')].filter((e) => e.offsetParent)"
        heights = f"{shown}.map((e) => e.offsetHeight)"
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


def test_two_stages_step_by_step(browser: Browser, tmp_path: Path) -> None:
    records = [
        {"id": n, "text": f"He fell {n}.", "context": ["A lamp."], "source": "Sie fiel.", "source_context": ["Ach."]}
        for n in range(4)
    ]
    data, study = tmp_path / "records.jsonl", str(tmp_path / "study")
    data.write_text("".join(json.dumps(each) + "\n" for each in records), encoding="utf-8")
    sampled = ["study", "sample", str(data), "-o", study, "--preset", "two-stage", "--annotators", "1", "--quiet"]
    assert main(sampled) == 0
    assert main(["study", "page", study, "-o", str(tmp_path / "page.html")]) == 0
    item = folder.read(study).items[folder.read(study).assignments["1"][0].item]
    browser.open(tmp_path / "page.html")
    browser.run("localStorage.clear()")
    browser.visit(tmp_path / "page.html")
    assert browser.run(HIDDEN) == ["guide"] and "Together" in text(browser, "example")
    click(browser, "begin")
    for keys, told in (("112" + "2", "Right. Both"), ("111", "Right. Each"), ("12", "Right. The second")):
        for key in keys:
            browser.press(key)
        assert text(browser, "verdict").startswith(told)
        browser.press("Enter")
    assert browser.run(COUNT) == "1 of 4"

    def seen() -> tuple[str, ...]:
        return tuple(text(browser, name) for name in ("question", "source", "before", "alone-text"))

    alone, together = "Is this translation good by itself?", "Do the two translations fit together?"
    assert seen() == (alone, "Ach.", "", "A lamp.")
    browser.press("1")
    assert seen() == (alone, "Sie fiel.", "", item.text_a)
    browser.press("u")
    assert seen() == (alone, "Ach.", "", "A lamp.")
    browser.press("1")
    browser.press("1")
    assert seen() == (together, "Sie fiel.", "A lamp.", item.text_a)
    browser.press("2")
    assert seen()[0] == "What does not fit?" and browser.run("document.querySelectorAll('#others button').length") == 7
    browser.press("5")
    assert text(browser, "said") == "Answered: anaphora." and browser.run(COUNT) == "2 of 4"
    for keys in ("2", "111", "8"):
        for key in keys:
            browser.press(key)
    assert browser.run(HIDDEN) == ["done"]
    assert browser.run("given('1').map((one) => one[0])") == ["anaphora", "alone", "good", "invalid"]
