# The verbs of this project. Nothing to install first but Python 3.11 or later: each verb sets up what it needs in .venv.
# Another Python: make test PYTHON=python3.13     More arguments: make test ARGS="-k explore"
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
ARGS ?=

# Two test workers on two cores: a BLAS that starts threads of its own would only get in their way.
ONE_THREAD := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test lint format bench docs figures clean

help:
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

demo: $(VENV)/.has-demo  ## a recourse on two moons, then the readiness case study as a page
	@$(VENV)/bin/localface demo $(ARGS)
	@echo
	@$(VENV)/bin/localface case readiness --splits 3 --people 300 --out localface-demo/readiness

test: $(VENV)/.has-test  ## every test and doctest, warnings as errors
	@$(ONE_THREAD) $(PY) -m pytest -q -n 2 --dist worksteal $(ARGS)

lint: $(VENV)/.has-lint  ## style, types and the direction of imports
	@$(VENV)/bin/ruff check --quiet
	@$(VENV)/bin/ruff format --check --quiet
	@$(VENV)/bin/mypy
	@$(VENV)/bin/lint-imports --no-logo

format: $(VENV)/.has-lint  ## mend what lint can mend by itself
	@$(VENV)/bin/ruff check --fix --quiet
	@$(VENV)/bin/ruff format

bench: $(VENV)/.has-test  ## measure speed and quality, beside the peers
	@$(PY) benchmarks/bench.py $(ARGS)

docs: $(VENV)/.has-docs  ## run every code block of README and docs
	@$(ONE_THREAD) $(PY) -m pytest -q tests/test_docs.py $(ARGS)

figures: $(VENV)/.has-docs  ## draw the figures of README and docs again
	@$(PY) examples/figures.py $(ARGS)

clean:  ## remove .venv and every cache
	@rm -rf $(VENV) build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	@find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "localface needs Python 3.11 or later, and $(PYTHON) is not: try make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -m venv --clear $(VENV) || { rm -rf $(VENV); exit 1; }

# One stamp for each extra, made again when the project file changes. uv where present, as it is faster;
# pip where uv is absent or cannot reach the packages (it does not read pip's configuration).
$(VENV)/.has-%: pyproject.toml src/localface/_version.py | $(PY)
	@echo "setting up $(VENV) for make $(firstword $(MAKECMDGOALS)) (once) ..."
	@uv pip install --quiet --python $(PY) --editable '.[$*]' 2>/dev/null || $(PY) -m pip install -qq --editable '.[$*]'
	@touch $@
