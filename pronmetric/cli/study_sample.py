"""`pronmetric study sample`: the items and the tasks of a study."""

from __future__ import annotations

import argparse
import dataclasses
from collections import Counter
from pathlib import Path

from pronmetric.cli import flags, output
from pronmetric.cli.parser import add_command, number_up_to_one, whole_from_one, whole_from_zero
from pronmetric.cli.tables import table
from pronmetric.errors import InputError
from pronmetric.lab.human import judged_pairs
from pronmetric.lab.study import candidates, folder
from pronmetric.lab.study.design import PAPER, Design
from pronmetric.lab.study.folder import Study
from pronmetric.lab.study.sample import choose, sample
from pronmetric.output import targets

DESCRIPTION = """Draw the items of a study, and the tasks of each annotator, into a new folder STUDY.

DATA is a folder of `prepare` (references and references with a system's pronoun), the JSONL of `suite build wmt` (with
sources), or judged pairs (JSONL) with "pronoun_a", "pronoun_b" and "group", the source language. A pair that occurs
more than once counts once. In each source language, all pronoun pairs (and with --scores all ranges of the score
difference) get equally many items, up to one; a design for which there are too few pairs is refused, with the number
that each cell lacks. With --balance level, rare pairs give all they have."""
EPILOG = """Annotators are divided among --groups, and so are the items. Each annotator answers the items of one group,
in an own order; in half of the tasks the reference is the second version. Repeated items come in the second half, with
the versions in the other order. The same DATA and --seed give the same study.

--preset paper is the design of Jwalapuram et al. 2019: --items 500 --annotators 5 --groups 2 --repeated 0.1
--balance level. Other flags change it.

examples:
  pronmetric study sample runs/data -o study --items 60 --pronoun-pairs he:it she:it it:he
  pronmetric study sample suite.jsonl -o study --preset paper --show-source"""


def add(commands: argparse._SubParsersAction) -> None:
    """Add the command to `study`."""
    made = add_command(
        commands, "sample", help="draw the items and the tasks of a study", description=DESCRIPTION, epilog=EPILOG
    )
    made.add_argument("data", metavar="DATA", help="a prepared folder, a suite of `suite build wmt`, or judged pairs")
    made.add_argument("-o", "--output", required=True, metavar="STUDY", help="the folder of the study, new")
    made.add_argument("--preset", choices=["paper"], help="the design of the paper")
    items = made.add_argument_group("items")
    items.add_argument("--items", type=whole_from_one, metavar="N", help="items of each source language (default: all)")
    items.add_argument("--split", metavar="NAME", help=f"of a prepared folder (default: {candidates.SPLIT})")
    items.add_argument("--languages", nargs="+", metavar="CODE", help="source languages (default: all)")
    flags.both(items, "pronoun-pairs", nargs="+", metavar="REF:OTHER", help="pronoun pairs, e.g. he:it (default: all)")
    items.add_argument("--scores", metavar="FILE", help='scores to balance by, {"id", "score_a", "score_b"} a line')
    items.add_argument("--ranges", type=whole_from_one, metavar="N", help="ranges of the score difference (default: 3)")
    items.add_argument(
        "--balance", choices=["strict", "level"], help="rare pairs: refuse, or take all (default: strict)"
    )
    people = made.add_argument_group("annotators")
    people.add_argument("--annotators", type=whole_from_one, metavar="N", help="annotators (default: 3)")
    people.add_argument("--groups", type=whole_from_one, metavar="N", help="groups, each with own items (default: 1)")
    people.add_argument("--repeated", type=number_up_to_one, metavar="X", help="share of repeated items (default: 0.1)")
    shown = made.add_argument_group("what annotators see")
    shown.add_argument("--answers", choices=list(_ANSWERS), help="third answers (default: both)")
    flags.both(shown, "show-source", action="store_true", help="show the source and its context, if DATA has it")
    shown.add_argument("--highlight", action="store_true", help="mark the words in which the versions differ")
    made.add_argument("--seed", type=whole_from_zero, metavar="N", help="of the sample and of the orders (default: 1)")
    made.add_argument("--quiet", action="store_true", help="no notes on stderr")
    made.set_defaults(run=run)


_ANSWERS = {
    "both": {"both": True, "neither": False},
    "neither": {"both": False, "neither": True},
    "all": {"both": True, "neither": True},
    "none": {"both": False, "neither": False},
}


def run(args: argparse.Namespace) -> int:
    """Draw the study; the exit code."""
    place = Path(args.output)
    if place.is_dir() and any(place.iterdir()):
        raise InputError("is not empty; give a new folder, answers belong to one study", file=place)
    targets.check([], read=[args.data, args.scores], folders=[args.output])
    note = output.Notes(quiet=args.quiet)
    found = choose(
        candidates.read(args.data, split=args.split, note=note), languages=args.languages, pairs=_pairs(args)
    )
    try:
        study = sample(found, _design(args), differences=_differences(args.scores))
    except InputError as error:
        raise InputError(str(error), file=args.data) from None
    note.begin()
    folder.write(study, place, data=args.data)
    print(_summary(study))
    return 0


def _design(args: argparse.Namespace) -> Design:
    names = ("items", "annotators", "groups", "repeated", "ranges", "seed")
    given = {name: getattr(args, name) for name in names if getattr(args, name) is not None}
    given |= {"source": args.show_source, "highlight": args.highlight}
    given |= _ANSWERS[args.answers] if args.answers else {}
    given |= {"strict": args.balance == "strict"} if args.balance else {}
    return dataclasses.replace(PAPER if args.preset == "paper" else Design(), **given)


def _pairs(args: argparse.Namespace) -> list[tuple[str, str]] | None:
    if args.pronoun_pairs is None:
        return None
    found = [tuple(text.lower().split(":")) for text in args.pronoun_pairs]
    if wrong := [text for text, pair in zip(args.pronoun_pairs, found, strict=True) if len(pair) != 2]:
        raise InputError(f"--pronoun-pairs {wrong[0]}: expected the reference's pronoun and the other, such as he:it")
    return found


def _differences(path: str | None) -> dict[str, float | None] | None:
    if path is None:
        return None
    scores = judged_pairs.read_scores(path)
    return {item: None if a is None or b is None else a - b for item, (a, b) in scores.items()}


def _summary(study: Study) -> str:
    items = Counter(item.language for item in study.items.values())
    pairs = {code: {i.pronouns for i in study.items.values() if i.language == code} for code in items}
    docs = {code: {i.doc for i in study.items.values() if i.language == code} for code in items}
    drawn = [(code, items[code], len(pairs[code]), len(docs[code])) for code in sorted(items)]
    tasks = [
        (name, study.design.group_of(k) + 1, len(own), sum(task.repeated for task in own))
        for k, (name, own) in enumerate(study.assignments.items())
    ]
    first = table(("source language", "items", "pronoun pairs", "documents"), drawn)
    return f"study {study.id}\n{first}\n\n{table(('annotator', 'group', 'tasks', 'repeated'), tasks)}"
