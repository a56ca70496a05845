"""TMX: which language is scored, which is the source."""

from __future__ import annotations

from pathlib import Path

import pytest

from pronmetric.errors import InputError
from pronmetric.text.files import tmx
from pronmetric.text.files.unit import FileTexts


def read(folder: Path, *units: dict[str, str] | str, srclang: str = "de", target: str | None = None) -> FileTexts:
    path = folder / "a.tmx"
    made = [
        unit
        if isinstance(unit, str)
        else "<tu>" + "".join(variant(code, text) for code, text in unit.items()) + "</tu>"
        for unit in units
    ]
    path.write_text(f'<tmx version="1.4"><header srclang="{srclang}"/>\n<body>\n' + "\n".join(made) + "</body></tmx>")
    return tmx.read(path, target=target)


def variant(code: str, text: str) -> str:
    return f'<tuv xml:lang="{code}"><prop type="x">his</prop><seg>{text}</seg></tuv>'


@pytest.mark.parametrize("srclang", ["de", "de-DE", "DE", "de_AT"])
def test_the_target_is_the_other_of_two_languages(tmp_path: Path, srclang: str) -> None:
    german = "de" if srclang != "de" else "de-CH"
    (unit,) = read(tmp_path, {"en": "She", german: "Sie"}, srclang=srclang).units
    assert (unit.text, unit.source, unit.line, unit.place) == ("She", "Sie", 3, "unit 1")


@pytest.mark.parametrize(
    ("target", "text", "source"),
    [("en", "She", "Sie"), ("EN_us", "She", "Sie"), ("fr", "Elle", "Sie"), ("de", "Sie", None)],
)
def test_the_target_that_is_named(tmp_path: Path, target: str, text: str, source: str | None) -> None:
    (unit,) = read(tmp_path, {"de": "Sie", "fr": "Elle", "en-US": "She"}, target=target).units
    assert (unit.text, unit.source) == (text, source)


def test_without_a_source_language_the_only_other_one_is_the_source(tmp_path: Path) -> None:
    found = read(
        tmp_path, {"de": "Sie", "en": "She"}, {"fr": "Il", "de": "Er", "en": "He"}, srclang="*all*", target="en"
    )
    assert [unit.source for unit in found.units] == ["Sie", None]


def test_a_unit_may_have_a_source_language_of_its_own(tmp_path: Path) -> None:
    own = '<tu tuid="x" srclang="fr">' + variant("de", "Sie") + variant("fr", "Elle") + variant("en", "She") + "</tu>"
    (unit,) = read(tmp_path, own, target="en").units
    assert (unit.source, unit.place) == ("Elle", "unit x")


def test_units_without_the_target_are_counted_and_alternatives_are_units(tmp_path: Path) -> None:
    twice = "<tu>" + variant("de", "Sie") + variant("en", "She") + variant("en", "They") + "</tu>"
    found = read(tmp_path, {"de": "Er"}, {"de": "Er", "en": " "}, twice)
    assert [unit.text for unit in found.units] == ["She", "They"]
    assert found.left_out == {"no text in the target language": 2}


def test_codes_are_no_text(tmp_path: Path) -> None:
    bold = '<bpt i="1" type="bold">{\\b </bpt>has<ept i="1">}</ept>'
    text = f'She {bold} <ph x="1">{{0}}</ph>, <ut>his</ut><hi>her</hi><it pos="end">x</it>.'
    assert [unit.text for unit in read(tmp_path, {"de": "Sie", "en": text}).units] == ["She has {0}, her."]


@pytest.mark.parametrize(
    ("units", "options", "message"),
    [
        (
            [{"de": "Sie", "fr": "Elle", "en": "She"}],
            {},
            r"languages: de, en, fr; source language: de; name .*`text_key=`",
        ),
        ([{"de": "Sie", "en": "She"}], {"srclang": "*all*"}, r"source language: \*all\*; name .*`text_key=`"),
        ([{"de": "Sie", "en": "She"}], {"srclang": "fr"}, r"languages: de, en; source language: fr; name"),
        ([{"de": "Sie"}], {}, r"languages: de; source language: de"),
        ([{"de": "Sie", "en": "She"}], {"target": "fr"}, r"no text in the language fr; the file has de, en"),
        ([{"de": "Sie", "en-US": "She", "en-GB": "She"}], {"target": "en"}, r"a\.tmx:3: a unit with en-us and en-gb"),
        (["<tu><tuv><seg>She</seg></tuv></tu>"], {}, r":3: a <tuv> without xml:lang"),
        (['<tu><tuv xml:lang="en"/></tu>'], {}, r":3: a <tuv> without <seg>"),
    ],
)
def test_a_target_that_is_not_clear_is_refused(
    tmp_path: Path, units: list[dict[str, str] | str], options: dict[str, str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read(tmp_path, *units, **options)


def test_a_memory_without_units(tmp_path: Path) -> None:
    assert read(tmp_path).units == () and read(tmp_path, target="en").units == ()
