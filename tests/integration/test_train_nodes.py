"""One training run on two nodes: torchrun and submitit, each on this machine; one of its processes is killed."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import cloudpickle
import pytest
import submitit
import torch

from pronmetric.cli.main import main

pytestmark = pytest.mark.xdist_group("nodes")
NODES = ["trainer=ddp", "trainer.accelerator=cpu", "trainer.num_nodes=2", "trainer.devices=1", "trainer.workers=0"]
NODES += ["trainer.scale=1"]
RUN = ["data.pieces=72", "objective.pair_share=0.5", "objective.system_share=null", "objective.form_weight=null"]
RUN += ["optim=sgd", "optim.lr=0.02", "optim.head_lr=0.02", "trainer.max_epochs=2", "trainer.save_every=2"]
KILLED_AT = 5
PATIENCE = 3600  # seconds until a run is taken to hang, on a busy machine too
PROGRAM = f"""
import os, signal, sys
from pronmetric.cli.main import main
from pronmetric.training.module import ScorerModule

def killed(self, *args):
    if os.environ["KILL"] == "yes" and self.global_rank == 1 and self.global_step == {KILLED_AT}:
        os.kill(os.getpid(), signal.SIGKILL)
    return step(self, *args)

step, ScorerModule.training_step = ScorerModule.training_step, killed
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def alone(arguments: Callable[..., list[str]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """OUT of the same run in one process, which accumulates what the two nodes compute."""
    out = tmp_path_factory.mktemp("alone") / "out"
    assert main(arguments(out, *RUN, "trainer.accumulate=2")) == 0
    return out


def assert_same_weights(one: Path, other: Path) -> None:
    first, second = (torch.load(out / "last.ckpt", weights_only=True) for out in (one, other))
    assert first["global_step"] == second["global_step"] > KILLED_AT
    torch.testing.assert_close(first["state_dict"], second["state_dict"], rtol=0, atol=1e-5)


def free_port() -> int:
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        port: int = opened.getsockname()[1]
    return port


def torchrun(program: Path, argv: list[str], *, kill: str) -> list[subprocess.CompletedProcess[str]]:
    """The two nodes of one run, when both have ended."""
    port, environment = free_port(), {**os.environ, "KILL": kill}
    launch = [sys.executable, "-m", "torch.distributed.run", "--nnodes=2", "--nproc-per-node=1"]
    launch += ["--master-addr=127.0.0.1", f"--master-port={port}"]
    nodes = [
        subprocess.Popen(
            [*launch, f"--node-rank={rank}", str(program), *argv],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=program.parent,
            env=environment,
        )
        for rank in (0, 1)
    ]
    try:
        told = [node.communicate(timeout=PATIENCE) for node in nodes]
    finally:
        for node in nodes:
            node.kill()
            node.communicate()  # closes its pipes after an error too
    return [
        subprocess.CompletedProcess(node.args, node.returncode, *texts) for node, texts in zip(nodes, told, strict=True)
    ]


def test_a_run_that_lost_a_node_says_so_and_resumes_to_the_same_weights(
    alone: Path, arguments: Callable[..., list[str]], tmp_path: Path
) -> None:
    (program := tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    out = tmp_path / "out"
    argv = arguments(out, *RUN, *NODES)
    first, second = torchrun(program, argv, kill="yes")
    assert first.returncode == second.returncode == 1
    lines = [line for line in first.stderr.splitlines() if line.startswith("pronmetric: ")]
    assert lines == [
        "pronmetric: error: process 0 of 2 lost the connection to another one "
        f"after step {KILLED_AT} of {steps(alone)}; the same command resumes from {out / 'last.ckpt'}"
    ]
    assert not (out / "checkpoint").exists()
    first, second = torchrun(program, argv, kill="no")
    assert (first.returncode, second.returncode) == (0, 0), first.stderr
    assert first.stdout.count("development/accuracy\t") == 1 and second.stdout == ""
    assert_same_weights(out, alone)


def steps(out: Path) -> int:
    found: int = torch.load(out / "last.ckpt", weights_only=True)["global_step"]
    return found


def task(argv: list[str]) -> int:
    """One node of a run that submitit started."""
    place = submitit.helpers.TorchDistributedEnvironment().export(set_cuda_visible_devices=False, overwrite=True)
    os.environ.update(NODE_RANK=str(place.rank), LOCAL_RANK="0")
    return main(argv)


def test_submitit_starts_a_run_of_two_nodes(
    alone: Path, arguments: Callable[..., list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MASTER_PORT", str(free_port()))
    cloudpickle.register_pickle_by_value(sys.modules[__name__])  # the job cannot import a test module
    executor = submitit.LocalExecutor(folder=tmp_path / "jobs")
    executor.update_parameters(tasks_per_node=2, timeout_min=PATIENCE // 60)
    job = executor.submit(task, arguments(tmp_path / "out", *RUN, *NODES))
    assert job.results() == [0, 0]
    assert_same_weights(tmp_path / "out", alone)
