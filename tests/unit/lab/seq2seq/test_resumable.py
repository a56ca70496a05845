from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from pronmetric.errors import InputError
from pronmetric.lab.seq2seq import resumable
from pronmetric.lab.seq2seq.resumable import ResumableScores

PAIRS = [(f"s{k}", f"t{k}") for k in range(7)]
SETTINGS = {"model": "m"}


def score(window: Sequence[tuple[str, str]]) -> list[float]:
    return [int(source[1:]) / 3 for source, _ in window]


def test_a_run_that_was_stopped_goes_on_and_gives_the_same_file(tmp_path: Path) -> None:
    whole = resumable.fill(ResumableScores(tmp_path / "whole", SETTINGS, window=3), PAIRS, score)
    assert whole == [k / 3 for k in range(7)]
    seen: list[int] = []

    def stops(window: Sequence[tuple[str, str]]) -> list[float]:
        if seen:
            raise KeyboardInterrupt
        seen.append(len(window))
        return score(window)

    with pytest.raises(KeyboardInterrupt):
        resumable.fill(ResumableScores(tmp_path / "s", SETTINGS, window=3), PAIRS, stops)
    assert not (tmp_path / "s").exists()
    again = ResumableScores(tmp_path / "s", SETTINGS, window=3)
    assert again.done == 3
    assert resumable.fill(again, PAIRS, score) == whole
    assert (tmp_path / "s").read_bytes() == (tmp_path / "whole").read_bytes()
    assert not (tmp_path / "s.partial").exists()


def test_half_a_window_is_scored_again(tmp_path: Path) -> None:
    first = ResumableScores(tmp_path / "s", SETTINGS, window=3)
    first.add([0.0, 1 / 3, 2 / 3])
    with open(first.partial, "a") as file:
        file.write("1.0\n1.33")  # killed while writing
    again = ResumableScores(tmp_path / "s", SETTINGS, window=3)
    assert again.done == 3
    assert resumable.fill(again, PAIRS, score) == [k / 3 for k in range(7)]


def test_scores_of_other_settings_are_not_continued(tmp_path: Path) -> None:
    ResumableScores(tmp_path / "s", SETTINGS, window=3)
    with pytest.raises(InputError, match=r"s.partial: an interrupted run with another model, set or settings"):
        ResumableScores(tmp_path / "s", {"model": "other"}, window=3)


def test_a_first_line_that_was_cut_off_begins_anew(tmp_path: Path) -> None:
    (tmp_path / "s.partial").write_text('{"mo')
    assert ResumableScores(tmp_path / "s", SETTINGS, window=3).done == 0


def test_texts_have_a_fingerprint_of_their_own() -> None:
    assert resumable.fingerprint([("ab", "c")]) != resumable.fingerprint([("a", "bc")])


def test_without_a_path_nothing_stays() -> None:
    with resumable.open_scores(None, SETTINGS, window=3) as file:
        assert resumable.fill(file, PAIRS, score)[-1] == 2.0
        place = file.path.parent
    assert not place.exists()
