"""pronmetric as a module of Hugging Face's `evaluate`: `evaluate.load("examples/pronoun_score")`.

The name of a configuration is that of a checkpoint: `evaluate.load("examples/pronoun_score", "small")`.
"""

import datasets
import evaluate

_CITATION = """@inproceedings{jwalapuram-etal-2019-evaluating,
  title = {Evaluating Pronominal Anaphora in Machine Translation: An Evaluation Measure and a Test Suite},
  author = {Jwalapuram, Prathyusha and Joty, Shafiq and Temnikova, Irina and Nakov, Preslav},
  booktitle = {EMNLP-IJCNLP},
  year = {2019}
}"""
_DESCRIPTION = "Scores the pronouns of translations into English in their context; higher is better."
_ARGUMENTS = """
Args:
    predictions: the translation, one segment each, in the order of the text.
    references: as many segments, which give the context: the reference, or the predictions themselves.
    docs: the document of each segment; without it all are one document.
Returns:
    score: 100 x the mean probability that a pronoun is correct; None without a pronoun.
    scores: the mean of each segment's pronouns, in [0, 1]; None without a pronoun.
    pronouns: the number of pronouns. signature: what the scores depend on.
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _ARGUMENTS)
class PronounScore(evaluate.Metric):
    """The metric."""

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_ARGUMENTS,
            features=datasets.Features({"predictions": text, "references": text}),
        )

    def _download_and_prepare(self, dl_manager):
        from pronmetric import PronounMetric

        name = None if self.config_name == "default" else self.config_name
        self.metric = PronounMetric.from_pretrained(name)

    def _compute(self, predictions, references, docs=None):
        out = self.metric.corpus_score(predictions, [references], docs=docs)
        return {
            "score": out.score,
            "scores": out.scores,
            "pronouns": out.system.pronouns,
            "signature": str(out.signature),
        }
