"""The page docs/reliability.md: what was tried and what happened, from the figures of `faults` and `fuzz`."""

from __future__ import annotations

import signal
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from tests.tools.bad_inputs import CALLS

Rows = Sequence[Mapping[str, Any]]
# What was tried, what happens, and the test.
HOSTILE = (
    (
        "gzip file of 2 GB or more when unpacked",
        "refused at the limit; `PRONMETRIC_MAX_FILE_BYTES` raises it",
        "test_size_limits.py::test_every_reader_has_the_limit_of_files",
    ),
    (
        "a line without end, `/dev/zero`",
        "refused at 10 MB; `PRONMETRIC_MAX_LINE_BYTES` raises it",
        "test_size_limits.py::test_a_device_without_end_is_refused",
    ),
    (
        "gzip or zstd file of `bulk` that unpacks to a line without end",
        "refused at the limit of files, while it is read in pieces of 1 MB",
        "test_hostile_files.py::test_a_packed_line_without_end_is_refused_before_it_is_in_memory",
    ),
    (
        "Parquet file with a row group that is too large when unpacked",
        "refused by the size in its metadata",
        "test_hostile_files.py::test_a_row_group_is_refused_by_its_unpacked_size",
    ),
    (
        "alignment or source table (`.npz`) that unpacks to gigabytes",
        "refused by the sizes in its directory",
        "test_hostile_files.py::test_a_packed_table_is_refused_by_its_unpacked_size",
    ),
    (
        "ELMo weights (HDF5) that unpack to gigabytes",
        "refused by the sizes of the arrays",
        "test_hostile_files.py::test_packed_weights_of_elmo_are_refused_by_their_unpacked_size",
    ),
    (
        "XML and SGM: entities that grow (billion laughs), entities of other files, DTDs",
        "refused; nothing is expanded or fetched",
        "test_hostile_files.py::test_no_entity_is_expanded",
    ),
    (
        "SGM: long tags, open quotes, blanks",
        "read in linear time",
        "test_size_limits.py::test_sgm_is_read_in_linear_time",
    ),
    (
        "YAML: aliases that grow, recursive aliases, deep nesting, Python objects",
        "refused",
        "test_checkpoint_checks.py::test_aliases_that_grow_without_end_are_refused",
    ),
    (
        "JSON: NaN, keys given twice, lone surrogates, numbers without end",
        "refused with file and line",
        "test_cli_bad_input.py::test_one_clear_line",
    ),
    (
        "safetensors: a header that promises terabytes",
        "refused before memory is taken",
        "test_checkpoint_checks.py::test_a_header_that_promises_too_much_is_refused",
    ),
    (
        "`config.yaml` of a checkpoint with a million layers",
        "refused before a layer is made",
        "test_checkpoint_checks.py::test_a_million_layers_are_never_built",
    ),
    (
        "pickles in a checkpoint folder, as weights or as `config.yaml`",
        "never read, or refused; nothing is unpickled",
        "test_checkpoint_checks.py::test_nothing_is_unpickled",
    ),
    (
        "pickles in tables and in `last.ckpt`",
        "refused (`allow_pickle=False`, `weights_only=True`)",
        "test_hostile_files.py::test_nothing_is_unpickled",
    ),
    (
        "Python files in a checkpoint folder that its config names (`auto_map`)",
        "never run (`trust_remote_code=False`)",
        "test_checkpoint_checks.py::test_no_code_of_the_folder_is_run",
    ),
    (
        "links in a checkpoint folder to devices, folders or nowhere",
        "refused; links to files are read, as in the hub's cache",
        "test_checkpoint_checks.py::test_a_link_is_read_only_where_it_leads_to_a_file",
    ),
    (
        "other files and links in a checkpoint folder that is copied",
        "not copied",
        "test_checkpoint_checks.py::test_a_copy_holds_the_checkpoint_alone",
    ),
    (
        "Hydra keys that would instantiate classes (`+encoder._target_=os.system`)",
        "refused: each key is known and typed, and nothing calls `instantiate`",
        "test_hydra_app.py::test_a_wrong_override_is_one_line_with_the_cure",
    ),
    (
        "mark-up and scripts in names, texts and titles of a report",
        "shown as text; the Content-Security-Policy allows the page's script and style by their hashes, nothing else",
        "test_report_page.py::test_text_of_the_data_is_never_markup",
    ),
    ("the same in the page of a study", "as above", "test_study_page.py::test_text_of_the_data_is_no_markup"),
    ("the same in the pages of a board", "as above", "test_board_pages.py::test_no_name_or_text_becomes_an_element"),
    (
        "TSV cells that a spreadsheet would run (`=HYPERLINK(...)`, `+`, `-`, `@`)",
        "preceded by an apostrophe, which our own reader removes; numbers are unchanged",
        "test_tsv.py::test_a_formula_is_guarded",
    ),
)
EXITS = {-signal.SIGKILL: "killed", 130: "130", 143: "143"}


def page(faults: Mapping[str, Any], fuzzed: Mapping[str, Any]) -> str:
    """The page."""
    points, inputs, parsers = faults["points"], faults["inputs"], fuzzed["rows"]
    cases, refused = sum(row["cases"] for row in inputs), sum(row["exit 1"] + row["exit 2"] for row in inputs)
    return f"""# Reliability

What was tried to break pronmetric, and what happened. The tables are written by the scripts that are named, from
`benchmarks/published/faults.json` ({faults["date"]}) and `benchmarks/published/fuzz.json` ({fuzzed["date"]}).

## Stopped and starved runs

    {faults["command"]}

{len(points)} runs, each on a small disk of its own, with a tiny model of random weights. A fault happens at a moment of
the run: moments are counted when an output file is opened for writing, renamed, removed or made (`bulk score`: finished
shards). Then the same command is given again. "Half-written" counts files under their
final name whose bytes are not those of an undisturbed run; partial files have hidden names and are removed by the next
run. "Same bytes" compares all results with those of an undisturbed run; the time of training in a
checkpoint's config and card is left out. {faults["note"]}

{_points(points)}
{_summary(points)}

Full disk: all room is taken at that moment; the room of files that are replaced later is free again. Without file
handles no further file can be opened; without memory only 1 MiB more can be taken; a run that needs no more goes on
(exit 0).

## Bad inputs

    {faults["command"]}

{cases} calls{_missing(inputs, CALLS)}. Each file of a call in turn is missing, a folder, a link to itself,
empty, not UTF-8, random bytes or a cut gzip file, or has a NUL; and each verb gets wrong flags. Expected: exit code 1
(2 for flags), one line of error on stderr, no traceback, no file left.

{_inputs(inputs)}

{refused} of {cases} were refused. {_others(inputs)}

## Fuzzing

    {fuzzed["command"]}

A good file is damaged at random again and again. Each file must give a result or an error of one line. For the report,
names and texts with mark-up must add no element to the page.

{_fuzz(parsers)}

The seed makes the files again. CPU seconds are those that the parser and the script had; the machine had other work.
Hypothesis tests the same for every reader at each run of the tests (`tests/laws/test_property_readers.py`), and that
order, batches, duplicates and concatenation change no score (`tests/laws/test_property_scores.py`).

## Hostile files

| tried | what happens | test |
|---|---|---|
{_hostile()}

Not bounded: values of a Parquet file that its dictionary repeats are unpacked for 1,024 rows at a time; give files of
strangers to a process with a memory limit.

## Supply chain

- `make LOCKED=1 test` installs the packages of `requirements.lock` first and refuses files with other hashes; `.ci/run`
  does so too. torch is not in it, since its file depends on the index (CPU or CUDA). `make lock` writes it anew from
  `constraints.txt`.
- `make audit` looks up known vulnerabilities of the pinned packages with pip-audit. It asks PyPI for each, so it
  needs the network and PyPI's JSON service; without them it fails, since nothing was looked up. No result is kept here.
- `make sbom` writes `dist/pronmetric.cdx.json`, the bill of materials of the wheel with the extra `train` (CycloneDX).
- `.ci/run` runs the tests with Python 3.12 and 3.13 too, where these are installed.
"""


def _points(points: Rows) -> str:
    head = "| verb | fault | moment | exit | last line | half-written | again | same bytes | left |\n"
    rule = "|---|---|---:|---|---|---:|---:|---|---|\n"
    rows = "\n".join(
        f"| {row['verb']} | {row['fault']} | {_moment(row)} | {EXITS.get(row['exit'], row['exit'])} | "
        f"{_line(row)} | {len(row['half'])} | {row['again']} | {'yes' if row['same'] else 'no'} | "
        f"{', '.join(f'`{name}`' for name in row['left']) or '&ndash;'} |"
        for row in points
    )
    return head + rule + rows + "\n"


def _moment(row: Mapping[str, Any]) -> str:
    return "start" if row["moment"] is None else f"{row['moment']} of {row['moments']}"


def _line(row: Mapping[str, Any]) -> str:
    line = row["line"].removeprefix("pronmetric: ")
    if row["exit"] == -signal.SIGKILL:
        return "&ndash;"
    shown = line if len(line) <= 110 else f"{line[:109]}…"
    return f"`{shown}`" if shown else "&ndash;"


def _summary(points: Rows) -> str:
    half, same = sum(bool(row["half"]) for row in points), sum(row["same"] for row in points)
    traced = sum(row["traceback"] is not None for row in points)
    return (
        f"{same} of {len(points)} runs gave the same bytes after the restart; {half} left a half-written file;"
        f" {traced} ended with a traceback."
    )


def _missing(rows: Rows, verbs: Collection[str]) -> str:
    """The verbs without figures."""
    names = [verb for verb in verbs if verb not in {row["verb"] for row in rows}]
    return f" (not measured yet: {', '.join(names)})" if names else " of all verbs"


def _inputs(inputs: Rows) -> str:
    head = "| verb | calls | exit 1 | exit 2 | other |\n|---|---:|---:|---:|---:|\n"
    return head + "\n".join(
        f"| {row['verb']} | {row['cases']} | {row['exit 1']} | {row['exit 2']} | {len(row['other'])} |"
        for row in inputs
    )


def _others(inputs: Rows) -> str:
    others = [row for verb in inputs for row in verb["other"]]
    if not others:
        return "Each ended as expected."
    listed = "\n".join(
        f"- `{row['verb']} {row['line']}`, {row['name'] or 'flags'} {row['kind']}: exit {row['exit']}" for row in others
    )
    return f"These ended otherwise:\n\n{listed}"


def _fuzz(parsers: Rows) -> str:
    head = "| parser | seed | minutes | CPU seconds | files | results | errors | faults |\n"
    return f"{head}|---|{'---:|' * 7}\n" + "\n".join(
        f"| {row['parser']} | {row['seed']} | {row['minutes']:g} | {row['cpu']:g} | {row['files']:,} | "
        f"{row.get('results', 0):,} | {row.get('errors', 0):,} | {len(row['faults'])} |"
        for row in parsers
    )


def _hostile() -> str:
    return "\n".join(f"| {tried} | {happens} | `{test}` |" for tried, happens, test in HOSTILE)
