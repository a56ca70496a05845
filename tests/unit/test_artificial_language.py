"""The artificial languages: a sentence alone decides nothing, and the suites read their sets."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from pronmetric.lab.suites import consistency, contrapro
from pronmetric.lab.suites.contrastive import Reading
from tests.tools import artificial_language as language


@pytest.fixture(scope="module", params=[language.EASY, language.HARD], ids=["easy", "hard"])
def of(request: pytest.FixtureRequest) -> language.Language:
    return request.param


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, of: language.Language) -> Path:
    made = tmp_path_factory.mktemp("language")
    language.write(made, of=of, documents=50, size=4)
    return made


def test_a_sentence_alone_has_each_answer_equally_often(folder: Path) -> None:
    pronouns = contrapro.read(folder / language.PRONOUNS, Reading(str(folder / language.DOCUMENTS), 3))
    groups = [consistency.read(folder / name, Reading(context=3)) for name in (language.POLITENESS, language.ELLIPSIS)]
    for items, answers, count in ((pronouns, 3, 36), (groups[0], 2, 24), (groups[1], 3, 12)):
        assert len(items) == count and {len(item.candidates) for item in items} == {answers}
        found = Counter((item.candidates[item.right].source, item.candidates[item.right].target) for item in items)
        alone = Counter(source for source, _ in found.elements())
        by_source: dict[str, set[int]] = {}
        for (source, _), number in found.items():
            by_source.setdefault(source, set()).add(number)
        assert all(number % answers == 0 for number in alone.values())
        assert Counter({source: len(numbers) for source, numbers in by_source.items()}).keys() == alone.keys()


def test_what_decides_is_at_its_distance(folder: Path) -> None:
    nouns = {f"the {source}": number % 3 for number, (source, _) in enumerate(language.WORDS.nouns)}
    for item in contrapro.read(folder / language.PRONOUNS, Reading(str(folder / language.DOCUMENTS), 3)):
        right = item.candidates[item.right]
        distance = int(item.groups["distance"])
        starts = [" ".join(text.split()[:2]) for text in right.source_context]
        assert [k for k, start in enumerate(starts) if start in nouns] == [3 - distance]
        assert right.target.split()[0] == language.GENDERS[nouns[starts[3 - distance]]]
    for item in consistency.read(folder / language.POLITENESS, Reading(context=3)):
        right = item.candidates[item.right]
        before = right.target_context[3 - int(item.groups["distance"])]
        assert right.target.split()[0] == before.split()[0] in language.POLITE


def test_a_corpus_is_the_same_for_the_same_seed(folder: Path, of: language.Language, tmp_path: Path) -> None:
    language.write(tmp_path, of=of, documents=50, size=4)
    for name in (language.SOURCE, language.TARGET, language.PRONOUNS, language.ELLIPSIS):
        assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()
    lines = [(folder / name).read_text().splitlines() for name in (language.SOURCE, language.TARGET, language.DOCIDS)]
    assert [len(one) for one in lines] == [200, 200, 200]
    assert all(
        (" it " in f" {source}") == (target.split()[0] in language.GENDERS)
        for source, target, _ in zip(*lines, strict=True)
    )


def test_objects_of_the_hard_language_have_another_gender_and_decide_nothing(tmp_path: Path) -> None:
    language.write(tmp_path, of=language.HARD, documents=200, size=20)
    gender = {source: number % 3 for number, (source, _) in enumerate(language.WORDS.nouns)}
    items = contrapro.read(tmp_path / language.PRONOUNS, Reading(str(tmp_path / language.DOCUMENTS), 3))
    with_object = 0
    for item in items:
        right = item.candidates[item.right]
        (nouns,) = [found for text in right.source_context if (found := [w for w in text.split() if w in gender])]
        assert language.GENDERS[gender[nouns[0]]] == right.target.split()[0]
        assert all(gender[other] != gender[nouns[0]] for other in nouns[1:])
        with_object += len(nouns) == 2
    assert 0.3 < with_object / len(items) < 0.7
    # the training text: about one pronoun in fifteen is not that of the last subject, two thirds of one in ten
    last, right, wrong = {}, 0, 0
    lines = [(tmp_path / name).read_text().splitlines() for name in (language.SOURCE, language.TARGET, language.DOCIDS)]
    for source, target, document in zip(*lines, strict=True):
        if source.startswith("it "):
            is_right = target.split()[0] == language.GENDERS[gender[last[document]]]
            right, wrong = right + is_right, wrong + (not is_right)
        elif source.startswith("the "):
            last[document] = source.split()[1]
    assert 0.02 < wrong / (right + wrong) < 0.13
