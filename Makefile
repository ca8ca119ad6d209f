# Everything a person or a build server does here. Needs Python 3.11 or newer with venv and pip, nothing else.

PYTHON ?= python3
WORKERS ?= 2
BIN := .venv/bin
PACKAGE := .venv/.package
SETUP := .venv/.complete
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -c constraints.txt

# Of other packages: their own tests, sources, copies and languages, types of packages that are not here, clients of
# servers, compiled doubles of Python. Nothing here needs them.
UNUSED := jedi/third_party/*/*stubs pyarrow/*flight* pyarrow/*_s3* pyarrow/*.so.*.*.* pyarrow/include pyarrow/tests \
    pandas/tests numba/tests numba/cuda/tests xarray/tests numpy/_core/tests matplotlib/tests fontTools/*/*.c \
    fontTools/*/*.so debugpy/_vendored/*/*/*.c sphinx/locale/*/ babel/locale-data/[!er]*.dat babel/locale-data/e[!n]*.dat

# Commands that tests start would compile the package's source to byte code each time: it is kept here in any case.
export PYTHONDONTWRITEBYTECODE :=

# What users read and copy, and the modules that they import from: all of it passes both type checkers. Programs
# of IRON import aie, which has no types. Files, as Pyrefly leaves out folders whose name begins with a dot.
PAGES := .cache/pages
USED := $(wildcard examples/*.py) docs/pictures.py docs/rooms.py $(PAGES)/*.py
FENCE := $(wildcard src/memtile/*.py src/memtile/kernels/*.py) $(addsuffix /__init__.py,$(addprefix src/memtile/,bd access testing))

# Tests of the engine: they run in the interpreter and with bounds checks too. What C++ and functions of a library compute,
# and how graphs are read and planned, is the same there.
ENGINE := tests/timing tests/data tests/silicon/test_ground_truth.py \
    $(patsubst %,--ignore-glob='*/data/test_%_*',aie_api adf cpp graph library)

# What has a target of its own: rules of the source (lint), and pages.
ELSEWHERE := --ignore tests/house --ignore tests/pages

.PHONY: setup demo check test properties pages interpreted bounds mutants mutants-random mutants-map fuzz attack simulate corpus oldest bench claims long engine lint docs site lock clean

setup: $(SETUP)

$(SETUP): $(PACKAGE)
	$(PIP) -e ".[dev]"
	cd .venv/lib/python*/site-packages && rm -rf $(UNUSED)
	$(BIN)/python -m memtile warmup
	@touch $@

$(PACKAGE): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; v = sys.version.split()[0]; sys.exit(0 if sys.version_info >= (3, 11) else \
	    f"memtile needs Python 3.11 or newer; $(PYTHON) is {v}. Choose another: make PYTHON=python3.12")'
	$(PYTHON) -m venv .venv
	$(PIP) -e .
	@touch $@

demo: $(PACKAGE)
	$(BIN)/memtile run examples/halo_tiling.py

check: $(SETUP)
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not slow and not chance and not interpreter" \
	    $(ELSEWHERE)

test: $(SETUP)
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not chance and not interpreter" $(ELSEWHERE) \
	    --ignore tests/properties

properties: $(SETUP)
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m "not interpreter" tests/properties
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -m chance tests/faults tests/clients

# Are the pages true and whole? What they show is run, what is made from code is the present one, the site is built.
pages: $(SETUP)
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal tests/pages

interpreted: $(SETUP)
	MEMTILE_JIT=0 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ENGINE)
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal tests/properties -m interpreter

# The engine with bounds checks: an index outside of its array is an error that names column, index and function.
bounds: $(SETUP)
	MEMTILE_BOUNDS=1 $(BIN)/python -m memtile warmup
	MEMTILE_BOUNDS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ENGINE)

mutants: $(SETUP)
	$(BIN)/python tests/mutants/run.py --workers $(WORKERS)

# Random changes of the source: make mutants-random N=40 SEED=1; without SEED the date draws. LEAST=50 fails below that share.
mutants-random: $(SETUP)
	$(BIN)/python tests/mutants/random_mutants.py $(or $(N),40) --seed $(or $(SEED),0) --least $(or $(LEAST),0) \
	    $(if $(SECONDS),--seconds $(SECONDS)) --workers $(WORKERS)

# Which tests run which functions, for mutants-random: all of them in the interpreter, some 15 minutes.
mutants-map: $(SETUP)
	$(BIN)/python tests/mutants/record.py --workers $(WORKERS)

# Coverage-guided search for inputs that a reader does not survive: the same ones each time, or others for SECONDS=600
# [READER=mlir] [SEED=1].
fuzz: $(SETUP)
	PYTHONPATH=tests $(BIN)/python -m adversary.fuzz $(READER) --workers $(WORKERS) --seed $(or $(SEED),0) \
	    $(if $(SECONDS),--seconds $(SECONDS))

# Random designs through pairs of ways to run them that must agree: make attack SEED=1 SECONDS=600 [PAIR=written].
attack: $(SETUP)
	PYTHONPATH=tests $(BIN)/python -m adversary.attack $(or $(SECONDS),120) $(PAIR) --seed $(or $(SEED),0) --features $(or $(FEATURES),0)

# All that writes or distributes, with kills, full disks and lost messages from seeds: make simulate N=100 SEED=0.
simulate: $(SETUP)
	PYTHONPATH=tests $(BIN)/python -m adversary.simulate $(or $(N),10000) --seed $(or $(SEED),0)

# What memtile names of the designs that hang, race or are wrong: tests/corpus/README.md.
corpus: $(SETUP)
	PYTHONPATH=tests $(BIN)/python tests/support/pages/corpus_scores.py

# The demo and the timing rules with the oldest versions that pyproject.toml allows.
oldest: .venv-oldest/.complete
	.venv-oldest/bin/memtile run examples/halo_tiling.py
	.venv-oldest/bin/python -m pytest -n $(WORKERS) --dist worksteal tests/timing

.venv-oldest/.complete: pyproject.toml constraints-oldest.txt | $(SETUP)  # not at once: both write src/*.egg-info
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check -c constraints-oldest.txt -e ".[test]"
	.venv-oldest/bin/python -m memtile warmup
	@touch $@

# Fixed rows, in JSON=file too; then the ratios that must hold.
bench: $(SETUP)
	$(BIN)/python benchmarks/rows.py $(if $(JSON),--json $(JSON))
	$(BIN)/python -m pytest benchmarks --benchmark-columns=min,median,max,rounds

# Every figure that memtile claims, measured again and put into docs/claims.md: make claims [SUBJECT=Speed].
claims: $(SETUP)
	PYTHONPATH=tests $(BIN)/python benchmarks/claims.py --write docs/claims.md $(if $(SUBJECT),--only "$(SUBJECT)")

# Hours of work in one process, or with workers that are killed: is memory flat, is nothing lost? [RUN=clients]
long: $(SETUP)
	PYTHONPATH=tests $(BIN)/python benchmarks/long_runs.py $(RUN)

# The engine as bitcode, which a first run needs no Numba for: made anew where compiled functions changed.
engine: $(SETUP)
	$(BIN)/python .ci/carry

lint: $(SETUP)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	PYTHONPATH=tests $(BIN)/python tests/support/pages/page_code.py $(PAGES) README.md docs/*.md
	$(BIN)/mypy $(USED)
	$(BIN)/pyrefly check $(USED) $(FENCE)
	$(BIN)/python -m pytest tests/house

docs: $(SETUP)
	$(BIN)/python docs/pictures.py
	$(BIN)/python docs/rooms.py
	PYTHONPATH=tests $(BIN)/python tests/support/pages/reference.py docs/reference.md
	PYTHONPATH=tests $(BIN)/python tests/support/pages/command_table.py README.md
	PYTHONPATH=tests $(BIN)/python tests/support/pages/library_table.py docs/kernels.md
	PYTHONPATH=tests $(BIN)/python tests/support/pages/attribute_table.py docs/mlir.md
	PYTHONPATH=tests $(BIN)/python tests/support/pages/constants_table.py docs/timing.md
	MEMTILE_TIMING=assumed PYTHONPATH=tests $(BIN)/python tests/support/pages/findings_table.py docs/findings.md
	PYTHONPATH=tests $(BIN)/python tests/support/pages/skill_page.py docs/agents.md
	PYTHONPATH=tests $(BIN)/python tests/support/pages/deviation_table.py
	$(BIN)/python tests/silicon/page.py docs/silicon.md
	PYTHONPATH=tests $(BIN)/python tests/support/pages/pages.py README.md docs/*.md
	PYTHONPATH=tests $(BIN)/python tests/support/pages/notebook_files.py notebooks/*.ipynb
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --features-out=docs/features.md

# The site as files, in .cache/site; any warning ends it. Fetches Pyodide for the playground, once.
site: $(SETUP)
	$(BIN)/python web/build.py .cache/site

# Versions and hashes of what the package needs, those of constraints.txt, and of what builds a release, for every
# Python and platform. To be made when a dependency changes; UPGRADE=--upgrade takes newer tools too.
LOCK := .cache/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
    --no-header --no-config --constraints constraints.txt $(UPGRADE)

lock: pyproject.toml constraints.txt
	$(PYTHON) -m venv .cache/lock
	.cache/lock/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r tools.lock
	$(LOCK) pyproject.toml --output-file requirements.lock
	$(LOCK) --group release --output-file tools.lock

clean:
	rm -rf .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .benchmarks build dist src/*.egg-info
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +
