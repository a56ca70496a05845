"""Tiny readers of sources with random weights, for a checkpoint of the tests or as checkpoints themselves."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from pronmetric.checkpoint import files, locate
from pronmetric.checkpoint.model_config import FORMAT, Calibration, Mixing, SourceReader
from pronmetric.data.pieces import Subwords
from pronmetric.pronouns import languages

SHAPE = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 160,
    "pad_token_id": 1,
}


def make_tokenizer(text: str) -> PreTrainedTokenizerFast:
    """A tokenizer of XLM-R's kind: letters and words of a text, and two other pieces."""
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    letters = sorted({letter for letter in text if not letter.isspace()})
    words = sorted({f"\u2581{word}" for word in text.split()})[:400]
    pieces = [*special, "\u2581", *letters, *words, "\u6f22", "\u5b57", "<mask>"]
    scores = [0.0 if piece in special else -5.0 - len(piece) / 100 for piece in pieces]
    tokenizer = Tokenizer(models.Unigram(list(zip(pieces, scores, strict=True)), unk_id=3))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token="<s>",
        cls_token="<s>",
        eos_token="</s>",
        sep_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        mask_token="<mask>",
    )


MISSING = Calibration(scale=0.5, bias=2.0)


def save_scorer(
    folder: Path, tokenizer: PreTrainedTokenizerFast, targets: Mapping[str, Calibration | None], *, gaps: bool = False
) -> Path:
    """A checkpoint in `folder` that reads texts in these languages with their sources, with random weights.

    gaps: it has a gap head, whose logits `MISSING` calibrates in each language.
    """
    own = [languages.language(code) for code in targets]
    records = [each.to_record() or {"code": each.code} for each in own]
    given = [{} if (each := targets[r["code"]]) is None else {"calibration": each.model_dump()} for r in records]
    given = [{**each, "missing": MISSING.model_dump()} for each in given] if gaps else given
    forms = list(dict.fromkeys(form for each in own for form in each.forms))
    several = {"languages": [{**record, **more} for record, more in zip(records, given, strict=True)]}
    config = {
        "format": FORMAT,
        "encoder": {"model_type": "bert", "vocab_size": len(tokenizer), **SHAPE},
        "head": {"kind": "logit", "dropout": 0.1, "slots": 0},
        "word_state": "mean",
        "segment": "mean",
        "max_pieces": 160,
        "separator": True,
        "pronouns": forms,
        **({"gap_head": {"forms": forms, "dropout": 0.1}} if gaps else {}),
        "context": "common",
        "context_size": 2,
        **(several if len(own) > 1 else {"language": records[0]}),
        "reads_source": {"context": 16, "before": 16, "languages": ["en"]},
        "training": {},
    }
    with torch.random.fork_rng():
        torch.manual_seed(6)
        model = files.build(config)
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.data.normal_(std=0.3)
    files.save(folder, model, Subwords(tokenizer), config, half=False)
    return folder


def add_reader(base: Path, tokenizer: PreTrainedTokenizerFast, folder: Path, *, gaps: bool = False) -> Path:
    """A copy of the checkpoint `base` in `folder`, with a reader of sources that counts half as much.

    gaps: it has a gap head, whose logits `MISSING` calibrates.
    """
    shutil.copytree(base, folder)
    loaded = files.load(folder)
    source = SourceReader(
        context=16,
        before=16,
        model=loaded.hash,
        in_context=Mixing(model=1.0, reader=0.5, bias=-0.25),
        alone=Mixing(model=0.5, reader=2.0, bias=0.0),
        preference=0.5,
        languages=["de"],
        missing=MISSING if gaps else None,
    )
    head = {"gap_head": {"forms": loaded.config["pronouns"], "dropout": 0.1}} if gaps else {}
    config = {
        **{key: value for key, value in loaded.config.items() if key not in ("pair_head", "decision")},
        **head,
        "encoder": {"model_type": "bert", "vocab_size": len(tokenizer), **SHAPE},
        "max_pieces": 160,
        "separator": True,
        "source": source.model_dump(exclude_none=True),
    }
    with torch.random.fork_rng():
        torch.manual_seed(5)
        model = files.build(config)
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.data.normal_(std=0.3)
    files.save(folder / locate.READER, model, Subwords(tokenizer), config, half=False)
    return folder


def let_the_source_count(checkpoint: Path) -> None:
    """Give a reader that was trained for a moment a weight, where none was fitted: it may know nothing."""
    folder = checkpoint / locate.READER
    config = dict(files.load(folder).config)
    weights = Mixing(model=1.0, reader=0.5, bias=0.0).model_dump()
    files.write_config(folder, {**config, "source": {**config["source"], "in_context": weights, "alone": weights}})
