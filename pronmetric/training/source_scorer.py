"""Training of a scorer that reads texts with their sources itself, in one target language or in several.

It is trained as a reader of sources is, and is a checkpoint of its own: no other scores the text without its source.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

import pronmetric
from pronmetric.checkpoint import files, locate
from pronmetric.checkpoint.model_config import Model, SourceRows, Target
from pronmetric.data import arrow
from pronmetric.data.collate import Collator
from pronmetric.data.pieces import Pieces
from pronmetric.errors import InputError
from pronmetric.eval.calibration import fit_sum
from pronmetric.nn.head import LogitHead
from pronmetric.nn.scorer import PronounScorer
from pronmetric.output.targets import AtomicFile
from pronmetric.training import recipe, run
from pronmetric.training import teacher as teachers
from pronmetric.training.calibrate import FEWEST, Fit, logits_of, natural_rate
from pronmetric.training.fit import EXPORT, prepare_process
from pronmetric.training.prepared import Prepared, check_language
from pronmetric.training.run import DTYPE, Result
from pronmetric.training.scorer_card import card
from pronmetric.training.settings import Train
from pronmetric.training.several_sources import SeveralSources
from pronmetric.training.source_data import WITH_SOURCE, WITHOUT, Development, SourceData, without_source
from pronmetric.training.source_mixing import areas
from pronmetric.training.source_reader import checked_run, fit_reader, make_collator


class Folder(NamedTuple):
    """A prepared folder: its place, its manifest, and what it says of its texts."""

    path: Path
    manifest: Mapping[str, Any]
    prepared: Prepared

    @property
    def code(self) -> str:
        """Of its target language."""
        return self.prepared.language.code

    @property
    def hash(self) -> str:
        """Of its manifest."""
        return files.hash_file(self.path / arrow.MANIFEST)

    @classmethod
    def read(cls, paths: Iterable[Path]) -> list[Folder]:
        """Prepared folders, in the order given.

        Raises:
            InputError: two are of one language, or their contexts differ in size.
        """
        found: list[Folder] = []
        for path in paths:
            manifest = arrow.read_manifest(path)
            each = cls(path, manifest, Prepared.of(manifest))
            if each.code in {other.code for other in found}:
                raise InputError(f"expected folders of different languages, got two of {each.code}", file=path)
            if found and each.prepared.context_size != found[0].prepared.context_size:
                raise InputError(
                    f"expected {found[0].prepared.context_size} sentences of context, as in {found[0].path}, got "
                    f"{each.prepared.context_size}: prepare with the same context.size",
                    file=path,
                )
            found.append(each)
        return found


def train(
    settings: Train,
    *,
    required_sources: Collection[str] = (),
    overrides: Sequence[str] | None = None,
    note: Callable[[str], None] = run.LOG.info,
) -> Result | None:
    """Train a scorer on the prepared folders `data.dir`, each of another target language; `out`/checkpoint is it.

    Arguments, resuming and several devices as for `pronmetric.training.run.train`.

    Raises:
        PronmetricError: a setting or a prepared folder is wrong, two folders have one target language, or `out` holds
            another run.
    """
    options = settings.source
    assert options is not None
    folders = Folder.read(map(Path, settings.data.folders))
    for each in folders:
        check_language(settings, each.prepared.language)
    kept, known = checked_run(settings), folders[0].prepared
    teacher = None
    if settings.teacher is not None:
        teacher = teachers.load(settings.teacher, forms=known.forms, language=known.language)
    with prepare_process(settings.trainer, seed=settings.seed):

        def open_data(pieces: Pieces, max_pieces: int) -> SeveralSources:
            return SeveralSources(
                [
                    SourceData(
                        _with_folder(settings, each.path),
                        make_collator(options, pieces, max_pieces, each.prepared),
                        prepared=each.prepared,
                        required_sources=required_sources,
                        teacher=None if teacher is None else teacher.collator,
                    )
                    for each in folders
                ]
            )

        trained = fit_reader(settings, open_data, kept=kept, teacher=teacher, note=note)
        if trained is None:
            return None
        rows = SourceRows(context=options.context, before=options.before, languages=list(trained.data.languages))
        described = run.describe(settings, trained.start, trained.data.collator, known)
        record = {
            "version": pronmetric.__version__,
            **({} if overrides is None else {"overrides": recipe.recorded(overrides)}),
            **run.training_record(settings, trained.initial, None, trained.best, annotated={}),
            **({} if teacher is None else {"teacher": teacher.hash}),
            "translations": {each.code: part.size for each, part in zip(folders, trained.data.parts, strict=True)},
            "figures": trained.best.figures,
        }
        return finish(
            Path(settings.out) / EXPORT,
            trained.initial.scorer,
            trained.start.pieces,
            described.model_copy(update={"reads_source": rows}),
            [(each, part.collator, part.development) for each, part in zip(folders, trained.data.parts, strict=True)],
            record=record,
            store=Store(half=settings.half, bits=options.bits),
            dtype=DTYPE[settings.trainer.precision],
            progress=settings.trainer.progress,
        )


class Store(NamedTuple):
    """How weights are stored, as for `files.save`."""

    half: bool
    bits: int | None


def finish(
    out: Path,
    scorer: PronounScorer,
    pieces: Pieces,
    described: Model,
    targets: Sequence[tuple[Folder, Collator, Development]],
    *,
    record: Mapping[str, Any],
    store: Store,
    dtype: torch.dtype,
    progress: bool,
) -> Result:
    """Calibrate a scorer for each of its languages, and write it with its figures and its card.

    Args:
        out: the checkpoint's folder.
        scorer: its weights are rounded if they are stored so.
        pieces: its tokenizer.
        described: the model, but for its languages.
        targets: the prepared folder of each language, the collator of its texts, its development references.
        record: of the training, with figures to which those of the languages are added.
        store: how the weights are stored.
        dtype: of the encoder's products.
        progress: show it on stderr.
    """
    figures, fits, counts = dict(record["figures"]), dict[str, Fit | None](), {}
    for folder, collator, references in targets:
        rate, label = natural_rate(folder.manifest), f"calibration {folder.code}" if progress else None
        fits[folder.code], own = judge(
            scorer, collator, references, name=folder.code, rate=rate, dtype=dtype, label=label
        )
        figures |= own
        counts[folder.code] = _counts(references)
    folders = [folder for folder, *_ in targets]
    records = {code: None if fit is None else fit.to_record() for code, fit in fits.items()}
    if len(folders) == 1 and (fit := fits[folders[0].code]) is not None:
        assert isinstance(scorer.head, LogitHead)  # `Train` has seen to it
        scorer.head.calibrate(scale=fit.scale, bias=fit.bias)
    training = {
        **record,
        "data": {each.code: {"manifest": each.hash, "splits": each.manifest["splits"]} for each in folders},
        "development": counts,
        "figures": figures,
        "calibration": records if len(records) > 1 else records[folders[0].code],
    }
    described = with_languages(described, [each.prepared for each in folders], fits)
    config = {**described.to_config(), "training": training}
    digest = files.save(out, scorer.cpu(), pieces, config, half=store.half, bits=store.bits)
    with AtomicFile(out / locate.CARD) as file:
        file.write(card(config, name=locate.name_of(out), weights=digest, manifests=[f.manifest for f in folders]))
    return Result(out, digest, figures, None)


def _with_folder(settings: Train, folder: Path) -> Train:
    """The settings for one of the folders."""
    return settings.model_copy(update={"data": settings.data.model_copy(update={"dir": str(folder)})})


def judge(
    scorer: PronounScorer,
    collator: Collator,
    references: Development,
    *,
    name: str,
    rate: float,
    dtype: torch.dtype,
    label: str | None,
) -> tuple[Fit | None, dict[str, float]]:
    """The calibration for one language, and its figures, on development references.

    The calibration is fitted to texts with their sources as if a share `rate` of their pronouns were replaced; None if
    fewer than `FEWEST` are replaced or not, or if it would reverse the order of the scores. The figures, which end in
    `name`, are areas under the ROC curve, which no calibration changes.
    """
    right = np.concatenate([item.right for item in references.items])
    third = np.concatenate([np.array(each, dtype=bool) for each in references.third])
    logits, figures = {}, dict[str, float]()
    for side, items in (
        (WITH_SOURCE, references.items),
        (WITHOUT, [without_source(item) for item in references.items]),
    ):
        given = [item.example for item in items]
        logits[side] = np.concatenate(logits_of(scorer, collator, given, dtype=dtype, label=label))
        figures |= areas(f"{side}_{name}", logits[side], right, third)
    replaced = int((right == 0).sum())
    if replaced < FEWEST or len(right) - replaced < FEWEST:
        return None, figures
    scale, bias = fit_sum([logits[WITH_SOURCE]], right, rate=rate)
    return (Fit(scale, bias, rate, len(right), replaced) if scale > 0 else None), figures


def _counts(references: Development) -> dict[str, int]:
    """The number of development references, of their pronouns, and of those of the third person."""
    return {
        "references": len(references.items),
        "pronouns": sum(len(item.right) for item in references.items),
        "third": sum(map(sum, references.third)),
    }


def with_languages(described: Model, prepared: Sequence[Prepared], fits: Mapping[str, Fit | None]) -> Model:
    """The model of one language, described for all that it was trained on, each with its calibration."""
    if len(prepared) == 1:
        return described
    targets = []
    for each in prepared:
        fit = fits[each.language.code]
        target: dict[str, Any] = each.language.to_record() or {"code": each.language.code}
        if fit is not None:
            target["calibration"] = {"scale": fit.scale, "bias": fit.bias}
        targets.append(Target.model_validate(target))
    forms = list(dict.fromkeys(form for each in prepared for form in each.forms))
    return described.model_copy(update={"language": None, "languages": targets, "pronouns": forms})
