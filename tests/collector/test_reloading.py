"""A configuration that is read again while the sidecar is starting."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest

from collector.components import load_config
from collector.config import Config
from collector.journal import Journal, Recovered
from collector.service import Service
from tests.e2e.sidecar import free_port


def configured(folder: Path, *protocols: str) -> Config:
    listen = ", ".join(f'{one}: {{endpoint: "127.0.0.1:{free_port()}"}}' for one in protocols)
    text = f"""
receivers: {{otlp: {{protocols: {{{listen}}}}}}}
exporters: {{otlp/backend: {{endpoint: "127.0.0.1:{free_port()}", tls: {{insecure: true}}}}}}
extensions: {{journal: {{directory: {folder / "journal"}}}, control: {{socket: {folder / "control"}}}}}
service:
  extensions: [journal, control]
  telemetry: {{metrics: {{level: none}}}}
  pipelines: {{traces: {{receivers: [otlp], exporters: [otlp/backend]}}}}
"""
    return load_config([f"yaml:{text}"], [])


async def test_what_is_asked_for_while_the_journal_is_being_read_is_done_when_all_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, is_read, read = threading.Event(), threading.Event(), Journal.open

    def read_slowly(journal: Journal) -> Recovered:
        begun.set()
        is_read.wait()
        return read(journal)

    monkeypatch.setattr(Journal, "open", read_slowly)
    after = configured(tmp_path, "http", "grpc")
    service = Service(configured(tmp_path, "http"), lambda: after)
    starting = asyncio.create_task(service.start())
    await asyncio.to_thread(begun.wait)
    reloading = asyncio.create_task(service._reloading.reload())
    # Long enough for it to be done, if nothing kept it from it.
    await asyncio.wait({reloading}, timeout=0.3)
    is_read.set()
    try:
        await starting
        done = await reloading
        assert not done.errors
        assert "receivers::otlp::grpc is new" in done.changed
    finally:
        await service.stop()
