# SPDX-License-Identifier: Apache-2.0
# The SPANK plugin and its tests: make -f tests/c/spank.mk test-c-spank
SPANK_CC ?= gcc
SPANK_OUT := build/out
SPANK_BUILD := build/out/c/spank
SPANK_SOURCES := $(wildcard spank/*.c)
SPANK_HEADERS := $(wildcard spank/*.h) include/gocore.h include/frames.h include/commands.h
# Where slurm/spank.h is, for a release other than the system's.
SPANK_SLURM_INCLUDE ?=
SPANK_CFLAGS := -std=gnu11 -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla \
	-Werror $(if $(SPANK_SLURM_INCLUDE),-isystem $(SPANK_SLURM_INCLUDE))
SPANK_HARDENING := -O2 -g -fPIC -fvisibility=hidden -fstack-protector-strong -D_FORTIFY_SOURCE=2

$(SPANK_OUT)/spank_k8s.so: $(SPANK_SOURCES) $(SPANK_HEADERS) spank/spank_k8s.map
	@mkdir -p $(@D)
	$(SPANK_CC) $(SPANK_CFLAGS) $(SPANK_HARDENING) -shared $(SPANK_SOURCES) -o $@.new -Wl,-z,nodelete \
		-Wl,-z,relro -Wl,--version-script=spank/spank_k8s.map -Wl,-soname,spank_k8s.so -Wl,--as-needed
	@mv -f $@.new $@

# The tests: the shim's sources without slurm_api.c, which is the test's own, under sanitizers.
SPANK_TESTS := legacy options submit refused launch launch_refused components component_member component_step allocate step step_fault numbered join host epilog amend metadata
SPANK_TEST_CFLAGS := $(SPANK_CFLAGS) -Wno-unused-result -O1 -g -fno-omit-frame-pointer \
	-fsanitize=address,undefined -fno-sanitize-recover=all
SPANK_TEST_OBJECTS := $(patsubst spank/%.c,$(SPANK_BUILD)/%.o,$(filter-out spank/slurm_api.c,$(SPANK_SOURCES))) \
	$(addprefix $(SPANK_BUILD)/spank_host,.o _process.o _spank.o _slurm.o)
SPANK_TEST_HEADERS := $(SPANK_HEADERS) $(wildcard tests/c/spank_*.h)
SPANK_CORES := ok abi hole
SPANK_CORE_abi := -DFAKE_ABI=99
SPANK_CORE_hole := -DFAKE_HOLE

$(SPANK_BUILD)/%.o: spank/%.c $(SPANK_TEST_HEADERS)
	@mkdir -p $(@D)
	$(SPANK_CC) $(SPANK_TEST_CFLAGS) -c $< -o $@

$(SPANK_BUILD)/%.o: tests/c/%.c $(SPANK_TEST_HEADERS)
	@mkdir -p $(@D)
	$(SPANK_CC) $(SPANK_TEST_CFLAGS) -c $< -o $@

$(SPANK_BUILD)/spank_%_test: $(SPANK_BUILD)/spank_%_test.o $(SPANK_TEST_OBJECTS)
	$(SPANK_CC) $(SPANK_TEST_CFLAGS) $^ -o $@ -lcmocka -Wl,--wrap=dlopen,--wrap=getuid,--wrap=geteuid,--wrap=getrlimit,--wrap=pthread_create,--wrap=execve

# Not with the shim's objects: it would find what it looks for in itself.
$(SPANK_BUILD)/spank_metadata_test: $(SPANK_BUILD)/spank_metadata_test.o
	$(SPANK_CC) $(SPANK_TEST_CFLAGS) $^ -o $@ -lcmocka

$(SPANK_BUILD)/gocore-%.so: tests/c/spank_core.c tests/c/spank_core.h include/gocore.h
	@mkdir -p $(@D)
	$(SPANK_CC) $(SPANK_CFLAGS) $(SPANK_CORE_$*) -g -fPIC -shared $< -o $@

.PHONY: test-c-spank
SPANK_TEST_BUILT := $(SPANK_OUT)/spank_k8s.so $(SPANK_TESTS:%=$(SPANK_BUILD)/spank_%_test) $(SPANK_CORES:%=$(SPANK_BUILD)/gocore-%.so)
test-c-spank: $(SPANK_TEST_BUILT) ## Tests of the plugin alone.
	@for test in $(SPANK_TESTS); do \
		SPANK_CORES=$(SPANK_BUILD) SPANK_PLUGIN=$(SPANK_OUT)/spank_k8s.so CMOCKA_MESSAGE_OUTPUT=stdout \
			$(SPANK_BUILD)/spank_$${test}_test || exit 1; \
	done

.SECONDARY: $(SPANK_TESTS:%=$(SPANK_BUILD)/spank_%_test.o) $(SPANK_TEST_OBJECTS)
