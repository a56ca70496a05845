"""`pronmetric checkpoint`: a checkpoint made of others, or in another form, a group of commands."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.checkpoint import locate
from pronmetric.checkpoint.shards import BITS, weight_files
from pronmetric.cli import output
from pronmetric.cli.parser import Command, Exclusive, Flags, Group, UsageError, argument, flag, number, switch, whole
from pronmetric.data import arrow
from pronmetric.errors import PronmetricError
from pronmetric.output import targets
from pronmetric.signature import Signature
from pronmetric.version import __version__

DESCRIPTION = "Make a checkpoint of others, or write one in another form."
AVERAGE = """Average the weights of checkpoints trained from the same encoder, with other settings or seeds.

The average is as fast as a single checkpoint and often more accurate. It is calibrated on the development split of
--data, and its development figures are printed. Compare them with those of its parts. Of checkpoints with the same
weights and a reader of sources each, the readers are averaged. Those of several languages, which read sources
themselves, take prepared data of each language."""
AVERAGE_EPILOG = """example:
  pronmetric checkpoint average runs/a/checkpoint runs/b/checkpoint --data runs/wmt21-23 -o runs/average"""


class AverageFlags(Flags):
    """The checkpoints, their weights, and where the average is written."""

    checkpoints: Sequence[str] = argument(
        nargs="+", metavar="CHECKPOINT", help="two or more checkpoint folders or names"
    )
    data: Sequence[Path] = flag(
        nargs="+",
        type=Path,
        required=True,
        metavar="DIR",
        help="prepared data (written by `pronmetric prepare`); of checkpoints of several languages that of each",
    )
    output: Path = flag("-o", "--output", type=Path, required=True, metavar="DIR", help="output folder")
    shares: Sequence[float] | None = flag(
        nargs="+", type=number(above=0), metavar="X", help="weight of each checkpoint (default: equal weights)"
    )
    full: bool = switch(help="store the weights in single precision (default: half precision)")
    seed: int = flag(type=whole(0), default=1, metavar="N", help="seed of the calibration (default: 1)")

    def check(self) -> None:
        """Refuse a single checkpoint, and another number of weights than of checkpoints."""
        number = len(self.checkpoints)
        if number < 2:
            raise UsageError(f"expected two or more checkpoints, got {number}")
        if self.shares and len(self.shares) != number:
            raise UsageError(f"--shares: expected {number} numbers, got {len(self.shares)}")


def run_average(task: AverageFlags) -> None:
    """Average the weights, and print the development figures."""
    folders = [locate.locate(name).folder for name in task.checkpoints]
    targets.check([], read=[*folders, *task.data], folders=[task.output])
    locate.refuse_taken(task.output)
    for data in task.data:
        arrow.read_manifest(data)
    scorers = [checkpoint_config.reads_source(checkpoint_config.read(folder / locate.CONFIG)) for folder in folders]
    if not all(scorers) and len(task.data) > 1:
        raise PronmetricError(f"--data: these checkpoints take one prepared folder, got {len(task.data)}")

    from pronmetric.training.average import average, average_readers, average_scorers

    given: dict[str, Any] = {"data": task.data[0], "shares": task.shares, "half": not task.full}
    readers = [locate.reader_of(folder) is not None for folder in folders]
    with targets.new_folder(task.output) as part:
        if all(scorers):
            result = average_scorers(folders, part, **{**given, "data": task.data})
        elif all(readers):
            result = average_readers(folders, part, **given)
        else:
            result = average(folders, part, **given, seed=task.seed)
    if any(readers) and not all(readers) and not all(scorers):
        print("left out: the readers of sources, which not all checkpoints have", file=sys.stderr)
    for name, value in sorted(result.figures.items()):
        print(f"{name}\t{value:.4f}")
    print(f"checkpoint {task.output} ({result.hash})", file=sys.stderr)


EXPORT = """Write a checkpoint as an ONNX file, or as a checkpoint with weights of fewer bits.

--onnx: for ONNX Runtime and other runtimes. The file holds the whole model in fp32: encoder, word states and head. It
scores batches of any size and length. It does not hold the tokenizer or the pronoun finder: pronmetric makes the
batches (see the example in the documentation). Its metadata holds the signature of the model. Only checkpoints with a
Hugging Face encoder can be exported. This needs the extra onnx.

--bits: matrices become integers of 6, 7 or 8 bits with a scale for each row, the rest half precision, in files below
50 MB. An integer takes a byte; with fewer bits the files compress better. A matrix that was rounded to fewer bits
before keeps these. Loading gives fp32 weights again, so everything else works as before, and scores differ slightly.
With --data the copy is calibrated anew, and its tie thresholds and what decides are chosen anew; else they are kept. A
scorer of several languages, which reads sources itself, takes prepared data of each language.

--reader: after further training of a checkpoint, its reader of sources, which belongs to the weights of before, is
joined to the new ones: how much each of them counts is fitted on --data."""
EXPORT_EPILOG = """examples:
  pronmetric checkpoint export default --onnx -o default.onnx
  pronmetric checkpoint export runs/average --bits 8 --data runs/wmt21-23 -o runs/average8"""


_KIND = Exclusive(required=True)


class ExportFlags(Flags):
    """The checkpoint, and what is written where."""

    model: str = argument(metavar="MODEL", help="a shipped name, a folder, or a hub name")
    onnx: bool = switch(exclusive=_KIND, help="write an ONNX file")
    bits: int | None = flag(
        exclusive=_KIND, type=int, choices=BITS, help="write a checkpoint with matrices of so many bits"
    )
    lang: str | None = flag(metavar="CODE", help="with --onnx: the language, for a model of several languages")
    data: Sequence[Path] | None = flag(
        nargs="+",
        type=Path,
        metavar="DIR",
        help="with --bits: prepared data that calibrate the checkpoint; of one of several languages that of each",
    )
    reader: str | None = flag(
        metavar="MODEL", help="with --bits and --data: take the reader of sources of this checkpoint"
    )
    output: str = flag(
        "-o", "--output", required=True, metavar="FILE|DIR", help="the ONNX file, or the checkpoint's folder"
    )
    allow_network: bool = switch(help="download MODEL from the Hugging Face hub")
    quiet: bool = switch(help="no notes on stderr")

    def check(self) -> None:
        """Refuse data that nothing is calibrated on, and a language that nothing is chosen by."""
        if self.onnx and self.data is not None:
            raise UsageError("--data goes with --bits")
        if self.reader is not None and self.data is None:
            raise UsageError("--reader goes with --bits and --data")
        if not self.onnx and self.lang is not None:
            raise UsageError("--lang goes with --onnx; --bits leaves all languages in the checkpoint")


def run_export(task: ExportFlags) -> None:
    """Write the checkpoint in the other form."""
    if task.bits is None:
        _onnx(task)
    else:
        _rounded(task, task.bits)


def _onnx(task: ExportFlags) -> None:
    targets.check([task.output], read=[task.model])
    place = locate.locate(task.model, allow_network=task.allow_network)

    from pronmetric.checkpoint import files, onnx_file

    onnx_file.require_packages()
    note = output.Notes(quiet=task.quiet)
    config = checkpoint_config.of_language(
        checkpoint_config.read(place.folder / locate.CONFIG), task.lang, name=place.name
    )
    loaded = files.load(place.folder, trainable=False, lang=checkpoint_config.language_of(config).code)
    signature = Signature.of(
        model=place.name, weights=loaded.hash, settings=loaded.settings, precision="32", version=__version__
    )
    content = onnx_file.to_onnx(loaded, properties={"pronmetric": str(signature)})
    with targets.AtomicFile(task.output) as file:
        file.buffer.write(content)
    note.begin()
    if (untrained := checkpoint_config.untrained_note(config, place.name)) is not None:
        note(untrained)
    note(f"{task.output}: {len(content) / 1e6:.1f} MB, {signature}")


def _rounded(task: ExportFlags, bits: int) -> None:
    place = locate.locate(task.model, allow_network=task.allow_network)
    reader = None if task.reader is None else locate.locate(task.reader, allow_network=task.allow_network).folder
    targets.check([], read=[place.folder, *(task.data or ()), reader], folders=[task.output])
    locate.refuse_taken(Path(task.output))
    for data in task.data or ():
        arrow.read_manifest(data)

    from pronmetric.training.after.rounding import round_checkpoint

    note = output.Notes(quiet=task.quiet)
    with targets.new_folder(task.output) as part:
        digest = round_checkpoint(place.folder, part, bits=bits, data=task.data, reader=reader)
    paths = weight_files(Path(task.output))
    size = sum(path.stat().st_size for path in paths) / 1e6
    note.begin()
    note(f"{task.output}: weights {digest} of {bits} bits, {size:.1f} MB in {len(paths)} file(s)")
    if task.data is None:
        note("calibration, tie thresholds and what decides are those before rounding; --data computes them anew")


PACKAGE = """Write checkpoints as Python packages of their own, one wheel each: pronmetric-NAME.

Installed by pip, such a package is found by --model NAME, before a checkpoint of this name that came with pronmetric.
A wheel has the files of the checkpoint and no code; its summary names the hash of the weights. The same files give the
same bytes."""
PACKAGE_EPILOG = """example:
  pronmetric checkpoint package base multilingual -o dist"""


class PackageFlags(Flags):
    """The checkpoints, and where their wheels are written."""

    checkpoints: Sequence[str] = argument(nargs="+", metavar="CHECKPOINT", help="checkpoint folders or names")
    output: Path = flag("-o", "--output", type=Path, required=True, metavar="DIR", help="folder of the wheels")
    release: str = flag(
        metavar="VERSION", help="version of the packages (default: that of pronmetric)", default=__version__
    )


def run_package(task: PackageFlags) -> None:
    """Write the wheels, and print the path, the weights and the size of each."""
    places = [locate.locate(each) for each in task.checkpoints]

    from pronmetric.checkpoint import wheel

    paths = [task.output / wheel.file_name(place.name, task.release) for place in places]
    targets.check([], read=[place.folder for place in places], folders=[task.output])
    task.output.mkdir(parents=True, exist_ok=True)
    targets.check(paths, read=[place.folder for place in places])
    for place, path in zip(places, paths, strict=True):
        digest = wheel.write_wheel(place.folder, place.name, path, version=task.release)
        print(f"{path}\tweights {digest}\t{path.stat().st_size / 1e6:.1f} MB")


SURPLUS = """Tell surplus pronouns from wrong ones by what people deleted.

Of a pronoun that is not right, a share is surplus: people would delete it, where they put another form in place of the
rest. The share of each form is counted on the pronouns that people corrected in --data (people_train), and stored in
the reader of sources of a copy of the checkpoint. Weights, scores and the number of errors stay as they are. Training
and averaging do the same; of a checkpoint that reads sources itself, so does export --data."""
SURPLUS_EPILOG = """example:
  pronmetric checkpoint surplus base --data runs/people -o runs/base"""


class SurplusFlags(Flags):
    """The checkpoint, the data, and where the copy is written."""

    model: str = argument(metavar="MODEL", help="a shipped name or a folder, with a reader of sources")
    data: Path = flag(
        type=Path, required=True, metavar="DIR", help="prepared data with what people marked (`data.people`)"
    )
    output: Path = flag("-o", "--output", type=Path, required=True, metavar="DIR", help="output folder")


def run_surplus(task: SurplusFlags) -> None:
    """Write the copy, and print the figures on development texts."""
    folder = locate.locate(task.model).folder
    targets.check([], read=[folder, task.data], folders=[task.output])
    locate.refuse_taken(task.output)
    arrow.read_manifest(task.data)

    from pronmetric.training.source.reader import fit_surplus

    with targets.new_folder(task.output) as part:
        figures = fit_surplus(folder, part, data=task.data)
    for name, value in figures.items():
        print(f"{name}\t{value:.4f}")
    print(f"checkpoint {task.output}", file=sys.stderr)


VERB = Group(
    "checkpoint",
    DESCRIPTION,
    None,
    [
        Command(
            "average",
            AverageFlags,
            run_average,
            AVERAGE,
            AVERAGE_EPILOG,
            help="average the weights of several checkpoints",
        ),
        Command(
            "export",
            ExportFlags,
            run_export,
            EXPORT,
            EXPORT_EPILOG,
            help="write a checkpoint as an ONNX file, or with fewer bits",
        ),
        Command(
            "package",
            PackageFlags,
            run_package,
            PACKAGE,
            PACKAGE_EPILOG,
            help="write checkpoints as Python packages, which pip installs",
        ),
        Command(
            "surplus",
            SurplusFlags,
            run_surplus,
            SURPLUS,
            SURPLUS_EPILOG,
            help="tell surplus pronouns from wrong ones",
        ),
    ],
)
