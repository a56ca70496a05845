"""`pronmetric suite score`: judge scores, translations or a model on a suite."""

from __future__ import annotations

import argparse
from pathlib import Path

from pronmetric.cli import output, suite_figures_text, suite_models
from pronmetric.errors import PronmetricError
from pronmetric.lab.suites import cai_xiong, score_lines
from pronmetric.lab.suites import figures as suite_figures
from pronmetric.lab.suites import result as suite_result
from pronmetric.lab.suites.catalogue import SUITES
from pronmetric.lab.suites.contrapro import PRONOUNS
from pronmetric.lab.suites.contrastive import Judged, Judging, Reading
from pronmetric.output import targets


def run(args: argparse.Namespace) -> int:
    """Judge, print the figures, and write the files that are asked for."""
    inputs = (args.set, args.documents, args.scores, args.translations, args.humans, args.alignment, args.seq2seq)
    model = None if args.model is None or not Path(args.model).exists() else args.model
    targets.check((args.to_json, args.save_scores, args.plot), read=[*inputs, model])
    if args.plot is not None and Path(args.plot).suffix not in (".png", ".svg"):
        raise PronmetricError(f"--plot {args.plot}: expected a name that ends in .png or .svg")
    note = output.Notes(quiet=args.quiet)
    judged, scored_by = _judge(args, note)
    figures = suite_figures.figures(judged.verdicts)
    settings = {"set": args.set, "judged": scored_by, "compat": args.compat}
    output.write_json(args.to_json, suite_result.to_json(args.name, judged, figures, settings))
    if args.plot is not None:
        from pronmetric.lab.suites import plot as suite_plot

        with targets.AtomicFile(args.plot) as file:
            file.buffer.write(suite_plot.plot(figures, title=args.name, kind=Path(args.plot).suffix[1:]))
    suite_figures_text.show(f"{args.name}: {args.set}; {scored_by}", judged, figures)
    return 0


def _judge(args: argparse.Namespace, note: output.Notes) -> tuple[Judged, str]:
    """The verdicts, and by what they are judged."""
    suite = SUITES[args.name]
    judging = Judging(
        compat=args.compat,
        pronouns=None if args.pronouns is None else tuple(form.lower() for form in args.pronouns) or PRONOUNS,
        language=args.language,
        distance=None if args.distance is None else (args.distance[0], args.distance[1]),
        separator="<eos>" if args.separator is None else args.separator,
        proportional=args.proportional,
        alignment=args.alignment,
    )
    if args.translations is not None or args.humans is not None:
        note.begin()
        return _judge_translations(args, judging)
    if args.model is not None or args.seq2seq is not None:
        return suite_models.judge(args, suite, judging, note)
    note.begin()
    items = suite.read(args.set, Reading(args.documents, args.context, texts=False))
    surplus = args.compat and suite.ABOUT.ignores_surplus
    scores = score_lines.read(args.scores, items, maximize=args.maximize, compat=args.compat, surplus=surplus)
    return suite.judge(items, scores, judging), f"scores {args.scores}"


def _judge_translations(args: argparse.Namespace, judging: Judging) -> tuple[Judged, str]:
    automatic = None
    if args.translations is not None:
        automatic = SUITES[args.name].judge_translations(args.set, args.translations, judging)
    if args.humans is None:
        assert automatic is not None
        return automatic, f"translations {args.translations}"
    if SUITES[args.name] is not cai_xiong:
        raise PronmetricError(f"--humans: the suite {args.name} has no human judgments; cai-xiong has")
    return cai_xiong.judge_humans(args.set, args.humans, automatic), f"human judgments {args.humans}"
