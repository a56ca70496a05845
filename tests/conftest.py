"""What all tests share: shapes are checked, the network is closed, the real data is found or the test is skipped."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from jaxtyping import install_import_hook

# Before anything imports these modules: each tensor is held against the shape in its signature.
install_import_hook(["pronmetric.nn", "pronmetric.data.collate"], "beartype.beartype")

# pytest-socket closes the network in this process (pyproject.toml: only loopback); these close it in its children.
os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", HF_DATASETS_OFFLINE="1", TOKENIZERS_PARALLELISM="false")

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not (SHARED / "data").is_dir():
        for item in items:
            if item.get_closest_marker("shared"):
                item.add_marker(pytest.mark.skip(reason=f"{SHARED} is not there"))


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of the real data; the test is skipped where it is absent."""
    if not (SHARED / "data").is_dir():
        pytest.skip(f"{SHARED} is not there")
    return SHARED


@pytest.fixture(scope="session")
def sample() -> Path:
    """The bundled sample: ref.txt, docids.txt, src.de.txt, system-a.txt, system-b.txt, system-c.txt."""
    return ROOT / "examples" / "sample"


@pytest.fixture(scope="session")
def wmt_sample() -> Path:
    """A small test set in the layout of the WMT23 repository."""
    return ROOT / "examples" / "wmt-sample"


@pytest.fixture(scope="session")
def tiny_checkpoint(tmp_path_factory: pytest.TempPathFactory, sample: Path) -> Callable[..., Path]:
    """Makes (once) the folder of a checkpoint with random weights: two layers, 64 pieces at most, letters and words.

    Arguments: `head` ("logit", "paper", "average") and `max_pieces`.
    """
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    from pronmetric import checkpoint
    from pronmetric.pronouns import FORMS

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    lines = (sample / "ref.txt").read_text(encoding="utf-8").splitlines()
    tokenizer.train_from_iterator(
        lines, trainers.WordPieceTrainer(vocab_size=300, special_tokens=special, show_progress=False)
    )
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[(s, tokenizer.token_to_id(s)) for s in ("[CLS]", "[SEP]")]
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]"
    )
    encoder = {
        "model_type": "bert",
        "vocab_size": tokenizer.get_vocab_size(),
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 64,
        "max_position_embeddings": 128,
    }
    made: dict[tuple[str, int], Path] = {}

    def make(*, head: str = "logit", max_pieces: int = 64) -> Path:
        if (head, max_pieces) not in made:
            folder = tmp_path_factory.mktemp("checkpoint") / f"tiny-{head}-{max_pieces}"
            config = {
                "format": checkpoint.FORMAT,
                "encoder": encoder,
                "head": {"kind": head, "dropout": 0.1, "slots": 4, "correction": True},
                "word_state": "mean",
                "segment": "mean",
                "max_pieces": max_pieces,
                "pronouns": list(FORMS),
                "context": "common",
                "training": {},
            }
            with torch.random.fork_rng():
                torch.manual_seed(1)
                model = checkpoint.build(config)
                for parameter in model.parameters():
                    if parameter.dim() > 1:
                        parameter.data.normal_(std=0.3)  # scores far apart, so that a wrong slot shows
            checkpoint.save(folder, model, fast, config, half=False)
            made[head, max_pieces] = folder
        return made[head, max_pieces]

    return make
