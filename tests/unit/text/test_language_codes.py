"""Codes of languages: one table for all readers, and each place that takes a code."""

from __future__ import annotations

from pathlib import Path

import pytest

from data_prep.people import sets
from pronmetric.alignment.counts import files
from pronmetric.cli.flags import TextFlags
from pronmetric.errors import PronmetricError
from pronmetric.lab.human import esa
from pronmetric.pronouns.languages import language
from pronmetric.text import language_codes
from pronmetric.text.language_codes import bare, pair

WMT26 = (
    "eng_Latn ces_Latn deu_Latn ukr_Cyrl vie_Latn jpn_Jpan hye_Armn bel_Cyrl kaz_Cyrl rus_Cyrl arz_Arab zho_Hans "
    "zho_Hant_TW ekk_Latn isl_Latn ind_Latn kor_Hang lij_Latn lld_Latn sme_Latn tha_Thai"
).split()
CODES = "en cs de uk vi ja hy be kk ru ar zh zh et is id ko lij lld se th".split()


@pytest.mark.parametrize(("code", "two"), list(zip(WMT26, CODES, strict=True)))
def test_the_codes_of_wmt26(code: str, two: str) -> None:
    assert bare(code) == bare(code.replace("_", "-")) == bare(two) == two


def test_each_code_has_one_language() -> None:
    entries = [code for entry in language_codes._THREE.split() for code in entry.replace(":", ",").split(",")]
    assert len(entries) == len(set(entries))


def test_other_forms_of_pairs() -> None:
    assert pair("eng_Latn---zho_Hant_TW") == ("en", "zh") and pair("en-sr_Cyrl_RS") == ("en", "sr")
    assert pair("cs2en") == ("cs", "en") and pair("news") is None and pair("a-b") is None


def test_places_that_take_a_code() -> None:
    assert language("deu_Latn") == language("de") and language("eng").code == "en"
    assert files.of_language("deu").language == "de"
    assert esa.bare("ces_Latn---deu_Latn") == "cs-de"
    assert sets.source_of(Path("mqm_ces_Latn-eng_Latn.tsv"), "en") == "cs"
    assert sets.source_of(Path("mqm_newstest2020_zhen.tsv"), "en") == "zh"
    TextFlags(dataset="wmt26:eng_Latn-deu_Latn", wmt_dir="x")
    with pytest.raises(PronmetricError, match="no table of pronouns for 'xyz'"):
        language("xyz")
