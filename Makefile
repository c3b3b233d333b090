# One environment, one command a job. `make` alone lists the targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

# Processes that the tests run in; a file's tests stay together, since they share what takes time to make.
WORKERS ?= 2

# make test-long SHARE=2/3: the second of three shares of the tests; the three run every test once.
SHARE ?= 1/1

# A Python that was named is taken or refused; only the default looks further along PATH.
CANDIDATES := $(if $(filter file,$(origin PYTHON)),$(PYTHON) python3.11 python3.12,$(PYTHON))
IS_SUITABLE := import ensurepip, sys, venv; sys.exit(sys.version_info[:2] not in ((3, 11), (3, 12)))

.DEFAULT_GOAL := help
.PHONY: help install quickstart test test-long test-environments test-examples docs android web lint bench clean

help:
	@echo "make install      the environment in $(VENV), exact versions of constraints.txt (Python 3.11 or 3.12)"
	@echo "make quickstart   fine-tune, quantize, convert, validate and report on the bundled data, offline"
	@echo "make test         the tests"
	@echo "make test-long    whole runs of many seconds: killed and resumed builds, the quickstart"
	@echo "make test-environments   those that need a GPU driver, a browser or another program (kerasbert setup)"
	@echo "make test-examples   the commands and the code of the documents"
	@echo "make docs         the site in site/, with every link checked"
	@echo "make android      android_demo: its tests, its screens and an APK (Maven, a JDK and Debian's Android tools)"
	@echo "make web          web_demo: its tests on Node, a site in build/site, and that site in Chromium (Node 20, kerasbert setup web)"
	@echo "make lint         ruff, check and format; pyright"
	@echo "make bench        every measurement under benchmarks/"
	@echo "make clean        remove build and test leftovers; keeps $(VENV) and runs/"

install: $(INSTALLED)

# The environment is usable when its pip answers: an interrupted run may have left a Python without one.
$(INSTALLED): pyproject.toml zoo/more/pyproject.toml constraints.txt
	@if ! $(BIN)/python -m pip --version >/dev/null 2>&1; then \
	  found=""; for python in $(CANDIDATES); do \
	    if "$$python" -c '$(IS_SUITABLE)' >/dev/null 2>&1; then found="$$python"; break; fi; \
	  done; \
	  if [ -z "$$found" ]; then \
	    echo "expected Python 3.11 or 3.12 with its venv module, received none among $(CANDIDATES); install one, or name it: make install PYTHON=/path/to/python3.12" >&2; \
	    exit 1; \
	  fi; \
	  "$$found" -m venv $(VENV); \
	fi
	$(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt -e ".[dev,docs,presets,graph-text,japanese,faiss]" -e zoo/more
	@touch $@

quickstart: $(INSTALLED)
	$(BIN)/kerasbert quickstart

test: $(INSTALLED)
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -m "not environment and not examples and not long"

test-long: $(INSTALLED)
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -m long --share $(SHARE)

test-environments: $(INSTALLED)
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile -m environment

test-examples: $(INSTALLED)
	$(BIN)/python -m pytest -n $(WORKERS) -m examples --share $(SHARE) tests/docs

docs: $(INSTALLED)
	$(BIN)/mkdocs build --strict --clean

# The library that the demo's tests run models with is the one of the Python package.
LITERT_LIBRARY := import importlib.util, pathlib; print(pathlib.Path(importlib.util.find_spec("ai_edge_litert").origin).with_name("libLiteRt.so"))

# Packages are not installed here: what is missing is said, and how to install it. The desktop's window is drawn without a display.
# It begins anew: Kotlin leaves classes of earlier sources behind, which an APK must not hold.
android: $(INSTALLED)
	android_demo/ci/packages.sh
	$(BIN)/python android_demo/copy_models.py
	KERASBERT_LITERT="$$($(BIN)/python -c '$(LITERT_LIBRARY)')" \
	  $(if $(DISPLAY),,xvfb-run -a) mvn -B -ntp -f android_demo/pom.xml -Dkerasbert.litert.required=true clean verify
	android_demo/ci/apk.sh

# What the page cannot be tried in a browser without, empty where all is there; and where the browser and LiteRT.js are.
WEB = $(BIN)/python -c 'from kerasbert.export.backends import web; print(web.$(1))'
NODE_TEST := node --test --test-reporter=spec --test-timeout=1800000

# Node 20 takes no patterns of names, and newer versions take no folders.
web: $(INSTALLED)
	@command -v node >/dev/null || { echo "expected Node 20 or newer on the PATH, received none; install it" >&2; exit 1; }
	$(NODE_TEST) $$(find web_demo/tests -name '*_test.js' -not -path '*/browser/*')
	@missing="$$($(call WEB,missing_part()))" && if [ -n "$$missing" ]; then \
	  echo "the site was not built, and not tried in a browser: $$missing" >&2; \
	else \
	  $(BIN)/kerasbert web --out build/site && KERASBERT_SITE="$$PWD/build/site" KERASBERT_CHROMIUM="$$($(call WEB,find_browser()))" \
	    KERASBERT_WEB_MODULES="$$($(call WEB,WEB.folder))" $(NODE_TEST) $$(find web_demo/tests/browser -name '*_test.js'); \
	fi

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(BIN)/pyright -p pyproject.toml --warnings

bench: $(INSTALLED)
	$(BIN)/python -m benchmarks.run

clean:
	rm -rf android_demo/*/target build dist site .pytest_cache .ruff_cache .coverage *.egg-info
	find . \( -path ./$(VENV) -o -path ./.git -o -path ./runs \) -prune -o -type d -name __pycache__ -exec rm -rf {} +
