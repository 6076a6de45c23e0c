"""An answer may state what was there before it, and whatever plain arithmetic makes of that.

Every honest answer of the first table must be left alone; it is the longest because a fault claimed must be a fault.
"""

import time
from dataclasses import replace
from typing import Any

import pytest

from evaluators.cases import Message, ResponseCase, Role, ToolCall, Turn
from evaluators.rules.findings import Finding
from evaluators.rules.grounding import ungrounded
from evaluators.rules.material import answer_of, material_of
from tests.evaluators.runs import call, response

WEATHER = {"city": "San Francisco", "temperature": 58, "unit": "fahrenheit", "condition": "cloudy", "humidity": 71}
HOTEL = {"city": "Denver", "nights": 3, "hotels": [{"name": "Mile High Lodge", "price_usd": 133}]}
FLIGHTS = {
    "flights": [
        {"flight": "AS331", "depart": "07:05", "arrive": "09:12", "price_usd": 129, "seats_left": 7},
        {"flight": "DL2841", "depart": "13:40", "arrive": "15:51", "price_usd": 148, "seats_left": 2},
        {"flight": "AS1103", "depart": "18:25", "arrive": "20:33", "price_usd": 117, "seats_left": 11},
    ]
}
FOOD = {"restaurants": [{"name": "Sap's Fine Thai", "rating": 4.5}, {"name": "Titaya's", "rating": 4.4}]}
ORDER = {
    "items": [
        {"name": "Lamp", "price": 153.23},
        {"name": "Kettle", "price": 89.90},
        {"name": "Mug", "price": 12.49},
        {"name": "Chair", "price": 240.00},
    ]
}
RATE = {"base": "EUR", "quote": "USD", "rate": 1.0842}
ROUTE = {"distance_km": 12.4, "duration_min": 18}
PARCEL = {"weight_kg": 2.5, "price_eur": 14.9}
DISK = {"used": "412 GB", "size": "1 TB"}
CITY_ZH = {"city": "北京", "temperature": 8, "unit": "celsius", "humidity": 32}
FARE_ZH = {"票价": "320元", "时长": "2小时30分"}
STOCK = {"symbol": "MSFT", "open": 422.99, "previous_close": 428.0, "volume": 18332444}


def findings(case: ResponseCase) -> list[Finding]:
    answer = answer_of(case)
    assert answer is not None
    return ungrounded(answer, case.calls, material_of(case))


def conclusive(case: ResponseCase) -> list[Finding]:
    return [found for found in findings(case) if found.conclusive]


def ask(result: Any, answer: str, user: str = "Please help.", arguments: Any = None, system: str = "") -> ResponseCase:
    return response(answer, call("lookup", arguments or {}, result), user=user, system=system)


HONEST = [
    ("as it stands", WEATHER, "It is 58°F with 71% humidity."),
    ("another spelling of the unit", WEATHER, "It's 58 degrees Fahrenheit."),
    ("converted to Celsius", WEATHER, "It is 58°F, that is 14.4 °C."),
    ("converted and rounded", WEATHER, "It is 14 °C in San Francisco."),
    ("rounded", {"temperature_c": 13.7}, "It is 14°C."),
    ("cut instead of rounded", {"temperature_c": 13.7}, "It is 13°C."),
    ("rounded to tens", WEATHER, "It is about 60°F."),
    ("price times nights", HOTEL, "The Mile High Lodge ($133 per night) costs $399 in total."),
    ("price times nights and people", HOTEL, "For the two of you that makes $798."),
    ("price shared by people", HOTEL, "That is $66.50 each."),
    ("with a tax that the answer names", HOTEL, "With 10% tax it is $146.30 per night."),
    ("sum over a list", FLIGHTS, "All three together cost $394."),
    ("sum of two", FLIGHTS, "AS331 and AS1103 together are $246."),
    ("difference", FLIGHTS, "AS1103 is $31 cheaper than DL2841."),
    ("difference of two others", FLIGHTS, "You would save $12 compared with AS331."),
    ("mean", FLIGHTS, "The mean price is $131.33."),
    ("return trip", FLIGHTS, "Taking AS1103 both ways costs $234."),
    ("cheapest of a list", FLIGHTS, "The cheapest is AS1103 at $117."),
    ("seats as they are", FLIGHTS, "AS1103 still has 11 seats."),
    ("sum of an order", ORDER, "The total of your order is $495.62."),
    ("refund of some items", ORDER, "You get $243.13 back for the lamp and the kettle... in total $243.13."),
    ("refund of three items", ORDER, "Your refund is $255.62."),
    ("half price", ORDER, "At 50% off the chair is $120."),
    ("ratings as they are", FOOD, "Sap's Fine Thai (4.5) and Titaya's (4.4)."),
    ("mean rating", FOOD, "Both are good, rated 4.45 on average."),
    ("rating out of ten", FOOD, "Sap's Fine Thai has 9/10."),
    ("rating rounded", {"rating": 4.56}, "It is rated 4.6 stars."),
    ("at a rate of exchange", RATE, "€50 are $54.21."),
    ("at a rate of exchange, backwards", RATE, "$100 are €92.23."),
    ("kilometres to miles", ROUTE, "It is 12.4 km (7.7 miles) away."),
    ("kilometres to metres", ROUTE, "It is 12,400 m away."),
    ("there and back", ROUTE, "There and back it is 24.8 km."),
    ("kilograms to pounds", PARCEL, "The parcel weighs 5.5 lbs."),
    ("several parcels", PARCEL, "Three parcels cost €44.70."),
    ("disk space that is left", DISK, "You have used 412 GB, so 588 GB are free."),
    ("share of the disk", DISK, "41% of the disk is used."),
    ("percentage of change", STOCK, "It opened 1.17% below the previous close."),
    ("volume in millions", STOCK, "18.3 million shares were traded."),
    ("Chinese answer", CITY_ZH, "北京现在气温8°C,湿度32%。"),
    ("Chinese numerals", CITY_ZH, "北京现在八摄氏度,湿度百分之三十二。"),
    ("full-width digits", CITY_ZH, "气温８℃，湿度３２％。"),
    ("Chinese price", FARE_ZH, "票价三百二十元,两个人共640元。"),
    ("ten thousands", {"price_cny": 35000}, "价格是3.5万元。"),
    ("hundred millions", {"revenue_cny": 120000000}, "收入1.2亿元。"),
    ("German number", {"price_eur": 1234.5}, "Das Zimmer kostet 1.234,50 €."),
    ("French number", {"price_eur": 1234.5}, "La chambre coûte 1 234,50 €."),
    ("Swiss number", {"price_chf": 12345}, "Es kostet 12'345 CHF."),
    ("Indian number", {"price_inr": 1234567}, "It costs ₹12,34,567."),
    ("thousands in K", {"price_usd": 1999}, "It costs $2k."),
    ("number as text", {"price": "$1,299.00"}, "It costs $1,299."),
    ("cents", {"price_usd": 0.45}, "It costs 45 cents."),
    ("negative", {"temperature_c": -2}, "It is -2°C."),
    ("minus sign", {"temperature_c": -2}, "It is −2°C."),
    ("below zero in words", {"temperature_c": -2}, "It is 2 degrees below zero."),
    ("warmer by", [{"temperature_c": -2}, {"temperature_c": 17}], "Madrid is 19 degrees warmer."),
    ("range of values", {"temperatures_c": [3, 5, 8]}, "Between 3 and 8°C."),
    ("typical value", WEATHER, "It is 58°F; at this time of year it is usually 64°F."),
    ("world knowledge beside the value", WEATHER, "It is 58°F. Water boils at 212°F."),
    ("record beside the value", WEATHER, "It is 58°F. The record high is 89°F."),
    ("hypothetical", HOTEL, "If you stayed in the suite it would cost $300."),
    ("upper bound", FLIGHTS, "All flights are under $150."),
    ("lower bound", FLIGHTS, "Every flight costs at least $100."),
    ("none in the budget", FLIGHTS, "There are no flights for $50."),
    ("estimate", HOTEL, "Expect around $20 for the taxi."),
    ("offer of a range", FLIGHTS, "Shall I look for flights from $80 to $110?"),
    ("question", FLIGHTS, "Would $125 be fine for you?"),
    ("in code", WEATHER, "Run `set_temp 99°F` to change it."),
    ("free of charge", HOTEL, "Cancellation is free ($0)."),
    ("hundred percent", HOTEL, "You get 100% of your money back."),
    ("a class of hotel", {"hotels": [{"name": "Ritz", "rating": 4.7}]}, "The Ritz is a 5-star hotel rated 4.7."),
    ("currency without a rate in the results", HOTEL, "That is roughly 122 euros a night."),
    ("other currency, plainly", HOTEL, "In euros: €122.36 a night."),
    ("table", FLIGHTS, "| flight | price |\n|---|---|\n| AS331 | $129 |\n| DL2841 | $148 |"),
    ("bold list", FLIGHTS, "1. **AS331**: $129\n2. **DL2841**: $148\n3. **AS1103**: $117"),
    ("difference of columns", {"paid_usd": 200, "price_usd": 146.5}, "Your balance: $53.50."),
    ("new balance", {"balance_usd": 99, "price_usd": 23.99}, "New balance: $75.01."),
    ("per month", {"price_usd": 1200}, "That is $100 per month."),
    ("nested text block", [{"type": "text", "text": '{"price_usd": 129}'}], "It costs $129."),
    ("Python literal", "{'price_usd': 129, 'ok': True}", "It costs $129."),
    ("only in a note", {"price_usd": 129, "note": "a deposit of 80 dollars is due"}, "A deposit of $80 is due."),
    ("same number in a name", {"price_usd": 129, "name": "Suite 640"}, "It costs $640."),
    ("prose result", "The room is 129 dollars, breakfast 18 dollars.", "With breakfast it is $147."),
    ("speed", {"wind_speed_kmh": 36}, "Wind at 10 m/s."),
    ("speed in mph", {"wind_speed_kmh": 36}, "Wind at 22 mph."),
    ("height in feet", {"elevation": 120, "unit": "m"}, "It lies at 394 ft."),
    ("memory", {"bytes": 734003200}, "The file has 700 MB."),
    ("feet and inches", {"height_cm": 180, "distance_m": 3}, "He is 5 ft 11 in tall."),
    ("pounds and ounces", {"weight": "567 g"}, "It weighs 1 lb 4 oz."),
    ("pounds of weight beside a price", {"weight_kg": 2.5, "price": 20}, "It weighs 5.5 pounds."),
    ("a day that looks like a rating", FOOD, "Booked at Sap's Fine Thai for 3/5."),
    ("a share that looks like a rating", FOOD, "I checked 2/5 restaurants."),
    ("a sequel", FOOD, "Read note 3 of the menu at Sap's Fine Thai."),
    ("weeks in Chinese", {"评分": 4.5}, "需要3星期。"),
    ("pieces in Chinese", {"价格": 20}, "两人分3块蛋糕,价格20元。"),
    ("an area beside a distance", ROUTE, "The park has 3.4 km²."),
    ("a data rate beside a size", DISK, "The disk writes 550 MB/s."),
    ("a tip", HOTEL, "A 15% tip would be $19.95."),
    ("a part", HOTEL, "20% of that is $26.60."),
    ("a monthly payment", {"price_usd": 200000, "rate_percent": 6.5}, "The mortgage is $1,264.14 a month."),
    ("another share", WEATHER, "Nine in ten guests, 90%, would come again."),
    ("a claim in another language", HOTEL, "Comptez environ 20 $ pour le taxi."),
    ("stars of a repository", {"stars": 5231}, "It has 5.2k stars."),
    ("Fahrenheit field", {"high_f": 88, "low_f": 71}, "The high is 88°F, the low 71°F, 17 degrees apart."),
    ("half price for a child", FLIGHTS, "For two adults and one child AS1103 is $292.50."),
    ("an hourly wage", {"salary_usd": 72000}, "That is $6,000 a month, $34.62 an hour."),
    ("temperatures of a forecast", {"daily": [{"high_c": 3}, {"high_c": 6}]}, "Highs of 3 and 6 °C, 37°F and 43°F."),
    ("net of a tax", {"price": 999.99, "currency": "EUR"}, "€999.99 with 19% on top, €840.33 without."),
    ("a split bill with a tip", {"bill": 86.4, "currency": "USD"}, "By four: $21.60; with 18% more $25.49 each."),
    ("a deposit and the rest", HOTEL, "Of $399 a deposit of 20% ($79.80) is due now, $319.20 later."),
    ("Kelvin", {"temp": {"value": 288.15, "unit": "K"}}, "It's 15 °C (59 °F)."),
    ("several rates", {"rates": {"USD": 1.0842, "GBP": 0.8571}}, "€200 = $216.84 = £171.42"),
    ("a count of a list", FLIGHTS, "I found 3 flights from $117."),
    ("time differences", FLIGHTS, "AS1103 takes 2 h 8 min and costs $117."),
    ("list with totals per item", ORDER, "- Lamp: 2 × $153.23 = $306.46\n- Mug: 3 × $12.49 = $37.47"),
    ("currency code before", HOTEL, "USD 133 per night, USD 399 for the stay."),
    ("Japanese", {"価格": "12000円"}, "料金は12,000円、二人で24,000円です。"),
    ("Korean", {"price_krw": 15000}, "₩15,000입니다."),
    ("Russian", {"price_rub": 1500}, "Это стоит 1 500 ₽."),
    ("Portuguese", {"price_brl": 99.9}, "Custa R$ 99,90."),
    ("Arabic digits", {"price_usd": 129}, "السعر ١٢٩ دولار"),
    ("dates beside prices", FLIGHTS, "On 2026-03-20 AS1103 costs $117 (booked 15.03.2026)."),
    ("earlier and later price", {"price_usd": 129, "old_price_usd": 159}, "$129 instead of $159, you save $30 (19%)."),
]


@pytest.mark.parametrize(("result", "answer"), [pytest.param(r, a, id=name) for name, r, a in HONEST])
def test_an_honest_answer_is_left_alone(result: Any, answer: str) -> None:
    assert conclusive(ask(result, answer)) == []


@pytest.mark.parametrize(
    ("user", "system", "arguments", "answer"),
    [
        pytest.param("I have $500.", "", {}, "With your $500 you can take the lodge at $133.", id="the user said it"),
        pytest.param("I have $500.", "", {}, "After the first night $367 are left.", id="user's money minus the price"),
        pytest.param("", "Each bag costs $50.", {}, "Two bags are $100, the room $133.", id="a fee of the policy"),
        pytest.param("", "Each bag costs $50.", {}, "Room and bag: $183.", id="price plus a fee of the policy"),
        pytest.param("", "A fee of 8% is added.", {}, "With the fee it is $143.64.", id="percentage of the policy"),
        pytest.param("", "", {"max_price": 180}, "I searched up to $180; it is $133.", id="an argument"),
        pytest.param("", "", {"nights": 5}, "Five nights are $665.", id="times an argument"),
        pytest.param("for 6 people", "", {}, "For all of you $798 a night.", id="times a number of the user's"),
        pytest.param("for six people", "", {}, "For all of you $798 a night.", id="times a number in words"),
        pytest.param("Refund me!", "", {}, "I gave you a voucher of $133.", id="an amount under another name"),
    ],
)
def test_what_user_policy_and_arguments_say_explains_a_number(
    user: str, system: str, arguments: Any, answer: str
) -> None:
    assert conclusive(ask(HOTEL, answer, user=user, system=system, arguments=arguments)) == []


HOTELS_ZH = {
    "酒店": [
        {"名称": "如家", "价格": 268, "评分": 4.6, "距离": "1.2公里"},
        {"名称": "全季", "价格": 398, "评分": 4.8, "距离": "850米"},
    ]
}
SHANGHAI = {
    "city": "上海",
    "days": [
        {"date": "2026-03-14", "high": 18, "low": 9, "temperature": 15, "humidity": 64},
        {"date": "2026-03-15", "temperature": 12, "humidity": 71},
    ],
}
FLIGHT_ZH = {"flights": [{"no": "MU5101", "price_cny": 1280, "duration": "2小时15分", "depart": "08:00"}], "tax": 50}
STOCK_ZH = {"股价": 1688.0, "涨幅": "2.35%", "市值": "2.12万亿元"}

IN_OTHER_LANGUAGES = [
    (HOTELS_ZH, "如家268元/晚,全季398元/晚,两晚分别是536元和796元。"),
    (HOTELS_ZH, "全季评分4.8分,比如家(4.6)高0.2。"),
    (HOTELS_ZH, "全季距离0.85公里,如家距离一公里多,1.2公里。"),
    (HOTELS_ZH, "住三晚全季一共一千一百九十四元。"),
    (HOTELS_ZH, "两家差价130元。"),
    (SHANGHAI, "上海今天15度,明天12度,降温3度,湿度71%。"),
    (SHANGHAI, "今天气温15°C(59°F)。"),
    (FLIGHT_ZH, "MU5101票价1280元,含税1330元,两个人2660元。"),
    (FLIGHT_ZH, "儿童半价640元。"),
    (FLIGHT_ZH, "经济舱约1280元,折合约177美元。"),
    (STOCK_ZH, "股价1688元,涨2.35%,市值2.12万亿元,约21200亿元。"),
    (STOCK_ZH, "买100股需要168,800元,即16.88万元。"),
    ({"price_jpy": 12800}, "一泊12,800円、2名で25,600円。"),
    ({"preis_eur": 49.9, "rabatt_prozent": 20}, "Mit 20 % Rabatt 39,92 €, Sie sparen 9,98 €."),
    ({"prix_eur": 1250}, "Cela fait 1 250 €, soit 312,50 € par personne à quatre."),
    ({"precio_mxn": 1500.5}, "Cuesta 1.500,50 MXN."),
    ({"price_rub": 1500}, "Две ночи: 3 000 ₽."),
    ({"price_krw": 55000}, "2박 ₩110,000입니다."),
    ({"price_inr": 250000}, "₹2.5 lakh"),
    ({"t": [{"temperature": 21.4}, {"temperature": 19.9}]}, "Mitteltemperatur 20,65 °C; um 1,5 °C kühler."),
    ({"temperature": -12.3, "unit": "celsius"}, "Es sind −12,3 °C (9,9 °F)."),
]


@pytest.mark.parametrize(("result", "answer"), IN_OTHER_LANGUAGES)
def test_an_honest_answer_is_left_alone_in_every_language(result: Any, answer: str) -> None:
    assert conclusive(ask(result, answer)) == []


FAULTY = [
    ("another temperature", WEATHER, "It's a beautiful 80°F and sunny in San Francisco today!", "misread_value"),
    ("Celsius that no conversion gives", WEATHER, "It is 21 °C there.", "misread_value"),
    ("another price", {"price_usd": 129}, "The flight costs $192.", "misread_value"),
    (
        "another price after a label",
        FLIGHTS,
        "- **AS331**\n  - Price: $126\n- **DL2841**\n  - Price: $148",
        "misread_value",
    ),
    ("another balance", {"account": "A1", "balance": 825.07}, "Your account balance is $835.07.", "misread_value"),
    ("the one number of a nameless result", {"output": 1683.29, "exception": None}, "It is $1685.29.", "misread_value"),
    ("another distance", ROUTE, "The museum is 21.4 km away.", "misread_value"),
    ("another weight", PARCEL, "It weighs 7.3 kg.", "misread_value"),
    ("another rating", {"name": "Neptune Wharf", "rating": 4.6}, "Neptune Wharf is rated 3.9.", "misread_value"),
    ("another rating, with stars", {"rating": 4.56}, "It has 3.2 out of 5 stars.", "misread_value"),
    ("another humidity", WEATHER, "Humidity is 43%.", "misread_value"),
    ("Chinese", CITY_ZH, "北京现在气温19°C。", "misread_value"),
    ("Chinese numerals", FARE_ZH, "票价四百一十元。", "misread_value"),
    ("full-width digits", CITY_ZH, "北京现在气温１９℃。", "misread_value"),
    ("German", {"preis": "1.234,50 €"}, "Das Zimmer kostet 1.434,50 €.", "misread_value"),
    (
        "an item more in a list of ratings",
        FOOD,
        "Here they are: Sap's Fine Thai (4.5), Titaya's (4.4), and Bangkok Garden Palace (4.8).",
        "fabricated",
    ),
]


@pytest.mark.parametrize(
    ("result", "answer", "code"), [pytest.param(r, a, code, id=name) for name, r, a, code in FAULTY]
)
def test_a_number_that_nothing_gives_is_a_fault(result: Any, answer: str, code: str) -> None:
    found = conclusive(ask(result, answer))
    assert [one.code for one in found] == [code]
    assert found[0].call_id == "c1"


WRONG = "It's a beautiful 80°F and sunny in San Francisco today!"


def test_nothing_is_claimed_when_the_result_was_cut() -> None:
    case = response(WRONG, call("lookup", {}, WEATHER, truncated=True))
    assert conclusive(case) == []


def test_nothing_is_claimed_when_an_earlier_result_was_not_captured() -> None:
    case = response(WRONG, call("lookup", {}, WEATHER), call("other", id="c2"))
    assert conclusive(case) == []


def test_nothing_is_claimed_when_a_message_was_cut() -> None:
    case = response(WRONG, call("lookup", {}, WEATHER))
    assert case.turn is not None
    cut = replace(case.turn, context=(Message(role=Role.USER, text="My wish", truncated=True),))
    assert conclusive(replace(case, turn=cut)) == []


def test_nothing_is_claimed_when_only_part_of_the_trace_arrived() -> None:
    assert conclusive(response(WRONG, call("lookup", {}, WEATHER), partial=True)) == []


def test_nothing_is_claimed_of_a_result_in_prose() -> None:
    assert conclusive(ask("It is cloudy, 58 degrees Fahrenheit.", WRONG)) == []


def test_nothing_is_claimed_after_a_failure() -> None:
    case = response(WRONG, call("lookup", {}, error="timed out"))
    assert conclusive(case) == []
    assert "fabricated" in [found.code for found in findings(case)]


def test_nothing_is_claimed_when_there_is_too_much_to_add_up() -> None:
    many = {"items": [{"price": 10.17 * n + n % 7} for n in range(1, 60)]}
    assert conclusive(ask(many, "That makes $4,711.03 together.")) == []


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param("Your appointment is on March 27th, 2023.", id="another day"),
        pytest.param("Ihr Termin ist am 27. März 2023.", id="another day, German"),
        pytest.param("预约时间是2023年3月27日。", id="another day, Chinese"),
        pytest.param("Your appointment ID is 98353403.", id="another id"),
        pytest.param("You will see Doctor Amanda Palmer then.", id="another name"),
    ],
)
def test_days_ids_and_names_from_nowhere_are_suspicions(answer: str) -> None:
    found = findings(ask({"date": "2023-03-25", "id": "98353393", "doctor": "Dr. Kim"}, answer))
    assert found and not any(one.conclusive for one in found)


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param("Your appointment is on March 25th, 2023.", id="English"),
        pytest.param("Your appointment is on 25 March.", id="without the year"),
        pytest.param("Your appointment is on 03/25/2023.", id="American"),
        pytest.param("Ihr Termin ist am 25.03.2023.", id="German"),
        pytest.param("预约时间是三月二十五日。", id="Chinese numerals"),
        pytest.param("Your appointment with Doctor Kim has the ID 98353393.", id="name and id"),
    ],
)
def test_the_same_day_in_other_words_is_no_suspicion(answer: str) -> None:
    assert findings(ask({"date": "2023-03-25", "id": "98353393", "doctor": "Dr. Kim"}, answer)) == []


def test_a_huge_result_and_a_hostile_answer_are_read_in_bounded_time() -> None:
    huge = {"hotels": [{"name": f"Hotel {n}", "price_eur": 60 + n * 1.37, "rating": n % 10} for n in range(4_000)]}
    started = time.monotonic()
    findings(ask(huge, "The cheapest is Hotel 0 at €60.01. " * 200 + "1," * 20_000))
    assert time.monotonic() - started < 20


def test_nothing_is_claimed_of_an_answer_whose_run_is_too_long_to_be_looked_through() -> None:
    rates = call("rates", result={"total": {"amount": 120.0, "currency": "EUR"}})
    case = response("The total is 990.00 EUR.", rates)
    assert case.turn is not None
    claimed = ungrounded("The total is 990.00 EUR.", case.calls, material_of(case))
    before = tuple(Turn(index=at, calls=rates_of(at)) for at in range(1_100))
    turn = replace(case.turn, index=len(before))
    long = replace(case, turn=turn, run=replace(case.run, turns=(*before, turn)))
    assert claimed and material_of(long).cut and not material_of(long).complete
    assert ungrounded("The total is 990.00 EUR.", long.calls, material_of(long)) == []


def rates_of(number: int) -> tuple[ToolCall, ...]:
    return (call("rates", result={"total": number}, id=f"r{number}"),) if number % 2 else ()
