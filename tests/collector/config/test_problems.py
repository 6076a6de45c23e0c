"""What operators are told about each mistake: where, what, and what to do."""

from __future__ import annotations

import pytest

from collector.config import ConfigError, load
from tests.collector.config.parts import GOOD, problems, read, registry

PIPELINE = "service::pipelines::traces"


def test_the_good_one_has_no_problems() -> None:
    assert problems(GOOD) == []


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        # Unknown and refused keys.
        ("exporter: {}", "exporter: unknown key; did you mean exporters?"),
        (
            "connectors: {}",
            "connectors: this key has no meaning here; the sidecar has fixed pipelines without connectors",
        ),
        ("exporters.otlp/x.endpiont=a:1", "exporters::otlp/x::endpiont: unknown key; did you mean endpoint?"),
        ("exporters.otlp/x.endpiont=", "exporters::otlp/x::endpiont: unknown key; did you mean endpoint?"),
        (
            "exporters.otlp/x.tls.zzz=1",
            "exporters::otlp/x::tls::zzz: unknown key; known keys: ca_file, cert_file, insecure, insecure_skip_verify, "
            "key_file, server_name_override",
        ),
        (
            "exporters.otlp/x.sending_queue.storage=file_storage",
            "exporters::otlp/x::sending_queue::storage: this key has no meaning here; "
            "the journal is the queue; see extensions::journal",
        ),
        (
            "exporters.otlp/x.sending_queue.enabled=false",
            "exporters::otlp/x::sending_queue::enabled: this key has no meaning here; every exporter has its queue, "
            "or a slow one would delay the others; take this key out",
        ),
        ("service.pipeline={}", "service::pipeline: unknown key; did you mean pipelines?"),
        (
            f"{PIPELINE}::exporter=[]",
            f"{PIPELINE}::exporter: unknown key; did you mean exporters?",
        ),
        # Component types and ids.
        ("exporters.oltp={}", "exporters::oltp: unknown type of exporter, oltp; did you mean otlp?"),
        (
            "receivers.kafka={}",
            "receivers::kafka: unknown type of receiver, kafka; known receivers: otlp",
        ),
        ("exporters.otlp/=1", "exporters::otlp/: not a component id; write type or type/name"),
        # Values.
        (
            "processors.assemble.hold=10",
            "processors::assemble::hold: 10 has no unit; write 10s for seconds or 10ms for milliseconds",
        ),
        (
            "processors.assemble.hold=soon",
            "processors::assemble::hold: 'soon' is not a duration; "
            "write a number with a unit, such as 500ms, 10s, 1m30s or 1h",
        ),
        (
            "processors.assemble.limit_mib=many",
            "processors::assemble::limit_mib: has to be a whole number; correct the value",
        ),
        ("processors.assemble.limit_mib=0", "processors::assemble::limit_mib: has to be at least 1; correct the value"),
        ("processors.assemble=[]", "processors::assemble: has to be a map; correct the value"),
        ("exporters.otlp/x.headers={a: 1}", "exporters::otlp/x::headers::a: has to be text; put the value in quotes"),
        (
            "exporters.otlp/x.tls.insecure=maybe",
            "exporters::otlp/x::tls::insecure: has to be true or false; correct the value",
        ),
        (
            "exporters.otlp/x.scores=all",
            "exporters::otlp/x::scores: not one of the possible values; "
            "use 'attributes', 'evaluation_spans', 'both' or 'none'",
        ),
        (
            "exporters.otlp/x.endpoint=backend",
            "exporters::otlp/x::endpoint: 'backend' has no port; write host:port, such as 127.0.0.1:4317",
        ),
        (
            "exporters.otlp/x.sending_queue.batch.min_size=9000000",
            "exporters::otlp/x::sending_queue::batch: max_size is smaller than min_size; make it at least as large",
        ),
        (
            "exporters.otlp/y={}",
            "exporters::otlp/y::endpoint: this key is missing; add it: `host:port`; "
            "with `http://` in front plain text, with `https://` TLS",
        ),
        (
            "exporters.otlp/y={endpoint: '${env:NOT_SET}'}",
            "exporters::otlp/y::endpoint: this key has no value; add it: `host:port`; "
            "with `http://` in front plain text, with `https://` TLS",
        ),
        (
            "receivers.otlp/2.protocols={}",
            "receivers::otlp/2::protocols: no protocol is named; name grpc, http or both",
        ),
        (
            "extensions.journal.durability=fsync",
            "extensions::journal::durability: not one of the possible values; use 'disk', 'process' or 'memory'",
        ),
        (
            "service.telemetry.metrics.readers=[{pull: {}, periodic: {exporter: {otlp: {endpoint: 'http://a'}}}}]",
            "service::telemetry::metrics::readers[0]: give exactly one of periodic and pull; correct it",
        ),
        (
            "service.telemetry.logs.level=loud",
            "service::telemetry::logs::level: not one of the possible values; use 'debug', 'info', 'warn' or 'error'",
        ),
        # Pipelines.
        (f"{PIPELINE}::receivers=[]", f"{PIPELINE}::receivers: the pipeline has no receiver; name one, such as [otlp]"),
        (
            f"{PIPELINE}::exporters=[]",
            f"{PIPELINE}::exporters: the pipeline has no exporter; name at least one of: otlp/x",
        ),
        (
            f"{PIPELINE}::exporters=[otlp]",
            f"{PIPELINE}::exporters[0]: exporter otlp is not defined; did you mean otlp/x?",
        ),
        (
            f"{PIPELINE}::exporters=otlp/x",
            f"{PIPELINE}::exporters: has to be a list; write a list of exporters, such as [name]",
        ),
        (
            f"{PIPELINE}::exporters=[otlp/x, otlp/x]",
            f"{PIPELINE}::exporters[1]: otlp/x is named twice; take one of them out",
        ),
        (
            f"{PIPELINE}::processors=[tool_selection, assemble]",
            f"{PIPELINE}::processors[0]: tool_selection needs assemble before it; name assemble as the first processor",
        ),
        ("service.pipelines.spans={}", "service::pipelines::spans: not a pipeline; there are logs, metrics, traces"),
        (
            "service.pipelines.traces/2={receivers: [otlp], exporters: [otlp/x]}",
            "service::pipelines::traces/2: there already is a traces pipeline, traces; "
            "put all its components into one pipeline",
        ),
        (
            "service.pipelines.logs={receivers: [otlp], processors: [assemble], exporters: [otlp/x]}",
            "service::pipelines::logs::processors[0]: assemble can't be part of a logs pipeline; it takes: traces",
        ),
        (
            "service.extensions=[health_check]",
            "service::extensions[0]: extension health_check is not defined; define it under extensions, or take it out",
        ),
        # Judges.
        (
            "processors.tool_selection.judge=judge/a",
            "processors::tool_selection::judge: there is no extension judge/a; define judge/… under extensions",
        ),
        # Addresses.
        (
            "exporters.otlp/x.endpoint=localhost:4317",
            "exporters::otlp/x::endpoint: sends to the sidecar itself: "
            "receivers::otlp::protocols::grpc::endpoint listens "
            "there; give the address of the backend, or move one of the two",
        ),
        (
            "receivers.otlp.protocols.http={endpoint: '0.0.0.0:4317'}",
            "receivers::otlp::protocols::http::endpoint: the same address as "
            "receivers::otlp::protocols::grpc::endpoint; "
            "use another port for one of them",
        ),
    ],
)
def test_each_mistake_is_named_with_its_place_and_a_remedy(settings: str, message: str) -> None:
    found = (
        problems(GOOD, settings)
        if settings.endswith("{}") and "=" not in settings
        else problems(GOOD, sets=(settings,))
    )
    assert found == [message]


def test_all_problems_are_told_at_once() -> None:
    found = problems(
        GOOD, sets=("exporters.otlp/x.endpiont=a", "processors.assemble.hold=1", "service.extensions=[judge]")
    )
    assert len(found) == 3


def test_a_judge_has_to_be_active_to_be_used() -> None:
    sets = ("extensions.judge/a={model: m}", "processors.tool_selection.judge=judge/a")
    assert problems(GOOD, sets=sets) == [
        "processors::tool_selection::judge: extension judge/a is not active; add judge/a to service::extensions"
    ]
    assert problems(GOOD, sets=(*sets, "service.extensions=[judge/a]")) == []


def test_of_some_extensions_there_can_be_only_one() -> None:
    sets = ("extensions={journal: {}, journal/2: {}}", "service.extensions=[journal, journal/2]")
    assert problems(GOOD, sets=sets) == [
        "extensions::journal/2: there can be only one journal, and journal is active already; keep one of the two"
    ]


def test_a_component_that_is_wrong_is_not_also_called_undefined() -> None:
    assert len(problems(GOOD, sets=("processors.assemble.hold=1",))) == 1


def test_without_pipelines_there_is_nothing_to_do() -> None:
    assert problems("receivers: {otlp: {protocols: {grpc: }}}") == [
        "service::pipelines: there is no traces pipeline; "
        "add traces: {receivers: [otlp], processors: [assemble], exporters: [...]}"
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a: [1,\nb: 2",
            "env:TEXT0, line 2, column 5: not valid YAML: expected ',' or ']', but got '<stream end>'; "
            "correct the syntax",
        ),
        ("a: 1\na: 2\n", "a (env:TEXT0, line 2): this key is already given in line 1; keep one of the two"),
        ("a: &x {b: *x}", "a::b (env:TEXT0, line 1): this value contains itself; write it out without the alias"),
        ("? [a]\n: 1", "env:TEXT0, line 1: a key that isn't text; use plain text as key"),
        ("- a", "env:TEXT0: not a map of sections; begin with receivers:, exporters:, service:"),
        ("a: \x00", "env:TEXT0: not valid YAML: a character that isn't allowed at position 3; remove it"),
    ],
)
def test_yaml_mistakes_are_told_with_line_and_column(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(text)
    assert str(caught.value) == message


def test_a_file_that_cant_be_read_is_named() -> None:
    with pytest.raises(ConfigError) as caught:
        load(["/nowhere/otel-config.yaml"], [], registry())
    assert str(caught.value) == (
        "/nowhere/otel-config.yaml: can't be read: No such file or directory; check the path given with --config"
    )


def test_problems_name_the_line_they_come_from() -> None:
    with pytest.raises(ConfigError) as caught:
        read(GOOD, sets=("processors.assemble.hold=1",))
    assert caught.value.problems[0].place == "--set processors.assemble.hold"
    with pytest.raises(ConfigError) as caught:
        read(GOOD.replace("endpoint:", "endpiont:"))
    assert {problem.place for problem in caught.value.problems} == {"env:TEXT0, line 4"}


def test_secrets_are_never_quoted() -> None:
    text = GOOD.replace(
        "endpoint:", "headers: {a: '${SECRET}'}, scores: '${SECRET}', compression: '${SECRET}', endpoint:"
    )
    with pytest.raises(ConfigError) as caught:
        read(text, environment={"SECRET": "hunter2\n"})
    assert "hunter2" not in str(caught.value)
