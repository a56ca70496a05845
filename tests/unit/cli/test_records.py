"""Records declare flags; commands parse them, check them, and hand them to a function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import FrozenInstanceError, asdict

import pytest

from pronmetric.cli.parser import (
    Command,
    Exclusive,
    Flags,
    Group,
    UsageError,
    argument,
    flag,
    part,
    require_one,
    switch,
    whole,
)
from pronmetric.cli.report import format_of

EITHER = Exclusive(required=True)


class FruitFlags(Flags):
    fruit: str | None = flag(metavar="NAME", help="a fruit")
    peel_first: bool = switch(help="peel it")
    knife: str | None = None

    def check(self) -> None:
        if self.knife is not None and self.fruit is None:
            raise UsageError("--knife needs --fruit")


class BasketFlags(Flags):
    baskets: Sequence[str] = argument(nargs="+", help="baskets")
    fruit: FruitFlags = part(FruitFlags, "fruit")
    knife: str | None = flag("-k", "--knife", help="a knife")
    number: int = flag("--number", "--count", type=whole(1), default=3, help="how many")
    fresh: bool = switch(exclusive=EITHER, help="fresh")
    dried: bool = switch(exclusive=EITHER, help="dried")


TASKS: list[BasketFlags] = []
PACK = Command("pack", BasketFlags, TASKS.append, "Packs.", stray="name baskets", refused={"--vmc": "there is none"})


def run(*argv: str) -> BasketFlags:
    assert PACK.main(argv) == 0
    return TASKS.pop()


def error(capsys: pytest.CaptureFixture[str], *argv: str, verb: Command[BasketFlags] | Group = PACK) -> str:
    with pytest.raises(SystemExit) as end:
        verb.main(argv)
    assert end.value.code == 2 and not TASKS
    return capsys.readouterr().err.splitlines()[-1]


def test_a_record_holds_its_flags_and_those_of_its_parts_also_if_their_names_are_the_same() -> None:
    task = run("a", "b", "--fruit", "plum", "--peel_first", "-k", "blunt", "--count", "2", "--fresh")
    fruit = {"fruit": "plum", "peel_first": True, "knife": "blunt"}
    given = {"baskets": ["a", "b"], "fruit": fruit, "knife": "blunt", "number": 2, "fresh": True, "dried": False}
    assert asdict(task) == given
    with pytest.raises(FrozenInstanceError):
        task.number = 4  # type: ignore[misc]


def test_what_is_not_given_has_the_default_of_its_field() -> None:
    fruit = {"fruit": None, "peel_first": False, "knife": None}
    given = {"baskets": ["a"], "fruit": fruit, "knife": None, "number": 3, "fresh": False, "dried": True}
    assert asdict(run("a", "--dried")) == given


def test_both_spellings_of_a_name_are_flags() -> None:
    assert run("a", "--dried", "--peel-first").fruit == run("a", "--dried", "--peel_first").fruit


def test_a_part_shows_its_flags_under_its_title() -> None:
    text = PACK.parser().format_help()
    assert text.index("options:") < text.index("how many") < text.index("\nfruit:\n") < text.index("peel it")
    assert "--vmc" not in text


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["a", "--fresh", "--knife", "x"], "--knife needs --fruit"),
        (["a", "--fresh", "--dried"], "not allowed with argument --fresh"),
        (["a"], "one of the arguments --fresh --dried is required"),
        (["a", "--fresh", "b"], "unexpected argument 'b': name baskets"),
        (["a", "--fresh", "--colour"], "unrecognized arguments: --colour"),
        (["a", "--fresh", "--vmc"], "--vmc of COMET has no meaning here: there is none"),
        (["a", "--fresh", "--count", "0"], "expected a whole number from 1, got '0'"),
    ],
)
def test_wrong_flags_are_exit_code_2(argv: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert said in error(capsys, *argv)


def test_a_group_runs_the_command_that_is_named_and_shows_its_usage(capsys: pytest.CaptureFixture[str]) -> None:
    inner = Group("inner", "Inner.", None, [PACK], help="more", kind="kind")
    outer = Group("outer", "Outer.", None, [PACK, inner])
    assert outer.main(["pack", "a", "--fresh"]) == outer.main(["inner", "pack", "a", "--fresh"]) == 0
    assert TASKS.pop() == TASKS.pop() == run("a", "--fresh")
    assert error(capsys, "pack", "a", "--fresh", "-k", "x", verb=outer).startswith(
        "pronmetric outer pack: error: --knife"
    )
    assert "COMMAND" in error(capsys, verb=outer) and "KIND" in error(capsys, "inner", verb=outer)


def test_one_of_several_flags_is_required() -> None:
    assert require_one({"-a": None, "-b": ""}) == "-b"
    for given, said in (({"-a": None, "-b": None}, "give one of -a, -b$"), ({"-a": 1, "-b": 2}, "; got -a and -b$")):
        with pytest.raises(UsageError, match=said):
            require_one(given)


def test_a_format_is_that_of_the_suffix_or_the_one_that_is_named() -> None:
    suffixes = {".md": "md", ".tex": "latex"}
    assert [format_of(p, f, suffixes, default="md") for p, f in ((None, None), ("a.TEX", None), ("a", "md"))] == [
        "md",
        "latex",
        "md",
    ]
    for path, given, said in (("a.xy", None, r"got \.xy; or"), ("a.md", "latex", "means md, but --format is latex")):
        with pytest.raises(UsageError, match=said):
            format_of(path, given, suffixes, default="md")
