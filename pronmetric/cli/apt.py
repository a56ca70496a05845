"""`pronmetric apt`: accuracy of pronoun translation, a reference-based score for any pair of languages."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence

from pronmetric import __version__
from pronmetric.baselines import apt
from pronmetric.cli import apt_config, output
from pronmetric.output import targets
from pronmetric.signature import Signature
from pronmetric.text import strict_json

DESCRIPTION = """APT, accuracy of pronoun translation (Miculicich Werlen and Popescu-Belis 2017).

Each pronoun of the source is looked up, over word links, in the reference and in the candidate, and falls into a case:
  1 same or equal pronoun    2 similar pronoun           3 different pronoun
  4 no link to candidate     5 no link to reference      6 no link to either
The score is the weighted share of the cases chosen, higher is better. It is printed with the number of findings in
each case; null where there is none."""
EPILOG = """CONFIG is an INI file: values follow = or :, empty ones are not used; paths are as seen from the working
directory.
  [lang]        source, target; source_word_separator, target_word_separator, such as - to split est-il
  [files]       source, reference, target: tokens separated by blanks, one sentence a line;
                alignment_source_reference, alignment_source_target: links s-t, counted from 0;
                list_source_pronouns with input_type = word (one a line) or possition (lines `sentence position`);
                list_target_pronouns (optional: any other word is OTHER)
  [dictionary]  equal, similar: one group a line, separated by commas;
                source_pronouns, target_pronouns: with both, a side without a pronoun takes the nearest one that no
                source pronoun is linked to
  [cases]       cases_to_use = 1,2,3,4,5,6; weigths_per_case = 1,1,0,0,0,0 [sic]; count_OTHER_as_equal = false
  [output]      output_file: writes FILE.score and FILE.detail; counting_multiword_in_matrix = false; max_length_matrix

examples:
  pronmetric apt apt.ini
  pronmetric apt apt.ini --compat --to_json apt.json"""
_DETAIL = ("SENT.", "POS. SOURCE", "SOURCE", "POS. REF.", "REF.", "POS. TARGET", "TARGET", "CASE")
_SUM = "-sum-"
_ESCAPES = str.maketrans({"\t": "\\t", "\r": "\\r"})  # tokens end at blanks only


def main(argv: Sequence[str]) -> int:
    """Run the verb; the exit code."""
    args = parser().parse_args(argv)
    note = output.Notes(quiet=args.quiet)
    output.open_stdout()
    config = apt_config.Config(args.config)
    settings = apt_config.settings(config)
    for message in config.unused():
        note(message)
    score_file, detail_file = (f"{settings.stem}{end}" if settings.stem else None for end in (".score", ".detail"))
    targets.check([args.to_json, score_file, detail_file], read=[args.config, *settings.inputs])

    corpus = apt_config.corpus(settings, compat=args.compat)
    cases = apt.judge(corpus.renderings, rules=corpus.rules)
    score = apt.score(cases, weights=settings.weights)
    selected = [one for one, case in zip(corpus.renderings, cases, strict=True) if case in settings.weights]
    matrix = apt.matrix(selected, multiword=settings.multiword, limit=settings.limit)
    signature = _signature(settings, compat=args.compat)
    _say(note, settings, corpus, score, matrix, compat=args.compat)

    with targets.AtomicFiles() as files:  # all of them or none
        if args.to_json is not None:
            found = _json(score, matrix, signature)
            files.open(args.to_json).write(strict_json.dump(found, indent=1) + "\n")
        if score_file is not None and detail_file is not None:
            files.open(score_file).writelines(_lines([*_summary(score), "", *_table(matrix)]))
            files.open(detail_file).writelines(_lines(_detail(corpus.renderings, cases)))
    note.begin()
    print("\n".join(_summary(score)))
    note(f"signature: {signature}")
    return 0


def parser() -> argparse.ArgumentParser:
    """The flags of the verb."""
    parser = argparse.ArgumentParser(
        prog="pronmetric apt",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("config", metavar="CONFIG", help="what to score and how, an INI file")
    parser.add_argument(
        "--compat",
        action="store_true",
        help="as the published program: repair compares and adds tokens as they stand, in their case and unsplit",
    )
    parser.add_argument("--to_json", "--to-json", dest="to_json", metavar="FILE", help="write the result")
    parser.add_argument("--quiet", action="store_true", help="no notes on stderr")
    return parser


def _signature(settings: apt_config.Settings, *, compat: bool) -> Signature:
    return Signature.of(
        metric="apt",
        cases=",".join(map(str, settings.weights)),
        weights=",".join(f"{weight:g}" for weight in settings.weights.values()),
        list=_yes(settings.target_list),
        equal=_yes(settings.equal),
        similar=_yes(settings.similar),
        repair=_yes(settings.repairs),
        other_is_equal=_yes(settings.other_is_equal),
        compat=_yes(compat),
        version=__version__,
    )


def _yes(value: object) -> str:
    return "yes" if value else "no"


def _say(
    note: output.Notes,
    settings: apt_config.Settings,
    corpus: apt_config.Corpus,
    score: apt.Score,
    matrix: apt.Matrix,
    *,
    compat: bool,
) -> None:
    """What was left out or cannot be, and why."""
    if bool(settings.source_pronouns) != bool(settings.target_pronouns):
        note("nothing is repaired: that needs both source_pronouns and target_pronouns of [dictionary]")
    known = apt.known(corpus.renderings, corpus.rules)
    for name, groups in (("equal", corpus.rules.equal), ("similar", corpus.rules.similar)):
        strange = sorted({word for group in groups for word in group if word not in known})
        if strange:
            where = "the list of target pronouns" if settings.target_list else "any rendering"
            note(f"[dictionary] {name}: left out, because not in {where}: {' '.join(strange)}")
    if compat and settings.repairs and corpus.unlinked:
        note(f"sentences with an empty line of links, on which the published program fails: {corpus.unlinked}")
    if score.score is None:
        why = "no pronoun of the list is in the source" if not score.instances else "no finding in the chosen cases"
        note(f"{why}: there is no score")
    elif score.instances > sum(score.findings):
        note(f"{score.instances - sum(score.findings)} of {score.instances} pronouns fall into cases that are not used")
    if settings.stem and matrix.left_out:
        note(f"left out of the matrix, several words on a side: {matrix.left_out}; see counting_multiword_in_matrix")


def _json(score: apt.Score, matrix: apt.Matrix, signature: Signature) -> dict[str, object]:
    return {
        "score": score.score,
        "cases": list(score.findings),
        "instances": score.instances,
        "cases_used": list(score.cases),
        "weights": list(score.weights),
        "findings": sum(score.findings),
        "matrix": {
            "labels": list(matrix.labels),
            "counts": [list(row) for row in matrix.counts],
            "left_out": matrix.left_out,
        },
        "signature": str(signature),
    }


def _summary(score: apt.Score) -> list[str]:
    return [
        f"Score: {'null' if score.score is None else f'{score.score:.4f}'}",
        f"Cases: {' '.join(map(str, score.cases))}",
        f"Weights: {' '.join(f'{weight:g}' for weight in score.weights)}",
        f"Findings per case: {' '.join(map(str, score.findings))}",
        f"Total findings: {sum(score.findings)}",
    ]


def _table(matrix: apt.Matrix) -> list[str]:
    """The matrix, reference words down and candidate words across, with sums."""
    rows = [[*row, sum(row)] for row in matrix.counts]
    sums = [sum(column) for column in zip(*rows, strict=True)] if rows else [0]
    labels = [label.translate(_ESCAPES) for label in matrix.labels]
    return [
        "\t".join(["REF. \\ TARGET", *labels, _SUM]),
        *("\t".join([label, *map(str, row)]) for label, row in zip(labels, rows, strict=True)),
        "\t".join([_SUM, *map(str, sums)]),
    ]


def _detail(renderings: Sequence[apt.Rendering], cases: Sequence[int]) -> list[str]:
    """One line for each instance, whatever its case; sentences and positions count from 0."""
    lines = ["\t".join(_DETAIL)]
    for one, case in zip(renderings, cases, strict=True):
        where = [one.instance.sentence, one.instance.position, _cell([one.instance.word])]
        sides = [_cell(part) for side in (one.reference, one.candidate) for part in (side.positions, side.words)]
        lines.append("\t".join(map(str, [*where, *sides, case])))
    return lines


def _cell(values: Sequence[object]) -> str:
    return " ".join(map(str, values)).translate(_ESCAPES) if values else "-"


def _lines(lines: Iterable[str]) -> Iterable[str]:
    return (f"{line}\n" for line in lines)
