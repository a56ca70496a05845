"""The flag `--also`: older scores of the same texts against their reference, in one table with the learned score."""

from __future__ import annotations

import argparse
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from typing import Any

from data_prep.pairs import lowered
from pronmetric import __version__
from pronmetric.alignment.agreement import AgreementAligner
from pronmetric.baselines import peers
from pronmetric.baselines.peers import Beside, Counts, Peer
from pronmetric.cli.exports import rounded
from pronmetric.cli.tables import percent, table
from pronmetric.errors import InputError
from pronmetric.eval.accuracy import Accuracy
from pronmetric.schema import Alignment
from pronmetric.scoring.score import SystemScore
from pronmetric.suites import pair_accuracy
from pronmetric.eval.decision import A, B
from pronmetric.suites.judged_pairs import JudgedPair
from pronmetric.suites.pair_accuracy import Contest

Line = tuple[str | None, str]
"""A reference (None or blank: there is none) and a text."""
ById = Mapping[str, tuple[float | None, float | None]]
OURS = "pronmetric"
_LEARNED = 20_000  # line pairs that the aligner learns from at most, spread evenly


def add(group: argparse._ActionsContainer) -> None:
    """The flag."""
    group.add_argument(
        "--also",
        type=argument,
        metavar="NAMES",
        help=f"older scores against a reference, beside the learned one: {','.join(peers.NAMES)}, or some of them",
    )


def argument(text: str) -> tuple[str, ...]:
    """The value of the flag: names of scores between commas."""
    names = tuple(dict.fromkeys(name.strip().lower() for name in text.split(",")))
    if unknown := [name for name in names if name not in peers.NAMES]:
        known = ", ".join(peers.NAMES)
        raise argparse.ArgumentTypeError(f"expected some of {known}, separated by commas; got {unknown[0]!r}")
    return names


class Also:
    """The chosen scores, and the aligner behind those that look at pronouns.

    The aligner learns from the very lines that are scored, so that the links of one system depend a little on the other
    systems; the signature names what it learned from.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.peers: tuple[Peer, ...] = tuple(map(peers.peer, names))
        self._aligner: AgreementAligner | None = None
        self._aligned_by = ""

    def learn(self, lines: Iterable[Line], *, number: int) -> None:
        """Prepare for these lines, of which there are `number`."""
        if not any(peer.needs_links for peer in self.peers):
            return
        digest, known = blake2b(digest_size=4), []
        for one in map(_beside, islice(lines, 0, None, -(-number // _LEARNED))):
            if one is not None and one.ref_words and one.words:
                known.append((lowered(one.ref_words), lowered(one.words)))
                digest.update(f"{one.reference}\n{one.text}\n".encode(errors="surrogatepass"))
        self._aligner = AgreementAligner()
        self._aligner.train(known)
        self._aligned_by = f"|aligner:agreement|learned:{len(known)}|lines:{digest.hexdigest()}|version:{__version__}"

    def counts(self, lines: Iterable[Line]) -> Iterator[tuple[Counts, ...] | None]:
        """What each score counts in each line, in order; None where there is no reference.

        `lines` is read some hundred lines ahead.
        """
        waiting: deque[Beside | None] = deque()

        def tokens() -> Iterator[tuple[list[str], list[str]]]:
            for one in map(_beside, lines):
                waiting.append(one)
                yield ([], []) if one is None else (lowered(one.ref_words), lowered(one.words))

        none = Alignment(())
        alignments = (none for _ in tokens()) if self._aligner is None else self._aligner.align_all(tokens())
        for alignment in alignments:
            one = waiting.popleft()
            yield None if one is None else self._counted(one._replace(links=alignment.links))

    def segment(self, counts: tuple[Counts, ...] | None) -> dict[str, float | None]:
        """Each score of one segment, by its name; None without a reference or without an instance."""
        if counts is None:
            return {peer.name: None for peer in self.peers}
        return {peer.name: peer.segment(its) for peer, its in zip(self.peers, counts, strict=True)}

    def signatures(self, *, segment: bool = False) -> dict[str, str]:
        """What each score is, of systems or of segments."""
        return {
            peer.name: (peer.segment_signature if segment else peer.signature)
            + (self._aligned_by if peer.needs_links else "")
            for peer in self.peers
        }

    def _counted(self, one: Beside) -> tuple[Counts, ...]:
        return tuple(peer.count(one) for peer in self.peers)


def _beside(line: Line) -> Beside | None:
    reference, text = line
    return peers.beside(reference, text) if reference and reference.strip() else None


class Systems:
    """The chosen scores of systems side by side, added up row by row; keeps no text."""

    def __init__(self, also: Also, systems: Sequence[str]) -> None:
        self._also = also
        self._names = systems
        self._totals: list[list[Counts | None]] = [[None] * len(also.peers) for _ in systems]
        self.without = 0
        """Rows without a reference, which are left out."""

    def rows(self, lines: Iterable[Line]) -> Iterator[list[dict[str, float | None]]]:
        """The scores of each system's segment, row by row; `lines` has a line for each system, then the next row's."""
        counts = self._also.counts(lines)
        while row := list(islice(counts, len(self._names))):
            self.without += row[0] is None
            for total, found in zip(self._totals, row, strict=True):
                if found is not None:
                    total[:] = map(peers.add, total, found)
            yield [self._also.segment(found) for found in row]

    def scores(self) -> list[dict[str, dict[str, Any]]]:
        """For each system its scores so far as JSON takes them, by their names."""
        return [
            {peer.name: _told(peer, counts) for peer, counts in zip(self._also.peers, total, strict=True)}
            for total in self._totals
        ]

    def origin(self) -> dict[str, dict[str, str]]:
        """What produced these scores, of systems and of segments."""
        return {"signatures": self._also.signatures(), "segment_signatures": self._also.signatures(segment=True)}

    def table(self, learned: Sequence[SystemScore]) -> str:
        """All scores of all systems, the number of instances behind each; the learned score comes first."""
        rows: list[list[object]] = []
        for name, own, scores in zip(self._names, learned, self.scores(), strict=True):
            cells = [(own.score, own.pronouns), *((its["score"], its["instances"]) for its in scores.values())]
            rows.append([name, *(f"{'-' if score is None else f'{score:.2f}'} ({number})" for score, number in cells)])
        return table(["", OURS, *(peer.name for peer in self._also.peers)], rows)

    def say(self, note: Callable[[str], object]) -> None:
        """What the numbers in brackets count, what is left out, and the signatures."""
        units: dict[str, list[str]] = {"pronouns": [OURS]}
        for peer in self._also.peers:
            units.setdefault(peer.unit, []).append(peer.name)
        note("in brackets: " + "; ".join(f"{unit} ({', '.join(names)})" for unit, names in units.items()))
        if self.without:
            note(f"left out of --also: {self.without} segments without a reference")
        for name, signature in self._also.signatures().items():
            note(f"signature of {name}: {signature}")


def _told(peer: Peer, counts: Counts | None) -> dict[str, Any]:
    if counts is None:
        return {"score": None, "instances": 0, "unit": peer.unit}
    of = dict(zip(peer.fields, counts, strict=True)) if peer.fields else {}
    score = rounded(peer.system(counts))
    return {"score": score, "instances": peer.instances(counts), "unit": peer.unit, **({"counts": of} if of else {})}


@dataclass(frozen=True, slots=True)
class OfPairs:
    """The chosen scores of both texts of each pair that has an answer and a reference which is neither of its texts.

    scores: by the score's name, then the pair's id. without, same: pairs left out, which have no reference, or whose
    reference is one of the texts and would be preferred by any score that compares with it. signatures: by name.
    """

    scores: Mapping[str, ById]
    without: frozenset[str]
    same: frozenset[str]
    signatures: Mapping[str, str]

    def contests(self, part: Sequence[JudgedPair], own: ById, *, seed: int) -> dict[str, Contest]:
        """The learned score (first) against each of these (second) on the pairs of this part; none without a pair."""
        held = [pair for pair in part if all(pair.id in scores for scores in self.scores.values())]
        if not held:
            return {}
        learned = [own[pair.id] for pair in held]
        return {
            name: pair_accuracy.contest(held, learned, [scores[pair.id] for pair in held], seed=seed)
            for name, scores in self.scores.items()
        }

    def origin(self) -> dict[str, Any]:
        """What produced these scores, and how many pairs are left out, as JSON takes it."""
        left_out = {"reference_is_a_text": len(self.same), "no_reference": len(self.without)}
        return {"signatures": dict(self.signatures), "left_out": left_out}

    def left_out(self, part: Sequence[JudgedPair]) -> str:
        """How many pairs of this part are left out, and why; "" where none is."""
        why = {"whose reference is one of the texts": self.same, "without a reference": self.without}
        counts = {reason: sum(pair.id in ids for pair in part) for reason, ids in why.items()}
        return ", ".join(f"{count} {reason}" for reason, count in counts.items() if count)

    def of(self, identity: str) -> dict[str, tuple[float | None, float | None] | None]:
        """The scores of one pair, None where it is left out."""
        return {name: scores.get(identity) for name, scores in self.scores.items()}


def of_pairs(names: Sequence[str], pairs: Iterable[JudgedPair], *, source: str) -> OfPairs:
    """Score both texts of the pairs against their references; `source` is named where no pair can be scored.

    Raises:
        InputError: no pair has a reference that is neither of its texts.
        MissingExtra: sacreBLEU is needed and not installed.
    """
    also = Also(names)
    decided = [pair for pair in pairs if pair_accuracy.answer(pair) in (A, B)]
    without = frozenset(pair.id for pair in decided if not (pair.reference or "").strip())
    same = frozenset(pair.id for pair in decided if pair.id not in without and _is_text(pair))
    held = [pair for pair in decided if pair.id not in without | same]
    if not held:
        raise InputError(
            f'--also holds both texts of a pair against its "reference", and no pair has one that is neither text '
            f'({len(without)} have none, {len(same)} have one of their texts); give the key "reference", another '
            "translation (a WMT test set or prepared folder: a second reference)",
            file=source,
        )
    lines = [(pair.reference, text) for pair in held for text in (pair.text_a, pair.text_b)]
    also.learn(lines, number=len(lines))
    segments = map(also.segment, also.counts(lines))
    found: dict[str, dict[str, tuple[float | None, float | None]]] = {name: {} for name in names}
    for pair, a, b in zip(held, segments, segments, strict=True):
        for name in names:
            found[name][pair.id] = a[name], b[name]
    return OfPairs(found, without, same, also.signatures(segment=True))


def _is_text(pair: JudgedPair) -> bool:
    reference = (pair.reference or "").strip()
    return reference in (pair.text_a.strip(), pair.text_b.strip())


def shown(contests: Mapping[str, Contest], *, own: str, left_out: str) -> str:
    """The table of one part: each score's accuracy on the same pairs, and how much better the learned one is."""
    title = "against a reference that is neither text" + (f"; left out: {left_out}" if left_out else "")
    if not contests:
        return f"{title}; no pair is left"
    learned = next(iter(contests.values())).first
    rows: list[list[object]] = [[own, *_cells(learned), "-"]]
    rows += [[name, *_cells(c.second), percent(c.difference, signed=True)] for name, c in contests.items()]
    return f"{title}\n" + table(["", "pairs", "accuracy", "equal", "null", "metric - it"], rows)


def _cells(found: Accuracy) -> list[object]:
    return [found.pairs, percent(found), found.equal, found.null]
