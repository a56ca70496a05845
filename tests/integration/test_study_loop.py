"""The whole way of a study: prepare, sample, simulated answers, report, prepare with its table, training."""

from __future__ import annotations

from pathlib import Path

import pytest

from pronmetric.checkpoint import files
from pronmetric.cli.main import main
from pronmetric.data import arrow
from pronmetric.lab.human import judged_pairs


def pronoun_pairs(folder: Path, split: str) -> set[tuple[str, str]]:
    return {
        (mismatch["ref_form"], mismatch["hyp_form"])
        for row in arrow.read_pairs(folder, split)
        for mismatch in row["mismatches"]
        if mismatch["kind"] == "pronoun" and row["kind"] != "tie"
    }


def ties(folder: Path, split: str) -> set[tuple[str, str]]:
    return {(row["better"], row["worse"]) for row in arrow.read_pairs(folder, split) if row["kind"] == "tie"}


def test_pronoun_pairs_of_a_study_become_training_data(
    wmt_sample: Path, tiny_encoder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, study, given = str(tmp_path / "first"), str(tmp_path / "study"), tmp_path / "answers"
    table, second, out = str(tmp_path / "table.tsv"), tmp_path / "second", tmp_path / "run"
    votes = str(tmp_path / "pairs.jsonl")
    data = [f"data.wmt={wmt_sample}", "data.exclude=[]", "fidelity.passages=20"]
    assert main(["prepare", *data, f"out={first}"]) == 0
    assert main(["study", "sample", first, "-o", study, "--items", "60", "--balance", "level", "--quiet"]) == 0
    assert main(["study", "simulate", study, "-o", str(given), "--errors", "0.02"]) == 0
    answers = sorted(map(str, given.iterdir()))
    assert main(["study", "report", study, *answers, "--table", table, "--to_pairs", votes]) == 0
    filters = [f"filter.agreement={table}", f"filter.ties={votes}"]
    assert main(["prepare", *data, *filters, f"out={second}"]) == 0
    rows = [line.split("\t") for line in Path(table).read_text(encoding="utf-8").splitlines()[1:]]
    agreed = {
        (ref, other)
        for ref, other, entry, ac1, *votes in rows
        if entry == "sum" and float(ac1) >= 0.8 and int(votes[0]) > int(votes[1]) + int(votes[2])
    }
    before, after = pronoun_pairs(Path(first), "train"), pronoun_pairs(second, "train")
    assert after and after <= agreed and before - after
    tied = {(pair.text_a, pair.text_b) for pair in judged_pairs.read(votes) if pair.better == "tie"}
    assert tied and ties(second, "train") == tied and not ties(Path(first), "train") and not ties(second, "development")
    noisy = {(row["better"], row["worse"]) for row in arrow.read_pairs(second, "train") if row["kind"] == "noisy"}
    assert not noisy & tied
    tiny = ["encoder=huggingface", f"encoder.name={tiny_encoder}", "data.pieces=256", "data.development=4"]
    tiny += ["trainer.max_steps=2", "trainer.validate_every=2", "trainer.threads=1", "trainer.progress=false"]
    assert main(["train", f"data.dir={second}", f"out={out}", *tiny, "~objective.source_share.wmt"]) == 0
    capsys.readouterr()
    assert files.load(out / "checkpoint").config["training"]
