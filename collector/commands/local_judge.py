"""`spanjudge local-judge`: serve a model file as a judge, on this machine, without key or network.

In: a GGUF file.  Out: an OpenAI-compatible endpoint on the loopback interface, until the command is stopped.  The
server is llama.cpp's own, run in this process by `xllamacpp`, which the extra `local` installs.  Nothing is downloaded.
"""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path
from typing import Annotated

import typer

from collector.commands.reporting import report

DEFAULT_PORT = 8791
_MAGIC = b"GGUF"
# Beginnings of prompts are kept in memory; by default the server would take 8 GiB for them.
_CACHE_MIB = 256
_ERRORS_ONLY = 1


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("local-judge")(local_judge)


def local_judge(
    model: Annotated[Path, typer.Argument(help="Model in GGUF format.", metavar="MODEL", show_default=False)],
    port: Annotated[
        int, typer.Option(help="Port on the loopback interface; 0 for any that is free.", min=0, max=65535)
    ] = DEFAULT_PORT,
    threads: Annotated[
        int | None, typer.Option(help="Processor cores to use. Default: all but one.", min=1, show_default=False)
    ] = None,
    context: Annotated[
        int | None,
        typer.Option(
            help="Tokens of prompt and answer. Default: what the model was made for.", min=512, show_default=False
        ),
    ] = None,
) -> None:
    """Serve a model file as a judge, without key or network.

    Name the address that it prints as base_url of a judge; docs/local-judge.md says with which settings.
    """
    fault = _fault(model)
    if fault is not None:
        report((), [fault])
        raise typer.Exit(2)
    # Waiting threads would otherwise spin; read when the runtime is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        import xllamacpp
    except ModuleNotFoundError as error:
        report((), ["local-judge: its runtime isn't installed; pip install 'spanjudge[local]'"])
        raise typer.Exit(1) from error
    except ImportError as error:
        report((), ["local-judge: its runtime can't be loaded; install the system's libgomp1"])
        raise typer.Exit(1) from error
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model)
    parameters.n_ctx = context or 0
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = threads or max((os.cpu_count() or 2) - 1, 1)
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = port
    parameters.use_jinja = parameters.offline = True
    parameters.ui = False
    parameters.cache_ram_mib = _CACHE_MIB
    parameters.verbosity = _ERRORS_ONLY
    # No page in a browser may use it.
    parameters.cors_origins, parameters.cors_origins_explicit = "http://127.0.0.1", True
    try:
        server = xllamacpp.Server(parameters)
    except (RuntimeError, ValueError) as error:
        report((), [f"{model}: can't be served on port {port}; is it a chat model in GGUF format, and the port free?"])
        raise typer.Exit(1) from error
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    typer.echo(f"ready: base_url {server.listening_address}/v1 (Ctrl-C to stop)")
    stopped.wait()


def _fault(model: Path) -> str | None:
    """What is wrong with the file, as far as its first bytes say it."""
    try:
        with model.open("rb") as file:
            begins = file.read(len(_MAGIC))
    except OSError as error:
        return f"{model}: can't be read: {error.strerror}"
    return None if begins == _MAGIC else f"{model}: is no model in GGUF format"
