"""The readable form of a text, and its offsets into the original."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pronmetric.pronouns.finder import find
from pronmetric.pronouns.languages import language
from pronmetric.text.readable import APOSTROPHES, ENTITIES, LETTERS, MARKUP, readable
from pronmetric.text.words import words


@pytest.mark.parametrize(
    ("text", "read", "changes"),
    [
        ("It&apos;s &#39;his&#x27; &quot;x&quot;", "It's 'his' \"x\"", {ENTITIES}),
        ("it &apos;s late &amp; cold", "it 's late & cold", {ENTITIES}),
        ("It&amp;amp;#39;s", "It's", {ENTITIES}),
        ("it & apos ; s & # 39 ; x", "it ' s ' x", {ENTITIES}),
        ("AT&T, R&D; &nosuch; &copyright;", "AT&T, R&D; &nosuch; &copyright;", set()),
        ("a&nbsp;b&#8203;c", "a bc", {ENTITIES}),
        ("It\u02bcs he\u02bcll they\u00b4re it`s it \u00b4s", "It's he'll they're it's it 's", {APOSTROPHES}),
        ("It\uff07s don\u2018t d\u2032Arc", "It's don't d'Arc", {APOSTROPHES}),
        ("It\u2019s \u2018she\u2019 `he' \u043f\u02bc\u044f\u0442\u044c", None, set()),
        ("\uff33\uff48\uff45 \U0001d421\U0001d41e \u24e6\u24d4 \ufb01nd 8\uff58", "She he we find 8x", {LETTERS}),
        (
            "Sh\u0435 \u041d\u0435llo \u0421\u0421\u0421\u0420 \u043e\u043d",
            "She Hello \u0421\u0421\u0421\u0420 \u043e\u043d",
            {LETTERS},
        ),
        ("5 \u2103 \u2116 7 \u2122 \uff0c \u00bd", None, set()),
        ("The <i>Titanic</i> <a href='it.html' title=\"a b\">x</a>", "The Titanic x", {MARKUP}),
        ("<p>We left.</p><p>They</p>", " We left.  They ", {MARKUP}),
        ('&lt;b&gt;She&lt;/b&gt;<!-- he --><g id="1"/>', "She", {ENTITIES, MARKUP}),
        ("a < b and c > d, 5 <3, <he left>, <Ann Lee>, <b and c>, <url>", None, set()),
        ("**She** said *that* __he__ _x_ ~~no~~ ***bold _it_***", "She said that he x no bold it", {MARKUP}),
        ("f*** 2*3*4 do_it_now * item (^_^) (^_^) She* and he*", None, set()),
        ("\u2581She\u2581said sh@@ e @-@ x", " She said she-x", {MARKUP}),
        ("a we\u00adek\u200b e\u0301", "a week \u00e9", set()),
        (
            "\u041e\u043d\u0430\u0301 \u0438\u0306 \u0433\u0301",
            "\u041e\u043d\u0430 \u0439 \u0453",
            set(),
        ),
    ],
)
def test_what_is_read(text: str, read: str | None, changes: set[str]) -> None:
    seen = readable(text)
    assert (seen.text, seen.changes) == (text if read is None else read, changes)


def test_spans_are_those_of_the_original() -> None:
    text = "S<b>h</b>e said &quot;It&apos;s <i>his</i>&quot;"
    assert [text[p.start : p.end] for p in find(text)] == ["S<b>h</b>e", "It", "his"]
    assert [(w.text, w.start, w.end) for w in words("It&apos;s")] == [("It", 0, 2), ("'s", 2, 9)]
    assert [(p.text, p.form) for p in language("fr").find("c&apos;est elle, {il}")] == [
        ("c&apos;", "c'"),
        ("elle", "elle"),
    ]
    (it,) = find("&apos;Tis late")
    assert (it.text, it.form) == ("&apos;T", "it")


FEW = settings(max_examples=100)
_PIECES = st.sampled_from(
    [
        *"& amp; apos; #39; lt; < > / b i br p \u02bc ` \u00b4 s He it * ** _ ~~ @@ @-@ \u2581 \u0435 Sh".split(),
        *"\uff33 \ufb01 \u0301 \u00ad !-- --> = \" ' \u043f x= { } \U0001d421".split(),
        *(" ", "\n"),
    ]
)


@FEW
@given(st.lists(_PIECES | st.characters(exclude_categories=["Cs"]), max_size=24).map("".join))
def test_offsets_and_reading_twice(text: str) -> None:
    seen = readable(text)
    assert readable(seen.text) == (seen.text, None, None, frozenset())
    spans = [seen.original(k, k + 1) for k in range(len(seen.text))]
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert spans == sorted(spans)
    for word in words(text):
        start, end = seen.read(word.start, word.end)
        assert seen.text[start:end] == word.text or word.text in seen.text[start:end]
    for one in find(text):
        assert text[one.start : one.end] == one.text


@FEW
@given(st.lists(_PIECES, max_size=24).map("".join))
def test_plain_text_before_and_after_keeps_its_offsets(text: str) -> None:
    whole = f"Then she left. {text} . It rained"
    found = [(p.start, p.end) for p in find(whole)]
    assert (5, 8) in found
    assert (len(whole) - 9, len(whole) - 7) in found


def test_a_hostile_text_is_read_in_linear_time() -> None:
    for text in (
        "&amp;" * 20_000 + "lt;",
        "<b" * 30_000,
        "*a " * 30_000,
        "<a b=" * 15_000,
        "`" * 50_000,
        "a_" * 30_000,
    ):
        assert len(readable(text).text) <= len(text)
