"""`pronmetric export`: a checkpoint in the format of another runtime."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from pronmetric import __version__
from pronmetric.checkpoint import locate
from pronmetric.cli import output
from pronmetric.cli.options import both
from pronmetric.cli.verb_parser import verb_parser
from pronmetric.output import targets
from pronmetric.signature import Signature

DESCRIPTION = """Write a checkpoint as an ONNX file, which ONNX Runtime and other runtimes read.

The file holds the whole model in fp32: encoder, word states and head. It scores batches of any size and length. It does
not hold the tokenizer or the pronoun finder: pronmetric makes the batches (see the example in the documentation). Its
metadata holds the signature of the model. Only checkpoints with a Hugging Face encoder can be exported.
This needs: pip install "pronmetric[onnx]" """
EPILOG = """example:
  pronmetric export --onnx default -o default.onnx"""


def parser() -> argparse.ArgumentParser:
    """The flags of the verb."""
    made = verb_parser("export", DESCRIPTION, EPILOG)
    made.add_argument("--onnx", required=True, metavar="MODEL", help="a shipped name, a folder, or a hub name")
    made.add_argument("-o", "--output", required=True, metavar="FILE", help="the ONNX file")
    both(made, "allow-network", action="store_true", help="download MODEL from the Hugging Face hub")
    made.add_argument("--quiet", action="store_true", help="no notes on stderr")
    return made


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    args = parser().parse_args(argv)
    targets.check([args.output], read=[args.onnx])
    place = locate.locate(args.onnx, allow_network=args.allow_network)

    from pronmetric.checkpoint import files, onnx_file

    onnx_file.require_packages()
    note = output.Notes(quiet=args.quiet)
    loaded = files.load(place.folder, trainable=False)
    signature = Signature.of(
        model=place.name, weights=loaded.hash, settings=loaded.settings, precision="32", version=__version__
    )
    content = onnx_file.to_onnx(loaded, properties={"pronmetric": str(signature)})
    with targets.AtomicFile(args.output) as file:
        file.buffer.write(content)
    note.begin()
    note(f"{args.output}: {len(content) / 1e6:.1f} MB, {signature}")
    return 0
