# Everything here sets itself up: a virtual environment in .venv, the build, the dependencies.
PYTHON ?= python3
VENV   := .venv
RUN    := $(VENV)/bin/
SOURCES := $(shell find cpp bindings examples/extending -type f) CMakeLists.txt
# Stopwatches for benchmarks and the examples of docs/extending.md, which a wheel does not have.
DEVELOPMENT := --config-settings=cmake.define.EXPOSIM_DEVELOPMENT=ON

# A build of its own, beside the packages of the environment.
SANITIZE := build/sanitize
SITE := import sysconfig; print(sysconfig.get_path("purelib"))
SANITIZED_SITE = $$($(SANITIZE)/venv/bin/python -c '$(SITE)')
# Not those of threads that the interpreter leaves behind: the sanitizer takes the unwinding of their stacks for a mistake.
SANITIZED_TESTS := tests/contract tests/test_extending.py $(addprefix tests/unit/test_,$(addsuffix .py,\
  bad_states bad_vectors bonds changed_states dynamics implicit_euler joint_types kernels looking_inside modal resolve \
  rollout rollout_policies rollout_variations simulator slots sweeps)) tests/physics/test_inside_step.py tests/physics/test_advance.py

# Crocoddyl's threads would wait for each other on small matrices, while tests take all processors.
test test-all sanitize: export OMP_NUM_THREADS = 1

.PHONY: demo train-demo paper test test-all check sanitize fuzz format stubs clean

demo: $(VENV)/.built-all  ## Solo12 trots: a summary, plots, and a replay to open in a browser
	$(RUN)exposim run solo-trot --output results/solo-trot --overwrite

train-demo: $(VENV)/.built-train  ## Go2 learns to stand up to pushes, in less than five minutes: a table before and after, and a plot
	$(RUN)python examples/training/train.py --task push --output results/training
	$(RUN)python examples/training/figure.py results/training --plot results/training/curves.png

paper: $(VENV)/.built-all  ## Every figure and table of the paper, and its claims held against them
	$(RUN)python -m paper

test: $(VENV)/.built-test  ## The tests, in a few minutes
	$(RUN)python -m pytest -n auto -m "not slow"

test-all: $(VENV)/.built-test-cluster  ## The tests and the full experiments
	$(RUN)python -m pytest -n auto

check: $(VENV)/.built-dev  ## Format, lint, types
	$(RUN)ruff format --check .
	$(RUN)ruff check .
	$(RUN)mypy
	$(RUN)clang-format --dry-run --Werror $$(find cpp bindings examples -name '*.?pp')

sanitize: $(SANITIZE)/.built  ## The core and what every integrator promises, with every mistake of memory an error
	LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
	ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 \
	$(SANITIZE)/venv/bin/python -m pytest -n auto -m "not slow" -q -k "not allocat" $(SANITIZED_TESTS)

fuzz: $(VENV)/.built-test  ## Ten minutes of nonsense; FUZZ="--minutes 2 --seed 7"
	$(RUN)python tools/fuzz.py $(FUZZ)

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

# Its own packages first, then those of the environment, but not the package that is installed there.
$(SANITIZE)/.built: $(VENV)/.built-test $(SOURCES) $(shell find src -name '*.py')
	$(RUN)python -m venv --without-pip $(SANITIZE)/venv
	$(RUN)python -m pip install --quiet --no-build-isolation --no-deps --upgrade --target $(SANITIZED_SITE) \
	  --config-settings=build-dir=$(SANITIZE)/cmake $(DEVELOPMENT) --config-settings=cmake.define.EXPOSIM_SANITIZE=ON .
	site=$$($(RUN)python -c '$(SITE)') && prefix=$$site/cmeel.prefix && ln -sfn $$prefix $(SANITIZED_SITE)/cmeel.prefix && \
	  printf '%s\n' $$site $$prefix/lib/python*/site-packages > $(SANITIZED_SITE)/environment.pth
	touch $@
