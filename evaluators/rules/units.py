"""Units and currencies: which words mean a kind of quantity, and by what factors quantities of a kind are converted.

Pure tables.  Amounts of one kind are never converted here: whoever compares two of them tries every factor of the kind,
because the unit of a number in a result is often not written beside it.
"""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """What a number counts."""

    CURRENCY = "currency"
    TEMPERATURE = "temperature"
    DISTANCE = "distance"
    MASS = "mass"
    VOLUME = "volume"
    SPEED = "speed"
    DURATION = "duration"
    DATA_SIZE = "data size"
    PERCENT = "percentage"
    RATING = "rating"
    DATE = "date"
    TIME = "time"
    NUMBER = "number"


_UNIT_WORDS: dict[Kind, str] = {
    Kind.TEMPERATURE: "°c °f ° ℃ ℉ ºc ºf º celsius fahrenheit kelvin degrees degree deg grad grados degrés "
    "度 摄氏度 华氏度",
    Kind.DISTANCE: "km kilometers kilometres kilometer kilometre kms mi mile miles m meter meters metre metres cm mm "
    "ft feet foot inch inches yd yards meilen 公里 千米 米 厘米 英里 キロ",
    Kind.MASS: "kg kilogram kilograms kilo kilos g gram grams mg lb lbs oz ounces tonnes tons 公斤 千克 克 斤 吨 磅",
    Kind.VOLUME: "l liter liters litre litres ml gal gallon gallons cl 升 毫升",
    Kind.SPEED: "km/h kmh kph mph m/s knots kn kt 公里/小时 米/秒",
    Kind.DURATION: "h hr hrs hour hours min mins minute minutes sec secs second seconds s ms day days night nights "
    "week weeks month months year years stunden stunde minuten heures horas 小时 分钟 秒 秒钟 天 晚 周 个月 年 時間 分",
    Kind.DATA_SIZE: "b byte bytes kb mb gb tb pb kib mib gib tib",
    Kind.PERCENT: "% percent pct prozent porcentaje 个百分点 percentage",
    Kind.CURRENCY: "$ € £ ¥ ₹ ₩ ₽ ฿ ₺ usd eur gbp jpy cny rmb inr krw cad aud chf sgd hkd twd brl mxn sek nok dkk pln "
    "dollar dollars euro euros pounds yen yuan cents rupees 元 块钱 人民币 美元 美金 欧元 英镑 日元 "
    "円 港币 港元 新台币",
    Kind.RATING: "stars ★ ⭐ 星 sterne",
}

UNIT_KINDS: dict[str, Kind] = {word: kind for kind, words in _UNIT_WORDS.items() for word in words.split()}

# these say too little: "5 m" may be minutes or millions, pounds are weighed and paid, 三度 is also "three times"
_WEAK_UNITS = frozenset({"m", "g", "l", "s", "b", "h", "pounds", "grad", "度", "kt"})


def is_weak(unit: str) -> bool:
    """Whether a unit leaves open what kind of quantity it is."""
    return unit in _WEAK_UNITS


CURRENCY_SIGNS = "$€£¥₹₩₽฿₺"

MULTIPLIERS: dict[str, float] = {
    "k": 1e3,
    "thousand": 1e3,
    "百": 1e2,
    "千": 1e3,
    "万": 1e4,
    "萬": 1e4,
    "lakh": 1e5,
    "百万": 1e6,
    "million": 1e6,
    "millions": 1e6,
    "mn": 1e6,
    "mio": 1e6,
    "crore": 1e7,
    "千万": 1e7,
    "亿": 1e8,
    "億": 1e8,
    "billion": 1e9,
    "bn": 1e9,
    "trillion": 1e12,
    **dict.fromkeys(("tausend", "tsd.", "tsd", "mil", "тыс.", "тыс", "тысяч", "हजार", "ألف", "천", "พัน"), 1e3),
    **dict.fromkeys(("만", "หมื่น"), 1e4),
    **dict.fromkeys(("लाख", "แสน"), 1e5),
    **dict.fromkeys(("mio.", "millionen", "millones", "milhões", "млн", "миллионов", "مليون", "ล้าน"), 1e6),
    **dict.fromkeys(("करोड़", "करोड़"), 1e7),
    **dict.fromkeys(("억",), 1e8),
    **dict.fromkeys(("milliarden", "mrd.", "mrd", "milliards", "млрд", "مليار"), 1e9),
}

_FACTORS: dict[Kind, tuple[float, ...]] = {
    Kind.DISTANCE: (1.609344, 1000, 100, 10, 0.3048, 2.54, 25.4, 0.9144, 12, 3, 5280, 1609.344, 0.5, 1.852),
    Kind.MASS: (2.20462262, 1000, 453.59237, 28.349523, 16, 0.5, 1e6, 907.18474, 6.35029318, 14),
    Kind.VOLUME: (1000, 3.785411784, 4.54609, 100, 10, 29.5735),
    Kind.SPEED: (1.609344, 3.6, 1.852, 1.943844, 2.236936, 1.150779),
    Kind.DURATION: (60, 3600, 24, 1440, 86400, 7, 168, 1000, 60000, 30, 365, 12, 52, 3.6e6),
    Kind.DATA_SIZE: (8, 1000, 1e6, 1e9, 1e12, 1024, 1024**2, 1024**3, 1024**4, 1.024, 1.048576, 1.073741824),
    Kind.PERCENT: (100,),
    Kind.RATING: (2, 10, 20, 5, 4, 2.5),
    Kind.CURRENCY: (100, 12, 1000, 1e4, 1e6, 1e8, 1e9),
}


def conversions(kind: Kind, value: float) -> list[float]:
    """What `value` may be called in another unit of its kind, whatever its own unit is; not for temperatures."""
    converted = []
    for factor in _FACTORS.get(kind, ()):
        converted += [value * factor, value / factor]
    if kind is Kind.PERCENT:
        converted += [100 - value, (1 - value) * 100]
    return converted


def other_temperatures(value: float) -> list[tuple[float, float]]:
    """What a temperature, or a difference of two, may be called on another scale, whatever its own scale and sign are.

    Each without sign and with the size of its degree, counted in degrees of `value`.
    """
    found = [(value * 1.8, 1.8), (value / 1.8, 1 / 1.8)]
    for signed in (value, -value):
        kelvin = signed - 273.15
        found += [
            (abs(signed * 1.8 + 32), 1.8),
            (abs((signed - 32) / 1.8), 1 / 1.8),
            (abs(signed + 273.15), 1.0),
            (abs(kelvin), 1.0),
            (abs(kelvin * 1.8 + 32), 1.8),
            (abs((signed - 32) / 1.8 + 273.15), 1 / 1.8),
        ]
    return found
