# Two commands do all the set-up: `make example` builds the example report, `make test` runs the checks.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin

.PHONY: example test campaign lint docs clean

# A Python that can run this, and an environment that is whole.
USABLE = import sys; sys.exit(sys.version_info < (3, 11))
WHOLE = import pip, sys; sys.exit(sys.version_info < (3, 11))

# An environment of an older Python, or half made, is made anew.
$(VENV)/installed: pyproject.toml
	@$(BIN)/python -c '$(WHOLE)' 2>/dev/null || { \
	  $(PYTHON) -c '$(USABLE)' || { \
	    echo "$(PYTHON) is not Python 3.11 or later; name one that is: make PYTHON=python3.12 …" >&2; \
	    exit 1; }; \
	  $(PYTHON) -m venv --clear $(VENV); }
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

example: $(VENV)/installed
	$(BIN)/python example_report/make_checkout.py
	$(BIN)/sphinx-build -b html example_report build/example
	@echo "open build/example/index.html"

test: $(VENV)/installed lint
	$(BIN)/python -m pytest -n auto

# Long searches for what the suite misses, with fixed seeds: an hour or so.
campaign: $(VENV)/installed
	$(BIN)/python tests/campaigns/mutations.py --count 600
	$(BIN)/python tests/campaigns/faults.py --signal SIGKILL
	$(BIN)/python tests/campaigns/faults.py --signal SIGKILL --jobs 4
	$(BIN)/python tests/campaigns/faults.py --signal ENOSPC
	$(BIN)/python tests/campaigns/fuzz.py --minutes 20

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/installed
	$(BIN)/sphinx-build -W -b html docs build/docs

clean:
	rm -rf build $(VENV)
