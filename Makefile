# The commands of a checkout. Each makes its virtual environment when there is
# none, so any of them can be the first one after a clone:
#
#   make demo        compare, draw and explain a model of an embedded dataset, in an
#                    environment of its own with what the package needs
#   make test        lint, types, import layers, spelling, tests, doctests
#   make lint        the same without the tests
#   make test-browser
#                    tests of reports in a headless Chromium, which is installed
#                    where apt-get may; skipped, with a message, where there is none
#   make test-deploy tests of exported and served models with MLflow, skops, FastAPI and
#                    onnxruntime, in an environment of their own; also with PostgreSQL
#                    where TANAGER_POSTGRES names a database
#   make format      fix what ruff can fix, and format
#   make reproduce   list the tables and figures of papers; to measure one:
#                    make reproduce LAB_ARGS="su2008/table1 --quick"
#   make bench       measure speed and memory against other libraries, in an
#                    environment of its own; one of them, with small sizes:
#                    make bench BENCH_ARGS="naive_bayes --quick"
#   make scoreboard  compare all rivals on all tables of the folder TANAGER_DATA, in
#                    the environment of make bench; a part of it:
#                    make scoreboard SCOREBOARD_ARGS="--table uci25/vehicle"
#   make smoke       build wheel and source archive and use them in clean environments,
#                    with the oldest and the newest dependencies
#   make docs        build the documentation site in docs/build/html
#   make fuzz        try changed files, odd tables and odd settings for two minutes;
#                    for longer: make fuzz FUZZ_ARGS="--minutes 30 --seed 1"
#   make crash       kill work at random moments and look at what it leaves:
#                    make crash CRASH_ARGS="fit --times 10"
#   make bench-scale measure fits to Parquet files that exceed the memory, and to
#                    a cluster of two processes; smaller:
#                    make bench-scale BENCH_ARGS="--rows 1000000"
#   make sbom        list what is installed with the package, as a CycloneDX file
#   make lock        renew the lock files after changing dependencies
#   make clean       remove environments, caches and builds

PYTHON ?= python3
WORKERS ?= 2
PYTEST_ARGS ?=
BENCH_ARGS ?=
SCOREBOARD_ARGS ?=
LAB_ARGS ?= --list
FUZZ_ARGS ?= --minutes 2
CRASH_ARGS ?= --times 100
LOCK_ARGS ?=
SMOKE_ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
BENCH_VENV := .venv-bench
BENCH_STAMP := $(BENCH_VENV)/.installed
DEMO_VENV := .venv-demo
DEMO_STAMP := $(DEMO_VENV)/.installed
DEPLOY_VENV := .venv-deploy
DEPLOY_STAMP := $(DEPLOY_VENV)/.installed
PIP := -m pip --disable-pip-version-check

# Pages whose examples the tests run; changelog, contributing and benchmarks only
# include files from elsewhere.
PAGES := $(wildcard docs/*.md docs/methods/*.md)

# What make test-deploy runs.
DEPLOY_TESTS := tests/export tests/classifiers/test_mlflow_flavor.py \
    tests/classifiers/test_skops_types.py tests/docs/test_deployment.py \
    tests/cli/test_export.py

.DEFAULT_GOAL := help
.PHONY: help demo test test-browser test-deploy smoke lint format docs reproduce bench \
    scoreboard bench-scale fuzz crash sbom lock clean check-python
.DELETE_ON_ERROR:

help:
	@sed -n '1,/^$$/s/^# \{0,1\}//p' Makefile

check-python:
	@command -v $(PYTHON) >/dev/null 2>&1 || { \
	    echo "error: '$(PYTHON)' was not found; install Python 3.11 or newer," \
	         "or name one: make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "error: tanager needs Python 3.11 or newer, but '$(PYTHON)' is" \
	         "$$($(PYTHON) -V 2>&1); name a newer one:" \
	         "make PYTHON=python3.12" >&2; exit 1; }

# check-python is order-only: it is phony and must not make the stamp stale.
$(STAMP): requirements-dev.lock pyproject.toml | check-python
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python $(PIP) install --quiet -r requirements-dev.lock
	$(BIN)/python $(PIP) install --quiet --no-deps -e .
	@touch $@

# What the package itself needs, and no more.
$(DEMO_STAMP): requirements.lock pyproject.toml | check-python
	$(PYTHON) -m venv $(DEMO_VENV)
	$(DEMO_VENV)/bin/python $(PIP) install --quiet -r requirements.lock
	$(DEMO_VENV)/bin/python $(PIP) install --quiet --no-deps -e .
	@touch $@

# MLflow does not accept all versions of the development environment.
$(DEPLOY_STAMP): requirements-deploy.lock pyproject.toml | check-python
	$(PYTHON) -m venv $(DEPLOY_VENV)
	$(DEPLOY_VENV)/bin/python $(PIP) install --quiet -r requirements-deploy.lock
	$(DEPLOY_VENV)/bin/python $(PIP) install --quiet --no-deps -e .
	@touch $@

$(BENCH_STAMP): pyproject.toml | check-python
	$(PYTHON) -m venv $(BENCH_VENV)
	$(BENCH_VENV)/bin/python $(PIP) install --quiet -e '.[bench]'
	@touch $@

demo: $(DEMO_STAMP)
	$(DEMO_VENV)/bin/tanager demo

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell

format: $(STAMP)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

test: lint
	$(BIN)/python -m pytest -n $(WORKERS) --doctest-modules \
	    --doctest-glob='*.md' $(PYTEST_ARGS) src/tanager lab tests README.md \
	    CONTRIBUTING.md $(PAGES)

HAS_BROWSER := command -v chromedriver >/dev/null 2>&1 && \
    { command -v chromium || command -v google-chrome || \
      command -v chromium-browser; } >/dev/null 2>&1

test-browser: $(STAMP)
	@if ! { $(HAS_BROWSER); } && [ "$$(id -u)" = 0 ] && \
	    command -v apt-get >/dev/null 2>&1; then \
	    echo "installing chromium and chromium-driver"; \
	    { apt-get update && apt-get install -y chromium chromium-driver; } \
	        >/dev/null 2>&1 || true; \
	fi
	@if { $(HAS_BROWSER); }; then \
	    $(BIN)/python -m pytest -m browser $(PYTEST_ARGS) tests/report; \
	else \
	    echo "skipped the tests in a browser: chromium or chromedriver is missing;" \
	         "install the packages chromium and chromium-driver"; \
	fi

test-deploy: $(DEPLOY_STAMP)
	$(DEPLOY_VENV)/bin/python -m pytest -n $(WORKERS) $(PYTEST_ARGS) $(DEPLOY_TESTS)

smoke: $(STAMP)
	$(BIN)/python tools/install_built_packages.py $(SMOKE_ARGS)

# Warnings are errors. Examples of the gallery are executed again when they change.
docs: $(STAMP)
	$(BIN)/sphinx-build -W --keep-going -q -b html -j $(WORKERS) docs docs/build/html
	@echo "docs/build/html/index.html"

reproduce: $(STAMP)
	$(BIN)/python -m lab reproduce $(LAB_ARGS)

bench: $(BENCH_STAMP)
	$(BENCH_VENV)/bin/python -m lab bench $(BENCH_ARGS)

scoreboard: $(BENCH_STAMP)
	$(BENCH_VENV)/bin/python -m lab scoreboard $(SCOREBOARD_ARGS)

bench-scale: $(STAMP)
	$(BIN)/python -m lab bench scale cluster $(BENCH_ARGS)

fuzz: $(STAMP)
	$(BIN)/python -m lab fuzz $(FUZZ_ARGS)

crash: $(STAMP)
	$(BIN)/python -m lab crash $(CRASH_ARGS)

# Of an environment with the package and what it needs alone.
sbom: $(STAMP)
	rm -rf build/sbom
	$(PYTHON) -m venv build/sbom
	build/sbom/bin/python $(PIP) install --quiet .
	$(BIN)/uvx --from cyclonedx-bom cyclonedx-py environment build/sbom/bin/python \
	    --pyproject pyproject.toml --output-reproducible \
	    --output-file build/tanager.cdx.json
	@echo "build/tanager.cdx.json"

# Not a prerequisite on the stamp: the lock is renewed exactly when it is older
# than pyproject.toml. Versions stay as they are where they can; all of them move
# with LOCK_ARGS=--upgrade.
lock:
	@test -x $(BIN)/uv || $(MAKE) --no-print-directory $(STAMP)
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --extra dev \
	    --no-emit-index-url --no-emit-find-links --no-header $(LOCK_ARGS) \
	    --output-file requirements-dev.lock pyproject.toml
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 \
	    --no-emit-index-url --no-emit-find-links --no-header $(LOCK_ARGS) \
	    --constraint requirements-dev.lock --no-annotate \
	    --output-file requirements.lock pyproject.toml
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --group deploy \
	    --no-emit-index-url --no-emit-find-links --no-header $(LOCK_ARGS) \
	    --no-annotate --output-file requirements-deploy.lock pyproject.toml

clean:
	rm -rf $(VENV) $(BENCH_VENV) $(DEMO_VENV) $(DEPLOY_VENV) build dist docs/build docs/gallery \
	    docs/reference .hypothesis .import_linter_cache \
	    .mypy_cache .pytest_cache .ruff_cache
	find src tests lab -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true
