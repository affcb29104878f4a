# SPDX-License-Identifier: Apache-2.0
# podinit and the relay: how they are built, and their tests. Included by the main
# Makefile, and usable alone from the repository's root:
#    make -f tests/c/podinit.mk podinit relay test-c-podinit

PODINIT_OUT ?= build/out
PODINIT_VERSION ?= $(or $(VERSION),0.1.0)
PODINIT_CC ?= musl-gcc
PODINIT_TEST_CC ?= gcc

PODINIT_SOURCES := $(wildcard podinit/*.c) $(wildcard common/*.c)
PODINIT_RELAY_SOURCES := $(wildcard relay/*.c) $(wildcard common/*.c)
PODINIT_HEADERS := $(wildcard podinit/*.h relay/*.h common/*.h) include/frames.h include/commands.h
PODINIT_TEST_OUT := $(PODINIT_OUT)/tests/podinit

PODINIT_FLAGS := -std=gnu11 -DPODINIT_VERSION='"$(PODINIT_VERSION)"' -Wall -Wextra -Werror -Wshadow
# Small: podinit travels in a ConfigMap and is compared before each launch.
PODINIT_STATIC := -Os -static -s -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables -Wl,--gc-sections
PODINIT_SANITIZE := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

.PHONY: podinit relay test-c-podinit
podinit: $(PODINIT_OUT)/podinit
relay: $(PODINIT_OUT)/relay

$(PODINIT_OUT)/podinit: $(PODINIT_SOURCES) $(PODINIT_HEADERS) tests/c/podinit.mk
	@mkdir -p $(@D)
	$(PODINIT_CC) $(PODINIT_FLAGS) $(PODINIT_STATIC) $(PODINIT_SOURCES) -o $@

$(PODINIT_OUT)/relay: $(PODINIT_RELAY_SOURCES) $(PODINIT_HEADERS) tests/c/podinit.mk
	@mkdir -p $(@D)
	$(PODINIT_CC) $(PODINIT_FLAGS) $(PODINIT_STATIC) $(PODINIT_RELAY_SOURCES) -o $@

PODINIT_TEST_FLAGS := $(PODINIT_FLAGS) $(PODINIT_SANITIZE)

$(PODINIT_TEST_OUT)/frames_test: tests/c/frames_test.c tests/c/frames_vectors.c tests/c/frames_vectors.h \
		$(wildcard common/*.c) $(PODINIT_HEADERS)
	@mkdir -p $(@D)
	$(PODINIT_TEST_CC) $(PODINIT_TEST_FLAGS) $(filter %.c,$^) -lcmocka -o $@

$(PODINIT_TEST_OUT)/affinity_test: tests/c/affinity_test.c podinit/affinity.c podinit/plan.c $(wildcard common/*.c) $(PODINIT_HEADERS)
	@mkdir -p $(@D)
	$(PODINIT_TEST_CC) $(PODINIT_TEST_FLAGS) $(filter %.c,$^) -lcmocka -o $@

$(PODINIT_TEST_OUT)/podinit-asan: $(PODINIT_SOURCES) $(PODINIT_HEADERS)
	@mkdir -p $(@D)
	$(PODINIT_TEST_CC) $(PODINIT_TEST_FLAGS) $(PODINIT_SOURCES) -o $@

$(PODINIT_TEST_OUT)/relay-asan: $(PODINIT_RELAY_SOURCES) $(PODINIT_HEADERS)
	@mkdir -p $(@D)
	$(PODINIT_TEST_CC) $(PODINIT_TEST_FLAGS) $(PODINIT_RELAY_SOURCES) -o $@

$(PODINIT_TEST_OUT)/podinit_rate: tests/c/podinit_rate.c $(wildcard common/*.c) $(PODINIT_HEADERS)
	@mkdir -p $(@D)
	$(PODINIT_TEST_CC) $(PODINIT_FLAGS) -O2 $(filter %.c,$^) -o $@

PODINIT_TEST_BUILT := $(PODINIT_OUT)/podinit $(PODINIT_OUT)/relay $(addprefix $(PODINIT_TEST_OUT)/,frames_test affinity_test podinit-asan relay-asan)
PODINIT_TESTS := affinity_test relay_hello_test relay_test podinit_test podinit_connections_test podinit_tasks_test podinit_signals_test commands_test commands_salloc_test podinit_join_test
PODINIT_RUNS := $(foreach test,$(PODINIT_TESTS),shipped-$(test) sanitized-$(test))
PODINIT_MAKEFILE := $(firstword $(MAKEFILE_LIST))

# What is shipped and the sanitized build go through the same tests, both at once: they wait more than they work.
test-c-podinit: $(PODINIT_TEST_BUILT)
	@test $$(stat -c %s $(PODINIT_OUT)/podinit) -lt 100000 || { echo "podinit is larger than 100 KB"; exit 1; }
	$(PODINIT_TEST_OUT)/frames_test > $(PODINIT_TEST_OUT)/frames.log 2>&1 || { cat $(PODINIT_TEST_OUT)/frames.log; exit 1; }
	$(PODINIT_TEST_OUT)/affinity_test > $(PODINIT_TEST_OUT)/affinity.log 2>&1 || { cat $(PODINIT_TEST_OUT)/affinity.log; exit 1; }
	@$(MAKE) -f $(PODINIT_MAKEFILE) --no-print-directory -j2 --output-sync=target $(PODINIT_RUNS)

.PHONY: $(PODINIT_RUNS)
$(PODINIT_TESTS:%=shipped-%): shipped-%:
	PODINIT=$(PODINIT_OUT)/podinit RELAY=$(PODINIT_OUT)/relay python3 tests/c/$*.py
$(PODINIT_TESTS:%=sanitized-%): sanitized-%:
	PODINIT=$(PODINIT_TEST_OUT)/podinit-asan RELAY=$(PODINIT_TEST_OUT)/relay-asan python3 tests/c/$*.py

# How fast output comes through: a number to read, not a test.
.PHONY: podinit-rate
podinit-rate: $(PODINIT_OUT)/podinit $(PODINIT_TEST_OUT)/podinit_rate
	$(PODINIT_TEST_OUT)/podinit_rate $(PODINIT_OUT)/podinit 1024
