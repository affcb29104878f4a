# SPDX-License-Identifier: Apache-2.0
# Fuzzing in C: what reads what others wrote, under ASan and UBSan, steered by gcc's own record of the
# branches taken (no libFuzzer wanted). FUZZTIME=20s each: make -f tests/c/fuzz.mk fuzz-c
FUZZ_CC ?= gcc
FUZZ_OUT := build/out/c/fuzz
FUZZ_FLAGS := -std=gnu11 -Wall -Wextra -Werror -Wno-unused-result -DPODINIT_VERSION='"fuzz"' -O1 -g \
	-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
FUZZ_TARGETS := fuzz_frames fuzz_calls fuzz_spank
FUZZ_HEADERS := $(wildcard tests/c/*.h common/*.h include/*.h podinit/*.h relay/*.h spank/*.h)

# What is fuzzed; the fuzzer itself is not watched.
FUZZ_SOURCES_fuzz_frames := $(wildcard common/*.c) podinit/plan.c
FUZZ_SOURCES_fuzz_calls := $(wildcard common/*.c) $(addprefix relay/,calls.c call.c call_io.c call_words.c rules.c entries.c surroundings.c)
FUZZ_SOURCES_fuzz_spank := $(filter-out spank/slurm_api.c,$(wildcard spank/*.c))
FUZZ_DRIVER := fuzz fuzz_change
FUZZ_DRIVER_fuzz_frames := frames_vectors
FUZZ_DRIVER_fuzz_spank := spank_host spank_host_process spank_host_spank spank_host_slurm
FUZZ_LIBS_fuzz_spank := -lcmocka -Wl,--wrap=dlopen,--wrap=getuid,--wrap=geteuid,--wrap=getrlimit,--wrap=pthread_create,--wrap=execve

$(FUZZ_OUT)/seen/%.o: %.c $(FUZZ_HEADERS)
	@mkdir -p $(@D)
	$(FUZZ_CC) $(FUZZ_FLAGS) -fsanitize-coverage=trace-pc -c $< -o $@

$(FUZZ_OUT)/%.o: tests/c/%.c $(FUZZ_HEADERS)
	@mkdir -p $(@D)
	$(FUZZ_CC) $(FUZZ_FLAGS) -c $< -o $@

.SECONDEXPANSION:
$(addprefix $(FUZZ_OUT)/,$(FUZZ_TARGETS)): $(FUZZ_OUT)/%: $(FUZZ_OUT)/%.o $$(addprefix $(FUZZ_OUT)/,$$(addsuffix .o,$(FUZZ_DRIVER) $$(FUZZ_DRIVER_$$*))) \
		$$(addprefix $(FUZZ_OUT)/seen/,$$(FUZZ_SOURCES_$$*:.c=.o))
	$(FUZZ_CC) $(FUZZ_FLAGS) $^ -o $@ $(FUZZ_LIBS_$*)

# 20s, 10m or a bare number of seconds.
FUZZ_SECONDS = $(if $(filter %m,$(1)),$$((60 * $(patsubst %m,%,$(1)))),$(patsubst %s,%,$(1)))

# An allocation that large is a finding too: every length that others give has a limit.
.PHONY: fuzz-c fuzz-c-count
fuzz-c-count:
	@echo $(words $(FUZZ_TARGETS))
fuzz-c: $(addprefix $(FUZZ_OUT)/,$(FUZZ_TARGETS))
	@for target in $^; do ASAN_OPTIONS=max_allocation_size_mb=40:quarantine_size_mb=4 $$target -s $(call FUZZ_SECONDS,$(or $(FUZZTIME),20s)) || exit 1; done
