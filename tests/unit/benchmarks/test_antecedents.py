"""Attention against annotated antecedents, on documents of our own and attentions whose hits are known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.checkpoint import antecedents
from benchmarks.checkpoint.antecedents import ATTENTION, CHANCE, HELD_OUT, NEAREST, TRAINED
from data_prep.coreference.antecedents import ANTECEDENT, EARLIER, openings
from data_prep.coreference.conll import Annotated, Mention
from pronmetric.errors import PronmetricError
from pronmetric.metric import PronounAttention
from pronmetric.pronouns.finder import Occurrence, find
from pronmetric.scoring.score import PronounScore
from pronmetric.text.context import Text
from pronmetric.text.words import words

TOKENS = "The cat of Ann slept . It rained . She fed it , and they left . Vets came , who had no food with them ."
MENTIONS = (
    Mention(0, 4, "cat"),
    Mention(3, 4, "ann"),
    Mention(9, 10, "ann"),  # She
    Mention(11, 12, "cat"),  # it
    Mention(14, 15, "both"),  # they: its first mention
    Mention(17, 18, "vets"),
    Mention(20, 21, "vets"),  # who
    Mention(22, 24, "food"),
    Mention(25, 26, "vets"),  # them
)
DOCUMENT = Annotated("OWN_news_cat", tuple(TOKENS.split()), MENTIONS)


def scored(found: Occurrence) -> PronounScore:
    return PronounScore(found.text, found.start, found.end, 0.5, 0.5)


def looking(choose: Callable[[list[str], int], dict[int, float]]) -> antecedents.Attend:
    """An attention that gives words the weights of `choose(words, pronoun)`, all others a little."""

    def attend(texts: Sequence[Text]) -> Iterator[list[PronounAttention]]:
        for context, text, *_ in texts:
            shown = [word.text for part in (context, text) for word in words(part)]
            looks = []
            for found in find(text):
                weights = np.full(len(shown), 1e-6, np.float32)
                for word, weight in choose(shown, len(words(context)) + found.word).items():
                    weights[word] = weight
                looks.append(PronounAttention(scored(found), weights))
            yield looks

    return attend


def measured(attend: antecedents.Attend, *documents: Annotated) -> dict[str, Any]:
    return antecedents.measure(attend, {HELD_OUT: documents, TRAINED: []})


def hits(figures: dict[str, Any], kind: str, form: str) -> dict[str, list[float]]:
    found = figures["by_form"][form][kind]
    return {m: [found[m][f"hit@{k}"].value for k in (1, 3)] for m in (ATTENTION, NEAREST, CHANCE)}


def test_what_counts_and_what_is_left_out() -> None:
    figures = measured(looking(lambda shown, pronoun: {}), DOCUMENT)
    whole = figures["groups"][HELD_OUT]
    assert whole["pronouns"] == 5
    assert whole["outcomes"] == {"measured": 3, "no entity": 1, "no antecedent": 1, "out of reach": 0}
    assert whole[ANTECEDENT]["pronouns"] == whole[EARLIER]["pronouns"] == 3
    assert figures["by_form"]["they"]["outcomes"]["no antecedent"] == 1
    assert figures["documents"] == {HELD_OUT: 1, TRAINED: 0}


def test_hits_of_attention_of_the_nearest_noun_and_of_chance() -> None:
    def choose(shown: list[str], pronoun: int) -> dict[int, float]:
        """Itself most, then a full stop; then "Ann" for "it", since "The cat of Ann" is meant; else the first word."""
        word = shown.index("Ann") if shown[pronoun] == "it" else 0
        return {pronoun: 0.5, shown.index("."): 0.3, word: 0.1}

    figures = measured(looking(choose), DOCUMENT)
    # Words before it all and with it: The cat of Ann slept It rained She fed it and they left
    found = hits(figures, ANTECEDENT, "it")
    assert found == {ATTENTION: [1, 1], NEAREST: [1, 1], CHANCE: pytest.approx([4 / 12, 1 - 56 / 220])}
    found = hits(figures, ANTECEDENT, "she")
    assert found == {ATTENTION: [0, 0], NEAREST: [1, 1], CHANCE: pytest.approx([1 / 12, 3 / 12])}
    # "them": the nearest noun is "food", then "Vets"; who is no antecedent, but an earlier mention
    assert hits(figures, ANTECEDENT, "them")[NEAREST] == [0, 1]
    assert hits(figures, EARLIER, "them")[NEAREST] == [0, 1]
    assert hits(figures, ANTECEDENT, "them")[CHANCE][0] == pytest.approx(1 / 20)
    assert hits(figures, EARLIER, "them")[CHANCE][0] == pytest.approx(2 / 20)
    gain = figures["groups"][HELD_OUT][ANTECEDENT]["gain"]
    assert gain["hit@1"].value == pytest.approx(1 / 3 - 2 / 3) and gain["hit@1"].low is None


def test_words_that_are_cut_are_not_shown() -> None:
    def cut(shown: list[str], pronoun: int) -> dict[int, float]:
        first = shown.index("It") if "It" in shown else 0
        return {word: 0.0 for word in range(first)} | {pronoun: 0.5}

    outcomes = measured(looking(cut), DOCUMENT)["groups"][HELD_OUT]["outcomes"]
    assert outcomes == {"measured": 1, "no entity": 1, "no antecedent": 1, "out of reach": 2}


def test_a_mention_that_goes_on_past_the_pronoun_counts_up_to_it() -> None:
    document = Annotated("x", ("The", "man", "saw", "his", "hat"), (Mention(0, 5, "man"), Mention(3, 4, "man")))
    (place,) = antecedents.places(document)
    target = place.pronouns[len("The man saw ")].targets[ANTECEDENT]
    assert target.words.tolist() == [True, True, True, False, False] and target.nearest == ()


def test_a_head_without_attention_is_refused() -> None:
    def blind(texts: Sequence[Text]) -> Iterator[list[PronounAttention]]:
        yield from ([PronounAttention(scored(p), None) for p in find(text.text)] for text in texts)

    with pytest.raises(PronmetricError, match="no attention"):
        measured(blind, DOCUMENT)


def test_held_out_is_what_no_passage_of_training_begins_in() -> None:
    passage = "Ann slept. “It rained”, she said, and they left the vets without food."
    document = Annotated("GUM_a", tuple(f"Well . {passage}".split()), ())
    other = Annotated("GENTLE_b", tuple("Well . Ann slept .".split()), ())
    known = openings([passage, "Quite another passage, which is long enough to tell.", "Well. Ann slept."])
    assert len(known) == 2
    groups = antecedents.group_documents([document, other], known)
    assert groups == {HELD_OUT: [other], f"{HELD_OUT}, GENTLE": [other], TRAINED: [document]}
    with pytest.raises(PronmetricError, match="nothing is held out"):
        antecedents.group_documents([document], known)


def test_another_prepared_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text("{}")
    with pytest.raises(PronmetricError, match=r"manifest\.json: not the folder .* hash 12345678"):
        antecedents.check_data({"training": {"data": {"manifest": "12345678"}}}, tmp_path)
