"""The outputs of APT: its signature, the JSON of `apt --to_json`, and the published program's .score and .detail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pronmetric import __version__
from pronmetric.lab.baselines import apt
from pronmetric.lab.baselines.apt_config import Settings
from pronmetric.lab.baselines.apt_corpus import Corpus
from pronmetric.signature import Signature

_DETAIL = ("SENT.", "POS. SOURCE", "SOURCE", "POS. REF.", "REF.", "POS. TARGET", "TARGET", "CASE")
_SUM = "-sum-"
_ESCAPES = str.maketrans({"\t": "\\t", "\r": "\\r"})  # tokens end at blanks only


def make_signature(settings: Settings, *, compat: bool) -> Signature:
    """The settings that the score depends on."""
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


def result_json(score: apt.Score, matrix: apt.Matrix, signature: Signature) -> dict[str, object]:
    """The result in JSON."""
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


def summary_lines(score: apt.Score) -> list[str]:
    """The score and the number of findings for each case."""
    return [
        f"Score: {'null' if score.score is None else f'{score.score:.4f}'}",
        f"Cases: {' '.join(map(str, score.cases))}",
        f"Weights: {' '.join(f'{weight:g}' for weight in score.weights)}",
        f"Findings per case: {' '.join(map(str, score.findings))}",
        f"Total findings: {sum(score.findings)}",
    ]


def matrix_lines(matrix: apt.Matrix) -> list[str]:
    """The matrix as TSV: a row for each reference word, a column for each candidate word, with sums."""
    rows = [[*row, sum(row)] for row in matrix.counts]
    sums = [sum(column) for column in zip(*rows, strict=True)] if rows else [0]
    labels = [label.translate(_ESCAPES) for label in matrix.labels]
    return [
        "\t".join(["REF. \\ TARGET", *labels, _SUM]),
        *("\t".join([label, *map(str, row)]) for label, row in zip(labels, rows, strict=True)),
        "\t".join([_SUM, *map(str, sums)]),
    ]


def detail_lines(renderings: Sequence[apt.Rendering], cases: Sequence[int]) -> list[str]:
    """One TSV line for each instance of any case; sentences and positions count from 0."""
    lines = ["\t".join(_DETAIL)]
    for one, case in zip(renderings, cases, strict=True):
        where = [one.instance.sentence, one.instance.position, _cell([one.instance.word])]
        sides = [_cell(part) for side in (one.reference, one.candidate) for part in (side.positions, side.words)]
        lines.append("\t".join(map(str, [*where, *sides, case])))
    return lines


def _cell(values: Sequence[object]) -> str:
    return " ".join(map(str, values)).translate(_ESCAPES) if values else "-"


def notes(settings: Settings, corpus: Corpus, score: apt.Score, matrix: apt.Matrix, *, compat: bool) -> Iterator[str]:
    """What was left out, and why, a line each."""
    if bool(settings.source_pronouns) != bool(settings.target_pronouns):
        yield "no repair: it needs both source_pronouns and target_pronouns of [dictionary]"
    known = apt.known_words(corpus.renderings, corpus.rules)
    for name, groups in (("equal", corpus.rules.equal), ("similar", corpus.rules.similar)):
        unknown = sorted({word for group in groups for word in group if word not in known})
        if unknown:
            where = "the list of target pronouns" if settings.target_list else "any rendering"
            yield f"[dictionary] {name}: words not in {where} are ignored: {' '.join(unknown)}"
    if compat and settings.repairs and corpus.unlinked:
        yield f"sentences without links, on which the published program fails: {corpus.unlinked}"
    if score.score is None:
        why = (
            "no pronoun of the list is in the source" if not score.instances else "no pronoun is in the selected cases"
        )
        yield f"no score: {why}"
    elif score.instances > sum(score.findings):
        yield (
            f"{score.instances - sum(score.findings)} of {score.instances} pronouns are in cases that are not selected"
        )
    if settings.stem and matrix.left_out:
        yield (
            f"instances with several words on a side, not in the matrix: {matrix.left_out} "
            "(counting_multiword_in_matrix includes them)"
        )
