"""Recognises secrets and personal data in text by their form.

In: any text, however long or hostile (one pass, bounded look-ahead per position).  Out: where in it a value of a known
format stands, and how sure its form makes us.  `certain` is said only of forms that nothing else has: keys with a
provider's prefix, private keys, numbers that carry a matching checksum.  Everything else is `suspected`.

It never says whether a value was in the wrong place (that depends on the field and the tool), and never guesses at
random-looking strings.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from evaluators.rules.checksums import (
    brazilian_cpf,
    card_number,
    chinese_resident_id,
    french_nir,
    iban,
    italian_tax_code,
    spanish_dni,
)


class Strength(StrEnum):
    """How sure the form alone makes us."""

    CERTAIN = "certain"
    SUSPECTED = "suspected"


@dataclass(frozen=True, slots=True)
class Found:
    """A value of a known kind at `text[start:end]`."""

    kind: str
    start: int
    end: int
    strength: Strength

    @property
    def personal(self) -> bool:
        """Whether it is personal data rather than a credential."""
        return self.kind in PERSONAL_KINDS


CARD = "card"
IBAN = "iban"
NATIONAL_ID = "national_id"
EMAIL = "email"
PHONE = "phone"
ADDRESS = "address"
PERSONAL_KINDS = frozenset({CARD, IBAN, NATIONAL_ID, EMAIL, PHONE, ADDRESS})

PRIVATE_KEY = "private_key"
_LONGEST_PRIVATE_KEY = 10_000
_ID_WORD_REACH = 24
_LONGEST_SHOWN = 10_000


@dataclass(frozen=True, slots=True)
class _Format:
    """`anchors`: one of these must stand in the text for `pattern` to be worth trying."""

    kind: str
    anchors: tuple[str, ...]
    pattern: re.Pattern[str]


def _format(kind: str, anchors: str, pattern: str) -> _Format:
    return _Format(kind, tuple(anchors.split()), re.compile(pattern))


# Every pattern starts with a look-behind that excludes the characters of its own body: a run of such characters is
# then tried once, not once per character, which keeps hostile text linear.
_WORD = r"(?<![A-Za-z0-9])"
_RUN = r"(?<![A-Za-z0-9_-])"
_END = r"(?![A-Za-z0-9])"
_CREDENTIALS = (
    _format("anthropic_key", "sk-ant-", _RUN + r"sk-ant-[A-Za-z0-9_-]{20,300}"),
    _format("secret_key", "sk-", _RUN + r"sk-[A-Za-z0-9_-]{20,300}"),
    _format("stripe_key", "sk_live_ sk_test_ rk_live_ rk_test_", _WORD + r"[sr]k_(?:live|test)_[A-Za-z0-9]{10,250}"),
    _format("webhook_secret", "whsec_", _WORD + r"whsec_[A-Za-z0-9+/]{24,100}"),
    _format("aws_key", "AKIA ASIA ABIA ACCA", _WORD + r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}" + _END),
    _format("alibaba_key", "LTAI", _WORD + r"LTAI[A-Za-z0-9]{12,26}" + _END),
    _format("tencent_key", "AKID", _WORD + r"AKID[A-Za-z0-9]{32}" + _END),
    _format("azure_key", "AccountKey=", r"AccountKey=[A-Za-z0-9+/]{86}=="),
    _format("github_token", "ghp_ gho_ ghu_ ghs_ ghr_", _WORD + r"gh[pousr]_[A-Za-z0-9]{36,255}"),
    _format("github_token", "github_pat_", _WORD + r"github_pat_[A-Za-z0-9]{20,24}_[A-Za-z0-9]{50,64}"),
    _format("gitlab_token", "glpat- glrt- gldt- glcbt-", _RUN + r"gl(?:pat|rt|dt|cbt)-[A-Za-z0-9_.-]{20,300}"),
    _format("slack_token", "xox", _RUN + r"xox[abeoprs]-[A-Za-z0-9-]{10,250}"),
    _format("slack_token", "xapp-", _RUN + r"xapp-\d-[A-Za-z0-9-]{20,250}"),
    _format("slack_webhook", "hooks.slack.com", r"hooks\.slack\.com/services/[A-Z0-9]{6,14}/[A-Z0-9]{6,14}/\w{16,40}"),
    _format("google_key", "AIza", _RUN + r"AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    _format("google_secret", "GOCSPX-", _RUN + r"GOCSPX-[A-Za-z0-9_-]{28}"),
    _format("google_token", "ya29.", _RUN + r"ya29\.[A-Za-z0-9_-]{20,500}"),
    _format("sendgrid_key", "SG.", _RUN + r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{32,64}"),
    _format("npm_token", "npm_", _WORD + r"npm_[A-Za-z0-9]{36}" + _END),
    _format("pypi_token", "pypi-AgE", _RUN + r"pypi-AgE[A-Za-z0-9_-]{50,500}"),
    _format("huggingface_token", "hf_", _WORD + r"hf_[A-Za-z0-9]{34}" + _END),
    _format("groq_key", "gsk_", _WORD + r"gsk_[A-Za-z0-9]{40,64}" + _END),
    _format("xai_key", "xai-", _RUN + r"xai-[A-Za-z0-9]{60,100}" + _END),
    _format("perplexity_key", "pplx-", _RUN + r"pplx-[A-Za-z0-9]{40,64}" + _END),
    _format("replicate_token", "r8_", _WORD + r"r8_[A-Za-z0-9]{37}" + _END),
    _format("tavily_key", "tvly-", _RUN + r"tvly-[A-Za-z0-9-]{20,64}"),
    _format("langsmith_key", "lsv2_", _WORD + r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10}"),
    _format("databricks_token", "dapi", _WORD + r"dapi[a-f0-9]{32}" + _END),
    _format("digitalocean_token", "_v1_", _WORD + r"do[opr]_v1_[a-f0-9]{64}"),
    _format("shopify_token", "shpat_ shpca_ shppa_ shpss_", _WORD + r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}" + _END),
    _format("linear_key", "lin_api_", _WORD + r"lin_api_[A-Za-z0-9]{40}"),
    _format("notion_token", "ntn_", _WORD + r"ntn_[A-Za-z0-9]{40,60}"),
    _format("airtable_token", "pat", _WORD + r"pat[A-Za-z0-9]{14}\.[a-f0-9]{64}"),
    _format("atlassian_token", "ATATT3", _RUN + r"ATATT3[A-Za-z0-9_=-]{50,300}"),
    _format("vault_token", "hvs.", _RUN + r"hvs\.[A-Za-z0-9_-]{24,200}"),
    _format("supabase_key", "sbp_ sb_secret_", _WORD + r"(?:sbp_[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{20,64})"),
    _format("telegram_token", ":AA", _WORD + r"\d{8,10}:AA[A-Za-z0-9_-]{33}(?![A-Za-z0-9_-])"),
    _format("jwt", "eyJ", _RUN + r"eyJ[A-Za-z0-9_-]{8,2000}\.eyJ[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{16,1000}"),
    _format("url_password", "://", r"(?<=://)[^\s/:@\"'<>]{1,64}:[^\s/:@\"'<>{}$\[\]*]{3,64}(?=@[A-Za-z0-9.-])"),
)
_ANCHORED = tuple((anchor, form) for form in _CREDENTIALS for anchor in form.anchors)
_PRIVATE_KEY_HEADER = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")


def _ascii(*parts: str) -> re.Pattern[str]:
    # A letter of another script right before a number is no part of it.
    return re.compile("".join(parts), re.ASCII)


_UNBROKEN_DIGITS = _ascii(r"(?<![\w.])\d{14,19}(?!\w|\.\d)")
_GROUPED_DIGITS = _ascii(
    r"(?<![\w.-])(?<!\d )",
    r"(?:\d{4}[ -]\d{4}[ -]\d{4}[ -]\d{4}(?:[ -]?\d{3})?|\d{4}[ -]\d{6}[ -]\d{4,5})",
    r"(?![\w-]|\.\d)",
)
_IBAN = _ascii(
    r"(?<![A-Za-z0-9])[A-Z]{2}\d{2}(?:[A-Z0-9]{11,30}|(?: [A-Z0-9]{4}){2,7}(?: [A-Z0-9]{1,3})?)(?![A-Za-z0-9])"
)
_CHINESE_ID = _ascii(
    r"(?<![A-Za-z0-9.])[1-9]\d{5}(?:18|19|20)\d{2}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{3}[\dXx](?![A-Za-z0-9])"
)
_CPF = _ascii(r"(?<![\w.-])\d{3}\.\d{3}\.\d{3}-\d{2}(?!\w)")
_ITALIAN = _ascii(r"(?<![A-Za-z0-9])[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z](?![A-Za-z0-9])")
_FRENCH = _ascii(r"(?<![\w.-])[12] ?\d{2} ?(?:0[1-9]|1[0-2]) ?(?:\d{2}|2[AB]) ?\d{3} ?\d{3} ?\d{2}(?![\w-])")
_SPANISH = _ascii(r"(?<![A-Za-z0-9.])(?:\d{8}|[XYZ]\d{7})[- ]?[A-HJ-NP-TV-Z](?![A-Za-z0-9])")
_SPANISH_WORD = re.compile(r"\b(?:DNI|NIF|NIE)\b", re.IGNORECASE)
_US_SSN = _ascii(r"(?<![\w.-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])")
_EMAIL = _ascii(
    r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]{1,64}+@[A-Za-z0-9-]{1,63}+(?:\.[A-Za-z0-9-]{1,63}+){1,8}(?![A-Za-z0-9])"
)
_PHONE = _ascii(
    r"(?<![\w.+-])(?:\+\d{1,3}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d{1,4}(?:[ .-]?\d{2,4}){2,4}",
    r"|\(\d{3}\) ?\d{3}[ .-]\d{4}|\d{3}[.-]\d{3}[.-]\d{4}|1[3-9]\d{9})(?![\w-])",
)
_ADDRESS = re.compile(
    r"(?<!\w)\d{1,5} (?:[A-Z][a-z]{1,20} ){1,3}"
    r"(?:Street|St|Avenue|Ave|Road|Rd|Boulevard|Blvd|Lane|Ln|Drive|Dr|Court|Ct|Square|Sq)\b"
    r"|[\u4e00-\u9fff]{2,10}(?:路|街|大道|巷|弄)\d{1,5}(?:号|號)"
)

_Check = Callable[[str], bool]
_CHECKED: tuple[tuple[str, re.Pattern[str], _Check], ...] = (
    (NATIONAL_ID, _CHINESE_ID, chinese_resident_id),
    (NATIONAL_ID, _CPF, brazilian_cpf),
    (NATIONAL_ID, _ITALIAN, italian_tax_code),
    (NATIONAL_ID, _FRENCH, french_nir),
    (IBAN, _IBAN, iban),
    (CARD, _GROUPED_DIGITS, card_number),
    (CARD, _UNBROKEN_DIGITS, card_number),
)
_UNCHECKED: tuple[tuple[str, re.Pattern[str]], ...] = (
    (NATIONAL_ID, _US_SSN),
    (EMAIL, _EMAIL),
    (PHONE, _PHONE),
    (ADDRESS, _ADDRESS),
)

_ALNUM_RUN = re.compile(r"[A-Za-z0-9]+")
_SAMPLE = re.compile(r"example|sample|placeholder|redacted|your|x{6}|\*{3}|0{8}|1234567", re.IGNORECASE)
_FEWEST_DISTINCT = 7
_LONGEST_PREFIX = 12


def find_secrets(text: str) -> list[Found]:
    """Every value of a known format in `text`, in order, without overlaps.

    The surer wins, then credentials before personal data, then the longer.
    """
    found = [*_credentials(text), *_checked_numbers(text), *_personal(text)]
    # "user:password@host" also reads as an e-mail address
    found.sort(key=lambda one: (one.strength is not Strength.CERTAIN, one.personal, one.start - one.end, one.start))
    spans = _Spans()
    taken = [one for one in found if spans.take(one.start, one.end)]
    return sorted(taken, key=lambda one: one.start)


def redact(text: str, *, personal: bool = True) -> str:
    """`text` with every value of a known format replaced by a placeholder such as ``[email:1f3a]``.

    Equal values get equal placeholders, in whatever text they stand, so that what was the same stays recognisably the
    same.  The four hex digits are far too few to find the value again.

    Args:
        text: what to make safe to show.
        personal: also replace personal data; False replaces credentials alone.
    """
    parts: list[str] = []
    at = 0
    for one in find_secrets(text):
        if one.personal and not personal:
            continue
        parts += (text[at : one.start], placeholder(one.kind, text[one.start : one.end]))
        at = one.end
    return "".join([*parts, text[at:]]) if parts else text


def shown(text: str, most_chars: int) -> str:
    """`text` redacted and then cut: half a secret is still one, and no longer recognised."""
    safe = redact(text[:_LONGEST_SHOWN])
    return safe if len(safe) <= most_chars else f"{safe[:most_chars]}…"


def placeholder(kind: str, value: str) -> str:
    """What stands in for `value` in a redacted text; spacing and dashes of the value make no difference."""
    plain = re.sub(r"[\s-]", "", value).encode("utf-8", "surrogatepass")
    return f"[{kind}:{hashlib.blake2b(plain, digest_size=2).hexdigest()}]"


_SECRET_NAME = re.compile(
    r"(?:^|_)(?:(?:api|access|secret|private|signing|encryption|auth)_?key|secret|passwd|password|passphrase|pwd"
    r"|(?:(?:api|access|auth|bearer|refresh|session|secret|id|bot|csrf|personal)_)*token|credentials?"
    r"|client_secret|private_pem)$"
)
_SECRET_WORDS = ("key", "secret", "passw", "passphrase", "pwd", "token", "credential", "pem")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def speaks_of_secrets(text: str) -> bool:
    """Whether a text may hold a field of such a name at all; much quicker than looking at each."""
    lowered = text.lower()
    return any(word in lowered for word in _SECRET_WORDS)


def is_secret_name(field: str) -> bool:
    """Whether a field of this name holds a secret: token, secret, password, api_key and their kin.

    Names of counts and places in a list (`max_tokens`, `next_page_token`) are none.
    """
    words = re.sub(r"[^a-z0-9]+", "_", _CAMEL.sub("_", field).lower()).strip("_")
    if re.search(r"(?:page|continuation|cursor|sync|next)_?token$", words):
        return False
    return _SECRET_NAME.search(words) is not None


def _credentials(text: str) -> Iterator[Found]:
    for form in dict.fromkeys([form for anchor, form in _ANCHORED if anchor in text]):
        for match in form.pattern.finditer(text):
            yield Found(form.kind, match.start(), match.end(), _strength(form.kind, match.group()))
    if "PRIVATE KEY" not in text:
        return
    at = 0
    while (header := _PRIVATE_KEY_HEADER.search(text, at)) is not None:
        close = text.find("-----END", header.end(), header.end() + _LONGEST_PRIVATE_KEY)
        at = header.end()
        if close >= 0:
            at = text.find("-----", close + len("-----END"), close + 80)
            at = at + 5 if at >= 0 else close
        yield Found(PRIVATE_KEY, header.start(), at, Strength.CERTAIN)


def _strength(kind: str, value: str) -> Strength:
    """Certain unless it looks like an example in documentation or like a word that only starts like a key."""
    if kind in ("url_password", "jwt"):
        return Strength.CERTAIN if kind == "jwt" else Strength.SUSPECTED
    body = value[-max(len(value) - _LONGEST_PREFIX, _LONGEST_PREFIX) :]
    if _SAMPLE.search(body) or len(set(body)) < _FEWEST_DISTINCT:
        return Strength.SUSPECTED
    if kind == "secret_key":
        runs = _ALNUM_RUN.findall(value[3:])
        longest = max(runs, key=len)
        mixed = any(char.isdigit() for char in longest) and any(char.isalpha() for char in longest)
        if not (mixed and len(longest) >= 16) and not (len(value) >= 40 and sum(map(str.isdigit, value)) >= 5):
            return Strength.SUSPECTED
    return Strength.CERTAIN


def _checked_numbers(text: str) -> Iterator[Found]:
    for kind, pattern, holds in _CHECKED:
        for match in pattern.finditer(text):
            if holds(match.group()):
                yield Found(kind, match.start(), match.end(), Strength.CERTAIN)
    # One letter in twenty-three fits by chance: only the word before makes it sure.
    for match in _SPANISH.finditer(text):
        if spanish_dni(match.group()):
            named = _SPANISH_WORD.search(text, max(0, match.start() - _ID_WORD_REACH), match.start())
            yield Found(NATIONAL_ID, match.start(), match.end(), Strength.CERTAIN if named else Strength.SUSPECTED)


def _personal(text: str) -> Iterator[Found]:
    for kind, pattern in _UNCHECKED:
        if kind == EMAIL and "@" not in text:
            continue
        for match in pattern.finditer(text):
            yield Found(kind, match.start(), match.end(), Strength.SUSPECTED)


class _Spans:
    """Stretches of a text that don't overlap; looked up by bisection."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []

    def take(self, start: int, end: int) -> bool:
        at = bisect_left(self._starts, start)
        if at < len(self._starts) and self._starts[at] < end:
            return False
        if at > 0 and self._ends[at - 1] > start:
            return False
        self._starts.insert(at, start)
        self._ends.insert(at, end)
        return True
