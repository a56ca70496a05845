"""Training of a scorer that reads texts with their sources itself, in one target language or in several.

It is trained as a reader of sources is, and is a checkpoint of its own: no other scores the text without its source.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.checkpoint import files, locate
from pronmetric.checkpoint.config import LANGUAGES
from pronmetric.checkpoint.model_config import Calibration, Model, SourceRows, Target
from pronmetric.data.collate import Collator
from pronmetric.data.pieces import Pieces
from pronmetric.errors import InputError
from pronmetric.eval.calibration import fit_sum
from pronmetric.nn.head import LogitHead
from pronmetric.nn.scorer import PronounScorer
from pronmetric.output.targets import AtomicFile
from pronmetric.training import people_text, run, target_fit
from pronmetric.training.calibrate import FEWEST, Fit, logits_of, natural_rate
from pronmetric.training.fit import EXPORT, prepare_process
from pronmetric.training.prepared import Folder, Prepared, check_language
from pronmetric.training.run import DTYPE, Result, checked_run, load_teacher
from pronmetric.training.scorer_card import card
from pronmetric.training.settings import Train
from pronmetric.training.several_sources import SeveralSources
from pronmetric.training.source_data import WITH_SOURCE, WITHOUT, Development, SourceData, without_source
from pronmetric.training.source_mixing import areas
from pronmetric.training.source_reader import fit_reader, gap_head, make_collator
from pronmetric.version import __version__


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
    folders = Folder.of_languages(map(Path, settings.data.folders))
    for each in folders:
        check_language(settings, each.prepared.language)
    if options.people and not any(people_text.SPLIT in each.manifest["splits"] for each in folders):
        raise InputError(
            "no texts that people judged in data.dir=: prepare one of the languages with data.people, or set "
            "source.people=0"
        )
    kept, known = checked_run(settings), folders[0].prepared
    gaps = gap_head(options, [each.prepared for each in folders], dropout=settings.pronoun_head.dropout)
    teacher = load_teacher(settings, known)
    with prepare_process(settings.trainer, seed=settings.seed):

        def open_data(pieces: Pieces, max_pieces: int) -> SeveralSources:
            return SeveralSources(
                [
                    SourceData(
                        _with_folder(settings, each),
                        make_collator(options, pieces, max_pieces, each.prepared),
                        prepared=each.prepared,
                        required_sources=required_sources,
                        teacher=None if teacher is None else teacher.collator,
                        gap_forms=None if gaps is None else gaps.forms,
                    )
                    for each in folders
                ]
            )

        trained = fit_reader(settings, open_data, kept=kept, teacher=teacher, note=note, gaps=gaps)
        if trained is None:
            return None
        rows = SourceRows(context=options.context, before=options.before, languages=list(trained.data.languages))
        described = run.describe(settings, trained.start, trained.data.collator, known, gaps)
        record = {
            "version": __version__,
            **run.training_record(settings, trained.initial, trained.best, overrides=overrides, teacher=teacher),
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
    figures, fits, missing, counts = dict(record["figures"]), dict[str, Fit | None](), dict[str, Calibration](), {}
    for folder, collator, references in targets:
        rate, label = natural_rate(folder.manifest), f"calibration {folder.code}" if progress else None
        fits[folder.code], own = judge(
            scorer, collator, references, name=folder.code, rate=rate, dtype=dtype, label=label
        )
        figures |= own
        counts[folder.code] = _counts(references)
        people = target_fit.fit(scorer, collator, folder, dtype=dtype, show=progress)
        if people is not None:
            figures |= people.figures
            fits[folder.code] = people.calibration or fits[folder.code]
            if people.missing is not None:
                missing[folder.code] = people.missing
    folders = [folder for folder, *_ in targets]
    records = {code: None if fit is None else fit.to_record() for code, fit in fits.items()}
    if len(folders) == 1 and (fit := fits[folders[0].code]) is not None:
        assert isinstance(scorer.head, LogitHead)  # checked by `Train`
        scorer.head.calibrate(scale=fit.scale, bias=fit.bias)
    training = {
        **record,
        "data": {each.code: each.record for each in folders},
        "development": counts,
        "figures": figures,
        "calibration": records if len(records) > 1 else records[folders[0].code],
    }
    described = with_languages(described, [each.prepared for each in folders], fits, missing)
    config = {**described.to_config(), "training": training}
    digest = files.save(out, scorer.cpu(), pieces, config, half=store.half, bits=store.bits)
    choice = target_fit.choose(out, folders, show=progress)
    if choice is not None and choice.judged is not None:
        training |= {"decision": choice.accuracy, "decision_pairs": choice.pairs}
        config |= {checkpoint_config.JUDGED: choice.judged.model_dump(), checkpoint_config.DECISION: choice.by}
        files.write_config(out, config)
    for folder, _, references in targets:
        found = target_fit.ties(out, folder, references, of=folders, show=progress)
        place = next((each for each in config.get(LANGUAGES, ()) if each["code"] == folder.code), config)
        place.update(found)
    files.write_config(out, config)
    with AtomicFile(out / locate.CARD) as file:
        file.write(card(config, name=locate.name_of(out), weights=digest, manifests=[f.manifest for f in folders]))
    return Result(out, digest, figures, None)


def _with_folder(settings: Train, folder: Folder) -> Train:
    """The settings for one of the folders: without texts that people judged if it alone has none."""
    assert settings.source is not None
    several = len(settings.data.folders) > 1 and people_text.SPLIT not in folder.manifest["splits"]
    people = 0.0 if several else settings.source.people
    return settings.model_copy(
        update={
            "data": settings.data.model_copy(update={"dir": str(folder.path)}),
            "source": settings.source.model_copy(update={"people": people}),
        }
    )


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


def with_languages(
    described: Model,
    prepared: Sequence[Prepared],
    fits: Mapping[str, Fit | None],
    missing: Mapping[str, Calibration],
) -> Model:
    """The model of one language, described for all that it was trained on, each with its calibrations.

    missing: of the logits of the gap head, of the languages that have one.
    """
    if len(prepared) == 1:
        return described.model_copy(update={"missing": missing.get(prepared[0].language.code)})
    targets = []
    for each in prepared:
        fit = fits[each.language.code]
        target: dict[str, Any] = each.language.to_record() or {"code": each.language.code}
        if fit is not None:
            target["calibration"] = {"scale": fit.scale, "bias": fit.bias}
        if (of_gaps := missing.get(each.language.code)) is not None:
            target["missing"] = of_gaps
        targets.append(Target.model_validate(target))
    forms = list(dict.fromkeys(form for each in prepared for form in each.forms))
    return described.model_copy(update={"language": None, "languages": targets, "pronouns": forms})
