# SPDX-License-Identifier: Apache-2.0
# The tests in C, podinit and relay as valgrind wants them.
# It sees into programs that take their memory from a shared libc.
VALGRIND_CC ?= gcc
VALGRIND_OUT := build/out/valgrind
VALGRIND_FLAGS := -O1 -g -DREPORTS='"$(CURDIR)/$(VALGRIND_OUT)/reports"'
VALGRIND_SPANK := $(SPANK_TESTS:%=$(VALGRIND_OUT)/spank/spank_%_test) $(SPANK_CORES:%=$(VALGRIND_OUT)/spank/gocore-%.so)

.PHONY: build-valgrind valgrind-tests
build-valgrind: $(SPANK_OUT)/spank_k8s.so $(VALGRIND_OUT)/real/podinit $(VALGRIND_OUT)/real/relay
	@$(MAKE) --no-print-directory -f tests/c/spank.mk SPANK_BUILD=$(VALGRIND_OUT)/spank \
		SPANK_TEST_CFLAGS='$(SPANK_CFLAGS) -Wno-unused-result -O1 -g' $(VALGRIND_SPANK)

$(VALGRIND_OUT)/real/podinit: $(PODINIT_SOURCES) tests/sanitize/fault.c $(PODINIT_HEADERS)
$(VALGRIND_OUT)/real/relay: $(PODINIT_RELAY_SOURCES) tests/sanitize/fault.c $(PODINIT_HEADERS)
$(VALGRIND_OUT)/real/%:
	@mkdir -p $(@D)
	$(VALGRIND_CC) $(PODINIT_FLAGS) $(VALGRIND_FLAGS) $(filter %.c,$^) -o $@

# What tests/sanitize/valgrind runs.
valgrind-tests:
	@echo $(PODINIT_TESTS) $(SPANK_TESTS)
