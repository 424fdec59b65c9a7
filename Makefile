# Everything here sets itself up: a virtual environment in .venv, the build, the dependencies.
PYTHON ?= python3
VENV   := .venv
RUN    := $(VENV)/bin/
SOURCES := $(shell find cpp bindings examples/extending -type f) CMakeLists.txt
# Stopwatches for benchmarks and the examples of docs/extending.md, which a wheel does not have.
DEVELOPMENT := --config-settings=cmake.define.EXPOSIM_DEVELOPMENT=ON

.PHONY: demo paper test test-all check format stubs clean

demo: $(VENV)/.built-all  ## Solo12 trots: a summary, plots, and a replay to open in a browser
	$(RUN)exposim run solo-trot --output results/solo-trot --overwrite

paper: $(VENV)/.built-all  ## Every figure and table of the paper, and its claims held against them
	$(RUN)python -m paper

test: $(VENV)/.built-test  ## The tests, in a few minutes
	$(RUN)python -m pytest -n auto -m "not slow"

test-all: $(VENV)/.built-test  ## The tests and the full experiments
	$(RUN)python -m pytest -n auto

check: $(VENV)/.built-dev  ## Format, lint, types
	$(RUN)ruff format --check .
	$(RUN)ruff check .
	$(RUN)mypy
	$(RUN)clang-format --dry-run --Werror $$(find cpp bindings examples -name '*.?pp')

format: $(VENV)/.built-dev
	$(RUN)ruff format .
	$(RUN)ruff check --fix .
	$(RUN)clang-format -i $$(find cpp bindings examples -name '*.?pp')

stubs: $(VENV)/.built-dev  ## Types of the extension, for editors and type checkers
	$(RUN)python tools/make_stubs.py

clean:
	rm -rf $(VENV) build

# Builds in the environment itself rather than in a fresh one each time, so that a change compiles only what it touches.
$(VENV)/.requirements: pyproject.toml
	test -x $(RUN)python || $(PYTHON) -m venv $(VENV)
	$(RUN)python tools/build_requirements.py | xargs $(RUN)python -m pip install --quiet
	touch $@

$(VENV)/.built: $(VENV)/.requirements $(SOURCES)
	$(RUN)python -m pip install --quiet --no-build-isolation $(DEVELOPMENT) --editable .
	touch $@

$(VENV)/.built-%: $(VENV)/.built
	$(RUN)python -m pip install --quiet --no-build-isolation $(DEVELOPMENT) --editable ".[$*]"
	touch $@
