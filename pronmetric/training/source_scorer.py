"""Training of a scorer that reads texts with their sources itself, in one target language or in several.

It is trained as a reader of sources is, and is a checkpoint of its own: no other scores the text without its source.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

import pronmetric
from pronmetric.checkpoint import files, locate
from pronmetric.checkpoint.model_config import Model, SourceRows, Target
from pronmetric.data import arrow
from pronmetric.data.pieces import Pieces
from pronmetric.errors import InputError
from pronmetric.eval.calibration import fit_sum
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
from pronmetric.training.source_data import WITH_SOURCE, WITHOUT, SourceData, without_source
from pronmetric.training.source_reader import areas, checked_run, fit_reader, make_collator


class _Folder(NamedTuple):
    """A prepared folder: its place, its manifest, and what it says of its texts."""

    path: Path
    manifest: Mapping[str, Any]
    prepared: Prepared

    @property
    def code(self) -> str:
        """Of its target language."""
        return self.prepared.language.code


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
    folders = _read_folders(settings)
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
        scorer, data, best = trained.initial.scorer, trained.data, trained.best
        dtype, progress = DTYPE[settings.trainer.precision], settings.trainer.progress
        figures, fits = dict(best.figures), dict[str, Fit | None]()
        for each, part in zip(folders, data.parts, strict=True):
            rate = natural_rate(each.manifest)
            fits[each.code], own = judge(scorer, part, rate=rate, dtype=dtype, progress=progress)
            figures |= own
    if len(folders) == 1 and (fit := fits[folders[0].code]) is not None:
        scorer.head.calibrate(scale=fit.scale, bias=fit.bias)  # type: ignore[operator]  # of a LogitHead
    records = {code: None if fit is None else fit.to_record() for code, fit in fits.items()}
    described = run.describe(settings, trained.start, data.collator, known)
    described = with_languages(described, [each.prepared for each in folders], fits)
    rows = SourceRows(context=options.context, before=options.before, languages=list(data.languages))
    splits = {each.code: each.manifest["splits"] for each in folders}
    record = {
        "version": pronmetric.__version__,
        "data": {"manifest": kept["data"]["dir"], "splits": splits if len(splits) > 1 else splits[folders[0].code]},
        **({} if overrides is None else {"overrides": recipe.recorded(overrides)}),
        **run.training_record(settings, trained.initial, None, best, annotated={}),
        **({} if teacher is None else {"teacher": teacher.hash}),
        "translations": {each.code: part.size for each, part in zip(folders, data.parts, strict=True)},
        "development": {each.code: _counts(part) for each, part in zip(folders, data.parts, strict=True)},
        "figures": figures,
        "calibration": records if len(records) > 1 else records[folders[0].code],
    }
    config = {**described.model_copy(update={"reads_source": rows}).to_config(), "training": record}
    made = Path(settings.out) / EXPORT
    digest = files.save(made, scorer.cpu(), trained.start.pieces, config, half=settings.half, bits=options.bits)
    with AtomicFile(made / locate.CARD) as file:
        file.write(card(config, name=locate.name_of(made), weights=digest, manifests=[f.manifest for f in folders]))
    return Result(made, digest, figures, None)


def _read_folders(settings: Train) -> list[_Folder]:
    """The prepared folders, in the order given."""
    folders = []
    for path in map(Path, settings.data.folders):
        manifest = arrow.read_manifest(path)
        folders.append(_Folder(path, manifest, Prepared.of(manifest)))
    for number, each in enumerate(folders):
        check_language(settings, each.prepared.language)
        if each.code in {other.code for other in folders[:number]}:
            raise InputError(
                f"data.dir: expected folders of different languages, got two of {each.code}", file=each.path
            )
        if each.prepared.context_size != folders[0].prepared.context_size:
            raise InputError(
                f"data.dir: expected {folders[0].prepared.context_size} sentences of context, as in {folders[0].path}, "
                f"got {each.prepared.context_size}: prepare with the same context.size",
                file=each.path,
            )
    return folders


def _with_folder(settings: Train, folder: Path) -> Train:
    """The settings for one of the folders."""
    return settings.model_copy(update={"data": settings.data.model_copy(update={"dir": str(folder)})})


def judge(
    scorer: PronounScorer, part: SourceData, *, rate: float, dtype: torch.dtype, progress: bool
) -> tuple[Fit | None, dict[str, float]]:
    """The calibration for one language, and its figures, on the development references of its folder.

    The calibration is fitted to texts with their sources as if a share `rate` of their pronouns were replaced; None if
    fewer than `FEWEST` are replaced or not, or if it would reverse the order of the scores. The figures are areas
    under the ROC curve, which no calibration changes.
    """
    development, code = part.development, part.labeller.language.code
    right = np.concatenate([item.right for item in development.items])
    third = np.concatenate([np.array(each, dtype=bool) for each in development.third])
    label = f"calibration {code}" if progress else None
    logits, figures = {}, dict[str, float]()
    for side, items in (
        (WITH_SOURCE, development.items),
        (WITHOUT, [without_source(item) for item in development.items]),
    ):
        given = [item.example for item in items]
        logits[side] = np.concatenate(logits_of(scorer, part.collator, given, dtype=dtype, label=label))
        figures |= areas(f"{side}_{code}", logits[side], right, third)
    replaced = int((right == 0).sum())
    if replaced < FEWEST or len(right) - replaced < FEWEST:
        return None, figures
    scale, bias = fit_sum([logits[WITH_SOURCE]], right, rate=rate)
    return (Fit(scale, bias, rate, len(right), replaced) if scale > 0 else None), figures


def _counts(part: SourceData) -> dict[str, int]:
    """The development references of a folder, their pronouns, and those of the third person."""
    development = part.development
    return {
        "references": len(development.items),
        "pronouns": sum(len(item.right) for item in development.items),
        "third": sum(map(sum, development.third)),
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
