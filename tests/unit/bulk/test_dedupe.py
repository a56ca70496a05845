"""The steps of --dedupe over files, with a scorer that counts its calls; no Ray and no model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from pronmetric.bulk import dedupe, parts, storage
from pronmetric.errors import InputError
from pronmetric.scoring.score import Counts, Evidence, PronounScore, SegmentScore, Unmatched
from pronmetric.text.context import Source, Text
from pronmetric.text.words import Word

A, B, C = Text("", "It is."), Text("Before.", "It is."), Text("", "No pronoun.", Source("Keins.", ("Davor.",)))
PRONOUN = PronounScore("It", 0, 2, 0.1 + 0.2, 0.1 + 0.2, Evidence(-0.5, "es", 1, 3))
SCORES = {
    A: SegmentScore(0.1 + 0.2, (PRONOUN,), -3.5, 2, Unmatched((Word("sie", 0, 3),), ())),
    B: SegmentScore(7.0, (PronounScore("It", 0, 2, 7.0, None),), None, 2),
    C: SegmentScore(None, (), None, 2),
}
SHARDS = [[A, B, A], [B, C], []]


@pytest.mark.parametrize("buckets", [1, 4])
def test_each_distinct_text_is_scored_once(tmp_path: Path, buckets: int) -> None:
    folder, scored = storage.place(str(tmp_path)), []

    def stream(texts: Iterable[Text], counts: Counts) -> Iterator[SegmentScore]:
        for text in texts:
            scored.append(text)
            counts.encoded += 1
            yield SCORES[text]

    for number, texts in enumerate(SHARDS):
        dedupe.write_texts(dedupe.texts_file(folder, number), texts, buckets=buckets)
    assert parts.finished(folder, dedupe.TEXTS) == {0, 1, 2}
    for bucket in range(buckets):
        dedupe.score_bucket(folder, bucket, shards=len(SHARDS), stream=stream)
    assert sorted(scored) == sorted([A, B, C]) and dedupe.counts(folder).encoded == 3
    for number, texts in enumerate(SHARDS):
        assert list(dedupe.look_up(folder, number, buckets=buckets)(texts)) == [SCORES[text] for text in texts]
    with pytest.raises(InputError, match="dedupe: lacks texts of this run; delete it and run again"):
        list(dedupe.look_up(folder, 2, buckets=buckets)([A]))


def test_the_hash_depends_on_all_that_the_score_depends_on() -> None:
    texts = [A, B, C, C._replace(source=None), C._replace(source=Source("Keins.")), Text("It is.", "")]
    assert len({dedupe.key(text) for text in texts}) == len(texts)
    assert dedupe.key(Text("", "It is.")) == dedupe.key(A)
