# Copyright (c) 2026 switchback.kafka_dr contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Every target can be run at any time: it first makes what it needs. The work is done by scripts in tests/support.
# Variables: PYTHON (makes .venv), KAFKA_DR_CACHE (downloads), KAFKA_DR_LAB_DIR (the lab), ONLY (bench, molecule, mutations).

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
# What is asked for together runs one after the other, but for what `test` starts side by side.
ifndef SIDE_BY_SIDE
.NOTPARALLEL:
endif
.SUFFIXES:

ROOT := $(CURDIR)
export PATH := $(ROOT)/.venv/bin:$(PATH)
export ANSIBLE_COLLECTIONS_PATH := $(ROOT)/build/collections
export ANSIBLE_HOME := $(ROOT)/build/ansible
export ANSIBLE_LOCALHOST_WARNING := false
export ANSIBLE_INVENTORY_UNPARSED_WARNING := false
export KAFKA_DR_LAB_DIR ?= $(ROOT)/build/lab
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export NO_MKDOCS_2_WARNING := 1
export MOLECULE_GLOB := molecule/*/molecule.yml

PLUGINS := ansible_collections.switchback.kafka_dr.plugins
TYPED := module_utils modules action callback filter plugin_utils doc_fragments
SAY := @printf '==> %s\n'

.PHONY: help
help:  ## show this list
	@echo 'switchback.kafka_dr: make <target>'
	@for group in 'try it' 'test it' 'work on it'; do echo; echo "$$group"; awk -F ':.*  ## ' -v group="$$group" \
	'/^##@ / {here = substr($$0, 5) == group} here && /^[a-z-]+:.*  ## / {printf "  %-13s %s\n", $$1, $$2}' Makefile; done

# ---- what the other targets need ----------------------------------------------------------------------------
##@ work on it

.PHONY: setup
setup: venv java link  ## virtual environment with pinned packages, Java, import link

.PHONY: venv
venv:
	@bash tests/support/venv.sh

# Enough for the lab and the demo: a dozen packages instead of a hundred.
.PHONY: run-setup
run-setup: java link
	@bash tests/support/venv.sh requirements-run.txt

.PHONY: java
java:
	@bash tests/support/java.sh

.PHONY: link
link:  ## make the checkout importable as ansible_collections.switchback.kafka_dr
	@bash tests/support/link.sh

.PHONY: lock
lock: venv  ## pin versions and hashes: requirements.in to requirements.txt
	@bash tests/support/lock.sh

# ---- the lab and what runs on it ----------------------------------------------------------------------------
##@ try it

.PHONY: jars
jars: run-setup  ## fetch and verify the Kafka and Spark jars
	$(SAY) 'jars: fetching and verifying'
	@python roles/lab/files/lab jars

.PHONY: lab-up
lab-up: run-setup  ## start two clusters and their Connect workers in build/lab
	$(SAY) "lab-up: $$KAFKA_DR_LAB_DIR"
	@ansible-playbook switchback.kafka_dr.lab_up

.PHONY: lab-down
lab-down: run-setup  ## stop the lab
	$(SAY) "lab-down: $$KAFKA_DR_LAB_DIR"
	@ansible-playbook switchback.kafka_dr.lab_down

# Saves each audit a third of its time; half a minute, once for a virtual environment.
define CLASS_ARCHIVE
@spark=$$(sed -n 's/^pyspark==//p' requirements-run.in); \
ls .venv/share/switchback.kafka_dr/spark-"$$spark"-*.jsa > /dev/null 2>&1 || python spark/kafka_dr_audit --prepare
endef

.PHONY: demo
demo: run-setup  ## from nothing to a proven failover and failback, with a short account; ENGINE=aiven, srm or strimzi, TAMPER=1
	$(CLASS_ARCHIVE)
	$(SAY) 'demo: account in build/demo/report.json'
	@python tests/support/demo.py $(if $(ENGINE),'--engine=$(ENGINE)') $(if $(TAMPER),--tamper)

# ---- tests --------------------------------------------------------------------------------------------------
##@ test it

# Two at a time: with three, two cores are busy all the time, and producers of the labs starve. The class archive first,
# because audits start faster with it; then about the longest first, because whatever runs alone at the end leaves more.
SUITES := classes modules artifact molecule-short unit runner sanity lint docs

# Whatever failed is said again at the end: the others go on for minutes.
.PHONY: test
test: setup  ## what must pass before a change: everything but the long tests (make playbooks)
	$(SAY) 'test: two suites at a time, each shown when it ends'
	@rm -rf build/failed; mkdir -p build/failed build/logs
	@$(MAKE) --no-print-directory SIDE_BY_SIDE=1 -j2 --keep-going --output-sync=line $(SUITES:%=suite-%) || { \
	for log in build/failed/*; do printf '==> test: %s FAILED; the end of build/logs/suite-%s.log:\n' "$${log##*/}" "$${log##*/}"; \
	cut -c 1-400 "$$log"; done; exit 1; }
	@rmdir "$${TMPDIR:-/tmp}/pytest-of-$$(id -un)" 2> /dev/null || true  # pytest empties it and leaves it
	@if cat build/skipped/* 2>/dev/null; then echo '==> test: passed, but for what is SKIPPED'; else echo '==> test: all passed'; fi

suite-%:
	@$(MAKE) --no-print-directory $* 2>&1 | tee build/logs/suite-$*.log || { \
	tail -n 60 build/logs/suite-$*.log > build/failed/$*; exit 1; }

.PHONY: classes
classes: setup
	$(CLASS_ARCHIVE)

# What failed last runs first, then what was changed last. Left to `make test`: the long worlds, runs of ansible-playbook,
# ansible-lint, and what compares files.
.PHONY: check
check: setup  ## unit tests, ruff, yamllint and mypy, side by side: about a minute
	@mkdir -p build/logs; failed=0; \
	$(MAKE) --no-print-directory lint FAST=1 > build/logs/lint.log 2>&1 & lint=$$!; \
	KAFKA_DR_WORLDS=2000 $(MAKE) --no-print-directory unit FAST=1 || failed=1; \
	wait $$lint || failed=1; cat build/logs/lint.log; exit $$failed
	$(SAY) 'check: passed'

# FAST leaves out what takes most of the time and is seldom wrong: changelog, pages of the reference, ansible-lint.
.PHONY: lint
lint: venv link  ## ruff, yamllint, mypy, changelog, docs, ansible-lint
	$(SAY) 'lint: ruff check'
	@ruff check --quiet .
	$(SAY) 'lint: ruff format'
	@ruff format --check --quiet . || { ruff format --check .; exit 1; }
	$(SAY) 'lint: yamllint'
	@yamllint --strict .
	@$(MAKE) --no-print-directory mypy
	@$(if $(FAST),,$(MAKE) --no-print-directory antsibull-changelog antsibull-docs collected ansible-lint)

.PHONY: antsibull-changelog
antsibull-changelog: venv link
	$(SAY) 'lint: changelog fragments'
	@antsibull-changelog lint
	@antsibull-changelog lint-changelog-yaml changelogs/changelog.yaml

.PHONY: antsibull-docs
antsibull-docs: venv link
	$(SAY) 'lint: collection docs'
	@mkdir -p build/logs; HOME=$(ROOT)/build/logs antsibull-docs lint-collection-docs --plugin-docs --validate-collection-refs=all .

# The long tests run seldom, so a renamed import would break them unseen.
.PHONY: collected
collected: venv link
	$(SAY) 'lint: pytest --collect-only (what only long runs start)'
	@pytest --collect-only --quiet $(sort $(wildcard tests/image tests/integration tests/kerberos tests/kubernetes tests/playbooks)) > build/logs/collected.log \
	|| { tail -n 30 build/logs/collected.log; exit 1; }

.PHONY: mypy
mypy: venv link
	$(SAY) 'lint: mypy'
	@mypy $(TYPED:%=-p $(PLUGINS).%)
	@MYPYPATH=spark mypy -p kafka_dr_audit
	@MYPYPATH=roles/lab/files mypy -p aiven_api -p cm -p lab -p ledger -p strimzi
	@MYPYPATH=roles/lab/files:spark:tests/support mypy tests/support molecule/docker molecule/shared molecule/strimzi
	@MYPYPATH=roles/lab/files:spark:tests/support:tests/bench mypy tests/bench tests/chaos tests/compatibility
	@MYPYPATH=tests/support:tests/mutations mypy tests/mutations

.PHONY: ansible-lint
ansible-lint: venv link
	$(SAY) 'lint: ansible-lint'
	@ansible-lint --offline

# Bytecode, outside of the tree: where a shell forbids it, each start would compile all of Ansible again.
COMPILED := artifact modules molecule molecule-short playbooks restarts runner unit
$(COMPILED): export PYTHONDONTWRITEBYTECODE :=
$(COMPILED): export PYTHONPYCACHEPREFIX := $(ROOT)/build/pycache

.PHONY: unit
unit: venv link  ## unit tests, and tests that compare files of the repository; FAST=1: without these
	$(SAY) 'unit: pytest tests/unit$(if $(FAST),, tests/repository)'
	@pytest -n 2 --dist loadfile --no-loadscope-reorder tests/unit $(if $(FAST),-m 'not playbook' --failed-first --new-first,tests/repository)

# Thousands of mutants: all of them take hours, a sample of 50 minutes.
.PHONY: mutations
mutations: venv link  ## unit tests against changes of the safety core; COUNT=<number> SEED=<number> for a sample, ONLY=<file[:line]>
	$(SAY) 'mutations: table at the end; build/mutations/report.json'
	@python tests/mutations $(if $(ONLY),'--only=$(ONLY)') $(if $(COUNT),'--count=$(COUNT)') $(if $(SEED),'--seed=$(SEED)')

.PHONY: sanity
sanity: venv  ## ansible-test sanity, all tests, no ignore file
	@bash tests/support/sanity.sh

.PHONY: artifact
artifact: setup  ## the tarball in build/dist: contents, Galaxy's importer, every command of README and docs with it; alert rules
	$(SAY) 'artifact: pytest tests/artifact (builds build/dist), tests/docs/test_commands.py (the quick start word for word)'
	@pytest tests/artifact tests/docs/test_commands.py

.PHONY: integration
integration: modules playbooks  ## each module and playbook on real clusters

# Spark at size, and what the tests themselves stand on: minutes, and seldom touched.
LONG := $(patsubst %,tests/integration/test_%.py,audit_corpus audit_cluster audit_input lab lab_secure srm_emulator)

.PHONY: modules
modules: setup
	$(SAY) 'modules: pytest tests/integration (modules on the lab)'
	@pytest -m 'not soak' -n 2 --dist loadfile --durations=15 tests/integration $(LONG:%=--ignore=%)

# One test of ten minutes, and a file of fifteen: at the end they would leave half the machine idle.
FIRST := $(patsubst %,tests/playbooks/test_%.py,round_trip disaster)
PLAYBOOKS := $(FIRST) $(filter-out $(FIRST),$(wildcard tests/playbooks/test_*.py))

# FAST is for CI, which is to take less than an hour for everything, on a machine that may be slow.
.PHONY: playbooks
playbooks: setup classes  ## the long tests: every playbook under load, with kills and faults, an hour or so; FAST=1: half of it
	@$(if $(FAST),,bash tests/support/kubernetes.sh > /dev/null || echo '==> playbooks: test_strimzi.py and test_workloads.py will be SKIPPED')
	$(SAY) 'playbooks: pytest tests/playbooks (applications under load, two pairs at a time)'
	@pytest -m 'not soak$(if $(FAST), and not long)' -n 2 --dist loadfile --no-loadscope-reorder --durations=25 \
	$(PLAYBOOKS) $(if $(FAST),,$(LONG))

# Ten JVMs: beside another lab, brokers would be too slow to be in sync again before the next one restarts.
.PHONY: restarts
restarts: setup classes  ## three round trips while three brokers per cluster restart one after the other; FAST=1: one
	$(SAY) 'restarts: pytest tests/playbooks/test_brokers.py (round trips, and the ledgers)'
	@pytest -m 'not soak' -k 'during_a_round_trip or ledgers$(if $(FAST),, or two_more)' tests/playbooks/test_brokers.py

.PHONY: runner
runner: setup  ## playbooks as AWX starts them
	$(SAY) 'runner: pytest tests/runner'
	@pytest tests/runner

# Some minutes and gigabytes, for which `make test` has no time: it runs before a release.
.PHONY: image
image: setup  ## build the execution environment of awx/ with Docker, then a failover in it as a job of AWX
	@bash tests/support/image.sh

# tests/runner runs the same against a stand-in for AWX.
.PHONY: awx
awx: venv link  ## on a real AWX: load awx/, then move the applications there and back; AWX_HOST, AWX_TOKEN, AWX_VARS
	$(SAY) 'awx: $(or $(AWX_HOST),no address)'
	@AWX_HOST='$(AWX_HOST)' AWX_TOKEN='$(AWX_TOKEN)' AWX_VARS='$(AWX_VARS)' python tests/support/awx_acceptance.py

.PHONY: molecule
molecule: setup  ## Molecule scenarios, on labs and in containers; ONLY=<name>, strimzi by name only
	@bash tests/support/molecule.sh $(if $(ONLY),test '--scenario-name=$(ONLY)')

# In `make test`: a lab, containers, and secured clusters. The other scenarios have cases in tests/playbooks.
.PHONY: molecule-short
molecule-short: setup
	@bash tests/support/molecule.sh test $(patsubst %,--scenario-name=%,default docker secure)

# In `make test` too: a link breaks with any change of a heading, and it takes a minute or so.
.PHONY: docs
docs: setup chromium  ## the documentation as a site in build/site, then every page in a real browser
	$(SAY) 'docs: mkdocs build, into build/site'
	@mkdocs build --quiet
	$(SAY) 'docs: links, anchors, narrow screens, requests to elsewhere (Chromium)'
	@pytest tests/docs/test_site.py tests/docs/test_report_pages.py

.PHONY: chromium
chromium:
	@bash tests/support/chromium.sh

.PHONY: bench
bench: setup  ## benchmarks, results with machine and date in build/bench/results.md; ONLY=<prefix> runs a part
	$(SAY) 'bench: $(or $(ONLY),all)'
	@python tests/bench $(if $(ONLY),'--only=$(ONLY)')

# R29: each figure of the documentation has a target that measures it.
.PHONY: soak
soak: setup  ## the long loops: pytest -m soak
	$(SAY) 'soak: pytest -m soak tests/playbooks'
	@pytest -m soak tests/playbooks

.PHONY: chaos
chaos: setup  ## cutovers that are killed, or whose clusters are hurt, and started again; ONLY=<word>, SEED=<number>
	$(SAY) 'chaos: an hour or so; table in build/chaos/report.json'
	@python tests/chaos $(if $(ONLY),'--only=$(ONLY)') $(if $(SEED),'--seed=$(SEED)')

.PHONY: compatibility
compatibility: setup classes  ## a round trip and the audit with each pair of Kafka versions; ONLY=<version>, PAGE=1: the page alone, LIBRARIES=1
	$(SAY) 'compatibility: an hour or so; build/compatibility/report.json and docs/compatibility.md'
	@python tests/compatibility $(if $(ONLY),'--only=$(ONLY)') $(if $(PAGE),--page) $(if $(LIBRARIES),--libraries)

.PHONY: kerberos
kerberos: setup  ## modules, Connect and Spark against a real KDC, with a confluent-kafka built for it
	@bash tests/support/kerberos.sh
	$(SAY) 'kerberos: pytest tests/kerberos'
	@KAFKA_DR_WHEEL_PYTHON=$(ROOT)/.venv/bin/python build/kerberos/venv/bin/python -m pytest tests/kerberos

# The binaries are built from Go modules once: about 650 seconds of processor time. Then half a minute and 0.4 GB.
.PHONY: kubernetes
kubernetes: setup  ## engine strimzi and workloads on a real kube-apiserver, built from Go modules
	@bash tests/support/kubernetes.sh > /dev/null
	$(SAY) 'kubernetes: pytest tests/kubernetes'
	@pytest tests/kubernetes

# ---- what is written from the code ---------------------------------------------------------------------------
##@ work on it

.PHONY: diagrams
diagrams: setup  ## draw docs/images/*.svg from the code
	@python tests/support/docs_diagrams.py

.PHONY: error-codes
error-codes: setup  ## write the pages and schemas that are made from the code
	@python tests/support/error_catalogue.py
	@PYTHONPATH=build/collections python tests/support/rights_page.py
	@PYTHONPATH=build/collections python tests/support/report_pages.py

.PHONY: changelog
changelog: venv link  ## write CHANGELOG.md and changelogs/changelog.yaml from the fragments
	$(SAY) 'changelog: fragments and new modules into the release of galaxy.yml'
	@rm -rf build/docker build/image  # the whole checkout is copied meanwhile, which ends at an image's links to devices
	@antsibull-changelog release --update-existing --refresh --reload-plugins

.PHONY: clean
clean:  ## stop labs below build/, then remove everything made here except .venv
	@bash tests/support/clean.sh
