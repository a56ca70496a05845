"""`pronmetric check` from flags to exit code, and the defaults of flags from a TOML file."""

from __future__ import annotations

import json
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from pronmetric.cli.main import main

Check = Callable[..., tuple[int, str, str]]


@pytest.fixture
def place(sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with the sample."""
    for path in sample.iterdir():
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def check(place: Path, tiny_checkpoint: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> Check:
    """Runs `check` with the tiny checkpoint in fp32; gives the exit code, stdout and stderr."""

    def call(*argv: str, verb: str = "check") -> tuple[int, str, str]:
        code = main([verb, *argv, "--model", str(tiny_checkpoint()), "--precision", "32", "--gpus", "0"])
        return code, *capsys.readouterr()

    return call


def test_it_passes_or_fails_and_agrees_with_compare(check: Check, place: Path) -> None:
    both = ("-r", "ref.txt", "--docids", "docids.txt")
    systems = "system-b.txt", "system-a.txt"
    code, compared, _ = check("-t", *systems, *both, "--to_json", "o.json", "--tie", "0.01", verb="compare")
    assert code == 0
    (pair,) = json.loads(Path("o.json").read_text(encoding="utf-8"))["pairs"]
    code, out, err = check("-t", "system-b.txt", "--baseline", "system-a.txt", *both, "--margin", "99", "--github")
    told = out.splitlines()
    assert code == 0 and told[0] == "system-b.txt: passed"
    assert told[1].startswith("system-b.txt: ") and " pronoun errors per 100 pronouns (" in told[1]
    assert told[2] in compared.splitlines() and " p = " in told[2]  # the same sentence
    assert told[3].startswith("met  no worse than system-a.txt (margin 99)")
    assert f"{pair['difference']:+.2f} points, p = 0.0312 (5 documents; few: p is rough)" in out  # of 32 swaps, one
    assert f"{pair['losses']} segments worse than in system-a.txt" in out
    assert out.count("::warning file=system-b.txt,line=") == min(10, pair["losses"])
    assert "|by:score|margin:99" in err and "--margin 99: a text passes that is up to 99 points worse" in err
    code, out, _ = check("-t", "system-b.txt", "--baseline", "system-a.txt", *both, "--min-score", "100")
    assert code == 3 and out.startswith("system-b.txt: failed\n") and "\nNOT MET  score at least 100" in out


def test_without_a_baseline_it_agrees_with_score(check: Check, place: Path) -> None:
    assert check("-t", "system-c.txt", "--to_json", "o.json", verb="score")[0] == 0
    (system,) = json.loads(Path("o.json").read_text(encoding="utf-8"))["systems"]
    code, out, _ = check("-t", "system-c.txt", "--max-errors", "0", "--junit", "j.xml", "--worst", "1")
    errors = system["errors_per_100_pronouns"]["value"] * system["pronouns"] / 100
    assert code == 3 and f"{errors:.2f} in {system['pronouns']} pronouns" in out
    assert out.count("  now:     ") == 1
    assert ElementTree.parse("j.xml").getroot().get("failures") == "1"


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["-t", "system-a.txt"], "give one or more of --min-score, --max-errors and --baseline"),
        (["--min-score", "1"], "give one translation to check: -t FILE"),
        (["-t", "system-a.txt", "system-b.txt", "--min-score", "1"], "give one translation to check"),
        (["-t", "system-a.txt", "--min-score", "1", "--margin", "1"], "--margin is below a baseline"),
        (["-t", "system-a.txt", "--baseline", "ref.txt", "--by", "errors"], "--by errors needs --margin"),
        (
            ["-t", "system-a.txt", "--baseline", "ref.txt", "--alpha", "0.5"],
            "expected a number from 0.001 to below 0.5",
        ),
        (["-t", "system-a.txt", "--baseline", "ref.txt", "--alpha", "0.0005"], "expected a number from 0.001"),
        (["-t", "system-a.txt", "--min-score", "-5"], "--min-score: expected a number from 0 to 100, got '-5'"),
        (["-t", "system-a.txt", "--min-score", "101"], "--min-score: expected a number from 0 to 100, got '101'"),
        (
            ["-t", "system-a.txt", "--baseline", "ref.txt", "--margin", "100"],
            "--margin 100: expected a number below 100",
        ),
        (
            ["-t", "system-a.txt", "--baseline", "ref.txt", "--by", "errors", "--margin", "200"],
            "--margin 200: expected a number below 100",
        ),
    ],
)
def test_wrong_flags_are_a_usage_error(place: Path, argv: list[str], said: str, capsys) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["check", *argv])
    assert said in capsys.readouterr().err


def test_a_condition_that_can_hardly_fail_is_noted(check: Check, place: Path) -> None:
    code, _, err = check("-t", "system-b.txt", "--min-score", "0.9", "--max-errors", "1e9")
    assert code == 0
    assert "--min-score 0.9 is 0.9 of 100: did you mean 90?" in err
    assert "--max-errors 1000000000: the text has 88 pronouns" in err
    code, _, err = check("-t", "system-b.txt", "--min-score", "1")
    assert "did you mean 100?" in err
    code, _, err = check("-t", "system-b.txt", "--min-score", "2", "--max-errors", "12")
    assert "did you mean" not in err and "the text has" not in err


def test_refusals_of_a_language_model_fail(check: Check, place: Path) -> None:
    lines = (place / "system-a.txt").read_text(encoding="utf-8").splitlines()
    lines[3] = "I'm sorry, but I cannot help with that request."
    (place / "llm.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    code, out, _ = check("-t", "llm.txt", "--min-score", "0", "--worst", "1", "--github")
    assert code == 3
    assert "NOT MET  at most 0 lines that are no translation  1 of 37 lines" in out
    assert "llm.txt:4: no translation (refusal)" in out and "::error file=llm.txt,line=4," in out
    assert check("-t", "llm.txt", "--min-score", "0", "--max-refusals", "1")[0] == 0
    assert check("-t", "system-a.txt", "--min-score", "0")[0] == 0
    code, _, err = check("-t", "llm.txt", "-r", "ref.txt", "--to_json", "o.json", verb="score")
    assert code == 0 and "llm.txt: 1 of 37 lines look like what a language model says instead" in err
    content = json.loads(Path("o.json").read_text(encoding="utf-8"))
    assert content["systems"][0]["no_translations"] == 1
    assert [each["segment"] for each in content["segments"] if "no_translation" in each] == [3]
    assert content["segments"][3]["no_translation"] == "refusal"
    _, _, err = check("-t", "llm.txt", "system-a.txt", "system-b.txt", "-r", "ref.txt", verb="compare")
    assert err.count("look like what a language model says") == 1


def test_too_few_documents_are_an_error_of_the_input(check: Check, place: Path) -> None:
    Path("docids.txt").write_text("a\n" * 20 + "b\n" * 17)
    code, _, err = check("-t", "system-a.txt", "--baseline", "system-b.txt", "--docids", "docids.txt")
    assert code == 1 and "2 documents with a pronoun are too few for a test at --alpha 0.05" in err


def test_a_file_gives_defaults_and_the_command_line_comes_first(check: Check, place: Path) -> None:
    Path("pronmetric.toml").write_text(
        '[tool.pronmetric]\nreferences = "ref.txt"\ndocids = "docids.txt"\nmin-score = 100\n\n'
        '[tool.pronmetric.check]\ntranslations = ["system-a.txt"]\nworst = 0\nquiet = true\n'
    )
    code, out, err = check()
    assert (code, err) == (3, "") and "score at least 100" in out and "now:" not in out
    assert check("--min-score", "0")[0] == 0
    code, out, _ = check("-t", "system-c.txt", "--only_system", verb="score")  # `min-score` is of `check`
    assert code == 0 and out.startswith("system-c.txt\tscore: ")


def test_flags_that_do_not_go_with_those_of_the_file_name_it(place: Path, capsys) -> None:
    Path("pronmetric.toml").write_text('[tool.pronmetric]\ntranslations = ["system-a.txt"]\n')
    with pytest.raises(SystemExit, match="2"):
        main(["score", "--jsonl", "nix.jsonl"])
    error = capsys.readouterr().err
    assert "got -t and --jsonl (pronmetric.toml gives defaults; --config none reads no file)" in error
    assert main(["score", "--jsonl", "nix.jsonl", "--config", "none"]) == 1
    assert "nix.jsonl: no such file" in capsys.readouterr().err


def test_a_missing_file_that_the_file_of_defaults_names_is_told_so(check: Check, place: Path) -> None:
    Path("pronmetric.toml").write_text('[tool.pronmetric]\nreferences = ["nix.txt"]\n')
    code, _, err = check("-t", "system-a.txt", "--min-score", "0")
    assert code == 1 and "nix.txt: no such file (pronmetric.toml names it; --config none reads no defaults)" in err
    code, _, err = check("-t", "missing.txt", "-r", "ref.txt", "--min-score", "0")
    assert code == 1 and "missing.txt: no such file\n" in err


def test_show_config_prints_toml_with_the_origin_of_each_flag(place: Path, capsys) -> None:
    Path("pyproject.toml").write_text('[tool.pronmetric.compare]\ntie = "auto"\nonly-system = true\n')
    with pytest.raises(SystemExit, match="0"):
        main(["compare", "--show-config", "-t", "a.txt", "b.txt"])
    out = capsys.readouterr().out
    assert 'translations = ["a.txt", "b.txt"]  # command line\n' in out
    assert 'tie = "auto"  # pyproject.toml\n' in out and "only_system = true  # pyproject.toml\n" in out
    assert "seed = 12345  # default\n" in out
    shown = tomllib.loads(out)["tool"]["pronmetric"]["compare"]
    Path("again.toml").write_text(out)
    with pytest.raises(SystemExit, match="0"):
        main(["compare", "--show-config", "--config", "again.toml"])
    assert tomllib.loads(capsys.readouterr().out)["tool"]["pronmetric"]["compare"] == shown


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[tool.pronmetric\n", "c.toml: is no TOML: "),
        ("[tool.other]\n", "c.toml: has no table [tool.pronmetric]"),
        ("tool.pronmetric = 3\n", "c.toml: expected a table [tool.pronmetric]"),
        ("[tool.pronmetric]\ncheck = 3\n", "c.toml: expected a table [tool.pronmetric.check]"),
        ("[tool.pronmetric.check]\nmin_scores = 3\n", "unknown key 'min_scores'; did you mean 'min_score'?"),
        ("[tool.pronmetric]\nfail-under = 3\n", "[tool.pronmetric] has the unknown key 'fail-under'"),
        ("[tool.pronmetric.check]\ntie = 3\n", "[tool.pronmetric.check] has the unknown key 'tie'"),
        ('[tool.pronmetric]\nmin-score = "high"\n', '[tool.pronmetric] min-score = "high": expected a number'),
        ("[tool.pronmetric.check]\nmin_score = -5\n", "min_score = -5: expected a number from 0 to 100, got '-5'"),
        ("[tool.pronmetric]\nstrict = 1\n", "strict = 1: expected true or false"),
        ("[tool.pronmetric]\nmin-score = [1, 2]\n", "min-score = [1, 2]: expected text or a number"),
        ("[tool.pronmetric.score]\nmqm-thresholds = [0.7]\n", "mqm-thresholds = [0.7]: expected a list of 2"),
        ('[tool.pronmetric.check]\nby = "luck"\n', 'by = "luck": expected one of score, errors, preference, got luck'),
    ],
)
def test_a_wrong_file_is_an_error_that_names_the_key(place: Path, text: str, said: str, capsys) -> None:
    Path("c.toml").write_text(text)
    verb = "score" if ".score]" in text else "check"
    assert main([verb, "--config", "c.toml", "-t", "system-a.txt"]) == 1
    assert said in capsys.readouterr().err


def test_a_missing_file_is_an_error(place: Path, capsys) -> None:
    assert main(["score", "--config", "nix.toml", "-t", "system-a.txt"]) == 1
    assert capsys.readouterr().err == "pronmetric: error: nix.toml: No such file or directory\n"
