"""A checkpoint's config.yaml: read within bounds, checked as a `Model`, and what it says of its scores. No torch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any, NoReturn

import yaml

from pronmetric.checkpoint.locate import CONFIG
from pronmetric.checkpoint.model_config import FORMAT, KEYS, WITH_PROBABILITIES, Calibration, Model, Target
from pronmetric.errors import InputError, PronmetricError
from pronmetric.eval.decision import DECISIONS, ERRORS, PREFERENCE, SCORE
from pronmetric.pronouns import languages, tables
from pronmetric.pronouns.languages import Language
from pronmetric.settings import LARGEST
from pronmetric.text.context import NONE
from pronmetric.text.language_codes import bare

TIE = "tie"
TIES = "ties"  # thresholds by what decides, other than the score
DECISION = "decision"
PAIR_HEAD = "pair_head"  # absent in checkpoints without one
LANGUAGE = "language"  # the record of a target language other than English
LANGUAGES = "languages"  # the records of several target languages instead, of which one is chosen
UNTRAINED = "untrained"  # the chosen language is none of its training
CALIBRATION = "calibration"  # of the chosen one
MISSING = "missing"  # the calibration of its gap head
SURPLUS = "surplus"  # the shares of its wrong pronouns that are surplus
JUDGED = "judged"  # the weights of the preference of a scorer that reads sources itself
_MOST_BYTES = 2**24  # file size
_MOST_VALUES = 2**20  # values in the file, with expanded aliases
_LARGEST_POSITION = 2**24  # above the positions of any encoder, and a size that memory can still hold
_CURE = "restore the value, or download the checkpoint again"


def read(path: Path) -> dict[str, Any]:
    """The config of a checkpoint, complete: keys that older checkpoints lack are added.

    Raises:
        InputError: with file and key, if the file is not a YAML mapping, a key is missing, or a value is not
            allowed for its key.
    """
    try:
        if path.stat().st_size > _MOST_BYTES:
            _refuse(path, "the file", f"at most {_MOST_BYTES:,} bytes", f"{path.stat().st_size:,}")
        config: Any = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError, ValueError, OSError) as error:
        why = str(error).split("\n")[0]
        raise InputError(f"broken checkpoint config ({why}); download the checkpoint again", file=path) from error
    if not isinstance(config, dict) or not all(isinstance(key, str) for key in config):
        _refuse(path, "the file", "a mapping of keys", config)
    _plain(config, path)
    if (version := config.get("format")) != FORMAT:
        _refuse(path, "format", f"checkpoint format {FORMAT}", version, "install the pronmetric that wrote it")
    _sizes(config.get("encoder"), path)
    model = Model.read(config, file=path, cure=_CURE)
    return {key: config.get(key, getattr(model, key)) for key in KEYS} | config


def tie_threshold(config: Mapping[str, Any], *, name: str, by: str = SCORE) -> float:
    """The tie threshold of the checkpoint `name`: segments whose values differ by no more are ties.

    by: what decides, one of `DECISIONS`; the key `tie` has the threshold of scores, `ties` those of the others.

    Raises:
        PronmetricError: it has none, or one that is not a number from 0.
    """
    key = TIE if by == SCORE else f"{TIES}.{by}"
    threshold = config.get(TIE) if by == SCORE else (config.get(TIES) or {}).get(by)
    if threshold is None and config.get(UNTRAINED):
        code = language_of(config).code
        raise PronmetricError(
            f"checkpoint {name} was not trained on {code} and has no tie threshold for it; give `tie=` a number"
        )
    if threshold is None:
        others = "" if reads_source(config) else " (checkpoints that this version trains have one)"
        raise PronmetricError(
            f"checkpoint {name} has no tie threshold ({key!r} in its config.yaml); give `tie=` a number{others}"
        )
    if not _number(threshold) or not 0 <= threshold < math.inf:
        raise PronmetricError(
            f"checkpoint {name}: expected a tie threshold from 0 in its config.yaml, got {threshold!r}"
        )
    return float(threshold)


def decision_of(config: Mapping[str, Any], by: str | None, *, name: str, reader: Path | None = None) -> str:
    """What decides a comparison: `by`, one of `DECISIONS`; None is the key `decision` of the config, else "score".

    reader: the folder of the reader whose sources count, which may name another decision; None without sources.

    Raises:
        PronmetricError: the checkpoint `name` has no such number, or there is none.
    """
    if by is None and reader is not None:
        by = (read(reader / CONFIG).get("source") or {}).get(DECISION)
    by = config.get(DECISION, SCORE) if by is None else by
    if by not in DECISIONS:
        raise PronmetricError(f"expected a decision by {', '.join(DECISIONS)}, got {by!r}")
    if by == PREFERENCE and not has_preference(config):
        raise PronmetricError(
            f"checkpoint {name} has no pair head, and no preference: decide by score or errors, or take a checkpoint "
            "that was trained with head=two"
        )
    if by == ERRORS and not has_probabilities(config):
        raise PronmetricError(
            f"checkpoint {name} has an unbounded head, and no expected number of errors: decide by score"
        )
    return by


def finds_missing(config: Mapping[str, Any], reader: Path | None) -> bool:
    """Whether missing pronouns are found in texts with sources, by the checkpoint or by the reader in this folder."""
    if config.get(MISSING) is not None:
        return True
    return reader is not None and (read(reader / CONFIG).get("source") or {}).get(MISSING) is not None


def caveat(config: Mapping[str, Any]) -> str | None:
    """What a user must know about the scores of a checkpoint; None if it was trained and, if need be, calibrated.

    By the record of its training: its steps, or the checkpoints that it averages, and its calibration.
    """
    record = config.get("training") or {}
    if not record.get("steps") and not record.get("average"):
        return "its config.yaml records no training: the scores may be those of random weights"
    if has_probabilities(config) and not record.get("calibration"):
        return "it is not calibrated: the scores order pronouns, but are no probabilities of being correct"
    return None


def unscored_forms(config: Mapping[str, Any]) -> tuple[str, ...]:
    """The forms of the package's table of the language that a checkpoint does not know, and does not score.

    A checkpoint scores the forms of its training. One of the paper's inventory, or of another table of the language,
    lacks none.
    """
    own, code = set(config["pronouns"]), language_of(config).code
    if code != languages.ENGLISH.code and code not in tables.codes():
        return ()
    table = languages.language(code)
    of_paper = code == languages.ENGLISH.code and own == set(table.inventory("paper"))
    return () if of_paper or not own <= set(table.forms) else tuple(form for form in table.forms if form not in own)


def unscored_note(config: Mapping[str, Any], name: str) -> str | None:
    """What a user should know of `unscored_forms` of the checkpoint `name`; None if it has none."""
    forms = unscored_forms(config)
    return (
        f"checkpoint {name} does not know {', '.join(forms)} of the table of pronouns, and does not score them: "
        'see docs/target-languages.md, "A further form"'
        if forms
        else None
    )


def untrained_note(config: Mapping[str, Any], name: str) -> str | None:
    """What a user must know of the checkpoint `name` in a language that it was not trained on; None in its own."""
    if not config.get(UNTRAINED):
        return None
    more = "; probabilities are calibrated as in its languages on average" if config.get(CALIBRATION) else ""
    more += "; missing pronouns are not found" if config.get(MISSING) is None else ""
    return (
        f"checkpoint {name} was not trained on {language_of(config).code}: docs/target-languages.md, "
        f'"Languages not in training", has what was measured{more}'
    )


def trained_in_context(config: Mapping[str, Any]) -> bool:
    """Whether the checkpoint was trained with a context; without, it scores without one by default."""
    return bool(config["context"] != NONE and config["context_size"])


def context_limit(config: Mapping[str, Any]) -> int | None:
    """The number of sentences of a given context that are read, the last ones: as many as in training.

    None for a checkpoint that was trained without context: what it is given is read whole.
    """
    return int(config["context_size"]) if trained_in_context(config) else None


def has_probabilities(config: Mapping[str, Any]) -> bool:
    """Whether the scores of pronouns are probabilities; those of the paper's heads are unbounded."""
    return config["head"]["kind"] in WITH_PROBABILITIES


def has_pair_head(config: Mapping[str, Any]) -> bool:
    """Whether the checkpoint compares texts by a pair head."""
    return config.get(PAIR_HEAD) is not None


def has_preference(config: Mapping[str, Any]) -> bool:
    """Whether texts have a preference: by a pair head, or as it was fitted on pairs that people judged."""
    return has_pair_head(config) or config.get(JUDGED) is not None


def reads_source(config: Mapping[str, Any]) -> bool:
    """Whether the model reads texts with their sources, and scores them by itself."""
    return config.get("reads_source") is not None


def languages_of(config: Mapping[str, Any]) -> tuple[Language, ...]:
    """The languages of the texts that a checkpoint scores, from its complete config."""
    if LANGUAGES not in config:
        return (languages.of_record(config.get(LANGUAGE)),)
    return tuple(languages.of_record(Target.model_validate(each).record) for each in config[LANGUAGES])


def language_of(config: Mapping[str, Any]) -> Language:
    """The language of the texts that a checkpoint scores, from its complete config.

    Raises:
        PronmetricError: it scores several, and none is chosen.
    """
    own = languages_of(config)
    if len(own) > 1:
        raise PronmetricError(f"the checkpoint scores several languages: give `lang=` one of {_codes(own)}")
    return own[0]


def of_language(config: Mapping[str, Any], code: str | None, *, name: str) -> dict[str, Any]:
    """The config of a checkpoint for one language: as if it had no other.

    A scorer of several languages that reads sources may also score one that it was not trained on, by the package's
    table of its forms (`_untrained`).

    Args:
        config: complete.
        code: of the language; None where it has only one.
        name: of the checkpoint, for the errors.

    Raises:
        PronmetricError: it does not score this language, or it scores several and none is chosen.
    """
    scored = languages_of(config)
    if code is None and len(scored) > 1:
        raise PronmetricError(f"checkpoint {name} scores several languages: give `lang=` one of {_codes(scored)}")
    if code is not None and code not in {each.code for each in scored}:
        code = bare(code)
    if code is not None and code not in {each.code for each in scored}:
        return _untrained(config, code, name=name)
    if LANGUAGES not in config:
        return dict(config)
    target = next(each for each in map(Target.model_validate, config[LANGUAGES]) if each.code == code)
    return _only(config, target, record=(config.get("training", {}).get(CALIBRATION) or {}).get(code))


def _untrained(config: Mapping[str, Any], code: str, *, name: str) -> dict[str, Any]:
    """The config for a language that is none of its training.

    Its forms are those of the package's table, its calibrations are the mean of those of the others, which changes no
    order of scores within the language; it does not tell which form is missing and has no tie threshold.
    """
    scored = languages_of(config)
    refused = f"checkpoint {name} scores texts in {_codes(scored)}, and `lang={code}` is none of them"
    if LANGUAGES not in config or not reads_source(config):
        raise PronmetricError(refused)
    if code == languages.ENGLISH.code:
        raise PronmetricError(f"{refused}: give a checkpoint of English texts, such as base")
    if code not in tables.codes():
        others = ", ".join(sorted(set(tables.codes()) - {each.code for each in scored}))
        raise PronmetricError(
            f"{refused}, nor one of the further tables of the package ({others}): train a checkpoint with a table of "
            'your own (`data.target=FILE.tsv`; docs/target-languages.md, "Another language")'
        )
    targets = [Target.model_validate(each) for each in config[LANGUAGES]]
    calibrated = {each.code: each.calibration for each in targets if each.calibration is not None}
    known = {**(languages.language(code).to_record() or {}), CALIBRATION: _mean(calibrated.values())}
    known[MISSING] = _mean(each.missing for each in targets if each.missing is not None)
    target = Target.model_validate(known)
    chosen = _only(config, target, record={"mean of": list(calibrated)} if calibrated else None)
    return chosen | {"pronouns": list(languages.language(code).forms), UNTRAINED: True}


def _mean(calibrations: Iterable[Calibration]) -> Calibration | None:
    each = list(calibrations)
    if not each:
        return None
    return Calibration(scale=fmean(one.scale for one in each), bias=fmean(one.bias for one in each))


def _only(config: Mapping[str, Any], target: Target, *, record: object) -> dict[str, Any]:
    """The config as if it had only this language; record: that of its calibration."""
    forms = languages.of_record(target.record).forms
    chosen: dict[str, Any] = {
        LANGUAGE: target.record,
        CALIBRATION: None if target.calibration is None else target.calibration.model_dump(),
        MISSING: None if target.missing is None else target.missing.model_dump(),
        SURPLUS: target.surplus,
        TIE: target.tie,
        TIES: target.ties,
        "pronouns": [form for form in config["pronouns"] if form in forms],
        "training": {**config.get("training", {}), CALIBRATION: record},
    }
    rest = {key: value for key, value in config.items() if key != LANGUAGES}
    return {key: value for key, value in {**rest, **chosen}.items() if value is not None}


def _codes(own: Iterable[Language]) -> str:
    return ", ".join(each.code for each in own)


def _sizes(encoder: object, path: Path) -> None:
    """Refuse an architecture with sizes that no encoder has."""

    def check(key: str, value: object) -> None:
        most = _LARGEST_POSITION if "position" in key else LARGEST
        if isinstance(value, int) and abs(value) > most:
            _refuse(path, key, f"at most {most:,}", value)

    _walk(encoder, "encoder", check)


def _plain(config: Mapping[str, Any], path: Path) -> None:
    """Refuse values that are not settings: numbers that are not finite, and recursive aliases."""
    seen = 0

    def check(key: str, value: object) -> None:
        nonlocal seen
        seen += 1
        if seen > _MOST_VALUES:
            _refuse(path, key.split(".")[0], f"at most {_MOST_VALUES:,} values in all", "more")
        if isinstance(value, float) and not math.isfinite(value):
            _refuse(path, key, "a finite number", value)

    try:
        _walk(config, "", check)
    except RecursionError:
        _refuse(path, "the file", "values that do not contain themselves", "a recursive alias")


def _walk(value: object, key: str, check: Callable[[str, object], None]) -> None:
    """`check` every value below `value`, with its dotted key."""
    check(key, value)
    if isinstance(value, Mapping):
        for name, each in value.items():
            _walk(each, f"{key}.{name}" if key else str(name), check)
    elif isinstance(value, list | tuple | set):
        for each in value:
            _walk(each, key, check)


def _number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _refuse(path: Path, key: str, expected: str, got: object, cure: str = _CURE) -> NoReturn:
    shown = repr(got)
    shown = shown if len(shown) <= 80 else f"{shown[:77]}..."
    raise InputError(f"{key}: expected {expected}, got {shown}; {cure}", file=path)
