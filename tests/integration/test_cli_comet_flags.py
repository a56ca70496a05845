"""Flags of COMET: those that mean something here, those that are refused, and what a stray file name gets."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pronmetric.checkpoint import locate
from pronmetric.cli.main import main

Run = Callable[..., tuple[str, str]]


def usage_error(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    with pytest.raises(SystemExit) as end:
        main(list(argv))
    assert end.value.code == 2
    return capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize("verb", ["score", "compare"])
@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (["--num_workers", "2"], "a single process reads and prepares the texts"),
        (["--accelerator", "ddp"], "set their number with --gpus N"),
        (["--mc_dropout", "30"], "without dropout"),
        (["--print_cache_info"], "is in the --to_json output, under counts"),
        (["--enable-context"], "choose the kind with --context"),
        (["--sacrebleu_dataset", "wmt20:de-en"], "give -d NAME:LP with --wmt-dir DIR"),
    ],
)
def test_flags_without_a_meaning_are_refused(
    verb: str, flags: list[str], reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    said = usage_error(capsys, verb, "-t", "a", "b", *flags)
    assert said.startswith(f"pronmetric {verb}: error: {flags[0]} of COMET has no meaning here: ") and reason in said


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (["--sample_ratio", "0.4"], "nothing is drawn from the documents"),
        (["--t_test_alternative", "less"], "the tests are two-sided"),
    ],
)
def test_flags_of_its_compare_are_refused(flags: list[str], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert reason in usage_error(capsys, "compare", "-t", "a", "b", *flags)


def test_cache_and_length_batching_change_no_score(run_tiny: Run, sample: Path, tmp_path: Path) -> None:
    a = sample / "system-a.txt"
    found: dict[str, Any] = {}
    for flag in ("", "--disable_cache", "--disable_length_batching"):
        run_tiny("score", "-t", a, a, "-r", sample / "ref.txt", *filter(None, [flag]), "--to_json", tmp_path / "o.json")
        found[flag] = json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))
    plain = found[""]
    with_pronoun = sum(segment["score"] is not None for segment in plain["segments"])
    assert plain["counts"]["encoded"] == with_pronoun // 2  # the second system is the first
    assert found["--disable_cache"]["counts"]["encoded"] == with_pronoun
    for other in found.values():
        assert other["signature"] == plain["signature"]
        for one, another in zip(plain["segments"], other["segments"], strict=True):
            # Within 1e-5 before they were rounded to five decimals.
            assert one["score"] == pytest.approx(another["score"], abs=2.1e-5)


def test_number_of_resamples(run_tiny: Run, sample: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    base = ["compare", "-t", str(sample / "system-a.txt"), str(sample / "system-c.txt")]
    run_tiny(*base, "--num_splits", "39", "--to_json", tmp_path / "o.json")
    found = json.loads((tmp_path / "o.json").read_text(encoding="utf-8"))
    assert found["signature"].endswith("|resamples:39")
    p = found["pairs"][0]["p_randomisation"]
    assert p * 40 == pytest.approx(round(p * 40), abs=1e-3)
    said = usage_error(capsys, *base, "--num_splits", "19")
    assert "--num_splits: expected a whole number from 20, got '19'" in said


def test_storage_is_that_of_hub_models(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    import huggingface_hub

    asked: list[Any] = []

    def download(name: str, **options: Any) -> str:
        asked.append((name, options["cache_dir"]))
        raise OSError("not there")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", download)
    text = tmp_path / "a.txt"
    text.write_text("She left.\n")
    flags = ["score", "-t", str(text), "--model_storage_path", str(tmp_path)]
    assert main([*flags, "--model", "some/model"]) == 1
    assert asked == [("some/model", str(tmp_path))]
    assert "give --model OWNER/NAME too" in usage_error(capsys, *flags)
    assert not locate.of_hub(tmp_path) and not locate.of_hub(None) and locate.of_hub("some/model")


@pytest.mark.parametrize("verb", ["score", "compare"])
def test_a_stray_file_name_is_refused_with_its_flag(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = usage_error(capsys, verb, "own.txt")
    assert said == f"pronmetric {verb}: error: system outputs follow -t; expected -t own.txt"
    assert usage_error(capsys, verb, "-t", "a", "--bogus").endswith("unrecognized arguments: --bogus")
