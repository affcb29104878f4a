# SPDX-License-Identifier: Apache-2.0
# The SPANK plugin and its tests: make -f tests/c/spank.mk test-c-spank
SPANK_CC ?= gcc
SPANK_OUT := build/out
SPANK_BUILD := build/out/c/spank
SPANK_SOURCES := $(wildcard spank/*.c)
SPANK_HEADERS := $(wildcard spank/*.h) include/gocore.h include/frames.h
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
