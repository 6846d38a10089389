# Everything runs in its own virtual environment; only Python, make and a C++ compiler are needed beforehand.
PYTHON ?= python3
VENV ?= .venv
# Processes for the tests, programs for the fuzzer.
WORKERS ?= 2
N ?= 1000
# How long the fuzzer of the source layer runs.
SECONDS ?= 3600

BIN := $(abspath $(VENV))/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
# Stamps: made again only when the project's dependencies change.
INSTALLED := $(VENV)/.installed
INSTALLED_DEV := $(VENV)/.installed-dev

.PHONY: setup demo test lint typecheck fuzz fuzz-source mutants clean

setup: $(INSTALLED)

$(INSTALLED): pyproject.toml constraints.txt
	@echo "Installing torch and autograph-torch into $(VENV) (a few minutes the first time)"
	$(PYTHON) -m venv $(VENV)
	$(PIP) torch==2.13.0
	$(PIP) --editable '.[test]'
	@touch $@

$(INSTALLED_DEV): $(INSTALLED)
	$(PIP) --editable '.[dev]'
	@touch $@

demo: setup
	$(BIN)/python examples/three_ways.py

test: setup
	$(BIN)/python -m pytest -n $(WORKERS) $(PYTEST_ARGS)

lint: $(INSTALLED_DEV)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# mypy does not follow the mapping of passes/, so it checks an installed copy.
typecheck: $(INSTALLED_DEV)
	rm -rf build
	$(PIP) --no-deps --no-build-isolation --target build/typed .
	cd build/typed && $(BIN)/mypy --config-file $(CURDIR)/pyproject.toml --cache-dir $(CURDIR)/.mypy_cache -p autograph_torch

fuzz: setup
	$(BIN)/python -m tests.fuzz -n $(N)

# Coverage-guided, of everything from bytes to bytes; atheris has wheels for Linux and Python 3.11 to 3.13.
fuzz-source: setup
	$(PIP) --editable '.[fuzz]'
	$(BIN)/python -m tests.fuzz_source --seconds $(SECONDS)

# Turns off each guard of the runtime in turn; fails when no test notices.
mutants: setup
	$(BIN)/python -m tests.mutate

clean:
	rm -rf $(VENV) build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache *.egg-info
