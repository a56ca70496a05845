"""The flags that several verbs share, as records, and the checks of their combinations."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pronmetric.checkpoint import locate
from pronmetric.cli.defaults import ConfigFlags
from pronmetric.cli.output import Notes
from pronmetric.cli.parser import (
    Exclusive,
    Flags,
    UsageError,
    flag,
    number,
    part,
    require_one,
    switch,
    whole,
)
from pronmetric.errors import PronmetricError
from pronmetric.eval.decision import DECISIONS
from pronmetric.eval.resampling import SEED
from pronmetric.output import targets
from pronmetric.text import language_codes, streams
from pronmetric.text.context import COMMON, GIVEN, NONE, RESPECTIVE
from pronmetric.text.files.detect import FORMATS
from pronmetric.text.files.door import Reading

HOST, PORT = "127.0.0.1", 8000
AUTO = "auto"
"""The value of --tie that takes the checkpoint's tie threshold."""
BY_HELP = (
    "what decides between two texts: score, the mean probability of their pronouns; errors, the expected number of "
    "wrong or surplus pronouns and, where the source tells them, missing ones (fewer is better); preference, the pair "
    "head's number (default: the one that the checkpoint's config names, which was chosen on development data; score "
    "if it names none)"
)
CONTEXT_SIZE_HELP = """The number of previous sentences is that of the checkpoint's training (2 for the shipped ones). A
checkpoint that was trained without context scores without it by default."""
SPEAKERS_WITHOUT_CONTEXT = "--speakers names who says the lines of the context, which --context none does not use"
RESEGMENTED_SPEAKERS = "--speakers names who says each line, and --resegment makes other segments than lines"
TEXTS = "texts (UTF-8, also gzip; one segment a line, or a format of --format)"
MODEL = "model"
OUTPUT = "output (FILE - is stdout; what else would be printed goes to stderr)"
COMET = "as in COMET"
REFUSED = {
    "--num_workers": "a single process reads and prepares the texts; for several GPUs use --gpus N",
    "--accelerator": "the GPUs share the batches of one process; set their number with --gpus N",
    "--mc_dropout": "scores are computed without dropout and have no variance",
    "--print_cache_info": "the number of distinct encoded texts is in the --to_json output, under counts",
    "--enable-context": "every text is scored in its context; choose the kind with --context",
    "--sacrebleu_dataset": "nothing is downloaded; give -d NAME:LP with --wmt-dir DIR",
}
_AMOUNT = Exclusive()


def by_flag(group: str | None = None) -> Any:
    """The flag --by."""
    return flag(group=group, choices=DECISIONS, help=BY_HELP)


def also_flag(group: str | None = None) -> Any:
    """The flag --also."""
    from pronmetric.lab.baselines.reference_based import NAMES

    def parse(text: str) -> tuple[str, ...]:
        names = tuple(dict.fromkeys(name.strip().lower() for name in text.split(",")))
        if unknown := [name for name in names if name not in NAMES]:
            known = ", ".join(NAMES)
            raise argparse.ArgumentTypeError(f"expected some of {known}, separated by commas; got {unknown[0]!r}")
        return names

    return flag(
        group=group,
        type=parse,
        metavar="NAMES",
        help=f"also compute these reference-based scores, separated by commas: {','.join(NAMES)}",
    )


def source_lang_flag(group: str | None = None) -> Any:
    """The flag by whose table missing and surplus pronouns are counted."""
    return flag(
        group=group,
        metavar="LANG|FILE",
        help="language of the source (of -s, -d, or of the records), or a table of `pronmetric baseline counts`: "
        "missing and surplus pronouns are counted by the source; scores do not change",
    )


def format_flag(group: str | None = None, *, of: str = "-t, -r and -s") -> Any:
    """The flag that names the format of the texts; of: whose files have it."""
    return flag(
        group=group,
        choices=FORMATS,
        help=f"format of the files of {of} (default: told by the first lines and the suffix of each; lines insists on "
        "plain lines)",
    )


def resegment_flag(group: str | None = None) -> Any:
    """The flag of texts whose lines are not those of the reference or source."""
    return switch(
        group=group,
        help="cut lines into sentences and align them with those of the reference or source: for outputs that merge or "
        "split sentences, or have a document on a line",
    )


def strict_flag(group: str | None = None) -> Any:
    """The flag --strict."""
    what = "texts do not look like their language, or a source or reference cannot be right"
    return switch(group=group, help=f"an error instead of a note where {what}")


def precision_flag(group: str | None = None, *, gpus: bool = True) -> Any:
    """The flag --precision; `gpus`: also for GPUs."""
    return flag(
        group=group,
        choices=["32", "bf16", "16"],
        type=_precision,
        help=f"precision of the model (default: 32{', on a GPU of CUDA bf16' if gpus else ''}; 32 is exact to "
        "1e-5; bf16 and 16 are faster, their scores vary by up to 0.01 with the batch, the other texts and the "
        "hardware)",
    )


def _precision(value: str) -> str:
    """The precision as it is given."""
    if value == "int8":
        raise argparse.ArgumentTypeError("int8 was dropped in version 1.0.0: give bf16")
    return value


def seed_flag() -> Any:
    """The flag of what is drawn."""
    return flag(
        "--seed",
        "--seed_everything",
        group=MODEL,
        type=whole(0),
        default=SEED,
        metavar="N",
        help="seed of what is drawn (default: %(default)s)",
    )


class TextFlags(Flags):
    """The texts of a verb, as files of lines, a WMT test set or records, and their context."""

    translations: Sequence[str] | None = flag(
        "-t",
        "--translations",
        nargs="+",
        metavar="FILE",
        help="system outputs; - is stdin; at most 100,000 characters a line",
    )
    references: Sequence[str] | None = flag(
        "-r",
        "--references",
        nargs="+",
        metavar="FILE",
        help="reference, used as context; with several, scores are the means over them",
    )
    sources: str | None = flag(
        "-s",
        "--sources",
        metavar="FILE",
        help="source: shown in reports; affects scores if the model reads sources or has a reader of them",
    )
    source_lang: str | None = source_lang_flag()
    docids: str | None = flag(
        metavar="FILE",
        help="one document id per line, or `blank`: blank lines end documents; context never crosses documents",
    )
    speakers: str | None = flag(
        metavar="FILE",
        help="who says each line, an empty line where that is not known; the model reads the names before the lines",
    )
    resegment: bool = resegment_flag()
    dataset: str | None = flag("-d", "--dataset", metavar="NAME:LP", help="a WMT test set, e.g. wmt22:de-en")
    wmt_dir: str | None = flag(
        metavar="DIR",
        help="folder of the test sets: wmtNN-news-systems checkouts, mt-metrics-eval's folders, or any layout of "
        "`prepare`",
    )
    systems: Sequence[str] | None = flag(
        nargs="+",
        metavar="NAME",
        help="systems of -d, also references, or of a table with a column of systems (default: all systems)",
    )
    refs: Sequence[str] | None = flag(nargs="+", metavar="NAME", help="references of -d (default: the first)")
    format: str | None = format_flag()
    text_key: str | None = flag(
        metavar="NAME",
        help="the column of a table, the key of JSON objects, or the language of a TMX file, that has the texts of -t",
    )
    jsonl: str | None = None
    context: str | None = None
    strict: bool = False

    @property
    def reading(self) -> Reading:
        """How the files of texts are read."""
        return Reading(self.format, self.text_key, self.systems)

    def check(self) -> None:
        """Refuse flags of other texts than those given."""
        self._check_dataset()
        if self.translations is None and (self.format or self.text_key):
            raise UsageError("--format and --text-key are of the files of -t")
        if self.translations is None and self.resegment:
            raise UsageError(f"--resegment goes with -t, not with {'-d' if self.jsonl is None else '--jsonl'}")
        if self.resegment and self.speakers is not None:
            raise UsageError(RESEGMENTED_SPEAKERS)
        if self.refs is not None and self.dataset is None:
            raise UsageError("--refs names references of -d; with -t give reference files with -r")
        if self.refs is not None and self.context not in (None, COMMON):
            raise UsageError(f"--refs names the common context, which --context {self.context} does not use")
        if self.context == NONE and self.speakers is not None:
            raise UsageError(SPEAKERS_WITHOUT_CONTEXT)
        if self.jsonl is not None and self.context in (COMMON, RESPECTIVE):
            raise UsageError(
                f"--context {self.context} needs lines of text (-t); records of --jsonl contain their context"
            )
        if self.jsonl is None and self.context == GIVEN:
            raise UsageError("--context given needs records (--jsonl), which contain their context")

    def _check_dataset(self) -> None:
        """Refuse an invalid name of a test set, and flags of one without -d."""
        if self.dataset is None and self.wmt_dir:
            raise UsageError("--wmt-dir goes with -d")
        if self.dataset is None and self.systems and self.translations is None:
            raise UsageError("--systems goes with -d, or with a table (-t)")
        if self.dataset is not None:
            name, _, pair = self.dataset.partition(":")
            if not re.fullmatch(r"[^:\s]+", name) or language_codes.pair(pair) is None:
                raise UsageError(f"-d: expected NAME:LP such as wmt22:de-en, got {self.dataset!r}")
            if self.wmt_dir is None:
                raise UsageError("-d needs --wmt-dir DIR; nothing is downloaded")


class ModelFlags(Flags):
    """The model of a verb and how it runs."""

    model: str | None = flag(metavar="NAME|FOLDER", help="a shipped name, a folder, or a hub name (default: base)")
    lang: str | None = flag(metavar="CODE", help="language of the texts, such as de, for a model of several languages")
    allow_network: bool = switch(help="download --model from the Hugging Face hub")
    batch_size: int | None = flag(
        type=whole(1), metavar="N", help="pieces per batch, in units of 32 (default: 32, on a GPU 1024)"
    )
    gpus: int | None = flag(
        type=whole(0),
        metavar="N",
        help="number of GPUs, 0 for the CPU (default: 1 of CUDA if available; 1 also means Apple's)",
    )
    precision: str | None = precision_flag()
    model_storage_path: str | None = None
    source_lang: str | None = None
    no_source: bool = switch(help="ignore sources, if the model reads them or has a reader of sources")
    disable_cache: bool = False
    disable_length_batching: bool = False

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of `PronounMetric.from_pretrained`."""
        names = ("model", "lang", "precision", "gpus", "allow_network", "source_lang", "no_source")
        return {**{name: vars(self)[name] for name in names}, "storage": self.model_storage_path}


class OutputFlags(Flags):
    """What a verb writes besides its result, and what it tells on stderr."""

    to_json: str | None = flag(
        metavar="FILE", help="write all results as JSON: signature, systems, segments, pronouns, intervals"
    )
    to_tsv: str | None = flag(metavar="FILE", help="write a table with one pronoun per line")
    to_mqm: str | None = None
    only_system: bool = switch(help="print only system scores")
    quiet: bool = switch(exclusive=_AMOUNT, help="no progress and notes on stderr")
    verbose: bool = switch(
        "--verbose",
        exclusive=_AMOUNT,
        help="more notes on stderr: kind of context, numbers and intervals, other signatures (default: the signature "
        "and warnings)",
    )
    disable_bar: bool = False

    @property
    def prints_segments(self) -> bool:
        """Whether segments are printed: not with --only_system, and not where a file is written to stdout."""
        return not self.only_system and not any(map(streams.is_stdout, (self.to_json, self.to_tsv, self.to_mqm)))

    def notes(self) -> Notes:
        """The notes on stderr, as many as the flags want."""
        return Notes(quiet=self.quiet, verbose=self.verbose)


NOTES = ("quiet", "verbose")
"""The flags of `OutputFlags` of the notes on stderr."""


def _port(text: str) -> int:
    """A port from 0 to 65535."""
    port = whole(0)(text)
    if port > 65535:
        raise argparse.ArgumentTypeError(f"expected a port from 0 to 65535, got {text}")
    return port


class ListenFlags(Flags):
    """Where a server listens."""

    host: str = flag(default=HOST, metavar="NAME", help="address to listen on (default: %(default)s)")
    port: int = flag(type=_port, default=PORT, metavar="N", help="0 takes a free one (default: %(default)s)")


class CometFlags(Flags):
    """Flags of `comet-score` and `comet-compare` that other records read."""

    model_storage_path: str | None = flag(
        "--model_storage_path", metavar="DIR", help="folder for a --model of the hub (default: the hub's cache)"
    )
    disable_cache: bool = switch(
        "--disable_cache", help="encode repeated texts again: slower, less memory, same scores"
    )
    disable_length_batching: bool = switch(
        "--disable_length_batching", help="make batches in the order of the texts: slower, same scores"
    )
    disable_bar: bool = switch("--disable_bar", help="no progress bar; notes are still printed on stderr")


class ScoringFlags(Flags):
    """The flags of both `score` and `compare`, to which each adds its own."""

    texts: TextFlags = part(TextFlags, TEXTS)
    jsonl: str | None = None
    context: str | None = flag(group=TEXTS, choices=[COMMON, RESPECTIVE, NONE], help="see below")
    model: ModelFlags = part(ModelFlags, MODEL)
    seed: int = SEED
    out: OutputFlags = part(OutputFlags, OUTPUT)
    strict: bool = strict_flag(OUTPUT)
    defaults: ConfigFlags = part(ConfigFlags)
    comet: CometFlags = part(CometFlags, COMET)

    def inputs(self) -> dict[str, object]:
        """The flags that name the texts, one of which must be given."""
        return {"-t": self.texts.translations, "-d": self.texts.dataset}

    def check(self) -> None:
        """Refuse several inputs or none, and flags of another one."""
        chosen = require_one(self.inputs())
        of_files = {
            "-r": self.texts.references,
            "-s": self.texts.sources,
            "--docids": self.texts.docids,
            "--speakers": self.texts.speakers,
        }
        extra = [name for name, value in of_files.items() if value is not None]
        if chosen != "-t" and extra:
            raise UsageError(f"{' and '.join(extra)} go with -t, not with {chosen}")
        if self.model.model_storage_path is not None and not locate.of_hub(self.model.model):
            raise UsageError("--model_storage_path needs a model of the hub; give --model OWNER/NAME too")


def stray_output(stray: Sequence[str]) -> str:
    """The message for file names that follow no flag."""
    return f"system outputs follow -t; expected -t {' '.join(stray)}"


def check_targets(texts: TextFlags, model: ModelFlags, out: OutputFlags) -> None:
    """Refuse an output file that cannot be written or is also an input, before any work."""
    lines = [*(texts.translations or ()), *(texts.references or ()), texts.sources, texts.docids, texts.speakers]
    targets.check((out.to_json, out.to_tsv, out.to_mqm), read=[*lines, texts.jsonl, texts.wmt_dir, model.model])


def check_plot(name: str | None) -> None:
    """Refuse a file of --plot whose kind its name does not tell.

    Raises:
        PronmetricError: it ends neither in .png nor in .svg.
    """
    if name is not None and Path(name).suffix not in (".png", ".svg"):
        raise PronmetricError(f"--plot {name}: expected a name that ends in .png or .svg")


def parse_tie(text: str) -> float | str:
    """The value of --tie: "auto", or a number from 0."""
    return AUTO if text == AUTO else number(0, other="auto or ")(text)
