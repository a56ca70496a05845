"""Memory of `suite score --seq2seq` over many lines, and that a killed run goes on where it was.

    nice -n 15 python -m benchmarks.cost.seq2seq_memory --folder WORK [--lines 10000]

A Marian model of 60 million random weights scores lines of 4 to 12 random words as a ContraPro set. One run is killed
(SIGKILL) after about 40 % of the lines and started again; another one runs to its end. Written: the resident memory of
the process whenever a window of lines is done, time, and whether both files of scores are equal, as JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import pages

JSON = pages.PUBLISHED / "seq2seq-memory.json"
WORDS = [f"w{number}" for number in range(30_000)]
SPECIAL = ["<pad>", "<unk>", "</s>", "<s>"]
CANDIDATES = 5  # of an item
KILLED = 0.4  # share of the lines after which a run is killed
POLL = 0.5  # seconds


def make_model(folder: Path) -> int:
    """Save a Marian of six layers, 512 wide, with a tokenizer of words; its number of weights."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import MarianConfig, MarianMTModel, PreTrainedTokenizerFast

    torch.manual_seed(0)
    sides = {f"{side}_{name}": n for side in ("encoder", "decoder") for name, n in (("layers", 6), ("ffn_dim", 2048))}
    heads = {"encoder_attention_heads": 8, "decoder_attention_heads": 8}
    tokens = {"pad_token_id": 0, "eos_token_id": 2, "bos_token_id": 3, "decoder_start_token_id": 0}
    size = len(SPECIAL) + len(WORDS)
    model = MarianMTModel(
        MarianConfig(vocab_size=size, d_model=512, forced_eos_token_id=None, **sides, **heads, **tokens)
    )
    model.save_pretrained(folder)
    words = Tokenizer(models.WordLevel({w: k for k, w in enumerate([*SPECIAL, *WORDS])}, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 2)])
    names = dict(zip(("pad_token", "unk_token", "eos_token", "bos_token"), SPECIAL, strict=True))
    PreTrainedTokenizerFast(tokenizer_object=words, **names).save_pretrained(folder)
    return sum(weights.numel() for weights in model.parameters())


def make_set(path: Path, lines: int) -> None:
    """Write a set of `lines` candidates in ContraPro's format."""
    drawn = random.Random(1)

    def text() -> str:
        return " ".join(drawn.choices(WORDS, k=drawn.randint(4, 12)))

    items = [
        {
            "src segment": text(),
            "ref segment": text(),
            "src pronoun": "it",
            "ref pronoun": "es",
            "document id": f"{number}.de",
            "segment id": 1,
            "ante distance": 1,
            "intrasegmental": False,
            "errors": [{"contrastive": text(), "replacement": "er"} for _ in range(CANDIDATES - 1)],
        }
        for number in range(lines // CANDIDATES)
    ]
    path.write_text(json.dumps(items), encoding="utf-8")


def run(folder: Path, scores: Path, *, kill_at: int | None = None) -> dict[str, Any]:
    """One run of the command: its memory in MiB by lines done, seconds, CPU seconds."""
    command = [sys.executable, "-m", "pronmetric.cli.main", "suite", "score", "contrapro"]
    command += ["--set", str(folder / "set.json"), "--seq2seq", str(folder / "model"), "--gpus", "0"]
    command += ["--save_scores", str(scores), "--to_json", str(scores.with_suffix(".json")), "--quiet"]
    start = time.time()
    before = os.times()
    already = _done(Path(f"{scores}.partial")) or 0
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    memory: dict[int, int] = {}
    while process.poll() is None:
        time.sleep(POLL)
        done = _done(Path(f"{scores}.partial"))
        if done is not None and done not in memory:
            memory[done] = _resident(process.pid)
            print(f"{done} lines, {memory[done]} MiB, {time.time() - start:.0f} s", flush=True)
        if kill_at is not None and done is not None and done >= kill_at:
            process.send_signal(signal.SIGKILL)
            process.wait()
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    found = {"returned": process.returncode, "seconds": round(time.time() - start), "cpu_seconds": round(cpu)}
    return {**found, "memory_mib": {done: mib for done, mib in memory.items() if mib and done > already}}


def _done(partial: Path) -> int | None:
    """The number of scores in a partial file."""
    try:
        return partial.read_bytes().count(b"\n") - 1
    except FileNotFoundError:
        return None


def _resident(process: int) -> int:
    """Resident memory in MiB; 0 once the process is over."""
    return next((int(value) // 1024 for name, value in _status(process) if name == "VmRSS"), 0)


def _status(process: int) -> Iterator[tuple[str, str]]:
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return
    for line in lines:
        name, _, value = line.partition(":")
        yield name, value.split()[0] if value.split() else ""


def main() -> None:
    """Measure and write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, required=True, help="where model, set and scores are written")
    parser.add_argument("--lines", type=int, default=10_000)
    parser.add_argument("--json", type=Path, default=JSON)
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    weights = make_model(args.folder / "model")
    make_set(args.folder / "set.json", args.lines)
    stopped = run(args.folder, args.folder / "stopped.scores", kill_at=int(KILLED * args.lines))
    resumed = run(args.folder, args.folder / "stopped.scores")
    whole = run(args.folder, args.folder / "whole.scores")
    files = [(args.folder / name).read_bytes() for name in ("stopped.scores", "whole.scores")]
    found = {"parameters": weights, "lines": args.lines, "stopped": stopped, "resumed": resumed, "whole": whole}
    found |= {"scores": files[1].count(b"\n"), "equal": files[0] == files[1]}
    args.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
