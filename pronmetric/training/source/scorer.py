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
from pronmetric.checkpoint.config import LANGUAGES, MISSING
from pronmetric.checkpoint.files import Checkpoint
from pronmetric.checkpoint.model_config import Calibration, Model, SourceRows, Target
from pronmetric.data.collate import Collator
from pronmetric.data.pieces import Pieces
from pronmetric.errors import InputError
from pronmetric.eval.calibration import fit_sum
from pronmetric.eval.decision import SCORE
from pronmetric.nn.head import LogitHead
from pronmetric.nn.scorer import PronounScorer
from pronmetric.output.targets import AtomicFile
from pronmetric.pronouns.languages import Language
from pronmetric.training.after import gap_fit, surplus_fit, target_fit
from pronmetric.training.after.calibrate import FEWEST, Fit, logits_of, natural_rate
from pronmetric.training.after.gap_fit import GapFit
from pronmetric.training.card import recipe
from pronmetric.training.card.scorer import card
from pronmetric.training.examples import people_text
from pronmetric.training.examples.prepared import Folder, Prepared, check_language
from pronmetric.training.fit import EXPORT, FitResult, default_device
from pronmetric.training.module import Length
from pronmetric.training.settings import Train
from pronmetric.training.source.data import (
    WITH_SOURCE,
    WITHOUT,
    Development,
    SourceData,
    development,
    without_source,
)
from pronmetric.training.source.mixing import areas
from pronmetric.training.source.module import GOAL, ReaderModule, TrainingInputs, gap_head, make_collator, open_initial
from pronmetric.training.source.several_languages import SeveralSources
from pronmetric.training.start import DTYPE, Result, describe, load_teacher, training_record
from pronmetric.version import __version__

# what a model has before it is fitted on what people judged
_NOT_FITTED: Mapping[str, Any] = {"decision": SCORE, "judged": None, "missing": None, "surplus": None}


class SourceScorerTraining:
    """A run that trains a scorer that reads sources itself; see `pronmetric.training.run.Kind`.

    The prepared folders `data.dir` have a target language each; `out`/checkpoint scores all of them.
    """

    goal = GOAL

    def __init__(self, settings: Train, *, required_sources: Collection[str], overrides: Sequence[str] | None) -> None:
        assert settings.source is not None
        self.settings, self.overrides, self.required_sources = settings, overrides, required_sources
        self.options = settings.source
        self.folders = Folder.of_languages(map(Path, settings.data.folders))
        for each in self.folders:
            check_language(settings, each.prepared.language)
        if self.options.people and not any(people_text.SPLIT in each.manifest["splits"] for each in self.folders):
            raise InputError(
                "no texts that people judged in data.dir=: prepare one of the languages with data.people, or set "
                "source.people=0"
            )
        prepared = [each.prepared for each in self.folders]
        self.gaps = gap_head(self.options, prepared, dropout=settings.pronoun_head.dropout)
        self.teacher = load_teacher(settings, prepared[0])

    def open(self) -> SeveralSources:
        """See `Kind`."""
        self.opened: TrainingInputs[SeveralSources] = open_initial(self.settings, self._open_data, gaps=self.gaps)
        return self.opened.data

    def _open_data(self, pieces: Pieces, max_pieces: int) -> SeveralSources:
        return SeveralSources(
            [
                SourceData(
                    _with_folder(self.settings, each),
                    make_collator(self.options, pieces, max_pieces, each.prepared),
                    prepared=each.prepared,
                    required_sources=self.required_sources,
                    teacher=None if self.teacher is None else self.teacher.collator,
                    gap_forms=None if self.gaps is None else self.gaps.forms,
                )
                for each in self.folders
            ]
        )

    def module(self, length: Length, note: Callable[[str], None]) -> ReaderModule:
        """See `Kind`."""
        return self.opened.module(self.settings, length, self.teacher, note)

    def export(self, best: FitResult) -> Result:
        """See `Kind`."""
        settings, opened, data = self.settings, self.opened, self.opened.data
        rows = SourceRows(context=self.options.context, before=self.options.before, languages=list(data.languages))
        described = describe(settings, opened.start, data.collator, self.folders[0].prepared, self.gaps)
        record = {
            "version": __version__,
            **training_record(settings, opened.initial, best, overrides=self.overrides, teacher=self.teacher),
            "translations": {each.code: part.size for each, part in zip(self.folders, data.parts, strict=True)},
            "figures": best.figures,
        }
        return finish(
            Path(settings.out) / EXPORT,
            opened.finish(settings, best),
            opened.start.pieces,
            described.model_copy(update={"reads_source": rows}),
            [(each, part.collator, part.development) for each, part in zip(self.folders, data.parts, strict=True)],
            record=record,
            store=Store(half=settings.half, bits=self.options.bits),
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
    gaps, shares = dict[str, GapFit](), dict[str, dict[str, float]]()
    for folder, collator, references in targets:
        rate, label = natural_rate(folder.manifest), f"calibration {folder.code}" if progress else None
        fits[folder.code], judged = judge(
            scorer, collator, references, name=folder.code, rate=rate, dtype=dtype, label=label
        )
        figures |= judged
        counts[folder.code] = _counts(references)
        people = target_fit.fit(scorer, collator, folder, dtype=dtype, show=progress)
        if people is not None:
            figures |= people.figures
            fits[folder.code] = people.calibration or fits[folder.code]
        if scorer.gap_head is not None:
            gaps[folder.code] = gap_fit.fit(scorer, collator, folder, references.originals, dtype=dtype, show=progress)
            figures |= gaps[folder.code].figures
        surplus = surplus_fit.fit(folder.path, folder.prepared.forms)
        if surplus.shares is not None:
            shares[folder.code] = surplus.shares
            figures |= {f"{name}_{folder.code}": value for name, value in surplus.figures.items()}
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
        MISSING: {code: each.record for code, each in gaps.items() if each.record is not None},
    }
    missing = {code: each.calibration for code, each in gaps.items() if each.calibration is not None}
    described = with_languages(described, [each.prepared for each in folders], fits, missing, shares)
    config = {**described.to_config(), "training": training}
    digest = files.save(out, scorer.cpu(), pieces, config, half=store.half, bits=store.bits)
    choice = target_fit.choose(out, folders, show=progress)
    if choice is not None and choice.judged is not None:
        training |= {"decision": choice.accuracy, "decision_pairs": choice.pairs}
        config |= {checkpoint_config.JUDGED: choice.judged.model_dump(), checkpoint_config.DECISION: choice.by}
        files.write_config(out, config)
    for folder, _, references in targets:
        thresholds = target_fit.ties(out, folder, references, of=folders, show=progress)
        place = next((each for each in config.get(LANGUAGES, ()) if each["code"] == folder.code), config)
        place.update(thresholds)
    files.write_config(out, config)
    with AtomicFile(out / locate.CARD) as file:
        file.write(card(config, name=locate.name_of(out), weights=digest, manifests=[f.manifest for f in folders]))
    return Result(out, digest, figures, None)


def refuse_other_languages(folders: Sequence[Folder], languages: Sequence[Language]) -> None:
    """Refuse prepared folders of other languages than a scorer's.

    Raises:
        InputError: one is too many or missing, or its table of forms is another one.
    """
    if {each.prepared.language for each in folders} != set(languages):
        wanted, got = (", ".join(sorted(codes)) for codes in ({x.code for x in languages}, {x.code for x in folders}))
        again = "; prepare them again with the tables of the checkpoint" if wanted == got else ""
        raise InputError(f"expected prepared data of {wanted}, the languages of the scorer, got {got}{again}")


def renew(
    out: Path, loaded: Checkpoint, folders: Sequence[Folder], *, record: Mapping[str, Any], store: Store
) -> Result:
    """Write a scorer whose weights were changed, calibrated anew for each of its languages; its figures.

    Args:
        out: the checkpoint's folder.
        loaded: the scorer, its weights rounded if they are stored so.
        folders: the prepared folders of its languages.
        record: of the training, without figures.
        store: how the weights are stored.
    """
    described = Model.read(loaded.config).model_copy(update=_NOT_FITTED)
    by_language = {each.prepared.language: each for each in folders}
    most = recipe.default("experiment/source")["data.development"]
    targets = [
        (
            by_language[each],
            loaded.collator_of(each),
            development(by_language[each].path, forms=described.pronouns, language=each, most=most),
        )
        for each in checkpoint_config.languages_of(loaded.config)
    ]
    loaded.model.to(default_device())
    locate.refuse_taken(out)  # may have been created by another process
    return finish(
        out,
        loaded.model,
        loaded.pieces,
        described,
        targets,
        record={**record, "figures": {}},
        store=store,
        dtype=torch.bfloat16,
        progress=True,
    )


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
        examples = [item.example for item in items]
        logits[side] = np.concatenate(logits_of(scorer, collator, examples, dtype=dtype, label=label))
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
    surplus: Mapping[str, dict[str, float]],
) -> Model:
    """The model of one language, described for all that it was trained on, each with its calibrations.

    missing: of the logits of the gap head, of the languages that have one. surplus: shares of the wrong pronouns, of
    the languages where people corrected enough of them.
    """
    if len(prepared) == 1:
        code = prepared[0].language.code
        return described.model_copy(update={"missing": missing.get(code), "surplus": surplus.get(code)})
    targets = []
    for each in prepared:
        fit = fits[each.language.code]
        target: dict[str, Any] = each.language.to_record() or {"code": each.language.code}
        if fit is not None:
            target["calibration"] = {"scale": fit.scale, "bias": fit.bias}
        if (of_gaps := missing.get(each.language.code)) is not None:
            target["missing"] = of_gaps
        if (of_forms := surplus.get(each.language.code)) is not None:
            target["surplus"] = of_forms
        targets.append(Target.model_validate(target))
    forms = list(dict.fromkeys(form for each in prepared for form in each.forms))
    return described.model_copy(update={"language": None, "languages": targets, "pronouns": forms})
