# make demo         score a small bundled sample with the default checkpoint
# make test         run the tests, in shuffled order
# make test-matrix  run them for each instruction set of torch, with one thread and with two (hours)
# make lint         ruff, mypy, import-linter
# make bench        measure speed, memory and precision of scoring (on WMT22 where ../shared has it, else on the sample)
# make docs         build the documentation site into site/
# make notebooks    run the notebooks and write docs/notebooks, their pages with output
# make wheel        build the wheel into dist/
# make weights    build packages of the checkpoints into dist/ (pronmetric-base, pronmetric-multilingual, pronmetric-small)
# make lock         write requirements.lock anew: the hashes of all packages but torch and its CUDA libraries
# make audit        look up known vulnerabilities of the pinned packages (needs the network)
# make sbom         write dist/pronmetric.cdx.json, the bill of materials of the wheel (CycloneDX)
#
# Each makes VENV first. On Linux without a GPU, PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu saves
# gigabytes of CUDA libraries. LOCKED=1 first installs requirements.lock, and refuses files with other hashes.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
BIN := $(VENV)/bin
PIP_INSTALL := $(BIN)/python -m pip install --quiet --constraint constraints.txt
LOCK_INSTALL := $(if $(LOCKED),$(BIN)/python -m pip install --quiet --require-hashes --no-deps -r requirements.lock)
TOOLS := .tools-venv
UV_COMPILE := $(TOOLS)/bin/uv pip compile pyproject.toml --quiet -c constraints.txt --python-version 3.11.7 \
	--python-platform x86_64-manylinux_2_34 --no-annotate --no-header
SAMPLE := examples/sample
SYSTEMS := $(SAMPLE)/system-a.txt $(SAMPLE)/system-b.txt $(SAMPLE)/system-c.txt

.PHONY: demo test test-matrix lint bench docs notebooks wheel weights lock audit sbom clean

demo: $(VENV)/.installed
	@$(BIN)/python examples/demo.py $(SAMPLE)

test: $(VENV)/.installed-dev
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest --quiet -n auto --dist loadgroup  # a process for each core

test-matrix: $(VENV)/.installed-dev
	PYTHON=$(BIN)/python tests/matrix.sh

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

bench: $(VENV)/.installed-dev
	$(BIN)/python -m benchmarks.cost.scoring_speed
	$(BIN)/python -m benchmarks.cost.precision
	$(BIN)/python -m benchmarks.cost.performance

docs: $(VENV)/.installed-docs
	$(BIN)/python -m mkdocs build --strict

notebooks: $(VENV)/.installed-dev
	$(BIN)/python -m notebooks.render

wheel: $(VENV)/.installed-dev
	$(BIN)/python -m build --wheel --no-isolation --outdir dist .

weights: $(VENV)/.installed
	$(BIN)/python -m pronmetric checkpoint package base multilingual small -o dist

lock: $(TOOLS)/.installed
	$(UV_COMPILE) --extra dev --extra docs --no-emit-package torch --generate-hashes -o requirements.lock.part
	awk '/^[a-z]/ { cuda = /^(nvidia|cuda|triton)/ } !cuda' requirements.lock.part > requirements.lock
	rm requirements.lock.part

audit: $(TOOLS)/.installed
	$(TOOLS)/bin/pip-audit --strict --no-deps --disable-pip -r constraints.txt

sbom: $(TOOLS)/.installed
	mkdir -p dist
	$(UV_COMPILE) --extra train -o dist/requirements.txt
	$(TOOLS)/bin/cyclonedx-py requirements dist/requirements.txt --pyproject pyproject.toml --output-reproducible \
		-o dist/pronmetric.cdx.json

clean:
	rm -rf build dist site *.egg-info

# A stamp for each set of packages: the second `make` installs nothing.
$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Installing into $(VENV); this takes some minutes the first time."
	$(LOCK_INSTALL)
	$(PIP_INSTALL) --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Installing the dev tools into $(VENV)."
	$(LOCK_INSTALL)
	$(PIP_INSTALL) --editable ".[dev]"
	@touch $@ $(VENV)/.installed

$(VENV)/.installed-docs: pyproject.toml constraints.txt | $(VENV)/.installed-dev
	$(PIP_INSTALL) --editable ".[dev,docs]"
	@touch $@

# The tools of the supply chain have an environment of their own.
$(TOOLS)/.installed:
	$(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/python -m pip install --quiet uv pip-audit cyclonedx-bom
	@touch $@
