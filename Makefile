# Everyday commands. `make demo` and `make test` install what is missing and need nothing else.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
PYTHON := .venv/bin/python
SWIFT_FOLDERS := Package.swift Sources Adapters Tests Examples $(wildcard Benchmarks)
COMMAND := .build/debug/patchbay
EVIDENCE := $(CURDIR)/.build/evidence
ROUNDS ?= 1000
SEED ?= 1
SEEDS ?= 1-10000
# The kind of build that plays the seeds.
BUILD ?= release
SUITES ?= .
TIME ?= 60
CONTACTS ?= 1000000
TARGETS ?=
NAMES ?=
SERVERS ?=
KIND ?=
# What release builds that are measured are made for: this machine's processor, as the peers are; nothing: any of its kind.
PROCESSOR ?= $(if $(filter Linux,$(shell uname -s)),native)
FOR_PROCESSOR = $(if $(PROCESSOR),-Xswiftc -target-cpu -Xswiftc $(PROCESSOR))
FROM ?= salesforce
TO ?= altcraft
# Tests at once, most of which wait for something: all at once, as is usual, takes half as much processor time again.
export SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH ?= $(shell echo $$((4 * $$(getconf _NPROCESSORS_ONLN))))
empty :=
VENDORS := $(subst $(empty) ,|,$(notdir $(wildcard Adapters/*)))

.PHONY: help setup build test unit end-to-end demo goldens rules format lint docs examples schemas simulate rounds large soak million test-browser mutants fuzz sanitize bench clean

help: ## List the targets
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:[^#]*## /\t/' | while IFS=$$'\t' read -r name what; do \
		printf '  make %-12s %s\n' "$$name" "$$what"; done

setup: ## Install what is missing (apt, or brew on a Mac; a Python environment in .venv)
	@.ci/setup

.PHONY: tools
tools:
	@.ci/setup tools

build: tools ## Build everything, tests included
	swift build --build-tests

test: setup lint ## Run everything that must pass before a change lands
	@.ci/test

demo: tools ## Show a day of an app: an outage, a crash, a switch and a migration (FROM=vendor TO=vendor)
	@python3 Examples/Demo/demo.py --from $(FROM) --to $(TO)

goldens: tools ## Rewrite the goldens; read the diff before you commit it
	@if [ -n "$${CI:-}" ]; then echo 'make goldens is for people: CI compares, it never writes.' >&2; exit 2; fi
	UPDATE_GOLDENS=1 swift test --disable-xctest --filter 'Patchbay($(VENDORS))Tests'
	UPDATE_GOLDENS=1 swift test --disable-xctest --filter 'RepositoryTests.WireSchemaTests'
	UPDATE_GOLDENS=1 swift test --disable-xctest --package-path Examples/ToyVendor --scratch-path .build/examples
	git status --short -- 'Adapters/*/Goldens' 'Examples/*/Goldens'

rules: tools ## Refresh the list of tests that show each rule, from a test run
	@rm -rf .build/evidence
	PATCHBAY_EVIDENCE="$(EVIDENCE)" swift test --disable-xctest
	swift build --product patchbay
	@.ci/rules --write
	git diff --stat -- Tests/rule-evidence.ndjson

format: ## Format all Swift sources and lower the baseline of retired words
	swift format -i -r -p $(SWIFT_FOLDERS)
	@python3 .ci/language.py --lower

lint: ## Check the format of all Swift sources, and that no retired words are added
	@swift format lint --strict -r -p $(SWIFT_FOLDERS)
	@git ls-files '*.py' | xargs python3 -m py_compile
	@python3 .ci/language.py
	@echo 'lint: no finding'

docs: tools ## Build the documentation; a warning is an error
	@.ci/docs

schemas: setup ## Check schemas, examples and golden bodies with an independent validator
	@$(PYTHON) Tests/EndToEnd/check_schemas.py

examples: tools ## Build and test the example packages, which use only public API
	@.ci/examples

.PHONY: programs
programs: tools
	swift build --product patchbay

end-to-end: programs ## Test the built command over HTTP: providers, migration, bad inputs
	@python3 Tests/EndToEnd/end_to_end.py

test-browser: ## Open the page of a migration plan in headless Chromium, light and dark, wide and narrow
	@.ci/setup browser
	swift build --product patchbay
	@python3 Tests/EndToEnd/browser.py

simulate: tools ## Run random fault scenarios against the vendor simulators (SEEDS=n or first-last, BUILD=debug)
	swift build -c $(BUILD) --product patchbay
	@.build/$(BUILD)/patchbay faults $(SEEDS)

large: programs ## Measure that large operations take time in proportion, and the memory of the largest sources
	@python3 Tests/EndToEnd/hardening.py large_operations
	@python3 Tests/EndToEnd/memory.py

soak: tools ## Run a thousand rounds of kills, full disks, read-only files and damage (ROUNDS=n SEED=n KIND=migration)
	swift build -c release --product patchbay
	@PATCHBAY="$(CURDIR)/.build/release/patchbay" python3 Tests/EndToEnd/soak.py $(ROUNDS) --seed $(SEED) $(if $(KIND),--kind '$(KIND)')

million: tools ## Migrate a million contacts through server APIs over HTTP, with kills and resumes, and count again (CONTACTS=n SERVERS="name …")
	swift build -c release --product patchbay
	@PATCHBAY="$(CURDIR)/.build/release/patchbay" python3 Tests/EndToEnd/million.py --contacts $(CONTACTS) $(SERVERS:%=--api %)

rounds: tools ## Run the tests of migration with 24 times as many random files
	PATCHBAY_ROUNDS=24 swift test --disable-xctest --filter 'PatchbayMigrationTests.(Bulk|Plan)Tests'

mutants: tools ## Apply each mutation of Tests/Mutations to a copy and expect the random runs to find it (NAMES="…")
	@.ci/mutants $(NAMES)

fuzz: tools ## Fuzz every parser of outside data with libFuzzer (TIME=seconds TARGETS="json reply …")
	@.ci/fuzz $(TIME) $(TARGETS)

sanitize: tools ## Run the test suite under the thread and the address sanitizer (SUITES=filter)
	@.ci/sanitize thread '$(SUITES)'
	@.ci/sanitize address '$(SUITES)'

bench: ## Compare the speed with the disk, plain SQLite and peers; writes Benchmarks/RESULTS.md (PROCESSOR= for any processor of the kind)
	@.ci/setup static
	@# A plan made before a file of ours went away names it still, and SwiftPM does not look again.
	@rm -f .build/static/release.yaml Benchmarks/.build/release.yaml
	swift build -c release --static-swift-stdlib $(FOR_PROCESSOR) --scratch-path .build/static --product patchbay
	swift build -c release --static-swift-stdlib $(FOR_PROCESSOR) --package-path Benchmarks
	PATCHBAY_STATIC="$(CURDIR)/.build/static/release/patchbay" PATCHBAY_RESULTS="$(CURDIR)/Benchmarks/RESULTS.md" \
		PATCHBAY_PROCESSOR="$(PROCESSOR)" Benchmarks/.build/release/Benchmarks
	Benchmarks/.build/peers/python/bin/python Benchmarks/Peers/classes.py .build/static/release/patchbay \
		| tee -a Benchmarks/RESULTS.md

clean: ## Remove what was built
	rm -rf .build .venv Examples/*/.build
