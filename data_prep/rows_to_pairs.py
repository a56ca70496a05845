"""`bulk prepare`: rows of a reference, a translation and their contexts to pairs."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from data_prep import manifest
from data_prep.filters import GRAMMAR, NONE, Filter, agreement_filter, filter_pair
from data_prep.noise import noisy_references
from data_prep.pairs import Aligner, system_pairs
from pronmetric.alignment.aligner import TokenPair
from pronmetric.data import arrow
from pronmetric.pronouns.languages import Language, language
from pronmetric.schema import Document, Pair, Segment
from pronmetric.text import records
from pronmetric.text.entry import Entry
from pronmetric.text.words import lower_words

if TYPE_CHECKING:
    import pyarrow


REF, SYSTEM = "ref", "system"
"""The names of a reference and of a system that have none."""
_CONFUSION = "confusion"
_BETWEEN = "\t"
_MOST_SEG = 2**31 - 1


def joined(*name: str) -> str:
    """The name of a count, by stage, what and why, as one key of the JSON of a shard."""
    return _BETWEEN.join(name)


class PairRow(NamedTuple):
    """A row. contexts: the previous sentences, oldest first; the other fields are those of `Pair`."""

    id: str
    testset: str
    lp: str
    doc: str
    seg: int
    ref: str
    system: str
    better: str
    worse: str
    context: tuple[str, ...]
    system_context: tuple[str, ...]


@dataclass(frozen=True)
class RowPairs:
    """Makes pairs of rows, with the settings of `prepare`.

    target: language of the texts. context_size: sentences of a context. agreement, min_agreement: see
    `agreement_filter`.
    """

    target: str
    inventory: str
    context_size: int
    agreement: str
    min_agreement: float

    @cached_property
    def _language(self) -> Language:
        return language(self.target)

    @cached_property
    def _forms(self) -> frozenset[str]:
        return frozenset(self._language.inventory(self.inventory))

    @cached_property
    def _keep(self) -> Filter:
        return agreement_filter(self.agreement, min_agreement=self.min_agreement, language=self._language)

    def __getstate__(self) -> dict[str, Any]:
        """The settings alone: a worker reads tables itself."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def check(self) -> None:
        """Raise InputError for a language, inventory or filter that there is not."""
        _ = self._forms, self._keep

    def signed(self) -> dict[str, object]:
        """The settings as fields of a signature; files by their hash."""
        files = {name: Path(value) for name, value in (("target", self.target), ("agreement", self.agreement))}
        hashes = {name: manifest.sha256(path)[:16] for name, path in files.items() if path.is_file()}
        named = {"target": self.target, "inventory": self.inventory, "context_size": str(self.context_size)}
        named["agreement"] = self.agreement
        if self.agreement not in (GRAMMAR, NONE):
            named["min_agreement"] = str(self.min_agreement)
        return {**named, **hashes}

    def row(self, value: Any, *, file: str, line: int) -> PairRow:
        """The row of a record; `line` is its number in the file, from 1, and its `seg` if it has none.

        Raises:
            InputError: a key is missing, or a value has another type or cannot be scored.
        """
        entry = Entry(value, file=file, line=line, expected='an object {"id": ..., "reference": ..., "text": ...}')
        better, worse = entry.text("reference"), entry.text("text")
        names = {name: entry.name_of(name) for name in ("testset", "lp", "doc", "ref", "system")}
        identity = records.as_text(entry, "id")
        if identity is None:
            entry.fail('the key "id" is missing or null; each row needs one')
        return PairRow(
            id=identity,
            testset=names["testset"] or "",
            lp=names["lp"] or "",
            doc=names["doc"] or "",
            seg=line if entry.get("seg") is None else entry.whole("seg", least=0, most=_MOST_SEG),
            ref=names["ref"] or REF,
            system=names["system"] or SYSTEM,
            better=better,
            worse=worse,
            context=entry.sentences("context"),
            system_context=entry.sentences("system_context"),
        )

    @property
    def schema(self) -> pyarrow.Schema:
        """The columns of the pairs, those of `prepare`."""
        return arrow.pair_features().arrow_schema

    def tokens(self, row: PairRow) -> TokenPair | None:
        """The words of both texts, on which an alignment table is trained; None if one is empty, or both are equal."""
        if not row.better.strip() or not row.worse.strip() or row.better == row.worse:
            return None
        ref, hyp = (lower_words(self._language.words(text)) for text in (row.better, row.worse))
        return ref, hyp

    def pairs(self, rows: Iterable[PairRow], align: Aligner, counts: Counter[str]) -> Iterator[Pair]:
        """The pairs of rows that have a mismatch, each followed by its noisy references, without those filtered out.

        Repeated pairs are not dropped. At the end `counts` is updated as in `system_pairs`, and with the counts
        "mismatches" and "found" of each kind and "dropped", KIND, "agreement filter", by their names in `joined`.
        """
        tally: Counter[tuple[str, ...]] = Counter()
        waiting: deque[tuple[int, PairRow]] = deque()

        def documents() -> Iterator[Document]:
            for number, row in enumerate(rows):
                waiting.append((number, row))
                segment = Segment(number, None, {row.ref: row.better}, {row.system: row.worse})
                yield Document(row.testset, row.lp, row.doc, (segment,))

        found = system_pairs(
            documents(), align, forms=self._forms, context_size=0, counts=tally, language=self._language
        )
        for pair in found:
            while waiting[0][0] < pair.seg:
                waiting.popleft()
            made = self._placed(pair, waiting[0][1])
            tally.update(("mismatches", mismatch.kind) for mismatch in made.mismatches)
            for each in (made, *noisy_references(made, self._language)):
                tally["found", each.kind] += 1
                kept = filter_pair(each, self._keep)
                if kept is None:
                    tally["dropped", each.kind, "agreement filter"] += 1
                else:
                    yield kept
        counts.update({joined(*name): count for name, count in tally.items()})

    def _placed(self, pair: Pair, row: PairRow) -> Pair:
        return replace(
            pair,
            id=row.id,
            seg=row.seg,
            context=self._last(row.context),
            system_context=self._last(row.system_context),
        )

    def _last(self, sentences: tuple[str, ...]) -> tuple[str, ...]:
        last = sentences[-self.context_size :] if self.context_size else ()
        return tuple(text for text in last if text.strip())

    def key(self, pair: Pair) -> bytes:
        """The hash of what makes a pair a repetition of another: its kind and both texts."""
        return blake2b("\0".join((pair.kind, pair.better, pair.worse)).encode(), digest_size=16).digest()

    def keep(self, row: Mapping[str, Any], counts: Counter[str]) -> None:
        """Count a pair that is kept, a row of the schema, as `prepare` does."""
        kind = row["kind"]
        counts[joined("kept", kind)] += 1
        if kind == "system":
            wrong = [(each["ref_form"], each["hyp_form"]) for each in row["mismatches"] if each["kind"] == "pronoun"]
            counts[joined("kept", "system with a pronoun mismatch")] += bool(wrong)
            counts.update(joined(_CONFUSION, *forms) for forms in wrong)

    def drop(self, row: Mapping[str, Any], counts: Counter[str]) -> None:
        """Count a pair that an earlier row has too."""
        counts[joined("dropped", row["kind"], "repeated")] += 1

    def summary(self, counts: Mapping[str, int]) -> dict[str, Any]:
        """The counts and the confusions of a run, as the manifest of `prepare` and its confusion.json have them."""
        kept = (("kept", kind) for kind in ("system", "system with a pronoun mismatch", "noisy"))
        named = dict.fromkeys(kept, 0) | {tuple(name.split(_BETWEEN)): count for name, count in counts.items()}
        tree = manifest.nested(named)
        return {"confusion": tree.pop(_CONFUSION, {}), "counts": tree}

    @staticmethod
    def to_row(pair: Pair) -> dict[str, Any]:
        """A pair as a row of the schema."""
        return arrow.to_row(pair)
