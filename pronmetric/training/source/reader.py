"""Training of a reader of sources for a checkpoint: its figures, and how its logits join those of the checkpoint.

A teacher, if there is one, reads the target language alone: on texts with a source a pronoun weighs the more, the more
the teacher is wrong about it. Its probabilities of passages may be learned too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.checkpoint import files, locate
from pronmetric.checkpoint.files import Checkpoint
from pronmetric.checkpoint.model_config import SourceReader
from pronmetric.data.pieces import Pieces
from pronmetric.errors import InputError
from pronmetric.nn.scorer import PronounScorer
from pronmetric.output.targets import AtomicFile
from pronmetric.training import teacher as teachers
from pronmetric.training.after import people_decision, surplus_fit
from pronmetric.training.after.calibrate import natural_rate
from pronmetric.training.card import reader as reader_card
from pronmetric.training.card import recipe
from pronmetric.training.card.reader import INITIAL
from pronmetric.training.examples.prepared import Folder, check_language
from pronmetric.training.fit import EXPORT, FitResult, batches_of_step
from pronmetric.training.module import Length
from pronmetric.training.settings import Train
from pronmetric.training.source import mixing
from pronmetric.training.source.data import SourceData
from pronmetric.training.source.mixing import SourceMixing
from pronmetric.training.source.module import GOAL, ReaderModule, TrainingInputs, gap_head, make_collator, open_initial
from pronmetric.training.start import DTYPE, Result, describe, load_teacher, training_record
from pronmetric.version import __version__


class ReaderTraining:
    """A run that trains a reader for the checkpoint `source.model`; see `pronmetric.training.run.Kind`.

    `out`/checkpoint is a copy of that checkpoint with the reader, and scores texts without a source exactly as it does.
    """

    goal = GOAL

    def __init__(self, settings: Train, *, required_sources: Collection[str], overrides: Sequence[str] | None) -> None:
        assert settings.source is not None and settings.source.model is not None
        self.settings, self.overrides, self.required_sources = settings, overrides, required_sources
        self.options, self.checkpoint = settings.source, Path(settings.source.model)
        self.folder = Folder.of(Path(settings.data.folder))
        self.rate = natural_rate(self.folder.manifest)
        prepared = self.folder.prepared
        check_language(settings, prepared.language)
        self.gaps = gap_head(self.options, [prepared], dropout=settings.pronoun_head.dropout)
        # a checkpoint that does not fit is refused before the run
        teachers.load(self.checkpoint, forms=prepared.forms, language=prepared.language, name="source.model")
        self.teacher = load_teacher(settings, prepared)

    def open(self) -> SourceData:
        """See `Kind`."""
        self.opened: TrainingInputs[SourceData] = open_initial(self.settings, self._open_data, gaps=self.gaps)
        return self.opened.data

    def _open_data(self, pieces: Pieces, max_pieces: int) -> SourceData:
        return SourceData(
            self.settings,
            make_collator(self.options, pieces, max_pieces, self.folder.prepared),
            prepared=self.folder.prepared,
            required_sources=self.required_sources,
            teacher=None if self.teacher is None else self.teacher.collator,
        )

    def module(self, length: Length, note: Callable[[str], None]) -> ReaderModule:
        """See `Kind`."""
        self._steps = length.steps
        return self.opened.module(self.settings, length, self.teacher, note)

    def export(self, best: FitResult) -> Result:
        """See `Kind`."""
        settings, opened, out = self.settings, self.opened, Path(self.settings.out) / EXPORT
        initial, data, scorer, english = opened.initial, opened.data, opened.finish(settings, best), self._english(best)
        mixed = mixing.mix(
            english,
            scorer,
            data.collator,
            data.development,
            self.folder.path,
            languages=data.languages,
            rate=self.rate,
            pairs=settings.data.choose,
            dtype=DTYPE[settings.trainer.precision],
            progress=settings.trainer.progress,
        )
        figures = {**best.figures, **mixed.figures}
        described = describe(settings, opened.start, data.collator, self.folder.prepared, self.gaps)
        source = SourceReader(
            context=self.options.context,
            before=self.options.before,
            model=english.hash,
            in_context=mixed.in_context,
            alone=mixed.alone,
            preference=mixed.preference,
            missing=mixed.missing,
            others=mixed.others,
            surplus=mixed.surplus,
            languages=list(data.languages),
        )
        record = {
            "version": __version__,
            "data": self.folder.record,
            **training_record(
                settings, initial, best, overrides=self.overrides, annotated=data.annotated, teacher=self.teacher
            ),
            **_initial(initial.config),
            "mix": data.mix(self._steps * batches_of_step(settings.trainer)),
            "figures": figures,
        }
        config = {**described.model_copy(update={"source": source}).to_config(), "training": record}
        files.copy(self.checkpoint, out)
        digest = save(
            out,
            scorer.cpu(),
            opened.start.pieces,
            config,
            half=settings.half,
            bits=self.options.bits,
            data=self.folder.path,
            show=settings.trainer.progress,
        )
        return Result(out, digest, figures, None)

    def _english(self, best: FitResult) -> Checkpoint:
        """The checkpoint that the reader is for, on the device of the training."""
        loaded = files.load(self.checkpoint)
        loaded.model.to(best.device)
        return loaded


def _initial(config: Mapping[str, Any] | None) -> dict[str, Any]:
    """The record of how the reader was trained that a run began with, for the config of the run."""
    training = {} if config is None else config.get("training", {})
    keys = ("overrides", "seed", "steps", INITIAL, recipe.STAGES)
    kept = {key: training[key] for key in keys if key in training}
    return {INITIAL: kept} if "overrides" in kept else {}


def with_mixing(config: Mapping[str, Any], mixed: SourceMixing, *, model: str) -> dict[str, Any]:
    """The config of a reader with other weights of both logits, for the checkpoint with the weights `model`."""
    fitted = {
        "in_context": mixed.in_context.model_dump(),
        "alone": mixed.alone.model_dump(),
        "preference": mixed.preference,
        **({} if mixed.missing is None else {"missing": mixed.missing.model_dump()}),
        **({} if mixed.others is None else {"others": mixed.others.model_dump()}),
        **({} if mixed.surplus is None else {"surplus": mixed.surplus}),
    }
    before = {key: value for key, value in config["source"].items() if key not in ("others", "judged", "surplus")}
    return {**config, "source": {**before, **fitted, "model": model}}


def save(
    checkpoint: Path,
    scorer: PronounScorer,
    pieces: Pieces,
    config: Mapping[str, Any],
    *,
    half: bool,
    bits: int | None,
    data: Path | None,
    show: bool,
) -> str:
    """Write a reader and its card into the folder of its checkpoint, and return its hash.

    data: the prepared folder on whose texts that people judged it is chosen what decides; None: as in `config`. show:
    the progress on stderr.
    """
    folder = checkpoint / locate.READER
    digest = files.save(folder, scorer, pieces, config, half=half, bits=bits)
    choice = None if data is None else people_decision.choose(checkpoint, data, show=show)
    if choice is not None:
        training = {**config["training"], "decision": choice.accuracy, "decision_pairs": choice.pairs}
        fitted = {"decision": choice.by, **({} if choice.judged is None else {"judged": choice.judged.model_dump()})}
        config = {**config, "source": {**config["source"], **fitted}, "training": training}
        files.write_config(folder, config)
    write_card(folder, config)
    return digest


def fit_surplus(checkpoint: Path, out: Path, *, data: Path) -> dict[str, float]:
    """Write a copy of a checkpoint whose reader tells surplus pronouns by the people's texts in `data`; its figures.

    Weights, scores and hashes stay; the reader's config and card have the new shares.

    Raises:
        InputError: `out` is in use, the checkpoint has no reader, or the data are too few or of another language.
    """
    locate.refuse_taken(out)
    reader = locate.reader_of(checkpoint)
    if reader is None:
        raise InputError(
            "expected a checkpoint with a reader of sources (a folder `source`); one that reads sources itself learns "
            "this from `checkpoint export --bits N --data DIR`",
            file=checkpoint,
        )
    config = checkpoint_config.read(reader / locate.CONFIG)
    Folder.of(data).refuse_other(checkpoint_config.language_of(config), "the checkpoint")
    fitted = surplus_fit.fit(data, config["pronouns"])
    if fitted.shares is None:
        raise InputError(
            f"expected {surplus_fit.FEWEST} or more pronouns that people deleted, and as many that they replaced, in "
            "people_train (prepared with data.people)",
            file=data,
        )
    training = {**config["training"], "figures": {**config["training"].get("figures", {}), **fitted.figures}}
    files.copy(checkpoint, out)
    changed = {**config, "source": {**config["source"], "surplus": fitted.shares}, "training": training}
    files.write_config(out / locate.READER, changed)
    write_card(out / locate.READER, changed)
    return fitted.figures


def write_card(folder: Path, config: Mapping[str, Any]) -> None:
    """Write the card of the reader in `folder`."""
    with AtomicFile(folder / locate.CARD) as file:
        file.write(reader_card.card(config, weights=files.hash_weights(folder)))
