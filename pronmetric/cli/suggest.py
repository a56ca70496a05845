"""`pronmetric suggest`: doubtful pronouns of a text, and the forms that the model prefers."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator, Sequence

from pronmetric.cli import flags
from pronmetric.cli.corpus_run import CorpusRun, RecordsRun
from pronmetric.cli.flags import ModelFlags, OutputFlags, TextFlags
from pronmetric.cli.parser import Command, Flags, UsageError, flag, number, part, require_one, switch, whole
from pronmetric.results import write
from pronmetric.scoring.alternatives import THRESHOLD, TOP, Tally
from pronmetric.scoring.score import no_translation_note
from pronmetric.text import strict_json
from pronmetric.text.context import COMMON, GIVEN, NONE, RESPECTIVE, Text
from pronmetric.text.records import Record

TEXTS = "texts (UTF-8, also gzip)"
DESCRIPTION = f"""List doubtful pronouns of translations into English, or the language of --model, with alternatives.

A pronoun is doubtful if its probability is below the threshold. Each other form of the same slot is substituted, one at
a time, and scored by the model; forms with a higher probability are listed as "better": those that agree first, and
of these the most probable.

The threshold of {THRESHOLD:g} has the best F1 with `small` on development data with about 7 % wrong pronouns:
63 % of the pronouns below it are wrong (precision), and 52 % of the wrong pronouns are below it (recall). See
benchmarks/published/suggest-threshold.md for other thresholds.

The suggestions are not corrections. The model knows what is probable in the text and, if the source counts (-s), what
the source says. The rest of the sentence is not changed: "agrees" says whether the form has the case and kind of the
pronoun ("these" for "she" has not) and fits its verb or noun, "same_person" whether it is of the pronoun's person (for
"she", "he" is and "I" is not). Forms that agree come first, of these those of the same person; other mentions of the
same referent stay."""
EPILOG = (
    """--jsonl reads one object on each line, {"id": ..., "text": "...", "context": ["previous", "sentences"]}. The
output has one object on each line, in the same order, also for a text without a doubtful pronoun, whose list is empty;
the ids of -t are the line numbers, from 0. Start and end count code points of the text:

  {"id": 1, "text": "He is late.", "pronouns": [{"text": "He", "start": 0, "end": 2, "probability": 0.03, "better":
    [{"form": "she", "text": "She", "probability": 0.98, "agrees": true,
     "same_person": true}]}]}

"better" is empty if no other form has a higher probability. Forms that would not be a pronoun in that position are not
scored.

context of -t:
  common      the previous sentences of the reference; the default with -r
  respective  the previous lines of the file; the default without -r
  none        no context
  given       the context of each record; the default with --jsonl
"""
    + flags.CONTEXT_SIZE_HELP
    + """

examples:
  pronmetric suggest --jsonl records.jsonl > suggestions.jsonl
  pronmetric suggest -t system.txt --docids ids.txt --threshold 0.3 --top 1"""
)


class ListedFlags(Flags):
    """Which pronouns are listed, and how many better forms of each."""

    threshold: float | None = flag(
        type=number(0, 1), metavar="X", help=f"list pronouns with a probability below X (default: {THRESHOLD:g})"
    )
    all: bool = switch(help="list all pronouns")
    top: int = flag(type=whole(1), default=TOP, metavar="N", help="better forms of each pronoun (default: %(default)s)")

    def check(self) -> None:
        """Refuse a threshold with --all."""
        if self.all and self.threshold is not None:
            raise UsageError("give one of --threshold and --all")

    @property
    def below(self) -> float | None:
        """The probability below which a pronoun is listed; None lists all."""
        if self.all:
            return None
        return THRESHOLD if self.threshold is None else self.threshold


class SuggestFlags(Flags):
    """The texts, the model, and which pronouns are listed."""

    jsonl: str | None = flag(group=TEXTS, metavar="FILE|-", help="records, one JSON object on each line; - is stdin")
    translations: Sequence[str] | None = flag(
        "-t", "--translations", group=TEXTS, nargs=1, metavar="FILE", help="or a system output"
    )
    references: Sequence[str] | None = flag(
        "-r", "--references", group=TEXTS, nargs=1, metavar="FILE", help="with -t: reference, used as context"
    )
    sources: str | None = flag(
        "-s",
        "--sources",
        group=TEXTS,
        metavar="FILE",
        help="with -t: source; counts if the model has a reader of sources",
    )
    texts: TextFlags = part(TextFlags, TEXTS, only=("resegment", "systems", "format", "text_key"))
    docids: str | None = flag(group=TEXTS, metavar="FILE", help="with -t: document ids, one on each line, or `blank`")
    speakers: str | None = flag(
        group=TEXTS, metavar="FILE", help="with -t: who says each line; the model reads the names before the lines"
    )
    context: str | None = flag(group=TEXTS, choices=[COMMON, RESPECTIVE, NONE, GIVEN], help="see below")
    listed: ListedFlags = part(ListedFlags, "selection")
    model: ModelFlags = part(ModelFlags, flags.MODEL)
    out: OutputFlags = part(OutputFlags, only=flags.NOTES)
    strict: bool = flags.strict_flag()

    def check(self) -> None:
        """Refuse both inputs or none, and flags of the other one."""
        require_one({"--jsonl": self.jsonl, "-t": self.translations})
        of_lines = (self.references, self.docids, self.sources, self.speakers)
        if self.jsonl is not None and any(value is not None for value in of_lines):
            raise UsageError("-r, -s, --docids and --speakers go with -t, not with --jsonl")


def run(task: SuggestFlags) -> None:
    """List the doubtful pronouns."""
    texts, model = task.texts, task.model
    flags.check_targets(texts, model, task.out)
    opened: CorpusRun | RecordsRun
    if texts.jsonl is not None:
        opened = RecordsRun(texts.jsonl, texts, model, task.out)
    else:
        opened = CorpusRun(texts, model, task.out, alone=RESPECTIVE, tested=False)
    with opened as run:
        _suggest(task.listed, run)


def _suggest(listed: ListedFlags, run: CorpusRun | RecordsRun) -> None:
    waiting, tally, refused = deque[Record](), Tally(), list[int]()

    def read_texts() -> Iterator[Text]:
        for record in run.records():
            waiting.append(record)
            yield record.text

    with run.progress(run.total, label="suggest"):
        for places in run.alternatives(read_texts(), below=listed.below):
            record = waiting.popleft()
            where = {} if record.place is None else write.place_entry(record.place)
            suggested = write.suggestions(record.text, places, top=listed.top)
            print(strict_json.dump({"id": record.id, **where, **suggested}))
            if "no_translation" in suggested:
                refused.append(tally.texts)
            tally.add(places)
            if not waiting:  # a batch is finished; pass it on to a reader of the pipe
                sys.stdout.flush()
    asked = "pronouns" if listed.below is None else f"pronouns below {listed.below:g}"
    run.note.detail(f"{tally.pronouns} {asked} in {tally.texts} texts; {tally.better} of them with a better form")
    if refused:
        unit = "record" if isinstance(run, RecordsRun) else "line"
        run.note(no_translation_note(len(refused), tally.texts, refused[0], unit))
    run.sign_texts()


VERB = Command(
    "suggest",
    SuggestFlags,
    run,
    DESCRIPTION,
    EPILOG,
    stray="give one system output with -t FILE, or records with --jsonl FILE",
)
