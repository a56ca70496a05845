"""What requests and answers look like: the models by which bodies are checked, and those that describe the answers.

Records are checked by `pronmetric.text.records`, as those of `score --jsonl`; here they are only described.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema

from pronmetric.eval.decision import DECISIONS
from pronmetric.scoring.alternatives import THRESHOLD, TOP
from pronmetric.scoring.comparison import TIE_THRESHOLD

RECORDS = 256
"""The most records of a request."""
BODY = 2**20
"""The largest body of a request, in bytes."""
FILE = 4 * BODY
"""The largest body with the text of a file."""

_SENTENCES = {"type": "array", "items": {"type": "string"}}
Record = Annotated[
    Any,
    WithJsonSchema(
        {
            "title": "Record",
            "type": "object",
            "required": ["text"],
            "properties": {
                "id": {"description": "comes back with the answer (default: the record's number from 0)"},
                "text": {"type": "string", "description": "the translation whose pronouns are scored"},
                "context": {**_SENTENCES, "description": "the sentences before it, oldest first"},
                "speaker": {"type": "string", "description": "who says the text; read before it by the model"},
                "context_speakers": {**_SENTENCES, "description": "who says each sentence of the context"},
                "source": {
                    "type": "string",
                    "description": "its source, in all records or none; affects scores if the model has a "
                    "reader of sources",
                },
                "source_context": {**_SENTENCES, "description": "the sentences before the source"},
                "doc": {"type": "string", "description": "its document, over which intervals are computed"},
            },
        }
    ),
]
Records = Annotated[list[Record], Field(min_length=1, max_length=RECORDS)]
Lang = Annotated[
    str | None,
    Field(
        max_length=100,
        description="code of the language of the texts, for a model of several; null is the one of the server's start",
    ),
]
_EXAMPLE: dict[str, Any] = {"id": 1, "context": ["Maria ran the library."], "text": "On Friday he locked its doors."}
_BETTER: dict[str, Any] = {**_EXAMPLE, "text": "On Friday she locked its doors."}


class ScoreRequest(BaseModel):
    """Records to score."""

    model_config = ConfigDict(extra="forbid", strict=True, json_schema_extra={"example": {"records": [_EXAMPLE]}})
    records: Records
    lang: Lang = None


class SuggestRequest(BaseModel):
    """Records whose doubtful pronouns are listed."""

    model_config = ScoreRequest.model_config
    records: Records
    lang: Lang = None
    threshold: float | None = Field(
        THRESHOLD, ge=0, le=1, description="pronouns with a lower probability are listed; null lists all"
    )
    top: int = Field(TOP, ge=1, le=100, description="the most forms of each pronoun")


class CompareRequest(BaseModel):
    """Records of two systems; those at the same place are translations of the same sentence."""

    model_config = ConfigDict(
        extra="forbid", strict=True, json_schema_extra={"example": {"a": [_EXAMPLE], "b": [_BETTER]}}
    )
    a: Records
    b: Records
    lang: Lang = None
    by: str | None = Field(
        None, description="what decides; null is the checkpoint's own", json_schema_extra={"enum": [*DECISIONS, None]}
    )
    tie: float = Field(TIE_THRESHOLD, ge=0, allow_inf_nan=False, description="up to this difference it is a tie")


class ReadRequest(BaseModel):
    """The text of a file, and its name, whose suffix may tell the format."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={"example": {"name": "a.srt", "text": "1\n00:00:01,000 --> 00:00:02,000\nShe left.\n"}},
    )
    name: str = Field(max_length=1000)
    text: str


class Source(BaseModel):
    """What the source says about a pronoun: log-odds above 0 support it; its decisive word, "" and -1 if none."""

    log_odds: float
    word: str
    start: int
    end: int


class Pronoun(BaseModel):
    """A scored pronoun; start and end count code points of the text. probability: that it is right in this context.

    score: in its place, unbounded, where the checkpoint gives no probabilities.
    """

    model_config = ConfigDict(extra="forbid")
    text: str
    start: int
    end: int
    probability: float | None = None
    score: float | None = None
    surplus: float | None = None
    source: Source | None = None


class Word(BaseModel):
    """A word and its place."""

    text: str
    start: int
    end: int


class Gap(BaseModel):
    """A place where a pronoun may be missing: where the word after it starts, the likely form, the probability."""

    model_config = ConfigDict(extra="forbid")
    start: int
    form: str
    probability: float


class ScoredRecord(BaseModel):
    """A record's score in [0, 1], null without a pronoun, and the expected number of pronoun errors.

    preference: the number by which two translations of one segment are compared, if the checkpoint has one.
    expected_wrong, expected_missing: the errors apart, wrong pronouns and missing ones, and gaps, where one is likely
    missing; expected_surplus: surplus pronouns, which are among the wrong ones if the reader does not tell them apart.
    They are there if the record has a source and the checkpoint's reader of sources finds missing pronouns.
    missing, surplus: pronouns of the source without a counterpart, and the reverse, if the server has --source-lang.
    no_translation: why it is none, such as "refusal", if it looks like what a language model says instead.
    """

    model_config = ConfigDict(extra="forbid")
    id: Any
    score: float | None
    errors: float | None
    preference: float | None = None
    pronouns: list[Pronoun]
    expected_wrong: float | None = None
    expected_surplus: float | None = None
    expected_missing: float | None = None
    gaps: list[Gap] | None = None
    missing: list[Word] | None = None
    surplus: list[Word] | None = None
    no_translation: str | None = None


class BetterForm(BaseModel):
    """A more probable form; agrees: whether it has the pronoun's case and kind, and fits its verb or noun.

    same_person: whether it is of the pronoun's grammatical person.
    """

    model_config = ConfigDict(extra="forbid")
    form: str
    text: str
    probability: float
    agrees: bool
    same_person: bool


class Doubtful(Pronoun):
    """A listed pronoun with its better forms: those that agree first, of these those of the same person."""

    better: list[BetterForm]


class SuggestedRecord(BaseModel):
    """The listed pronouns of a record. no_translation: why it is none, as in `ScoredRecord`."""

    model_config = ConfigDict(extra="forbid")
    id: Any
    text: str
    pronouns: list[Doubtful]
    no_translation: str | None = None


class Attending(Pronoun):
    """A pronoun with its attention to each word of the context, then of the text; null if the model has none.

    gender: such as "masculine or neuter"; null if the form or the language shows none. genders: then those of the five
    words that it attends to most, by the number of the word among the weights, where they are nouns and known.
    """

    weights: list[float] | None
    gender: str | None
    genders: dict[int, str]


class AttendedRecord(BaseModel):
    """The attention of a record's pronouns. context: as the model reads it; words: spans in it and in the text."""

    model_config = ConfigDict(extra="forbid")
    id: Any
    context: str
    context_words: list[tuple[int, int]]
    text_words: list[tuple[int, int]]
    pronouns: list[Attending]


class Comparison(BaseModel):
    """A comparison as `pronmetric compare --to_json` writes it, with the record's id in each segment.

    verdict: which of the two is better, in a sentence. notes: a language that the model was not trained on, texts in
    another one, sources that cannot be right, and records that are no translation.
    """

    model_config = ConfigDict(extra="forbid")
    format: int
    segments: list[dict[str, Any]]
    pairs: list[dict[str, Any]]
    by: str
    unit: str
    tie: float
    signature: str
    verdict: str
    notes: list[str]


class ScoredRecords(BaseModel):
    """As `pronmetric score --jsonl` prints, in the order of the records.

    verdict: the expected errors of all, in a sentence. notes: as of `Comparison`.
    """

    model_config = ConfigDict(extra="forbid")
    records: list[ScoredRecord]
    signature: str
    verdict: str
    notes: list[str]


class SuggestedRecords(BaseModel):
    """As `pronmetric suggest --jsonl` prints, in the order of the records. notes: as of `Comparison`."""

    model_config = ConfigDict(extra="forbid")
    records: list[SuggestedRecord]
    signature: str
    notes: list[str]


class AttendedRecords(BaseModel):
    """In the order of the records."""

    model_config = ConfigDict(extra="forbid")
    records: list[AttendedRecord]
    signature: str


class Place(BaseModel):
    """Where a text stands in its file: its first line, from 1, and the place in the words of the format."""

    model_config = ConfigDict(extra="forbid")
    line: int
    place: str


class ReadFile(BaseModel):
    """The texts of a file, in order, and the sources that it has, "" where one has none.

    places: where they stand; empty for plain lines. notes: what was left out, and what the page does not use.
    """

    model_config = ConfigDict(extra="forbid")
    format: str
    texts: list[str]
    sources: list[str] | None
    places: list[Place]
    notes: list[str]


class Health(BaseModel):
    """The server answers. waiting: characters of requests that wait for the model.

    signature: in the language of requests that name none. languages: those that the model was trained on.
    """

    model_config = ConfigDict(extra="forbid")
    status: Literal["ok"]
    model: str
    signature: str
    version: str
    languages: list[str]
    waiting: int
