"""An encoder with random weights whose pieces are whole words."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def write_encoder(folder: Path, words: Sequence[str]) -> None:
    """A frozen encoder for bert_fused: a BERT of two layers with random weights, which still tells the words apart."""
    if (folder / "config.json").is_file():
        return
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    names = {name: k for k, name in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *words])}
    tokenizer = Tokenizer(models.WordLevel(names, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    marks = [("[CLS]", names["[CLS]"]), ("[SEP]", names["[SEP]"])]
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", special_tokens=marks)
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(names),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        initializer_range=0.2,
    )
    BertModel(config, add_pooling_layer=False).save_pretrained(folder)
    marked = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **marked).save_pretrained(folder)
