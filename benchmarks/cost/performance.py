"""Speed, memory, start-up and report time, with metrics of other sizes side by side in one run.

    python -m benchmarks.cost.performance [--page]

Each metric runs in a process of its own with one thread: it scores lines of a WMT22 system (without the WMT folder: of
the bundled sample) from texts in memory to scores. Times are CPU seconds, the best of the runs; memory is the greatest
resident set of the process. Large metrics score fewer lines, spread over the same ones, and their rate of pieces
is applied to all. The part `sizes` times the command `score` on 1,000 lines, for each checkpoint, precision and number
of threads. `--page` writes docs/performance.md, its plot and the JSON; with `--parts` the figures of other parts stay,
each with its own date, weights and load. On a machine that does nothing else: `--parts sizes --page`.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")

from benchmarks import corpora, pages

START_UP, REPORTS, METRICS, SIZES = PARTS = ("start_up", "reports", "metrics", "sizes")
LINES = 1000  # of the part `sizes`
ENGLISH = ("base", "small")  # the shipped checkpoints that score English


class Contender(NamedTuple):
    """A metric: its name, its kind, the precision, and how many lines it scores, as a share of all."""

    name: str
    kind: str
    precision: str
    share: float = 1.0


CONTENDERS = (
    Contender("pronmetric", "ours", "32"),
    Contender("pronmetric", "ours", "bf16"),
    Contender("the paper's metric, ELMo 5.5B", "elmo", "32", 0.08),
    Contender("COMET, XLM-R large", "comet", "32", 0.04),
    Contender("COMET, XLM-R large", "comet", "bf16", 0.04),
)


def speed(contender: Contender, outputs: corpora.Outputs, *, model: str | None, runs: int) -> dict[str, Any]:
    """The figures of one metric, in this process."""
    import torch

    from benchmarks.cost.scoring_speed import encoder_flops

    torch.set_num_threads(1)
    torch.manual_seed(0)
    records = outputs.records(next(iter(outputs.systems)))
    own = records[:: round(1 / contender.share)]
    scorer = _comet(contender, outputs) if contender.kind == "comet" else _metric(contender, model)
    scorer.score(own[:: max(1, len(own) // 4)])  # warm
    seconds, prepared = [], []
    for _ in range(runs):
        scorer.forward_seconds = 0.0
        start = time.process_time()
        scorer.score(own)
        seconds.append(time.process_time() - start)
        prepared.append(seconds[-1] - scorer.forward_seconds)
    every, some = scorer.rows(records), scorer.rows(own)
    pieces = sum(len(row.ids) for row in every)
    rate = sum(len(row.ids) for row in some) / min(seconds)
    return {
        **contender._asdict(),
        "parameters": scorer.parameters,
        "lines": len(own),
        "cpu_seconds": min(seconds),
        "pieces_a_line": pieces / len(records),
        "pieces_per_cpu_second": rate,
        "lines_per_cpu_second": rate * len(records) / pieces,
        "preparing_seconds_a_line": min(prepared) / len(own) if contender.kind == "ours" else None,
        "flops_a_line": None if contender.kind == "elmo" else encoder_flops(scorer.config, every) / len(records),
        "memory_bytes": peak_memory(),
    }


class _Metric:
    """A `PronounMetric` that counts the time of its model."""

    def __init__(self, metric: Any) -> None:
        self.metric, self.config = metric, metric.config["encoder"]
        self.forward_seconds = 0.0
        compute_all = metric.inference.replicas.map

        def timed(batches: Sequence[Any], compute: Callable[..., Any]) -> Iterator[Any]:
            start = time.process_time()
            for out in compute_all(batches, compute):
                self.forward_seconds += time.process_time() - start
                yield out
                start = time.process_time()

        metric.inference.replicas.map = timed

    @property
    def parameters(self) -> int:
        """Their number in the architecture; those that are packed for scoring are no longer in the model."""
        import torch

        from pronmetric.checkpoint import files

        with torch.device("meta"):
            return sum(p.numel() for p in files.build(self.metric.config).parameters())

    def score(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Score them, from texts to scores."""
        self.metric.predict(records)

    def rows(self, records: Sequence[Mapping[str, Any]]) -> list[Any]:
        """The distinct (context, text) with a pronoun, as the encoder reads them."""
        from pronmetric.data.collate import Example

        distinct = dict.fromkeys((" ".join(r["context"]), str(r["text"])) for r in records)
        found = [Example(c, t, [(p.start, p.end) for p in self.metric.language.find(t)]) for c, t in distinct]
        return self.metric.inference.collator.encode([example for example in found if example.spans])


class _Comet:
    """A COMET that scores records with their reference as source as well."""

    forward_seconds = 0.0

    def __init__(self, comet: Any, config: Mapping[str, Any], references: Mapping[str, str]) -> None:
        self.comet, self.config, self.references = comet, config, references
        self.parameters = sum(p.numel() for p in comet.parameters())

    def _triples(self, records: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, str]]:
        found = [(str(r["text"]), self.references[str(r["text"])]) for r in records]
        return [(reference, text, reference) for text, reference in found]

    def score(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Score them, from texts to scores."""
        self.comet.score(self._triples(records))

    def rows(self, records: Sequence[Mapping[str, Any]]) -> list[Any]:
        """Three for each record."""
        return self.comet.encode(self._triples(records))


def _metric(contender: Contender, model: str | None) -> _Metric:
    from benchmarks.cost.peer_models import elmo_metric
    from pronmetric.metric import PronounMetric

    if contender.kind == "elmo":
        return _Metric(elmo_metric())
    return _Metric(PronounMetric.from_pretrained(model, precision=contender.precision, gpus=0))


def _comet(contender: Contender, outputs: corpora.Outputs) -> _Comet:
    from benchmarks.cost.peer_models import XLM_R_LARGE, CometSized
    from pronmetric.checkpoint import files, locate
    from pronmetric.scoring.replicas import PRECISIONS

    comet = CometSized(files.load(locate.locate("small").folder, trainable=False).collator).eval()
    comet.encoder.to(PRECISIONS[contender.precision])
    (lines,) = list(outputs.systems.values())[:1]
    return _Comet(comet, XLM_R_LARGE, dict(zip(lines, outputs.reference, strict=True)))


def peak_memory() -> int | None:
    """The greatest resident set of this process in bytes; None where the system does not say."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return 1024 * int(line.split()[1])
    return None


def environment(threads: int) -> dict[str, str]:
    """The variables of a process with so many threads."""
    return {**os.environ, "OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}


def timed(command: Sequence[str], folder: Path, *, threads: int = 1) -> dict[str, float]:
    """Seconds and CPU seconds of a verb in a process of its own."""
    argv = [sys.executable, "-m", "pronmetric", *command]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    path = os.pathsep.join(filter(None, [str(pages.ROOT), os.environ.get("PYTHONPATH")]))
    variables = {**environment(threads), "PYTHONPATH": path}
    subprocess.run(argv, cwd=folder, env=variables, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return {"seconds": seconds, "cpu_seconds": cpu}


def best(command: Sequence[str], folder: Path, *, runs: int, threads: int = 1) -> dict[str, float]:
    """The least of several runs, of each figure."""
    found = [timed(command, folder, threads=threads) for _ in range(runs)]
    return {key: min(run[key] for run in found) for key in found[0]}


def start_up(outputs: corpora.Outputs, folder: Path, *, model: Sequence[str], runs: int) -> dict[str, Any]:
    """The help, and the score of one line."""
    (one,) = corpora.take(outputs, list(outputs.systems)[:1], 1).write(folder)
    timed(["--help"], folder)  # the files are in the system's cache
    score = ["score", "-t", one, "-r", "ref.txt", "--gpus", "0", "--quiet", *model]
    return {"help": best(["--help"], folder, runs=5 * runs), "first_score": best(score, folder, runs=2 * runs)}


def reports(outputs: corpora.Outputs, folder: Path, *, model: Sequence[str], runs: int) -> dict[str, Any]:
    """`compare` of two systems, and `report` of its result."""
    paths = corpora.take(outputs, list(outputs.systems)[:2]).write(folder)
    shared = ["--gpus", "0", "--quiet", *model]
    compare = ["compare", "-t", *paths, "-r", "ref.txt", "--docids", "docids.txt", "--only_system", *shared]
    return {
        "compare": best([*compare, "--to_json", "real.json"], folder, runs=runs),
        "report": best(["report", "real.json", "-o", "real.html", *shared], folder, runs=runs),
        "segments": len(outputs.reference),
    }


def sizes(outputs: corpora.Outputs, folder: Path, *, models: Sequence[str], runs: int) -> dict[str, Any]:
    """`score` of `LINES` lines with their reference, from files to files, for each checkpoint."""
    from pronmetric.checkpoint import locate

    part = corpora.take(outputs, list(outputs.systems)[:1], LINES)
    (path,) = part.write(folder)
    rows = []
    for model in models:
        place = locate.locate(model)
        own = {"name": place.name, "weights": pages.weights_hash(place.folder)}
        command = ["score", "-t", path, "-r", "ref.txt", "--docids", "docids.txt", "--gpus", "0", "--quiet"]
        command += ["--model", str(place.folder.resolve())]
        timed(command, folder)  # the files are in the system's cache
        for precision, threads in product(("32", "bf16"), (1, 2)):
            found = best([*command, "--precision", precision], folder, runs=runs, threads=threads)
            rows.append({**own, "precision": precision, "threads": threads, **found})
    return {SIZES: {"lines": len(part.reference), "rows": rows}}


def shipped() -> list[str]:
    """The shipped checkpoints for English, largest first; one that this installation lacks is left out."""
    from pronmetric.checkpoint import locate
    from pronmetric.errors import PronmetricError

    found = []
    for name in ENGLISH:
        with contextlib.suppress(PronmetricError):
            found.append(locate.locate(name).name)
    return found


def metrics() -> list[dict[str, Any]]:
    """The figures of each metric, measured in a process of its own."""
    rows = []
    for number in range(len(CONTENDERS)):
        argv = [sys.executable, "-m", "benchmarks.cost.performance", *sys.argv[1:], "--only", str(number)]
        done = subprocess.run(argv, cwd=pages.ROOT, env=environment(1), stdout=subprocess.PIPE, check=True)
        rows.append(json.loads(done.stdout))
        print(f"{rows[-1]['name']}, {rows[-1]['precision']}: {rows[-1]['cpu_seconds']:.1f} CPU s", file=sys.stderr)
    return rows


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """The figures of the parts that the flags name."""
    from pronmetric.checkpoint import locate

    outputs = corpora.read(options)
    part = corpora.take(outputs, None, options.lines)
    model = [] if options.model is None else ["--model", options.model]
    load, found = os.getloadavg()[0], {}
    with tempfile.TemporaryDirectory() as name:
        for made, kind in ((start_up, START_UP), (reports, REPORTS)):
            folder = Path(name) / kind
            folder.mkdir()
            found |= made(part, folder, model=model, runs=options.runs) if kind in options.parts else {}
        if SIZES in options.parts:
            folder = Path(name) / SIZES
            folder.mkdir()
            found |= sizes(outputs, folder, models=options.models or shipped(), runs=options.runs)
    if METRICS in options.parts:
        found |= {"speed": metrics()}
    place = locate.locate(options.model)
    origin = {
        **pages.origin("cost.performance"),
        "model": place.name,
        "weights": pages.weights_hash(place.folder),
        "outputs": outputs.name,
        "lines": len(part.reference),
        "machine": f"{processor()}, {os.cpu_count()} CPUs",
        "load_average": [load, os.getloadavg()[0]],
    }
    return {"benchmark": "performance", "origins": dict.fromkeys(options.parts, origin), **found}


def processor() -> str:
    """The name of the processor."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def main() -> None:
    """Measure; print the tables, or write the page."""
    from benchmarks.cost import performance_page

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    corpora.add_flags(parser)
    parser.add_argument("--lines", type=int, default=600, metavar="N", help="the first N (default: %(default)s)")
    parser.add_argument(
        "--models",
        nargs="+",
        metavar="MODEL",
        help="checkpoints of the part sizes, names or folders (default: base and small, where they are installed)",
    )
    parser.add_argument("--runs", type=int, default=2, metavar="N", help="the best of N (default: %(default)s)")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="default: all")
    parser.add_argument(
        "--page",
        action="store_true",
        help="write docs/performance.md, its plot and the JSON; keep other parts' figures",
    )
    parser.add_argument("--only", type=int, help=argparse.SUPPRESS)  # the number of one metric, in a process of its own
    options = parser.parse_args()
    if options.only is not None:
        outputs = corpora.take(corpora.read(options), None, options.lines)
        found = speed(CONTENDERS[options.only], outputs, model=options.model, runs=options.runs)
        print(json.dumps(found))
        return
    before = json.loads(performance_page.JSON.read_text(encoding="utf-8")) if performance_page.JSON.exists() else {}
    content = performance_page.merge(before if options.page else {}, pages.plain(measure(options)))
    print(performance_page.tables(content))
    if options.out is not None:
        options.out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    if options.page:
        performance_page.JSON.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        performance_page.write()


if __name__ == "__main__":
    pages.run(main)
