# Two commands do all the set-up: `make example` builds the example report, `make test` runs the checks.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin

.PHONY: example test lint docs clean

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

example: $(VENV)/installed
	$(BIN)/python example_report/make_checkout.py
	$(BIN)/sphinx-build -b html example_report build/example
	@echo "open build/example/index.html"

test: $(VENV)/installed lint
	$(BIN)/python -m pytest -n auto

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/installed
	$(BIN)/sphinx-build -W -b html docs build/docs

clean:
	rm -rf build $(VENV)
