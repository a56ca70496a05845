"""The wheel holds what the tree holds: every package, the config, the tables, the default checkpoint."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from textwrap import dedent

import pytest
from packaging.requirements import Requirement

from pronmetric import __version__
from pronmetric.checkpoint import locate
from pronmetric.checkpoint.locate import CARD, CONFIG
from pronmetric.checkpoint.shards import INDEX, WEIGHTS, shard_name
from pronmetric.data.pieces import TOKENIZER, VOCABULARY
from tests.integration.test_documentation import blocks

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
SETUPTOOLS = PROJECT["tool"]["setuptools"]
PLACE = {"conf": "pronmetric/conf", "checkpoints": "pronmetric/checkpoints"}  # top of the tree -> inside the wheel


def in_wheel(path: Path) -> str:
    top, *rest = path.relative_to(ROOT).parts
    return "/".join([PLACE.get(top, top), *rest])


def tree() -> set[str]:
    """The files of the tree that belong into the wheel, by their name there."""
    found = set()
    for top in ("pronmetric", "data_prep", "conf", "checkpoints"):
        for path in (ROOT / top).rglob("*"):
            hidden = "__pycache__" in path.parts or path.name.startswith(".")
            if path.is_file() and not hidden and not left_out(path):
                found.add(in_wheel(path))
    return found


def left_out(path: Path) -> bool:
    """Whether this is a file of a checkpoint that is too large for the wheel and stays in the repository."""
    patterns = SETUPTOOLS.get("exclude-package-data", {}).get("pronmetric.checkpoints", [])
    return any(path.match(f"checkpoints/{pattern}") for pattern in patterns)


def test_the_package_list_is_the_tree() -> None:
    packages = {name.rpartition("/")[0].replace("/", ".") for name in tree() if name.endswith(".py")}
    assert sorted(SETUPTOOLS["packages"]) == sorted(packages)


def test_versions_agree() -> None:
    assert PROJECT["project"]["version"] == __version__
    version = re.compile(r"weights:\S*?version:(?P<signature>[\d.]+)|pronmetric\w*-(?P<wheel>[\d.]+)-py3")
    shown = {
        (path.name, found["signature"] or found["wheel"])
        for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
        for found in version.finditer(path.read_text(encoding="utf-8"))
    }
    assert shown and {each for _, each in shown} == {__version__}, shown


def test_the_change_log_of_a_version_is_short_and_says_which_scores_changed() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    heads = re.findall(r"^## \[(.+?)\](?: - (\d{4}-\d{2}-\d{2}))?$", text, re.MULTILINE)
    assert heads[0] == ("Unreleased", "") and heads[1][0] == __version__ and heads[1][1]
    own = text[text.index(f"## [{__version__}]") :].split("\n## ")[0]
    assert len(own.splitlines()) <= 60 and "\n### Scores changed\n" in own


def test_the_release_checklist_names_commands_and_files_that_exist() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    steps = text.split("\n## Releases\n")[1].split("\n## ")[0]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = {name for line in re.findall(r"`make ([a-z ]+)`", steps) for name in line.split()}
    known = re.findall(r"^([a-z-]+):", makefile, re.MULTILINE)
    assert targets >= {"docs", "notebooks", "wheel", "weights", "lock", "audit", "sbom"} and targets <= set(known)
    modules = re.findall(r"-m (benchmarks[.\w]+)", steps)
    names = [name for module in modules if module.endswith(".NAME") for name in ("report", "board", "serve_load")]
    files = [module.replace(".", "/") + ".py" for module in modules if not module.endswith(".NAME")]
    files += [f"benchmarks/cost/{name}.py" for name in names if f"`{name}`" in steps]
    files += re.findall(r"`?((?:docs|benchmarks|pronmetric|tests)/[\w/-]+\.(?:md|py))`", steps)
    assert len(names) == 3 and [name for name in files if not (ROOT / name).is_file()] == []
    for name in ("report", "board", "serve_load"):
        assert '"--pictures"' in (ROOT / f"benchmarks/cost/{name}.py").read_text(encoding="utf-8")


def test_lower_bounds_only_and_each_pinned_in_the_constraints() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {line.partition("==")[0].lower().replace("_", "-") for line in lines if line and not line.startswith("#")}
    extras = PROJECT["project"]["optional-dependencies"]
    wanted = [
        *PROJECT["project"]["dependencies"],
        *(line for extra in extras.values() for line in extra),
    ]
    for line in wanted:
        if not line.startswith("pronmetric["):
            name, bound, _ = line.partition(">=")
            assert bound and "==" not in line and "<" not in line
            assert name.partition("[")[0].lower() in pinned, "constraints.txt holds the version that was tested"


def test_the_lock_has_a_hash_of_each_pinned_version_but_that_of_torch() -> None:
    def names(line: str) -> str:
        return line.strip(" \\").lower().replace("_", "-")

    constraints = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {names(line) for line in constraints if line and not line.startswith("#")}
    entries = re.split(r"\n(?=\S)", (ROOT / "requirements.lock").read_text(encoding="utf-8").strip())
    locked = {names(entry.splitlines()[0]) for entry in entries}
    assert locked <= pinned and all("--hash=sha256:" in entry for entry in entries)
    known = {line.partition("==")[0] for line in locked}
    extras = PROJECT["project"]["optional-dependencies"]
    needed = [*PROJECT["project"]["dependencies"], *extras["dev"], *extras["docs"]]
    for line in needed:
        name = names(line.partition(">=")[0].partition("[")[0])
        assert name in known or name in ("torch", "pronmetric")


@pytest.mark.parametrize(
    "name",
    [CONFIG, CARD, TOKENIZER[0], TOKENIZER[1], VOCABULARY, WEIGHTS, INDEX, shard_name(1, 1), shard_name(2, 12)],
)
def test_each_file_of_a_checkpoint_travels_in_the_wheel(name: str) -> None:
    patterns = SETUPTOOLS["package-data"]["pronmetric.checkpoints"]
    assert any(Path("base", name).match(pattern) for pattern in patterns)


def test_a_checkpoint_that_the_wheel_lacks_can_be_found_in_the_repository() -> None:
    excluded = SETUPTOOLS.get("exclude-package-data", {}).get("pronmetric.checkpoints", [])
    known = {f"{name}/*" for name in set(locate.REPOSITORY) - set(locate.ALIASES.values())}
    assert set(excluded) <= known


def test_the_wheel_has_the_reader_of_sources_of_the_default_checkpoint() -> None:
    reader = f"checkpoints/{locate.ALIASES[locate.DEFAULT]}/{locate.READER}"
    files = [path for path in (ROOT / reader).iterdir() if path.is_file()]
    assert {f"pronmetric/{reader}/{path.name}" for path in files} <= tree() and locate.CONFIG in {f.name for f in files}


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the source tree, with the examples of README."""
    copy = tmp_path_factory.mktemp("tree")
    for name in ("pronmetric", "data_prep", "conf", "checkpoints", "examples"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy)
    return copy


@pytest.fixture(scope="module")
def wheel(clone: Path) -> Path:
    """The wheel, built from a copy so that the tree stays clean."""
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", "dist", "."]
    result = subprocess.run(command, cwd=clone, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    (path,) = (clone / "dist").glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that holds the unpacked wheel."""
    folder = tmp_path_factory.mktemp("installed") / "site-packages"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def test_the_wheel_holds_the_tree_and_nothing_else(wheel: Path) -> None:
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert names == tree()


def test_the_wheel_is_smaller_than_160_mb(wheel: Path) -> None:
    assert wheel.stat().st_size < 160_000_000


def test_the_wheel_names_its_licence_and_its_command(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        info = f"pronmetric-{__version__}.dist-info"
        assert b"Apache License" in archive.read(f"{info}/licenses/LICENSE")
        assert b"License-Expression: Apache-2.0" in archive.read(f"{info}/METADATA")
        assert b"pronmetric = pronmetric.cli.main:main" in archive.read(f"{info}/entry_points.txt")


def required(of: Distribution, extras: frozenset[str] = frozenset()) -> Iterator[tuple[str, frozenset[str]]]:
    """The names that a distribution requires with these of its extras, each with the extras that it asks for."""
    for requirement in map(Requirement, of.requires or ()):
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in extras or {""}):
            yield requirement.name, frozenset(requirement.extras)


@pytest.fixture(scope="module")
def bare(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with links to what `pip install` of the wheel brings into an empty environment: no extra, no tool."""
    folder = tmp_path_factory.mktemp("bare") / "site-packages"  # by this name dill knows modules that are no user's
    folder.mkdir()
    (metadata,) = installed.glob("*.dist-info")
    waiting = list(required(Distribution.at(metadata)))
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        name, extras = wanted = waiting.pop()
        if wanted in seen:
            continue
        seen.add(wanted)
        try:
            found = distribution(name)
        except PackageNotFoundError:  # such as CUDA's libraries, where torch is that of a CPU
            continue
        waiting += required(found, extras)
        for top in {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}:
            if not (folder / top).exists():
                (folder / top).symlink_to(Path(str(found.locate_file(top))))
    return folder


def from_wheel(
    installed: Path, *arguments: str, packages: Path | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Python that sees the wheel and the other packages, but not our tree: -S reads no .pth of an editable install.

    packages: the folder of the other packages, in place of all that are installed here.
    """
    others = [packages] if packages else [sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, [installed, *others]))}
    command = [sys.executable, "-S", *arguments]
    return subprocess.run(command, cwd=cwd or installed, env=environment, capture_output=True, text=True)


def test_the_wheel_runs_from_its_own_files(installed: Path) -> None:
    code = "import pronmetric, data_prep, sys; print(pronmetric.__file__, data_prep.__file__)"
    result = from_wheel(installed, "-c", code)
    assert result.stdout.split() == [
        str(installed / "pronmetric/__init__.py"),
        str(installed / "data_prep/__init__.py"),
    ]


@pytest.mark.parametrize("verb", ["prepare", "train"])
def test_the_wheel_finds_its_config(installed: Path, verb: str) -> None:
    result = from_wheel(installed, "-m", "pronmetric.cli.main", verb, "--cfg", "job")
    assert result.returncode == 0, result.stderr
    assert "out: ???" in result.stdout


def test_the_wheel_scores_with_the_default_checkpoint_in_an_empty_environment(
    installed: Path, bare: Path, tmp_path: Path
) -> None:
    (tmp_path / "a.txt").write_text("She lost her keys.\nThen it rained.\n", encoding="utf-8")
    (tmp_path / "s.txt").write_text("Sie hat ihre Schlüssel verloren.\nDann regnete es.\n", encoding="utf-8")
    command = ["-m", "pronmetric.cli.main", "score", "-t", "a.txt"]
    result = from_wheel(installed, *command, "-s", "s.txt", packages=bare, cwd=tmp_path)
    assert result.returncode == 0 and "|source:reader-" in result.stderr, result.stderr
    assert [line.split("\t")[1] for line in result.stdout.splitlines()[:2]] == ["Segment 0", "Segment 1"]
    result = from_wheel(installed, *command, "-r", "a.txt", "--also", "bleu", packages=bare, cwd=tmp_path)
    assert result.returncode == 1 and 'pip install "pronmetric[peers]"' in result.stderr  # no origin but an index


def test_each_verb_helps_in_an_empty_environment(installed: Path, bare: Path) -> None:
    code = """
        import importlib.util, sys
        from pronmetric.cli.main import VERBS, main
        assert not any(map(importlib.util.find_spec, ("matplotlib", "sacrebleu", "fastapi", "ray", "pytest")))
        for verb in VERBS:
            try:
                code = main([verb, "--help"])
            except SystemExit as end:
                code = end.code
            assert not code, verb
    """
    result = from_wheel(installed, "-c", dedent(code), packages=bare)
    assert result.returncode == 0, result.stdout[-300:] + result.stderr


def test_the_python_of_coming_from_runs_in_an_empty_environment(installed: Path, bare: Path) -> None:
    page = (ROOT / "docs" / "coming-from.md").read_text(encoding="utf-8")
    snippets = [code for code in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "sacrebleu" not in code]
    assert len(snippets) == 2
    for code in snippets:
        result = from_wheel(installed, "-c", code, packages=bare)
        assert result.returncode == 0 and result.stdout, result.stderr


Run = Callable[[Path, str], subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Runs a script in a folder, in an environment with the wheel as pip installs it; other packages are linked."""
    place = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    python = place / "bin" / "python"
    (packages,) = place.glob("lib/python*/site-packages")
    others = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (packages / "others.pth").write_text("\n".join(others), encoding="utf-8")  # .pth files of these are not read
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--no-deps", "--no-index"]
    ready = subprocess.run([*install, "--force-reinstall", str(wheel)], capture_output=True, text=True)
    assert ready.returncode == 0 and not ready.stderr, ready.stderr
    path = os.pathsep.join([str(place / "bin"), os.environ["PATH"]])
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}

    def run(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
        command = ["bash", "-euo", "pipefail", "-c", script]
        return subprocess.run(command, cwd=folder, env={**own, "PATH": path}, capture_output=True, text=True)

    return run


README = [
    f"python -c {shlex.quote(block.text)}" if block.language == "python" else block.text
    for block in blocks((ROOT / "README.md").read_text(encoding="utf-8"))
    if not block.marks
]


@pytest.mark.parametrize("script", README)
def test_the_blocks_of_readme_run_in_the_clone_after_the_installation(
    script: str, clone: Path, environment: Run
) -> None:
    result = environment(clone, script)
    assert result.returncode == 0 and result.stdout, result.stderr


def test_the_clone_finds_its_own_folders_without_the_installation(clone: Path, environment: Run) -> None:
    """`python -m` in the clone takes the clone's package; the command takes the installed one."""
    said = environment(clone, "python -m pronmetric train --cfg job && python -c 'import pronmetric as p; print(p)'")
    assert said.returncode == 0 and "out: ???" in said.stdout and str(clone / "pronmetric") in said.stdout, said.stderr
    said = environment(clone, "python -m pronmetric score -t examples/sample/ref.txt --model small --only_system")
    assert said.returncode == 0 and "score: " in said.stdout and "weights:" in said.stderr, said.stderr
    said = environment(clone / "examples", "pronmetric train --cfg job")
    assert said.returncode == 0 and "out: ???" in said.stdout, said.stderr


def test_after_the_installation_the_source_counts_and_a_hint_names_the_wheel(
    clone: Path, wheel: Path, environment: Run, tmp_path: Path
) -> None:
    sample = clone / "examples" / "sample"
    score = f"pronmetric score -t {sample}/system-a.txt -r {sample}/ref.txt --only_system"
    with_source, without = (environment(tmp_path, line) for line in (f"{score} -s {sample}/src.de.txt", score))
    assert "|source:reader-" in with_source.stderr and "source:" not in without.stderr, with_source.stderr
    assert with_source.stdout != without.stdout
    hint = "from pronmetric.errors import MissingExtra; print(MissingExtra('fastapi', 'serve', 'it'))"
    said = environment(tmp_path, f'python -c "{hint}"').stdout
    assert said == f'it needs fastapi, which is not installed: pip install "{wheel}[serve]"\n'


@pytest.mark.parametrize("name", locate.REPOSITORY)
def test_what_the_wheel_lacks_is_had_from_the_clone_by_one_command(
    name: str, clone: Path, environment: Run, tmp_path: Path
) -> None:
    said = environment(clone / "examples" / "sample", f"pronmetric score -t ref.txt --model {name}")
    assert said.returncode == 1 and f"checkpoint {name} is not in this installation: get the folder" in said.stderr
    lang = " --lang de" if name == "multilingual" else ""
    given = clone / "checkpoints" / name
    found = environment(clone / "examples" / "sample", f"pronmetric score -t src.de.txt --model {given}{lang}")
    assert found.returncode == 0 and f"model:{name}|" in found.stderr, found.stderr
