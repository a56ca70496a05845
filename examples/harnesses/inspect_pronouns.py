"""pronmetric in Inspect: `inspect eval examples/harnesses/inspect_pronouns.py --model NAME`.

A sample's metadata has the sentences of the reference before it as "context". PRONMETRIC_MODEL names another
checkpoint.
"""

import os
from functools import cache
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import FieldSpec, json_dataset
from inspect_ai.scorer import Score, metric, scorer
from inspect_ai.solver import generate, prompt_template

DATA = Path(__file__).parent / "data" / "test.jsonl"


@cache
def load_metric():
    """The metric, once."""
    from pronmetric import PronounMetric

    return PronounMetric.from_pretrained(os.environ.get("PRONMETRIC_MODEL"))


@metric
def pronoun_score():
    """100 x the mean probability that a pronoun is correct, over all pronouns; higher is better."""

    def compute(scores):
        found = [probability for each in scores for probability in each.score.metadata["probabilities"]]
        return 100 * sum(found) / len(found) if found else float("nan")

    return compute


@scorer(metrics=[pronoun_score()])
def pronouns():
    """The mean of a translation's pronouns; one without a pronoun is not scored."""

    async def score(state, target):
        record = {"text": state.output.completion.strip(), "context": state.metadata["context"]}
        segment = load_metric().predict([record]).segments[0]
        details = {"probabilities": [one.score for one in segment.pronouns]}
        if segment.score is None:
            return Score.unscored(reason="no pronoun", answer=record["text"], metadata=details)
        return Score(value=segment.score, answer=record["text"], metadata=details)

    return score


@task
def translate():
    """Translation of single sentences in their context."""
    fields = FieldSpec(input="source", target="reference", metadata=["context", "doc"])
    prompt = prompt_template("Translate into English, on one line.\n{prompt}")
    return Task(dataset=json_dataset(str(DATA), fields), solver=[prompt, generate()], scorer=pronouns())
