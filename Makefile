# Every target sets up what it needs. PYTHON chooses the interpreter that makes the virtual environment.
# TORCH is what pip installs as torch for the tests, e.g. make test TORCH='torch==2.13.0'. On Linux plain `torch` is the
# CUDA build, which is large; the tests need no GPU, so that the URL of a CPU wheel does as well.
PYTHON ?= python3
VENV ?= .venv
TORCH ?= torch
# How many tests run at a time: one more than there are cores, since many wait for a server, a browser or a process.
# JOBS=0 runs them one after the other, in one process.
JOBS ?= $(shell $(PYTHON) -c "import os; print((os.cpu_count() or 1) + 1)")
# How long `make fuzz` tries each of its targets.
SECONDS_EACH ?= 60
BIN := $(VENV)/bin
# Not all that is installed is compiled, only what is imported, and then.
INSTALL := $(BIN)/python -m pip install --quiet --no-compile
# Inspect, whose model of eval.yaml reads what we write, in an environment of its own; without Python 3.12 its test is skipped.
NEWER := $(firstword $(shell for python in python3.14 python3.13 python3.12 $(PYTHON) $(wildcard $(HOME)/.pyenv/versions/*/bin/python); do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && echo $$python; done))
VALIDATORS := $(VENV)-validators/done
export HF_HUB_OFFLINE ?= 1
export TOKENIZERS_PARALLELISM = false
# Set somewhere, this makes each of the many processes that the tests start compile the package anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test lint types compiled unit upstream quick coverage versions fuzz hooks docs people bench readings mutants wheel clean

help: ## What can be made
	@grep -E '^[a-z]+:.*##' Makefile | sed 's/:.*##/\t/'

$(VENV)/base: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --upgrade pip
	$(INSTALL) --editable .
	@touch $@

$(VENV)/dev: $(VENV)/base
	$(INSTALL) "$(TORCH)"
	$(INSTALL) --editable '.[dev]'
	@touch $@

$(VENV)/peers: $(VENV)/base
	$(INSTALL) --editable '.[bench]'
	@touch $@

$(VENV)/docs: $(VENV)/base
	$(INSTALL) --editable '.[docs]'
	@touch $@

demo: $(VENV)/base ## Install, run the README's first command, score the run again, and draw its page
	rm -rf out/demo
	$(BIN)/lm_eval --tasks tls_crisis --model tls_datewise --output_path out/demo --log_samples
	$(BIN)/tls-tasks score out/demo
	$(BIN)/tls-tasks page out/demo -o demo.html
	@printf '\n%s\n' "Open demo.html in a browser. Then type:"
	@printf '  %s\n' ". $(BIN)/activate" "tls-tasks doctor" "tls-tasks score out/demo --confidence 0.95 --csv scores.csv" \
		"tls-tasks list            # all tasks; the README says how to run a model of yours on one"

test: ## Install what the tests need; lint, types and every test
	@$(MAKE) --no-print-directory -j 2 $(VENV)/dev $(VALIDATORS)
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory -j 2 types compiled
	@$(MAKE) --no-print-directory unit

lint: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell

types: $(VENV)/dev
	$(BIN)/mypy

# All that the tests import, compiled once: else each of the processes that run them compiles it for itself.
compiled: $(VENV)/dev
	-@$(BIN)/python -m pytest --collect-only >/dev/null 2>&1

$(VALIDATORS):
	if [ -n "$(NEWER)" ]; then $(NEWER) -m venv $(VENV)-validators && $(VENV)-validators/bin/python -m pip install --quiet --no-compile inspect-ai==0.3.285; fi
	@mkdir -p $(@D) && touch $@

unit: $(VENV)/dev $(VALIDATORS)
	INSPECT_PYTHON="$$(ls $(abspath $(VENV)-validators)/bin/python 2>/dev/null)" \
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal --durations 20

upstream: $(VENV)/dev ## The tests of lm-eval against a checkout of it: make upstream LM_EVAL_SOURCE=FOLDER
	LM_EVAL_SOURCE="$(abspath $(LM_EVAL_SOURCE))" $(BIN)/python -m pytest tests/hosts/test_host_suites.py -k "source or checkout"

quick: $(VENV)/dev ## The tests that take no time: without harness runs, models and wheels
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -m "not slow"

coverage: $(VENV)/dev ## Every test with the lines and branches it runs; fails below the floor in pyproject.toml
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal --cov --cov-report=term --cov-report=xml

versions: ## The tests that take no time with the lowest and the newest versions that pyproject.toml allows; a table
	$(PYTHON) scripts/versions.py --jobs $(JOBS)

fuzz: $(VENV)/dev ## Readers, scorers, logs, submissions and verdicts with texts and files spoiled by chance, a minute each
	$(BIN)/python scripts/fuzz.py --seconds $(SECONDS_EACH)

hooks: $(VENV)/dev ## Check every file as a commit is checked, and have pre-commit check each commit from now on
	. $(BIN)/activate && pre-commit run --all-files && pre-commit install

docs: $(VENV)/docs ## The site of the documentation, into build/site; a dead link fails
	$(BIN)/python scripts/make_docs.py

people: $(VENV)/dev ## How far metrics agree with people: fetch the ratings, measure, write docs/people.md and the cards
	$(BIN)/python scripts/make_people_tables.py --measure

bench: $(VENV)/peers ## Every comparison with the original tools and with peers, in one table
	$(BIN)/python benchmarks/run.py

$(VENV)/mutants: $(VENV)/dev
	$(INSTALL) --editable '.[dev,mutants]'
	@touch $@

readings: $(VENV)/dev ## What each layer of the readers wins: its lines, and the answers that are misread without it
	$(BIN)/python scripts/readings.py

COUNT ?= 200
SEED ?= 1
mutants: $(VENV)/mutants ## Change the code in COUNT places drawn by SEED, and see whether the tests notice; over half an hour
	$(BIN)/python scripts/mutants.py --count $(COUNT) --seed $(SEED)

wheel: $(VENV)/dev ## Build the wheel and the source archive into dist/
	$(BIN)/python -m build

clean: ## Remove the virtual environment and everything that was built
	rm -rf $(VENV) $(VENV)-lowest $(VENV)-validators dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
