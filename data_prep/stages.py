"""The pairs of each test set, stored until their inputs or settings change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from data_prep import manifest
from data_prep.noise import noisy_references
from data_prep.pairs import system_pairs
from data_prep.settings import STAGES, Reporter, Settings
from data_prep.wmt import discovery
from data_prep.wmt.testset import TestSet
from pronmetric.alignment.agreement import AgreementAligner
from pronmetric.alignment.aligner import TokenPair
from pronmetric.data import arrow
from pronmetric.pronouns.languages import Language
from pronmetric.schema import Pair
from pronmetric.text import strict_json
from pronmetric.text.words import lower_words


class Stages:
    """Reads, aligns and compares one test set after another; results are stored in OUT/.stages and reused.

    A file is named by a hash of all inputs, the relevant settings and the code, so that a stale one is never reused.
    """

    def __init__(
        self,
        settings: Settings,
        inputs: Mapping[str, str],
        sample: Sequence[tuple[str, str]],
        reporter: Reporter,
    ) -> None:
        self._settings = settings
        self._folder = settings.folder / STAGES
        self._folder.mkdir(parents=True, exist_ok=True)
        self._used: set[str] = set()
        target = settings.language.to_record() or settings.data.target
        align = [settings.align.lines, settings.seed, target]
        self._key = manifest.key([manifest.code(), dict(inputs), align])
        self._aligner = self._trained(sample, reporter)

    def _trained(self, sample: Sequence[tuple[str, str]], reporter: Reporter) -> AgreementAligner:
        path = self._folder / f"aligner-{self._key}.npz"
        self._used.add(path.name)
        if path.exists():
            reporter.note("reusing the aligner trained by an earlier run")
            return AgreementAligner.load(path)
        reporter.note(f"training the aligner on {len(sample):,} lines")
        aligner = AgreementAligner()
        aligner.train(_tokens(sample, self._settings.language))
        aligner.save(path)
        return aligner

    def prepare_pairs(self, testset: TestSet) -> tuple[TestSet, Path]:
        """The test set with the file of its pairs, made if absent; its counts are in a JSON file next to it."""
        named = [self._key, testset.id, self._settings.inventory, self._settings.context.size]
        path = self._folder / f"{testset.id}-{manifest.key(named)}.arrow"
        counts_path = path.with_suffix(".json")
        self._used |= {path.name, counts_path.name}
        if not counts_path.exists():
            new = path.with_name(f"new-{path.name}")
            counts: Counter[tuple[str, ...]] = Counter()
            arrow.write_rows(new, self._pairs(testset, counts), arrow.pair_features())
            new.replace(path)
            new_counts = new.with_suffix(".json")
            new_counts.write_text(strict_json.dump(sorted(counts.items())), encoding="utf-8")
            new_counts.replace(counts_path)
        return testset, path

    def _pairs(self, testset: TestSet, counts: Counter[tuple[str, ...]]) -> Iterator[Pair]:
        pairs = system_pairs(
            discovery.read(testset),
            self._aligner.align_all,
            forms=frozenset(self._settings.forms),
            context_size=self._settings.context.size,
            counts=counts,
            language=self._settings.language,
        )
        for pair in pairs:
            counts.update(("mismatches", mismatch.kind) for mismatch in pair.mismatches)
            yield pair
            yield from noisy_references(pair, self._settings.language)

    def remove_unused(self) -> None:
        """Remove files that this run does not use."""
        for path in self._folder.iterdir():
            if path.name not in self._used:
                path.unlink()


def _tokens(lines: Sequence[tuple[str, str]], language: Language) -> list[TokenPair]:
    return [(lower_words(language.words(ref)), lower_words(language.words(hyp))) for ref, hyp in lines]
