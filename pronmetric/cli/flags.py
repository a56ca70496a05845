"""The flags that several verbs share, as records, the checks of their combinations, and their defaults from a file.

The file is TOML, with a table [tool.pronmetric]; --show-config prints the flags in force.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pronmetric.checkpoint import locate
from pronmetric.cli.output import Notes
from pronmetric.cli.parser import (
    Command,
    Exclusive,
    F,
    Flags,
    UsageError,
    flag,
    number,
    part,
    require_one,
    switch,
    whole,
)
from pronmetric.errors import InputError, PronmetricError
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
CONFIG_FILES = ("pronmetric.toml", "pyproject.toml")
NO_FILE = "none"
CONFIGURED = ("score", "compare", "check")
"""The verbs that read the file; each has its own table, [tool.pronmetric.VERB]."""
_TABLE = "tool.pronmetric"
_NOT_IN_FILE = ("help", "config", "show_config")
_FILE = "file of defaults"


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
        raise argparse.ArgumentTypeError("int8 was dropped in version 0.2.0: give bf16")
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


class ConfigFlags(Flags):
    """The flags of the file."""

    config: str | None = flag(
        group="defaults",
        metavar="FILE",
        help=f"TOML file with defaults of flags, in its tables [{_TABLE}] and [{_TABLE}.VERB] (default: "
        f"{' or '.join(CONFIG_FILES)} of the working folder; {NO_FILE}: no file)",
    )
    show_config: bool = switch(group="defaults", help="print the flags in force and their origin, and exit")


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


class ConfiguredCommand(Command[F]):
    """A verb whose flags have the defaults of a file; its record has `ConfigFlags`."""

    def _parse(self, parser: argparse.ArgumentParser, argv: Sequence[str]) -> Mapping[str, Any]:
        """The flags of the command line; those that it does not give are those of the file, else their defaults.

        With --show-config they are printed as TOML, and the program ends.

        Raises:
            InputError: the file is missing or no TOML, or a key is unknown or has a wrong value.
        """
        ahead = argparse.ArgumentParser(prog=parser.prog, usage=argparse.SUPPRESS, add_help=False, allow_abbrev=False)
        ahead.add_argument("--config")
        path = ahead.parse_known_args(argv)[0].config
        if path is None:
            path = next((name for name in CONFIG_FILES if _gives_defaults(name)), NO_FILE)
        file = None if path == NO_FILE else path
        table = {} if file is None else _read_table(file)
        if file is not None and not table:
            raise InputError(f"has no table [{_TABLE}]", file=file)
        options = _options_of(parser)
        defaults = {name: option.default for name, option in options.items()}
        values = {} if file is None else _values_of_file(parser, self.name, table, file)
        parser.set_defaults(**{options[name].dest: value for name, value in values.items()})
        given = super()._parse(parser, argv)
        if given["show_config"]:
            shown = {name: given[option.dest] for name, option in options.items()}
            print(_as_toml(self.name, shown, defaults, values, file))
            parser.exit()
        return {**given, _FILE: file if values else None}

    def _hint(self, given: Mapping[str, Any]) -> str:
        return f" ({given[_FILE]} gives defaults; --config {NO_FILE} reads no file)" if given[_FILE] else ""


def _gives_defaults(name: str) -> bool:
    return Path(name).is_file() and bool(_read_table(name))


def _read_table(path: str) -> Mapping[str, Any]:
    """The table [tool.pronmetric] of a file; empty if it has none."""
    try:
        with open(path, "rb") as file:
            table = tomllib.load(file).get("tool", {}).get("pronmetric", {})
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"is no TOML: {error}", file=path) from None
    if not isinstance(table, dict):
        raise InputError(f"expected a table [{_TABLE}]", file=path)
    return table


def _options_of(parser: argparse.ArgumentParser) -> dict[str, argparse.Action]:
    """The flags that a file may set, by their keys: their first long spelling, with underscores."""
    return {
        next(name for name in option.option_strings if name.startswith("--"))[2:].replace("-", "_"): option
        for option in parser._actions
        if option.option_strings and option.dest not in _NOT_IN_FILE and option.help != argparse.SUPPRESS
    }


def _values_of_file(parser: argparse.ArgumentParser, verb: str, table: Mapping[str, Any], file: str) -> dict[str, Any]:
    """The values of this verb's flags, those of its own table before those of the common one."""
    options = _options_of(parser)
    common = {key: value for key, value in table.items() if key not in CONFIGURED}
    own = table.get(verb, {})
    if not isinstance(own, dict):
        raise InputError(f"expected a table [{_TABLE}.{verb}]", file=file)
    found = {}
    for place, keys in ((_TABLE, common), (f"{_TABLE}.{verb}", own)):
        for key, value in keys.items():
            name = key.replace("-", "_")
            if name in options:
                found[name] = _value_of_file(options[name], value, where=f"[{place}] {key}", file=file)
            elif place != _TABLE or not any(
                name in _options_of(_parser_of(other)) for other in CONFIGURED if other != verb
            ):
                near = difflib.get_close_matches(name, options, n=1)
                cure = f"; did you mean {near[0]!r}?" if near else f"; `pronmetric {verb} --help` lists the flags"
                raise InputError(f"[{place}] has the unknown key {key!r}{cure}", file=file)
    return found


def _parser_of(verb: str) -> argparse.ArgumentParser:
    return importlib.import_module(f"pronmetric.cli.{verb}").VERB.parser()


def _value_of_file(option: argparse.Action, value: object, *, where: str, file: str) -> Any:
    """A value as the flag would have it."""

    def fail(expected: str) -> InputError:
        return InputError(f"{where} = {json.dumps(value, default=str)}: {expected}", file=file)

    if option.nargs == 0:  # a switch
        if not isinstance(value, bool):
            raise fail("expected true or false")
        return value
    several = option.nargs == "+" or isinstance(option.nargs, int)
    given = value if several and isinstance(value, list) else [value]
    if not given or not all(isinstance(one, str | int | float) and not isinstance(one, bool) for one in given):
        raise fail("expected text or a number" + (", or a list of them" if several else ""))
    if isinstance(option.nargs, int) and len(given) != option.nargs:
        raise fail(f"expected a list of {option.nargs}")
    convert = option.type if callable(option.type) else str
    try:
        read = [convert(str(one)) for one in given]
    except (argparse.ArgumentTypeError, ValueError) as error:
        raise fail(str(error)) from None
    if option.choices is not None and (wrong := [one for one in read if one not in option.choices]):
        raise fail(f"expected one of {', '.join(map(str, option.choices))}, got {wrong[0]}")
    return read if several else read[0]


def _as_toml(
    verb: str, given: Mapping[str, Any], defaults: Mapping[str, Any], values: Mapping[str, Any], file: str | None
) -> str:
    """The flags in force as TOML; a comment names the origin of each."""

    def origin(name: str) -> str:
        if name in values and given[name] == values[name]:
            return str(file)
        return "default" if given[name] == defaults[name] else "command line"

    lines = [
        f"{name} = {json.dumps(given[name], ensure_ascii=False)}  # {origin(name)}"
        for name in defaults
        if given[name] is not None and given[name] is not False
    ]
    return "\n".join([f"[{_TABLE}.{verb}]", *lines])
