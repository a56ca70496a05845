"""The house rules that a machine can hold: directions of imports, start-up cost, what may stand in which room."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]


def modules(package: str) -> list[Path]:
    return sorted((ROOT / package).rglob("*.py"))


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd="/").stdout


def test_import_contracts_hold() -> None:
    result = subprocess.run(
        [
            sys.executable,
            "-c",
            "from importlinter.cli import lint_imports; raise SystemExit(lint_imports(no_cache=True))",
        ],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert result.returncode == 0, result.stdout


def test_every_module_stands_in_a_layer() -> None:
    layers = [name.strip(" ()") for line in CONTRACTS[0]["layers"] for name in line.split(":")]
    stray = []
    for path in modules("pronmetric"):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        inside = any(name == layer or name.startswith(f"{layer}.") for layer in layers)
        holds_layers = any(layer.startswith(f"{name}.") for layer in layers)  # pronmetric, pronmetric.data
        if not (inside or holds_layers):
            stray.append(name)
    assert not stray, "name its layer in pyproject.toml"


def test_all_above_the_preparation_but_the_command_line_may_not_import_it() -> None:
    layers = CONTRACTS[0]["layers"]
    above = [
        name
        for line in layers[layers.index("pronmetric.cli") + 1 : layers.index("data_prep")]
        for name in line.split(" : ")
    ]
    assert CONTRACTS[1]["source_modules"] == [name for name in above if not name.startswith("(")]


LOADED = (  # what was imported beyond the standard library, and how many modules in all
    "import sys; print(*{n.split('.')[0] for n in sys.modules} - set(sys.stdlib_module_names) - {'__main__'}); "
    "print(len(sys.modules))"
)


def test_import_brings_no_package_but_ours() -> None:
    """What costs time at import is other packages (torch above all); a bar in seconds would judge the machine."""
    packages, modules = run(f"import pronmetric; {LOADED}").splitlines()
    assert {name for name in packages.split() if not name.startswith("__editable__")} == {"pronmetric"}
    assert int(modules) < 150


def test_help_brings_no_package_but_ours() -> None:
    code = f"from pronmetric.cli.main import main\ntry: main(['--help'])\nexcept SystemExit: pass\n{LOADED}"
    *said, packages, modules = run(code).splitlines()
    assert any("score" in line for line in said)
    assert {name for name in packages.split() if not name.startswith("__editable__")} == {"pronmetric"}
    assert int(modules) < 200


def torchless() -> list[str]:
    files = [
        *modules("data_prep"),
        *modules("pronmetric/eval"),
        *modules("pronmetric/baselines"),
        *[
            ROOT / f"pronmetric/{name}.py"
            for name in ("corrupt", "pronouns", "words", "signature", "lines", "score_files")
        ],
        ROOT / "pronmetric/data/arrow.py",
    ]
    names = (".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in files)
    return [name for name in names if not name.endswith("__main__")]


def test_preparation_and_evaluation_load_no_torch() -> None:
    code = (
        f"import importlib, sys; [importlib.import_module(n) for n in {torchless()!r}]; print('torch' in sys.modules)"
    )
    assert run(code).strip() == "False"


def calls(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id


@pytest.mark.parametrize(
    "path", [*modules("pronmetric"), *modules("data_prep")], ids=lambda p: str(p.relative_to(ROOT))
)
def test_only_the_command_line_prints(path: Path) -> None:
    if path.parent != ROOT / "pronmetric/cli":
        assert "print" not in set(calls(path))


@pytest.mark.parametrize("path", modules("pronmetric/nn"), ids=lambda p: p.name)
def test_networks_open_no_files(path: Path) -> None:
    source = ast.parse(path.read_text(encoding="utf-8"))
    imported = {alias.name for node in ast.walk(source) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module) for node in ast.walk(source) if isinstance(node, ast.ImportFrom)}
    assert "open" not in set(calls(path))
    assert not imported & {"pathlib", "os", "io", "hydra", "omegaconf"}


@pytest.mark.parametrize(
    "path",
    [p for p in [*modules("pronmetric"), *modules("data_prep")] if "cli" not in p.parts and p.name != "__main__.py"],
    ids=lambda p: str(p.relative_to(ROOT)),
)
def test_hydra_stays_at_the_rim(path: Path) -> None:
    source = ast.parse(path.read_text(encoding="utf-8"))
    names = {node.id for node in ast.walk(source) if isinstance(node, ast.Name)}
    imported = {alias.name for node in ast.walk(source) if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module) for node in ast.walk(source) if isinstance(node, ast.ImportFrom)}
    assert "cfg" not in names
    assert not {name.split(".")[0] for name in imported} & {"hydra", "omegaconf"}


def test_shapes_are_checked_in_this_run() -> None:
    """The import hook of conftest.py is at work: a tensor of the wrong rank is refused."""
    import torch
    from jaxtyping import TypeCheckError

    from pronmetric.nn.attention import attend

    with pytest.raises(TypeCheckError):
        attend(torch.zeros(1, 2, 3), torch.zeros(1, 4, 3), torch.zeros(1, 4, 3), torch.ones(4, dtype=torch.bool))
