"""`pronmetric serve`: a local page that shows the pronouns of translations, and its JSON interface."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import replace

from pronmetric.checkpoint import config as checkpoint_config
from pronmetric.checkpoint.locate import CONFIG
from pronmetric.cli import flags
from pronmetric.cli.flags import ListenFlags, ModelFlags, OutputFlags
from pronmetric.cli.parser import Command, Flags, flag, number, part, switch
from pronmetric.cli.run import ScoringRun, locate_model
from pronmetric.text.context import GIVEN

RATE = 20.0
"""Requests a second of one address: more than a page makes as a person types; more: one client fills the queue."""
_ORIGIN = re.compile(r"https?://[A-Za-z0-9.\-\[\]:]+")
DESCRIPTION = """Show the pronouns of translations in a web page, and answer JSON requests. The model stays loaded.

The page takes a source, the sentences before, and one or two translations, pasted or as files: each pronoun is coloured
by its probability, with the forms that are more probable, the words it attends to, what the source says, and which
translation is better. POST /score, /compare, /suggest and /attention answer records like those of `score --jsonl`, and
/docs describes them.

The server listens on this machine only, unless --host says otherwise. Nothing is loaded from elsewhere, and nothing of
a text is stored or sent on."""
EPILOG = """Sources affect the scores of requests that give them if the model has a reader of sources.
With a model of several languages the page has a choice, and a request may name one ("lang"); --lang is the one without
a choice. Each is loaded when it is first asked for.
Waiting requests are batched. A request has at most 256 records, 10,000 characters a record and 100,000 in all; larger
ones are refused.

examples:
  pronmetric serve
  pronmetric serve --port 8080 --model small
  curl -s http://127.0.0.1:8000/score -H 'Content-Type: application/json' \\
    -d '{"records": [{"id": 1, "context": ["Maria ran the library."], "text": "She locked its doors."}]}'"""


def _origin(text: str) -> str:
    """A scheme and host."""
    if not _ORIGIN.fullmatch(text):
        raise argparse.ArgumentTypeError(f"expected an origin such as https://example.org, got {text!r}")
    return text


class ServeFlags(Flags):
    """Where the server listens, what it allows, and its model."""

    listen: ListenFlags = part(ListenFlags)
    rate: float = flag(
        type=number(0),
        default=RATE,
        metavar="X",
        help="requests a second of each address, in bursts of five seconds' worth; 0: no limit (default: %(default)g)",
    )
    frame: str | None = flag(
        type=_origin,
        metavar="ORIGIN",
        help="a site that may show the page in a frame, such as https://huggingface.co (default: none)",
    )
    allow_host: Sequence[str] | None = flag(
        "--allow-host",
        nargs="+",
        metavar="NAME",
        help="further names by which the server is asked, such as that of a web server before it (default: this "
        "machine's own, --host and, if it listens everywhere, its addresses)",
    )
    source_lang: str | None = flags.source_lang_flag()
    quiet: bool = switch(help="no notes on stderr")
    model: ModelFlags = part(ModelFlags, flags.MODEL)
    out: OutputFlags = part(OutputFlags, only=())


def run(task: ServeFlags) -> None:
    """Serve until the process is stopped."""
    from pronmetric.serve import connections
    from pronmetric.serve.app import make_app  # its libraries are an extra
    from pronmetric.serve.requests import names_of_host
    from pronmetric.serve.service import Service

    with connections.listen(task.listen.host, task.listen.port) as opened:
        config = checkpoint_config.read(locate_model(task.model).folder / CONFIG)
        offered = checkpoint_config.languages_of(config)
        codes = [language.code for language in offered]
        is_open = task.model.lang is None and len(codes) > 1
        run = ScoringRun(replace(task.model, lang=codes[0]) if is_open else task.model, task.out)
        metric, context = run.metric, run.choose_context(None, GIVEN)
        run.note_unread_source(None)
        for language in offered if is_open else [metric.language]:
            run.genders(language)  # notes what is missing
        service = Service(metric, context=context, batch_size=task.model.batch_size)
        allows = names_of_host(task.listen.host, task.allow_host or ())
        app = make_app(service, rate=task.rate, frame=task.frame, allows=allows)
        if is_open:
            run.note(f"serves {', '.join(codes)}; without a choice texts are scored as {codes[0]}: --lang changes that")
        print(connections.address(opened), flush=True)
        run.note(f"listening on {connections.address(opened)} with {metric.name}; Ctrl-C stops the server")
        connections.server(app).run(sockets=[opened])


VERB = Command("serve", ServeFlags, run, DESCRIPTION, EPILOG, stray="the server takes its texts from requests")
