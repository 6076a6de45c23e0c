"""Scanners' hits: candidates, and the few things that are beyond doubt."""

from __future__ import annotations

import socket

import pytest

from evaluators.qa_judge.artifact import File
from evaluators.qa_judge.scanners import MAX_SCANNED_CHARS, MOST_HITS, Hit, scan

GITHUB = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def hits(text: str, path: str | None = "app.py", *, with_scanners: bool = True) -> tuple[Hit, ...]:
    return scan((File(path, text),), with_scanners=with_scanners)


def certain(text: str, path: str | None = "app.py") -> list[str]:
    return [hit.check for hit in hits(text, path, with_scanners=False) if hit.certain]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (f'TOKEN = "{GITHUB}"', "app.py"),
        (f"token: {GITHUB}", "deploy/values.yaml"),
        (f"-----BEGIN PRIVATE KEY-----\n{'MIIEvQIBADANBgkqhkiG' * 4}\n-----END PRIVATE KEY-----", "deploy/tls.key"),
        ('db_password = "Tr0ub4dor&3"', "app.py"),
        ("password: 'k8#fQz!2Lm'", "config.yaml"),
        ('{"pwd": "9x!Yq27Lp"}', "settings.json"),
        ("const PASSWORD = 'k8#fQz!2Lm';", "src/db.js"),
    ],
)
def test_keys_of_known_formats_and_literal_passwords_are_beyond_doubt(text: str, path: str) -> None:
    assert certain(text, path) == ["hardcoded_secret"]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ('password = "changeme123"', "app.py"),
        ('password = "your-password-1"', "app.py"),
        ('password = "<secret 1>"', "app.py"),
        ('password = os.environ["DB_PASSWORD"]', "app.py"),
        ('password = "${DB_PASSWORD}"', "config.yaml"),
        ('password == "Tr0ub4dor&3"', "app.py"),
        ('password = "Tr0ub4dor&3"', "tests/test_app.py"),
        ('password = "Tr0ub4dor&3"', "examples/app.py"),
        ('The rule: password = "Tr0ub4dor&3" is a bad idea.', "article.md"),
        ('label_password: "Password required!"', "i18n.json"),
        ('password_hint = "letters only"', "app.py"),
        ('{"password": "varchar(255)"}', "schema.json"),
        ("password: 'min:8|max:20'", "rules.yaml"),
        ("password: 'users.login.title-2'", "de.yaml"),
        ("password: 'form.login.title'", "de.yaml"),
        ('password = "5f4dcc3b5aa765d61d8327deb882cf99"', "app.py"),
        ("password: 'https://vault/app1'", "config.yaml"),
        ("api_key = 'AKIAIOSFODNN7EXAMPLE'", "app.py"),
        ("x = 1", "app.py"),
        (f"Use the token {GITHUB} for access.", "guide.md"),
        (f'TOKEN = "{GITHUB}"', "tests/test_app.py"),
        ('KEY = "sk_test_' + '4eC39HqLyjWDarjtT1zdp7dc"', "app.py"),
        ('ANON = "eyJhbGciOiJIUzI1NiJ9.eyJyb2xlIjoiYW5vbiJ9.Ki5dZ2wq8bV9xLm3PqRsTuVwXyZ"', "app.js"),
        ('MARK = "-----BEGIN PRIVATE KEY-----"', "app.py"),
        ("-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----", "app.py"),
        ('password = "aws:ssm:/prod/db-1"', "app.py"),
        ('password = "file:/run/secrets/db1"', "app.py"),
        ("SELECT password = 'x1y2z3' FROM users", "query.sql"),
        ('POSTGRES_PASSWORD: "postgres1"', "docker-compose.yml"),
        ('password = "Tr0ub4dor&3"', "config.local.py"),
    ],
)
def test_placeholders_tests_and_prose_are_no_proof(text: str, path: str) -> None:
    assert certain(text, path) == []


def test_what_is_no_proof_may_still_be_a_candidate() -> None:
    assert [(hit.check, hit.certain) for hit in hits('password = "changeme123"')] == [("hardcoded_secret", False)]
    for text, path in ((f"Use {GITHUB}.", "guide.md"), ('K = "sk_test_' + '4eC39HqLyjWDarjtT1zdp7dc"', "app.py")):
        assert {(hit.check, hit.certain) for hit in hits(text, path)} == {("hardcoded_secret", False)}


@pytest.mark.parametrize(
    ("line", "check"),
    [
        ('os.system("rm " + name)', "command_injection"),
        ('cursor.execute("SELECT * FROM users WHERE id = " + name)', "sql_injection"),
        ("pickle.loads(name)", "unsafe_deserialization"),
        ("yaml.load(name)", "unsafe_deserialization"),
        ("eval(name)", "code_injection"),
        ("random.random()", "insecure_random"),
        ("ElementTree.parse(name)", "xml_injection"),
        ("app.run(debug=True)", "debug_mode"),
    ],
)
def test_insecure_python_is_a_candidate_whatever_its_author_says_about_it(line: str, check: str) -> None:
    head = "import os, pickle, random, yaml\nfrom flask import Flask\n"
    head += "from xml.etree import ElementTree\napp = Flask(name)\n"
    for mark in ("", "  # nosec"):
        found = [hit for hit in hits(f"{head}{line}{mark}\n") if hit.check == check]
        assert [(hit.line, hit.certain) for hit in found] == [(5, False)]
        assert "bandit" in found[0].by


def test_python_in_an_answer_is_known_by_its_looks() -> None:
    assert [hit.check for hit in hits("import os\nos.system('rm ' + name)\n", path=None)] == ["command_injection"]


def test_blocks_of_code_in_an_answer_are_scanned_and_the_words_around_them_are_not() -> None:
    block = "```python\nimport os\npassword = 'k8#fQz!2Lm'\nos.system('rm ' + name)\n```\n"
    for more in ("", "A word on it. " * 40):
        prose = f'Never write password = "Tr0ub4dor&3" in code.\n\n{more}'
        found = hits(f"{prose}\n{block}", path=None)
        assert [(hit.check, hit.line, hit.certain) for hit in found if "detect-secrets" not in hit.by] == [
            ("hardcoded_secret", 6, True),
            ("command_injection", 7, False),
        ]


@pytest.mark.parametrize(
    "text",
    ["def f(:", "(" * 5000, "x = " + "[" * 3000, "\0", "é" * 1000, "-" * 200_000 + "1", "a.b" * 40_000],
    ids=["syntax", "parentheses", "brackets", "null", "letters", "signs", "long"],
)
def test_hostile_texts_end_no_scan(text: str) -> None:
    assert len(hits(text)) <= MOST_HITS


def test_no_more_is_scanned_and_told_than_a_bound() -> None:
    assert len(hits("\n".join(f'password = "k8#fQz!2L{number}"' for number in range(100)))) == MOST_HITS
    assert hits("#" * MAX_SCANNED_CHARS + f'\nTOKEN = "{GITHUB}"') == ()


def test_nothing_is_asked_of_anyone(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a scanner opened a socket")

    monkeypatch.setattr(socket, "socket", refuse)
    assert hits(f'TOKEN = "{GITHUB}"\nslack = "xoxb-123456789012-abcdefABCDEF"\n')


def test_without_scanners_only_what_is_known_by_form_is_found() -> None:
    text = 'import os\nos.system("rm " + x)\npassword = "k8#fQz!2Lm"\n'
    assert {hit.check for hit in hits(text)} == {"command_injection", "hardcoded_secret"}
    assert [hit.check for hit in hits(text, with_scanners=False)] == ["hardcoded_secret"]
