# The verbs of this project. Nothing to install first but Python 3.11 or later: each verb sets up what it needs in .venv.
# Another Python: make test PYTHON=python3.13     More arguments: make test ARGS="-k explore"
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
ARGS ?=

# Two test workers on two cores: a BLAS that starts threads of its own would only get in their way.
ONE_THREAD := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 MKL_NUM_THREADS=1

# Compiled files are kept, whatever the machine says: workers, and the processes that tests start, would else compile
# every module again.
export PYTHONDONTWRITEBYTECODE :=

# Where C is compiled: NumPy does the same where there is no compiler.
COMPILED := src/localface/geometry/compiled
LIBRARY := $(COMPILED)/_kernels.so

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test test-fast test-numpy test-core test-lowest coverage coverage-own mutants package lint lint-page format bench comparison attack docs figures notebooks clean

help:
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

demo: $(VENV)/.has-demo $(LIBRARY)  ## a recourse on two moons, then the readiness case study as a page
	@$(VENV)/bin/localface demo $(ARGS)
	@echo
	@$(VENV)/bin/localface case readiness --splits 3 --people 300 --out localface-demo/readiness

test: $(VENV)/.has-test $(VENV)/.has-dice $(VENV)/.has-browser $(LIBRARY)  ## every test and doctest, warnings as errors
	@$(ONE_THREAD) $(PY) -m pytest -q -n 2 --dist worksteal $(ARGS)

test-fast: $(VENV)/.has-test $(LIBRARY)  ## the quick tests, under a minute, for all day
	@$(ONE_THREAD) $(PY) -m pytest -q -n 2 --dist worksteal -m "not slow" tests $(ARGS)

# The folders that do things both ways, by NumPy alone: what a machine without a compiler has.
BOTH_WAYS := $(addprefix tests/,geometry density models sources data engine)
test-numpy: $(VENV)/.has-test  ## the quick tests of what is compiled, without the compiled part
	@$(ONE_THREAD) LOCALFACE_COMPILED=0 $(PY) -m pytest -q -n 2 --dist worksteal -m "not slow" $(BOTH_WAYS) $(ARGS)

# The quick tests again without any extra, and with the lowest versions that the project file allows. Of random calls, fewer
# do: what is installed changes what a call does, not which are drawn. Without extras nothing can differ in geometry, which
# imports none: `make lint` holds it to that (the contract "light").
FEWER := LOCALFACE_METERED=60
test-core: $(VENV)-core/.ready $(LIBRARY)  ## the quick tests that need no extra, without any
	@$(ONE_THREAD) $(FEWER) $(VENV)-core/bin/python -m pytest -q -n 2 --dist worksteal -m "not slow" \
	  --ignore tests/geometry tests $(ARGS)

test-lowest: $(VENV)-lowest/.ready $(LIBRARY)  ## the quick tests with the lowest versions allowed
	@$(ONE_THREAD) $(FEWER) $(VENV)-lowest/bin/python -m pytest -q -n 2 --dist worksteal -m "not slow" \
	  -W ignore::DeprecationWarning -W ignore::FutureWarning tests $(ARGS)  # old packages warn of new ones

# One folder of tests after the other, kept in build/coverage: make coverage ARGS="data --quick" runs one again.
coverage: $(VENV)/.has-test $(VENV)/.has-dice $(VENV)/.has-browser $(LIBRARY)  ## statements and branches of all of src: at least 92 %
	@$(ONE_THREAD) $(PY) tools/coverage_of_all.py $(ARGS)

coverage-own: $(VENV)/.has-test $(LIBRARY)  ## branches of search, engine and answers by their own tests alone
	@$(ONE_THREAD) $(PY) tools/coverage_by_folder.py $(ARGS)

# A sample of the inner folders. Longer, with the slow tests: make mutants ARGS="search --mutants 200 --slow"
mutants: $(VENV)/.has-test $(LIBRARY)  ## small mistakes made on purpose: how many do the tests notice?
	@$(ONE_THREAD) $(PY) tools/mutate.py --keep build/mutants $(ARGS)

# Every extra in an environment of its own, other Pythons: make package ARGS="--extras all --python python3.13"
package: $(PY)  ## build what would be released, and use it in a clean environment
	@$(PY) tools/check_package.py $(ARGS)

lint: $(VENV)/.has-lint  ## style, types and the direction of imports
	@$(VENV)/bin/ruff check --quiet
	@$(VENV)/bin/ruff format --check --quiet
	@$(VENV)/bin/mypy
	@$(VENV)/bin/lint-imports --no-logo
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory lint-page; \
	  else echo "npm is not installed: the modules of the page ($(STATIC)/*.js) were not checked"; fi

# The modules of the page: ESLint for mistakes, TypeScript for the types in their comments.
PAGE := tools/page
STATIC := src/localface/apps/web/static
lint-page: $(PAGE)/node_modules/.package-lock.json
	@$(PAGE)/node_modules/.bin/eslint --config $(PAGE)/eslint.config.js $(STATIC)
	@$(PAGE)/node_modules/.bin/tsc --project $(PAGE)

$(PAGE)/node_modules/.package-lock.json: $(PAGE)/package-lock.json
	@echo "setting up $(PAGE) for make lint (once) ..."
	@npm ci --prefix $(PAGE) --silent --no-audit --no-fund
	@touch $@

format: $(VENV)/.has-lint  ## mend what lint can mend by itself
	@$(VENV)/bin/ruff check --fix --quiet
	@$(VENV)/bin/ruff format

bench: $(VENV)/.has-test $(VENV)/.has-dice $(LIBRARY)  ## measure speed on tables of many shapes, beside the peers
	@$(ONE_THREAD) $(PY) benchmarks/bench.py $(ARGS)

comparison: $(VENV)/.has-comparison $(VENV)/.has-dice $(LIBRARY)  ## measure quality, beside the peers: takes an hour or two, and goes on where it was
	@$(ONE_THREAD) $(PY) benchmarks/comparison $(ARGS)

# Loopback only. Another length: make attack ARGS="--seconds 3600"; one part: ARGS="--only files".
attack: $(VENV)/.has-test $(LIBRARY)  ## load, faults, damaged files, kills and fuzz: about five minutes
	@$(ONE_THREAD) $(PY) benchmarks/attack.py $(ARGS)

# The site is built first, since it takes seconds: offline, warnings as errors, to be opened as a file.
docs: $(VENV)/.has-test $(VENV)/.has-dice $(LIBRARY)  ## build the site into build/site, and run every code block of README and docs
	@$(ONE_THREAD) $(PY) -m sphinx -q -W --keep-going -b html -d build/doctrees docs build/site
	@echo "the site: build/site/index.html"
	@$(ONE_THREAD) $(PY) -m pytest -q tests/test_site.py tests/test_docs.py $(ARGS)

figures: $(VENV)/.has-test $(LIBRARY)  ## draw the figures of README and docs again
	@$(PY) examples/figures.py $(ARGS)

notebooks: $(VENV)/.has-notebooks $(VENV)/.has-dice $(LIBRARY)  ## run the examples again as notebooks
	@$(ONE_THREAD) $(PY) tools/notebooks.py $(ARGS)

clean:  ## remove .venv, the compiled part and every cache
	@rm -f $(COMPILED)/_kernels.*
	@rm -rf $(VENV) $(VENV)-core $(VENV)-lowest build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache tools/page/node_modules
	@find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "localface needs Python 3.11 or later, and $(PYTHON) is not: try make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -m venv --clear $(VENV) || { rm -rf $(VENV); exit 1; }

$(VENV)-core/.ready: pyproject.toml
	@echo "setting up $(VENV)-core (once) ..."
	@$(PYTHON) -m venv --clear $(VENV)-core
	@$(VENV)-core/bin/python -m pip install -qq --upgrade 'pip>=25.1'
	@$(VENV)-core/bin/python -m pip install -qq --editable . --group fast
	@touch $@

$(VENV)-lowest/.ready: pyproject.toml tools/lowest_versions.py
	@echo "setting up $(VENV)-lowest (once) ..."
	@$(PYTHON) -m venv --clear $(VENV)-lowest
	@$(VENV)-lowest/bin/python -m pip install -qq --upgrade 'pip>=25.1'
	@$(PYTHON) tools/lowest_versions.py frames models plots > $(VENV)-lowest/lowest.txt
	@$(VENV)-lowest/bin/python -m pip install -qq --editable '.[frames,models,plots]' --group fast \
	  --constraint $(VENV)-lowest/lowest.txt
	@touch $@

# Built again when a source of it changes; build.py needs nothing but Python. Without a compiler it says so.
$(LIBRARY): $(wildcard $(COMPILED)/*.c $(COMPILED)/*.h) $(COMPILED)/build.py | $(PY)
	@$(PY) $(COMPILED)/build.py || echo "localface goes on without its compiled part" >&2

# dice-ml by itself: it asks for an XGBoost of 700 MB, and the light one of the tests will do.
$(VENV)/.has-dice: $(VENV)/.has-test
	@uv pip install --quiet --python $(PY) --no-deps 'dice-ml>=0.12' 2>/dev/null || $(PY) -m pip install -qq --no-deps 'dice-ml>=0.12'
	@touch $@

# A Chromium for the tests of the page: the one that is there, else Debian's as root, else Playwright's own.
$(VENV)/.has-browser: $(VENV)/.has-test
	@if [ -z "$$LOCALFACE_CHROMIUM" ] && ! which chromium chromium-browser google-chrome 2>/dev/null | grep -q .; then \
	  echo "fetching Chromium for the tests of the page (once) ..."; \
	  { [ "$$(id -u)" = 0 ] && { apt-get install -y -qq chromium || { apt-get update -qq && apt-get install -y -qq chromium; }; }; } >/dev/null 2>&1 \
	  || $(PY) -m playwright install chromium >/dev/null 2>&1 \
	  || echo "no Chromium could be fetched: the tests of the page will be skipped (LOCALFACE_CHROMIUM names one)"; \
	fi
	@touch $@

# One stamp for each verb's needs, made again when the project file changes. uv where present, as it
# is faster; pip where uv is absent or cannot reach the packages (it does not read pip's configuration).
# pip knows dependency groups from 25.1 on.
EXTRAS := plots,models,frames,case,cluster,web,notebook
NEEDS_demo := --editable '.[demo]'
NEEDS_test := --editable '.[$(EXTRAS)]' --group test
NEEDS_lint := --editable '.[$(EXTRAS)]' --group lint
NEEDS_notebooks := --editable '.[$(EXTRAS)]' --group notebooks
NEEDS_comparison := --editable '.[$(EXTRAS)]' --group comparison
$(VENV)/.has-%: pyproject.toml src/localface/_version.py hatch_build.py | $(PY)
	@echo "setting up $(VENV) for make $(firstword $(MAKECMDGOALS)) (once) ..."
	@uv pip install --quiet --python $(PY) $(NEEDS_$*) 2>/dev/null || { \
	  $(PY) -m pip install -qq --upgrade 'pip>=25.1' && $(PY) -m pip install -qq $(NEEDS_$*); }
	@touch $@
