"""Check digits of the numbers that identify people and their money.

Each function takes a text of the right shape, with or without its usual separators, and says whether its checksum
holds (and, for cards and IBANs, whether issuer and length exist).  Sources are named at each function.
"""

from __future__ import annotations

import re

_SEPARATORS = re.compile(r"[\s.-]")


def luhn(digits: str) -> bool:
    """ISO/IEC 7812-1, annex B."""
    total = 0
    for place, char in enumerate(reversed(digits)):
        value = int(char)
        if place % 2:
            value = value * 2 - 9 if value > 4 else value * 2
        total += value
    return total % 10 == 0


# (lowest prefix, highest prefix, lengths): the ranges in use by issuers of payment cards.
_ISSUERS: tuple[tuple[str, str, frozenset[int]], ...] = (
    ("4", "4", frozenset({16})),
    ("51", "55", frozenset({16})),
    ("2221", "2720", frozenset({16})),
    ("34", "34", frozenset({15})),
    ("37", "37", frozenset({15})),
    ("6011", "6011", frozenset({16})),
    ("644", "659", frozenset({16})),
    ("3528", "3589", frozenset({16})),
    ("300", "305", frozenset({14})),
    ("36", "36", frozenset({14})),
    ("38", "39", frozenset({14})),
    ("62", "62", frozenset({16, 17, 18, 19})),
)


def card_number(text: str) -> bool:
    """A payment card: Luhn, a known issuer, and that issuer's length."""
    digits = _SEPARATORS.sub("", text)
    issued = any(len(digits) in lengths and low <= digits[: len(low)] <= high for low, high, lengths in _ISSUERS)
    return issued and luhn(digits)


# Lengths by country, from the IBAN registry (ISO 13616).
_IBAN_LENGTHS = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BR": 29, "BY": 28,
    "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18,
    "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22,
    "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20,
    "LU": 20, "LV": 21, "LY": 25, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MR": 27, "MT": 31, "MU": 30, "NL": 18,
    "NO": 15, "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "SA": 24, "SC": 31, "SE": 24,
    "SI": 19, "SK": 24, "SM": 27, "ST": 25, "SV": 28, "TL": 23, "TN": 24, "TR": 26, "UA": 29, "VA": 22, "VG": 24,
    "XK": 20,
}  # fmt: skip


def iban(text: str) -> bool:
    """An international bank account number: ISO 13616 length and ISO 7064 MOD 97-10."""
    compact = text.replace(" ", "")
    if _IBAN_LENGTHS.get(compact[:2]) != len(compact):
        return False
    turned = compact[4:] + compact[:4]
    return int("".join(str(int(char, 36)) for char in turned)) % 97 == 1


def chinese_resident_id(text: str) -> bool:
    """A resident identity number of China: GB 11643-1999, ISO 7064 MOD 11-2."""
    weights = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)
    total = sum(weight * int(char) for weight, char in zip(weights, text[:17], strict=True))
    return "10X98765432"[total % 11] == text[17].upper()


def brazilian_cpf(text: str) -> bool:
    """A taxpayer number of Brazil (CPF): two weighted modulo 11 digits."""
    digits = [int(char) for char in text if char.isdigit()]
    if len(set(digits)) == 1:
        return False
    for length in (9, 10):
        total = sum(digit * (length + 1 - place) for place, digit in enumerate(digits[:length]))
        if (total * 10 % 11) % 10 != digits[length]:
            return False
    return True


def spanish_dni(text: str) -> bool:
    """A DNI or NIE of Spain: modulo 23 letter."""
    compact = _SEPARATORS.sub("", text)
    number = compact[:-1].translate(str.maketrans("XYZ", "012"))
    return "TRWAGMYFPDXBNJZSQVHLCKE"[int(number) % 23] == compact[-1]


def french_nir(text: str) -> bool:
    """A social security number of France (NIR): 97 minus the number modulo 97; Corsica counts as 19 and 18."""
    compact = text.replace(" ", "")
    number = compact[:-2].replace("2A", "19").replace("2B", "18")
    return 97 - int(number) % 97 == int(compact[-2:])


_ITALIAN_ODD = (1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23)


def italian_tax_code(text: str) -> bool:
    """A tax code of Italy (codice fiscale): modulo 26 letter, decree of 23 December 1976."""

    def rank(char: str) -> int:
        return int(char) if char.isdigit() else ord(char) - ord("A")

    total = sum(rank(char) if place % 2 else _ITALIAN_ODD[rank(char)] for place, char in enumerate(text[:15]))
    return chr(ord("A") + total % 26) == text[15]
