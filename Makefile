# `make run` and `make test` do all their own set-up: only Python 3.11+ is taken for granted.
MAKEFLAGS += --no-print-directory --no-builtin-rules
.DELETE_ON_ERROR:
.DEFAULT_GOAL := run
.PHONY: setup run test fuzz storm lint types openapi format bench clean environment frontend chromium

PYTHON ?=
PORT ?=
ARGS ?=
export PYTHON

BIN := .venv/bin
WITH_NODE = PATH="$$(setup/node-path):$$PATH"
IN_FRONTEND = export $(WITH_NODE) && cd frontend &&

INSTALLED := .venv/.installed
MODULES := frontend/node_modules/.stamp
DIST := frontend/dist/index.html
# Folders are listed too: a file that was removed changes its folder.
FRONTEND_SOURCES := $(shell find frontend/src frontend/public 2>/dev/null) \
	$(wildcard frontend/*.html frontend/*.json frontend/*.ts frontend/*.js frontend/*.mjs frontend/*.cjs)

# A .venv that was copied from elsewhere, or whose Python is gone, is as good as none.
ifneq ($(shell $(BIN)/python -c 'print("works")' 2>/dev/null) $(shell cat .venv/.home 2>/dev/null),works $(CURDIR))
$(shell rm -f $(INSTALLED))
endif

setup: environment frontend
environment: $(INSTALLED)
frontend: $(DIST)

$(INSTALLED): requirements.lock pyproject.toml setup/python-environment
	@setup/python-environment

$(MODULES): frontend/package.json frontend/package-lock.json | $(INSTALLED)
	@echo "Installing frontend packages"
	@$(IN_FRONTEND) npm ci --no-audit --no-fund --loglevel=error
	@touch $@

$(DIST): $(MODULES) $(FRONTEND_SOURCES)
	@echo "Building the frontend"
	@$(IN_FRONTEND) npm run --silent build
	@touch $@

run: setup
	@$(BIN)/arcadia up $(if $(PORT),--port $(PORT)) $(ARGS)

# With ARGS, only pytest runs, with those: make test ARGS="tests/backend -k claim"
test: setup $(if $(ARGS),$(if $(findstring browser,$(ARGS)),chromium),chromium)
	@$(WITH_NODE) $(BIN)/python setup/test.py $(ARGS)

# Thousands of made-up and odd requests to the API on both databases: make fuzz CASES=20000
CASES ?= 2000
fuzz: environment
	@ARCADIA_TEST_CASES=$(CASES) $(BIN)/python -m pytest -q --show-capture=no \
		tests/contract/test_requests.py tests/contract/test_odd_requests.py

# Ten minutes of kill -9 over a whole installation; ARGS="--minutes 2 --seed 7" repeats the kills of another.
storm: environment
	@$(BIN)/python -m tests.faults.storm $(ARGS)

chromium: environment
	@setup/chromium

lint: environment $(MODULES)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@$(IN_FRONTEND) npm run --silent lint

types: environment $(MODULES)
	$(BIN)/mypy
	@mkdir -p .setup && $(BIN)/python -m backend.openapi >.setup/openapi.json
	@cmp .setup/openapi.json frontend/openapi.json || { echo "The API has changed: run make openapi"; exit 1; }
	@$(IN_FRONTEND) npm run --silent types:check
	@$(IN_FRONTEND) npm run --silent typecheck

# The frontend's types follow the API's own description; `make types` fails while they lag behind.
openapi: environment $(MODULES)
	@$(BIN)/python -m backend.openapi >frontend/openapi.json
	@$(IN_FRONTEND) npm run --silent types

format: environment $(MODULES)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	@$(IN_FRONTEND) npm run --silent format

bench: environment
	@$(BIN)/python -m bench $(ARGS)

clean:
	rm -rf .venv .setup .mypy_cache .ruff_cache .pytest_cache .hypothesis frontend/node_modules frontend/dist *.egg-info
	find backend workers tests bench alembic -name __pycache__ -prune -exec rm -rf {} +
