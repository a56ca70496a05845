"""Scores and comparisons as a notebook shows them: HTML in the style of the report, and tables in LaTeX."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib.resources import files
from math import inf

from pronmetric.eval.decision import SCORE, SEGMENT_UNITS
from pronmetric.report import score_text, tables, verdict
from pronmetric.report.embed import show_controls, theme
from pronmetric.report.names import short
from pronmetric.results import Result
from pronmetric.results.scored import pair_of, system_of
from pronmetric.scoring.alternatives import THRESHOLD
from pronmetric.scoring.comparison import Decision, Outcome, PairResult
from pronmetric.scoring.score import Gap, PronounScore, SegmentScore, SystemScore
from pronmetric.text.context import Text

SHOWN = 20
"""Segments that are shown at most."""
_RULE = re.compile(r"^(:root|\.(?:p|gap)\b)([^{,[]*)(\{[^}]*\})", re.MULTILINE)


def scores(
    name: str, system: SystemScore, texts: Sequence[Text], segments: Sequence[SegmentScore], *, signature: str
) -> str:
    """What a system's score says, then its worst segments."""
    head = f"<p>{_text(verdict.of_system(system_of(short([name])[0], system)))}</p>"
    worst = sorted(range(len(segments)), key=lambda at: _goodness(segments[at]))[:SHOWN]
    rows = [(str(at + 1), tables.number(segments[at].score), coloured(texts[at].text, segments[at])) for at in worst]
    return _page(head, ("line", "score", "text"), rows, left=len(segments) - len(rows), signature=signature)


def _goodness(segment: SegmentScore) -> float:
    """The negative number of errors expected, of unbounded scores the lowest; infinite of a text without a pronoun."""
    if segment.errors and (segment.pronouns or segment.gaps):
        return -segment.errors
    return min((pronoun.score for pronoun in segment.pronouns), default=inf)


def comparison(
    names: tuple[str, str],
    outcome: Outcome,
    texts: Sequence[tuple[str, str]],
    decisions: Sequence[Decision],
    *,
    by: str,
    tie: float,
    signature: str,
) -> str:
    """The outcome of a comparison, then the segments whose difference is largest."""
    labels = short(names)
    result = PairResult((labels[0], labels[1]), outcome, None, None, {})
    head = f"<pre>{escape(score_text.summary(result, tie=tie, by=by))}</pre>"
    decided = [at for at, decision in enumerate(decisions) if decision.better in ("a", "b")]
    chosen = sorted(decided, key=lambda at: -abs(decisions[at].difference or 0.0))[:SHOWN]
    rows = [
        (
            str(at + 1),
            f"{decisions[at].difference:+.2f}",
            *(
                coloured(text, segment)
                for text, segment in zip(texts[at], (decisions[at].a, decisions[at].b), strict=True)
            ),
        )
        for at in chosen
    ]
    header = ("line", f"A - B ({SEGMENT_UNITS[by]})", *map(_text, labels))
    return _page(head, header, rows, left=len(decisions) - len(rows), signature=signature)


def latex(
    systems: Sequence[tuple[str, SystemScore]], outcome: Outcome | None = None, *, by: str = SCORE, signature: str
) -> str:
    """The systems' table and, of two systems, that of their difference; see `tables.latex`."""
    labels = short([name for name, _ in systems])
    result = Result(
        systems=tuple(map(system_of, labels, (score for _, score in systems))),
        pairs=() if outcome is None else (pair_of(outcome),),
        segments=(),
        signature=signature,
        tie=0.0,
        probability=True,
        by=by,
    )
    made = [tables.systems(result)] + ([] if outcome is None else [tables.pairs(result)])
    return tables.latex(made, [f"signature: {signature}"])


def coloured(text: str, segment: SegmentScore) -> str:
    """A text as HTML, each pronoun coloured by its score, with a frame where its probability is doubtful.

    Where one is likely missing, the likely form stands between the words.
    """
    marks = [(gap.start, 0, gap.start, _gap(gap)) for gap in segment.gaps]
    marks += [(p.start, 1, p.end, _pronoun(p)) for p in segment.pronouns]
    parts, at = list[str](), 0
    for start, _, end, mark in sorted(marks):
        parts += [_text(text[at:start]), mark]
        at = end
    return "".join([*parts, _text(text[at:])])


def _pronoun(p: PronounScore) -> str:
    doubtful = p.probability is not None and p.score < THRESHOLD
    share = p.score / THRESHOLD if doubtful else (p.score - THRESHOLD) / (1 - THRESHOLD)
    style = f' style="--s:{max(0.0, min(1.0, share)):.3f}"' if p.probability is not None else ""
    kind = "p doubtful" if doubtful else "p"
    return f"<span class='{kind}'{style}>{_text(p.text)}<small>{p.score:.2f}</small></span>"


def _gap(gap: Gap) -> str:
    kind = "gap doubtful" if 1 - gap.probability < THRESHOLD else "gap"
    return f"<span class='{kind}'>&#8248;{_text(gap.form)}<small>{gap.probability:.2f}</small></span> "


def _page(head: str, header: Sequence[str], rows: Sequence[Sequence[str]], *, left: int, signature: str) -> str:
    """HTML with its own style; the cells are HTML."""
    titles = "".join(f"<th>{title}</th>" for title in header)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    more = f"<p>{left} other lines are not shown</p>" if left else ""
    return (
        f'<div class="pronmetric"><style>{_style()}</style>{head}'
        f"<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>{more}"
        f"<p><code>{_text(signature)}</code></p></div>"
    )


@cache
def _style() -> str:
    """The rules of the report's page for colours and pronouns, for what is inside `.pronmetric` alone."""
    page = theme() + files("pronmetric.report").joinpath("page.css").read_text(encoding="utf-8")
    rules = [
        f".pronmetric {body}" if start == ":root" else f".pronmetric {start}{rest}{body}"
        for start, rest, body in _RULE.findall(page)
    ]
    return "\n".join([*rules, ".pronmetric td, .pronmetric th { text-align: left; vertical-align: top; }"])


def _text(text: str) -> str:
    return escape(show_controls(text))
