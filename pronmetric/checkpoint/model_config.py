"""What a model is: the one description of it, as a checkpoint's config.yaml has it. No torch.

Training writes it, `checkpoint.config` reads it, and `checkpoint.files` builds it with the modules of `nn`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator

from pronmetric.errors import InputError
from pronmetric.nn.encoders.kinds import Kind
from pronmetric.pronouns import languages
from pronmetric.settings import Fraction, Positive, Record, Settings, Size, SizeOrNone, Weight
from pronmetric.text.context import UNNAMED_CONTEXT_SIZE

FORMAT: Final = 1
"""Number of our own file format; another one is refused."""
SEGMENT: Mapping[str, Literal["mean", "weighted"]] = {"logit": "mean", "average": "mean", "paper": "weighted"}
"""How the scores of a segment's pronouns become its score, by the kind of head."""
WITH_PROBABILITIES = frozenset({"logit"})
"""The kinds of head whose scores are probabilities; those of the paper's heads are unbounded."""
KEYS = ("encoder", "head", "word_state", "segment", "max_pieces", "separator", "pronouns", "context", "context_size")
"""The keys that every checkpoint has, beside its format."""
_OF_SCORES = (
    "word_state",
    "segment",
    "max_pieces",
    "separator",
    "language",
    "calibration",
    "missing",
    "judged",
)  # signatures have the context
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
Number = Annotated[float, Field(allow_inf_nan=False)]
Context = Literal["none", "respective", "common"]
WordState = Literal["mean", "first"]
Decision = Literal["score", "errors", "preference"]


def architecture(encoder: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of an encoder's config that affect scores."""
    return {key: value for key, value in encoder.items() if key not in _NO_SCORE}


class Encoder(Record):
    """The encoder: its kind and its architecture, whose keys depend on the kind; Hugging Face's has no key `kind`."""

    model_config = ConfigDict(extra="allow")

    kind: Kind = "huggingface"


class Head(Record):
    """The head that scores pronouns; slots: those of the kind "paper", without effect in the others."""

    kind: Literal["logit", "paper", "average"]
    dropout: Fraction
    slots: SizeOrNone

    @model_validator(mode="before")
    @classmethod
    def _of_before(cls, head: Any) -> Any:
        """Without `correction`, which versions before 0.2 wrote, always false."""
        if isinstance(head, dict) and head.get("correction") is False:
            return {key: value for key, value in head.items() if key != "correction"}
        return head

    @property
    def form(self) -> dict[str, Any]:
        """What its weights depend on."""
        return {"kind": self.kind, "slots": self.slots} if self.kind == "paper" else {"kind": self.kind}


class PairHead(Record):
    """The head that compares two texts."""

    heads: Size
    dropout: Fraction


class GapHead(Record):
    """The head that finds missing pronouns; forms: those that it tells apart, in the order of its outputs."""

    forms: Annotated[list[str], Field(min_length=1)]
    dropout: Fraction


class Mixing(Record):
    """The logit of a pronoun with a source: model * the model's + reader * the reader's + bias.

    Where reader is 0 the source counts nothing, and the logit is the model's.
    """

    model: Number
    reader: Weight
    bias: Number


class Mixings(Record):
    """How both logits are joined for texts with a context and without one."""

    in_context: Mixing
    alone: Mixing


class Calibration(Record):
    """What the logits become: scale * logit + bias."""

    scale: Positive
    bias: Number


def _with_other_forms(shares: dict[str, float]) -> dict[str, float]:
    if "" not in shares:
        raise InputError('surplus: expected a key "", the share of all other forms')
    return shares


Surplus = Annotated[dict[str, Fraction], AfterValidator(_with_other_forms)]
"""By form, the share of its wrong pronouns that people delete instead of replacing; "" is of all other forms.

It divides the wrong pronouns and changes neither a score nor the number of errors, so that it is in no hash of scores.
"""


class PeoplePreference(Record):
    """The preference of a text with its source, fitted on pairs of texts that people judged.

    It is own * the preference of the pair head, as changed by the source, 0 without one, + logit * the mean logit of
    the pronouns with the source + missing * the expected number of missing pronouns; without a pronoun, empty + the
    last term.
    """

    own: Weight
    logit: Weight
    missing: Number
    empty: Number


class SourceRows(Record):
    """How a model reads texts with their sources.

    context, before: most pieces of the text's context and of the source's previous sentences (`data.source_rows`).
    languages: of the sources that it was trained on.
    """

    context: SizeOrNone
    before: SizeOrNone
    languages: list[str]


class SourceReader(SourceRows):
    """What makes a model a reader of sources, which stands in the folder of the checkpoint that it is for.

    model: hash of the weights that it is for. in_context, alone: how its logits join theirs, for texts with a context
    and without one; others: the same for sources in languages that it was not trained on, None: as in those.
    preference: share of the change of a pronoun's logit that a pair head's preference takes. missing: of the logits of
    its gap head; None without one. decision: what decides between texts with sources; None: what decides without.
    judged: how the preference joins what else is known of a text; None: it stays as it is. surplus: which wrong
    pronouns are surplus; None: not known.
    """

    model: str
    in_context: Mixing
    alone: Mixing
    preference: Weight
    others: Mixings | None = None
    missing: Calibration | None = None
    decision: Decision | None = None
    judged: PeoplePreference | None = None
    surplus: Surplus | None = None


class Target(Record):
    """One of several target languages of a model.

    code: of the language. uses: the uses of its forms, as `TableLanguage.to_record` has them; None for English.
    calibration: of the logits of its texts; None: they are as they are. missing: of those of the gap head; None:
    missing pronouns are not found in this language. surplus: which of its wrong pronouns are surplus; None: not known.
    tie, ties: as of a model.
    """

    code: str
    uses: list[str] | None = None
    calibration: Calibration | None = None
    missing: Calibration | None = None
    surplus: Surplus | None = None
    tie: Weight | None = None
    ties: dict[Decision, Weight] | None = None

    @property
    def record(self) -> dict[str, Any] | None:
        """The record of the language alone, for `languages.of_record`."""
        return None if self.uses is None else {"code": self.code, "uses": self.uses}


class Model(Settings):
    """A model: its architecture, what it reads, and how its numbers compare texts.

    weights: hash of the weights that belong to it (`shards.hash_weights`); older checkpoints name none.
    segment: how the scores of a segment's pronouns become its score. separator: whether one follows the context.
    pronouns: the inventory. context, context_size: the kind of context in training, and its sentences. language: the
    table of a target language that is not English. languages: several target languages instead, of which one is chosen
    for each use (`checkpoint.config.of_language`); `pronouns` has the forms of all. untrained: the chosen one is none
    of them. calibration: of the chosen one.
    missing: of the gap head of a scorer that reads sources itself; None: it finds no missing pronouns. surplus: which
    of its wrong pronouns are surplus; None: not known. judged: its preference; None: it has none.
    tie, ties: thresholds of the score, and of what else may decide. decision: what decides. source: of a reader of
    sources. reads_source: of a scorer that reads sources itself. training: the content of the card. Other keys are
    kept.
    """

    model_config = ConfigDict(extra="allow")

    format: Literal[1] = FORMAT
    weights: Annotated[str, Field(pattern="^[0-9a-f]{8}$")] | None = None
    encoder: Encoder
    head: Head
    word_state: WordState
    segment: Literal["mean", "weighted"]
    max_pieces: Size
    separator: bool
    pronouns: Annotated[list[str], Field(min_length=1)]
    context: Context
    context_size: SizeOrNone = UNNAMED_CONTEXT_SIZE
    language: dict[str, Any] | None = None
    languages: Annotated[list[Target], Field(min_length=2)] | None = None
    untrained: bool = False
    calibration: Calibration | None = None
    missing: Calibration | None = None
    surplus: Surplus | None = None
    judged: PeoplePreference | None = None
    pair_head: PairHead | None = None
    gap_head: GapHead | None = None
    tie: Weight | None = None
    ties: dict[Decision, Weight] = Field(default_factory=dict)
    decision: Decision = "score"
    source: SourceReader | None = None
    reads_source: SourceRows | None = None
    training: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _fits(self) -> Self:
        """Refuse parts that do not fit together."""
        kind = self.head.kind
        if self.segment != SEGMENT[kind]:
            raise InputError(f"segment={self.segment}: expected {SEGMENT[kind]} with head {kind}")
        if self.missing is not None and (self.gap_head is None or self.reads_source is None):
            raise InputError("missing: expected no such key without a gap head in a scorer that reads sources itself")
        if self.surplus is not None and self.reads_source is None:
            raise InputError("surplus: expected no such key without a scorer that reads sources itself")
        if self.judged is not None and (self.reads_source is None or self.pair_head is not None):
            raise InputError("judged: expected a scorer that reads sources itself and has no pair head")
        for key in ("languages", "calibration", "reads_source"):
            if getattr(self, key) is not None and kind not in WITH_PROBABILITIES:
                raise InputError(f"{key}: expected no such key with head {kind}, which gives no probabilities")
        if self.source is not None and self.reads_source is not None:
            raise InputError("reads_source: expected no such key in a reader of sources for another checkpoint")
        known = self._known_forms()
        if unknown := [form for form in self.pronouns if form not in known]:
            raise InputError(f"pronouns: expected forms of the inventory ({', '.join(known)}), got {unknown[0][:40]!r}")
        if twice := sorted({form for form in self.pronouns if self.pronouns.count(form) > 1}):
            raise InputError(f"pronouns: expected each form once, got {', '.join(twice)}")
        return self

    def _known_forms(self) -> list[str]:
        """The forms of all its languages."""
        if self.languages is None:
            named = {"language": self.language}
        elif any(each is not None for each in (self.language, self.calibration, self.missing, self.surplus)):
            raise InputError("languages: expected no key language, calibration, missing or surplus beside it")
        else:
            named = {f"languages[{number}]": each.record for number, each in enumerate(self.languages)}
            if tableless := [
                each.code for each in self.languages if not each.uses and each.code != languages.ENGLISH.code
            ]:
                raise InputError(f"languages: expected the uses of each form of {tableless[0]}, got none")
            codes = [each.code for each in self.languages]
            if twice := sorted({code for code in codes if codes.count(code) > 1}):
                raise InputError(f"languages: expected each language once, got {', '.join(twice)}")
        known: dict[str, None] = {}
        for key, record in named.items():
            try:
                known |= dict.fromkeys(languages.of_record(record).forms)
            except ValueError as error:
                raise InputError(f"{key}: expected {error}") from None
        return list(known)

    @property
    def source_rows(self) -> SourceRows | None:
        """How it reads texts with their sources, for another checkpoint or itself; None if it does not."""
        return self.source or self.reads_source

    def to_config(self) -> dict[str, Any]:
        """The keys of config.yaml, as plain values; those that were not given are left out."""
        return {key: value for key, value in self.model_dump(exclude_unset=True).items() if value is not None}

    def of_scores(self) -> dict[str, Any]:
        """What affects scores, independent of the order of keys and pronouns."""
        plain = self.to_config()
        shown = {key: plain[key] for key in _OF_SCORES if key in plain}
        pair = {} if self.pair_head is None else {"pair_head": self.pair_head.heads}
        gaps = {} if self.gap_head is None else {"gap_head": self.gap_head.forms}
        source = {
            key: rows.model_dump(exclude=_unscored(rows), exclude_none=True)
            for key, rows in (("source", self.source), ("reads_source", self.reads_source))
            if rows is not None
        }
        targets = ({k: v for k, v in each.items() if k != "surplus"} for each in plain.get("languages", ()))
        several = {} if self.languages is None else {"languages": list(targets)}
        return {
            **shown,
            **pair,
            **gaps,
            **source,
            **several,
            "encoder": architecture(plain["encoder"]),
            "head": self.head.form,
            "pronouns": sorted(self.pronouns),
        }


def _unscored(rows: SourceRows) -> set[str]:
    """The fields that do not affect scores; the languages do where the weights of others differ."""
    others = isinstance(rows, SourceReader) and rows.others is not None
    kept = {"model", "decision", "surplus"}
    return kept if others else kept | {"languages"}
