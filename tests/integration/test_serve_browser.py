"""The page of `pronmetric serve` in a real browser: what a person sees, clicks, types and drops."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from transformers import PreTrainedTokenizerFast

from pronmetric.scoring.alternatives import THRESHOLD
from tests.tools.browser import Browser, until
from tests.tools.served import ask, connect, serving
from tests.tools.source_readers import save_scorer

pytestmark = pytest.mark.browser

SUMMARY = "document.getElementById('summary').textContent"
FIGURES = "document.getElementById('figures').textContent"
WARNING = "document.getElementById('warning').textContent"
PRONOUNS = "[...document.querySelectorAll('article .p')].map((b) => b.firstChild.textContent)"
FIELD = "document.getElementById({!r}).value"


@pytest.fixture(scope="module")
def server(tiny_checkpoint: Callable[..., Path]) -> Iterator[str]:
    """The address of a server."""
    with serving("--rate", 0, "--model", tiny_checkpoint(pair_head=True), "--gpus", 0, "--quiet") as served:
        yield served.address


@pytest.fixture
def opened(browser: Browser, server: str) -> Iterator[str]:
    """The page; it complained of nothing and asked nobody but its server."""
    browser.size(1000, 900)
    browser.open(server)
    yield server
    assert browser.faults() == []
    assert all(url.startswith((server, "about:")) for url in browser.requests())


def put(browser: Browser, **fields: str) -> None:
    """Type into fields, and wait until the result is there."""
    for name, text in fields.items():
        browser.run(f"document.getElementById({name!r}).value = {json.dumps(text)}")
    browser.run("document.getElementById('check').click()")


def settled(browser: Browser) -> str:
    """The summary, once the result has all its parts."""
    until(lambda: browser.run("document.getElementById('list').getAttribute('aria-busy')") == "false")
    found: str = browser.run(SUMMARY)
    return found


def test_an_example_shows_pronouns_verdict_and_attention(browser: Browser, opened: str) -> None:
    browser.run("document.querySelector('#examples button').click()")
    summary = settled(browser)
    assert "4 pronouns" in browser.run(FIGURES)
    assert browser.run(PRONOUNS) == ["It", "she", "It", "it"]
    record = {"id": 0, "context": ["The library has stood on the hill since 1874."]}
    texts = {"a": "It is old, and she needs a new roof.", "b": "It is old, and it needs a new roof."}
    with closing(connect(opened)) as connection:
        expected = ask(connection, "/compare", {side: [{**record, "text": text}] for side, text in texts.items()})
    assert summary == expected["verdict"] and summary.startswith("The ") and "pronouns" in summary
    probabilities = [p["probability"] for o in expected["segments"][0]["outputs"] for p in o["pronouns"]]
    shown = browser.run("[...document.querySelectorAll('article .p small')].map((e) => Number(e.textContent))")
    assert shown == pytest.approx(probabilities, abs=0.0051)
    doubtful = browser.run("[...document.querySelectorAll('article .p')].map((b) => b.classList.contains('doubtful'))")
    assert doubtful == [value < THRESHOLD for value in probabilities]
    assert browser.run("document.querySelectorAll('.w').length") > 0
    assert browser.run("document.querySelector('.badge').textContent").endswith(
        ("preference", f"({abs(expected['segments'][0]['pairs'][0]['difference']):.2f})")
    )


def test_the_first_screen_shows_an_examples_result(browser: Browser, opened: str) -> None:
    """Before anything is typed, and without filling the boxes; the translation's box is the first."""
    assert "pronouns" in settled(browser)
    assert browser.run("document.getElementById('example').offsetParent !== null")
    assert browser.run("[...document.querySelectorAll('textarea')].map((t) => t.id)") == [
        *("first", "second", "source", "context")
    ]
    assert browser.run(FIELD.format("first")) == "" and browser.run("location.hash") == ""
    assert browser.run("document.getElementById('summary').getBoundingClientRect().bottom < innerHeight")
    assert browser.run(PRONOUNS) == ["It", "she", "It", "it"]
    put(browser, first="She left.")
    settled(browser)
    assert browser.run(PRONOUNS) == ["She"]
    assert browser.run("document.getElementById('example').hidden")


def test_what_has_nothing_to_score_says_what_to_do(browser: Browser, opened: str) -> None:
    settled(browser)
    browser.run("document.getElementById('check').click()")
    until(lambda: "write or drop a translation into the first box" in browser.run(WARNING))
    put(browser, first="The train left.\nShe left.", second="A train left.\nTrains left.")
    settled(browser)
    badges = browser.run("[...document.querySelectorAll('.badge')].map((b) => b.textContent)")
    assert badges == ["no pronouns in either", "not compared: pronouns on one side only"]
    german = "Er sagte, dass sie ihm ihr Buch gegeben hat, und er liest es ihr vor, wenn sie ihn darum bittet."
    put(browser, first=german, second="")
    until(lambda: "Do the texts look like en?" in browser.run(WARNING))
    assert "pronmetric serve --model multilingual --lang de" in browser.run(WARNING)
    put(browser, first="Der Zug fuhr.", second="")
    until(lambda: "start the server with its model" in browser.run(SUMMARY))


def test_one_translation_has_a_verdict_in_words(browser: Browser, opened: str) -> None:
    put(browser, first="She saw him.\nThey left.")
    said = settled(browser)
    low = browser.run("[...document.querySelectorAll('article .p.doubtful')].length")
    assert said.startswith(f"{low} of 3 pronouns" if low else "All 3 pronouns look right.")
    if low:
        assert " in line " in said
    assert browser.run(FIGURES).startswith("The translation: ") and "over 3 pronouns" in browser.run(FIGURES)


def test_the_address_holds_the_text(browser: Browser, opened: str) -> None:
    put(browser, first="He is 100 % sure & she is not: “#1”.\nThey know him.", context="Anna\tand Tom left.")
    summary = settled(browser)
    held = browser.run("location.hash")
    assert held.startswith("#c=Anna") and "5 pronouns" not in held
    browser.open(opened, fragment=held)
    assert settled(browser) == summary
    assert browser.run(FIELD.format("first")).startswith("He is 100 % sure & she is not: “#1”.\n")
    browser.run("document.getElementById('clear').click()")
    until(lambda: browser.run("location.hash") == "" and browser.run(SUMMARY) == "")
    put(browser, first="The old boat left. " * 450)
    until(lambda: browser.run(SUMMARY).startswith("No pronouns, so there is nothing to score"))
    assert browser.run("location.hash") == ""


def test_mark_up_in_a_text_is_text(browser: Browser, opened: str) -> None:
    put(browser, first="<img src=x onerror=alert(1)> she left <b>him</b>.", source="<i>x</i>", context="<u>Anna</u>.")
    settled(browser)
    assert browser.run("document.querySelectorAll('article img, article i, article u').length") == 0
    assert "<b>" in browser.run("document.querySelector('.text').textContent")


def test_lines_that_do_not_match_are_named(browser: Browser, opened: str) -> None:
    put(browser, first="He left.\nShe stayed.", second="She left.")
    until(lambda: "2 lines and 1 line" in browser.run(WARNING))
    assert browser.run("document.querySelectorAll('article').length") == 0
    put(browser, first="", second="She left.")
    until(lambda: "into the first" in browser.run(WARNING))
    put(browser, first="He left.\nShe stayed.", second="", source="Er ging.")
    until(lambda: "The source has 1 line" in browser.run(WARNING))
    assert "pronouns" in settled(browser) and browser.run("document.querySelectorAll('.source').length") == 0


def test_a_refusal_is_noted_with_its_line(browser: Browser, opened: str) -> None:
    put(browser, first="She left.\nI'm sorry, but I cannot help with that request.")
    until(lambda: "Line 2 looks like no translation (refusal)." in browser.run(WARNING))
    assert settled(browser) and "ource" not in browser.run(WARNING)


def test_a_source_that_cannot_be_right_is_noted(browser: Browser, with_reader: Path) -> None:
    with serving("--rate", 0, "--model", with_reader, "--gpus", 0, "--quiet") as served:
        browser.open(served.address)
        for second in ("", "He left."):
            put(browser, first="She left.", second=second, source="She left.")
            until(lambda: "In 1 of 1 lines the source is the text itself" in browser.run(WARNING))
            assert settled(browser)
            put(browser, first="She left.", second=second, source="Sie ging.")
            until(lambda: browser.run(WARNING) == "")
            assert settled(browser)
        assert browser.faults() == []


def test_a_language_is_chosen_and_the_texts_stay(
    browser: Browser, unigram: PreTrainedTokenizerFast, tmp_path: Path
) -> None:
    folder = save_scorer(tmp_path / "multi", unigram, {"en": None, "de": None})
    with serving("--rate", 0, "--model", folder, "--gpus", 0, "--quiet") as (_, address):

        def choose(code: str) -> None:
            browser.run(f"$('lang').value = {code!r}; $('lang').dispatchEvent(new Event('change'))")
            until(lambda: browser.run("data.lang") == code)
            settled(browser)

        browser.open(address)
        assert settled(browser) and browser.run("document.querySelectorAll('#examples button').length") == 4
        choose("de")
        assert browser.run("document.querySelectorAll('#examples button, article').length") == 0
        assert browser.run(FIELD.format("first")) == "" == browser.run(WARNING)
        put(browser, first="Er sah ihren Hut.")
        settled(browser)
        assert browser.run(PRONOUNS) == ["Er", "ihren"]
        told = browser.run("document.querySelector('article .advice').textContent")
        assert "(masculine) attends to: " in told or "(feminine or plural) attends to: " in told
        assert "|language:de|" in browser.run("document.getElementById('signature').textContent")
        assert browser.run("location.search") == "?lang=de" and "Hut" in browser.run("location.hash")
        choose("en")
        assert browser.run(FIELD.format("first")) == "Er sah ihren Hut." and browser.run(PRONOUNS) == []
        browser.run("document.querySelector('#examples button').click()")
        settled(browser)
        choose("de")  # an example is of its language alone
        assert browser.run(FIELD.format("first")) == "" == browser.run(WARNING)
        put(browser, first="Er sah ihren Hut.")
        settled(browser)
        browser.visit(browser.run("location.href").replace("#", "&again#"))  # as a link
        settled(browser)
        assert browser.run(PRONOUNS) == ["Er", "ihren"] and browser.run("$('lang').value") == "de"
        assert browser.faults() == []


def test_a_form_is_put_in_the_place_of_a_pronoun(browser: Browser, opened: str) -> None:
    lines = "😀 He said 😀 she knew them.\nIt was his, not hers, and they saw us.\nWho was it that told him?"
    put(browser, first=lines)
    settled(browser)
    assert browser.run("document.querySelectorAll('.try').length") > 0, "the tiny checkpoint doubts all of these"
    wanted = browser.run("document.querySelector('.try').textContent").split()[0]
    place = browser.run("document.querySelector('.try').title")
    old = place.split("“")[2].split("”")[0]
    browser.run("document.querySelector('.try').click()")
    until(lambda: browser.run(FIELD.format("first")) != lines)
    changed = browser.run(FIELD.format("first"))
    assert [len(line.split()) for line in changed.split("\n")] == [len(line.split()) for line in lines.split("\n")]
    pairs = zip(lines.split(), changed.split(), strict=True)
    (found,) = [(a.strip(",.?"), b.strip(",.?")) for a, b in pairs if a != b]
    assert found == (old, wanted)
    settled(browser)


def test_the_page_is_used_by_keys(browser: Browser, opened: str) -> None:
    browser.run("document.getElementById('first').focus()")
    browser.run("document.getElementById('first').value = 'She saw him.\\nThey left.'")
    browser.run(
        "document.getElementById('first').dispatchEvent(new KeyboardEvent('keydown', "
        "{ key: 'Enter', ctrlKey: true, bubbles: true }))"
    )
    settled(browser)
    until(lambda: browser.run("document.activeElement.id") == "results")
    focused = "document.activeElement.firstChild.textContent"
    browser.run("document.querySelector('.p').focus()")
    assert browser.run(focused) == "She"
    browser.press("ArrowRight")
    assert browser.run(focused) == "him"
    before = browser.run("document.activeElement.getAttribute('aria-pressed')")
    browser.press("Enter")
    assert browser.run("document.activeElement.getAttribute('aria-pressed')") != before
    assert browser.run(focused) == "him"  # drawn again, the focus is where it was
    browser.press("ArrowDown")
    assert browser.run("document.activeElement.getAttribute('aria-label')") == "Line 2"
    browser.press("ArrowRight")
    assert browser.run(focused) == "They"


def test_dropped_files_fill_the_fields(browser: Browser, opened: str) -> None:
    drop = """(files) => { const held = new DataTransfer();
      for (const [name, bytes] of files) held.items.add(new File([new Uint8Array(bytes)], name));
      document.getElementById('first').dispatchEvent(
        new DragEvent('drop', { dataTransfer: held, bubbles: true, cancelable: true })); }"""
    files = [["a.txt", list("Sie ließ ihn.\n".encode())], ["b.txt", list(b"He left her.\n")]]
    browser.run(f"({drop})({json.dumps(files)})")
    until(lambda: browser.run(FIELD.format("second")) == "He left her.\n")
    assert browser.run(FIELD.format("first")) == "Sie ließ ihn.\n"
    until(lambda: "pronouns" in browser.run(SUMMARY))
    browser.run(f"({drop})({json.dumps([['c.txt', [0xFF, 0xFE]]])})")
    until(lambda: browser.run(WARNING) == "c.txt is not text in UTF-8.")
    strings = 'msgid "Sie ging."\nmsgstr "She left."\n\nmsgid "Er kam."\nmsgstr ""\n'
    browser.run(f"({drop})({json.dumps([['a.po', list(strings.encode())]])})")
    until(lambda: browser.run(FIELD.format("first")) == "She left.\n")
    assert browser.run(FIELD.format("source")) == "Sie ging.\n"
    until(lambda: "a.po: left out: 1 untranslated" in browser.run(WARNING))


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("phone", [False, True])
def test_the_pages_are_readable(browser: Browser, opened: str, dark: bool, phone: bool) -> None:
    browser.dark(dark)
    try:
        browser.size(*((390, 844) if phone else (1440, 900)), phone=phone)
        browser.open(opened)
        browser.run("document.querySelectorAll('#examples button')[2].click()")
        settled(browser)
        for _ in range(2):
            assert browser.run("document.documentElement.scrollWidth <= innerWidth")
            ratios = browser.contrasts(
                "h1, h2, h3, h4, p, a, label, button, small, summary, .label, .badge, .w, dd, dt"
            )
            assert len(ratios) > 20 and min(ratios) >= 4.5
            browser.open(f"{opened}/docs")
    finally:
        browser.dark(False)


def test_the_page_says_when_the_server_does_not_answer(browser: Browser, opened: str) -> None:
    browser.call("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)
    try:
        put(browser, first="She left.")
        until(lambda: "does not answer" in browser.run(WARNING))
    finally:
        browser.call(
            "Network.emulateNetworkConditions", offline=False, latency=0, downloadThroughput=-1, uploadThroughput=-1
        )
        browser.events.clear()
