# SPDX-License-Identifier: Apache-2.0
# make help lists the targets.
SHELL := /bin/bash
.DEFAULT_GOAL := build

OUT := build/out
VERSION := 0.1.0
GO ?= go
GOFLAGS_ALL := -trimpath -ldflags '-s -w -X main.version=$(VERSION)'
GO_SOURCES := $(shell find gocore -name '*.go' -o -name '*.c' -path 'gocore/*') go.mod go.sum include/gocore.h
E2E_FAULTS ?= -short -seed 1
export SLURM_K8S_LAB ?= $(if $(filter /%,$(SLURM_K8S_CLUSTER)),$(SLURM_K8S_CLUSTER),/var/tmp/slurm-k8s-cluster)
unexport SLURM_K8S_CLUSTER

##@ Use
.PHONY: help
help: ## Show this list.
	@awk 'BEGIN {FS = ":.*##"} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z0-9-]+:.*##/ {printf "  %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo
demo: packages build ## Start the cluster, run the main job, show it, stop what was started.
	tests/cluster/demo

.PHONY: test
test: packages lint-c test-go test-c test-e2e ## Prove the project: unit, C, and end to end on real daemons.

##@ Build
.PHONY: packages
packages: ## Install the Debian packages that building and testing need.
	@tests/cluster/packages

.PHONY: build
build: $(OUT)/gocore.so $(OUT)/slurm-k8s $(OUT)/verify $(OUT)/podinit $(OUT)/relay $(OUT)/spank_k8s.so ## Build the plugin, the core, relay, podinit and the commands.

include tests/c/podinit.mk
include tests/c/spank.mk
include tests/c/fuzz.mk
include tests/sanitize/build.mk
include tests/sanitize/valgrind.mk

$(OUT)/gocore.so: $(GO_SOURCES) gocore/exports.c
	@mkdir -p $(OUT)
	CGO_ENABLED=1 $(GO) build -buildmode=c-shared $(GOFLAGS_ALL) -o $@ ./gocore
	@rm -f $(OUT)/gocore.h

$(OUT)/slurm-k8s: $(GO_SOURCES)
	@mkdir -p $(OUT)
	CGO_ENABLED=0 $(GO) build $(GOFLAGS_ALL) -o $@ ./gocore/cmd/slurm-k8s

# What deploy/verify runs.
$(OUT)/verify: $(wildcard deploy/cmd/verify/*.go) go.mod go.sum
	@mkdir -p $(OUT)
	CGO_ENABLED=0 $(GO) build $(GOFLAGS_ALL) -o $@ ./deploy/cmd/verify

# Where `make install` puts things; the defaults are Debian's, and those that the plugin looks in. DESTDIR is for packages.
prefix ?= /usr
plugindir ?= $(prefix)/lib/$(shell $(CC) -print-multiarch)/slurm-wlm
libexecdir ?= $(prefix)/libexec/slurm-k8s
bindir ?= $(prefix)/bin
mandir ?= $(prefix)/share/man
INSTALL ?= install

# Not built here: root need not have Go.
.PHONY: install
install: ## Copy what `make build` made: DESTDIR=/tmp/package, plugindir=(Slurm's PluginDir), prefix=/usr.
	$(INSTALL) -D -m 755 -t $(DESTDIR)$(plugindir) $(OUT)/spank_k8s.so
	$(INSTALL) -D -m 755 -t $(DESTDIR)$(libexecdir) $(OUT)/gocore.so $(OUT)/relay $(OUT)/podinit
	$(INSTALL) -D -m 755 -t $(DESTDIR)$(bindir) $(OUT)/slurm-k8s
	for page in man/*.?; do $(INSTALL) -D -m 644 -t $(DESTDIR)$(mandir)/man$${page##*.} $$page || exit 1; done

.PHONY: uninstall
uninstall: ## Remove it again; what is configured stays.
	rm -f $(DESTDIR)$(plugindir)/spank_k8s.so $(DESTDIR)$(bindir)/slurm-k8s
	rm -f $(addprefix $(DESTDIR)$(libexecdir)/,gocore.so relay podinit)
	[ ! -d $(DESTDIR)$(libexecdir) ] || rmdir --ignore-fail-on-non-empty $(DESTDIR)$(libexecdir)
	for page in man/*.?; do rm -f $(DESTDIR)$(mandir)/man$${page##*.}/$${page##*/}; done

.PHONY: clean
clean: ## Remove what was built here; the caches of Kubernetes and images stay.
	rm -rf $(OUT)

##@ Test
.PHONY: test-go
test-go: ## Unit tests of the Go packages, with the race detector.
	$(GO) vet ./gocore/... ./deploy/... && $(GO) vet -tags e2e ./tests/...
	$(GO) test -race ./gocore/... ./tests/bench/... ./tests/fakekubelet ./tests/faults ./tests/rights

.PHONY: test-c
test-c: ## Tests of relay, podinit and the plugin, under ASan and UBSan.
	@$(MAKE) --no-print-directory -j$$(nproc) $(PODINIT_TEST_BUILT) $(SPANK_TEST_BUILT)
	@$(MAKE) --no-print-directory test-c-podinit test-c-spank

.PHONY: test-e2e
test-e2e: build ## End to end on a real Slurm and a real Kubernetes, with a short run of faults: E2E_FAULTS="-short -seed 7", or none.
	E2E_FAULTS="$(E2E_FAULTS)" tests/e2e/run

.PHONY: rights
rights: ## Which rights of deploy/ the last end to end tests used, by Kubernetes' audit log; fails where one was not.
	@$(GO) run ./tests/rights

.PHONY: bench
bench: build ## What the plugin adds to a job, and costs others: BENCH='-rows 1,2 -n 5'. On a quiet machine.
	@tests/bench/run $(BENCH)

.PHONY: faults
faults: build ## Run jobs under drawn faults and audit them: FAULTS="-seed 7 -jobs 60 -faults 40".
	tests/faults/run $(FAULTS)

.PHONY: sanitize
sanitize: build-sanitize ## End to end, with plugin, relay and podinit under ASan and UBSan: ONLY='run-hello|srun-tasks'.
	tests/sanitize/run $(if $(ONLY),'$(ONLY)')

.PHONY: valgrind
valgrind: build-valgrind ## The tests in C under valgrind, for what the sanitizers do not see: ONLY='relay_test step'.
	@tests/cluster/packages valgrind
	tests/sanitize/valgrind $(ONLY)

.PHONY: fuzz
fuzz: ## Fuzz every parser, in Go and in C, for FUZZTIME each (default 20s).
	tests/fuzz $(or $(FUZZTIME),20s)

##@ Lint
.PHONY: lint
lint: packages lint-go lint-c lint-sh ## Linters for Go, C and shell.

.PHONY: lint-go
lint-go: ## gofmt, vet and staticcheck.
	@test -z "$$(gofmt -l gocore deploy tests | tee /dev/stderr)"
	$(GO) vet ./gocore/... ./deploy/...
	cd tools && GOBIN=$(CURDIR)/$(OUT)/tools $(GO) install tool
	$(OUT)/tools/staticcheck -tags e2e ./gocore/... ./deploy/... ./tests/...

.PHONY: vulncheck
vulncheck: ## Known vulnerabilities in what is linked; needs vuln.go.dev, or a copy of it: VULNDB=file:///DIR.
	cd tools && GOBIN=$(CURDIR)/$(OUT)/tools $(GO) install tool
	$(OUT)/tools/govulncheck $(if $(VULNDB),-db $(VULNDB)) ./gocore/...

.PHONY: lint-c
lint-c: ## gcc -fanalyzer and cppcheck.
	build/lint-c

.PHONY: lint-sh
lint-sh: ## shellcheck.
	shellcheck -x $$(git ls-files -co --exclude-standard | xargs -r awk 'FNR == 1 && /^#!.*[ \/](ba)?sh/ {print FILENAME} {nextfile}')

##@ Cluster
.PHONY: cluster-up
cluster-up: packages build ## Start the one-machine Slurm and Kubernetes with the plugin installed.
	tests/cluster/up

.PHONY: cluster-down
cluster-down: ## Stop it and leave nothing behind.
	tests/cluster/down
