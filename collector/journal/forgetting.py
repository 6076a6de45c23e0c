"""Gives up what is owed to one destination, for good. Only while no sidecar uses the journal."""

from __future__ import annotations

from pathlib import Path

from collector.journal.bits import indexes_of
from collector.journal.claims import Claims
from collector.journal.directory import Directory, unusable
from collector.journal.entries import place_of
from collector.journal.opening import delete_free_segments, open_directory
from collector.journal.progress import Progress
from collector.journal.stats import OwedTo
from collector.journal.storage import segment_bytes_for
from collector.start_error import StartError


def forget(path: Path, destination: str) -> OwedTo | None:
    """Let a destination be owed nothing any more; what it was owed, or None if it was nothing.

    Raises:
        StartError: the directory can't be used, or another process is using it.
    """
    if not path.is_dir():
        raise StartError(f"{path}: there is no such directory; name a journal's (extensions::journal::directory)")
    directory = Directory(path)
    opened = open_directory(directory, segment_bytes_for(0), durable=True)
    try:
        owed = opened.claims.owed().get(destination)
        if owed is not None:
            news = _given_up(opened.claims, destination)
            try:
                opened.storage.progress.rewrite(news, *opened.claims.numbers())
            except OSError:
                # The disk is full, which is what this may be done for.
                delete_free_segments(directory, opened.storage, opened.claims)
                opened.storage.progress.rewrite(news, *opened.claims.numbers())
            delete_free_segments(directory, opened.storage, opened.claims)
        return owed
    except OSError as error:
        raise StartError(f"{path}: {unusable(error)}") from error
    finally:
        opened.storage.close()
        opened.taking.close()
        directory.give_free()


def _given_up(claims: Claims, destination: str) -> Progress:
    news = Progress()
    for number, parcel in list(claims.parcels.items()):
        if destination in parcel.destinations:
            news.add_done(destination, number)
            claims.done(destination, number)
    for number, arrival in list(claims.arrivals.items()):
        if destination in arrival.destinations:
            # Item by item: that it had all of it would say to the others that it went as it came.
            bits = arrival.remaining[arrival.destinations.index(destination)]
            places = [place_of(number, index) for index in indexes_of(bits)]
            news.add_settled((destination,), places)
            claims.settle((destination,), places)
    return news
