"""The write-ahead log: what was acknowledged is kept in files until every destination has it."""

from collector.journal.entries import ArrivalEntry, Owed, OwedArrival, OwedParcel, ParcelEntry, place_of
from collector.journal.errors import DamagedRecordError, JournalFullError, JournalWriteError
from collector.journal.journal import Journal
from collector.journal.recovered import Damage, Recovered, Unconfigured
from collector.journal.settings import JournalSettings
from collector.journal.stats import JournalStats, OwedTo

__all__ = [
    "ArrivalEntry",
    "Damage",
    "DamagedRecordError",
    "Journal",
    "JournalFullError",
    "JournalSettings",
    "JournalStats",
    "JournalWriteError",
    "Owed",
    "OwedArrival",
    "OwedParcel",
    "OwedTo",
    "ParcelEntry",
    "Recovered",
    "Unconfigured",
    "place_of",
]
