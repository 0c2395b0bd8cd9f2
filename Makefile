# Everything runs in .venv, made from requirements.lock; nothing else on the machine is touched.
VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= python3
CORES ?= $(shell nproc 2>/dev/null || sysctl -n hw.ncpu)
export PATH := $(abspath $(BIN)):$(PATH)

.PHONY: run test check check-statistics lint setup lock clean

run: setup  ## the embedded default, to results/demo/report/index.html
	snakemake --cores $(CORES)
	@echo "Open $(abspath results/demo/report/index.html)"

test: check  ## everything: `check`, then tests that run whole workflows
	pytest -m workflow -n $(CORES)

check: lint  ## the fast part: linters and unit tests
	pytest -m "not workflow and not slow" -n $(CORES)

check-statistics: setup  ## do the tests of significance hold their level, and is ML-1M's table free of its ids? Minutes, with the figures
	pytest -m slow -n 0 -s

lint: setup
	ruff check .
	ruff format --check .
	snakefmt --check Snakefile workflow
	snakemake --lint

setup: $(VENV)/.complete
	@$(BIN)/python -m compileall -q src  # every job imports it anew

$(VENV)/.complete: requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

lock: setup  ## pin the newest versions that pyproject.toml allows
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		--extra dev pyproject.toml -o requirements.lock

clean:
	rm -rf $(VENV) .snakemake results/*/
