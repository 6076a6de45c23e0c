"""What of a run may be kept from a judge: a setting, and whether this installation can keep to it."""

from __future__ import annotations

from enum import StrEnum
from importlib.util import find_spec


class Redaction(StrEnum):
    """What is replaced."""

    NONE = "none"
    SECRETS = "secrets"
    """Credentials of known formats, and what fields named password, token, secret and the like hold."""
    PERSONAL = "personal"
    """These, and personal data: e-mail and postal addresses, telephone, card, account and identity numbers."""


def can_find_personal_data() -> bool:
    """Whether the packages are installed that `Redaction.PERSONAL` needs."""
    return all(find_spec(package) is not None for package in ("phonenumbers", "stdnum"))
