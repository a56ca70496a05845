"""From texts to scores with five kinds of Hugging Face encoders, each with a tokenizer of its kind.

All is compared with a plain computation: one text at a time, unpadded; a word's state is the mean over the pieces that
end in it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from torch import Tensor, tensor
from transformers import PreTrainedTokenizerFast

from pronmetric.data.collate import Collator, Example
from pronmetric.data.pieces import Subwords
from pronmetric.nn.encoder import NO_LIMIT, word_states
from pronmetric.nn.encoders.huggingface.encoder import HuggingFaceEncoder
from pronmetric.nn.scorer import PronounScorer, make_head
from pronmetric.pronouns.finder import find
from pronmetric.text.words import words

LINES = [
    "She gave him the books that they had found themselves.",
    "Whose is it? It's hers, isn't it, and theirs.",
    "Caf\u00e9 and na\u00efve \U0001f600 words: who knows whom?",
]
TEXTS = [
    (LINES[0], LINES[1]),
    ("", "\u201cI\u2019m sure they\u2019ve met him,\u201d she said \u2014 and (it) smiled \U0001f600\U0001f600 at us."),
    ("Then he left.", "THEY SAW  IT , na\u00efvely."),
    ("", "It is."),
]
SPECIAL = ["<pad>", "<s>", "</s>", "<unk>"]
COMMON = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
MARKS = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "cls_token_id": 1, "sep_token_id": 2}
RELATIVE = {"relative_attention": True, "pos_att_type": ["p2c", "c2p"], "position_biased_input": False}
KINDS: dict[str, dict[str, Any]] = {
    "bert": {},
    "roberta": {},
    "deberta-v2": RELATIVE,
    "xlm-roberta": {},
    "modernbert": MARKS | {"global_attn_every_n_layers": 2, "local_attention": 8},
}


def tokenizer_of(kind: str) -> PreTrainedTokenizerFast:
    """WordPiece in lower case, byte-level BPE, or sentencepiece's unigrams, learned from LINES."""
    trainer: trainers.Trainer
    if kind == "bert":
        tokenizer = Tokenizer(models.WordPiece(unk_token="<unk>"))
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        trainer = trainers.WordPieceTrainer(vocab_size=70, special_tokens=SPECIAL, show_progress=False)
    elif kind in ("roberta", "modernbert"):
        tokenizer = Tokenizer(models.BPE())
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        trainer = trainers.BpeTrainer(
            vocab_size=300,
            special_tokens=SPECIAL,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
    else:
        tokenizer = Tokenizer(models.Unigram())
        tokenizer.normalizer = normalizers.NFKC()
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        trainer = trainers.UnigramTrainer(vocab_size=60, special_tokens=SPECIAL, unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator(LINES, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", cls_token="<s>", sep_token="</s>", unk_token="<unk>"
    )


def encoder_of(kind: str, tokenizer: PreTrainedTokenizerFast, *, positions: int) -> HuggingFaceEncoder:
    config = {"pad_token_id": 0, **COMMON, **KINDS[kind], "vocab_size": len(tokenizer)}
    return HuggingFaceEncoder.from_config(config | {"model_type": kind, "max_position_embeddings": positions}).eval()


class Made(NamedTuple):
    """A scorer with random weights, and its tokenizer."""

    scorer: PronounScorer
    tokenizer: PreTrainedTokenizerFast


@pytest.fixture(scope="module", params=KINDS)
def made(request: pytest.FixtureRequest) -> Made:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        tokenizer = tokenizer_of(request.param)
        encoder = encoder_of(request.param, tokenizer, positions=300)
        head = make_head("logit", encoder.width, dropout=0.0, slots=0)
        scorer = PronounScorer(encoder, head, word_state="mean").eval()
        for parameter in scorer.parameters():
            if parameter.dim() > 1:
                parameter.data.normal_(std=0.3)  # states far apart, so that a wrong piece shows
    return Made(scorer, tokenizer)


def example(context: str, text: str) -> Example:
    return Example(context, text, tuple((o.start, o.end) for o in find(text)))


def literally(made: Made, given: Example, *, separator: bool) -> tuple[Tensor, Tensor, list[int]]:
    """States of the words of one text, which of them have a piece, and the words that its pronouns are.

    Of words that share one piece, as two faces side by side, the last has it.
    """
    whole = f"{given.context} {given.text}" if given.context else given.text
    shift = len(whole) - len(given.text)
    found = made.tokenizer(whole, return_offsets_mapping=True)
    ids, spans = list(found["input_ids"]), list(found["offset_mapping"])
    if separator and given.context:
        at = next(i for i, (_, end) in enumerate(spans) if end > shift)
        ids.insert(at, made.tokenizer.sep_token_id)
        spans.insert(at, (0, 0))
    encoder = made.scorer.encoder
    assert isinstance(encoder, HuggingFaceEncoder)
    states = encoder.model(input_ids=tensor([ids])).last_hidden_state[0]
    rows, real = [], []
    for word in words(whole):
        pieces = [i for i, (start, end) in enumerate(spans) if start < end and word.start < end <= word.end]
        rows.append(torch.stack([states[i] for i in pieces]).mean(0) if pieces else torch.zeros(encoder.width))
        real.append(bool(pieces))
    starts = [word.start for word in words(whole)]
    return torch.stack(rows), tensor(real), [starts.index(start + shift) for start, _ in given.spans]


@torch.no_grad()
def compare(made: Made, given: list[Example], *, max_pieces: int, separator: bool) -> None:
    """The batch of all examples against each of them computed plainly, by its words and its scores."""
    collator = Collator(Subwords(made.tokenizer), max_pieces=max_pieces, separator=separator)
    rows = collator.encode(given)
    assert len(rows) == len(given)
    batch = collator.pad(rows)
    pieces = made.scorer.encoder(batch.ids, batch.piece_mask)
    states = word_states(pieces, batch.word, batch.word_mask.shape[1], how="mean")
    out = made.scorer(batch)
    for i, each in enumerate(given):
        expected, mask, at = literally(made, each, separator=separator)
        assert mask.sum() >= len(mask) - 1 and mask[at].all() and batch.pronoun_word[i, : len(at)].tolist() == at
        assert batch.word_mask[i].nonzero().tolist() == mask.nonzero().tolist()
        torch.testing.assert_close(states[i, : len(expected)], expected, atol=2e-5, rtol=1e-5)
        real = torch.ones(1, len(at), dtype=torch.bool)
        alone = made.scorer.head(expected[None], mask[None], tensor([at]), real)
        torch.testing.assert_close(out.scores[i, : len(at)], alone.scores[0], atol=1e-4, rtol=1e-5)
        torch.testing.assert_close(out.segment[i], alone.segment[0], atol=1e-5, rtol=1e-5)
    assert out.scores[batch.pronoun_mask].std() > 0.01


@pytest.mark.parametrize("separator", [False, True])
def test_word_states_are_the_means_of_their_pieces(made: Made, separator: bool) -> None:
    compare(made, [example(*pair) for pair in TEXTS], max_pieces=300, separator=separator)


def test_a_long_context_is_read_as_far_as_positions_go(made: Made) -> None:
    """Up to the last position, and beyond it where positions are relative."""
    beyond = made.scorer.encoder.max_pieces == NO_LIMIT
    assert beyond == bool(made.scorer.encoder.config.get("relative_attention"))
    least = 310 if beyond else 230
    context, room = "", 400 if beyond else 300
    while len(made.tokenizer(context)["input_ids"]) < least:
        context = f"{context} {LINES[0]}".strip()
    compare(made, [example(context, LINES[1]), example("", LINES[0])], max_pieces=room, separator=True)


@pytest.mark.parametrize("kind", KINDS)
@torch.no_grad()
def test_what_is_longer_than_the_positions_is_windowed(kind: str) -> None:
    torch.manual_seed(0)
    tokenizer = tokenizer_of(kind)
    encoder = encoder_of(kind, tokenizer, positions=40)
    room = min(64, encoder.max_pieces)
    assert room == (64 if kind == "deberta-v2" else 39 if "roberta" in kind else 40)
    given = example("", " ".join(LINES * 4))
    collator = Collator(Subwords(tokenizer), max_pieces=room, separator=True)
    rows = collator.encode([given])
    assert len(rows) > 1 and max(len(row.ids) for row in rows) == room
    assert sorted(k for row in rows for k in row.pronouns) == list(range(len(given.spans)))
    batch = collator.pad(rows)
    assert encoder(batch.ids, batch.piece_mask).isfinite().all()


def test_training_in_bf16_keeps_weights_and_gradients_in_fp32(made: Made) -> None:
    encoder = made.scorer.encoder
    assert isinstance(encoder, HuggingFaceEncoder)
    ids = tensor([[1, 9, 8, 7, 9, 2], [1, 5, 6, 2, 0, 0]])
    mask = ids != 0

    def states_and_gradients() -> tuple[Tensor, list[Tensor]]:
        states = encoder(ids, mask)[mask]
        encoder.zero_grad()
        states.square().mean().backward()
        found = [p.grad for p in encoder.parameters() if p.grad is not None]
        encoder.zero_grad()
        return states.detach(), found

    dropped = {module: module.p for module in encoder.modules() if isinstance(module, torch.nn.Dropout)}
    exact, gradients = states_and_gradients()
    try:
        for module in dropped:
            module.p = 0.0
        encoder.train()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            states, lowered = states_and_gradients()
    finally:
        encoder.eval()
        for module, p in dropped.items():
            module.p = p
    assert states.dtype == torch.float32 and not torch.equal(states, exact)
    torch.testing.assert_close(states, exact, atol=0.1, rtol=0.1)
    assert len(lowered) == len(gradients) and all(g.dtype == torch.float32 for g in lowered)
    flat, expected = (torch.cat([g.flatten() for g in each]) for each in (lowered, gradients))
    assert torch.nn.functional.cosine_similarity(flat, expected, dim=0) > 0.98
