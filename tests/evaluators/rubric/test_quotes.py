"""Where a quote stands, and that a made-up one stands nowhere."""

from __future__ import annotations

import pytest

from evaluators.rubric.material import Material, material_of
from evaluators.rubric.model import Rubric
from evaluators.rubric.quotes import find_quote
from tests.evaluators.rubric.travel import ALL_TOOLS, as_run, drafted, run_that

RUBRIC = Rubric.model_validate(
    {
        "name": "r",
        "title": "R",
        "question": "?",
        "inputs": [{"name": "answer"}, {"name": "route_validation"}],
        "checks": [{"id": "c", "text": "c", "severity": "major"}],
    }
)
ANSWER = "### 春熙路\n- **距离**：约２公里\n- 说明：密钥 sk-1 之后\n### 太古里\n- 距离：约2公里，Walk 10 minutes"


def material(answer: str = ANSWER) -> Material:
    return material_of(as_run(run_that(*ALL_TOOLS, said=drafted(answer=answer))), RUBRIC)


@pytest.mark.parametrize(
    ("quote", "source"),
    [
        pytest.param("约2公里", "answer", id="full-width digits"),
        pytest.param("距离：约 2 公里", "answer", id="blanks and emphasis"),
        pytest.param("“walk 10 MINUTES”", "answer", id="case and quotation marks"),
        pytest.param("春熙路\\n- 距离", "answer", id="an escaped line end"),
        pytest.param("春熙路…约2公里", "answer", id="left out in the middle"),
        pytest.param("说明：密钥 [api_key:1f3a] 之后", "answer", id="redacted"),
        pytest.param("说明：密钥 <SECRET_1> 之后", "answer", id="shown redacted"),
        pytest.param('"distance_km": 68', "route_validation", id="a structured field"),
        pytest.param("周末主景区拥挤", "result 0", id="a tool's result"),
        pytest.param("公共交通", "user 0", id="the user"),
        pytest.param("核实 天府广场 到 泰安古镇", "call 1", id="arguments"),
    ],
)
def test_a_quote_is_found_however_it_is_spelled(quote: str, source: str) -> None:
    found = find_quote(material(), quote)
    assert found is not None and found.source == source


@pytest.mark.parametrize("quote", ["约3公里", "", "。", "…", "**", "太古里…春熙路", "[api_key:1f3a]", "a"])
def test_what_was_not_said_or_says_nothing_is_not_found(quote: str) -> None:
    assert find_quote(material(), quote) is None


def test_of_several_places_the_one_that_is_meant_is_taken() -> None:
    first, second = find_quote(material(), "约2公里", "春熙路"), find_quote(material(), "约2公里", "太古里")
    assert first is not None and second is not None and not first.overlaps(second)


def test_longer_and_shorter_quotes_of_one_place_overlap() -> None:
    longer, shorter = find_quote(material(), "距离：约2公里", "太古里"), find_quote(material(), "2公里，walk", "太古里")
    assert longer is not None and shorter is not None and longer.overlaps(shorter)
