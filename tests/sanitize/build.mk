# SPDX-License-Identifier: Apache-2.0
# The plugin, relay and podinit with ASan and UBSan, for a cluster: what tests/cluster/install takes in place of build/out.
SANITIZE_OUT := build/out/sanitize
SANITIZE_CC ?= gcc
# A ConfigMap, and so podinit, has 1 MiB at most: lines and functions are enough to read a report by.
SANITIZE_FLAGS := $(PODINIT_SANITIZE) -g1 -gz
# Of the Slurm node, and what tests/cluster mounts into containers.
SANITIZE_HOST := -DREPORTS='"$(SLURM_K8S_LAB)/log/reports"'
SANITIZE_POD := -DREPORTS='"/.sanitizer/reports"'
SANITIZE_POD_LIBRARIES := -Wl,--disable-new-dtags,-rpath,/.sanitizer/lib,--dynamic-linker=/.sanitizer/lib/ld-linux-x86-64.so.2
SANITIZE_OWN := tests/sanitize/options.c tests/sanitize/fault.c
SANITIZE_BUILT := $(addprefix $(SANITIZE_OUT)/,spank_k8s.so options.so relay podinit gocore.so slurm-k8s)

.PHONY: build-sanitize
build-sanitize: $(SANITIZE_BUILT)

# Changes where the folder does.
$(SANITIZE_OUT)/where: FORCE
	@mkdir -p $(@D)
	@echo '$(SLURM_K8S_LAB)' | cmp -s - $@ || echo '$(SLURM_K8S_LAB)' > $@
.PHONY: FORCE

$(SANITIZE_OUT)/spank_k8s.so: $(SPANK_SOURCES) $(SPANK_HEADERS) $(SANITIZE_OWN) $(SANITIZE_OUT)/where
	$(SANITIZE_CC) $(SPANK_CFLAGS) $(SANITIZE_FLAGS) $(SANITIZE_HOST) -fPIC -fvisibility=hidden -shared $(filter %.c,$^) -o $@ \
		-Wl,-z,nodelete -Wl,--version-script=spank/spank_k8s.map -Wl,-soname,spank_k8s.so

# The first library of Slurm's programs, where the sanitizers look for their options.
$(SANITIZE_OUT)/options.so: tests/sanitize/options.c tests/sanitize/fork.c $(SANITIZE_OUT)/where
	$(SANITIZE_CC) $(PODINIT_FLAGS) $(SANITIZE_HOST) -O1 -fno-builtin -fPIC -shared $(filter %.c,$^) -o $@ -lasan

$(SANITIZE_OUT)/relay: $(PODINIT_RELAY_SOURCES) $(SANITIZE_OWN) $(PODINIT_HEADERS) $(SANITIZE_OUT)/where
	$(SANITIZE_CC) $(PODINIT_FLAGS) $(SANITIZE_FLAGS) $(SANITIZE_HOST) $(filter %.c,$^) -o $@

$(SANITIZE_OUT)/podinit: $(PODINIT_SOURCES) $(SANITIZE_OWN) $(PODINIT_HEADERS) tests/sanitize/build.mk
	@mkdir -p $(@D)
	$(SANITIZE_CC) $(PODINIT_FLAGS) $(SANITIZE_FLAGS) $(SANITIZE_POD) $(filter %.c,$^) -o $@ $(SANITIZE_POD_LIBRARIES)

$(SANITIZE_OUT)/gocore.so $(SANITIZE_OUT)/slurm-k8s: $(SANITIZE_OUT)/%: $(OUT)/%
	@mkdir -p $(@D)
	cp $< $@
