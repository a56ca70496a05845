"""Typed settings of the Hydra verbs: read from a composed config; errors are one line that names the key.

The allowed values of a key are defined once, by the field's type; messages are made from the JSON schema.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from pronmetric.errors import InputError

REMOVED: Mapping[str, Mapping[str, str]] = {
    "train": dict.fromkeys(
        (
            "data.agreeing",
            "data.soft",
            "encoder.layers",
            "encoder.lower",
            "encoder.max_words",
            "encoder.min_count",
            "experiment=antecedents",
            "experiment=multilingual",
            "experiment=soft",
            "head.pair.heads",
            "head.slots",
            "loss.margin",
            "objective.corruption.adjusted",
            "objective.corruption.balanced",
            "objective.corruption.fitting",
            "objective.corruption.smoothing",
            "objective.exchange",
            "objective.soft",
            "objective.temperature",
            "optim.beta2",
            "separator",
            "source.must_agree",
            "source.same_slot_share",
            "word_state",
        ),
        "1.0.0",
    ),
    "pretrain": dict.fromkeys(
        (
            "elmo.char_cnn.activation",
            "elmo.char_cnn.embedding",
            "elmo.char_cnn.max_characters_per_token",
            "elmo.char_cnn.n_characters",
            "elmo.lstm.cell_clip",
            "elmo.lstm.n_layers",
            "elmo.lstm.proj_clip",
            "elmo.lstm.use_skip_connections",
        ),
        "1.0.0",
    ),
    "prepare": dict.fromkeys(
        ("align=agreement", "align=eflomal", "align=embedding", "filter.reader", "filter.source", "passages.outputs"),
        "1.0.0",
    ),
}
"""Keys, groups of keys and options (GROUP=NAME) of each verb that are gone, with the version that dropped them."""


def removed(verb: str, key: str, options: Sequence[str] = ()) -> str | None:
    """The message that a key, or one of the options chosen of a group, is gone; None if it is not.

    >>> removed("train", "objective.soft.share"), removed("train", "experiment", ["base"])
    ('objective.soft was removed in 1.0.0', None)
    """
    for gone, version in REMOVED.get(verb, {}).items():
        if key == gone or key.startswith(f"{gone}.") or gone in [f"{key}={option}" for option in options]:
            return f"{gone} was removed in {version}"
    return None


class Record(BaseModel):
    """A frozen group of settings: each key has a type and a range; other keys are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class Settings(Record):
    """The settings of a verb.

    FREE: keys of mappings with arbitrary keys. REFUSED: keys that a user may expect, and why they do not exist.
    """

    FREE: ClassVar[Sequence[str]] = ()
    REFUSED: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def read(cls, config: Mapping[str, Any], *, file: Path | None = None, cure: str | None = None) -> Self:
        """Read the settings from a resolved config; `file` is where it was read, `cure` ends the errors.

        Raises:
            InputError: a key that is missing, unknown, or of the wrong type or range.
        """
        try:
            return cls.model_validate(config)
        except ValidationError as error:
            message = _message(error.errors()[0], cls.model_json_schema())
        except InputError as error:
            message = str(error)
        raise InputError(message if cure is None else f"{message}; {cure}", file=file)

    def unread(self) -> Iterator[tuple[str, str]]:
        """The keys that have no effect with these settings, each with the reason and the cure."""
        yield from ()


def _name_as_text(value: object) -> object:
    """A name of digits, which a config reads as a number, as a string."""
    return str(value) if type(value) is int else value


DIGITS = BeforeValidator(_name_as_text)
Text = Annotated[str, DIGITS, Field(min_length=1)]
Count = Annotated[int, Field(ge=1)]
CountOrNone = Annotated[int, Field(ge=0)]
LARGEST = 2**20  # the greatest size of a part of a model
Size = Annotated[int, Field(ge=1, le=LARGEST)]
SizeOrNone = Annotated[int, Field(ge=0, le=LARGEST)]
Seed = Annotated[int, Field(ge=0, lt=2**32)]
Weight = Annotated[float, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Fraction = Annotated[float, Field(ge=0, lt=1)]


def _message(error: Mapping[str, Any], schema: Mapping[str, Any]) -> str:
    """One line for an error of pydantic: the key, its value, what is expected."""
    definitions = schema.get("$defs", {})
    name, place = "", schema
    for part in error["loc"]:
        if part in place.get("discriminator", {}).get("mapping", {}):
            place = _resolve({"$ref": place["discriminator"]["mapping"][part]}, definitions)
            continue
        below = next((b for each in _forms(place, definitions) if (b := _below(each, part)) is not None), None)
        if below is not None:
            place = _resolve(below, definitions)
            name += f"[{part}]" if isinstance(part, int) else f".{part}"
        elif error["type"] == "extra_forbidden":
            name += f".{part}"
    name = name.lstrip(".")
    if error["loc"][-1:] == ("[key]",):  # of a mapping
        expected = error.get("ctx", {}).get("expected", "text").replace("'", "")
        return f"unknown key {name!r}: expected {expected}"
    if error["type"] == "extra_forbidden":
        return f"unknown key {name!r}: expected {_expectation(place, definitions)}"
    if error["type"] == "missing":
        return f"{name} is missing: expected {_expectation(place, definitions)}"
    if error["type"].startswith("union_tag"):
        key, tags = place["discriminator"]["propertyName"], _either(list(place["discriminator"]["mapping"]))
        came = f"={_quote(error['input'][key])}" if key in error["input"] else " is missing"
        return f"{name}.{key}{came}: expected {tags}"
    return f"{name}={_quote(error['input'])}: expected {_expectation(place, definitions)}"


def _forms(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The alternatives of a schema."""
    schema = _resolve(schema, definitions)
    alternatives = schema.get("anyOf")
    if alternatives is None:
        yield schema
    for each in alternatives or ():
        yield from _forms(each, definitions)


def _resolve(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    return definitions[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema


def _below(schema: Mapping[str, Any], part: str | int) -> Mapping[str, Any] | None:
    """The schema of a key or an item; None if there is none."""
    if part in schema.get("properties", {}):
        return schema["properties"][part]
    further = schema.get("items") if isinstance(part, int) else schema.get("additionalProperties")
    return further if isinstance(further, Mapping) else None


def _expectation(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> str:
    schema = _resolve(schema, definitions)
    if "anyOf" in schema:
        return _either([_expectation(each, definitions) for each in schema["anyOf"]])
    if "oneOf" in schema:
        return f"a group of kind {_either(list(schema['discriminator']['mapping']))}"
    if "const" in schema:
        return _quote(schema["const"])
    if "enum" in schema:
        return _either([_quote(value) for value in schema["enum"]])
    kind = schema.get("type")
    if kind in ("integer", "number"):
        return f"{'a whole number' if kind == 'integer' else 'a number'}{_range(schema)}"
    if kind == "array":
        size = schema.get("maxItems")
        return f"a list{f' of {size}' if size else ''}, each item {_expectation(schema['items'], definitions)}"
    if kind == "object":
        if "properties" in schema:
            return f"the keys {', '.join(schema['properties'])}"
        values = schema["additionalProperties"]
        return "{NAME: VALUE, ...}" + ("" if values is True else f", each value {_expectation(values, definitions)}")
    if kind == "string":
        return f"text like {schema['examples'][0]}" if "examples" in schema else "text"
    return {"boolean": "true or false", "null": "null"}[str(kind)]


def _range(schema: Mapping[str, Any]) -> str:
    least, above = schema.get("minimum"), schema.get("exclusiveMinimum")
    most, below = schema.get("maximum"), schema.get("exclusiveMaximum")
    if most is None and below is None:
        return f" of at least {least}" if least is not None else f" above {above}" if above is not None else ""
    begin = f" from {least}" if least is not None else f" above {above}"
    return f"{begin} to {most}" if most is not None else f"{begin} to below {below}"


def _either(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _quote(value: object) -> str:
    """A value as YAML, cut to one line."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    text = " ".join(str(value).split()) if isinstance(value, str) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
