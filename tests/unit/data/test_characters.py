from __future__ import annotations

import numpy as np

from pronmetric.data import characters


def test_a_word_is_its_bytes_plus_one_between_the_word_markers() -> None:
    # the letters of "second" are bytes 115 101 99 111 110 100
    assert characters.ids(["second"])[0].tolist() == [259, 116, 102, 100, 112, 111, 101, 260] + [261] * 42
    assert characters.ids(["é"])[0].tolist() == [259, 0xC3 + 1, 0xA9 + 1, 260] + [261] * 46
    assert characters.ids([""])[0].tolist() == [259, 260] + [261] * 48


def test_sentence_markers() -> None:
    start, end = characters.ids(["<S>", "</S>"]).tolist()
    assert start == [259, 257, 260] + [261] * 47
    assert end == [259, 258, 260] + [261] * 47
    assert characters.ids(["<s>"])[0, 1] == ord("<") + 1


def test_of_a_long_word_48_bytes_are_read_and_it_is_counted() -> None:
    row = characters.ids(["x" * 47 + "yz"])[0].tolist()
    assert row == [259, *[ord("x") + 1] * 47, ord("y") + 1, 260]
    assert characters.ids(["é" * 24 + "a"]).tolist() == characters.ids(["é" * 24]).tolist()
    assert characters.cut(["x" * 48, "x" * 49, "é" * 24, "é" * 25, ""]) == 2


def test_no_words_and_no_bytes() -> None:
    ids = characters.ids([])
    assert ids.shape == (0, 50) and ids.dtype == np.int64
    assert characters.ids(["a\ud800"]).tolist() == characters.ids(["a"]).tolist()
