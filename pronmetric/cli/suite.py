"""`pronmetric suite`: published test suites of pronouns and discourse: list, show, export, score, compare, build."""

from __future__ import annotations

import argparse
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from pronmetric.cli import flags, output, suite_build
from pronmetric.cli.flags import ModelFlags, OutputFlags
from pronmetric.cli.parser import (
    add_command,
    group_parser,
    number_above_zero,
    run_command,
    whole_from_one,
    whole_from_zero,
)
from pronmetric.cli.run import ScoringRun, check_texts
from pronmetric.errors import PronmetricError
from pronmetric.eval.resampling import SEED
from pronmetric.lab.suites import cai_xiong, ctxpro, score_lines, tables
from pronmetric.lab.suites import export as suite_export
from pronmetric.lab.suites import figures as suite_figures
from pronmetric.lab.suites import result as suite_result
from pronmetric.lab.suites.catalogue import SUITES
from pronmetric.lab.suites.concatenation import MANY, MODES, NONE, Concatenation
from pronmetric.lab.suites.contrapro import PRONOUNS
from pronmetric.lab.suites.contrastive import About, Item, Judged, Judging, Reading, Suite
from pronmetric.output import targets
from pronmetric.report.text import table
from pronmetric.text.context import Source, Text, join
from pronmetric.text.strict_json import plain

DESCRIPTION = """Run published test suites of pronouns and discourse in translation on scores, on translations, on a
translation model, or on pronmetric itself. Nothing is downloaded: a suite is read from the file of its authors."""
EPILOG = """examples:
  pronmetric suite show contrapro
  pronmetric suite export contrapro --set contrapro.json --documents documents --context 2 -o lines
  pronmetric suite score contrapro --set contrapro.json --scores nmt.scores --to_json nmt.json
  pronmetric suite score consistency --set deixis_test.json --seq2seq my-marian --context-mode concat22
  pronmetric suite compare nmt.json other.json"""


def parser() -> argparse.ArgumentParser:
    """The flags of the verb and of its commands."""
    return group_parser(
        "suite", DESCRIPTION, EPILOG, commands=(add_list, add_show, add_export, add_score, add_compare, suite_build.add)
    )


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    return run_command(parser(), argv)


CLPP = (
    "clpp",
    "en-de, en-fr, de-en, fr-en, es-en",
    "cross-lingual pronoun prediction (WMT16, DiscoMT)",
    "predictions, by `pronmetric clpp score`",
)


def add_list(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    listing = commands.add_parser("list", help="list the suites", description="List the suites.", allow_abbrev=False)
    listing.set_defaults(run=run_list)


def add_show(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    showing = commands.add_parser(
        "show",
        help="describe a suite: file, scoring, options",
        description="Describe a suite: its file, how it is scored, its options; with --set, the counts of a set.",
        allow_abbrev=False,
    )
    showing.add_argument("name", choices=list(SUITES), metavar="NAME", help=", ".join(SUITES))
    showing.add_argument("--set", metavar="FILE", help="a set of the suite")
    showing.set_defaults(run=run_show)


def run_list(_: argparse.Namespace) -> int:
    """Print a table of the suites."""
    abouts = [suite.ABOUT for suite in SUITES.values()]
    rows = [(about.name, about.languages, about.phenomena, ", ".join(about.judged)) for about in abouts]
    print(table(("suite", "languages", "phenomena", "judged"), [*rows, CLPP], left=range(4)))
    return 0


def run_show(args: argparse.Namespace) -> int:
    """Print the description of a suite and the counts of a set."""
    suite = SUITES[args.name]
    print(f"{suite.ABOUT.title}\n{suite.ABOUT.languages}: {suite.ABOUT.phenomena}\n\n{suite.ABOUT.text}")
    if args.set is None:
        return 0
    items = suite.read(args.set, Reading())
    print(f"\n{args.set}: {len(items)} items, {sum(len(item.candidates) for item in items)} candidates")
    counts = Counter((name, group) for item in items for name, group in item.groups.items())
    rows = [(name, group, count) for (name, group), count in sorted(counts.items())]
    print(table(("break-down", "group", "items"), rows, left=(0, 1)))
    return 0


EXPORT = """Write what has to be scored: one line for each candidate of each item.

  source.txt, target.txt   line-parallel; the first candidate of an item is usually the right one, see the index
  source.context.txt, target.context.txt
                           N previous sentences for each line, oldest first; an empty line where there is none
  index.tsv                line, item, candidate, right, document, groups
  lines.jsonl              all of this, one object a line"""


def add_export(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    made = add_command(
        commands, "export", help="write the lines that a model has to score or translate", description=EXPORT
    )
    _add_set(made)
    made.add_argument("-o", "--output", required=True, metavar="DIR", help="folder to write")
    made.add_argument(
        "--join", metavar="TEXT", help="put the context before each sentence, joined by TEXT, instead of in own files"
    )
    made.add_argument(
        "--right-only", action="store_true", help="only the right candidate of each item: one line to translate"
    )
    made.set_defaults(run=run_export)


def _add_set(made: argparse.ArgumentParser) -> None:
    """The flags that say which set is read, and with which context."""
    made.add_argument("name", choices=list(SUITES), metavar="NAME", help=", ".join(SUITES))
    made.add_argument("--set", required=True, metavar="FILE", help="the set, a file of the suite's authors")
    made.add_argument("--documents", metavar="DIR|FILE", help="the documents, where the set does not contain them")
    made.add_argument(
        "--context", type=whole_from_zero, default=0, metavar="N", help="previous sentences of each line (default: 0)"
    )


def run_export(args: argparse.Namespace) -> int:
    """Write the files."""
    targets.check((), read=[args.set, args.documents], folders=[args.output])
    items = SUITES[args.name].read(args.set, Reading(args.documents, args.context))
    if args.right_only:
        items = tuple(replace(item, candidates=(item.candidates[item.right],), right=0) for item in items)
    folder = Path(args.output)
    folder.mkdir(parents=True, exist_ok=True)
    with targets.AtomicFiles() as files:
        number = suite_export.write(items, lambda name: files.open(folder / name), context=args.context, join=args.join)
    print(f"{number} lines of {len(items)} items in {folder}")
    return 0


SCORE = """Judge scores, translations or a model on a suite, and report accuracy with 95 % intervals, overall and
by the suite's break-downs. `pronmetric suite show NAME` describes the suite's files and rules."""
SCORE_EPILOG = """what is judged, one of:
  --scores FILE        one number on each line of `suite export`; lower is better unless --maximize
  --translations FILE  a system's translations, where the suite judges them
  --humans FILE        human judgments (cai-xiong); with --translations, both are compared
  --model NAME|FOLDER  pronmetric itself, for targets in its language; `default` is `base`. Its score of
                       a candidate is the mean probability of its pronouns, in the --context previous target sentences
  --seq2seq FOLDER     a Hugging Face encoder-decoder or causal language model (safetensors, or one GGUF file with
                       pip install "pronmetric[lm]"), by the log-probability of each candidate given its source

context of --seq2seq (--context-mode):
  none      the sentence alone (default)
  concat21  one previous source sentence before the source
  concat22  one previous sentence before the source and before the target
  concatN   --context previous sentences before each
The sentences are joined by --separator. The log-probability is that of the whole target text.

With --save_scores FILE a run of --seq2seq that was stopped is continued by the same command; the scores so far are in
FILE.partial. The scores of --model and --seq2seq are higher for better: read them again with --scores FILE
--maximize."""


def add_score(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    made = add_command(
        commands, "score", help="judge scores, translations or a model", description=SCORE, epilog=SCORE_EPILOG
    )
    _add_set(made)
    judged = made.add_argument_group("what is judged (see below)")
    judged.add_argument("--scores", metavar="FILE", help="scores of the candidates")
    judged.add_argument("--translations", metavar="FILE", help="translations of a system")
    judged.add_argument("--humans", metavar="FILE", help="human judgments of a system's translations")
    judged.add_argument("--seq2seq", metavar="FOLDER", help="a translation or language model")
    judging = made.add_argument_group("judging")
    judging.add_argument("--maximize", action="store_true", help="higher numbers in --scores are better")
    judging.add_argument("--compat", action="store_true", help="as the original program where it is odd")
    judging.add_argument(
        "--pronouns", nargs="*", metavar="FORM", help=f"contrapro: these reference pronouns ({' '.join(PRONOUNS)})"
    )
    judging.add_argument(
        "--distance", nargs=2, type=whole_from_zero, metavar=("MIN", "MAX"), help="contrapro --translations: distances"
    )
    judging.add_argument(
        "--proportional",
        type=number_above_zero,
        metavar="X",
        help="contrapro --translations: search X times the source sentence's share of the tokens, from the end",
    )
    judging.add_argument("--language", metavar="CODE", help="of the translations, for the tokenizer or splitter")
    judging.add_argument("--alignment", metavar="FILE", help="cai-xiong --translations: word alignments")
    judging.add_argument(
        "--separator", metavar="TEXT", help="between sentences (default: <eos> in translations, a blank in --seq2seq)"
    )
    model = made.add_argument_group("--seq2seq")
    model.add_argument("--context-mode", choices=MODES, default=NONE, help="see below (default: %(default)s)")
    model.add_argument("--per-piece", action="store_true", help="divide log-probabilities by the number of pieces")
    model.add_argument("--prompt", metavar="TEXT", help="text with {source}: what a model reads before the target")
    model.add_argument("--source-language", metavar="CODE", help="of the model's tokenizer")
    model.add_argument("--target-language", metavar="CODE", help="of the model's tokenizer")
    ModelFlags.add(made)
    files = made.add_argument_group("output")
    flags.both(files, "to-json", metavar="FILE", help="write all figures and the verdict on each item")
    flags.both(files, "save-scores", metavar="FILE", help="write the model's scores, one on each line")
    files.add_argument("--plot", metavar="FILE", help="plot accuracy by distance (.png or .svg)")
    files.add_argument("--quiet", action="store_true", help="no progress and notes on stderr")
    flags.add_strict(files)
    made.set_defaults(run=partial(run_score, made))


def run_score(made: argparse.ArgumentParser, args: argparse.Namespace) -> int:
    """Check the flags, judge, print the figures, and write the files that are asked for."""
    _check_score(made, args)
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
    print(tables.format_figures(f"{args.name}: {args.set}; {scored_by}", judged, figures))
    return 0


def _check_score(made: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Flags that do not go together: a usage error, exit code 2."""
    judged = {
        "--scores": args.scores,
        "--translations": args.translations,
        "--humans": args.humans,
        "--model": args.model,
        "--seq2seq": args.seq2seq,
    }
    chosen = [flag for flag, value in judged.items() if value is not None]
    if len(chosen) != 1 and chosen != ["--translations", "--humans"]:
        made.error(f"give one of {', '.join(judged)}" + (f"; got {' and '.join(chosen)}" if chosen else ""))
    if args.maximize and args.scores is None:
        made.error("--maximize goes with --scores")
    if args.save_scores is not None and args.model is None and args.seq2seq is None:
        made.error("--save_scores goes with --model or --seq2seq")
    of_model = {"--context-mode": args.context_mode != NONE, "--per-piece": args.per_piece, "--prompt": args.prompt}
    of_model |= {"--source-language": args.source_language, "--target-language": args.target_language}
    if args.seq2seq is None and (extra := [flag for flag, value in of_model.items() if value]):
        made.error(f"{' and '.join(extra)} goes with --seq2seq")
    if args.seq2seq is not None and args.precision == "int8":
        made.error("--precision int8 goes with --model")
    if args.context_mode == MANY and not args.context:
        made.error("--context-mode concatN needs --context N")
    if args.seq2seq is not None and args.context and args.context_mode != MANY:
        made.error("--context goes with --context-mode concatN")
    if args.prompt is not None and "{source}" not in args.prompt and args.prompt:
        made.error("--prompt: expected {source} in it; an empty prompt scores the target alone")
    if args.distance is not None and args.distance[0] > args.distance[1]:
        made.error(f"--distance: expected MIN <= MAX, got {args.distance[0]} and {args.distance[1]}")


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
        return _judge_by_model(args, suite, judging, note)
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


def _judge_by_model(args: argparse.Namespace, suite: Suite, judging: Judging, note: output.Notes) -> tuple[Judged, str]:
    """The verdicts by the model's scores, and what scored."""
    size = args.context if args.seq2seq is None else max(args.context, 1)
    needs_context = args.context > 0 or args.context_mode != "none"
    items = suite.read(args.set, Reading(args.documents, size if needs_context else 0))
    if args.seq2seq is not None:
        values, scored_by = _by_seq2seq(args, items, note)
    else:
        values, scored_by = _by_pronmetric(args, items, suite.ABOUT, note)
    return suite.judge(items, score_lines.cut(values, items, args.set), judging), scored_by


def _by_pronmetric(
    args: argparse.Namespace, items: Sequence[Item], about: About, note: output.Notes
) -> tuple[list[float], str]:
    """The mean probability of each candidate's pronouns; a candidate without one loses."""
    texts = [
        Text(join(one.target_context), one.target, Source(one.source, one.source_context))
        for item in items
        for one in item.candidates
    ]
    run = ScoringRun(ModelFlags.of(args), OutputFlags.of(args), note)
    metric = run.metric
    if metric.language.code not in about.targets:
        named = ", ".join(about.targets)
        note(f"the published candidates of {about.name} are in {named}; the model scores {metric.language.code}")
    check_texts({args.set: (text.text for text in texts)}, metric.language, note, strict=args.strict)
    with run.progress(len(texts)):
        scores = [segment.score for segment in run.stream(texts)]
    note.lengths(run.counts)
    without = sum(score is None for score in scores)
    if without == len(scores):
        raise PronmetricError("no candidate has a pronoun that the model knows; the targets must be in its language")
    if without:
        note(f"{without} of {len(scores)} candidates have no pronoun: they lose against any other")
    values = [-math.inf if score is None else score for score in scores]
    if args.save_scores is not None:
        with targets.AtomicFile(args.save_scores) as file:
            file.writelines(f"{value}\n" for value in values)
    signature = run.sign("common" if args.context else "none", size=args.context or None)
    return values, f"pronmetric, {args.context} sentences of context, {signature}"


def _by_seq2seq(args: argparse.Namespace, items: Sequence[Item], note: output.Notes) -> tuple[list[float], str]:
    """The log-probability of each candidate."""
    from pronmetric.lab.seq2seq import model, resumable

    separator = "" if args.separator is None else args.separator
    concatenation = Concatenation.of(args.context_mode, size=args.context, separator=separator)
    pairs = [concatenation.texts(one) for item in items for one in item.candidates]
    settings = model.ModelSettings(
        precision=args.precision or "32",
        gpus=args.gpus,
        prompt=args.prompt,
        per_piece=args.per_piece,
        source_language=args.source_language,
        target_language=args.target_language,
    )
    scorer = model.TranslationModel(args.seq2seq, settings)
    scorer.check(pairs, file=args.set)
    note.begin()
    batch_size = args.batch_size or model.BATCH_SIZE
    depends = {"model": resumable.folder_digest(args.seq2seq), "texts": resumable.fingerprint(pairs)}
    depends |= {"settings": repr(settings), "batch_size": str(batch_size)}
    with resumable.open_scores(args.save_scores, depends, window=model.WINDOW) as file:
        if file.done:
            note(f"{file.done} of {len(pairs)} lines are in {file.partial} already")
        with output.bar(args.quiet, total=len(pairs), unit="lines") as bar:
            bar.update(file.done)
            values = resumable.fill(
                file, pairs, lambda window: scorer.score(window, batch_size=batch_size, advance=bar.update)
            )
    kind = "log-probability by piece" if args.per_piece else "log-probability"
    context = f"{args.context_mode} {args.context}" if args.context else args.context_mode
    return values, f"{kind} by {args.seq2seq}, context {context}"


COMPARE = """Compare systems that were judged on the same items: difference of accuracy with its 95 % interval
(Student's t over items), and p of the approximate randomisation, adjusted for all pairs by Holm's method."""


def add_compare(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    made = add_command(
        commands, "compare", help="compare systems by their results on the same set", description=COMPARE
    )
    made.add_argument("results", nargs="+", metavar="RESULT.json", help="results of `suite score --to_json`")
    made.add_argument("--by-document", action="store_true", help="intervals and tests over documents instead of items")
    made.add_argument(
        "--subsample",
        type=whole_from_one,
        metavar="K",
        help="also as ctxpro's program: wins over the first system on K items drawn without replacement, 1000 times",
    )
    made.add_argument(
        "--seed", type=whole_from_zero, default=SEED, metavar="N", help="of the test (default: %(default)s)"
    )
    flags.both(made, "to-json", metavar="FILE", help="write all figures")
    made.set_defaults(run=run_compare)


def run_compare(args: argparse.Namespace) -> int:
    """Print the comparison, and write it where asked for."""
    targets.check([args.to_json], read=args.results)
    if len(args.results) < 2:
        raise PronmetricError("give the results of two or more systems")
    if len(set(args.results)) < len(args.results):
        raise PronmetricError("a result is given twice")
    read = {path: suite_result.read(path) for path in args.results}
    if len(suites := sorted({suite for suite, _ in read.values()})) > 1:
        raise PronmetricError(f"the results are of different suites: {', '.join(suites)}")
    systems = {path: verdicts for path, (_, verdicts) in read.items()}
    differences = suite_figures.compare(systems, by_document=args.by_document, seed=args.seed)
    shares = {name: suite_figures.share(verdicts) for name, verdicts in systems.items()}
    sections = [tables.format_comparison(shares, differences)]
    content = {"suite": suites[0], "systems": plain(shares), "differences": plain(differences)}
    if args.subsample is not None:
        wins = ctxpro.subsampled_wins(systems, size=args.subsample, seed=args.seed)
        title = f"{args.subsample} items, 1000 draws: p that a system beats {args.results[0]}"
        sections.append(f"{title}\n{table(('system', 'p'), [(name, f'{p:.3f}') for name, p in wins.items()])}")
        content["subsampled"] = wins
    output.write_json(args.to_json, content)
    print("\n\n".join(sections))
    return 0
