# Everything that a newcomer or a maintainer types. `make run` and `make test` set up whatever they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS := $(shell nproc 2>/dev/null || echo 2)

PACKAGES := $(wildcard board eval book search training uci_engine pool arena command web play)
SOURCES := setup.py scripts/join_search.py scripts/record_search.py scripts/guided_build.py $(shell find $(PACKAGES) -name '*.py' -not -name '_build.py' -o -name '*.pxd' -o -name '*.h')
# A new commit changes what `quetzal --version` says, so it counts as a source.
COMMIT := $(wildcard .git/logs/HEAD)

# Two stamps: what running and building need, and what only tests and releases need.
READY := $(VENV)/.ready-to-run
DEV := $(VENV)/.ready-to-test
BUILT := build/.built
GUIDED := build/.guided
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: help build run test bench lint format test-debug test-sanitize test-thread test-hostile freeze windows test-windows arm64 test-arm64 macos-check wasm test-wasm packages clean

help:
	@echo "make run            set everything up and start the engine (UCI on stdin/stdout)"
	@echo "make test           set everything up and run the whole test suite"
	@echo "make bench          compare the search's node counts with its signature"
	@echo "make build          set everything up and compile the core"
	@echo "make lint, format   ruff"
	@echo "make test-debug     the suite on a build with assertions, bounds and overflow checks"
	@echo "make test-sanitize  the suite on a build with AddressSanitizer and UBSan"
	@echo "make test-thread    the tests of search threads on a build with ThreadSanitizer"
	@echo "make test-hostile   fuzzers for SECONDS=600 from SEED=1, ONLY='dialogue files' or all of them"
	@echo "make freeze         what people download: dist/quetzal-VERSION-PLATFORM and a single file"
	@echo "make windows        the same for Windows, cross-compiled and frozen under wine (Debian or Ubuntu)"
	@echo "make test-windows   what make windows has made, under wine"
	@echo "make arm64          the core for Linux on ARM64, cross-compiled and tried under qemu (Debian or Ubuntu)"
	@echo "make test-arm64     the same with the tests that can run there"
	@echo "make macos-check    does the core compile and link for macOS, with zig?"
	@echo "make wasm           a page that plays in the browser itself: dist/web, for any web server (Debian or Ubuntu)"
	@echo "make test-wasm      what make wasm has made, under node and in Chromium"
	@echo "make packages       wheel and source archive for pip, in dist/"
	@echo "make clean          remove everything that was built"

$(READY): pyproject.toml scripts/requirements.py
	@command -v $(PYTHON) >/dev/null || { echo "Python 3.11 or newer is needed ($(PYTHON) not found)" >&2; exit 1; }
	@$(PYTHON) scripts/check_system.py
	@echo "Setting up $(VENV) ..." >&2
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python scripts/requirements.py build run > $(VENV)/requirements.txt
	@$(PIP) -r $(VENV)/requirements.txt >&2
	@touch $@

$(DEV): $(READY)
	@echo "Installing what tests and releases need ..." >&2
	@$(BIN)/python scripts/requirements.py dev > $(VENV)/requirements-dev.txt
	@$(PIP) -r $(VENV)/requirements-dev.txt >&2
	@touch $@

# The command, beside the core that was built in place.
INSTALL = test -x $(BIN)/quetzal || QUETZAL_SKIP_CORE=1 $(PIP) --no-deps --no-build-isolation --editable . \
	--config-settings editable_mode=compat >&2

$(BUILT): $(READY) $(SOURCES) $(COMMIT)
	@echo "Building the compiled core; the first time takes a few minutes ..." >&2
	@$(BIN)/python scripts/build_core.py build/log build_ext --inplace --parallel $(JOBS)
	@$(INSTALL)
	@touch $@

build: $(BUILT)

# What is given to people is optimised for what the core is seen to do, which takes two builds.
$(GUIDED): $(READY) $(SOURCES) $(COMMIT)
	@echo "Building the compiled core twice, guided by a profile; that takes several minutes ..." >&2
	@QUETZAL_GUIDED=1 $(BIN)/python scripts/build_core.py build/log build_ext --inplace --parallel $(JOBS)
	@$(INSTALL)
	@touch $(BUILT) $@

run: $(BUILT)
	@exec $(BIN)/quetzal

test: $(DEV) $(BUILT)
	@$(BIN)/ruff check --quiet . && $(BIN)/ruff format --quiet --check . || { echo "make format, then look again"; exit 1; }
	@$(BIN)/pytest -n $(JOBS)

bench: $(BUILT)
	@$(BIN)/python scripts/check_signature.py

lint: $(DEV)
	@$(BIN)/ruff check .

format: $(DEV)
	@$(BIN)/ruff check --fix --quiet . ; $(BIN)/ruff format .

# The other profiles are built beside the checkout's core, into build/PROFILE/lib, and tested from there. They are slow,
# so the random tests do a part of their work; QUETZAL_TEST_SCALE=1 asks for all of it.
CHECKED = QUETZAL_PROFILE=$(1) $(BIN)/python scripts/build_core.py build/$(1).log build --build-base build/$(1) \
	--build-lib build/$(1)/lib

test-debug: $(DEV)
	@$(call CHECKED,debug)
	@QUETZAL_TEST_SCALE=$${QUETZAL_TEST_SCALE:-0.2} PYTHONPATH=$(CURDIR)/build/debug/lib $(BIN)/pytest -n $(JOBS)

# The sanitizers' libraries have to come before Python itself. Leaks are not looked for: the interpreter never frees all.
test-sanitize: $(DEV)
	@$(call CHECKED,sanitize)
	@QUETZAL_TEST_SCALE=$${QUETZAL_TEST_SCALE:-0.05} PYTHONPATH=$(CURDIR)/build/sanitize/lib \
		ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
		LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" $(BIN)/pytest -n $(JOBS)

# Nothing is suppressed: the sanitizer sees the interpreter's lock. After a report the process ends with status 66.
# Where it can be had, addresses are not random: the sanitizer wants some of them for itself.
THREADED := tests/search/test_limits.py tests/search/test_tt.py tests/book/endgame/test_syzygy_damage.py
test-thread: $(DEV)
	@$(call CHECKED,thread)
	@QUETZAL_TEST_SCALE=$${QUETZAL_TEST_SCALE:-0.02} PYTHONPATH=$(CURDIR)/build/thread/lib \
		TSAN_OPTIONS=exitcode=66 $$(setarch -R true 2>/dev/null && echo setarch -R) \
		env LD_PRELOAD="$$(gcc -print-file-name=libtsan.so)" \
		$(BIN)/pytest -n 0 -s -k "thread or while_it_is_read" $(THREADED)

# What finds a problem is kept in hostile-failures/, with the command that shows it again.
SECONDS := 600
SEED := 1
ONLY :=
test-hostile: $(DEV) $(BUILT)
	@$(BIN)/python tests/hostile/run_all.py --seconds $(SECONDS) --seed $(SEED) $(if $(ONLY),--only $(ONLY))

freeze: $(DEV) $(GUIDED)
	@$(BIN)/python scripts/freeze.py

windows: $(DEV)
	@$(BIN)/python scripts/windows.py

test-windows: windows $(BUILT)
	@QUETZAL_WINDOWS=1 $(BIN)/pytest tests/windows

arm64: $(DEV)
	@$(BIN)/python scripts/arm64.py

test-arm64: arm64 $(BUILT)
	@QUETZAL_ARM64=1 QUETZAL_TEST_SCALE=$${QUETZAL_TEST_SCALE:-0.02} $(BIN)/pytest tests/arm64

macos-check: $(DEV)
	@$(BIN)/python scripts/macos.py

wasm: $(DEV)
	@$(BIN)/python scripts/wasm.py

test-wasm: wasm $(BUILT)
	@QUETZAL_WASM=1 $(BIN)/pytest tests/wasm

packages: $(READY)
	@mkdir -p build && $(BIN)/python scripts/requirements.py release > build/requirements.txt
	@$(PIP) -r build/requirements.txt >&2
	@$(BIN)/python -m build --outdir dist . > build/packages.log 2>&1 || { cat build/packages.log; exit 1; }
	@$(BIN)/python -m twine check --strict dist/quetzal_chess-*

clean:
	@rm -rf build dist *.egg-info $(VENV) .pytest_cache .ruff_cache .hypothesis uci_engine/_build.py
	@rm -f search/joined.py search/joined.pxd search/recorded.py search/recorded.pxd
	@find $(PACKAGES) \( -name '*.so' -o -name '*.pyd' -o -name '*.c' \) -delete
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
