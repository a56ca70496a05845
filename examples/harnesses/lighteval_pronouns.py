"""pronmetric in lighteval: `lighteval accelerate model_name=NAME pronouns --custom-tasks lighteval_pronouns.py`.

A row of the data has the sentences of the reference before it as "context". PRONMETRIC_MODEL names another checkpoint.
"""

import os
from functools import cache
from pathlib import Path

from lighteval.metrics.metrics_sample import SampleLevelComputation
from lighteval.metrics.utils.metric_utils import CorpusLevelMetric
from lighteval.tasks.lighteval_task import LightevalTaskConfig
from lighteval.tasks.requests import Doc, SamplingMethod


@cache
def load_metric():
    """The metric, once."""
    from pronmetric import PronounMetric

    return PronounMetric.from_pretrained(os.environ.get("PRONMETRIC_MODEL"))


class Pronouns(SampleLevelComputation):
    """The probabilities of the pronouns of each translation."""

    def compute(self, responses, docs, **kwargs):
        """All translations at once, so that a batch is full."""
        records = [
            {"text": response.final_text[0].strip(), "context": doc.specific["context"]}
            for response, doc in zip(responses, docs, strict=True)
        ]
        return [[one.score for one in segment.pronouns] for segment in load_metric().predict(records).segments]


def pronoun_score(translations):
    """100 x the mean probability that a pronoun is correct; higher is better, NaN without a pronoun."""
    found = [probability for probabilities in translations for probability in probabilities]
    return 100 * sum(found) / len(found) if found else float("nan")


def prompt(row, task_name=None):
    """A row of the data as a request."""
    query = f"Translate into English, on one line.\n{row['source']}\nTranslation:"
    specific = {"context": row["context"]}
    return Doc(task_name=task_name, query=query, choices=[row["reference"]], gold_index=0, specific=specific)


METRIC = CorpusLevelMetric(
    metric_name="pronoun_score",
    higher_is_better=True,
    category=SamplingMethod.GENERATIVE,
    sample_level_fn=Pronouns(),
    corpus_level_fn=pronoun_score,
    batched_compute=True,
)
TASKS_TABLE = [
    LightevalTaskConfig(
        name="pronouns",
        prompt_function=prompt,
        hf_repo=str(Path(__file__).parent / "data"),
        hf_subset="default",
        hf_avail_splits=["test"],
        evaluation_splits=["test"],
        metrics=[METRIC],
        generation_size=256,
        stop_sequence=["\n"],
    )
]
