"""`--source-lang`: missing and surplus pronouns are counted by the source; scores do not change."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
import yaml

from data_prep.wmt import source_lines
from pronmetric.alignment.counts import files as source_files
from pronmetric.alignment.counts.table import Counted, CountTable, Item
from pronmetric.alignment.table import from_bytes, to_bytes
from pronmetric.cli.main import main
from pronmetric.errors import InputError
from pronmetric.metric import PronounMetric
from pronmetric.text.context import Source, Text

Checkpoints = Callable[..., Path]
SOURCES = ["Sie hat ihre Schwester gesehen.", "Es regnet.", "Er schläft."]
OUTPUT = ["He has seen his sister.", "It rains.", "He sleeps."]
OTHER = ["She has seen her sister.", "It rains.", "She sleeps."]


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, lines in (("s", SOURCES), ("a", OUTPUT), ("b", OTHER)):
        Path(name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


@pytest.fixture
def model(tiny_checkpoint: Checkpoints) -> list[str]:
    return ["--model", str(tiny_checkpoint()), "--gpus", "0"]


@pytest.fixture(scope="module")
def metric(tiny_checkpoint: Checkpoints) -> PronounMetric:
    return PronounMetric.from_pretrained(tiny_checkpoint(), gpus=0, source_lang="de")


@pytest.mark.filterwarnings("ignore:.*does not affect scores")
@pytest.mark.parametrize("reader", [False, True])
def test_scores_preference_and_signature_are_those_without_it(
    reader: bool, tiny_checkpoint: Checkpoints, with_reader: Path
) -> None:
    folder = with_reader if reader else tiny_checkpoint(pair_head=True)
    plain, counting = (PronounMetric.from_pretrained(folder, gpus=0, source_lang=code) for code in (None, "de"))
    records = [
        {"text": text, "context": ["It was late."], "source": source}
        for text, source in zip([*OUTPUT, "Sleeps."], [*SOURCES, SOURCES[2]], strict=True)
    ]
    before, after = plain.predict(records), counting.predict(records)
    assert tuple(segment._replace(unmatched=None) for segment in after.segments) == before.segments
    assert after.segments[0].preference is not None
    assert all((p.evidence is not None) == reader for each in after.segments for p in each.pronouns)
    assert after.signature == before.signature and after.counts == before.counts
    assert ("source" in dict(after.signature.fields)) == reader
    missing = [[word.text for word in each.unmatched.missing] for each in after.segments if each.unmatched]
    assert missing == [[], [], [], ["Er"]] and before.segments[3].unmatched is None
    assert (after.system.missing, before.system.missing) == (1, None)


@pytest.mark.parametrize("reader", [False, True])
def test_texts_without_a_pronoun_change_no_signature(
    reader: bool, tiny_checkpoint: Checkpoints, with_reader: Path
) -> None:
    folder = with_reader if reader else tiny_checkpoint()
    metric = PronounMetric.from_pretrained(folder, gpus=0, source_lang="de")
    found = metric.predict([{"text": "Sleeps.", "source": "Er schläft."}])
    assert "source" not in dict(found.signature.fields) and found.counts.with_source == 0


def test_texts_without_a_source_have_the_score_of_the_model(
    metric: PronounMetric, tiny_checkpoint: Checkpoints
) -> None:
    plain = PronounMetric.from_pretrained(tiny_checkpoint(), gpus=0)
    texts = [Text("", text) for text in OUTPUT]
    assert list(metric.stream(texts)) == list(plain.stream(texts))
    sources = [Text("", text, Source(source)) for text, source in zip(OUTPUT, SOURCES, strict=True)]
    assert list(plain.stream(sources)) == list(plain.stream(texts))


def test_missing_pronouns_are_counted_with_any_head(tiny_checkpoint: Checkpoints) -> None:
    metric = PronounMetric.from_pretrained(tiny_checkpoint(head="paper"), gpus=0, source_lang="de")
    assert not metric.probability
    (segment,) = metric.stream([Text("", "Sleeps.", Source("Er schläft."))])
    assert segment.unmatched is not None and [word.text for word in segment.unmatched.missing] == ["Er"]


def test_variants_of_a_text_are_not_counted(metric: PronounMetric, monkeypatch: pytest.MonkeyPatch) -> None:
    counted, real = list[str](), CountTable.count

    def count(table: CountTable, items: Sequence[Item]) -> Iterator[Counted]:
        counted.extend(item.source for item in items)
        return real(table, items)

    monkeypatch.setattr(CountTable, "count", count)
    (found,) = metric.alternatives([Text("", OUTPUT[2], Source(SOURCES[2]))])
    assert found[0].others and counted == [SOURCES[2]]


def test_a_record_without_source_is_refused(metric: PronounMetric) -> None:
    with pytest.raises(InputError, match='record:1: the key "source" is missing'):
        metric.predict([{"text": "He sleeps."}])
    with pytest.raises(InputError, match='"source_context" must be a list of strings'):
        metric.predict([{"text": "He sleeps.", "source": "Er schläft.", "source_context": "Er"}])


def test_compare_swaps_signs_with_sources(metric: PronounMetric) -> None:
    one, other = (
        [{"text": text, "source": source} for text, source in zip(side, SOURCES, strict=True)]
        for side in (OUTPUT, OTHER)
    )
    there, back = metric.compare(one, other), metric.compare(other, one)
    for a, b in zip(there.decisions, back.decisions, strict=True):
        assert a.difference is not None and b.difference == pytest.approx(-a.difference)


@pytest.mark.usefixtures("texts")
def test_flags_of_score_and_its_files(with_reader: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = ["--model", str(with_reader), "--gpus", "0"]
    flags = ["-t", "a", "-s", "s", "--source-lang", "de", "--to_json", "r.json", *model]
    assert main(["score", *flags]) == 0
    told = capsys.readouterr().err
    assert "|source:reader-" in told and "source:de-" not in told
    result = json.loads(Path("r.json").read_text(encoding="utf-8"))
    entries = result["segments"]
    he = entries[0]["pronouns"][0]["source"]
    assert SOURCES[0][he["start"] : he["end"]] == he["word"] != ""
    assert [entry["missing"] for entry in entries] == [[], [], []] and "surplus" in entries[0]
    assert result["source_language"] == "de"
    assert main(["report", "r.json", "--format", "md", "--show", "pronouns", "--no-model"]) == 0
    assert f"| {he['word']} | {he['log_odds']:+.2f} |" in capsys.readouterr().out
    assert main(["report", "r.json", "--no-model", "-o", "r.html"]) == 0
    assert f'["{he["word"]}",{round(he["log_odds"], 2)},' in Path("r.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("texts")
def test_a_result_that_a_table_affected_is_still_reported(model: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """An older version signed the table, and gave the log-odds of its log-linear model."""
    assert main(["score", "-t", "a", "-s", "s", "--to_json", "r.json", *model]) == 0
    result = json.loads(Path("r.json").read_text(encoding="utf-8"))
    result["signature"] += "|source:de-1234abcd|preference:without_source"
    result["segments"][0]["pronouns"][0]["source"] = {"log_odds": -1.25, "word": "Sie", "start": 0, "end": 3}
    Path("old.json").write_text(json.dumps(result), encoding="utf-8")
    capsys.readouterr()
    assert main(["report", "old.json", "--format", "md", "--show", "pronouns", "--no-model"]) == 0
    assert "| Sie | -1.25 |" in capsys.readouterr().out
    assert main(["report", "old.json", "--no-model", "-o", "r.html"]) == 0
    page = Path("r.html").read_text(encoding="utf-8")
    assert '["Sie",-1.25,' in page and '"sourceLang":"de"' in page


@pytest.mark.usefixtures("texts")
def test_missing_pronouns_are_counted_and_are_no_errors(model: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path("a").write_text("He has seen his sister.\nIt rains.\nSleeps.\n", encoding="utf-8")
    flags = ["-t", "a", "-s", "s", "--source-lang", "de", "--verbose", *model]
    assert main(["score", *flags, "--to_json", "r.json"]) == 0
    said = capsys.readouterr().err
    assert "a: 1 source pronouns without a counterpart, 0 pronouns without one in the source" in said
    assert "--source-lang counts missing and surplus pronouns; the source does not affect scores: the model" in said
    result = json.loads(Path("r.json").read_text(encoding="utf-8"))
    last = result["segments"][2]
    assert last["missing"] == [{"text": "Er", "start": 0, "end": 2}] and last["surplus"] == []
    assert last["score"] is None and last["errors"] == 0.0
    assert (result["systems"][0]["missing_pronouns"], result["systems"][0]["surplus_pronouns"]) == (1, 0)
    assert main(["score", "-t", "a", "--verbose", "--to_json", "r.json", *model]) == 0  # no source counts
    plain = json.loads(Path("r.json").read_text(encoding="utf-8"))
    assert "missing" not in plain["segments"][2] and "missing_pronouns" not in plain["systems"][0]
    assert "without a counterpart" not in capsys.readouterr().err


@pytest.mark.usefixtures("texts")
def test_missing_pronouns_are_counted_by_the_reference(model: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path("a").write_text("He has seen his sister.\nIt rains with her.\nSleeps.\n", encoding="utf-8")
    Path("ref").write_text("He has seen his sister.\nIt rains.\nHe sleeps.\n", encoding="utf-8")
    assert main(["score", "-t", "a", "-r", "ref", "--verbose", "--to_json", "r.json", *model]) == 0
    said = capsys.readouterr().err
    assert "a: 1 reference pronouns without a counterpart, 1 pronouns without one in the reference" in said
    result = json.loads(Path("r.json").read_text(encoding="utf-8"))
    first, second, last = result["segments"]
    assert first["missing"] == first["surplus"] == second["missing"] == last["surplus"] == []
    assert second["surplus"] == [{"text": "her", "start": 14, "end": 17}]
    assert last["missing"] == [{"text": "He", "start": 0, "end": 2}] and last["errors"] == 0.0
    assert (result["systems"][0]["missing_pronouns"], result["systems"][0]["surplus_pronouns"]) == (1, 1)
    flags = ["-t", "a", "-r", "ref", "-s", "s", "--source-lang", "de", "--verbose", "--to_json", "r.json", *model]
    assert main(["score", *flags]) == 0  # with a source, by the source
    assert "source pronouns without a counterpart" in capsys.readouterr().err


@pytest.mark.usefixtures("texts")
def test_compare_counts_missing_pronouns_too(model: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    Path("b").write_text("She has seen her sister.\nIt rains.\nSleeps.\n", encoding="utf-8")
    flags = ["compare", "-t", "a", "b", "-s", "s", *model]
    assert main([*flags, "--to_json", "plain.json"]) == 0
    plain = capsys.readouterr()
    assert main([*flags, "--to_json", "r.json", "--source-lang", "de"]) == 0
    told = capsys.readouterr()
    assert told.out == plain.out
    before, after = (json.loads(Path(name).read_text(encoding="utf-8")) for name in ("plain.json", "r.json"))
    assert after["signature"] == before["signature"] and after["source_language"] == "de"
    missing = [[word["text"] for word in output["missing"]] for output in after["segments"][2]["outputs"]]
    assert missing == [[], ["Er"]] and after["pairs"][0]["b"]["missing_pronouns"] == 1
    assert "missing" not in before["segments"][2]["outputs"][1]
    assert main([*flags, "--source-lang", "tlh"]) == 1
    assert "no table of counts for language 'tlh': expected one of cs, de" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["compare", "-t", "a", "b", "--source-lang", "de", *model])
    assert "--source-lang needs the source: give -s" in capsys.readouterr().err


@pytest.mark.usefixtures("texts")
@pytest.mark.parametrize(
    ("verb", "flags"),
    [
        ("suggest", ["-t", "a", "--all"]),
        ("rerank", ["--candidates", "a", "b"]),
        ("check", ["-t", "a", "--min-score", "0"]),
    ],
)
def test_verbs_that_count_nothing_do_not_have_the_flag(
    verb: str, flags: list[str], model: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main([verb, *flags, "-s", "s", "--source-lang", "de", *model])
    assert "--source-lang" in capsys.readouterr().err


@pytest.mark.usefixtures("texts")
def test_a_table_of_an_older_version_is_refused(model: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    source_files.save("xx.npz", source_files.of_language("de"))
    with np.load("xx.npz") as stored:
        content = dict(stored)
    content["settings"] = to_bytes({**from_bytes(content["settings"]), "format": 1})
    np.savez_compressed("xx.npz", **content)
    assert main(["score", "-t", "a", "-s", "s", "--source-lang", "xx.npz", *model]) == 1
    assert (
        "pronmetric: error: xx.npz: a table of counts of an older version (format 1, expected 2): make it again with "
        "`pronmetric baseline counts`" in capsys.readouterr().err
    )


@pytest.mark.usefixtures("texts")
def test_baseline_counts_writes_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["baseline", "counts", "--source-lang", "xx", "--parallel", "s", "a", "b", "-o", "xx.npz"]
    assert main(flags) == 0
    assert source_files.load("xx.npz").language == "xx"
    first = Path("xx.npz").read_bytes()
    assert main(flags) == 0 and Path("xx.npz").read_bytes() == first
    with pytest.raises(SystemExit):
        main(["baseline", "counts", "--source-lang", "xx", "-o", "xx.npz"])
    assert "give --parallel, --wmt-dir, or both" in capsys.readouterr().err


def test_baseline_counts_leaves_out_the_test_sets_of_prepare(
    tmp_path: Path, wmt_sample: Path, capsys: pytest.CaptureFixture[str]
) -> None:  # its only test set is de-en of WMT23
    flags = ["baseline", "counts", "--source-lang", "de", "--wmt-dir", str(wmt_sample), "-o", str(tmp_path / "de.npz")]
    assert main(flags) == 1
    assert "no test set de-en left: there are generaltest2023.de-en" in capsys.readouterr().err
    assert main([*flags, "--exclude", "wmt22"]) == 0
    assert source_files.load(tmp_path / "de.npz").language == "de"


def test_the_default_of_exclude_is_the_test_and_development_sets_of_prepare(root: Path) -> None:
    splits = yaml.safe_load((root / "conf" / "prepare.yaml").read_text(encoding="utf-8"))["splits"]
    assert list(source_lines.HELD_OUT) == [*splits["test"], *splits["development"]]
