"""A checkpoint's config.yaml: read, checked key by key, and reduced to the keys that affect scores. No torch."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, NoReturn

import yaml

from pronmetric.errors import InputError, PronmetricError
from pronmetric.eval.decision import DECISIONS, ERRORS, PREFERENCE, SCORE
from pronmetric.pronouns import languages
from pronmetric.pronouns.languages import Language
from pronmetric.schema import WORD_STATES
from pronmetric.text.context import CONTEXT_SIZE

FORMAT = 1
TIE = "tie"
TIES = "ties"  # thresholds by what decides, other than the score
DECISION = "decision"
PAIR_HEAD = "pair_head"  # absent in checkpoints without one
LANGUAGE = "language"  # the record of a target language other than English
CONTEXTS = ("none", "respective", "common")
SEGMENT: Mapping[str, str] = {"logit": "mean", "average": "mean", "paper": "weighted"}  # aggregation of pronoun scores
KINDS = ("huggingface", "glove", "elmo")
KEYS = (
    "encoder",
    "head",
    "word_state",
    "segment",
    "max_pieces",
    "separator",
    "pronouns",
    "context",
    "context_size",
)
_ADDED: Mapping[str, Any] = {"context_size": CONTEXT_SIZE}  # keys that older checkpoints lack, with their values
_MOST_BYTES = 2**24  # file size
_MOST_VALUES = 2**20  # values in the file, with expanded aliases
_LARGEST = 2**20  # greatest size in the encoder's architecture
_LARGEST_POSITION = 2**24
# Keys of a Hugging Face architecture that do not affect scores: training settings and metadata.
_NO_SCORE = frozenset(
    {
        "architectures",
        "attention_dropout",
        "attention_probs_dropout_prob",
        "classifier_dropout",
        "dropout",
        "dtype",
        "gradient_checkpointing",
        "hidden_dropout",
        "hidden_dropout_prob",
        "initializer_range",
        "torch_dtype",
        "transformers_version",
        "use_cache",
    }
)


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
    _check(config.get("format") == FORMAT, path, "format", f"checkpoint format {FORMAT}", config.get("format"))
    for key in KEYS:
        if key not in config and key not in _ADDED:
            raise InputError(
                f"broken checkpoint config: the key {key} is missing; download the checkpoint again", file=path
            )
    config = {key: config[key] if key in config else _ADDED[key] for key in KEYS} | config
    _encoder(config["encoder"], path)
    _head(config["head"], path)
    head = config["head"]["kind"]
    _check(config["segment"] == SEGMENT[head], path, "segment", f"{SEGMENT[head]} with head {head}", config["segment"])
    _pair_head(config.get(PAIR_HEAD), path)
    _one_of(config["word_state"], WORD_STATES, path, "word_state")
    _one_of(config["context"], CONTEXTS, path, "context")
    _whole(config["max_pieces"], path, "max_pieces", least=1, most=_LARGEST)
    _whole(config["context_size"], path, "context_size", least=0, most=_LARGEST)
    _check(isinstance(config["separator"], bool), path, "separator", "true or false", config["separator"])
    _pronouns(config["pronouns"], _language(config.get(LANGUAGE), path), path)
    tie = config.get(TIE)
    _check(tie is None or (_number(tie) and tie >= 0), path, TIE, "a number of at least 0", tie)
    ties = config.get(TIES, {})
    fits = isinstance(ties, dict) and all(name in DECISIONS and _number(tie) and tie >= 0 for name, tie in ties.items())
    _check(fits, path, TIES, f"thresholds of at least 0 for some of {', '.join(DECISIONS)}", ties)
    _one_of(config.get(DECISION, SCORE), DECISIONS, path, DECISION)
    training = config.get("training", {})
    _check(isinstance(training, dict), path, "training", "a mapping", training)
    return config


def tie_threshold(config: Mapping[str, Any], *, name: str, by: str = SCORE) -> float:
    """The tie threshold of the checkpoint `name`: segments whose values differ by no more are ties.

    by: what decides, one of `DECISIONS`; the key `tie` has the threshold of scores, `ties` those of the others.

    Raises:
        PronmetricError: it has none, or one that is not a number from 0.
    """
    key = TIE if by == SCORE else f"{TIES}.{by}"
    threshold = config.get(TIE) if by == SCORE else (config.get(TIES) or {}).get(by)
    if threshold is None:
        raise PronmetricError(
            f"checkpoint {name} has no tie threshold ({key!r} in its config.yaml); give --tie a number "
            "(checkpoints that this version trains have one)"
        )
    if not _number(threshold) or not 0 <= threshold < math.inf:
        raise PronmetricError(
            f"checkpoint {name}: expected a tie threshold from 0 in its config.yaml, got {threshold!r}"
        )
    return float(threshold)


def decision_of(config: Mapping[str, Any], by: str | None, *, name: str) -> str:
    """What decides a comparison: `by`, one of `DECISIONS`; None is the key `decision` of the config, else "score".

    Raises:
        PronmetricError: the checkpoint `name` has no such number, or there is none.
    """
    by = config.get(DECISION, SCORE) if by is None else by
    if by not in DECISIONS:
        raise PronmetricError(f"expected a decision by {', '.join(DECISIONS)}, got {by!r}")
    if by == PREFERENCE and not has_pair_head(config):
        raise PronmetricError(
            f"checkpoint {name} has no pair head, and no preference: decide by score or errors, or take a checkpoint "
            "that was trained with head=two"
        )
    if by == ERRORS and config["head"]["kind"] != "logit":
        raise PronmetricError(
            f"checkpoint {name} has an unbounded head, and no expected number of errors: decide by score"
        )
    return by


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


def has_probabilities(config: Mapping[str, Any]) -> bool:
    """Whether the scores of pronouns are probabilities; those of the paper's heads are unbounded."""
    return bool(config["head"]["kind"] == "logit")


def has_pair_head(config: Mapping[str, Any]) -> bool:
    """Whether the checkpoint compares texts by a pair head."""
    return config.get(PAIR_HEAD) is not None


def language_of(config: Mapping[str, Any]) -> Language:
    """The language of the texts that a checkpoint scores, from its complete config."""
    return languages.of_record(config.get(LANGUAGE))


def of_scores(config: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a complete config that affects scores, independent of the order of keys and pronouns."""
    shown = {key: config[key] for key in KEYS if key not in ("context", "context_size")}  # signatures have these
    encoder = {key: value for key, value in config["encoder"].items() if key not in _NO_SCORE}
    head = {"kind": config["head"]["kind"]}
    if head["kind"] == "paper":
        head["slots"] = config["head"]["slots"]
    pair = {PAIR_HEAD: config[PAIR_HEAD]["heads"]} if has_pair_head(config) else {}
    language = {LANGUAGE: config[LANGUAGE]} if config.get(LANGUAGE) is not None else {}
    return {**shown, **pair, **language, "encoder": encoder, "head": head, "pronouns": sorted(config["pronouns"])}


def _encoder(encoder: object, path: Path) -> None:
    _check(isinstance(encoder, dict), path, "encoder", "a mapping", encoder)
    assert isinstance(encoder, dict)
    _one_of(encoder.get("kind", KINDS[0]), KINDS, path, "encoder.kind")

    def check(key: str, value: object) -> None:
        most = _LARGEST_POSITION if "position" in key else _LARGEST
        if isinstance(value, int):
            _check(abs(value) <= most, path, key, f"at most {most:,}", value)

    _walk(encoder, "encoder", check)


def _head(head: object, path: Path) -> None:
    _check(isinstance(head, dict), path, "head", "a mapping", head)
    assert isinstance(head, dict)
    _one_of(head.get("kind"), SEGMENT, path, "head.kind")
    dropout = head.get("dropout")
    _check(_number(dropout) and 0 <= dropout < 1, path, "head.dropout", "a number from 0 to below 1", dropout)  # type: ignore[operator]
    _whole(head.get("slots"), path, "head.slots", least=0, most=_LARGEST)
    # written by versions before 0.2, always false
    known = {"kind", "dropout", "slots"} | ({"correction"} if head.get("correction") is False else set())
    for key in head.keys() - known:
        _refuse(path, f"head.{key}", "no such key", head[key])


def _pair_head(head: object, path: Path) -> None:
    if head is None:
        return
    fits = isinstance(head, dict) and head.keys() == {"heads", "dropout"}
    _check(fits, path, PAIR_HEAD, "a mapping of heads and dropout", head)
    assert isinstance(head, dict)
    _whole(head["heads"], path, f"{PAIR_HEAD}.heads", least=1, most=_LARGEST)
    dropout = head["dropout"]
    fits = _number(dropout) and 0 <= dropout < 1
    _check(fits, path, f"{PAIR_HEAD}.dropout", "a number from 0 to below 1", dropout)


def _language(record: object, path: Path) -> Language:
    _check(record is None or isinstance(record, dict), path, LANGUAGE, "a mapping of code and uses", record)
    try:
        return languages.of_record(record)  # type: ignore[arg-type]
    except ValueError as error:
        _refuse(path, LANGUAGE, str(error), record)


def _pronouns(forms: object, language: Language, path: Path) -> None:
    known = language.forms
    listed = isinstance(forms, list) and len(forms) > 0
    _check(listed, path, "pronouns", "a list of pronouns", forms)
    assert isinstance(forms, list)
    for form in forms:
        _check(form in known, path, "pronouns", f"forms of the inventory ({', '.join(known)})", form)
    twice = sorted({form for form in forms if forms.count(form) > 1})
    _check(not twice, path, "pronouns", "each form once", ", ".join(twice))


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


def _whole(value: object, path: Path, key: str, *, least: int, most: int) -> None:
    fits = isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
    _check(fits, path, key, f"a whole number from {least} to {most:,}", value)


def _one_of(value: object, allowed: Collection[str], path: Path, key: str) -> None:
    _check(isinstance(value, str) and value in allowed, path, key, f"one of {', '.join(allowed)}", value)


def _check(fits: bool, path: Path, key: str, expected: str, got: object) -> None:
    if not fits:
        _refuse(path, key, expected, got)


def _refuse(path: Path, key: str, expected: str, got: object) -> NoReturn:
    shown = repr(got)
    shown = shown if len(shown) <= 80 else f"{shown[:77]}..."
    cure = (
        "install the pronmetric that wrote it"
        if key == "format"
        else "restore the value, or download the checkpoint again"
    )
    raise InputError(f"{key}: expected {expected}, got {shown}; {cure}", file=path)
