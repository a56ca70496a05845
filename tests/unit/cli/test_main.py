from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from types import SimpleNamespace

import pytest

from pronmetric import __version__
from pronmetric.cli import main as cli
from pronmetric.errors import InputError


@pytest.fixture
def verb(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[Sequence[str]], int]], None]:
    """Put a function in the place of the verb `score`."""

    def put(function: Callable[[Sequence[str]], int]) -> None:
        monkeypatch.setattr(cli, "load", lambda name: {name: SimpleNamespace(main=function)})

    return put


def raising(error: BaseException) -> Callable[[Sequence[str]], int]:
    def main(argv: Sequence[str]) -> int:
        raise error

    return main


def test_a_verb_gets_the_rest_of_the_line(verb) -> None:
    seen: list[Sequence[str]] = []
    verb(lambda argv: seen.append(argv) or 0)
    assert cli.main(["score", "--help", "-t", "a"]) == 0
    assert seen == [["--help", "-t", "a"]]


def test_a_fault_of_the_input_is_one_line_and_exit_code_1(verb, capsys) -> None:
    verb(raising(InputError("expected 3 lines\n  got 2", file="a.txt", line=3)))
    assert cli.main(["score"]) == 1
    out, err = capsys.readouterr()
    assert (out, err) == ("", "pronmetric: error: a.txt:3: expected 3 lines got 2\n")


def test_a_fault_of_the_system_is_one_line_too(verb, capsys) -> None:
    verb(raising(FileNotFoundError(2, "No such file or directory", "gone.txt")))
    assert cli.main(["score"]) == 1
    assert capsys.readouterr().err == "pronmetric: error: gone.txt: No such file or directory\n"
    verb(raising(OSError(28, "No space left on device")))
    assert cli.main(["score"]) == 1
    assert capsys.readouterr().err == "pronmetric: error: No space left on device\n"


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried"),
        RuntimeError("CUDA out of memory."),
    ],
)
def test_no_memory_is_one_line_and_exit_code_1(verb, error: Exception, capsys) -> None:
    verb(raising(error))
    assert cli.main(["score"]) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("pronmetric: error: out of memory: ") and err.count("\n") == 1


def test_an_interrupt_is_one_line_and_130(verb, capsys) -> None:
    verb(raising(KeyboardInterrupt()))
    assert cli.main(["score"]) == 130
    assert capsys.readouterr() == ("", "pronmetric: interrupted\n")


def test_sigterm_unwinds_the_stack_and_is_one_line_and_143(verb, capsys) -> None:
    unwound = []

    def wait(argv: object) -> int:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            return 0
        finally:
            unwound.append(argv)

    before = signal.getsignal(signal.SIGTERM)
    verb(wait)
    assert cli.main(["score"]) == 143
    assert capsys.readouterr() == ("", "pronmetric: terminated\n") and unwound == [[]]
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_bug_keeps_its_traceback(verb) -> None:
    verb(raising(ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        cli.main(["score"])


def test_a_reader_that_goes_away_is_no_traceback() -> None:
    code = (
        "import sys; from pronmetric.cli import main; "
        "main._run = lambda argv: print('x\\n' * 100_000) or 0; sys.exit(main.main([]))"
    )
    read, write = os.pipe()
    process = subprocess.Popen([sys.executable, "-c", code], stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    os.read(read, 10)
    os.close(read)
    assert process.communicate()[1] == b""
    assert process.returncode == 141


def test_version(capsys) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == f"pronmetric {__version__}\n"


@pytest.mark.parametrize("argv", [[], ["--help"], ["help"]])
def test_help_describes_the_eight_daily_verbs_and_names_the_others(argv: list[str], capsys) -> None:
    try:
        assert cli.main(argv) == 0
    except SystemExit as end:
        assert end.code == 0
    daily, more, last = capsys.readouterr().out.split("\n\n")[3:6]
    lines = {line.split()[0]: " ".join(line.split()[1:]) for line in daily.splitlines()[1:]}
    assert daily.startswith("score:\n") and lines == cli.GROUPS[cli.DAILY] and len(lines) == 8
    named = {line.strip().partition(":")[0]: line.partition(": ")[2].split(", ") for line in more.splitlines()[1:]}
    assert more.startswith("more:\n")
    assert named == {title: [*verbs] for title, verbs in cli.GROUPS.items() if title != cli.DAILY}
    assert "`pronmetric help all`" in last


def test_help_all_describes_every_verb(capsys) -> None:
    assert cli.main(["help", "all"]) == 0
    groups = capsys.readouterr().out.split("\n\n")[3:7]
    assert [group.partition(":")[0] for group in groups] == list(cli.GROUPS)
    assert [line.split()[0] for group in groups for line in group.splitlines()[1:]] == list(cli.VERBS)


def test_help_of_a_verb_is_its_own(verb) -> None:
    seen: list[Sequence[str]] = []
    verb(lambda argv: seen.append(argv) or 0)
    assert cli.main(["help", "score"]) == 0
    assert seen == [["--help"]]


@pytest.mark.parametrize(("argv", "code"), [(["help"], 0), (["help", "scoer"], 2)])
def test_help_of_nothing_and_of_a_wrong_verb(argv: list[str], code: int, capsys) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(argv)
    assert end.value.code == code
    out, err = capsys.readouterr()
    assert "judge a metric:" in out if code == 0 else "did you mean 'score'?" in err


def test_the_package_runs_as_a_module() -> None:
    result = subprocess.run([sys.executable, "-m", "pronmetric", "--version"], capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (0, f"pronmetric {__version__}\n")


@pytest.mark.parametrize("name", ["score", "compare"])
def test_the_help_explains_the_numbering_of_segments_and_lines(name: str, capsys) -> None:
    with pytest.raises(SystemExit):
        cli.main(["help", name])
    assert "Segments are numbered from 0, as in COMET. Error messages number lines from 1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "said"), [(["scoer"], "did you mean 'score'?"), (["--vorsion"], "--vorsion"), (["xyzzy"], "'xyzzy'")]
)
def test_a_wrong_verb_or_flag_is_exit_code_2(argv: list[str], said: str, capsys) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(argv)
    assert end.value.code == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["average", "a", "b"], "pronmetric average: now `pronmetric checkpoint average`\n"),
        (["completion", "bash"], "pronmetric completion: now `pronmetric --print-completion SHELL`\n"),
        (["help", "apt"], "pronmetric apt: now `pronmetric baseline apt`\n"),
        (["soft-labels"], "pronmetric soft-labels: removed in 1.0.0\n"),
    ],
)
def test_an_old_name_of_a_verb_gives_the_new_one(argv: list[str], said: str, capsys) -> None:
    assert cli.main(argv) == 2
    assert capsys.readouterr() == ("", said)


@pytest.mark.parametrize("name", list(cli.VERBS))
def test_every_verb_has_its_file(name: str) -> None:
    found = cli.load(name)[name]
    assert callable(found.main)
    assert found.parser().prog == f"pronmetric {name}"


def test_the_arguments_that_an_error_names_are_shown_as_flags(verb, capsys: pytest.CaptureFixture[str]) -> None:
    message = "give `gpus=0`, `source_language=`, `documents=DIR` or `allow_network=True`; run `pronmetric a b=c`"
    verb(raising(InputError(message, file="f", line=2)))
    assert cli.main(["score"]) == 1
    assert capsys.readouterr().err == (
        "pronmetric: error: f:2: give --gpus 0, --source-language, --documents DIR or --allow_network; "
        "run `pronmetric a b=c`\n"
    )
