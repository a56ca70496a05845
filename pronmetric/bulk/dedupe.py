"""Texts that occur in several shards are scored once: a shuffle by hash, through Arrow files in the output folder.

Step "spread": each shard writes its distinct texts, in buckets by their hash. Step "bucket": each bucket scores its
distinct texts, and writes for each shard the scores of its texts. Step "collect": each shard looks its scores up. A
step is finished for a shard or bucket if its file is there. A bucket has about `BUCKET` rows, whatever the
number of rows, so that memory does not grow with it.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from pronmetric.bulk import parts
from pronmetric.bulk.shards import WAITING
from pronmetric.bulk.statistics import merge_counts
from pronmetric.bulk.storage import Place
from pronmetric.errors import InputError
from pronmetric.scoring.score import Counts, Evidence, PronounScore, SegmentScore, Unmatched
from pronmetric.text.context import Source, Text
from pronmetric.text.words import Word

if TYPE_CHECKING:
    import pyarrow

TEXTS, SCORED = "texts", "scored"
_COUNTS = b"pronmetric.counts"


def key(text: Text) -> bytes:
    """The hash of everything that the score of a text depends on."""
    return blake2b(json.dumps(text).encode(), digest_size=16).digest()


def texts_file(folder: Place, shard: int) -> Place:
    """The texts of a shard."""
    return parts.file(folder, TEXTS, shard)


def scores_file(folder: Place, bucket: int) -> Place:
    """The scores of a bucket."""
    return parts.file(folder, SCORED, bucket)


def write_texts(target: Place, texts: Iterable[Text], *, buckets: int) -> None:
    """Write the distinct texts of a shard: one record batch for each bucket."""
    kept: list[dict[bytes, Text]] = [{} for _ in range(buckets)]
    for text in texts:
        found = key(text)
        kept[parts.bucket_of(found, buckets)].setdefault(found, text)
    parts.write(target, _texts_schema(), ([_text_row(k, text) for k, text in part.items()] for part in kept))


def score_bucket(
    folder: Place, bucket: int, *, shards: int, stream: Callable[[Iterable[Text], Counts], Iterator[SegmentScore]]
) -> None:
    """Score the distinct texts of a bucket, and write one record batch for each shard, with the scores of its texts."""
    held = parts.finished(folder, TEXTS)
    keys: list[list[bytes]] = []
    scores: dict[bytes, str] = {}
    new: deque[bytes] = deque()
    counts = Counts()

    def texts() -> Iterator[Text]:
        for shard in range(shards):
            rows = parts.read(texts_file(folder, shard), bucket) if shard in held else []
            keys.append([row["key"] for row in rows])
            for row in rows:
                if row["key"] not in scores:
                    scores[row["key"]] = ""
                    new.append(row["key"])
                    yield _text(row)

    for segment in stream(texts(), counts):
        scores[new.popleft()] = json.dumps(segment, allow_nan=False)
    schema = _scores_schema().with_metadata({_COUNTS: json.dumps(asdict(counts))})
    found = ([{"key": k, "segment": scores[k]} for k in part] for part in keys)
    parts.write(scores_file(folder, bucket), schema, found)


def look_up(folder: Place, shard: int, *, buckets: int) -> Callable[[Iterable[Text]], Iterator[SegmentScore]]:
    """A function that gives the scores of a shard's texts.

    Raises:
        InputError: by that function, at a text without a score.
    """
    scores: dict[bytes, str] = {}
    for bucket in range(buckets):
        scores.update((row["key"], row["segment"]) for row in parts.read(scores_file(folder, bucket), shard))

    def stream(texts: Iterable[Text]) -> Iterator[SegmentScore]:
        for text in texts:
            found = scores.get(key(text))
            if found is None:
                raise InputError("lacks texts of this run; delete it and run again", file=(folder / WAITING).url)
            yield _segment(json.loads(found))

    return stream


def counts(folder: Place) -> Counts:
    """What was encoded in all buckets."""
    merged = Counts()
    for bucket in sorted(parts.finished(folder, SCORED)):
        stored = parts.metadata(scores_file(folder, bucket))[_COUNTS]
        merged = merge_counts(merged, Counts(**json.loads(stored)))
    return merged


def _texts_schema() -> pyarrow.Schema:
    import pyarrow as pa

    strings = [(name, pa.string()) for name in ("context", "text", "source")]
    return pa.schema([("key", pa.binary(16)), *strings, ("before", pa.list_(pa.string()))])


def _scores_schema() -> pyarrow.Schema:
    import pyarrow as pa

    return pa.schema([("key", pa.binary(16)), ("segment", pa.string())])


def _text_row(found: bytes, text: Text) -> dict[str, Any]:
    source, before = (None, None) if text.source is None else text.source
    return {"key": found, "context": text.context, "text": text.text, "source": source, "before": before}


def _text(row: Mapping[str, Any]) -> Text:
    source = None if row["source"] is None else Source(row["source"], tuple(row["before"]))
    return Text(row["context"], row["text"], source)


def _segment(found: Sequence[Any]) -> SegmentScore:
    """A score from its JSON."""
    score, pronouns, preference, words, unmatched, _ = found  # the words attended to are not asked for
    each = (PronounScore._make([*p, None if e is None else Evidence(*e)]) for *p, e in pronouns)
    without = None if unmatched is None else Unmatched(*(tuple(Word(*w) for w in side) for side in unmatched))
    return SegmentScore(score, tuple(each), preference, words, without)
