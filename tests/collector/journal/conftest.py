"""What tests of the journal share."""

from __future__ import annotations

from collections.abc import Iterator
from unittest import mock

import pytest

SEGMENT_BYTES = 2000


@pytest.fixture
def small_segments() -> Iterator[None]:
    """Segments of which a few requests fill one."""
    with mock.patch("collector.journal.journal.segment_bytes_for", lambda limit_bytes: SEGMENT_BYTES):
        yield
