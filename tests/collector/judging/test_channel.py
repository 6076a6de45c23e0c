"""Messages between two processes: they arrive whole and in order, however they are cut on the way."""

import asyncio

from collector.judging.channel import Channel, channel_sockets
from collector.judging.jobs import Job

SPANS = [bytes([number]) * size for number, size in enumerate((0, 1, 3_000, 2_000_000, 50))]


async def exchange(*messages: object) -> list[object]:
    here, there = channel_sockets()
    received: list[object] = []
    closed = asyncio.Event()
    sending = await Channel.open(here, lambda _: None, lambda: None)
    await Channel.open(there, received.append, closed.set)
    for message in messages:
        sending.send(message)
    async with asyncio.timeout(10):
        while len(received) < len(messages):
            await asyncio.sleep(0.001)
    sending.close()
    await closed.wait()
    return received


async def test_messages_arrive_as_they_were_in_order() -> None:
    messages = [["small"], {"big": b"x" * 3_000_000}, [], ["last"]]
    assert await exchange(*messages) == messages


async def test_jobs_arrive_with_every_span_as_bytes() -> None:
    job = Job(
        trace_id=bytes(16),
        batches=[(b"resource", b"scope", SPANS), (b"", b"", [b"alone"]), (b"resource", b"none", [])],
        logs=[(b"r", b"s", b"record")],
        complete=True,
        partial=False,
        stubs=[b"stub"],
        memory=b"memory",
    )
    [received] = await exchange([job, job])
    assert received == [job, job]
    assert isinstance(received, list)
    assert {type(span) for one in received for _, _, span in one.spans} == {bytes}


def test_the_spans_of_a_job_are_its_batches_and_stubs_one_by_one() -> None:
    job = Job(bytes(16), [(b"r", b"s", [b"1", b"2"]), (b"q", b"s", [b"3"])], [], True, False, [b"4"])
    assert job.spans == [(b"r", b"s", b"1"), (b"r", b"s", b"2"), (b"q", b"s", b"3"), (b"", b"", b"4")]
