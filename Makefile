# Everything a user or a developer runs. `make demo` and `make test` need Python 3.11 or newer with venv, and nothing else.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2

.PHONY: demo test format lint types check-docs tests judges bench same bench-compare docs clean

# The installation is renewed whenever the list of dependencies changes.
$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	# Where Python may not write what it compiles (PYTHONDONTWRITEBYTECODE), every command would take 0.1 s more.
	$(BIN)/python -m compileall -q src
	touch $@

demo: $(VENV)/installed
	$(BIN)/classgram demo

test: $(VENV)/installed format lint types tests

format: $(VENV)/installed
	$(BIN)/ruff format --check .

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/lint-imports

types: $(VENV)/installed
	$(BIN)/mypy

# One cache folder for all workers, and a new one each time: Numba's cache does not see every edit.
# A file stays with one worker: the examples of a page build on each other.
tests: $(VENV)/installed
	cache=$$(mktemp -d) && trap 'rm -rf "$$cache"' EXIT && NUMBA_CACHE_DIR=$$cache $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile

# Other tools that some tests ask, where they install; pyctcdecode wants an old NumPy, and works with a new one.
judges: $(VENV)/installed
	$(BIN)/python -m pip install --quiet '.[judges]'
	$(BIN)/python -m pip install --quiet --no-deps pyctcdecode

# Figures: a table, and JSON in benchmarks/results. ARGS="--kenlm-bin DIR" and the like are passed on.
bench: $(VENV)/installed
	$(BIN)/python -m benchmarks $(ARGS)

# OLD=commit: are all results of that commit and of the working tree the same? SCALE=small leaves the Treebank out.
same: $(VENV)/installed
	$(BIN)/python -m benchmarks.same $(OLD) --scale $(or $(SCALE),both) $(ARGS)

# OLD=commit: times of the working tree in those of that commit, measured in turn.
bench-compare: $(VENV)/installed
	$(BIN)/python -m benchmarks.compare_speed $(OLD) $(ARGS)

# The command reference is made from the help texts.
docs: $(VENV)/installed
	$(BIN)/python -m tests.cli_manual docs/cli.md

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .same dist
