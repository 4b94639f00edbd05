# Commands for people and for CI. `make help` lists them.

SHELL := /bin/bash
SWIFT ?= swift
# JOBS=N compiles N files at a time, for machines with little memory.
LAYERS := --explicit-target-dependency-import-check error $(addprefix --jobs ,$(JOBS))
# Debian packages: what the program is built with, and what its tests call besides.
LIBRARIES := libsqlite3-dev libcurl4-openssl-dev liblz4-dev libssl-dev libxml2-dev zlib1g-dev
TOOLS := gzip openssl strace tzdata
BINARY := .build/release/engage-batch
# The build that demo, tests and proofs share, with a folder of its own beside that of `make build`: isChecked in Package.swift says what it is.
CHECKED := -c release --scratch-path .build/checked $(LAYERS)
CHECKED_BINARY := .build/engage-batch
build_tests = ENGAGE_CHECKED=1 $(SWIFT) build --build-tests $(CHECKED)
run_tests = ENGAGE_CHECKED=1 scripts/run-tests --skip-build $(CHECKED)
# Says what is being built, and how long that usually takes, before the first line of the build.
announce = @echo "==> Building $(1): about $(2) on two processors the first time, which fetches two packages; seconds afterwards"
# Needs no Swift on the machine it runs on; looks for libraries where the system has them alone, and binds all of them at the start, after
# which what it calls cannot be written over.
RELEASE := build -c release --static-swift-stdlib --disable-local-rpath -Xlinker -z -Xlinker now $(LAYERS)
# What --version says; + is for changes that are not committed.
COMMIT ?= $(shell git rev-parse --short=12 HEAD 2>/dev/null)$(shell git diff --quiet HEAD 2>/dev/null || echo +)
export ENGAGE_COMMIT := $(COMMIT)
export SWIFT
# Where `make install` puts everything; DESTDIR is put before it.
PREFIX ?= /usr/local
DESTDIR ?=
BENCH_SETTINGS := EVENTS PAIRS SEED SHAPES NIGHTS LATE GROWTH INSTRUCTIONS CHECKS LATENCY CONCURRENCY NOTE
# Where tests write, so that nothing is left outside of the checkout.
TEMPORARY := $(CURDIR)/.build/tmp
# For tests that write much: a disk in memory, where there is one.
MEMORY_DISK := $(if $(wildcard /dev/shm/.),/dev/shm/engage-batch-tests,$(TEMPORARY))

.PHONY: help libraries setup setup-browser build demo test torture fuzz bench bench-upload bench-identity bench-micro lint install package release simulate clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

libraries:
	@scripts/setup $(LIBRARIES)

setup: ## install missing system packages for the program and its tests
	@scripts/setup $(LIBRARIES) $(TOOLS)

setup-browser: ## install Chromium, with which tests view reports
	@scripts/setup chromium

build: libraries ## build the release binary
	$(call announce,the release binary,three to five minutes)
	$(SWIFT) $(RELEASE) --product engage-batch

demo: libraries ## run jobs/nightly.json and jobs/game.json against the local sandbox, in the build that 'make test' uses
	$(call announce,the program,three to four minutes)
	ENGAGE_CHECKED=1 $(SWIFT) build $(CHECKED) --product engage-batch
	@ln -sfn checked/release/engage-batch $(CHECKED_BINARY)
	@echo "==> Running jobs/nightly.json against the sandbox inside the process"
	$(CHECKED_BINARY) run jobs/nightly.json --sandbox
	@echo "==> Running jobs/game.json against the sandbox inside the process"
	$(CHECKED_BINARY) run jobs/game.json --sandbox
	@echo "==> This was $(CHECKED_BINARY), the self-checking build that 'make test' uses. For real work: 'make build'"

test: setup lint ## run all tests
	$(call announce,program and tests,six to eight minutes)
	$(build_tests)
	@echo "==> Running all tests, $$(($$(nproc) + 1)) processes at a time: about four minutes on two processors"
	@TMPDIR=$(TEMPORARY) scripts/run-all-tests

.PHONY: sanitize coverage docs

# Leaks are not looked for: wrong arguments end a program with what it holds, and nothing can look below strace.
sanitize: setup ## run the tests under the thread and address sanitizers; FILTER= selects tests, SANITIZER= one sanitizer
	@for sanitizer in $(or $(SANITIZER),thread address); do \
		echo "==> Building and running the tests under the $$sanitizer sanitizer"; \
		ASAN_OPTIONS=detect_leaks=0 TMPDIR=$(TEMPORARY) ENGAGE_CHECKED=1 scripts/run-tests -c release --sanitize=$$sanitizer \
			--scratch-path .build/$$sanitizer-sanitizer $(addprefix --filter ,$(FILTER)) || exit 1; \
	done

coverage: setup ## run all tests and print the line coverage of each target; FILTER= selects tests
	@echo "==> Building and running the tests with coverage"
	TMPDIR=$(TEMPORARY) scripts/run-tests --enable-code-coverage --scratch-path .build/coverage $(addprefix --filter ,$(FILTER))
	@scripts/coverage "$$($(SWIFT) test --scratch-path .build/coverage --show-codecov-path)"

# The targets whose documentation is built.
DOCUMENTED := BatchIngest BatchStore BatchDelivery BatchPipeline

docs: setup ## build the documentation of the code into .build/docs; warnings are errors
	@echo "==> Building the documentation of the code"
	@rm -rf .build/docs && mkdir -p .build/docs
	ENGAGE_DOCS=1 $(SWIFT) package --scratch-path .build/docc --allow-writing-to-directory .build/docs generate-documentation \
		$(addprefix --target ,$(DOCUMENTED)) --enable-experimental-combined-documentation \
		--symbol-graph-minimum-access-level package --warnings-as-errors --output-path .build/docs/engage-batch.doccarchive

torture: setup ## repeatedly kill runs against a faulty server, split exports into nights; SEED=N repeats one
	@echo "==> Building the tests"
	$(build_tests)
	@echo "==> Killing runs against a faulty server"
	TMPDIR=$(TEMPORARY) ENGAGE_TORTURE=full ENGAGE_TORTURE_SEED=$(SEED) $(run_tests) --filter 'TortureTests|Parts(KilledCalls|Nights|Post)Tests|DeploymentNightsTests|RewindTests|NightsPropertyTests'

.PHONY: prove sweep

prove: ## run what takes minutes to hours: torture, sweep, fuzz, simulate and damage
	@$(MAKE) --no-print-directory torture sweep fuzz simulate damage

sweep: setup ## test every fault at every call of every kind of merge, and every output over every input
	@echo "==> Building the tests"
	$(build_tests)
	@echo "==> Sweeping"
	TMPDIR=$(TEMPORARY) ENGAGE_SWEEP=full $(run_tests) --filter 'EngageTests.(Sweep|Sandbox|Order)Tests|BatchDeliveryTests.PoisonTests|(Output|Parts|PartsPieces|PoisonedService|HostileService|IdenticalOutput|MappedRun)Tests/'

.PHONY: damage

damage: setup ## test every command on damaged stores, all readers on every damaged byte, and a run with each system call refused
	@echo "==> Building the tests"
	$(build_tests)
	@echo "==> Damaging stores and refusing calls"
	TMPDIR=$(MEMORY_DISK) TEST_ORDER=--parallel ENGAGE_EVERY_BYTE=1 ENGAGE_EVERY_CALL=1 $(run_tests) --filter Damaged --filter RefusedCallTests

# Of its own: PySpark and what it needs are some hundred megabytes, and nothing else uses them.
SPARK := .build/spark
PYSPARK := pyspark==4.3.0 pyarrow==26.0.1 pandas==3.1.1

.PHONY: test-spark

test-spark: ## check that runs on Spark give the result of one process, even while processes are killed; KILLS=N of each kind, SEED=N
	@scripts/setup openjdk-17-jre-headless python3-venv
	@echo "==> Installing PySpark below $(SPARK)"
	@test -x $(SPARK)/venv/bin/python || python3 -m venv $(SPARK)/venv
	@$(SPARK)/venv/bin/pip install -q --disable-pip-version-check $(PYSPARK)
	@echo "==> Building the program"
	ENGAGE_CHECKED=1 $(SWIFT) build $(CHECKED) --product engage-batch
	@echo "==> Running parts on Spark"
	ENGAGE_BATCH=$(CURDIR)/.build/checked/release/engage-batch $(SPARK)/venv/bin/python Tests/Spark/prove.py equal $(SPARK)/proofs --seed $(or $(SEED),1)
	@echo "==> Killing executors and their processes"
	ENGAGE_BATCH=$(CURDIR)/.build/checked/release/engage-batch $(SPARK)/venv/bin/python Tests/Spark/prove.py kills $(SPARK)/proofs --seed $(or $(SEED),1) --kills $(or $(KILLS),4)

# Of its own: servers of S3 that are not ours, which check signatures; one checks policies and conditions, too.
BUCKETS := .build/buckets

.PHONY: test-buckets

test-buckets: ## check inputs and outputs in buckets against two servers of others, with kills and replaced objects; MEGABYTES=N of the large object
	@scripts/setup curl python3-venv
	@echo "==> Installing moto and nanio below $(BUCKETS)"
	@test -x $(BUCKETS)/venv/bin/python || python3 -m venv $(BUCKETS)/venv
	@$(BUCKETS)/venv/bin/pip install -q --disable-pip-version-check 'moto[server,s3]==5.1.22' nanio==0.1.7
	@echo "==> Building the program"
	ENGAGE_CHECKED=1 $(SWIFT) build $(CHECKED) --product engage-batch
	@echo "==> Reading from buckets and writing to them"
	ENGAGE_BATCH=$(CURDIR)/.build/checked/release/engage-batch $(BUCKETS)/venv/bin/python Tests/Buckets/prove.py $(BUCKETS)/proofs --megabytes $(or $(MEGABYTES),150)

# Virtual environments with what is installed there, a gigabyte or so.
EXPORTS := .build/exports

.PHONY: test-exports

test-exports: ## let the real clients and tools write events, and compare what is read with what they were given; ONLY= part of a tool's name
	@scripts/setup python3-venv openjdk-17-jre-headless postgresql sqlite3 libplist-utils
	@echo "==> Building the program"
	ENGAGE_CHECKED=1 $(SWIFT) build $(CHECKED) --product engage-batch
	@echo "==> Installing clients and tools below $(EXPORTS), and reading what they write"
	ENGAGE_BATCH=$(CURDIR)/.build/checked/release/engage-batch python3 Tests/Exports/prove.py $(EXPORTS) $(addprefix --only ,$(ONLY))

DEPLOYMENT := .build/deploy

.PHONY: check-deploy check-contents

check-deploy: ## check the definitions of deploy/ and .github/ against the schemas of their readers
	@scripts/setup python3-venv
	@test -x $(DEPLOYMENT)/venv/bin/python || python3 -m venv $(DEPLOYMENT)/venv
	@$(DEPLOYMENT)/venv/bin/pip install -q --disable-pip-version-check awscli==1.46.3 botocore kubernetes-validate==1.37.0 pyyaml \
		check-jsonschema==0.39.0 yamllint==1.38.0
	@echo "==> Checking the definitions of deploy/ and .github/"
	@$(DEPLOYMENT)/venv/bin/python Tests/Deploy/check.py
	@$(DEPLOYMENT)/venv/bin/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	@$(DEPLOYMENT)/venv/bin/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	@$(DEPLOYMENT)/venv/bin/check-jsonschema --builtin-schema vendor.compose-spec deploy/compose.yaml
	@$(DEPLOYMENT)/venv/bin/yamllint -s -c Tests/Deploy/yamllint.yaml .github deploy/compose.yaml deploy/kubernetes/nightly.yaml

.PHONY: findings

findings: ## check what findings/ states about third-party libraries and tools, in temporary folders; ONLY= part of their names
	@scripts/setup python3-venv
	@findings/run-all $(ONLY)

fuzz: setup ## fuzz every reader of foreign bytes with libFuzzer and AddressSanitizer; MINUTES=N in total
	@echo "==> Fuzzing the readers of foreign bytes"
	@Tests/Fuzz/run all $$(( $(or $(MINUTES),10) * 60 / $(words $(wildcard Tests/Fuzz/targets/*.swift)) ))

simulate: setup ## simulate runs, deliveries and identities, with simulated time, disk, faults, kills and power cuts; SEEDS=N of each, SEED=N repeats one
	@echo "==> Building the tests"
	$(build_tests)
	@echo "==> Simulating runs, deliveries and identities"
	TMPDIR=$(MEMORY_DISK) TEST_ORDER=--parallel ENGAGE_SIMULATE_SEEDS=$(or $(SEEDS),500) ENGAGE_SIMULATE_SEED=$(SEED) \
		$(run_tests) --filter SimulationTests

bench: $(if $(ENGAGE_BINARY),,build) ## measure the local part of a run, compared with other programs; EVENTS= PAIRS= SEED= SHAPES= NIGHTS= LATE= GROWTH=1
	@echo "==> Measuring the local part"
	@$(foreach name,$(BENCH_SETTINGS),$(name)='$($(name))') ENGAGE_BINARY='$(ENGAGE_BINARY)' Benchmarks/run

bench-upload: $(if $(ENGAGE_BINARY),,build) ## measure posting to a sandbox, with and without latency; EVENTS= PAIRS= SEED=
	@echo "==> Measuring the upload"
	@$(foreach name,$(BENCH_SETTINGS),$(name)='$($(name))') ENGAGE_BINARY='$(ENGAGE_BINARY)' Benchmarks/upload

bench-micro: setup ## measure single steps, and compare their allocations with recorded ones; RECORD=1 records them
	@echo "==> Building the micro benchmarks"
	$(SWIFT) $(RELEASE) --product engage-microbenchmarks
	@echo "==> Measuring single steps"
	@mkdir -p $(TEMPORARY)
	@TMPDIR=$(TEMPORARY) .build/release/engage-microbenchmarks Benchmarks/allocations.json \
		"$$($(SWIFT) --version 2>&1 | sed -n 's/.*(\(swift-[^)]*\)).*/\1/p' | head -1)" $(if $(filter 1,$(RECORD)),record)

bench-identity: $(if $(ENGAGE_BINARY),,build) ## measure identity checks of all scenarios against a sandbox with latency; CHECKS= LATENCY=
	@echo "==> Measuring identity checks"
	@$(foreach name,$(BENCH_SETTINGS),$(name)='$($(name))') ENGAGE_BINARY='$(ENGAGE_BINARY)' Benchmarks/identity

lint: ## check the format of the sources
	@echo "==> Checking the format"
	$(SWIFT) format lint --strict --recursive Package.swift Sources Tests Benchmarks

.PHONY: bounds

bounds: $(if $(wildcard $(BINARY)),,build) ## measure what hostile inputs cost in memory, disk and time, against the bounds of SECURITY.md; ONLY= words in a case's name
	@echo "==> Measuring hostile inputs"
	@mkdir -p $(MEMORY_DISK)
	@TMPDIR=$(MEMORY_DISK) scripts/bounds $(BINARY) $(ONLY)

install: $(if $(wildcard $(BINARY)),,build) ## copy program, man pages, completions, units and pages to PREFIX (/usr/local); DESTDIR= is put before it
	@scripts/install $(BINARY) "$(DESTDIR)$(PREFIX)" "$(PREFIX)"

package: build ## make a Debian package in .build/packages
	@scripts/package $(BINARY) .build/packages

check-contents: libraries ## check a release's bill of materials against SPDX
	@scripts/setup python3-venv
	@test -x $(DEPLOYMENT)/venv/bin/python || python3 -m venv $(DEPLOYMENT)/venv
	@$(DEPLOYMENT)/venv/bin/pip install -q --disable-pip-version-check spdx-tools==0.8.5
	@$(SWIFT) package resolve
	@scripts/contents 0.0.0 $(COMMIT) "$$(date -u +%FT%TZ)" Package.resolved docs >$(DEPLOYMENT)/contents.spdx.json
	@$(DEPLOYMENT)/venv/bin/pyspdxtools -i $(DEPLOYMENT)/contents.spdx.json

release: build check-contents ## make archives, package, checksums and bill of materials in .build/packages, from a commit that is in the changelog
	@scripts/release $(BINARY) .build/packages

clean: ## remove everything built and left behind by runs
	rm -rf .build var
