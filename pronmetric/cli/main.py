"""`pronmetric VERB ...`: finds the verb's module, runs it, and turns its errors into one line and an exit code."""

from __future__ import annotations

import argparse
import difflib
import importlib
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from pronmetric.cli import completion
from pronmetric.cli.output import in_flags
from pronmetric.errors import PronmetricError, Terminated, is_out_of_memory
from pronmetric.output.display import visible
from pronmetric.text import streams
from pronmetric.version import __version__

DAILY = "score"
"""The group whose verbs the help describes; it names the others, and `pronmetric help all` describes them too."""
GROUPS = {
    DAILY: {
        "score": "score the pronouns of one or more system outputs",
        "compare": "compare the pronouns of two or more system outputs, with significance tests",
        "check": "pass or fail a translation by its pronouns, as a gate for a release",
        "suggest": "list doubtful pronouns with the forms that the model prefers",
        "rerank": "choose among candidate translations of each line by their pronouns",
        "bulk": "score many files in many processes, on this machine or a Ray cluster",
        "serve": "show the pronouns of translations in a local web page, and answer JSON requests",
        "report": "show a result of score or compare as a web page, tables or a plot",
    },
    "train": {
        "prepare": "turn WMT system outputs and English documents into training data",
        "train": "train a metric on prepared data",
        "pretrain": "pretrain an ELMo on English documents, as an encoder for train",
        "checkpoint": "average checkpoints; export one as an ONNX file, with fewer bits or as a Python package",
    },
    "judge a metric": {
        "evaluate": "measure a metric's accuracy on human answers to pairs of texts or on labelled pronouns",
        "agree": "measure the agreement of raters with each other, and of a metric with them",
        "correlate": "correlate a metric's scores of systems or segments with human scores",
        "mqm": "turn MQM annotations into judged pairs and labelled pronouns",
        "suite": "run published test suites of pronouns and discourse on scores, translations or models",
        "study": "plan, run and evaluate a study in which people choose between two pronouns",
        "board": "build a static site that shows the pronoun scores of all systems of test sets",
        "baseline": "compute what a metric is compared with: APT, AutoPRF, counts of pronouns by the source",
    },
    "tools": {
        "align": "align the words of two line-parallel texts",
        "attention": "show the attention weights of the pronouns of a sentence",
        "clpp": "cross-lingual pronoun prediction (WMT 2016): figures, data, baseline, classifier",
        "nmt": "train and run translation models with context, small, as in the papers of the test suites",
    },
}
VERBS = {verb: line for group in GROUPS.values() for verb, line in group.items()}
_FILES = {"pretrain": "train"}
"""The files of verbs that share one."""
_OLD = {
    "apt": "now `pronmetric baseline apt`",
    "autoprf": "now `pronmetric baseline autoprf`",
    "average": "now `pronmetric checkpoint average`",
    "completion": "now `pronmetric --print-completion SHELL`",
    "export": "now `pronmetric checkpoint export`",
    "soft-labels": "removed in 1.0.0",
    "train-source": "now `pronmetric baseline counts`",
}
"""The verbs of 0.1.0 that are gone, and what is told of them until 2.0.0."""
_STOPS = {int(signal.SIGTERM): "terminated", int(signal.SIGHUP): "hung up"}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return the exit code.

    0 for success, 1 for an error in the input, 2 for wrong flags, 3 for a gate that failed (`check`).
    SIGINT (Ctrl-C) gives 130, SIGTERM 143, SIGHUP 129 and a closed pipe (`| head`) 141, as for other programs.
    """
    argv = sys.argv[1:] if argv is None else list(argv)
    try:
        streams.check()
        with _terminable(), streams.run():
            code = _run(argv)
        return _flush(code)
    except PronmetricError as error:
        return _fail(in_flags(str(error)))
    except KeyboardInterrupt as stop:
        return _report_stop("interrupted", stop, code=130)
    except Terminated as stop:
        return _report_stop(_STOPS[stop.number], stop, code=128 + stop.number)
    except BrokenPipeError:
        streams.discard_stdout()
        return 141
    except OSError as error:
        return _fail(f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error))
    except (MemoryError, RuntimeError) as error:
        if not is_out_of_memory(error):
            raise
        return _fail("out of memory: end other programs, or process less at a time (smaller batches, fewer files)")


def _run(argv: Sequence[str]) -> int:
    if list(argv) == ["help", "all"]:
        _parser(every=True).print_help()
        return 0
    if argv and argv[0] == "help":
        argv = [*argv[1:2], "--help"] if len(argv) < 3 else argv
    if argv and argv[0] in VERBS:
        verbs = load(argv[0])
        name = " ".join(argv[:2])
        return verbs[name].main(argv[2:]) if name in verbs else verbs[argv[0]].main(argv[1:])
    if argv and argv[0] in _OLD:
        print(f"pronmetric {argv[0]}: {_OLD[argv[0]]}", file=sys.stderr)
        return 2
    parser = _parser()
    if argv and not argv[0].startswith("-"):
        near = difflib.get_close_matches(argv[0], VERBS, n=1)
        parser.error(f"unknown verb {argv[0]!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    shell = parser.parse_args(argv).print_completion
    if shell is None:
        parser.print_help()
    else:
        places = parser.add_subparsers()
        for verb, line in VERBS.items():
            flags = load(verb)[verb].parser()
            places.add_parser(verb, help=line, description=line, parents=[flags], add_help=False)
        print(completion.script(parser, shell))
    return 0


def load(verb: str) -> dict[str, Any]:
    """What the file of a verb has, by name: verbs, and commands that read their own arguments ("report tables")."""
    module = importlib.import_module(f"pronmetric.cli.{_FILES.get(verb, verb)}")
    return {each.name: each for each in getattr(module, "VERBS", None) or (module.VERB,)}


def _parser(*, every: bool = False) -> argparse.ArgumentParser:
    """The flags without a verb; `every`: the help describes all verbs and not only the daily ones."""
    groups = {title: _described(verbs) for title, verbs in GROUPS.items() if every or title == DAILY}
    if not every:
        groups["more"] = [f"  {title}: {', '.join(verbs)}" for title, verbs in GROUPS.items() if title != DAILY]
    parser = argparse.ArgumentParser(
        prog="pronmetric",
        usage="pronmetric [--help] [--version] [--print-completion SHELL] VERB ...",
        description="Does this machine translation get its pronouns right?",
        epilog="\n\n".join("\n".join([f"{title}:", *lines]) for title, lines in groups.items())
        + "\n\n`pronmetric help VERB` describes a verb"
        + ("." if every else ", `pronmetric help all` lists every verb with what it does.")
        + "\n\nexit codes: 0 success, 1 an error in the input, 2 wrong flags, 3 `check` failed",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"pronmetric {__version__}")
    parser.add_argument(
        "--print-completion",
        choices=completion.SHELLS,
        help="print a shell script that completes verbs, flags and file names",
    )
    return parser


def _described(verbs: Mapping[str, str]) -> list[str]:
    """A line for each verb."""
    width = max(map(len, VERBS)) + 2
    return [f"  {verb:<{width}}{line}" for verb, line in verbs.items()]


@contextmanager
def _terminable() -> Iterator[None]:
    """Let SIGTERM and SIGHUP raise `Terminated`, in the main thread only; ignored signals (`nohup`) stay ignored."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def terminate(number: int, _: object) -> None:
        raise Terminated(number)

    before = {number: signal.getsignal(number) for number in _STOPS if signal.getsignal(number) != signal.SIG_IGN}
    for number in before:
        signal.signal(number, terminate)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _flush(code: int) -> int:
    """The exit code after stdout is flushed; if that fails, as on a full disk, it is an error."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        streams.discard_stdout()
        return _fail(f"stdout: {error.strerror}")
    return code


def _report_stop(how: str, stop: BaseException, *, code: int) -> int:
    print(f"pronmetric: {how}" + (f": {stop}" if str(stop) else ""), file=sys.stderr)
    return code


def _fail(message: str) -> int:
    print(f"pronmetric: error: {visible(' '.join(message.split()))}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
