"""Reading, merging and expanding configurations as the Collector does."""

from __future__ import annotations

from pathlib import Path

import pytest

from collector.config import Config, load
from collector.config.render import render_config
from collector.exporters.otlp_grpc import OtlpGrpcSettings
from collector.holding import settings as assembler_settings
from collector.records import Signal
from tests.collector.config.parts import GOOD, Tags, problems, read, registry

TAGS = """
exporters: {tags: %s}
service: {pipelines: {traces: {exporters: [tags]}}}
"""


def tags(text: str, **environment: str) -> Tags:
    config = read(GOOD, TAGS % text, environment=environment)
    return config.exporters["tags"].settings_as(Tags)


def test_only_what_a_pipeline_names_is_active() -> None:
    config = read(GOOD, sets=("exporters.otlp/unused.endpoint=a:1", "extensions.health_check={}"))
    assert list(config.receivers) == ["otlp"]
    assert list(config.processors) == ["assemble", "tool_selection"]
    assert list(config.exporters) == ["otlp/x"]
    assert not config.extensions
    assert config.notes == (
        "exporters::otlp/unused is not named by a pipeline; it isn't started",
        "extensions::health_check is not named by service::extensions; it isn't started",
    )


def test_durations_and_defaults_become_typed_values() -> None:
    config = read(GOOD, sets=("processors.assemble.hold=1m30s",))
    settings = config.processors["assemble"].settings_as(assembler_settings.Settings)
    assert (settings.hold, settings.idle_timeout) == (90.0, 30.0)
    assert config.pipelines[Signal.TRACES].exporters == ("otlp/x",)


def test_new_and_old_names_of_types_are_the_same() -> None:
    config = read(GOOD.replace("otlp/x", "otlp_grpc/x"))
    assert config.exporters["otlp_grpc/x"].component_type.name == "otlp"


def test_without_any_exporter_traces_go_to_console_and_file() -> None:
    text = """
receivers: {otlp: {protocols: {grpc: }}}
service: {pipelines: {traces: {receivers: [otlp]}, logs: {receivers: [otlp]}}}
"""
    config = read(text)
    assert config.pipelines[Signal.TRACES].exporters == ("console", "file")
    assert config.pipelines[Signal.LOGS].exporters == ("file",)
    assert "service::pipelines::traces names no exporter; it goes to console and file" in config.notes


def test_later_sources_merge_maps_and_replace_lists() -> None:
    second = """
exporters: {otlp/x: {tls: {insecure: true}}, file: {}}
service: {pipelines: {traces: {exporters: [file]}}}
"""
    config = read(GOOD, second)
    assert list(config.exporters) == ["file"]
    config = read(GOOD, second, sets=("service.pipelines.traces.exporters=[otlp/x]",))
    settings = config.exporters["otlp/x"].settings_as(OtlpGrpcSettings)
    assert (settings.endpoint, settings.tls.insecure) == ("backend:4317", True)


def test_yaml_sources_and_set_take_double_colons_between_keys() -> None:
    sources = ["yaml:" + GOOD, "yaml:exporters::otlp/x::timeout: 7s", "yaml:exporters::otlp/x::scores: none"]
    config = load(sources, ["exporters::otlp/x::endpoint=a.b:1"], registry(), {})
    settings = config.exporters["otlp/x"].settings_as(OtlpGrpcSettings)
    assert (settings.timeout, settings.scores, settings.endpoint) == (7.0, "none", "a.b:1")


def test_null_means_the_default() -> None:
    config = read(GOOD, "exporters: {otlp/x: {tls: , sending_queue: null}}\nprocessors: {assemble: }")
    assert config.exporters["otlp/x"].settings_as(OtlpGrpcSettings).tls.insecure is False


@pytest.mark.parametrize(
    ("text", "environment", "expected"),
    [
        ("{tags: {a: '${env:X}'}}", {"X": "0123"}, {"a": "0123"}),
        ("{tags: {a: '${X}'}}", {"X": "true"}, {"a": "true"}),
        ("{tags: {a: '${X}'}}", {"X": "1.10"}, {"a": "1.10"}),
        ("{tags: {a: '${X}'}}", {"X": "[1, 2]"}, {"a": "[1, 2]"}),
        ("{tags: {a: '${X}'}}", {"X": "a: b"}, {"a": "a: b"}),
        ("{tags: {a: '${X}'}}", {"X": "*not yaml"}, {"a": "*not yaml"}),
        ("{tags: {a: 'x-${env:X}-y'}}", {"X": "7"}, {"a": "x-7-y"}),
        ("{tags: {a: '${env:X:-d}'}}", {}, {"a": "d"}),
        ("{tags: {a: '${env:X:-d}'}}", {"X": ""}, {"a": "d"}),
        ("{tags: {a: '${env:X:-}'}}", {}, {"a": ""}),
        ("{tags: {a: '${env:X:-${env:Y:-z}}'}}", {"Y": "y"}, {"a": "y"}),
        ("{tags: {a: '${env:X:-http://h:1/v1}'}}", {}, {"a": "http://h:1/v1"}),
        ("{tags: {a: '$${env:X} costs 5$$, $X'}}", {"X": "x"}, {"a": "${env:X} costs 5$, $X"}),
        ("{tags: {a: '${X}'}}", {"X": "${Y}", "Y": "no"}, {"a": "${Y}"}),
        ("{tags: '${X}'}", {"X": "{a: b}"}, {"a": "b"}),
        ("{tags: {a: no, b: 'on', c: 1:30, d: 0123}}", {}, {"a": "no", "b": "on", "c": "1:30", "d": "0123"}),
    ],
)
def test_text_fields_get_the_text(text: str, environment: dict[str, str], expected: dict[str, str]) -> None:
    assert tags(text, **environment).tags == expected


def test_other_fields_get_what_yaml_reads() -> None:
    found = tags("{count: '${X}', on: '${Y}'}", X="12", Y="true")
    assert (found.count, found.on) == (12, True)
    assert tags("{count: '${X:-}'}").count is None


def test_files_can_be_expanded(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("s3cret\n")
    assert tags("{tags: {a: 'Bearer ${file:%s}'}}" % (tmp_path / "key")).tags == {"a": "Bearer s3cret"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "${env:1X}",
            "'1X' is not the name of an environment variable; use letters, "
            "digits and underscores, or $$ for a dollar sign",
        ),
        ("${vault:x}", "${vault:…} is not known; use ${env:NAME}, ${file:PATH}, or $$ for a dollar"),
        ("${X", "an expansion that begins with ${ is not closed; close it with }, or write $$ for a dollar"),
        ("${file:/nowhere}", "/nowhere can't be read: No such file or directory; check the path and its permissions"),
    ],
)
def test_expansions_that_cant_be_made_are_named(text: str, message: str) -> None:
    assert problems(GOOD, TAGS % f"{{tags: {{a: '{text}'}}}}") == [f"exporters::tags::tags::a: {message}"]


def test_a_variable_that_isnt_set_is_empty_and_noted() -> None:
    config = read(GOOD, TAGS % "{tags: {a: '${NOT_SET}'}}")
    assert config.exporters["tags"].settings_as(Tags).tags == {"a": ""}
    assert "environment variable NOT_SET is not set; it is read as empty" in config.notes


def render_secrets() -> Config:
    return read(
        GOOD,
        """
exporters: {otlp/x: {headers: {authorization: "Bearer hunter2"}}}
extensions: {judge/a: {model: m, api_key: hunter2, base_url: "http://user:hunter2@h/v1"}}
service: {extensions: [judge/a]}
""",
    )


def test_what_is_printed_hides_secrets_and_shows_defaults() -> None:
    shown = render_config(render_secrets())
    assert "hunter2" not in shown
    assert "authorization: '**********'" in shown
    assert "idle_timeout: 30s" in shown


def test_what_is_printed_can_be_read_back() -> None:
    config = read(GOOD)
    assert render_config(read(render_config(config))) == render_config(config)
