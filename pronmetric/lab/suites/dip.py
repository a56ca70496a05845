"""DiP (Jwalapuram et al. 2020), discourse phenomena in translation: references against wrong versions, by phenomenon.

Its files are no longer available; this reads the format of `pronmetric suite build wmt`, which follows the rules of the
same authors, with a key for other phenomena.
"""

from __future__ import annotations

from pathlib import Path

from pronmetric.lab.suites.contrastive import (
    About,
    Candidate,
    Item,
    Reading,
    judge_scores,
    last,
    no_documents,
    no_translations,
    read_objects,
    target_language,
)
from pronmetric.text.entry import Entry

BY, PAIR, LANGUAGES = "phenomenon", "pronoun pair", "language pair"
PHENOMENA = ANAPHORA, COHESION, COHERENCE, CONNECTIVES = (
    "anaphora",
    "lexical consistency",
    "coherence and readability",
    "discourse connectives",
)

ABOUT = About(
    name="dip",
    title="DiP (Jwalapuram et al. 2020)",
    languages="any",
    phenomena=", ".join(PHENOMENA),
    judged=("scores",),
    by=BY,
    text="""Set: the files of the benchmark are no longer available; the format is that of `suite build wmt`, JSONL, an
object a line:
  {"id", "lp": "de-en", "phenomenon", "source", "source_context": [sentences], "reference",
   "reference_context": [sentences], "noisy_reference", "right", "wrong", "doc"}
The phenomenon is anaphora (the default), lexical consistency, coherence and readability, or discourse connectives;
other keys are not read. "noisy_reference" is the wrong translation; "right" is the reference's pronoun
and "wrong" that of the wrong translation. The contexts, "right", "wrong" and "doc" may be absent.
One score for each line: the reference, then the wrong translation, both after the reference's context. An item is
right if the reference scores strictly better. Accuracy by phenomenon, language pair and pronoun pair; intervals are
over the documents ("doc") or items. --model judges anaphora into its language; the other items are left out,
counted.""",
)


def read(path: str | Path, reading: Reading) -> tuple[Item, ...]:
    """The items of a set: the reference and the wrong translation.

    Raises:
        InputError: with the line, where a key is missing, a value is of another kind, or an id is there twice.
    """
    no_documents(path, reading)
    return tuple(item for item, _ in read_objects(path, lambda entry: _item(entry, reading.context)))


def _item(entry: Entry, size: int) -> Item:
    id, target = entry.identity(), target_language(entry, "lp")
    phenomenon = ANAPHORA if entry.get("phenomenon") is None else entry.one_of("phenomenon", PHENOMENA)
    contexts = [last(entry.sentences(f"{side}_context"), size) for side in ("source", "reference")]
    right, wrong = entry.label("right"), entry.label("wrong")
    return Item(
        id=id,
        candidates=tuple(
            Candidate(entry.text("source"), entry.text(key), *contexts) for key in ("reference", "noisy_reference")
        ),
        groups={BY: phenomenon, LANGUAGES: entry.string("lp")}
        | ({PAIR: f"{right}:{wrong}"} if right and wrong else {}),
        document=entry.label("doc") or id,
        language=target,
        of_pronouns=phenomenon == ANAPHORA,
    )


judge, judge_translations = judge_scores, no_translations
