"""pronmetric in lm-evaluation-harness: `lm_eval --include_path examples/harnesses/lm_eval --tasks pronouns`.

A row of the data has the sentences of the reference before it as "context". PRONMETRIC_MODEL names another checkpoint.
"""

import math
import os
from functools import cache


@cache
def load_metric():
    """The metric, once."""
    from pronmetric import PronounMetric

    return PronounMetric.from_pretrained(os.environ.get("PRONMETRIC_MODEL"))


def process_results(doc, results):
    """A translation as a record: it is scored with all others, so that a batch is full and each pronoun counts once."""
    return {"pronoun_score": {"text": results[0].strip(), "context": doc["context"]}}


def pronoun_score(records):
    """100 x the mean probability that a pronoun is correct; higher is better, NaN without a pronoun."""
    score = load_metric().predict(records).score
    return math.nan if score is None else score
