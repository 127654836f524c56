# `make run` and `make test` install what they need. They require only Python 3.11+.
MAKEFLAGS += --no-print-directory --no-builtin-rules
.DELETE_ON_ERROR:
.DEFAULT_GOAL := run
.PHONY: setup run wheel client-wheel test test-all compose-test fuzz storm mutants lint types format bench pictures clean environment tools development frontend node chromium

PYTHON ?=
PORT ?=
ARGS ?=
export PYTHON

BIN := .venv/bin
WITH_NODE = PATH="$$(setup/node-path):$$PATH"
IN_FRONTEND = export $(WITH_NODE) && cd frontend &&

# A stamp for each stage of the setup: what running needs, and what tests, checks and benchmarks also need.
ENVIRONMENT := .venv/.home
PACKAGES := .venv/.for-running
DEV_PACKAGES := .venv/.for-development
MODULES := frontend/node_modules/.for-running
DEV_MODULES := frontend/node_modules/.for-development
DIST := frontend/dist/index.html
# Generated files, which are not in git: the client's synchronous modules, and the types of the API for tsc and eslint.
SYNC := client/arcadia/_sync/__init__.py
SCHEMA := frontend/src/api/schema.ts
CLIENT_WHEEL := client/dist/.built
CLIENT_DEPENDENCIES := client/dist/.downloaded
# Includes folders, because removing a file changes its folder. The types of the API are not part of the bundle.
FRONTEND_SOURCES := $(filter-out $(SCHEMA) frontend/src/api,$(shell find frontend/src frontend/public 2>/dev/null)) \
	$(wildcard frontend/*.html frontend/*.json frontend/*.ts frontend/*.js frontend/*.mjs frontend/*.cjs)

# A .venv that was copied, or whose Python is missing, is created again.
ifneq ($(shell $(BIN)/python -c 'print("works")' 2>/dev/null) $(shell cat $(ENVIRONMENT) 2>/dev/null),works $(CURDIR))
$(shell rm -f $(ENVIRONMENT) $(PACKAGES) $(DEV_PACKAGES))
endif

# pip and npm run in parallel.
setup:
	@$(MAKE) -j2 environment client-wheel frontend
environment: $(PACKAGES) $(SYNC)
tools: $(DEV_PACKAGES) $(DEV_MODULES) $(SYNC)
development: tools $(SCHEMA)
frontend: $(DIST)
client-wheel: $(CLIENT_WHEEL)

$(ENVIRONMENT):
	@setup/python-environment

node: $(ENVIRONMENT)
	@setup/node

$(PACKAGES): requirements.lock pyproject.toml setup.py client/pyproject.toml setup/python-packages | node
	@rm -f $@
	@setup/step "Python packages" setup/python-packages running
	@touch $@

# Tests start hundreds of processes, so compile everything first.
$(DEV_PACKAGES): requirements-dev.lock $(PACKAGES)
	@rm -f $@
	@setup/step "Development packages" setup/python-packages development
	@touch $@
	@echo "Compiling the Python packages"
	@setup/compile

$(MODULES): frontend/package.json frontend/package-lock.json | node
	@echo "Installing the packages that the frontend is built from: about 40 MB, half a minute"
	@$(IN_FRONTEND) ../setup/step "Frontend packages" npm ci --omit=dev --loglevel=error
	@touch $@

# `npm ci` would reinstall everything. It has already checked the lock.
$(DEV_MODULES): $(MODULES)
	@echo "Installing the packages that the frontend is tested with: about 30 MB, half a minute"
	@$(IN_FRONTEND) npm install --no-save --loglevel=error
	@touch $@

$(DIST): $(MODULES) $(FRONTEND_SOURCES)
	@echo "Building the frontend: about ten seconds"
	@$(IN_FRONTEND) ../setup/step "Frontend build" npm run --silent build
	@touch $@

# pip has already generated these modules in a new copy. This repeats it after their sources have changed.
$(SYNC): client/generate_sync.py client/arcadia/_async $(wildcard client/arcadia/_async/*.py) | $(PACKAGES)
	@$(BIN)/python client/generate_sync.py
	@touch $@

$(SCHEMA): frontend/package.json $(DEV_MODULES) $(PACKAGES) $(shell find backend workers/arcadia_workers/contract -name '*.py') | $(SYNC)
	@echo "Generating the types of the API: about ten seconds"
	@mkdir -p .setup && $(BIN)/python -m arcadia_backend.openapi >.setup/openapi.json
	@$(IN_FRONTEND) ../setup/step "Types of the API" npm run --silent types
	@touch $@

# The server offers the client's wheel for download.
$(CLIENT_WHEEL): $(PACKAGES) setup/wheels.py client/setup.py client/generate_sync.py client/pyproject.toml client/README.md \
	$(shell find client/arcadia -path '*/_sync' -prune -o \( -name '*.py' -o -type d ! -name __pycache__ \) -print)
	@rm -f $@
	@setup/step "Client wheel" $(BIN)/python setup/wheels.py client
	@touch $@

$(CLIENT_DEPENDENCIES): $(PACKAGES) setup/wheels.py client/platforms.lock
	@rm -f $@
	@setup/step "Packages of the client" $(BIN)/python setup/wheels.py dependencies
	@touch $@

# Builds dist/arcadia-*.whl, with the frontend and the client's wheels, and dist/arcadia_client-*.whl.
wheel: setup $(CLIENT_DEPENDENCIES)
	@setup/step "Wheels" $(BIN)/python setup/wheels.py application
	@ls -1 dist/*.whl

# The remaining packages are compiled in the background at the lowest priority.
run: setup
	@nice -n 19 setup/compile &
	@$(BIN)/arcadia up $(if $(PORT),--port $(PORT)) $(ARGS)

# With ARGS, runs only pytest with them: make test ARGS="tests/backend -k claim"
test: setup tools $(if $(ARGS),$(if $(findstring browser,$(ARGS)),chromium),chromium)
	@$(WITH_NODE) $(BIN)/python setup/test.py $(ARGS)

# The required tests and the nightly stage.
test-all: setup tools chromium
	@$(WITH_NODE) $(BIN)/python setup/test.py --all

# Thousands of generated requests to the API on both databases: make fuzz CASES=20000, of some paths: ROUTES="views|board"
# Then as many damaged files of each kind.
CASES ?= 2000
ROUTES ?=
fuzz: $(DEV_PACKAGES) $(SYNC)
	@ARCADIA_TEST_CASES=$(CASES) ARCADIA_TEST_ROUTES='$(ROUTES)' $(BIN)/python -m pytest -q --show-capture=no \
		tests/contract/test_requests.py tests/contract/test_odd_requests.py tests/contract/test_hostile_files.py

# Ten minutes of kill -9 on a whole installation. ARGS="--minutes 2 --seed 7" repeats another storm.
storm: $(DEV_PACKAGES) $(SYNC)
	@$(BIN)/python -m tests.faults.storm $(ARGS)

# Hours of tests of 200 mutated copies. ARGS="--sample 20 --seed 7 client" tries another sample, of some files.
mutants: $(DEV_PACKAGES) $(SYNC) $(DIST)
	@$(BIN)/python -m tests.mutants.run $(ARGS)

# Tests the Docker Compose stack. Needs root, a Docker engine, Docker Compose 2 and debootstrap.
# COMPOSE_TEST=keep keeps the images for the next run.
COMPOSE_TEST ?= all
compose-test: $(DEV_PACKAGES) $(SYNC)
	@ARCADIA_TEST_COMPOSE=$(COMPOSE_TEST) $(BIN)/python -m pytest -v -s tests/ops/test_compose_stack.py

chromium: $(DEV_PACKAGES)
	@setup/chromium

lint: development
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	@$(IN_FRONTEND) npm run --silent lint

types: development
	$(BIN)/mypy
	@# The client also runs on Python 3.10, except the interface of plug-ins, which is part of the server.
	$(BIN)/mypy --python-version 3.10 --exclude client/arcadia/plugins client/arcadia
	@$(IN_FRONTEND) npm run --silent typecheck

format: tools
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	@$(IN_FRONTEND) npm run --silent format

bench: $(DEV_PACKAGES) $(SYNC)
	@$(BIN)/python -m bench $(ARGS)

# The pictures of docs/images; with ARGS="run live" only those pages.
pictures: setup tools chromium
	@$(BIN)/python -m bench.pictures $(ARGS)

clean:
	rm -rf .venv .setup .mypy_cache .ruff_cache .pytest_cache .hypothesis frontend/node_modules frontend/dist $(SCHEMA) $(dir $(SYNC)) client/dist dist build *.egg-info client/*.egg-info
	find backend client workers tests bench alembic -name __pycache__ -prune -exec rm -rf {} +
