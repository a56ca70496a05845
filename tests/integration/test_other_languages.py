"""The whole chain for other target languages than English: prepare, train, score, compare, suggest, report, suites.

Hand-made test sets out of English; the encoders are tiny and random, with the tokenizers of multilingual BERT
(WordPiece, Chinese characters one by one) and of XLM-R (unigrams of sentencepiece).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors, trainers
from transformers import AutoConfig, AutoModel, PreTrainedTokenizerFast

from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.cli.main import main
from pronmetric.metric import PronounMetric
from pronmetric.pronouns.languages import language
from tests.tools.source_readers import let_the_source_count

CITIES = "Köln Graz Bern Lyon Nantes Oslo Turin Porto Malmö Basel Gent Riga".split()
PLACES = "北京 上海 南京 广州 西安 成都 武汉 天津 重庆 杭州 苏州 青岛".split()
NOUNS = {
    "de": {
        "er": ["Der Tisch", "Der Koffer", "Der Garten", "Der Turm"],
        "sie": ["Die Lampe", "Die Brücke", "Die Uhr", "Die Statue"],
        "es": ["Das Boot", "Das Haus", "Das Bild", "Das Rad"],
    },
    "fr": {
        "il": ["Le jardin", "Le bateau", "Le cadre", "Le livre"],
        "elle": ["La lampe", "La statue", "La montre", "La table"],
        "ils": ["Les vélos", "Les murs", "Les ponts", "Les vases"],
    },
    "zh": {
        "他": ["我的哥哥", "这位先生", "他的叔叔", "我的弟弟"],
        "她": ["我的姐姐", "这位女士", "他的阿姨", "我的妹妹"],
        "它": ["那只猫", "那条狗", "这匹马", "那只鸟"],
    },
}
FRAMES = {
    "de": ["{n} kommt aus {c}.", "Aber {p} bleibt in {c}.", "Gestern war {p} noch bei {c}.", "Nun geht {p} nach {c}."],
    "fr": ["{n} de {c} : voilà.", "Mais {p} va à {c}.", "C'est à {c} qu'{p} revient.", "Hier {p} venait de {c}."],
    "zh": ["{n}来自{c}。", "但{p}不在{c}。", "昨天{p}还在{c}。", "我们在{c}看见{p}。"],
}
SOURCE = ["{n} comes from {c} .", "But it stays in {c} .", "Yesterday it was near {c} .", "Now it goes to {c} ."]
ENCODERS = {"de": "bert", "fr": "xlm-roberta", "zh": "xlm-roberta"}
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]
ARCHITECTURE = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}


class Lines(NamedTuple):
    """Source, reference and two system outputs, line by line; the first system has the wrong pronoun each time."""

    source: list[str]
    reference: list[str]
    bad: list[str]
    fair: list[str]


def lines_of(code: str) -> Lines:
    made = Lines([], [], [], [])
    pronouns, names = list(NOUNS[code]), PLACES if code == "zh" else CITIES
    nouns = [
        (p, noun) for group in zip(*NOUNS[code].values(), strict=True) for p, noun in zip(pronouns, group, strict=True)
    ]
    for number, (pronoun, noun) in enumerate(nouns):
        wrong = pronouns[(pronouns.index(pronoun) + 1 + number % 2) % 3]
        for k, frame in enumerate(FRAMES[code]):
            given = {"n": noun, "c": names[number]}
            made.source.append(SOURCE[k].format(**given))
            made.reference.append(frame.format(p=pronoun, **given))
            made.bad.append(frame.format(p=wrong, **given))
            made.fair.append(frame.format(p=wrong if k == 2 else pronoun, **given))
    return made


def tokenizer_of(kind: str, texts: list[str]) -> PreTrainedTokenizerFast:
    trainer: trainers.Trainer
    if kind == "bert":
        tokenizer = Tokenizer(models.WordPiece(unk_token="<unk>"))
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False, strip_accents=False)
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        trainer = trainers.WordPieceTrainer(vocab_size=200, special_tokens=SPECIAL, show_progress=False)
    else:
        tokenizer = Tokenizer(models.Unigram())
        tokenizer.normalizer = normalizers.NFKC()
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        trainer = trainers.UnigramTrainer(
            vocab_size=200, special_tokens=SPECIAL, unk_token="<unk>", show_progress=False
        )
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<pad>", cls_token="<s>", sep_token="</s>", unk_token="<unk>"
    )


def save_encoder(folder: Path, kind: str, texts: list[str]) -> Path:
    tokenizer = tokenizer_of(kind, texts)
    config = AutoConfig.for_model(
        kind, **ARCHITECTURE, vocab_size=len(tokenizer), max_position_embeddings=140, pad_token_id=1
    )
    with torch.random.fork_rng():
        torch.manual_seed(3)
        AutoModel.from_config(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


class Chain(NamedTuple):
    """A test set out of English, and the checkpoint trained on it."""

    code: str
    folder: Path
    lines: Lines
    checkpoint: Path


NOT_ENGLISH = ["objective.form_weight=null", "objective.corruption.emphasis=null"]
NOT_ENGLISH += ["objective.corruption.gender_swap=0", "objective.corruption.name_swap=0"]


@pytest.fixture(scope="module", params=ENCODERS)
def chain(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Chain:
    code = request.param
    folder, lines = tmp_path_factory.mktemp(code), lines_of(code)
    (folder / "wmt").mkdir()
    names = ("src.en", f"ref.A.{code}", f"hyp.Bad.{code}", f"hyp.Fair.{code}")
    for name, texts in zip(names, lines, strict=True):
        content = "".join(f"{text}\n" for text in texts)
        (folder / "wmt" / f"demo2031.en-{code}.{name}").write_text(content, encoding="utf-8")
    encoder = save_encoder(folder / "encoder", ENCODERS[code], [*lines.reference, *lines.bad])
    given = [f"data.target={code}", "splits.block=4", "splits.development_share=0.25", "passages.pieces=40"]
    assert main(["prepare", f"data.wmt={folder / 'wmt'}", f"out={folder / 'data'}", *given]) == 0
    options = [
        "encoder=huggingface",
        *NOT_ENGLISH,
        f"encoder.name={encoder}",
        "data.pieces=256",
        "trainer.max_epochs=4",
    ]
    options += ["trainer.max_steps=4", "trainer.validate_every=4", "trainer.precision=32", "trainer.progress=false"]
    options += ["trainer.threads=1", "optim.warmup=0"]
    assert main(["train", f"data.dir={folder / 'data'}", f"out={folder / 'run'}", *options]) == 0
    return Chain(code, folder, lines, folder / "run" / "checkpoint")


def files_of(chain: Chain, tmp_path: Path) -> dict[str, str]:
    """The outputs, the reference and the document of each line as files."""
    texts = {"ref": chain.lines.reference, "bad": chain.lines.bad, "fair": chain.lines.fair}
    texts["docids"] = [f"d{number // 4}" for number in range(len(chain.lines.source))]
    for name, lines in texts.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return {name: str(tmp_path / name) for name in texts}


def run(chain: Chain, verb: str, *flags: str, code: int = 0) -> None:
    assert main([verb, *flags, "--model", str(chain.checkpoint), "--gpus", "0"]) == code


def read(path: Path) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def test_the_checkpoint_holds_its_language(chain: Chain) -> None:
    config = checkpoint_config.read(chain.checkpoint / "config.yaml")
    found = language(chain.code)
    assert checkpoint_config.language_of(config) == found
    assert config["pronouns"] == list(found.forms)
    assert {form for row in config["training"]["confusion"].values() for form in row} <= set(NOUNS[chain.code])


def parallel_lines(code: str) -> Iterator[tuple[str, ...]]:
    """Originals and their translations, none a copy of another: each has numbers of its own."""
    cases = ((p, noun, c, k) for p, nouns in NOUNS[code].items() for noun in nouns for c in CITIES for k in (0, 1))
    for number, (p, noun, c, k) in enumerate(cases, start=1):
        own = " ".join(str(number * factor) for factor in range(101, 109))
        lines = (frames[k].format(n=noun, p=p, c=c) for frames in (SOURCE, FRAMES[code]))
        yield tuple(f"{line[:-1].rstrip()} {own}." for line in lines)


@pytest.mark.parametrize("chain", ["de"], indirect=True)  # one language is enough
def test_a_reader_of_sources_is_trained_on_translations_out_of_english(
    chain: Chain, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "parallel" / f"home31.{chain.code}-en"
    place.mkdir(parents=True)
    originals, translated = zip(*parallel_lines(chain.code), strict=True)
    for name, lines in (("ref.en", originals), (f"src.{chain.code}", translated)):
        (place / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    given = ["data.wmt=[]", f"data.parallel={tmp_path / 'parallel'}", f"data.target={chain.code}", "splits.block=4"]
    made = ["splits.development_share=0.4", "passages.pieces=40", f"out={tmp_path / 'data'}"]
    assert main(["prepare", *given, *made]) == 0
    options = {
        "source.model": chain.checkpoint,
        "source.pieces": "null",
        "source.english": 0.25,
        "encoder.name": chain.folder / "encoder",
        "objective.form_weight": "null",
        "objective.source_share": "null",
        "objective.antecedent": 0,
        "objective.corruption.gender_swap": 0,
        "objective.corruption.name_swap": 0,
        "objective.corruption.emphasis": "null",
        "data.pieces": 256,
        "trainer.max_steps": 4,
        "trainer.validate_every": 4,
        "trainer.precision": 32,
        "trainer.progress": "false",
        "trainer.threads": 1,
        "data.dir": tmp_path / "data",
        "out": tmp_path / "run",
    }
    assert main(["train", "experiment=source", *(f"{key}={value}" for key, value in options.items())]) == 0
    figures = dict(line.split("\t") for line in capsys.readouterr().out.splitlines() if line.startswith("development/"))
    assert {"development/source_en", "development/source_third", "development/mixed"} <= figures.keys()
    files, sources = files_of(chain, tmp_path), tmp_path / "src.en"
    sources.write_text("".join(f"{line}\n" for line in chain.lines.source), encoding="utf-8")
    made = tmp_path / "run" / "checkpoint"
    let_the_source_count(made)
    assert main(["score", "-t", files["fair"], "-s", str(sources), "--model", str(made), "--gpus", "0"]) == 0
    said = capsys.readouterr().err
    assert f"|language:{chain.code}|" in said and "|source:reader-" in said


def test_score_compare_and_report(chain: Chain, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names, found = files_of(chain, tmp_path), language(chain.code)
    scored, compared, page = (tmp_path / name for name in ("scores.json", "compared.json", "page.html"))
    texts = ["-t", names["bad"], names["fair"], "-r", names["ref"], "--docids", names["docids"]]
    run(chain, "score", *texts, "--to_json", str(scored))
    run(chain, "compare", *texts, "--to_json", str(compared))
    for content in map(read, (scored, compared)):
        assert f"|language:{chain.code}|" in content["signature"]
    segments = [one for one in read(scored)["segments"] if one["system"] == names["bad"]] or read(scored)["segments"]
    for segment in segments:
        expected = [(o.text, o.start, o.end) for o in found.find(segment["text"])]
        assert [(p["text"], p["start"], p["end"]) for p in segment["pronouns"]] == expected
    capsys.readouterr()
    run(chain, "report", str(compared), "--format", "html", "-o", str(page))
    assert f'"{found.words(chain.lines.bad[1])[0].text}"' in page.read_text(encoding="utf-8")
    assert main(["report", str(compared), "--format", "tsv", "--show", "confusion", "--no-model"]) == 0
    rows = [line.split("\t")[:2] for line in capsys.readouterr().out.splitlines()[1:]]
    assert rows and {form for row in rows for form in row} <= {*found.forms, "(other word)", "(nothing)"}


def test_a_wmt_test_set_into_the_language(chain: Chain, capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["-d", f"demo2031:en-{chain.code}", "--wmt-dir", str(chain.folder / "wmt"), "--only_system"]
    run(chain, "score", *flags)
    assert "Bad\tscore: " in capsys.readouterr().out
    assert main(["score", *flags]) == 1
    told = f"demo2031:en-{chain.code} is into {chain.code}, and texts in English are scored: give a pair into en"
    assert told in capsys.readouterr().err
    run(chain, "evaluate", *flags[:4])
    kinds = {line.split()[0] for line in capsys.readouterr().out.splitlines() if "->" not in line and line.strip()}
    assert kinds & {"gender", "number", "person", "case"} and "animacy" not in kinds


def test_suggestions_are_forms_of_the_language(
    chain: Chain, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = files_of(chain, tmp_path)
    capsys.readouterr()
    run(chain, "suggest", "-t", names["bad"], "--docids", names["docids"], "--all", "--top", "50")
    given = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    forms = {one["form"] for each in given for p in each["pronouns"] for one in p["better"]}
    assert forms and forms <= set(language(chain.code).forms)
    run(chain, "attention", chain.lines.bad[1], "--context", chain.lines.bad[0])
    assert "attends to" in capsys.readouterr().out


def test_what_is_written_for_english_is_refused(
    chain: Chain, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = files_of(chain, tmp_path)
    run(chain, "score", "-t", names["bad"], "-r", names["ref"], "--also", "apt,chrf", code=1)
    assert f"--also apt: they count English pronouns, and the checkpoint scores {chain.code}" in capsys.readouterr().err
    run(chain, "score", "-t", names["bad"], "-s", names["ref"], "--source-lang", "de", code=1)
    assert f"tables of counts are for English targets, and checkpoint scores {chain.code}" in capsys.readouterr().err
    data = [f"data.dir={chain.folder / 'data'}", f"out={tmp_path / 'run'}"]
    assert main(["train", *data, "encoder=huggingface", f"encoder.name={chain.folder / 'encoder'}"]) == 1
    refused = capsys.readouterr().err
    assert "expected a pronoun, one of" in refused and "experiment=targets" in refused
    assert main(["train", *data, "encoder=glove"]) == 1
    assert f"encoder=glove reads English words, and the data is in {chain.code}" in capsys.readouterr().err
    wmt = [f"data.wmt={chain.folder / 'wmt'}", f"data.target={chain.code}", f"out={tmp_path / 'data'}"]
    assert main(["prepare", *wmt, "data.coreference=gum"]) == 1
    assert "data.coreference is for English targets" in capsys.readouterr().err


def test_a_score_does_not_depend_on_the_other_texts(chain: Chain) -> None:
    metric = PronounMetric.from_pretrained(chain.checkpoint, gpus=0)
    records = [
        {"text": text, "context": chain.lines.reference[max(0, i - 2) : i]} for i, text in enumerate(chain.lines.bad)
    ]
    together = metric.predict(records)
    assert together.signature["language"] == chain.code
    for record, score in zip(records[:6], together.scores[:6], strict=True):
        (alone,) = metric.predict([record]).scores
        assert alone == pytest.approx(score, abs=1e-5)
    words = metric.language.writing.count_words(chain.lines.bad[1])
    assert together.segments[1].words == words > 2


CONTRAPRO = {
    "src segment": "But it stays in Bern .",
    "src pronoun": "it",
    "ref segment": "Aber er bleibt in Bern.",
    "ref pronoun": "er",
    "document id": "d1",
    "segment id": 2,
    "intrasegmental": False,
    "ante distance": 1,
    "errors": [{"contrastive": "Aber sie bleibt in Bern."}, {"contrastive": "Aber es bleibt in Bern."}],
}
ANAPHORA = {
    "src": ["The lamp from Lyon : there .", "But it goes to Lyon ."],
    "trg": [
        {
            "type": "f.sg",
            "correct": ["La lampe de Lyon : voilà.", "Mais elle va à Lyon."],
            "incorrect": ["La lampe de Lyon : voilà.", "Mais il va à Lyon."],
        }
    ],
}
SETS: dict[str, tuple[str, Any, list[str]]] = {
    "de": ("contrapro", [CONTRAPRO, CONTRAPRO], ["--context", "0"]),
    "fr": ("discevalmt", {"1": ANAPHORA, "2": ANAPHORA}, ["--context", "1"]),
}


def test_a_suite_in_the_language(chain: Chain, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if chain.code not in SETS:
        name, _, flags = SETS["de"]
        (tmp_path / "set.json").write_text(json.dumps([CONTRAPRO]), encoding="utf-8")
        assert (
            main(
                ["suite", "score", name, "--set", str(tmp_path / "set.json"), "--model", str(chain.checkpoint), *flags]
            )
            == 1
        )
        refused = capsys.readouterr().err
        assert "no candidate has a pronoun that the model knows" in refused
        assert f"the published candidates of contrapro are in de, fr; the model scores {chain.code}" in refused
        return
    name, content, flags = SETS[chain.code]
    (tmp_path / "set.json").write_text(json.dumps(content), encoding="utf-8")
    out = tmp_path / "figures.json"
    given = ["--set", str(tmp_path / "set.json"), *flags, "--save_scores", str(tmp_path / "own"), "--to_json", str(out)]
    assert main(["suite", "score", name, *given, "--model", str(chain.checkpoint), "--gpus", "0"]) == 0
    result = read(out)
    assert result["total"] == 2 and f"language:{chain.code}" in result["judged"]
    given = [
        "--set",
        str(tmp_path / "set.json"),
        "--scores",
        str(tmp_path / "own"),
        "--maximize",
        "--to_json",
        str(out),
    ]
    assert main(["suite", "score", name, *given]) == 0
    assert read(out)["items"] == result["items"]
