"""The report in a real browser: what a person sees, clicks and types."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from pronmetric.cli.main import main
from pronmetric.output.display import visible
from pronmetric.pronouns.gender import genders_of
from pronmetric.pronouns.languages import language
from pronmetric.report.content import Content, ModelView
from pronmetric.report.page import page
from pronmetric.results import Output, Pronoun, Result, Segment, System
from tests.tools.browser import Browser, until
from tests.tools.made_up_report import made_up, opening

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("no_faults")]

RESULT = Path(__file__).parents[1] / "fixtures" / "report" / "score.json"
SHOWN = "[...document.querySelectorAll('article')].map((a) => Number(a.id.slice(1)))"
FOUND = "document.getElementById('found').textContent"


@pytest.fixture(scope="module")
def sample_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "sample.html"
    assert main(["report", str(RESULT), "-o", str(path), "--no-model", "--quiet"]) == 0
    return path


@pytest.fixture(scope="module")
def attention_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "attention.html"
    path.write_text(page(made_up(120), title="made up"), encoding="utf-8")
    return path


MOST_STEPS = 300_000  # of the page's script until its first segments are drawn, four times those of the largest page
MOST_ELEMENTS = 10_000


@pytest.fixture(scope="module")
def large() -> str:
    """The largest page that a report makes."""
    return page(made_up(2000), title="large")


def steps(browser: Browser, path: Path, text: str) -> int:
    """Steps of the page's scripts until its first segments are drawn: its work, however long a machine takes for it."""
    path.write_text(text, encoding="utf-8")
    browser.count_steps()
    opening(browser, path)
    return browser.steps()


def test_the_largest_page_opens_with_little_work(browser: Browser, large: str, tmp_path: Path) -> None:
    assert len(large.encode()) < 10_000_000
    assert 0 < steps(browser, tmp_path / "large.html", large) < MOST_STEPS
    assert browser.run("document.querySelectorAll('*').length") < MOST_ELEMENTS
    assert len(browser.run(SHOWN)) < 100


def test_a_page_that_computes_too_much_is_distinguished_from_one_that_waits(
    browser: Browser, large: str, tmp_path: Path
) -> None:
    free, removed = re.subn(r"<meta http-equiv=.Content-Security-Policy.[^>]*>", "", large)  # it allows our script only
    assert removed == 1
    loop = f"<script>let x = 0; for (let i = 0; i < {MOST_STEPS}; i++) x = Math.sqrt(x + i); window.x = x</script>"
    assert steps(browser, tmp_path / "slow.html", free + loop) > MOST_STEPS  # the bar of the test above fails
    assert steps(browser, tmp_path / "free.html", free) < MOST_STEPS
    browser.run("new Promise((done) => setTimeout(done, 1000))")
    assert browser.steps() < 100


def test_systems_and_the_best_segments_are_there_at_once(browser: Browser, sample_page: Path) -> None:
    browser.open(sample_page)
    assert "system-c.txt" in browser.run("document.querySelector('.chart').textContent")
    assert browser.run("document.querySelectorAll('.chart circle').length") == 3
    first = browser.run("document.querySelector('article').innerText")
    assert "context" in first and "reference" in first and ("better by score: " in first or "tie by score" in first)
    assert not browser.run("document.getElementById('earlier').offsetParent !== null")


def test_search_sort_and_clear(browser: Browser, sample_page: Path) -> None:
    browser.open(sample_page)
    everything = browser.run(FOUND)
    browser.press("/")
    assert browser.run("document.activeElement.id") == "search"
    for letter in "kettle":
        browser.press(letter)

    def texts() -> list[str]:
        return browser.run("[...document.querySelectorAll('article')].map((a) => a.textContent.toLowerCase())")

    # The page filters after each letter, a moment later.
    assert until(lambda: browser.run(FOUND) != everything and all("kettle" in text for text in texts()))
    assert texts()
    browser.press("Escape")
    assert until(lambda: browser.run(FOUND) == everything)
    browser.run("(() => { const s = document.getElementById('sort'); s.value = 'order'; s.onchange(); })()")
    shown = browser.run(SHOWN)
    assert shown == sorted(shown) and len(shown) >= 20
    for wanted in ("0", "tie"):
        browser.run(f"(() => {{ const s = document.getElementById('better'); s.value = '{wanted}'; s.onchange(); }})()")
        badges = browser.run("[...document.querySelectorAll('.badge')].map((b) => b.textContent)")
        assert badges and all(
            (badge == "tie by score") if wanted == "tie" else "system-a.txt" in badge for badge in badges
        )
    browser.run("document.getElementById('clear').click()")
    number = shown[7]
    browser.run(f"(() => {{ const s = document.getElementById('search'); s.value = '#{number}'; s.oninput(); }})()")
    assert until(lambda: browser.run(SHOWN) == [number])


def test_a_cell_of_the_matrix_shows_its_segments(browser: Browser, sample_page: Path) -> None:
    browser.open(sample_page)
    assert browser.run("document.getElementById('matrix-system').value") == "2"  # the one with most differences
    label = browser.run(
        "(() => { const b = [...document.querySelectorAll('#matrix button')]"
        ".find((b) => /^they for she,/.test(b.getAttribute('aria-label'))); b.click(); return b.textContent; })()"
    )
    shown = browser.run(SHOWN)
    assert 0 < len(shown) <= int(label) and 2 in shown
    assert "“they” for “she” in \u2068system-c.txt\u2069" in browser.run("document.getElementById('clear').textContent")
    assert browser.run("document.querySelectorAll('#matrix .chosen').length") == 1
    browser.run("document.getElementById('clear').click()")
    assert len(browser.run(SHOWN)) > len(shown)
    browser.run("(() => { const s = document.getElementById('matrix-form'); s.value = 'its'; s.onchange(); })()")
    labels = browser.run("[...document.querySelectorAll('#matrix button')].map((b) => b.getAttribute('aria-label'))")
    assert labels and all(re.search(r"^its for |for its,", label) for label in labels)


def test_the_address_leads_to_a_segment_wherever_it_is(browser: Browser, attention_page: Path) -> None:
    browser.open(attention_page, fragment="#l97")
    assert browser.run("document.activeElement.id") == "l97"
    top = browser.run("document.getElementById('l97').getBoundingClientRect().top")
    assert 0 <= top < 200
    browser.run("document.getElementById('search').value = 'nowhere'; choose(); location.hash = '#l5'")
    until(lambda: browser.run("document.activeElement.id") == "l5")
    assert browser.run("document.getElementById('search').value") == ""
    browser.run("location.hash = '#l4000'")
    until(lambda: "Line 4000 is not listed" in browser.run(FOUND))


def test_where_a_text_stands_in_its_file_is_shown_found_and_copied(browser: Browser, tmp_path: Path) -> None:
    shown, told = made_up(3), [("cue 3, line 12", "cue 3, line 12"), ("row 2, line 3", "row 4, line 5"), (None, None)]
    segments = [
        segment._replace(outputs=tuple(o._replace(place=p) for o, p in zip(segment.outputs, places, strict=True)))
        for segment, places in zip(shown.result.segments, told, strict=True)
    ]
    path = tmp_path / "placed.html"
    content = replace(shown, result=replace(shown.result, segments=tuple(segments)))
    path.write_text(page(content, title="placed"), encoding="utf-8")
    opening(browser, path)
    places = "[...document.querySelectorAll('#l{} .place')].map((p) => p.textContent)"
    assert [browser.run(places.format(line)) for line in (1, 2, 3)] == [
        ["cue 3, line 12"],
        ["one: row 2, line 3", "two: row 4, line 5"],
        [],
    ]
    assert browser.run("plain(data.segments.find((s) => s[NUMBER] === 0))").splitlines()[1] == "cue 3, line 12"
    browser.run("{ const box = $('search'); box.value = 'line 12'; box.dispatchEvent(new Event('input')); }")
    until(lambda: browser.run(SHOWN) == [1])


def test_more_segments_come_when_the_end_is_reached(browser: Browser, attention_page: Path) -> None:
    browser.open(attention_page)
    before = len(browser.run(SHOWN))
    browser.run("document.getElementById('more').scrollIntoView()")
    until(lambda: len(browser.run(SHOWN)) > before)
    for _ in range(10):
        browser.run("document.getElementById('more').click()")
    assert sorted(browser.run(SHOWN)) == list(range(1, 121))


def test_keys_walk_segments_and_pronouns_and_show_attention(browser: Browser, attention_page: Path) -> None:
    browser.open(attention_page)
    first, second = browser.run(SHOWN)[:2]
    browser.press("j")
    assert browser.run("document.activeElement.id") == f"l{first}"
    browser.press("j")
    assert browser.run("document.activeElement.id") == f"l{second}"
    browser.press("k")
    browser.press("ArrowRight")
    browser.press("ArrowRight")
    assert browser.run("document.activeElement.classList[0]") == "p"
    pressed = f"[...document.querySelectorAll('#l{first} .p')].map((p) => p.getAttribute('aria-pressed'))"
    assert browser.run(pressed).count("true") == 1 and browser.run(pressed)[1] == "false"
    browser.press("Enter")
    assert browser.run(pressed)[1] == "true" and browser.run(pressed).count("true") == 1
    assert browser.run("document.activeElement.dataset.key").endswith(" 0 1")  # the focus stays
    heat = f"document.querySelectorAll('#l{first} .context .w').length"
    assert browser.run(heat) > 20
    said = browser.run(f"document.querySelector('#l{first} .output .advice').innerText")
    assert "attends to: " in said and "more probable: “it” 0.81, “they” 0.51, “this” 0.21" in said
    browser.press("Enter")
    assert browser.run(heat) == 0


def test_the_source_word_of_the_chosen_pronoun_is_marked(browser: Browser, tmp_path: Path) -> None:
    content = json.loads(RESULT.read_text(encoding="utf-8"))
    segment = next(one for one in content["segments"] if len(one["pronouns"]) > 1)
    for one in content["segments"]:
        if one["segment"] == segment["segment"]:
            one["source"] = "sie sah, dass sie schlief"
    evidence = {"log_odds": -2.0, "word": "sie", "start": 14, "end": 17}
    for pronoun in segment["pronouns"]:
        pronoun["source"] = evidence
    segment["pronouns"][0]["source"] = {**evidence, "log_odds": 0.1, "start": 0, "end": 3}
    result, path = tmp_path / "scores.json", tmp_path / "page.html"
    result.write_text(json.dumps(content), encoding="utf-8")
    assert main(["report", str(result), "-o", str(path), "--no-model", "--quiet"]) == 0
    place = f"#l{segment['segment'] + 1}"
    browser.open(path, fragment=place)
    source = f"document.querySelector('{place} .source bdi')"
    assert browser.run(f"{source}.innerHTML") == segment["source"]
    for number, (said, shown) in enumerate(
        [
            ("says little about", "<mark>sie</mark> sah, dass sie schlief"),
            ("contradicts", "sie sah, dass <mark>sie</mark> schlief"),
        ]
    ):
        browser.run(f"document.querySelectorAll('{place} .output .p')[{number}].click()")
        assert browser.run(f"{source}.innerHTML") == shown
        assert f"the source (“sie”) {said} it" in browser.run(f"document.querySelector('{place} .advice').innerText")


def test_attention_is_heat_in_proportion(browser: Browser, attention_page: Path) -> None:
    browser.open(attention_page)
    shades = browser.run(
        "[...document.querySelectorAll('article .w')].slice(0, 60)"
        ".map((w) => [w.title, w.style.getPropertyValue('--a')])"
    )
    assert len(shades) == 60
    for title, shade in shades:
        weight = float(title.split()[1]) / 100
        assert float(shade) == pytest.approx(weight / (60 / 61), abs=0.03)
    browser.run("document.getElementById('attention').click()")
    assert browser.run("document.querySelectorAll('article .w').length") == 0


def test_the_genders_of_a_pronoun_and_of_its_nouns_follow_in_brackets(browser: Browser, tmp_path: Path) -> None:
    german = language("de")
    output = Output("Sie fiel, wie eine Uhr.", "Den Tisch sah ich.", 0.2, (Pronoun("Sie", 0, 3, 0.2),))
    weights = (0.0, 0.5, 0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.4, 0.0)  # of five words, then of seven
    content = replace(
        made_up(1),
        result=Result(
            systems=(System("one", 20.0, None, 1, 1, 1),),
            pairs=(),
            segments=(Segment(0, "d", None, None, (output,), ()),),
            signature="model:none|language:de",
            tie=0.01,
            probability=True,
        ),
        links=None,
        language=german,
        views={0: (ModelView((weights,), (None,)),)},
        genders=genders_of(german),
    )
    path = tmp_path / "german.html"
    path.write_text(page(content, title="german"), encoding="utf-8")
    opening(browser, path)
    told = "“Sie” (feminine or plural) attends to: Tisch (masculine or plural) 50 %, Uhr (feminine) 40 %, sah 9.8 %"
    assert browser.run("document.querySelector('#l1 .looks').textContent") == told


def test_light_and_dark(browser: Browser, sample_page: Path) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    browser.dark(True)
    browser.open(sample_page)
    dark = browser.run(ground)
    browser.dark(False)
    light = browser.run(ground)
    assert (dark, light) == ("rgb(21, 24, 28)", "rgb(255, 255, 255)")
    browser.run("document.getElementById('theme').click()")
    assert browser.run(ground) == light
    browser.run("document.getElementById('theme').click()")
    assert browser.run(ground) == dark
    browser.visit(sample_page)
    assert browser.run(ground) == dark  # the choice is kept
    browser.run("document.getElementById('theme').click()")
    assert browser.run("document.getElementById('theme').textContent") == "◐ auto"
    assert browser.run("document.getElementById('theme').getAttribute('aria-label')") == "Colour theme: auto"


@pytest.mark.parametrize("dark", [False, True])
def test_letters_contrast_with_their_background(browser: Browser, attention_page: Path, dark: bool) -> None:
    browser.dark(dark)
    browser.open(attention_page)
    ratios = browser.contrasts(".p, article p, article .label, h2, .hint, #matrix button")
    browser.dark(False)
    assert len(ratios) > 100 and min(ratios) >= 4.5  # WCAG AA


def test_a_phone_scrolls_down_only(browser: Browser, sample_page: Path, attention_page: Path) -> None:
    browser.size(360, 740, phone=True)
    try:
        for path in (sample_page, attention_page):
            browser.open(path)
            assert browser.run("document.documentElement.scrollWidth") <= 360
            assert (
                browser.run("Math.min(...[...document.querySelectorAll('button.p')].map((p) => p.offsetHeight))") >= 24
            )
    finally:
        browser.size(1000, 900)


WIDER = """[...document.querySelectorAll('body *')].filter((e) => e.getBoundingClientRect().right > innerWidth + 1
  && !e.closest('.wide') && !e.closest('.skip')).map((e) => e.tagName + '#' + e.id)"""
CUT = "[...document.querySelectorAll('.wide')].filter((e) => e.scrollWidth > e.clientWidth + SLACK).map((e) => e.id)"
HINTS = "[...document.querySelectorAll('.scrolls')].filter((e) => !e.hidden).map((e) => e.nextElementSibling.id)"


@pytest.mark.parametrize("width", [360, 390])
def test_long_names_do_not_widen_a_phone(browser: Browser, tmp_path: Path, width: int) -> None:
    content = json.loads(RESULT.read_text(encoding="utf-8"))
    for entry in content["systems"] + content["segments"]:
        letter = entry["system"].removesuffix(".txt")
        entry["system"] = f"/home/{'experiments' * 4}/{letter}-{'long' * 15}/{'checkpoint' * 3}.txt"
    (tmp_path / "long.json").write_text(json.dumps(content), encoding="utf-8")
    path = tmp_path / "long.html"
    assert main(["report", str(tmp_path / "long.json"), "-o", str(path), "--no-model", "--quiet"]) == 0
    browser.size(width, 740, phone=True)
    try:
        browser.open(path)
        browser.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        assert browser.run("document.documentElement.scrollWidth") <= width and browser.run(WIDER) == []
        cut = browser.run(CUT)
        assert "matrix" in cut and until(lambda: browser.run(HINTS) == cut)
        assert "system-a-long" in browser.run("document.querySelector('h1').textContent")
        title = "document.querySelector('.output h4 bdi').title"
        assert browser.run(title).startswith("/home/experiments")
        browser.run("(() => { const s = document.getElementById('matrix-system'); s.value = '0'; s.onchange(); })()")
        browser.run("document.querySelector('#matrix button').click()")
        assert browser.run(WIDER) == []
    finally:
        browser.size(1000, 900)


def test_no_cell_of_the_matrix_is_empty(browser: Browser, sample_page: Path) -> None:
    browser.open(sample_page)
    cells = "[...document.querySelectorAll('#matrix td')].map((td) => td.textContent)"
    shown = browser.run(cells)
    assert shown and set(map(str.isdigit, shown)) == {True, False}
    assert {text for text in shown if not text.isdigit()} <= {"·", "="}
    same = "document.getElementById('confusion-same').hidden"
    assert browser.run(same) is False
    browser.run("document.getElementById('matrix-wrong').click()")
    assert browser.run(same) is True and "=" not in browser.run(cells)
    assert sum(map(int, filter(str.isdigit, browser.run(cells)))) > sum(map(int, filter(str.isdigit, shown)))


def test_the_matrix_has_one_order_and_a_diagonal(browser: Browser, sample_page: Path) -> None:
    browser.open(sample_page)
    heads = "[...document.querySelectorAll('#matrix {}')].map((th) => th.textContent)"
    rows, columns = (browser.run(heads.format(of)) for of in ("tbody th", "thead th:not(:first-child)"))
    assert rows == columns and len(rows) > 1
    assert "i" not in rows
    diagonal = (
        "[...document.querySelectorAll('#matrix tbody tr')].map((tr, k) => tr.cells[k + 1].classList.contains('same'))"
    )
    assert browser.run(diagonal) == [True] * len(rows)


def test_a_wide_window_has_no_hint_at_tables_that_fit(browser: Browser, sample_page: Path) -> None:
    browser.open(sample_page)
    assert until(lambda: browser.run(HINTS) == ["matrix"])  # the systems' table fits, the matrix does not


def test_a_source_runs_from_right_to_left_and_has_its_language(browser: Browser, tmp_path: Path) -> None:
    outputs = tuple(Output("He left.", "", score, (Pronoun("He", 0, 2, score),)) for score in (0.9, 0.1))
    systems = tuple(System(name, 50.0, None, 1, 1, 1) for name in "ab")
    segment = Segment(0, "d", "\u063a\u0627\u062f\u0631.", "He left.", outputs)
    result = Result(
        systems=systems,
        pairs=(),
        segments=(segment,),
        signature="s",
        tie=0.01,
        probability=True,
        source_language="ar",
    )
    path = tmp_path / "arabic.html"
    content = Content(result=result, links=None, listed=[0], differing=1, notes=[])
    path.write_text(page(content, title="Arabic"), encoding="utf-8")
    browser.open(path)
    look = "((e) => [e.lang, getComputedStyle(e).direction, getComputedStyle(e).display])"
    assert browser.run(f"{look}(document.querySelector('.source bdi'))") == ["ar", "rtl", "block"]
    assert browser.run(f"{look}(document.querySelector('.text'))") == ["en", "ltr", "block"]


def test_markup_in_the_data_shows_as_text(browser: Browser, tmp_path: Path) -> None:
    evil = "He </script><script>window.hit = 1</script><img src=x onerror='window.hit = 1'> 😀\ufeff &amp; {{js}}"
    outputs = tuple(Output(evil, evil, score, (Pronoun("He", 0, 2, score),)) for score in (0.9, 0.1))
    systems = tuple(System(f"{name}{evil}", 50.0, None, 1, 1, 1) for name in "ab")
    segment = Segment(0, evil, evil, evil, outputs)
    result = Result(systems=systems, pairs=(), segments=(segment,), signature=evil, tie=0.01, probability=True)
    path = tmp_path / "evil.html"
    content = Content(result=result, links=None, listed=[0], differing=1, notes=[evil])
    path.write_text(page(content, title=evil), encoding="utf-8")
    browser.open(path)
    assert browser.run("window.hit") is None
    assert browser.run("document.querySelectorAll('img').length") == 0
    assert browser.run("document.querySelector('.reference bdi').textContent") == evil
    assert browser.run("document.querySelector('article .doc').textContent") == visible(evil)
    assert browser.run("document.querySelector('.text').textContent").replace(".90", "") == evil
    assert "no reference" not in browser.run("document.querySelector('article').textContent")


def test_pronouns_are_filtered_and_the_address_keeps_it(browser: Browser, sample_page: Path) -> None:
    browser.open(sample_page)
    total = browser.run("data.segments.length")
    browser.run("document.querySelector('#forms tbody button').click()")
    form = browser.run("document.querySelector('#forms tbody button').textContent")
    browser.run(
        "document.getElementById('system').value = '2'; document.getElementById('below').value = '0.6'; choose()"
    )
    kept = browser.run("location.hash")
    assert kept == f"#?system=2&form={form.lower()}&below=0.6"
    found = browser.run("state.found.length")
    assert 0 < found < total
    scores = browser.run(
        "state.found.map((place) => data.segments[place][4][2][3].filter((p, k) => "
        "data.forms[data.filtered[place][2][2 * k]] === data.forms[Number($('form').value)]).map((p) => p[1]))"
    )
    assert len(scores) == found and all(min(own) < 0.6 for own in scores)
    assert "score below 0.6" in browser.run("document.getElementById('clear').textContent")
    browser.open(sample_page, fragment=kept)
    assert browser.run("state.found.length") == found and browser.run("$('below').value") == "0.6"
    browser.run("document.getElementById('clear').click()")
    assert browser.run("state.found.length") == total and browser.run("location.hash") == ""


def test_an_unknown_filter_in_the_address_is_left_out(browser: Browser, sample_page: Path) -> None:
    browser.open(sample_page, fragment="#?form=nix&class=nix&better=9&below=much")
    assert browser.run("state.found.length") == browser.run("data.segments.length")


def test_a_segment_is_copied_as_text_and_as_a_link(browser: Browser, sample_page: Path) -> None:
    browser.open(sample_page)
    browser.run("window.copied = []; copy = async (text) => { window.copied.push(text); return true; }")
    browser.run("document.querySelectorAll('article .tool').forEach((button) => button.click())")
    link, text, *_ = browser.run("window.copied")
    number = browser.run(SHOWN)[0]
    assert link.endswith(f"sample.html#l{number}")
    lines = text.splitlines()
    assert lines[0].startswith(f"line {number} (") and any(line.startswith("reference: ") for line in lines)
    assert re.search(r"^system-c.txt \(\d\.\d\d\): .* \[\d\.\d\d\]", text, re.MULTILINE)


def test_the_name_of_a_button_holds_its_words(browser: Browser, sample_page: Path) -> None:
    browser.open(sample_page)
    buttons = "[...document.querySelectorAll('button[aria-label]')]"
    named = f"{buttons}.map((b) => [b.textContent, b.getAttribute('aria-label')])"
    words = [(re.sub(r"[^a-z ]", "", text.lower()).strip(), name.lower()) for text, name in browser.run(named)]
    assert words and all(text in name for text, name in words)


def test_tables_and_the_chart_are_downloaded(browser: Browser, sample_page: Path) -> None:
    browser.open(sample_page)
    browser.run(
        "window.saved = []; HTMLAnchorElement.prototype.click = function () { window.saved.push(this.download); };"
        "document.querySelectorAll('.downloads button').forEach((button) => button.click())"
    )
    saved = set(browser.run("window.saved"))
    assert {
        "chart.svg",
        "systems.tsv",
        "systems.tex",
        "forms.tsv",
        "forms.tex",
        "documents.tsv",
        "lengths.tex",
    } <= saved
    assert browser.run("data.files.forms.tsv").startswith("form\tsystem\tpronouns\tmean\t")
