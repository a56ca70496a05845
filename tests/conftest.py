"""What all tests share: shapes are checked, the network is closed, the real data is found or the test is skipped."""

from __future__ import annotations

import copy
import json
import math
import os
import re
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import hypothesis
import numpy as np
import pytest
from jaxtyping import install_import_hook

from tests.tools import postgresql, ready
from tests.tools.browser import NAMES, VARIABLE, Browser, find

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerFast

    from pronmetric.nn.encoders.huggingface.encoder import HuggingFaceEncoder
    from pronmetric.schema import Pair
    from pronmetric.training.settings import Train

# Before these modules are imported: each tensor is checked against the shape in its signature.
NMT = [f"pronmetric.lab.nmt.{name}" for name in ("layers", "network", "search")]
install_import_hook(["pronmetric.nn", "pronmetric.data.collate", *NMT], "beartype.beartype")

# Small tensors gain nothing from a second thread, and threads that wait for each other cost much on a busy machine.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# The same examples each time, and none is refused for the time that it took.
hypothesis.settings.register_profile(
    "any machine",
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("any machine")

# pytest-socket closes the network in this process (pyproject.toml: only loopback); these close it in its children.
os.environ.update(HF_HUB_OFFLINE="1", TRANSFORMERS_OFFLINE="1", HF_DATASETS_OFFLINE="1", TOKENIZERS_PARALLELISM="false")

ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("shared") and not (SHARED / "data").is_dir():
            item.add_marker(pytest.mark.skip(reason=f"{SHARED} is not there"))
        if not item.get_closest_marker("xdist_group") and _shares_a_fixture(item):
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))


def _shares_a_fixture(item: pytest.Item) -> bool:
    """Of its module: its tests run in one process, which makes the fixture once."""
    found: Mapping[str, Sequence[pytest.FixtureDef[Any]]] = item._fixtureinfo.name2fixturedefs  # type: ignore[attr-defined]
    return any(definitions[-1].scope == "module" for definitions in found.values())


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """After a failure, say how the same order comes again: `--quiet` hides pytest-randomly's own line."""
    if config.pluginmanager.hasplugin("randomly") and {"failed", "error"} & terminalreporter.stats.keys():
        terminalreporter.write_line(f"shuffled; the same order: pytest --randomly-seed={config.option.randomly_seed}")


@pytest.fixture(scope="session", autouse=True)
def interruptible() -> None:
    """Programs that the tests start can be interrupted, also where the tests run in the background or by nohup."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture(autouse=True)
def progress_without_a_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long it takes here, short work shows no progress, and other work its last line alone."""
    monkeypatch.setattr("pronmetric.output.progress.DELAY", math.inf)
    monkeypatch.setattr("pronmetric.output.progress.SECONDS", 86_400.0)


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


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A headless Chromium; the test is skipped where there is none."""
    program = find()
    if program is None:
        pytest.skip(f"no browser: none of {', '.join(NAMES)} is installed; {VARIABLE} names another")
    with Browser(program) as made:
        made.size(1000, 900)
        never = "AbortSignal.timeout = () => new AbortController().signal"  # a page waits as long as it takes here
        made.call("Page.addScriptToEvaluateOnNewDocument", source=never)
        yield made


@pytest.fixture
def no_faults(browser: Browser) -> Iterator[None]:
    """After the test: the page complained of nothing and asked for nothing but local files."""
    yield
    assert browser.faults() == []
    assert all(url.startswith(("file:", "blob:")) for url in browser.requests())


@pytest.fixture
def bert_config() -> dict[str, Any]:
    """The architecture of `small_bert`."""
    return {
        "model_type": "bert",
        "vocab_size": 100,
        "hidden_size": 48,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "intermediate_size": 96,
        "max_position_embeddings": 64,
    }


@pytest.fixture
def mpnet_config(bert_config: dict[str, Any]) -> dict[str, Any]:
    """The architecture of `small_mpnet`."""
    own = {"model_type": "mpnet", "num_hidden_layers": 2, "max_position_embeddings": 162, "pad_token_id": 1}
    return bert_config | own


@pytest.fixture
def small_bert(bert_config: dict[str, Any]) -> HuggingFaceEncoder:
    """A random BERT of Hugging Face, biases and norms too, in evaluation mode."""
    return _small(bert_config)


@pytest.fixture
def small_mpnet(mpnet_config: dict[str, Any]) -> HuggingFaceEncoder:
    """A random MPNet of Hugging Face, its bias of relative positions too, in evaluation mode."""
    made = _small(mpnet_config)
    bias: Any = made.model.encoder
    bias.relative_attention_bias.weight.data *= 10  # so that a wrong bucket shows
    return made


def _small(config: dict[str, Any]) -> HuggingFaceEncoder:
    import torch

    from pronmetric.nn.encoders.huggingface.encoder import HuggingFaceEncoder

    with torch.random.fork_rng():
        torch.manual_seed(0)
        made = HuggingFaceEncoder.from_config(config)
        for parameter in made.parameters():
            parameter.data += 0.1 * torch.randn_like(parameter)
    return made.eval()


@pytest.fixture(scope="session")
def programs() -> Iterator[dict[str, str]]:
    """The environment of processes in which `pronmetric` and `python` start at once, their libraries loaded."""
    with ready.running() as environment:
        yield environment


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL server, on which statements may take long; skipped where it is not installed."""
    programs = postgresql.find()
    if programs is None:
        pytest.skip("no PostgreSQL: initdb is not installed")
    with postgresql.running(programs) as address, pytest.MonkeyPatch.context() as patch:
        for limit in ("_LOCK", "_STATEMENT", "_CONNECT"):
            patch.setattr(f"pronmetric.lab.study.database.{limit}", 3600)
        yield address


@pytest.fixture(scope="session")
def sample() -> Path:
    """The bundled sample: ref.txt, docids.txt, src.de.txt, system-a.txt, system-b.txt, system-c.txt."""
    return ROOT / "examples" / "sample"


@pytest.fixture(scope="session")
def wmt_sample() -> Path:
    """A small test set in the layout of the WMT23 repository."""
    return ROOT / "examples" / "wmt-sample"


@pytest.fixture(scope="session")
def tiny_tokenizer(sample: Path) -> PreTrainedTokenizerFast:
    """A lower-casing WordPiece tokenizer of at most 300 pieces: letters, and the sample's most frequent words.

    Its pieces are counted here, since the trainers of `tokenizers` break ties at random.
    """
    return _tokenizer(sample, pad="[PAD]", unknown="[UNK]", first="[CLS]", last="[SEP]")


@pytest.fixture(scope="session")
def tiny_mpnet_tokenizer(sample: Path) -> PreTrainedTokenizerFast:
    """The same with the special pieces of MPNet, whose padding is 1."""
    return _tokenizer(sample, first="<s>", pad="<pad>", last="</s>", unknown="[UNK]")


def _tokenizer(sample: Path, **special: str) -> PreTrainedTokenizerFast:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    text = (sample / "ref.txt").read_text(encoding="utf-8").lower()
    letters = sorted({letter for letter in text if not letter.isspace()})
    counts = Counter(re.findall(r"\w+", text))
    frequent = sorted(counts, key=lambda word: (-counts[word], word))
    pieces = dict.fromkeys([*special.values(), "[MASK]", *letters, *(f"##{letter}" for letter in letters), *frequent])
    vocabulary = {piece: number for number, piece in enumerate(list(pieces)[:300])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{special['first']} $A {special['last']}",
        special_tokens=[(s, tokenizer.token_to_id(s)) for s in (special["first"], special["last"])],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=special["pad"],
        unk_token=special["unknown"],
        cls_token=special["first"],
        sep_token=special["last"],
    )


@pytest.fixture(scope="session")
def tiny_config(tiny_tokenizer: PreTrainedTokenizerFast) -> dict[str, Any]:
    """The architecture of an encoder of two layers, as a Hugging Face dict."""
    return {
        "model_type": "bert",
        "vocab_size": len(tiny_tokenizer),
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 64,
        "max_position_embeddings": 128,
    }


@pytest.fixture(scope="session")
def tiny_encoder(
    tmp_path_factory: pytest.TempPathFactory, tiny_tokenizer: PreTrainedTokenizerFast, tiny_config: dict[str, Any]
) -> Path:
    """The Hugging Face folder of an encoder with random weights, for `encoder=huggingface encoder.name=FOLDER`."""
    import torch
    from transformers import BertConfig, BertModel

    folder = tmp_path_factory.mktemp("encoder")
    with torch.random.fork_rng():
        torch.manual_seed(2)
        BertModel(BertConfig(**tiny_config)).save_pretrained(folder)
    tiny_tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def tiny_causal(
    tmp_path_factory: pytest.TempPathFactory, tiny_tokenizer: PreTrainedTokenizerFast
) -> Callable[..., Path]:
    """Makes (once) the folder of a causal language model with random weights: "llama" or "gpt2", 128 positions."""
    import torch
    import transformers as t

    made: dict[str, Path] = {}
    tokenizer = copy.deepcopy(tiny_tokenizer)
    tokenizer.bos_token = tokenizer.cls_token
    shared: dict[str, Any] = {"vocab_size": len(tokenizer), "pad_token_id": tokenizer.pad_token_id}
    shared |= {"bos_token_id": tokenizer.cls_token_id, "eos_token_id": None}
    wide: dict[str, Any] = {
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
    }
    wide |= {"intermediate_size": 64, "max_position_embeddings": 128}
    kinds: dict[str, Callable[[], Any]] = {
        "llama": lambda: t.LlamaForCausalLM(t.LlamaConfig(**wide, **shared)),
        "gpt2": lambda: t.GPT2LMHeadModel(t.GPT2Config(n_positions=128, n_embd=32, n_layer=2, n_head=4, **shared)),
    }

    def make(kind: str = "llama") -> Path:
        if kind not in made:
            made[kind] = tmp_path_factory.mktemp("causal") / f"tiny-{kind}"
            with torch.random.fork_rng():
                torch.manual_seed(4)
                model = kinds[kind]()
                for parameter in model.parameters():
                    if parameter.dim() > 1:
                        parameter.data.normal_(std=0.3)  # far from uniform, so that a wrong position shows
            model.save_pretrained(made[kind])
            tokenizer.save_pretrained(made[kind])
        return made[kind]

    return make


@pytest.fixture(scope="session")
def unigram(sample: Path) -> PreTrainedTokenizerFast:
    """A tokenizer of XLM-R's kind, of the sample's reference and source."""
    from tests.tools.source_readers import make_tokenizer

    return make_tokenizer("\n".join((sample / name).read_text(encoding="utf-8") for name in ("ref.txt", "src.de.txt")))


@pytest.fixture(scope="session")
def with_reader(
    tiny_checkpoint: Callable[..., Path],
    unigram: PreTrainedTokenizerFast,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """A checkpoint with a pair head and a reader of sources, both with random weights."""
    from tests.tools.source_readers import add_reader

    return add_reader(tiny_checkpoint(pair_head=True), unigram, tmp_path_factory.mktemp("reader") / "tiny")


@pytest.fixture(scope="session")
def with_gaps(
    tiny_checkpoint: Callable[..., Path],
    unigram: PreTrainedTokenizerFast,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """The same, its reader with a gap head."""
    from tests.tools.source_readers import add_reader

    return add_reader(tiny_checkpoint(pair_head=True), unigram, tmp_path_factory.mktemp("gaps") / "tiny", gaps=True)


@pytest.fixture(scope="session")
def tiny_checkpoint(
    tmp_path_factory: pytest.TempPathFactory,
    tiny_tokenizer: PreTrainedTokenizerFast,
    tiny_mpnet_tokenizer: PreTrainedTokenizerFast,
    tiny_config: dict[str, Any],
    sample: Path,
) -> Callable[..., Path]:
    """Makes (once) the folder of a checkpoint with random weights: two layers, 64 pieces at most, letters and words.

    Arguments: `head` ("logit", "paper", "average"), `max_pieces`, `encoder` ("huggingface", which is a BERT, "mpnet",
    "glove", "elmo"), `context` that it was trained in, and `context_size`; `pair_head`: with one, which decides.
    """
    import torch

    from pronmetric.checkpoint import files
    from pronmetric.checkpoint.model_config import FORMAT, SEGMENT
    from pronmetric.data.pieces import Characters, Subwords, Vocabulary
    from pronmetric.pronouns.finder import FORMS
    from pronmetric.text.words import words

    made: dict[tuple[str, int, str, str, int, bool], Path] = {}
    found = {word.text.lower() for word in words((sample / "ref.txt").read_text(encoding="utf-8"))}
    known = sorted({*sorted(found)[::2], *FORMS})
    vocabulary = Vocabulary(known, lower=True)
    glove = {"kind": "glove", "words": len(known), "vector": 12, "hidden": 8, "layers": 2, "lower": True}
    elmo = {"kind": "elmo", "characters": 262, "character_width": 6, "filters": [[1, 4], [3, 8]], "highway": 1}
    elmo |= {"activation": "relu", "layers": 2, "cell": 10, "projection": 8}
    elmo |= {"cell_clip": 3.0, "projection_clip": 3.0, "residual": True}
    mpnet = {**tiny_config, "model_type": "mpnet", "pad_token_id": tiny_mpnet_tokenizer.pad_token_id}
    kinds: dict[str, tuple[dict[str, Any], Any]] = {
        "huggingface": (tiny_config, Subwords(tiny_tokenizer)),
        "mpnet": (mpnet, Subwords(tiny_mpnet_tokenizer)),
        "glove": (glove, vocabulary),
        "elmo": (elmo, Characters()),
    }

    def make(
        *,
        head: str = "logit",
        max_pieces: int = 64,
        encoder: str = "huggingface",
        context: str = "common",
        context_size: int = 2,
        pair_head: bool = False,
    ) -> Path:
        wanted = head, max_pieces, encoder, context, context_size, pair_head
        if wanted not in made:
            folder = tmp_path_factory.mktemp("checkpoint") / f"tiny-{head}-{max_pieces}"
            architecture, pieces = kinds[encoder]
            config = {
                "format": FORMAT,
                "encoder": architecture,
                "head": {"kind": head, "dropout": 0.1, "slots": 4},
                "word_state": "mean",
                "segment": SEGMENT[head],
                "max_pieces": max_pieces,
                "separator": False,
                "pronouns": list(FORMS),
                "context": context,
                "context_size": context_size,
                "training": {},
            }
            if pair_head:
                config |= {"pair_head": {"heads": 4, "dropout": 0.1}, "decision": "preference"}
            with torch.random.fork_rng():
                torch.manual_seed(1)
                model = files.build(config)
                for parameter in model.parameters():
                    if parameter.dim() > 1:
                        parameter.data.normal_(std=0.3)  # scores far apart, so that a wrong slot shows
            files.save(folder, model, pieces, config, half=False)
            made[wanted] = folder
        return made[wanted]

    return make


@pytest.fixture
def run_tiny(
    tiny_checkpoint: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[str, str]]:
    """Runs a verb with the tiny checkpoint in fp32; gives stdout and stderr."""
    from pronmetric.cli.main import main

    def call(*argv: str | Path) -> tuple[str, str]:
        fixed = ["--model", str(tiny_checkpoint()), "--precision", "32", "--gpus", "0"]
        assert main([*map(str, argv), *fixed]) == 0
        return capsys.readouterr()

    return call


@pytest.fixture(scope="session")
def sample_pairs(sample: Path) -> list[Pair]:
    """For each pronoun of the sample, one noisy pair and one with an output that has one pronoun more or fewer.

    In the order of the sample, with two sentences of context; the last documents come last.
    """
    from pronmetric.pronouns.corrupt import replace
    from pronmetric.pronouns.finder import find
    from pronmetric.pronouns.slots import same_slot
    from pronmetric.schema import Mismatch, Pair
    from pronmetric.text.words import words

    lines = (sample / "ref.txt").read_text(encoding="utf-8").splitlines()
    docs = (sample / "docids.txt").read_text(encoding="utf-8").splitlines()
    made = []
    for at, (line, doc) in enumerate(zip(lines, docs, strict=True)):
        context = tuple(lines[i] for i in range(max(0, at - 2), at) if docs[i] == doc)
        for number, o in enumerate(find(line)):
            form = next((f for f in same_slot(words(line), o.word) if f != o.form), None)
            if form is None:
                continue
            wrong = replace(line, o.start, o.end, form)
            mismatch = Mismatch("pronoun", o.form, form, o.start, o.end, o.start, o.start + len(form))
            more = f"{wrong} They know it."
            output = more if (at + number) % 2 else f"{wrong[: mismatch.hyp_end]} there."
            for kind, worse in (("noisy", wrong), ("system", output)):
                made.append(
                    Pair(
                        id=f"{at}-{number}-{kind}",
                        kind=kind,
                        testset="tiny",
                        lp="de-en",
                        doc=doc,
                        seg=at + 1,
                        ref="A",
                        system="Alder",
                        better=line,
                        worse=worse,
                        context=context,
                        system_context=tuple(f"So {sentence}" for sentence in context),
                        mismatches=(mismatch,),
                    )
                )
    return made


@pytest.fixture(scope="session")
def make_prepared(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Writes a prepared folder, as `pronmetric prepare` would, from pairs and passages.

    Arguments: `train`, `development` and `test` (pairs), `passages` (texts; none are split), `fidelity` (pairs in which
    only the context decides, for both splits), `people` (texts that people judged, for training), `rate` (of wrong
    pronouns that the manifest tells) and `pronouns` (that it counts).
    """
    from dataclasses import replace

    from pronmetric.data import arrow
    from pronmetric.pronouns.corrupt import ConfusionTable
    from pronmetric.pronouns.finder import find
    from pronmetric.schema import SCHEMA_VERSION, JudgedText, Passage
    from pronmetric.text.writing import study_form

    def bare(pair: Pair) -> Pair:
        better, worse = study_form(pair.better).split(), study_form(pair.worse).split()
        at = next(i for i, (a, b) in enumerate(zip(better, worse, strict=True)) if a != b)
        start = len(" ".join([*better[:at], ""]))
        mismatch = replace(
            pair.mismatches[0],
            ref_start=start,
            ref_end=start + len(better[at]),
            hyp_start=start,
            hyp_end=start + len(worse[at]),
        )
        context = tuple(map(study_form, pair.context))
        texts = {"better": " ".join(better), "worse": " ".join(worse), "context": context, "system_context": context}
        return replace(pair, **texts, mismatches=(mismatch,))

    def passage(number: int, text: str) -> Passage:
        found = find(text)
        return Passage(
            f"p{number}",
            "tiny",
            str(number),
            text,
            tuple((o.start, o.end) for o in found),
            tuple(o.form for o in found),
        )

    def make(
        *,
        train: Sequence[Pair],
        development: Sequence[Pair],
        test: Sequence[Pair] = (),
        passages: Sequence[str] = (),
        coreference: Sequence[Passage] = (),
        fidelity: Sequence[Pair] = (),
        people: Sequence[JudgedText] = (),
        rate: float = 0.5,
        pronouns: int = 1000,
    ) -> Path:
        folder = tmp_path_factory.mktemp("tiny") / "prepared"
        pairs = {
            "train": train,
            "development": development,
            "test": test,
            "development_study": [bare(pair) for pair in development if pair.kind == "noisy"],
        }
        pairs |= dict.fromkeys(arrow.FIDELITY_SPLITS, fidelity) if fidelity else {}
        texts = {"passages_train": [passage(i, text) for i, text in enumerate(passages)], "passages_development": []}
        annotated = {"coreference_train": coreference, "coreference_development": ()} if coreference else {}
        judged: dict[str, Any] = {"people_train": people} if people else {}
        rows = arrow.write(folder, pairs=pairs, passages=texts | annotated | judged)
        counts = Counter((p.mismatches[0].ref_form, p.mismatches[0].hyp_form) for p in (*train, *development))
        ConfusionTable.from_counts(counts).save(folder / "confusion.json")
        testset = {"compared": {"ref pronouns": pronouns}, "mismatches": {"pronoun": round(rate * pronouns)}}
        manifest = {
            "schema_version": SCHEMA_VERSION,
            "package_version": "0.0",
            "inputs": {},
            "config": {},
            "counts": {"testsets": {"tiny.de-en": testset}},
            "splits": {split: {"rows": number, "testsets": []} for split, number in rows.items()},
        }
        (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
        return folder

    return make


@pytest.fixture(scope="session")
def tiny_prepared(make_prepared: Callable[..., Path], sample_pairs: list[Pair], sample: Path) -> Path:
    """A prepared folder of the sample: its last two fifths are development, passages are four lines each."""
    lines = (sample / "ref.txt").read_text(encoding="utf-8").splitlines()
    cut = 3 * len(lines) // 5
    return make_prepared(
        train=[pair for pair in sample_pairs if pair.seg <= cut],
        development=[pair for pair in sample_pairs if pair.seg > cut],
        passages=[" ".join(lines[i : i + 3]) for i in range(0, cut, 3)],
    )


@pytest.fixture(scope="session")
def arguments(tiny_encoder: Path, tiny_prepared: Path) -> Callable[..., list[str]]:
    """The command line of `train` on the tiny encoder and data, in fp32 with small batches; later overrides win."""

    def command(out: Path, *overrides: str, folder: Path = tiny_prepared) -> list[str]:
        given = {
            "data.dir": folder,
            "out": out,
            "encoder": "huggingface",
            "encoder.name": tiny_encoder,
            "data.pieces": 512,
            "data.development": 12,
            "trainer.validate_every": 1.0,
            "trainer.precision": 32,
            "trainer.threads": 1,
            "trainer.progress": "false",
        }
        later = {override.split("=")[0] for override in overrides}
        if "init" in later:  # it brings its own encoder
            later |= {"encoder", "encoder.name"}
        if not any("objective=pairs" in each or "objective.source_share" in each for each in overrides):
            overrides = ("objective.source_share=null", *overrides)  # the tiny data have no passages of WMT
        if not any("objective=pairs" in each or "objective.antecedent" in each for each in overrides):
            overrides = ("objective.antecedent=0", *overrides)  # nor annotated antecedents
        return ["train", *(f"{key}={value}" for key, value in given.items() if key not in later), *overrides]

    return command


@pytest.fixture(scope="session")
def tiny_elmo() -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What options.json and weights.hdf5 of a tiny ELMo hold; its random weights make both clips bite."""
    options = {
        "lstm": {
            "cell_clip": 0.9,
            "use_skip_connections": True,
            "n_layers": 2,
            "proj_clip": 0.7,
            "projection_dim": 3,
            "dim": 5,
        },
        "char_cnn": {
            "embedding": {"dim": 4},
            "filters": [[1, 2], [2, 3], [4, 3]],
            "n_highway": 2,
            "n_characters": 999,  # ignored: the weights determine it
            "max_characters_per_token": 50,
            "activation": "relu",
        },
    }
    rng = np.random.default_rng(5)
    shapes: dict[str, tuple[int, ...]] = {"char_embed": (261, 4), "CNN_proj/W_proj": (8, 3), "CNN_proj/b_proj": (3,)}
    for number, (span, channels) in enumerate(((1, 2), (2, 3), (4, 3))):
        shapes |= {f"CNN/W_cnn_{number}": (1, span, 4, channels), f"CNN/b_cnn_{number}": (channels,)}
        if number < 2:
            for part in ("carry", "transform"):
                shapes |= {f"CNN_high_{number}/W_{part}": (8, 8), f"CNN_high_{number}/b_{part}": (8,)}
            for direction in range(2):
                cell = f"RNN_{direction}/RNN/MultiRNNCell/Cell{number}/LSTMCell"
                shapes |= {f"{cell}/W_0": (6, 20), f"{cell}/B": (20,), f"{cell}/W_P_0": (5, 3)}
    return options, {name: rng.normal(0, 0.8, shape).astype(np.float32) for name, shape in shapes.items()}


@pytest.fixture(scope="session")
def tiny_elmo_files(
    tmp_path_factory: pytest.TempPathFactory, tiny_elmo: tuple[dict[str, Any], dict[str, np.ndarray]]
) -> tuple[Path, Path]:
    """options.json and weights.hdf5 of that ELMo."""
    import h5py

    folder = tmp_path_factory.mktemp("elmo")
    (folder / "options.json").write_text(json.dumps(tiny_elmo[0]), encoding="utf-8")
    with h5py.File(folder / "weights.hdf5", "w") as file:
        for name, values in tiny_elmo[1].items():
            file[name] = values
    return folder / "options.json", folder / "weights.hdf5"


@pytest.fixture(scope="session")
def tiny_vectors(tmp_path_factory: pytest.TempPathFactory, sample: Path) -> Path:
    """A gzip file of word2vec's kind with vectors of 6 numbers for every other word of the sample, and for "zyx"."""
    import gzip

    from pronmetric.pronouns.finder import FORMS
    from pronmetric.text.words import words

    found = {word.text.lower() for word in words((sample / "ref.txt").read_text(encoding="utf-8"))}
    known = sorted({*sorted(found)[::2], *FORMS, "zyx"})
    rng = np.random.default_rng(3)
    lines = [f"{word} {' '.join(f'{x:.4f}' for x in rng.normal(0, 0.4, 6))}" for word in known]
    path = tmp_path_factory.mktemp("vectors") / "vectors.txt.gz"
    path.write_bytes(gzip.compress("\n".join([f"{len(known)} 6", *lines, ""]).encode()))
    return path


@pytest.fixture(scope="session")
def train_settings() -> Callable[..., Train]:
    """The settings of `pronmetric train`, with changes by their dotted keys."""
    from hydra import compose, initialize_config_dir
    from omegaconf import OmegaConf

    from pronmetric.installation import folder
    from pronmetric.training.settings import Train

    with initialize_config_dir(str(folder("conf")), version_base="1.3"):
        base = OmegaConf.to_container(compose("train", overrides=["data.dir=d", "out=o"]), resolve=True)

    def settings(changes: Mapping[str, Any] | None = None) -> Train:
        config: Any = copy.deepcopy(base)
        for key, value in (changes or {}).items():
            *groups, name = key.split(".")
            node = config
            for group in groups:
                node = node[group]
            node[name] = value
        return Train.read(config)

    return settings
