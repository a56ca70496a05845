"""The one result format: what `score` and `compare` write and what `report` and `correlate` read.

`write` writes the JSON (--to_json) and the table (--to_tsv) of both verbs, `read` reads the JSON, and `records` are
what it returns.
"""

from pronmetric.results.read import read
from pronmetric.results.records import FEW, Output, Pair, Pronoun, Result, Segment, System, Verdict, judge

__all__ = ["FEW", "Output", "Pair", "Pronoun", "Result", "Segment", "System", "Verdict", "judge", "read"]
