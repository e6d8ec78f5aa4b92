# Everything a user or a developer runs. `make demo` and `make test` need Python 3.11 or newer with venv, and nothing else.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2

PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# One cache folder for all workers, and a new one each time: Numba's cache does not see every edit.
# A file stays with one worker: the examples of a page build on each other.
PYTEST := cache=$$(mktemp -d) && trap 'rm -rf "$$cache"' EXIT && \
	NUMBA_CACHE_DIR=$$cache $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --listed-skips

.PHONY: demo kernels test test-all test-release format lint types tests bench same bench-compare docs clean

OWN_KERNELS := tests/clustering/test_ranking.py tests/clustering/test_score_errors.py tests/text/test_eight_bytes.py
KERNELS := $(wildcard src/classgram/*/_kernels/*.py src/classgram/runtime/compiled/*.py kernel_build/*)

# The package alone, with its kernels compiled for this machine. The installation is renewed whenever the list of dependencies changes.
$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	@echo 'installing; the kernels are compiled for this machine, which takes some minutes of processor time'
	$(PIP) --editable .
	# Where Python may not write what it compiles (PYTHONDONTWRITEBYTECODE), every command would take 0.1 s more.
	$(BIN)/python -m compileall -q src
	touch $@

# The tools of development, too. pyctcdecode asks for an old NumPy, and works with a new one.
$(VENV)/installed-dev: $(VENV)/installed
	$(PIP) --editable '.[dev]'
	$(PIP) --no-deps pyctcdecode
	touch $@

# The library of kernels, built again where a kernel was edited; seconds where none was.
$(VENV)/kernels: $(KERNELS) | $(VENV)/installed-dev
	$(BIN)/python -m kernel_build --if-stale || echo 'kernels: left to Numba'
	touch $@

kernels: $(VENV)/kernels

demo: $(VENV)/installed
	$(BIN)/classgram demo

test: format lint types tests

# What takes longer, and is not in `make test`.
test-all: $(VENV)/installed-dev $(VENV)/kernels
	$(PYTEST) -m slow
	# The proofs of the certificate's bounds compile parts of kernels by themselves, so by Numba.
	export CLASSGRAM_KERNELS=numba && $(PYTEST) $(OWN_KERNELS)

# Before a release: kernels for every level and by the oldest Numba, the wheel, other Pythons and the oldest packages.
test-release: $(VENV)/installed-dev $(VENV)/kernels
	$(PYTEST) -m release
	$(BIN)/python .ci/versions

format: $(VENV)/installed-dev
	$(BIN)/ruff format --check .

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/lint-imports

types: $(VENV)/installed-dev
	$(BIN)/mypy

tests: $(VENV)/installed-dev $(VENV)/kernels
	$(PYTEST) -m 'not slow and not release'

# Figures: a table, and JSON in benchmarks/results. ARGS="--kenlm-bin DIR" and the like are passed on.
bench: $(VENV)/installed-dev
	$(BIN)/python -m benchmarks $(ARGS)

# OLD=commit: are all results of that commit and of the working tree the same? SCALE=small leaves the Treebank out.
same: $(VENV)/installed
	$(BIN)/python -m benchmarks.same $(OLD) --scale $(or $(SCALE),both) $(ARGS)

# OLD=commit: times of the working tree in those of that commit, measured in turn.
bench-compare: $(VENV)/installed
	$(BIN)/python -m benchmarks.compare_speed $(OLD) $(ARGS)

# The command reference is made from the help texts.
docs: $(VENV)/installed-dev
	$(BIN)/python -m tests.helpers.cli_manual docs/cli.md

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .same dist
