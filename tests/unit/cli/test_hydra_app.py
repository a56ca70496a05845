from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, ClassVar

import pytest
from pydantic import Field

from pronmetric.cli.hydra import HydraCommand
from pronmetric.errors import PronmetricError
from pronmetric.settings import Record, Settings

FILES = {
    "work.yaml": "defaults: [encoder: big, optim: adam, _self_]\nout: ???\nseed: 1\nyears: [21, 22]\nweights: {a: 1}\n",
    "encoder/big.yaml": "width: 384\nlayers: 6\n",
    "encoder/small.yaml": "width: 8\nheads: 2\n",
    "optim/adam.yaml": "lr: 0.5\nfloor: ${.lr}\n",
}


class Encoder(Record):
    width: int
    layers: int | None = None
    heads: int | None = None


class Optim(Record):
    lr: Annotated[float, Field(gt=0)]
    floor: float


class Work(Settings):
    FREE: ClassVar = ("weights",)

    out: str
    seed: int
    years: list[int]
    weights: dict[str, int] | None
    encoder: Encoder
    optim: Optim

    def unread(self) -> Iterator[tuple[str, str]]:
        if self.encoder.width == 8:
            yield "optim.floor", "with a small encoder: leave it out"


@pytest.fixture(autouse=True)
def conf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Config files of our own, and an empty working directory."""
    for name, text in FILES.items():
        path = tmp_path / "conf" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setattr("pronmetric.cli.hydra.CONF", str(tmp_path / "conf"))
    monkeypatch.setattr(sys, "argv", ["pronmetric", "work", "as", "typed"])


class Job:
    """A job that keeps what it was given."""

    def __init__(self) -> None:
        self.configs: list[Work] = []
        self.argv: list[list[str]] = []

    def __call__(self, config: Work) -> None:
        self.configs.append(config)
        self.argv.append(sys.argv)
        if config.seed == 13:
            raise PronmetricError("13 is no seed")
        if config.seed == 28:
            raise OSError(28, "No space left on device")
        if config.seed == 12:
            raise RuntimeError("Allocator: can't allocate memory")


def run(*argv: str) -> Job:
    job = Job()
    assert HydraCommand("work", job, Work, "Work.").main(argv) == 0
    return job


def test_the_job_gets_the_config_with_its_overrides() -> None:
    (config,) = run("out=o", "encoder=small", "optim.lr=2", "years=[23]").configs
    assert config == Work.read(
        {"encoder": {"width": 8, "heads": 2}, "optim": {"lr": 2, "floor": 2}}
        | {"out": "o", "seed": 1, "years": [23], "weights": {"a": 1}}
    )


def test_a_run_leaves_nothing_behind_and_sees_its_own_command_line() -> None:
    job = run("out=o")
    assert job.argv == [["pronmetric", "work", "as", "typed"]] == [sys.argv]
    assert list(Path.cwd().iterdir()) == []


@pytest.mark.parametrize(
    "line",
    ["weights={b:2}", "+weights={b:2}", "++weights={b:2}", "weights.b=2", "+weights.b=2", "++weights.b=2"],
)
def test_a_free_form_mapping_takes_any_key(line: str) -> None:
    assert run("out=o", line).configs[0].weights == {"a": 1, "b": 2}
    assert run("out=o", "weights=null").configs[0].weights is None
    job = run("-m", "out=o", "weights={b:2},{c:3}")
    assert [config.weights for config in job.configs] == [{"a": 1, "b": 2}, {"a": 1, "c": 3}]


def test_a_name_that_is_not_free_stays_unknown() -> None:
    with pytest.raises(PronmetricError, match=r"^unknown key 'weightss'"):
        run("out=o", "weightss={b:2}")


def test_cfg_prints_the_resolved_config_and_runs_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--cfg", "job", "optim.lr=2").configs == []
    out = capsys.readouterr().out
    assert "floor: 2\n" in out and "out: ???\n" in out


def test_multirun_gives_each_job_its_folder() -> None:
    job = run("--multirun", "out=o", "seed=1,2", "encoder=small,big")
    assert [(c.seed, c.encoder.width) for c in job.configs] == [(1, 8), (1, 384), (2, 8), (2, 384)]
    assert [Path(c.out) for c in job.configs] == [Path.cwd() / "o" / str(n) for n in range(4)]
    assert sorted(p.name for p in Path("o").iterdir()) == ["0", "1", "2", "3", "multirun.yaml"]


def test_a_fault_of_a_job_comes_out_as_it_is() -> None:
    with pytest.raises(PronmetricError, match=r"^13 is no seed$"):
        run("out=o", "seed=13")
    with pytest.raises(PronmetricError, match=r"^13 is no seed$"):
        run("-m", "out=o", "seed=1,13")


def test_a_fault_of_the_system_names_the_output() -> None:
    with pytest.raises(OSError, match=r"No space left on device: 'o'"):
        run("out=o", "seed=28")
    with pytest.raises(RuntimeError, match=r"^Allocator: can't allocate memory$"):  # not Hydra's SystemExit
        run("out=o", "seed=12")


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["=2"], "unknown key ''"),
        (["seeed=2"], "unknown key 'seeed'; did you mean 'seed'?"),
        (["lr=2"], "unknown key 'lr'; did you mean 'optim.lr'?"),
        (["optim.lrr=2"], "unknown key 'optim.lrr'; did you mean 'optim.lr'?"),
        (["encdoer=small"], "unknown key 'encdoer'; did you mean 'encoder'?"),
        (["encoder=small", "encoder.layers=3"], "encoder.layers is not read with encoder=small"),
        (["encoder=smal"], "did you mean encoder=small? (there are: big, small)"),
        (["-m", "encoder=big,smal"], "did you mean encoder=small?"),
        (["encoder=5"], "encoder=5: expected one of big, small"),
        (["encoder=null"], "encoder=null: expected one of big, small"),
        (["hydra=5"], "hydra=5: no option of this name"),
        (["seed"], "Error parsing override 'seed'"),
        (["years=[21"], "no viable alternative at input '[21'"),
        (["seed=1,2"], "--multirun"),
        (["-m", "out=a,b"], "OUT/0, OUT/1"),
        (["seed=2"], "pronmetric work needs out=..."),
        (["+encoder=small"], "encoder"),
        (["encoder.heads=3"], "encoder.heads is not read with encoder=big; it belongs to encoder=small"),
        (["out=o", "optim.lr=fast"], "optim.lr=fast: expected a number above 0"),
        (["out=o", "optim.lr=nan"], "optim.lr=nan: expected a number above 0"),
        (["out=o", "seed=1.5"], "seed=1.5: expected a whole number"),
        (["out=o", "+more=1"], "unknown key 'more': expected the keys out, seed, years, weights, encoder, optim"),
        (["out=o", "+encoder._target_=os.system"], "unknown key 'encoder._target_'"),
        (["out=o", "~optim"], "optim is missing: expected the keys lr, floor"),
        (["out=${nope}"], "out: cannot be resolved (Interpolation key 'nope' not found)"),
        (["--cfg", "job", "out=${nope}"], "out: cannot be resolved (Interpolation key 'nope' not found)"),
        (["out=o", "weights={b:x}"], "weights.b=x: expected a whole number"),
        (["-m", "out=o", "seed=1,x"], "seed=x: expected a whole number"),
        (["out=o", "encoder=small", "optim.floor=1"], "optim.floor is not read with a small encoder: leave it out"),
    ],
)
def test_a_wrong_override_is_one_line_with_the_cure(argv: list[str], said: str) -> None:
    job = Job()
    with pytest.raises(PronmetricError) as error:
        HydraCommand("work", job, Work, "Work.").main(argv)
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert not job.configs and list(Path.cwd().iterdir()) == []


def test_a_wrong_flag_is_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        run("--confg")
    assert end.value.code == 2


def test_help_lists_the_groups(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--help").configs == []
    assert "encoder={big,small}" in capsys.readouterr().out


SWEEP = """# @package _global_
hydra: {sweep: {subdir: 's${seed}-${encoder.width}'}, sweeper: {params: {seed: '1,2'}}}
encoder: {width: 9}
"""


def test_a_config_may_name_what_is_swept_and_the_folders(tmp_path: Path) -> None:
    (tmp_path / "conf" / "encoder" / "swept.yaml").write_text(SWEEP)
    told: list[tuple[Work, list[dict[str, str]]]] = []

    def start(*argv: str) -> Job:
        job = Job()
        assert HydraCommand("work", job, Work, "W.", before=lambda *each: told.append(each)).main(argv) == 0
        return job

    job = start("-m", "out=o", "encoder=swept", "optim.lr=2,3")
    assert [(c.seed, c.optim.lr) for c in job.configs] == [(1, 2), (1, 3), (2, 2), (2, 3)]
    assert sorted({Path(c.out).name for c in job.configs}) == ["s1-9", "s2-9"]
    (config, jobs) = told.pop()
    assert (config.seed, config.optim.lr, config.out) == (1, 2, "o")
    assert [(each["seed"], each["optim.lr"]) for each in jobs] == [("1", "2"), ("1", "3"), ("2", "2"), ("2", "3")]
    assert [c.seed for c in start("-m", "out=o", "encoder=swept", "seed=5").configs] == [5]  # the command line wins
    assert start("out=o", "encoder=swept").configs[0].seed == 1 and len(told) == 1
