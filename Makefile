# Everything a developer does here has a name below; plain `make` lists the names.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
KERNELS := .venv/.kernels
# Some of these are skipped where DuckDB is not installed.
DUCKDB_TESTS := $(shell grep -l importorskip tests/e2e/*.py)

export PYTHON
# What a shell exports for other projects must not reach this one.
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV

.DEFAULT_GOAL := help
.PHONY: help setup setup-sources system-packages run test test-fast test-sources lint docs tables tables-page bench bench-tables matrix mutants package check-package lock clean FORCE

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(KERNELS) ## make .venv with everything in it (system libraries too when root); run and test do it themselves

system-packages:
	@packaging/system-packages

# A tree that was moved or copied needs a new environment: its scripts name the old place.
ifneq ($(shell cat $(READY) 2>/dev/null),$(CURDIR))
$(READY): FORCE
endif

$(READY): packaging/requirements.lock packaging/make-venv pyproject.toml | system-packages
	@packaging/make-venv

# Byte code is written even where the shell says otherwise: without it every start of the program takes seconds longer.
$(KERNELS): $(READY) packaging/compile_kernels.py $(wildcard vbas_desktop/algorithms/kernels/*.py)
	@env -u PYTHONDONTWRITEBYTECODE -u PYTHONPYCACHEPREFIX $(BIN)/python packaging/compile_kernels.py 2>&1 || \
		echo "  This did not succeed; the first runs will take longer."
	@touch $@

run: setup ## open the window on the sample data; without a screen, do the sample job and show where the results are
	@packaging/run-sample

test: setup lint ## format, lint, types, import directions, docs in step, and all tests
	@packaging/run-tests

test-fast: setup ## what guards a release, in 90 seconds at most: import directions and the tests that tests/fast.txt names
	$(BIN)/lint-imports
	@packaging/run-tests @tests/fast.txt

setup-sources: setup ## add to .venv what records behind addresses need: DuckDB, PostgreSQL and Spark clients
	@packaging/setup-sources

test-sources: setup-sources ## the tests with real engines: DuckDB, a PostgreSQL server and Spark, started on this machine
	@VBAS_TEST_SOURCES=1 QT_QPA_PLATFORM=offscreen $(BIN)/pytest -n 2 --dist loadgroup tests/sources $(DUCKDB_TESTS)

lint: setup ## everything of `make test` that needs no test run
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python packaging/reference_pages.py --check docs
	$(BIN)/python -m tests.source_tables --check docs

docs: setup ## write the pages that are made from the program: docs/commands.md and docs/approaches.md
	$(BIN)/python packaging/reference_pages.py docs

tables: setup ## compute the published tables of the sources anew (five minutes): docs/tables and docs/sources-of-the-methods.md
	$(BIN)/python -m tests.source_tables docs

tables-page: setup ## write docs/sources-of-the-methods.md from the results in docs/tables
	$(BIN)/python -m tests.source_tables --page docs

bench: setup ## measure against reference programs; data go to $VBAS_BENCH_DIR or ~/.cache/vbas-bench
	$(BIN)/pytest tests/benchmarks -o python_files='bench_*.py' -o timeout=0 -p no:xdist

bench-tables: setup ## measure all approaches: docs/measured.md, in build/bench.md; started again it goes on where it was stopped
	$(BIN)/python tests/benchmarks/tables.py

matrix: setup ## compare a fixed matrix of releases with another checkout that has its own .venv: make matrix OTHER=../other
	$(BIN)/python -m tests.matrix.compare $(OTHER) $(MATRIX)

mutants: setup ## plant faults in the code that protects people and list those that no test notices; started again it goes on where it was stopped
	$(BIN)/python tests/mutants/run.py $(MUTANTS)

package: setup ## make dist/: the wheel, a folder with both programs that runs where there is no Python, and a .deb of it (needs binutils)
	$(BIN)/hatchling build --target wheel
	$(BIN)/pyinstaller packaging/vbas.spec --noconfirm --log-level ERROR --distpath dist --workpath build/pyinstaller
	packaging/make-deb

check-package: ## install the .deb of `make package` in an empty Debian and run the sample in it (root; needs debootstrap)
	packaging/check-deb

lock: setup ## choose the newest allowed versions anew and write packaging/requirements.lock (needs uv)
	uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --upgrade --generate-hashes \
		--no-emit-index-url --no-header --no-annotate --quiet --output-file packaging/requirements.lock
	packaging/lock-sources

clean: ## remove .venv, build/ and all caches
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .benchmarks
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
