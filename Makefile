# Everything happens in .venv, which the first target that needs it makes. `make` alone lists the targets.
# Stamps in .venv say what is done; a second run does nothing that is done already.

PYTHON ?= python3
PYTEST_ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
INTEGRATIONS := $(VENV)/integrations
SITE := $(VENV)/site
# The one interpreter that all builds link against: otherwise cargo rebuilds pyo3 at every turn.
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
# Bytecode is kept, whatever the machine says: else each of the many processes of the tests compiles the package anew.
unexport PYTHONDONTWRITEBYTECODE
CARGO := cargo
MANIFEST := --manifest-path core/Cargo.toml

CORE_SOURCES := $(shell find core \( -name target -o -name tests -o -name benches -o -name examples -o -name fuzz \) -prune -o -type f -print)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup build demo test test-rust test-python test-integrations wheel-test
.PHONY: dist lint lint-style lint-types lint-docs lint-rust bench bench-rust proof fuzz fuzz-python test-arm test-schedules sanitize sanitize-rust sanitize-python sanitize-threads docs site clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(VENV)/.dev ## Make .venv with all that development needs

build: $(VENV)/.built ## Compile the core in release mode and install `bpe` into .venv
	@echo "built: $(BIN)/bpe"

demo: $(VENV)/.built ## Train a tokenizer, use it both ways, look at it and compare it
	@sh tools/demo.sh

test: test-rust test-python ## Run all tests: Rust, Python and the documentation's examples

test-rust:
	@$(NEED_CARGO)
	$(CARGO) test $(MANIFEST) --features embedded --quiet

# The tests write and sync thousands of small files: they are kept in memory where 8 GB of it are free for files, and
# removed with each test that passes: pytest looks through all that are left to find a new name. `make test TMPDIR=/tmp`
# writes them to a disk.
IN_MEMORY := $(shell df -Pk /dev/shm 2>/dev/null | awk '$$NF == "/dev/shm" && $$4 > 8000000 {print $$NF}')

test-python: $(VENV)/.dev $(VENV)/.built
	$(if $(IN_MEMORY),TMPDIR="$${TMPDIR:-$(IN_MEMORY)}") $(BIN)/python -m pytest -n logical --dist worksteal \
	  -o tmp_path_retention_policy=failed $(PYTEST_ARGS)

test-integrations: $(INTEGRATIONS)/.made $(VENV)/.built ## Read data sets back with the software that they are for (7 GB)
	$(INTEGRATIONS)/bin/python -m pytest tests/test_integrations.py tests/integrations $(PYTEST_ARGS)

wheel-test: $(VENV)/.dev $(VENV)/.built ## Build the wheel, install it elsewhere and run it from there
	$(BIN)/python -m pytest tests/test_wheel.py

dist: $(VENV)/.release $(VENV)/.dev ## Make the source distribution and the wheel in dist/, and try them without cargo
	@$(NEED_CARGO)
	$(BIN)/python tools/dist.py
	WHEEL=$$(echo dist/*.whl) $(BIN)/python -m pytest -q -p no:cacheprovider tests/test_wheel.py

lint: lint-style lint-types lint-docs lint-rust ## Check style, types, the core's stub, and that the reference pages are up to date

lint-style: $(VENV)/.dev
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --check

lint-types: $(VENV)/.dev $(VENV)/.built
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest bpe_cli._core --allowlist tests/stub_allowlist.txt --ignore-unused-allowlist

lint-docs: $(VENV)/.dev $(VENV)/.built
	$(BIN)/python docs/generate.py --check
	$(BIN)/python -m tests.proof.render --check

lint-rust: $(VENV)/.made
	@$(NEED_CARGO)
	$(CARGO) fmt $(MANIFEST) --check
	$(CARGO) check $(MANIFEST) --quiet
	$(CARGO) clippy $(MANIFEST) --all-targets --features python,embedded --quiet -- -D warnings
	@# On ARM other lines are compiled: they are looked at where Rust's library for it is installed.
	@if test -d "$$(rustc --print sysroot)/lib/rustlib/$(ARM)"; then \
	  echo '$(CARGO) clippy --target $(ARM)'; \
	  $(CARGO) clippy $(MANIFEST) --lib --target $(ARM) --quiet -- -D warnings; fi
	RUSTDOCFLAGS='-D warnings' $(CARGO) doc $(MANIFEST) --no-deps --quiet

bench: $(VENV)/.bench $(VENV)/.built ## Measure against the rivals and render the tables (takes more than an hour)
	$(BIN)/python benchmarks/run.py --journal $(VENV)/.bench-journal
	$(BIN)/python benchmarks/render.py

bench-rust: ## Measure the core's hot loops (takes a minute or two)
	@$(NEED_CARGO)
	$(CARGO) bench $(MANIFEST) --features embedded

# Seconds for each proof, which of them, and what is drawn.
PROOF_SECONDS ?= 60
PROOFS ?=
PROOF_SEED ?= 0

proof: $(VENV)/.dev $(VENV)/.built ## Try the program hard, each proof or PROOFS for PROOF_SECONDS (60), and render what was tried
	$(BIN)/python -m tests.proof --seconds $(PROOF_SECONDS) --seed $(PROOF_SEED) $(addprefix --only ,$(PROOFS)); \
	  status=$$?; $(BIN)/python -m tests.proof.render && exit $$status

# Seconds for each target, and which of them.
FUZZ_SECONDS ?= 60
FUZZ_TARGETS ?= $(basename $(notdir $(wildcard core/fuzz/targets/*.rs)))

fuzz: ## Run each fuzz target for FUZZ_SECONDS (60), or those of FUZZ_TARGETS
	@$(NEED_CARGO)
	@$(CARGO) fuzz --version >/dev/null 2>&1 || { \
	  printf 'error: cargo-fuzz was not found\n\nhint: run `cargo install cargo-fuzz`\n'; exit 1; } >&2
	@for target in $(FUZZ_TARGETS); do mkdir -p core/fuzz/corpus/$$target || exit; \
	  RUSTC_BOOTSTRAP=1 $(CARGO) fuzz run --fuzz-dir core/fuzz $$target core/fuzz/corpus/$$target core/fuzz/seeds/$$target \
	    -- -max_total_time=$(FUZZ_SECONDS) -max_len=1500 -timeout=20 -print_final_stats=1 || exit; done

# Which of the targets of tests/proof/fuzzing.
FUZZ_PYTHON_TARGETS ?=

fuzz-python: $(VENV)/.fuzz $(VENV)/.dev $(VENV)/.built ## Fuzz what Python parses, each target or FUZZ_PYTHON_TARGETS for FUZZ_SECONDS (60)
	$(BIN)/python -m tests.proof.fuzzing --seconds $(FUZZ_SECONDS) $(addprefix --only ,$(FUZZ_PYTHON_TARGETS))

# The scanner has instructions of its own on ARM. Names of tests go into ARM_TESTS: all of them take long under emulation.
ARM := aarch64-unknown-linux-gnu
ARM_TESTS ?= split::lanes

test-arm: ## Run the core's scanner tests, or ARM_TESTS, as on 64-bit ARM: under emulation (Linux)
	@$(NEED_CARGO)
	@for program in aarch64-linux-gnu-gcc qemu-aarch64; do command -v $$program >/dev/null || { \
	  printf 'error: %s was not found\n\nhint: install gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user\n' $$program; \
	  exit 1; } >&2; done
	@test -d "$$(rustc --print sysroot)/lib/rustlib/$(ARM)" || { \
	  printf 'error: the library of Rust for ARM was not found\n\nhint: run `rustup target add $(ARM)`\n'; exit 1; } >&2
	CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
	CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER='qemu-aarch64 -L /usr/aarch64-linux-gnu' \
	  $(CARGO) test $(MANIFEST) --lib --target $(ARM) -- $(ARM_TESTS)

# One thread at a time, in an order that shuttle chooses: all orders of a small case, 5,000 of larger ones.
test-schedules: ## Run the core's threads, workers and counts in thousands of chosen orders
	@$(NEED_CARGO)
	RUSTFLAGS='--cfg shuttle' CARGO_TARGET_DIR=core/target/schedules $(CARGO) test $(MANIFEST) --lib -- --nocapture schedules

# Under AddressSanitizer: the core's own tests, and those of what crosses to Python, with the extension as it then is.
# Python's own allocator would hide where an object ends. Miri is no part of a stable toolchain, and has neither the
# vector instructions of the scanners nor Python's buffers: whoever has it can run single modules of the core's tests.
# ThreadSanitizer has to be compiled into Rust's own library too: without, it sees no lock of that library that had to
# wait, and reports a Vec behind a Mutex. So it needs the library's sources, and ten minutes to compile.
SANITIZED := core/target/sanitized
SANITIZE := RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address CARGO_TARGET_DIR=$(SANITIZED) $(CARGO)
SANITIZER_TARGET := --release --target x86_64-unknown-linux-gnu
LIBASAN = $$(cc -print-file-name=libasan.so)

sanitize: sanitize-rust sanitize-python ## Run tests under AddressSanitizer: the core's, and the extension's buffers (Linux)

sanitize-rust:
	@$(NEED_CARGO)
	$(SANITIZE) test $(MANIFEST) --features embedded --lib $(SANITIZER_TARGET)

# The modules whose tests use several threads.
THREADED := threads workers shares together count plain staged spilled budget

sanitize-threads: ## Run the core's tests with several threads under ThreadSanitizer (Linux)
	@$(NEED_CARGO)
	@test -d "$$(rustc --print sysroot)/lib/rustlib/src/rust/library" || { \
	  printf 'error: the sources of Rust'"'"'s library were not found\n\nhint: run `rustup component add rust-src`\n'; exit 1; } >&2
	TSAN_OPTIONS=allocator_may_return_null=1 RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=thread CARGO_TARGET_DIR=core/target/threads $(CARGO) test $(MANIFEST) \
	  --features embedded --lib --target x86_64-unknown-linux-gnu -Zbuild-std -- $(THREADED)

sanitize-python: $(VENV)/.dev
	@$(NEED_CARGO)
	$(SANITIZE) rustc $(MANIFEST) --features python --lib --crate-type cdylib $(SANITIZER_TARGET)
	LD_PRELOAD=$(LIBASAN) ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc \
	  BPE_CORE=$(SANITIZED)/x86_64-unknown-linux-gnu/release/libbpe_core.so \
	  $(BIN)/python -m pytest -p tests.sanitized_core -p no:cacheprovider \
	    $(wildcard tests/unit/core/test_lent_memory.py tests/unit/core/test_buffers.py)

docs: $(VENV)/.built ## Write the generated pages of docs/reference and the man pages
	$(BIN)/python docs/generate.py

site: $(SITE)/.made ## Build the documentation's site in build/site, and check its links
	$(SITE)/bin/python docs/site/build.py build/site

clean: ## Remove .venv and everything that was built
	rm -rf $(VENV) core/target core/fuzz/target build dist demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find bpe_cli tests docs benchmarks -name __pycache__ -prune -exec rm -rf {} +
	rm -f bpe_cli/_core*.so bpe_cli/_core*.pyd

# -- how the stamps are made ----------------------------------------------------------------------

NEED_PYTHON = $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	printf 'error: Python 3.11 or newer is needed, %s is %s\n\n' '$(PYTHON)' \
	  "$$($(PYTHON) --version 2>/dev/null || echo absent)"; \
	echo 'hint: name another one, such as: make PYTHON=python3.12'; exit 1; } >&2

# The lowest version of Rust is stated in one place, the manifest.
RUST_VERSION := $(shell sed -n 's/^rust-version = "\(.*\)"$$/\1/p' core/Cargo.toml)

NEED_CARGO = { command -v $(CARGO) >/dev/null 2>&1 || { \
	printf 'error: cargo was not found: the core is written in Rust\n\n'; \
	echo 'hint: install it from https://rustup.rs, then run make again'; exit 1; }; \
	cargo=$$($(CARGO) --version 2>/dev/null | sed 's/^cargo \([0-9.]*\).*/\1/'); \
	printf '%s\n%s\n' '$(RUST_VERSION)' "$${cargo:-0}" | sort -C -t . -k 1,1n -k 2,2n || { \
	printf 'error: Rust %s or newer is needed, cargo is %s\n\n' '$(RUST_VERSION)' "$${cargo:-unknown}"; \
	echo 'hint: run `rustup update stable`, then make again'; exit 1; }; } >&2

$(VENV)/.made:
	@$(NEED_PYTHON)
	@$(NEED_CARGO)
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1' 'maturin>=1.12,<2'
	@touch $@

# Not `maturin develop`: that installs the dev group too, which the demo has no need of.
$(VENV)/.built: $(VENV)/.made pyproject.toml $(CORE_SOURCES)
	@$(NEED_CARGO)
	@echo "compiling the core: the first time takes a minute or two"
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pip install --quiet --disable-pip-version-check \
	  --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.made pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group dev
	@touch $@

$(INTEGRATIONS)/.made: $(VENV)/.made pyproject.toml
	$(PYTHON) -m venv --clear $(INTEGRATIONS)
	$(INTEGRATIONS)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(INTEGRATIONS)/bin/python -m pip install --quiet --disable-pip-version-check --group integrations
	@touch $@

# Needs neither the core nor cargo.
$(SITE)/.made: pyproject.toml
	@$(NEED_PYTHON)
	$(PYTHON) -m venv --clear $(SITE)
	$(SITE)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(SITE)/bin/python -m pip install --quiet --disable-pip-version-check --group docs
	@touch $@

$(VENV)/.release: $(VENV)/.made pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group release
	@touch $@

$(VENV)/.fuzz: $(VENV)/.made pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group fuzz
	@touch $@

$(VENV)/.bench: $(VENV)/.made pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group bench
	@touch $@
