"""Telephone and identity numbers are recognised by plan, checksum and the word before them; other numbers are not."""

from __future__ import annotations

import pytest

from evaluators.rules.personal import PASSPORT, find_personal
from evaluators.rules.secrets import CARD, NATIONAL_ID, PHONE


def _found(text: str) -> list[tuple[str, str]]:
    return [(one.kind, text[one.start : one.end]) for one in find_personal(text)]


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("Call +86 138 1234 5678 now", PHONE, "+86 138 1234 5678"),
        ("+49 30 901820", PHONE, "+49 30 901820"),
        ("from 0044 20 7946 0958", PHONE, "0044 20 7946 0958"),
        ('{"phone": "020 7946 0958"}', PHONE, "020 7946 0958"),
        ("Telefon: 030 901820", PHONE, "030 901820"),
        ("联系电话：010-6552-9988", PHONE, "010-6552-9988"),
        ("手机号13812345678", PHONE, "13812345678"),
        ("Aadhaar 4543 5612 8061", NATIONAL_ID, "4543 5612 8061"),
        ("Steuer-ID: 76057342174", NATIONAL_ID, "76057342174"),
        ("주민등록번호 880911-1436842", NATIONAL_ID, "880911-1436842"),
        ("マイナンバー：615995385575", NATIONAL_ID, "615995385575"),
        ("PESEL 88011561026", NATIONAL_ID, "88011561026"),
        ("BSN: 757404844", NATIONAL_ID, "757404844"),
        ("personnummer 880115-3605", NATIONAL_ID, "880115-3605"),
        ("fødselsnummer 15018820045", NATIONAL_ID, "15018820045"),
        ("CPR 150188-5339", NATIONAL_ID, "150188-5339"),
        ("hetu 150188-035A", NATIONAL_ID, "150188-035A"),
        ("NHS number 755 083 2161", NATIONAL_ID, "755 083 2161"),
        ("my SIN is 995 361 961", NATIONAL_ID, "995 361 961"),
        ("TFN 893 773 110", NATIONAL_ID, "893 773 110"),
        ("T.C. Kimlik No: 44441167618", NATIONAL_ID, "44441167618"),
        ("identity number 8801150743154", NATIONAL_ID, "8801150743154"),
        ("rijksregisternummer 88.01.15-857.63", NATIONAL_ID, "88.01.15-857.63"),
        ("AHV 756.9013.3670.34", NATIONAL_ID, "756.9013.3670.34"),
        ("citizen id 1-2856-32932-83-1", NATIONAL_ID, "1-2856-32932-83-1"),
        ("NRIC 880115-14-9016", NATIONAL_ID, "880115-14-9016"),
        ("ITIN 952-70-7664", NATIONAL_ID, "952-70-7664"),
        ("银行卡号6222021001116245702", CARD, "6222021001116245702"),
        ("护照号码 E12345678", PASSPORT, "E12345678"),
        ("Reisepass: C01X00T47 or passport C1234567", PASSPORT, "C1234567"),
    ],
)
def test_a_number_that_says_what_it_is_is_recognised(text: str, kind: str, value: str) -> None:
    assert (kind, value) in _found(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "order 4543 5612 8061",
        "BSN: 757404845",
        "The total is 76057342174 bytes.",
        "2026-05-12 10:30",
        "192.168.178.20",
        "version 10.15.7 build 19H2",
        "id 550e8400-e29b-41d4-a716-446655440000",
        "price +12 345 units",
        "3.14159265358979",
        "flight E1234567",
        "phone model 3310",
    ],
)
def test_a_number_that_could_be_anything_is_left_alone(text: str) -> None:
    assert _found(text) == []


def test_hostile_rows_of_digits_are_read_to_their_end() -> None:
    assert _found("1 " * 100_000 + "tel. +49 30 901820") == [(PHONE, "+49 30 901820")]
