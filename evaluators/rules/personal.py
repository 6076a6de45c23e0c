"""Recognises telephone and identity numbers of many countries in text.

In: any text.  Out: where it holds such a number.  Telephone numbers are checked with the numbering plans of
`phonenumbers`, identity numbers with the checksums of `python-stdnum`.  A row of digits alone proves nothing: without a
country code or a word that says what it is, nothing is claimed of it.  Names of people are not recognised.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import phonenumbers
from stdnum import luhn
from stdnum.au import tfn
from stdnum.be import nn
from stdnum.ca import sin
from stdnum.ch import ssn as ahv
from stdnum.de import idnr
from stdnum.dk import cpr
from stdnum.fi import hetu
from stdnum.gb import nhs
from stdnum.in_ import aadhaar, pan
from stdnum.jp import in_ as my_number
from stdnum.kr import rrn
from stdnum.mx import curp
from stdnum.my import nric
from stdnum.nl import bsn
from stdnum.no import fodselsnummer
from stdnum.pl import pesel
from stdnum.se import personnummer
from stdnum.th import pin
from stdnum.tr import tckimlik
from stdnum.us import itin
from stdnum.za import idnr as za_idnr

from evaluators.rules.secrets import CARD, NATIONAL_ID, PHONE, Found, Strength

PASSPORT = "passport"
_REACH = 32
_CARD_WORDS = r"card(?: number| no\.?)?|karte\w*|tarjeta|carte|银行卡(?:号)?|信用卡(?:号)?|卡号"
_PASSPORT_WORDS = r"passport(?: number| no\.?)?|护照(?:号码?)?|reisepass\w*|passeport|pasaporte"
_REGIONS = ("CN", "US", "GB", "DE", "FR", "IT", "ES", "IN", "BR", "JP", "KR", "AU", "NL", "PL", "HK", "TW", "SG")
_CALLED = re.compile(
    r"(?:phone|mobile|cell|tel\.?|telephone|call|whatsapp|fax|contact|handy|telefon\w*|mobil\w*|móvil|teléfono|celular"
    r"|téléphone|portable|telefono|cellulare|телефон|電話|电话|手机|手機|座机|联系方式|联系电话|携帯|전화|휴대폰)(?:号码?|號碼?|番号)?[\"'\s:：=(#.]*$",
    re.IGNORECASE,
)
_INTERNATIONAL = re.compile(r"(?<![\w+.])(?:\+|00)[1-9][\d ()./\-–]{5,22}\d(?!\w)", re.ASCII)
_NATIONAL = re.compile(r"(?<![\w+.-])\(?0?\d[\d ()./\-–]{5,18}\d(?!\w)", re.ASCII)


@dataclass(frozen=True, slots=True)
class _Number:
    """An identity number: its shape, its checksum, and the words one of which has to stand before it."""

    kind: str
    shape: re.Pattern[str]
    holds: Callable[[str], bool]
    words: re.Pattern[str]


def _number(shape: str, holds: Callable[[str], bool], words: str, kind: str = NATIONAL_ID) -> _Number:
    named = re.compile(rf"(?:{words})[^\d\n]{{0,12}}$", re.IGNORECASE)
    return _Number(kind, re.compile(rf"(?<![\w.-]){shape}(?![\w-])", re.ASCII), holds, named)


def _any(_: str) -> bool:
    return True


_NUMBERS = (
    _number(r"\d{4}[ -]?\d{4}[ -]?\d{4}", aadhaar.is_valid, r"aadhaar|uidai|आधार"),
    _number(r"[A-Z]{5}\d{4}[A-Z]", pan.is_valid, r"\bpan\b"),
    _number(r"\d{2} ?\d{3} ?\d{3} ?\d{3}", idnr.is_valid, r"steuer-?id\w*|identifikationsnummer|\bidnr\b|tax id"),
    _number(r"\d{6}-?\d{7}", rrn.is_valid, r"주민등록번호|\brrn\b|resident registration"),
    _number(r"\d{4}[ -]?\d{4}[ -]?\d{4}", my_number.is_valid, r"マイナンバー|個人番号|my number"),
    _number(r"\d{11}", pesel.is_valid, r"pesel"),
    _number(r"\d{9}", bsn.is_valid, r"\bbsn\b|burgerservicenummer|sofinummer"),
    _number(r"(?:\d{2})?\d{6}[-+]?\d{4}", personnummer.is_valid, r"personnummer"),
    _number(r"\d{6} ?\d{5}", fodselsnummer.is_valid, r"fødselsnummer|personnummer|fodselsnummer"),
    _number(r"\d{6}-?\d{4}", cpr.is_valid, r"\bcpr\b|personnummer"),
    _number(r"\d{6}[-+A]\d{3}[0-9A-Z]", hetu.is_valid, r"hetu|henkilötunnus"),
    _number(r"\d{3} ?\d{3} ?\d{4}", nhs.is_valid, r"\bnhs\b"),
    _number(r"\d{3}[ -]?\d{3}[ -]?\d{3}", sin.is_valid, r"\bsin\b|social insurance"),
    _number(r"\d{3} ?\d{3} ?\d{3}", tfn.is_valid, r"\btfn\b|tax file"),
    _number(r"9\d{2}-\d{2}-\d{4}", itin.is_valid, r"\bitin\b"),
    _number(r"[A-Z]{4}\d{6}[A-Z]{6}[0-9A-Z]\d", curp.is_valid, r"curp"),
    _number(r"\d{6}-?\d{2}-?\d{4}", nric.is_valid, r"nric|mykad|kad pengenalan"),
    _number(r"\d-?\d{4}-?\d{5}-?\d{2}-?\d", pin.is_valid, r"บัตรประชาชน|thai id|citizen id"),
    _number(r"\d{11}", tckimlik.is_valid, r"t\.?c\.? ?kimlik|kimlik no"),
    _number(r"\d{13}", za_idnr.is_valid, r"south african id|\bid number|identity number"),
    _number(
        r"\d{2}\.?\d{2}\.?\d{2}-?\d{3}\.?\d{2}", nn.is_valid, r"rijksregister\w*|registre national|national number"
    ),
    _number(r"756\.?\d{4}\.?\d{4}\.?\d{2}", ahv.is_valid, r"ahv|avs|sozialversicherung\w*"),
    _number(r"\d{14,19}", luhn.is_valid, _CARD_WORDS, CARD),
    _number(r"[A-Z]{1,2}\d{7,8}", _any, _PASSPORT_WORDS, PASSPORT),
)


def find_personal(text: str) -> list[Found]:
    """Every such number in a text, in order, without overlaps."""
    found = sorted((*_phones(text), *_identities(text)), key=lambda one: (one.start, one.start - one.end))
    apart: list[Found] = []
    for one in found:
        if not apart or one.start >= apart[-1].end:
            apart.append(one)
    return apart


def _phones(text: str) -> Iterator[Found]:
    for match in _INTERNATIONAL.finditer(text):
        number = match.group()
        if _is_phone("+" + number[2:] if number.startswith("00") else number, None):
            yield Found(PHONE, match.start(), match.end(), Strength.SUSPECTED)
    for match in _NATIONAL.finditer(text):
        if _CALLED.search(text, max(0, match.start() - _REACH), match.start()) is not None and any(
            _is_phone(match.group(), region) for region in _REGIONS
        ):
            yield Found(PHONE, match.start(), match.end(), Strength.SUSPECTED)


def _is_phone(number: str, region: str | None) -> bool:
    try:
        return phonenumbers.is_valid_number(phonenumbers.parse(number, region))
    except phonenumbers.NumberParseException:
        return False


def _identities(text: str) -> Iterator[Found]:
    for one in _NUMBERS:
        for match in one.shape.finditer(text):
            named = one.words.search(text, max(0, match.start() - _REACH), match.start())
            if named is not None and one.holds(match.group()):
                yield Found(one.kind, match.start(), match.end(), Strength.CERTAIN)
