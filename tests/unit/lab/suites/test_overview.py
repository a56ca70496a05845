from __future__ import annotations

from pronmetric.lab.suites import discevalmt
from pronmetric.lab.suites.contrastive import SuiteVerdicts, Verdict
from pronmetric.lab.suites.overview import Judgments, SetFile, format_overview


def lines(*verdicts: tuple[bool, dict[str, str]]) -> list[list[str]]:
    judged = SuiteVerdicts(tuple(Verdict(str(n), right, groups, "d") for n, (right, groups) in enumerate(verdicts)))
    one = Judgments(SetFile(discevalmt, "sets/lexical.json"), len(verdicts), 0, {"metric": judged, "other": None})
    return [line.split() for line in format_overview([one]).splitlines()]


def test_the_set_as_a_whole_has_a_line_unless_one_phenomenon_is_all_of_it() -> None:
    header, *rows = lines((True, {"type": "repet"}), (False, {"type": "repet"}))
    assert header == ["suite", "set", "phenomenon", "items", "metric", "other"]
    assert rows == [["discevalmt", "lexical.json", "repet", "2", "50.0", "-"]]
    _, whole, part = lines((True, {"type": "repet"}), (False, {}))  # an item of no single phenomenon
    assert (whole[2:5], part[2:5]) == (["all", "2", "50.0"], ["repet", "1", "100.0"])
