"""How `check` says its verdict: as text, as JUnit XML, and as annotations of GitHub Actions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple
from xml.etree import ElementTree

from pronmetric.eval.decision import SYSTEM_UNITS
from pronmetric.output.display import visible
from pronmetric.report.text import kinds_of_errors, table
from pronmetric.report.verdict import of_pair, of_system
from pronmetric.results import FEW
from pronmetric.results.scored import pair_of, system_of
from pronmetric.results.write import list_gaps, list_pronouns
from pronmetric.scoring.gate import MAX_ERRORS, MAX_REFUSALS, MIN_SCORE, Condition, Finding, Verdict
from pronmetric.scoring.score import Gap, SystemScore

_ESCAPES = {"%": "%25", "\r": "%0D", "\n": "%0A", ":": "%3A", ",": "%2C"}  # of a property of an annotation


class Names(NamedTuple):
    """What is checked: the file of the new text, that of the baseline if there is one, and what decides."""

    new: str
    baseline: str | None
    by: str


def summary(verdict: Verdict, names: Names) -> str:
    """The verdict in several lines: the conditions, then the worst segments."""
    said = "passed" if verdict.passed else "failed"
    rows = [
        ("met" if one.met else "NOT MET", asked(one, names), found(one, verdict, names)) for one in verdict.conditions
    ]
    lines = [f"{visible(names.new)}: {said}", *_said(verdict, names), table(("", "", ""), rows, left=(0, 1, 2))]
    return "\n".join([*lines, *_listed(verdict, names)])


def _said(verdict: Verdict, names: Names) -> list[str]:
    """The sentence on the text and, with a baseline, that on the two, as `score` and `compare` say them."""
    shown = visible(names.new), visible(names.baseline or "")
    said = [of_system(system_of(names.new, verdict.system))]
    return said if verdict.compared is None else [*said, of_pair(pair_of(verdict.compared), shown, by=names.by)]


def asked(condition: Condition, names: Names) -> str:
    """What a condition asks.

    >>> asked(Condition(MIN_SCORE, 94.0, 93.24, False), Names("new.txt", None, "score"))
    'score at least 94'
    """
    if condition.kind == MIN_SCORE:
        return f"score at least {condition.limit:g}"
    if condition.kind == MAX_ERRORS:
        return f"at most {condition.limit:g} pronoun errors expected"
    if condition.kind == MAX_REFUSALS:
        return f"at most {condition.limit:g} lines that are no translation"
    return f"no worse than {visible(names.baseline or '')} (margin {condition.limit:g})"


def found(condition: Condition, verdict: Verdict, names: Names) -> str:
    """What was found for a condition."""
    if condition.kind == MIN_SCORE:
        ends = verdict.system.interval
        return f"{condition.found:.2f}" + ("" if ends is None else f" (95 % {ends[0]:.2f} to {ends[1]:.2f})")
    if condition.kind == MAX_ERRORS:
        return f"{condition.found:.2f}{_apart(verdict.system)} in {verdict.system.pronouns} pronouns"
    if condition.kind == MAX_REFUSALS:
        return f"{condition.found:g} of {verdict.system.segments} lines"
    few = "; few: p is rough" if verdict.units <= FEW else ""
    units = f"{verdict.units} {verdict.resampled}{few}"
    return f"{condition.found:+.2f} {SYSTEM_UNITS[names.by]}, p = {condition.p:.4f} ({units})"


def _apart(system: SystemScore) -> str:
    """The expected wrong, missing and surplus pronouns of the whole text, if they are known."""
    if system.wrong_in_pronouns is None or system.missing_in_pronouns is None:
        return ""
    wrong, missing, surplus = (
        None if rate is None else rate.value * system.pronouns / 100
        for rate in (system.wrong_in_pronouns, system.missing_in_pronouns, system.surplus_in_pronouns)
    )
    return f" ({kinds_of_errors(wrong or 0.0, missing or 0.0, surplus)})"


def _listed(verdict: Verdict, names: Names) -> Iterator[str]:
    """The worst segments, each with its context and its pronouns."""
    if not verdict.found:
        return
    doubtful = "doubtful or missing" if any(one.gaps for one in verdict.findings) else "doubtful"
    what = f"with a {doubtful} pronoun" if names.baseline is None else f"worse than in {visible(names.baseline)}"
    if verdict.system.no_translations:
        what = f"{what}, or no translation"
    shown = len(verdict.findings)
    worst = f", the worst {shown}" if shown < verdict.found else ""
    yield f"{verdict.found} segment{'s' * (verdict.found > 1)} {what}{worst}:"
    for one in verdict.findings:
        doc = "" if one.doc is None else f" ({visible(one.doc)})"
        yield f"{visible(names.new)}:{one.line}{doc}: {_place(one)}{reason(one, names)}"
        if one.context:
            yield f"  context: {visible(one.context)}"
        if one.other is not None:
            yield f"  before:  {visible(one.other)}"
        yield f"  now:     {visible(one.text)}"


def _place(finding: Finding) -> str:
    """Where a text stands in a file that is no list of lines, such as "cue 3, 00:00:01: "."""
    where = "" if finding.place is None else finding.place.place
    return f"{visible(where)}: " if where and where != f"line {finding.line}" else ""


def reason(finding: Finding, names: Names) -> str:
    """Why a segment is listed: its pronouns with their scores, its likely gaps, and the baseline's."""
    now, absent = visible(list_pronouns(finding.pronouns)), _missing(finding.gaps)
    if finding.no_translation is not None:
        doubtful = [f"doubtful: {now}"] if now else []
        return "; ".join([f"no translation ({finding.no_translation})", *doubtful, *absent])
    if finding.other is None:
        return "; ".join([*([f"doubtful: {now}"] if now else []), *absent])
    before = visible(list_pronouns(finding.other_pronouns))
    sides = (
        "; ".join([now or "no pronoun", *absent]),
        "; ".join([before or "no pronoun", *_missing(finding.other_gaps)]),
    )
    return f"{finding.value:+.2f} {names.by}; now {sides[0]}, before {sides[1]}"


def _missing(gaps: Sequence[Gap]) -> list[str]:
    return [f"missing: {visible(list_gaps(gaps))}"] if gaps else []


def junit(verdict: Verdict, names: Names, signature: str) -> bytes:
    """The verdict as JUnit XML: a test case for each condition; a failure holds the worst segments."""
    failed = sum(not one.met for one in verdict.conditions)
    counts = {"tests": str(len(verdict.conditions)), "failures": str(failed), "errors": "0", "skipped": "0"}
    top = ElementTree.Element("testsuites", counts)
    suite = ElementTree.SubElement(top, "testsuite", {"name": f"pronmetric check {visible(names.new)}", **counts})
    properties = ElementTree.SubElement(suite, "properties")
    ElementTree.SubElement(properties, "property", {"name": "signature", "value": visible(signature)})
    for one in verdict.conditions:
        named = {"classname": "pronmetric.check", "name": asked(one, names), "file": visible(names.new)}
        case = ElementTree.SubElement(suite, "testcase", named)
        said = found(one, verdict, names)
        if one.met:
            ElementTree.SubElement(case, "system-out").text = said
        else:
            failure = ElementTree.SubElement(case, "failure", {"message": said, "type": one.kind})
            failure.text = "\n".join(_listed(verdict, names))
    ElementTree.indent(top)
    return ElementTree.tostring(top, encoding="utf-8", xml_declaration=True) + b"\n"


def github_commands(verdict: Verdict, names: Names) -> Sequence[str]:
    """Workflow commands of GitHub Actions: the conditions that are not met, then the worst segments in their lines.

    The segments are errors if the gate fails, else warnings.
    """
    level = "warning" if verdict.passed else "error"
    lines = [
        f"::error title=pronmetric check::{_escaped(f'{asked(one, names)}: {found(one, verdict, names)}')}"
        for one in verdict.conditions
        if not one.met
    ]
    for one in verdict.findings:
        file = "".join(_ESCAPES.get(character, character) for character in names.new)
        said = f"{_place(one)}{reason(one, names)}: {visible(one.text)}"
        lines.append(f"::{level} file={file},line={one.line},title=pronouns::{_escaped(said)}")
    return lines


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
