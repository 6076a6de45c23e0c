"""`validate`, `print-config` and `components` as an operator sees them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from collector.cli import app

ROOT = Path(__file__).parents[3]
SIDECAR = """
receivers:
  otlp:
    protocols:
      grpc: {endpoint: 127.0.0.1:4317}
      http: {endpoint: 127.0.0.1:4318}
processors:
  assemble: {quiet_period: 2s, idle_timeout: 10s, hold: 5s, max_hold: 30s}
  tool_selection: {judge: judge/default}
  task_completion: {}
exporters:
  otlp/sink: {endpoint: 127.0.0.1:14317, tls: {insecure: true}, headers: {authorization: "${env:TOKEN}"}}
extensions:
  judge/default:
    {model: m, base_url: "${env:BASE_URL:-https://api.openai.com/v1}", api_key: "${env:NO_SUCH_API_KEY:-}"}
  journal: {durability: memory}
service:
  extensions: [judge/default, journal]
  pipelines:
    traces: {receivers: [otlp], processors: [assemble, tool_selection, task_completion], exporters: [otlp/sink]}
  telemetry: {logs: {level: info}, metrics: {level: normal}}
"""


def write(directory: Path, text: str = SIDECAR) -> str:
    path = directory / "otel-config.yaml"
    path.write_text(text)
    return str(path)


def invoke(*arguments: str, **environment: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, arguments, env=environment)
    return result.exit_code, result.stdout, result.stderr


def test_the_shipped_configuration_is_valid() -> None:
    for arguments in ((), ("--config", str(ROOT / "otel-config.yaml"))):
        code, out, err = invoke("validate", *arguments)
        assert (code, err) == (0, "")
        assert out.splitlines()[-1] == "valid"
        assert "traces: otlp -> assemble, tool_selection," in out


def test_a_variable_that_is_not_set_is_told_beside_what_comes_of_it(tmp_path: Path) -> None:
    code, _, err = invoke(
        "validate", "--config", write(tmp_path), "--set", "exporters.otlp/sink.endpoint=${env:NOT_SET}"
    )
    assert code == 2
    assert "note: environment variable NOT_SET is not set; it is read as empty" in err.splitlines()
    assert "error: exporters::otlp/sink::endpoint (--set exporters.otlp/sink.endpoint): this key has no value" in err


def test_a_valid_configuration_shows_its_pipelines_and_notes(tmp_path: Path) -> None:
    code, out, err = invoke("validate", "--config", write(tmp_path), "--set", "exporters.file={}", TOKEN="t")
    assert code == 0
    assert out == "traces: otlp -> assemble, tool_selection, task_completion -> otlp/sink\nvalid\n"
    judge_off, unused = err.splitlines()
    assert unused == "note: exporters::file is not named by a pipeline; it isn't started"
    assert judge_off.startswith("note: judge/default is off")


def test_problems_go_to_standard_error_with_file_and_line(tmp_path: Path) -> None:
    path = write(
        tmp_path, SIDECAR.replace("hold: 5s", "hold: 5").replace("otlp/sink: {endpoint:", "otlp/sink: {endpont:")
    )
    code, out, err = invoke("validate", "--config", path, TOKEN="t")
    assert (code, out) == (2, "")
    assert err.splitlines() == [
        f"error: processors::assemble::hold ({path}, line 8): 5 has no unit; "
        "write 5s for seconds or 5ms for milliseconds",
        f"error: exporters::otlp/sink::endpoint ({path}, line 12): this key is missing; add it: `host:port`; "
        "with `http://` in front plain text, with `https://` TLS",
        f"error: exporters::otlp/sink::endpont ({path}, line 12): unknown key; did you mean endpoint?",
    ]


def test_print_config_hides_secrets_and_can_be_read_back(tmp_path: Path) -> None:
    path = write(tmp_path)
    code, out, _ = invoke("print-config", "--config", path, "--set", "processors.assemble.hold=7s", TOKEN="hunter2")
    assert code == 0
    assert "hunter2" not in out
    shown = yaml.safe_load(out)
    assert shown["processors"]["assemble"]["hold"] == "7s"
    assert shown["exporters"]["otlp/sink"]["headers"] == {"authorization": "**********"}
    assert shown["extensions"]["judge/default"]["base_url"] == "https://api.openai.com/v1"
    assert invoke("validate", "--config", write(tmp_path, out))[0] == 0


def test_components_lists_every_type_with_its_settings() -> None:
    code, out, _ = invoke("components")
    assert code == 0
    for line in (
        "receivers:",
        "  otlp, otlp_grpc: Sends to an OTLP/gRPC backend.",
        "    sending_queue::num_consumers: whole number [10]",
        "    endpoint: text (required)",
        "    hold: duration [10s]",
        "    verbosity: basic, normal, detailed [normal]",
    ):
        assert line in out.splitlines()


@pytest.mark.parametrize(
    ("kind", "name", "remedy"),
    [
        ("processors", "batch", "every exporter batches (sending_queue::batch)"),
        ("processors", "memory_limiter/all", "processors::assemble::limit_mib"),
        ("processors", "groupbytrace", "name it instead"),
        ("exporters", "debug", "console shows traces"),
        ("extensions", "file_storage", "kept by the journal"),
    ],
)
def test_what_collector_configurations_often_name_is_refused_with_what_to_do(
    tmp_path: Path, kind: str, name: str, remedy: str
) -> None:
    code, _, err = invoke("validate", "--config", write(tmp_path), "--set", f"{kind}::{name}={{}}", TOKEN="t")
    (error,) = (line for line in err.splitlines() if line.startswith("error: "))
    singular, type_name = kind.removesuffix("s"), name.partition("/")[0]
    assert code == 2
    assert error.startswith(
        f"error: {kind}::{name} (--set {kind}::{name}): there is no {singular} of type {type_name} here; "
    )
    assert remedy in error


def admitting(tmp_path: Path, evaluator: str) -> str:
    settings = f"admission: {{sampling_percentage: 5, evaluators: {{{evaluator}: {{sampling_percentage: 50}}}}}}"
    text = SIDECAR.replace("  task_completion: {}", f"  task_completion: {{}}\n  {settings}")
    return write(tmp_path, text.replace("[assemble,", "[assemble, admission,"))


def test_admission_may_differ_for_an_evaluator_that_is_there(tmp_path: Path) -> None:
    code, out, _ = invoke("validate", "--config", admitting(tmp_path, "task_completion"))
    assert code == 0 and "assemble, admission, tool_selection" in out


def test_admission_for_an_evaluator_that_is_not_there_is_told_with_the_nearest_name(tmp_path: Path) -> None:
    code, _, err = invoke("validate", "--config", admitting(tmp_path, "tool_selectoin"))
    assert code == 2
    assert re.search(
        r"processors::admission::evaluators::tool_selectoin \(.+, line \d+\): no evaluator named tool_selectoin is", err
    )
    assert "tool_selection" in err.split(";")[1]


def test_what_a_derived_verdict_has_to_do_without_is_told_with_what_to_add(tmp_path: Path) -> None:
    derived = SIDECAR.replace("  task_completion: {}\n", "  task_completion: {}\n  trajectory_quality: {}\n").replace(
        "tool_selection, task_completion]", "tool_selection, task_completion, trajectory_quality]"
    )
    code, out, err = invoke("validate", "--config", write(tmp_path, derived))
    assert (code, out.splitlines()[-1]) == (0, "valid")
    (told,) = [line for line in err.splitlines() if "trajectory_quality" in line]
    assert "processors.trajectory_quality has no verdicts of step_efficiency" in told
    assert "the part efficiency is left out" in told
    assert "tool_selection" not in told


def comparing(tmp_path: Path, references: str) -> str:
    """A configuration that compares calls, with these settings of references, or without any."""
    own = f"  references: {references}\n" if references else ""
    text = SIDECAR.replace("  task_completion: {}\n", f"  task_completion: {{}}\n{own}  tool_calls_match: {{}}\n")
    named = "references, tool_calls_match" if references else "tool_calls_match"
    return write(tmp_path, text.replace("task_completion]", f"task_completion, {named}]"))


def test_a_file_of_references_is_checked_with_the_configuration(tmp_path: Path) -> None:
    file = tmp_path / "references.yaml"
    file.write_text("references:\n  - match: {session: s-1}\n    tool_calls: [{name: f, argument: {}}]\n")
    code, _, err = invoke("validate", "--config", comparing(tmp_path, f"{{file: '{file}'}}"))
    assert code == 2
    assert "processors::references" in err
    assert "references.yaml: line 3, references[0].tool_calls[0].argument" in err
    assert "did you mean arguments?" in err
    file.write_text("references:\n  - match: {session: s-1}\n    tool_calls: [f]\n")
    code, out, err = invoke("validate", "--config", comparing(tmp_path, f"{{file: '{file}'}}"))
    assert (code, out.splitlines()[-1]) == (0, "valid")
    assert "references" not in err


def test_references_have_to_be_from_somewhere(tmp_path: Path) -> None:
    code, _, err = invoke("validate", "--config", comparing(tmp_path, "{}"))
    assert code == 2
    assert "names no source of references; give a file, or from_attributes: true" in err
    assert invoke("validate", "--config", comparing(tmp_path, "{from_attributes: true}"))[0] == 0


def test_a_comparison_without_references_is_told_with_what_to_add(tmp_path: Path) -> None:
    code, out, err = invoke("validate", "--config", comparing(tmp_path, ""))
    assert (code, out.splitlines()[-1]) == (0, "valid")
    assert "tool_calls_match compares with a reference, and there is none; add the processor references" in err


def test_judges_that_escalate_in_a_circle_are_told_with_the_way_round(tmp_path: Path) -> None:
    text = SIDECAR.replace(
        "  judge/default:\n    {", "  judge/b: {model: b, escalate_to: judge/default}\n  judge/default:\n    {"
    )
    text = text.replace("{model: m,", "{model: m, escalate_to: judge/b,").replace(
        "[judge/default,", "[judge/default, judge/b,"
    )
    code, _, err = invoke("validate", "--config", write(tmp_path, text))
    assert code == 2
    assert err.count("leads back to") == 1 and "judge/default → judge/b → judge/default" in err
    assert re.search(r"escalate_to \(.+, line \d+\): leads back", err)


def test_a_judge_that_is_escalated_to_has_to_be_there(tmp_path: Path) -> None:
    text = SIDECAR.replace("{model: m,", "{model: m, escalate_to: judge/large,")
    code, _, err = invoke("validate", "--config", write(tmp_path, text))
    assert code == 2 and "extensions::judge/default::escalate_to" in err and "there is no extension judge/large" in err


def test_a_judge_for_an_evaluator_that_asks_none_is_a_mistake(tmp_path: Path) -> None:
    code, _, err = invoke(
        "validate", "--config", write(tmp_path), "--set", "processors.tool_call_f1.judge=judge/default"
    )
    assert code == 2
    assert "tool_call_f1::judge" in err and "nothing can be set here; take this key out" in err


def test_validate_tells_all_notes_those_of_consequence_first(tmp_path: Path) -> None:
    unused = [f"exporters.file/{number}={{}}" for number in range(8)]
    sets = [part for one in unused for part in ("--set", one)]
    _, _, err = invoke("validate", "--config", write(tmp_path), *sets, TOKEN="t")
    assert len(err.splitlines()) == 9 and err.startswith("note: judge/default is off")
