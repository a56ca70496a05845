"""Rules of the code base: directions of imports, start-up cost, what each room may contain."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from itertools import zip_longest
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]


def modules(*packages: str) -> list[Path]:
    return [path for package in packages for path in sorted((ROOT / package).rglob("*.py"))]


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


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


def test_every_module_is_in_a_layer() -> None:
    layers = [name.strip() for line in CONTRACTS[0]["layers"] for name in line.split(":")]
    stray = []
    for path in modules("pronmetric"):
        name = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        inside = any(name == layer or name.startswith(f"{layer}.") for layer in layers)
        holds_layers = any(layer.startswith(f"{name}.") for layer in layers)  # pronmetric, pronmetric.data
        if not (inside or holds_layers or path.name == "__main__.py"):
            stray.append(name)
    assert not stray, "name its layer in pyproject.toml"


def test_the_contracts_name_only_what_exists() -> None:
    named = {name.strip() for line in CONTRACTS[0]["layers"] for name in line.split(":")}
    for contract in CONTRACTS[1:]:
        named |= {name for key in ("source_modules", "forbidden_modules") for name in contract.get(key, ())}
    ours = [name for name in named if name.split(".")[0] in ("pronmetric", "data_prep")]
    assert len(ours) > 20
    for name in ours:
        path = ROOT / name.replace(".", "/")
        assert path.is_dir() or path.with_suffix(".py").is_file(), name


# What design.md lets the preparation import, and the rooms without torch.
PREPARATION_IMPORTS = set(
    "alignment data.arrow pronouns text output settings schema errors installation version".split()
)
TORCHLESS = (
    "alignment bulk checkpoint.config checkpoint.description checkpoint.locate checkpoint.model_config eval "
    "lab.baselines lab.board lab.human lab.study lab.suites output pronouns report results serve.connections "
    "serve.requests settings text"
).split()
# All of this room but the files that run the model.
MODEL = {f"scoring.{name}" for name in ("attention", "inference", "replicas", "source_reader")}
TORCHLESS += sorted({f"scoring.{p.stem}" for p in (ROOT / "pronmetric/scoring").glob("[!_]*.py")} - MODEL)


def contract(name: str) -> dict[str, list[str]]:
    return next(found for found in CONTRACTS if found["name"].startswith(name))


def test_the_preparation_may_import_the_rooms_of_the_plan_and_no_others() -> None:
    rooms = {path.stem for path in (ROOT / "pronmetric").iterdir() if path.suffix == ".py" or path.is_dir()}
    rooms = {name for name in rooms if not name.startswith("__") and name != "py"} - {"data"}
    rooms |= {f"data.{path.stem}" for path in (ROOT / "pronmetric/data").glob("[!_]*.py")}
    forbidden = {name.removeprefix("pronmetric.") for name in contract("The preparation")["forbidden_modules"]}
    # Above the preparation in the layers, so forbidden there.
    above = {"cli", "bulk", "lab", "serve"}
    assert rooms - forbidden - above == PREPARATION_IMPORTS


def test_the_rooms_without_torch_are_those_of_the_plan() -> None:
    sources = set(contract("No torch")["source_modules"])
    assert sources == {"data_prep", *(f"pronmetric.{name}" for name in TORCHLESS)}


HEAVY = ("torch", "numpy", "transformers", "datasets", "scipy", "hydra")


def test_the_package_and_its_help_load_no_heavy_library() -> None:
    shown = f"print([name for name in {HEAVY!r} if name in sys.modules])"
    assert run(f"import sys, pronmetric; {shown}").strip() == "[]"
    helped = f"""
import contextlib, io, sys
from pronmetric.cli.main import main
with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
    main(["--help"])
assert "score" in out.getvalue()
{shown}
"""
    assert run(helped).strip() == "[]"


def test_the_help_of_each_verb_and_command_loads_no_slow_library() -> None:
    code = f"""
import contextlib, io, sys
from pronmetric.cli.main import VERBS, load, main

def lines(member, before):
    line = [*before, member.name.split()[-1]]
    yield line
    for command in getattr(member, "commands", ()):
        yield from lines(command, line)

for verb in VERBS:
    for line in lines(load(verb)[verb], []):
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
            main([*line, "--help"])
        assert " ".join(line) in out.getvalue(), line
        print(" ".join(line), [name for name in {("torch", *SLOW[:-1])!r} if name in sys.modules])
"""
    shown = run(code).splitlines()
    assert all(line.endswith("[]") for line in shown), shown


SLOW = ("torch._dynamo", "transformers", "scipy", "sklearn", "pandas", "datasets", "pytorch_lightning", "hydra")


def test_scoring_with_the_shipped_checkpoint_loads_no_slow_library() -> None:
    code = f"""
import sys
from pronmetric.cli.main import main
assert main(["score", "-t", "{ROOT}/examples/sample/system-a.txt", "--only_system", "--quiet", "--gpus", "0"]) == 0
print([name for name in {SLOW!r} if name in sys.modules])
"""
    assert run(code).splitlines()[-1] == "[]"


def torchless() -> list[str]:
    files = [*modules("data_prep"), ROOT / "pronmetric/data/arrow.py"]
    for name in TORCHLESS:
        path = ROOT / "pronmetric" / name.replace(".", "/")
        files += modules(str(path.relative_to(ROOT))) if path.is_dir() else [path.with_suffix(".py")]
    names = (".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in files)
    return [name for name in names if not name.endswith("__main__")]


def test_the_rooms_without_torch_load_none() -> None:
    code = (
        f"import importlib, sys; [importlib.import_module(n) for n in {torchless()!r}]; print('torch' in sys.modules)"
    )
    assert run(code).strip() == "False"


def calls(path: Path) -> set[str]:
    nodes = (node.func for node in ast.walk(parsed(path)) if isinstance(node, ast.Call))
    return {node.id for node in nodes if isinstance(node, ast.Name)}


def imports(path: Path) -> set[str]:
    nodes = list(ast.walk(parsed(path)))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return plain | {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}


def names(path: Path) -> set[str]:
    return {node.id for node in ast.walk(parsed(path)) if isinstance(node, ast.Name)}


def offenders(paths: list[Path], rule: Callable[[Path], object]) -> list[str]:
    """The files in which the rule finds something."""
    assert len(paths) > 20
    return [str(path.relative_to(ROOT)) for path in paths if rule(path)]


def test_only_the_tests_of_benchmarks_import_them() -> None:
    own = {"test_card.py", "test_prepare.py"}  # of the scripts `card` and `prepare`
    others = [path for path in modules("tests") if path.name not in own and path.parent.name != "benchmarks"]
    assert offenders(others, lambda path: "benchmarks" in {name.split(".")[0] for name in imports(path)}) == []


def test_only_the_command_line_prints() -> None:
    below = [path for path in modules("pronmetric", "data_prep") if path.parent != ROOT / "pronmetric/cli"]
    assert offenders(below, lambda path: "print" in calls(path)) == []


FLAG = re.compile(r"""(?<![\w"-])--[a-z]""")  # not style="--s: 0"


# Texts that are no messages: the commands of a card, the help of a kind of suite (which `suite` shows), a JSON key.
FLAGS_STAND_IN = ("training/card/", "lab/suites/")


def spoken(path: Path) -> Iterator[str]:
    """The texts of a file without docstrings; the fields of an f-string are "{}"."""
    tree = parsed(path)
    inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    inner |= {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inner:
            yield node.value


def named_flags(texts: Iterator[str]) -> list[str]:
    """Texts that name a flag elsewhere than in a command in backquotes."""
    return [text for text in texts if FLAG.search(re.sub("`[^`]*`", "", text))]


def test_messages_below_the_command_line_name_arguments_and_no_flags() -> None:
    below = [path for path in modules("pronmetric", "data_prep") if "cli" not in path.parts]
    below = [path for path in below if not any(part in path.as_posix() for part in FLAGS_STAND_IN)]
    assert {path: texts for path in below if (texts := named_flags(spoken(path)))} == {}


def test_errors_of_cards_and_suites_name_no_flags() -> None:
    some = [path for path in modules("pronmetric") if any(part in path.as_posix() for part in FLAGS_STAND_IN)]
    raised = [node for path in some for node in ast.walk(parsed(path)) if isinstance(node, ast.Raise)]
    assert len(raised) > 20
    texts = (c.value for node in raised for c in ast.walk(node) if isinstance(c, ast.Constant))
    assert named_flags(text for text in texts if isinstance(text, str)) == []


def test_networks_open_no_files() -> None:
    forbidden = {"pathlib", "os", "io", "hydra", "omegaconf"}
    assert offenders(modules("pronmetric/nn"), lambda path: "open" in calls(path) or imports(path) & forbidden) == []


def test_hydra_stays_at_the_rim() -> None:
    below = [path for path in modules("pronmetric", "data_prep") if "cli" not in path.parts]
    below = [path for path in below if path.name != "__main__.py"]
    hydra = {"hydra", "omegaconf"}
    assert (
        offenders(below, lambda path: "cfg" in names(path) or {name.split(".")[0] for name in imports(path)} & hydra)
        == []
    )


def test_shapes_are_checked_in_this_run() -> None:
    """The import hook of conftest.py is at work: a tensor of the wrong rank is refused."""
    import torch
    from jaxtyping import TypeCheckError

    from pronmetric.nn.attention import attend

    with pytest.raises(TypeCheckError):
        attend(torch.zeros(1, 2, 3), torch.zeros(1, 4, 3), torch.zeros(1, 4, 3), torch.ones(4, dtype=torch.bool))


def is_number(node: ast.expr | None) -> bool:
    """Whether an expression is a number, or made of numbers alone: `0.5`, `1 << 20`, `(3, -1)`."""
    if isinstance(node, ast.Tuple):
        return bool(node.elts) and all(map(is_number, node.elts))
    if isinstance(node, ast.BinOp):
        return is_number(node.left) and is_number(node.right)
    if isinstance(node, ast.UnaryOp):
        return is_number(node.operand)
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def unexplained(tree: ast.Module, lines: list[str]) -> Iterator[str]:
    """The numeric constants of a module without a docstring below, a comment in their lines or one just above."""
    for node, after in zip_longest(tree.body, tree.body[1:]):
        if isinstance(node, ast.Assign | ast.AnnAssign) and is_number(node.value):
            docstring = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            beside = any("#" in line for line in lines[node.lineno - 1 : node.end_lineno])
            if not (docstring or beside or (node.lineno > 1 and lines[node.lineno - 2].startswith("#"))):
                yield lines[node.lineno - 1]


def test_every_numeric_constant_says_what_it_is() -> None:
    missed = {
        str(path.relative_to(ROOT)): told
        for path in modules("pronmetric", "data_prep")
        if (told := list(unexplained(parsed(path), path.read_text(encoding="utf-8").splitlines())))
    }
    assert missed == {}, "say its unit and its source, or what it trades: a docstring below it, a comment if private"


def test_a_numeric_constant_without_a_word_is_found() -> None:
    code = 'A = 1  # lines\nB = -2\nC = 1 << 3\n"""Bytes."""\n# Seconds.\nD: float = 0.5\nE, F = 2, 3\nG = (A, 2)\n'
    assert list(unexplained(ast.parse(code), code.splitlines())) == ["B = -2", "E, F = 2, 3"]


def test_the_files_of_each_wish_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text.partition("## To add X, touch Y\n")[2].partition("\n## ")[0]
    rows = [line.split(" | ")[1] for line in table.splitlines()[2:] if line.startswith("|")]
    paths = [[name for name in re.findall("`([^`]+)`", row) if "/" in name] for row in rows]
    assert len(rows) >= 11 and all(paths)
    assert not [name for names in paths for name in names if not (ROOT / name).exists()]


def test_one_style_sheet_has_the_colours() -> None:
    literal = re.compile(r"#[0-9a-fA-F]{3,8}\b|\b(?:rgb|hsl)a?\(|light-dark\(")
    sheets = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "pronmetric").rglob("*.css")}
    assert [name for name, text in sheets.items() if literal.search(text)] == ["theme.css"]
    for path in (ROOT / "pronmetric").rglob("*.*"):
        if path.suffix in (".py", ".js"):
            used = set(re.findall(r"#[0-9a-f]{6}\b", path.read_text(encoding="utf-8")))
            assert not used or (path.suffix == ".js" and used <= _theme(sheets)), (path, used)


def _theme(sheets: dict[str, str]) -> set[str]:
    """The colours of the theme; a script that draws a file of its own has some of them."""
    return set(re.findall(r"#[0-9a-f]{6}\b", sheets["theme.css"]))
